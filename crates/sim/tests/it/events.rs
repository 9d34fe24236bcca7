//! Events on a run's timeline: their times, their effects, and their records.

use crate::support::*;
use proptest::prelude::*;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_spec::run::{Function, Node, RunSpec, StorageSpec};
use tameshi_spec::study::{CacheKind, Event, Failure, Member, PowerCut, Protocol, ReadBalance};
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

fn event(at: u64, phase: Option<&str>) -> Event {
    let phase = phase.map(String::from);
    Event { at: Time(at), phase, ..Event::default() }
}

fn of_disk(member: Option<u32>) -> Option<Member> {
    Some(Member { storage: Some("disk".into()), member })
}

fn fail(at: u64, member: Option<u32>) -> Event {
    let fail = Some(Failure { storage: Some("disk".into()), member, channel: None });
    Event { fail, ..event(at, None) }
}

fn replace(at: u64, member: u32) -> Event {
    Event { replace: of_disk(Some(member)), ..event(at, None) }
}

fn power_cut(at: u64) -> Event {
    let cut = PowerCut { storage: Some("disk".into()), ..PowerCut::default() };
    Event { power_cut: Some(cut), ..event(at, None) }
}

fn with(mut spec: RunSpec, events: &[Event]) -> RunSpec {
    spec.events = events.iter().enumerate().map(|(place, event)| (format!("e{place}"), event.clone())).collect();
    spec
}

/// Disk of 64 MiB that takes 30 µs per 4 KiB, and nothing else.
fn plain() -> Node {
    let mut profile = without_overhead(without_seeks(disk()));
    (profile.revolution.value.0, profile.capacity.value.0, profile.cylinders.value) = (0, 64 << 20, 1);
    leaf(hdd(profile))
}

/// Mirror of two such disks.
fn mirror() -> Node {
    raid1(2, plain(), ReadBalance::ShortestQueue)
}

fn reads() -> StreamSpec {
    StreamSpec { queue_depth: 16, ..StreamSpec::default() }
}

#[test]
fn utilization_is_independent_of_interval_of_member_failure() {
    let shares = [SECOND / 100, SECOND / 4, SECOND, 3 * SECOND].map(|interval| {
        let mut spec = spec_of(mirror(), reads(), for_time(3 * SECOND));
        spec.interval = Time(interval);
        let left = run(&with(spec, &[fail(3 * SECOND / 2, Some(1))]));
        assert_eq!(left.sum("capacity.media_ns"), 3 * SECOND, "one disk's time, the busiest one's");
        left.sum("busy.media_ns") as f64 / left.sum("capacity.media_ns") as f64
    });
    assert!(shares.iter().all(|share| (0.995..=1.0).contains(share)), "{shares:?}");
}

#[test]
fn mirror_reads_halve_at_failure_and_return_after_rebuild() {
    let spec = spec_of(mirror(), reads(), for_time(9 * SECOND));
    let left = run(&with(spec, &[fail(2 * SECOND, Some(1)), replace(4 * SECOND, 1)]));
    assert_eq!((left.events("fail"), left.events("replace")), (vec![2 * SECOND], vec![4 * SECOND]));
    let rebuilt = left.events("rebuilt")[0];
    assert!((4 * SECOND..7 * SECOND).contains(&rebuilt), "{rebuilt}");
    let counts: Vec<u64> = left.series.iter().filter(|row| row.3 == "read.count").map(|row| row.4).collect();
    assert_close(counts[1] as f64, 2e9 / 30e3, 0.01, "both");
    assert_close(counts[3] as f64, 1e9 / 30e3, 0.01, "one");
    assert_close(counts[8] as f64, 2e9 / 30e3, 0.01, "both again");
    assert_eq!(left.sum("load.failed"), 0);
    assert!(left.sum("time.rebuild_ns_sum") > 0, "reads waited for the rebuild");
    assert_eq!(left.sum("rebuild.bytes"), 64 << 20, "all of the member was written");
}

#[test]
fn failure_of_dead_member_is_missed() {
    let spec = spec_of(mirror(), reads(), for_time(4 * SECOND));
    let left = run(&with(spec.clone(), &[fail(SECOND, Some(1)), fail(2 * SECOND, Some(1))]));
    assert_eq!((left.events("fail"), left.events("missed")), (vec![SECOND], vec![2 * SECOND]));
    let why = r#""why":{"code":"member_dead","subject":"","values":{"member":1}}"#;
    assert!(left.events.contains(why), "{}", left.events);
    let left = run(&with(spec, &[fail(SECOND, None), fail(2 * SECOND, None)]));
    assert_eq!((left.events("fail"), left.events("missed")), (vec![SECOND], vec![2 * SECOND]));
}

#[test]
fn run_without_events_is_unchanged() {
    let spec = spec_of(mirror(), reads(), for_time(2 * SECOND));
    let clean = run(&spec).digest;
    let late = run(&with(spec.clone(), &[fail(5 * SECOND, Some(0))]));
    assert_eq!(late.digest, clean, "an event that never happens changes nothing");
    assert_eq!(late.events("missed").len(), 1);
    assert_ne!(run(&with(spec, &[fail(SECOND, Some(0))])).digest, clean);
}

#[test]
fn events_after_the_last_phase_are_missed() {
    let spec = spec_of(mirror(), reads(), for_time(2 * SECOND));
    let clean = run(&spec).digest;
    let late = run(&with(spec.clone(), &[fail(2 * SECOND, None), fail(2 * SECOND + 50_000, Some(0))]));
    assert_eq!((late.events("fail"), late.events("missed").len()), (vec![], 2), "{}", late.events);
    assert_eq!(late.digest, clean, "what is outstanding completes");
    let last = run(&with(spec, &[fail(2 * SECOND - 1, None)]));
    assert_eq!(last.events("fail"), [2 * SECOND - 1]);
}

#[test]
fn failed_commands_are_counted_and_in_no_rate() {
    let left = run(&with(spec_of(mirror(), reads(), for_time(2 * SECOND)), &[fail(SECOND, None)]));
    let (failed, served) = (left.sum("load.failed"), left.sum("read.count"));
    // Sixteen commands at a time, 10 ms each.
    assert_close(failed as f64, 16.0 * 100.0, 0.02, "failed");
    assert_close(served as f64, 2e9 / 30e3, 0.01, "served before");
}

#[test]
fn failed_writes_are_committed_by_no_sync() {
    let log =
        |sync| StreamSpec { read: Share(0), pattern: Pattern::Sequential, sync: Some(sync), ..StreamSpec::default() };
    let batch = StreamSpec {
        read: Share(0),
        page_flush: Some(tameshi_workload::spec::PageFlush { batch: 8, doublewrite: None }),
        ..StreamSpec::default()
    };
    for stream in [log(Sync::Fdatasync { every: 1 }), log(Sync::GroupCommit { committers: 4, delay: Time(0) }), batch] {
        let spec = spec_of(raid0(2, plain()), stream, for_time(SECOND));
        let commits = |events: &[Event]| {
            let left = run(&with(spec.clone(), events));
            (left.sum("commit.count"), left.sum("load.failed"))
        };
        let (all, none) = commits(&[]);
        let (half, failed) = commits(&[fail(SECOND / 2, Some(1))]);
        assert_eq!(none, 0);
        assert!(failed > 0 && all > 0);
        // A batch in flight at that time may still have ended.
        assert!(half.abs_diff(all / 2) <= 8 + all / 50, "{half} of {all}");
    }
}

#[test]
fn power_cut_records_its_losses() {
    let stream = StreamSpec { read: Share(0), queue_depth: 4, ..StreamSpec::default() };
    let cut = [power_cut(SECOND)];
    let volatile = cached(leaf(hdd(disk())), 64 << 20, CacheKind::Volatile);
    let left = run(&with(spec_of(volatile, stream.clone(), for_time(3 * SECOND)), &cut));
    assert!(left.events.contains("\"outstanding\":4") && !left.events.contains("\"lost_writes\":0"), "{}", left.events);
    assert_eq!(left.sum("load.failed"), 4);
    let durable = cached(leaf(hdd(disk())), 64 << 20, CacheKind::BatteryBacked);
    let left = run(&with(spec_of(durable, stream, for_time(3 * SECOND)), &cut));
    assert!(left.events.contains("\"lost_bytes\":0"), "{}", left.events);
}

#[test]
fn power_cut_waits_for_a_write_of_its_size() {
    let cut_at = |arrivals: Arrivals, block: u64, size: u64| {
        let stream = StreamSpec { read: Share(0), arrivals, block_size: Size(block), ..StreamSpec::default() };
        let mut cut = power_cut(SECOND);
        cut.power_cut.as_mut().expect("a cut").during_write = Some(Size(size));
        let left = run(&with(spec_of(plain(), stream, for_time(5 * SECOND)), &[cut]));
        (left.events("power_cut")[0], left.events.contains("\"outstanding\":1"))
    };
    // A write each 250 ms, 120 µs under way; one at the cut's time, not yet in the drive.
    let rare = Arrivals::Constant { rate: Rate(4_000) };
    let (at, meets) = cut_at(rare.clone(), 16 << 10, 16 << 10);
    assert!(meets && (SECOND + 1..=SECOND + MS).contains(&at), "{at}");
    for other in [4 << 10, 20 << 10] {
        assert_eq!(cut_at(rare.clone(), 16 << 10, other), (3 * SECOND, false), "it waits for 2 s at most");
    }
}

#[test]
fn resync_after_power_cut_is_recorded_as_rebuilt() {
    // The link carries a write in 4.1 ms, and another one arrives after 4.17 ms.
    let arrivals = Arrivals::Constant { rate: Rate(240_000) };
    let writes = StreamSpec { read: Share(0), arrivals, ..StreamSpec::default() };
    let node = replica(plain(), 20_000, 1_000_000, Protocol::Asynchronous);
    let left = run(&with(spec_of(node, writes, for_time(2 * SECOND)), &[power_cut(SECOND)]));
    let rebuilt = left.events("rebuilt");
    assert!(rebuilt.len() == 1 && (SECOND + 4 * MS..SECOND + 10 * MS).contains(&rebuilt[0]), "{rebuilt:?}");
    let fields = ["\"member\":1", "\"bytes\":4096", "\"resync\":true"];
    let told = left.events.lines().find(|line| line.contains("\"rebuilt\"")).expect("it is recorded");
    assert!(fields.iter().all(|field| told.contains(field)), "{told}");
    assert!(told.contains(&format!("\"for_ns\":{}", rebuilt[0] - SECOND)), "{told}");
}

#[test]
fn phase_does_not_wait_for_a_rebuild() {
    let mut spec = spec_of(mirror(), reads(), for_time(SECOND));
    spec.phases.push(phase("after", StreamSpec { pattern: Pattern::Sequential, ..reads() }, for_time(4 * SECOND)));
    let left = run(&with(spec, &[fail(1, Some(0)), replace(SECOND - MS, 0)]));
    let (ends, begins) = (left.events("phase_end"), left.events("phase_begin"));
    assert!(begins[1] - ends[0] < 10 * MS, "{begins:?} {ends:?}");
    assert!(left.events("rebuilt")[0] > begins[1]);
}

/// Arrays of at most four such disks.
fn arrays() -> [Node; 4] {
    let balance = ReadBalance::ShortestQueue;
    let across = replica(plain(), 20_000, 1_000_000_000, tameshi_spec::study::Protocol::FarMedium);
    [raid1(3, plain(), balance), raid10(4, plain()), raid5(4, plain()), across]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_request_completes_once_with_failures_and_replacements(
        seed: u64,
        kind in 0usize..4,
        read in 0u32..=10,
        happen in proptest::collection::vec((0u64..400, 0u32..2, 0u8..5), 1..8),
    ) {
        let stream = StreamSpec { read: Share(read * 100_000), queue_depth: 64, jobs: 4, ..StreamSpec::default() };
        let mut spec = spec_of(arrays()[kind].clone(), stream, for_amount(64 << 20));
        spec.seed = seed;
        let events: Vec<Event> = happen
            .iter()
            .map(|&(at, member, what)| match what {
                0 | 1 => fail(at * MS, Some(member)),
                2 | 3 => replace(at * MS, member),
                _ => power_cut(at * MS),
            })
            .collect();
        let left = run(&with(spec.clone(), &events));
        let told: u64 = ["read.count", "write.count", "load.failed"].iter().map(|metric| left.sum(metric)).sum();
        prop_assert_eq!(told, (64 << 20) / 4096);
        let happened: usize =
            ["fail", "replace", "power_cut", "missed"].iter().map(|kind| left.events(kind).len()).sum();
        prop_assert_eq!(happened, events.len());
        prop_assert_eq!(run(&with(spec, &events)).digest, left.digest);
    }
}

#[test]
fn functions_of_one_drive_share_it_by_their_weights() {
    let function = |index, weight: u32| {
        let Node::Partition { of, function } = partition(plain(), 2, 8) else { panic!("a partition") };
        let (drive, weight) = (Some("card".into()), Share(weight * 10_000));
        Node::Partition { of, function: Function { drive, index, weight, ..function } }
    };
    let saturating = StreamSpec { jobs: 4, ..reads() };
    let alone = run(&spec_of(function(0, 20), saturating.clone(), for_time(SECOND))).sum("read.count");
    assert_close(alone as f64, 1e9 / 30e3, 0.01, "nothing is set aside for who does not ask");
    for weight in [20, 50, 70] {
        let mut spec = spec_of(function(0, weight), saturating.clone(), for_time(SECOND));
        let other = StorageSpec { model: Some(function(1, 100 - weight)), ..spec.storage[0].clone() };
        spec.storage.insert("other".into(), other);
        let mut second = spec.phases[0].streams[0].clone();
        (second.name, second.storage) = ("second".into(), "other".into());
        spec.phases[0].streams.push(second);
        let left = run(&spec);
        let of = |subject: &str| -> u64 {
            left.series.iter().filter(|row| row.3 == "read.count" && row.2 == subject).map(|row| row.4).sum()
        };
        let (second, all) = (of("second"), left.sum("read.count"));
        assert_close(all as f64, alone as f64, 0.01, "the drive does as much as for one");
        assert_close(second as f64 / all as f64, f64::from(100 - weight) / 100.0, 0.01, "the second's share");
    }
}
