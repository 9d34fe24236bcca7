//! Flash drive: admission of commands, their completion, and the drive's idle time.

use super::admission::{Admission, Waiting};
use super::data_path::DataPath;
use super::events::Subject;
use super::ftl::{Fill, Work};
use super::idle::IdleTimer;
use super::slots::Slot;
use super::wear::Endurance;
use crate::basics::seed_path::SeedPath;
use crate::device::barrier::Barrier;
use crate::device::loss::{Loss, Rebuilt};
use crate::device::{Breakdown, DeviceCompletion, Model, NoDevice};
use tameshi_base::{Command, CommandKind, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::profile::{FlashProfile, Simulated, Written};

/// Flash drive.
#[derive(Debug)]
pub struct Flash {
    admission: Admission,
    pub(super) path: DataPath,
    /// Idle-time maintenance, if the profile has any.
    idle: Option<IdleTimer>,
    /// Bytes written before the run, and random passes over them; done at the first command.
    past: Option<(u64, u32)>,
    /// Work before the run.
    before: Work,
    endurance: Endurance,
    /// Events other than completions.
    woken: u64,
}

impl Flash {
    /// Build an erased drive at rest, at the capacity scale of its profile.
    ///
    /// # Errors
    /// A sentence that names what can't be simulated.
    pub fn new(profile: &FlashProfile) -> Result<Self, String> {
        Self::placed(profile, &SeedPath::default())
    }

    /// Build it with the seed path of its place in a run.
    ///
    /// # Errors
    /// A sentence that names what can't be simulated.
    pub fn placed(profile: &FlashProfile, seeds: &SeedPath) -> Result<Self, String> {
        let path = DataPath::new(profile, seeds)?;
        let is_alone = profile.controller.flush_alone.as_ref().is_some_and(|alone| alone.value);
        let flushes = match (is_alone, path.is_protected()) {
            (true, _) => Barrier::alone(path.write_overhead()),
            (false, true) => Barrier::unneeded(),
            (false, false) => Barrier::default(),
        };
        Ok(Self {
            admission: Admission::new(profile.controller.queue_depth.value, flushes),
            path,
            idle: profile.idle.as_ref().map(|idle| IdleTimer::new(idle.after.value.0)),
            past: past(profile),
            before: Work::default(),
            endurance: Endurance::new(profile),
            woken: 0,
        })
    }

    /// Write the first `bytes` in order, then as much at random `random_passes` times, in no
    /// virtual time.
    ///
    /// Garbage collection runs as needed; an SLC cache is bypassed. After two to three random
    /// passes the drive is in the steady state of random writes of one mapping unit.
    pub fn precondition(&mut self, bytes: u64, random_passes: u32) {
        self.path.precondition(bytes, random_passes);
        self.before = self.work();
    }

    /// Write what the study says was written before the run, once.
    fn write_past(&mut self) {
        if let Some((bytes, passes)) = self.past.take() {
            self.precondition(bytes, passes);
        }
    }

    /// Return the work of the translation layers since the begin of the run.
    pub fn work_since_begin(&self) -> Work {
        self.work().since(&self.before)
    }

    /// Return the work of the translation layers since the drive was new.
    pub fn work(&self) -> Work {
        self.path.backend.work()
    }

    /// Return the fill of each controller's flash.
    pub fn fills(&self) -> impl Iterator<Item = Fill> + '_ {
        self.path.backend.controllers.iter().map(|controller| controller.ftl.fill())
    }

    /// Check the maps of every controller, for tests.
    ///
    /// # Panics
    /// At the first mismatch.
    pub fn check(&self) {
        self.path.backend.controllers.iter().for_each(|controller| controller.ftl.check());
    }

    /// Return the wear of the flash since the begin of the run, and its remaining endurance.
    pub fn wear(&self) -> Wear {
        let (unit, work) = (self.path.striping.unit_bytes(), self.work_since_begin());
        let mut wear = Wear {
            written_bytes: self.path.written_bytes(),
            host_bytes: work.host_units * unit,
            moved_bytes: work.moved_units * unit,
            padded_bytes: work.padded_units * unit,
            ..self.path.backend.wear()
        };
        let (before, since) = (self.before.programmed_units() * unit, work.programmed_units() * unit);
        [wear.life_bytes, wear.retry_life_bytes] = self.endurance.left(wear.physical_bytes, before, since);
        wear
    }
}

/// Interface of the event loop's fast path.
impl Flash {
    /// Submit a command without prefetching. Inlined: a command just built field by field is slow
    /// to read as a whole.
    #[inline(always)]
    pub(crate) fn submit_here(&mut self, now: Nanos, command: &Command) {
        if self.past.is_some() || command.kind == CommandKind::Flush {
            return self.submit_flush_or_first(now, *command);
        }
        let epoch = self.admission.enter(command.kind);
        if self.admission.admits(epoch) {
            self.begin(command, now, epoch, now);
        } else {
            self.wait_in_host((*command, now, epoch));
        }
    }

    /// Prefetch the map entry for a command at `offset_bytes`. No effect on results.
    #[inline(always)]
    pub(crate) fn prefetch(&self, offset_bytes: u64) {
        let (number, logical) = self.path.striping.route(self.path.striping.unit_of(offset_bytes));
        self.path.backend.controllers[number].ftl.prefetch(logical);
    }

    /// Prefetch what the map entry points to, once the entry is there.
    #[inline]
    pub(crate) fn prefetch_found(&self, kind: CommandKind, offset_bytes: u64) {
        let (number, logical) = self.path.striping.route(self.path.striping.unit_of(offset_bytes));
        let controller = &self.path.backend.controllers[number];
        let Some(physical) = controller.ftl.lookup(logical) else { return };
        match kind {
            CommandKind::Read => controller.buffered.prefetch(self.path.backend.geometry.program_unit(physical).0),
            CommandKind::Write | CommandKind::Trim => controller.ftl.prefetch_inverse(physical),
            CommandKind::Flush => {}
        }
    }

    /// Return whether programs are under way, which reads look up.
    #[inline]
    pub(crate) fn is_programming(&self) -> bool {
        self.path.backend.controllers.iter().any(|controller| controller.buffered.is_programming())
    }

    /// Return whether a completion may let a flush or a waiting command go on.
    #[inline]
    pub(crate) fn holds_back(&self) -> bool {
        self.admission.holds_back()
    }

    /// Return the time of the next event.
    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.path.backend.events.next()
    }

    /// Return the commands that complete at `now`, the time of the next event; `None` for other
    /// events then.
    #[inline]
    pub(crate) fn completing(&self, now: Nanos) -> impl Iterator<Item = Option<&DeviceCompletion>> {
        self.path.backend.events.slots_at(now).map(move |slot| Some(self.in_slot(slot?)))
    }

    /// Advance to the next completion before `until`, if no command waits for one; return its slot
    /// and time. The slot stays occupied.
    #[inline(always)]
    pub(crate) fn next_completion(&mut self, until: Nanos) -> Option<(u32, Nanos)> {
        debug_assert!(!self.holds_back());
        loop {
            let (at, subject) = self.path.backend.events.take_before(until)?;
            if let Subject::Slot(slot) = subject {
                match self.path.backend.events.first() {
                    Subject::Slot(next) => self.path.slots.prefetch(next),
                    Subject::Idle => {}
                    Subject::Die(next) => self.path.backend.nand.prefetch(next),
                }
                return Some((slot, at));
            }
            self.woken += 1;
            self.wake(subject, at);
        }
    }

    /// Return the number of events other than completions.
    #[inline]
    pub(crate) fn woken(&self) -> u64 {
        self.woken
    }

    /// Complete the next command before `until`: one step of [`Model::advance`].
    #[inline(always)]
    pub(crate) fn complete_next(&mut self, until: Nanos) -> Option<&DeviceCompletion> {
        let (slot, at) = self.next_completion(until)?;
        Some(self.leave(slot, at))
    }

    /// Return the completion to be of a slot's command, as far as it is known.
    #[inline(always)]
    pub(crate) fn in_slot(&self, slot: u32) -> &DeviceCompletion {
        &self.path.slots[slot].done
    }

    /// Complete a command and free its slot.
    #[inline]
    pub(crate) fn leave(&mut self, number: u32, at: Nanos) -> &DeviceCompletion {
        self.path.slots.release(number);
        self.admission.release(self.path.slots[number].epoch, at);
        if self.idle.is_some() && self.admission.is_idle() {
            self.start_idle_timer(at);
        }
        let done = &mut self.path.slots[number].done;
        done.at = at;
        debug_assert_eq!(done.breakdown.total(), at - done.submitted, "{done:?}");
        done
    }

    /// Complete a slot's command and begin its submitter's next one there: [`Flash::leave`] and a
    /// submission in one, if no command waits.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, slot: u32, (kind, offset_bytes, length_bytes): (CommandKind, u64, u32), now: Nanos) {
        let Slot { done, epoch, .. } = &mut self.path.slots[slot];
        debug_assert_eq!(done.breakdown.total(), now - done.submitted, "{done:?}");
        if (done.command.kind == CommandKind::Read) != (kind == CommandKind::Read) {
            *epoch = self.admission.exchange(*epoch, kind, now);
        }
        // Unchanged fields need not be written again.
        (done.submitted, done.failed) = (now, false);
        let command = &mut done.command;
        (command.kind, command.offset_bytes, command.length_bytes) = (kind, offset_bytes, length_bytes);
        let command = Command { kind, offset_bytes, length_bytes, ..*command };
        self.path.execute(slot, &command, now, now);
    }

    /// Return whether a finished rebuild has not been reported.
    #[inline]
    pub(crate) fn has_rebuilt(&self) -> bool {
        self.path.backend.has_rebuilt()
    }
}

/// Admission and completion.
impl Flash {
    #[cold]
    fn wait_in_host(&mut self, waiting: Waiting) {
        self.admission.wait(waiting);
    }

    #[cold]
    fn submit_flush_or_first(&mut self, now: Nanos, command: Command) {
        if self.past.is_some() {
            self.write_past();
            return Model::submit(self, now, &command);
        }
        self.submit_flush(now, &command);
    }

    /// Accept a command into a slot.
    #[inline(always)]
    fn begin(&mut self, command: &Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.admission.hold();
        let number = self.path.slots.take();
        // In place, field by field: a struct built elsewhere would be read again to be moved here.
        let slot = &mut self.path.slots[number];
        (slot.done.command, slot.done.submitted, slot.done.failed, slot.epoch) = (*command, submitted, false, epoch);
        self.path.execute(number, command, submitted, now);
    }

    /// Complete a command and admit the next one from the host.
    fn complete(&mut self, number: u32, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        completions.push(*self.leave(number, at));
        if self.admission.has_waiting() {
            if let Some((command, submitted, epoch)) = self.admission.next_waiting() {
                self.begin(&command, submitted, epoch, at);
            }
            self.admission.note_queue_full(at);
        }
    }

    /// Process an event of a die or of the idle timer.
    #[inline]
    fn wake(&mut self, subject: Subject, at: Nanos) {
        match subject {
            Subject::Die(die) => self.path.wake_die(die, at, &self.admission),
            _ => self.maintain(at),
        }
    }

    /// Start the idle timer: the drive holds no command.
    #[inline(never)]
    fn start_idle_timer(&mut self, now: Nanos) {
        if let Some(at) = self.idle.as_mut().and_then(|idle| idle.start(now)) {
            self.path.backend.events.add_idle(at);
        }
    }

    /// Process the idle timer's event. A command that arrives later finds the dies at this work.
    #[cold]
    fn maintain(&mut self, at: Nanos) {
        let is_idle = self.admission.is_idle();
        match self.idle.as_mut().and_then(|idle| idle.expire(is_idle, at)) {
            None => return,
            Some(Err(due)) => return self.path.backend.events.add_idle(due),
            Some(Ok(())) => {}
        }
        // A suspended task ends later; then the timer looks again.
        let goes_on = self.path.backend.nand.busy_until().or_else(|| {
            let any = self.path.backend.maintain(at);
            self.path.backend.nand.busy_until().or(any.then_some(at))
        });
        if let Some(end) = goes_on {
            self.path.backend.events.add_idle(end.max(at));
        } else if let Some(idle) = &mut self.idle {
            idle.sleep();
        }
    }
}

/// Flushes.
impl Flash {
    fn submit_flush(&mut self, now: Nanos, command: &Command) {
        self.admission.flush(command, now, now + self.path.write_overhead());
        self.path.flush(command, now);
    }

    #[cold]
    fn next_wake_with_flush(&self) -> Option<Nanos> {
        let event = self.next_event();
        let wake = self.next_flush().map_or(event, |flush| event.min(flush));
        (wake < Nanos::MAX).then_some(wake)
    }

    /// Return when the first flush completes, or begins its map write.
    #[inline]
    fn next_flush(&self) -> Option<Nanos> {
        self.path.next_flush(self.admission.next_flush()?)
    }

    /// Process the first flush at the time of [`Flash::next_flush`].
    fn advance_flush(&mut self, at: Nanos, completions: &mut Vec<DeviceCompletion>) {
        if !self.path.finish_flush(at, &self.admission) {
            return;
        }
        let Some(flush) = self.admission.pop_flush(at) else { return };
        let latency = at - flush.submitted;
        let controller = self.path.write_overhead().min(latency);
        let [queue, media] =
            if self.path.is_protected() { [latency - controller, 0] } else { [0, latency - controller] };
        let breakdown = Breakdown { queue, controller, media, ..Breakdown::default() };
        let (command, submitted) = (flush.command, flush.submitted);
        completions.push(DeviceCompletion { command, submitted, at, breakdown, failed: false });
        while let Some((command, submitted, epoch)) = self.admission.next_admitted() {
            self.begin(&command, submitted, epoch, at);
        }
        self.admission.note_queue_full(at);
    }
}

impl Model for Flash {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        self.submit_here(now, command);
        self.prefetch_found(command.kind, command.offset_bytes);
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        if !self.admission.is_open() {
            return self.next_wake_with_flush();
        }
        let event = self.next_event();
        (event < Nanos::MAX).then_some(event)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        loop {
            let event = self.next_event();
            let flush = self.next_flush().unwrap_or(Nanos::MAX);
            if event.min(flush) > now {
                return;
            }
            if flush < event {
                self.advance_flush(flush, completions);
                continue;
            }
            match self.path.backend.events.take() {
                None => return,
                Some((at, Subject::Slot(slot))) => self.complete(slot, at, completions),
                Some((at, subject)) => self.wake(subject, at),
            }
        }
    }

    fn lose_power(&mut self, now: Nanos) -> Loss {
        let loss = self.path.lose_power(now);
        self.admission.clear(now);
        if let Some(at) = self.idle.as_mut().and_then(|idle| idle.restart(now)) {
            self.path.backend.events.add_idle(at);
        }
        loss
    }

    fn volatile_ranges(&self, ranges: &mut Vec<(u64, u64)>) {
        self.path.volatile_ranges(ranges);
    }

    #[inline]
    fn prefetch(&self, command: &Command) {
        Self::prefetch(self, command.offset_bytes);
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        self.path.usage(now, usage);
        self.admission.usage(now, usage);
    }

    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.path.backend.nand.supply().map(|supply| supply.energy_nj(now))
    }

    fn heat(&self, now: Nanos) -> Option<Heat> {
        self.path.backend.nand.supply()?.heat(now)
    }

    fn add_wear(&self, wear: &mut Wear) {
        wear.add(&self.wear());
    }

    fn fail_channel(&mut self, _drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason> {
        self.write_past();
        self.path.fail_channel(channel, now)
    }

    fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.path.backend.take_rebuilt()
    }

    fn rebuilt_bytes(&self) -> u64 {
        self.path.backend.rebuilt_bytes()
    }
}

/// Return the bytes that the study says were written before the run, and the random passes over
/// them.
fn past(profile: &FlashProfile) -> Option<(u64, u32)> {
    let Simulated { written, used, .. } = profile.simulated;
    let bytes = (u128::from(profile.scaled_capacity().0) * u128::from(used.0) / 1_000_000) as u64;
    match written {
        Written::Never => None,
        Written::Once => Some((bytes, 0)),
        Written::Steady => Some((bytes, 3)),
    }
}
