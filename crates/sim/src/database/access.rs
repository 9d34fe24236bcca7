//! A connection's way through its statement's plan: gets, changes, locks, and the change buffer.
//!
//! Each operation passes, or leaves the connection in the stage in which it waits. Other
//! connections are affected only through [`Effect`]s.

use super::change_buffer::{REDO_BIT, WAITING};
use super::connection::{After, Connection, LeafChange, Stage};
use super::counters::{Count, WaitReason};
use super::flusher::FrameWait;
use super::locks::{Asked, Locks};
use super::plan::Op;
use super::pool::{Found, NONE};
use super::port::{Purpose, REQUEST};
use super::storage_engine::StorageEngine;
use super::store::Effect;

/// State of a connection after as much of its plan as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Finished,
    Waits,
    Deadlock,
}

/// A connection at work on the engine's pages.
pub(super) struct Access<'a> {
    pub(super) engine: &'a mut StorageEngine,
    pub(super) connection: &'a mut Connection,
    /// The connection's number.
    pub(super) number: u32,
}

impl Access<'_> {
    /// Go through the plan until it is finished or has to wait.
    pub(super) fn go_through(&mut self, locks: &mut Locks) -> Progress {
        loop {
            self.pass_hits();
            let cursor = &self.connection.cursor;
            let Some(&op) = self.connection.plan.ops.get(cursor.at) else { return Progress::Finished };
            let passed = match op {
                Op::Get(page) => self.get(page).is_some(),
                Op::Change(page, redo) => self.change(page, redo),
                Op::Create(page, redo) => self.create(page, redo),
                Op::Secondary(page, redo) => self.change_leaf(page, redo),
                Op::Lock(_) if self.engine.store.settings.model.row_locks.is_none() => true,
                Op::Lock(row) => match locks.ask(self.number, row) {
                    Asked::Granted => true,
                    Asked::Waits => {
                        self.engine.store.counters.one(Count::LockWaits);
                        // The lock is granted when the client resumes.
                        let cursor = &mut self.connection.cursor;
                        (cursor.waited, cursor.at) = (true, cursor.at + 1);
                        self.wait(WaitReason::RowLock);
                        return Progress::Waits;
                    }
                    Asked::Deadlock => return Progress::Deadlock,
                },
                Op::Enter(table) => self.enter_tree(locks, table),
                Op::Leave(table) => {
                    self.engine.store.effects.extend(locks.leave(table).map(Effect::Resume));
                    true
                }
                Op::Scan(first, end, rows) => {
                    if !self.scan((first, end), rows) {
                        return Progress::Waits;
                    }
                    true
                }
            };
            let cursor = &mut self.connection.cursor;
            if !passed {
                cursor.waited = true;
                return Progress::Waits;
            }
            (cursor.at, cursor.leaf_change, cursor.bitmap_of) = (cursor.at + 1, LeafChange::Undecided, NONE);
        }
    }

    /// Pass gets of pages that are in the pool and were used before.
    fn pass_hits(&mut self) {
        let (cursor, ops, store) = (&mut self.connection.cursor, &self.connection.plan.ops, &mut self.engine.store);
        let (from, now) = (cursor.at, store.port.now);
        while let Some(&Op::Get(page)) = ops.get(cursor.at)
            && store.pool.hit(page, now)
        {
            cursor.at += 1;
        }
        if cursor.at > from {
            let hits = (cursor.at - from) as u64;
            (cursor.gets, cursor.tries) = (cursor.gets + hits, 0);
            store.counters.add(Count::PageRequests, hits);
        }
    }

    fn wait(&mut self, why: WaitReason) {
        self.connection.enter(Stage::Waiting, why, &mut self.engine.store);
    }

    fn wait_for_page(&mut self, frame: u32, why: WaitReason) {
        self.engine.store.page_waiters.push((frame, self.number));
        self.wait(why);
    }

    /// Get a page. `None`: the connection waits for it.
    fn get(&mut self, page: u32) -> Option<u32> {
        let (store, cursor) = (&mut self.engine.store, &mut self.connection.cursor);
        match store.pool.get(page, store.port.now) {
            Found::Here(frame, first_use) => {
                (cursor.gets, cursor.tries) = (cursor.gets + 1, 0);
                store.counters.one(Count::PageRequests);
                if first_use && store.settings.read_ahead.area > 0 {
                    let copy = store.settings.cpu.page_copy;
                    cursor.cpu += self.engine.read_ahead(page) * copy;
                }
                Some(frame)
            }
            Found::Coming(frame) => {
                cursor.tries = 1;
                self.wait_for_page(frame, WaitReason::PageRead);
                None
            }
            Found::Missing => {
                if !self.has_read_bitmap(page) {
                    return None;
                }
                if self.connection.cursor.tries == 0 {
                    self.engine.store.counters.one(Count::PageMisses);
                }
                self.read_page(page);
                None
            }
        }
    }

    /// Read a page, or wait for a frame to read it into.
    fn read_page(&mut self, page: u32) {
        let Some(frame) = self.free_frame() else { return };
        let (store, cursor) = (&mut self.engine.store, &mut self.connection.cursor);
        store.pool.put(frame, page, true, store.port.now);
        let costs = store.settings.cpu;
        (cursor.cpu, cursor.tries) = (cursor.cpu + costs.page_read, 1);
        store.counters.one(Count::PagesRead);
        self.engine.read_threads.pending += 1;
        store.page_waiters.push((frame, self.number));
        if store.is_cached(page) {
            return self.connection.begin_work(self.number, costs.page_copy, After::Copied(frame), store);
        }
        cursor.cpu += costs.page_copy;
        self.wait(WaitReason::PageRead);
        self.engine.store.read(self.number, REQUEST, page, Purpose::PageRead(frame));
    }

    /// Take a frame. `None`: the connection waits, and tries again.
    fn free_frame(&mut self) -> Option<u32> {
        let StorageEngine { store, flusher, .. } = &mut *self.engine;
        match flusher.frame_for_client(store, self.number, &mut self.connection.cursor.tries) {
            Ok(frame) => Some(frame),
            Err(wait) => {
                let stage = match wait {
                    FrameWait::Waiting => Stage::Waiting,
                    FrameWait::Flushing(frame, lsn) => Stage::Flushing(frame, lsn),
                };
                self.connection.enter(stage, WaitReason::FreePage, store);
                None
            }
        }
    }

    fn enter_tree(&mut self, locks: &mut Locks, table: u8) -> bool {
        let entered = locks.enter(self.number, table);
        if !entered {
            self.wait(WaitReason::TreeLock);
        }
        entered
    }

    fn change(&mut self, page: u32, redo: u16) -> bool {
        let Some(frame) = self.frame_for_change(page) else { return false };
        let store = &mut self.engine.store;
        if store.pool.is_latched(frame) {
            self.wait_for_page(frame, WaitReason::PageLatch);
            return false;
        }
        let bytes = store.log.bytes_of(redo);
        self.connection.changes.positions.lsn = store.change(frame, page, bytes);
        true
    }

    /// Get a page to change it. A page that the operation before has got is no get of its own, if
    /// it is still in the pool.
    fn frame_for_change(&mut self, page: u32) -> Option<u32> {
        let before = self.connection.cursor.at.checked_sub(1).map(|at| self.connection.plan.ops[at]);
        let just_got = matches!(before, Some(Op::Get(got) | Op::Change(got, _)) if got == page);
        match self.engine.store.pool.frame(page) {
            Some(frame) if just_got => Some(frame),
            _ => self.get(page),
        }
    }

    fn create(&mut self, page: u32, redo: u16) -> bool {
        if !self.engine.store.pool.holds(page) {
            let Some(frame) = self.free_frame() else { return false };
            let store = &mut self.engine.store;
            store.pool.put(frame, page, false, store.port.now);
        }
        self.change(page, redo)
    }

    /// Scan the next page. Return whether the scan is at its end.
    fn scan(&mut self, (first, end): (u32, u32), rows: u16) -> bool {
        let cursor = &mut self.connection.cursor;
        if cursor.scan == NONE {
            cursor.scan = first;
        }
        let page = cursor.scan;
        if page >= end {
            return true;
        }
        if self.get(page).is_none() {
            return false;
        }
        let (store, cursor) = (&mut self.engine.store, &mut self.connection.cursor);
        cursor.scan = page + 1;
        let cpu = &store.settings.cpu;
        let time = cpu.page_get + u64::from(rows) * cpu.scan_row + std::mem::take(&mut cursor.cpu);
        cursor.gets -= 1;
        self.connection.begin_work(self.number, time, After::Plan, store);
        false
    }

    /// Change a leaf of a secondary index, or buffer the change. `false`: the connection waits.
    fn change_leaf(&mut self, page: u32, redo: u16) -> bool {
        loop {
            let StorageEngine { store, change_buffer, .. } = &mut *self.engine;
            let next = match self.connection.cursor.leaf_change {
                LeafChange::Undecided if change_buffer.must_merge(page, &store.pool, &store.layout) => {
                    change_buffer.any_to_merge(&store.pool).map_or(LeafChange::Leaf, LeafChange::LookUp)
                }
                LeafChange::Undecided => LeafChange::Buffer,
                LeafChange::LookUp(leaf) => {
                    let tree_page = change_buffer.tree_page(leaf, &store.layout);
                    if self.get(tree_page).is_none() {
                        return false;
                    }
                    self.engine.merge_around(leaf);
                    LeafChange::Merge(leaf)
                }
                LeafChange::Merge(leaf) => {
                    if !self.has_merged(leaf) {
                        return false;
                    }
                    LeafChange::Buffer
                }
                // While it waited the leaf may have come in, or the buffer may have become full.
                LeafChange::Buffer if change_buffer.accepts(page, &store.pool, &store.layout) => {
                    return self.buffer(page, redo);
                }
                LeafChange::Buffer => LeafChange::Leaf,
                LeafChange::Leaf => {
                    let passed = self.change(page, redo);
                    self.engine.change_buffer.count_unbuffered(passed);
                    return passed;
                }
            };
            self.connection.cursor.leaf_change = next;
        }
    }

    /// Merge the changes of a leaf, now or when it comes in. `false`: the connection waits.
    fn has_merged(&mut self, leaf: u32) -> bool {
        let StorageEngine { store, change_buffer, .. } = &mut *self.engine;
        if change_buffer.is_beyond(WAITING) || store.port.free_slots.is_empty() {
            return self.get(leaf).is_some();
        }
        if store.pool.holds(leaf) {
            return true;
        }
        let Some(frame) = self.free_frame() else { return false };
        self.connection.cursor.tries = 0;
        let slot = self.engine.store.port.free_slots.pop().expect("one was free");
        self.engine.read_in_background(slot, (frame, leaf), Purpose::PageRead(frame));
        self.engine.read_bitmap_of(leaf);
        true
    }

    /// Buffer a change, and mark it in the leaf's bitmap. `false`: the connection waits.
    fn buffer(&mut self, page: u32, redo: u16) -> bool {
        if !self.has_room_in_buffer(redo) {
            return false;
        }
        let StorageEngine { store, change_buffer, .. } = &mut *self.engine;
        let tree_page = change_buffer.tree_page(page, &store.layout);
        if let Some(bitmap) = store.layout.bitmap_of(page)
            && !(self.get_unlatched(tree_page) && self.mark(page, bitmap))
        {
            return false;
        }
        let passed = self.change(tree_page, redo);
        if passed {
            self.engine.change_buffer.add(page);
        }
        passed
    }

    /// Make room for a change in the buffer's tree, on a new page if need be. `false`: the
    /// connection waits.
    fn has_room_in_buffer(&mut self, redo: u16) -> bool {
        let StorageEngine { store, change_buffer, .. } = &mut *self.engine;
        let Some(page) = change_buffer.page_to_add(&store.layout) else { return true };
        let is_made = self.create(page, redo);
        self.engine.change_buffer.add_page(is_made);
        is_made
    }

    /// Mark in a bitmap that changes of a leaf are buffered. `false`: the connection waits.
    fn mark(&mut self, page: u32, bitmap: u32) -> bool {
        if self.engine.change_buffer.of(page) > 0 { self.get_unlatched(bitmap) } else { self.change(bitmap, REDO_BIT) }
    }

    /// Get a page that no thread writes. `false`: the connection waits.
    fn get_unlatched(&mut self, page: u32) -> bool {
        let Some(frame) = self.get(page) else { return false };
        let is_latched = self.engine.store.pool.is_latched(frame);
        if is_latched {
            self.wait_for_page(frame, WaitReason::PageLatch);
        }
        !is_latched
    }

    /// Read a leaf's bitmap before the leaf, and delete the leaf's changes from the buffer's
    /// tree. `false`: the connection waits.
    fn has_read_bitmap(&mut self, page: u32) -> bool {
        if self.connection.cursor.bitmap_of == page {
            return true;
        }
        let Some(bitmap) = self.engine.store.layout.bitmap_of(page) else { return true };
        if !self.get_unlatched(bitmap) {
            return false;
        }
        let StorageEngine { store, change_buffer, .. } = &mut *self.engine;
        if change_buffer.of(page) > 0 {
            let tree_page = change_buffer.tree_page(page, &store.layout);
            let entry = store.settings.log.records.entry as u16;
            if !self.change(tree_page, entry) || !self.change(bitmap, REDO_BIT) {
                return false;
            }
        }
        self.connection.cursor.bitmap_of = page;
        true
    }
}
