//! The redo log: positions, group commit, and how full it is.
//!
//! A requester that needs the log durable up to a position either leads a flush of all that there
//! is, or waits for the flush under way and, if that doesn't reach far enough, for the next one.

use super::layout::PAGE;
use tameshi_base::Nanos;
use tameshi_spec::profile::{Innodb, Sourced};

/// Bytes of a log block.
const BLOCK: u64 = 512;
/// Bytes of its payload (log0log.h).
const PAYLOAD: u64 = 496;
/// Bytes kept for changes under way (log_calc_max_ages: four pages for each of ten threads, and
/// eight).
const UNDER_WAY: u64 = 48 * PAGE;

/// Action that makes the log durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// None: it is.
    Durable,
    /// Wait for the flush under way.
    Wait,
    /// Write these bytes of the log, then flush.
    Lead {
        /// First byte, from the log's start.
        offset: u64,
        /// Whole blocks.
        bytes: u32,
    },
}

/// A redo log of a fixed size. Positions count bytes from the begin of the run.
#[derive(Debug)]
pub(super) struct Redo {
    /// End of the log.
    lsn: u64,
    durable: u64,
    /// End of the flush under way.
    reaches: Option<u64>,
    capacity: u64,
    /// Largest single write: the log buffer; commits share it.
    most: u64,
    is_shared: bool,
    checkpoint: u64,
    /// Age from which pages are flushed as fast as possible.
    hasty_age: u64,
    /// Age from which changes wait.
    most_age: u64,
}

impl Redo {
    /// A log of `capacity` bytes, by the rules of a version.
    pub(super) fn new(capacity: u64, rules: &Innodb) -> Self {
        // log_calc_max_ages.
        let margin = (capacity / 10 * 9).saturating_sub(UNDER_WAY) / 10 * 9;
        let less = |part: &Sourced<u32>| margin / u64::from(part.value) * u64::from(part.value - 1);
        let (hasty_age, most_age) = rules.checkpoint_age.as_ref().map_or((u64::MAX, u64::MAX), |age| {
            (less(&age.hasty_part), age.waiting_part.as_ref().map_or(margin, less))
        });
        let most = rules.group_commit.as_ref().map(|group| group.most.value.0);
        let is_shared = most.is_some();
        let most = most.unwrap_or(u64::MAX >> 1);
        Self { lsn: 0, durable: 0, reaches: None, capacity, most, is_shared, checkpoint: 0, hasty_age, most_age }
    }

    /// Return whether commits share flushes.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Log some bytes. Return the positions of their begin and end.
    #[inline]
    pub(super) fn append(&mut self, bytes: u64) -> (u64, u64) {
        let begin = self.lsn;
        self.lsn += bytes;
        (begin, self.lsn)
    }

    /// End of the log.
    #[inline]
    pub(super) fn lsn(&self) -> u64 {
        self.lsn
    }

    /// Return whether the log is durable up to `lsn`.
    #[inline]
    pub(super) fn is_durable(&self, lsn: u64) -> bool {
        self.durable >= lsn
    }

    /// Return the action that makes the log durable up to `lsn`. A leader must flush.
    pub(super) fn need(&mut self, lsn: u64) -> Need {
        if self.durable >= lsn {
            return Need::Durable;
        }
        if self.reaches.is_some() {
            return Need::Wait;
        }
        let all = if self.is_shared { self.lsn } else { lsn };
        self.lead(all.min(self.durable + self.most))
    }

    /// Return the action for a commit that shares no flush. It writes what it has logged; if
    /// another flush has written that, it writes its last block again.
    pub(super) fn need_alone(&mut self, lsn: u64) -> Need {
        if self.reaches.is_some() { Need::Wait } else { self.lead(lsn) }
    }

    fn lead(&mut self, to: u64) -> Need {
        self.reaches = Some(to.max(self.durable));
        let first = self.durable.min(to.saturating_sub(1)) / PAYLOAD;
        let blocks = to.div_ceil(PAYLOAD) - first;
        let (offset, bytes) = (first * BLOCK % self.capacity, blocks * BLOCK);
        // A write that would cross the end of the log is made at its begin: one write in thousands,
        // of the same length.
        let offset = if offset + bytes > self.capacity { 0 } else { offset };
        Need::Lead { offset, bytes: bytes as u32 }
    }

    /// End of the durable log.
    pub(super) fn durable(&self) -> u64 {
        self.durable
    }

    /// End of the flush under way.
    pub(super) fn reaches(&self) -> Option<u64> {
        self.reaches
    }

    /// The last checkpoint.
    pub(super) fn last_checkpoint(&self) -> u64 {
        self.checkpoint
    }

    /// Cut the log off after `survives`.
    pub(super) fn cut(&mut self, survives: u64) {
        (self.lsn, self.durable, self.reaches) = (survives, survives, None);
        self.checkpoint = self.checkpoint.min(survives);
    }

    /// Bytes from the last checkpoint's block to the end.
    pub(super) fn to_read(&self) -> u64 {
        (self.lsn.div_ceil(PAYLOAD) - self.checkpoint / PAYLOAD) * BLOCK
    }

    /// Offset of a piece of log that begins `after` bytes after the last checkpoint.
    pub(super) fn place(&self, after: u64, bytes: u32) -> u64 {
        let offset = (self.checkpoint / PAYLOAD * BLOCK + after) % self.capacity;
        if offset + u64::from(bytes) > self.capacity { 0 } else { offset }
    }

    /// Finish the flush under way.
    pub(super) fn flushed(&mut self) {
        self.durable = self.reaches.take().unwrap_or(self.durable);
    }

    /// Move the checkpoint to `oldest`, the oldest change that is not written (`None`: all are).
    /// Return whether it has moved.
    pub(super) fn checkpoint(&mut self, oldest: Option<u64>) -> bool {
        let at = oldest.unwrap_or(self.lsn).max(self.checkpoint);
        let moved = at > self.checkpoint;
        self.checkpoint = at;
        moved
    }

    /// Bytes of payload since the last checkpoint.
    #[inline]
    pub(super) fn age(&self) -> u64 {
        self.lsn - self.checkpoint
    }

    /// Size of the log in bytes.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Age from which changes must wait.
    #[inline]
    pub(super) fn most_age(&self) -> u64 {
        self.most_age
    }

    /// Age from which pages are flushed as fast as possible.
    #[inline]
    pub(super) fn hasty_age(&self) -> u64 {
        self.hasty_age
    }
}

/// Growth of the log, smoothed over seconds.
#[derive(Debug, Default)]
pub(super) struct LogRate {
    lsn: u64,
    at: Nanos,
    per_second: f64,
}

impl LogRate {
    /// Update with the log's end at `now`. Return bytes per second.
    pub(super) fn update(&mut self, lsn: u64, now: Nanos) -> f64 {
        let elapsed = now.saturating_sub(self.at);
        if elapsed >= 500_000_000 {
            let rate = (lsn - self.lsn) as f64 * 1e9 / elapsed as f64;
            self.per_second = if self.per_second == 0.0 { rate } else { (self.per_second * 7.0 + rate) / 8.0 };
            (self.lsn, self.at) = (lsn, now);
        }
        self.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_spec::profile::{EngineModel, EngineProfile};

    /// A log of one MiB, as MySQL 5.7 keeps it.
    fn log() -> Redo {
        let profile = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-5.7.toml");
        let EngineModel::Innodb(rules) = toml::from_str::<EngineProfile>(profile).expect("a profile").engine;
        Redo::new(1 << 20, &rules)
    }

    #[test]
    fn logged_bytes_are_written_once_and_in_order() {
        let mut redo = log();
        let mut payload = 0;
        for bytes in [100, 400, 5000, 1, 496] {
            redo.append(bytes);
            payload += bytes;
            let lsn = redo.lsn();
            let Need::Lead { bytes, .. } = redo.need(lsn) else { panic!("no leader") };
            assert_eq!(u64::from(bytes) % BLOCK, 0);
            assert_eq!(redo.need(lsn), Need::Wait);
            redo.flushed();
            assert!(redo.is_durable(lsn));
        }
        assert_eq!(redo.lsn(), payload);
    }

    #[test]
    fn log_blocks_are_written_again_only_if_not_full() {
        let mut redo = log();
        let (mut blocks, mut again, mut next) = (0, 0, 0);
        for round in 0..3000 {
            for part in 0..round % 5 {
                redo.append(1 + round * 37 % 700 + part);
            }
            let begun = !redo.durable().is_multiple_of(PAYLOAD);
            if let Need::Lead { offset, bytes } = redo.need(redo.lsn()) {
                let first = next - u64::from(begun) * BLOCK;
                let crosses = first % redo.capacity() + u64::from(bytes) > redo.capacity();
                assert_eq!(offset, if crosses { 0 } else { first % redo.capacity() }, "one write follows another");
                next = first + u64::from(bytes);
                (blocks, again) = (blocks + u64::from(bytes) / BLOCK, again + u64::from(begun));
                redo.flushed();
            }
        }
        assert!(next > 2 * redo.capacity() && again > 1000);
        assert_eq!(blocks - again, redo.lsn().div_ceil(PAYLOAD));
    }

    #[test]
    fn requests_during_a_flush_share_the_next_one() {
        let mut redo = log();
        let (_, first) = redo.append(100);
        assert!(matches!(redo.need(first), Need::Lead { .. }));
        let waiting: Vec<u64> = (0..20).map(|_| redo.append(50).1).collect();
        assert!(waiting.iter().all(|&lsn| redo.need(lsn) == Need::Wait));
        redo.flushed();
        assert!(redo.is_durable(first) && !redo.is_durable(waiting[0]));
        assert!(matches!(redo.need(waiting[3]), Need::Lead { .. }));
        redo.flushed();
        assert!(waiting.iter().all(|&lsn| redo.is_durable(lsn)));
    }

    #[test]
    fn recovery_reads_from_checkpoint_to_end() {
        let mut redo = log();
        redo.append(100 * PAYLOAD + 1);
        redo.checkpoint(Some(50 * PAYLOAD + 7));
        assert_eq!(redo.to_read(), 51 * BLOCK);
        assert_eq!(redo.place(BLOCK, 512), 51 * BLOCK);
        redo.cut(40 * PAYLOAD);
        assert_eq!((redo.lsn(), redo.age(), redo.to_read()), (40 * PAYLOAD, 0, 0));
    }

    #[test]
    fn age_is_the_log_from_checkpoint_to_end() {
        let mut redo = log();
        redo.append(1000);
        assert!(redo.checkpoint(Some(300)));
        assert!(!redo.checkpoint(Some(200)), "it never goes back");
        assert_eq!(redo.age(), 700);
        assert!(redo.checkpoint(None));
        assert_eq!(redo.age(), 0);
        assert!(redo.hasty_age() < redo.most_age() && redo.most_age() < redo.capacity());
    }
}
