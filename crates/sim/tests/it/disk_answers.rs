//! Known answers of a hard disk: seeks, rotation, sweeps, streams, read-ahead.

use crate::support::*;
use tameshi_base::units::Share;
use tameshi_base::{CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_sim::Device;
use tameshi_spec::profile::{Drawn, HddProfile};
use tameshi_workload::{Pattern, StreamSpec};

#[test]
fn lone_random_read_takes_overhead_seek_rotation_and_transfer() {
    for (seek_min, seek_average, revolution, overhead) in
        [(200, 3_400, 4_000, 50), (600, 8_000, 8_333, 50), (0, 5_000, 6_000, 0), (1_000, 1_000, 10_000, 300)]
    {
        let mut profile = disk();
        profile.seek_min.value.0 = seek_min * 1000;
        profile.seek_average.value.0 = seek_average * 1000;
        profile.revolution.value.0 = revolution * 1000;
        profile.command_overhead.value.0 = overhead * 1000;
        let done = closed_loop(&hdd(profile), 1, 200_000, random_4k("alone"));
        let found = mean(done.iter().map(|d| d.at - d.submitted));
        let expected = (overhead + seek_average + revolution / 2 + 30) as f64 * 1e3;
        assert_close(found, expected, 0.005, "mean service");
        assert_eq!(done.iter().map(|d| d.breakdown.queue).sum::<Nanos>(), 0, "a lone command never queues");
    }
}

#[test]
fn missed_revolutions_add_their_share_to_each_seek() {
    for (share, expected) in [(333_333, 3_400 + 2_000 + 30 + 50 + 1_333), (900_000, 3_400 + 2_000 + 30 + 50 + 3_600)] {
        let profile = HddProfile { missed_revolutions: Some(sourced(Share(share))), ..disk() };
        let done = closed_loop(&hdd(profile), 1, 200_000, random_4k("missed"));
        assert_close(mean(done.iter().map(|d| d.at - d.submitted)), f64::from(expected) * 1e3, 0.005, "mean service");
    }
    // Four to choose from: a quarter of the misses.
    let mean_at =
        |profile| mean(closed_loop(&hdd(profile), 4, 200_000, random_4k("four")).iter().map(|d| d.at - d.submitted));
    let missing = HddProfile { missed_revolutions: Some(sourced(Share(400_000))), ..disk() };
    assert_close(
        mean_at(missing) - mean_at(disk()),
        4.0 * 0.4e6,
        0.05,
        "four services, each with a tenth of a revolution",
    );
    // Without a seek none is missed: sequential reads keep the rate of the medium.
    let profile = HddProfile { missed_revolutions: Some(sourced(Share(900_000))), ..disk() };
    let (with, without) =
        (bandwidth(profile, sequential(true, 1 << 20, 2)).0, bandwidth(disk(), sequential(true, 1 << 20, 2)).0);
    assert!(with > 0.9 * without, "{with} of {without}");
}

#[test]
fn the_wait_for_a_random_sector_is_uniform_over_a_revolution() {
    let done = closed_loop(&hdd(without_overhead(without_seeks(disk()))), 1, 200_000, random_4k("rotation"));
    let mut waits: Vec<f64> = done.iter().map(|d| d.breakdown.media as f64 - 30_000.0).collect();
    waits.sort_by(f64::total_cmp);
    assert_close(waits.iter().sum::<f64>() / waits.len() as f64, 2e6, 0.01, "half a revolution");
    let n = waits.len() as f64;
    let distance =
        waits.iter().enumerate().map(|(i, wait)| (wait / 4e6 - (i as f64 + 0.5) / n).abs()).fold(0.0, f64::max);
    assert!(distance < 1.95 / n.sqrt(), "Kolmogorov-Smirnov {distance}");
}

#[test]
fn a_sweeping_arm_gains_with_depth_as_the_reference_table_says() {
    let table = [(1, 182.0), (2, 202.0), (4, 234.0), (8, 268.0), (16, 303.0), (32, 332.0), (64, 357.0)];
    for (depth, expected) in grid(&table) {
        let stream = StreamSpec { queue_depth: depth, ..StreamSpec::default() };
        let left = run(&spec(hdd(elevator(disk())), stream, for_time(600 * SECOND)));
        assert_close(left.sum("read.count") as f64 / 600.0, expected, 0.03, &format!("IOPS at depth {depth}"));
    }
}

/// Disk of 7,200 rpm of the reference table.
fn slow_disk() -> HddProfile {
    let mut disk = disk();
    (disk.seek_min.value.0, disk.seek_average.value.0, disk.revolution.value.0) = (600_000, 8 * MS, 8_333_333);
    disk
}

// slow: ten minutes of a disk per depth
#[test]
fn sptf_order_matches_the_reference_tables() {
    let fast = [(1, 182.0), (2, 219.0), (4, 261.0), (8, 314.0), (16, 383.0), (32, 466.0), (64, 564.0)];
    let slow = [(1, 82.0), (2, 98.0), (4, 117.0), (8, 140.0), (16, 169.0), (32, 205.0), (64, 248.0)];
    let sweep = [(1, 82.0), (2, 91.0), (4, 106.0), (8, 122.0), (16, 139.0), (32, 153.0), (64, 166.0)];
    let for_ever = 1_000_000 * SECOND;
    for (profile, table) in [
        (shortest_positioning(disk(), for_ever), fast),
        (shortest_positioning(slow_disk(), for_ever), slow),
        (HddProfile { scheduling: elevator(disk()).scheduling, ..shortest_positioning(slow_disk(), for_ever) }, sweep),
    ] {
        for (depth, expected) in grid(&table) {
            let stream = StreamSpec { queue_depth: depth, ..StreamSpec::default() };
            let left = run(&spec(hdd(profile.clone()), stream, for_time(600 * SECOND)));
            let what = format!("IOPS at depth {depth} of {:?}", profile.scheduling.value);
            assert_close(left.sum("read.count") as f64 / 600.0, expected, 0.03, &what);
        }
    }
}

#[test]
fn an_age_limit_bounds_the_longest_wait() {
    let longest = |limit| {
        let done = closed_loop(&hdd(shortest_positioning(disk(), limit)), 64, 60_000, random_4k("age"));
        done.iter().map(|d| d.at - d.submitted).max().expect("some")
    };
    let (bounded, free) = (longest(300 * MS), longest(1_000_000 * SECOND));
    assert!(bounded < 700 * MS && free > 900 * MS, "{} ms against {} ms", bounded / MS, free / MS);
}

#[test]
fn outer_zones_pass_more_bytes_per_second_than_inner_ones() {
    let profile = with_zones(disk(), 16, 171_000_000, 112_000_000);
    let at = |offset: u64| {
        let (offset, span) = (tameshi_base::Size(offset), Some(tameshi_base::Size(5_000_000_000)));
        let stream = StreamSpec { offset, span, ..sequential(true, 1 << 20, 2) };
        bandwidth(profile.clone(), stream).0
    };
    let (outer, inner) = (at(0), at(140_000_000_000));
    assert!((165e6..171e6).contains(&outer) && (108e6..112e6).contains(&inner), "{outer} and {inner}");
    // Equal numbers of cylinders hold bytes in proportion to their rates: the middle byte lies
    // outside the middle.
    let done = closed_loop(&hdd(profile), 1, 100_000, random_4k("zones"));
    assert_close(mean(done.iter().map(|d| d.at - d.submitted)), 5.45e6, 0.02, "mean service as before");
}

#[test]
fn volatile_cache_takes_writes_at_overhead_and_flush_at_medium() {
    let profile = hdd(with_write_cache(disk(), 8 << 20));
    let writes = StreamSpec { read: Share(0), ..StreamSpec::default() };
    let left = run(&spec(profile.clone(), writes.clone(), for_amount(1 << 20)));
    assert_eq!(left.sum("write.latency_sum"), left.sum("write.count") * MS / 20);
    let sync = Some(tameshi_workload::Sync::Fdatasync { every: 1 });
    let left = run(&spec(profile.clone(), StreamSpec { sync, ..writes.clone() }, for_amount(1 << 20)));
    let per_sync = left.sum("sync.latency_sum") / left.sum("sync.count");
    assert!((4 * MS..7 * MS).contains(&per_sync), "{per_sync} ns");
    let sync = Some(tameshi_workload::Sync::Fua);
    let left = run(&spec(profile, StreamSpec { sync, ..writes }, for_amount(1 << 20)));
    assert!(left.sum("write.latency_sum") / left.sum("write.count") > 4 * MS, "force unit access goes to the medium");
}

#[test]
fn fcfs_gains_only_the_overhead_from_depth() {
    for (depth, expected) in [(1, 182.0), (2, 182.0), (4, 182.0), (8, 182.0), (16, 182.0), (32, 183.0), (64, 183.0)] {
        let stream = StreamSpec { queue_depth: depth, ..StreamSpec::default() };
        let left = run(&spec(hdd(disk()), stream, for_time(600 * SECOND)));
        let found = left.sum("read.count") as f64 / 600.0;
        assert_close(found, expected, 0.03, &format!("IOPS at depth {depth} as the reference table says"));
        // If another command waits, its overhead overlaps the medium's work.
        let service_ms = if depth == 1 { 5.48 } else { 5.43 };
        assert_close(found, 1e3 / service_ms, 0.01, &format!("IOPS at depth {depth} of what a read takes"));
    }
}

fn sequential(read: bool, block_bytes: u64, queue_depth: u32) -> StreamSpec {
    let read = if read { Share::WHOLE } else { Share(0) };
    StreamSpec {
        pattern: Pattern::Sequential,
        read,
        block_size: tameshi_base::Size(block_bytes),
        queue_depth,
        ..StreamSpec::default()
    }
}

/// Return the bytes per second of a stream over a minute, and the disk's rate including cylinder
/// crossings.
fn bandwidth(profile: HddProfile, stream: StreamSpec) -> (f64, f64) {
    let cylinder = profile.capacity.value.0 as f64 / f64::from(profile.cylinders.value);
    let crossing = 0.2e6 + 3.2e6 / (8.0 / 15.0) / f64::from(profile.cylinders.value).sqrt();
    let media = cylinder / (cylinder / profile.media_rate.value.per_second() * 1e9 + crossing) * 1e9;
    let left = run(&spec(hdd(profile), stream, for_time(60 * SECOND)));
    ((left.sum("read.bytes") + left.sum("write.bytes")) as f64 / 60.0, media)
}

// slow: a minute of a fast stream per setting
#[test]
fn queued_streams_run_at_the_rate_of_the_medium() {
    for (stream, profile) in [
        (sequential(true, 1 << 20, 2), disk()),
        (sequential(false, 1 << 20, 2), disk()),
        (sequential(false, 64 << 10, 8), elevator(disk())),
        (sequential(false, 4096, 8), elevator(disk())),
        (sequential(true, 4096, 8), with_read_ahead(elevator(disk()), 512 << 10)),
        (sequential(true, 1 << 20, 1), with_read_ahead(disk(), 2 << 20)),
        (sequential(true, 64 << 10, 1), with_read_ahead(elevator(disk()), 512 << 10)),
    ] {
        let what = format!("{stream:?}");
        let (found, media) = bandwidth(profile, stream);
        assert_close(found, media, 0.005, &what);
    }
}

// slow: a grid of three dimensions
#[test]
fn sequential_stream_runs_at_media_rate_for_all_settings() {
    let for_ever = 1_000_000 * SECOND;
    for profile in [disk(), elevator(disk()), shortest_positioning(disk(), for_ever)] {
        for block in grid(&[64 << 10, 256 << 10, 512 << 10, 576 << 10, 1 << 20, 4 << 20]) {
            for (read, depth) in
                grid(&[1, 2, 4, 8, 32]).into_iter().map(|depth| (true, depth)).chain([(false, 2), (false, 8)])
            {
                let what = format!("{:?}, read {read}, {block} bytes at {depth}", profile.scheduling.value);
                let profile = with_read_ahead(profile.clone(), 512 << 10);
                let (found, media) = bandwidth(profile, sequential(read, block, depth));
                assert!((found / media - 1.0).abs() < 0.005, "{what}: {found} of {media} bytes a second");
            }
        }
    }
}

#[test]
fn small_sequential_writes_one_at_a_time_cost_a_revolution_each() {
    let left = run(&spec(hdd(disk()), sequential(false, 4096, 1), for_time(60 * SECOND)));
    // The next bytes have just passed: they come again after a revolution, and then take their own
    // time.
    assert_close(left.sum("write.count") as f64, 60e3 / 4.03, 0.001, "writes");
}

#[test]
fn small_sequential_reads_run_from_read_ahead_at_overhead_pace() {
    let left = run(&spec(hdd(with_read_ahead(disk(), 512 << 10)), sequential(true, 4096, 1), for_time(60 * SECOND)));
    assert_close(left.sum("read.count") as f64, 60.0 * 20_000.0, 0.01, "one per overhead of 0.05 ms");
}

#[test]
fn a_slow_reader_finds_its_next_bytes_read_ahead() {
    let mut stream = sequential(true, 64 << 10, 1);
    stream.think_time.0 = 20 * MS;
    let left = run(&spec(hdd(with_read_ahead(disk(), 512 << 10)), stream, for_time(60 * SECOND)));
    let (count, sum) = (left.sum("read.count"), left.sum("read.latency_sum"));
    assert!(count > 2900, "{count}");
    // The first read, and one at each end of the segment, may wait for a revolution.
    assert_close(sum as f64 / count as f64, 50_000.0, 0.1, "mean latency: the overhead");
}

#[test]
fn a_read_of_what_is_passing_waits_for_it_and_not_a_revolution() {
    let profile = hdd(with_read_ahead(disk(), 1 << 20));
    let mut device = tameshi_sim::Device::new(&profile).expect("a device");
    let mut done = vec![];
    device.submit(0, &command(0, CommandKind::Read, 0, 4096));
    device.advance(10 * MS, &mut done);
    let first = done[0].at;
    // Behind the read's end, 30 µs per 4 KiB: what begins 128 KiB further on has passed after 990
    // µs.
    device.submit(10 * MS, &command(1, CommandKind::Read, 4096, 4096));
    device.advance(11 * MS, &mut done);
    assert_eq!(done[1].at, 10 * MS + MS / 20, "held since long ago");
    let mut device = tameshi_sim::Device::new(&profile).expect("a device");
    device.submit(0, &command(0, CommandKind::Read, 0, 4096));
    device.advance(first, &mut vec![]);
    device.submit(first, &command(1, CommandKind::Read, 33 * 4096, 4096));
    let mut done = vec![];
    device.advance(first + 10 * MS, &mut done);
    assert!(done[0].at.abs_diff(first + 33 * 30_000) <= 34, "{} after {first}", done[0].at);
}

#[test]
fn read_longer_than_the_segment_streams_the_rest() {
    let profile = hdd(with_read_ahead(disk(), 64 * 4096));
    let answered = |offset: u64, pause: Nanos| {
        let mut device = tameshi_sim::Device::new(&profile).expect("a device");
        let mut done = vec![];
        device.submit(0, &command(0, CommandKind::Read, 0, 4096));
        device.advance(10 * MS, &mut done);
        let first = done[0].at;
        let mut device = tameshi_sim::Device::new(&profile).expect("a device");
        device.submit(0, &command(0, CommandKind::Read, 0, 4096));
        device.advance(first, &mut vec![]);
        device.advance(first + pause, &mut vec![]);
        device.submit(first + pause, &command(1, CommandKind::Read, offset, 256 * 4096));
        done.clear();
        device.advance(first + pause + 100 * MS, &mut done);
        done[0].at - first
    };
    // Block 1 follows what was read: without a pause all 256 blocks pass, of 30 µs each.
    let passes = 30_000;
    assert!(answered(4096, 0).abs_diff(256 * passes) <= 300);
    assert!(answered(5 * 4096, MS).abs_diff(260 * passes) <= 300, "its beginning has passed and is held");
    // After 10 ms the segment has been full since 1.92 ms: its end passes again two revolutions
    // later, three at 13.92.
    assert!(answered(4096, 10 * MS).abs_diff(64 * passes + 12 * MS + 192 * passes) <= 300);
}

#[test]
fn a_later_part_of_a_stream_does_not_go_before_an_earlier_one() {
    for profile in [elevator(disk()), shortest_positioning(disk(), SECOND)] {
        let mut device = tameshi_sim::Device::new(&hdd(profile)).expect("a device");
        let mut done = vec![];
        // When the controller is done with them, the first one's beginning has just passed.
        (0..8).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id * 65_536, 65_536)));
        device.advance(SECOND, &mut done);
        assert_eq!(done.iter().map(|one| one.command.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(done[7].at.abs_diff(4 * MS + 8 * 480_000) < 1000, "a revolution, and all pass: {}", done[7].at);
    }
}

#[test]
fn a_write_makes_the_disk_forget_what_it_has_read_there() {
    let mut device = tameshi_sim::Device::new(&hdd(with_read_ahead(disk(), 1 << 20))).expect("a device");
    let mut done = vec![];
    for (id, kind) in [(0, CommandKind::Read), (1, CommandKind::Read), (2, CommandKind::Write), (3, CommandKind::Read)]
    {
        let now = (id + 1) * 20 * MS;
        device.advance(now, &mut done);
        device.submit(now, &command(id, kind, 40_960 + id.min(2) * 4096, 4096));
    }
    device.advance(SECOND, &mut done);
    let media: Vec<bool> = done.iter().map(|d| d.breakdown.media > 0).collect();
    assert_eq!(media, [true, false, true, true]);
}

#[test]
fn a_stream_does_not_starve_a_reader_behind_the_sweep() {
    let mut spec = spec(hdd(elevator(disk())), sequential(false, 64 << 10, 16), for_time(20 * SECOND));
    let reader = StreamSpec { queue_depth: 1, ..StreamSpec::default() };
    let reader = tameshi_spec::run::PhaseStream { name: "reader".into(), storage: "disk".into(), stream: reader };
    spec.phases[0].streams.push(reader);
    let left = run(&spec);
    let (count, sum) = (left.sum("read.count"), left.sum("read.latency_sum"));
    // A turn of the stream is ten writes, a revolution behind the first one; one read in four lies
    // on the way and goes before the next turn. Seek and half a revolution are 4.25 ms: 11 ms for a
    // read and what is written meanwhile.
    assert!((1700..1900).contains(&count), "{count} reads in 20 s");
    assert!(sum / count < 12 * MS, "{} ms", sum / count / MS);
    let written = left.sum("write.bytes") / 20;
    assert!((42_000_000..46_000_000).contains(&written), "{written} bytes a second");
}

#[test]
fn a_command_that_the_arm_waits_for_in_vain_holds_up_nobody() {
    let mut device = tameshi_sim::Device::new(&hdd(elevator(disk()))).expect("a device");
    let mut done = vec![];
    device.submit(0, &command(0, CommandKind::Read, 80_000_000_000, 4096));
    device.submit(0, &command(1, CommandKind::Read, 1_000_000_000, 4096));
    device.advance(0, &mut done);
    while let (Some(wake), true) = (device.next_wake(), done.is_empty()) {
        if wake > MS {
            // The first read ends at `wake`; the trim nearest to it is still in the controller
            // then.
            device.submit(wake - 10_000, &command(2, CommandKind::Trim, 2_000_000_000, 4096));
        }
        device.advance(wake, &mut done);
    }
    device.advance(SECOND, &mut done);
    done.sort_by_key(|d| d.command.id);
    assert_eq!(done.iter().map(|d| d.command.id).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_disk_is_busy_as_long_as_it_reads_ahead_what_is_asked_for() {
    // 8 KiB pass in 60 µs; at one read per 100 µs the disk is busy for 60 % of the time, hits
    // included.
    let power = Drawn { idle_mw: sourced(5_000), active_mw: sourced(15_000) };
    let profile =
        HddProfile { power: Some(power), ..with_read_ahead(without_overhead(without_seeks(disk())), 1 << 20) };
    let (mut device, mut done, period, count) = (Device::new(&hdd(profile)).expect("a disk"), vec![], MS / 10, 10_000);
    for id in 0..count {
        device.advance(id * period, &mut done);
        device.submit(id * period, &command(id, CommandKind::Read, id * 8192, 8192));
    }
    let end = count * period;
    device.advance(end, &mut done);
    let on_the_medium = done.iter().filter(|done| done.breakdown.media > 0).count();
    assert!(done.len() == 10_000 && on_the_medium < 100, "{on_the_medium} reads waited for the medium");
    let mut usage = Usage::default();
    device.usage(end, &mut usage);
    assert_close(usage.of(Resource::Media).1 as f64 / end as f64, 0.6, 1e-3, "share of the time that the disk is busy");
    let watts = device.energy_nj(end).expect("it says") as f64 / end as f64;
    assert_close(watts, 11.0, 1e-3, "watts");
    // Data in the buffer cost the head nothing when they are read again.
    device.submit(end, &command(count, CommandKind::Read, (count - 1) * 8192, 8192));
    device.advance(2 * end, &mut done);
    let mut again = Usage::default();
    device.usage(2 * end, &mut again);
    assert_eq!(again.of(Resource::Media), usage.of(Resource::Media));
}

#[test]
fn a_disk_that_streams_is_always_busy_and_never_longer() {
    for depth in [1, 4] {
        let mut device = Device::new(&hdd(with_read_ahead(disk(), 1 << 20))).expect("a disk");
        let (mut done, mut issued) = (vec![], 0);
        let mut next = |device: &mut Device, now| {
            device.submit(now, &command(issued, CommandKind::Read, issued * 65_536, 65_536));
            issued += 1;
        };
        (0..depth).for_each(|_| next(&mut device, 0));
        while let Some(now) = device.next_wake().filter(|&at| at < SECOND) {
            let before = done.len();
            device.advance(now, &mut done);
            (before..done.len()).for_each(|_| next(&mut device, now));
            let mut usage = Usage::default();
            device.usage(now, &mut usage);
            assert!(usage.of(Resource::Media).1 <= now, "{now}: {usage:?}");
        }
        let mut usage = Usage::default();
        device.usage(SECOND, &mut usage);
        assert!(usage.of(Resource::Media).1 > SECOND * 98 / 100, "{usage:?}");
    }
}
