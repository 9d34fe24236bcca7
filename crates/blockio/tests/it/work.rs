//! Successful runs.

use crate::bench::*;
use std::collections::BTreeSet;
use tameshi_base::{Rate, Share, Size, Time};
use tameshi_record::RunStatus;
use tameshi_workload::spec::{Access, SizeShare};
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

const PAYLOAD: u64 = 2 << 20;

fn writes(pattern: Pattern) -> StreamSpec {
    StreamSpec { pattern, read: Share(0), queue_depth: 8, ..StreamSpec::default() }
}

#[test]
fn amount_is_moved_exactly_and_completes_once() {
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
                let kinds =
                    ["run_begin", "phase_begin", "phase_ramped", "stream_end", "phase_end", "phase_drained", "run_end"];
                assert_eq!(bench.kinds(), kinds);
                assert_eq!(bench.events()[4]["ended_by"], "amount");
                assert_eq!(bench.events()[6]["status"], "complete");
                let event = &bench.events()[3];
                let sum =
                    |key: &str| event[key].as_array().expect("classes").iter().filter_map(|n| n.as_u64()).sum::<u64>();
                assert_eq!(sum("depth"), 300, "each request is counted by what was outstanding with it");
                assert!(sum("submitted") > 0 && sum("completed") > 0);
                assert_eq!(event["slowest"].as_array().map(Vec::len), Some(10));
                assert!(event["slowest"][0]["latency_ns"].as_u64() >= event["slowest"][9]["latency_ns"].as_u64());
            }
        }
    }
}

#[test]
fn sequential_writes_cover_only_the_payload() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        bench
            .run(vec![phase(by_amount(PAYLOAD), vec![("load", writes(Pattern::Sequential))])], backend)
            .expect("a run");
        assert_eq!(bench.touched().len() as u64, PAYLOAD / BLOCK);
    }
}

#[test]
fn random_writes_touch_the_same_blocks_on_every_backend() {
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
fn layout_leaves_no_hole_and_no_equal_blocks() {
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
fn layout_stops_when_asked() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    bench.control.stop();
    assert_eq!(bench.lay_out(tameshi_blockio::Backend::Auto).expect("stopped"), RunStatus::Partial);
    assert!(bench.touched().is_empty());
}

#[test]
fn mixed_stream_meets_its_read_share() {
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
fn commit_stream_commits_every_write() {
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
fn phase_ended_by_time_is_tiled_by_intervals() {
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
fn open_loop_arrivals_are_served_or_counted_unserved() {
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
fn phases_run_in_order_and_empty_ones_idle() {
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
fn stopped_run_is_partial_and_readable() {
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
        assert_eq!(
            bench.kinds(),
            ["run_begin", "phase_begin", "phase_ramped", "stream_end", "phase_end", "phase_drained", "run_end"]
        );
        assert_eq!((&events[4]["ended_by"], &events[6]["status"]), (&"stopped".into(), &"partial".into()));
        assert!(bench.sums()["read.count"] > 0);
    }
}

#[test]
fn stop_before_the_start_moves_nothing() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    bench.control.stop();
    let targets = vec![("disk".to_string(), bench.target())];
    let phases = vec![phase(by_time(60_000), vec![("load", writes(Pattern::Random))])];
    let hour_ahead = now() + 3_600_000_000_000;
    let done = bench.run_on(phases, tameshi_blockio::Backend::Auto, targets, hour_ahead).expect("a run");
    assert_eq!(done.status, RunStatus::Partial);
    assert!(bench.touched().is_empty());
}

#[test]
fn buffered_writes_of_any_length_land_at_their_offset() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let odd = StreamSpec { access: Access::Buffered, block_size: Size(2300), ..writes(Pattern::Sequential) };
        let targets = vec![("disk".to_string(), bench.buffered())];
        let count = PAYLOAD / 2300;
        let done = bench.run_on(vec![phase(by_amount(count * 2300), vec![("log", odd)])], backend, targets, now());
        assert_eq!(done.expect("a run").status, RunStatus::Complete);
        assert_eq!((bench.sums()["write.count"], bench.sums()["write.bytes"]), (count, count * 2300));
        assert_eq!(
            bench.touched().len() as u64,
            PAYLOAD / BLOCK,
            "the rest of the last block is smaller than a request"
        );
    }
}

#[test]
fn mixed_lengths_count_bytes_and_stay_in_the_payload() {
    let mix = [(512, 300_000), (4096, 500_000), (65_536, 200_000)];
    let mix = mix.map(|(size, share)| SizeShare { size: Size(size), share: Share(share) }).to_vec();
    for backend in backends() {
        for pattern in [Pattern::Random, Pattern::Sequential] {
            let bench = Bench::new(&places()[0], PAYLOAD);
            let stream = StreamSpec { block_size_mix: Some(mix.clone()), jobs: 2, ..writes(pattern) };
            let amount = 32 << 20;
            bench.run(vec![phase(by_amount(amount), vec![("mixed", stream)])], backend).expect("a run");
            let (count, bytes) = (bench.sums()["write.count"], bench.sums()["write.bytes"]);
            assert!((amount..amount + 2 * 65_536).contains(&bytes), "{bytes}");
            let mean = bytes as f64 / count as f64;
            assert!((mean / (0.3 * 512.0 + 0.5 * 4096.0 + 0.2 * 65_536.0) - 1.0).abs() < 0.2, "{mean}");
            bench.payload();
        }
    }
}

#[test]
fn durable_writes_are_commits_on_every_backend() {
    for backend in backends() {
        for (sync, buffered) in [(Sync::Dsync, false), (Sync::Fua, false), (Sync::Dsync, true)] {
            let bench = Bench::new(&places()[0], PAYLOAD);
            let access = if buffered { Access::Buffered } else { Access::Direct };
            let log = StreamSpec { sync: Some(sync), access, queue_depth: 2, ..writes(Pattern::Sequential) };
            let target = if buffered { bench.buffered() } else { bench.target() };
            let targets = vec![("disk".to_string(), target)];
            bench
                .run_on(vec![phase(by_amount(40 * BLOCK), vec![("log", log)])], backend, targets, now())
                .expect("a run");
            let sums = bench.sums();
            assert_eq!([sums["write.count"], sums["commit.count"]], [40; 2]);
            assert_eq!(sums["commit.latency_sum"], sums["write.latency_sum"]);
            assert!(!sums.contains_key("sync.count"));
            assert_eq!(bench.touched().len(), 40);
        }
    }
}

#[test]
fn written_data_repeat_and_compress_as_requested() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    let compressible = Share(500_000);
    let plain = phase(by_amount(PAYLOAD), vec![("plain", writes(Pattern::Sequential))]);
    let asked = StreamSpec { compressible, duplicate: Share(250_000), ..writes(Pattern::Sequential) };
    for (phases, repeated, half) in [
        (vec![plain.clone()], 0.0..0.001, false),
        (vec![plain.clone(), phase(by_amount(PAYLOAD), vec![("asked", asked)])], 0.15..0.35, true),
        (vec![plain], 0.0..0.001, false),
    ] {
        bench.run(phases, tameshi_blockio::Backend::Auto).expect("a run");
        let payload = bench.payload();
        let blocks: Vec<&[u8]> = payload.chunks(BLOCK as usize).collect();
        let different: BTreeSet<&&[u8]> = blocks.iter().collect();
        let share = 1.0 - (different.len() as f64 / blocks.len() as f64);
        assert!(repeated.contains(&share), "{share} repeated");
        let constant = |block: &&&[u8]| block[2048..].iter().collect::<BTreeSet<_>>().len() == 1;
        assert_eq!(blocks.iter().filter(constant).count(), if half { blocks.len() } else { 0 });
    }
}

#[test]
fn start_delay_and_work_time_are_recorded() {
    let bench = Bench::new(places().last().expect("a place"), PAYLOAD);
    bench.lay_out(tameshi_blockio::Backend::Auto).expect("laid out");
    let arrivals = Arrivals::Poisson { rate: Rate(2_000_000) };
    let open = StreamSpec { arrivals, queue_depth: 16, ..StreamSpec::default() };
    let closed = StreamSpec { think_time: Time(1_000_000), ..StreamSpec::default() };
    let streams = vec![("open", open), ("closed", closed)];
    bench.run(vec![phase(by_time(200), streams)], tameshi_blockio::Backend::Auto).expect("a run");
    let rows = bench.rows();
    let sum = |subject: &str, metric: &str| {
        rows.iter().filter(|row| row.2 == subject && row.3 == metric).map(|row| row.4).sum::<u64>()
    };
    let started = sum("open", "load.started");
    assert!((320..480).contains(&started), "{started}");
    assert!(sum("open", "load.lag_ns_sum") <= sum("open", "load.slip_ns_sum"));
    assert!(sum("open", "load.slip_ns_sum") <= sum("open", "read.latency_sum"));
    assert_eq!(sum("closed", "load.started"), 0);
    assert_eq!(sum("closed", "load.waiting_ns"), 0);
    for subject in ["open", "closed"] {
        // What was begun before the end is counted up to the end, by the times that latencies have.
        let (counted, completed) = (sum(subject, "load.in_flight_ns"), sum(subject, "load.service_ns_sum"));
        assert!(counted >= completed && counted < completed + 200_000_000, "{counted} {completed}");
    }
    for subject in ["open", "closed"] {
        assert!(sum(subject, "load.reaps") > 0 && sum(subject, "load.reap_ns_sum") < 200_000_000);
    }
    let log = bench.histograms();
    assert!(log.contains("Tag=0/steady/open/slip,") && log.contains("Tag=0/steady/open/lag,"));
    assert!(!log.contains("Tag=0/steady/closed/slip,"));
}
