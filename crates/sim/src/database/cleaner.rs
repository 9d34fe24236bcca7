//! The page cleaner's second: how many pages are flushed in it, by the rules of each version.

use super::flush::{LIST, LRU};
use super::redo::Pace;
use super::{Alarm, Engine, SECOND, Who};
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::profile::{Adaptive, FreePages};

/// Share of the log from whose age on pages are flushed for it (innodb_adaptive_flushing_lwm), in hundredths.
const AGE_LOW: u64 = 10;
/// Seconds of the log's growth whose oldest changes tell how many pages are flushed in one (buf_flush_lsn_scan_factor).
const GROWTH_SECONDS: f64 = 3.0;

/// What the page cleaner remembers from second to second.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    pub(super) pace: Pace,
    /// Pages flushed from each list in this second.
    flushed: [u64; 2],
    /// The same, smoothed.
    usual: [f64; 2],
    /// Pages flushed since the server was started.
    pub(super) written: u64,
    /// Dirty pages that a look through the LRU list has found, still to be flushed.
    pub(super) found: VecDeque<u32>,
    /// When it last looked through that list.
    pub(super) looked: Nanos,
}

impl Cleaner {
    /// So many pages were flushed from a list.
    pub(super) fn count(&mut self, list: usize, pages: u64) {
        self.flushed[list] += pages;
        self.written += pages;
    }

    /// A second is over in which so many pages were flushed from each list.
    pub(super) fn note(&mut self, flushed: [u64; 2]) {
        for (usual, flushed) in self.usual.iter_mut().zip(flushed) {
            *usual = (*usual * 7.0 + flushed as f64) / 8.0;
        }
    }
}

impl Engine {
    /// A second is over.
    pub(super) fn second(&mut self) {
        self.alarm(self.now + SECOND, Alarm::Second);
        let flushed = std::mem::take(&mut self.cleaner.flushed);
        self.cleaner.note(flushed);
        let log_per_second = self.cleaner.pace.look(self.redo.lsn(), self.now);
        if self.closing {
            return;
        }
        self.batches[LIST].quota = self.batches[LIST].quota.max(self.pages_for_this_second(log_per_second));
        self.begin_batch(LIST);
        match self.settings.free_pages {
            None | Some(FreePages::UserBatches) => {}
            Some(FreePages::SinglePages) => self.begin_batch(LRU),
            Some(FreePages::PageCleaner) => self.stock_up_with_list(),
        }
        self.begin_to_purge();
        self.merge_changes(self.to_merge());
        let lsn = self.redo.lsn();
        if !self.redo.is_durable(lsn) {
            self.want_log(lsn, Who::LogThread);
        }
    }

    /// Pages to flush from the list of dirty ones in this second.
    pub(super) fn pages_for_this_second(&self, log_per_second: f64) -> u64 {
        let (settings, dirty) = (&self.settings, u64::from(self.pool.dirty()));
        let too_dirty = dirty * 1_000_000 / u64::from(self.pool.frames()) > settings.most_dirty;
        let capacity = settings.io_capacity;
        if settings.model.flushing.background.is_none() {
            return 0;
        }
        match settings.adaptive {
            None if too_dirty => capacity,
            None => 0,
            // As many as turn over while the log runs full once, less what free pages make necessary anyway.
            Some(Adaptive::RedoRate) if too_dirty => capacity,
            Some(Adaptive::RedoRate) => {
                let wanted = dirty as f64 * log_per_second / self.redo.capacity() as f64;
                ((wanted - self.cleaner.usual[LRU]).max(0.0) as u64).min(capacity)
            }
            Some(Adaptive::Age) => {
                let age = self.redo.age() * 100 / self.redo.hasty_age().max(1);
                let boost = settings.io_capacity_max as f64 / capacity.max(1) as f64;
                let by_age = if age > AGE_LOW { boost * age as f64 * (age as f64).sqrt() / 7.5 } else { 0.0 };
                let percent = by_age.max(if too_dirty { 100.0 } else { 0.0 });
                if percent == 0.0 {
                    return 0;
                }
                let until = self.pool.oldest_change().unwrap_or(0) as f64 + log_per_second;
                let old = self.pool.changed_before(until as u64, settings.io_capacity_max * 2);
                let pages = (percent * capacity as f64 / 100.0 + self.cleaner.usual[LIST] + old as f64) / 3.0;
                (pages as u64).min(settings.io_capacity_max)
            }
            Some(Adaptive::Growth) => self.pages_for_growth(too_dirty, log_per_second),
        }
    }

    /// The log's age tells when it begins, and past a mark that the larger capacity is used; else its growth counts.
    fn pages_for_growth(&self, too_dirty: bool, log_per_second: f64) -> u64 {
        let (age, most) = (self.redo.age(), self.settings.io_capacity_max);
        if age > self.redo.hasty_age() {
            return most;
        }
        // Who wakes it for free pages makes it wait a second anew.
        let is_awake = self.cleaner.looked > 0 && self.now - self.cleaner.looked < SECOND;
        if is_awake || !too_dirty && age * 100 <= self.redo.capacity() / 10 * 9 * AGE_LOW {
            return 0;
        }
        let until = self.pool.oldest_change().unwrap_or(0) as f64 + GROWTH_SECONDS * log_per_second;
        let old = self.pool.changed_before(until as u64, most) as f64 / GROWTH_SECONDS;
        let pages = (self.settings.io_capacity as f64 + self.cleaner.usual[LIST] + old) / 3.0;
        (pages as u64).min(most)
    }

    /// Whether the log is so full that pages are flushed as fast as they can be.
    pub(super) fn is_hasty(&self) -> bool {
        match self.settings.adaptive {
            Some(Adaptive::Growth) => !self.space_waiters.is_empty(),
            Some(Adaptive::Age | Adaptive::RedoRate) | None => self.redo.age() > self.redo.hasty_age(),
        }
    }
}
