//! The buffer pool: frames, the LRU list, free frames, and the list of dirty pages.
//!
//! The rules are InnoDB's (buf0lru.cc, buf0buf.cc). A page that was read enters at the head of the
//! old part of the LRU list, which is a share of a list that is long enough. The page becomes young
//! when it is used again, in later versions not before a second has passed. A young page moves to
//! the head only from beyond the first quarter of the young ones. Without a midpoint a page enters
//! at the head and moves there with each use. Dirty pages are in the order in which they became
//! dirty.

mod flags;
mod lru;
#[cfg(test)]
mod tests;

use crate::basics::prefetch::{advise_large_pages, prefetch};
use flags::{DIRTY, HELD, LATCHED, OLD, READING, USED, WRITING};
use lru::Lru;
use std::ops::Range;
use tameshi_base::Nanos;

pub(super) use lru::Midpoint;

/// No page, no frame.
pub(super) const NONE: u32 = u32::MAX;

/// Mark, among the frames of pages, of a page that is being read or was not used yet.
const FRESH: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u32,
    dirty_newer: u32,
    dirty_older: u32,
    /// Evictions until it was last put at the head.
    clock: u32,
    /// Millisecond of the first use since its page was read, plus one; 0: not used yet.
    used: u32,
    /// Log position of the first change since its page was last written.
    oldest: u64,
    /// Log position of the last change.
    newest: u64,
}

const EMPTY: Frame =
    Frame { page: NONE, dirty_newer: NONE, dirty_older: NONE, clock: 0, used: 0, oldest: 0, newest: 0 };

/// Place of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// In this frame; the flag marks its first use.
    Here(u32, bool),
    /// Being read into this frame.
    Coming(u32),
    /// Not in the pool.
    Missing,
}

/// Ends of the list of dirty frames, and its length.
#[derive(Debug)]
struct DirtyList {
    newest: u32,
    oldest: u32,
    length: u32,
}

/// A buffer pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// Frame of each page, with [`FRESH`]. Until the first eviction a get of a page that was used
    /// before looks at nothing else.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    /// Flags of each frame; apart from `frames`, so that most gets and walks along the list touch
    /// little memory.
    states: Vec<u8>,
    lru: Lru,
    /// A bit per page that is dirty and not being written: a batch asks for 64 neighbours at once.
    writable: Vec<u64>,
    /// Frames that are free again. Frames beyond the end of `frames` never held a page.
    free: Vec<u32>,
    /// Frames in all.
    count: u32,
    /// Frames whose quarter sets how long a page at the head counts as young; `None`: those in the
    /// list.
    young_of: Option<u32>,
    /// A page that is selected to be written keeps its latch until it is.
    latches: bool,
    evictions: u32,
    dirty: DirtyList,
    /// Frames looked at since [`Pool::take_looked`], in searches of the list for a free one.
    looked: u64,
}

/// A vector for random access, with room for `count` elements.
fn for_as_many<T>(count: u32) -> Vec<T> {
    let all = Vec::with_capacity(count as usize);
    advise_large_pages(&all);
    all
}

impl Pool {
    /// An empty pool for pages below `pages`.
    pub(super) fn new(frames: u32, pages: u32, midpoint: Option<Midpoint>) -> Self {
        let mut frame_of = for_as_many(pages);
        frame_of.resize(pages as usize, NONE);
        Self {
            frame_of,
            frames: for_as_many(frames),
            states: Vec::with_capacity(frames as usize),
            lru: Lru::new(frames, midpoint),
            writable: vec![0; pages.div_ceil(64) as usize],
            free: Vec::new(),
            count: frames,
            young_of: None,
            latches: false,
            evictions: 0,
            dirty: DirtyList { newest: NONE, oldest: NONE, length: 0 },
            looked: 0,
        }
    }

    /// Keep the latch of a page from its selection on: until it is written in place, the page is
    /// in the doublewrite buffer.
    pub(super) fn latch_for_doublewrite(&mut self) {
        self.latches = true;
    }

    /// Count a page at the head as young for a share of all frames, however many are kept free.
    pub(super) fn keep_young_by_frames(&mut self) {
        self.young_of = Some(self.count);
    }

    /// Set the time of pages in the old part, in milliseconds. Return the former one.
    pub(super) fn set_old_time(&mut self, millis: u32) -> u32 {
        self.lru.set_old_time(millis)
    }

    /// Let all pages have been used first so long ago that any use promotes them.
    pub(super) fn set_used_long_ago(&mut self) {
        let Some(Midpoint { old_ms, .. }) = self.lru.midpoint() else { return };
        let long_ago = 1u32.wrapping_sub(old_ms.max(2));
        self.frames.iter_mut().filter(|frame| frame.used != 0).for_each(|frame| frame.used = long_ago);
    }

    /// Grow the tables of pages.
    pub(super) fn grow(&mut self, pages: u32) {
        if pages as usize > self.frame_of.len() {
            let pages = (pages as usize).next_multiple_of(1 << 14);
            self.frame_of.resize(pages, NONE);
            self.writable.resize(pages / 64, 0);
        }
    }

    /// Frames in all.
    pub(super) fn frames(&self) -> u32 {
        self.count
    }

    /// Free frames.
    pub(super) fn free(&self) -> u32 {
        self.free.len() as u32 + self.count - self.frames.len() as u32
    }

    /// Frames with a page that was changed and not yet written.
    pub(super) fn dirty(&self) -> u32 {
        self.dirty.length
    }

    /// Pages in the LRU list.
    pub(super) fn listed(&self) -> u32 {
        self.lru.len()
    }

    /// Pages replaced so far.
    pub(super) fn evictions(&self) -> f64 {
        self.evictions.into()
    }

    /// Look a page up and use it.
    #[inline]
    pub(super) fn get(&mut self, page: u32, now: Nanos) -> Found {
        let Some(at) = self.frame_or_coming(page) else { return Found::Missing };
        let state = self.states[at as usize];
        if state & READING != 0 {
            return Found::Coming(at);
        }
        let first = state & USED == 0;
        // Before the first eviction no page moves.
        if self.evictions > 0 || self.lru.midpoint().is_none() {
            self.used(at, now);
        } else if first {
            self.states[at as usize] |= USED;
            self.frames[at as usize].used = (now / 1_000_000) as u32 + 1;
        }
        if first {
            self.frame_of[page as usize] = at;
        }
        Found::Here(at, first)
    }

    /// Use a page that is in the pool and was used before. `false`: nothing is done for any other.
    #[inline]
    pub(super) fn hit(&mut self, page: u32, now: Nanos) -> bool {
        let at = self.frame_of[page as usize];
        if at >= FRESH {
            return false;
        }
        if self.evictions > 0 || self.lru.midpoint().is_none() {
            self.used(at, now);
        }
        true
    }

    /// Prefetch the place of a page.
    #[inline]
    pub(super) fn prefetch_entry(&self, page: u32) {
        prefetch(&self.frame_of, page as usize);
    }

    /// Prefetch for a get of a page. `false`: the page is not in the pool.
    #[inline]
    pub(super) fn prefetch_get(&self, page: u32) -> bool {
        self.evictions == 0 || self.prefetch_change(page)
    }

    /// Prefetch for a change of a page. `false`: the page is not in the pool.
    #[inline]
    pub(super) fn prefetch_change(&self, page: u32) -> bool {
        let at = self.frame_of.get(page as usize).copied().unwrap_or(NONE);
        if at < FRESH {
            prefetch(&self.states, at as usize);
            prefetch(&self.frames, at as usize);
        }
        at != NONE
    }

    /// Prefetch a frame.
    pub(super) fn prefetch_frame(&self, at: u32) {
        prefetch(&self.frames, at as usize);
    }

    /// Frame of a page that is in the pool or being read.
    #[inline]
    fn frame_or_coming(&self, page: u32) -> Option<u32> {
        let at = self.frame_of[page as usize];
        (at != NONE).then_some(at & !FRESH)
    }

    /// Use a frame, by the rule of promotion.
    #[inline]
    fn used(&mut self, at: u32, now: Nanos) {
        let (frame, state) = (&mut self.frames[at as usize], &mut self.states[at as usize]);
        let Some(Midpoint { share, old_ms, .. }) = self.lru.midpoint() else {
            return self.used_without_midpoint(at, now);
        };
        let all = self.young_of.unwrap_or(self.lru.len());
        let is_young = self.evictions < frame.clock + all / 4 * (1024 - share) / 1024;
        if *state & (USED | OLD) == USED && is_young {
            return;
        }
        let millis = (now / 1_000_000) as u32 + 1;
        let before = frame.used;
        if before == 0 {
            frame.used = millis;
            *state |= USED;
        }
        let promote = if old_ms > 0 && *state & OLD != 0 {
            before != 0 && millis.wrapping_sub(before) >= old_ms
        } else {
            !is_young
        };
        if promote {
            self.lru.remove(at, &mut self.states);
            self.add_newest(at);
        }
    }

    fn used_without_midpoint(&mut self, at: u32, now: Nanos) {
        if self.states[at as usize] & USED == 0 {
            self.states[at as usize] |= USED;
            self.frames[at as usize].used = (now / 1_000_000) as u32 + 1;
        }
        if self.lru.newest() != at {
            self.lru.remove(at, &mut self.states);
            self.add_newest(at);
        }
    }

    fn add_newest(&mut self, at: u32) {
        self.frames[at as usize].clock = self.evictions;
        self.lru.add_newest(at, &mut self.states);
    }

    /// Frame of a page that is in the pool, without using it.
    #[inline]
    pub(super) fn frame(&self, page: u32) -> Option<u32> {
        self.frame_or_coming(page).filter(|&at| self.states[at as usize] & READING == 0)
    }

    /// Return whether a page is in the pool or being read.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        self.frame_of[page as usize] != NONE
    }

    /// Return whether a page is in the pool and was used.
    #[inline]
    pub(super) fn was_used(&self, page: u32) -> bool {
        self.frame_of[page as usize] < FRESH
    }

    /// Page in a frame.
    #[inline]
    pub(super) fn page(&self, at: u32) -> u32 {
        self.frames[at as usize].page
    }

    /// Take a free frame, or that of a clean page among the last `depth` of the LRU list.
    pub(super) fn take(&mut self, depth: u32) -> Option<u32> {
        if let Some(at) = self.free.pop().or_else(|| self.first_unused()) {
            return Some(at);
        }
        let mut at = self.lru.oldest();
        for _ in 0..depth {
            if at == NONE {
                return None;
            }
            self.looked += 1;
            if self.states[at as usize] & HELD == 0 {
                self.evict(at);
                return self.free.pop();
            }
            at = self.lru.newer(at);
        }
        None
    }

    /// First frame from the LRU list's end, among the last `depth`, that is dirty and not being
    /// written.
    pub(super) fn dirty_at_end(&self, depth: u32) -> Option<u32> {
        let mut at = self.lru.oldest();
        for _ in 0..depth {
            if at == NONE {
                return None;
            }
            if self.states[at as usize] & (DIRTY | WRITING | READING) == DIRTY {
                return Some(at);
            }
            at = self.lru.newer(at);
        }
        None
    }

    /// Put a page into a frame that was taken: to be read, or as a new page.
    pub(super) fn put(&mut self, at: u32, page: u32, reading: bool, now: Nanos) {
        let used = if reading { 0 } else { (now / 1_000_000) as u32 + 1 };
        self.frames[at as usize] = Frame { page, used, ..EMPTY };
        self.states[at as usize] = if reading { READING } else { USED };
        self.frame_of[page as usize] = if reading { at | FRESH } else { at };
        if !(reading && self.lru.add_old(at, &mut self.states)) {
            self.add_newest(at);
        }
    }

    /// Finish the read of a frame's page.
    pub(super) fn arrived(&mut self, at: u32) {
        self.set_state(at, self.states[at as usize] & !READING);
    }

    fn set_state(&mut self, at: u32, state: u8) {
        self.lru.set_state(at, state, &mut self.states);
    }

    /// Frame of a page that is dirty and not being written.
    pub(super) fn writable(&self, page: u32) -> Option<u32> {
        let word = self.writable.get(page as usize / 64)?;
        (word >> (page % 64) & 1 > 0).then(|| self.frame_of[page as usize] & !FRESH)
    }

    /// Bits of the pages of a range, of at most 64, that are dirty and not being written; the
    /// lowest is that of the first page. Prefetches their frames.
    pub(super) fn writables(&self, pages: &Range<u32>) -> u64 {
        debug_assert!(pages.len() <= 64);
        let (word, shift) = (pages.start as usize / 64, pages.start % 64);
        let of = |word: usize| self.writable.get(word).copied().unwrap_or(0);
        let found = of(word) >> shift | of(word + 1).checked_shl(64 - shift).unwrap_or(0);
        let found = if pages.len() < 64 { found & ((1 << pages.len()) - 1) } else { found };
        let mut left = found;
        while left > 0 {
            let page = pages.start + left.trailing_zeros();
            self.prefetch_frame(self.frame_of[page as usize] & !FRESH);
            left &= left - 1;
        }
        found
    }

    /// Change the page in a frame, by the log record from `begin` to `lsn`.
    #[inline]
    pub(super) fn change(&mut self, at: u32, begin: u64, lsn: u64) {
        let newest = self.dirty.newest;
        let floor = if newest == NONE { 0 } else { self.frames[newest as usize].oldest };
        self.frames[at as usize].newest = lsn;
        if self.states[at as usize] & DIRTY != 0 {
            return;
        }
        self.set_state(at, self.states[at as usize] | DIRTY);
        let frame = &mut self.frames[at as usize];
        self.writable[frame.page as usize / 64] |= 1 << (frame.page % 64);
        frame.oldest = begin.max(floor);
        (frame.dirty_older, frame.dirty_newer) = (newest, NONE);
        match newest {
            NONE => self.dirty.oldest = at,
            newest => self.frames[newest as usize].dirty_newer = at,
        }
        self.dirty.newest = at;
        self.dirty.length += 1;
    }

    /// Begin to write a dirty page. Return the log position that must be durable first.
    pub(super) fn begin_write(&mut self, at: u32) -> u64 {
        debug_assert_eq!(self.states[at as usize] & (DIRTY | WRITING), DIRTY);
        let latch = if self.latches { LATCHED } else { 0 };
        self.set_state(at, self.states[at as usize] | WRITING | latch);
        let Frame { page, newest, .. } = self.frames[at as usize];
        self.writable[page as usize / 64] &= !(1 << (page % 64));
        newest
    }

    /// Finish the write of a page up to `lsn`. Return whether it is clean: a page that was changed
    /// meanwhile is dirty from there.
    pub(super) fn written(&mut self, at: u32, lsn: u64) -> bool {
        let Frame { dirty_newer: newer, dirty_older: older, newest, .. } = self.frames[at as usize];
        self.set_state(at, self.states[at as usize] & !(WRITING | DIRTY | LATCHED));
        match newer {
            NONE => self.dirty.newest = older,
            newer => self.frames[newer as usize].dirty_older = older,
        }
        match older {
            NONE => self.dirty.oldest = newer,
            older => self.frames[older as usize].dirty_newer = newer,
        }
        self.dirty.length -= 1;
        if newest > lsn {
            self.change(at, lsn, newest);
            return false;
        }
        true
    }

    /// Free the frame of a clean page that is neither read nor written. Return whether it is free.
    pub(super) fn release(&mut self, at: u32) -> bool {
        let is_clean = self.states[at as usize] & HELD == 0;
        if is_clean {
            self.evict(at);
        }
        is_clean
    }

    /// Number of dirty pages that were first changed before `lsn`, counted up to `most`.
    pub(super) fn changed_before(&self, lsn: u64, most: u64) -> u64 {
        let old = self.oldest_changes().take(most as usize);
        old.take_while(|&at| self.frames[at as usize].oldest < lsn).count() as u64
    }

    /// Log position of the oldest change that is not written.
    pub(super) fn oldest_change(&self) -> Option<u64> {
        self.oldest_changed().map(|at| self.frames[at as usize].oldest)
    }

    /// Dirty frames, the one that has been dirty for longest first.
    fn oldest_changes(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.oldest_changed(), |&at| self.changed_after(at))
    }

    /// Frame that has been dirty for longest.
    pub(super) fn oldest_changed(&self) -> Option<u32> {
        (self.dirty.oldest != NONE).then_some(self.dirty.oldest)
    }

    /// Dirty frame that was changed next after this one.
    pub(super) fn changed_after(&self, at: u32) -> Option<u32> {
        let newer = self.frames[at as usize].dirty_newer;
        (newer != NONE).then_some(newer)
    }

    /// A frame that never held a page.
    fn first_unused(&mut self) -> Option<u32> {
        let at = self.frames.len() as u32;
        (at < self.count).then(|| {
            self.frames.push(EMPTY);
            self.states.push(0);
            self.lru.add_frame();
            at
        })
    }

    fn evict(&mut self, at: u32) {
        self.prefetch_next(at);
        self.lru.remove(at, &mut self.states);
        self.evictions += 1;
        self.frame_of[self.frames[at as usize].page as usize] = NONE;
        (self.frames[at as usize], self.states[at as usize]) = (EMPTY, 0);
        self.free.push(at);
    }

    /// Prefetch for the evictions that follow one at the list's end.
    fn prefetch_next(&self, at: u32) {
        let next = self.lru.newer(at);
        if let Some(frame) = self.frames.get(next as usize) {
            prefetch(&self.frame_of, frame.page as usize);
            self.lru.prefetch_newer(next, &self.frames);
        }
    }

    /// Number of frames that are free or replaceable among the last `depth` of the list, counted
    /// up to `most`.
    pub(super) fn replaceable(&mut self, depth: u32, most: u32) -> u32 {
        let (length, replaceable) = self.lru.fit_tail(depth, &mut self.states);
        let all = self.free() + replaceable;
        if all < most {
            self.looked += u64::from(length);
            return all;
        }
        let (mut found, mut at, mut looked) = (self.free(), self.lru.oldest(), 0);
        while at != NONE && looked < depth && found < most {
            found += u32::from(self.states[at as usize] & HELD == 0);
            at = self.lru.newer(at);
            looked += 1;
        }
        self.looked += u64::from(looked);
        found
    }

    /// Take the number of frames that searches for a free one have looked at.
    pub(super) fn take_looked(&mut self) -> u64 {
        std::mem::take(&mut self.looked)
    }

    /// Frame at the LRU list's end.
    pub(super) fn end(&self) -> u32 {
        self.lru.oldest()
    }

    /// Frame before another, as seen from the list's end.
    pub(super) fn before(&self, at: u32) -> u32 {
        self.lru.newer(at)
    }

    /// Move a frame to the list's end, to be replaced next.
    pub(super) fn retire(&mut self, at: u32) {
        self.lru.retire(at, &mut self.states);
    }

    /// Latch a page that goes to the drive without a copy: clients may not change it.
    pub(super) fn latch(&mut self, at: u32) {
        self.states[at as usize] |= LATCHED;
    }

    /// Unlatch a page that is on the drive, whatever else of its batch is.
    pub(super) fn unlatch(&mut self, at: u32) {
        self.states[at as usize] &= !LATCHED;
    }

    /// Return whether a page is being written and may not be changed.
    #[inline]
    pub(super) fn is_latched(&self, at: u32) -> bool {
        self.states[at as usize] & LATCHED != 0
    }

    /// Return whether a frame is in the old part of the list.
    pub(super) fn is_old(&self, at: u32) -> bool {
        self.states[at as usize] & OLD != 0
    }

    /// Pages of up to `most` frames from the list's head on.
    pub(super) fn used_last(&self, most: u32) -> Vec<u32> {
        let step = |at: u32| (at != NONE).then_some(at);
        let frames = std::iter::successors(step(self.lru.newest()), move |&at| step(self.lru.older(at)));
        frames.take(most as usize).map(|at| self.page(at)).collect()
    }

    /// The last `depth` frames of the list from its end on: `(frame, replaceable)`.
    #[cfg(test)]
    fn lru_end(&self, depth: u32) -> impl Iterator<Item = (u32, bool)> {
        let step = |at: u32| (at != NONE).then_some(at);
        let frames = std::iter::successors(step(self.lru.oldest()), move |&at| step(self.lru.newer(at)));
        frames.take(depth as usize).map(|at| (at, self.states[at as usize] & HELD == 0))
    }
}
