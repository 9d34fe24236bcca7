//! Runs that go well.

use crate::bench::*;
use std::collections::BTreeSet;
use tameshi_base::{Rate, Share, Size, Time};
use tameshi_record::RunStatus;
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

const PAYLOAD: u64 = 2 << 20;

fn writes(pattern: Pattern) -> StreamSpec {
    StreamSpec { pattern, read: Share(0), queue_depth: 8, ..StreamSpec::default() }
}

#[test]
fn an_amount_is_moved_to_the_byte_and_each_request_completes_once() {
    for place in places() {
        for backend in backends() {
            for depth in [1, 8] {
                let bench = Bench::new(&place, PAYLOAD);
                let stream = StreamSpec { queue_depth: depth, jobs: 3, ..writes(Pattern::Random) };
                let done = bench.run(vec![phase(by_amount(300 * BLOCK), vec![("load", stream)])], backend);
                assert_eq!(done.expect("a run").status, RunStatus::Complete);
                let sums = bench.sums();
                assert_eq!(
                    (sums["write.count"], sums["write.bytes"]),
                    (300, 300 * BLOCK),
                    "{place:?} {backend:?} {depth}"
                );
                assert!(!sums.contains_key("read.count"));
                assert_eq!(bench.kinds(), ["run_begin", "phase_begin", "phase_ramped", "phase_end", "run_end"]);
                assert_eq!(bench.events()[3]["ended_by"], "amount");
                assert_eq!(bench.events()[4]["status"], "complete");
            }
        }
    }
}

#[test]
fn sequential_writes_cover_the_payload_and_nothing_around_it() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        bench
            .run(vec![phase(by_amount(PAYLOAD), vec![("load", writes(Pattern::Sequential))])], backend)
            .expect("a run");
        assert_eq!(bench.touched().len() as u64, PAYLOAD / BLOCK);
    }
}

#[test]
fn random_writes_stay_in_their_part_and_both_backends_touch_the_same_blocks() {
    let mut by_backend = vec![];
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let part =
            StreamSpec { offset: Size(PAYLOAD / 4), span: Some(Size(PAYLOAD / 2)), jobs: 2, ..writes(Pattern::Random) };
        bench.run(vec![phase(by_amount(200 * BLOCK), vec![("load", part)])], backend).expect("a run");
        let (touched, blocks) = (bench.touched(), (PAYLOAD / BLOCK) as usize);
        assert!(touched.iter().all(|block| (blocks / 4..blocks * 3 / 4).contains(block)));
        assert!((120..=200).contains(&touched.len()), "{} of 200 draws from 256 blocks", touched.len());
        by_backend.push((touched, bench.sums()["write.count"]));
    }
    by_backend.dedup();
    assert_eq!(by_backend.len(), 1);
}

#[test]
fn laying_out_leaves_no_hole_and_no_two_blocks_alike() {
    for place in places() {
        for backend in backends() {
            let odd_end = 5 * (1 << 20) + 3 * BLOCK;
            let bench = Bench::new(&place, odd_end);
            assert_eq!(bench.lay_out(backend).expect("laid out"), RunStatus::Complete);
            assert_eq!(bench.control.progress().bytes_written, odd_end);
            let payload = bench.payload();
            let blocks: BTreeSet<&[u8]> = payload.chunks(BLOCK as usize).collect();
            assert_eq!(blocks.len() as u64, odd_end / BLOCK);
            assert!(blocks.iter().all(|block| block.iter().collect::<BTreeSet<_>>().len() > 200));
        }
    }
}

#[test]
fn laying_out_stops_when_asked() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    bench.control.stop();
    assert_eq!(bench.lay_out(tameshi_blockio::Backend::Auto).expect("stopped"), RunStatus::Partial);
    assert!(bench.touched().is_empty());
}

#[test]
fn reads_and_writes_meet_their_shares() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let mixed = StreamSpec { read: Share(700_000), ..writes(Pattern::Random) };
        bench.run(vec![phase(by_amount(4000 * BLOCK), vec![("load", mixed)])], backend).expect("a run");
        let sums = bench.sums();
        assert_eq!(sums["read.count"] + sums["write.count"], 4000);
        assert!((2680..2920).contains(&sums["read.count"]), "{}", sums["read.count"]);
        assert_eq!(sums["read.bytes"], sums["read.count"] * BLOCK);
    }
}

#[test]
fn every_write_of_a_commit_stream_is_committed() {
    for backend in backends() {
        for (sync, depth) in [(Sync::Fdatasync { every: 1 }, 1), (Sync::Fsync { every: 1 }, 4)] {
            let bench = Bench::new(&places()[0], PAYLOAD);
            let log = StreamSpec { queue_depth: depth, sync: Some(sync), ..writes(Pattern::Sequential) };
            bench.run(vec![phase(by_amount(40 * BLOCK), vec![("log", log)])], backend).expect("a run");
            let sums = bench.sums();
            assert_eq!([sums["write.count"], sums["sync.count"], sums["commit.count"]], [40; 3]);
            assert!(sums["commit.latency_sum"] >= sums["write.latency_sum"] + sums["sync.latency_sum"]);
            assert!(bench.histograms().contains("Tag=0/steady/log/commit,"));
        }
    }
}

#[test]
fn time_ends_a_phase_intervals_tile_it_and_no_slot_is_busy_for_longer() {
    for backend in backends() {
        let bench = Bench::new(places().last().expect("a place"), PAYLOAD);
        bench.lay_out(backend).expect("laid out");
        let (reads, depth, jobs) = (StreamSpec { queue_depth: 4, jobs: 2, ..StreamSpec::default() }, 4, 2);
        let mut reading = phase(by_time(180), vec![("reads", reads)]);
        reading.ramp = Time(70_000_000);
        bench.run(vec![reading], backend).expect("a run");
        let events = bench.events();
        let at =
            |kind: &str| events.iter().find(|e| e["kind"] == kind).and_then(|e| e["t_ns"].as_u64()).expect("an event");
        let (begin, ramped, end) = (at("phase_begin"), at("phase_ramped"), at("phase_end"));
        assert_eq!((ramped - begin, end - begin), (70_000_000, 180_000_000));
        let counts: Vec<_> = bench.rows().into_iter().filter(|row| row.3 == "load.late").collect();
        let ends: Vec<u64> = counts.iter().map(|row| (row.0 - begin) / 1_000_000).collect();
        assert_eq!(ends, [50, 70, 120, 170, 180]);
        assert_eq!(counts.iter().map(|row| row.1).sum::<u64>(), 180_000_000);
        let sums = bench.sums();
        assert!(sums["read.count"] > 0 && sums["load.cpu_ns"] > 0);
        assert!(sums["read.latency_sum"] <= depth * jobs * 180_000_000);
        let log = bench.histograms();
        assert!(log.contains("Tag=0/ramp/reads/read,") && log.contains("Tag=0/steady/reads/read,"));
    }
}

#[test]
fn in_open_loop_each_arrival_of_the_phase_is_served_or_said_not_to_be() {
    for backend in backends() {
        let bench = Bench::new(places().last().expect("a place"), PAYLOAD);
        bench.lay_out(backend).expect("laid out");
        let arrivals = Arrivals::Constant { rate: Rate(2_000_000) };
        let steady = StreamSpec { arrivals, queue_depth: 16, jobs: 2, ..StreamSpec::default() };
        bench.run(vec![phase(by_time(200), vec![("steady", steady)])], backend).expect("a run");
        let sums = bench.sums();
        let counted = sums["read.count"] + sums["load.unserved"];
        assert!((368..=400).contains(&counted), "{counted} of 400; what is in flight at the end counts for neither");
    }
}

#[test]
fn phases_follow_one_another_and_one_without_streams_rests() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let phases = vec![
            phase(by_amount(64 * BLOCK), vec![("fill", writes(Pattern::Sequential))]),
            phase(by_time(60), vec![]),
            phase(by_amount(64 * BLOCK), vec![("a", StreamSpec::default()), ("b", writes(Pattern::Random))]),
        ];
        let done = bench.run(phases, backend).expect("a run");
        let events = bench.events();
        assert_eq!(events[0]["backend"], done.backend);
        assert_eq!(events[0]["features"], serde_json::json!(done.features));
        assert!(!done.features.is_empty());
        let times: Vec<u64> = events.iter().skip(1).map(|event| event["t_ns"].as_u64().expect("a time")).collect();
        assert!(times.is_sorted(), "{times:?}");
        let ends: Vec<_> = events.iter().filter_map(|event| event["ended_by"].as_str()).collect();
        assert_eq!(ends, ["amount", "time", "amount"]);
        assert_eq!((bench.sums()["write.count"], bench.sums()["read.count"]), (64 + 32, 32));
    }
}

#[test]
fn a_stop_leaves_a_partial_run_that_reads_back() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let control = std::sync::Arc::clone(&bench.control);
        let stopper = std::thread::spawn(move || {
            while control.progress().elapsed_ns < 100_000_000 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            control.stop();
        });
        let phases = vec![
            phase(by_time(600_000), vec![("endless", StreamSpec { queue_depth: 4, ..StreamSpec::default() })]),
            phase(by_time(600_000), vec![]),
        ];
        let done = bench.run(phases, backend).expect("a run");
        stopper.join().expect("stopped");
        assert_eq!(done.status, RunStatus::Partial);
        let events = bench.events();
        assert_eq!(bench.kinds(), ["run_begin", "phase_begin", "phase_ramped", "phase_end", "run_end"]);
        assert_eq!((&events[3]["ended_by"], &events[4]["status"]), (&"stopped".into(), &"partial".into()));
        assert!(bench.sums()["read.count"] > 0);
    }
}

#[test]
fn a_stop_before_the_start_moves_nothing() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    bench.control.stop();
    let targets = vec![("disk".to_string(), bench.target())];
    let phases = vec![phase(by_time(60_000), vec![("load", writes(Pattern::Random))])];
    let hour_ahead = now() + 3_600_000_000_000;
    let done = bench.run_on(phases, tameshi_blockio::Backend::Auto, targets, hour_ahead).expect("a run");
    assert_eq!(done.status, RunStatus::Partial);
    assert!(bench.touched().is_empty());
}
