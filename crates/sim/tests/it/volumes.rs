//! Volumes against arithmetic: latencies, parallelism, rounds, limits and stalls.

use crate::support::*;
use tameshi_base::units::{Rate, Size, Time};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_sim::{Device, DeviceCompletion, SeedPath, stack};
use tameshi_spec::profile;
use tameshi_spec::run::{PhaseStream, StorageSpec};
use tameshi_spec::study::{Event, PowerCut, ReadBalance};
use tameshi_workload::StreamSpec;

/// Return commands per second over the second half of the completions.
fn rate(done: &[DeviceCompletion]) -> f64 {
    let half = &done[done.len() / 2..];
    (half.len() - 1) as f64 * 1e9 / (half[half.len() - 1].at - half[0].at) as f64
}

fn latency(d: &DeviceCompletion) -> Nanos {
    d.at - d.submitted
}

/// Volume with one latency, in microseconds.
fn constant(us: u64) -> profile::Device {
    let mut device = volume();
    if let profile::Device::Volume(volume) = &mut device {
        (volume.read.latency, volume.write.latency) = (uniform(us, us), uniform(us, us));
    }
    device
}

#[test]
fn depth_1_latency_is_the_profiles_plus_service() {
    let done = closed_loop(&volume(), 1, 100_000, random_4k("volume"));
    let mut found: Vec<Nanos> = done.iter().map(latency).collect();
    found.sort_unstable();
    let service = 5_000 + 4096;
    for percent in [1, 10, 50, 90, 99] {
        let expected = 300_000 + 2_000 * percent as u64 + service;
        assert_close(found[percent * 1000] as f64, expected as f64, 0.01, &format!("at {percent} %"));
    }
}

#[test]
fn at_depth_the_rate_is_that_of_what_runs_out_first() {
    let one = |device: &profile::Device, depth| rate(&closed_loop(device, depth, 40_000, random_4k("volume")));
    // 9.096 us of the processor for each 4 KiB, 64 at a time, 400 us in the mean.
    assert_close(one(&volume(), 8), 8.0 * 1e9 / 409_096.0, 0.02, "latency");
    assert_close(one(&volume(), 256), 1e9 / 9_096.0, 0.002, "the processor");
    let mut narrow = volume();
    if let profile::Device::Volume(volume) = &mut narrow {
        volume.parallel.value = 16;
    }
    assert_close(one(&narrow, 256), 16.0 * 1e9 / 409_096.0, 0.02, "commands at a time");
    assert_close(one(&with_limit(volume(), 20_000, 400_000_000), 64), 20_000.0, 0.001, "the limit of commands");
    assert_close(one(&with_limit(volume(), 20_000, 40_960_000), 64), 10_000.0, 0.001, "the limit of bytes");
}

#[test]
fn a_round_takes_one_latency_and_then_all_that_waited() {
    for depth in [1, 2, 7, 64] {
        let done = closed_loop(&in_rounds(constant(50), 64), depth, 10_000, random_4k("volume"));
        assert_close(
            rate(&done),
            depth as f64 * 1e9 / (50_000.0 + depth as f64 * 9_096.0),
            0.01,
            &format!("at {depth}"),
        );
        let last = &done[done.len() - depth as usize..];
        assert!(last.iter().all(|d| latency(d) == 50_000 + depth * 9_096), "{last:?}");
    }
    let limited = closed_loop(&in_rounds(constant(50), 4), 8, 10_000, random_4k("volume"));
    assert_close(rate(&limited), 4e9 / (50_000.0 + 4.0 * 9_096.0), 0.01, "four at a time");
}

#[test]
fn lone_command_of_a_round_takes_longer() {
    let plain = in_rounds(constant(50), 64);
    let slower = |reads: u64, writes: u64| {
        let mut device = plain.clone();
        if let profile::Device::Volume(volume) = &mut device {
            (volume.read.alone, volume.write.alone) = (Some(sourced(Time(reads))), Some(sourced(Time(writes))));
        }
        device
    };
    let ask = |id: u64| {
        command(id, if id.is_multiple_of(3) { CommandKind::Write } else { CommandKind::Read }, id << 12, 4096)
    };
    let found = closed_loop(&slower(2_000, 5_000), 1, 3_000, ask);
    for done in &found {
        let longer = if done.command.kind == CommandKind::Read { 2_000 } else { 5_000 };
        assert_eq!((latency(done), done.breakdown.media), (50_000 + longer + 9_096, 50_000 + longer));
    }
    for depth in [2, 7, 64] {
        let alike = [&slower(2_000, 5_000), &plain].map(|device| closed_loop(device, depth, 5_000, ask));
        assert_eq!(alike[0], alike[1], "at {depth}");
    }
    // A command that arrives during a service waits for its own round, and is alone in it.
    let mut device = Device::new(&slower(2_000, 5_000)).expect("a device");
    let mut done = vec![];
    device.submit(0, &command(0, CommandKind::Read, 0, 4096));
    device.advance(1, &mut done);
    device.submit(1, &command(1, CommandKind::Write, 0, 4096));
    while let Some(at) = device.next_wake() {
        device.advance(at, &mut done);
    }
    let first = 50_000 + 2_000 + 9_096;
    assert_eq!(done.iter().map(|d| d.at).collect::<Vec<_>>(), [first, first + 50_000 + 5_000 + 9_096]);
    assert_eq!(closed_loop(&slower(0, 0), 1, 3_000, ask), closed_loop(&plain, 1, 3_000, ask), "no time is none");
}

#[test]
fn flushes_of_a_round_wait_for_it_and_pass_beside_one_another() {
    let mut device = constant(100);
    if let profile::Device::Volume(volume) = &mut device {
        volume.flush = uniform(1_000, 1_000);
    }
    let mut device = Device::new(&in_rounds(device, 64)).expect("a device");
    let mut forced = command(1, CommandKind::Write, 4096, 4096);
    forced.fua = true;
    let flush = |id| command(id, CommandKind::Flush, 0, 0);
    device.submit(0, &command(0, CommandKind::Write, 0, 4096));
    for later in [&forced, &flush(2), &flush(3)] {
        device.advance(1, &mut vec![]);
        device.submit(1, later);
    }
    let mut done = vec![];
    while let Some(at) = device.next_wake() {
        device.advance(at, &mut done);
    }
    // 100 us of each round; 9.096 us of a write, 5 us of a flush; all flushes of the round after
    // those.
    let first = 109_096;
    let expected = [first, first + 1_109_096, first + 1_114_096, first + 1_119_096];
    assert_eq!(
        done.iter().map(|d| (d.command.id, d.at)).collect::<Vec<_>>(),
        [0, 1, 2, 3].map(|id| (id, expected[id as usize]))
    );
}

#[test]
fn only_the_first_write_after_a_flush_takes_longer() {
    use CommandKind::{Flush, Read, Write};
    let kinds = [Write, Flush, Read, Write, Write, Flush, Flush, Write];
    let expected = [109_096, 1_105_000, 109_096, 139_096, 109_096, 1_105_000, 1_105_000, 139_096];
    let mut device = constant(100);
    if let profile::Device::Volume(volume) = &mut device {
        (volume.flush, volume.after_flush) = (uniform(1_000, 1_000), Some(sourced(Time(30_000))));
    }
    for rounds in [false, true] {
        let device = if rounds { in_rounds(device.clone(), 64) } else { device.clone() };
        let ask = |id: u64| match kinds[id as usize % kinds.len()] {
            Flush => command(id, Flush, 0, 0),
            kind => command(id, kind, id << 12, 4096),
        };
        let found: Vec<Nanos> = closed_loop(&device, 1, kinds.len(), ask).iter().map(latency).collect();
        // Without rounds a flush bypasses the processor.
        let expected = expected.map(|time| if rounds || time < MS { time } else { MS });
        assert_eq!(found, expected, "rounds: {rounds}");
    }
}

#[test]
fn stalls_take_their_share_of_the_time() {
    // 3 ms of every 30 ms on average, while the processor always works.
    let plain = rate(&closed_loop(&in_rounds(volume(), 64), 64, 400_000, random_4k("volume")));
    let stalled = rate(&closed_loop(&with_stalls(in_rounds(volume(), 64)), 64, 400_000, random_4k("volume")));
    assert_close(stalled / plain, 0.9, 0.02, "share of the time");
}

#[test]
fn a_forced_write_and_a_flush_take_the_flushs_time() {
    let mut device = Device::new(&constant(100)).expect("a device");
    let mut done = vec![];
    let mut write = command(0, CommandKind::Write, 0, 4096);
    write.fua = true;
    device.submit(0, &write);
    device.advance(MS * 100, &mut done);
    device.submit(MS * 100, &command(1, CommandKind::Flush, 0, 0));
    device.advance(MS * 200, &mut done);
    let [write, flush] = [&done[0], &done[1]].map(latency);
    assert!((1_109_096..=2_109_096).contains(&write), "{write}");
    assert!((1_000_000..=2_000_000).contains(&flush), "{flush}");
}

/// Volume limited to 16,000 commands and 1 GB per second; the server takes a time per command, and
/// 0.1 s per GB.
fn limited(latency_us: u64, service: Nanos) -> profile::Device {
    let mut device = with_limit(constant(latency_us), 16_000, 1_000_000_000);
    if let profile::Device::Volume(volume) = &mut device {
        volume.parallel.value = 2_048;
        for each in [&mut volume.read, &mut volume.write] {
            (each.command_time, each.transfer_rate) = (sourced(Time(service)), sourced(Rate(10_000 * SECOND)));
        }
    }
    device
}

/// Return commands and bytes per second of a closed loop of lengths.
fn rates(depth: u64, length: impl FnMut(u64) -> u32) -> [f64; 2] {
    let mut length = length;
    let ask = |id| command(id, CommandKind::Read, 0, length(id));
    let done = closed_loop(&limited(500, 0), depth, 100_000, ask);
    let half = &done[done.len() / 2..];
    let bytes: u64 = half[1..].iter().map(|d| u64::from(d.command.length_bytes)).sum();
    [rate(&done), bytes as f64 * 1e9 / (half[half.len() - 1].at - half[0].at) as f64]
}

#[test]
fn mixed_lengths_reach_the_binding_limit_in_any_order() {
    const SMALL: u32 = 4 << 10;
    const LARGE: u32 = 256 << 10;
    let mixed = |percent: u64| {
        let mut random = Random::named(1, "lengths");
        rates(256, move |_| if random.below(100) < percent { LARGE } else { SMALL })
    };
    assert_close(mixed(20)[0], 16_000.0, 0.002, "commands run out first");
    assert_close(mixed(50)[1], 1e9, 0.002, "bytes run out first");
    // A log next to a scan: 400 small commands, then 100 large ones, would take 26 ms of bytes and
    // 31 ms of commands.
    let in_turns = rates(256, |id| if id % 500 < 400 { SMALL } else { LARGE });
    assert_close(in_turns[0], 16_000.0, 0.002, "in turns");
    assert_close(rates(256, |_| SMALL)[0], 16_000.0, 1e-6, "small ones alone");
    assert_close(rates(256, |_| LARGE)[1], 1e9, 1e-4, "large ones alone");
    assert_close(rates(64, |_| 1 << 20)[1], 1e9, 1e-4, "larger ones alone");
}

#[test]
fn no_interval_exceeds_the_rate_by_more_than_100_ms() {
    let mut random = Random::named(2, "lengths");
    let (mut left, mut length) = (0, 4096);
    let ask = |id| {
        if left == 0 {
            (left, length) = (1 + random.below(4_000), [4 << 10, 64 << 10, 1 << 20][random.below(3) as usize]);
        }
        left -= 1;
        command(id, CommandKind::Read, 0, length)
    };
    // With one latency and negligible service in order, completions follow admissions by a
    // constant.
    let done = closed_loop(&limited(500, 0), 256, 60_000, ask);
    type Amount = fn(&DeviceCompletion) -> u64;
    let amounts: [(f64, Amount); 2] = [(16_000.0, |_| 1), (1e9, |d| u64::from(d.command.length_bytes))];
    for (rate, amount) in amounts {
        let (mut so_far, mut least, mut most) = (0.0, f64::MAX, 0.0f64);
        for d in &done {
            let due = (d.at - d.breakdown.link) as f64 * rate / 1e9;
            least = least.min(so_far - due);
            most = most.max(so_far - due - least);
            so_far += amount(d) as f64;
        }
        assert!((0.09..=0.1001).contains(&(most / rate)), "{} s of {rate}", most / rate);
    }
}

#[test]
fn idle_volume_accumulates_no_credit() {
    for length in [4 << 10, 256 << 10] {
        let spaced = if length == 4 << 10 { 62_500 } else { 262_144 };
        let mut device = Device::new(&limited(500, 0)).expect("a device");
        for begin in [0, SECOND, 10 * SECOND] {
            let mut done = vec![];
            (0..100).for_each(|id| device.submit(begin, &command(id, CommandKind::Read, 0, length)));
            device.advance(begin + SECOND / 2, &mut done);
            let first = begin + 500_000 + u64::from(length) / 10;
            assert!(done[0].at.abs_diff(first) < 100, "the first does not wait");
            assert!((0..100).all(|id| done[id].at.abs_diff(first + id as u64 * spaced) < 100), "each {spaced} ns");
        }
    }
}

/// Return the busy time of each resource up to `now`.
fn used(device: &Device, now: Nanos) -> [Nanos; 2] {
    let mut usage = Usage::default();
    device.usage(now, &mut usage);
    [Resource::Controller, Resource::Allowance].map(|resource| usage.of(resource).1)
}

#[test]
fn a_processor_that_the_limit_holds_back_rests_between_commands() {
    // 87.5 ms of allowance, in which the processor works for 20.409 us of each 62.5.
    let (work, spaced) = (20_409, 62_500);
    for every in [MS, 10 * MS, 37 * MS, 99 * MS] {
        let mut device = Device::new(&limited(500, 20_000)).expect("a device");
        let mut next = every;
        for burst in 0..10u64 {
            (0..1_400).for_each(|id| device.submit(burst * 100 * MS, &command(id, CommandKind::Read, 0, 4096)));
            while next < (burst + 1) * 100 * MS {
                device.advance(next, &mut vec![]);
                let within = next - burst * 100 * MS;
                let (whole, part) = ((within / spaced).min(1_400), (within % spaced).min(work));
                let part = if whole < 1_400 { part } else { 0 };
                let expected =
                    [(burst * 1_400 + whole) * work + part, burst * 1_400 * spaced + within.min(1_400 * spaced)];
                assert_eq!(used(&device, next), expected, "at {next}");
                next += every;
            }
            device.advance((burst + 1) * 100 * MS, &mut vec![]);
        }
    }
}

#[test]
fn what_was_used_never_falls_and_is_never_more_than_the_time() {
    let limit = || limited(50, 3_000);
    let kinds = [limit(), with_stalls(limit()), in_rounds(limit(), 7), with_stalls(in_rounds(limit(), 64))];
    for (kind, device) in kinds.iter().enumerate() {
        let mut device = Device::new(device).expect("a device");
        let (mut random, mut now, mut before) = (Random::named(4, "gaps"), 0, [0; 2]);
        for id in 0..4_000 {
            let later = now + random.below(if id % 100 == 0 { 20 * MS } else { MS / 10 });
            device.advance(later, &mut vec![]);
            let after = used(&device, later);
            for (after, before) in after.iter().zip(before) {
                assert!(
                    (before..=before + later - now).contains(after),
                    "{kind}: {before} to {after}, {now} to {later}"
                );
            }
            (before, now) = (after, later);
            device.submit(now, &command(id, CommandKind::Write, 0, 4096 << random.below(5)));
        }
        assert!(before.iter().all(|&used| used > SECOND / 100), "{kind}: {before:?}");
    }
}

#[test]
fn a_power_cut_takes_back_the_allowance_of_what_it_forgets() {
    // 64 commands of 4 MiB are admitted within 268 ms; a failed request is repeated 10 ms later.
    let stream = StreamSpec { block_size: Size(4 << 20), queue_depth: 64, ..StreamSpec::default() };
    let mut spec = spec(limited(500, 5_000), stream, for_time(SECOND));
    spec.interval = Time(100 * MS);
    let cut = Some(PowerCut { storage: Some("disk".into()), ..PowerCut::default() });
    spec.events.insert("cut".into(), Event { at: Time(500 * MS), power_cut: cut, ..Event::default() });
    let left = run(&spec);
    let each = |metric: &str| {
        let of = left.series.iter().filter(|row| row.3 == metric && row.0 > 500 * MS);
        of.map(|row| row.4 as f64).collect::<Vec<_>>()
    };
    assert_eq!(left.events("power_cut"), [500 * MS]);
    assert_eq!(each("read.bytes").len(), 5);
    each("read.bytes").iter().for_each(|&bytes| assert_close(bytes, 1e8, 0.12, "bytes of an interval"));
    each("busy.allowance_ns").iter().for_each(|&busy| assert_close(busy, 1e8, 0.101, "of its time"));
}

#[test]
fn another_seed_draws_other_latencies_and_stalls() {
    let latencies = |device: &profile::Device, seed| {
        let mut spec = spec(device.clone(), StreamSpec::default(), for_time(SECOND));
        spec.seed = seed;
        run(&spec).sum("read.latency_sum")
    };
    for device in [volume(), with_stalls(constant(400))] {
        assert_eq!(latencies(&device, 1), latencies(&device, 1));
        assert_ne!(latencies(&device, 1), latencies(&device, 2));
    }
}

#[test]
fn two_storages_and_two_members_do_not_draw_alike() {
    let mut spec = spec(volume(), StreamSpec::default(), for_time(SECOND));
    let model = spec.storage["disk"].model.clone();
    spec.storage.insert(
        "other".into(),
        StorageSpec { size: Size(1 << 30), scale: 1, sparse: false, ignores_flush: false, model },
    );
    let stream = spec.phases[0].streams[0].stream.clone();
    spec.phases[0].streams.push(PhaseStream { name: "second".into(), storage: "other".into(), stream });
    let left = run(&spec);
    let sums = left.series.iter().filter(|row| row.3 == "read.latency_sum").map(|row| row.4).collect::<Vec<_>>();
    assert_eq!(sums.len(), 2);
    assert_ne!(sums[0], sums[1]);
    // A write waits for the greater of two latencies from 300 to 500 µs: 433⅓ µs on average.
    let mirror = stack::placed(&raid1(2, leaf(volume()), ReadBalance::default()), &SeedPath::new(1, "disk"));
    let write = |id| Command { kind: CommandKind::Write, ..random_4k("writes")(id) };
    let done = closed_loop_on(mirror.expect("a device"), 1, 20_000, write);
    let mean = done.iter().map(latency).sum::<Nanos>() as f64 / done.len() as f64;
    assert_close(mean, 433_333.0 + 9_096.0, 0.005, "the greater of two");
}
