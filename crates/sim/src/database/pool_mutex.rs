//! The buffer pool's single mutex of the versions before 5.6 (buf0buf.c: `buf_pool_mutex`).
//!
//! A thread that walks the pool's lists holds it, and each page get takes it: clients that
//! compute meanwhile are delayed.

use tameshi_base::Nanos;

/// Times in which the mutex is held: by one thread after the other, in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct PoolMutex {
    /// Release by the last thread that asked for it.
    free: Nanos,
    /// Total time in which it is held.
    held: Nanos,
}

/// A client's work on a processor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    since: Nanos,
    /// Duration on a processor of its own.
    time: Nanos,
    /// Time for which the mutex had been held when it began.
    held: Nanos,
}

impl Burst {
    pub(super) fn time(&self) -> Nanos {
        self.time
    }
}

impl PoolMutex {
    /// Request the mutex for a time. Return its release.
    pub(super) fn hold(&mut self, now: Nanos, time: Nanos) -> Nanos {
        self.free = self.free.max(now) + time;
        self.held += time;
        self.free
    }

    /// Time for which it was held up to `now`.
    fn held(&self, now: Nanos) -> Nanos {
        self.held - self.free.saturating_sub(now)
    }

    /// Release of the mutex, if it is held.
    pub(super) fn free_after(&self, now: Nanos) -> Option<Nanos> {
        (self.free > now).then_some(self.free)
    }

    /// Begin a burst of work.
    pub(super) fn begin(&self, now: Nanos, time: Nanos) -> Burst {
        Burst { since: now, time, held: self.held(now) }
    }

    /// Return the part of a finished burst that fell into times in which others held the mutex.
    pub(super) fn delayed(&self, now: Nanos, burst: Burst, sibling_penalty: u64) -> Burst {
        let Burst { since, time, held } = burst;
        let stood = self.held(now) - held;
        // A longer burst waited for a processor first.
        let ran = (now - since).min(time + time * sibling_penalty / 1_000_000);
        let free_again = now.saturating_sub(self.free);
        let lost = stood.min(ran.saturating_sub(free_again));
        let again = if lost > 0 { (u128::from(time) * u128::from(lost) / u128::from(ran)) as Nanos } else { 0 };
        Burst { time: again, ..burst }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutex_holders_queue_and_add_up() {
        let mut mutex = PoolMutex::default();
        assert_eq!(mutex.hold(100, 50), 150);
        assert_eq!(mutex.hold(120, 30), 180, "the second one waits for the first");
        assert_eq!([100, 140, 150, 180, 300].map(|now| mutex.held(now)), [0, 40, 50, 80, 80]);
        assert_eq!(mutex.hold(300, 10), 310);
        assert_eq!([300, 305, 310].map(|now| mutex.held(now)), [80, 85, 90]);
    }
}
