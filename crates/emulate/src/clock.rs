//! Only clock of the emulated world.

use tameshi_base::{Nanos, Slow};

/// Return the monotonic clock in nanoseconds of wall time.
#[inline]
pub(crate) fn now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a structure of this function, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as Nanos * 1_000_000_000 + time.tv_nsec as Nanos
}

/// Time of a drive, from zero at its start; in slow motion it passes slower than wall time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriveTime {
    pub(crate) slow: Slow,
    /// Slowed clock at the drive's zero, which may be before the clock's own: sums with it wrap.
    zero: Nanos,
}

impl DriveTime {
    /// Start at zero now.
    pub(crate) fn start(slow: Slow) -> Self {
        Self { slow, zero: slow.own_time(now()) }
    }

    /// Return the drive's time.
    #[inline]
    pub(crate) fn now(self) -> Nanos {
        self.at(now())
    }

    /// Return the drive's time at a reading of the clock.
    #[inline]
    pub(crate) fn at(self, wall: Nanos) -> Nanos {
        self.slow.own_time(wall).wrapping_sub(self.zero)
    }

    /// Return the slowed clock at a time of the drive.
    pub(crate) fn on_clock(self, at: Nanos) -> Nanos {
        at.wrapping_add(self.zero)
    }

    /// Skip time until `at`, unless it has passed.
    pub(crate) fn advance_to(&mut self, at: Nanos) {
        self.zero = self.zero.wrapping_sub(at.saturating_sub(self.now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowed_drive_time_passes_slower_than_wall_time() {
        let time = DriveTime::start(Slow::new(4.0).expect("a factor in range"));
        let wall = now();
        assert_eq!(time.at(wall + 4_000_000_000) - time.at(wall), 1_000_000_000);
    }

    #[test]
    fn drive_time_skips_ahead_and_never_back() {
        let mut time = DriveTime::start(Slow::NONE);
        let far = now() * 2;
        time.advance_to(far);
        let reached = time.now();
        assert!(reached >= far && reached < far + 1_000_000_000);
        assert_eq!(time.on_clock(time.at(far)), far);
        time.advance_to(0);
        assert!(time.now() >= reached);
    }
}
