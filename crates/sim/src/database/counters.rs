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
}

/// How many they are, how much there is to wait for, and both: behind what is counted stands the time spent with waiting.
const COUNTERS: usize = Count::PoolWaits as usize + 1;
pub(crate) const WHYS: usize = Why::Thinking as usize + 1;
pub(super) const COUNTS: usize = COUNTERS + WHYS;
/// The places of that time.
pub(super) const TIMES: std::ops::Range<usize> = COUNTERS..COUNTS;
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
    "server.time_page_latches_ns",
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

/// What a client waits for, in the order of the counters of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Why {
    /// A processor, or it works on one.
    Processor,
    /// A page that is being read.
    PageRead,
    /// A free frame for a page.
    FreePage,
    /// A page's latch, which its being written holds.
    PageLatch,
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
    /// By kind of transaction, time spent with waiting for each.
    spent: Vec<[Nanos; WHYS]>,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { values: [0; COUNTS], spent: Vec::new() }
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

    /// So long spent with waiting for that, in a transaction of a kind.
    #[inline]
    pub(super) fn spent(&mut self, why: Why, kind: usize, time: Nanos) {
        if kind >= self.spent.len() {
            self.spent.resize(kind + 1, [0; WHYS]);
        }
        self.spent[kind][why as usize] += time;
    }

    /// All values, and by kind of transaction how long what was waited for; zeros from now on.
    pub(super) fn take_all(&mut self) -> ([u64; COUNTS], Vec<[Nanos; WHYS]>) {
        let (mut values, spent) = (std::mem::replace(&mut self.values, [0; COUNTS]), std::mem::take(&mut self.spent));
        for (why, value) in values[TIMES].iter_mut().enumerate() {
            *value = spent.iter().map(|kind| kind[why]).sum();
        }
        (values, spent)
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
        let known = |name: &str| tameshi_base::metrics::METRICS.iter().any(|metric| metric.name == name);
        assert!(NAMES.iter().all(|name| known(name)), "{NAMES:?}");
        let mut counters = Counters::new();
        counters.spent(Why::Thinking, 0, 5);
        assert_eq!(named(&counters.take_all().0).last(), Some(("server.time_thinking_ns", 5)));
    }
}
