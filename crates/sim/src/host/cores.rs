//! Logical processors and the threads that want them.

use super::station::Station;
use crate::kernel::ready_tree::ReadyTree;
use tameshi_base::Nanos;

/// No thread, no request.
pub(super) const NONE: u32 = u32::MAX;

/// What a thread is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadState {
    /// It has nothing to do.
    Asleep,
    /// It waits for a processor.
    Waiting,
    /// It is on one.
    Running,
}

/// A thread: what it has to do, in order, as a list through the requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// Its first request's place among all.
    pub(super) base: u32,
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) last_core: u32,
    pub(super) state: ThreadState,
    /// Whether it is a job's in this phase.
    pub(super) of_job: bool,
    /// Who waits behind it.
    behind: u32,
}

impl Thread {
    pub(super) fn new(base: u32) -> Self {
        Self { base, head: NONE, tail: NONE, last_core: 0, state: ThreadState::Asleep, of_job: false, behind: NONE }
    }
}

/// A logical processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Core {
    pub(super) thread: u32,
    /// The physical core that it is one of.
    physical: u32,
    /// What the thread does; nothing in the instant after it has done something.
    request: u32,
    end: Nanos,
    /// What a job's thread itself works until then, without waiting for a lock.
    own_ns: Nanos,
    /// How long interrupts have kept it from that.
    held_ns: Nanos,
    slice_end: Nanos,
}

/// All processors and threads.
#[derive(Debug)]
pub(super) struct Cores {
    /// Logical processor `i` is one of physical core `i % physical`, of as many.
    pub(super) all: Vec<Core>,
    /// By physical core, of how many of its logical processors each has a thread.
    taken: Vec<u8>,
    pub(super) threads: Vec<Thread>,
    /// Threads that run or want to.
    pub(super) runnable: u64,
    idle: usize,
    first_waiting: u32,
    last_waiting: u32,
    ends: ReadyTree,
    /// A thread stays on its processor until the end of this instant.
    pub(super) lingers: bool,
    /// What threads have worked and will have when they have done what they do.
    pub(super) busy_ns: Nanos,
    /// Of it, the own work of jobs' threads, and interrupts that kept them from it.
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

    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.ends.first().0
    }

    /// Whether another logical processor of the same physical core has a thread.
    pub(super) fn beside_sibling(&self, core: usize) -> bool {
        let Core { thread, physical, .. } = self.all[core];
        self.taken[physical as usize] > u8::from(thread != NONE)
    }

    /// A thread has something to do; the idle processor that takes it, if it doesn't run already and there is one.
    pub(super) fn want(&mut self, thread: usize) -> Option<usize> {
        if self.threads[thread].state != ThreadState::Asleep {
            return None;
        }
        self.threads[thread].state = ThreadState::Waiting;
        self.runnable += 1;
        let core = self.idle_core(self.threads[thread].last_core as usize);
        if core.is_none() {
            self.line_up(thread as u32);
        }
        core
    }

    /// The processor of last time if its core is all idle, else the first such one, else any idle one.
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

    fn line_up(&mut self, thread: u32) {
        match self.last_waiting {
            NONE => self.first_waiting = thread,
            last => self.threads[last as usize].behind = thread,
        }
        self.last_waiting = thread;
        self.threads[thread as usize].behind = NONE;
    }

    /// A thread comes to an idle processor.
    pub(super) fn place(&mut self, core: usize, thread: u32, slice_end: Nanos) {
        self.idle -= 1;
        let at = &mut self.all[core];
        (at.thread, at.slice_end) = (thread, slice_end);
        self.taken[at.physical as usize] += 1;
        let thread = &mut self.threads[thread as usize];
        (thread.state, thread.last_core) = (ThreadState::Running, core as u32);
    }

    /// A processor's thread works for a request, of that time `own_ns` without waiting for a lock.
    pub(super) fn work(&mut self, core: usize, request: u32, (begin, end): (Nanos, Nanos), own_ns: Nanos) {
        let at = &mut self.all[core];
        let own_ns = if self.threads[at.thread as usize].of_job { own_ns } else { 0 };
        (at.request, at.end, at.own_ns, at.held_ns) = (request, end, own_ns, 0);
        (self.busy_ns, self.jobs_ns) = (self.busy_ns + (end - begin), self.jobs_ns + own_ns);
        self.ends.set(core, Some(end));
    }

    /// An interrupt came between: for as long its thread can't do anything else.
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

    /// Where interrupts keep a thread from its request for a whole time slice, it goes on with it on an idle processor: a
    /// scheduler takes a running task off a processor whose capacity interrupts use up (Linux: `check_cpu_capacity`).
    pub(super) fn escape(&mut self, core: usize, now: Nanos, interrupts: &Station, slice: Nanos) {
        let Core { request, end, own_ns, held_ns, .. } = self.all[core];
        if request == NONE || held_ns < slice {
            return;
        }
        let Some(other) = self.idle_core(core) else { return };
        let left = end.saturating_sub(interrupts.free_at(core).max(now));
        self.all[core].request = NONE;
        let thread = self.move_off(core);
        self.place(other, thread, now + slice);
        let end = now.max(interrupts.free_at(other)) + left;
        let at = &mut self.all[other];
        (at.request, at.end, at.own_ns, at.held_ns) = (request, end, own_ns, 0);
        self.ends.set(other, Some(end));
    }

    /// The processor that is first, and the request that it has worked for.
    pub(super) fn take(&mut self) -> (usize, Option<u32>) {
        let (_, core) = self.ends.first();
        let request = std::mem::replace(&mut self.all[core].request, NONE);
        self.lingers = false;
        (core, (request != NONE).then_some(request))
    }

    /// The thread of the processor that was first stays on it until the end of this instant.
    pub(super) fn linger(&mut self, core: usize, now: Nanos) {
        self.ends.again(core, now);
        self.lingers = true;
    }

    /// Whether the thread on a processor has more to do and may.
    pub(super) fn goes_on(&self, core: usize, now: Nanos) -> bool {
        let at = &self.all[core];
        let more = self.threads[at.thread as usize].head != NONE;
        more && (now < at.slice_end || self.first_waiting == NONE)
    }

    /// For a thread whose time slice is over and that works beside a sibling: the first processor whose core is all idle.
    pub(super) fn better(&self, core: usize, now: Nanos) -> Option<usize> {
        if now < self.all[core].slice_end || !self.beside_sibling(core) {
            return None;
        }
        self.taken.iter().position(|&taken| taken == 0)
    }

    /// The thread that goes on elsewhere, and must be placed there now, leaves its processor idle.
    pub(super) fn move_off(&mut self, core: usize) -> u32 {
        self.ends.set(core, None);
        self.vacate(core)
    }

    fn vacate(&mut self, core: usize) -> u32 {
        self.taken[self.all[core].physical as usize] -= 1;
        self.idle += 1;
        std::mem::replace(&mut self.all[core].thread, NONE)
    }

    /// The thread leaves its processor; the one whose turn it is, which must be placed there now.
    pub(super) fn leave(&mut self, core: usize) -> Option<u32> {
        let thread = self.vacate(core);
        if self.threads[thread as usize].head == NONE {
            self.threads[thread as usize].state = ThreadState::Asleep;
            self.runnable -= 1;
        } else {
            self.threads[thread as usize].state = ThreadState::Waiting;
            self.line_up(thread);
        }
        let first = self.first_waiting;
        if first == NONE {
            self.ends.set(core, None);
            return None;
        }
        self.first_waiting = self.threads[first as usize].behind;
        if self.first_waiting == NONE {
            self.last_waiting = NONE;
        }
        Some(first)
    }

    /// Threads of jobs, and how long these have worked up to `now`.
    pub(super) fn jobs_worked(&self, now: Nanos, interrupts: &Station) -> (u64, Nanos) {
        let ahead = |(core, at): (usize, &Core)| {
            let end = if at.request == NONE { 0 } else { at.end };
            end.saturating_sub(interrupts.free_at(core).max(now)).min(at.own_ns)
        };
        let ahead: Nanos = self.all.iter().enumerate().map(ahead).sum();
        (self.threads.iter().filter(|thread| thread.of_job).count() as u64, self.jobs_ns - ahead)
    }

    /// Work that is counted already and lies after `now`, interrupts included.
    pub(super) fn ahead(&self, now: Nanos, interrupts: &Station) -> Nanos {
        let ahead = |(core, at): (usize, &Core)| {
            let end = if at.request == NONE { 0 } else { at.end };
            end.max(interrupts.free_at(core)).saturating_sub(now)
        };
        self.all.iter().enumerate().map(ahead).sum()
    }
}
