//! Power fails: what of the buffer reaches the flash, what is lost, and the drive as it comes back.
//!
//! What is acknowledged and not programmed lies in the buffer. Without protection all of it is lost. With it the capacitor
//! carries the drive for its hold-up time; writing the full buffer to the flash takes the flush time, and part of it the
//! same part of that time. What is not written when the capacitor is empty is lost. An address whose data are lost holds
//! what it held before.

use super::die::{Kind, NONE};
use super::ftl::Frontier;
use super::{Agenda, Barrier, Die, Flash, reclaim};
use crate::fault::Loss;
use std::collections::BTreeSet;
use tameshi_base::{CommandKind, Nanos};

impl Flash {
    /// Power fails at `now`; everything under way is forgotten.
    pub(crate) fn lose_power(&mut self, now: Nanos) -> Loss {
        let acknowledged = self.acknowledged_in_buffer();
        let held = self.times.buffer_units.saturating_sub(self.buffer_free);
        let mut loss = Loss::default();
        let lost = match self.times.protection {
            None => acknowledged,
            Some((flush, hold_up)) => {
                let part =
                    |of: u64, by: u64, whole: u64| (u128::from(of) * u128::from(by) / u128::from(whole.max(1))) as u64;
                (loss.flush_ns, loss.hold_up_ns) = (part(flush, held, self.times.buffer_units), hold_up);
                let unwritten =
                    if loss.flush_ns <= hold_up { 0 } else { held - part(held, hold_up, loss.flush_ns).min(held) };
                acknowledged.min(unwritten)
            }
        };
        (loss.lost_writes, loss.lost_bytes) = (lost, lost * self.times.unit_bytes);
        self.come_back(now);
        loss
    }

    /// Checks the maps of every controller, for tests.
    ///
    /// # Panics
    /// At the first thing that is wrong.
    pub fn check(&self) {
        self.controllers.iter().for_each(|controller| controller.ftl.check());
    }

    /// Mapping units in the buffer whose writes have completed.
    fn acknowledged_in_buffer(&self) -> u64 {
        let mut under_way = BTreeSet::new();
        let free: BTreeSet<u32> = self.free_slots.iter().copied().collect();
        for (number, slot) in self.slots.iter().enumerate() {
            if !free.contains(&(number as u32)) && slot.command.kind == CommandKind::Write {
                under_way.extend((slot.command.offset_bytes / self.times.unit_bytes..slot.next).map(|u| self.route(u)));
            }
        }
        let mut count = 0;
        for (number, controller) in self.controllers.iter().enumerate() {
            let dies = controller.first_die as usize..(controller.first_die + self.layout.dies()) as usize;
            let on_dies = self.dies[dies].iter().flat_map(|die| die.now.iter().chain(&die.queue));
            let programs = on_dies.filter(|pending| pending.kind == Kind::Host && pending.frees > 0);
            let filling = Frontier::OF_HOST.map(|frontier| controller.filling[frontier as usize]);
            let units = programs.map(|pending| pending.unit).chain(filling);
            for unit in units.filter(|&unit| unit != NONE) {
                let first = unit * self.layout.program_units;
                let held = (first..first + self.layout.program_units).filter_map(|at| controller.ftl.holder(at));
                count += held.filter(|&logical| !under_way.contains(&(number, logical))).count() as u64;
            }
        }
        count
    }

    /// The drive at rest with an empty buffer, its maps as they were.
    fn come_back(&mut self, now: Nanos) {
        let ahead = |until: Nanos| until.saturating_sub(now);
        let media: Nanos = self
            .dies
            .iter()
            .map(|die| ahead(die.read_until) + die.now.map_or(0, |_| ahead(die.end.max(die.begin))))
            .sum();
        let ahead = [
            media,
            self.link.iter().map(|&until| ahead(until)).sum(),
            self.controllers.iter().map(|controller| ahead(controller.next_turn)).sum(),
            self.channels.iter().map(|&until| ahead(until)).sum(),
        ];
        self.busy.iter_mut().zip(ahead).for_each(|(busy, ahead)| *busy = busy.saturating_sub(ahead));
        self.dies.iter_mut().for_each(|die| *die = Die::new());
        self.channels.fill(now);
        self.link = [now; 2];
        (self.held, self.energy, self.buffer_free) = (0, now, self.times.buffer_units);
        self.for_buffer.clear();
        self.host.clear();
        self.slots.clear();
        self.free_slots.clear();
        self.events = Agenda::new();
        (self.barrier, self.durable) = (Barrier::default(), Barrier::default());
        self.relocations = reclaim::Relocations::default();
        for number in 0..self.controllers.len() {
            self.close_open_units(number);
            let controller = &mut self.controllers[number];
            (controller.next_turn, controller.buffered) = (now, [0; Frontier::COUNT]);
            (controller.sensing, controller.relocation) = (NONE, [NONE; Frontier::COUNT]);
            controller.unprogrammed.fill(0);
        }
    }

    /// Program units that were filling up stay partly empty.
    fn close_open_units(&mut self, number: usize) {
        for frontier in Frontier::OF_HOST.into_iter().chain(Frontier::OF_RELOCATED) {
            let place = frontier as usize;
            while self.controllers[number].filling[place] != NONE {
                let to = self.controllers[number].ftl.pad(frontier);
                let (_, rest) = self.layout.program_unit(to);
                if rest + 1 == self.layout.program_units {
                    self.controllers[number].filling[place] = NONE;
                }
            }
        }
    }
}
