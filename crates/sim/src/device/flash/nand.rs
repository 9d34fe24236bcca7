//! Flash array: dies, the channels to them, and the power that they draw.

use super::channels::Channels;
use super::dies::{Die, NONE, PageRead, Task, TaskKind};
use super::geometry::{Geometry, SLC_PAGE};
use super::power::{ERASE, PROGRAM, SENSE, SLC_PROGRAM, Supply};
use super::read_parts::{DurablePrograms, Fetched, ReadParts};
use super::timing::Timing;
use crate::basics::prefetch::{prefetch, prefetch_all};
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::FlashProfile;

/// Dies beyond which their queues exceed the processor's cache.
const MANY_DIES: usize = 32;

/// Dies and channels of all controllers.
#[derive(Debug)]
pub(super) struct Nand {
    dies: Vec<Die>,
    channels: Channels,
    timing: Timing,
    /// Power model, if the profile states power.
    supply: Option<Supply>,
    /// Die time spent of late: on garbage collection, on a rebuild, on anything.
    recent: [u64; 3],
    /// Die time, including the work ahead.
    busy_ns: Nanos,
    read_parts: ReadParts,
    durable_programs: DurablePrograms,
}

impl Nand {
    pub(super) fn new(profile: &FlashProfile, geometry: &Geometry) -> Self {
        let controllers = profile.controller.count.value;
        let dies = (geometry.dies() * controllers) as usize;
        let channels = Channels::new(geometry, controllers);
        Self {
            dies: (0..dies).map(|_| Die::new()).collect(),
            read_parts: ReadParts::new(dies, channels.count()),
            durable_programs: DurablePrograms::new(dies, channels.count()),
            channels,
            timing: Timing::new(profile, geometry),
            supply: profile.power.as_ref().map(|power| Supply::new(power, profile)),
            recent: [0, 0, 1],
            busy_ns: 0,
        }
    }

    #[inline]
    pub(super) fn die(&self, die: u32) -> &Die {
        &self.dies[die as usize]
    }

    pub(super) fn die_mut(&mut self, die: u32) -> &mut Die {
        &mut self.dies[die as usize]
    }

    pub(super) fn dies(&self) -> &[Die] {
        &self.dies
    }

    /// Queue a task; return whether the die takes up a task and must be started.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, die: u32, task: Task) -> bool {
        self.dies[die as usize].take(task)
    }

    /// Start the task that a die has taken up, with repetitions of its sense; return its end.
    #[inline]
    pub(super) fn start(&mut self, number: u32, repeats: u32, at: Nanos) -> Nanos {
        let die = &mut self.dies[number as usize];
        let Some(task @ Task { kind, page, tag, rebuilds, ready, .. }) = die.now else { return at };
        if die.dead {
            // Tasks of a dead die take no time.
            die.work(at, at);
            return at;
        }
        let timing = &self.timing;
        let mut begin = at.max(die.read_until).max(ready);
        let (energy, work) = match kind {
            TaskKind::Sense => (SENSE, timing.read[usize::from(page)] + Nanos::from(repeats) * timing.repeat),
            TaskKind::Erase => (ERASE, timing.erase),
            TaskKind::Map => (PROGRAM, timing.map_write),
            _ if page == SLC_PAGE => (SLC_PROGRAM, timing.program[usize::from(page)]),
            TaskKind::Host | TaskKind::Parity | TaskKind::Relocated => (PROGRAM, timing.program[usize::from(page)]),
        };
        if let Some(supply) = &mut self.supply {
            for _ in 0..=repeats {
                begin = supply.take(energy, at, begin);
            }
        }
        let end = match kind {
            TaskKind::Erase => begin + work,
            kind => {
                let is_sense = kind == TaskKind::Sense;
                let transfer = if is_sense { timing.moved_transfer } else { timing.program_transfer };
                let channel = self.channels.of_die(number);
                let over = (begin + transfer).max(self.channels.request(channel, at, transfer));
                if tag != NONE && !is_sense {
                    let on_bus = over - begin - transfer;
                    self.durable_programs.begin(tag, (number as usize, channel), (on_bus, transfer, work));
                }
                over + work
            }
        };
        die.work(begin, end);
        self.busy_ns += end - begin;
        let [collecting, rebuilding, all] = &mut self.recent;
        *all += end - begin;
        *(if rebuilds { rebuilding } else { collecting }) += task.for_moves(end - begin);
        if *all > 1 << 36 {
            self.recent = self.recent.map(|time| time / 2);
        }
        end
    }

    /// Take up the next queued task of an idle die; return whether it must be started.
    #[inline]
    pub(super) fn take_next(&mut self, die: u32) -> bool {
        self.dies[die as usize].take_next()
    }

    /// Sense a page for the host and transfer a mapping unit of it, as one of `SEVERAL` parts of a
    /// read, on a `PLAIN` drive.
    #[inline(always)]
    pub(super) fn read<const SEVERAL: bool, const PLAIN: bool>(
        &mut self,
        number: u32,
        read: PageRead,
        now: Nanos,
        ready: Nanos,
    ) -> Fetched {
        let die = &mut self.dies[number as usize];
        let repeated = if PLAIN { 0 } else { Nanos::from(read.repeats) * self.timing.repeat };
        let time = self.timing.read[usize::from(read.page)] + repeated;
        let (mut from, mut waits) = (ready, false);
        if !PLAIN && let Some(supply) = &mut self.supply {
            waits = supply.holds_reads(now) && !die.has_sensed(&read);
            if waits {
                from = supply.take(SENSE, now, ready);
            }
        }
        let sensed = die.read(from, &read, time, self.timing.suspend);
        if sensed.is_new {
            self.busy_ns += time;
            if let Some(supply) = &mut self.supply {
                supply.take_on_top(read.repeats + u32::from(!waits), now);
            }
        }
        let transfer = self.timing.unit_transfer;
        let own = (self.timing.read_overhead + time).min(sensed.at - now);
        let channel = self.channels.of_die(number);
        let at = self.channels.carry(channel, transfer, now, (sensed.at, own));
        let mut fetched = Fetched::transferred((ready, from), &sensed, (at, transfer));
        if SEVERAL {
            let on_bus = (at - sensed.at - transfer, transfer);
            self.read_parts.add((number as usize, channel), (from, &sensed), on_bus, &mut fetched);
        }
        fetched
    }

    /// Begin a read of several parts.
    pub(super) fn begin_read(&mut self) {
        self.read_parts.begin();
    }

    /// Register a slot's durable write, whose data are there at `ready`.
    pub(super) fn register_durable(&mut self, slot: u32, ready: Nanos) {
        self.durable_programs.register(slot, ready);
    }

    /// Return a die's time for a slot's durable write.
    pub(super) fn durable_time(&self, die: u32, slot: u32) -> Nanos {
        self.durable_programs.on(die, slot)
    }

    /// Split a wait for dies: time for garbage collection, and for a rebuild, by their recent
    /// shares.
    pub(super) fn split_wait(&self, wait: Nanos) -> (Nanos, Nanos) {
        let [collecting, rebuilding, all] = self.recent;
        let share = |of: u64| match wait.checked_mul(of) {
            Some(product) => product / all,
            None => (u128::from(wait) * u128::from(of) / u128::from(all)) as Nanos,
        };
        (share(collecting), if rebuilding == 0 { 0 } else { share(rebuilding) })
    }

    /// Prefetch a die.
    #[inline]
    pub(super) fn prefetch(&self, die: u32) {
        prefetch_all(&self.dies, die as usize);
    }

    /// Return the task of a die whose end to prefetch for; `None` if there are few dies. Prefetches
    /// its queue.
    #[inline]
    pub(super) fn prefetch_queue(&self, die: u32) -> Option<Task> {
        if self.dies.len() < MANY_DIES {
            return None;
        }
        let die = &self.dies[die as usize];
        // Not the next task: each may span two cache lines, and the second is the first of this
        // one.
        if let Some(second) = die.queue.get(1) {
            prefetch(std::slice::from_ref(second), 0);
        }
        die.now
    }

    /// Return the end of all present tasks; `None` if all dies are idle.
    pub(super) fn busy_until(&self) -> Option<Nanos> {
        self.dies.iter().filter(|die| die.now.is_some()).map(|die| die.end).max()
    }

    fn ahead(&self, now: Nanos) -> Nanos {
        let ahead = |until: Nanos| until.saturating_sub(now);
        self.dies.iter().map(|die| ahead(die.read_until) + die.now.map_or(0, |_| ahead(die.end.max(die.begin)))).sum()
    }

    /// Add the busy time of dies and channels.
    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        let live = self.dies.iter().filter(|die| !die.dead).count() as u64;
        usage.add(Resource::Media, live, self.busy_ns.saturating_sub(self.ahead(now)));
        self.channels.usage(now, usage);
    }

    pub(super) fn supply(&self) -> Option<&Supply> {
        self.supply.as_ref()
    }

    #[cfg(test)]
    pub(super) fn busy_ns(&self) -> [Nanos; 2] {
        [self.busy_ns, self.channels.busy_ns()]
    }

    /// Cancel all work after `now`.
    pub(super) fn stop(&mut self, now: Nanos) {
        self.busy_ns = self.busy_ns.saturating_sub(self.ahead(now));
        self.dies.iter_mut().for_each(Die::clear);
        self.channels.stop(now);
        if let Some(supply) = &mut self.supply {
            supply.stop(now);
        }
    }
}
