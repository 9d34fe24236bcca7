//! Single pages that clients flush to have a free frame each (MySQL 5.6 and later).

use super::batches::{cost_of_write, doublewrite_offset};
use super::{Flusher, LRU};
use crate::database::counters::Count;
use crate::database::layout::PAGE;
use crate::database::port::{Purpose, REQUEST, Requester};
use crate::database::store::{Effect, Store};
use tameshi_base::CommandKind;

impl Flusher {
    /// Begin to flush the first dirty page from the LRU list's end. Return its frame and the log
    /// position of its last change.
    pub(super) fn begin_single(&mut self, store: &mut Store, client: u32) -> Option<(u32, u64)> {
        let frame = store.pool.dirty_at_end(store.pool.frames())?;
        let lsn = store.pool.begin_write(frame);
        if store.want_log(lsn, Requester::Client(client)) {
            self.single_logged(store, client);
        }
        Some((frame, lsn))
    }

    /// Copy a single page, or wait for a slot in the doublewrite buffer: its log is durable.
    pub(in super::super) fn single_logged(&mut self, store: &mut Store, client: u32) {
        if store.settings.flushing.doublewrite && self.singles >= store.settings.flushing.single_slots {
            self.single_queue.push_back(client);
            return;
        }
        self.singles += 1;
        let time = cost_of_write(store);
        store.port.work(client, time);
    }

    /// Write a single page's copy to the doublewrite buffer, or the page in place.
    pub(in super::super) fn single_copied(&self, store: &mut Store, client: u32, frame: u32) {
        if !store.settings.flushing.doublewrite {
            return self.write_single(store, client, frame);
        }
        store.counters.one(Count::DoublewritePages);
        let slot = u64::from(store.settings.flushing.batch) + u64::from(client % 8);
        let offset = doublewrite_offset(store) + slot * PAGE;
        store.cache(offset, PAGE);
        let purpose = Purpose::DoublewriteWrite(Requester::Client(client));
        store.command(client, REQUEST, CommandKind::Write, (offset, PAGE as u32), purpose);
    }

    /// Write a single page in place.
    pub(in super::super) fn write_single(&self, store: &mut Store, client: u32, frame: u32) {
        store.counters.one(Count::PagesWritten);
        store.latch(frame);
        let offset = store.page_offset(store.pool.page(frame));
        store.cache(offset, PAGE);
        let purpose = Purpose::PageWrite(Requester::Client(client));
        store.command(client, REQUEST, CommandKind::Write, (offset, PAGE as u32), purpose);
    }

    /// Release a single page, which is written, and resume its client.
    pub(in super::super) fn end_single(&mut self, store: &mut Store, client: u32, (frame, lsn): (u32, u64)) {
        store.unlatch(frame);
        if store.pool.written(frame, lsn) {
            store.pool.release(frame);
        }
        self.cleaner.count(LRU, 1);
        self.singles -= 1;
        store.move_checkpoint();
        store.effects.push(Effect::Resume(client));
        if let Some(next) = self.single_queue.pop_front() {
            self.single_logged(store, next);
        }
    }
}
