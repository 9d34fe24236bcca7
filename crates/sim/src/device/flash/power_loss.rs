//! Power fails: what of the buffer reaches the flash, what is lost, and the drive as it comes back.
//!
//! What is acknowledged and not programmed lies in the buffer. Without protection all of it is lost. With it the capacitor
//! carries the drive for its hold-up time; writing the full buffer to the flash takes the flush time, and part of it the
//! same part of that time. What is not written when the capacitor is empty is lost. An address whose data are lost holds
//! what it held before.
//!
//! A write that is not complete is torn when some of its mapping units have reached what survives and others have not: the buffer
//! of a protected drive as they cross the link, the flash itself of an unprotected one. Up to its atomic size a drive
//! takes up a write when all of it is there.

use super::die::{Die, Kind, NONE};
use super::ftl::Frontier;
use super::state::{Relocations, Slot};
use super::{CalendarQueue, Flash};
use crate::faults::loss::Loss;
use std::collections::BTreeSet;
use tameshi_base::{Command, CommandKind, Nanos};

impl Flash {
    /// Power fails at `now`; everything under way is forgotten.
    pub(crate) fn lose_power(&mut self, now: Nanos) -> Loss {
        let acknowledged = self.acknowledged_in_buffer();
        let torn_writes = self.torn(now);
        let held = self.times.buffer_units.saturating_sub(self.buffer_free);
        let mut loss = Loss { torn_writes, ..Loss::default() };
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

    /// Writes that the drive holds and has not completed.
    fn writes_under_way(&self) -> impl Iterator<Item = &Slot> {
        let free: BTreeSet<u32> = self.free_slots.iter().copied().collect();
        let held = (0..).zip(&self.slots).filter(move |(number, _)| !free.contains(number));
        held.map(|(_, slot)| slot).filter(|slot| slot.done.command.kind == CommandKind::Write)
    }

    /// Writes beyond the atomic size that are partly stored at `now`; of what an array or a cache does by itself none: a rebuild
    /// begins anew, and what is written back is in the cache or lost with it.
    fn torn(&self, now: Nanos) -> u64 {
        let larger = |slot: &&Slot| {
            let Command { length_bytes, stream, .. } = slot.done.command;
            u64::from(length_bytes) > self.times.atomic_bytes && stream != Command::OF_STORAGE
        };
        let mut buffered: Option<BTreeSet<(usize, u32)>> = None;
        let is_torn = |slot: &Slot| {
            let first = slot.done.command.offset_bytes / self.times.unit_bytes;
            let stored = if self.times.protected {
                self.crossed_units(slot, now).min(slot.next - first)
            } else {
                let buffered = buffered.get_or_insert_with(|| self.in_buffer().collect());
                (first..slot.next).filter(|&unit| !buffered.contains(&self.route(unit))).count() as u64
            };
            0 < stored && stored < slot.end - first
        };
        self.writes_under_way().filter(larger).map(is_torn).filter(|&torn| torn).count() as u64
    }

    /// Whole mapping units of a write that have crossed the link at `now`.
    fn crossed_units(&self, slot: &Slot, now: Nanos) -> u64 {
        let bytes = u64::from(slot.done.command.length_bytes);
        let over = slot.ready.saturating_sub(self.times.write_overhead);
        let time = self.times.link[1].time(bytes);
        let spent = now.saturating_sub(over.saturating_sub(time)).min(time);
        let crossed = u128::from(bytes) * u128::from(spent) / u128::from(time.max(1));
        if now >= over { bytes.div_ceil(self.times.unit_bytes) } else { crossed as u64 / self.times.unit_bytes }
    }

    /// Mapping units in the buffer whose writes have completed.
    fn acknowledged_in_buffer(&self) -> u64 {
        let first = |slot: &Slot| slot.done.command.offset_bytes / self.times.unit_bytes;
        let taken = |slot: &Slot| (first(slot)..slot.next).map(|unit| self.route(unit)).collect::<Vec<_>>();
        let under_way: BTreeSet<(usize, u32)> = self.writes_under_way().flat_map(taken).collect();
        self.in_buffer().filter(|unit| !under_way.contains(unit)).count() as u64
    }

    /// Mapping units whose newest version is in the buffer alone: their controllers, and their numbers there.
    fn in_buffer(&self) -> impl Iterator<Item = (usize, u32)> {
        self.controllers.iter().enumerate().flat_map(move |(number, controller)| {
            let dies = controller.first_die as usize..(controller.first_die + self.layout.dies()) as usize;
            let on_dies = self.dies[dies].iter().flat_map(|die| die.now.iter().chain(&die.queue));
            let programs = on_dies.filter(|pending| pending.kind == Kind::Host && pending.frees > 0);
            let filling = Frontier::OF_HOST.map(|frontier| controller.filling[frontier as usize]);
            let units = programs.map(|pending| pending.unit).chain(filling);
            units.filter(|&unit| unit != NONE).flat_map(move |unit| {
                let first = unit * self.layout.program_units;
                let held = (first..first + self.layout.program_units).filter_map(|at| controller.ftl.holder(at));
                held.map(move |logical| (number, logical))
            })
        })
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
        self.dies.iter_mut().for_each(Die::rest);
        self.channels.fill(now);
        self.link = [now; 2];
        if let Some(supply) = &mut self.supply {
            supply.rest(now);
        }
        (self.held, self.buffer_free) = (0, self.times.buffer_units);
        self.for_buffer.clear();
        self.host.clear();
        self.note_whether_full(now);
        self.slots.clear();
        self.free_slots.clear();
        self.events = CalendarQueue::new();
        self.flushes_anew();
        self.relocations = Relocations::default();
        for number in 0..self.controllers.len() {
            self.close_open_units(number);
            let controller = &mut self.controllers[number];
            (controller.next_turn, controller.buffered, controller.moved) = (now, [0; Frontier::COUNT], 0);
            (controller.sensing, controller.relocation) = ([NONE; 2], [NONE; Frontier::COUNT]);
            controller.unprogrammed.fill(0);
            controller.programs = 0;
        }
        self.renew_after_power_loss(now);
        self.rests_anew(now);
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
