//! A command's way through the drive.

use super::die::{NONE, Pending};
use super::ftl::prefetch;
use super::{Breakdown, Controller, DeviceCompletion, Flash, Power};
use tameshi_base::{Command, CommandKind, Nanos};

/// A command that the drive holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) command: Command,
    submitted: Nanos,
    epoch: u64,
    /// Where its time went so far, but for what is only known at its end.
    spent: Breakdown,
    /// When its data have crossed the link and the electronics have seen it.
    pub(super) ready: Nanos,
    /// Mapping units that have no place in the buffer yet.
    pub(super) next: u64,
    pub(super) end: u64,
    /// Programs that it waits for.
    pub(super) programs: u32,
    durable: bool,
}

/// What a read's last data waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetched {
    pub(super) at: Nanos,
    queue: Nanos,
    garbage_collection: Nanos,
    rebuild: Nanos,
    media: Nanos,
}

impl Fetched {
    /// There at once.
    pub(super) fn at(at: Nanos) -> Self {
        Self { at, ..Self::default() }
    }
}

impl Flash {
    /// The drive takes a command from the host.
    pub(super) fn begin(&mut self, command: Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.held += 1;
        let behind = command.offset_bytes + u64::from(command.length_bytes);
        let (next, end) =
            (self.times.unit_of(command.offset_bytes), self.times.unit_of(behind + self.times.unit_bytes - 1));
        let spent = Breakdown { queue: now - submitted, ..Breakdown::default() };
        let durable = command.fua && !self.times.protected;
        let mut slot = Slot { command, submitted, epoch, spent, ready: now, next, end, programs: 0, durable };
        let over = match command.kind {
            CommandKind::Read => self.read(&mut slot, now),
            CommandKind::Write | CommandKind::Trim | CommandKind::Flush => 0,
        };
        let number = match self.free_slots.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        match command.kind {
            CommandKind::Read => self.schedule(over, number),
            CommandKind::Write => self.write(number, now),
            CommandKind::Trim | CommandKind::Flush => self.trim(number, now),
        }
    }

    /// The controller of a mapping unit, and the unit's number there.
    #[inline]
    pub(super) fn route(&self, unit: u64) -> (usize, u32) {
        let count = self.controllers.len() as u64;
        if count == 1 {
            return (0, unit as u32);
        }
        let of = self.times.interleave_units;
        let (stripe, rest) = (unit / of, unit % of);
        ((stripe % count) as usize, ((stripe / count) * of + rest) as u32)
    }

    /// Brings what a command that begins at `offset_bytes` will need nearer to the processor; without effect on anything
    /// but the simulator's speed. First (`place` 0) the map, when that is there what it points to.
    #[inline]
    pub(crate) fn prefetch(&self, place: usize, kind: CommandKind, offset_bytes: u64) {
        let (number, logical) = self.route(self.times.unit_of(offset_bytes));
        let Controller { ftl, unprogrammed, .. } = &self.controllers[number];
        if place == 0 {
            return ftl.prefetch(logical);
        }
        let Some(physical) = ftl.lookup(logical) else { return };
        match kind {
            CommandKind::Read => prefetch(unprogrammed, self.layout.program_unit(physical).0 as usize),
            CommandKind::Write | CommandKind::Trim => ftl.prefetch_inverse(physical),
            CommandKind::Flush => {}
        }
    }

    /// When the controller of `unit` takes a command that wants to begin at `now`.
    #[inline]
    fn turn(&mut self, unit: u64, now: Nanos, time: Nanos) -> Nanos {
        let (number, _) = self.route(unit);
        let controller = &mut self.controllers[number];
        let turn = now.max(controller.next_turn);
        controller.next_turn = turn + time;
        self.busy[2] += time;
        turn
    }

    /// `bytes` that are there at `from` cross the link; when they are over, and the time of the transfer alone.
    #[inline]
    fn cross(&mut self, direction: usize, bytes: u64, now: Nanos, from: Nanos) -> (Nanos, Nanos) {
        let time = self.times.link[direction].time(bytes);
        let link = &mut self.link[if self.times.half_duplex { 0 } else { direction }];
        *link = now.max(*link) + time;
        let (mut until, mut begun) = (*link, *link - time);
        if let Some(pace) = self.times.transfer {
            let moving = pace.time(bytes);
            self.moved = now.max(self.moved) + moving;
            (until, begun) = (until.max(self.moved), begun.min(self.moved - moving));
        }
        self.busy[1] += until.saturating_sub(begun.max(self.crossed));
        self.crossed = self.crossed.max(until);
        ((from + time).max(until), time)
    }

    /// When a read is over; its slot learns where the time goes.
    #[inline]
    fn read(&mut self, slot: &mut Slot, now: Nanos) -> Nanos {
        let Slot { command: Command { length_bytes, .. }, next, end, .. } = *slot;
        let turn = self.turn(next, now, self.times.read_turn.time(1));
        let ready = turn + self.times.read_overhead;
        let mut last = Fetched::at(ready);
        for unit in next..end {
            let fetched = self.fetch(unit, now, ready);
            if fetched.at > last.at {
                last = fetched;
            }
        }
        // Data cross the link as they come: once the last are there, one mapping unit is left to cross.
        let bytes = u64::from(length_bytes);
        let crossed = bytes.saturating_sub(self.times.unit_bytes);
        let from = last.at.saturating_sub(self.times.link[0].time(crossed)).max(ready);
        let (at, _) = self.cross(0, bytes, now, from);
        let link = self.times.link[0].time(bytes).min(at - last.at);
        let spent = &mut slot.spent;
        spent.queue += (turn - now) + last.queue + (at - last.at - link);
        spent.controller = self.times.read_overhead;
        (spent.media, spent.garbage_collection, spent.link) = (last.media, last.garbage_collection, link);
        spent.rebuild = last.rebuild;
        at
    }

    /// Senses one mapping unit, if it is on a die, and brings it to the controller.
    #[inline]
    fn fetch(&mut self, unit: u64, now: Nanos, ready: Nanos) -> Fetched {
        let (number, logical) = self.route(unit);
        let controller = &self.controllers[number];
        let nothing = Fetched::at(ready);
        let Some(physical) = controller.ftl.lookup(logical) else { return nothing };
        let (program_unit, _) = self.layout.program_unit(physical);
        let (place, page) = self.place(number, program_unit);
        let die = controller.first_die + u32::from(place.die);
        if controller.filling.contains(&program_unit) || controller.unprogrammed[program_unit as usize] > 0 {
            return nothing;
        }
        if self.dies[die as usize].dead {
            return self.reconstruct(number, physical, now, ready);
        }
        let time = self.times.read[usize::from(page)] + self.retries(number, physical);
        self.bring(die, program_unit, time, now, ready)
    }

    /// Senses for `time` what has the number `sensed` on its die, and brings one mapping unit of it to the controller.
    #[inline]
    pub(super) fn bring(&mut self, die: u32, sensed: u32, time: Nanos, now: Nanos, ready: Nanos) -> Fetched {
        let sensed = self.dies[die as usize].read(ready, sensed, time, self.times.suspend);
        if sensed.anew {
            self.busy[0] += time;
            match &self.times.power {
                Some(Power { limit: Some((_, carries)), .. }) => self.read_power += carries[0],
                Some(power) => self.drawn_nj += power.takes_nj[0],
                None => {}
            }
        }
        let transfer = self.times.channel.time(self.times.unit_bytes);
        let channel = &mut self.channels[self.layout.channel_of(die)];
        *channel = now.max(*channel) + transfer;
        self.busy[3] += transfer;
        let at = (sensed.at + transfer).max(*channel);
        let on_bus = at - sensed.at - transfer;
        let media = at - ready - sensed.queue - sensed.garbage_collection - on_bus;
        let (queue, reclaiming) = (sensed.queue + on_bus, sensed.garbage_collection);
        let (garbage_collection, rebuild) = if sensed.rebuild { (0, reclaiming) } else { (reclaiming, 0) };
        Fetched { at, queue, garbage_collection, rebuild, media }
    }

    /// Time of the senses that must be repeated because the flash is worn.
    #[inline]
    pub(super) fn retries(&mut self, number: usize, physical: u32) -> Nanos {
        let Some((at_end, time, worn, cycles)) = self.times.retry else { return 0 };
        let ftl = &self.controllers[number].ftl;
        let wear = worn + f64::from(ftl.erases()[ftl.block_of(physical) as usize]) / cycles;
        let chance = (at_end * wear * wear).min(0.9);
        let mut spent = 0;
        while self.random.unit() < chance {
            spent += time;
        }
        spent
    }

    #[inline]
    fn write(&mut self, number: u32, now: Nanos) {
        let Slot { command, next, end, mut spent, .. } = self.slots[number as usize];
        let turn = self.turn(next, now, self.times.write_turn.time(1));
        let (over, link) = self.cross(1, u64::from(command.length_bytes), now, turn);
        spent.queue += (turn - now) + (over - turn - link);
        (spent.link, spent.controller) = (link, self.times.write_overhead);
        let slot = &mut self.slots[number as usize];
        (slot.spent, slot.ready) = (spent, over + self.times.write_overhead);
        let unit = self.times.unit_bytes;
        let partial = [command.offset_bytes, command.offset_bytes + u64::from(command.length_bytes)];
        for edge in partial.into_iter().filter(|edge| !edge.is_multiple_of(unit)) {
            // What the host leaves of a mapping unit is read first; the buffer hides the time, the die is busy all the same.
            self.fetch(edge / unit, now, over);
        }
        if next < end && (self.buffer_free == 0 || !self.for_buffer.is_empty()) {
            self.for_buffer.push_back(number);
        } else {
            self.take_buffer(number, now);
        }
    }

    /// A write takes what it can of the buffer; tells whether it has all it needs.
    #[inline]
    fn take_buffer(&mut self, number: u32, now: Nanos) -> bool {
        let Slot { next, end, ready, durable, .. } = self.slots[number as usize];
        let waiter = if durable { number } else { NONE };
        let fits = self.buffer_free.min(end - next);
        self.buffer_free -= fits;
        for unit in next..next + fits {
            let (controller, logical) = self.route(unit);
            self.append(controller, logical, now, ready, waiter);
        }
        self.slots[number as usize].next += fits;
        if next + fits < end {
            self.for_buffer.push_front(number);
            return false;
        }
        if durable {
            self.pad_all(now, waiter);
        }
        if self.slots[number as usize].programs == 0 {
            self.acknowledge(number, ready.max(now), 0);
        }
        true
    }

    /// A write completes at `at`; what it waited beyond its own way was for the buffer, or for `media`.
    fn acknowledge(&mut self, number: u32, at: Nanos, media: Nanos) {
        let [reclaiming, renewing, all] = self.reclaiming;
        let slot = &mut self.slots[number as usize];
        let waited = at - slot.ready;
        let media = media.min(waited);
        let share = |of: u64| (u128::from(waited - media) * u128::from(of) / u128::from(all)) as Nanos;
        let (reclaimed, renewed) = (share(reclaiming), share(renewing));
        slot.spent.media += media;
        slot.spent.garbage_collection += reclaimed;
        slot.spent.rebuild += renewed;
        slot.spent.queue += waited - media - reclaimed - renewed;
        self.schedule(at, number);
    }

    /// A program of the host's data is over: its place in the buffer is free.
    pub(super) fn host_programmed(&mut self, done: &Pending, at: Nanos) {
        self.durable.leave(done.epoch, at);
        self.buffer_free += u64::from(done.frees);
        if done.tag != NONE {
            let slot = &mut self.slots[done.tag as usize];
            slot.programs -= 1;
            if slot.programs == 0 && slot.next == slot.end {
                let ready = slot.ready;
                self.acknowledge(done.tag, at.max(ready), self.times.program[usize::from(done.page)]);
            }
        }
        while self.buffer_free > 0 {
            let Some(number) = self.for_buffer.pop_front() else { return };
            if !self.take_buffer(number, at) {
                return;
            }
        }
    }

    fn trim(&mut self, number: u32, now: Nanos) {
        let Slot { command, next, end, mut spent, .. } = self.slots[number as usize];
        let unit = self.times.unit_bytes;
        let whole =
            command.offset_bytes.div_ceil(unit)..(command.offset_bytes + u64::from(command.length_bytes)) / unit;
        debug_assert!(whole.start >= next && whole.end <= end);
        for unit in whole {
            let (controller, logical) = self.route(unit);
            self.controllers[controller].ftl.trim(logical);
        }
        let turn = self.turn(next, now, self.times.write_turn.time(1));
        spent.queue += turn - now;
        spent.controller = self.times.write_overhead;
        self.slots[number as usize].spent = spent;
        self.schedule(turn + self.times.write_overhead, number);
    }

    /// A command is over; the next one that waits in the host takes its place.
    pub(super) fn complete(&mut self, number: u32, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let slot = &self.slots[number as usize];
        let epoch = slot.epoch;
        self.free_slots.push(number);
        debug_assert_eq!(slot.spent.total(), at - slot.submitted, "{slot:?}");
        completions.push(DeviceCompletion {
            command: slot.command,
            submitted: slot.submitted,
            at,
            breakdown: slot.spent,
            failed: false,
        });
        self.barrier.leave(epoch, at);
        self.held -= 1;
        if let Some((command, submitted, epoch)) = self.host.pop_front() {
            self.begin(command, submitted, epoch, at);
        }
    }

    pub(super) fn complete_flush(&mut self, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        if !self.times.protected {
            self.durable.pop(at);
        }
        let Some(flush) = self.barrier.pop(at) else { return };
        let latency = at - flush.submitted;
        let controller = self.times.write_overhead.min(latency);
        let breakdown = Breakdown { controller, media: latency - controller, ..Breakdown::default() };
        completions.push(DeviceCompletion {
            command: flush.command,
            submitted: flush.submitted,
            at,
            breakdown,
            failed: false,
        });
    }
}
