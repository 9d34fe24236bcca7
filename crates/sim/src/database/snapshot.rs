//! What an engine has counted and how it stands, for who goes through a phase without simulating all of it.

use super::Engine;
use super::counters::{COUNTS, Count, TIMES, TOLD, WHYS, Why};
use super::layout::PAGE;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{RecordError, Share, Writer};

/// Everything counted in a stretch.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    values: [u64; COUNTS],
    told: [u64; TOLD],
    /// By client, transactions and the time that they took.
    clients: Vec<(u64, Nanos)>,
    /// By kind of transaction, how long what was waited for, in the order of [`Self::IS_TIME`].
    spent: Vec<[Nanos; WHYS]>,
}

impl Counted {
    /// The places of counters.
    pub(crate) const PLACES: std::ops::Range<usize> = 0..COUNTS;
    /// That of pages that were read.
    pub(crate) const PAGES_READ: usize = Count::PagesRead as usize;
    /// Those of pages that come in, and of the waiting for them.
    pub(crate) const COME_IN: [usize; 6] = [
        Count::PageMisses as usize,
        Count::ReadAheads as usize,
        Count::PagesRead as usize,
        Count::Reads as usize,
        Count::ReadBytes as usize,
        Self::WAITS,
    ];
    pub(crate) const WAITS: usize = TIMES.start + Why::PageRead as usize;
    /// Those of the waiting for pages to be written.
    const BY_WRITES: [usize; 2] = [TIMES.start + Why::FreePage as usize, TIMES.start + Why::PageLatch as usize];
    /// Which of what time goes with that is, and which the work on a processor.
    pub(crate) const READING: usize = Why::PageRead as usize;
    pub(crate) const WORKING: usize = Why::Processor as usize;
    /// Those of time that clients spent, which adds up to all of theirs.
    pub(crate) const IS_TIME: std::ops::Range<usize> = TIMES;
    /// Those of it that was no work.
    pub(crate) const WAITING: std::ops::Range<usize> = TIMES.start + Self::WORKING + 1..TIMES.end;

    /// Nothing, of so many clients.
    pub(crate) fn nothing(clients: usize) -> Self {
        Self { values: [0; COUNTS], told: [0; TOLD], clients: vec![(0, 0); clients], spent: Vec::new() }
    }

    /// Pages that came in, and the time that clients waited for them and worked.
    #[cfg(test)]
    pub(crate) fn of_pages(misses: u64, (waited, worked): (Nanos, Nanos)) -> Self {
        let mut counted = Self::nothing(0);
        counted.values[Count::PageMisses as usize] = misses;
        counted.values[Self::PAGES_READ] = misses;
        counted.values[Self::WAITS] = waited;
        counted.values[TIMES.start + Why::Processor as usize] = worked;
        counted
    }

    /// The same, where kinds of transactions waited for pages and worked so long each.
    #[cfg(test)]
    pub(crate) fn by_kinds(mut self, kinds: &[(Nanos, Nanos)]) -> Self {
        let of = |(waited, worked): &(Nanos, Nanos)| {
            let mut spent = [0; WHYS];
            (spent[Why::PageRead as usize], spent[Why::Processor as usize]) = (*waited, *worked);
            spent
        };
        self.spent = kinds.iter().map(of).collect();
        self
    }

    /// Adds what of a stretch's counts falls into a share of it, and what of its clients' time; `of` gives those of counters
    /// whose place is not like that.
    pub(crate) fn add(&mut self, other: &Self, (share, time): (Share, Share), of: impl Fn(usize) -> Option<Share>) {
        for (at, (mine, other)) in self.values.iter_mut().zip(&other.values).enumerate() {
            let like = if Self::IS_TIME.contains(&at) { time } else { share };
            *mine += of(at).unwrap_or(like).of(*other);
        }
        self.told.iter_mut().zip(&other.told).for_each(|(mine, other)| *mine += share.of(*other));
        self.spent.resize(self.spent.len().max(other.spent.len()), [0; WHYS]);
        for (mine, other) in self.spent.iter_mut().zip(&other.spent) {
            mine.iter_mut().zip(other).for_each(|(mine, other)| *mine += time.of(*other));
        }
        for (mine, other) in self.clients.iter_mut().zip(&other.clients) {
            *mine = (mine.0 + share.of(other.0), mine.1 + time.of(other.1));
        }
    }

    /// How long transactions of a kind waited for what.
    pub(crate) fn spent_by(&self, kind: usize) -> [Nanos; WHYS] {
        self.spent.get(kind).copied().unwrap_or([0; WHYS])
    }

    /// A counter's value.
    pub(crate) fn value(&self, place: usize) -> u64 {
        self.values[place]
    }

    /// Pages that had to come in.
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

    /// Pages asked for.
    pub(crate) fn asked(&self) -> u64 {
        self.values[Count::PageRequests as usize]
    }

    /// Share of the clients' time that goes with pages coming in.
    pub(crate) fn waits_for_pages(&self) -> f64 {
        let all: u64 = self.values[Self::IS_TIME].iter().sum();
        let pages = self.values[Self::WAITS] + self.drifts_with(Self::BY_WRITES[0]);
        pages as f64 / all.max(1) as f64
    }

    /// What changes as a counter does: waits that pages' writes end do as one.
    pub(crate) fn drifts_with(&self, place: usize) -> u64 {
        if Self::BY_WRITES.contains(&place) {
            return Self::BY_WRITES.iter().map(|&place| self.values[place]).sum();
        }
        self.values[place]
    }
}

/// How an engine stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// Bytes of pages in the pool, of dirty ones, of the change buffer's, and of log since the last checkpoint; clients that wait
    /// for a lock.
    pub(crate) pool: f64,
    pub(crate) dirty: f64,
    pub(crate) buffered: f64,
    pub(crate) age: f64,
    waiting: f64,
    /// Bytes in the host's page cache, where files go through it.
    cached: Option<f64>,
    /// All that the pool can hold; bytes of the change buffer's pages, dirty bytes and age of the log from which on something else begins.
    pub(crate) whole: f64,
    pub(crate) buffer_mark: f64,
    pub(crate) most_dirty: f64,
    pub(crate) hasty_age: f64,
    /// How often all pages in the pool have been replaced, and all of the log.
    pub(crate) turned_over: f64,
    pub(crate) log_turned_over: f64,
    /// Changes of secondary indexes' leaves so far, and how many of them were buffered.
    pub(crate) leaf_changes: (u64, u64),
}

impl Standing {
    /// Of how things stood several times, the means of what goes up and down; of all else the latest.
    pub(crate) fn mean(all: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let latest = *all.last()?;
        let cached = latest.cached.map(|_| mean(|standing| standing.cached.unwrap_or(0.0)));
        let (dirty, age, waiting) = (mean(|of| of.dirty), mean(|of| of.age), mean(|of| of.waiting));
        Some(Self { dirty, age, waiting, cached, ..latest })
    }
}

impl Engine {
    /// Whether nobody thinks, types or waits for an arrival between transactions.
    pub(crate) fn is_unpaced(&self) -> bool {
        self.deliverer().is_none() && self.clients.iter().all(|seat| seat.pause() == 0 && seat.schedule.is_none())
    }

    /// How it stands.
    pub(crate) fn standing(&self) -> Standing {
        let bytes = |pages: u32| (u64::from(pages) * PAGE) as f64;
        let frames = self.pool.frames();
        Standing {
            pool: bytes(frames - self.pool.free()),
            whole: bytes(frames),
            dirty: bytes(self.pool.dirty()),
            buffered: bytes(self.change_buffer.pages()),
            buffer_mark: bytes(self.next_mark()),
            age: self.redo.age() as f64,
            waiting: self.locks.waiting() as f64,
            cached: self.cache.bytes(),
            most_dirty: bytes(frames) * self.settings.most_dirty as f64 / 1e6,
            hasty_age: self.redo.hasty_age().min(self.redo.capacity()) as f64,
            turned_over: self.pool.evictions() / f64::from(frames),
            log_turned_over: self.redo.lsn() as f64 / self.redo.capacity() as f64,
            leaf_changes: self.change_buffer.asked(),
        }
    }

    /// Takes what was counted until `now`, and begins anew.
    pub(crate) fn take_counted(&mut self, now: Nanos) -> Counted {
        self.account(now);
        self.space.simulated(self.layout.next, self.done.1.iter().map(|done| done.0).sum());
        let none = vec![(0, 0); self.clients.len()];
        let (values, spent) = self.counters.take_all();
        Counted {
            values,
            spent,
            told: std::mem::take(&mut self.told),
            clients: std::mem::replace(&mut self.done.1, none),
        }
    }

    /// Tells what each client did in the phase that ends now.
    pub(crate) fn tell_clients(&self, now: Nanos, phase: u32, writer: &mut Writer) -> Result<(), RecordError> {
        let (completed, busy): (Vec<u64>, Vec<Nanos>) = self.done.1.iter().copied().unzip();
        writer.event(now, "clients", json!({ "phase": phase, "completed": completed, "busy_ns": busy }))
    }

    /// This is what each client did in the phase, not all of which was simulated.
    pub(crate) fn set_done_by_clients(&mut self, counted: &Counted) {
        self.done.1.clone_from(&counted.clients);
        self.space.foresee(self.layout.next, self.done.1.iter().map(|done| done.0).sum());
    }

    /// Writes what was counted from `begin` to `end`, and how things stand at the end.
    pub(crate) fn write(
        &mut self,
        (begin, end): (Nanos, Nanos),
        word: &str,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        self.account(end);
        let counted =
            Counted { values: self.counters.take_all().0, told: std::mem::take(&mut self.told), ..Counted::nothing(0) };
        counted.write((begin, end), (word, &self.standing()), writer)
    }
}

impl Counted {
    /// Writes what was counted from `begin` to `end` by the program of that word, and how things stand at the end.
    pub(crate) fn write(
        &self,
        (begin, end): (Nanos, Nanos),
        (word, standing): (&str, &Standing),
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let [reads, writes, others, retries, rolled_back, ambiguous] = self.told;
        let rows = [
            ("statement.count", reads + writes + others),
            ("statement.reads", reads),
            ("statement.writes", writes),
            ("statement.others", others),
            ("transaction.retries", retries),
            ("transaction.rolled_back", rolled_back),
            ("transaction.ambiguous", ambiguous),
        ];
        writer.counters((begin, end), word, &rows)?;
        let (asked, missed) = (self.asked(), self.misses());
        // Where there is no page cache nothing is said of it.
        let told = |name: &str| standing.cached.is_some() || name != "server.page_cache_hits";
        let named = super::counters::named(&self.values).filter(|(name, _)| told(name));
        let mut rows: Vec<(&str, f64)> = named.map(|(name, value)| (name, value as f64)).collect();
        rows.extend([
            ("server.pool_bytes", standing.pool),
            ("server.dirty_bytes", standing.dirty),
            ("server.checkpoint_age_bytes", standing.age),
            ("server.lock_waiting", standing.waiting),
        ]);
        rows.extend(standing.cached.map(|bytes| ("server.page_cache_bytes", bytes)));
        rows.extend((asked > 0).then(|| ("server.hit_ratio", 1.0 - missed as f64 / asked as f64)));
        writer.server((begin, end), &rows)
    }
}
