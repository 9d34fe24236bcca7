//! Failing runs: early, with a sentence, and with an event in the record.

use crate::bench::*;
use std::fs::{File, OpenOptions};
use tameshi_base::{Rate, Share, Size, Slow, Time};
use tameshi_blockio::{Backend, BlockError, Target};
use tameshi_spec::run::PhaseStream;
use tameshi_spec::study::Engine;
use tameshi_workload::spec::{Access, Gaps, RatePoint, Shape};
use tameshi_workload::{Arrivals, StreamSpec};

const PAYLOAD: u64 = 1 << 20;

fn writes() -> StreamSpec {
    StreamSpec { read: Share(0), queue_depth: 4, ..StreamSpec::default() }
}

/// Text of the failure, which must also be in the record.
fn failure(bench: &Bench, result: Result<tameshi_blockio::RunOutcome, BlockError>) -> String {
    let text = result.expect_err("this can't go well").to_string();
    let last = bench.events().pop().expect("an event");
    assert_eq!((&last["kind"], &last["message"]), (&"error".into(), &text.clone().into()));
    text
}

#[test]
fn target_smaller_than_the_spec_is_refused() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    let spec = spec(vec![phase(by_time(10), vec![("load", writes())])], vec![("disk".into(), PAYLOAD + BLOCK)]);
    let targets = vec![("disk".to_string(), bench.target())];
    let result = tameshi_blockio::execute(&spec, targets, (now(), Slow::NONE), Backend::Auto, &mut bench.writer());
    let text = failure(&bench, result);
    assert_eq!(text, "storage `disk`: the target's payload has 1048576 bytes, the spec uses 1028 KiB");
    assert!(bench.touched().is_empty());
}

#[test]
fn file_shorter_than_its_payload_is_refused() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    let target = Target { data_bytes: 1 << 30, ..bench.target() };
    assert!(tameshi_blockio::lay_out(&target, 1, Backend::Auto, &bench.control).is_err());
    let phases = vec![phase(by_time(10), vec![("load", writes())])];
    let text = failure(&bench, bench.run_on(phases, Backend::Auto, vec![("disk".to_string(), target)], now()));
    assert_eq!(text, "storage `disk`: the target has 1064960 bytes, but its payload should reach to 1073750016");
    assert!(bench.touched().is_empty());
}

#[test]
fn refusal_names_every_reason() {
    let bench = Bench::new(&places()[0], PAYLOAD);
    let bad = StreamSpec { block_size: Size(1000), queue_depth: 0, span: Some(Size(512)), ..StreamSpec::default() };
    let mut phases = vec![phase(Default::default(), vec![("bad", bad)])];
    phases[0].streams.push(PhaseStream { name: "lost".into(), storage: "nowhere".into(), stream: writes() });
    let mut targets = vec![("disk".to_string(), bench.target())];
    targets[0].1.direct = false;
    let text = failure(&bench, bench.run_on(phases.clone(), Backend::Auto, targets, now()));
    assert!(text.contains("should be open through the page cache, but is not"), "{text}");
    let text = failure(&bench, bench.run(phases, Backend::Auto));
    for part in [
        "phase `phase` has no end",
        "`jobs` and `queue_depth` must be at least 1",
        "`block_size` is 1 kB, no multiple of the target's block of 512 B",
        "no whole block lies between",
        "stream `lost`: there is no storage `nowhere`",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn unsupported_key_is_named() {
    let mut spec = spec(vec![phase(by_time(10), vec![("s", StreamSpec::default())])], vec![]);
    spec.engines.insert("mysql".into(), Engine::default());
    assert_eq!(crate::bench::refused(&spec), ["engine.mysql: no phase runs a program on it"]);
    spec.phases[0] = phase(by_time(10), vec![("s", StreamSpec { arrivals: constant(), ..writes() })]);
    spec.engines.clear();
    assert!(crate::bench::refused(&spec).is_empty());
}

#[test]
fn storage_open_both_ways_serves_direct_and_buffered() {
    let buffered = StreamSpec { access: Access::Buffered, block_size: Size(1000), ..writes() };
    let phases = || vec![phase(by_amount(PAYLOAD), vec![("cached", buffered.clone()), ("direct", writes())])];
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let both = Target { buffered: Some(bench.file(true, false)), ..bench.target() };
        bench.run_on(phases(), backend, vec![("disk".to_string(), both)], now()).expect("a run");
        let sums = bench.sums();
        assert!((PAYLOAD..PAYLOAD + 1000).contains(&sums["write.bytes"]), "each moves its half");
    }
    let bench = Bench::new(&places()[0], PAYLOAD);
    let text = failure(&bench, bench.run(phases(), Backend::Auto));
    assert!(text.contains("`access` is `buffered`, but `disk` was opened past the page cache"), "{text}");
}

fn constant() -> Arrivals {
    Arrivals::Constant { rate: Rate(1000) }
}

#[test]
fn write_to_a_read_only_target_fails_with_system_error() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let target = Target { fd: bench.file(false, true), ..bench.target() };
        let phases = vec![phase(by_time(600_000), vec![("load", writes())])];
        let text = failure(&bench, bench.run_on(phases, backend, vec![("disk".to_string(), target)], now()));
        assert!(text.starts_with("write of 4096 bytes at offset "), "{text}");
        assert!(text.ends_with(" of storage `disk` failed: Bad file descriptor (os error 9)"), "{text}");
    }
}

/// Arrivals whose first request is due after 400 ms.
fn late() -> Arrivals {
    let point = |ms: u64, rate| RatePoint { at: Time(ms * 1_000_000), rate: Rate(rate) };
    Arrivals::Ramp { points: vec![point(0, 0), point(399, 0), point(400, 1000)], shape: Shape::Lines, gaps: Gaps::Even }
}

#[test]
fn full_device_stops_all_streams() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let full = OpenOptions::new().read(true).write(true).open("/dev/full").expect("a full device");
        let full = Target { fd: full.into(), data_offset: 0, data_bytes: PAYLOAD, direct: false, buffered: None };
        let mut phases = vec![phase(by_time(600_000), vec![("endless", StreamSpec { jobs: 2, ..writes() })])];
        // Its first write is due after the other streams have done something.
        let doomed = StreamSpec { arrivals: late(), ..writes() };
        phases[0].streams.push(PhaseStream { name: "doomed".into(), storage: "full".into(), stream: doomed });
        let targets = vec![("disk".to_string(), bench.target()), ("full".to_string(), full)];
        let text = failure(&bench, bench.run_on(phases, backend, targets, now()));
        assert!(text.ends_with(" of storage `full` failed: No space left on device (os error 28)"), "{text}");
        let events = bench.events();
        let kinds = ["run_begin", "phase_begin", "phase_ramped", "stream_end", "stream_end", "phase_end"];
        assert_eq!(bench.kinds(), [&kinds[..], &["phase_drained", "error"]].concat());
        assert_eq!([3, 4].map(|at| events[at]["stream"].clone()), ["endless", "doomed"]);
        assert_eq!(events[5]["ended_by"], "stopped");
    }
}

#[test]
fn target_that_shrinks_during_a_run_fails_it() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], PAYLOAD);
        let file = File::from(bench.file(true, false));
        let control = std::sync::Arc::clone(&bench.control);
        let cutter = std::thread::spawn(move || {
            while control.progress().elapsed_ns < 100_000_000 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            file.set_len(HEADER + PAYLOAD / 2).expect("cut");
        });
        let reads = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
        let text = failure(&bench, bench.run(vec![phase(by_time(600_000), vec![("load", reads)])], backend));
        cutter.join().expect("cut");
        assert!(
            text.ends_with("of storage `disk` moved only 0 bytes: the target ends there, or has no space left"),
            "{text}"
        );
    }
}
