//! Steps of a batch, from the selection of its pages to their syncs.

use super::selection::{self, Pages};
use super::{Batch, FLUSH_LIST, Flusher, LRU, Step};
use crate::database::counters::Count;
use crate::database::layout::PAGE;
use crate::database::page_cache::in_one_request;
use crate::database::port::{FIRST_ASYNC, Purpose, REQUEST, Requester};
use crate::database::settings::DOUBLEWRITE_BYTES;
use crate::database::store::Store;
use tameshi_base::{CommandKind, Nanos};
use tameshi_spec::profile::{Adaptive, FreePages};

/// Processor time to write a page, with its copies to the page cache.
pub(super) fn cost_of_write(store: &Store) -> Nanos {
    let copies = 1 + u64::from(store.settings.flushing.doublewrite);
    store.settings.cpu.page_write + copies * store.settings.cpu.page_copy
}

/// First byte of the doublewrite buffer.
pub(super) fn doublewrite_offset(store: &Store) -> u64 {
    store.page_offset(0) - DOUBLEWRITE_BYTES
}

impl Flusher {
    /// Flush as fast as possible: changes wait for room in the log.
    pub(in super::super) fn flush_for_log(&mut self, store: &mut Store) {
        self.cleaner.hurried = store.port.now;
        self.begin_batch(store, FLUSH_LIST);
    }

    /// Wake MariaDB's page cleaner, which sleeps: the log is old, and changes go on.
    pub(in super::super) fn flush_ahead(&mut self, store: &mut Store) {
        if store.settings.flushing.adaptive == Some(Adaptive::Growth) && self.cleaner.wakes() {
            let quota = &mut self.batches[FLUSH_LIST].quota;
            *quota = (*quota).max(store.settings.flushing.io_capacity_max);
            self.begin_batch(store, FLUSH_LIST);
        }
    }

    /// Flush all dirty pages before a shutdown.
    pub(in super::super) fn flush_all(&mut self, store: &mut Store) {
        self.batches[FLUSH_LIST].quota = u64::MAX;
        self.begin_batch(store, FLUSH_LIST);
    }

    /// Begin a batch, if none of the list is under way and pages of it are dirty.
    pub(super) fn begin_batch(&mut self, store: &mut Store, list: usize) {
        if !self.batches[list].is_idle() {
            return;
        }
        let mut pages = std::mem::take(&mut self.batches[list].pages);
        pages.clear();
        self.select(store, list, &mut pages);
        let newest = pages.iter().map(|(_, lsn)| *lsn).max();
        let batch = &mut self.batches[list];
        batch.pages = pages;
        let Some(newest) = newest else {
            batch.quota = 0;
            return;
        };
        batch.step = Step::Log;
        if store.want_log(newest, Requester::Batch(list)) {
            self.batch_logged(store, list);
        }
    }

    fn select(&mut self, store: &mut Store, list: usize, pages: &mut Pages) {
        let most = store.settings.flushing.batch as usize;
        let batch = &mut self.batches[list];
        match store.settings.flushing.free_pages {
            _ if list == FLUSH_LIST => {
                let quota = if store.is_log_urgent() { most as u64 } else { batch.quota };
                batch.looked = selection::longest_dirty(store, most.min(quota as usize), pages);
            }
            None => {}
            Some(FreePages::UserBatches) => batch.looked = selection::for_user(store, batch.quota, most, pages),
            Some(FreePages::SinglePages) => selection::lru_end(store, most, pages),
            Some(FreePages::PageCleaner) => selection::found(store, &mut self.cleaner.found, most, pages),
        }
    }

    /// Copy a batch's pages: its log is durable.
    pub(in super::super) fn batch_logged(&mut self, store: &mut Store, list: usize) {
        let batch = &mut self.batches[list];
        batch.step = Step::Copying;
        let looks = std::mem::take(&mut batch.looked) * store.settings.cpu.pool_look;
        let now = store.port.now;
        let held = store.mutex.hold(now, looks) - now;
        let thread = store.port.threads.of(Requester::Batch(list));
        let time = batch.pages.len() as u64 * cost_of_write(store) + held;
        store.port.work(thread, time);
    }

    /// Write a batch, whose pages are copied, to the doublewrite buffer or in place.
    pub(in super::super) fn batch_copied(&mut self, store: &mut Store, list: usize) {
        if !store.settings.flushing.doublewrite {
            return self.write_pages(store, list);
        }
        self.batches[list].step = Step::Doublewrite;
        self.doublewrite_queue.push_back(list);
        if self.doublewrite_queue.len() == 1 {
            self.write_doublewrite(store, list);
        }
    }

    fn write_doublewrite(&self, store: &mut Store, list: usize) {
        let pages = self.batches[list].pages.len() as u64;
        store.counters.add(Count::DoublewritePages, pages);
        let (offset, bytes) = (doublewrite_offset(store), (pages * PAGE) as u32);
        let requester = Requester::Batch(list);
        store.cache(offset, bytes.into());
        let thread = store.port.threads.of(requester);
        store.command(thread, REQUEST, CommandKind::Write, (offset, bytes), Purpose::DoublewriteWrite(requester));
    }

    /// Write a batch in place: the doublewrite buffer has it.
    pub(in super::super) fn batch_doublewritten(&mut self, store: &mut Store, list: usize) {
        // User threads keep the buffer until the pages are written in place too.
        if store.settings.flushing.free_pages != Some(FreePages::UserBatches) {
            self.pass_doublewrite_on(store);
        }
        self.write_pages(store, list);
    }

    /// Give the doublewrite buffer to the batch that waits for it.
    fn pass_doublewrite_on(&mut self, store: &mut Store) {
        self.doublewrite_queue.pop_front();
        if let Some(&next) = self.doublewrite_queue.front() {
            self.write_doublewrite(store, next);
        }
    }

    fn write_pages(&mut self, store: &mut Store, list: usize) {
        let batch = &mut self.batches[list];
        batch.step = Step::Writing;
        store.counters.add(Count::PagesWritten, batch.pages.len() as u64);
        if store.cache.is_present() {
            // The page cache has its copies: clients may change the pages again.
            batch.pages.iter().for_each(|&(frame, _)| store.unlatch(frame));
            batch.outstanding = write_back(store, list, batch);
            return;
        }
        let requester = Requester::Batch(list);
        let thread = store.port.threads.of(requester);
        batch.outstanding = batch.pages.len() as u32;
        for (slot, &(frame, _)) in (FIRST_ASYNC..).zip(&batch.pages) {
            store.latch(frame);
            let place = (store.page_offset(store.pool.page(frame)), PAGE as u32);
            store.command(thread, slot, CommandKind::Write, place, Purpose::PageWrite(requester));
        }
    }

    /// Finish one write of a batch. Begin its syncs after the last one; return whether the batch
    /// is at its end.
    pub(in super::super) fn batch_page_written(&mut self, store: &mut Store, list: usize, slot: u32) -> bool {
        let batch = &mut self.batches[list];
        batch.outstanding -= 1;
        if !store.cache.is_present() {
            store.unlatch(batch.pages[(slot - FIRST_ASYNC) as usize].0);
        }
        if batch.outstanding > 0 {
            return false;
        }
        batch.step = Step::Syncing;
        batch.syncs = files_of(store, batch);
        if !store.settings.flushing.fsync {
            return self.batch_synced(store, list);
        }
        let requester = Requester::Batch(list);
        store.sync(requester, Purpose::DataSync(requester));
        false
    }

    /// Finish one sync of a batch. Return whether it was the last one.
    pub(in super::super) fn batch_synced(&mut self, store: &mut Store, list: usize) -> bool {
        let batch = &mut self.batches[list];
        batch.syncs = batch.syncs.saturating_sub(1);
        if batch.syncs > 0 {
            let requester = Requester::Batch(list);
            store.sync(requester, Purpose::DataSync(requester));
        }
        batch.syncs == 0
    }

    /// End a batch: its pages are clean, and all that wait for free pages resume.
    /// [`Flusher::begin_next_batch`] follows.
    pub(in super::super) fn end_batch(&mut self, store: &mut Store, list: usize) {
        let free_pages = store.settings.flushing.free_pages;
        let frees = list == LRU && free_pages == Some(FreePages::SinglePages);
        if free_pages == Some(FreePages::UserBatches) && store.settings.flushing.doublewrite {
            self.pass_doublewrite_on(store);
        }
        let batch = &mut self.batches[list];
        for &(frame, lsn) in &batch.pages {
            let is_clean = store.pool.written(frame, lsn);
            if is_clean && frees {
                store.pool.release(frame);
            } else if list == LRU && free_pages != Some(FreePages::PageCleaner) {
                store.pool.retire(frame);
            }
        }
        let count = batch.pages.len() as u64;
        (batch.step, batch.quota) = (Step::Idle, batch.quota.saturating_sub(count));
        self.cleaner.count(list, count);
        store.move_checkpoint();
        store.effects.extend(self.free_waiters.drain(..).map(crate::database::store::Effect::Resume));
    }
}

/// Write a batch, which the page cache has, to the drive: neighbours in one request. Return the
/// number of requests.
fn write_back(store: &mut Store, list: usize, batch: &Batch) -> u32 {
    let mut places = store.cache.take_sorted();
    places.extend(batch.pages.iter().map(|&(frame, _)| store.pool.page(frame)));
    places.sort_unstable();
    store.counters.add(Count::Writes, places.len() as u64);
    store.counters.add(Count::WrittenBytes, places.len() as u64 * PAGE);
    let requester = Requester::Batch(list);
    let thread = store.port.threads.of(requester);
    let (mut at, mut requests) = (0, 0);
    while let Some(&first) = places.get(at) {
        let pages = in_one_request(&places[at..]);
        (first..first + pages as u32).for_each(|page| store.cache_page(page));
        let place = (store.page_offset(first), (pages as u64 * PAGE) as u32);
        let slot = FIRST_ASYNC + requests;
        store.port.send(thread, slot, CommandKind::Write, place, Purpose::PageWrite(requester));
        (at, requests) = (at + pages, requests + 1);
    }
    store.cache.give_back_sorted(places);
    requests
}

/// Data files to sync after a batch: those it wrote, or one in place of all.
fn files_of(store: &Store, batch: &Batch) -> u32 {
    let flushing = &store.settings.flushing;
    if !(flushing.fsync && flushing.sync_each_file) {
        return 1;
    }
    let pages = batch.pages.iter().map(|&(frame, _)| store.pool.page(frame));
    pages.fold(0u64, |files, page| files | 1 << store.layout.file(page).min(63)).count_ones()
}
