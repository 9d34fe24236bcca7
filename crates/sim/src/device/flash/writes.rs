//! Writes: what they find in the buffer, how they wait for room in it, and when they are acknowledged.

use super::die::{Kind, NONE, Pending};
use super::ftl::Frontier;
use super::state::{Controller, Slot};
use super::{Breakdown, Flash};
use crate::kernel::prefetch::prefetch_all;
use std::ops::Range;
use tameshi_base::{Command, Nanos};

impl Flash {
    #[inline]
    pub(super) fn write(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let (Range { start: next, end }, bytes) = (self.units(command), u64::from(command.length_bytes));
        let turn = self.turn(self.route(next).0, now, self.times.write_turn);
        let (over, link) = self.cross(1, bytes, now, (turn, 0));
        let slot = &mut self.slots[number as usize];
        (slot.ready, slot.next, slot.end, slot.programs) = (over + self.times.write_overhead, next, end, 0);
        slot.durable = command.fua && !self.times.protected;
        slot.edges = (end - next) * self.times.unit_bytes > bytes;
        slot.done.breakdown = Breakdown {
            queue: (turn - submitted) + (over - turn - link),
            link,
            controller: self.times.write_overhead,
            ..Breakdown::default()
        };
        if (self.buffer_free == 0 || !self.for_buffer.is_empty()) && self.needs_room(number, now) {
            self.for_buffer.push_back(number);
        } else {
            self.take_buffer(number, now);
        }
    }

    /// Whether some of a write that finds no room finds no place in the buffer either.
    #[inline]
    fn needs_room(&mut self, number: u32, now: Nanos) -> bool {
        let Slot { next, end, edges, .. } = self.slots[number as usize];
        next < end && !(edges && self.join_edges(number, now))
    }

    /// Mapping units that a write begins or ends within and that have no place in the buffer yet.
    fn edges(&self, Slot { done, next, end, .. }: &Slot) -> [Option<u64>; 2] {
        let (begin, left) = (done.command.offset_bytes, *next..*end);
        let within = |byte: u64| {
            let unit = self.times.unit_of(byte);
            (!byte.is_multiple_of(self.times.unit_bytes) && left.contains(&unit)).then_some(unit)
        };
        let (first, last) = (within(begin), within(begin + u64::from(done.command.length_bytes)));
        [first, last.filter(|_| last != first)]
    }

    /// Parts of mapping units take their places where the buffer holds these; whether that is all of the write.
    #[cold]
    fn join_edges(&mut self, number: u32, now: Nanos) -> bool {
        let slot = &self.slots[number as usize];
        // What waits for its own program has a place of its own.
        let edges = if slot.durable { [None; 2] } else { self.edges(slot) };
        let [first, last] = edges.map(|edge| u64::from(edge.is_some_and(|unit| self.is_held(unit, now))));
        let slot = &mut self.slots[number as usize];
        (slot.next, slot.end) = (slot.next + first, slot.end - last);
        slot.next == slot.end
    }

    /// Whether the buffer holds a mapping unit of the host's whose program has not begun before `now`.
    fn is_held(&self, unit: u64, now: Nanos) -> bool {
        let (number, logical) = self.route(unit);
        let Controller { ftl, filling, first_die, unprogrammed, .. } = &self.controllers[number];
        let Some(physical) = ftl.lookup(logical) else { return false };
        let held = self.layout.program_unit(physical).0;
        if unprogrammed[held as usize] == 0 {
            return false;
        }
        let die = &self.dies[(first_die + u32::from(self.place(number, held).0.die)) as usize];
        let is_its = |of: &Pending| of.kind == Kind::Host && of.unit == held;
        Frontier::OF_HOST.iter().any(|&of| filling[of as usize] == held)
            || die.queue.iter().chain(die.now.iter().filter(|_| now <= die.begin)).any(is_its)
    }

    /// Parts of mapping units that the buffer does not hold take places of their own: what is left of these is read (the buffer
    /// hides the time, the die is busy all the same).
    #[cold]
    fn read_edges(&mut self, number: u32, now: Nanos) {
        self.slots[number as usize].edges = false;
        if self.join_edges(number, now) {
            return;
        }
        let slot = &self.slots[number as usize];
        let (edges, ready) = (self.edges(slot), now.max(slot.ready));
        for unit in edges.into_iter().flatten() {
            self.fetch::<false, false>(self.route(unit), false, now, ready);
        }
    }

    /// A write takes what it can of the buffer; tells whether it has all it needs.
    #[inline]
    fn take_buffer(&mut self, number: u32, now: Nanos) -> bool {
        if self.slots[number as usize].edges {
            self.read_edges(number, now);
        }
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
    pub(super) fn host_programmed(&mut self, die: u32, done: &Pending, at: Nanos) {
        self.durable.leave(done.epoch, at);
        self.map_changes();
        self.buffer_free += u64::from(done.frees);
        if done.tag != NONE {
            let slot = &mut self.slots[done.tag as usize];
            slot.programs -= 1;
            if slot.programs == 0 && slot.next == slot.end {
                let (over, media) = (at.max(slot.ready), self.durables.on(die, (done.tag, slot.ready)));
                let media = media.min(over - slot.ready);
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
