//! The change buffer: a change of a secondary index's leaf that is not in the pool goes into a
//! tree of its own, and into the leaf when that comes in (ibuf0ibuf.cc).
//!
//! If the profile has its bitmaps, each leaf that comes in needs the bitmap's page with the flag
//! for its buffered changes (`ibuf_merge_or_delete_for_page`). Buffered changes are marked there,
//! and merged ones go out of the tree. A client that finds the buffer full merges some of it
//! before it changes a leaf (`ibuf_contract`).

use super::layout::{Layout, Tree};
use super::pool::Pool;
use super::port::BACKGROUND_READS;
use super::settings::ChangeBufferSettings;
use crate::basics::prefetch::prefetch;
use std::iter;
use tameshi_base::Random;

/// Redo of an entry that is merged.
pub(super) const REDO_MERGE: u64 = 40;
/// Redo of a bit of a bitmap.
pub(super) const REDO_BIT: u16 = 20;
/// Entries per page of the tree.
pub(super) const PER_PAGE: u64 = 200;
/// Pages beyond its size from which on a merging client waits for the leaves
/// (IBUF_CONTRACT_ON_INSERT_SYNC).
pub(super) const WAITING: u64 = 5;
/// Pages beyond its size from which on nothing is buffered (IBUF_CONTRACT_DO_NOT_INSERT).
pub(super) const BEYOND: u64 = 10;

/// Buffered changes.
#[derive(Debug)]
pub(super) struct ChangeBuffer {
    settings: ChangeBufferSettings,
    /// Changes of each leaf of the data set, by page.
    changes: Vec<u8>,
    all: u64,
    /// The secondary indexes, in the order of their leaves.
    indexes: Vec<Index>,
    /// Pages of the tree.
    pages: u32,
    /// Changes of leaves so far, and those that were buffered.
    asked: (u64, u64),
    /// Draws leaves to merge.
    random: Random,
}

/// A secondary index: its leaves, and all changes that are buffered for them.
#[derive(Debug)]
struct Index {
    first: u32,
    leaves: u32,
    changes: u64,
}

impl ChangeBuffer {
    /// An empty buffer for data sets whose pages end before `end`.
    pub(super) fn new<'a>(
        settings: ChangeBufferSettings,
        layouts: impl Iterator<Item = &'a Layout>,
        end: u32,
        seed: u64,
    ) -> Self {
        let tables = layouts.flat_map(|layout| &layout.tables);
        let leaves = tables.flat_map(|table| &table.secondary).map(Tree::leaves);
        let mut indexes: Vec<_> = leaves.map(|(first, leaves)| Index { first, leaves, changes: 0 }).collect();
        indexes.sort_unstable_by_key(|index| index.first);
        let random = Random::named(seed, "change buffer");
        Self { settings, changes: vec![0; end as usize], all: 0, indexes, pages: 0, asked: (0, 0), random }
    }

    /// Number of buffered changes.
    pub(super) fn len(&self) -> u64 {
        self.all
    }

    /// Pages of the tree.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Changes of leaves so far, and those that were buffered.
    pub(super) fn asked(&self) -> (u64, u64) {
        self.asked
    }

    /// Count a change of a leaf that was not buffered.
    pub(super) fn count_unbuffered(&mut self, passed: bool) {
        self.asked.0 += u64::from(passed);
    }

    /// Prefetch the number of changes of a page.
    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        prefetch(&self.changes, page as usize);
    }

    /// Number of changes that are buffered for a page.
    pub(super) fn of(&self, page: u32) -> u8 {
        self.changes.get(page as usize).copied().unwrap_or(0)
    }

    fn index_of(&self, leaf: u32) -> usize {
        self.indexes.partition_point(|index| index.first <= leaf) - 1
    }

    /// Buffer a change of a leaf.
    pub(super) fn add(&mut self, leaf: u32) {
        let index = self.index_of(leaf);
        self.changes[leaf as usize] += 1;
        self.indexes[index].changes += 1;
        self.all += 1;
        self.asked = (self.asked.0 + 1, self.asked.1 + 1);
    }

    /// Take the changes of a page. Return their number.
    pub(super) fn take(&mut self, page: u32) -> u64 {
        let changes = self.changes.get_mut(page as usize).map_or(0, std::mem::take).into();
        if changes > 0 {
            let index = self.index_of(page);
            self.indexes[index].changes -= changes;
            self.all -= changes;
            // Two pages that are half empty become one.
            while self.pages > 1 && self.all < PER_PAGE * u64::from(self.pages) / 2 {
                self.pages -= 1;
            }
        }
        changes
    }

    /// Page of the tree with the changes of a leaf, counted from the tree's first: entries are in
    /// the order of the leaves, and fill the pages evenly.
    fn page_of(&self, leaf: u32) -> u32 {
        let (before, of) = self.indexes.split_at(self.index_of(leaf));
        let before: u64 = before.iter().map(|index| index.changes).sum();
        let within = of[0].changes * u64::from(leaf - of[0].first) / u64::from(of[0].leaves);
        ((before + within) * u64::from(self.pages) / self.all.max(1)).min(u64::from(self.pages - 1)) as u32
    }

    /// Page of the tree with the changes of a leaf.
    pub(super) fn tree_page(&self, leaf: u32, layout: &Layout) -> u32 {
        layout.change_buffer.0 + self.page_of(leaf)
    }

    /// Page that the tree needs before one more change; `None` if it has room, or no page to add.
    pub(super) fn page_to_add(&self, layout: &Layout) -> Option<u32> {
        let (first, most) = layout.change_buffer;
        (self.all >= PER_PAGE * u64::from(self.pages) && self.pages < most).then_some(first + self.pages)
    }

    pub(super) fn add_page(&mut self, is_made: bool) {
        self.pages += u32::from(is_made);
    }

    /// Return whether the tree is this many pages larger than its size.
    pub(super) fn is_beyond(&self, pages: u64) -> bool {
        self.all >= self.settings.most + PER_PAGE * pages
    }

    /// Half of the changes that the buffer may hold: with more the server merges at capacity.
    fn half(&self) -> u64 {
        self.settings.most / 2
    }

    /// Pages of the tree at which its behaviour changes next: half of its size, where the server
    /// merges more, and, where that is not enough, its size, beyond which nothing is buffered.
    pub(super) fn next_mark(&self, layout: &Layout) -> u32 {
        let most = layout.change_buffer.1.min((self.settings.most / PER_PAGE) as u32);
        let half = most.min((self.half() / PER_PAGE) as u32);
        if self.pages <= half + half / 20 { half } else { most }
    }

    /// Return whether a change of a leaf is buffered.
    pub(super) fn accepts(&self, page: u32, pool: &Pool, layout: &Layout) -> bool {
        let beyond = if layout.bitmap_of(page).is_some() { BEYOND } else { 0 };
        !pool.holds(page) && !self.is_beyond(beyond) && u32::from(self.of(page)) < self.settings.per_leaf.min(250)
    }

    /// Return whether a full buffer must merge another leaf before a change of this one.
    pub(super) fn must_merge(&self, page: u32, pool: &Pool, layout: &Layout) -> bool {
        self.is_beyond(0) && !pool.holds(page) && layout.bitmap_of(page).is_some()
    }

    /// A random leaf with buffered changes that is not in the pool.
    pub(super) fn any_to_merge(&mut self, pool: &Pool) -> Option<u32> {
        let from = self.any()?;
        self.changed_from(from).find(|leaf| !pool.holds(*leaf))
    }

    /// Number of leaves to read in a second for their buffered changes: a twentieth of the
    /// capacity, or all of it when the buffer is half full.
    pub(super) fn to_merge(&self, io_capacity: u64) -> u64 {
        if self.all == 0 {
            return 0;
        }
        let most = if self.all > self.half() { io_capacity } else { io_capacity / 20 };
        most.min(u64::from(BACKGROUND_READS) / 2)
    }

    /// A leaf near a random change of the tree (btr_pcur_open_at_rnd_pos); `None` if the buffer
    /// is empty.
    fn any(&mut self) -> Option<u32> {
        let mut change = self.random.below(self.all.max(1));
        let index = self.indexes.iter().find(|index| {
            let is_here = change < index.changes;
            change -= if is_here { 0 } else { index.changes };
            is_here
        })?;
        Some(index.first + (change * u64::from(index.leaves) / index.changes) as u32)
    }

    /// Leaves with buffered changes: from one on to the end of its index, then those of the other
    /// indexes, then those before it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Two indexes of different sizes, with pages of something else between them.
    fn buffer() -> ChangeBuffer {
        let index = |first, leaves| Index { first, leaves, changes: 0 };
        ChangeBuffer {
            settings: ChangeBufferSettings { most: 0, per_leaf: 0, bitmap: 0 },
            changes: vec![0; 20_000],
            all: 0,
            indexes: vec![index(1_000, 400), index(9_000, 10_000)],
            pages: 1,
            asked: (0, 0),
            random: Random::named(2, "changes"),
        }
    }

    /// A buffer with `count` changes, nine of ten in the small index; its tree grows as needed.
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
    fn tree_pages_share_changes_evenly_in_leaf_order() {
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
    fn added_changes_are_taken_once_and_leave_one_tree_page() {
        let mut buffer = filled(20_000);
        let all = buffer.all;
        let taken: u64 = (0..20_000).chain(0..20_000).map(|page| buffer.take(page)).sum();
        assert_eq!((taken, buffer.all, buffer.pages), (all, 0, 1));
        assert!(buffer.indexes.iter().all(|index| index.changes == 0));
    }

    #[test]
    fn indexes_are_drawn_by_their_share_of_changes() {
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
    fn empty_buffer_draws_nothing() {
        assert_eq!(buffer().any(), None);
    }
}
