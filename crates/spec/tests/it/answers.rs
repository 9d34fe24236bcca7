//! Errors of `[answer]` and of Japanese words.

use crate::errors::{Case, check};
use tameshi_base::InputErrorKind;

const CASES: &[Case] = &[
    (
        "answer_of_an_axis_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[answer]\nlevels.depth = { 2 = 1 }\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_beside_a_level_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[answer]\nlevels.d = { 2 = 3 }\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_of_a_phase_that_does_not_exist",
        "[workload.stream.s]",
        "[answer]\nphases = { failed = \"p\" }\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_table_of_an_axis_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[answer]\nmetric = \"read.iops\"\ntable = [{ rows = \"depth\" }]\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_table_with_a_base_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[answer]\nmetric = \"read.iops\"\ntable = [{ rows = \"d\", base = { d = 3 } }]\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_table_without_a_metric",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[answer]\ntable = [{ rows = \"d\" }]\n[workload.stream.s]",
        InputErrorKind::MissingKey,
    ),
    (
        "answer_of_a_metric_that_does_not_exist",
        "[workload.stream.s]",
        "[answer]\nmetric = \"read.iop\"\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "japanese_name_of_nothing_in_the_study",
        "[workload.stream.s]",
        "[japanese.names]\ndisks = \"ディスク\"\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "answer_that_tells_what_nobody_knows",
        "[workload.stream.s]",
        "[answer]\ntell = [\"price\"]\n[workload.stream.s]",
        InputErrorKind::UnknownVariant,
    ),
];

#[test]
fn answer_of_something_absent_is_refused() {
    check(CASES);
}
