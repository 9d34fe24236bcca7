//! Free frames, by the rules of each version.
//!
//! - MySQL 5.5 (buf0flu.c: `buf_flush_free_margin`): a client that has read a page looks at the
//!   LRU list's end. If too few pages there are replaceable, it flushes a batch itself, or waits
//!   for the batch of another client. Each page looked at costs time under the pool's mutex.
//! - MySQL 5.6 and later: the page cleaner flushes batches from the list's end. A client that
//!   finds no frame flushes a single page.
//! - MariaDB 10.11 (buf0flu.cc, buf0lru.cc: `buf_flush_LRU_list_batch`,
//!   `buf_pool_t::need_LRU_eviction`, `buf_LRU_get_free_block`): a client that leaves fewer than
//!   half of the target free wakes the page cleaner. The page cleaner searches the list from its
//!   end until the target is met or hardly any page is left: clean pages become free at once,
//!   dirty ones are written, and are clean at its next search. The target is the same in a small
//!   pool, which therefore holds few pages.

use super::selection::{self, LEAST_LISTED, margin, target_free};
use super::{FLUSH_LIST, Flusher, LRU};
use crate::database::counters::Count;
use crate::database::port::Alarm;
use crate::database::store::Store;
use tameshi_base::Nanos;
use tameshi_spec::profile::FreePages;

/// State of a client that found no free frame. It tries again when it resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum FrameWait {
    /// A batch or an alarm resumes it.
    Waiting,
    /// It flushes the page in this frame, up to this log position.
    Flushing(u32, u64),
}

impl Flusher {
    /// Take a frame for a page that a client needs. `tries` counts the client's attempts.
    pub(in super::super) fn frame_for_client(
        &mut self,
        store: &mut Store,
        client: u32,
        tries: &mut u32,
    ) -> Result<u32, FrameWait> {
        let free_pages = store.settings.flushing.free_pages;
        if let Some(frame) = store.take_frame() {
            match free_pages {
                None | Some(FreePages::UserBatches) => {}
                Some(FreePages::SinglePages) if store.pool.free() < target_free(store) / 8 => {
                    self.begin_batch(store, LRU);
                }
                Some(FreePages::SinglePages) => {}
                Some(FreePages::PageCleaner) => self.wake_cleaner_if_low(store),
            }
            return Ok(frame);
        }
        if free_pages == Some(FreePages::PageCleaner) {
            self.wake_cleaner(store);
            if let Some(frame) = store.take_frame() {
                return Ok(frame);
            }
        }
        *tries += 1;
        if *tries == 1 {
            store.counters.one(Count::PoolWaits);
        }
        Err(match free_pages {
            Some(FreePages::UserBatches | FreePages::PageCleaner) => self.await_batch(store, client, LRU),
            Some(FreePages::SinglePages) if store.settings.flushing.single_slots > 0 => {
                self.begin_batch(store, LRU);
                self.flush_or_sleep(store, client, tries)
            }
            Some(FreePages::SinglePages) if store.settings.flushing.lru_scan_depth > 0 => {
                self.await_batch(store, client, LRU)
            }
            Some(FreePages::SinglePages) | None => {
                self.flush_longest_dirty(store);
                self.await_batch(store, client, FLUSH_LIST)
            }
        })
    }

    /// Flush a single page, or sleep after two attempts.
    fn flush_or_sleep(&mut self, store: &mut Store, client: u32, tries: &mut u32) -> FrameWait {
        if *tries > 2 {
            *tries = 1;
            return sleep(store, client);
        }
        match self.begin_single(store, client) {
            Some((frame, lsn)) => FrameWait::Flushing(frame, lsn),
            None => sleep(store, client),
        }
    }

    /// Wait for pages that a batch makes free or clean; sleep if there is none to begin.
    fn await_batch(&mut self, store: &mut Store, client: u32, list: usize) -> FrameWait {
        self.begin_batch(store, list);
        if self.batches[list].is_idle() {
            return sleep(store, client);
        }
        self.free_waiters.push_back(client);
        FrameWait::Waiting
    }

    /// Take a frame for a page that no client waits for.
    pub(in super::super) fn frame_for_reader(&mut self, store: &mut Store) -> Option<u32> {
        let frame = store.take_frame();
        if frame.is_some() {
            self.wake_cleaner_if_low(store);
        } else {
            self.make_free_pages(store);
        }
        frame
    }

    /// Begin to make free pages: none is free, and none near the LRU list's end is clean.
    pub(in super::super) fn make_free_pages(&mut self, store: &mut Store) {
        match store.settings.flushing.free_pages {
            None => self.flush_longest_dirty(store),
            Some(FreePages::PageCleaner) => self.wake_cleaner(store),
            Some(FreePages::SinglePages | FreePages::UserBatches) => self.begin_batch(store, LRU),
        }
    }

    /// Flush a batch of the pages that have been dirty for longest, where no thread flushes from
    /// the LRU list's end: pages there become clean this way.
    fn flush_longest_dirty(&mut self, store: &mut Store) {
        let quota = &mut self.batches[FLUSH_LIST].quota;
        *quota = (*quota).max(u64::from(store.settings.flushing.batch));
        self.begin_batch(store, FLUSH_LIST);
    }

    fn wake_cleaner_if_low(&mut self, store: &mut Store) {
        if is_low(store) {
            self.wake_cleaner(store);
        }
    }

    /// Let MariaDB's page cleaner search the LRU list, unless it still flushes what it found.
    fn wake_cleaner(&mut self, store: &mut Store) {
        if self.batches[LRU].is_idle() {
            self.cleaner.searched = store.port.now;
            selection::search_list(store, &mut self.cleaner.found);
            self.begin_batch(store, LRU);
        }
    }

    /// Begin the batch that follows one of the same list, if there is more to flush.
    pub(in super::super) fn begin_next_batch(&mut self, store: &mut Store, list: usize) {
        if list == FLUSH_LIST {
            if store.is_log_urgent() || self.batches[FLUSH_LIST].quota > 0 {
                self.begin_batch(store, FLUSH_LIST);
            }
            return;
        }
        match store.settings.flushing.free_pages {
            Some(FreePages::SinglePages) => {
                if !self.free_waiters.is_empty() || store.pool.free() < target_free(store) / 2 {
                    self.begin_batch(store, LRU);
                }
            }
            Some(FreePages::PageCleaner) if self.cleaner.found.is_empty() => self.wake_cleaner_if_low(store),
            Some(FreePages::PageCleaner) => self.begin_batch(store, LRU),
            Some(FreePages::UserBatches) | None => {}
        }
    }

    /// Run the page cleaner's second: batches for the log, then for free pages. A server that
    /// is closing only keeps its averages.
    pub(in super::super) fn second(&mut self, store: &mut Store, is_closing: bool) {
        let log_per_second = self.cleaner.end_second(store);
        if is_closing {
            return;
        }
        let pages = self.cleaner.pages_for_this_second(store, log_per_second);
        let quota = &mut self.batches[FLUSH_LIST].quota;
        *quota = (*quota).max(pages);
        self.begin_batch(store, FLUSH_LIST);
        match store.settings.flushing.free_pages {
            None | Some(FreePages::UserBatches) => {}
            Some(FreePages::SinglePages) => self.begin_batch(store, LRU),
            Some(FreePages::PageCleaner) => {
                if is_low(store) || !self.batches[FLUSH_LIST].is_idle() {
                    self.wake_cleaner(store);
                }
            }
        }
    }

    /// Check the margin of MySQL 5.5 after a client has read a page. Return whether the client
    /// waits, for a batch or for the pool's mutex.
    pub(in super::super) fn keep_margin(&mut self, store: &mut Store, client: u32) -> bool {
        let (margin, extra, search) = margin(store);
        let replaceable = store.pool.replaceable(search, margin + extra);
        let held = look_under_mutex(store);
        if replaceable < margin {
            self.batches[LRU].quota = u64::from(margin + extra - replaceable);
            self.begin_batch(store, LRU);
            if !self.batches[LRU].is_idle() {
                self.free_waiters.push_back(client);
                return true;
            }
        }
        if held > 0 {
            store.port.alarm(store.port.now + held, Alarm::Client(client));
        }
        held > 0
    }
}

/// Return whether MariaDB's page cleaner must make free pages.
fn is_low(store: &Store) -> bool {
    store.pool.listed() > LEAST_LISTED && store.pool.free() < store.settings.flushing.lru_scan_depth / 2
}

/// Hold the pool's mutex for the frames that were looked at last. Return the time from now to
/// its release.
fn look_under_mutex(store: &mut Store) -> Nanos {
    let time = store.pool.take_looked() * store.settings.cpu.pool_look;
    if time == 0 {
        return 0;
    }
    let now = store.port.now;
    store.mutex.hold(now, time) - now
}

/// Let a client sleep before it looks for a frame again.
fn sleep(store: &mut Store, client: u32) -> FrameWait {
    store.port.alarm(store.port.now + store.settings.flushing.retry, Alarm::Client(client));
    FrameWait::Waiting
}
