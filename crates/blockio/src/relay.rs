//! How the load passes from one phase to the next without a pause: the last thread that closes a phase says when the next
//! one begins, and until it has begun the others go on with what they did. An end that is certain in advance lets everybody
//! know the next begin beforehand; of one that comes when an amount is moved, word goes out as soon as the last requests of it
//! are under way, so that who rests is awake by then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tameshi_base::Nanos;

/// Longest sleep: how soon a stop is seen.
const SLICE: Duration = Duration::from_millis(20);
const UNKNOWN: u64 = u64::MAX;
/// So often who waits gives way to others before it sleeps again: some milliseconds.
const AWAKE: u32 = 4096;

/// When a phase begins, once that is known.
#[derive(Debug)]
pub(crate) struct Turn {
    /// From the end of the phase before: arrivals that are fixed in advance need all threads at their places.
    lead: Nanos,
    begin: AtomicU64,
    /// It is about to be known.
    soon: AtomicBool,
    waiting: Mutex<()>,
    told: Condvar,
}

impl Turn {
    /// Of a phase that begins so long after the one before at least.
    pub(crate) fn after(lead: Nanos) -> Self {
        let (begin, soon) = (AtomicU64::new(UNKNOWN), AtomicBool::new(false));
        Self { lead, begin, soon, waiting: Mutex::new(()), told: Condvar::new() }
    }

    /// The phase begins at `at`.
    pub(crate) fn set(&self, at: Nanos) {
        self.tell(|| self.begin.store(at, Ordering::Release));
    }

    /// The phase before ends at `end`, whatever happens.
    pub(crate) fn set_after(&self, end: Nanos) {
        self.set(end.saturating_add(self.lead));
    }

    /// The begin will be known in some requests' time: who waits for it stays awake.
    fn announce(&self) {
        self.tell(|| self.soon.store(true, Ordering::Relaxed));
    }

    fn tell(&self, what: impl Fn()) {
        // A thread that panics here holds nothing that could be half done.
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        what();
        drop(waiting);
        self.told.notify_all();
    }

    /// When the phase begins, if that is known.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Nanos> {
        Some(self.begin.load(Ordering::Acquire)).filter(|&at| at != UNKNOWN)
    }

    /// Waits until that is known; `None` as soon as `halted`.
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
            let waited = self.told.wait_timeout(waiting, SLICE);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The end of a phase: who works in it, and what follows.
#[derive(Debug)]
pub(crate) struct Handover(Mutex<Closing>);

#[derive(Debug)]
struct Closing {
    left: u32,
    /// Threads that have more to start.
    starting: u32,
    last: Nanos,
    next: Option<Arc<Turn>>,
}

impl Closing {
    fn pass_on(&self) {
        if let (0, Some(turn)) = (self.left, &self.next) {
            turn.set_after(self.last);
        }
    }

    fn announce(&self) {
        if let (0, Some(turn)) = (self.starting, &self.next) {
            turn.announce();
        }
    }
}

impl Handover {
    /// Of a phase in which so many threads work.
    pub(crate) fn of(threads: u32) -> Self {
        Self(Mutex::new(Closing { left: threads, starting: threads, last: 0, next: None }))
    }

    /// A thread has started all that it will; what remains is in flight.
    pub(crate) fn all_started(&self) {
        let mut closing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        closing.starting = closing.starting.saturating_sub(1);
        closing.announce();
    }

    /// A thread has ended the phase at `at`; the last one lets the next phase begin.
    pub(crate) fn close(&self, at: Nanos) {
        let mut closing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        closing.left -= 1;
        closing.last = closing.last.max(at);
        closing.pass_on();
    }

    /// This follows, as soon as everybody has ended the phase, and not before `from`.
    pub(crate) fn follow(&self, turn: &Arc<Turn>, from: Nanos) {
        let mut closing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        closing.next = Some(Arc::clone(turn));
        closing.last = closing.last.max(from);
        closing.announce();
        closing.pass_on();
    }
}

/// What a thread is told to do in the next phase: a task, or to rest.
pub(crate) struct Order<T> {
    pub(crate) turn: Arc<Turn>,
    pub(crate) task: Option<T>,
}

/// What is known of the next phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing yet.
    Unknown,
    /// It begins then.
    Begins(Nanos),
    /// There is none.
    Nothing,
}

/// A thread's orders, one a phase.
pub(crate) struct Orders<T> {
    receiver: Receiver<Order<T>>,
    current: Option<Order<T>>,
}

impl<T> Orders<T> {
    /// As they come.
    pub(crate) fn new(receiver: Receiver<Order<T>>) -> Self {
        Self { receiver, current: None }
    }

    /// Looks for the next order.
    #[inline]
    pub(crate) fn look(&mut self) -> Next {
        if self.current.is_none() {
            match self.receiver.try_recv() {
                Ok(order) => self.current = Some(order),
                Err(TryRecvError::Empty) => return Next::Unknown,
                Err(TryRecvError::Disconnected) => return Next::Nothing,
            }
        }
        let begin = self.current.as_ref().and_then(|order| order.turn.begin());
        begin.map_or(Next::Unknown, Next::Begins)
    }

    /// Waits for the next order, and until it is known when its phase begins; `None` when there is none, or as soon as
    /// `halted`.
    pub(crate) fn next(&mut self, halted: impl Fn() -> bool) -> Option<(Option<T>, Nanos)> {
        let order = loop {
            match self.current.take() {
                Some(_) if halted() => return None,
                Some(order) => break order,
                None if halted() => return None,
                None => match self.receiver.recv_timeout(SLICE) {
                    Ok(order) => self.current = Some(order),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return None,
                },
            }
        };
        order.turn.wait(halted).map(|begin| (order.task, begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn the_last_to_close_a_phase_lets_the_next_begin_and_nobody_before() {
        let (handover, turn) = (Handover::of(3), Arc::new(Turn::after(5)));
        handover.close(100);
        handover.follow(&turn, 0);
        handover.close(140);
        assert_eq!(turn.begin(), None);
        handover.close(120);
        assert_eq!(turn.begin(), Some(145), "the latest end and the lead");
    }

    #[test]
    fn what_follows_may_be_known_only_after_the_end() {
        let (handover, turn) = (Handover::of(1), Arc::new(Turn::after(0)));
        handover.close(100);
        assert_eq!(turn.begin(), None);
        handover.follow(&turn, 130);
        assert_eq!(turn.begin(), Some(130));
    }

    #[test]
    fn a_phase_without_threads_ends_when_it_is_told_to() {
        let (handover, turn) = (Handover::of(0), Arc::new(Turn::after(7)));
        handover.follow(&turn, 1000);
        assert_eq!(turn.begin(), Some(1007));
    }

    #[test]
    fn who_rests_is_told_as_soon_as_all_threads_have_started_their_last_requests() {
        let (handover, turn) = (Handover::of(2), Arc::new(Turn::after(0)));
        handover.follow(&turn, 0);
        handover.all_started();
        assert!(!turn.soon.load(Ordering::Relaxed), "one has more to start");
        handover.all_started();
        assert!(turn.soon.load(Ordering::Relaxed));
        assert_eq!(turn.begin(), None, "but not when it begins");
        let late = Arc::new(Turn::after(0));
        handover.follow(&late, 0);
        assert!(late.soon.load(Ordering::Relaxed), "whatever comes first");
        let waiter = std::thread::spawn(move || late.wait(|| false));
        handover.close(100);
        handover.close(130);
        assert_eq!(waiter.join().expect("no panic"), Some(130));
    }

    #[test]
    fn orders_are_seen_when_they_come_and_end_with_the_last() {
        let (sender, receiver) = channel();
        let mut orders = Orders::new(receiver);
        assert_eq!(orders.look(), Next::Unknown);
        let turn = Arc::new(Turn::after(0));
        sender.send(Order { turn: Arc::clone(&turn), task: Some("work") }).expect("somebody listens");
        assert_eq!(orders.look(), Next::Unknown, "it is not known yet when it begins");
        turn.set(40);
        assert_eq!(orders.look(), Next::Begins(40));
        assert_eq!(orders.next(|| false), Some((Some("work"), 40)));
        drop(sender);
        assert_eq!(orders.look(), Next::Nothing);
        assert_eq!(orders.next(|| false), None);
    }

    #[test]
    fn nobody_waits_for_a_run_that_is_halted() {
        let (sender, receiver) = channel::<Order<()>>();
        let mut orders = Orders::new(receiver);
        assert_eq!(orders.next(|| true), None);
        sender.send(Order { turn: Arc::new(Turn::after(0)), task: None }).expect("somebody listens");
        assert_eq!(orders.next(|| true), None);
    }
}
