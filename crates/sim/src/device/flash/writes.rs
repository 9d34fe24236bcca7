//! Writes: what they find in the buffer, how they wait for room in it, and when they are acknowledged.

use super::command::Slot;
use super::die::{NONE, Pending};
use super::ftl::Frontier;
use super::{Breakdown, Controller, Flash};
use crate::near::prefetch_all;
use std::ops::Range;
use tameshi_base::{Command, Nanos};

impl Flash {
    #[inline]
    pub(super) fn write(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let (Range { start: mut next, mut end }, bytes) = (self.units(command), u64::from(command.length_bytes));
        let turn = self.turn(self.route(next).0, now, self.times.write_turn);
        let (over, link) = self.cross(1, bytes, now, (turn, 0));
        if (end - next) * self.times.unit_bytes > bytes {
            Range { start: next, end } = self.meet_edges(command, next..end, (now, over));
        }
        let slot = &mut self.slots[number as usize];
        (slot.ready, slot.next, slot.end, slot.programs) = (over + self.times.write_overhead, next, end, 0);
        slot.durable = command.fua && !self.times.protected;
        slot.done.breakdown = Breakdown {
            queue: (turn - submitted) + (over - turn - link),
            link,
            controller: self.times.write_overhead,
            ..Breakdown::default()
        };
        if next < end && (self.buffer_free == 0 || !self.for_buffer.is_empty()) {
            self.for_buffer.push_back(number);
        } else {
            self.take_buffer(number, now);
        }
    }

    /// Mapping units of which the host writes a part: what is left of them is read first (the buffer hides the time, the die is busy all
    /// the same), unless the buffer holds them and their program has not begun: then the part takes its place there, but for what waits
    /// for its own program. Those that need a new place.
    #[cold]
    fn meet_edges(&mut self, command: &Command, mut units: Range<u64>, times: (Nanos, Nanos)) -> Range<u64> {
        let (begin, unit_bytes) = (command.offset_bytes, self.times.unit_bytes);
        let waits = command.fua && !self.times.protected;
        let end = begin + u64::from(command.length_bytes);
        if !begin.is_multiple_of(unit_bytes) {
            let met = self.meet(units.start, waits, times);
            units.start += u64::from(met);
            if self.times.unit_of(begin) == self.times.unit_of(end) {
                return units;
            }
        }
        if !end.is_multiple_of(unit_bytes) && !units.is_empty() {
            let met = self.meet(units.end - 1, waits, times);
            units.end -= u64::from(met);
        }
        units
    }

    /// Whether a part of a mapping unit takes its place in the buffer; else what is there is read.
    fn meet(&mut self, unit: u64, waits: bool, (now, ready): (Nanos, Nanos)) -> bool {
        let place = self.route(unit);
        let Controller { ftl, filling, .. } = &self.controllers[place.0];
        let held = ftl.lookup(place.1).map(|physical| self.layout.program_unit(physical).0);
        let met = !waits && held.is_some_and(|held| Frontier::OF_HOST.iter().any(|&of| filling[of as usize] == held));
        if !met {
            self.fetch(place, false, now, ready);
        }
        met
    }

    /// A write takes what it can of the buffer; tells whether it has all it needs.
    #[inline]
    fn take_buffer(&mut self, number: u32, now: Nanos) -> bool {
        let Slot { next, end, ready, durable, .. } = self.slots[number as usize];
        let waiter = if durable { number } else { NONE };
        let fits = self.buffer_free.min(end - next);
        self.buffer_free -= fits;
        let mut left = next..next + fits;
        while !left.is_empty() {
            let (controller, units) = self.take_stretch(&mut left);
            self.append(controller, units, (now, ready), waiter);
        }
        self.slots[number as usize].next += fits;
        if next + fits < end {
            self.for_buffer.push_front(number);
            return false;
        }
        self.written_bytes += u64::from(self.slots[number as usize].done.command.length_bytes);
        if durable {
            self.pad_all(now, waiter);
        }
        if self.slots[number as usize].programs == 0 {
            self.acknowledge(number, ready.max(now), 0);
        }
        true
    }

    /// A write completes at `at`; what it waited beyond its own way was for the buffer, or for `media`.
    pub(super) fn acknowledge(&mut self, number: u32, at: Nanos, media: Nanos) {
        let slot = &mut self.slots[number as usize];
        let waited = at - slot.ready;
        if waited > 0 {
            let [reclaiming, renewing, all] = self.reclaiming;
            let media = media.min(waited);
            let share = |of: u64| match (waited - media).checked_mul(of) {
                Some(product) => product / all,
                None => (u128::from(waited - media) * u128::from(of) / u128::from(all)) as Nanos,
            };
            let (reclaimed, renewed) = (share(reclaiming), if renewing == 0 { 0 } else { share(renewing) });
            let spent = &mut slot.done.breakdown;
            spent.media += media;
            spent.garbage_collection += reclaimed;
            spent.rebuild += renewed;
            spent.queue += waited - media - reclaimed - renewed;
        }
        self.schedule(at, number);
    }

    /// A program of the host's data is over: its place in the buffer is free.
    pub(super) fn host_programmed(&mut self, done: &Pending, at: Nanos) {
        self.durable.leave(done.epoch, at);
        self.map_changes();
        self.buffer_free += u64::from(done.frees);
        if done.tag != NONE {
            let slot = &mut self.slots[done.tag as usize];
            slot.programs -= 1;
            if slot.programs == 0 && slot.next == slot.end {
                let (over, media) = (at.max(slot.ready), self.times.program[usize::from(done.page)]);
                if self.map_writing.is_some() {
                    self.waits_for_map(done.tag, (over - media, over));
                } else {
                    self.acknowledge(done.tag, over, media);
                }
            }
        }
        while self.buffer_free > 0 {
            let Some(number) = self.for_buffer.pop_front() else { return };
            self.prefetch_waiting();
            if !self.take_buffer(number, at) {
                return;
            }
        }
    }

    /// Brings near what writes that wait for the buffer will need: since they came it has left the processor's cache. Each step takes
    /// up where the one before it, of a write that came earlier, has brought something.
    #[inline]
    fn prefetch_waiting(&self) {
        let waits = |place: usize| self.for_buffer.get(place).map(|&number| number as usize);
        if let Some(number) = waits(6) {
            prefetch_all(&self.slots, number);
        }
        if let Some(number) = waits(4) {
            let (controller, logical) = self.route(self.slots[number].next);
            self.controllers[controller].ftl.prefetch(logical);
        }
        if let Some(number) = waits(2) {
            let (controller, logical) = self.route(self.slots[number].next);
            let ftl = &self.controllers[controller].ftl;
            ftl.lookup(logical).into_iter().for_each(|physical| ftl.prefetch_inverse(physical));
        }
    }
}
