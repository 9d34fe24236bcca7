//! The buffer pool: frames, the LRU list with its midpoint, the free list, and the list of dirty pages.
//!
//! The rules are InnoDB's (buf0lru.cc, buf0buf.cc): a page that was read enters at the head of the old sublist, which takes
//! a share of the list from so many pages on; it becomes young when it is used again, in later versions not before a second has
//! passed; a young page moves to the head only when it lies beyond the first quarter of the young ones. Without a midpoint
//! a page comes in at the head and moves there with each use. Dirty pages stand in the order in which they became dirty.

mod list_end;

use crate::near::{on_large_pages, prefetch};
use std::ops::Range;
use tameshi_base::Nanos;

/// No page, no frame.
pub(super) const NONE: u32 = u32::MAX;

/// Marks the frame of a page that is on its way or was not used yet, among the frames of pages.
const FRESH: u32 = 1 << 31;

/// How far the old part may be off its length (BUF_LRU_OLD_TOLERANCE).
const OLD_TOLERANCE: u32 = 20;

const OLD: u8 = 1;
const READING: u8 = 2;
const WRITING: u8 = 4;
const DIRTY: u8 = 8;
/// Used since it was read.
const USED: u8 = 16;
/// Among the last of the LRU list, which are counted.
const TAIL: u8 = 32;
/// Being written, and nobody may change it until that is done.
const LATCHED: u8 = 64;
/// It can't be replaced.
const HELD: u8 = READING | WRITING | DIRTY;

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u32,
    dirty_newer: u32,
    dirty_older: u32,
    /// Evictions that had happened when it was last put at the head.
    clock: u32,
    /// Millisecond of the first use since it was read, plus one; zero: not used yet.
    used: u32,
    /// Log position of the first change since it was last written.
    oldest: u64,
    /// Log position of the last change.
    newest: u64,
}

const EMPTY: Frame =
    Frame { page: NONE, dirty_newer: NONE, dirty_older: NONE, clock: 0, used: 0, oldest: 0, newest: 0 };

/// A frame's place in the LRU list: who comes towards its head, and who towards its end.
#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
}

/// The old part of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Midpoint {
    /// Its share of the list, in 1024ths.
    pub(super) share: u32,
    /// From so many pages on the list has one.
    pub(super) least: u32,
    /// How long a page stays there after its first use, in milliseconds.
    pub(super) old_ms: u32,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// In this frame; the flag tells its first use.
    Here(u32, bool),
    /// On its way into this frame.
    Coming(u32),
    /// Not in the pool.
    Missing,
}

/// A buffer pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// Of each page its frame, with [`FRESH`]; a get of a page that was used before looks at nothing else until something was
    /// replaced.
    frame_of: Vec<u32>,
    frames: Vec<Frame>,
    /// Of each frame; apart, so that most gets and walks along the list touch little memory.
    states: Vec<u8>,
    links: Vec<Link>,
    /// A bit for each page that is dirty and not being written: whoever flushes asks for sixty-four neighbours.
    writable: Vec<u64>,
    /// Frames that are free again; those beyond the end of `frames` never held anything.
    free: Vec<u32>,
    /// Frames in all.
    count: u32,
    newest: u32,
    oldest: u32,
    /// First frame of the old part.
    first_old: u32,
    length: u32,
    old_length: u32,
    /// Where pages come in; none: at the head, and they go there with each use.
    midpoint: Option<Midpoint>,
    /// Frames of which a share tells how long a page at the head counts as young; none: the list's length does.
    young_of: Option<u32>,
    /// A page that is chosen to be written keeps its latch until it is.
    latches: bool,
    evictions: u32,
    dirty_newest: u32,
    dirty_oldest: u32,
    dirty: u32,
    /// Frames of the list looked at for a free one, since somebody asked.
    looked: u64,
    tail: list_end::Tail,
}

/// Room for so many, looked up at random.
fn for_as_many<T>(count: u32) -> Vec<T> {
    let all = Vec::with_capacity(count as usize);
    on_large_pages(&all);
    all
}

impl Pool {
    /// An empty pool of so many frames for pages below `pages`.
    pub(super) fn new(frames: u32, pages: u32, midpoint: Option<Midpoint>) -> Self {
        let mut frame_of = for_as_many(pages);
        frame_of.resize(pages as usize, NONE);
        Self {
            frame_of,
            frames: for_as_many(frames),
            states: Vec::with_capacity(frames as usize),
            links: for_as_many(frames),
            writable: vec![0; pages.div_ceil(64) as usize],
            free: Vec::new(),
            count: frames,
            newest: NONE,
            oldest: NONE,
            first_old: NONE,
            length: 0,
            old_length: 0,
            midpoint,
            young_of: None,
            latches: false,
            evictions: 0,
            dirty_newest: NONE,
            dirty_oldest: NONE,
            dirty: 0,
            looked: 0,
            tail: list_end::Tail::default(),
        }
    }

    /// How long a page stays in the old part after its first use from now on, in milliseconds; returns what it was.
    pub(super) fn set_old_time(&mut self, millis: u32) -> u32 {
        self.midpoint.as_mut().map_or(0, |midpoint| std::mem::replace(&mut midpoint.old_ms, millis))
    }

    /// There are pages up to this number now.
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

    /// Frames that hold nothing.
    pub(super) fn free(&self) -> u32 {
        self.free.len() as u32 + self.count - self.frames.len() as u32
    }

    /// Frames whose page was changed and not yet written.
    pub(super) fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Pages that were replaced so far.
    pub(super) fn evictions(&self) -> f64 {
        self.evictions.into()
    }

    /// Looks a page up and uses it.
    #[inline]
    pub(super) fn get(&mut self, page: u32, now: Nanos) -> Found {
        let Some(at) = self.frame_or_coming(page) else { return Found::Missing };
        let state = self.states[at as usize];
        if state & READING != 0 {
            return Found::Coming(at);
        }
        let first = state & USED == 0;
        // Before the first eviction nothing moves.
        if self.evictions > 0 || self.midpoint.is_none() {
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

    /// Uses a page again that is in the pool; `false`, and nothing is done, for any other.
    #[inline]
    pub(super) fn hit(&mut self, page: u32, now: Nanos) -> bool {
        let at = self.frame_of[page as usize];
        if at >= FRESH {
            return false;
        }
        if self.evictions > 0 || self.midpoint.is_none() {
            self.used(at, now);
        }
        true
    }

    /// Where a page is will be asked for, but not at once.
    #[inline]
    pub(super) fn bring(&self, page: u32) {
        prefetch(&self.frame_of, page as usize);
    }

    /// A page will be used at once; `false` if it has to come in first.
    #[inline]
    pub(super) fn expect(&self, page: u32) -> bool {
        self.evictions == 0 || self.expect_change(page)
    }

    /// A page will be changed at once; `false` if it has to come in first.
    #[inline]
    pub(super) fn expect_change(&self, page: u32) -> bool {
        let at = self.frame_of.get(page as usize).copied().unwrap_or(NONE);
        if at < FRESH {
            prefetch(&self.states, at as usize);
            prefetch(&self.frames, at as usize);
        }
        at != NONE
    }

    /// The frame of a page that is in the pool or on its way.
    #[inline]
    fn frame_or_coming(&self, page: u32) -> Option<u32> {
        let at = self.frame_of[page as usize];
        (at != NONE).then_some(at & !FRESH)
    }

    /// The rule of promotion.
    #[inline]
    fn used(&mut self, at: u32, now: Nanos) {
        let (frame, state) = (&mut self.frames[at as usize], &mut self.states[at as usize]);
        let Some(Midpoint { share, old_ms, .. }) = self.midpoint else { return self.used_without_midpoint(at, now) };
        let all = self.young_of.unwrap_or(self.length);
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
        let promote =
            if old_ms > 0 && *state & OLD != 0 { before != 0 && millis - before >= old_ms } else { !is_young };
        if promote {
            self.remove(at);
            self.add_newest(at);
        }
    }

    /// The rule of a list without an old part.
    fn used_without_midpoint(&mut self, at: u32, now: Nanos) {
        if self.states[at as usize] & USED == 0 {
            self.states[at as usize] |= USED;
            self.frames[at as usize].used = (now / 1_000_000) as u32 + 1;
        }
        if self.newest != at {
            self.remove(at);
            self.add_newest(at);
        }
    }

    /// The frame of a page that is in the pool, without using it.
    #[inline]
    pub(super) fn frame(&self, page: u32) -> Option<u32> {
        self.frame_or_coming(page).filter(|&at| self.states[at as usize] & READING == 0)
    }

    /// Whether a page is in the pool or on its way.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        self.frame_of[page as usize] != NONE
    }

    /// Whether a page is in the pool and was used.
    #[inline]
    pub(super) fn was_used(&self, page: u32) -> bool {
        self.frame_of[page as usize] < FRESH
    }

    /// A free frame, or that of a clean page among the last `depth` of the LRU list; `None` when there is neither.
    pub(super) fn take(&mut self, depth: u32) -> Option<u32> {
        if let Some(at) = self.free.pop().or_else(|| self.first_unused()) {
            return Some(at);
        }
        let mut at = self.oldest;
        for _ in 0..depth {
            if at == NONE {
                return None;
            }
            self.looked += 1;
            if self.states[at as usize] & HELD == 0 {
                self.evict(at);
                return self.free.pop();
            }
            at = self.links[at as usize].newer;
        }
        None
    }

    /// The first frame from the LRU list's end, among the last `depth`, that is dirty and not being written.
    pub(super) fn dirty_at_end(&self, depth: u32) -> Option<u32> {
        let mut at = self.oldest;
        for _ in 0..depth {
            if at == NONE {
                return None;
            }
            if self.states[at as usize] & (DIRTY | WRITING | READING) == DIRTY {
                return Some(at);
            }
            at = self.links[at as usize].newer;
        }
        None
    }

    /// Puts a page into a frame that was taken: on its way in when `reading`, else as a new page.
    pub(super) fn put(&mut self, at: u32, page: u32, reading: bool, now: Nanos) {
        let used = if reading { 0 } else { (now / 1_000_000) as u32 + 1 };
        self.frames[at as usize] = Frame { page, used, ..EMPTY };
        self.states[at as usize] = if reading { READING } else { USED };
        self.frame_of[page as usize] = if reading { at | FRESH } else { at };
        if reading { self.add_old(at) } else { self.add_newest(at) }
    }

    /// A page has come in.
    pub(super) fn arrived(&mut self, at: u32) {
        self.set_state(at, self.states[at as usize] & !READING);
    }

    /// The page in a frame.
    #[inline]
    pub(super) fn page(&self, at: u32) -> u32 {
        self.frames[at as usize].page
    }

    /// The frame of a page that is dirty and not being written.
    pub(super) fn writable(&self, page: u32) -> Option<u32> {
        let word = self.writable.get(page as usize / 64)?;
        (word >> (page % 64) & 1 > 0).then(|| self.frame_of[page as usize] & !FRESH)
    }

    /// Which of at most 64 pages from a range's begin on are dirty and not being written, the first by the lowest bit; what is known
    /// of them is brought near.
    pub(super) fn writables(&self, pages: &Range<u32>) -> u64 {
        debug_assert!(pages.len() <= 64);
        let (word, shift) = (pages.start as usize / 64, pages.start % 64);
        let of = |word: usize| self.writable.get(word).copied().unwrap_or(0);
        let found = of(word) >> shift | of(word + 1).checked_shl(64 - shift).unwrap_or(0);
        let found = if pages.len() < 64 { found & ((1 << pages.len()) - 1) } else { found };
        let mut left = found;
        while left > 0 {
            let page = pages.start + left.trailing_zeros();
            self.bring_frame(self.frame_of[page as usize] & !FRESH);
            left &= left - 1;
        }
        found
    }

    /// What is known of a frame will be asked for.
    pub(super) fn bring_frame(&self, at: u32) {
        prefetch(&self.frames, at as usize);
    }

    /// The page in a frame is changed by the log record that ends at `lsn` and begins at `begin`.
    #[inline]
    pub(super) fn change(&mut self, at: u32, begin: u64, lsn: u64) {
        let newest = self.dirty_newest;
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
            NONE => self.dirty_oldest = at,
            newest => self.frames[newest as usize].dirty_newer = at,
        }
        self.dirty_newest = at;
        self.dirty += 1;
    }

    /// A dirty page begins to be written; returns the log position that must be durable before.
    pub(super) fn begin_write(&mut self, at: u32) -> u64 {
        debug_assert_eq!(self.states[at as usize] & (DIRTY | WRITING), DIRTY);
        let latch = if self.latches { LATCHED } else { 0 };
        self.set_state(at, self.states[at as usize] | WRITING | latch);
        let Frame { page, newest, .. } = self.frames[at as usize];
        self.writable[page as usize / 64] &= !(1 << (page % 64));
        newest
    }

    /// A page that was written up to `lsn` is clean, unless it was changed meanwhile: then the rest is dirty from there.
    pub(super) fn written(&mut self, at: u32, lsn: u64) -> bool {
        let Frame { dirty_newer: newer, dirty_older: older, newest, .. } = self.frames[at as usize];
        self.set_state(at, self.states[at as usize] & !(WRITING | DIRTY | LATCHED));
        match newer {
            NONE => self.dirty_newest = older,
            newer => self.frames[newer as usize].dirty_older = older,
        }
        match older {
            NONE => self.dirty_oldest = newer,
            older => self.frames[older as usize].dirty_newer = newer,
        }
        self.dirty -= 1;
        if newest > lsn {
            self.change(at, lsn, newest);
            return false;
        }
        true
    }

    /// Frees the frame of a clean page, if nobody reads or writes it.
    pub(super) fn release(&mut self, at: u32) -> bool {
        let is_clean = self.states[at as usize] & HELD == 0;
        if is_clean {
            self.evict(at);
        }
        is_clean
    }

    /// How many dirty pages were first changed before `lsn`; counts no further than `most`.
    pub(super) fn changed_before(&self, lsn: u64, most: u64) -> u64 {
        let old = self.oldest_changes().take(most as usize);
        old.take_while(|&at| self.frames[at as usize].oldest < lsn).count() as u64
    }

    /// Log position of the oldest change that is not written.
    pub(super) fn oldest_change(&self) -> Option<u64> {
        (self.dirty_oldest != NONE).then(|| self.frames[self.dirty_oldest as usize].oldest)
    }

    /// A frame that never held anything.
    fn first_unused(&mut self) -> Option<u32> {
        let at = self.frames.len() as u32;
        (at < self.count).then(|| {
            self.frames.push(EMPTY);
            self.states.push(0);
            self.links.push(Link { newer: NONE, older: NONE });
            at
        })
    }

    fn evict(&mut self, at: u32) {
        self.bring_next(at);
        self.remove(at);
        self.evictions += 1;
        self.frame_of[self.frames[at as usize].page as usize] = NONE;
        (self.frames[at as usize], self.states[at as usize]) = (EMPTY, 0);
        self.free.push(at);
    }

    /// Those behind one that is evicted from the list's end will be so next.
    fn bring_next(&self, at: u32) {
        let next = self.links[at as usize].newer;
        if let Some(frame) = self.frames.get(next as usize) {
            prefetch(&self.frame_of, frame.page as usize);
            prefetch(&self.frames, self.links[next as usize].newer as usize);
        }
    }

    fn add_newest(&mut self, at: u32) {
        let (newest, evictions) = (self.newest, self.evictions);
        self.links[at as usize] = Link { newer: NONE, older: newest };
        self.frames[at as usize].clock = evictions;
        self.states[at as usize] &= !OLD;
        match newest {
            NONE => self.oldest = at,
            newest => self.links[newest as usize].newer = at,
        }
        self.newest = at;
        self.length += 1;
        self.balance();
    }

    fn add_old(&mut self, at: u32) {
        let behind = self.first_old;
        if behind == NONE {
            self.add_newest(at);
            return;
        }
        // InnoDB puts it right behind the first of the old part.
        let after = self.links[behind as usize].older;
        self.links[at as usize] = Link { newer: behind, older: after };
        self.states[at as usize] |= OLD;
        self.links[behind as usize].older = at;
        match after {
            NONE => self.oldest = at,
            after => self.links[after as usize].newer = at,
        }
        if self.states[behind as usize] & TAIL != 0 {
            self.joins_tail(at);
        }
        self.length += 1;
        self.old_length += 1;
        self.balance();
    }

    fn remove(&mut self, at: u32) {
        self.leaves_tail(at);
        let Link { newer, older } = self.links[at as usize];
        let state = self.states[at as usize];
        if self.first_old == at {
            self.first_old = older;
        }
        if state & OLD != 0 {
            self.old_length -= 1;
        }
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        self.length -= 1;
        self.balance();
    }

    /// Keeps the old part at its share of the list.
    fn balance(&mut self) {
        let Some(midpoint) = self.midpoint.filter(|midpoint| self.length >= midpoint.least) else {
            return self.forget_old();
        };
        let target = self.length * midpoint.share / 1024;
        if self.first_old == NONE {
            // All of it is old at first; then it shrinks to its share.
            self.first_old = self.newest;
            let mut at = self.newest;
            while at != NONE {
                self.states[at as usize] |= OLD;
                at = self.links[at as usize].older;
            }
            self.old_length = self.length;
        }
        while self.old_length > target + OLD_TOLERANCE {
            self.states[self.first_old as usize] &= !OLD;
            self.first_old = self.links[self.first_old as usize].older;
            self.old_length -= 1;
        }
        while self.old_length + OLD_TOLERANCE < target {
            self.first_old = self.links[self.first_old as usize].newer;
            self.states[self.first_old as usize] |= OLD;
            self.old_length += 1;
        }
    }

    fn forget_old(&mut self) {
        let mut at = self.first_old;
        while at != NONE {
            self.states[at as usize] &= !OLD;
            at = self.links[at as usize].older;
        }
        (self.first_old, self.old_length) = (NONE, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, VecDeque};
    use tameshi_base::Random;

    /// InnoDB's own midpoint.
    fn midpoint(old: Nanos) -> Option<Midpoint> {
        Some(Midpoint { share: 378, least: 512, old_ms: (old / 1_000_000) as u32 })
    }

    /// Draws pages of a popularity that falls with the square root of the rank.
    fn page(random: &mut Random, pages: u32) -> u32 {
        let u = random.unit();
        ((u * u) * f64::from(pages)) as u32
    }

    fn hits(frames: u32, pages: u32, draws: u32, midpoint: Option<Midpoint>) -> f64 {
        let mut pool = Pool::new(frames, pages, midpoint);
        let mut random = Random::named(1, "pool");
        let mut hits = 0u32;
        for draw in 0..draws {
            let (page, now) = (page(&mut random, pages), Nanos::from(draw) * 100_000);
            match pool.get(page, now) {
                Found::Here(..) => hits += u32::from(draw >= draws / 2),
                _ => {
                    let at = pool.take(100).expect("all pages are clean");
                    pool.put(at, page, true, now);
                    pool.arrived(at);
                    assert!(matches!(pool.get(page, now), Found::Here(_, true)));
                }
            }
        }
        f64::from(hits) / f64::from(draws - draws / 2)
    }

    /// Least recently used, exactly.
    fn exact(frames: usize, pages: u32, draws: u32) -> f64 {
        let (mut last, mut order): (BTreeMap<u32, u32>, VecDeque<(u32, u32)>) = Default::default();
        let mut random = Random::named(1, "pool");
        let mut hits = 0u32;
        for draw in 0..draws {
            let page = page(&mut random, pages);
            hits += u32::from(last.insert(page, draw).is_some() && draw >= draws / 2);
            order.push_back((page, draw));
            while last.len() > frames {
                let Some((page, at)) = order.pop_front() else { break };
                if last.get(&page) == Some(&at) {
                    last.remove(&page);
                }
            }
        }
        f64::from(hits) / f64::from(draws - draws / 2)
    }

    /// Che's approximation: a page stays for the time T in which as many different pages are asked for as there are frames.
    fn che(frames: f64, pages: u32) -> f64 {
        let count = f64::from(pages);
        let share = |page: u32| ((f64::from(page) + 1.0) / count).sqrt() - (f64::from(page) / count).sqrt();
        let there = |page: u32, time: f64| 1.0 - libm::exp(-share(page) * time);
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            let held: f64 = (0..pages).map(|page| there(page, middle)).sum();
            if held < frames { low = middle } else { high = middle }
        }
        (0..pages).map(|page| share(page) * there(page, low)).sum()
    }

    #[test]
    fn frames_that_never_held_a_page_are_free_and_take_no_memory() {
        let mut pool = Pool::new(1 << 26, 1000, midpoint(0));
        for page in 0..10 {
            let frame = pool.take(100).expect("there are millions");
            pool.put(frame, page, false, 0);
            pool.arrived(frame);
        }
        assert_eq!((pool.frames(), pool.free(), pool.listed()), (1 << 26, (1 << 26) - 10, 10));
        assert_eq!((pool.frames.len(), pool.states.len(), pool.links.len()), (10, 10, 10));
    }

    #[test]
    fn the_hit_ratio_is_that_of_lru_and_of_ches_approximation() {
        for frames in [200u32, 1000, 4000] {
            let (found, exactly, che) = (
                hits(frames, 10_000, 400_000, midpoint(0)),
                exact(frames as usize, 10_000, 400_000),
                che(frames.into(), 10_000),
            );
            assert!((exactly - che).abs() < 0.004, "{frames} frames: exactly {exactly}, Che {che}");
            assert!((found - exactly).abs() < 0.015, "{frames} frames: {found}, exactly {exactly}");
            assert_eq!(hits(frames, 10_000, 400_000, None), exactly, "without a midpoint it is that of LRU exactly");
        }
    }

    #[test]
    fn a_scan_does_not_drive_out_what_was_used_again_after_a_second() {
        let survivors = |old: Nanos| {
            let mut pool = Pool::new(1000, 100_000, midpoint(old));
            let mut now = 0;
            let touch = |pool: &mut Pool, page, now| {
                if pool.get(page, now) == Found::Missing {
                    let at = pool.take(100).expect("all pages are clean");
                    pool.put(at, page, true, now);
                    pool.arrived(at);
                    pool.get(page, now);
                }
            };
            // Some pages that are used again and again, among others that fill the pool.
            (0..1500).for_each(|page| touch(&mut pool, page, 0));
            for _ in 0..5 {
                now += 2_000_000_000;
                (1000..1200).for_each(|page| touch(&mut pool, page, now));
            }
            (10_000..20_000).for_each(|page| touch(&mut pool, page, now + u64::from(page)));
            (1000..1200).filter(|&page| pool.holds(page)).count()
        };
        assert_eq!(survivors(1_000_000_000), 200);
        assert_eq!(survivors(0), 0);
    }

    #[test]
    fn the_pages_used_last_come_from_the_lists_head() {
        let mut pool = Pool::new(100, 1000, midpoint(0));
        for page in 0..150 {
            let at = pool.take(100).expect("all pages are clean");
            pool.put(at, page, true, 0);
            pool.arrived(at);
            pool.get(page, 0);
        }
        assert!(matches!(pool.get(60, 1), Found::Here(..)));
        assert_eq!(pool.used_last(4), [60, 149, 148, 147]);
        let mut all = pool.used_last(1000);
        all.sort_unstable();
        assert!(all.into_iter().eq(50..150));
    }

    #[test]
    fn every_frame_is_free_or_in_the_list_and_dirty_pages_stand_in_their_order() {
        let (frames, pages) = (700, 5000);
        let mut pool = Pool::new(frames, pages, midpoint(0));
        let mut random = Random::named(2, "pool");
        let mut writing: Vec<(u32, u64)> = Vec::new();
        for step in 1..60_000u64 {
            let page = page(&mut random, pages);
            let found = match pool.get(page, step * 1_000_000) {
                Found::Here(at, _) => Some(at),
                _ => pool.take(frames).inspect(|&at| {
                    pool.put(at, page, true, step);
                    pool.arrived(at);
                }),
            };
            match (found, random.below(4)) {
                (Some(at), 0) => pool.change(at, step, step + 1),
                (Some(at), 3) => pool.retire(at),
                (_, 1) => writing.extend(pool.dirty_at_end(frames).map(|at| (at, pool.begin_write(at)))),
                (_, 2) if !writing.is_empty() => {
                    let (at, lsn) = writing.swap_remove(0);
                    pool.written(at, lsn);
                }
                _ => {}
            }
            let depth = 100 + random.below(2) as u32;
            let counted = pool.lru_end(depth).filter(|(_, replaceable)| *replaceable).count() as u32;
            assert_eq!(pool.replaceable(depth, u32::MAX), pool.free() + counted);
            if step % 5000 == 0 {
                let listed: Vec<u32> = pool.lru_end(u32::MAX).map(|(at, _)| at).collect();
                assert_eq!(listed.len() as u32 + pool.free(), frames);
                assert!(listed.iter().all(|&at| pool.frame(pool.page(at)) == Some(at)));
                let dirty: Vec<u32> = pool.oldest_changes().collect();
                assert_eq!(dirty.len() as u32, pool.dirty());
                assert!(
                    dirty
                        .windows(2)
                        .all(|two| { pool.frames[two[0] as usize].oldest <= pool.frames[two[1] as usize].oldest })
                );
                let old = pool.states.iter().filter(|state| **state & OLD != 0).count() as u32;
                assert_eq!(old, pool.old_length);
            }
        }
    }
}
