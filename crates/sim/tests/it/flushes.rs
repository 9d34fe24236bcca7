//! Known answers of flushes on unprotected flash drives: data programs first, then the map write.
//!
//! The drive has two controllers of four dies on two channels each. A program of 500 µs or more
//! follows a transfer of 16 KiB at 200 MB/s.

use crate::support::{
    cached, command, flash, flash_drive, flushed_alone, leaf, raid0, raid1, raid5, raid10, unprotected,
    with_map_writes, xpoint,
};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_sim::faults::Loss;
use tameshi_sim::{Device, stack};
use tameshi_spec::profile::{self, FlashProfile};
use tameshi_spec::run::Node;
use tameshi_spec::study::{CacheKind, ReadBalance};

const US: Nanos = 1000;
const MAP: Nanos = 300 * US;
const TRANSFER: Nanos = 81_920;
/// Duration of a flush with nothing to do.
const OVERHEAD: Nanos = 5 * US;

fn drive(profile: FlashProfile) -> Device {
    Device::new(&flash(profile)).expect("a drive")
}

fn writing_its_map() -> Device {
    drive(with_map_writes(flash_drive(1 << 30), MAP))
}

fn write(id: u64, unit: u64) -> Command {
    command(id, CommandKind::Write, unit * 4096, 4096)
}

fn flush(id: u64) -> Command {
    command(id, CommandKind::Flush, 0, 0)
}

/// Submit each command at its time; return the completion times by id.
fn ends(device: &mut Device, commands: &[(Nanos, Command)]) -> Vec<Nanos> {
    let mut done = Vec::new();
    for (at, command) in commands {
        while let Some(wake) = device.next_wake().filter(|wake| wake < at) {
            device.advance(wake, &mut done);
        }
        device.submit(*at, command);
    }
    while let Some(wake) = device.next_wake() {
        device.advance(wake, &mut done);
    }
    done.sort_by_key(|done| done.command.id);
    assert_eq!(done.len(), commands.len(), "each completes once");
    done.iter().for_each(|done| assert_eq!(done.breakdown.total(), done.at - done.submitted));
    done.iter().map(|done| done.at).collect()
}

#[test]
fn flush_takes_the_data_program_and_then_the_map_write() {
    let commands = [(0, write(0, 0)), (0, flush(1))];
    let data = ends(&mut drive(unprotected(flash_drive(1 << 30))), &commands)[1];
    assert!(data > 500 * US);
    assert_eq!(ends(&mut writing_its_map(), &commands)[1], data + TRANSFER + MAP);
}

#[test]
fn a_flush_of_nothing_new_writes_no_map() {
    let mut device = writing_its_map();
    assert_eq!(ends(&mut device, &[(0, flush(0))]), [OVERHEAD]);
    let at = 10_000 * US;
    ends(&mut device, &[(at, write(0, 0)), (at, flush(1))]);
    assert_eq!(
        ends(&mut device, &[(2 * at, command(0, CommandKind::Read, 0, 4096)), (3 * at, flush(1))])[1],
        3 * at + OVERHEAD
    );
}

#[test]
fn what_is_trimmed_is_of_the_map_alone() {
    let mut device = writing_its_map();
    let trim = command(0, CommandKind::Trim, 0, 4096);
    assert_eq!(ends(&mut device, &[(0, trim), (0, flush(1))])[1], OVERHEAD + TRANSFER + MAP);
}

#[test]
fn fua_write_waits_for_the_map_like_a_flush() {
    let forced = Command { fua: true, ..write(0, 0) };
    let data = ends(&mut drive(unprotected(flash_drive(1 << 30))), &[(0, forced)])[0];
    assert_eq!(ends(&mut writing_its_map(), &[(0, forced)])[0], data + TRANSFER + MAP);
    assert_eq!(
        ends(&mut drive(flash_drive(1 << 30)), &[(0, forced)])[0],
        ends(&mut drive(flash_drive(1 << 30)), &[(0, write(0, 0))])[0]
    );
}

#[test]
fn a_durable_write_waits_for_none_of_its_own_programs() {
    let forced = |bytes: u32| Command { fua: true, ..command(0, CommandKind::Write, 0, bytes) };
    for bytes in [4096, 16 << 10, 256 << 10, 1 << 20] {
        let mut done = Vec::new();
        let mut device = drive(unprotected(flash_drive(1 << 30)));
        device.submit(0, &forced(bytes));
        while let Some(wake) = device.next_wake() {
            device.advance(wake, &mut done);
        }
        let spent = done[0].breakdown;
        assert_eq!((spent.queue, spent.garbage_collection), (0, 0), "{bytes}: no other command is there: {spent:?}");
        assert_eq!(spent.media, done[0].at - spent.link - spent.controller);
    }
    // Data written before are programmed first, on the same dies.
    let (mut device, mut done) = (drive(unprotected(flash_drive(1 << 30))), Vec::new());
    device.submit(0, &command(1, CommandKind::Write, 512 << 20, 512 << 10));
    device.submit(0, &forced(256 << 10));
    while let Some(wake) = device.next_wake() {
        device.advance(wake, &mut done);
    }
    let spent = done.iter().find(|done| done.command.fua).expect("it completes").breakdown;
    assert!(spent.queue > 500 * US && spent.media > 500 * US, "{spent:?}");
}

#[test]
fn requests_during_a_map_write_share_the_next_one() {
    // Five more requests arrive during the first map write: they share one map write.
    let mut device = writing_its_map();
    let first = ends(&mut device, &[(0, write(0, 0)), (0, flush(1))])[1];
    let mut device = writing_its_map();
    let during = first - 100 * US;
    let more = (0..5).flat_map(|of| [(during, write(2 + 2 * of, 8 + of)), (during, flush(3 + 2 * of))]);
    let all: Vec<_> = [(0, write(0, 0)), (0, flush(1))].into_iter().chain(more).collect();
    let ends = ends(&mut device, &all);
    assert_eq!(ends[1], first, "the first is not held up");
    let last = ends[11];
    assert!((0..5).all(|of| ends[3 + 2 * of] <= last));
    let together = (0..5).filter(|of| ends[3 + 2 * of] == last).count();
    assert!(together >= 4, "{ends:?}");
    assert!(last < first + 2 * (TRANSFER + MAP) + 3_000 * US, "{ends:?}");
}

#[test]
fn map_write_delays_reads_on_its_own_die_only() {
    let mut device = writing_its_map();
    let fill: Vec<_> = (0..4096).map(|unit| (0, write(unit, unit))).chain([(0, flush(4096))]).collect();
    let begin = ends(&mut device, &fill)[4096] + 1_000 * US;
    let mut begin = begin;
    let mut takes = |unit: u64, beside_map: bool| {
        begin += 10_000 * US;
        let trim = [(begin, command(0, CommandKind::Trim, 0, 4096)), (begin, flush(1))];
        let at = begin + OVERHEAD + TRANSFER + MAP / 2;
        let read = (at, command(9, CommandKind::Read, unit * 4096, 4096));
        let before = if beside_map { &trim[..] } else { &[] };
        ends(&mut device, &before.iter().copied().chain([read]).collect::<Vec<_>>()).last().expect("a read") - at
    };
    // Four mapping units apart, so that each write has a program unit of its own.
    let late = (0..64).map(|of| 512 + 4 * of).filter(|&unit| takes(unit, true) > takes(unit, false)).count();
    assert!(late > 0 && late < 32, "of 64 reads {late} find the die");
}

#[test]
fn power_cut_forgets_map_waiters_and_resets_flushes() {
    let commands = [(0, write(0, 0)), (0, flush(1))];
    let first = ends(&mut writing_its_map(), &commands)[1];
    for cut in [first - MAP - TRANSFER - 1, first - MAP / 2, first - 1] {
        let mut device = writing_its_map();
        let mut done = Vec::new();
        commands.iter().for_each(|(at, command)| device.submit(*at, command));
        device.advance(cut, &mut done);
        assert!(done.iter().all(|done| done.command.id == 0), "the flush is not over at {cut}");
        let loss = device.cut_power(cut);
        if cut > first - MAP {
            assert_eq!(loss, Loss::default(), "what is programmed is found again");
        }
        assert_eq!(device.next_wake(), None);
        let again = 10_000 * US;
        let ended = ends(&mut device, &[(again, write(0, 1)), (again, flush(1))])[1];
        assert!((first..first + 1_500 * US).contains(&(ended - again)), "{ended}");
    }
}

/// Submit sixteen reads of 256 KiB, and a flush 1 µs later; return the ends of the flush and of the
/// last read.
fn beside_reads(node: &Node) -> (Nanos, Nanos) {
    let mut device = stack::node(node).expect("a node");
    let reads = (0..16).map(|id| (0, command(id, CommandKind::Read, id << 20, 256 << 10)));
    let ends = ends(&mut device, &reads.chain([(US, flush(16))]).collect::<Vec<_>>());
    (ends[16] - US, ends[..16].iter().copied().max().expect("reads"))
}

#[test]
fn a_flush_waits_for_no_read_whatever_it_goes_to() {
    let drive = || {
        let mut drive = flash_drive(1 << 30);
        drive.simulated.written = profile::Written::Once;
        leaf(flash(drive))
    };
    for (name, node) in [
        ("flash", drive()),
        ("3D XPoint", leaf(profile::Device::XPoint(xpoint()))),
        ("stripe", raid0(3, drive())),
        ("mirror", raid1(2, drive(), ReadBalance::default())),
        ("stripe of mirrors", raid10(4, drive())),
        ("parity", raid5(3, drive())),
    ] {
        let (flush, reads) = beside_reads(&node);
        assert_eq!(flush, 0, "{name}: without a volatile cache a flush takes no time");
        assert!(reads > 10 * OVERHEAD, "{name}: they go on until {reads}");
    }
    let (flush, reads) = beside_reads(&cached(drive(), 1 << 20, CacheKind::BatteryBacked));
    assert!(flush < 200 * US && reads > 2 * flush, "a battery-backed cache: {flush} {reads}");
}

#[test]
fn flush_of_an_array_waits_for_no_write() {
    let drive = || leaf(flash(flash_drive(1 << 30)));
    for (name, node) in [
        ("stripe", raid0(3, drive())),
        ("mirror", raid1(2, drive(), ReadBalance::default())),
        ("stripe of mirrors", raid10(4, drive())),
        ("parity", raid5(3, drive())),
        ("battery-backed cache", cached(drive(), 1 << 20, CacheKind::BatteryBacked)),
    ] {
        let mut device = stack::node(&node).expect("a device");
        let writes = (0..16).map(|id| (0, command(id, CommandKind::Write, id << 20, 64 << 10)));
        let ends = ends(&mut device, &writes.chain([(US, flush(16))]).collect::<Vec<_>>());
        assert_eq!(ends[16], US, "{name}: its members have no volatile cache");
        assert!(ends[..16].iter().any(|&end| end > 2 * US), "{name}: writes go on");
    }
}

#[test]
fn exclusive_flush_waits_for_reads_and_holds_back_commands() {
    let read = |id, place: u64| command(id, CommandKind::Read, place << 20, 4096);
    let written = || {
        let mut drive = flushed_alone(flash_drive(1 << 30));
        drive.simulated.written = profile::Written::Once;
        self::drive(drive)
    };
    let own = ends(&mut written(), &[(0, read(0, 0))])[0];
    let all = [(0, read(0, 0)), (US, flush(1)), (2 * US, read(2, 100)), (3 * US, flush(3)), (4 * US, write(4, 9))];
    let found = ends(&mut written(), &all);
    let first = own + OVERHEAD;
    assert_eq!(found[..2], [own, first]);
    // Its die has another page type; it begins after the flush.
    assert!((first + 40 * US..first + 200 * US).contains(&found[2]), "{found:?}");
    assert_eq!(found[3], found[2] + OVERHEAD);
    assert!(found[4] > found[3], "a write waits, too: {found:?}");
}
