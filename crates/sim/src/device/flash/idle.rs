//! Idle timer: idle-time maintenance begins once a drive has held no command for a while.

use tameshi_base::Nanos;

/// Idle timer.
#[derive(Debug)]
pub(super) struct IdleTimer {
    /// Time without a command before maintenance begins.
    after: Nanos,
    /// Completion of the last command.
    since: Nanos,
    /// True if its event is in the calendar.
    is_scheduled: bool,
}

impl IdleTimer {
    pub(super) fn new(after: Nanos) -> Self {
        Self { after, since: 0, is_scheduled: false }
    }

    /// Start the timer; return the time of its event, unless one is scheduled.
    pub(super) fn start(&mut self, now: Nanos) -> Option<Nanos> {
        self.since = now;
        (!std::mem::replace(&mut self.is_scheduled, true)).then(|| now + self.after)
    }

    /// Start the timer after all events were cancelled; return the time of its event.
    pub(super) fn restart(&mut self, now: Nanos) -> Option<Nanos> {
        self.is_scheduled = false;
        self.start(now)
    }

    /// Process its event: `Some(Err(at))` to look again at `at`, `Some(Ok(()))` to begin
    /// maintenance.
    pub(super) fn expire(&mut self, is_idle: bool, at: Nanos) -> Option<Result<(), Nanos>> {
        self.is_scheduled = is_idle;
        let due = self.since + self.after;
        is_idle.then_some(if due > at { Err(due) } else { Ok(()) })
    }

    /// Note that maintenance found nothing to do.
    pub(super) fn sleep(&mut self) {
        self.is_scheduled = false;
    }
}
