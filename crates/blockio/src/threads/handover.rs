//! Handover from one phase to the next without a pause. The last thread that ends a phase sets the
//! start of the next one; until then the other threads continue their old jobs.
//!
//! If the end is certain in advance, all threads learn the next start beforehand. If a phase ends
//! by amount, the next start is announced as soon as the last requests are in flight, so that idle
//! threads are awake by then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tameshi_base::Nanos;

/// Longest sleep; bounds the delay until a stop is seen.
const SLICE: Duration = Duration::from_millis(20);
const UNKNOWN: u64 = u64::MAX;
/// Yields before an announced waiter sleeps again: some milliseconds.
const AWAKE: u32 = 4096;

/// Start of a phase, once it is known.
#[derive(Debug)]
pub(crate) struct PhaseStart {
    /// Delay after the end of the last phase: open-loop arrivals need all threads awake.
    lead: Nanos,
    begin: AtomicU64,
    /// The start is about to be known.
    soon: AtomicBool,
    waiting: Mutex<()>,
    changed: Condvar,
}

impl PhaseStart {
    /// Start of a phase at least `lead` after the end of the last one.
    pub(crate) fn after(lead: Nanos) -> Self {
        let (begin, soon) = (AtomicU64::new(UNKNOWN), AtomicBool::new(false));
        Self { lead, begin, soon, waiting: Mutex::new(()), changed: Condvar::new() }
    }

    /// Start the phase at `at`.
    pub(crate) fn set(&self, at: Nanos) {
        self.update(|| self.begin.store(at, Ordering::Release));
    }

    /// Start the phase after the last one, which ends at `end` in any case.
    pub(crate) fn set_after(&self, end: Nanos) {
        self.set(end.saturating_add(self.lead));
    }

    /// Keep waiters awake: the start will be known within a few requests' time.
    fn announce(&self) {
        self.update(|| self.soon.store(true, Ordering::Relaxed));
    }

    fn update(&self, change: impl Fn()) {
        // A thread that panics here leaves no inconsistent state.
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        change();
        drop(waiting);
        self.changed.notify_all();
    }

    /// Start of the phase, if known.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Nanos> {
        Some(self.begin.load(Ordering::Acquire)).filter(|&at| at != UNKNOWN)
    }

    /// Wait until the start is known; `None` as soon as `halted`.
    pub(crate) fn wait(&self, halted: impl Fn() -> bool) -> Option<Nanos> {
        let mut awake = 0;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if halted() {
                return None;
            }
            if let Some(at) = self.begin() {
                return Some(at);
            }
            if self.soon.load(Ordering::Relaxed) && awake < AWAKE {
                awake += 1;
                drop(waiting);
                std::thread::yield_now();
                waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.changed.wait_timeout(waiting, SLICE);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// End of a phase: its threads, and the phase that follows.
#[derive(Debug)]
pub(crate) struct Handover(Mutex<HandoverState>);

#[derive(Debug)]
struct HandoverState {
    left: u32,
    /// Threads that have more requests to start.
    starting: u32,
    last: Nanos,
    next: Option<Arc<PhaseStart>>,
}

impl HandoverState {
    fn release_next(&self) {
        if let (0, Some(start)) = (self.left, &self.next) {
            start.set_after(self.last);
        }
    }

    fn announce(&self) {
        if let (0, Some(start)) = (self.starting, &self.next) {
            start.announce();
        }
    }
}

impl Handover {
    /// Handover of a phase in which `threads` threads work.
    pub(crate) fn of(threads: u32) -> Self {
        Self(Mutex::new(HandoverState { left: threads, starting: threads, last: 0, next: None }))
    }

    /// Note that a thread has started its last request; requests may be in flight.
    pub(crate) fn all_started(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.starting = state.starting.saturating_sub(1);
        state.announce();
    }

    /// Note that a thread has ended the phase at `at`; the last one starts the next phase.
    pub(crate) fn close(&self, at: Nanos) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.left -= 1;
        state.last = state.last.max(at);
        state.release_next();
    }

    /// Set the phase that follows as soon as all threads have ended this one, and not before
    /// `from`.
    pub(crate) fn follow(&self, start: &Arc<PhaseStart>, from: Nanos) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.next = Some(Arc::clone(start));
        state.last = state.last.max(from);
        state.announce();
        state.release_next();
    }
}

/// Assignment of a thread in the next phase: a task, or none.
pub(crate) struct Assignment<T> {
    pub(crate) start: Arc<PhaseStart>,
    pub(crate) task: Option<T>,
}

/// Knowledge about the next phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Not known yet.
    Unknown,
    /// Starts at this time.
    Begins(Nanos),
    /// There is no next phase.
    Nothing,
}

/// Assignments of a thread, one per phase.
pub(crate) struct Assignments<T> {
    receiver: Receiver<Assignment<T>>,
    current: Option<Assignment<T>>,
}

impl<T> Assignments<T> {
    pub(crate) fn new(receiver: Receiver<Assignment<T>>) -> Self {
        Self { receiver, current: None }
    }

    /// Poll for the next assignment.
    #[inline]
    pub(crate) fn look(&mut self) -> Next {
        if self.current.is_none() {
            match self.receiver.try_recv() {
                Ok(assignment) => self.current = Some(assignment),
                Err(TryRecvError::Empty) => return Next::Unknown,
                Err(TryRecvError::Disconnected) => return Next::Nothing,
            }
        }
        let begin = self.current.as_ref().and_then(|assignment| assignment.start.begin());
        begin.map_or(Next::Unknown, Next::Begins)
    }

    /// Wait for the next assignment and for its phase's start; `None` if there is none, or as soon
    /// as `halted`.
    pub(crate) fn next(&mut self, halted: impl Fn() -> bool) -> Option<(Option<T>, Nanos)> {
        let assignment = loop {
            match self.current.take() {
                Some(_) if halted() => return None,
                Some(assignment) => break assignment,
                None if halted() => return None,
                None => match self.receiver.recv_timeout(SLICE) {
                    Ok(assignment) => self.current = Some(assignment),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return None,
                },
            }
        };
        assignment.start.wait(halted).map(|begin| (assignment.task, begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn last_thread_to_end_a_phase_starts_the_next() {
        let (handover, start) = (Handover::of(3), Arc::new(PhaseStart::after(5)));
        handover.close(100);
        handover.follow(&start, 0);
        handover.close(140);
        assert_eq!(start.begin(), None);
        handover.close(120);
        assert_eq!(start.begin(), Some(145), "the latest end and the lead");
    }

    #[test]
    fn next_phase_set_after_the_end_starts_at_once() {
        let (handover, start) = (Handover::of(1), Arc::new(PhaseStart::after(0)));
        handover.close(100);
        assert_eq!(start.begin(), None);
        handover.follow(&start, 130);
        assert_eq!(start.begin(), Some(130));
    }

    #[test]
    fn phase_without_threads_ends_when_followed() {
        let (handover, start) = (Handover::of(0), Arc::new(PhaseStart::after(7)));
        handover.follow(&start, 1000);
        assert_eq!(start.begin(), Some(1007));
    }

    #[test]
    fn idle_threads_wake_after_the_last_requests_started() {
        let (handover, start) = (Handover::of(2), Arc::new(PhaseStart::after(0)));
        handover.follow(&start, 0);
        handover.all_started();
        assert!(!start.soon.load(Ordering::Relaxed), "one has more to start");
        handover.all_started();
        assert!(start.soon.load(Ordering::Relaxed));
        assert_eq!(start.begin(), None, "but not when it begins");
        let late = Arc::new(PhaseStart::after(0));
        handover.follow(&late, 0);
        assert!(late.soon.load(Ordering::Relaxed), "whatever comes first");
        let waiter = std::thread::spawn(move || late.wait(|| false));
        handover.close(100);
        handover.close(130);
        assert_eq!(waiter.join().expect("no panic"), Some(130));
    }

    #[test]
    fn assignments_arrive_in_order_and_end_with_the_last() {
        let (sender, receiver) = channel();
        let mut assignments = Assignments::new(receiver);
        assert_eq!(assignments.look(), Next::Unknown);
        let start = Arc::new(PhaseStart::after(0));
        sender.send(Assignment { start: Arc::clone(&start), task: Some("work") }).expect("somebody listens");
        assert_eq!(assignments.look(), Next::Unknown, "it is not known yet when it begins");
        start.set(40);
        assert_eq!(assignments.look(), Next::Begins(40));
        assert_eq!(assignments.next(|| false), Some((Some("work"), 40)));
        drop(sender);
        assert_eq!(assignments.look(), Next::Nothing);
        assert_eq!(assignments.next(|| false), None);
    }

    #[test]
    fn halted_run_ends_waiting_for_assignments() {
        let (sender, receiver) = channel::<Assignment<()>>();
        let mut assignments = Assignments::new(receiver);
        assert_eq!(assignments.next(|| true), None);
        sender.send(Assignment { start: Arc::new(PhaseStart::after(0)), task: None }).expect("somebody listens");
        assert_eq!(assignments.next(|| true), None);
    }
}
