//! Fast path of a phase with one flash drive. An unused second storage forces the general path.
//! Both do the same in the same order, and leave the same record.

use crate::channels::with_a_dying_channel;
use crate::support::*;
use proptest::prelude::*;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_spec::profile::{FlashProfile, Simulated, Written};
use tameshi_spec::run::{PhaseStream, RunSpec, StorageSpec, Until};
use tameshi_workload::{Arrivals, StreamSpec, Sync};

/// The same run by the general path.
fn general(spec: &RunSpec) -> RunSpec {
    let mut spec = spec.clone();
    let model = Some(leaf(null()));
    spec.storage.insert(
        "idle".into(),
        StorageSpec { size: Size(1 << 30), scale: 1, sparse: false, ignores_flush: false, model },
    );
    spec
}

fn assert_both_ways_are_the_same(spec: &RunSpec) {
    let (short, long) = (run(spec), run(&general(spec)));
    assert_eq!(short.digest, long.digest);
    assert_eq!(short.events, long.events);
    assert_eq!(short.histograms, long.histograms);
    let of_drive: Vec<_> = long.series.into_iter().filter(|row| row.2 != "storage.idle").collect();
    assert_eq!(short.series, of_drive);
}

/// Drive that must collect garbage soon.
fn full(drive: FlashProfile) -> FlashProfile {
    FlashProfile { simulated: Simulated { written: Written::Steady, ..Simulated::default() }, ..drive }
}

fn with_queue_depth(mut drive: FlashProfile, depth: u32) -> FlashProfile {
    drive.controller.queue_depth = sourced(depth);
    drive
}

/// Two streams on a drive, of which the second ends with the first; then other reads, while
/// outstanding commands complete.
fn two_phases(drive: FlashProfile, first: StreamSpec, second: StreamSpec, ios: u64) -> RunSpec {
    let mut spec = spec(flash(drive), first.clone(), for_amount(ios * 4096));
    spec.interval = Time(MS);
    spec.phases[0].streams.push(PhaseStream {
        name: "other".into(),
        storage: "disk".into(),
        stream: StreamSpec { ends_with: vec!["load".into()], ..second },
    });
    let reads = StreamSpec { read: Share::WHOLE, trim: Share(0), sync: None, sync_at_end: false, ..first };
    let soon = |nanos| Until { time: Some(Time(nanos)), ..for_amount(ios * 4096) };
    spec.phases.push(phase("after", reads.clone(), soon(3 * MS + 1)));
    spec.phases.push(phase("last", StreamSpec { queue_depth: reads.queue_depth + 1, ..reads }, soon(2 * MS)));
    spec
}

fn drives() -> impl Strategy<Value = FlashProfile> {
    let small = || flash_drive(256 << 20);
    prop_oneof![
        Just(small()),
        Just(full(small())),
        Just(full(unprotected(small()))),
        Just(with_map_writes(full(small()), 300_000)),
        Just(flushed_alone(full(small()))),
        Just(with_queue_depth(full(small()), 16)),
        Just(free_flash(full(small()))),
        Just(with_queue_depth(free_flash(small()), 7)),
    ]
}

fn arrivals() -> impl Strategy<Value = (Arrivals, Time)> {
    prop_oneof![
        4 => Just((Arrivals::Closed, Time(0))),
        1 => Just((Arrivals::Closed, Time(20_000))),
        1 => Just((Arrivals::Constant { rate: Rate(100_000_000) }, Time(0))),
        1 => Just((Arrivals::Poisson { rate: Rate(200_000_000) }, Time(0))),
    ]
}

fn streams() -> impl Strategy<Value = StreamSpec> {
    let depth = prop_oneof![Just(1u32), Just(4), Just(63), Just(64), Just(65)];
    let share = prop_oneof![Just(0u32), Just(700_000), Just(1_000_000)];
    let sync = proptest::option::of((1..4u32).prop_map(|every| Sync::Fdatasync { every }));
    let length = prop_oneof![3 => Just(4096u64), 1 => Just(512), 1 => Just(16_384)];
    (depth, 1..4u32, share, sync, any::<(bool, bool)>(), length, arrivals()).prop_map(
        |(queue_depth, jobs, read, sync, (trims, sync_at_end), length, (arrivals, think_time))| StreamSpec {
            queue_depth,
            jobs,
            read: Share(read),
            trim: Share(if trims { 50_000 } else { 0 }),
            // Most loads have no flush: flushes take the general path.
            sync: sync.filter(|_| trims && sync_at_end),
            sync_at_end: sync_at_end && read < 1_000_000,
            block_size: Size(length),
            arrivals,
            think_time,
            ..StreamSpec::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn fast_path_equals_general_path(
        drive in drives(), first in streams(), second in streams(), ios in 300..2000u64,
    ) {
        assert_both_ways_are_the_same(&two_phases(drive, first, second, ios));
    }
}

#[test]
fn fast_path_equals_general_path_at_depth_class_bounds() {
    for (queue_depth, jobs) in [(1, 2), (63, 1), (64, 1), (32, 2), (8, 8)] {
        for read in [Share(0), Share(700_000), Share::WHOLE] {
            let stream = StreamSpec { queue_depth, jobs, read, ..StreamSpec::default() };
            // An amount that ends among outstanding commands.
            let ios = 40 * u64::from(queue_depth * jobs) + 7;
            assert_both_ways_are_the_same(&spec(flash(full(flash_drive(256 << 20))), stream, for_amount(ios * 4096)));
        }
    }
}

#[test]
fn fast_path_equals_general_path_at_interval_ends() {
    // The first read of an empty drive takes 5 us in the controller and 1.28 us on the link.
    let stream = StreamSpec { queue_depth: 2, read: Share::WHOLE, ..StreamSpec::default() };
    for nanos in [6_280, 3_140, 1_000_000] {
        let mut spec = spec(flash(flash_drive(256 << 20)), stream.clone(), for_time(100 * 6_280));
        spec.interval = Time(nanos);
        assert_both_ways_are_the_same(&spec);
    }
}

#[test]
fn fast_path_records_rebuilds_as_general_path() {
    assert_both_ways_are_the_same(&with_a_dying_channel());
}
