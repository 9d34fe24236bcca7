//! Flushing: batches from the LRU list's end and from the list of dirty pages, single pages by user threads, the page
//! cleaner's second, read-ahead, and merging the change buffer.
//!
//! A batch makes the log durable up to its newest change, copies its pages to the doublewrite buffer and syncs it, writes the
//! pages in place, and syncs the data files. There is one batch from each list at a time, and one in the doublewrite buffer.

#[cfg(test)]
mod known;

use super::counters::{Count, Why};
use super::layout::PAGE;
use super::stage::{After, Stage};
use super::{AHEAD, Alarm, Engine, FIRST_ASYNC, NONE, Purpose, REQUEST, Who};
use std::ops::Range;
use tameshi_base::{CommandKind, Nanos};
use tameshi_spec::profile::FreePages;

/// The batch from the LRU list's end.
pub(super) const LRU: usize = 0;
/// The batch from the list of dirty pages.
pub(super) const LIST: usize = 1;
/// Pages that are flushed together when they are neighbours.
const NEIGHBOURS: u32 = 64;

/// Where a batch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Idle,
    Log,
    Copying,
    Doublewrite,
    Writing,
    Syncing,
}

/// Pages that are flushed together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    step: Step,
    /// Frames, and the log position of each one's last change.
    pages: Vec<(u32, u64)>,
    outstanding: u32,
    /// Syncs of data files that are left.
    syncs: u32,
    /// Pages that still shall be flushed after this batch.
    pub(super) quota: u64,
    /// Frames of the LRU list that were looked at for it.
    pub(super) looked: u64,
    /// When it began.
    began: Nanos,
}

impl Batch {
    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.step == Step::Idle
    }
}

impl Engine {
    /// The log is so full that pages are flushed as fast as they can be.
    pub(super) fn flush_for_the_log(&mut self) {
        if self.batches[LIST].is_idle() {
            self.begin_batch(LIST);
        }
    }

    /// Begins a batch, if there is none under way and something to flush.
    pub(super) fn begin_batch(&mut self, list: usize) {
        if !self.batches[list].is_idle() {
            return;
        }
        let most = self.settings.model.flushing.batch.value as usize;
        let mut pages = std::mem::take(&mut self.batches[list].pages);
        pages.clear();
        match self.settings.free_pages {
            _ if list == LIST => self.collect_list(most, &mut pages),
            None => {}
            Some(FreePages::UserBatches) => self.collect_for_user(most, &mut pages),
            Some(FreePages::SinglePages) => self.collect_lru(most, &mut pages),
            Some(FreePages::PageCleaner) => self.collect_found(most, &mut pages),
        }
        let is_empty = pages.is_empty();
        let newest = pages.iter().map(|(_, lsn)| *lsn).max().unwrap_or(0);
        self.batches[list].pages = pages;
        if is_empty {
            self.batches[list].quota = 0;
            return;
        }
        (self.batches[list].step, self.batches[list].began) = (Step::Log, self.now);
        self.want_log(newest, Who::Batch(list));
    }

    /// Dirty pages at the LRU list's end; clean ones there become free.
    fn collect_lru(&mut self, most: usize, pages: &mut Vec<(u32, u64)>) {
        let depth = self.settings.lru_scan_depth;
        let scratch: Vec<(u32, bool)> = self.pool.lru_end(depth).collect();
        for (frame, replaceable) in scratch {
            if pages.len() >= most || self.pool.free() + pages.len() as u32 >= self.stock() {
                break;
            }
            if replaceable {
                self.pool.release(frame);
            } else {
                self.take_for_batch(frame, (most, false), pages);
            }
        }
    }

    /// The pages that are dirty for longest.
    fn collect_list(&mut self, most: usize, pages: &mut Vec<(u32, u64)>) {
        let quota = if self.is_hasty() { most as u64 } else { self.batches[LIST].quota };
        let most = most.min(quota as usize);
        let (mut looked, mut next) = (0, self.pool.oldest_changed());
        for passed in 0..most * 2 {
            let Some(frame) = next.filter(|_| pages.len() < most) else { break };
            next = self.pool.changed_after(frame);
            next.into_iter().for_each(|next| self.pool.bring_frame(next));
            looked += self.take_for_batch(frame, (most, false), pages).map_or(0, |around| around + passed as u64);
        }
        self.batches[LIST].looked = looked;
    }

    /// Takes a page into a batch, with its dirty neighbours where they are flushed along: all, or those in the old part of
    /// the list; how many pages were looked at for that.
    pub(super) fn take_for_batch(
        &mut self,
        frame: u32,
        (most, old): (usize, bool),
        pages: &mut Vec<(u32, u64)>,
    ) -> Option<u64> {
        let page = self.pool.page(frame);
        if page == NONE || self.pool.writable(page).is_none() {
            return None;
        }
        pages.push((frame, self.pool.begin_write(frame)));
        let along = self.flushed_along(page);
        let mut found = self.pool.writables(&along);
        while found > 0 && pages.len() < most {
            let other = along.start + found.trailing_zeros();
            found &= found - 1;
            if let Some(frame) = self.pool.writable(other).filter(|&frame| !old || self.pool.is_old(frame)) {
                pages.push((frame, self.pool.begin_write(frame)));
                if pages.len() == most {
                    return Some(u64::from(other - along.start + 1 - u32::from(other > page)) + 1);
                }
            }
        }
        Some(if pages.len() < most { along.len() as u64 } else { 1 })
    }

    /// A dirty page's neighbours, with itself, that are flushed along if they are dirty, too.
    fn flushed_along(&self, page: u32) -> Range<u32> {
        if !self.settings.neighbours {
            return page..page + 1;
        }
        let area = NEIGHBOURS.min((self.pool.frames() / 16).max(1));
        let first = page - page % area;
        let all = first..(first + area).min(self.layout.next).max(page + 1);
        if self.settings.free_pages == Some(FreePages::PageCleaner) { self.dirty_around(page, all) } else { all }
    }

    pub(super) fn batch_logged(&mut self, batch: usize) {
        self.batches[batch].step = Step::Copying;
        let looked = std::mem::take(&mut self.batches[batch].looked);
        let pages = self.batches[batch].pages.len() as u64;
        let looks = looked * self.settings.cpu.pool_look;
        let held = self.mutex.hold(self.now, looks) - self.now;
        let thread = self.thread_of(Who::Batch(batch));
        self.work(thread, pages * self.cost_of_write() + held);
    }

    pub(super) fn batch_worked(&mut self, batch: usize) {
        if !self.settings.doublewrite {
            return self.write_pages(batch);
        }
        self.batches[batch].step = Step::Doublewrite;
        self.doublewrite_queue.push_back(batch);
        if self.doublewrite_queue.len() == 1 {
            self.write_doublewrite(batch);
        }
    }

    fn write_doublewrite(&mut self, batch: usize) {
        let pages = self.batches[batch].pages.len() as u64;
        self.counters.add(Count::DoublewritePages, pages);
        let offset = self.page_offset(0) - super::DOUBLEWRITE_BYTES;
        let (thread, bytes) = (self.thread_of(Who::Batch(batch)), (pages * PAGE) as u32);
        self.caches(offset, bytes.into());
        let purpose = Purpose::DoublewriteWrite(Who::Batch(batch));
        self.command(thread, REQUEST, CommandKind::Write, (offset, bytes), purpose);
    }

    pub(super) fn doublewritten(&mut self, who: Who) {
        match who {
            Who::Batch(batch) => {
                // User threads keep the buffer until the pages are written in place too.
                if self.settings.free_pages != Some(FreePages::UserBatches) {
                    self.pass_doublewrite_on();
                }
                self.write_pages(batch);
            }
            Who::Client(client) => self.write_single(client),
            Who::LogThread => {}
        }
    }

    /// The doublewrite buffer is free for the batch that waits for it.
    fn pass_doublewrite_on(&mut self) {
        self.doublewrite_queue.pop_front();
        if let Some(&next) = self.doublewrite_queue.front() {
            self.write_doublewrite(next);
        }
    }

    fn write_pages(&mut self, batch: usize) {
        let thread = self.thread_of(Who::Batch(batch));
        let count = self.batches[batch].pages.len() as u32;
        self.counters.add(Count::PagesWritten, u64::from(count));
        if self.cache.is_there() {
            self.unlatch_all(batch);
            return self.write_back(batch);
        }
        self.begin_writing(batch, count);
        for at in 0..count {
            let (frame, _) = self.batches[batch].pages[at as usize];
            self.latch(frame);
            let offset = self.page_offset(self.pool.page(frame));
            let purpose = Purpose::PageWrite(Who::Batch(batch));
            self.command(thread, FIRST_ASYNC + at, CommandKind::Write, (offset, PAGE as u32), purpose);
        }
    }

    /// So many requests of a batch are under way.
    pub(super) fn begin_writing(&mut self, batch: usize, requests: u32) {
        (self.batches[batch].step, self.batches[batch].outstanding) = (Step::Writing, requests);
    }

    /// The frames of a batch, and their pages.
    pub(super) fn frames_of(&self, batch: usize) -> impl Iterator<Item = u32> {
        self.batches[batch].pages.iter().map(|&(frame, _)| frame)
    }

    pub(super) fn pages_of(&self, batch: usize) -> impl Iterator<Item = u32> {
        self.frames_of(batch).map(|frame| self.pool.page(frame))
    }

    /// Processor time of a page that is written: also of its copies to the page cache, where it goes there.
    fn cost_of_write(&self) -> Nanos {
        let copies = 1 + u64::from(self.settings.doublewrite);
        self.settings.cpu.page_write + copies * self.settings.cpu.page_copy
    }

    pub(super) fn page_written(&mut self, who: Who, slot: u32) {
        if let Who::Batch(batch) = who {
            self.batches[batch].outstanding -= 1;
            if !self.cache.is_there() {
                self.unlatch(self.batches[batch].pages[(slot - FIRST_ASYNC) as usize].0);
            }
            if self.batches[batch].outstanding > 0 {
                return;
            }
            self.batches[batch].step = Step::Syncing;
            self.batches[batch].syncs = self.files_of(batch);
        }
        if self.settings.fsync {
            self.flush_command(who, Purpose::DataSync(who));
        } else {
            self.data_synced(who);
        }
    }

    /// Data files that a batch ends with a sync of: those it wrote, or one that stands for all.
    fn files_of(&self, batch: usize) -> u32 {
        if !(self.settings.fsync && self.settings.sync_each_file) {
            return 1;
        }
        let files = self.pages_of(batch).fold(0u64, |files, page| files | 1 << self.layout.file(page).min(63));
        files.count_ones()
    }

    pub(super) fn data_synced(&mut self, who: Who) {
        match who {
            Who::Batch(batch) => {
                let left = self.batches[batch].syncs.saturating_sub(1);
                self.batches[batch].syncs = left;
                if left > 0 {
                    return self.flush_command(who, Purpose::DataSync(who));
                }
                self.batch_done(batch)
            }
            Who::Client(client) => self.single_done(client),
            Who::LogThread => {}
        }
    }

    fn batch_done(&mut self, list: usize) {
        let pages = std::mem::take(&mut self.batches[list].pages);
        let by_users = self.settings.free_pages == Some(FreePages::UserBatches);
        let stocks = self.settings.free_pages == Some(FreePages::PageCleaner);
        let frees = list == LRU && self.settings.free_pages == Some(FreePages::SinglePages);
        if by_users && self.settings.doublewrite {
            self.pass_doublewrite_on();
        }
        for &(frame, lsn) in &pages {
            let is_clean = self.pool.written(frame, lsn);
            if is_clean && frees {
                self.pool.release(frame);
            } else if list == LRU && !stocks {
                self.pool.retire(frame);
            }
        }
        let count = pages.len() as u64;
        self.cleaner.count(list, count);
        let batch = &mut self.batches[list];
        (batch.pages, batch.step, batch.quota) = (pages, Step::Idle, batch.quota.saturating_sub(count));
        self.move_checkpoint();
        self.wake_free_waiters();
        if self.closing && self.active == 0 {
            return;
        }
        if list == LIST && (self.is_hasty() || self.batches[LIST].quota > 0) {
            self.begin_batch(LIST);
        }
        if list == LRU && frees && (!self.free_waiters.is_empty() || self.pool.free() < self.stock() / 2) {
            self.begin_batch(LRU);
        }
        if list == LRU && stocks {
            self.go_on_stocking();
        }
    }

    /// Free frames that the page cleaner aims at.
    fn stock(&self) -> u32 {
        self.settings.lru_scan_depth.min(self.pool.frames() / 4)
    }

    fn move_checkpoint(&mut self) {
        if self.redo.checkpoint(self.pool.oldest_change()) {
            self.counters.one(Count::Checkpoints);
        }
        if self.redo.age() <= self.redo.most_age() {
            for client in std::mem::take(&mut self.space_waiters) {
                self.clients[client as usize].waited = true;
                self.ready.push_back(client);
            }
        }
    }

    fn wake_free_waiters(&mut self) {
        while let Some(client) = self.free_waiters.pop_front() {
            self.make_ready(client);
        }
        self.go_on_purging();
    }

    /// A frame for a page that a client needs; `None`: the client waits, and tries again.
    pub(super) fn free_frame(&mut self, client: u32) -> Option<u32> {
        let depth = self.settings.model.pool.search_depth.value;
        if let Some(frame) = self.pool.take(depth) {
            match self.settings.free_pages {
                None | Some(FreePages::UserBatches) => {}
                Some(FreePages::SinglePages) if self.pool.free() < self.stock() / 8 => self.begin_batch(LRU),
                Some(FreePages::SinglePages) => {}
                Some(FreePages::PageCleaner) => self.stock_up_if_low(),
            }
            return Some(frame);
        }
        if self.settings.free_pages == Some(FreePages::PageCleaner) {
            self.stock_up();
            if let Some(frame) = self.pool.take(depth) {
                return Some(frame);
            }
        }
        let seat = &mut self.clients[client as usize];
        seat.tries += 1;
        let tries = seat.tries;
        if tries == 1 {
            self.counters.one(Count::PoolWaits);
        }
        match self.settings.free_pages {
            Some(FreePages::UserBatches | FreePages::PageCleaner) => self.wait_for_batch(client, LRU),
            Some(FreePages::SinglePages) if self.settings.single_slots > 0 => {
                self.begin_batch(LRU);
                if tries > 2 {
                    self.clients[client as usize].tries = 1;
                    self.sleep_for_a_page(client);
                } else {
                    self.begin_single(client);
                }
            }
            Some(FreePages::SinglePages) if self.settings.lru_scan_depth > 0 => self.wait_for_batch(client, LRU),
            Some(FreePages::SinglePages) | None => {
                self.flush_a_batch_of_the_list();
                self.wait_for_batch(client, LIST);
            }
        }
        None
    }

    /// A client waits for pages that a batch makes free or clean, or sleeps where there is none to begin.
    fn wait_for_batch(&mut self, client: u32, list: usize) {
        self.begin_batch(list);
        if self.batches[list].is_idle() {
            return self.sleep_for_a_page(client);
        }
        self.turns(client, Stage::Waiting, Why::FreePage);
        self.free_waiters.push_back(client);
    }

    fn sleep_for_a_page(&mut self, client: u32) {
        self.turns(client, Stage::Waiting, Why::FreePage);
        self.alarm(self.now + self.settings.model.flushing.retry.value.0, Alarm::Client(client));
    }

    /// Nobody flushes from the LRU list's end: pages there are clean when those that are dirty for longest have been written.
    pub(super) fn flush_a_batch_of_the_list(&mut self) {
        let batch = u64::from(self.settings.model.flushing.batch.value);
        self.batches[LIST].quota = self.batches[LIST].quota.max(batch);
        self.begin_batch(LIST);
    }

    /// A user thread flushes the first dirty page from the LRU list's end by itself.
    fn begin_single(&mut self, client: u32) {
        let Some(frame) = self.pool.dirty_at_end(self.pool.frames()) else { return self.sleep_for_a_page(client) };
        let lsn = self.pool.begin_write(frame);
        self.turns(client, Stage::Single(frame, lsn), Why::FreePage);
        self.want_log(lsn, Who::Client(client));
    }

    pub(super) fn single_logged(&mut self, client: u32) {
        if self.settings.doublewrite && self.singles >= self.settings.single_slots {
            self.single_queue.push_back(client);
            return;
        }
        self.singles += 1;
        let time = self.cost_of_write();
        self.work(client, time);
    }

    pub(super) fn single_copied(&mut self, client: u32) {
        if !self.settings.doublewrite {
            return self.write_single(client);
        }
        self.counters.one(Count::DoublewritePages);
        let batch = u64::from(self.settings.model.flushing.batch.value);
        let offset = self.page_offset(0) - super::DOUBLEWRITE_BYTES + (batch + u64::from(client % 8)) * PAGE;
        self.caches(offset, PAGE);
        let purpose = Purpose::DoublewriteWrite(Who::Client(client));
        self.command(client, REQUEST, CommandKind::Write, (offset, PAGE as u32), purpose);
    }

    fn write_single(&mut self, client: u32) {
        let Stage::Single(frame, _) = self.clients[client as usize].stage else { return };
        self.counters.one(Count::PagesWritten);
        self.latch(frame);
        let offset = self.page_offset(self.pool.page(frame));
        self.caches(offset, PAGE);
        let purpose = Purpose::PageWrite(Who::Client(client));
        self.command(client, REQUEST, CommandKind::Write, (offset, PAGE as u32), purpose);
    }

    fn single_done(&mut self, client: u32) {
        let Stage::Single(frame, lsn) = self.clients[client as usize].stage else { return };
        self.unlatch(frame);
        if self.pool.written(frame, lsn) {
            self.pool.release(frame);
        }
        self.cleaner.count(LRU, 1);
        self.singles -= 1;
        self.move_checkpoint();
        self.make_ready(client);
        if let Some(next) = self.single_queue.pop_front() {
            self.single_logged(next);
        }
    }

    /// Linear read-ahead: at the first use of an area's last page the next area is read, if this one was used in order.
    /// Returns how many pages that are.
    pub(super) fn look_ahead(&mut self, page: u32) -> u64 {
        if self.reads_pending > self.pool.frames() / 2 {
            return 0;
        }
        let mut asked = 0;
        for ahead in self.area_to_read(page) {
            if self.pool.holds(ahead) {
                continue;
            }
            let Some(slot) = self.ahead_free.pop() else { return asked };
            let Some(frame) = self.pool.take(self.settings.model.pool.search_depth.value) else {
                self.ahead_free.push(slot);
                return asked;
            };
            self.read_in_background(slot, (frame, ahead), Purpose::PageRead(frame));
            self.counters.one(Count::ReadAheads);
            asked += 1;
        }
        debug_assert!(self.ahead_free.len() <= AHEAD as usize);
        asked
    }

    /// The area to read ahead at the first use of a page; empty where none is.
    pub(super) fn area_to_read(&self, page: u32) -> Range<u32> {
        let (area, skipped) = self.settings.area;
        // Pages of the system are not in a row: they name no neighbours.
        if !(page + 1).is_multiple_of(area) || self.layout.file(page) == 0 {
            return 0..0;
        }
        let unused = (page + 1 - area..=page).filter(|&page| !self.pool.was_used(page)).count() as u32;
        if unused > skipped { 0..0 } else { page + 1..(page + 1 + area).min(self.layout.next) }
    }

    /// What a client's work on a processor was for, when it flushes alone.
    pub(super) fn works_alone(stage: Stage) -> Option<After> {
        matches!(stage, Stage::Single(..)).then_some(After::Single)
    }
}
