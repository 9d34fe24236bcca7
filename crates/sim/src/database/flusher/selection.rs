//! Selection of the pages of a batch.

use crate::database::pool::NONE;
use crate::database::store::Store;
use std::collections::VecDeque;
use std::ops::Range;
use tameshi_spec::profile::FreePages;

/// Frames, and the log position of each one's last change.
pub(super) type Pages = Vec<(u32, u64)>;

/// Neighbours that are flushed together at most.
const NEIGHBOURS: u32 = 64;
/// Pages in the LRU list from which on neighbours are flushed along in MariaDB
/// (buf_flush_check_neighbors: BUF_LRU_OLD_MIN_LEN).
const NEIGHBOURS_FROM: u32 = 512;
/// Pages in the LRU list below which no client wakes the page cleaner, and which it leaves in the
/// list (BUF_LRU_MIN_LEN); or one less than a twentieth of the pool, where that is fewer.
pub(super) const LEAST_LISTED: u32 = 256;

/// Free frames that the page cleaner aims at.
pub(super) fn target_free(store: &Store) -> u32 {
    store.settings.flushing.lru_scan_depth.min(store.pool.frames() / 4)
}

/// Margin of MySQL 5.5: free or replaceable pages that a client keeps, pages beyond it that a
/// batch makes, and frames to look at.
pub(super) fn margin(store: &Store) -> (u32, u32, u32) {
    let margin = store.settings.flushing.margin;
    (margin, margin / 4 + 100, 2 * margin - 5)
}

/// Select dirty pages at the LRU list's end; release clean ones there.
pub(super) fn lru_end(store: &mut Store, most: usize, pages: &mut Pages) {
    let (target, mut next) = (target_free(store), store.pool.end());
    for _ in 0..store.settings.flushing.lru_scan_depth {
        if next == NONE || pages.len() >= most || store.pool.free() + pages.len() as u32 >= target {
            break;
        }
        let frame = next;
        next = store.pool.before(frame);
        if !store.pool.release(frame) {
            with_neighbours(store, frame, (most, false), pages);
        }
    }
}

/// Select the pages that have been dirty for longest. Return the number of frames looked at.
pub(super) fn longest_dirty(store: &mut Store, most: usize, pages: &mut Pages) -> u64 {
    let (mut looked, mut next) = (0, store.pool.oldest_changed());
    for passed in 0..most * 2 {
        let Some(frame) = next.filter(|_| pages.len() < most) else { break };
        next = store.pool.changed_after(frame);
        next.into_iter().for_each(|next| store.pool.prefetch_frame(next));
        looked += with_neighbours(store, frame, (most, false), pages).map_or(0, |around| around + passed as u64);
    }
    looked
}

/// Select dirty pages nearest to the LRU list's end, with their neighbours in the list's old
/// part, for a client of MySQL 5.5. Return the number of frames looked at.
///
/// The search begins anew at the list's end after each page that it takes.
pub(super) fn for_user(store: &mut Store, quota: u64, most: usize, pages: &mut Pages) -> u64 {
    let (margin, extra, _) = margin(store);
    // A client that found no page at all has set no quota.
    let wanted = if quota == 0 { u64::from(margin + extra) } else { quota };
    let most = most.min(wanted as usize);
    let (mut at, mut passed, mut looked) = (store.pool.end(), 0, 0);
    while at != NONE && pages.len() < most {
        passed += 1;
        if let Some(around) = with_neighbours(store, at, (most, true), pages) {
            looked += passed + around;
        }
        at = store.pool.before(at);
    }
    looked + passed
}

/// Search the LRU list from its end, as MariaDB's page cleaner does: release clean pages, and
/// note dirty ones in `found`.
pub(super) fn search_list(store: &mut Store, found: &mut VecDeque<u32>) {
    let flushing = &store.settings.flushing;
    let (target, most) = (flushing.lru_scan_depth, flushing.io_capacity_max as usize);
    let least = LEAST_LISTED.min((store.pool.frames() / 20).saturating_sub(1));
    found.clear();
    let mut at = store.pool.end();
    while at != NONE && store.pool.free() < target && store.pool.listed() > least && found.len() < most {
        let (frame, page) = (at, store.pool.page(at));
        at = store.pool.before(at);
        if !store.pool.release(frame) && store.pool.writable(page).is_some() {
            found.push_back(page);
        }
    }
}

/// Select pages that [`search_list`] has found, with their neighbours.
pub(super) fn found(store: &mut Store, found: &mut VecDeque<u32>, most: usize, pages: &mut Pages) {
    while pages.len() < most
        && let Some(page) = found.pop_front()
    {
        if let Some(frame) = store.pool.writable(page) {
            with_neighbours(store, frame, (most, false), pages);
        }
    }
}

/// Add a page to a batch of at most `most`, with its dirty neighbours where the version flushes
/// them along: all, or, for `old`, those in the list's old part. Return the number of pages
/// looked at; `None` if the page can't be written.
pub(super) fn with_neighbours(
    store: &mut Store,
    frame: u32,
    (most, old): (usize, bool),
    pages: &mut Pages,
) -> Option<u64> {
    let page = store.pool.page(frame);
    if page == NONE || store.pool.writable(page).is_none() {
        return None;
    }
    pages.push((frame, store.pool.begin_write(frame)));
    let along = neighbours(store, page);
    let mut found = store.pool.writables(&along);
    while found > 0 && pages.len() < most {
        let other = along.start + found.trailing_zeros();
        found &= found - 1;
        if let Some(frame) = store.pool.writable(other).filter(|&frame| !old || store.pool.is_old(frame)) {
            pages.push((frame, store.pool.begin_write(frame)));
            if pages.len() == most {
                return Some(u64::from(other - along.start + 1 - u32::from(other > page)) + 1);
            }
        }
    }
    Some(if pages.len() < most { along.len() as u64 } else { 1 })
}

/// A dirty page and its neighbours that are flushed along if they are dirty.
fn neighbours(store: &Store, page: u32) -> Range<u32> {
    if !store.settings.flushing.neighbours {
        return page..page + 1;
    }
    let area = NEIGHBOURS.min((store.pool.frames() / 16).max(1));
    let first = page - page % area;
    let all = first..(first + area).min(store.layout.next).max(page + 1);
    if store.settings.flushing.free_pages == Some(FreePages::PageCleaner) { dirty_run(store, page, all) } else { all }
}

/// Neighbours of a dirty page that are dirty without a gap; none if the list is too short.
fn dirty_run(store: &Store, page: u32, all: Range<u32>) -> Range<u32> {
    if store.pool.listed() < NEIGHBOURS_FROM {
        return page..page + 1;
    }
    let is_dirty = |other: &u32| store.pool.writable(*other).is_some();
    let before = (all.start..page).rev().take_while(is_dirty).count() as u32;
    let after = (page + 1..all.end).take_while(is_dirty).count() as u32;
    page - before..page + 1 + after
}
