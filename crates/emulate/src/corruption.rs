//! Corrupt content of a drive: unreadable ranges, flipped bits, misdirected writes.
//!
//! Only an unreadable range shows itself. The other kinds are silent: requests succeed.

use crate::store::{PAGE, Store};
use serde::Serialize;
use serde_json::{Value, json};
use tameshi_base::Random;

/// Granule of corruption.
pub(crate) const SECTOR: u64 = 512;
/// Most misdirected writes in the status.
const NAMED: usize = 100;

/// Kind of corruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// Reads of the range fail until it is written anew.
    Error,
    /// One bit of each sector of the range flips.
    Flip,
    /// The next write that touches the range is stored one length further.
    Misdirect,
}

/// Refusal of a corruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// The range is not one of whole sectors, or empty.
    Unaligned,
    /// The range ends after the drive.
    Beyond,
    /// The store has no room for pages that were never written.
    Full,
}

/// Corrupt ranges of a drive, and what came of them.
#[derive(Debug, Default)]
pub(crate) struct Corruptions {
    /// Starts and ends of unreadable ranges, sorted and apart from each other.
    unreadable: Vec<(u64, u64)>,
    failed_reads: u64,
    /// Flips that were asked for: each has draws of its own.
    flips: u64,
    flipped_bits: u64,
    /// Starts and ends of ranges whose next write is misdirected.
    waiting: Vec<(u64, u64)>,
    misdirected_writes: u64,
    /// The first of them: intended offset, offset where it is stored, and length.
    misdirected: Vec<(u64, u64, u64)>,
}

impl Corruptions {
    /// Corrupt a range; `seed` decides about the bits.
    ///
    /// # Errors
    /// The range is none, or no room is left in the store.
    pub(crate) fn corrupt(
        &mut self,
        kind: Corruption,
        (offset, length): (u64, u64),
        store: &mut Store,
        seed: u64,
    ) -> Result<(), Refused> {
        if length == 0 || !(offset | length).is_multiple_of(SECTOR) {
            return Err(Refused::Unaligned);
        }
        let end = offset.checked_add(length).filter(|&end| end <= store.capacity_bytes()).ok_or(Refused::Beyond)?;
        match kind {
            Corruption::Error => self.mark(offset, end),
            Corruption::Flip => self.flip((offset, end), store, seed)?,
            Corruption::Misdirect => self.waiting.push((offset, end)),
        }
        Ok(())
    }

    /// Add an unreadable range, merged with those that it touches.
    fn mark(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        self.unreadable.retain(|&(from, to)| {
            let is_apart = to < start || end < from;
            if !is_apart {
                (start, end) = (start.min(from), end.max(to));
            }
            is_apart
        });
        let place = self.unreadable.partition_point(|&(from, _)| from < start);
        self.unreadable.insert(place, (start, end));
    }

    /// Flip one bit of each sector of a range.
    fn flip(&mut self, (start, end): (u64, u64), store: &mut Store, seed: u64) -> Result<(), Refused> {
        let room = (store.limit_bytes() - store.used_bytes()) / PAGE;
        if store.holes(start, end - start) > room {
            return Err(Refused::Full);
        }
        let mut random = Random::named(seed, &format!("flip {}", self.flips));
        self.flips += 1;
        for sector in (start..end).step_by(SECTOR as usize) {
            let bit = random.below(SECTOR * 8);
            let (at, mut byte) = (sector + bit / 8, [0]);
            store.read(at, &mut byte);
            byte[0] ^= 1 << (bit % 8);
            store.write(at, &byte).map_err(|_| Refused::Full)?;
            self.flipped_bits += 1;
        }
        Ok(())
    }

    /// Return whether a read fails, and count it.
    #[inline]
    pub(crate) fn read_fails(&mut self, offset: u64, length: u64) -> bool {
        if self.unreadable.is_empty() {
            return false;
        }
        let after = self.unreadable.partition_point(|&(start, _)| start < offset + length);
        let fails = after > 0 && self.unreadable[after - 1].1 > offset;
        self.failed_reads += u64::from(fails);
        fails
    }

    /// Make a range readable that is written or trimmed.
    #[inline]
    pub(crate) fn heal(&mut self, offset: u64, length: u64) {
        if !self.unreadable.is_empty() {
            self.cut_out(offset, offset + length);
        }
    }

    fn cut_out(&mut self, start: u64, end: u64) {
        let rests = |(from, to): (u64, u64)| [(from, to.min(start)), (from.max(end), to)];
        let old = std::mem::take(&mut self.unreadable);
        self.unreadable = old.into_iter().flat_map(rests).filter(|(from, to)| from < to).collect();
    }

    /// Return where a write is stored: elsewhere if it is misdirected.
    #[inline]
    pub(crate) fn place(&mut self, offset: u64, length: u64, capacity: u64) -> u64 {
        if self.waiting.is_empty() { offset } else { self.misdirect(offset, length, capacity) }
    }

    fn misdirect(&mut self, offset: u64, length: u64, capacity: u64) -> u64 {
        let touches = |&(start, end): &(u64, u64)| start < offset + length && offset < end;
        let Some(found) = self.waiting.iter().position(touches) else { return offset };
        // At the end of the drive, one length ahead of its place.
        let further = (offset + 2 * length <= capacity).then_some(offset + length);
        let Some(place) = further.or_else(|| offset.checked_sub(length)) else { return offset };
        self.waiting.remove(found);
        self.misdirected_writes += 1;
        if self.misdirected.len() < NAMED {
            self.misdirected.push((offset, place, length));
        }
        place
    }

    /// Return counts and ranges.
    pub(crate) fn as_json(&self) -> Value {
        let unreadable: u64 = self.unreadable.iter().map(|(start, end)| end - start).sum();
        json!({
            "unreadable_bytes": unreadable, "failed_reads": self.failed_reads, "flipped_bits": self.flipped_bits,
            "misdirect_waiting": self.waiting.len(), "misdirected_writes": self.misdirected_writes,
            "misdirected": self.misdirected,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECTORS: u64 = 64;

    proptest! {
        #[test]
        fn unreadable_ranges_equal_a_list_of_sectors(
            changes in proptest::collection::vec((any::<bool>(), 0..SECTORS, 1..SECTORS), 1..40),
        ) {
            let (mut corruptions, mut plain) = (Corruptions::default(), [false; SECTORS as usize]);
            for (is_mark, first, count) in changes {
                let after = (first + count).min(SECTORS);
                let (start, end) = (first * SECTOR, after * SECTOR);
                if is_mark { corruptions.mark(start, end) } else { corruptions.heal(start, end - start) }
                plain[first as usize..after as usize].fill(is_mark);
                for (sector, &is_bad) in plain.iter().enumerate() {
                    prop_assert_eq!(corruptions.read_fails(sector as u64 * SECTOR, SECTOR), is_bad);
                }
                let whole = plain[1..].iter().any(|&is_bad| is_bad);
                prop_assert_eq!(corruptions.read_fails(SECTOR, (SECTORS - 1) * SECTOR), whole);
                prop_assert!(corruptions.unreadable.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
        }
    }

    #[test]
    fn misdirected_write_lands_one_length_away_within_the_drive() {
        let cases = [((0, 4096), 1 << 20, 4096), ((8192, 8192), 1 << 20, 16_384), ((8192, 4096), 12_288, 4096)];
        for ((offset, length), capacity, place) in cases {
            let mut corruptions =
                Corruptions { waiting: vec![(offset + 512, offset + 1024)], ..Corruptions::default() };
            assert_eq!(corruptions.place(offset + length, 512, capacity), offset + length, "it does not touch");
            assert_eq!(corruptions.place(offset, length, capacity), place);
            assert_eq!(corruptions.place(offset, length, capacity), offset, "only the next one");
        }
    }
}
