//! Program units on their way to the dies, and reclaiming in step with them.

use super::die::{ALL_MOVED, Kind, NONE, Pending};
use super::ftl::{Frontier, Step};
use super::state::Relocation;
use super::{Flash, Nanos};
use std::ops::Range;
use tameshi_base::CommandKind;

impl Flash {
    /// Appends units of the host's data.
    #[inline]
    pub(super) fn append(&mut self, number: usize, units: Range<u32>, (at, ready): (Nanos, Nanos), waiter: u32) {
        for logical in units {
            if self.controllers[number].ftl.is_exhausted() {
                self.reclaim_until_possible(number, at);
            }
            let controller = &mut self.controllers[number];
            let (to, frontier) = controller.ftl.write(logical);
            controller.buffered[frontier as usize] += 1;
            if self.filled(number, frontier, to, (at, ready), waiter) {
                self.keep_step(number, at);
            }
        }
    }

    /// A unit of a frontier of the host's data was taken; a full program unit goes to its die.
    #[inline(always)]
    fn filled(&mut self, number: usize, frontier: Frontier, to: u32, (at, ready): (Nanos, Nanos), waiter: u32) -> bool {
        let place = frontier as usize;
        let (unit, rest) = self.layout.program_unit(to);
        let controller = &mut self.controllers[number];
        if rest + 1 < self.layout.program_units {
            controller.fills(place, unit);
            return false;
        }
        self.send(number, place, unit, (at, ready), waiter);
        true
    }

    /// A full program unit of the host's data goes to its die.
    #[inline(never)]
    fn send(&mut self, number: usize, place: usize, unit: u32, (at, ready): (Nanos, Nanos), waiter: u32) {
        let controller = &mut self.controllers[number];
        controller.is_filled(place, unit);
        let frees = std::mem::take(&mut controller.buffered[place]);
        let moved = if place == Frontier::Host as usize { std::mem::take(&mut controller.moved) } else { 0 };
        let moved = (u32::from(moved) * u32::from(ALL_MOVED) / self.layout.program_units) as u16;
        let epoch = self.durable.enter(CommandKind::Write);
        if waiter != NONE {
            self.slots[waiter as usize].programs += 1;
        }
        // Where relocated data have no blocks of their own, a rebuild's are among the host's.
        let renews = controller.degraded.as_mut().is_some_and(|degraded| std::mem::take(&mut degraded.filling));
        if renews {
            self.renewal_begins(number);
        }
        let host = Pending { kind: Kind::Host, page: 0, frees, moved, unit, tag: waiter, renews, epoch, ready };
        self.program(number, unit, host, at);
    }

    /// Sends a program unit, and the parity of its stripe if it is the last, to their dies.
    #[inline(always)]
    fn program(&mut self, number: usize, unit: u32, pending: Pending, at: Nanos) {
        let (place, page) = self.place(number, unit);
        let first = self.controllers[number].first_die;
        self.enqueue(first + u32::from(place.die), Pending { page, ..pending }, at);
        if place.parity > 0 {
            let kind = if pending.kind == Kind::Host { Kind::Parity } else { Kind::Relocated };
            let parity = Pending { kind, page, frees: 0, unit: NONE, epoch: 0, ..pending };
            self.enqueue(first + u32::from(place.parity) - 1, parity, at);
        }
    }

    /// Fills up every program unit that the host's data have begun.
    pub(super) fn pad_all(&mut self, at: Nanos, waiter: u32) {
        for number in 0..self.controllers.len() {
            for frontier in Frontier::OF_HOST {
                while self.controllers[number].filling[frontier as usize] != NONE {
                    let to = self.controllers[number].ftl.pad(frontier);
                    if self.filled(number, frontier, to, (at, at), waiter) {
                        self.keep_step(number, at);
                    }
                }
            }
        }
    }

    /// Reclaims as much as keeps the reserve as it is, for one program unit of the host.
    #[inline]
    fn keep_step(&mut self, number: usize, at: Nanos) {
        let controller = &mut self.controllers[number];
        if !controller.is_uniform && controller.ftl.reuse_cache().is_some() {
            self.erase(number, false, at);
        }
        let controller = &mut self.controllers[number];
        if controller.ftl.is_short() {
            self.reclaim_in_step(number, at);
        } else {
            controller.owed = 0;
        }
    }

    fn reclaim_in_step(&mut self, number: usize, at: Nanos) {
        let program_units = u64::from(self.layout.program_units);
        let controller = &mut self.controllers[number];
        let (moves, gain) = controller.ftl.pace();
        controller.owed += program_units * moves.max(1);
        let gain = gain.max(1);
        while self.controllers[number].owed >= gain {
            self.controllers[number].owed -= gain;
            if self.reclaim_step(number, at) {
                // The next victim has a pace of its own.
                self.controllers[number].owed = 0;
                return;
            }
        }
    }

    pub(super) fn reclaim_until_possible(&mut self, number: usize, at: Nanos) {
        while self.controllers[number].ftl.is_exhausted() {
            self.reclaim_step(number, at);
        }
    }

    /// Moves one unit or erases the victim; tells whether it erased.
    pub(super) fn reclaim_step(&mut self, number: usize, at: Nanos) -> bool {
        match self.controllers[number].ftl.reclaim() {
            Step::Moved { from, to, frontier } => {
                self.move_unit(number, frontier, (from, to), false, at);
                false
            }
            Step::Erased { .. } => {
                self.erase(number, false, at);
                true
            }
        }
    }

    /// A unit was moved, by reclaiming or by a rebuild.
    pub(super) fn move_unit(
        &mut self,
        number: usize,
        frontier: Frontier,
        (from, to): (u32, u32),
        renews: bool,
        at: Nanos,
    ) {
        let (source, _) = self.layout.program_unit(from);
        let controller = &mut self.controllers[number];
        let mut relocation = controller.relocation[frontier as usize];
        if self.separate && relocation == NONE {
            relocation = self.relocations.open(number as u32);
            controller.relocation[frontier as usize] = relocation;
        }
        if std::mem::replace(&mut controller.sensing[usize::from(renews)], source) != source {
            let (place, page) = self.place(number, source);
            let die = self.controllers[number].first_die + u32::from(place.die);
            let (kind, tag) = (Kind::Sense, relocation);
            let sense =
                || Pending { kind, page, frees: 0, moved: ALL_MOVED, unit: source, tag, renews, epoch: 0, ready: at };
            if self.dies[die as usize].dead {
                self.sense_others(number, sense(), at);
            } else {
                self.relocations.expect(relocation);
                self.enqueue(die, sense(), at);
            }
        }
        if !self.separate {
            if let Some(degraded) = &mut self.controllers[number].degraded {
                degraded.filling |= renews;
            }
            self.controllers[number].moved += 1;
            self.filled(number, Frontier::Host, to, (at, at), NONE);
            return;
        }
        self.relocations.list[relocation as usize].renews |= renews;
        self.relocated(number, frontier, to, at);
    }

    /// A unit of a frontier of relocated data was taken; a full program unit goes to its die once what it holds is sensed.
    pub(super) fn relocated(&mut self, number: usize, frontier: Frontier, to: u32, at: Nanos) {
        let (target, rest) = self.layout.program_unit(to);
        let controller = &mut self.controllers[number];
        if rest + 1 < self.layout.program_units {
            controller.fills(frontier as usize, target);
            return;
        }
        controller.is_filled(frontier as usize, target);
        let relocation = std::mem::replace(&mut controller.relocation[frontier as usize], NONE);
        let of = &mut self.relocations.list[relocation as usize];
        of.unit = target;
        if of.renews {
            self.renewal_begins(number);
        }
        self.relocate_if_ready(relocation, at);
    }

    /// A sense of a relocation is over.
    pub(super) fn sensed(&mut self, relocation: u32, at: Nanos) {
        if relocation == NONE {
            return;
        }
        self.relocations.list[relocation as usize].senses -= 1;
        self.relocate_if_ready(relocation, at);
    }

    fn relocate_if_ready(&mut self, relocation: u32, at: Nanos) {
        let Relocation { controller, unit, senses, renews } = self.relocations.list[relocation as usize];
        if unit == NONE || senses > 0 {
            return;
        }
        self.relocations.unused.push(relocation);
        let pending = Pending {
            kind: Kind::Relocated,
            page: 0,
            frees: 0,
            moved: ALL_MOVED,
            unit,
            tag: NONE,
            renews,
            epoch: 0,
            ready: at,
        };
        self.program(controller as usize, unit, pending, at);
    }

    /// A block was reclaimed: its dies erase it, as many of them as the scale says.
    pub(super) fn erase(&mut self, number: usize, renews: bool, at: Nanos) {
        let (pages, of) = self.layout.erase_share;
        let dies = self.layout.dies();
        self.controllers[number].erase_debt += pages * dies;
        while self.controllers[number].erase_debt >= of {
            let controller = &mut self.controllers[number];
            controller.erase_debt -= of;
            controller.erase_turn = (controller.erase_turn + 1) % dies;
            let die = controller.first_die + controller.erase_turn;
            let (kind, unit, tag) = (Kind::Erase, NONE, NONE);
            self.enqueue(
                die,
                Pending { kind, page: 0, frees: 0, moved: ALL_MOVED, unit, tag, renews, epoch: 0, ready: at },
                at,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceCompletion;
    use tameshi_base::{Command, Random};
    use tameshi_spec::profile::{self, DeviceProfile, Simulated, Written};

    const DRIVE: &str = include_str!("../../../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");

    /// A drive in its steady state that moves much.
    fn drive() -> Flash {
        let profile: DeviceProfile = toml::from_str(DRIVE).expect("a profile");
        let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
        flash.simulated = Simulated { scale: 1024, written: Written::Steady, ..Simulated::default() };
        Flash::new(&flash).expect("a drive")
    }

    fn command(kind: CommandKind, unit: u64) -> Command {
        Command { id: 0, kind, offset_bytes: unit * 4096, length_bytes: 4096, fua: false, stream: 0 }
    }

    /// A mapping unit of each full relocated program unit of which something is still to be sensed.
    fn waiting(drive: &Flash) -> Vec<u32> {
        let waits = |of: &&Relocation| of.unit != NONE && of.senses > 0;
        let first = |of: &Relocation| of.unit * drive.layout.program_units;
        let holder = |unit: u32| drive.controllers[0].ftl.holder(unit);
        drive.relocations.list.iter().filter(waits).filter_map(|of| holder(first(of))).collect()
    }

    #[test]
    fn what_is_moved_is_not_sensed_at_its_new_place_before_it_is_there() {
        let mut drive = drive();
        assert_eq!(drive.controllers.len(), 1, "units of the drive are those of its controller");
        let (mut done, mut read, units) = (Vec::<DeviceCompletion>::new(), 0, u64::from(drive.layout.logical));
        let mut random = Random::named(0, "test");
        drive.submit(0, &command(CommandKind::Read, 0));
        let mut now = 0;
        for _ in 0..50_000 {
            now += 2_000;
            drive.advance(now, &mut done);
            drive.submit(now, &command(CommandKind::Write, random.below(units)));
            for unit in waiting(&drive) {
                let before = drive.busy[0];
                drive.submit(now, &command(CommandKind::Read, u64::from(unit)));
                assert_eq!(drive.busy[0], before, "{unit} at {now}");
                read += 1;
            }
        }
        assert!(read > 1000, "{read}");
    }
}
