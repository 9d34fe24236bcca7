//! Clock of the load: the only place in this crate that reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tameshi_base::{Nanos, Slow};

/// CLOCK_MONOTONIC in the run's own time, counted from t0, and the matching date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    t0_ns: u64,
    slow: Slow,
    /// Seconds since 1970 at t0.
    date: i64,
}

impl Clock {
    /// Count from `t0_ns` of own time on CLOCK_MONOTONIC.
    pub(crate) fn from(t0_ns: u64, slow: Slow) -> Self {
        let since = slow.own_time(read(libc::CLOCK_MONOTONIC)) as i64 - t0_ns as i64;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        Self { t0_ns, slow, date: wall - since / 1_000_000_000 }
    }

    /// Time since t0; zero before it.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.read().saturating_sub(self.t0_ns)
    }

    #[inline]
    fn read(&self) -> Nanos {
        self.slow.own_time(read(libc::CLOCK_MONOTONIC))
    }

    /// Wall time of a span.
    pub(crate) fn wall_time(&self, span: Nanos) -> Duration {
        Duration::from_nanos(self.slow.wall_time(span))
    }

    /// Date at a time of the run, in seconds since 1970.
    #[inline]
    pub(crate) fn date(&self, now: Nanos) -> i64 {
        self.date + (now / 1_000_000_000) as i64
    }

    /// Processor time of the calling thread.
    pub(crate) fn cpu(&self) -> Nanos {
        self.slow.own_time(read(libc::CLOCK_THREAD_CPUTIME_ID))
    }

    /// Sleep until `at` after t0; return as soon as `cancelled`.
    pub(crate) fn wait_until(&self, at: Nanos, cancelled: impl Fn() -> bool) {
        const SLICE: Duration = Duration::from_millis(50);
        loop {
            let left = (self.t0_ns + at).saturating_sub(self.read());
            if left == 0 || cancelled() {
                return;
            }
            std::thread::sleep(self.wall_time(left).min(SLICE));
        }
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes; a bad clock id makes the call fail and leaves it zero.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Minimise the calling thread's timer slack. By default the system extends sleeps by up to 50 µs.
pub(crate) fn wake_on_time() {
    // SAFETY: sets a property of the calling thread. If it is refused, sleeps are longer and the
    // record shows it.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
