//! Whole runs: begin and end of phases, their records, and refused specs.

use crate::support::*;
use std::sync::Arc;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_record::{Control, RunStatus};
use tameshi_sim::SimError;
use tameshi_spec::run::{PhaseStream, StorageSpec, Until};
use tameshi_spec::study::Engine;
use tameshi_workload::spec::{Access, SizeShare};
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

#[test]
fn phase_with_an_amount_moves_it_and_no_more() {
    for (jobs, depth, amount) in [(1, 1, 100 * 4096), (1, 32, 100 * 4096), (3, 4, 1_000_000), (7, 2, 4096)] {
        let stream = StreamSpec { jobs, queue_depth: depth, read: Share(500_000), ..StreamSpec::default() };
        for device in [null(), hdd(elevator(disk()))] {
            let left = run(&spec(device, stream.clone(), for_amount(amount)));
            let per_job = amount.div_ceil(u64::from(jobs)).div_ceil(4096) * 4096;
            assert_eq!(left.sum("read.bytes") + left.sum("write.bytes"), per_job * u64::from(jobs));
            assert!(left.events.contains("\"ended_by\":\"amount\""));
            assert_eq!(left.status, RunStatus::Complete);
        }
    }
}

#[test]
fn streams_of_one_phase_end_by_their_own_amount_or_duration() {
    let mut spec = spec(hdd(disk()), StreamSpec::default(), for_time(100 * SECOND));
    let own = StreamSpec { amount: Some(Size(300 * 4096)), jobs: 3, ..StreamSpec::default() };
    let timed = StreamSpec { delay: Time(SECOND / 2), duration: Some(Time(SECOND)), ..StreamSpec::default() };
    let stream = |name: &str, stream| PhaseStream { name: name.into(), storage: "disk".into(), stream };
    spec.phases[0].streams = vec![stream("own", own), stream("timed", timed)];
    let left = run(&spec);
    let of = |name: &str| {
        left.series.iter().filter(|row| row.2 == name && row.3 == "read.count").map(|row| row.4).sum::<u64>()
    };
    assert_eq!(of("own"), 300, "its amount, split over its jobs");
    assert!(of("timed") > 10);
    let end = left.events("phase_end")[0];
    assert!(end >= 3 * SECOND / 2 - SECOND / 50 && left.events.contains("\"ended_by\":\"amount\""), "{end}");
    assert_eq!(left.events("stream_end").len(), 2);
    assert!(left.events.contains("\"slowest\":[{"));
}

#[test]
fn phase_with_amount_and_time_ends_at_the_first() {
    let until = |seconds, amount| Until { amount: Some(Size(amount)), ..for_time(seconds * SECOND) };
    let early = run(&spec(hdd(disk()), StreamSpec::default(), until(10, 1 << 40)));
    assert!(early.events.contains("\"ended_by\":\"time\""));
    assert_eq!(early.events("phase_end"), [10 * SECOND]);
    let late = run(&spec(hdd(disk()), StreamSpec::default(), until(1000, 40_960)));
    assert!(late.events.contains("\"ended_by\":\"amount\""));
    assert_eq!(late.sum("read.count"), 10);
}

#[test]
fn phase_intervals_stay_within_consecutive_phases() {
    let stream = StreamSpec { queue_depth: 16, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream.clone(), for_time(5 * SECOND / 2));
    spec.phases[0].ramp = Time(SECOND / 4);
    spec.phases.push(phase("next", stream, for_time(SECOND)));
    let left = run(&spec);
    let (begins, ends) = (left.events("phase_begin"), left.events("phase_end"));
    assert_eq!((begins[0], ends[0]), (0, 5 * SECOND / 2));
    assert_eq!(begins[1], ends[0]);
    assert_eq!(ends[1], begins[1] + SECOND);
    assert_eq!(left.events("phase_ramped"), [SECOND / 4, begins[1]]);
    let late = left.series.iter().filter(|row| row.3 == "load.late");
    let intervals: Vec<(u64, u64)> = late.map(|row| (row.0 - row.1, row.0)).collect();
    let (quarter, next) = (SECOND / 4, begins[1]);
    let expected = [
        (0, quarter),
        (quarter, quarter + SECOND),
        (quarter + SECOND, quarter + 2 * SECOND),
        (quarter + 2 * SECOND, 10 * quarter),
        (next, next + SECOND),
    ];
    assert_eq!(intervals, expected);
    assert_eq!(left.events("run_end").len(), 1);
}

#[test]
fn commits_and_syncs_are_counted_apart_from_writes() {
    let stream = StreamSpec {
        pattern: Pattern::Sequential,
        read: Share(0),
        sync: Some(Sync::Fdatasync { every: 1 }),
        ..StreamSpec::default()
    };
    let left = run(&spec(hdd(disk()), stream, for_amount(1000 * 4096)));
    let count = |word: &str| left.sum(&format!("{word}.count"));
    assert_eq!((count("write"), count("sync"), count("commit")), (1000, 1000, 1000));
    let sum = |word: &str| left.sum(&format!("{word}.latency_sum"));
    assert_eq!(sum("commit"), sum("write") + sum("sync"));
}

#[test]
fn streams_of_one_phase_share_a_storage_or_have_their_own() {
    let mut spec = spec(hdd(disk()), StreamSpec::default(), for_time(10 * SECOND));
    let mut second = spec.phases[0].streams[0].clone();
    second.name = "second".into();
    spec.phases[0].streams.push(second);
    let shared = run(&spec);
    let model = spec.storage["disk"].model.clone();
    spec.storage.insert(
        "other".into(),
        StorageSpec { size: Size(1 << 30), scale: 1, sparse: false, ignores_flush: false, model },
    );
    spec.phases[0].streams[1].storage = "other".into();
    let apart = run(&spec);
    let rate = |left: &crate::support::Left| left.sum("read.count") as f64 / 10.0;
    assert_close(rate(&shared), 1e3 / 5.43, 0.05, "one arm for both");
    assert!(rate(&apart) > 1.8 * rate(&shared), "{} against {}", rate(&apart), rate(&shared));
}

#[test]
fn stopped_run_is_partial_and_its_record_reads_back() {
    let stream = StreamSpec { queue_depth: 8, ..StreamSpec::default() };
    let spec = spec(hdd(disk()), stream.clone(), for_time(100_000 * SECOND));
    let control = Arc::new(Control::default());
    let left = std::thread::scope(|scope| {
        let running = scope.spawn(|| try_run(&spec, Arc::clone(&control)));
        while control.progress().elapsed_ns < 5 * SECOND && !running.is_finished() {
            std::thread::yield_now();
        }
        control.stop();
        running.join().expect("a thread").expect("a run")
    });
    assert_eq!(left.status, RunStatus::Partial);
    assert!(left.events.contains("\"ended_by\":\"stopped\"") && left.events.contains("\"status\":\"partial\""));
    assert!(left.sum("read.count") > 0);
    assert!(left.events("phase_end")[0] < 100_000 * SECOND);
}

#[test]
fn run_on_a_device_without_latency_can_be_stopped() {
    let spec = spec(null(), StreamSpec::default(), for_amount(1 << 60));
    let control = Arc::new(Control::default());
    control.stop();
    let left = try_run(&spec, Arc::clone(&control)).expect("a run");
    assert_eq!(left.status, RunStatus::Partial);
    let control = Arc::new(Control::default());
    let left = std::thread::scope(|scope| {
        let running = scope.spawn(|| try_run(&spec, Arc::clone(&control)));
        std::thread::sleep(std::time::Duration::from_millis(50));
        control.stop();
        running.join().expect("a thread").expect("a run")
    });
    assert_eq!(left.status, RunStatus::Partial);
}

#[test]
fn endless_loop_without_cost_is_refused() {
    let on_null = spec(null(), StreamSpec::default(), for_time(SECOND));
    let Err(SimError::Unsupported(sentences)) = try_run(&on_null, Arc::default()) else { panic!("it is refused") };
    assert!(sentences[0].message.contains("give the phase an `amount`"), "{sentences:?}");
    let on_disk = spec(hdd(free(disk())), StreamSpec::default(), for_time(SECOND));
    let Err(SimError::NoProgress(sentence)) = try_run(&on_disk, Arc::default()) else { panic!("it stands still") };
    assert!(sentence.contains("give the phase an `amount`"), "{sentence}");
    let arrivals = Arrivals::Poisson { rate: Rate(10_000_000) };
    let open = StreamSpec { arrivals, ..StreamSpec::default() };
    let left = run(&spec(null(), open, for_time(SECOND)));
    assert_close(left.sum("read.count") as f64, 10_000.0, 0.05, "an open loop on a free device");
    let thinking = StreamSpec { think_time: Time(MS), ..StreamSpec::default() };
    assert_eq!(run(&spec(null(), thinking, for_time(SECOND))).sum("read.count"), 1000);
}

#[test]
fn unsupported_keys_are_refused_by_name() {
    let stream = StreamSpec { access: Access::Buffered, queue_depth: 0, ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream, for_time(SECOND));
    spec.phases.push(phase("endless", StreamSpec::default(), Until::default()));
    spec.storage.insert(
        "bound".into(),
        StorageSpec { size: Size(1 << 30), scale: 1, sparse: false, ignores_flush: false, model: None },
    );
    spec.storage[0].size = Size(1 << 50);
    spec.engines.insert("mysql".into(), Engine::default());
    let sentences = crate::support::refused(&spec);
    for key in [
        "engine.mysql: ",
        "storage.disk.size: ",
        "storage.bound: ",
        "phase.endless.until: ",
        "workload.stream.load.access: ",
        "workload.stream.load.queue_depth: ",
    ] {
        assert_eq!(sentences.iter().filter(|sentence| sentence.starts_with(key)).count(), 1, "{key} in {sentences:?}");
    }
    assert!(
        matches!(try_run(&spec, Arc::default()), Err(SimError::Unsupported(said)) if said == tameshi_sim::refusals(&spec))
    );
}

#[test]
fn mixed_lengths_move_the_amount_that_ends_the_phase() {
    let mix = [(4096, 750_000), (65_536, 250_000)];
    let mix = mix.map(|(size, share)| SizeShare { size: Size(size), share: Share(share) }).to_vec();
    let stream = StreamSpec { block_size_mix: Some(mix), queue_depth: 4, ..StreamSpec::default() };
    let amount = 40 << 20;
    let left = run(&spec(hdd(disk()), stream, for_amount(amount)));
    let (count, bytes) = (left.sum("read.count"), left.sum("read.bytes"));
    assert!((amount..amount + 4 * 65_536).contains(&bytes), "{bytes}");
    assert_close(bytes as f64 / count as f64, 0.75 * 4096.0 + 0.25 * 65_536.0, 0.1, "the mean length");
}

#[test]
fn late_starts_for_want_of_a_slot_are_slip_without_lag() {
    let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
    let overload = StreamSpec { arrivals: arrivals.clone(), ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), overload, for_time(SECOND)));
    assert!(left.sum("load.slip_ns_max") > 500 * MS, "a disk can't serve a thousand a second");
    assert_eq!(left.sum("load.started") + left.sum("load.unserved"), 1000);
    assert!(left.sum("load.service_ns_sum") <= SECOND, "one slot, one second");
    assert_eq!((left.sum("load.lag_ns_sum"), left.sum("load.reaps")), (0, 0), "virtual time has no generator");
    let on_time = run(&spec(null(), StreamSpec { arrivals, ..StreamSpec::default() }, for_time(SECOND)));
    assert_eq!((on_time.sum("load.started"), on_time.sum("load.slip_ns_sum")), (1000, 0));
}

#[test]
fn durable_writes_without_volatile_cache_are_free_commits() {
    let plain = StreamSpec { read: Share(0), ..StreamSpec::default() };
    let written = |sync| run(&spec(hdd(disk()), StreamSpec { sync, ..plain.clone() }, for_time(SECOND)));
    let without = written(None);
    for sync in [Sync::Dsync, Sync::Fua] {
        let durable = written(Some(sync));
        assert_eq!(durable.digest, without.digest);
        assert_eq!(durable.sum("commit.count"), durable.sum("write.count"));
        assert_eq!(durable.sum("commit.latency_sum"), durable.sum("write.latency_sum"));
    }
}
