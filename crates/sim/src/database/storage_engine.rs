//! The storage engine: pages come in and change, through the buffer pool, the change buffer, the
//! flusher, and the threads that read in the background.

use super::change_buffer::{ChangeBuffer, REDO_MERGE};
use super::counters::Count;
use super::flusher::Flusher;
use super::layout::Layout;
use super::port::{BACKGROUND_READS, Places, Purpose, Role};
use super::read_threads::ReadThreads;
use super::settings::Settings;
use super::store::{Effect, Store};
use std::ops::Range;
use tameshi_spec::profile::FreePages;

/// Leaves that lie together are merged together (IBUF_MERGE_AREA).
const MERGE_AREA: u32 = 8;

/// Pages and log with the activities that move pages.
pub(super) struct StorageEngine {
    pub(super) store: Store,
    pub(super) flusher: Flusher,
    pub(super) change_buffer: ChangeBuffer,
    pub(super) read_threads: ReadThreads,
}

impl StorageEngine {
    pub(super) fn new(
        settings: Settings,
        layout: Layout,
        (places, has_faults): (Places, bool),
        change_buffer: ChangeBuffer,
    ) -> Self {
        Self {
            flusher: Flusher::default(),
            change_buffer,
            read_threads: ReadThreads::new(settings.read_threads),
            store: Store::new(settings, layout, places, has_faults),
        }
    }

    /// Lose all that was in the server's memory.
    pub(super) fn forget(&mut self) {
        self.store.forget();
        self.flusher = Flusher::default();
        self.read_threads = ReadThreads::new(self.store.settings.read_threads);
    }

    /// Return whether no batch is under way and no page is being taken in.
    pub(super) fn is_idle(&self) -> bool {
        self.flusher.is_idle() && self.read_threads.is_idle()
    }

    /// Read a page for no particular client. Return whether the page cache had it.
    pub(super) fn read_in_background(&mut self, slot: u32, (frame, page): (u32, u32), purpose: Purpose) -> bool {
        let store = &mut self.store;
        store.pool.put(frame, page, true, store.port.now);
        store.counters.one(Count::PagesRead);
        self.read_threads.pending += 1;
        let reader = matches!(purpose, Purpose::PageRead(_)).then(|| self.read_threads.reader_of(page)).flatten();
        if store.is_cached(page) {
            self.arrived_in_background(frame, slot, reader);
            return true;
        }
        let threads = store.port.threads;
        let thread = reader.map_or(threads.background(), |number| threads.reader(number));
        store.read(thread, slot, page, purpose);
        false
    }

    /// Take in a page that the storage has read for a thread's slot.
    pub(super) fn page_read(&mut self, frame: u32, thread: u32, slot: u32) {
        match self.store.port.threads.role(thread) {
            Role::Client => self.page_arrived(frame, thread),
            Role::Reader(number) => self.arrived_in_background(frame, slot, Some(number)),
            Role::Background | Role::Batch(_) | Role::Purger(_) => self.arrived_in_background(frame, slot, None),
        }
    }

    fn arrived_in_background(&mut self, frame: u32, slot: u32, reader: Option<usize>) {
        self.store.port.free_slots.push(slot);
        match reader {
            Some(number) => self.read_threads.queue(&mut self.store.port, number, frame),
            None => self.page_arrived(frame, self.store.port.threads.background()),
        }
    }

    /// A read thread has taken in its page.
    pub(super) fn page_taken_in(&mut self, reader: usize) {
        let frame = self.read_threads.take_in(&mut self.store.port, reader);
        self.page_arrived(frame, self.store.port.threads.background());
    }

    /// Merge buffered changes into a page that a thread has read, and resume clients that wait
    /// for it.
    pub(super) fn page_arrived(&mut self, frame: u32, thread: u32) {
        let store = &mut self.store;
        self.read_threads.pending -= 1;
        store.pool.arrived(frame);
        let page = store.pool.page(frame);
        let changes = self.change_buffer.take(page);
        if changes > 0 {
            let entry = REDO_MERGE + store.settings.log.records.entry;
            store.change(frame, page, changes * entry);
        }
        if store.settings.flushing.free_pages != Some(FreePages::UserBatches) {
            return store.wake_page_waiters(frame);
        }
        let mut at = 0;
        while at < store.page_waiters.len() {
            if store.page_waiters[at].0 != frame {
                at += 1;
                continue;
            }
            let (_, client) = store.page_waiters.remove(at);
            let waits = client == thread && self.flusher.keep_margin(store, client);
            store.effects.push(if waits { Effect::AwaitFreePage(client) } else { Effect::Resume(client) });
        }
    }

    /// Read the next area ahead at the first use of an area's last page, if most of this area was
    /// used. Return the number of pages requested.
    pub(super) fn read_ahead(&mut self, page: u32) -> u64 {
        if self.read_threads.pending > self.store.pool.frames() / 2 {
            return 0;
        }
        let mut requested = 0;
        for ahead in self.area_ahead(page) {
            if self.store.pool.holds(ahead) {
                continue;
            }
            if !self.read_if_possible(ahead) {
                return requested;
            }
            self.store.counters.one(Count::ReadAheads);
            requested += 1;
        }
        debug_assert!(self.store.port.free_slots.len() <= BACKGROUND_READS as usize);
        requested
    }

    /// Area to read ahead at the first use of a page; empty if there is none.
    pub(super) fn area_ahead(&self, page: u32) -> Range<u32> {
        let Store { settings, layout, pool, .. } = &self.store;
        let ahead = settings.read_ahead;
        // Pages of the system are not in a row: they name no neighbours.
        if !(page + 1).is_multiple_of(ahead.area) || layout.file(page) == 0 {
            return 0..0;
        }
        let unused = (page + 1 - ahead.area..=page).filter(|&page| !pool.was_used(page)).count() as u32;
        if unused > ahead.skipped { 0..0 } else { page + 1..(page + 1 + ahead.area).min(layout.next) }
    }

    /// Read a page in the background, if a slot and a frame are free.
    fn read_if_possible(&mut self, page: u32) -> bool {
        let Some(slot) = self.store.port.free_slots.pop() else { return false };
        let Some(frame) = self.store.take_frame() else {
            self.store.port.free_slots.push(slot);
            return false;
        };
        self.read_in_background(slot, (frame, page), Purpose::PageRead(frame));
        true
    }

    /// Read a bitmap's page in the background, if it isn't in the pool.
    pub(super) fn read_bitmap_of(&mut self, leaf: u32) {
        if let Some(bitmap) = self.store.layout.bitmap_of(leaf)
            && !self.store.pool.holds(bitmap)
        {
            self.read_if_possible(bitmap);
        }
    }

    /// Read leaves with buffered changes in the area of a leaf, which is read by itself.
    pub(super) fn merge_around(&mut self, leaf: u32) {
        let first = leaf - leaf % MERGE_AREA;
        for page in (first..first + MERGE_AREA).filter(|page| *page != leaf) {
            let merges = self.change_buffer.of(page) > 0 && !self.store.pool.holds(page);
            if merges && !self.read_if_possible(page) {
                return;
            }
        }
    }

    /// Read up to `most` leaves with buffered changes. Return whether more of them may be left.
    pub(super) fn merge_changes(&mut self, most: u64) -> bool {
        for _ in 0..most.min(self.change_buffer.len()) {
            let Some(page) = self.change_buffer.any_to_merge(&self.store.pool) else { return false };
            if !self.read_if_possible(page) {
                return true;
            }
        }
        self.change_buffer.len() > 0
    }

    /// Merge changes in the background: this second's share.
    pub(super) fn merge_for_second(&mut self) {
        let most = self.change_buffer.to_merge(self.store.settings.flushing.io_capacity);
        self.merge_changes(most);
    }
}
