//! Pages that the page cleaner flushes per second, by the rules of each version.

use super::{FLUSH_LIST, LRU};
use crate::database::SECOND;
use crate::database::redo::LogRate;
use crate::database::store::Store;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::profile::Adaptive;

/// Share of the log from whose age on pages are flushed for it (innodb_adaptive_flushing_lwm),
/// in hundredths.
const AGE_LOW: u64 = 10;
/// Seconds of log growth whose oldest changes set the pages per second
/// (buf_flush_lsn_scan_factor).
const GROWTH_SECONDS: f64 = 3.0;

/// The page cleaner's averages, and pages it has found.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    log_rate: LogRate,
    /// Pages flushed from each list in this second.
    flushed: [u64; 2],
    /// The same, smoothed over seconds.
    usual: [f64; 2],
    /// Pages flushed since the server was started.
    pub(super) written: u64,
    /// Dirty pages that a search of the LRU list has found, still to be flushed.
    pub(super) found: VecDeque<u32>,
    /// Time of the last search of that list.
    pub(super) searched: Nanos,
    /// Time of the last batch for clients that waited for room in the log.
    pub(super) hurried: Nanos,
    /// MariaDB's page cleaner does not sleep until somebody wakes it.
    is_awake: bool,
}

impl Cleaner {
    /// Count pages flushed from a list.
    pub(super) fn count(&mut self, list: usize, pages: u64) {
        self.flushed[list] += pages;
        self.written += pages;
    }

    /// Wake a sleeping page cleaner. Return whether it slept.
    pub(super) fn wakes(&mut self) -> bool {
        !std::mem::replace(&mut self.is_awake, true)
    }

    /// Update the averages at a second's end. Return the growth of the log, in bytes per second.
    pub(super) fn end_second(&mut self, store: &Store) -> f64 {
        let flushed = std::mem::take(&mut self.flushed);
        for (usual, flushed) in self.usual.iter_mut().zip(flushed) {
            *usual = (*usual * 7.0 + flushed as f64) / 8.0;
        }
        self.log_rate.update(store.log.redo.lsn(), store.port.now)
    }

    /// Return the number of pages to flush from the list of dirty pages in this second.
    pub(super) fn pages_for_this_second(&mut self, store: &Store, log_per_second: f64) -> u64 {
        let (settings, redo, dirty) = (&store.settings.flushing, &store.log.redo, u64::from(store.pool.dirty()));
        let too_dirty = dirty * 1_000_000 / u64::from(store.pool.frames()) > settings.most_dirty;
        let capacity = settings.io_capacity;
        if !settings.background {
            return 0;
        }
        match settings.adaptive {
            None if too_dirty => capacity,
            None => 0,
            // The pages that turn over while the log is filled once, less those that are flushed
            // for free pages anyway.
            Some(Adaptive::RedoRate) if too_dirty => capacity,
            Some(Adaptive::RedoRate) => {
                let wanted = dirty as f64 * log_per_second / redo.capacity() as f64;
                ((wanted - self.usual[LRU]).max(0.0) as u64).min(capacity)
            }
            Some(Adaptive::Age) => {
                let age = redo.age() * 100 / redo.hasty_age().max(1);
                let boost = settings.io_capacity_max as f64 / capacity.max(1) as f64;
                let by_age = if age > AGE_LOW { boost * age as f64 * (age as f64).sqrt() / 7.5 } else { 0.0 };
                let percent = by_age.max(if too_dirty { 100.0 } else { 0.0 });
                if percent == 0.0 {
                    return 0;
                }
                let until = store.pool.oldest_change().unwrap_or(0) as f64 + log_per_second;
                let old = store.pool.changed_before(until as u64, settings.io_capacity_max * 2);
                let pages = (percent * capacity as f64 / 100.0 + self.usual[FLUSH_LIST] + old as f64) / 3.0;
                (pages as u64).min(settings.io_capacity_max)
            }
            Some(Adaptive::Growth) => self.pages_for_growth(store, too_dirty, log_per_second),
        }
    }

    /// Pages by the log's growth, as MariaDB flushes them (buf0flu.cc: `buf_flush_page_cleaner`).
    ///
    /// The page cleaner sleeps until somebody needs free pages or room in the log, the log is old,
    /// or nearly all pages are dirty. After a second without that, it flushes at the capacity while
    /// the log is old, else by the log's growth, until the log's age is low.
    fn pages_for_growth(&mut self, store: &Store, too_dirty: bool, log_per_second: f64) -> u64 {
        let (settings, redo) = (&store.settings.flushing, &store.log.redo);
        let most = settings.io_capacity_max;
        // Who wakes the page cleaner makes it wait a second anew.
        let woken = self.searched.max(self.hurried);
        if woken > 0 && store.port.now - woken < SECOND {
            self.is_awake = true;
            return 0;
        }
        let is_young = redo.age() * 100 <= redo.capacity() / 10 * 9 * AGE_LOW;
        self.is_awake = too_dirty || self.is_awake && !is_young;
        if !self.is_awake {
            return 0;
        }
        if store.log.is_old() {
            return most;
        }
        let until = store.pool.oldest_change().unwrap_or(0) as f64 + GROWTH_SECONDS * log_per_second;
        let old = store.pool.changed_before(until as u64, most) as f64 / GROWTH_SECONDS;
        let pages = (settings.io_capacity as f64 + self.usual[FLUSH_LIST] + old) / 3.0;
        (pages as u64).min(most)
    }
}
