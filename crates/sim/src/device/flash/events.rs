//! Event calendar of a drive: ends of work on dies, the idle timer, and completions.

use crate::basics::calendar_queue::CalendarQueue;
use tameshi_base::Nanos;

/// Calendar of numbered events: first the dies by their numbers, then the idle timer, then the
/// command slots.
#[derive(Debug)]
pub(super) struct Events {
    calendar: CalendarQueue,
    dies: u32,
}

/// Subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Die(u32),
    Idle,
    Slot(u32),
}

impl Events {
    pub(super) fn new(dies: u32) -> Self {
        Self { calendar: CalendarQueue::new(), dies }
    }

    /// Cancel all events.
    pub(super) fn clear(&mut self) {
        self.calendar = CalendarQueue::new();
    }

    #[inline]
    pub(super) fn add_die(&mut self, at: Nanos, die: u32) {
        self.calendar.add(at, die);
    }

    pub(super) fn add_idle(&mut self, at: Nanos) {
        self.calendar.add(at, self.dies);
    }

    #[inline]
    pub(super) fn add_slot(&mut self, at: Nanos, slot: u32) {
        self.calendar.add(at, self.dies + 1 + slot);
    }

    #[inline]
    fn subject(&self, number: u32) -> Subject {
        match number.checked_sub(self.dies + 1) {
            Some(slot) => Subject::Slot(slot),
            None if number == self.dies => Subject::Idle,
            None => Subject::Die(number),
        }
    }

    /// Return the time of the next event; [`Nanos::MAX`] without one.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.calendar.next()
    }

    /// Return the subject of the next event.
    #[inline]
    pub(super) fn first(&self) -> Subject {
        self.subject(self.calendar.first())
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<(Nanos, Subject)> {
        let (at, number) = self.calendar.take()?;
        Some((at, self.subject(number)))
    }

    #[inline(always)]
    pub(super) fn take_before(&mut self, until: Nanos) -> Option<(Nanos, Subject)> {
        let (at, number) = self.calendar.take_before(until)?;
        Some((at, self.subject(number)))
    }

    /// Return the slots that complete at `now`, the time of the next event; `None` for other events
    /// then.
    #[inline]
    pub(super) fn slots_at(&self, now: Nanos) -> impl Iterator<Item = Option<u32>> {
        self.calendar.all_at(now).map(|number| number?.checked_sub(self.dies + 1))
    }
}
