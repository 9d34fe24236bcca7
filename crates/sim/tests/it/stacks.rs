//! Known answers of stacks: stripes, mirrors, parity, links, shared drives and caches, against
//! arithmetic.

use crate::support::*;
use tameshi_base::units::{Rate, Share, Size};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_sim::stack;
use tameshi_sim::{Device, DeviceCompletion, SeedPath};
use tameshi_spec::run::{Node, Rebuild};
use tameshi_spec::study::{CacheKind, Protocol, ReadBalance};
use tameshi_workload::{Arrivals, Pattern, StreamSpec};

/// Device that takes 30 µs per 4 KiB read or write, one at a time.
pub fn constant() -> Node {
    let mut profile = without_overhead(without_seeks(disk()));
    profile.revolution.value.0 = 0;
    leaf(hdd(profile))
}

fn plain() -> Node {
    leaf(hdd(disk()))
}

/// Return commands per second with `depth` outstanding, over `seconds`.
fn rate(node: &Node, stream: StreamSpec, seconds: u64) -> f64 {
    let left = run(&spec_of(node.clone(), stream, for_time(seconds * SECOND)));
    (left.sum("read.count") + left.sum("write.count")) as f64 / seconds as f64
}

fn reads(queue_depth: u32) -> StreamSpec {
    StreamSpec { queue_depth, ..StreamSpec::default() }
}

fn writes(queue_depth: u32) -> StreamSpec {
    StreamSpec { queue_depth, read: Share(0), ..StreamSpec::default() }
}

#[test]
fn a_stripe_of_n_serves_n_times_what_one_serves() {
    let one = rate(&constant(), reads(8), 1);
    assert_close(one, 1e9 / 30_000.0, 0.001, "one");
    for n in [2, 4, 6] {
        let many = rate(&raid0(n, constant()), reads(64 * n), 1);
        assert_close(many, f64::from(n) * one, 0.02, &format!("{n} members"));
    }
}

#[test]
fn a_mirror_reads_from_both_and_writes_to_both() {
    let one = rate(&constant(), reads(8), 1);
    for read in [ReadBalance::ShortestQueue, ReadBalance::RoundRobin] {
        let mirror = raid1(2, constant(), read);
        assert_close(rate(&mirror, reads(8), 1), 2.0 * one, 0.01, "reads");
        assert_close(rate(&mirror, writes(8), 1), one, 0.01, "writes");
    }
    let ten = raid10(6, constant());
    assert_close(rate(&ten, writes(256), 1), 3.0 * one, 0.02, "writes of six in mirrors");
    assert_close(rate(&ten, reads(256), 1), 6.0 * one, 0.02, "reads of six in mirrors");
}

#[test]
fn a_small_write_to_parity_takes_two_reads_and_two_writes() {
    let one = rate(&constant(), reads(8), 1);
    // Six members: read-modify-write, four commands each; deep enough that every member is busy.
    let found = rate(&raid5(6, constant()), writes(400), 1);
    assert_close(found, 6.0 * one / 4.0, 0.03, "small writes of six");
    // Three members: reading the other data is cheaper: three commands each.
    let found = rate(&raid5(3, constant()), writes(400), 1);
    assert_close(found, 3.0 * one / 3.0, 0.03, "small writes of three");
    assert_close(rate(&raid5(6, constant()), reads(400), 1), 6.0 * one, 0.03, "reads of six");
}

#[test]
fn a_write_of_whole_rows_reads_nothing() {
    let chunk = 64 << 10;
    let (parts, _) = parts_of(&raid5(5, constant()), &command(0, CommandKind::Write, 8 * chunk, (4 * chunk) as u32));
    assert_eq!(parts.len(), 1, "one stage");
    let alone = 30_000 * (chunk / 4096);
    assert_eq!(parts[0].breakdown.media, alone);
}

#[test]
fn contiguous_parity_writes_are_joined_to_whole_rows() {
    // Members of 64 KiB chunks, each 480 µs of one disk: a row of four chunks in four writes.
    let chunk = 64 << 10;
    let ends = |offsets: &[u64]| {
        let mut device = stack::node(&raid5(5, constant())).expect("a device");
        for (id, &offset) in (0..).zip(offsets) {
            device.submit(0, &command(id, CommandKind::Write, offset, chunk));
        }
        let mut done = vec![];
        device.advance(100 * SECOND, &mut done);
        assert!(done.iter().all(|done| done.breakdown.total() == done.at - done.submitted));
        done.iter().map(|done| done.at).collect::<Vec<_>>()
    };
    let (chunk, alone) = (u64::from(chunk), 480_000);
    assert_eq!(ends(&[8 * chunk, 9 * chunk, 10 * chunk, 11 * chunk]), [alone; 4], "nothing is read");
    assert_eq!(ends(&[11 * chunk, 9 * chunk, 10 * chunk, 8 * chunk]), [alone; 4], "in any order");
    assert_eq!(ends(&[8 * chunk]), [2 * alone], "less than a row reads first");
    // A write beside a row goes its own way; two rows are two writes.
    assert_eq!(ends(&[4 * chunk, 5 * chunk, 6 * chunk, 7 * chunk, 20 * chunk]).len(), 5);
}

#[test]
fn parity_array_streams_faster_than_one_disk() {
    let stream = StreamSpec { pattern: Pattern::Sequential, block_size: Size(128 << 10), ..writes(32) };
    let ratio = |disk: Node| {
        let (of, chunk) = (Box::new(disk.clone()), Size(256 << 10));
        let array = Node::Raid5 { members: 6, of, chunk, rebuild: Rebuild::default() };
        rate(&array, stream.clone(), 5) / rate(&disk, stream.clone(), 5)
    };
    // Whole rows only: five members' data at once.
    assert_close(ratio(constant()), 5.0, 0.05, "six members without mechanics");
    // Without joining, six disks were slower than one.
    let found = ratio(leaf(device_of_profile("sas-15k-300gb")));
    assert!(found > 4.0, "six disks are {found} times as fast as one");
}

/// Return the completion of one command on a fresh device.
fn parts_of(node: &Node, command: &Command) -> (Vec<DeviceCompletion>, Nanos) {
    let mut device = stack::node(node).expect("a device");
    let mut done = vec![];
    device.submit(0, command);
    device.advance(100 * SECOND, &mut done);
    let at = done.last().expect("it completes").at;
    (done, at)
}

// slow: millions of writes
#[test]
fn the_wait_in_front_of_a_mirror_s_writes_is_that_of_one_member() {
    // Both members get the same constant services at the same instants: M/D/1.
    let mirror = raid1(2, constant(), ReadBalance::ShortestQueue);
    for utilisation in [0.3, 0.6, 0.8] {
        let rate = tameshi_base::Rate((utilisation / 30e-6 * 1e3) as u64);
        let stream = StreamSpec { arrivals: Arrivals::Poisson { rate }, ..writes(4096) };
        let left = run(&spec_of(mirror.clone(), stream, for_time(60 * SECOND)));
        let mean = left.sum("write.latency_sum") as f64 / left.sum("write.count") as f64;
        let expected = 30_000.0 + utilisation * 30_000.0 / (2.0 * (1.0 - utilisation));
        assert_close(mean, expected, 0.02, &format!("at {utilisation}"));
    }
}

/// Mean latency of random 4 KiB writes, one at a time, to a device in a run with `seed`.
fn mean_write(node: &Node, seed: u64, writes: usize) -> f64 {
    let (mut random, places) = (Random::named(seed, "writes"), node.capacity().0 / 4096);
    let next = move |id| command(id, CommandKind::Write, random.below(places) * 4096, 4096);
    let device = stack::placed(node, &SeedPath::new(seed, "disks")).expect("a device");
    mean(closed_loop_on(device, 1, writes, next).iter().map(|d| d.at - d.submitted))
}

/// Disk without seeks.
fn turning(revolution: Nanos, tolerance: u32) -> Node {
    let mut profile = without_seeks(disk());
    profile.revolution.value.0 = revolution;
    profile.speed_tolerance = Some(sourced(Share(tolerance)));
    leaf(hdd(profile))
}

#[test]
fn mirrored_random_write_takes_the_mean_maximum() {
    // Without seeks. The angle between two disks is any: the greater of two uniform waits is two
    // thirds of a revolution in the mean, of three it is three quarters.
    const SEEDS: u64 = 400;
    for (name, revolution) in [("15000 rpm", 4 * MS), ("7200 rpm", 8_333_333)] {
        let beyond = 50_000.0 + 30_000.0;
        for (members, share) in [(1, 1.0 / 2.0), (2, 2.0 / 3.0), (3, 3.0 / 4.0)] {
            let disk = turning(revolution, 0);
            let node = if members == 1 { disk } else { raid1(members, disk, ReadBalance::Nearest) };
            let sum: f64 = (0..SEEDS).map(|seed| mean_write(&node, seed, 200)).sum();
            let expected = beyond + share * revolution as f64;
            assert_close(sum / SEEDS as f64, expected, 0.015, &format!("{members} at {name}"));
        }
    }
}

#[test]
fn mirrored_disks_drift_through_all_angles_in_a_run() {
    let node = raid1(2, turning(4 * MS, 2_000), ReadBalance::Nearest);
    let expected = 80_000.0 + 2.0 / 3.0 * (4 * MS) as f64;
    // A single run is as good as many if the disks' speeds differ.
    for seed in 0..4 {
        assert_close(mean_write(&node, seed, 40_000), expected, 0.03, &format!("seed {seed}"));
    }
}

#[test]
fn mirror_of_15k_disks_writes_at_random_in_6_14_ms() {
    let node = raid1(2, leaf(device_of_profile("sas-15k-300gb")), ReadBalance::ShortestQueue);
    let sum: f64 = (0..4).map(|seed| mean_write(&node, seed, 10_000)).sum();
    assert_close(sum / 4.0, 6.14e6, 0.02, "a sixth of a revolution more than one disk");
}

#[test]
fn sequential_reads_stay_on_one_member() {
    let commands: Vec<_> =
        (0..50).map(|id| (100 * MS, command(id, CommandKind::Read, 40_960 + id * 4096, 4096))).collect();
    let one = leaf(hdd(with_read_ahead(disk(), 1 << 20)));
    // One member serves all of them, with its read-ahead. The first one has its own rotation.
    assert_eq!(ends(&raid1(2, one.clone(), ReadBalance::RoundRobin), &commands)[1..], ends(&one, &commands)[1..]);
}

#[test]
fn a_link_adds_its_round_trip_and_the_time_of_the_bytes() {
    let link = |protocol| replica(leaf(null()), 10_000, 1_000_000_000, protocol);
    let (done, at) = parts_of(&link(Protocol::FarMedium), &command(0, CommandKind::Write, 0, 4096));
    assert_eq!(at, 10_000 + 4096);
    assert_eq!(done[0].breakdown.link, 14_096);
    let (_, at) = parts_of(&link(Protocol::FarMedium), &command(0, CommandKind::Read, 0, 4096));
    assert_eq!(at, 0, "reads are served by the near side");
    let (_, at) = parts_of(&link(Protocol::Asynchronous), &command(0, CommandKind::Write, 0, 4096));
    assert_eq!(at, 0);
    let (done, at) = parts_of(&link(Protocol::FarMemory), &command(0, CommandKind::Write, 0, 4096));
    assert_eq!((done.len(), at, done[0].breakdown.link), (1, 10_000 + 4096, 14_096));
    // 1 GB/s is 244,140 writes of 4 KiB per second, at any depth.
    let stream = StreamSpec { queue_depth: 64, ..writes(64) };
    assert_close(rate(&link(Protocol::FarMedium), stream, 1), 1e9 / 4096.0, 0.001, "writes across");
}

/// Latency of a write, and of a flush behind it, on a replica whose device takes 30 µs.
fn commit_on(protocol: Protocol) -> [Nanos; 2] {
    let mut device = stack::node(&replica(constant(), 200_000, 1_000_000_000, protocol)).expect("a device");
    let (mut now, mut latencies) = (0, [0; 2]);
    for (kind, latency) in [CommandKind::Write, CommandKind::Flush].into_iter().zip(&mut latencies) {
        let mut done = vec![];
        device.submit(now, &command(0, kind, 0, if kind == CommandKind::Write { 4096 } else { 0 }));
        while done.is_empty() {
            device.advance(device.next_wake().expect("a command under way"), &mut done);
        }
        (*latency, now) = (done[0].at - now, done[0].at);
    }
    latencies
}

#[test]
fn synchronous_commit_takes_one_round_trip_at_most() {
    let (trip, medium) = (200_000 + 4096, 30_000);
    assert_eq!(commit_on(Protocol::Asynchronous), [medium, 0]);
    assert_eq!(commit_on(Protocol::FarMemory), [trip, 0], "the far medium is not waited for");
    assert_eq!(commit_on(Protocol::FarMedium), [trip + medium, 0]);
}

#[test]
fn power_cut_resends_what_only_far_memory_had() {
    // The far disk takes 30 µs per write: of ten received, some are not done.
    let node = replica(constant(), 10_000, 10_000_000_000, Protocol::FarMemory);
    let (mut device, mut done) = (watched(&node).expect("a device"), vec![]);
    (0..10).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id << 20, 4096)));
    while let Some(at) = device.next_wake().filter(|&at| at <= 160_000) {
        device.advance(at, &mut done);
    }
    // The near side has done five, the far side began 5 µs later.
    assert_eq!(done.len(), 5);
    let loss = device.cut_power(160_000);
    assert_eq!((loss.lost_writes, loss.resyncs), (0, 1));
    let mut found = vec![];
    while let Some(at) = device.next_wake() {
        device.advance(at, &mut found);
    }
    assert_eq!(device.take_rebuilt().map(|rebuilt| rebuilt.bytes), Some(5 * 4096));
}

#[test]
fn stacks_without_costs_of_their_own_equal_their_parts() {
    let (mut random, mut commands) = (Random::named(9, "commands"), vec![]);
    for id in 0..400 {
        let kind = [CommandKind::Read, CommandKind::Write, CommandKind::Write, CommandKind::Flush];
        let kind = kind[random.below(4) as usize];
        commands.push((random.below(3) * 2 * MS, command(id, kind, random.below(30_000_000) * 4096, 4096)));
    }
    // Without rotation, as members of an array turn each at an angle of its own. The fastest link
    // takes a nanosecond for the bytes.
    let still = || turning(0, 0);
    let ends = |node: &Node, commands: &[(Nanos, Command)]| {
        ends(node, commands).into_iter().map(|(id, at)| (id, at / 10)).collect::<Vec<_>>()
    };
    for (name, node) in [
        ("raid0 of one", raid0(1, still())),
        ("replica across nothing", replica(still(), 0, u64::MAX, Protocol::FarMedium)),
        ("partition of one", partition(still(), 1, 1024)),
        ("all of it visible", Node::OverProvisioned { of: Box::new(still()), visible: Share::WHOLE }),
    ] {
        assert_eq!(ends(&node, &commands), ends(&still(), &commands), "{name}");
    }
    let writes = commands.iter().filter(|(_, command)| command.kind == CommandKind::Write);
    let writes: Vec<_> = writes.zip(0..).map(|((gap, command), id)| (*gap, Command { id, ..*command })).collect();
    assert_eq!(ends(&raid1(3, still(), ReadBalance::Nearest), &writes), ends(&still(), &writes));
}

fn ends(node: &Node, commands: &[(Nanos, Command)]) -> Vec<(u64, Nanos)> {
    let mut device = stack::node(node).expect("a device");
    let (mut now, mut done) = (0, vec![]);
    for (gap, command) in commands {
        now += gap;
        while let Some(wake) = device.next_wake().filter(|&wake| wake < now) {
            device.advance(wake, &mut done);
        }
        device.submit(now, command);
    }
    device.advance(u64::MAX / 4, &mut done);
    let mut ends: Vec<_> = done.iter().map(|d| (d.command.id, d.at)).collect();
    ends.sort_unstable();
    ends
}

#[test]
fn functions_are_served_by_weight_and_a_lone_one_gets_all() {
    let slice = 146_000_000_000 / 4 / 4096 * 4096;
    let Node::Partition { of, function } = partition(constant(), 4, 8) else { panic!("a partition") };
    let weights = [100_000, 200_000, 300_000, 400_000];
    let mut device = stack::node(&Node::Partition { of, function: function.clone() }).expect("a device");
    for (index, weight) in weights.into_iter().enumerate() {
        device.grant(&tameshi_spec::run::Function { index: index as u32, weight: Share(weight), ..function.clone() });
    }
    let mut random = Random::named(1, "places");
    let mut next = |id: u64| {
        let function = id % 4;
        command(id, CommandKind::Read, function * slice + random.below(1000) * 4096, 4096)
    };
    // 32 commands of each function are outstanding throughout.
    let mut done = vec![];
    (0..128).for_each(|id| device.submit(0, &next(id)));
    let mut served = [0u64; 4];
    for step in 0u64.. {
        let Some(now) = device.next_wake().filter(|_| step < 40_000) else { break };
        done.clear();
        device.advance(now, &mut done);
        for completed in &done {
            let id = completed.command.id;
            served[(id % 4) as usize] += 1;
            device.submit(now, &next(id));
        }
    }
    let total: u64 = served.iter().sum();
    for (weight, served) in weights.into_iter().zip(served) {
        assert_close(served as f64 / total as f64, f64::from(weight) / 1e6, 0.02, "share of the commands");
    }
    let alone = rate(&partition(constant(), 4, 8), reads(32), 1);
    assert_close(alone, 1e9 / 30_000.0, 0.001, "alone");
}

#[test]
fn battery_cache_takes_writes_at_once_until_full() {
    let node = cached(plain(), 64 << 20, CacheKind::BatteryBacked);
    let left = run(&spec_of(node.clone(), writes(1), for_amount(8 << 20)));
    assert_eq!(left.sum("write.latency_sum"), left.sum("write.count") * 50_000, "each its controller's time");
    let left = run(&spec_of(node.clone(), writes(32), for_time(120 * SECOND)));
    let last: u64 =
        left.series.iter().filter(|row| row.3 == "write.count" && row.0 > 60 * SECOND).map(|row| row.4).sum();
    let sustained = last as f64 / 60.0;
    // Sorted by offset, 1,024 at a time, writes seek little: more than random writes, fewer than
    // without seeks.
    assert!((250.0..1000.0).contains(&sustained), "{sustained} writes a second");
    let flushed = StreamSpec { sync: Some(tameshi_workload::Sync::Fdatasync { every: 1 }), ..writes(1) };
    let left = run(&spec_of(node, flushed, for_amount(1 << 20)));
    assert!(left.sum("sync.count") > 0);
    assert_eq!(left.sum("sync.latency_sum"), 0, "its battery makes them durable: no flush is sent");
}

#[test]
fn a_volatile_cache_writes_back_what_a_flush_covers() {
    let node = cached(plain(), 64 << 20, CacheKind::Volatile);
    let flushed = StreamSpec { sync: Some(tameshi_workload::Sync::Fdatasync { every: 1 }), ..writes(1) };
    let left = run(&spec_of(node, flushed, for_amount(2 << 20)));
    let per_sync = left.sum("sync.latency_sum") / left.sum("sync.count");
    assert!((4 * MS..7 * MS).contains(&per_sync), "a write to the disk each: {per_sync} ns");
}

#[test]
fn what_was_read_or_written_is_read_from_the_cache() {
    let node = cached(plain(), 64 << 20, CacheKind::BatteryBacked);
    let mut device = stack::node(&node).expect("a device");
    let mut done = vec![];
    for (id, (kind, block)) in [
        (CommandKind::Write, 7),
        (CommandKind::Read, 7),
        (CommandKind::Read, 9_000_000),
        (CommandKind::Read, 9_000_000),
    ]
    .into_iter()
    .enumerate()
    {
        let now = id as u64 * SECOND;
        device.advance(now, &mut done);
        device.submit(now, &command(id as u64, kind, block * 4096, 4096));
    }
    device.advance(u64::MAX / 4, &mut done);
    let on_the_medium: Vec<bool> = done.iter().map(|d| d.breakdown.media > 0).collect();
    assert_eq!(on_the_medium, [false, false, true, false]);
}

#[test]
fn arrays_of_arrays_split_what_they_are_given() {
    let node = raid0(2, raid1(2, leaf(null()), ReadBalance::ShortestQueue));
    let (done, at) = parts_of(&node, &command(0, CommandKind::Write, 100, 8 << 20));
    assert_eq!((done.len(), at), (1, 0));
    assert_eq!(node.capacity(), Size(2 << 40));
}

/// Return the bytes per second of a sequential writer in the second half of `seconds`.
fn in_order(node: &Node, block_bytes: u64, seconds: u64) -> f64 {
    let stream = StreamSpec { pattern: Pattern::Sequential, block_size: Size(block_bytes), ..writes(16) };
    let left = run(&spec_of(node.clone(), stream, for_time(seconds * SECOND)));
    let rows = left.series.iter().filter(|row| row.3 == "write.bytes" && row.0 > seconds * SECOND / 2);
    rows.map(|row| row.4).sum::<u64>() as f64 / (seconds - seconds / 2) as f64
}

#[test]
fn cache_in_front_of_parity_writes_whole_rows() {
    // Each of n disks passes 136.5 MB/s; except for cylinder seeks, n − 1 of them pass data.
    let one = 4096.0 / 30e-6;
    for (members, block) in [(5, 16 << 10), (5, 1 << 20), (8, 448 << 10)] {
        let cached = cached(raid5(members, plain()), 32 << 20, CacheKind::BatteryBacked);
        let found = in_order(&cached, block, 4);
        assert_close(found / one, f64::from(members - 1), 0.03, &format!("{members} disks, {block} B"));
    }
}

#[test]
fn what_a_cache_writes_back_ends_where_rows_of_the_array_end() {
    let (row, controller) = (256 << 10, 50_000);
    let node = cached(raid5(5, constant()), 64 << 20, CacheKind::BatteryBacked);
    // Half a row, two rows and half a row: only the halves make the array read.
    let mut device = stack::node(&node).expect("a device");
    device.submit(0, &command(0, CommandKind::Write, row / 2, 3 * row as u32));
    let mut done = vec![];
    device.advance(SECOND, &mut done);
    assert_eq!(done[0].at, controller);
    let mut usage = Usage::default();
    device.usage(SECOND, &mut usage);
    let media = usage.of(Resource::Media);
    // Two rows: five chunks each. A half (the first or last two chunks of four): two are read, and
    // two and parity are written.
    assert_eq!(media.1, (2 * 5 + 2 * 5) * 16 * 30_000);
}

#[test]
fn flush_through_volatile_cache_takes_the_write_backs_time() {
    let node = cached(plain(), 64 << 20, CacheKind::Volatile);
    let mut device = stack::node(&node).expect("a device");
    let mut done = vec![];
    device.submit(0, &command(0, CommandKind::Write, 1 << 30, 8192));
    device.advance(50_000, &mut done);
    device.submit(50_000, &command(1, CommandKind::Flush, 0, 0));
    device.advance(SECOND, &mut done);
    // The disk has the write from the begin on; its overhead of 50 µs is over at the flush, and
    // without a cache of its own it is sent none.
    let (flush, alone) = (done[1], parts_of(&plain(), &command(0, CommandKind::Write, 1 << 30, 8192)).0[0]);
    assert_eq!((flush.command.id, flush.breakdown.queue), (1, 0), "no other command is there: {flush:?}");
    assert_eq!((flush.breakdown.media, flush.breakdown.controller), (alone.breakdown.media, 0));
    assert_eq!(flush.breakdown.total(), flush.at - flush.submitted);
}

#[test]
fn far_side_lacks_the_writes_that_the_link_cannot_carry() {
    let behind = |link_rate: u64, protocol: Protocol| {
        let node = replica(leaf(null()), 10_000, link_rate, protocol);
        let arrivals = Arrivals::Constant { rate: Rate(10_000_000) };
        let writes = StreamSpec { read: Share(0), block_size: Size(65_536), arrivals, ..StreamSpec::default() };
        let left = run(&spec_of(node, writes, for_time(4 * SECOND)));
        let rows = left.series.iter().filter(|row| row.3 == "replica.behind_bytes");
        rows.map(|row| row.4).collect::<Vec<u64>>()
    };
    let arrives = 10_000 * 65_536u64;
    for (place, found) in behind(400_000_000, Protocol::Asynchronous).into_iter().enumerate() {
        let expected = (arrives - 400_000_000) * (place as u64 + 1);
        // Writes that arrive at that instant, cross the link, or cross within a round trip.
        assert!(found.abs_diff(expected) <= 2 * 65_536 + 4000, "second {place}: {found}, not {expected}");
    }
    let soon = behind(1_000_000_000, Protocol::Asynchronous);
    assert!(soon.len() == 4 && soon.iter().all(|&bytes| bytes <= 65_536), "{soon:?}");
    assert_eq!(behind(1_000_000_000, Protocol::FarMedium), [0; 0], "nothing is acknowledged without it");
}

#[test]
fn power_cut_resends_writes_under_way_to_the_far_side() {
    const MS: Nanos = 1_000_000;
    // A write crosses in 4.1 ms: after 10 ms two of ten are there.
    let cut = || {
        let node = replica(leaf(null()), 10_000, 1_000_000, Protocol::Asynchronous);
        let (mut device, mut done) = (watched(&node).expect("a device"), vec![]);
        (0..10).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id * 4096, 4096)));
        while let Some(at) = device.next_wake().filter(|&at| at <= 10 * MS) {
            device.advance(at, &mut done);
        }
        assert_eq!((done.len(), device.behind_bytes()), (10, Some(8 * 4096)));
        assert_eq!(device.cut_power(10 * MS).lost_writes, 0, "the near side has them");
        assert_eq!(device.behind_bytes(), Some(8 * 4096), "the far side has not");
        device
    };
    let until = |device: &mut Device, end: Nanos| {
        while let Some(at) = device.next_wake().filter(|&at| at <= end) {
            device.advance(at, &mut vec![]);
        }
        device.behind_bytes().expect("a replica") / 4096
    };
    let mut device = cut();
    assert_eq!([20, 40, 43].map(|at| until(&mut device, at * MS)), [6, 1, 0], "as fast as the link is");
    assert_eq!((device.fail(Some(0), 50 * MS), device.take_lost()), (true, (0, 0)), "both had everything");

    let mut device = cut();
    assert_eq!(until(&mut device, 20 * MS), 6);
    device.cut_power(20 * MS);
    assert_eq!(until(&mut device, 30 * MS), 4, "a second cut forgets none of them");
    device.fail(Some(0), 30 * MS);
    assert_eq!(
        (device.take_lost(), device.take_lost()),
        ((1, 4096), (0, 0)),
        "three cross the link: the fourth is lost"
    );
    assert_eq!(until(&mut device, 60 * MS), 0, "all have arrived; lost writes are owed to no side");
}

#[test]
fn dead_near_drive_loses_the_resync_that_it_owed() {
    const MS: Nanos = 1_000_000;
    let node = replica(raid0(2, leaf(flash(flash_drive(1 << 30)))), 10_000, 1_000_000, Protocol::Asynchronous);
    let (mut device, mut done) = (watched(&node).expect("a device"), vec![]);
    (0..10).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id * 4096, 4096)));
    while let Some(at) = device.next_wake().filter(|&at| at <= 10 * MS) {
        device.advance(at, &mut done);
    }
    assert_eq!(device.cut_power(10 * MS).resyncs, 1);
    assert_eq!((done.len(), device.behind_bytes()), (10, Some(8 * 4096)));
    assert_eq!(device.fail_channel(0, 0, 10 * MS), Ok(false), "its spare is less than a channel of four");
    assert_eq!((device.is_broken(), device.take_lost()), (false, (8, 8 * 4096)), "told at once");
}
