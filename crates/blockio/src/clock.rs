//! Clock of the load: the only place in this crate that reads a clock.

use std::time::Duration;
use tameshi_base::{Nanos, Slow};
use tameshi_record::ThreadUsage;

/// Time source of the driver; tests have their own.
pub(crate) trait Clock {
    /// Time since t0; zero before it.
    fn now(&self) -> Nanos;
    /// Processor time of the calling thread.
    fn cpu(&self) -> Nanos;
    /// System resources that the calling thread has used.
    fn usage(&self) -> ThreadUsage;
    /// Wall time of a span.
    fn wall_time(&self, span: Nanos) -> Nanos {
        span
    }
    /// Span of a wall time.
    fn own_time(&self, wall: Nanos) -> Nanos {
        wall
    }
}

/// CLOCK_MONOTONIC in the run's own time, counted from t0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic {
    t0_ns: u64,
    slow: Slow,
}

impl Monotonic {
    /// Count from `t0_ns` of own time on CLOCK_MONOTONIC.
    pub(crate) fn from(t0_ns: u64, slow: Slow) -> Self {
        Self { t0_ns, slow }
    }

    /// Count from now, in wall time.
    pub(crate) fn from_now() -> Self {
        Self::from(read(libc::CLOCK_MONOTONIC), Slow::NONE)
    }

    /// Origin in own time on CLOCK_MONOTONIC.
    pub(crate) fn t0(&self) -> u64 {
        self.t0_ns
    }

    /// Time left until `at` after t0; zero if it has passed.
    pub(crate) fn left_until(&self, at: Nanos) -> Nanos {
        (self.t0_ns + at).saturating_sub(self.read())
    }

    #[inline]
    fn read(&self) -> Nanos {
        self.slow.own_time(read(libc::CLOCK_MONOTONIC))
    }

    /// Sleep until `at` after t0, and spin for the last `spin` of wall time; return as soon as
    /// `cancelled`.
    pub(crate) fn wait_until(&self, at: Nanos, spin: Nanos, cancelled: impl Fn() -> bool) {
        const SLICE: Nanos = 50_000_000;
        loop {
            let left = self.wall_time(self.left_until(at));
            if left == 0 || cancelled() {
                return;
            }
            if left > spin {
                std::thread::sleep(Duration::from_nanos((left - spin).min(SLICE)));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> Nanos {
        self.read().saturating_sub(self.t0_ns)
    }

    fn cpu(&self) -> Nanos {
        self.own_time(read(libc::CLOCK_THREAD_CPUTIME_ID))
    }

    #[inline]
    fn wall_time(&self, span: Nanos) -> Nanos {
        self.slow.wall_time(span)
    }

    #[inline]
    fn own_time(&self, wall: Nanos) -> Nanos {
        self.slow.own_time(wall)
    }

    fn usage(&self) -> ThreadUsage {
        // SAFETY: an all-zero `rusage` is a valid one.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `used` is valid for writes; a refused call leaves it zero.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut used) };
        let ns = |time: libc::timeval| self.own_time(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000);
        ThreadUsage {
            user_ns: ns(used.ru_utime),
            system_ns: ns(used.ru_stime),
            switches: (used.ru_nvcsw + used.ru_nivcsw) as u64,
            major_faults: used.ru_majflt as u64,
            minor_faults: used.ru_minflt as u64,
        }
    }
}

/// Read a clock of the system, also another thread's CPU clock; zero if there is no such clock (any
/// more).
#[inline]
pub(crate) fn read(clock: libc::clockid_t) -> u64 {
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
