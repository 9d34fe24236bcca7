//! Totals of an interval and snapshots of a server, for phases that are simulated in part.

use super::counters::{CLIENT_COUNTS, COUNTS, Count, Counters, TIMES, WAIT_REASONS, WaitReason};
use super::layout::PAGE;
use tameshi_base::Nanos;
use tameshi_record::{RecordError, Share, Writer};
use tameshi_workload::QueueTime;

/// All counts of an interval.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    values: [u64; COUNTS],
    client_counts: [u64; CLIENT_COUNTS],
    /// Waiting transactions and those under way, integrated over time.
    queue_time: QueueTime,
    /// Transactions and their total time, by connection.
    clients: Vec<(u64, Nanos)>,
    /// Time per reason in the order of [`Self::IS_TIME`], by kind of transaction.
    spent: Vec<[Nanos; WAIT_REASONS]>,
}

impl Totals {
    /// Take all counts of an interval.
    pub(super) fn new(
        counters: &mut Counters,
        (client_counts, queue_time): ([u64; CLIENT_COUNTS], QueueTime),
        clients: Vec<(u64, Nanos)>,
    ) -> Self {
        let (values, spent) = counters.take_all();
        Self { values, client_counts, queue_time, clients, spent }
    }

    /// Transactions and their total time, by connection.
    pub(super) fn clients(&self) -> &[(u64, Nanos)] {
        &self.clients
    }

    /// Places of all values.
    pub(crate) const PLACES: std::ops::Range<usize> = 0..COUNTS;
    /// Place of pages that were read.
    pub(crate) const PAGES_READ: usize = Count::PagesRead as usize;
    /// Places of pages that come in, and of the waits for them.
    pub(crate) const COME_IN: [usize; 6] = [
        Count::PageMisses as usize,
        Count::ReadAheads as usize,
        Count::PagesRead as usize,
        Count::Reads as usize,
        Count::ReadBytes as usize,
        Self::WAITS,
    ];
    /// Place of the waits for page reads.
    pub(crate) const WAITS: usize = TIMES.start + WaitReason::PageRead as usize;
    /// Places of the waits for page writes.
    const BY_WRITES: [usize; 2] =
        [TIMES.start + WaitReason::FreePage as usize, TIMES.start + WaitReason::PageLatch as usize];
    /// Number of the page reads among the reasons.
    pub(crate) const READING: usize = WaitReason::PageRead as usize;
    /// Number of the work on a processor among the reasons.
    pub(crate) const WORKING: usize = WaitReason::Processor as usize;
    /// Places of connections' times, which add up to all of their time.
    pub(crate) const IS_TIME: std::ops::Range<usize> = TIMES;
    /// Places of times without work.
    pub(crate) const WAITING: std::ops::Range<usize> = TIMES.start + Self::WORKING + 1..TIMES.end;

    /// Zeros, for a number of connections.
    pub(crate) fn nothing(clients: usize) -> Self {
        Self {
            values: [0; COUNTS],
            client_counts: [0; CLIENT_COUNTS],
            queue_time: QueueTime::default(),
            clients: vec![(0, 0); clients],
            spent: Vec::new(),
        }
    }

    /// Totals of pages that came in, and of the times of waits and work.
    #[cfg(test)]
    pub(crate) fn of_pages(misses: u64, (waited, worked): (Nanos, Nanos)) -> Self {
        let mut counted = Self::nothing(0);
        counted.values[Count::PageMisses as usize] = misses;
        counted.values[Self::PAGES_READ] = misses;
        counted.values[Self::WAITS] = waited;
        counted.values[TIMES.start + WaitReason::Processor as usize] = worked;
        counted
    }

    /// Add the times of waits and work by kind of transaction.
    #[cfg(test)]
    pub(crate) fn by_kinds(mut self, kinds: &[(Nanos, Nanos)]) -> Self {
        let of = |(waited, worked): &(Nanos, Nanos)| {
            let mut spent = [0; WAIT_REASONS];
            (spent[WaitReason::PageRead as usize], spent[WaitReason::Processor as usize]) = (*waited, *worked);
            spent
        };
        self.spent = kinds.iter().map(of).collect();
        self
    }

    /// Add a share of an interval's counts, and a share of its connections' times; `of` gives the
    /// share of a place that differs.
    pub(crate) fn add(&mut self, other: &Self, (share, time): (Share, Share), of: impl Fn(usize) -> Option<Share>) {
        for (at, (mine, other)) in self.values.iter_mut().zip(&other.values).enumerate() {
            let like = if Self::IS_TIME.contains(&at) { time } else { share };
            *mine += of(at).unwrap_or(like).of(*other);
        }
        self.client_counts.iter_mut().zip(&other.client_counts).for_each(|(mine, other)| *mine += share.of(*other));
        self.queue_time.in_flight_ns += time.of(other.queue_time.in_flight_ns);
        self.queue_time.waiting_ns += time.of(other.queue_time.waiting_ns);
        self.spent.resize(self.spent.len().max(other.spent.len()), [0; WAIT_REASONS]);
        for (mine, other) in self.spent.iter_mut().zip(&other.spent) {
            mine.iter_mut().zip(other).for_each(|(mine, other)| *mine += time.of(*other));
        }
        for (mine, other) in self.clients.iter_mut().zip(&other.clients) {
            *mine = (mine.0 + share.of(other.0), mine.1 + time.of(other.1));
        }
    }

    /// Time per reason of a kind of transaction.
    pub(crate) fn spent_by(&self, kind: usize) -> [Nanos; WAIT_REASONS] {
        self.spent.get(kind).copied().unwrap_or([0; WAIT_REASONS])
    }

    /// Value at a place.
    pub(crate) fn value(&self, place: usize) -> u64 {
        self.values[place]
    }

    /// Pages that were not in the pool.
    pub(crate) fn misses(&self) -> u64 {
        self.values[Count::PageMisses as usize]
    }

    /// Bytes of pages that were read.
    pub(crate) fn read_bytes(&self) -> f64 {
        (self.values[Self::PAGES_READ] * PAGE) as f64
    }

    /// Bytes of log.
    pub(crate) fn log_bytes(&self) -> u64 {
        self.values[Count::LogBytes as usize]
    }

    /// Page requests.
    pub(crate) fn asked(&self) -> u64 {
        self.values[Count::PageRequests as usize]
    }

    /// Share of the connections' time that depends on page reads.
    pub(crate) fn waits_for_pages(&self) -> f64 {
        let all: u64 = self.values[Self::IS_TIME].iter().sum();
        let pages = self.values[Self::WAITS] + self.drifts_with(Self::BY_WRITES[0]);
        pages as f64 / all.max(1) as f64
    }

    /// Value whose drift a place follows: waits that page writes end drift together.
    pub(crate) fn drifts_with(&self, place: usize) -> u64 {
        if Self::BY_WRITES.contains(&place) {
            return Self::BY_WRITES.iter().map(|&place| self.values[place]).sum();
        }
        self.values[place]
    }
}

/// State of a server at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Snapshot {
    /// Bytes of pages in the pool.
    pub(crate) pool: f64,
    /// Bytes of dirty pages.
    pub(crate) dirty: f64,
    /// Bytes of the change buffer's pages.
    pub(crate) buffered: f64,
    /// Bytes of log since the last checkpoint.
    pub(crate) age: f64,
    /// Connections that wait for a row lock.
    pub(super) waiting: f64,
    /// Bytes in the host's page cache, if files go through it.
    pub(super) cached: Option<f64>,
    /// The binary log is on.
    pub(super) has_binlog: bool,
    /// Bytes of all frames.
    pub(crate) whole: f64,
    /// Bytes of the change buffer's pages at which its behaviour changes next.
    pub(crate) buffer_mark: f64,
    /// Dirty bytes from which on pages are flushed at the capacity.
    pub(crate) most_dirty: f64,
    /// Age of the log from which on pages are flushed as fast as possible, in bytes.
    pub(crate) hasty_age: f64,
    /// Number of times that all pages of the pool have been replaced.
    pub(crate) turned_over: f64,
    /// Number of times that the log has been filled.
    pub(crate) log_turned_over: f64,
    /// Changes of secondary indexes' leaves so far, and those that were buffered.
    pub(crate) leaf_changes: (u64, u64),
}

impl Snapshot {
    /// Mean of the values that go up and down, and the latest of all others.
    pub(crate) fn mean(all: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let latest = *all.last()?;
        let cached = latest.cached.map(|_| mean(|snapshot| snapshot.cached.unwrap_or(0.0)));
        let (dirty, age, waiting) = (mean(|of| of.dirty), mean(|of| of.age), mean(|of| of.waiting));
        Some(Self { dirty, age, waiting, cached, ..latest })
    }
}

impl Totals {
    /// Write the counts of a program's interval, and a snapshot of its end.
    pub(crate) fn write(
        &self,
        (begin, end): (Nanos, Nanos),
        (word, snapshot): (&str, &Snapshot),
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let [reads, writes, others, retries, rolled_back, ambiguous] = self.client_counts;
        let rows = [
            ("statement.count", reads + writes + others),
            ("statement.reads", reads),
            ("statement.writes", writes),
            ("statement.others", others),
            ("transaction.retries", retries),
            ("transaction.rolled_back", rolled_back),
            ("transaction.ambiguous", ambiguous),
            ("load.in_flight_ns", self.queue_time.in_flight_ns),
            ("load.waiting_ns", self.queue_time.waiting_ns),
        ];
        writer.counters((begin, end), word, &rows)?;
        let (asked, missed) = (self.asked(), self.misses());
        // Without a page cache or a binary log the record has no counter of it.
        let is_present = |name: &str| {
            (snapshot.cached.is_some() || name != "server.page_cache_hits")
                && (snapshot.has_binlog || !name.starts_with("server.binlog_"))
        };
        let named = super::counters::named(&self.values).filter(|(name, _)| is_present(name));
        let mut rows: Vec<(&str, f64)> = named.map(|(name, value)| (name, value as f64)).collect();
        rows.extend([
            ("server.pool_bytes", snapshot.pool),
            ("server.dirty_bytes", snapshot.dirty),
            ("server.checkpoint_age_bytes", snapshot.age),
            ("server.lock_waiting", snapshot.waiting),
        ]);
        rows.extend(snapshot.cached.map(|bytes| ("server.page_cache_bytes", bytes)));
        rows.extend((asked > 0).then(|| ("server.hit_ratio", 1.0 - missed as f64 / asked as f64)));
        writer.server((begin, end), &rows)
    }
}
