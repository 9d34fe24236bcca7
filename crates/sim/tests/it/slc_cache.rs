//! SLC cache: fast until it is full, emptied while the drive idles, without effect on the data.

use crate::support::{
    MS, SECOND, assert_close, closed_loop_on, command, flash_drive, idle_until, sourced, unprotected, with_slc_cache,
};
use proptest::prelude::*;
use tameshi_base::units::{Share, Time};
use tameshi_base::{CommandKind, Nanos, Random};
use tameshi_record::Wear;
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::profile::{self, CleaningPolicy, FlashProfile, Power, Simulated, Written};

const CACHE: u64 = 64 << 20;
const BLOCK: u32 = 128 << 10;
/// Bytes of a program, and data dies: two controllers of four channels with two dies each.
const PROGRAM: f64 = 16384.0;
const DIES: f64 = 16.0;
/// Transfer time of a program on its channel of 200 MB/s, in nanoseconds.
const CROSSING: f64 = PROGRAM / 0.2;

fn drive() -> FlashProfile {
    with_slc_cache(flash_drive(1 << 30), CACHE)
}

fn device(drive: FlashProfile) -> Device {
    Device::new(&profile::Device::Flash(drive)).expect("a drive")
}

fn wear(device: &Device) -> Wear {
    device.wear().expect("flash")
}

/// Write `bytes` in order from `offset_bytes` on, 16 at a time, from `now` on.
fn fill(device: &mut Device, now: Nanos, offset_bytes: u64, bytes: u64) -> Vec<DeviceCompletion> {
    let (count, mut next, mut now, mut done) = (bytes / u64::from(BLOCK), 0, now, Vec::new());
    while (done.len() as u64) < count {
        while next < count && next - (done.len() as u64) < 16 {
            device.submit(now, &command(next, CommandKind::Write, offset_bytes + next * u64::from(BLOCK), BLOCK));
            next += 1;
        }
        now = device.next_wake().expect("some are outstanding");
        device.advance(now, &mut done);
    }
    done
}

/// Return the bytes per second between two completions.
fn rate(done: &[DeviceCompletion], from_bytes: u64, to_bytes: u64) -> f64 {
    let [from, to] = [from_bytes, to_bytes].map(|bytes| (bytes / u64::from(BLOCK)) as usize);
    ((to - from) as u64 * u64::from(BLOCK)) as f64 * 1e9 / (done[to].at - done[from].at) as f64
}

#[test]
fn writes_run_at_slc_speed_until_the_cache_is_full() {
    let mut device = device(drive());
    let done = fill(&mut device, 0, 0, 4 * CACHE);
    let by_program = |program_ns: f64| DIES * PROGRAM * 1e9 / (CROSSING + program_ns);
    assert_close(rate(&done, CACHE / 8, CACHE * 7 / 8), by_program(200e3), 0.03, "bytes per second into the cache");
    assert_close(rate(&done, 2 * CACHE, 7 * CACHE / 2), by_program(900e3), 0.03, "bytes per second past it");
    assert_eq!(wear(&device).moved_bytes, 0, "nothing is moved while the host writes and room is left");
    let cached = wear(&device).cached_bytes.expect("a cache") as f64;
    assert_close(cached, CACHE as f64, 0.07, "bytes in it, up to a block of each controller");
}

#[test]
fn idle_drive_empties_its_cache_once_for_another_burst() {
    let mut device = device(drive());
    let first = fill(&mut device, 0, 0, CACHE);
    let begin = first.last().expect("some").at;
    idle_until(&mut device, begin + 100_000_000);
    assert_eq!(wear(&device).moved_bytes, 0, "it waits for a tenth of a second");
    idle_until(&mut device, Nanos::MAX / 4);
    // The open block of each controller stays: at least 1/8 of 16 programs of 32 pages on 8 dies.
    let moved = wear(&device).moved_bytes;
    assert!(moved <= CACHE && moved > CACHE * 9 / 10, "{moved}");
    assert_eq!(device.next_wake(), None, "and then it rests");
    assert_eq!(wear(&device).cached_bytes, Some(CACHE - moved), "the rest is there still");
    let second = fill(&mut device, begin + 100 * SECOND, CACHE, 2 * CACHE);
    assert_close(
        rate(&second, CACHE / 8, CACHE * 7 / 8),
        rate(&first, CACHE / 8, CACHE * 7 / 8),
        0.02,
        "the second burst",
    );
    assert!(rate(&second, CACHE * 5 / 4, CACHE * 7 / 4) < rate(&second, CACHE / 8, CACHE * 7 / 8) / 2.0);
}

/// Write `bytes` repeatedly over 1/16 of the cache.
fn overwrite(device: &mut Device, now: Nanos, bytes: u64) -> Vec<DeviceCompletion> {
    let mut done: Vec<DeviceCompletion> = Vec::new();
    for _ in 0..bytes / (CACHE / 16) {
        let now = done.last().map_or(now, |last| last.at);
        done.extend(fill(device, now, 0, CACHE / 16));
    }
    done
}

#[test]
fn what_is_overwritten_leaves_room_in_the_cache() {
    let mut device = device(drive());
    let done = overwrite(&mut device, 0, 8 * CACHE);
    let fast = DIES * PROGRAM * 1e9 / (CROSSING + 200e3);
    // An erased block charges its dies 3 ms, next to 32 programs of 282 µs; each turn ends with a
    // few commands alone.
    assert!(rate(&done, 2 * CACHE, 7 * CACHE) > 0.6 * fast, "{}", rate(&done, 2 * CACHE, 7 * CACHE));
    assert_eq!(wear(&device).moved_bytes, 0);
    assert!(wear(&device).cached_bytes.is_some_and(|bytes| bytes <= CACHE / 16));
}

#[test]
fn idle_drive_erases_one_block_at_a_time() {
    let mut device = device(drive());
    let now = overwrite(&mut device, 0, CACHE).last().expect("some").at;
    let begin = now + 101 * MS;
    idle_until(&mut device, begin);
    let done = fill(&mut device, begin, 0, CACHE / 4);
    let longest = done.iter().map(|of| of.at - of.submitted).max().expect("some");
    assert!(longest < 20 * MS, "{longest} ns, where the erases of all blocks take {}", 16 * 3 * MS);
}

#[test]
fn blocks_of_the_cache_are_no_spare_to_reclaim_with() {
    let mut device = device(drive());
    let now = fill(&mut device, 0, 0, CACHE / 64).last().expect("some").at;
    assert_eq!(wear(&device).cached_bytes, Some(CACHE / 64), "a part of a block of each controller");
    fill(&mut device, now, CACHE, CACHE * 63 / 64);
    let of = wear(&device);
    let usable = of.physical_bytes - of.given_up_bytes;
    let (held, block) = (usable - of.erased_bytes - of.mapped_bytes, 4 << 20);
    assert!(held <= 2 * block, "nothing is stale, and yet {held} bytes hold nothing");
}

#[test]
fn a_full_drive_keeps_room_for_the_part_that_is_kept() {
    for (kept, least, most) in [(true, CACHE / 4, CACHE), (false, 0, CACHE / 8)] {
        let mut drive = drive();
        drive.simulated = Simulated { written: Written::Steady, ..Simulated::default() };
        if !kept {
            drive.idle.as_mut().expect("it does something").erased = None;
        }
        let mut device = device(drive);
        let mut random = Random::named(1, "test");
        // Far more than the cache holds, at random; then a pause.
        let place = |_| random.below((1 << 30) / 4096) * 4096;
        let places: Vec<u64> = (0..3 * CACHE / 4096).map(place).collect();
        let mut now = 0;
        for (id, offset) in (0..).zip(&places) {
            device.submit(now, &command(id, CommandKind::Write, *offset, 4096));
            let mut done = Vec::new();
            while done.is_empty() {
                now = device.next_wake().expect("one is outstanding");
                device.advance(now, &mut done);
            }
        }
        idle_until(&mut device, Nanos::MAX / 4);
        let done = fill(&mut device, Nanos::MAX / 4, 0, CACHE);
        let fast = DIES * PROGRAM * 1e9 / (CROSSING + 200e3);
        let step = 2 << 20;
        let steps = (0..CACHE / step - 1).map(|number| rate(&done, number * step, (number + 1) * step));
        // The buffer takes the first few, with or without a cache.
        let held = 4 << 20;
        let burst = steps.skip(2).take_while(|&rate| rate > 0.7 * fast).count() as u64 * step + held;
        assert!((least..=most.max(2 * held)).contains(&burst), "kept: {kept}, at full speed: {burst}");
    }
}

#[test]
fn a_read_of_what_lies_in_the_cache_takes_its_time() {
    let media = |idles: bool| {
        let mut device = device(drive());
        let done = fill(&mut device, 0, 0, CACHE / 2);
        let mut now = done.last().expect("some").at + 5_000_000;
        idle_until(&mut device, now);
        if idles {
            idle_until(&mut device, Nanos::MAX / 4);
            now = Nanos::MAX / 4;
        }
        device.submit(now, &command(0, CommandKind::Read, 1 << 20, 4096));
        let mut done = Vec::new();
        device.advance(now + SECOND, &mut done);
        done[0].breakdown.media
    };
    let transfer = 4096.0 / 0.2;
    assert_close(media(false) as f64, 25_000.0 + transfer, 0.001, "in the cache");
    let moved = media(true) as f64 - transfer;
    assert!((moved - 40_000.0).abs() < 1.0 || (moved - 60_000.0).abs() < 1.0, "moved on: {moved}");
}

#[test]
fn what_was_written_before_the_run_lies_in_no_cache() {
    let mut drive = drive();
    drive.simulated = Simulated { written: Written::Once, used: Share(250_000), ..Simulated::default() };
    let mut device = device(drive);
    let done = fill(&mut device, 0, 512 << 20, CACHE);
    let fast = DIES * PROGRAM * 1e9 / (CROSSING + 200e3);
    assert_close(rate(&done, CACHE / 8, CACHE * 7 / 8), fast, 0.03, "all of it is free");
}

#[test]
fn power_cut_while_emptying_the_cache_loses_nothing() {
    for drive in [drive(), unprotected(drive())] {
        let mut device = device(drive);
        let done = fill(&mut device, 0, 0, CACHE);
        let mut now = done.last().expect("some").at + 120_000_000;
        idle_until(&mut device, now);
        let moved = wear(&device).moved_bytes;
        assert!(0 < moved && moved < CACHE / 2, "in the middle of it: {moved}");
        device.cut_power(now);
        now += SECOND;
        idle_until(&mut device, Nanos::MAX / 4);
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        flash.check();
        assert!(wear(&device).moved_bytes > CACHE * 9 / 10, "{now}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn map_stays_whole_across_pauses_and_channel_deaths(
        seed in any::<u64>(), bursts in proptest::collection::vec((1..3000u64, 0..40u64), 1..12),
        choice in 0..4usize, dies_before in proptest::option::of(0..12usize),
    ) {
        let policy = [CleaningPolicy::Greedy, CleaningPolicy::Fifo, CleaningPolicy::Random, CleaningPolicy::CostBenefit];
        let mut drive = with_slc_cache(flash_drive(128 << 20), 8 << 20);
        drive.nand.pages_per_block = sourced(4);
        drive.over_provisioning = sourced(Share(600_000));
        drive.cleaning.policy = sourced(policy[choice]);
        drive.idle.as_mut().expect("it does something").after = sourced(Time(5_000_000));
        let mut device = device(drive);
        let (mut random, mut now, mut id) = (Random::named(seed, "test"), 0, 0);
        for (number, (count, pause_ms)) in bursts.into_iter().enumerate() {
            if dies_before == Some(number) {
                prop_assert_eq!(device.fail_channel(0, 1, now), Ok(true));
            }
            let (mut done, mut issued) = (Vec::new(), 0);
            while (done.len() as u64) < count {
                while issued < count && issued - (done.len() as u64) < 64 {
                    let kind = [CommandKind::Write, CommandKind::Write, CommandKind::Read, CommandKind::Trim];
                    let kind = kind[random.below(4) as usize];
                    device.submit(now, &command(id, kind, random.below((128 << 20) / 4096 - 8) * 4096, 16384));
                    (issued, id) = (issued + 1, id + 1);
                }
                now = device.next_wake().expect("some are outstanding");
                device.advance(now, &mut done);
            }
            prop_assert!(done.iter().all(|of| of.breakdown.total() == of.at - of.submitted));
            now += pause_ms * 1_000_000;
            idle_until(&mut device, now);
        }
        idle_until(&mut device, Nanos::MAX / 4);
        prop_assert_eq!(device.next_wake(), None, "it comes to rest");
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        flash.check();
    }
}

#[test]
fn cache_costs_a_busy_drive_only_one_more_move() {
    let written = |cached: bool| {
        let plain = flash_drive(256 << 20);
        let drive = if cached { with_slc_cache(plain, 16 << 20) } else { plain };
        let mut random = Random::named(3, "test");
        let device = device(drive);
        let blocks = (256 << 20) / 4096;
        let write = |id| command(id, CommandKind::Write, random.below(blocks) * 4096, 4096);
        let done = closed_loop_on(device, 64, 5 * blocks as usize, write);
        let half = done.len() / 2;
        (done.len() - half) as f64 * 1e9 / (done[done.len() - 1].at - done[half].at) as f64
    };
    assert_close(written(true), written(false), 0.02, "steady writes per second");
}

#[test]
fn a_program_of_the_cache_draws_as_long_as_it_lasts() {
    let mut drive = drive();
    let (idle_mw, read_nj, program_nj, erase_nj) = (sourced(1_000), sourced(1), sourced(90_000), sourced(1));
    drive.power = Some(Power { idle_mw, limit_mw: None, read_nj, program_nj, erase_nj, thermal: None });
    let mut device = device(drive);
    let end = fill(&mut device, 0, 0, CACHE / 2).last().expect("some").at + 50 * MS;
    idle_until(&mut device, end);
    let drawn = device.energy_nj(end).expect("it says") - end;
    // 200 µs programs become 900 µs on average, with one of parity for four of data.
    let programs = (CACHE / 2) as f64 / PROGRAM * 5.0 / 4.0;
    assert_close(drawn as f64, programs * 90_000.0 * 200.0 / 900.0, 0.001, "nJ of programs");
}
