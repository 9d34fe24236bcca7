//! Progress display and stop request of a running worker, shared by the load and the Python
//! interface.

use crate::ledger::Slow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tameshi_base::Nanos;

/// State shared by the running thread and the watching one.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    elapsed_ns: AtomicU64,
    phase: AtomicU64,
    operations_per_second: AtomicU64,
    latency_ns_mean: AtomicU64,
    bytes_written: AtomicU64,
    phase_begin_ns: AtomicU64,
    phase_bytes: AtomicU64,
    streams: Mutex<Vec<Shown>>,
    slowest: Mutex<Option<(String, Slow)>>,
}

/// A snapshot for the progress display; rates are of the last interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Time since t0.
    pub elapsed_ns: Nanos,
    /// Index of the phase in the spec.
    pub phase: u64,
    /// Operations per second of all streams.
    pub operations_per_second: u64,
    /// Mean latency of these operations.
    pub latency_ns_mean: Nanos,
    /// Bytes written since t0.
    pub bytes_written: u64,
}

/// Progress of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseProgress {
    /// Start, from t0.
    pub begin_ns: Nanos,
    /// Bytes moved since the start.
    pub bytes: u64,
}

/// Work of one stream in an interval, and its slowest operation of the run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Name of the stream.
    pub name: String,
    /// Reads, writes and syncs per second.
    pub operations_per_second: u64,
    /// Bytes moved per second.
    pub bytes_per_second: u64,
    /// Median latency of these operations in nanoseconds.
    pub p50_ns: Nanos,
    /// 99th percentile.
    pub p99_ns: Nanos,
    /// 99.9th percentile.
    pub p999_ns: Nanos,
    /// Slowest operation of the run so far, in any phase.
    pub slowest: Option<Slow>,
}

#[derive(Debug, Default)]
struct Shown {
    progress: StreamProgress,
    /// True if it was not read since it was made: no newer one is needed.
    fresh: bool,
}

impl Control {
    /// Ask the run to stop soon and leave a usable partial result.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if a stop was requested.
    #[inline]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Publish the progress of the run.
    pub fn show(&self, progress: Progress) {
        self.elapsed_ns.store(progress.elapsed_ns, Ordering::Relaxed);
        self.phase.store(progress.phase, Ordering::Relaxed);
        self.operations_per_second.store(progress.operations_per_second, Ordering::Relaxed);
        self.latency_ns_mean.store(progress.latency_ns_mean, Ordering::Relaxed);
        self.bytes_written.store(progress.bytes_written, Ordering::Relaxed);
    }

    /// Return the last published progress.
    pub fn progress(&self) -> Progress {
        Progress {
            elapsed_ns: self.elapsed_ns.load(Ordering::Relaxed),
            phase: self.phase.load(Ordering::Relaxed),
            operations_per_second: self.operations_per_second.load(Ordering::Relaxed),
            latency_ns_mean: self.latency_ns_mean.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
        }
    }

    /// Begin a phase with the streams `names`.
    pub(crate) fn begin_phase<'a>(&self, begin: Nanos, phase: u32, names: impl Iterator<Item = &'a str>) {
        self.phase.store(u64::from(phase), Ordering::Relaxed);
        self.phase_begin_ns.store(begin, Ordering::Relaxed);
        self.phase_bytes.store(0, Ordering::Relaxed);
        let shown = |name: &str| Shown {
            progress: StreamProgress { name: name.to_string(), ..StreamProgress::default() },
            fresh: false,
        };
        *self.streams() = names.map(shown).collect();
    }

    /// Add `bytes` to the bytes moved in the phase.
    pub(crate) fn moved(&self, bytes: u64) {
        self.phase_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Return the progress of the phase.
    pub fn phase_progress(&self) -> PhaseProgress {
        PhaseProgress {
            begin_ns: self.phase_begin_ns.load(Ordering::Relaxed),
            bytes: self.phase_bytes.load(Ordering::Relaxed),
        }
    }

    /// Publish the work of a stream. `make` is called only if the last state was read: virtual time
    /// has many more intervals than readers need.
    pub(crate) fn show_stream(&self, stream: usize, make: impl FnOnce(&mut StreamProgress)) {
        if let Some(shown) = self.streams().get_mut(stream)
            && !shown.fresh
        {
            make(&mut shown.progress);
            shown.fresh = true;
        }
    }

    /// Last work of the phase's streams.
    pub fn stream_progress(&self) -> Vec<StreamProgress> {
        let mut streams = self.streams();
        streams.iter_mut().for_each(|shown| shown.fresh = false);
        streams.iter().map(|shown| shown.progress.clone()).collect()
    }

    /// Slowest operation of the run so far, and its stream.
    pub fn slowest(&self) -> Option<(String, Slow)> {
        self.slowest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Note the latency of an operation of `stream`.
    pub(crate) fn see(&self, stream: &str, slow: Slow) {
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        if slowest.as_ref().is_none_or(|(_, known)| slow.latency > known.latency) {
            *slowest = Some((stream.to_string(), slow));
        }
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Shown>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
