//! Unknown settings: each cell at the assumed levels, then one of them at a time at another.

use crate::golden::check_golden;
use crate::support::{SMALL, planned, planned_quick};
use tameshi_spec::plan::Plan;

const DEPTH: &str = "[unknown.depth]\nassumed = 2\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2, 4]\n";
const LENGTH: &str =
    "[unknown.length]\nsmall = { workload.stream.s.run_length = 1 }\nlarge = { workload.stream.s.run_length = 2 }\n";
const JOBS: &str = "[axis.jobs]\nset = \"workload.stream.s.jobs\"\nlevels = [1, 3]\n";

fn plan(more: &str) -> Plan {
    planned(&format!("{SMALL}{more}")).expect("a valid study")
}

/// Jobs, depth, run length and unknown setting of each run.
fn runs(plan: &Plan) -> Vec<(u32, u32, String, String)> {
    plan.runs
        .iter()
        .map(|run| {
            let stream = &run.phases[0].streams[0].stream;
            let tried: Vec<String> = run.unknown.iter().map(|(name, level)| format!("{name}={level}")).collect();
            (stream.jobs, stream.queue_depth, stream.run_length.to_string(), tried.join(" "))
        })
        .collect()
}

#[test]
fn unknowns_vary_one_at_a_time_behind_the_assumed_runs() {
    let plan = plan(&format!("{JOBS}{DEPTH}{LENGTH}"));
    let expected = [
        (1, 2, "1", ""),
        (3, 2, "1", ""),
        (1, 1, "1", "depth=1"),
        (3, 1, "1", "depth=1"),
        (1, 4, "1", "depth=4"),
        (3, 4, "1", "depth=4"),
        (1, 2, "2", "length=large"),
        (3, 2, "2", "length=large"),
    ];
    assert_eq!(runs(&plan), expected.map(|(jobs, depth, length, tried)| (jobs, depth, length.into(), tried.into())));
    assert!(plan.runs.iter().all(|run| run.cell.len() == 1), "the cell has the axis alone");
    let settings: Vec<_> = plan.study.unknown.iter().map(|each| (each.name.as_str(), each.assumed.as_str())).collect();
    assert_eq!(settings, [("depth", "2"), ("length", "small")]);
}

#[test]
fn unknowns_are_tried_once_in_a_repeated_study() {
    let plan = plan(&format!("{DEPTH}[run]\nrepetitions = 3\n"));
    let repetitions: Vec<_> = plan.runs.iter().map(|run| (run.repetition, run.unknown.is_empty())).collect();
    assert_eq!(repetitions, [(0, true), (0, false), (0, false), (1, true), (2, true)]);
}

#[test]
fn unknowns_in_a_quick_study_stay_at_the_assumed_level() {
    let quick = planned_quick(&format!("{SMALL}{JOBS}{DEPTH}{LENGTH}")).expect("a valid study");
    let expected = [(1, 2, "1"), (3, 2, "1")];
    assert_eq!(runs(&quick), expected.map(|(jobs, depth, length)| (jobs, depth, length.into(), String::new())));
    assert_eq!(quick.study.unknown.len(), 2);
    let replaced = format!("{SMALL}{DEPTH}[quick]\nworkload.stream.s.queue_depth = 7\n");
    assert_eq!(runs(&planned_quick(&replaced).expect("a valid study"))[0].1, 7, "the quick part's own depth");
}

#[test]
fn unknowns_of_a_broken_form_are_refused() {
    for (name, more) in [
        (
            "unknown_of_one_level",
            "[unknown.depth]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1]\n".to_string(),
        ),
        ("unknown_assumed_is_no_level", DEPTH.replace("assumed = 2", "assumed = 3")),
        ("unknown_with_the_name_of_an_axis", format!("{JOBS}{}", DEPTH.replace("unknown.depth", "unknown.jobs"))),
        ("unknown_that_is_no_table", "[unknown]\ndepth = 3\n".to_string()),
        ("unknown_without_effect", DEPTH.replace("stream.s.", "stream.t.")),
        ("unknown_level_that_is_invalid", DEPTH.replace("[1, 2, 4]", "[0, 2]")),
        ("unknown_in_the_quick_part", format!("{DEPTH}[quick]\nunknown.depth.levels = [1, 2]\n")),
        ("unknown_beside_a_search", format!("{DEPTH}[search]\nstream = \"s\"\nshares = [\"50 %\"]\n")),
    ] {
        let error = planned(&format!("{SMALL}{more}")).expect_err(name);
        check_golden(name, &error.to_string());
    }
}
