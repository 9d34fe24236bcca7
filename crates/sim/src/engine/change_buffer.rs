//! The change buffer: a change of a secondary index's leaf that is not in the pool goes into a tree of its own, and into the
//! leaf when that comes in (ibuf0ibuf.cc).
//!
//! Where the profile has its bitmaps, each leaf that comes in needs the page of the bitmap that tells whether anything is
//! buffered for it (`ibuf_merge_or_delete_for_page`), what is buffered is marked there, what is merged goes out of the tree, and who
//! finds the buffer full merges some of it before changing a leaf (`ibuf_contract`).

use super::counters::Why;
use super::plan::REDO_ENTRY;
use super::stage::Stage;
use super::{AHEAD, Engine, Purpose};

/// Redo of an entry that is merged, and of a bit.
const REDO_MERGE: u64 = 40;
const REDO_BIT: u16 = 20;
/// Entries on a page of its tree.
pub(super) const PER_PAGE: u64 = 200;
/// Leaves that lie together are merged together (IBUF_MERGE_AREA).
const AREA: u32 = 8;

/// What is buffered.
#[derive(Debug)]
pub(super) struct ChangeBuffer {
    /// Changes of each leaf of the data set, by page.
    changes: Vec<u8>,
    all: u64,
    /// Where the next leaf to merge is looked for.
    at: u32,
}

/// How far a client is that has found the buffer full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contraction {
    NotYet,
    /// It looks up what is buffered for this leaf.
    Begun(u32),
    /// It merges that.
    Of(u32),
    Done,
}

impl ChangeBuffer {
    /// Nothing is buffered for so many pages.
    pub(super) fn new(pages: u32) -> Self {
        Self { changes: vec![0; pages as usize], all: 0, at: 0 }
    }

    /// Changes that are buffered for a page.
    fn of(&self, page: u32) -> u8 {
        self.changes.get(page as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, page: u32) {
        self.changes[page as usize] += 1;
        self.all += 1;
    }

    fn take(&mut self, page: u32) -> u64 {
        let changes = self.changes.get_mut(page as usize).map_or(0, std::mem::take).into();
        self.all -= changes;
        changes
    }
}

impl Engine {
    /// Changes a leaf of a secondary index, or the buffer; `false` while the client waits.
    pub(super) fn secondary(&mut self, client: u32, page: u32, redo: u16) -> bool {
        if !self.has_contracted(client, page) {
            return false;
        }
        if !self.is_bufferable(page) || self.clients[client as usize].tries > 0 {
            return self.change(client, page, redo);
        }
        if !self.is_marked(client, page) {
            return false;
        }
        let (into, is_new) = self.buffer_page(page);
        if is_new && !self.create(client, into, redo) {
            return false;
        }
        if !self.change(client, into, redo) {
            return false;
        }
        self.change_buffer.add(page);
        true
    }

    /// Whether a change of a leaf that is not in the pool goes to the change buffer.
    fn is_bufferable(&self, page: u32) -> bool {
        let (most, per_leaf) = self.settings.buffered;
        !self.pool.holds(page)
            && self.change_buffer.all < most
            && u32::from(self.change_buffer.of(page)) < per_leaf.min(250)
    }

    /// The page of the change buffer's tree, which is in the order of the pages that it stands for, and whether that has
    /// to be made.
    fn buffer_page(&self, page: u32) -> (u32, bool) {
        let (first, pages) = self.layout.change_buffer;
        let all = self.change_buffer.all;
        let used = ((all / PER_PAGE) as u32 + 1).min(pages);
        let into = first + (u64::from(page) * u64::from(used) / self.change_buffer.changes.len() as u64) as u32;
        (into, !self.pool.holds(into) && all < PER_PAGE * u64::from(used))
    }

    /// Has the bitmap say that something is buffered for a leaf; `false` while the client waits.
    fn is_marked(&mut self, client: u32, page: u32) -> bool {
        let Some(bitmap) = self.layout.bitmap_of(page) else { return true };
        let passed = if self.change_buffer.of(page) > 0 {
            self.has_to_itself(client, bitmap)
        } else {
            self.change(client, bitmap, REDO_BIT)
        };
        if passed {
            self.clients[client as usize].tries = 0;
        }
        passed
    }

    /// Has a page in the pool that nobody writes; `false` while the client waits.
    fn has_to_itself(&mut self, client: u32, page: u32) -> bool {
        let Some(frame) = self.get(client, page) else { return false };
        let is_latched = self.pool.is_latched(frame);
        if is_latched {
            self.page_waiters.push((frame, client));
            self.turns(client, Stage::Waiting, Why::FreePage);
        }
        !is_latched
    }

    /// Before a leaf is read its bitmap is asked, and what is buffered for it goes out of the tree; `false` while the client
    /// waits.
    pub(super) fn has_asked_bitmap(&mut self, client: u32, page: u32) -> bool {
        if self.clients[client as usize].asked == page {
            return true;
        }
        let Some(bitmap) = self.layout.bitmap_of(page) else { return true };
        if !self.has_to_itself(client, bitmap) {
            return false;
        }
        if self.change_buffer.of(page) > 0 {
            let (from, _) = self.buffer_page(page);
            if !self.change(client, from, REDO_ENTRY as u16) || !self.change(client, bitmap, REDO_BIT) {
                return false;
            }
        }
        let seat = &mut self.clients[client as usize];
        (seat.asked, seat.tries) = (page, 0);
        true
    }

    /// Merges some of a full buffer before a leaf that is not in the pool is changed; `false` while the client waits.
    fn has_contracted(&mut self, client: u32, page: u32) -> bool {
        if self.layout.bitmap_of(page).is_none() {
            return true;
        }
        let seat = &self.clients[client as usize];
        let (tries, contraction) = (seat.tries, seat.contraction);
        let leaf = match contraction {
            Contraction::Done => return true,
            Contraction::Begun(leaf) | Contraction::Of(leaf) => leaf,
            Contraction::NotYet => {
                let is_full = self.change_buffer.all >= self.settings.buffered.0;
                if tries > 0 || !is_full || self.pool.holds(page) {
                    return true;
                }
                let Some(leaf) = self.any_to_merge() else { return true };
                self.clients[client as usize].contraction = Contraction::Begun(leaf);
                leaf
            }
        };
        if contraction != Contraction::Of(leaf) {
            let (from, _) = self.buffer_page(leaf);
            if self.get(client, from).is_none() {
                return false;
            }
            self.clients[client as usize].contraction = Contraction::Of(leaf);
            self.merge_around(leaf);
        }
        let is_there = self.get(client, leaf).is_some();
        if is_there {
            self.clients[client as usize].contraction = Contraction::Done;
            self.clients[client as usize].tries = 0;
        }
        is_there
    }

    /// Leaves in the area of one, which is read by itself, are read in the background.
    fn merge_around(&mut self, leaf: u32) {
        let first = leaf - leaf % AREA;
        for page in (first..first + AREA).filter(|page| *page != leaf) {
            if self.change_buffer.of(page) > 0 && !self.pool.holds(page) && !self.merge_in_background(page) {
                return;
            }
        }
    }

    /// A leaf with buffered changes that is not in the pool, anywhere.
    fn any_to_merge(&mut self) -> Option<u32> {
        let leaf = self.next_to_merge();
        let pages = self.change_buffer.changes.len() as u64;
        // Multiplied by 2^32 over the golden ratio, places that follow one another lie all over the data.
        self.change_buffer.at = (u64::from(self.change_buffer.at) * 2_654_435_761 % pages) as u32;
        leaf
    }

    /// Changes that were buffered for the page in a frame are merged into it; bytes of log that makes.
    pub(super) fn merge_into(&mut self, frame: u32) -> u64 {
        let changes = self.change_buffer.take(self.pool.page(frame));
        let bytes = changes * (REDO_MERGE + REDO_ENTRY);
        if changes > 0 {
            let (begin, lsn) = self.redo.append(bytes);
            self.pool.change(frame, begin, lsn);
        }
        bytes
    }

    /// So many leaves with buffered changes are read, one after the other; whether there may be more of them.
    pub(super) fn merge_changes(&mut self, most: u64) -> bool {
        for _ in 0..most.min(self.change_buffer.all) {
            let Some(page) = self.next_to_merge() else { return false };
            if !self.merge_in_background(page) {
                return true;
            }
        }
        self.change_buffer.all > 0
    }

    /// Reads a leaf for what is buffered for it; `false` where nothing is left to read it with or into.
    fn merge_in_background(&mut self, page: u32) -> bool {
        let Some(slot) = self.ahead_free.pop() else { return false };
        let Some(frame) = self.pool.take(self.settings.model.pool.search_depth.value) else {
            self.ahead_free.push(slot);
            return false;
        };
        self.read_in_background(slot, (frame, page), Purpose::PageRead(frame));
        true
    }

    /// Leaves to read in this second for the changes that are buffered for them: a twentieth of the capacity, or all of it when
    /// the buffer is half full.
    pub(super) fn to_merge(&self) -> u64 {
        let all = self.change_buffer.all;
        if all == 0 {
            return 0;
        }
        let hurry = all * 2 > self.settings.buffered.0;
        let most = if hurry { self.settings.io_capacity } else { self.settings.io_capacity / 20 };
        most.min(u64::from(AHEAD) / 2)
    }

    /// The next leaf with buffered changes that is not in the pool.
    fn next_to_merge(&mut self) -> Option<u32> {
        let pages = self.change_buffer.changes.len() as u32;
        let (begin, end) = (self.change_buffer.at, self.change_buffer.at + pages);
        let next = (begin..end).find(|at| {
            let page = at % pages;
            self.change_buffer.of(page) > 0 && !self.pool.holds(page)
        });
        self.change_buffer.at = next.map_or(begin, |at| (at + 1) % pages);
        next.map(|at| at % pages)
    }
}
