//! Only clock of the emulated world.

use tameshi_base::Nanos;

/// Return the monotonic clock in nanoseconds.
#[inline]
pub(crate) fn now() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a structure of this function, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as Nanos * 1_000_000_000 + time.tv_nsec as Nanos
}
