//! A command's way through the drive.

use super::state::{Controller, Slot, UNUSED};
use super::{Breakdown, DeviceCompletion, Flash};
use crate::near::{prefetch, prefetch_all};
use std::ops::Range;
use tameshi_base::{Command, CommandKind, Nanos};

/// A bus is asked at `now` for a transfer of so long, of what comes to it at `from`, `own` after the drive began with it: when that is over.
///
/// It serves all as if each came to it `own` earlier than it does: where all take the same time to come, that is what it does.
#[inline(always)]
pub(super) fn carry(bus: &mut Nanos, time: Nanos, now: Nanos, (from, own): (Nanos, Nanos)) -> Nanos {
    *bus = now.max(*bus) + time;
    (from - own + time).max(*bus) + own
}

impl Flash {
    /// Hands over a command.
    pub(crate) fn submit(&mut self, now: Nanos, command: &Command) {
        self.submit_here(now, command);
        self.prefetch_found(command.kind, command.offset_bytes);
    }

    /// As [`Flash::submit`], but made part of the caller: a command that was just put together field by field is slow to read
    /// as a whole.
    #[inline(always)]
    pub(crate) fn submit_here(&mut self, now: Nanos, command: &Command) {
        if self.past.is_some() || command.kind == CommandKind::Flush {
            return self.submit_flush_or_first(now, *command);
        }
        let epoch = self.barrier.enter(command.kind);
        if self.held < self.times.depth && self.barrier.lets_begin(epoch) {
            self.begin(command, now, epoch, now);
        } else {
            self.wait_in_host(now, command, epoch);
        }
    }

    /// A command waits: the drive is full, or a flush holds it back.
    #[cold]
    fn wait_in_host(&mut self, now: Nanos, command: &Command, epoch: u64) {
        self.host.push_back((*command, now, epoch));
        self.note_whether_full(now);
    }

    /// Whether commands wait because the drive is full may have changed.
    pub(super) fn note_whether_full(&mut self, now: Nanos) {
        self.queue_full.set(self.held >= self.times.depth && !self.host.is_empty(), now);
    }

    #[cold]
    fn submit_flush_or_first(&mut self, now: Nanos, command: Command) {
        if let Some((bytes, passes)) = self.past.take() {
            self.precondition(bytes, passes);
            return self.submit(now, &command);
        }
        self.submit_flush(now, &command);
    }

    /// The drive takes a command from the host.
    #[inline(always)]
    pub(super) fn begin(&mut self, command: &Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.held += 1;
        let number = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(UNUSED);
            (self.slots.len() - 1) as u32
        });
        // In place, field by field: a whole that is put together elsewhere would be read again to be moved here.
        let slot = &mut self.slots[number as usize];
        (slot.done.command, slot.done.submitted, slot.done.failed, slot.epoch) = (*command, submitted, false, epoch);
        self.carry_out(number, command, submitted, now);
    }

    /// A slot's command begins.
    #[inline(always)]
    fn carry_out(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        match command.kind {
            CommandKind::Read => self.read(number, command, submitted, now),
            CommandKind::Write => self.write(number, command, submitted, now),
            CommandKind::Trim | CommandKind::Flush => self.trim(number, command, submitted, now),
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

    /// Takes the first of some mapping units and what follows it at the same controller: that, and the units' numbers there.
    #[inline]
    pub(super) fn take_stretch(&self, left: &mut Range<u64>) -> (usize, Range<u32>) {
        let (number, first) = self.route(left.start);
        let mut count = left.end - left.start;
        if self.controllers.len() > 1 {
            let of = self.times.interleave_units;
            count = count.min(of - left.start % of);
        }
        left.start += count;
        (number, first..first + count as u32)
    }

    /// Brings the map for a command that begins at `offset_bytes` nearer to the processor; without effect on anything but the
    /// simulator's speed.
    #[inline(always)]
    pub(crate) fn prefetch(&self, offset_bytes: u64) {
        let (number, logical) = self.route(self.times.unit_of(offset_bytes));
        self.controllers[number].ftl.prefetch(logical);
    }

    /// Whether programs are under way: reads look for them.
    #[inline]
    pub(crate) fn is_programming(&self) -> bool {
        self.controllers.iter().any(|controller| controller.programs > 0)
    }

    /// Once the map is there, what it points to; for a read, where programs are under way.
    #[inline]
    pub(crate) fn prefetch_found(&self, kind: CommandKind, offset_bytes: u64) {
        let (number, logical) = self.route(self.times.unit_of(offset_bytes));
        let Controller { ftl, unprogrammed, .. } = &self.controllers[number];
        let Some(physical) = ftl.lookup(logical) else { return };
        match kind {
            CommandKind::Read => prefetch(unprogrammed, self.layout.program_unit(physical).0 as usize),
            CommandKind::Write | CommandKind::Trim => ftl.prefetch_inverse(physical),
            CommandKind::Flush => {}
        }
    }

    /// When a controller takes a command that wants to begin at `now`.
    #[inline]
    pub(super) fn turn(&mut self, number: usize, now: Nanos, time: Nanos) -> Nanos {
        let controller = &mut self.controllers[number];
        let turn = now.max(controller.next_turn);
        controller.next_turn = turn + time;
        self.busy[2] += time;
        turn
    }

    /// `bytes` that are there at `from`, `own` after the drive began with them, cross the link; when they are over, and the
    /// time of the transfer alone, moved by the electronics where these are slower.
    #[inline]
    pub(super) fn cross(
        &mut self,
        direction: usize,
        bytes: u64,
        now: Nanos,
        (from, own): (Nanos, Nanos),
    ) -> (Nanos, Nanos) {
        let time = self.times.link[direction].time(bytes);
        let link = &mut self.link[if self.times.half_duplex { 0 } else { direction }];
        let mut at = carry(link, time, now, (from, own));
        let (mut until, mut begun) = (*link, *link - time);
        let mut alone = time;
        if let Some(pace) = self.times.transfer {
            let moving = pace.time(bytes);
            self.moved = now.max(self.moved) + moving;
            (until, begun) = (until.max(self.moved), begun.min(self.moved - moving));
            at = at.max(self.moved + own);
            alone = alone.max(moving);
        }
        self.busy[1] += until.saturating_sub(begun.max(self.crossed));
        self.crossed = self.crossed.max(until);
        (at, alone)
    }

    /// The mapping units that a command touches.
    #[inline(always)]
    pub(super) fn units(&self, command: &Command) -> Range<u64> {
        let behind = command.offset_bytes + u64::from(command.length_bytes);
        self.times.unit_of(command.offset_bytes)..self.times.unit_of(behind + self.times.unit_bytes - 1)
    }

    fn trim(&mut self, number: u32, command: &Command, submitted: Nanos, now: Nanos) {
        let (Range { start: next, end }, unit) = (self.units(command), self.times.unit_bytes);
        let whole =
            command.offset_bytes.div_ceil(unit)..(command.offset_bytes + u64::from(command.length_bytes)) / unit;
        debug_assert!(whole.start >= next && whole.end <= end);
        for unit in whole {
            let (controller, logical) = self.route(unit);
            self.controllers[controller].ftl.trim(logical);
        }
        self.map_changes();
        let turn = self.turn(self.route(next).0, now, self.times.write_turn);
        self.slots[number as usize].done.breakdown =
            Breakdown { queue: turn - submitted, controller: self.times.write_overhead, ..Breakdown::default() };
        self.schedule(turn + self.times.write_overhead, number);
    }

    /// A command is over; the next one that waits in the host takes its place.
    pub(super) fn complete(&mut self, number: u32, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        completions.push(*self.leave(number, at));
        if !self.host.is_empty() {
            self.take_from_host(at);
            self.note_whether_full(at);
        }
    }

    /// What waits longest in the host begins, unless a flush holds it back; whether anything did.
    pub(super) fn take_from_host(&mut self, at: Nanos) -> bool {
        let Some((command, submitted, epoch)) = self.host.pop_front_if(|(.., epoch)| self.barrier.lets_begin(*epoch))
        else {
            return false;
        };
        self.begin(&command, submitted, epoch, at);
        true
    }

    /// A command is over, and leaves the drive.
    #[inline]
    pub(crate) fn leave(&mut self, number: u32, at: Nanos) -> &DeviceCompletion {
        self.free_slots.push(number);
        self.held -= 1;
        if self.held == 0 && self.idle.is_some() {
            self.rests(at);
        }
        let slot = &mut self.slots[number as usize];
        self.barrier.leave(slot.epoch, at);
        slot.done.at = at;
        debug_assert_eq!(slot.done.breakdown.total(), at - slot.done.submitted, "{slot:?}");
        &slot.done
    }

    /// Whether something waits for what completes: a flush, or a command in the host.
    #[inline]
    pub(crate) fn holds_back(&self) -> bool {
        !self.barrier.is_open() || !self.host.is_empty()
    }

    /// When something next happens inside.
    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.events.next()
    }

    /// The commands that complete at `now`, when the next event is; `None` for what else happens then.
    #[inline]
    pub(crate) fn completing(&self, now: Nanos) -> impl Iterator<Item = Option<&DeviceCompletion>> {
        let slot = |number: u32| number.checked_sub(self.first_slot);
        self.events.all_at(now).map(move |number| Some(self.in_slot(slot(number?)?)))
    }

    /// Goes on to the next completion before `until`, where nothing waits for it: its slot, and when. It is still held.
    #[inline(always)]
    pub(crate) fn next_completion(&mut self, until: Nanos) -> Option<(u32, Nanos)> {
        debug_assert!(!self.holds_back());
        loop {
            let (at, number) = self.events.take_before(until)?;
            match number.checked_sub(self.first_slot) {
                Some(slot) => {
                    let next = self.events.first();
                    match next.checked_sub(self.first_slot) {
                        Some(next) => prefetch_all(&self.slots, next as usize),
                        None => prefetch_all(&self.dies, next as usize),
                    }
                    return Some((slot, at));
                }
                None => {
                    self.woken += 1;
                    self.die_wakes(number, at);
                }
            }
        }
    }

    /// How often something else than a completion has happened on the way to one.
    #[inline]
    pub(crate) fn woken(&self) -> u64 {
        self.woken
    }

    /// What completes next before `until` leaves the drive; what [`Flash::advance`] does, one by one.
    #[inline(always)]
    pub(crate) fn complete_next(&mut self, until: Nanos) -> Option<&DeviceCompletion> {
        let (slot, at) = self.next_completion(until)?;
        Some(self.leave(slot, at))
    }

    /// What a slot holds, as it was told so far.
    #[inline(always)]
    pub(crate) fn in_slot(&self, slot: u32) -> &DeviceCompletion {
        &self.slots[slot as usize].done
    }

    /// A slot's command is complete, and its submitter's next one, of such a kind, place and length, begins at that instant: what
    /// [`Flash::leave`] and [`Flash::submit`] do one after the other, where nothing waits.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, slot: u32, (kind, offset_bytes, length_bytes): (CommandKind, u64, u32), now: Nanos) {
        let Slot { done, epoch, .. } = &mut self.slots[slot as usize];
        debug_assert_eq!(done.breakdown.total(), now - done.submitted, "{done:?}");
        if (done.command.kind == CommandKind::Read) != (kind == CommandKind::Read) {
            self.barrier.leave(*epoch, now);
            *epoch = self.barrier.enter(kind);
        }
        // What stays as it is need not be written again.
        (done.submitted, done.failed) = (now, false);
        let command = &mut done.command;
        (command.kind, command.offset_bytes, command.length_bytes) = (kind, offset_bytes, length_bytes);
        let command = Command { kind, offset_bytes, length_bytes, ..*command };
        self.carry_out(slot, &command, now, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_spec::profile::{self, DeviceProfile};

    /// A drive that holds nothing: reads take its electronics, in turns of a microsecond, and the link.
    fn drive() -> Flash {
        let text = include_str!("../../../../../profiles/devices/nvme-tlc-3.84tb.toml");
        let profile: DeviceProfile = toml::from_str(text).expect("a profile");
        let profile::Device::Flash(mut flash) = profile.device else { panic!("a flash drive") };
        flash.simulated.scale = 1024;
        Flash::new(&flash).expect("a drive")
    }

    fn command(id: u64, kind: CommandKind) -> Command {
        let length_bytes = if kind == CommandKind::Flush { 0 } else { 4096 };
        Command { id, kind, offset_bytes: 0, length_bytes, fua: false, stream: 0 }
    }

    #[test]
    fn reads_complete_one_by_one_before_a_time() {
        let mut drive = drive();
        (0..3).for_each(|id| drive.submit(0, &command(id, CommandKind::Read)));
        let first = *drive.complete_next(Nanos::MAX).expect("a read");
        assert_eq!((first.command.id, first.breakdown.total()), (0, first.at));
        let second = drive.next_wake().expect("another one");
        assert_eq!(drive.complete_next(second), None, "not before");
        assert_eq!(drive.complete_next(second + 1).map(|done| (done.command.id, done.at)), Some((1, second)));
    }

    #[test]
    fn a_flush_waits_for_what_completes_and_comes_behind_it() {
        let mut drive = drive();
        drive.submit(0, &command(0, CommandKind::Write));
        drive.submit(0, &command(1, CommandKind::Flush));
        assert!(drive.holds_back());
        let mut completions = Vec::new();
        drive.advance(1_000_000, &mut completions);
        assert_eq!(completions.iter().map(|done| done.command.id).collect::<Vec<_>>(), [0, 1]);
    }
}
