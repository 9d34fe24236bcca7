//! The host's page cache, for data files that are read and written through it (`fsync`): an LRU
//! cache of 16 KiB pieces of the server's files, in the memory beyond the buffer pool.
//!
//! A page that the pool reads is in both. A page that the pool replaces stays here until it is the
//! least recently used. Writes go into the cache and reach the drive by the sync that follows each
//! batch: in the order of their places, neighbours in one request. The server syncs all its
//! writes, so the kernel never writes back by itself. The log goes through the cache with any
//! flush method, and takes its place in it.
//!
//! Not modelled: the kernel's own read-ahead, log blocks that must be read before a part of them
//! is written, and reads by `io_submit` that block.

use super::layout::PAGE;
use super::pool::NONE;

/// Pages of a request at most: 512 KiB (`max_sectors_kb` of the kernels before 4.x).
const REQUEST_PAGES: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Place in the storage, in units of 16 KiB.
    unit: u32,
    newer: u32,
    older: u32,
}

/// Cached pieces of files, in the order of their last use.
#[derive(Debug)]
pub(super) struct PageCache {
    /// Capacity in pieces; 0: there is no cache.
    most: u32,
    place: Vec<u32>,
    pieces: Vec<Piece>,
    newest: u32,
    oldest: u32,
    /// Buffer for the places of a batch.
    sorted: Vec<u32>,
}

impl PageCache {
    /// An empty cache of `most` pieces.
    pub(super) fn new(most: u32) -> Self {
        Self { most, place: Vec::new(), pieces: Vec::new(), newest: NONE, oldest: NONE, sorted: Vec::new() }
    }

    /// Return whether files go through a cache.
    #[inline]
    pub(super) fn is_present(&self) -> bool {
        self.most > 0
    }

    /// Cached bytes; `None` without a cache.
    pub(super) fn bytes(&self) -> Option<f64> {
        self.is_present().then(|| (self.pieces.len() as u64 * PAGE) as f64)
    }

    /// Lose all pieces.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.most);
    }

    fn holds(&self, unit: u32) -> bool {
        self.place.get(unit as usize).is_some_and(|&at| at != NONE)
    }

    /// Keep a piece that is read or written. Return whether the cache had it.
    fn uses(&mut self, unit: u32) -> bool {
        if !self.is_present() {
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

    /// Keep the pieces of some bytes. Return whether the cache had all of them.
    pub(super) fn use_bytes(&mut self, offset: u64, bytes: u64) -> bool {
        let units = (offset / PAGE) as u32..(offset + bytes).div_ceil(PAGE) as u32;
        // Each is used, also after one that is missing.
        units.filter(|&unit| !self.uses(unit)).count() == 0
    }

    /// Take the buffer for sorting the places of a batch; [`Self::give_back_sorted`] returns it.
    pub(super) fn take_sorted(&mut self) -> Vec<u32> {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        sorted
    }

    pub(super) fn give_back_sorted(&mut self, sorted: Vec<u32>) {
        self.sorted = sorted;
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

/// Number of the sorted places, from the first on, that are neighbours and go in one request.
pub(super) fn in_one_request(places: &[u32]) -> usize {
    let first = places.first().copied().unwrap_or(0);
    places.iter().zip(first..).take(REQUEST_PAGES).take_while(|(place, next)| *place == next).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::Random;

    #[test]
    fn page_cache_keeps_the_most_recently_used() {
        let (mut cache, mut random) = (PageCache::new(50), Random::named(1, "cache"));
        // The reference: a list.
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
    fn neighbours_share_a_request_of_at_most_512_kib() {
        assert_eq!(in_one_request(&[5, 6, 7, 9]), 3);
        assert_eq!(in_one_request(&[9]), 1);
        assert_eq!(in_one_request(&[]), 0);
        let many: Vec<u32> = (100..200).collect();
        assert_eq!(in_one_request(&many), 32);
    }

    #[test]
    fn absent_page_cache_keeps_nothing() {
        let mut cache = PageCache::new(0);
        assert!(!cache.uses(7) && !cache.uses(7));
        assert_eq!(cache.bytes(), None);
    }
}
