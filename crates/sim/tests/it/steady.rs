//! Phases that end at steady state, and phases that are repeated as rounds.

use crate::support::*;
use std::collections::BTreeMap;
use tameshi_base::units::{Share, Time};
use tameshi_base::{Nanos, Rate};
use tameshi_record::histograms::{Windows, summarise};
use tameshi_spec::run::{PhaseSpec, RoundsSpec, RunSpec, SteadyRule, Until};
use tameshi_workload::{Arrivals, StreamSpec};

fn until_steady(rule: SteadyRule) -> Until {
    Until { steady: Some(SteadyRule { round: Some(Time(2 * SECOND)), ..rule }), ..Until::default() }
}

/// Random reads of a disk: they vary a little, and are never steady.
fn too_strict() -> SteadyRule {
    SteadyRule { range: Share(0), slope: Share(0), rounds: 3, max_rounds: 8, ..SteadyRule::default() }
}

fn event(left: &Left, kind: &str) -> Vec<serde_json::Value> {
    let all = left.events.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    all.filter(|event: &serde_json::Value| event["kind"] == kind).collect()
}

#[test]
fn phase_ends_with_the_first_steady_window() {
    let stream = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream, until_steady(SteadyRule::default()));
    spec.phases[0].ramp = Time(SECOND / 2);
    let left = run(&spec);
    assert_eq!(left.events("phase_end"), [SECOND / 2 + 5 * 2 * SECOND], "a disk is steady from its first round on");
    assert!(left.events.contains("\"ended_by\":\"steady\""));
    let steady = &event(&left, "steady")[0]["steady"];
    assert_eq!((&steady["attained"], &steady["first"], &steady["last"]), (&true.into(), &1.into(), &5.into()));
    assert_eq!(steady["checks"].as_array().map(Vec::len), Some(3), "IOPS, bandwidth, latency");
    let rounds = event(&left, "round");
    assert_eq!(rounds.len(), 5);
    let iops: f64 =
        rounds.iter().map(|round| round["values"][0]["iops"].as_f64().expect("a number")).sum::<f64>() / 5.0;
    let inside = left.series.iter().filter(|row| row.3 == "read.count" && row.0 > SECOND / 2).map(|row| row.4);
    assert_close(iops, inside.sum::<u64>() as f64 / 10.0, 1e-6, "mean of the rounds");
}

#[test]
fn unsteady_phase_ends_after_the_most_rounds() {
    let left = run(&spec(hdd(disk()), StreamSpec::default(), until_steady(too_strict())));
    assert_eq!(left.events("phase_end"), [8 * 2 * SECOND]);
    assert!(left.events.contains("\"ended_by\":\"rounds\""));
    let steady = &event(&left, "steady")[0]["steady"];
    assert_eq!((&steady["attained"], &steady["first"], &steady["last"]), (&false.into(), &6.into(), &8.into()));
}

#[test]
fn window_latencies_exclude_other_rounds() {
    let left = run(&spec(hdd(disk()), StreamSpec::default(), until_steady(too_strict())));
    let count = |begin: Nanos, end: Nanos| {
        let rows = left.series.iter().filter(|row| row.3 == "read.count" && row.0 > begin && row.0 <= end);
        rows.map(|row| row.4).sum::<u64>()
    };
    let window = |first, last| {
        let all = summarise(&left.histograms, &Windows::from([(0, (first, last))])).expect("a log");
        all["0/steady/load/read"].count
    };
    assert_eq!(window(6, 8), count(10 * SECOND, 16 * SECOND));
    assert_eq!(window(1, 1), count(0, 2 * SECOND));
    assert_eq!(window(1, 8), left.sum("read.count"));
}

#[test]
fn time_limit_before_steady_state_gives_no_verdict() {
    let until = Until { time: Some(Time(5 * SECOND)), ..until_steady(SteadyRule::default()) };
    let left = run(&spec(hdd(disk()), StreamSpec::default(), until));
    assert!(left.events.contains("\"ended_by\":\"time\"") && event(&left, "steady").is_empty());
    assert_eq!(event(&left, "round").len(), 2);
}

/// Rounds of a write phase and a read phase.
fn repeated(rounds: RoundsSpec) -> RunSpec {
    let stream = |read| StreamSpec { read, queue_depth: 2, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream(Share(0)), for_time(2 * SECOND));
    spec.phases.push(phase("reads", stream(Share::WHOLE), for_time(3 * SECOND)));
    spec.phases.push(phase("after", stream(Share::WHOLE), for_time(SECOND)));
    RunSpec { rounds: vec![rounds], ..spec }
}

fn rounds(times: Option<u32>, steady: Option<SteadyRule>, tracked: Vec<u32>) -> RoundsSpec {
    RoundsSpec { name: "r".into(), levels: Default::default(), first: 0, phases: 2, times, steady, tracked }
}

#[test]
fn phases_repeat_in_order_n_times() {
    let left = run(&repeated(rounds(Some(3), None, vec![])));
    let order: Vec<u64> = event(&left, "phase_begin").iter().filter_map(|event| event["phase"].as_u64()).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1, 2]);
    assert_eq!(left.events("round_begin").len(), 3);
    let counts: BTreeMap<u32, u64> = (1..=3)
        .map(|number| {
            let all = summarise(&left.histograms, &Windows::from([(1, (number, number))])).expect("a log");
            (number, all["1/steady/load/read"].count)
        })
        .collect();
    assert_ne!(counts[&1], counts[&2], "each round draws offsets of its own");
}

#[test]
fn phases_follow_at_once_or_after_a_longer_queue_drains() {
    let mut repeated = repeated(rounds(Some(3), None, vec![]));
    repeated.phases[1].streams[0].stream.queue_depth = 8;
    repeated.phases[2].streams[0].stream.queue_depth = 1;
    let left = run(&repeated);
    let (begins, ends, drained) = (left.events("phase_begin"), left.events("phase_end"), left.events("phase_drained"));
    assert_eq!(drained.len(), ends.len());
    // Queue depths of 2, 8, 2, 8, 2, 8 and 1.
    for (number, begin) in begins.iter().enumerate().skip(1) {
        let longer = number % 2 == 0;
        assert_eq!(*begin, if longer { drained[number - 1] } else { ends[number - 1] }, "phase {number}");
    }
    assert!(ends.iter().zip(&drained).all(|(end, drained)| *drained > *end && drained - end < 100 * MS));
    let issued: Vec<u64> = event(&left, "stream_end")
        .iter()
        .map(|event| event["depth"].as_array().expect("classes").iter().filter_map(serde_json::Value::as_u64).sum())
        .collect();
    assert!(issued.iter().all(|&issued| issued > 50), "{issued:?}");
}

#[test]
fn phase_change_keeps_device_busy_within_the_larger_depth() {
    let stream = |queue_depth| StreamSpec { queue_depth, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream(8), for_time(SECOND));
    spec.phases.push(phase("fewer", stream(2), for_time(SECOND)));
    spec.phases.push(phase("by_amount", stream(4), for_amount(100 * 4096)));
    spec.phases.push(phase("more", stream(16), for_time(SECOND)));
    let left = run(&spec);
    let busy = |from: Nanos, to: Nanos| -> u64 {
        let rows = left.series.iter().filter(|row| row.3.starts_with("busy.") && row.0 > from && row.0 <= to);
        rows.map(|row| row.4).sum()
    };
    let (begins, ends) = (left.events("phase_begin"), left.events("phase_end"));
    let told: Nanos = ends.iter().zip(&begins).map(|(end, begin)| end - begin).sum();
    let end = ends[3];
    assert!(busy(0, end).abs_diff(told) < end / 1000, "{} of {told}", busy(0, end));
    assert_eq!((begins[1], begins[2..].to_vec()), (left.events("phase_drained")[0], ends[1..3].to_vec()));
    let slowest: Vec<u64> = event(&left, "stream_end")
        .iter()
        .map(|event| event["slowest"][0]["latency_ns"].as_u64().expect("a number"))
        .collect();
    assert!(slowest[1] < slowest[0], "two that wait for eight more would be slower than eight: {slowest:?}");
}

#[test]
fn next_phase_begins_at_once_on_any_storage() {
    let stream = StreamSpec { queue_depth: 32, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream.clone(), for_time(SECOND));
    let other = spec.storage[0].clone();
    spec.storage.insert("other".into(), other);
    let mut second = phase("second", stream, for_time(SECOND));
    second.streams[0].storage = "other".into();
    let first_again = spec.phases[0].clone();
    spec.phases.extend([second, first_again]);
    let left = run(&spec);
    assert_eq!(left.events("phase_begin"), [0, SECOND, 2 * SECOND]);
    let counts: Vec<u64> = event(&left, "stream_end")
        .iter()
        .map(|event| event["depth"].as_array().expect("classes").iter().filter_map(serde_json::Value::as_u64).sum())
        .collect();
    let [first, second, again] = counts[..] else { panic!("{counts:?}") };
    assert!(second.abs_diff(first) < 10 && again.abs_diff(first) < 40, "no stream waits for another disk: {counts:?}");
}

#[test]
fn phase_without_load_completes_outstanding_commands_only() {
    let mut spec = repeated(rounds(Some(1), None, vec![]));
    spec.phases[1] = PhaseSpec { streams: vec![], ..spec.phases[1].clone() };
    let left = run(&spec);
    let (ends, drained) = (left.events("phase_end"), left.events("phase_drained"));
    assert!(drained[0] > ends[0] && drained[0] < ends[0] + 100 * MS);
    assert_eq!(drained[1], ends[1], "nothing was outstanding at the pause's end");
}

#[test]
fn rounds_of_phases_end_when_tracked_ones_are_steady() {
    let left = run(&repeated(rounds(None, Some(SteadyRule::default()), vec![1])));
    assert_eq!(left.events("round_begin").len(), 5);
    let steady = event(&left, "steady");
    assert_eq!((steady.len(), &steady[0]["steady"]["attained"]), (1, &true.into()));
    let checks = steady[0]["steady"]["checks"].as_array().expect("a list");
    assert!(checks.iter().all(|check| check["phase"] == 1), "{checks:?}");
    let given_up = run(&repeated(rounds(None, Some(too_strict()), vec![0, 1])));
    assert_eq!(given_up.events("round_begin").len(), 8);
    assert_eq!(event(&given_up, "steady")[0]["steady"]["attained"], false);
}

#[test]
fn overloaded_open_loop_is_not_steady() {
    let arrivals = Arrivals::Constant { rate: Rate(400_000) };
    let stream = StreamSpec { arrivals, queue_depth: 1 << 12, ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), stream, until_steady(SteadyRule { max_rounds: 6, ..SteadyRule::default() })));
    let steady = &event(&left, "steady")[0]["steady"];
    assert_eq!(steady["attained"], false);
    let holds = |variable: &str| {
        let checks = steady["checks"].as_array().expect("a list");
        checks.iter().find(|check| check["variable"] == variable).map(|check| check["found"]["holds"].clone())
    };
    assert_eq!((holds("iops"), holds("latency")), (Some(true.into()), Some(false.into())), "the queue grows");
}
