//! Logical processors, and the threads that run on them or wait for one.

use super::station::Station;
use crate::kernel::ready_tree::ReadyTree;
use tameshi_base::Nanos;

/// No thread, no request.
pub(super) const NONE: u32 = u32::MAX;

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadState {
    /// Nothing to do.
    Asleep,
    /// In line for a processor.
    Waiting,
    /// On a processor.
    Running,
}

/// A thread, with a linked list of its pending requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// Index of its first request among all.
    pub(super) base: u32,
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) last_core: u32,
    pub(super) state: ThreadState,
    /// The thread is a job of this phase.
    pub(super) of_job: bool,
    /// Next thread in line for a processor.
    next_waiting: u32,
}

impl Thread {
    pub(super) fn new(base: u32) -> Self {
        Self {
            base,
            head: NONE,
            tail: NONE,
            last_core: 0,
            state: ThreadState::Asleep,
            of_job: false,
            next_waiting: NONE,
        }
    }
}

/// A logical processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core {
    pub(super) thread: u32,
    /// Physical core of the logical processor.
    physical: u32,
    /// Request that the thread works for; [`NONE`] in the instant after one.
    request: u32,
    end: Nanos,
    /// Work of a job's thread until `end`, without waiting for a lock.
    own_ns: Nanos,
    /// Delay of that work by interrupts.
    held_ns: Nanos,
    slice_end: Nanos,
}

/// All processors and threads.
#[derive(Debug)]
pub(super) struct Cores {
    /// Logical processor *i* belongs to physical core *i* modulo the number of physical cores.
    pub(super) all: Vec<Core>,
    /// Per physical core, the number of its logical processors with a thread.
    taken: Vec<u8>,
    pub(super) threads: Vec<Thread>,
    /// Threads that run or wait for a processor.
    pub(super) runnable: u64,
    idle: usize,
    first_waiting: u32,
    last_waiting: u32,
    ends: ReadyTree,
    /// A thread keeps its processor until the end of this instant.
    pub(super) lingers: bool,
    /// Work of threads, including the rest of what they do now.
    pub(super) busy_ns: Nanos,
    /// Share of jobs' threads in it, and interrupts that delayed them.
    pub(super) jobs_ns: Nanos,
}

impl Cores {
    pub(super) fn new(physical: usize, threads_per_core: usize) -> Self {
        let count = physical * threads_per_core;
        Self {
            all: (0..count as u32)
                .map(|core| Core {
                    thread: NONE,
                    physical: core % physical as u32,
                    request: NONE,
                    end: 0,
                    own_ns: 0,
                    held_ns: 0,
                    slice_end: 0,
                })
                .collect(),
            taken: vec![0; physical],
            threads: Vec::new(),
            runnable: 0,
            idle: count,
            first_waiting: NONE,
            last_waiting: NONE,
            ends: ReadyTree::new(count),
            lingers: false,
            busy_ns: 0,
            jobs_ns: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Return when the first processor ends its work.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.ends.first().0
    }

    /// Return whether another logical processor of the same physical core has a thread.
    pub(super) fn has_busy_sibling(&self, core: usize) -> bool {
        let Core { thread, physical, .. } = self.all[core];
        self.taken[physical as usize] > u8::from(thread != NONE)
    }

    /// Make a thread runnable. Return an idle processor for it; `None` if there is none, or the
    /// thread is runnable already.
    pub(super) fn wake(&mut self, thread: usize) -> Option<usize> {
        if self.threads[thread].state != ThreadState::Asleep {
            return None;
        }
        self.threads[thread].state = ThreadState::Waiting;
        self.runnable += 1;
        let core = self.idle_core(self.threads[thread].last_core as usize);
        if core.is_none() {
            self.enqueue(thread as u32);
        }
        core
    }

    /// Return the last processor if its whole core is idle, else the first of an idle core, else
    /// any idle one.
    fn idle_core(&self, last: usize) -> Option<usize> {
        if self.idle == 0 {
            return None;
        }
        let idle = |core: &usize| self.all[*core].thread == NONE;
        if self.taken[self.all[last].physical as usize] == 0 {
            return Some(last);
        }
        let first = self.taken.iter().position(|&taken| taken == 0);
        first.or_else(|| Some(last).filter(idle)).or_else(|| (0..self.all.len()).find(idle))
    }

    fn enqueue(&mut self, thread: u32) {
        match self.last_waiting {
            NONE => self.first_waiting = thread,
            last => self.threads[last as usize].next_waiting = thread,
        }
        self.last_waiting = thread;
        self.threads[thread as usize].next_waiting = NONE;
    }

    /// Place a thread on an idle processor.
    pub(super) fn place(&mut self, core: usize, thread: u32, slice_end: Nanos) {
        self.idle -= 1;
        let at = &mut self.all[core];
        (at.thread, at.slice_end) = (thread, slice_end);
        self.taken[at.physical as usize] += 1;
        let thread = &mut self.threads[thread as usize];
        (thread.state, thread.last_core) = (ThreadState::Running, core as u32);
    }

    /// Let a processor's thread work for a request; `own_ns` is without waiting for a lock.
    pub(super) fn work(&mut self, core: usize, request: u32, (begin, end): (Nanos, Nanos), own_ns: Nanos) {
        let at = &mut self.all[core];
        let own_ns = if self.threads[at.thread as usize].of_job { own_ns } else { 0 };
        (at.request, at.end, at.own_ns, at.held_ns) = (request, end, own_ns, 0);
        (self.busy_ns, self.jobs_ns) = (self.busy_ns + (end - begin), self.jobs_ns + own_ns);
        self.ends.set(core, Some(end));
    }

    /// Delay a processor's work by an interrupt.
    pub(super) fn push_back_end(&mut self, core: usize, by: Nanos) {
        let at = &mut self.all[core];
        if at.request != NONE {
            at.end += by;
            at.held_ns += by;
            self.ends.set(core, Some(at.end));
            if self.threads[at.thread as usize].of_job {
                self.jobs_ns += by;
            }
        }
    }

    /// Move a thread that interrupts have delayed by a whole time slice to an idle processor.
    ///
    /// Schedulers move running tasks off processors whose capacity interrupts use up (Linux:
    /// `check_cpu_capacity`).
    pub(super) fn escape_interrupts(&mut self, core: usize, now: Nanos, interrupts: &Station, slice: Nanos) {
        let Core { request, end, own_ns, held_ns, .. } = self.all[core];
        if request == NONE || held_ns < slice {
            return;
        }
        let Some(other) = self.idle_core(core) else { return };
        let left = end.saturating_sub(interrupts.free_at(core).max(now));
        self.all[core].request = NONE;
        let thread = self.detach(core);
        self.place(other, thread, now + slice);
        let end = now.max(interrupts.free_at(other)) + left;
        let at = &mut self.all[other];
        (at.request, at.end, at.own_ns, at.held_ns) = (request, end, own_ns, 0);
        self.ends.set(other, Some(end));
    }

    /// Return the processor that is due first, and the request that it has worked for.
    pub(super) fn take(&mut self) -> (usize, Option<u32>) {
        let (_, core) = self.ends.first();
        let request = std::mem::replace(&mut self.all[core].request, NONE);
        self.lingers = false;
        (core, (request != NONE).then_some(request))
    }

    /// Let the thread of the processor that was due first keep it until the end of this instant.
    pub(super) fn linger(&mut self, core: usize, now: Nanos) {
        self.ends.requeue(core, now);
        self.lingers = true;
    }

    /// Return whether the thread on a processor has more to do and may keep the processor.
    pub(super) fn may_continue(&self, core: usize, now: Nanos) -> bool {
        let at = &self.all[core];
        let more = self.threads[at.thread as usize].head != NONE;
        more && (now < at.slice_end || self.first_waiting == NONE)
    }

    /// Return the first idle physical core, for a thread whose time slice has ended and whose
    /// sibling is busy.
    pub(super) fn idle_physical_core(&self, core: usize, now: Nanos) -> Option<usize> {
        if now < self.all[core].slice_end || !self.has_busy_sibling(core) {
            return None;
        }
        self.taken.iter().position(|&taken| taken == 0)
    }

    /// Take the thread off a processor; the caller must place it on another one now.
    pub(super) fn detach(&mut self, core: usize) -> u32 {
        self.ends.set(core, None);
        self.vacate(core)
    }

    fn vacate(&mut self, core: usize) -> u32 {
        self.taken[self.all[core].physical as usize] -= 1;
        self.idle += 1;
        std::mem::replace(&mut self.all[core].thread, NONE)
    }

    /// Take the thread off a processor. Return the next thread in line, which the caller must place
    /// there now.
    pub(super) fn release(&mut self, core: usize) -> Option<u32> {
        let thread = self.vacate(core);
        if self.threads[thread as usize].head == NONE {
            self.threads[thread as usize].state = ThreadState::Asleep;
            self.runnable -= 1;
        } else {
            self.threads[thread as usize].state = ThreadState::Waiting;
            self.enqueue(thread);
        }
        let first = self.first_waiting;
        if first == NONE {
            self.ends.set(core, None);
            return None;
        }
        self.first_waiting = self.threads[first as usize].next_waiting;
        if self.first_waiting == NONE {
            self.last_waiting = NONE;
        }
        Some(first)
    }

    /// Return the number of jobs' threads, and their work up to `now`.
    pub(super) fn jobs_worked(&self, now: Nanos, interrupts: &Station) -> (u64, Nanos) {
        let ahead = |(core, at): (usize, &Core)| {
            let end = if at.request == NONE { 0 } else { at.end };
            end.saturating_sub(interrupts.free_at(core).max(now)).min(at.own_ns)
        };
        let ahead: Nanos = self.all.iter().enumerate().map(ahead).sum();
        (self.threads.iter().filter(|thread| thread.of_job).count() as u64, self.jobs_ns - ahead)
    }

    /// Return the work that is counted already and lies after `now`, interrupts included.
    pub(super) fn ahead(&self, now: Nanos, interrupts: &Station) -> Nanos {
        let ahead = |(core, at): (usize, &Core)| {
            let end = if at.request == NONE { 0 } else { at.end };
            end.max(interrupts.free_at(core)).saturating_sub(now)
        };
        self.all.iter().enumerate().map(ahead).sum()
    }
}
