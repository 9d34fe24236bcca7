//! Steady state and repeated phases on real files.

use crate::bench::*;
use serde_json::Value;
use std::collections::BTreeMap;
use tameshi_base::{Rate, Share, Time};
use tameshi_record::histograms::{Windows, summarise};
use tameshi_spec::run::{PhaseSpec, RoundsSpec, SteadyRule, Until};
use tameshi_workload::{Arrivals, StreamSpec};

const PAYLOAD: u64 = 1 << 20;
const ROUND: u64 = 50_000_000;

/// Rule that any rounds with work meet, or that none meet.
fn rule(lenient: bool) -> SteadyRule {
    let share = Share(if lenient { u32::MAX } else { 0 });
    SteadyRule { range: share, slope: share, rounds: 2, max_rounds: 4, ..SteadyRule::default() }
}

fn in_rounds(lenient: bool) -> Until {
    Until { steady: Some(SteadyRule { round: Some(Time(ROUND)), ..rule(lenient) }), ..Until::default() }
}

fn of_kind(bench: &Bench, kind: &str) -> Vec<Value> {
    bench.events().into_iter().filter(|event| event["kind"] == kind).collect()
}

#[test]
fn phase_ends_at_steady_state_or_maximum_rounds() {
    for backend in backends() {
        for (lenient, word, rounds) in [(true, "steady", 2), (false, "rounds", 4)] {
            let bench = Bench::new(&places()[0], PAYLOAD);
            let stream = StreamSpec { jobs: 2, queue_depth: 2, ..StreamSpec::default() };
            let mut phase = phase(in_rounds(lenient), vec![("load", stream)]);
            phase.ramp = Time(ROUND);
            bench.run(vec![phase], backend).expect("a run");
            let end = &of_kind(&bench, "phase_end")[0];
            assert_eq!(end["ended_by"], word);
            let told = of_kind(&bench, "round");
            assert_eq!(told.len(), rounds, "{word}");
            let steady = &of_kind(&bench, "steady")[0]["steady"];
            assert_eq!((&steady["attained"], steady["last"].as_u64()), (&lenient.into(), Some(rounds as u64)));
            let (first, last) = (rounds as u32 - 1, rounds as u32);
            let log = summarise(&bench.histograms(), &Windows::from([(0, (first, last))])).expect("a log");
            let begin = of_kind(&bench, "phase_begin")[0]["t_ns"].as_u64().expect("a time") + ROUND;
            let reads = |first: u32| -> u64 {
                let (begin, end) = (begin + u64::from(first - 1) * ROUND, begin + u64::from(last) * ROUND);
                let rows = bench.rows().into_iter().filter(|row| row.3 == "read.count");
                rows.filter(|row| row.0 - row.1 >= begin && row.0 <= end).map(|row| row.4).sum()
            };
            assert_eq!(log["0/steady/load/read"].count, reads(first), "the window excludes the rest");
            // A disk may stall for a round.
            let iops = told[rounds - 1]["values"][0]["iops"].as_f64().expect("a number");
            assert!((iops * ROUND as f64 / 1e9 - reads(last) as f64).abs() < 0.5, "{iops} reads a second");
        }
    }
}

#[test]
fn phases_repeat_in_rounds() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let load = || vec![("load", StreamSpec::default())];
        let phases = vec![
            phase(by_amount(PAYLOAD / 4), load()),
            phase(by_amount(PAYLOAD / 8), load()),
            phase(by_time(5), vec![]),
        ];
        let mut spec = spec(phases, vec![("disk".into(), PAYLOAD)]);
        let steady = Some(rule(true));
        spec.rounds = vec![RoundsSpec {
            name: "r".into(),
            levels: Default::default(),
            first: 0,
            phases: 2,
            times: None,
            steady,
            tracked: vec![0, 1],
        }];
        bench.run_spec(&spec, backend).expect("a run");
        let order: Vec<u64> =
            of_kind(&bench, "phase_begin").iter().filter_map(|event| event["phase"].as_u64()).collect();
        assert_eq!(order, [0, 1, 0, 1, 2], "and then one that idles");
        assert_eq!(of_kind(&bench, "steady")[0]["steady"]["attained"], true);
        assert!(bench.histograms().contains("Tag=1/round-2/load/read,"));
    }
}

#[test]
fn load_continues_until_the_next_phase_starts() {
    const LEAD: u64 = 300_000;
    let deep = |queue_depth, jobs| StreamSpec { queue_depth, jobs, ..StreamSpec::default() };
    let open = StreamSpec { arrivals: Arrivals::Constant { rate: Rate(2_000_000) }, ..deep(4, 1) };
    let compressible = StreamSpec { read: Share(0), compressible: Share(500_000), ..deep(2, 1) };
    let phases = vec![
        phase(by_time(40), vec![("few", deep(2, 1))]),
        phase(by_time(40), vec![("more", deep(8, 2)), ("beside", deep(1, 1))]),
        phase(by_time(40), vec![("open", open)]),
        phase(by_time(40), vec![]),
        phase(by_amount(PAYLOAD), vec![("other_data", compressible)]),
        phase(by_time(40), vec![("few", deep(2, 1))]),
    ];
    for place in places() {
        for backend in backends() {
            let bench = Bench::new(&place, PAYLOAD);
            bench.run(phases.clone(), backend).expect("a run");
            let times = |kind: &str| -> Vec<u64> {
                of_kind(&bench, kind).iter().map(|event| event["t_ns"].as_u64().expect("a time")).collect()
            };
            let (begins, ends) = (times("phase_begin"), times("phase_end"));
            assert!(begins[1..].iter().zip(&ends).all(|(begin, end)| begin >= end), "{begins:?} {ends:?}");
            assert!(begins[2] >= ends[1] + LEAD, "arrivals fixed in advance find all threads at their places");
            // On a busy machine, threads report it late and in any order.
            let drained: BTreeMap<u64, u64> = of_kind(&bench, "phase_drained")
                .iter()
                .filter_map(|event| event["phase"].as_u64().zip(event["t_ns"].as_u64()))
                .collect();
            assert_eq!(drained.len(), ends.len());
            for closed_by_time in [0, 1] {
                assert!(drained[&closed_by_time] >= begins[closed_by_time as usize + 1], "there was load throughout");
            }
        }
    }
}

#[test]
fn next_phase_starts_at_the_end_on_any_storage() {
    let load = |queue_depth| StreamSpec { queue_depth, ..StreamSpec::default() };
    let on_other = |mut phase: PhaseSpec| {
        phase.streams[0].storage = "other".into();
        phase
    };
    let phases = vec![
        phase(by_time(30), vec![("here", load(4))]),
        on_other(phase(by_time(30), vec![("there", load(2))])),
        phase(by_time(10), vec![]),
        phase(by_amount(PAYLOAD), vec![("here", load(4))]),
        on_other(phase(by_amount(PAYLOAD), vec![("there", load(4))])),
        phase(by_time(30), vec![("here", load(4))]),
    ];
    for backend in backends() {
        let (bench, other) = (Bench::new(&places()[0], PAYLOAD), Bench::new(&places()[0], PAYLOAD));
        let targets = vec![("disk".to_string(), bench.target()), ("other".to_string(), other.target())];
        bench.run_on(phases.clone(), backend, targets, now()).expect("a run");
        let times = |kind: &str| -> Vec<u64> {
            of_kind(&bench, kind).iter().map(|event| event["t_ns"].as_u64().expect("a time")).collect()
        };
        let (begins, ends) = (times("phase_begin"), times("phase_end"));
        // An end by time is certain in advance. After an amount moved at once, the next phase may
        // not be known yet.
        assert_eq!(begins[1..4], ends[..3]);
        assert!(begins[4] >= ends[3] && begins[5] >= ends[4]);
        assert_eq!(times("phase_drained").len(), 6);
        for row in ["here", "there"] {
            let bytes = bench.rows().iter().filter(|r| r.2 == row && r.3 == "read.bytes").map(|r| r.4).sum::<u64>();
            assert!(bytes >= PAYLOAD, "{row}: {bytes}");
        }
    }
}

#[test]
fn rounds_continue_load_until_the_verdict() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    let load = || vec![("load", StreamSpec { queue_depth: 4, ..StreamSpec::default() })];
    let mut spec = spec(vec![phase(by_time(30), load()), phase(by_time(30), load())], vec![("disk".into(), PAYLOAD)]);
    spec.rounds = vec![RoundsSpec {
        name: "r".into(),
        levels: Default::default(),
        first: 0,
        phases: 1,
        times: None,
        steady: Some(rule(false)),
        tracked: vec![0],
    }];
    bench.run_spec(&spec, backends()[0]).expect("a run");
    let times = |kind: &str| -> Vec<u64> {
        of_kind(&bench, kind).iter().map(|event| event["t_ns"].as_u64().expect("a time")).collect()
    };
    let (begins, drained) = (times("phase_begin"), times("phase_drained"));
    assert_eq!(begins.len(), 4 + 1);
    assert!(drained.iter().zip(&begins[1..]).all(|(drained, begin)| drained >= begin), "{drained:?} {begins:?}");
}

#[test]
fn phase_with_smaller_depth_starts_after_drain() {
    let deep = |queue_depth| StreamSpec { queue_depth, ..StreamSpec::default() };
    for backend in backends() {
        for until in [by_time(20), by_amount(400 * BLOCK)] {
            let bench = Bench::new(&places()[0], PAYLOAD);
            let phases = vec![
                phase(until, vec![("load", deep(64))]),
                phase(by_amount(8 * BLOCK), vec![("load", deep(1))]),
                phase(by_time(20), vec![("load", deep(64))]),
            ];
            bench.run(phases, backend).expect("a run");
            let times = |kind: &str| {
                let of = |event: Value| (event["phase"].as_u64(), event["t_ns"].as_u64());
                let found: BTreeMap<_, _> = of_kind(&bench, kind).into_iter().map(of).collect();
                move |phase: u64| found[&Some(phase)]
            };
            let (begun, ended, drained) = (times("phase_begin"), times("phase_end"), times("phase_drained"));
            assert!(drained(0) <= begun(1) && ended(0) <= begun(1));
            assert!(ended(1) <= begun(2));
        }
    }
}
