//! Idle-time garbage collection: the next burst finds erased flash, and nearly full blocks are not
//! moved.

use crate::support::{MS, SECOND, closed_loop_on, command, flash_drive, idle_until, sourced};
use tameshi_base::units::{Size, Time};
use tameshi_base::{CommandKind, Nanos, Random};
use tameshi_sim::Device;
use tameshi_spec::profile::{self, CleaningPolicy, FlashProfile, Idle, Simulated, Written};

const BYTES: u64 = 512 << 20;
const ERASED: u64 = 32 << 20;

const POLICIES: [CleaningPolicy; 5] = [
    CleaningPolicy::Greedy,
    CleaningPolicy::Fifo,
    CleaningPolicy::Random,
    CleaningPolicy::CostBenefit,
    CleaningPolicy::Choices { drawn: 3 },
];

fn profile(written: Written, erased: Option<u64>) -> FlashProfile {
    let simulated = Simulated { written, ..Simulated::default() };
    let erased = erased.map(|bytes| sourced(Size(bytes)));
    let idle = Some(Idle { after: sourced(Time(200 * MS)), erased });
    FlashProfile { simulated, idle, ..flash_drive(BYTES) }
}

fn device(profile: FlashProfile) -> Device {
    Device::new(&profile::Device::Flash(profile)).expect("a drive")
}

fn drive(written: Written, erased: Option<u64>) -> Device {
    device(profile(written, erased))
}

/// Write 4 KiB at random, 64 at a time, from `now` on; return the last completion.
fn write(device: &mut Device, now: Nanos, count: u64) -> Nanos {
    let (mut random, mut now, mut issued, mut done) = (Random::named(now, "test"), now, 0, Vec::new());
    while (done.len() as u64) < count {
        while issued < count && issued - (done.len() as u64) < 64 {
            let offset = random.below(BYTES / 4096) * 4096;
            device.submit(now, &command(issued, CommandKind::Write, offset, 4096));
            issued += 1;
        }
        now = device.next_wake().expect("some are outstanding");
        device.advance(now, &mut done);
    }
    now
}

fn moved(device: &Device) -> u64 {
    device.wear().expect("flash").moved_bytes
}

fn erased(device: &Device) -> u64 {
    device.wear().expect("flash").erased_bytes
}

#[test]
fn a_pause_erases_what_the_next_burst_needs_and_no_more() {
    let mut device = drive(Written::Steady, Some(ERASED));
    let busy_until = write(&mut device, 0, 4096);
    let (moved_before, erased_before) = (moved(&device), erased(&device));
    assert!(moved_before > 0 && erased_before < ERASED, "it keeps step under load: {erased_before}");
    idle_until(&mut device, busy_until + 200 * MS);
    assert_eq!(moved(&device), moved_before, "a pause of two tenths of a second is too short");
    idle_until(&mut device, Nanos::MAX / 4);
    assert_eq!(device.next_wake(), None, "it comes to rest");
    let (moved_idle, erased_idle) = (moved(&device), erased(&device));
    // Not counted: the reserve of four blocks per controller, two open blocks, and one begun block;
    // the spare is 128 MiB.
    assert!((ERASED..ERASED + 14 * (4 << 20)).contains(&erased_idle), "{erased_idle}");
    assert!(moved_idle > moved_before);
    let begin = busy_until + 100 * SECOND;
    let end = write(&mut device, begin, ERASED / 2 / 4096);
    assert_eq!(moved(&device), moved_idle, "the burst moves nothing");
    let burst = end - begin;
    let (begin, sustained) = (end, write(&mut device, end, 8 * ERASED / 4096) - end);
    assert!(moved(&device) > moved_idle && begin > 0);
    assert!(sustained > 2 * 16 * burst, "{burst} ns for a sixteenth of what takes {sustained} without a pause");
}

#[test]
fn idle_drive_does_not_move_blocks_without_stale_data() {
    for (written, erased) in [(Written::Once, Some(ERASED * 3 / 2)), (Written::Steady, None)] {
        let mut device = drive(written, erased);
        // Less than 1/16 of each block becomes stale.
        let now = write(&mut device, 0, 64);
        let before = moved(&device);
        idle_until(&mut device, now + 3600 * SECOND);
        assert_eq!((moved(&device), device.next_wake()), (before, None), "{written:?}");
    }
}

#[test]
fn commands_that_come_one_by_one_never_let_it_idle() {
    let mut device = drive(Written::Steady, Some(ERASED));
    let mut now = write(&mut device, 0, 4096);
    let before = moved(&device);
    for _ in 0..100 {
        device.submit(now, &command(0, CommandKind::Read, 0, 4096));
        let mut done = Vec::new();
        device.advance(now + 10 * MS, &mut done);
        assert_eq!(done.len(), 1);
        now = done[0].at + 150 * MS;
        idle_until(&mut device, now);
    }
    assert_eq!(moved(&device), before);
}

#[test]
fn pause_erases_the_allowed_blocks_for_every_policy() {
    for (policy, reserve) in POLICIES.into_iter().flat_map(|policy| [2, 3, 4].map(|reserve| (policy, reserve))) {
        let mut of = profile(Written::Steady, Some(ERASED));
        (of.cleaning.policy, of.cleaning.reserve_blocks) = (sourced(policy), sourced(reserve));
        let mut device = device(of);
        let busy_until = write(&mut device, 0, 4096);
        idle_until(&mut device, Nanos::MAX / 4);
        assert!(erased(&device) >= ERASED, "{policy:?}, {reserve} in reserve: {}", erased(&device));
        let before = moved(&device);
        write(&mut device, busy_until + 100 * SECOND, ERASED / 2 / 4096);
        assert_eq!(moved(&device), before, "{policy:?}, {reserve} in reserve");
    }
}

#[test]
fn idle_maintenance_changes_nothing_under_load() {
    for policy in POLICIES {
        let ends = |idles: bool| {
            let mut of = profile(Written::Once, Some(ERASED));
            of.cleaning.policy = sourced(policy);
            if !idles {
                of.idle = None;
            }
            let mut random = Random::named(7, "test");
            let offset = |random: &mut Random| random.below(BYTES / 8 / 4096) * 4096;
            let write = |id| command(id, CommandKind::Write, offset(&mut random), 4096);
            let done = closed_loop_on(device(of), 16, 2 * (BYTES / 4096) as usize, write);
            done.into_iter().map(|of| of.at).collect::<Vec<_>>()
        };
        assert_eq!(ends(true), ends(false), "{policy:?}");
    }
}
