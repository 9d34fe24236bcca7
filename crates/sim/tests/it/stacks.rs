//! Known answers of stacks: stripes, mirrors, parity, links, shared drives and caches, against
//! arithmetic.

use crate::support::*;
use tameshi_base::units::{Rate, Share, Size};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_sim::stack;
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::run::Node;
use tameshi_spec::study::{Acknowledge, CacheKind, ReadBalance};
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

#[test]
fn mirrored_random_write_takes_the_mean_maximum() {
    // Without seeks: each member waits uniformly over a revolution of its own phase; they are in
    // phase, so max = mean.
    let one = mean_of(&leaf(hdd(without_seeks(disk()))));
    let two = mean_of(&raid1(2, leaf(hdd(without_seeks(disk()))), ReadBalance::Nearest));
    assert_close(two, one, 1e-9, "mirrors whose members turn alike write alike");
}

fn mean_of(node: &Node) -> f64 {
    let mut random = Random::named(3, "writes");
    let next = move |id| command(id, CommandKind::Write, random.below(1_000_000) * 4096, 4096);
    let done = closed_loop_on(stack::node(node).expect("a device"), 1, 20_000, next);
    mean(done.iter().map(|d| d.at - d.submitted))
}

#[test]
fn sequential_reads_stay_on_one_member() {
    let commands: Vec<_> =
        (0..50).map(|id| (100 * MS, command(id, CommandKind::Read, 40_960 + id * 4096, 4096))).collect();
    let one = leaf(hdd(with_read_ahead(disk(), 1 << 20)));
    // One member serves all of them, with its read-ahead.
    assert_eq!(ends(&raid1(2, one.clone(), ReadBalance::RoundRobin), &commands), ends(&one, &commands));
}

#[test]
fn a_link_adds_its_round_trip_and_the_time_of_the_bytes() {
    let link = |acknowledge| replica(leaf(null()), 10_000, 1_000_000_000, acknowledge);
    let (done, at) = parts_of(&link(Acknowledge::Both), &command(0, CommandKind::Write, 0, 4096));
    assert_eq!(at, 10_000 + 4096);
    assert_eq!(done[0].breakdown.link, 14_096);
    let (_, at) = parts_of(&link(Acknowledge::Both), &command(0, CommandKind::Read, 0, 4096));
    assert_eq!(at, 0, "reads are served by the near side");
    let (_, at) = parts_of(&link(Acknowledge::Local), &command(0, CommandKind::Write, 0, 4096));
    assert_eq!(at, 0);
    let (_, at) = parts_of(&link(Acknowledge::Local), &command(0, CommandKind::Flush, 0, 0));
    assert_eq!(at, 10_000, "a flush reaches both sides");
    // 1 GB/s is 244,140 writes of 4 KiB per second, at any depth.
    let stream = StreamSpec { queue_depth: 64, ..writes(64) };
    assert_close(rate(&link(Acknowledge::Both), stream, 1), 1e9 / 4096.0, 0.001, "writes across");
}

#[test]
fn stacks_without_costs_of_their_own_equal_their_parts() {
    let (mut random, mut commands) = (Random::named(9, "commands"), vec![]);
    for id in 0..400 {
        let kind = [CommandKind::Read, CommandKind::Write, CommandKind::Write, CommandKind::Flush];
        let kind = kind[random.below(4) as usize];
        commands.push((random.below(3) * 2 * MS, command(id, kind, random.below(30_000_000) * 4096, 4096)));
    }
    let expected = ends(&plain(), &commands);
    for (name, node) in [
        ("raid0 of one", raid0(1, plain())),
        ("replica across nothing", replica(plain(), 0, u64::MAX, Acknowledge::Both)),
        ("mirror in phase", raid1(3, plain(), ReadBalance::Nearest)),
        ("partition of one", partition(plain(), 1, 1024)),
        ("all of it visible", Node::OverProvisioned { of: Box::new(plain()), visible: Share::WHOLE }),
    ] {
        let found = ends(&node, &commands);
        if name == "mirror in phase" {
            continue; // Its members' heads differ after reads; covered by the writes below.
        }
        assert_eq!(found, expected, "{name}");
    }
    let writes: Vec<_> = commands.iter().filter(|(_, c)| c.kind != CommandKind::Read).copied().collect();
    let writes: Vec<_> = writes.iter().zip(0..).map(|((gap, c), id)| (*gap, Command { id, ..*c })).collect();
    assert_eq!(ends(&raid1(3, plain(), ReadBalance::Nearest), &writes), ends(&plain(), &writes));
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
    assert_eq!(left.sum("sync.latency_sum"), left.sum("sync.count") * 50_000, "its battery makes them durable");
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
    // The disk has the write from the begin on; its overhead of 50 µs is over at the flush.
    let (flush, alone) = (done[1], parts_of(&plain(), &command(0, CommandKind::Write, 1 << 30, 8192)).0[0]);
    assert_eq!((flush.command.id, flush.breakdown.queue), (1, 0), "no other command is there: {flush:?}");
    assert_eq!((flush.breakdown.media, flush.breakdown.controller), (alone.breakdown.media, 50_000));
    assert_eq!(flush.breakdown.total(), flush.at - flush.submitted);
}

#[test]
fn far_side_lacks_the_writes_that_the_link_cannot_carry() {
    let behind = |link_rate: u64, acknowledge: Acknowledge| {
        let node = replica(leaf(null()), 10_000, link_rate, acknowledge);
        let arrivals = Arrivals::Constant { rate: Rate(10_000_000) };
        let writes = StreamSpec { read: Share(0), block_size: Size(65_536), arrivals, ..StreamSpec::default() };
        let left = run(&spec_of(node, writes, for_time(4 * SECOND)));
        let rows = left.series.iter().filter(|row| row.3 == "replica.behind_bytes");
        rows.map(|row| row.4).collect::<Vec<u64>>()
    };
    let arrives = 10_000 * 65_536u64;
    for (place, found) in behind(400_000_000, Acknowledge::Local).into_iter().enumerate() {
        let expected = (arrives - 400_000_000) * (place as u64 + 1);
        // Writes that arrive at that instant, cross the link, or cross within a round trip.
        assert!(found.abs_diff(expected) <= 2 * 65_536 + 4000, "second {place}: {found}, not {expected}");
    }
    let soon = behind(1_000_000_000, Acknowledge::Local);
    assert!(soon.len() == 4 && soon.iter().all(|&bytes| bytes <= 65_536), "{soon:?}");
    assert_eq!(behind(1_000_000_000, Acknowledge::Both), [0; 0], "nothing is acknowledged without it");
}

#[test]
fn power_cut_resends_writes_under_way_to_the_far_side() {
    const MS: Nanos = 1_000_000;
    // A write crosses in 4.1 ms: after 10 ms two of ten are there.
    let cut = || {
        let node = replica(leaf(null()), 10_000, 1_000_000, Acknowledge::Local);
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
    let node = replica(raid0(2, leaf(flash(flash_drive(1 << 30)))), 10_000, 1_000_000, Acknowledge::Local);
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
