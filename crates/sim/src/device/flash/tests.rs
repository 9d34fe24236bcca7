//! Tests of a whole drive that look inside.

use super::dies::{Die, NONE};
use super::drive::Flash;
use super::gc::Relocation;
use crate::device::{DeviceCompletion, Model};
use proptest::prelude::*;
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_spec::profile::{self, DeviceProfile, FlashProfile, Simulated, Written};

const DRIVE: &str = include_str!("../../../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");
const CARD: &str = include_str!("../../../../../python/tameshi/data/profiles/devices/es3000-1.2t.toml");

fn profile(text: &str, simulated: Simulated) -> FlashProfile {
    let profile: DeviceProfile = toml::from_str(text).expect("a profile");
    let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
    flash.simulated = simulated;
    flash
}

fn drive(written: Written) -> Flash {
    Flash::new(&profile(DRIVE, Simulated { scale: 1024, written, ..Simulated::default() })).expect("a drive")
}

fn command(id: u64, kind: CommandKind, unit: u64) -> Command {
    let length_bytes = if kind == CommandKind::Flush { 0 } else { 4096 };
    Command { id, kind, offset_bytes: unit * 4096, length_bytes, fua: false, stream: 0 }
}

#[test]
fn reads_complete_one_by_one_before_a_time() {
    let mut drive = drive(Written::Never);
    (0..3).for_each(|id| drive.submit(0, &command(id, CommandKind::Read, 0)));
    let first = *drive.complete_next(Nanos::MAX).expect("a read");
    assert_eq!((first.command.id, first.breakdown.total()), (0, first.at));
    let second = drive.next_wake().expect("another one");
    assert_eq!(drive.complete_next(second), None, "not before");
    assert_eq!(drive.complete_next(second + 1).map(|done| done.at), Some(second));
}

#[test]
fn flush_of_a_drive_with_a_capacitor_takes_no_time() {
    let mut drive = drive(Written::Never);
    drive.submit(0, &command(1, CommandKind::Flush, 0));
    let mut completions = Vec::new();
    drive.advance(0, &mut completions);
    assert_eq!(completions.iter().map(|done| (done.command.id, done.at)).collect::<Vec<_>>(), [(1, 0)]);
}

#[test]
fn flush_completes_after_an_earlier_write() {
    let mut flash = profile(DRIVE, Simulated { scale: 1024, ..Simulated::default() });
    flash.buffer.power_loss_protection = None;
    let mut drive = Flash::new(&flash).expect("a drive");
    drive.submit(0, &command(0, CommandKind::Write, 0));
    drive.submit(0, &command(1, CommandKind::Flush, 0));
    assert!(drive.holds_back());
    let mut completions = Vec::new();
    drive.advance(10_000_000, &mut completions);
    assert_eq!(completions.iter().map(|done| done.command.id).collect::<Vec<_>>(), [0, 1]);
}

/// A logical unit of each full relocated program unit with unfinished senses.
fn waiting(drive: &Flash) -> Vec<u32> {
    let backend = &drive.path.backend;
    let waits = |of: &&Relocation| of.unit != NONE && of.senses > 0;
    let first = |of: &Relocation| of.unit * backend.geometry.program_units;
    let holder = |unit: u32| backend.controllers[0].ftl.holder(unit);
    backend.relocations.list().iter().filter(waits).filter_map(|of| holder(first(of))).collect()
}

#[test]
fn relocated_data_are_not_sensed_before_they_are_programmed() {
    let mut drive = drive(Written::Steady);
    assert_eq!(drive.path.backend.controllers.len(), 1, "units of the drive are those of its controller");
    let (mut done, mut read) = (Vec::<DeviceCompletion>::new(), 0);
    let (mut random, units) = (Random::named(0, "test"), u64::from(drive.path.backend.geometry.logical));
    drive.submit(0, &command(0, CommandKind::Read, 0));
    let mut now = 0;
    for _ in 0..50_000 {
        now += 2_000;
        drive.advance(now, &mut done);
        drive.submit(now, &command(0, CommandKind::Write, random.below(units)));
        for unit in waiting(&drive) {
            let before = drive.path.backend.nand.busy_ns();
            drive.submit(now, &command(0, CommandKind::Read, u64::from(unit)));
            assert_eq!(drive.path.backend.nand.busy_ns()[0], before[0], "{unit} at {now}");
            read += 1;
        }
    }
    assert!(read > 1000, "{read}");
}

/// Card of 16 + 1 channels per controller, written once, with one dead channel.
fn card() -> Flash {
    let mut flash = profile(CARD, Simulated { scale: 256, written: Written::Once, ..Simulated::default() });
    flash.nand.read_time.value.fill(tameshi_base::Time(50_000));
    let mut card = Flash::new(&flash).expect("a card");
    assert_eq!(card.fail_channel(0, 3, 0), Ok(true));
    card
}

/// Return the sense time of a read of one mapping unit, which is known at submission.
fn sensing(card: &mut Flash, unit: u64) -> Nanos {
    let before = card.path.backend.nand.busy_ns();
    card.submit(0, &command(0, CommandKind::Read, unit));
    card.path.backend.nand.busy_ns()[0] - before[0]
}

#[test]
fn page_on_a_dead_die_takes_one_sense_per_other_stripe_part() {
    let mut card = card();
    let (mut dead, mut alive) = (0, 0);
    // Units of different program units: a page sensed for one read serves the next.
    for unit in (0..3 * 4 * 400).step_by(3 * 4) {
        let (number, logical) = card.path.striping.route(unit);
        assert_eq!(number, 0);
        let backend = &mut card.path.backend;
        let controller = &backend.controllers[0];
        let physical = controller.ftl.lookup(logical).expect("it was written");
        let (program_unit, _) = backend.geometry.program_unit(physical);
        if controller.ftl.generation(backend.geometry.block(program_unit).0) > 0 {
            continue;
        }
        let die = u32::from(controller.place(&backend.geometry, program_unit).0.die);
        (0..backend.nand.dies().len() as u32).for_each(|die| Die::clear(backend.nand.die_mut(die)));
        let is_dead = backend.nand.die(die).dead;
        *(if is_dead { &mut dead } else { &mut alive }) += 1;
        assert_eq!(sensing(&mut card, unit), if is_dead { 16 * 50_000 } else { 50_000 }, "{unit}");
    }
    assert!(dead > 10 && alive > 10 * dead, "{dead} {alive}");
}

#[test]
fn new_stripes_use_each_live_channel_once() {
    let card = card();
    let geometry = &card.path.backend.geometry;
    let degraded = card.path.backend.controllers[0].degraded.as_ref().expect("it is");
    let (places, data) = &degraded.layouts()[1];
    assert_eq!((*data, places.len() * 16), (15, geometry.places.len() * 15));
    let dies = geometry.dies_per_channel;
    let mut parities = [0; 17];
    for stripe in places.chunks(15) {
        let channel = |die: u16| u32::from(die) / dies;
        let parity = channel(stripe[14].parity - 1);
        let mut used: Vec<u32> = stripe.iter().map(|place| channel(place.die)).chain([parity]).collect();
        used.sort_unstable();
        assert_eq!(used, (0..17).filter(|&channel| channel != 3).collect::<Vec<_>>());
        parities[parity as usize] += 1;
    }
    let (least, most) =
        parities.iter().filter(|&&count| count > 0).fold((u32::MAX, 0), |(l, m), &c| (l.min(c), m.max(c)));
    assert!(most - least <= 2 * dies, "parity rotates: {parities:?}");
}

/// Drive of which a part was written once.
fn partly_written(is_plain: bool) -> Flash {
    let used = tameshi_base::Share(900_000);
    let simulated = Simulated { scale: 1024, written: Written::Once, used, ..Simulated::default() };
    let mut drive = Flash::new(&profile(DRIVE, simulated)).expect("a drive");
    assert!(drive.path.is_plain);
    drive.path.is_plain = is_plain;
    drive
}

/// Completions of commands, each submitted after a pause; busy time of dies and channels; and
/// energy.
fn completions(mut drive: Flash, commands: &[(u64, Command)]) -> (Vec<DeviceCompletion>, [Nanos; 2], Option<u64>) {
    let (mut now, mut completions) = (0, Vec::new());
    for (pause, command) in commands {
        now += pause;
        drive.advance(now, &mut completions);
        drive.submit(now, command);
    }
    while let Some(wake) = drive.next_wake() {
        drive.advance(wake, &mut completions);
    }
    (completions, drive.path.backend.nand.busy_ns(), drive.energy_nj(1 << 40))
}

proptest! {
    // slow: two drives are made in each case
    #[test]
    fn fast_path_of_one_unit_reads_equals_the_general_path(
        asked in proptest::collection::vec((0u64..20_000, 0u64..6000, 0u64..3, any::<bool>()), 1..200),
    ) {
        let command = |(id, &(pause, place, more, reads)): (u64, &(u64, u64, u64, bool))| {
            let kind = if reads { CommandKind::Read } else { CommandKind::Write };
            let (offset_bytes, length_bytes) = (place * 2048, 4096 + more as u32 * 2048);
            (pause, Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 })
        };
        let commands: Vec<(u64, Command)> = (0..).zip(&asked).map(command).collect();
        prop_assert_eq!(completions(partly_written(true), &commands), completions(partly_written(false), &commands));
    }
}
