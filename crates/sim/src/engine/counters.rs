//! What the engine counts in an interval, under the names of the metric registry that a real server's counters have.

use tameshi_base::Nanos;

/// A counter; the discriminant is its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Count {
    Statements,
    Selects,
    Inserts,
    Updates,
    Deletes,
    Commits,
    Rollbacks,
    PageRequests,
    PageMisses,
    ReadAheads,
    PagesRead,
    CacheHits,
    PagesWritten,
    Reads,
    ReadBytes,
    Writes,
    WrittenBytes,
    Fsyncs,
    LogBytes,
    LogWrites,
    LogFsyncs,
    DoublewritePages,
    Checkpoints,
    LockWaits,
    LockWaitNs,
    Deadlocks,
    PoolWaits,
    TimeProcessor,
    TimePageReads,
    TimeFreePages,
    TimePoolMutex,
    TimeRowLocks,
    TimeTreeLocks,
    TimeLog,
    TimeLogSpace,
    TimeOutage,
    TimeThinking,
}

pub(super) const COUNTS: usize = 37;
/// Names in the order of [`Count`].
const NAMES: [&str; COUNTS] = [
    "server.statements",
    "server.selects",
    "server.inserts",
    "server.updates",
    "server.deletes",
    "server.commits",
    "server.rollbacks",
    "server.page_requests",
    "server.page_misses",
    "server.page_read_aheads",
    "server.pages_read",
    "server.page_cache_hits",
    "server.pages_written",
    "server.reads",
    "server.read_bytes",
    "server.writes",
    "server.written_bytes",
    "server.fsyncs",
    "server.log_bytes",
    "server.log_writes",
    "server.log_fsyncs",
    "server.doublewrite_pages",
    "server.checkpoints",
    "server.lock_waits",
    "server.lock_wait_ns",
    "server.deadlocks",
    "server.pool_waits",
    "server.time_processor_ns",
    "server.time_page_reads_ns",
    "server.time_free_pages_ns",
    "server.time_pool_mutex_ns",
    "server.time_row_locks_ns",
    "server.time_tree_locks_ns",
    "server.time_log_ns",
    "server.time_log_space_ns",
    "server.time_outage_ns",
    "server.time_thinking_ns",
];

/// What clients did, as they see it; the discriminant is its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Told {
    /// Statements that read.
    Reads,
    /// Statements that write.
    Writes,
    /// Commits and rollbacks.
    Others,
    /// Transactions begun anew.
    Retries,
    /// Transactions meant to be rolled back.
    RolledBack,
    /// Commits without an answer.
    Ambiguous,
}

pub(super) const TOLD: usize = 6;

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A processor, or it works on one.
    Processor,
    /// A page that is being read.
    PageRead,
    /// A free frame for a page.
    FreePage,
    /// The pool's mutex, which others hold for long.
    PoolMutex,
    /// A row's lock.
    RowLock,
    /// An index's lock, which who makes it grow holds.
    TreeLock,
    /// The log to be durable.
    Log,
    /// Room in the log.
    LogSpace,
    /// The server, which is not there.
    Outage,
    /// Nothing of the server's: its user thinks, or its answer is on the way.
    Thinking,
}

/// The counters of an interval.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    values: [u64; COUNTS],
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { values: [0; COUNTS] }
    }

    /// One more.
    #[inline]
    pub(super) fn one(&mut self, count: Count) {
        self.values[count as usize] += 1;
    }

    /// So many more.
    #[inline]
    pub(super) fn add(&mut self, count: Count, more: u64) {
        self.values[count as usize] += more;
    }

    /// So long spent with waiting for that.
    #[inline]
    pub(super) fn spent(&mut self, why: Why, time: Nanos) {
        let count = match why {
            Why::Processor => Count::TimeProcessor,
            Why::PageRead => Count::TimePageReads,
            Why::FreePage => Count::TimeFreePages,
            Why::PoolMutex => Count::TimePoolMutex,
            Why::RowLock => Count::TimeRowLocks,
            Why::TreeLock => Count::TimeTreeLocks,
            Why::Log => Count::TimeLog,
            Why::LogSpace => Count::TimeLogSpace,
            Why::Outage => Count::TimeOutage,
            Why::Thinking => Count::TimeThinking,
        };
        self.values[count as usize] += time;
    }

    /// All values, and zeros from now on.
    pub(super) fn take_all(&mut self) -> [u64; COUNTS] {
        std::mem::replace(&mut self.values, [0; COUNTS])
    }
}

/// Metrics with their values.
pub(super) fn named(values: &[u64; COUNTS]) -> impl Iterator<Item = (&'static str, u64)> {
    NAMES.into_iter().zip(*values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_in_the_registry() {
        let known = |name: &str| tameshi_record::metrics::METRICS.iter().any(|metric| metric.name == name);
        assert!(NAMES.iter().all(|name| known(name)), "{NAMES:?}");
        let mut counters = Counters::new();
        counters.spent(Why::Thinking, 5);
        assert_eq!(named(&counters.take_all()).last(), Some(("server.time_thinking_ns", 5)));
    }
}
