//! Part of a drive behind its write buffer: translation layers, garbage collection, rebuilds, and
//! the flash array.
//!
//! The drive hands over units of host data and read requests. The backend sends tasks to dies,
//! schedules their ends, and returns finished tasks that concern commands.

use super::controller::Controller;
use super::degraded::Degraded;
use super::dies::{ALL_MOVED, NONE, PARITY, Task, TaskKind};
use super::events::Events;
use super::ftl::{Frontier, Step, Work};
use super::gc::{Relocation, Relocations};
use super::geometry::{Geometry, Place};
use super::nand::Nand;
use super::power_loss::Unit;
use super::wear::ReadRetry;
use crate::device::barrier::Barrier;
use crate::device::loss::Rebuilt;
use std::collections::VecDeque;
use std::ops::Range;
use tameshi_base::{CommandKind, Nanos, Random, Reason};
use tameshi_record::Wear;
use tameshi_spec::profile::FlashProfile;

/// Exclusive maximum of dies, and of commands at once.
const MOST: u64 = 1 << 23;

/// Controllers and flash array.
#[derive(Debug)]
pub(super) struct Backend {
    pub(super) geometry: Geometry,
    pub(super) controllers: Vec<Controller>,
    pub(super) nand: Nand,
    /// Calendar of the drive: ends of tasks, and events that the drive adds.
    pub(super) events: Events,
    pub(super) relocations: Relocations,
    /// Host programs and the flushes of an unprotected drive.
    pub(super) programs: Barrier,
    /// True if relocated data go to blocks of their own.
    separate: bool,
    unit_bytes: u64,
    retry: Option<ReadRetry>,
    /// Finished rebuilds that have not been reported.
    rebuilt: VecDeque<Rebuilt>,
}

impl Backend {
    /// Build erased flash.
    ///
    /// # Errors
    /// A sentence that names what can't be simulated.
    pub(super) fn new(profile: &FlashProfile) -> Result<Self, String> {
        let geometry = Geometry::new(profile)?;
        let count = profile.controller.count.value;
        let dies = geometry.dies();
        if u64::from(dies) * u64::from(count) >= MOST || u64::from(profile.controller.queue_depth.value) >= MOST {
            return Err("more dies or more commands at once than can be simulated".into());
        }
        let controllers = (0..count).map(|number| Controller::new(number, profile, &geometry));
        Ok(Self {
            controllers: controllers.collect::<Result<_, String>>()?,
            nand: Nand::new(profile, &geometry),
            events: Events::new(dies * count),
            relocations: Relocations::default(),
            programs: Barrier::default(),
            separate: profile.cleaning.separate_relocated.value,
            unit_bytes: profile.mapping_unit.value.0,
            retry: ReadRetry::new(profile),
            rebuilt: VecDeque::new(),
            geometry,
        })
    }

    /// Return whether senses are never repeated.
    pub(super) fn is_plain(&self) -> bool {
        self.retry.is_none()
    }

    #[inline(always)]
    pub(super) fn place(&self, number: usize, unit: u32) -> (Place, u8) {
        self.controllers[number].place(&self.geometry, unit)
    }
}

/// Dies.
impl Backend {
    /// Queue a task on a die. Inlined: a task just built field by field is slow to read as a whole.
    #[inline(always)]
    fn enqueue(&mut self, die: u32, task: Task, at: Nanos) {
        if self.nand.enqueue(die, task) {
            self.start(die, at);
        }
    }

    fn start(&mut self, die: u32, at: Nanos) {
        let repeats = if self.retry.is_none() { 0 } else { self.repeats_of_task(die) };
        let end = self.nand.start(die, repeats, at);
        self.events.add_die(end, die);
    }

    /// Draw the repetitions for a die's sense.
    fn repeats_of_task(&mut self, die: u32) -> u32 {
        let of = self.nand.die(die);
        let Some(Task { kind: TaskKind::Sense, unit, .. }) = of.now.filter(|_| !of.dead) else { return 0 };
        self.repeats(self.geometry.controller_of(die), (unit & !PARITY) * self.geometry.program_units)
    }

    /// Draw the repetitions for a sense of a physical unit.
    #[inline(always)]
    pub(super) fn repeats(&mut self, number: usize, physical: u32) -> u32 {
        match &mut self.retry {
            None => 0,
            Some(retry) => retry.draw(&self.controllers[number].ftl, physical),
        }
    }

    /// Process a die's event; return the task that has finished. The caller then calls
    /// [`Backend::resume`].
    #[inline]
    pub(super) fn finish(&mut self, die: u32, at: Nanos) -> Option<Task> {
        let of = self.nand.die_mut(die);
        if of.end > at {
            let end = of.end;
            self.events.add_die(end, die);
            return None;
        }
        let done = of.now.take()?;
        match done.kind {
            // Parity has no unit.
            TaskKind::Host | TaskKind::Relocated => {
                if done.unit != NONE {
                    let number = self.geometry.controller_of(die);
                    self.controllers[number].buffered.leave(done.unit);
                }
            }
            TaskKind::Sense => self.finish_sense(done.tag, at),
            TaskKind::Map | TaskKind::Parity | TaskKind::Erase => {}
        }
        Some(done)
    }

    /// Continue after a finished task: the rebuild that it belongs to, and the die's next task.
    #[inline]
    pub(super) fn resume(&mut self, die: u32, done: &Task, at: Nanos) {
        if done.rebuilds && done.unit != NONE && done.kind != TaskKind::Sense {
            self.finish_rebuild_program(die, at);
        }
        if self.nand.take_next(die) {
            self.start(die, at);
            self.prefetch_end(die);
        }
    }

    /// Prefetch what the end of a queued task needs: in long queues it has left the processor's
    /// cache.
    #[inline]
    fn prefetch_end(&self, die: u32) {
        let Some(Task { kind, unit, tag, .. }) = self.nand.prefetch_queue(die) else { return };
        match kind {
            TaskKind::Sense => self.relocations.prefetch(tag),
            _ => self.controllers[self.geometry.controller_of(die)].buffered.prefetch(unit),
        }
    }

    /// Send a map write to a die.
    pub(super) fn write_map(&mut self, die: usize, at: Nanos) {
        self.enqueue(die as u32, Task::new(TaskKind::Map, (NONE, NONE), 0, false, at), at);
    }
}

/// Host programs.
impl Backend {
    /// Append units of host data for a slot's write; return the programs begun.
    #[inline]
    pub(super) fn append(&mut self, number: usize, units: Range<u32>, (at, ready): (Nanos, Nanos), waiter: u32) -> u32 {
        let mut sent = 0;
        for logical in units {
            if self.controllers[number].ftl.is_exhausted() {
                self.reclaim_until_possible(number, at);
            }
            let controller = &mut self.controllers[number];
            let (to, frontier) = controller.ftl.write(logical);
            controller.buffered.add_host_unit(frontier);
            if self.fill(number, frontier, to, (at, ready), waiter) {
                sent += 1;
                self.keep_pace(number, at);
            }
        }
        sent
    }

    /// Add a unit to a frontier of host data; a full program unit goes to its die. Returns whether
    /// one did.
    #[inline(always)]
    fn fill(&mut self, number: usize, frontier: Frontier, to: u32, (at, ready): (Nanos, Nanos), waiter: u32) -> bool {
        let (unit, rest) = self.geometry.program_unit(to);
        if rest + 1 < self.geometry.program_units {
            self.controllers[number].buffered.fill(frontier, unit);
            return false;
        }
        self.send(number, frontier, unit, (at, ready), waiter);
        true
    }

    /// Send a full program unit of host data to its die.
    #[inline(never)]
    fn send(&mut self, number: usize, frontier: Frontier, unit: u32, (at, ready): (Nanos, Nanos), waiter: u32) {
        let controller = &mut self.controllers[number];
        controller.buffered.complete(frontier, unit);
        let (frees, moved) = controller.buffered.take_units(frontier);
        let moved = (u32::from(moved) * u32::from(ALL_MOVED) / self.geometry.program_units) as u16;
        let epoch = self.programs.enter(CommandKind::Write);
        // Without separation, data of a rebuild are among the host's.
        let mut rebuilds = false;
        if let Some(degraded) = &mut controller.degraded
            && degraded.take_filling()
        {
            degraded.begin_program();
            rebuilds = true;
        }
        let (kind, tag) = (TaskKind::Host, waiter);
        self.program(number, unit, Task { kind, page: 0, frees, moved, unit, tag, rebuilds, epoch, ready }, at);
    }

    /// Send a program unit to its die; with the last one of a stripe, its parity.
    #[inline(always)]
    fn program(&mut self, number: usize, unit: u32, task: Task, at: Nanos) {
        let (place, page) = self.place(number, unit);
        let first = self.controllers[number].first_die;
        self.enqueue(first + u32::from(place.die), Task { page, ..task }, at);
        if place.parity > 0 {
            let kind = if task.kind == TaskKind::Host { TaskKind::Parity } else { TaskKind::Relocated };
            let parity = Task { kind, page, frees: 0, unit: NONE, epoch: 0, ..task };
            self.enqueue(first + u32::from(place.parity) - 1, parity, at);
        }
    }

    /// Pad all program units of host data being filled, for a slot's write or a flush; return the
    /// programs begun.
    pub(super) fn pad_all(&mut self, at: Nanos, waiter: u32) -> u32 {
        let mut sent = 0;
        for number in 0..self.controllers.len() {
            for frontier in Frontier::OF_HOST {
                while self.controllers[number].buffered.filling(frontier) != NONE {
                    let to = self.controllers[number].ftl.pad(frontier);
                    if self.fill(number, frontier, to, (at, at), waiter) {
                        sent += 1;
                        self.keep_pace(number, at);
                    }
                }
            }
        }
        sent
    }

    /// Return whether the buffer holds a mapping unit of host data whose program had not begun
    /// before `now`.
    pub(super) fn holds_unprogrammed(&self, (number, logical): Unit, now: Nanos) -> bool {
        let controller = &self.controllers[number];
        let Some((unit, die)) = controller.buffered_unit(&self.geometry, logical) else { return false };
        let die = self.nand.die(die);
        let is_its = |of: &Task| of.kind == TaskKind::Host && of.unit == unit;
        controller.buffered.is_filling(unit)
            || die.queue.iter().chain(die.now.iter().filter(|_| now <= die.begin)).any(is_its)
    }

    /// Mapping units whose newest version is only in the buffer.
    pub(super) fn buffered_units(&self) -> impl Iterator<Item = Unit> {
        self.controllers.iter().enumerate().flat_map(move |(number, controller)| {
            let dies = controller.first_die as usize..(controller.first_die + self.geometry.dies()) as usize;
            let on_dies = self.nand.dies()[dies].iter().flat_map(|die| die.now.iter().chain(&die.queue));
            let programs = on_dies.filter(|task| task.kind == TaskKind::Host && task.frees > 0);
            let units = programs.map(|task| task.unit).chain(controller.buffered.filling_host());
            let held = units.flat_map(move |unit| controller.holders(&self.geometry, unit));
            held.map(move |logical| (number, logical))
        })
    }
}

/// Garbage collection.
impl Backend {
    /// Reclaim as much as one program unit of host data takes of the reserve.
    #[inline]
    fn keep_pace(&mut self, number: usize, at: Nanos) {
        let controller = &mut self.controllers[number];
        if !controller.is_uniform && controller.ftl.reuse_cache().is_some() {
            self.erase(number, false, at);
        }
        let controller = &mut self.controllers[number];
        if controller.ftl.is_short() {
            self.reclaim_in_pace(number, at);
        } else {
            controller.collector.settle();
        }
    }

    fn reclaim_in_pace(&mut self, number: usize, at: Nanos) {
        let controller = &mut self.controllers[number];
        let (moves, gain) = controller.ftl.pace();
        controller.collector.owe(u64::from(self.geometry.program_units) * moves.max(1));
        while self.controllers[number].collector.pay(gain.max(1)) {
            if self.reclaim_step(number, at) {
                // The next victim has a pace of its own.
                self.controllers[number].collector.settle();
                return;
            }
        }
    }

    fn reclaim_until_possible(&mut self, number: usize, at: Nanos) {
        while self.controllers[number].ftl.is_exhausted() {
            self.reclaim_step(number, at);
        }
    }

    /// Move one unit or erase the victim; return whether it was erased.
    fn reclaim_step(&mut self, number: usize, at: Nanos) -> bool {
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

    /// Charge the dies for a moved unit, by garbage collection or by a rebuild.
    fn move_unit(&mut self, number: usize, frontier: Frontier, (from, to): (u32, u32), rebuilds: bool, at: Nanos) {
        let (source, _) = self.geometry.program_unit(from);
        let collector = &mut self.controllers[number].collector;
        let relocation = collector.relocation(frontier);
        if self.separate && *relocation == NONE {
            *relocation = self.relocations.open(number as u32);
        }
        let relocation = *relocation;
        if collector.senses(rebuilds, source) {
            let (place, page) = self.place(number, source);
            let die = self.controllers[number].first_die + u32::from(place.die);
            let sense = Task { page, ..Task::new(TaskKind::Sense, (source, relocation), ALL_MOVED, rebuilds, at) };
            if self.nand.die(die).dead {
                self.sense_others(number, sense, at);
            } else {
                self.relocations.add_sense(relocation);
                self.enqueue(die, sense, at);
            }
        }
        if !self.separate {
            let controller = &mut self.controllers[number];
            if let Some(degraded) = &mut controller.degraded {
                degraded.note_filling(rebuilds);
            }
            controller.buffered.add_moved_unit();
            self.fill(number, Frontier::Host, to, (at, at), NONE);
            return;
        }
        self.relocations.note_rebuild(relocation, rebuilds);
        self.fill_relocated(number, frontier, to, at);
    }

    /// Add a unit to a frontier of relocated data; a full program unit goes to its die once its
    /// data are sensed.
    fn fill_relocated(&mut self, number: usize, frontier: Frontier, to: u32, at: Nanos) {
        let (target, rest) = self.geometry.program_unit(to);
        let controller = &mut self.controllers[number];
        if rest + 1 < self.geometry.program_units {
            controller.buffered.fill(frontier, target);
            return;
        }
        controller.buffered.complete(frontier, target);
        let relocation = std::mem::replace(controller.collector.relocation(frontier), NONE);
        if self.relocations.fill(relocation, target)
            && let Some(degraded) = &mut controller.degraded
        {
            degraded.begin_program();
        }
        self.program_if_ready(relocation, at);
    }

    fn finish_sense(&mut self, relocation: u32, at: Nanos) {
        if relocation != NONE {
            self.relocations.finish_sense(relocation);
            self.program_if_ready(relocation, at);
        }
    }

    /// Program a full relocation whose senses have finished.
    fn program_if_ready(&mut self, relocation: u32, at: Nanos) {
        let Some(Relocation { controller, unit, rebuilds, .. }) = self.relocations.close_if_ready(relocation) else {
            return;
        };
        let program = Task::new(TaskKind::Relocated, (unit, NONE), ALL_MOVED, rebuilds, at);
        self.program(controller as usize, unit, program, at);
    }

    /// Charge the dies for an erased block, as many as the capacity scale says.
    fn erase(&mut self, number: usize, rebuilds: bool, at: Nanos) {
        let ((pages, of), dies) = (self.geometry.erase_share, self.geometry.dies());
        self.controllers[number].collector.owe_erases(pages * dies);
        while let Some(turn) = self.controllers[number].collector.next_erase(of, dies) {
            let die = self.controllers[number].first_die + turn;
            self.enqueue(die, Task::new(TaskKind::Erase, (NONE, NONE), ALL_MOVED, rebuilds, at), at);
        }
    }

    /// Process idle-time maintenance: as many moves as all dies program at once, or one erase per
    /// controller. Returns whether there was anything to do.
    pub(super) fn maintain(&mut self, at: Nanos) -> bool {
        let mut any = false;
        for number in 0..self.controllers.len() {
            let mut left = self.geometry.dies() * self.geometry.program_units;
            while left > 0 {
                let Some(step) = self.controllers[number].ftl.reclaim_idle() else { break };
                any = true;
                match step {
                    Step::Moved { from, to, frontier } => {
                        self.move_unit(number, frontier, (from, to), false, at);
                        left -= 1;
                    }
                    Step::Erased { .. } => {
                        self.erase(number, false, at);
                        break;
                    }
                }
            }
        }
        any
    }
}

/// Dead channels and rebuilds.
impl Backend {
    /// Fail a channel, counted over all controllers; return whether the drive survives.
    ///
    /// # Errors
    /// The channel does not exist, or is dead already.
    pub(super) fn fail_channel(&mut self, channel: u32, now: Nanos) -> Result<bool, Reason> {
        let number = (channel / self.geometry.channels) as usize;
        if number >= self.controllers.len() {
            return Err(Reason::new("no_channel").with("channel", channel));
        }
        let per_channel = self.geometry.dies_per_channel;
        let first = channel * per_channel;
        if self.nand.die(first).dead {
            return Err(Reason::new("channel_dead").with("channel", channel));
        }
        let data = self.controllers[number].width(&self.geometry) - 1;
        if !self.geometry.has_parity() || data == 0 || self.controllers[number].ftl.old_blocks() > 0 {
            return Ok(false);
        }
        for die in first..first + per_channel {
            self.nand.die_mut(die).dead = true;
            let queue = std::mem::take(&mut self.nand.die_mut(die).queue);
            queue.iter().filter(|of| of.is_page_sense()).for_each(|&sense| self.sense_others(number, sense, now));
            self.nand.die_mut(die).queue = queue;
        }
        self.pad_everything(number, now);
        let places = self.geometry.narrow(data, |channel| {
            let first = (number as u32 * self.geometry.channels + channel) * per_channel;
            !self.nand.die(first).dead
        });
        let usable_units = places.len() as u32 * self.geometry.program_units;
        let controller = &mut self.controllers[number];
        if controller.ftl.narrow(usable_units).is_err() {
            return Ok(false);
        }
        controller.is_uniform = false;
        let whole = || Box::new(Degraded::new((self.geometry.places.clone(), self.geometry.data())));
        controller.degraded.get_or_insert_with(whole).add_failure(channel, (places, data), now);
        self.rebuild(number, now);
        Ok(true)
    }

    /// Pad all program units being filled, of the host and of relocations.
    fn pad_everything(&mut self, number: usize, now: Nanos) {
        self.pad_all(now, NONE);
        for frontier in Frontier::OF_RELOCATED {
            while self.controllers[number].buffered.filling(frontier) != NONE {
                let to = self.controllers[number].ftl.pad(frontier);
                self.fill_relocated(number, frontier, to, now);
            }
        }
    }

    /// Sense the other parts of a stripe instead of a page on a dead die, whose block is not erased
    /// yet.
    #[cold]
    fn sense_others(&mut self, number: usize, sense: Task, at: Nanos) {
        for position in 0..self.controllers[number].stripe_parts(&self.geometry, sense.unit) {
            let part = self.controllers[number].stripe_part(&self.geometry, sense.unit, position);
            if let Some((other, unit, page)) = part {
                self.relocations.add_sense(sense.tag);
                self.enqueue(other, Task { unit, page, ..sense }, at);
            }
        }
    }

    /// Continue the rebuild until one stripe's worth is under way.
    fn rebuild(&mut self, number: usize, at: Nanos) {
        let width = self.controllers[number].width(&self.geometry);
        loop {
            let Controller { degraded, ftl, .. } = &mut self.controllers[number];
            let Some(degraded) = degraded.as_mut().filter(|of| of.may_go_on(width)) else { return };
            if ftl.old_blocks() == 0 {
                self.rebuilt.extend(degraded.finish(self.unit_bytes, at));
                return;
            }
            self.reclaim_until_possible(number, at);
            match self.controllers[number].ftl.renew() {
                // Garbage collection has the last old blocks.
                None => {
                    self.reclaim_step(number, at);
                }
                Some(Step::Erased { .. }) => self.erase(number, true, at),
                Some(Step::Moved { from, to, frontier }) => {
                    if let Some(degraded) = &mut self.controllers[number].degraded {
                        degraded.count_moved();
                    }
                    self.move_unit(number, frontier, (from, to), true, at);
                }
            }
        }
    }

    #[cold]
    fn finish_rebuild_program(&mut self, die: u32, at: Nanos) {
        let number = self.geometry.controller_of(die);
        if let Some(degraded) = &mut self.controllers[number].degraded {
            degraded.end_program();
        }
        self.rebuild(number, at);
    }

    /// Return the bytes moved by rebuilds.
    pub(super) fn rebuilt_bytes(&self) -> u64 {
        self.controllers.iter().map(|of| of.degraded.as_ref().map_or(0, |of| of.moved_units())).sum::<u64>()
            * self.unit_bytes
    }

    /// Return whether a finished rebuild has not been reported.
    #[inline]
    pub(super) fn has_rebuilt(&self) -> bool {
        !self.rebuilt.is_empty()
    }

    pub(super) fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.rebuilt.pop_front()
    }
}

/// State before the run, power loss, and wear.
impl Backend {
    /// Write `bytes` in order, then as much at random `random_passes` times, in no virtual time.
    pub(super) fn precondition(&mut self, bytes: u64, random_passes: u32) {
        let count = self.controllers.len() as u64;
        let units = bytes / self.unit_bytes / count;
        for (number, controller) in self.controllers.iter_mut().enumerate() {
            let mut random = Random::named(0, &format!("flash/precondition/{number}"));
            controller.precondition(units.min(u64::from(self.geometry.logical)), random_passes, &mut random);
        }
    }

    /// Power down at `now`, and start again with an empty buffer. Program units being filled stay
    /// partly empty.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.nand.stop(now);
        self.events.clear();
        self.programs.clear();
        self.relocations = Relocations::default();
        self.controllers.iter_mut().for_each(|controller| controller.restart(&self.geometry));
        for number in 0..self.controllers.len() {
            if let Some(degraded) = &mut self.controllers[number].degraded {
                degraded.clear();
                self.rebuild(number, now);
            }
        }
    }

    /// Return the work of all translation layers since the drive was new.
    pub(super) fn work(&self) -> Work {
        let mut sum = Work::default();
        self.controllers.iter().for_each(|controller| sum.add(&controller.ftl.work()));
        sum
    }

    /// Return fill and cycles of the flash.
    pub(super) fn wear(&self) -> Wear {
        let (unit, mut wear) = (self.unit_bytes, Wear::default());
        let cached = self.controllers.iter().filter_map(|controller| controller.ftl.cached_units());
        wear.cached_bytes = cached.reduce(|all, more| all + more).map(|units| units * unit);
        self.controllers.iter().for_each(|controller| controller.add_wear(unit, &mut wear));
        wear
    }
}
