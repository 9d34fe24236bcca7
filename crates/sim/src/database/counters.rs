//! Counters of an interval, under the metric registry's names of a real server's counters.

use tameshi_base::Nanos;

/// Counter; the discriminant is its place.
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
    BinlogBytes,
    BinlogGroups,
    BinlogWrites,
    BinlogFsyncs,
    DoublewritePages,
    Checkpoints,
    LockWaits,
    LockWaitNs,
    Deadlocks,
    PoolWaits,
}

/// Number of counters without times.
const COUNTERS: usize = Count::PoolWaits as usize + 1;
/// Number of wait reasons.
pub(crate) const WAIT_REASONS: usize = WaitReason::Thinking as usize + 1;
/// Number of values: counters, then the time per wait reason.
pub(super) const COUNTS: usize = COUNTERS + WAIT_REASONS;
/// Places of the times.
pub(super) const TIMES: std::ops::Range<usize> = COUNTERS..COUNTS;
/// Names in the order of [`Count`], then of [`WaitReason`].
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
    "server.binlog_bytes",
    "server.binlog_groups",
    "server.binlog_writes",
    "server.binlog_fsyncs",
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

/// Count from the clients' view; the discriminant is its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum ClientCount {
    /// Statements that read.
    Reads,
    /// Statements that write.
    Writes,
    /// Commits and rollbacks.
    Others,
    /// Transactions begun again.
    Retries,
    /// Transactions meant to be rolled back.
    RolledBack,
    /// Commits without an answer.
    Ambiguous,
}

/// Number of client counts.
pub(super) const CLIENT_COUNTS: usize = ClientCount::Ambiguous as usize + 1;

/// Reason for a connection's time, in the order of its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum WaitReason {
    /// Works on a processor or waits for one.
    Processor,
    /// A page that is being read.
    PageRead,
    /// A free frame for a page.
    FreePage,
    /// The latch of a page that is being written.
    PageLatch,
    /// The pool's mutex.
    PoolMutex,
    /// A row's lock.
    RowLock,
    /// The lock of a tree that another client makes grow.
    TreeLock,
    /// A durable log.
    Log,
    /// Room in the log.
    LogSpace,
    /// The server, during an outage.
    Outage,
    /// Nothing of the server's: think time, keying time, or a round trip.
    Thinking,
}

/// The counters of an interval.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    values: [u64; COUNTS],
    /// Time per reason, by kind of transaction.
    spent: Vec<[Nanos; WAIT_REASONS]>,
}

impl Counters {
    pub(super) fn new() -> Self {
        Self { values: [0; COUNTS], spent: Vec::new() }
    }

    #[inline]
    pub(super) fn one(&mut self, count: Count) {
        self.values[count as usize] += 1;
    }

    #[inline]
    pub(super) fn add(&mut self, count: Count, more: u64) {
        self.values[count as usize] += more;
    }

    /// Count a time of a transaction of a kind.
    #[inline]
    pub(super) fn spent(&mut self, why: WaitReason, kind: usize, time: Nanos) {
        if kind >= self.spent.len() {
            self.spent.resize(kind + 1, [0; WAIT_REASONS]);
        }
        self.spent[kind][why as usize] += time;
    }

    /// Take all values, and the times by kind of transaction; both begin at zero again.
    pub(super) fn take_all(&mut self) -> ([u64; COUNTS], Vec<[Nanos; WAIT_REASONS]>) {
        let (mut values, spent) = (std::mem::replace(&mut self.values, [0; COUNTS]), std::mem::take(&mut self.spent));
        for (why, value) in values[TIMES].iter_mut().enumerate() {
            *value = spent.iter().map(|kind| kind[why]).sum();
        }
        (values, spent)
    }
}

/// Return metrics with their values.
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
        counters.spent(WaitReason::Thinking, 0, 5);
        assert_eq!(named(&counters.take_all().0).last(), Some(("server.time_thinking_ns", 5)));
    }
}
