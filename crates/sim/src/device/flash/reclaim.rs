//! Program units on their way to the dies, and reclaiming in step with them.

use super::die::{Kind, NONE, Pending};
use super::ftl::{Frontier, Step};
use super::{Controller, Flash, Nanos};

/// Relocated program units that wait until what goes into them has been sensed.
#[derive(Debug, Default)]
pub(super) struct Relocations {
    list: Vec<Relocation>,
    unused: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Relocation {
    controller: u32,
    /// The program unit; [`NONE`] while it still fills up.
    unit: u32,
    /// Senses that are not over.
    senses: u32,
}

impl Relocations {
    fn open(&mut self, controller: u32) -> u32 {
        let new = Relocation { controller, unit: NONE, senses: 0 };
        match self.unused.pop() {
            Some(number) => {
                self.list[number as usize] = new;
                number
            }
            None => {
                self.list.push(new);
                (self.list.len() - 1) as u32
            }
        }
    }
}

impl Flash {
    /// Appends one unit of the host's data.
    #[inline]
    pub(super) fn append(&mut self, number: usize, logical: u32, at: Nanos, ready: Nanos, waiter: u32) {
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

    /// A unit of a frontier of the host's data was taken; a full program unit goes to its die.
    #[inline]
    fn filled(&mut self, number: usize, frontier: Frontier, to: u32, (at, ready): (Nanos, Nanos), waiter: u32) -> bool {
        let place = frontier as usize;
        let (unit, rest) = self.layout.program_unit(to);
        let controller = &mut self.controllers[number];
        if rest + 1 < self.layout.program_units {
            controller.filling[place] = unit;
            return false;
        }
        controller.filling[place] = NONE;
        let frees = std::mem::take(&mut controller.buffered[place]);
        let epoch = self.durable.enter();
        if waiter != NONE {
            self.slots[waiter as usize].programs += 1;
        }
        self.program(number, unit, Pending { kind: Kind::Host, page: 0, frees, unit, tag: waiter, epoch, ready }, at);
        true
    }

    /// Sends a program unit, and the parity of its stripe if it is the last, to their dies.
    fn program(&mut self, number: usize, unit: u32, pending: Pending, at: Nanos) {
        let (place, page) = self.layout.place(unit);
        let controller = &mut self.controllers[number];
        controller.unprogrammed[unit as usize] += 1;
        let first = controller.first_die;
        self.enqueue(first + u32::from(place.die), Pending { page, ..pending }, at);
        if place.parity > 0 {
            let kind = if pending.kind == Kind::Host { Kind::Parity } else { Kind::Relocated };
            let parity = Pending { kind, page, frees: 0, unit: NONE, tag: NONE, epoch: 0, ready: pending.ready };
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
    fn keep_step(&mut self, number: usize, at: Nanos) {
        let program_units = u64::from(self.layout.program_units);
        let controller = &mut self.controllers[number];
        if !controller.ftl.is_short() {
            controller.owed = 0;
            return;
        }
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

    fn reclaim_until_possible(&mut self, number: usize, at: Nanos) {
        while self.controllers[number].ftl.is_exhausted() {
            self.reclaim_step(number, at);
        }
    }

    /// Moves one unit or erases the victim; tells whether it erased.
    fn reclaim_step(&mut self, number: usize, at: Nanos) -> bool {
        match self.controllers[number].ftl.reclaim() {
            Step::Moved { from, to, frontier } => {
                self.move_unit(number, frontier, (from, to), at);
                false
            }
            Step::Erased { .. } => {
                self.erase(number, at);
                true
            }
        }
    }

    fn move_unit(&mut self, number: usize, frontier: Frontier, (from, to): (u32, u32), at: Nanos) {
        let (source, _) = self.layout.program_unit(from);
        let Controller { sensing, relocation, .. } = &self.controllers[number];
        let (sensing, mut relocation) = (*sensing, relocation[frontier as usize]);
        if self.separate && relocation == NONE {
            relocation = self.relocations.open(number as u32);
        }
        if sensing != source {
            if let Some(of) = self.relocations.list.get_mut(relocation as usize) {
                of.senses += 1;
            }
            let (place, page) = self.layout.place(source);
            let die = self.controllers[number].first_die + u32::from(place.die);
            // One sense brings every plane's page; about half of it is still valid and crosses the channel.
            let frees = self.layout.program_units.div_ceil(2) as u16;
            let tag = relocation;
            let sense = Pending { kind: Kind::Sense, page, frees, unit: source, tag, epoch: 0, ready: at };
            self.enqueue(die, sense, at);
        }
        if !self.separate {
            self.controllers[number].sensing = source;
            self.filled(number, Frontier::Host, to, (at, at), NONE);
            return;
        }
        let (target, rest) = self.layout.program_unit(to);
        let full = rest + 1 == self.layout.program_units;
        let controller = &mut self.controllers[number];
        controller.filling[frontier as usize] = if full { NONE } else { target };
        controller.sensing = source;
        controller.relocation[frontier as usize] = if full { NONE } else { relocation };
        if full {
            self.relocations.list[relocation as usize].unit = target;
            self.relocate_if_ready(relocation, at);
        }
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
        let Relocation { controller, unit, senses } = self.relocations.list[relocation as usize];
        if unit == NONE || senses > 0 {
            return;
        }
        self.relocations.unused.push(relocation);
        let pending = Pending { kind: Kind::Relocated, page: 0, frees: 0, unit, tag: NONE, epoch: 0, ready: at };
        self.program(controller as usize, unit, pending, at);
    }

    /// A block was reclaimed: its dies erase it, as many of them as the scale says.
    fn erase(&mut self, number: usize, at: Nanos) {
        let (pages, of) = self.layout.erase_share;
        let dies = self.layout.dies();
        self.controllers[number].erase_debt += pages * dies;
        while self.controllers[number].erase_debt >= of {
            let controller = &mut self.controllers[number];
            controller.erase_debt -= of;
            controller.erase_turn = (controller.erase_turn + 1) % dies;
            let die = controller.first_die + controller.erase_turn;
            let erase = Pending { kind: Kind::Erase, page: 0, frees: 0, unit: NONE, tag: NONE, epoch: 0, ready: at };
            self.enqueue(die, erase, at);
        }
    }
}
