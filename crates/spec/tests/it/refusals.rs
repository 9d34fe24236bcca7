//! Refusals of a world as users see them: at the key that asks for what the world cannot execute.

use crate::golden::check_golden;
use crate::support::{SMALL, profiles};
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, Request, plan};
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{RunSpec, World};

/// Section of the snapshot, addition to the small study, and the refusals of its world.
type Case = (&'static str, &'static str, &'static [(&'static [&'static str], &'static str)]);

const ACCESS: &[&str] = &["workload", "stream", "s", "access"];
const CACHED: &[(&[&str], &str)] = &[(ACCESS, "the simulated world has no page cache")];

pub const REFUSED: &[Case] = &[
    ("log_on_its_own_without_a_program", "[use]\nlog = \"disk\"\n", &[]),
    ("event_that_no_world_stages", "[event.over]\nat = \"1 ms\"\nfailover = {}\n", &[]),
    (
        "page_cache_in_virtual_time",
        "[axis.way]\nplain.workload.stream.s.access = \"direct\"\ncached.workload.stream.s.access = \"buffered\"\n",
        CACHED,
    ),
    (
        "page_cache_at_a_level_within_the_run",
        "[axis.way]\nvaries = \"within\"\nset = \"workload.stream.s.access\"\nlevels = [\"direct\", \"buffered\"]\n",
        CACHED,
    ),
    ("what_the_stream_does_not_say", "", &[(&["workload", "stream", "s", "jobs"], "no job does the work")]),
    ("what_the_study_does_not_say", "", &[(&["world"], "it is not built yet")]),
];

fn refused(text: &str, request: &Request, check: &dyn Fn(&RunSpec) -> Vec<Refusal>) -> Plan {
    plan("t", Source { file: "t.toml", text }, request, &profiles(), check).expect("plans")
}

#[test]
fn refusal_has_the_place_of_its_key() {
    for (name, more, found) in REFUSED {
        let check = |run: &RunSpec| match run.cell.get("way").map(String::as_str) {
            Some("plain") => vec![],
            _ => found.iter().map(|(key, message)| Refusal::new("test", key, *message)).collect(),
        };
        let plan = refused(&format!("{SMALL}{more}"), &Request::new(World::Simulated), &check);
        assert_eq!(plan.refusals.len(), 1, "{name}");
        check_golden(name, &plan.refusals[0].text);
    }
}

#[test]
fn refusal_of_several_cells_is_reported_once() {
    let text = format!("{SMALL}[axis.deep]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n");
    let each = |_: &RunSpec| vec![Refusal::new("test", ACCESS, "no").found("x").accepted(["y", "z"])];
    let plan = refused(&text, &Request::new(World::Simulated), &each);
    assert_eq!((plan.runs.len(), plan.refusals.len()), (2, 1));
    let refusal = &plan.refusals[0];
    assert_eq!((refusal.found.as_str(), &refusal.accepted[..]), ("x", &["y".to_string(), "z".into()][..]));
}

#[test]
fn cells_outside_the_request_are_neither_planned_nor_refused() {
    let text = format!("{SMALL}[axis.deep]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n");
    let wanted = vec![[("deep".to_string(), "2".to_string())].into_iter().collect()];
    let request = Request { cells: Some(wanted), ..Request::new(World::Simulated) };
    let first = |run: &RunSpec| match run.cell["deep"].as_str() {
        "1" => vec![Refusal::new("test", ACCESS, "no")],
        _ => vec![],
    };
    let plan = refused(&text, &request, &first);
    assert_eq!((plan.runs.len(), plan.refusals.len()), (1, 0));
    assert_eq!(plan.study.axes[0].levels.len(), 2, "the summary keeps every level");
}
