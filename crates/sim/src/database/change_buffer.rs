//! The change buffer: a change of a secondary index's leaf that is not in the pool goes into a tree of its own, and into the
//! leaf when that comes in (ibuf0ibuf.cc).
//!
//! Where the profile has its bitmaps, each leaf that comes in needs the page of the bitmap that tells whether anything is
//! buffered for it (`ibuf_merge_or_delete_for_page`), what is buffered is marked there, what is merged goes out of the tree, and who
//! finds the buffer full merges some of it before changing a leaf (`ibuf_contract`).

use super::counters::Why;
use super::layout::{Layout, Tree};
use super::plan::REDO_ENTRY;
use super::stage::Stage;
use super::{AHEAD, Engine, Purpose};
use crate::near::prefetch;
use std::iter;
use tameshi_base::Random;

/// Redo of an entry that is merged, and of a bit.
const REDO_MERGE: u64 = 40;
const REDO_BIT: u16 = 20;
/// Entries on a page of its tree.
pub(super) const PER_PAGE: u64 = 200;
/// Pages by which the tree may be larger than it should be: up to the first who merges doesn't wait for the leaves
/// (IBUF_CONTRACT_ON_INSERT_SYNC), from the second on nothing is buffered (IBUF_CONTRACT_DO_NOT_INSERT).
const WAITING: u64 = 5;
pub(super) const BEYOND: u64 = 10;
/// Leaves that lie together are merged together (IBUF_MERGE_AREA).
const AREA: u32 = 8;

/// What is buffered.
#[derive(Debug)]
pub(super) struct ChangeBuffer {
    /// Changes of each leaf of the data set, by page.
    changes: Vec<u8>,
    all: u64,
    /// The secondary indexes, in the order of their leaves.
    indexes: Vec<Index>,
    /// Pages of its tree.
    pages: u32,
    /// Changes of leaves so far, and how many of them went in here.
    asked: (u64, u64),
    /// Where leaves to merge are looked for.
    random: Random,
}

/// A secondary index: its leaves, and all changes that are buffered for them.
#[derive(Debug)]
struct Index {
    first: u32,
    leaves: u32,
    changes: u64,
}

/// What a client does about a change of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Undecided,
    /// The buffer is full: it looks up what is buffered for this leaf of others,
    LookUp(u32),
    /// and merges that.
    Merge(u32),
    Buffer,
    Leaf,
}

impl ChangeBuffer {
    /// Nothing is buffered for the pages of these data sets, of which the last one ends before a page.
    pub(super) fn new<'a>(layouts: impl Iterator<Item = &'a Layout>, end: u32, seed: u64) -> Self {
        let tables = layouts.flat_map(|layout| &layout.tables);
        let leaves = tables.flat_map(|table| &table.secondary).map(Tree::leaves);
        let mut indexes: Vec<_> = leaves.map(|(first, leaves)| Index { first, leaves, changes: 0 }).collect();
        indexes.sort_unstable_by_key(|index| index.first);
        let random = Random::named(seed, "change buffer");
        Self { changes: vec![0; end as usize], all: 0, indexes, pages: 0, asked: (0, 0), random }
    }

    /// Pages of its tree.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Changes of leaves so far, and how many of them went in here.
    pub(super) fn asked(&self) -> (u64, u64) {
        self.asked
    }

    /// What is buffered for a page will be asked for.
    #[inline]
    pub(super) fn expect(&self, page: u32) {
        prefetch(&self.changes, page as usize);
    }

    /// Changes that are buffered for a page.
    fn of(&self, page: u32) -> u8 {
        self.changes.get(page as usize).copied().unwrap_or(0)
    }

    /// The place of the index of a leaf.
    fn index_of(&self, leaf: u32) -> usize {
        self.indexes.partition_point(|index| index.first <= leaf) - 1
    }

    fn add(&mut self, leaf: u32) {
        let index = self.index_of(leaf);
        self.changes[leaf as usize] += 1;
        self.indexes[index].changes += 1;
        self.all += 1;
        self.asked = (self.asked.0 + 1, self.asked.1 + 1);
    }

    fn take(&mut self, page: u32) -> u64 {
        let changes = self.changes.get_mut(page as usize).map_or(0, std::mem::take).into();
        if changes > 0 {
            let index = self.index_of(page);
            self.indexes[index].changes -= changes;
            self.all -= changes;
            // Pages that are half empty become one.
            while self.pages > 1 && self.all < PER_PAGE * u64::from(self.pages) / 2 {
                self.pages -= 1;
            }
        }
        changes
    }

    /// The page of the tree that holds what is buffered for a leaf, counted from its first: entries are in the order of the
    /// leaves, and fill the pages evenly.
    fn page_of(&self, leaf: u32) -> u32 {
        let (before, of) = self.indexes.split_at(self.index_of(leaf));
        let before: u64 = before.iter().map(|index| index.changes).sum();
        let within = of[0].changes * u64::from(leaf - of[0].first) / u64::from(of[0].leaves);
        ((before + within) * u64::from(self.pages) / self.all.max(1)).min(u64::from(self.pages - 1)) as u32
    }

    /// A leaf at about a change of the tree that is drawn (btr_pcur_open_at_rnd_pos); none where nothing is buffered.
    fn any(&mut self) -> Option<u32> {
        let mut change = self.random.below(self.all.max(1));
        let index = self.indexes.iter().find(|index| {
            let is_here = change < index.changes;
            change -= if is_here { 0 } else { index.changes };
            is_here
        })?;
        Some(index.first + (change * u64::from(index.leaves) / index.changes) as u32)
    }

    /// Leaves that something is buffered for: from one on to the end of its index, then those of the others, then those before it.
    fn changed_from(&self, leaf: u32) -> impl Iterator<Item = u32> + '_ {
        let (before, after) = self.indexes.split_at(self.index_of(leaf));
        let (own, after) = after.split_first().expect("a leaf lies in an index");
        let others = after.iter().chain(before).filter(|index| index.changes > 0);
        iter::once(leaf..own.first + own.leaves)
            .chain(others.map(|index| index.first..index.first + index.leaves))
            .chain(iter::once(own.first..leaf))
            .flatten()
            .filter(|leaf| self.changes[*leaf as usize] > 0)
    }
}

impl Engine {
    /// Changes a leaf of a secondary index, or the buffer; `false` while the client waits.
    pub(super) fn secondary(&mut self, client: u32, page: u32, redo: u16) -> bool {
        loop {
            let way = self.clients[client as usize].way;
            let next = match way {
                Way::Undecided => self.way(page),
                Way::LookUp(leaf) => {
                    let from = self.tree_page(leaf);
                    if self.get(client, from).is_none() {
                        return false;
                    }
                    self.merge_around(leaf);
                    Way::Merge(leaf)
                }
                Way::Merge(leaf) if !self.is_merged(client, leaf) => return false,
                Way::Merge(_) => Way::Buffer,
                // While it waited the leaf may have come in, or the buffer may have become full.
                Way::Buffer if self.is_bufferable(page) => return self.buffer(client, page, redo),
                Way::Buffer => Way::Leaf,
                Way::Leaf => {
                    let passed = self.change(client, page, redo);
                    self.change_buffer.asked.0 += u64::from(passed);
                    return passed;
                }
            };
            self.clients[client as usize].way = next;
        }
    }

    /// How a change of a leaf begins.
    fn way(&mut self, page: u32) -> Way {
        if !self.is_beyond(0) || self.pool.holds(page) || self.layout.bitmap_of(page).is_none() {
            return Way::Buffer;
        }
        self.any_to_merge().map_or(Way::Leaf, Way::LookUp)
    }

    /// Whether the tree is so many pages larger than it should be.
    fn is_beyond(&self, pages: u64) -> bool {
        self.change_buffer.all >= self.settings.buffered.0 + PER_PAGE * pages
    }

    /// What is buffered for a leaf is merged, or is going to be when the leaf comes in; `false` while the client waits.
    fn is_merged(&mut self, client: u32, leaf: u32) -> bool {
        if self.is_beyond(WAITING) || self.ahead_free.is_empty() {
            return self.get(client, leaf).is_some();
        }
        if self.pool.holds(leaf) {
            return true;
        }
        let Some(frame) = self.free_frame(client) else { return false };
        self.clients[client as usize].tries = 0;
        let slot = self.ahead_free.pop().expect("one was free");
        self.read_in_background(slot, (frame, leaf), Purpose::PageRead(frame));
        if let Some(bitmap) = self.layout.bitmap_of(leaf)
            && !self.pool.holds(bitmap)
        {
            self.merge_in_background(bitmap);
        }
        true
    }

    /// A change goes to the page of the buffer's tree, and the leaf's bitmap says so; `false` while the client waits.
    fn buffer(&mut self, client: u32, page: u32, redo: u16) -> bool {
        if !self.has_room(client, redo) {
            return false;
        }
        let into = self.tree_page(page);
        if let Some(bitmap) = self.layout.bitmap_of(page)
            && !(self.has_to_itself(client, into) && self.is_marked(client, page, bitmap))
        {
            return false;
        }
        let passed = self.change(client, into, redo);
        if passed {
            self.change_buffer.add(page);
        }
        passed
    }

    /// The page of the tree that holds what is buffered for a leaf.
    fn tree_page(&self, leaf: u32) -> u32 {
        self.layout.change_buffer.0 + self.change_buffer.page_of(leaf)
    }

    /// The tree has room for one more change, on a new page if need be; `false` while the client waits.
    fn has_room(&mut self, client: u32, redo: u16) -> bool {
        let (first, most) = self.layout.change_buffer;
        let (all, pages) = (self.change_buffer.all, self.change_buffer.pages);
        if all < PER_PAGE * u64::from(pages) || pages >= most {
            return true;
        }
        let is_made = self.create(client, first + pages, redo);
        self.change_buffer.pages += u32::from(is_made);
        is_made
    }

    /// Changes of the half that it may hold: with more of them the server merges as fast as it may.
    fn half(&self) -> u64 {
        self.settings.buffered.0 / 2
    }

    /// Pages of its tree from which on something else begins: half of what it may have, where more is merged, and where that does
    /// not hold it all, beyond which nothing is buffered.
    pub(super) fn next_mark(&self) -> u32 {
        let most = self.layout.change_buffer.1.min((self.settings.buffered.0 / PER_PAGE) as u32);
        let half = most.min((self.half() / PER_PAGE) as u32);
        if self.change_buffer.pages <= half + half / 20 { half } else { most }
    }

    /// Whether a change of a leaf that is not in the pool goes to the change buffer.
    fn is_bufferable(&self, page: u32) -> bool {
        let beyond = if self.layout.bitmap_of(page).is_some() { BEYOND } else { 0 };
        !self.pool.holds(page)
            && !self.is_beyond(beyond)
            && u32::from(self.change_buffer.of(page)) < self.settings.buffered.1.min(250)
    }

    /// Has the bitmap say that something is buffered for a leaf; `false` while the client waits.
    fn is_marked(&mut self, client: u32, page: u32, bitmap: u32) -> bool {
        if self.change_buffer.of(page) > 0 {
            self.has_to_itself(client, bitmap)
        } else {
            self.change(client, bitmap, REDO_BIT)
        }
    }

    /// Has a page in the pool that nobody writes; `false` while the client waits.
    fn has_to_itself(&mut self, client: u32, page: u32) -> bool {
        let Some(frame) = self.get(client, page) else { return false };
        let is_latched = self.pool.is_latched(frame);
        if is_latched {
            self.page_waiters.push((frame, client));
            self.turns(client, Stage::Waiting, Why::PageLatch);
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
            let from = self.tree_page(page);
            if !self.change(client, from, REDO_ENTRY as u16) || !self.change(client, bitmap, REDO_BIT) {
                return false;
            }
        }
        self.clients[client as usize].asked = page;
        true
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
        let from = self.change_buffer.any()?;
        self.change_buffer.changed_from(from).find(|leaf| !self.pool.holds(*leaf))
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

    /// So many leaves with buffered changes are read; whether there may be more of them.
    pub(super) fn merge_changes(&mut self, most: u64) -> bool {
        for _ in 0..most.min(self.change_buffer.all) {
            let Some(page) = self.any_to_merge() else { return false };
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
        let most = if all > self.half() { self.settings.io_capacity } else { self.settings.io_capacity / 20 };
        most.min(u64::from(AHEAD) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Two indexes of different sizes, with pages of something else between them.
    fn buffer() -> ChangeBuffer {
        let index = |first, leaves| Index { first, leaves, changes: 0 };
        ChangeBuffer {
            changes: vec![0; 20_000],
            all: 0,
            indexes: vec![index(1_000, 400), index(9_000, 10_000)],
            pages: 1,
            asked: (0, 0),
            random: Random::named(2, "changes"),
        }
    }

    /// So many changes, nine of ten in the small index; its tree grows as it must.
    fn filled(count: u64) -> ChangeBuffer {
        let (mut buffer, mut random) = (buffer(), Random::named(1, "changes"));
        for _ in 0..count {
            let within = random.below(10_000) as u32;
            let leaf = if random.below(10) > 0 { 1_000 + within % 400 } else { 9_000 + within };
            if buffer.of(leaf) < 250 {
                buffer.pages += u32::from(buffer.all >= PER_PAGE * u64::from(buffer.pages));
                buffer.add(leaf);
            }
        }
        buffer
    }

    #[test]
    fn pages_of_the_tree_hold_about_as_many_changes_each_in_the_order_of_the_leaves() {
        let buffer = filled(20_000);
        let mut held: BTreeMap<u32, u64> = BTreeMap::new();
        let mut last = 0;
        for leaf in (1_000..1_400).chain(9_000..19_000) {
            let page = buffer.page_of(leaf);
            assert!(page >= last, "leaf {leaf} lies on page {page}, one before it on {last}");
            last = page;
            *held.entry(page).or_default() += u64::from(buffer.of(leaf));
        }
        assert_eq!(held.len(), buffer.pages as usize, "each page holds something");
        let (least, most) = (held.values().min().copied(), held.values().max().copied());
        assert!(
            least >= Some(PER_PAGE / 2) && most <= Some(PER_PAGE * 3 / 2),
            "{least:?} to {most:?} changes on a page"
        );
    }

    #[test]
    fn what_was_added_is_taken_once_and_leaves_a_tree_of_one_page() {
        let mut buffer = filled(20_000);
        let all = buffer.all;
        let taken: u64 = (0..20_000).chain(0..20_000).map(|page| buffer.take(page)).sum();
        assert_eq!((taken, buffer.all, buffer.pages), (all, 0, 1));
        assert!(buffer.indexes.iter().all(|index| index.changes == 0));
    }

    #[test]
    fn changes_of_each_index_are_drawn_as_often_as_there_are_and_none_is_passed_over() {
        let mut buffer = filled(20_000);
        let draws = 10_000;
        let small = (0..draws).filter(|_| buffer.any().is_some_and(|leaf| leaf < 9_000)).count() as f64;
        let share = buffer.indexes[0].changes as f64 / buffer.all as f64;
        let deviation = (share * (1.0 - share) / f64::from(draws)).sqrt();
        assert!((small / f64::from(draws) - share).abs() < 4.0 * deviation, "{small} of {draws} where {share} lie");
        let all = (0..20_000).filter(|leaf| buffer.of(*leaf) > 0).count();
        for from in [1_000, 1_399, 9_000, 12_345, 18_999] {
            let mut found: Vec<_> = buffer.changed_from(from).collect();
            let first = (from..19_000).find(|leaf| buffer.of(*leaf) > 0);
            assert_eq!(found.first().copied(), first.or(found.first().copied()));
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), all);
        }
    }

    #[test]
    fn nothing_is_drawn_where_nothing_is_buffered() {
        assert_eq!(buffer().any(), None);
    }
}
