//! Scheduling of the serving thread, and its choice between waiting and spinning.
//!
//! A timer wakes the thread late, so the thread wakes up ahead of the due time and spins for the
//! rest: the tail. Spinning takes processor time from the programs that use the drive. The tail
//! therefore shrinks while spinning takes more than its share, and grows again afterwards. A thread
//! that runs nearly all of the time leaves the real-time class, else the kernel would stop it.

use crate::clock;
use std::fs::{File, OpenOptions};
use std::io::Write;
use tameshi_base::Nanos;

const LONGEST_TAIL: Nanos = 30_000;
const SHORTEST_TAIL: Nanos = 2_000;
/// Interval of decisions about tail and class.
const WINDOW: Nanos = 50_000_000;
/// Percent of a window that spinning may take.
const MOST_SPINNING: u64 = 40;
/// Percent of a window that a real-time thread may run, and below which it becomes one again.
const BUSY: u64 = 85;
const QUIET: u64 = 60;
const FIFO_PRIORITY: libc::c_int = 10;
/// Slice of the fair scheduler without real-time rights.
const SLICE: u64 = 100_000;

/// Number in `linux/prctl.h`: allocations of this process do not wait for writes to a disk.
const PR_SET_IO_FLUSHER: libc::c_int = 57;

/// Next step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Look again at once.
    Spin,
    /// Wait for an arrival, at most this long.
    Wait(Option<Nanos>),
}

/// Means that the thread was granted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Granted {
    /// Real-time class.
    pub(crate) fifo: bool,
    /// Idle processors poll, and wake up in microseconds.
    pub(crate) awake: bool,
    /// Pages stay in memory.
    pub(crate) locked: bool,
}

/// Pacing of a serving thread.
#[derive(Debug)]
pub(crate) struct Pacer {
    pub(crate) granted: Granted,
    tail: Nanos,
    is_fifo: bool,
    window: Nanos,
    spun: Nanos,
    waited: Nanos,
    last: Nanos,
    /// Keeps idle processors from sleeping while it is open.
    _latency: Option<File>,
}

impl Pacer {
    /// Ask the kernel for all means of pacing; take those that it grants.
    pub(crate) fn start() -> Self {
        let latency = hold_latency();
        // SAFETY: calls with plain numbers, which change this process alone.
        let locked = unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
            // A page fault of this process must not wait for its own drive.
            libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
            libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) == 0
        };
        let fifo = set_class(true);
        if !fifo {
            set_slice();
        }
        let now = clock::now();
        let granted = Granted { fifo, awake: latency.is_some(), locked };
        let (tail, window, last) = (LONGEST_TAIL, now, now);
        Self { granted, tail, is_fifo: fifo, window, spun: 0, waited: 0, last, _latency: latency }
    }

    /// Return the present tail.
    pub(crate) fn tail(&self) -> Nanos {
        self.tail
    }

    /// Decide at `now`, with the time left until the next due answer.
    #[inline]
    pub(crate) fn step(&mut self, now: Nanos, left: Option<Nanos>) -> Step {
        if now - self.window >= WINDOW {
            self.decide(now);
        }
        let Some(left) = left else { return Step::Wait(None) };
        if left > self.tail { Step::Wait(Some(left - self.tail)) } else { Step::Spin }
    }

    /// Count a round of the loop that found nothing to do, from the last clock read to `now`.
    #[inline]
    pub(crate) fn spun(&mut self, now: Nanos) {
        self.spun += now - self.last;
        self.last = now;
    }

    /// Count a wait, or work that was done, until `now`.
    #[inline]
    pub(crate) fn passed(&mut self, now: Nanos, is_wait: bool) {
        if is_wait {
            self.waited += now - self.last;
        }
        self.last = now;
    }

    fn decide(&mut self, now: Nanos) {
        let window = now - self.window;
        let percent = |part: Nanos| part * 100 / window;
        self.tail = if percent(self.spun) > MOST_SPINNING {
            (self.tail * 3 / 4).max(SHORTEST_TAIL)
        } else {
            (self.tail * 5 / 4).min(LONGEST_TAIL)
        };
        let busy = 100 - percent(self.waited.min(window));
        if self.granted.fifo && (self.is_fifo && busy > BUSY || !self.is_fifo && busy < QUIET) {
            self.is_fifo = !self.is_fifo;
            set_class(self.is_fifo);
        }
        (self.window, self.spun, self.waited) = (now, 0, 0);
    }
}

/// Keep all processors from sleeping; the kernel ends it when the file is closed.
fn hold_latency() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// Enter the real-time class, or leave it; return whether the kernel allowed it.
fn set_class(fifo: bool) -> bool {
    let priority = if fifo { FIFO_PRIORITY } else { 0 };
    let class = if fifo { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure belongs to this function; zero means the calling thread.
    unsafe { libc::sched_setscheduler(0, class, &raw const parameter) == 0 }
}

/// Ask the fair scheduler for a short slice, which gives it earlier deadlines.
fn set_slice() {
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    let size = size_of::<Attributes>() as u32;
    let attributes =
        Attributes { size, policy: 0, flags: 0, nice: 0, priority: 0, runtime: SLICE, deadline: 0, period: 0 };
    // SAFETY: the structure has the kernel's layout and its size inside; zero means this thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
