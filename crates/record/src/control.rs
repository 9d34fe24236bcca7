//! What a running worker shows, and how it is told to stop: shared by the load and the door to Python.

use crate::ledger::Slow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    phase_begin_ns: AtomicU64,
    phase_bytes: AtomicU64,
    streams: Mutex<Vec<Shown>>,
    slowest: Mutex<Option<(String, Slow)>>,
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

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseProgress {
    /// When it began, from t0.
    pub begin_ns: Nanos,
    /// Bytes moved since then.
    pub bytes: u64,
}

/// What one stream did in an interval, and its slowest operation of the run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// The stream's name.
    pub name: String,
    /// Reads, writes and syncs per second.
    pub operations_per_second: u64,
    /// Bytes moved per second.
    pub bytes_per_second: u64,
    /// Median latency of them in nanoseconds.
    pub p50_ns: Nanos,
    /// 99th percentile.
    pub p99_ns: Nanos,
    /// 99.9th percentile.
    pub p999_ns: Nanos,
    /// The slowest of the run so far, in whatever phase the stream was at work.
    pub slowest: Option<Slow>,
}

#[derive(Debug, Default)]
struct Shown {
    progress: StreamProgress,
    /// Nobody has looked at it since it was made: there is no need for a newer one.
    fresh: bool,
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

    /// A phase begins with these streams.
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

    /// So many more bytes were moved in the phase.
    pub(crate) fn moved(&self, bytes: u64) {
        self.phase_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How far the phase is.
    pub fn phase_progress(&self) -> PhaseProgress {
        PhaseProgress {
            begin_ns: self.phase_begin_ns.load(Ordering::Relaxed),
            bytes: self.phase_bytes.load(Ordering::Relaxed),
        }
    }

    /// Shows what a stream did. `make` is asked at the pace of those who look: virtual time has many more intervals.
    pub(crate) fn show_stream(&self, stream: usize, make: impl FnOnce(&mut StreamProgress)) {
        if let Some(shown) = self.streams().get_mut(stream)
            && !shown.fresh
        {
            make(&mut shown.progress);
            shown.fresh = true;
        }
    }

    /// What the streams of the phase did last.
    pub fn stream_progress(&self) -> Vec<StreamProgress> {
        let mut streams = self.streams();
        streams.iter_mut().for_each(|shown| shown.fresh = false);
        streams.iter().map(|shown| shown.progress.clone()).collect()
    }

    /// The slowest operation of the run so far, and its stream.
    pub fn slowest(&self) -> Option<(String, Slow)> {
        self.slowest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// So slow was an operation of `stream`.
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
