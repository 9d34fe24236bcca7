//! Known answers of power cuts on flash drives: acknowledged data lost, and data saved by the
//! capacitor.
//!
//! The drive has two interleaved controllers, and four mapping units per program unit.

use crate::support::*;
use std::collections::BTreeSet;
use tameshi_base::units::{Size, Time};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_sim::Device;
use tameshi_sim::faults::Loss;
use tameshi_spec::profile::{self, FlashProfile};
use tameshi_spec::study::{CacheKind, ReadBalance, RebuildManner};

const US: Nanos = 1000;

fn drive(profile: FlashProfile) -> Device {
    Device::new(&flash(profile)).expect("a drive")
}

fn write(id: u64, unit: u64) -> Command {
    command(id, CommandKind::Write, unit * 4096, 4096)
}

/// Submit all commands at time zero, and advance to `at`; return the number of completions.
fn after(device: &mut Device, commands: &[Command], at: Nanos) -> usize {
    let mut done = vec![];
    commands.iter().for_each(|command| device.submit(0, command));
    device.advance(at, &mut done);
    done.len()
}

fn ten() -> Vec<Command> {
    (0..10).map(|unit| write(unit, unit)).collect()
}

#[test]
fn unprotected_buffer_loses_acknowledged_unprogrammed_data() {
    let mut device = drive(unprotected(flash_drive(1 << 30)));
    assert_eq!(after(&mut device, &ten(), 200 * US), 10, "acknowledged, while the first program takes 500 us");
    let lost = Loss { lost_writes: 10, lost_bytes: 10 * 4096, ..Loss::default() };
    assert_eq!(device.cut_power(200 * US), lost);

    let mut device = drive(unprotected(flash_drive(1 << 30)));
    after(&mut device, &ten(), 10_000 * US);
    assert_eq!(device.cut_power(10_000 * US).lost_writes, 2, "each controller has programmed its four, one fills up");
}

#[test]
fn loss_counts_acknowledged_units_once() {
    let mut device = drive(unprotected(flash_drive(1 << 30)));
    assert_eq!(after(&mut device, &ten(), US), 0);
    assert_eq!(device.cut_power(US), Loss::default());

    let mut device = drive(unprotected(flash_drive(1 << 30)));
    after(&mut device, &[write(0, 0), write(1, 0), write(2, 0)], 200 * US);
    assert_eq!(device.cut_power(200 * US).lost_bytes, 4096);
}

#[test]
fn what_was_flushed_or_forced_is_safe() {
    let mut device = drive(unprotected(flash_drive(1 << 30)));
    let flushed: Vec<Command> = ten().into_iter().chain([command(10, CommandKind::Flush, 0, 0)]).collect();
    assert_eq!(after(&mut device, &flushed, 20_000 * US), 11);
    assert_eq!(device.cut_power(20_000 * US), Loss::default());

    let mut device = drive(unprotected(flash_drive(1 << 30)));
    let forced: Vec<Command> = ten().into_iter().map(|of| Command { fua: true, ..of }).collect();
    assert_eq!(after(&mut device, &forced, 200 * US), 0, "it waits for the flash");
    assert_eq!(device.cut_power(200 * US), Loss::default());
}

#[test]
fn a_capacitor_saves_as_much_as_it_holds_for() {
    // Writing the whole buffer of 1024 units takes 80 ms: ten of them 781,250 ns.
    for (hold_up, lost) in [(80_000, 0), (782, 0), (400, 5), (0, 10)] {
        let mut profile = flash_drive(1 << 30);
        if let Some(protection) = &mut profile.buffer.power_loss_protection {
            protection.hold_up = sourced(Time(hold_up * US));
        }
        let mut device = drive(profile);
        assert_eq!(after(&mut device, &ten(), 200 * US), 10);
        let loss = device.cut_power(200 * US);
        let expected = Loss {
            lost_writes: lost,
            lost_bytes: lost * 4096,
            flush_ns: 781_250,
            hold_up_ns: hold_up * US,
            ..Loss::default()
        };
        assert_eq!(loss, expected, "held for {hold_up} us");
    }
}

#[test]
fn write_on_the_link_is_torn_beyond_the_atomic_size() {
    // 128 KiB cross in 41 us after the controller's turn, and are acknowledged 5 us later; a page
    // crosses in 1.3 us.
    let torn_at = |at: Nanos, atomic: Option<u64>| {
        let mut profile = flash_drive(1 << 30);
        profile.atomic_write = atomic.map(|bytes| sourced(Size(bytes)));
        let mut device = drive(profile);
        after(&mut device, &[command(0, CommandKind::Write, 0, 128 << 10), write(1, 999)], at);
        device.cut_power(at).torn_writes
    };
    for (at, torn) in [(500, 0), (2 * US, 1), (20 * US, 1), (40 * US, 1), (43 * US, 0), (100 * US, 0)] {
        assert_eq!(torn_at(at, None), torn, "cut after {at} ns");
        assert_eq!(torn_at(at, Some(64 << 10)), torn, "it is larger than what is atomic; cut after {at} ns");
        assert_eq!(torn_at(at, Some(128 << 10)), 0, "cut after {at} ns");
    }
}

#[test]
fn an_unprotected_drive_tears_what_is_partly_programmed() {
    // Each controller's eight programs of 500 us and more follow one another across its dies; the
    // write waits for all of them.
    let torn_at = |at: Nanos, atomic: Option<u64>| {
        let mut profile = unprotected(flash_drive(1 << 30));
        profile.atomic_write = atomic.map(|bytes| sourced(Size(bytes)));
        let mut device = drive(profile);
        let forced = Command { fua: true, ..command(0, CommandKind::Write, 0, 1 << 20) };
        after(&mut device, &[forced], at);
        device.cut_power(at).torn_writes
    };
    assert_eq!(torn_at(200 * US, None), 0, "nothing is programmed yet");
    assert_eq!(torn_at(1500 * US, None), 1);
    assert_eq!(torn_at(1500 * US, Some(1 << 20)), 0, "as much is atomic");
    assert_eq!(torn_at(100_000 * US, None), 0, "all of it is");
}

#[test]
fn a_drive_that_lost_power_serves_on_and_keeps_its_maps_right() {
    let small = || flash_drive(256 << 20);
    for profile in [small(), unprotected(small()), with_map_writes(small(), 300 * US)] {
        let mut device = drive(profile);
        let mut next = random_4k("power");
        let (mut done, mut now) = (vec![], 0);
        for round in 0..20u64 {
            let before = done.len();
            for id in 0..600 {
                let of = next(round * 1000 + id);
                device.submit(now, &write(of.id, of.offset_bytes / 4096 % (256 << 8)));
            }
            let until = now + 3_000 * US + round * 500 * US;
            while let Some(at) = device.next_wake().filter(|&at| at <= until) {
                device.advance(at, &mut done);
            }
            now = until;
            let completed = (done.len() - before) as u64;
            let loss = device.cut_power(now);
            assert!(loss.lost_writes <= completed, "{loss:?} of {completed}");
            assert_eq!(device.next_wake(), None, "at rest");
        }
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        flash.check();
        let ids: BTreeSet<u64> = done.iter().map(|done| done.command.id).collect();
        assert_eq!(ids.len(), done.len(), "nothing completes twice");
    }
}

#[test]
fn what_an_array_or_a_cache_writes_by_itself_is_never_torn() {
    let drive = || leaf(flash(flash_drive(1 << 30)));
    let mirror = raid1(2, drive(), ReadBalance::ShortestQueue);
    let mirror = with_rebuild(mirror, 2_000_000_000, 1_000_000_000, RebuildManner::Competing);
    let cache = cached(drive(), 16 << 20, CacheKind::BatteryBacked);
    for (name, node, replaced) in [("rebuild", mirror, true), ("write-back", cache, false)] {
        let mut under_way = 0;
        for cut in (1..200).map(|step| step * 13 * US) {
            let (mut device, mut done) = (watched(&node).expect("a device"), vec![]);
            (0..20).for_each(|id| device.submit(0, &write(id, id)));
            if replaced {
                device.fail(Some(1), 0);
                device.replace(1, 0).expect("it is dead");
            }
            device.advance(cut, &mut done);
            let loss = device.cut_power(cut);
            assert_eq!(loss.torn_writes, 0, "{name}, at {cut}: a write of one mapping unit");
            under_way += loss.outstanding;
        }
        assert!(under_way > 0, "{name}");
    }
}

#[test]
fn volatile_ranges_name_the_bytes_that_a_cut_loses() {
    let cached_disk = || {
        let mut disk = disk();
        disk.write_cache = Some(sourced(Size(1 << 20)));
        Device::new(&profile::Device::Hdd(disk)).expect("a disk")
    };
    let drives: [(&str, Device); 3] = [
        ("unprotected", drive(unprotected(flash_drive(1 << 30)))),
        ("worn capacitor", drive(worn(flash_drive(1 << 30)))),
        ("disk with a cache", cached_disk()),
    ];
    for (name, mut device) in drives {
        let mut next = random_4k("ranges");
        let (mut done, mut now, mut lost) = (vec![], 0, 0);
        for round in 0..40u64 {
            for id in 0..8 {
                let of = next(round * 100 + id);
                device.submit(now, &write(of.id, of.offset_bytes / 4096 % 1000));
            }
            now += 37 * US * (round + 1);
            while let Some(at) = device.next_wake().filter(|&at| at <= now) {
                device.advance(at, &mut done);
            }
            let mut named = vec![];
            device.volatile_ranges(&mut named);
            let written: BTreeSet<u64> = done.iter().map(|done| done.command.offset_bytes).collect();
            assert!(named.iter().all(|&(offset, _)| written.contains(&offset)), "{name}: acknowledged data only");
            assert_eq!(named.iter().collect::<BTreeSet<_>>().len(), named.len(), "{name}: each range once");
            let loss = device.cut_power(now);
            let bytes: u64 = named.iter().map(|&(_, bytes)| bytes).sum();
            if name == "worn capacitor" {
                assert!(loss.lost_bytes <= bytes, "{name}");
            } else {
                assert_eq!(loss.lost_bytes, bytes, "{name}");
            }
            lost += loss.lost_bytes;
        }
        assert!(lost > 0, "{name}: some cut loses data");
    }
}

/// The drive with a capacitor that holds for a third of a nearly empty buffer.
fn worn(mut profile: FlashProfile) -> FlashProfile {
    if let Some(protection) = &mut profile.buffer.power_loss_protection {
        protection.hold_up = sourced(Time(200 * US));
    }
    profile
}
