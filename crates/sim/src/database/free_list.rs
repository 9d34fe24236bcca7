//! Free pages as MariaDB's page cleaner keeps them in stock (buf0flu.cc and buf0lru.cc of 10.11:
//! `buf_flush_LRU_list_batch`, `buf_pool_t::need_LRU_eviction`, `buf_LRU_get_free_block`).
//!
//! Who takes a free page and leaves fewer than half of the stock wakes the page cleaner. That goes through the LRU list from its
//! end until the stock is full or hardly anything is left in the list: clean pages become free at once, dirty ones are
//! written, and are clean when it comes that way again. The stock is as large in a small pool, which so holds few pages.

use super::flush::{LIST, LRU};
use super::pool::Pool;
use super::settings::Settings;
use super::{Engine, NONE};
use std::ops::Range;
use tameshi_spec::profile::FreePages;

/// With so many pages in the list nobody wakes the page cleaner, and so many it leaves there (BUF_LRU_MIN_LEN); or one less
/// than a twentieth of the pool, where that is fewer.
const LEAST: u32 = 256;
/// In a shorter list no neighbours are flushed along (buf_flush_check_neighbors: BUF_LRU_OLD_MIN_LEN).
const NEIGHBOURS_FROM: u32 = 512;

/// An empty pool by the rules of the version.
pub(super) fn empty_pool(settings: &Settings, pages: u32) -> Pool {
    let mut pool = Pool::new(settings.frames, pages, settings.midpoint);
    if settings.latched_writes && settings.doublewrite {
        pool.latch_for_doublewrite();
    }
    if settings.free_pages == Some(FreePages::PageCleaner) {
        pool.keep_young_by_frames();
    }
    pool
}

impl Engine {
    /// Somebody has taken a free page.
    pub(super) fn stock_up_if_low(&mut self) {
        if self.is_stock_low() {
            self.stock_up();
        }
    }

    /// A frame for a page that no client waits for.
    pub(super) fn frame_for_reader(&mut self) -> Option<u32> {
        let frame = self.pool.take(self.settings.model.pool.search_depth.value);
        if frame.is_some() {
            self.stock_up_if_low()
        } else {
            self.make_free_pages()
        }
        frame
    }

    /// After pages were flushed for the log, in each second in which they are.
    pub(super) fn stock_up_with_list(&mut self) {
        if self.is_stock_low() || !self.batches[LIST].is_idle() {
            self.stock_up();
        }
    }

    /// The pages found were flushed, or as many as go into a batch.
    pub(super) fn go_on_stocking(&mut self) {
        if self.cleaner.found.is_empty() {
            self.stock_up_if_low();
        } else {
            self.begin_batch(LRU);
        }
    }

    /// There was no free page, and no clean one near the list's end.
    pub(super) fn make_free_pages(&mut self) {
        match self.settings.free_pages {
            None => self.flush_a_batch_of_the_list(),
            Some(FreePages::PageCleaner) => self.stock_up(),
            Some(FreePages::SinglePages | FreePages::UserBatches) => self.begin_batch(LRU),
        }
    }

    fn is_stock_low(&self) -> bool {
        self.pool.listed() > LEAST && self.pool.free() < self.settings.lru_scan_depth / 2
    }

    /// The page cleaner goes through the list, unless it still flushes what it found there last.
    pub(super) fn stock_up(&mut self) {
        if self.batches[LRU].is_idle() {
            self.cleaner.looked = self.now;
            self.look_through_list();
            self.begin_batch(LRU);
        }
    }

    fn look_through_list(&mut self) {
        let (stock, most) = (self.settings.lru_scan_depth, self.settings.io_capacity_max as usize);
        let least = LEAST.min((self.pool.frames() / 20).saturating_sub(1));
        self.cleaner.found.clear();
        let mut at = self.pool.end();
        while at != NONE && self.pool.free() < stock && self.pool.listed() > least && self.cleaner.found.len() < most {
            let (frame, page) = (at, self.pool.page(at));
            at = self.pool.before(at);
            if !self.pool.release(frame) && self.pool.writable(page).is_some() {
                self.cleaner.found.push_back(page);
            }
        }
    }

    /// Dirty pages that were found in the list, with their neighbours.
    pub(super) fn collect_found(&mut self, most: usize, pages: &mut Vec<(u32, u64)>) {
        while pages.len() < most
            && let Some(page) = self.cleaner.found.pop_front()
        {
            if let Some(frame) = self.pool.writable(page) {
                self.take_for_batch(frame, (most, false), pages);
            }
        }
    }

    /// Of the neighbours of a dirty page those that are dirty without a gap, unless the list is too short.
    pub(super) fn dirty_around(&self, page: u32, all: Range<u32>) -> Range<u32> {
        if self.pool.listed() < NEIGHBOURS_FROM {
            return page..page + 1;
        }
        let is_dirty = |other: &u32| self.pool.writable(*other).is_some();
        let before = (all.start..page).rev().take_while(is_dirty).count() as u32;
        let behind = (page + 1..all.end).take_while(is_dirty).count() as u32;
        page - before..page + 1 + behind
    }

    /// Pages that go through the page cache are copied there at once.
    pub(super) fn unlatch_all(&mut self, batch: usize) {
        if self.settings.latched_writes {
            let frames: Vec<u32> = self.frames_of(batch).collect();
            frames.into_iter().for_each(|frame| self.unlatch(frame));
        }
    }

    /// A page goes to the drive.
    pub(super) fn latch(&mut self, frame: u32) {
        if self.settings.latched_writes {
            self.pool.latch(frame);
        }
    }

    /// A page is written: who wants to change it goes on.
    pub(super) fn unlatch(&mut self, frame: u32) {
        if !self.settings.latched_writes {
            return;
        }
        self.pool.unlatch(frame);
        let mut at = 0;
        while at < self.page_waiters.len() {
            if self.page_waiters[at].0 == frame {
                let (_, client) = self.page_waiters.remove(at);
                self.make_ready(client);
            } else {
                at += 1;
            }
        }
    }
}
