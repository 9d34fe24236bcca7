//! What a running worker shows, and how it is told to stop: shared by the load and the door to Python.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tameshi_base::Nanos;

/// Shared between the thread that runs and the one that watches.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    elapsed_ns: AtomicU64,
    phase: AtomicU64,
    operations_per_second: AtomicU64,
    latency_ns_mean: AtomicU64,
    bytes_written: AtomicU64,
}

/// A snapshot for the progress display; rates are of the last interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time of the run, from t0.
    pub elapsed_ns: Nanos,
    /// Index of the phase in the spec.
    pub phase: u64,
    /// Operations per second, all streams together.
    pub operations_per_second: u64,
    /// Mean latency of them.
    pub latency_ns_mean: Nanos,
    /// Bytes written since t0.
    pub bytes_written: u64,
}

impl Control {
    /// Asks the run to stop soon and leave a usable partial result.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    #[inline]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Shows where the run is.
    pub fn show(&self, progress: Progress) {
        self.elapsed_ns.store(progress.elapsed_ns, Ordering::Relaxed);
        self.phase.store(progress.phase, Ordering::Relaxed);
        self.operations_per_second.store(progress.operations_per_second, Ordering::Relaxed);
        self.latency_ns_mean.store(progress.latency_ns_mean, Ordering::Relaxed);
        self.bytes_written.store(progress.bytes_written, Ordering::Relaxed);
    }

    /// The last shown state.
    pub fn progress(&self) -> Progress {
        Progress {
            elapsed_ns: self.elapsed_ns.load(Ordering::Relaxed),
            phase: self.phase.load(Ordering::Relaxed),
            operations_per_second: self.operations_per_second.load(Ordering::Relaxed),
            latency_ns_mean: self.latency_ns_mean.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
        }
    }
}
