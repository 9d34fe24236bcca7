//! The host's page cache, where data files are read and written through it (`fsync`): what the machine's memory has left
//! beside the buffer pool holds 16 KiB pieces of the server's files, the one used least recently going first.
//!
//! A page that the pool reads stands in both; one that the pool replaces stays here for as long as others are not used
//! more recently. What is written goes into the cache, and reaches the drive by the sync that follows each batch: in the order
//! of its places, neighbours in one request. The server syncs all it writes at once, so that nothing is ever left for the
//! kernel to write back by itself. The log goes through the cache with any flush method; here it takes its place in it.
//!
//! What is not modelled: the kernel's own read-ahead, blocks of the log that must be read before a part of them is written,
//! and reads by `io_submit` that block.

use super::counters::Count;
use super::layout::PAGE;
use super::pool::NONE;
use super::{Engine, FIRST_ASYNC, Purpose, Who};
use std::ops::Range;
use tameshi_base::CommandKind;

/// Pages of a request at most: 512 KiB (`max_sectors_kb` of the kernels before 4.x).
const REQUEST_PAGES: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Which 16 KiB of the storage.
    unit: u32,
    newer: u32,
    older: u32,
}

/// Pieces of files in memory, in the order of their last use.
#[derive(Debug)]
pub(super) struct PageCache {
    /// Pieces that there is room for; zero: there is no cache.
    most: u32,
    place: Vec<u32>,
    pieces: Vec<Piece>,
    newest: u32,
    oldest: u32,
    /// Places of a batch, while it is sorted.
    sorted: Vec<u32>,
}

impl PageCache {
    /// An empty cache of so many pieces.
    pub(super) fn new(most: u32) -> Self {
        Self { most, place: Vec::new(), pieces: Vec::new(), newest: NONE, oldest: NONE, sorted: Vec::new() }
    }

    /// Whether there is one.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.most > 0
    }

    /// Bytes in it; `None` where there is none.
    pub(super) fn bytes(&self) -> Option<f64> {
        self.is_there().then(|| (self.pieces.len() as u64 * PAGE) as f64)
    }

    /// Everything is lost.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.most);
    }

    /// Whether a piece is there.
    fn holds(&self, unit: u32) -> bool {
        self.place.get(unit as usize).is_some_and(|&at| at != NONE)
    }

    /// A piece is read or written, and stays; whether it was there.
    fn uses(&mut self, unit: u32) -> bool {
        if !self.is_there() {
            return false;
        }
        if unit as usize >= self.place.len() {
            self.place.resize((unit as usize + 1).next_multiple_of(1 << 14), NONE);
        }
        let (mut at, was_there) = (self.place[unit as usize], self.holds(unit));
        if was_there {
            self.take_out(at);
        } else if (self.pieces.len() as u32) < self.most {
            at = self.pieces.len() as u32;
            self.pieces.push(Piece { unit, newer: NONE, older: NONE });
        } else {
            at = self.oldest;
            self.take_out(at);
            self.place[self.pieces[at as usize].unit as usize] = NONE;
        }
        self.place[unit as usize] = at;
        self.pieces[at as usize] = Piece { unit, newer: NONE, older: self.newest };
        match self.newest {
            NONE => self.oldest = at,
            newest => self.pieces[newest as usize].newer = at,
        }
        self.newest = at;
        was_there
    }

    fn take_out(&mut self, at: u32) {
        let Piece { newer, older, .. } = self.pieces[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.pieces[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.pieces[older as usize].newer = newer,
        }
    }
}

/// How many of the sorted places, from the first on, are neighbours that go in one request.
fn in_one_request(places: &[u32]) -> usize {
    let first = places.first().copied().unwrap_or(0);
    places.iter().zip(first..).take(REQUEST_PAGES).take_while(|(place, next)| *place == next).count()
}

impl Engine {
    /// Whether files go through the host's page cache.
    pub(crate) fn is_cached(&self) -> bool {
        self.cache.is_there()
    }

    /// The pieces that so many bytes of the storage lie in.
    fn units(offset: u64, bytes: u64) -> Range<u32> {
        (offset / PAGE) as u32..(offset + bytes).div_ceil(PAGE) as u32
    }

    /// Bytes of the storage are read or written and stay in the cache; whether all of them were there.
    pub(super) fn caches(&mut self, offset: u64, bytes: u64) -> bool {
        // Each is used, also behind one that is missing.
        let missing = Self::units(offset, bytes).filter(|&unit| !self.cache.uses(unit)).count();
        missing == 0
    }

    /// A page is read or written without time.
    pub(super) fn caches_page(&mut self, page: u32) {
        self.caches(self.page_offset(page), PAGE);
    }

    /// The server reads a page: whether the page cache answers.
    pub(super) fn is_answered(&mut self, page: u32) -> bool {
        let hit = self.caches(self.page_offset(page), PAGE);
        if hit {
            self.counters.one(Count::CacheHits);
            self.counters.one(Count::Reads);
            self.counters.add(Count::ReadBytes, PAGE);
        }
        hit
    }

    /// The pages of a batch, which are in the cache, go to the drive.
    pub(super) fn write_back(&mut self, batch: usize) {
        let mut places = std::mem::take(&mut self.cache.sorted);
        places.clear();
        places.extend(self.pages_of(batch));
        places.sort_unstable();
        self.counters.add(Count::Writes, places.len() as u64);
        self.counters.add(Count::WrittenBytes, places.len() as u64 * PAGE);
        let thread = self.thread_of(Who::Batch(batch));
        let (mut at, mut requests) = (0, 0);
        while let Some(&first) = places.get(at) {
            let pages = in_one_request(&places[at..]);
            (first..first + pages as u32).for_each(|page| self.caches_page(page));
            let place = (self.page_offset(first), (pages as u64 * PAGE) as u32);
            let purpose = Purpose::PageWrite(Who::Batch(batch));
            self.send(thread, FIRST_ASYNC + requests, CommandKind::Write, place, purpose);
            (at, requests) = (at + pages, requests + 1);
        }
        self.cache.sorted = places;
        self.begin_writing(batch, requests);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::Random;

    #[test]
    fn what_was_used_last_stays_and_there_is_never_more_than_fits() {
        let (mut cache, mut random) = (PageCache::new(50), Random::named(1, "cache"));
        // The same, as a list.
        let mut last: Vec<u32> = Vec::new();
        for _ in 0..20_000 {
            let unit = (random.below(200) * random.below(200) / 200) as u32;
            assert_eq!(cache.uses(unit), last.contains(&unit));
            last.retain(|&other| other != unit);
            last.push(unit);
            if last.len() > 50 {
                last.remove(0);
            }
            assert_eq!(cache.bytes(), Some(last.len() as f64 * 16384.0));
        }
        cache.clear();
        assert_eq!(cache.bytes(), Some(0.0));
        assert!(!cache.uses(last[0]));
    }

    #[test]
    fn neighbours_go_in_one_request_of_512_kib_at_most() {
        assert_eq!(in_one_request(&[5, 6, 7, 9]), 3);
        assert_eq!(in_one_request(&[9]), 1);
        assert_eq!(in_one_request(&[]), 0);
        let many: Vec<u32> = (100..200).collect();
        assert_eq!(in_one_request(&many), 32);
    }

    #[test]
    fn without_room_nothing_stays() {
        let mut cache = PageCache::new(0);
        assert!(!cache.uses(7) && !cache.uses(7));
        assert_eq!(cache.bytes(), None);
    }
}
