//! Data path of a drive: processors, link, write buffer and backend.
//!
//! It executes commands in slots, and schedules their completions. It never waits for admission.

use super::admission::Admission;
use super::backend::Backend;
use super::buffer::WriteBuffer;
use super::dies::{NONE, PageRead, Task, TaskKind};
use super::jitter::Jitter;
use super::link::{HostLink, READ, WRITE};
use super::map_writing::MapWriting;
use super::power_loss::{Unit, acknowledged_units, first_unit, torn_writes};
use super::processors::Processors;
use super::read_parts::Fetched;
use super::slots::{Slot, Slots};
use super::striping::Striping;
use crate::basics::seed_path::SeedPath;
use crate::device::Breakdown;
use crate::device::loss::Loss;
use std::collections::BTreeSet;
use std::ops::Range;
use tameshi_base::{Command, CommandKind, Nanos, Reason};
use tameshi_record::Usage;
use tameshi_spec::profile::FlashProfile;

/// Data path of a drive.
#[derive(Debug)]
pub(super) struct DataPath {
    pub(super) striping: Striping,
    pub(super) slots: Slots,
    processors: Processors,
    /// Jitter of reads and of writes.
    jitter: [Option<Box<Jitter>>; 2],
    link: HostLink,
    buffer: WriteBuffer,
    pub(super) backend: Backend,
    /// Map writes before flushes, if the profile states their time.
    map: Option<MapWriting>,
    /// Units that cleaning had moved when their way through the electronics was last charged.
    moved_units: u64,
    /// True if reads of one mapping unit take the fast path: one controller, mapping units of a
    /// power of two, uniform blocks, no repeated senses, no thermal throttling, electronics as fast
    /// as the link.
    pub(super) is_plain: bool,
}

impl DataPath {
    /// Build the data path of an erased drive.
    ///
    /// # Errors
    /// A sentence that names what can't be simulated.
    pub(super) fn new(profile: &FlashProfile, seeds: &SeedPath) -> Result<Self, String> {
        let (striping, link, backend) = (Striping::new(profile), HostLink::new(profile), Backend::new(profile)?);
        let is_cool = profile.power.as_ref().is_none_or(|power| power.thermal.is_none());
        let is_uniform = profile.slc_cache.is_none() && is_cool;
        Ok(Self {
            is_plain: striping.is_simple() && link.is_plain() && backend.is_plain() && is_uniform,
            striping,
            slots: Slots::default(),
            processors: Processors::new(profile),
            jitter: Jitter::of(profile, seeds),
            link,
            buffer: WriteBuffer::new(profile),
            backend,
            map: profile.buffer.map_write_time.as_ref().map(|_| MapWriting::default()),
            moved_units: 0,
        })
    }

    /// Execute a slot's command.
    #[inline(always)]
    pub(super) fn execute(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        match command.kind {
            CommandKind::Read => self.read(number, command, submitted, now),
            CommandKind::Write => self.write(number, command, submitted, now),
            CommandKind::Trim | CommandKind::Flush => self.trim(number, command, submitted, now),
        }
    }

    /// Complete a command at `at`.
    #[inline]
    fn schedule(&mut self, at: Nanos, slot: u32) {
        self.backend.events.add_slot(at, slot);
    }

    /// Continue commands after a die's task.
    #[inline]
    pub(super) fn wake_die(&mut self, die: u32, at: Nanos, admission: &Admission) {
        let Some(done) = self.backend.finish(die, at) else { return };
        match done.kind {
            TaskKind::Host => self.finish_host_program(die, &done, at, admission),
            TaskKind::Map => self.finish_map_write(at, admission),
            _ => {}
        }
        self.backend.resume(die, &done, at);
    }

    fn trim(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let first = self.striping.units(command).start;
        for unit in self.striping.whole_units(command) {
            let (controller, logical) = self.striping.route(unit);
            self.backend.controllers[controller].ftl.trim(logical);
        }
        self.note_map_change();
        let turn = self.processors.take_turn(self.striping.route(first).0, WRITE, now);
        let controller = self.processors.write_overhead();
        self.slots[number].done.breakdown = Breakdown { queue: turn - submitted, controller, ..Breakdown::default() };
        self.schedule(turn + controller, number);
    }

    /// Return the bytes of all writes taken by the buffer.
    pub(super) fn written_bytes(&self) -> u64 {
        self.buffer.written_bytes()
    }

    /// Add the busy time of all parts.
    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        self.backend.nand.usage(now, usage);
        self.link.usage(now, usage);
        if let Some(supply) = self.backend.nand.supply() {
            supply.usage(now, usage);
        }
        self.processors.usage(now, usage);
    }

    /// Fail a channel, counted over all controllers; return whether the drive survives.
    ///
    /// # Errors
    /// The channel does not exist, or is dead already.
    pub(super) fn fail_channel(&mut self, channel: u32, now: Nanos) -> Result<bool, Reason> {
        let lives = self.backend.fail_channel(channel, now)?;
        self.is_plain &= !lives;
        Ok(lives)
    }
}

/// Reads.
impl DataPath {
    #[inline(always)]
    fn read(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let unit_bytes = self.striping.unit_bytes();
        let is_one = u64::from(command.length_bytes) == unit_bytes && command.offset_bytes & (unit_bytes - 1) == 0;
        if self.is_plain && is_one {
            self.read_of::<true>(number, command, submitted, now);
        } else {
            self.read_of_any(number, command, submitted, now);
        }
    }

    #[inline(never)]
    fn read_of_any(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        self.read_of::<false>(number, command, submitted, now);
    }

    /// Read; with `PLAIN`, one whole mapping unit of a plain drive.
    #[inline(always)]
    fn read_of<const PLAIN: bool>(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let bytes = u64::from(command.length_bytes);
        let first = self.striping.unit_of(command.offset_bytes);
        let units = if PLAIN { first..first + 1 } else { self.striping.units(command) };
        let place = if PLAIN { (0, first as u32) } else { self.striping.route(first) };
        let turn = self.processors.take_turn(place.0, READ, now);
        let overhead = self.processors.read_overhead();
        let ready = turn + overhead;
        let inside = !PLAIN && first * self.striping.unit_bytes() != command.offset_bytes;
        // Drawn for the whole command, and added behind the flash: it keeps no die and no bus.
        let jitter = Jitter::draw(&mut self.jitter[READ]);
        let (mut last, from, own);
        if !PLAIN && units.start + 1 < units.end {
            last = self.fetch_several(units, inside, now, ready);
            last.at += jitter;
            // Data cross the link as they arrive: after the last arrival one mapping unit is left
            // to cross.
            let crossed = self.link.time(READ, bytes.saturating_sub(self.striping.unit_bytes()));
            from = last.at.saturating_sub(crossed).max(ready);
            own = (overhead + last.media + jitter - last.own_wait).min(from - now);
        } else {
            let nothing = Fetched::at(ready);
            last = if units.is_empty() { nothing } else { self.fetch::<false, PLAIN>(place, inside, now, ready) };
            last.at += jitter;
            from = last.at;
            own = (overhead + last.media + jitter).min(from - now);
        }
        let arrival = (from, own);
        let crossed =
            if PLAIN { self.link.cross_unit(now, arrival) } else { self.link.cross(READ, bytes, now, arrival) };
        self.slots[number].done.breakdown = last.breakdown(turn - submitted, overhead + jitter, crossed);
        self.schedule(crossed.0, number);
    }

    /// Fetch several mapping units; return the one that arrives last.
    #[inline(never)]
    fn fetch_several(&mut self, units: Range<u64>, inside: bool, now: Nanos, ready: Nanos) -> Fetched {
        self.backend.nand.begin_read();
        let mut last = Fetched::default();
        for unit in units.clone() {
            let (place, inside) = (self.striping.route(unit), inside && unit == units.start);
            let fetched = self.fetch::<true, false>(place, inside, now, ready);
            if fetched.at > last.at {
                last = fetched;
            }
        }
        last
    }

    /// Fetch one mapping unit, from `inside` of it if the read begins there: as one of `SEVERAL`
    /// parts, on a `PLAIN` drive.
    #[inline(always)]
    fn fetch<const SEVERAL: bool, const PLAIN: bool>(
        &mut self,
        (number, logical): Unit,
        inside: bool,
        now: Nanos,
        ready: Nanos,
    ) -> Fetched {
        let controller = &self.backend.controllers[number];
        let nothing = Fetched::at(ready);
        let Some(physical) = controller.ftl.lookup(logical) else { return nothing };
        let (unit, _) = self.backend.geometry.program_unit(physical);
        let (place, page) = if PLAIN { self.backend.geometry.place(unit) } else { self.backend.place(number, unit) };
        let die = controller.first_die + u32::from(place.die);
        if controller.buffered.holds(unit) {
            return nothing;
        }
        if !PLAIN && self.backend.nand.die(die).dead {
            return self.reconstruct::<SEVERAL>(number, physical, now, ready);
        }
        let repeats = if PLAIN { 0 } else { self.backend.repeats(number, physical) };
        self.backend.nand.read::<SEVERAL, PLAIN>(
            die,
            PageRead { unit, part: physical, inside, page, repeats },
            now,
            ready,
        )
    }

    /// Reconstruct a mapping unit of a dead die from the other parts of its stripe.
    #[cold]
    fn reconstruct<const SEVERAL: bool>(&mut self, number: usize, physical: u32, now: Nanos, ready: Nanos) -> Fetched {
        let (unit, _) = self.backend.geometry.program_unit(physical);
        let mut last = Fetched::at(ready);
        for position in 0..self.backend.controllers[number].stripe_parts(&self.backend.geometry, unit) {
            let part = self.backend.controllers[number].stripe_part(&self.backend.geometry, unit, position);
            let Some((die, sensed, page)) = part else { continue };
            let repeats = self.backend.repeats(number, physical);
            let read = PageRead { unit: sensed, part: physical, inside: false, page, repeats };
            let fetched = self.backend.nand.read::<SEVERAL, false>(die, read, now, ready);
            if fetched.at > last.at {
                last = fetched;
            }
        }
        last
    }
}

/// Writes.
impl DataPath {
    #[inline]
    fn write(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let (Range { start: next, end }, bytes) = (self.striping.units(command), u64::from(command.length_bytes));
        let turn = self.processors.take_turn(self.striping.route(next).0, WRITE, now);
        if self.link.moves_pass() {
            self.pass_moved(now);
        }
        let (over, link) = self.link.cross(WRITE, bytes, now, (turn, 0));
        let controller = self.processors.write_overhead();
        let slot = &mut self.slots[number];
        (slot.ready, slot.next, slot.end, slot.programs) = (over + controller, next, end, 0);
        slot.durable = command.fua && !self.buffer.is_protected();
        slot.edges = (end - next) * self.striping.unit_bytes() > bytes;
        slot.done.breakdown =
            Breakdown { queue: (turn - submitted) + (over - turn - link), link, controller, ..Breakdown::default() };
        if self.buffer.is_contended() && self.needs_room(number, now) {
            self.buffer.wait(number);
        } else {
            self.take_buffer(number, now);
        }
    }

    /// Pass what cleaning has moved since the last write through the electronics.
    #[inline(never)]
    fn pass_moved(&mut self, now: Nanos) {
        let moved = self.backend.work().moved_units;
        let units = moved - std::mem::replace(&mut self.moved_units, moved);
        self.link.pass_moved(units * self.striping.unit_bytes(), now);
    }

    /// Write `bytes` in order, then as much at random `random_passes` times, in no virtual time.
    pub(super) fn precondition(&mut self, bytes: u64, random_passes: u32) {
        self.backend.precondition(bytes, random_passes);
        self.moved_units = self.backend.work().moved_units;
    }

    /// Return whether part of a write finds no place in the full buffer.
    #[inline]
    fn needs_room(&mut self, number: u32, now: Nanos) -> bool {
        let Slot { next, end, edges, .. } = self.slots[number];
        next < end && !(edges && self.join_edges(number, now))
    }

    /// Return the mapping units without a place in the buffer that a write begins or ends within.
    fn edges(&self, Slot { done, next, end, .. }: &Slot) -> [Option<u64>; 2] {
        let (begin, left) = (done.command.offset_bytes, *next..*end);
        let within = |byte: u64| {
            let unit = self.striping.unit_of(byte);
            (!byte.is_multiple_of(self.striping.unit_bytes()) && left.contains(&unit)).then_some(unit)
        };
        let (first, last) = (within(begin), within(begin + u64::from(done.command.length_bytes)));
        [first, last.filter(|_| last != first)]
    }

    /// Merge partial mapping units into the buffer's copies; return whether that is all of the
    /// write.
    #[cold]
    fn join_edges(&mut self, number: u32, now: Nanos) -> bool {
        let slot = &self.slots[number];
        // A write that waits for its own program has a place of its own.
        let edges = if slot.durable { [None; 2] } else { self.edges(slot) };
        let holds = |unit: u64| self.backend.holds_unprogrammed(self.striping.route(unit), now);
        let [first, last] = edges.map(|edge| u64::from(edge.is_some_and(holds)));
        let slot = &mut self.slots[number];
        (slot.next, slot.end) = (slot.next + first, slot.end - last);
        slot.next == slot.end
    }

    /// Read the rest of partial mapping units that the buffer does not hold. The buffer hides the
    /// time; the die is busy.
    #[cold]
    fn read_edges(&mut self, number: u32, now: Nanos) {
        self.slots[number].edges = false;
        if self.join_edges(number, now) {
            return;
        }
        let slot = &self.slots[number];
        let (edges, ready) = (self.edges(slot), now.max(slot.ready));
        for unit in edges.into_iter().flatten() {
            self.fetch::<false, false>(self.striping.route(unit), false, now, ready);
        }
    }

    /// Take room in the buffer for a write; return whether it has all that it needs.
    #[inline]
    fn take_buffer(&mut self, number: u32, now: Nanos) -> bool {
        if self.slots[number].edges {
            self.read_edges(number, now);
        }
        let Slot { next, end, ready, durable, .. } = self.slots[number];
        let waiter = if durable { number } else { NONE };
        if durable {
            self.backend.nand.register_durable(number, ready);
        }
        let fits = self.buffer.take(end - next);
        let mut left = next..next + fits;
        let mut sent = 0;
        while !left.is_empty() {
            let (controller, units) = self.striping.take_stretch(&mut left);
            sent += self.backend.append(controller, units, (now, ready), waiter);
        }
        self.slots[number].next += fits;
        if next + fits == end {
            self.buffer.count_written(self.slots[number].done.command.length_bytes);
            if durable {
                sent += self.backend.pad_all(now, waiter);
            }
        }
        if durable {
            self.slots[number].programs += sent;
        }
        if next + fits < end {
            self.buffer.wait_first(number);
            return false;
        }
        if self.slots[number].programs == 0 {
            self.acknowledge(number, ready.max(now), 0);
        }
        true
    }

    /// Complete a write that is done at `at`, after its jitter. It waited for the buffer beyond its
    /// own way, or for `media`.
    fn acknowledge(&mut self, number: u32, at: Nanos, media: Nanos) {
        let jitter = Jitter::draw(&mut self.jitter[WRITE]);
        let slot = &mut self.slots[number];
        let waited = at - slot.ready;
        if waited > 0 {
            let media = media.min(waited);
            let (collecting, rebuilding) = self.backend.nand.split_wait(waited - media);
            let spent = &mut slot.done.breakdown;
            spent.media += media;
            spent.garbage_collection += collecting;
            spent.rebuild += rebuilding;
            spent.queue += waited - media - collecting - rebuilding;
        }
        slot.done.breakdown.controller += jitter;
        self.schedule(at + jitter, number);
    }

    /// Free the buffer of a finished host program, and let waiting writes go on.
    fn finish_host_program(&mut self, die: u32, done: &Task, at: Nanos, admission: &Admission) {
        self.backend.programs.leave(done.epoch, at);
        self.note_map_change();
        self.buffer.release(done.frees);
        if done.tag != NONE {
            let slot = &mut self.slots[done.tag];
            slot.programs -= 1;
            if slot.programs == 0 && slot.next == slot.end {
                self.finish_durable_write(done.tag, die, at, admission);
            }
        }
        while let Some(number) = self.buffer.next_waiting() {
            self.prefetch_waiting();
            if !self.take_buffer(number, at) {
                return;
            }
        }
    }

    /// Complete a write with force unit access after its last program, or let it wait for the map.
    fn finish_durable_write(&mut self, number: u32, die: u32, at: Nanos, admission: &Admission) {
        let ready = self.slots[number].ready;
        let (over, media) = (at.max(ready), self.backend.nand.durable_time(die, number));
        let media = media.min(over - ready);
        match &mut self.map {
            None => self.acknowledge(number, over, media),
            Some(map) => {
                if map.wait((number, over - media)) {
                    self.write_map(over, admission);
                }
            }
        }
    }

    /// Prefetch for writes that wait for the buffer: since their submission it has left the
    /// processor's cache. Each step uses what an earlier step has loaded.
    #[inline]
    fn prefetch_waiting(&self) {
        if let Some(number) = self.buffer.waiting(6) {
            self.slots.prefetch(number);
        }
        let next = |place: usize| self.buffer.waiting(place).map(|number| self.striping.route(self.slots[number].next));
        if let Some((controller, logical)) = next(4) {
            self.backend.controllers[controller].ftl.prefetch(logical);
        }
        if let Some((controller, logical)) = next(2) {
            let ftl = &self.backend.controllers[controller].ftl;
            ftl.lookup(logical).into_iter().for_each(|physical| ftl.prefetch_inverse(physical));
        }
    }
}

/// Durability.
impl DataPath {
    /// Return the overhead of writes and flushes.
    pub(super) fn write_overhead(&self) -> Nanos {
        self.processors.write_overhead()
    }

    /// Return whether buffered data survive a power cut.
    #[inline]
    pub(super) fn is_protected(&self) -> bool {
        self.buffer.is_protected()
    }

    /// Order a flush after the programs of all earlier writes, unless they are protected.
    pub(super) fn flush(&mut self, command: &Command, now: Nanos) {
        if !self.buffer.is_protected() {
            self.backend.pad_all(now, NONE);
            self.backend.programs.flush(command, now, now);
        }
    }

    /// Return when the first flush completes, or begins its map write, given that its commands
    /// allow it at `at`.
    #[inline]
    pub(super) fn next_flush(&self, at: Nanos) -> Option<Nanos> {
        if self.buffer.is_protected() {
            return Some(at);
        }
        let at = at.max(self.backend.programs.next()?);
        match &self.map {
            None => Some(at),
            Some(map) => map.next_flush(at),
        }
    }

    /// Finish the first flush; return false if it waits for a map write instead.
    pub(super) fn finish_flush(&mut self, at: Nanos, admission: &Admission) -> bool {
        if self.map.as_mut().is_some_and(MapWriting::must_write) {
            self.write_map(at, admission);
            return false;
        }
        if !self.buffer.is_protected() {
            self.backend.programs.pop(at);
        }
        true
    }

    /// Note that the map on the flash is out of date.
    #[inline]
    fn note_map_change(&mut self) {
        if let Some(map) = &mut self.map {
            map.note_change();
        }
    }

    /// Begin a map write, shared by all flushes that are ready.
    fn write_map(&mut self, at: Nanos, admission: &Admission) {
        let flushes = admission.ready_flushes(at).min(self.backend.programs.ready(at));
        let Some(map) = &mut self.map else { return };
        let dies = self.backend.nand.dies();
        let die = map.begin(flushes, dies.len(), |die| dies[die].dead);
        self.backend.write_map(die, at);
    }

    /// Complete the writes that waited for a map write.
    #[cold]
    fn finish_map_write(&mut self, at: Nanos, admission: &Admission) {
        let Some(map) = &mut self.map else { return };
        let mut writes = map.end(at);
        writes.drain(..).for_each(|(slot, begun)| self.acknowledge(slot, at, at - begun));
        if self.map.as_mut().is_some_and(|map| map.reuse(writes)) {
            self.write_map(at, admission);
        }
    }
}

/// Power loss.
impl DataPath {
    /// Return the mapping units of a write in safe storage at `now`; `buffered` are those only in
    /// the buffer.
    fn stored_units(&self, slot: &Slot, buffered: &mut Option<BTreeSet<(usize, u32)>>, now: Nanos) -> u64 {
        let first = first_unit(slot, &self.striping);
        if self.buffer.is_protected() {
            return self.crossed_units(slot, now).min(slot.next - first);
        }
        let buffered = buffered.get_or_insert_with(|| self.backend.buffered_units().collect());
        (first..slot.next).filter(|&unit| !buffered.contains(&self.striping.route(unit))).count() as u64
    }

    /// Return the whole mapping units of a write that have crossed the link at `now`.
    fn crossed_units(&self, slot: &Slot, now: Nanos) -> u64 {
        let (bytes, unit_bytes) = (u64::from(slot.done.command.length_bytes), self.striping.unit_bytes());
        let over = slot.ready.saturating_sub(self.processors.write_overhead());
        let time = self.link.time(WRITE, bytes);
        let spent = now.saturating_sub(over.saturating_sub(time)).min(time);
        let crossed = u128::from(bytes) * u128::from(spent) / u128::from(time.max(1));
        if now >= over { bytes.div_ceil(unit_bytes) } else { crossed as u64 / unit_bytes }
    }

    /// Append the ranges of acknowledged mapping units in the buffer.
    pub(super) fn volatile_ranges(&self, ranges: &mut Vec<(u64, u64)>) {
        let bytes = self.striping.unit_bytes();
        let units = acknowledged_units(&self.slots, &self.striping, self.backend.buffered_units());
        ranges.extend(units.map(|unit| (self.striping.unit_at(unit) * bytes, bytes)));
    }

    /// Power down at `now`, and start again with an empty buffer; the maps stay. Returns the loss.
    pub(super) fn lose_power(&mut self, now: Nanos) -> Loss {
        let acknowledged = acknowledged_units(&self.slots, &self.striping, self.backend.buffered_units());
        let acknowledged = acknowledged.count() as u64;
        let (mut buffered, atomic_bytes) = (None, self.buffer.atomic_bytes());
        let stored = |slot: &Slot| self.stored_units(slot, &mut buffered, now);
        let torn_writes = torn_writes(&self.slots, &self.striping, atomic_bytes, stored);
        let loss = Loss { torn_writes, ..self.buffer.loss(acknowledged, self.striping.unit_bytes()) };
        self.link.stop(now);
        self.processors.stop(now);
        self.buffer.clear();
        self.slots.clear();
        if let Some(map) = &mut self.map {
            *map = MapWriting::default();
        }
        self.backend.restart(now);
        loss
    }
}
