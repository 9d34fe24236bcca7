//! Requests smaller than a mapping unit or a page, and repeated senses of worn flash: their work.

use crate::support::*;
use tameshi_base::units::{Share, Size, Time};
use tameshi_base::{Command, CommandKind, Random};
use tameshi_sim::Device;
use tameshi_spec::profile::{self, FlashProfile, Power, ReadRetry, Written};

/// Nanojoules of a sense; other tasks draw none.
const SENSE: u64 = 1000;
/// Bytes of a mapping unit, and mapping units per program unit.
const UNIT: u64 = 4096;
const IN_PROGRAM: u64 = 4;

/// Drive whose energy counts its senses.
fn drive() -> FlashProfile {
    let mut drive = flash_drive(256 << 20);
    let (idle_mw, limit_mw, read_nj) = (sourced(0), None, sourced(SENSE as u32));
    drive.power =
        Some(Power { idle_mw, limit_mw, read_nj, program_nj: sourced(0), erase_nj: sourced(0), thermal: None });
    drive.simulated.written = Written::Once;
    drive
}

/// Run commands one at a time; return the drive and its senses for them.
fn senses(drive: FlashProfile, count: u64, mut next: impl FnMut(u64) -> Command) -> (Device, u64) {
    let mut device = Device::new(&profile::Device::Flash(drive)).expect("a drive");
    let (mut now, mut done) = (0, Vec::new());
    for id in 0..count {
        device.submit(now, &next(id));
        while done.len() as u64 <= id {
            now = device.next_wake().expect("it is outstanding");
            device.advance(now, &mut done);
        }
    }
    let energy = device.energy_nj(now).expect("a supply");
    (device, energy / SENSE)
}

#[test]
fn sequential_reader_senses_each_page_once_for_any_length() {
    const BYTES: u64 = 3 << 20;
    for length in [512, 1536, 2048, 4096, 6144, 8192, 12_288] {
        let read = |id| command(id, CommandKind::Read, id * length, length as u32);
        let (_, senses) = senses(drive(), BYTES / length, read);
        assert_eq!(senses, BYTES / UNIT / IN_PROGRAM, "{length} bytes at a time");
    }
}

#[test]
fn partial_unit_write_reads_the_rest_of_each_unit_once() {
    for (place, expected) in [(0, 1), (512, 1), (3584, 1), (3840, 2)] {
        let write = |id| command(id, CommandKind::Write, (id * 7919) % 60_000 * UNIT + place, 512);
        let (_, senses) = senses(drive(), 300, write);
        assert_eq!(senses, 300 * expected, "512 bytes from {place} on");
    }
}

#[test]
fn small_writes_in_order_come_together_in_the_buffer() {
    let mut empty = drive();
    empty.simulated.written = Written::Never;
    for (length, parts) in [(512, 8), (1024, 4), (2048, 2)] {
        let write = |id| command(id, CommandKind::Write, id * length, length as u32);
        let (device, sensed) = senses(empty.clone(), 4096, write);
        let wear = device.wear().expect("flash");
        // The last unit of a program leaves with its first part. If its die is idle, the rest takes
        // a new place, which then serves later parts.
        let most = IN_PROGRAM as f64 / (IN_PROGRAM - 1) as f64;
        let programmed = wear.host_bytes as f64 / wear.written_bytes as f64;
        assert!((1.0..=most).contains(&programmed), "{length} bytes at a time: {programmed} bytes for one");
        assert_eq!(sensed, 0, "{parts} parts of a unit: all of it is in the buffer still");
    }
}

#[test]
fn small_sequential_writes_merge_while_waiting_for_the_buffer() {
    // One die, always busy: a program unit waits while its last parts arrive.
    let mut small = drive();
    (small.simulated.written, small.buffer.size) = (Written::Never, sourced(Size(4 * IN_PROGRAM * UNIT)));
    let of = &mut small.controller;
    (of.count, of.data_channels, of.dies_per_channel, of.parity_channels) =
        (sourced(1), sourced(1), sourced(1), sourced(0));
    for length in [512, 1024, 2048, 3072] {
        let mut device = Device::new(&profile::Device::Flash(small.clone())).expect("a drive");
        let (count, mut done) = ((2 << 20) / length, Vec::new());
        (0..count).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id * length, length as u32)));
        while let Some(now) = device.next_wake() {
            device.advance(now, &mut done);
        }
        assert_eq!(done.len() as u64, count);
        let wear = device.wear().expect("flash");
        let programmed = wear.host_bytes as f64 / wear.written_bytes as f64;
        assert_close(programmed, 1.0, 0.01, "programmed for a byte");
    }
}

/// Drive of which a percentage of senses must be repeated, each as long as the first.
fn worn(chance_percent: u32) -> FlashProfile {
    let mut drive = drive();
    drive.nand.read_time.value = vec![Time(50_000)];
    let (at_end_of_life, retry_time) = (sourced(Share(chance_percent * 10_000)), sourced(Time(50_000)));
    drive.read_retry =
        Some(ReadRetry { at_end_of_life, retry_time, worn: sourced(Share(1_000_000)), extra_life: None });
    drive.nand.endurance_cycles.value = 1_000_000;
    drive
}

#[test]
fn a_repeated_sense_takes_as_much_energy_as_the_first() {
    let mut random = Random::named(2, "places");
    let read = |id| command(id, CommandKind::Read, random.below(60_000) * UNIT, UNIT as u32);
    let (_, senses) = senses(worn(25), 6000, read);
    assert_close(senses as f64 / 6000.0, 1.0 / 0.75, 0.03, "senses of a read");
}

#[test]
fn relocation_on_worn_flash_repeats_senses_like_reads() {
    let of = |chance_percent| {
        let mut drive = worn(chance_percent);
        drive.simulated.written = Written::Steady;
        let mut random = Random::named(3, "places");
        let write = |id| command(id, CommandKind::Write, random.below(60_000) * UNIT, UNIT as u32);
        let (device, senses) = senses(drive, 30_000, write);
        senses as f64 / device.wear().expect("flash").moved_bytes as f64
    };
    assert_close(of(25) / of(0), 1.0 / 0.75, 0.03, "senses for what is moved, against new flash");
}

#[test]
fn physical_flash_is_constant_for_any_cache_fill() {
    let fresh = Device::new(&flash(with_slc_cache(flash_drive(1 << 30), 64 << 20))).expect("a drive");
    let built = fresh.wear().expect("flash");
    let write = |id: u64| command(id, CommandKind::Write, id * (128 << 10), 128 << 10);
    let of_a_gigabyte = FlashProfile { power: drive().power, ..flash_drive(1 << 30) };
    let (device, _) = senses(with_slc_cache(of_a_gigabyte, 64 << 20), 384, write);
    let wear = device.wear().expect("flash");
    assert_eq!(wear.given_up_bytes, 384 * (128 << 10), "one bit of two: {wear:?}");
    assert_eq!(wear.physical_bytes, built.physical_bytes);
    let programmed = wear.host_bytes + wear.moved_bytes + wear.padded_bytes;
    assert_eq!(
        built.life_bytes - wear.life_bytes,
        programmed,
        "life is used up by what is programmed, and by nothing else"
    );
}
