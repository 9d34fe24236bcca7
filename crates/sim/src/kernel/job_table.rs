//! Table of jobs: those of the current phase, and earlier ones with commands outstanding.
//!
//! A phase begins at the end of the one before. Commands of the earlier phase then complete into
//! the digest only. In closed loop a job of the new phase issues a command for each that completes
//! on its storage. The storage therefore never holds more than the larger of the two queue depths.
//! Open-loop arrivals wait for nothing. If more is outstanding than the new phase may have, the
//! earlier phase drains first.

use super::ready_tree::ReadyTree;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_record::IntervalStats;
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::Job;

/// A job, its stream, and its place on a device.
#[derive(Debug)]
pub(crate) struct JobSlot {
    pub(crate) job: Job,
    /// Number of the job in its stream.
    pub(crate) number: u32,
    pub(crate) stream: u16,
    /// Index of the storage in the spec.
    pub(crate) storage: usize,
    /// Index of the device that holds the storage.
    pub(crate) device: usize,
    /// Offset of the storage on the device.
    pub(crate) base_bytes: u64,
    pub(crate) open_loop: bool,
}

/// State of a slot of the table.
#[derive(Clone, Copy, Debug, Default)]
struct SlotState {
    /// Number of the phase's visit that the job belongs to.
    visit: u32,
    /// The job waits for a completion of an earlier phase.
    waits: bool,
}

/// Load of a storage while phases change.
#[derive(Debug, Default)]
struct StorageLoad {
    /// Outstanding commands of earlier phases.
    carried_over: u64,
    /// Outstanding commands of the current phase.
    current: u64,
    /// Commands that the current phase may have outstanding.
    slots: u64,
    /// Jobs that wait for a completion of an earlier phase.
    waiting: VecDeque<usize>,
}

impl StorageLoad {
    fn has_room(&self) -> bool {
        self.carried_over == 0 || self.carried_over + self.current < self.slots
    }
}

/// A phase that has ended and may have commands outstanding.
#[derive(Debug)]
struct EndedPhase {
    phase: u32,
    visit: u32,
    outstanding: u64,
    /// Time of its last completion so far, or of its end.
    at: Nanos,
}

/// All jobs of a run that may have commands outstanding.
#[derive(Debug, Default)]
pub(crate) struct JobTable {
    slots: Vec<JobSlot>,
    states: Vec<SlotState>,
    /// No slot below it is free.
    next_free: usize,
    /// Per storage.
    loads: Vec<StorageLoad>,
    visit: u32,
    /// Outstanding commands of earlier phases.
    carried_over: u64,
    ended: Vec<EndedPhase>,
}

impl JobTable {
    /// Begin a phase of a run with *n* storages; [`Self::add`] adds its jobs.
    pub(crate) fn begin(&mut self, storages: usize) {
        self.visit += 1;
        self.next_free = 0;
        self.loads.clear();
        self.loads.resize_with(storages, StorageLoad::default);
        for slot in &self.slots {
            self.loads[slot.storage].carried_over += u64::from(slot.job.outstanding());
        }
        self.carried_over = self.loads.iter().map(|load| load.carried_over).sum();
    }

    /// Remove all jobs; nothing is outstanding.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.states.clear();
    }

    /// Add a job to the first slot without outstanding commands; `depth` is its queue depth.
    pub(crate) fn add(&mut self, slot: JobSlot, depth: u32) {
        while self.slots.get(self.next_free).is_some_and(|slot| slot.job.outstanding() > 0) {
            self.next_free += 1;
        }
        let (index, state) = (self.next_free, SlotState { visit: self.visit, waits: false });
        self.next_free += 1;
        self.loads[slot.storage].slots += u64::from(depth);
        if index == self.slots.len() {
            self.slots.push(slot);
            self.states.push(state);
        } else {
            (self.slots[index], self.states[index]) = (slot, state);
        }
    }

    /// Number of slots.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Return whether a job belongs to the current phase.
    #[inline]
    pub(crate) fn is_current(&self, job: usize) -> bool {
        self.states[job].visit == self.visit
    }

    /// Jobs of the current phase, with their indices.
    pub(crate) fn current(&self) -> impl Iterator<Item = (usize, &JobSlot)> {
        self.slots.iter().enumerate().filter(|(job, _)| self.is_current(*job))
    }

    /// Add to each stream's interval, which ends at `end`, the queues of the current phase's jobs.
    pub(crate) fn count_queues(&mut self, end: Nanos, stats: &mut [IntervalStats]) {
        let visit = self.visit;
        let slots = self.slots.iter_mut().zip(&self.states).filter(|(_, state)| state.visit == visit);
        for (slot, _) in slots {
            let (of, stats) = (slot.job.take_queue_time(end), &mut stats[usize::from(slot.stream)]);
            stats.in_flight_ns = stats.in_flight_ns.saturating_add(of.in_flight_ns);
            stats.waiting_ns = stats.waiting_ns.saturating_add(of.waiting_ns);
        }
    }

    #[inline]
    pub(crate) fn get(&self, job: usize) -> &JobSlot {
        &self.slots[job]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, job: usize) -> &mut JobSlot {
        &mut self.slots[job]
    }

    /// Return whether a due job must wait for an earlier phase; [`Self::completed`] then wakes it.
    #[inline]
    pub(crate) fn must_wait(&mut self, job: usize) -> bool {
        self.carried_over > 0 && self.wait_for_room(job)
    }

    fn wait_for_room(&mut self, job: usize) -> bool {
        let (slot, state) = (&self.slots[job], &mut self.states[job]);
        let load = &mut self.loads[slot.storage];
        if slot.open_loop || load.has_room() {
            return false;
        }
        state.waits = true;
        load.waiting.push_back(job);
        true
    }

    /// Count a command that a job of the current phase has issued.
    #[inline]
    pub(crate) fn issued(&mut self, job: usize) {
        if self.carried_over > 0 {
            self.loads[self.slots[job].storage].current += 1;
        }
    }

    /// Count a completion while commands of earlier phases are outstanding; wake waiting jobs.
    pub(crate) fn completed(&mut self, job: usize, now: Nanos, due: &mut ReadyTree) {
        let (storage, visit) = (self.slots[job].storage, self.states[job].visit);
        let load = &mut self.loads[storage];
        if visit == self.visit {
            load.current -= 1;
        } else {
            load.carried_over -= 1;
            self.carried_over -= 1;
            let ended = self.ended.iter_mut().find(|phase| phase.visit == visit);
            let ended = ended.expect("a phase stays in the list while commands are outstanding");
            (ended.outstanding, ended.at) = (ended.outstanding - 1, now);
        }
        while self.loads[storage].has_room()
            && let Some(next) = self.loads[storage].waiting.pop_front()
        {
            self.states[next].waits = false;
            self.set_due(next, now, due);
            if self.loads[storage].carried_over > 0 {
                break;
            }
        }
    }

    /// Set when a job is due next, not before `now`: the job may have waited past its time.
    #[inline(always)]
    pub(crate) fn set_due(&self, job: usize, now: Nanos, due: &mut ReadyTree) {
        if !self.states[job].waits {
            due.set(job, self.slots[job].job.next_due().map(|at| at.max(now)));
        }
    }

    /// End the jobs that end with the stream of a job of `phase` which is done. Return the number
    /// of jobs that have nothing to do any more.
    #[cold]
    pub(crate) fn job_ended(&mut self, job: usize, phase: &PhaseSpec, now: Nanos, due: &mut ReadyTree) -> usize {
        let name = &phase.streams[usize::from(self.slots[job].stream)].name;
        let ends_with = |slot: &JobSlot| phase.streams[usize::from(slot.stream)].stream.ends_with.contains(name);
        let others: Vec<usize> =
            self.current().filter(|(other, slot)| *other != job && ends_with(slot)).map(|(other, _)| other).collect();
        let mut ended = 1;
        for other in others {
            let job = &mut self.slots[other].job;
            if job.is_done() {
                continue;
            }
            job.end();
            let is_done = job.is_done();
            self.set_due(other, now, due);
            if is_done {
                ended += self.job_ended(other, phase, now, due);
            }
        }
        ended
    }

    /// End the current phase: its outstanding commands belong to no interval any more.
    pub(crate) fn end_phase(&mut self, phase: u32, end: Nanos) {
        let outstanding = self.current().map(|(_, slot)| u64::from(slot.job.outstanding())).sum();
        self.ended.push(EndedPhase { phase, visit: self.visit, outstanding, at: end });
        self.visit += 1;
        self.carried_over += outstanding;
        for (slot, state) in self.slots.iter().zip(&self.states) {
            if state.visit + 1 == self.visit {
                self.loads[slot.storage].carried_over += u64::from(slot.job.outstanding());
            }
        }
    }

    /// Number of outstanding commands of earlier phases.
    #[inline]
    pub(crate) fn carried_over(&self) -> u64 {
        self.carried_over
    }

    /// Number of outstanding commands of earlier phases on a storage.
    pub(crate) fn carried_over_on(&self, storage: usize) -> u64 {
        self.loads[storage].carried_over
    }

    /// Remove an earlier phase with nothing outstanding; return it, and when it drained.
    pub(crate) fn next_drained(&mut self) -> Option<(u32, Nanos)> {
        let index = self.ended.iter().position(|phase| phase.outstanding == 0)?;
        let ended = self.ended.remove(index);
        Some((ended.phase, ended.at))
    }
}
