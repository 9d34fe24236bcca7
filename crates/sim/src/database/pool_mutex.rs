//! The pool's one mutex of the versions before 5.6 (buf0buf.c: `buf_pool_mutex`).
//!
//! Whoever goes through the pool's lists holds it, and each page get takes it: those who compute meanwhile stand still.

use super::counters::Why;
use super::stage::{After, Stage};
use super::{Alarm, Engine};
use tameshi_base::Nanos;

/// When it is held: by one after the other, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct PoolMutex {
    /// When the last of those who asked for it is done.
    free: Nanos,
    /// For how long they all hold it.
    held: Nanos,
}

impl PoolMutex {
    /// Somebody wants it from `now` on, for so long; returns when that is over.
    pub(super) fn hold(&mut self, now: Nanos, time: Nanos) -> Nanos {
        self.free = self.free.max(now) + time;
        self.held += time;
        self.free
    }

    /// For how long it was held up to `now`.
    fn held(&self, now: Nanos) -> Nanos {
        self.held - self.free.saturating_sub(now)
    }
}

/// What a client computes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Computing {
    since: Nanos,
    /// For how long, on a processor of its own.
    time: Nanos,
    /// For how long the mutex had been held when it began.
    held: Nanos,
}

impl Engine {
    /// A client begins to compute for so long: what others hold the mutex from now on is not behind it.
    pub(super) fn note_mutex(&mut self, client: u32, time: Nanos) {
        self.clients[client as usize].computing = Computing { since: self.now, time, held: self.mutex.held(self.now) };
    }

    /// A client has computed: what of it fell into times in which it stood still is before it again, once the mutex is free.
    /// Whether anything is.
    pub(super) fn stands_still(&mut self, client: u32, after: After) -> bool {
        let Computing { since, time, held } = self.clients[client as usize].computing;
        let stood = self.mutex.held(self.now) - held;
        // Whatever is longer it waited for a processor before.
        let ran = (self.now - since).min(time + time * self.settings.cpu.sibling_penalty / 1_000_000);
        let free_again = self.now.saturating_sub(self.mutex.free);
        let in_vain = stood.min(ran.saturating_sub(free_again));
        let again = if in_vain > 0 { (u128::from(time) * u128::from(in_vain) / u128::from(ran)) as Nanos } else { 0 };
        self.clients[client as usize].computing.time = again;
        self.is_kept_out(client, after) || self.computes_again(client, after)
    }

    /// Whether others have the mutex: then the client waits until they are done.
    pub(super) fn is_kept_out(&mut self, client: u32, after: After) -> bool {
        let is_held = self.mutex.free > self.now;
        if is_held {
            self.turns(client, Stage::HeldUp(after), Why::PoolMutex);
            self.alarm(self.mutex.free, Alarm::Client(client));
        }
        is_held
    }

    /// A client may have the mutex: whether it has anything to compute again.
    pub(super) fn computes_again(&mut self, client: u32, after: After) -> bool {
        let time = self.clients[client as usize].computing.time;
        if time > 0 {
            // The time that it seemed to compute goes for the time that it stood still.
            self.turns(client, Stage::Working(after), Why::PoolMutex);
            self.note_mutex(client, time);
            self.work(client, time);
        }
        time > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_after_the_other_and_it_is_held_as_long_as_they_say() {
        let mut mutex = PoolMutex::default();
        assert_eq!(mutex.hold(100, 50), 150);
        assert_eq!(mutex.hold(120, 30), 180, "the second one waits for the first");
        assert_eq!([100, 140, 150, 180, 300].map(|now| mutex.held(now)), [0, 40, 50, 80, 80]);
        assert_eq!(mutex.hold(300, 10), 310);
        assert_eq!([300, 305, 310].map(|now| mutex.held(now)), [80, 85, 90]);
    }
}
