//! What a world can't do of a study, as the user sees it: told at the key that asks for it.

use crate::errors::check_golden;
use crate::support::{SMALL, planned};
use tameshi_spec::document::Source;
use tameshi_spec::refusal::refusal;

/// Name of the golden text, what is appended to the small study, and what its world says of it.
pub const REFUSED: &[(&str, &str, &str)] = &[
    ("event_that_no_world_stages", "[event.over]\nat = \"1 ms\"\nfailover = {}\n", ""),
    (
        "page_cache_in_virtual_time",
        "[axis.way]\nplain.workload.stream.s.access = \"direct\"\ncached.workload.stream.s.access = \"buffered\"\n",
        "workload.stream.s.access: the simulated world has no page cache",
    ),
    (
        "page_cache_at_a_level_within_the_run",
        "[axis.way]\nvaries = \"within\"\nset = \"workload.stream.s.access\"\nlevels = [\"direct\", \"buffered\"]\n",
        "workload.stream.s.access: the simulated world has no page cache",
    ),
    ("what_the_stream_does_not_say", "", "workload.stream.s.jobs: there is nobody to do it"),
    ("what_the_study_does_not_say", "", "world: it is not built yet"),
];

#[test]
fn what_a_world_can_t_do_is_told_at_the_key_that_asks_for_it() {
    for (name, more, said) in REFUSED {
        let text = format!("{SMALL}{more}");
        let run = planned(&text).unwrap_or_else(|error| panic!("{name}: {error}")).runs.pop().expect("a run");
        let said = run.unsupported.first().map_or(*said, String::as_str);
        check_golden(name, &refusal(Source { file: "t.toml", text: &text }, false, &run, said).to_string());
    }
}
