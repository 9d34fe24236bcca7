//! A volume does what its profile says: latencies, parallelism, rounds, limits and stalls, against arithmetic.

use crate::support::*;
use tameshi_base::units::{Size, Time};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_sim::{Chance, Device, DeviceCompletion, stack};
use tameshi_spec::profile;
use tameshi_spec::run::{PhaseStream, StorageSpec};
use tameshi_spec::study::ReadBalance;
use tameshi_workload::StreamSpec;

/// Commands per second over the second half of what was done.
fn rate(done: &[DeviceCompletion]) -> f64 {
    let half = &done[done.len() / 2..];
    (half.len() - 1) as f64 * 1e9 / (half[half.len() - 1].at - half[0].at) as f64
}

fn latency(d: &DeviceCompletion) -> Nanos {
    d.at - d.submitted
}

/// The volume with one latency, in microseconds.
fn constant(us: u64) -> profile::Device {
    let mut device = volume();
    if let profile::Device::Volume(volume) = &mut device {
        (volume.read.latency, volume.write.latency) = (uniform(us, us), uniform(us, us));
    }
    device
}

#[test]
fn latencies_at_depth_one_are_the_profiles_distribution_behind_the_service() {
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
fn a_command_alone_in_its_round_takes_longer_and_two_at_a_time_do_not() {
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
    // One that comes while another is served waits for a round of its own, and is alone in it.
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
    // 100 us of each round; 9.096 us of a write, 5 us of a flush; all flushes of the round after those.
    let first = 109_096;
    let expected = [first, first + 1_109_096, first + 1_114_096, first + 1_119_096];
    assert_eq!(
        done.iter().map(|d| (d.command.id, d.at)).collect::<Vec<_>>(),
        [0, 1, 2, 3].map(|id| (id, expected[id as usize]))
    );
}

#[test]
fn the_first_write_after_a_flush_takes_longer_and_no_other_command() {
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
        // Outside of rounds a flush passes the processor by.
        let expected = expected.map(|time| if rounds || time < MS { time } else { MS });
        assert_eq!(found, expected, "rounds: {rounds}");
    }
}

#[test]
fn stalls_take_their_share_of_the_time() {
    // 3 ms of every 30 in the mean, while the processor always works.
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
    spec.storage.insert("other".into(), StorageSpec { size: Size(1 << 30), scale: 1, sparse: false, model });
    let stream = spec.phases[0].streams[0].stream.clone();
    spec.phases[0].streams.push(PhaseStream { name: "second".into(), storage: "other".into(), stream });
    let left = run(&spec);
    let sums = left.series.iter().filter(|row| row.3 == "read.latency_sum").map(|row| row.4).collect::<Vec<_>>();
    assert_eq!(sums.len(), 2);
    assert_ne!(sums[0], sums[1]);
    // A write waits for the greater of two latencies from 300 to 500 us: 433 and a third in the mean.
    let mirror = stack::placed(&raid1(2, leaf(volume()), ReadBalance::default()), &Chance::new(1, "disk"));
    let write = |id| Command { kind: CommandKind::Write, ..random_4k("writes")(id) };
    let done = closed_loop_on(mirror.expect("a device"), 1, 20_000, write);
    let mean = done.iter().map(latency).sum::<Nanos>() as f64 / done.len() as f64;
    assert_close(mean, 433_333.0 + 9_096.0, 0.005, "the greater of two");
}
