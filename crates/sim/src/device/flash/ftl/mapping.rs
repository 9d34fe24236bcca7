//! Map from logical to physical units, and its inverse: four bytes each.

use crate::basics::prefetch::{advise_large_pages, prefetch};

/// Entry that was never changed: memory that was never touched is zero.
///
/// A unit of what was written in order lies at its own number; any other has no place, or no data.
const UNCHANGED: u32 = 0;

/// Entry of a unit that has lost its place, or its data.
const NONE: u32 = u32::MAX;

/// Units whose map entries are prefetched together, so that their page-table walks overlap.
const MOVES_TOGETHER: u32 = 16;

/// Map and inverse map.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Physical unit plus one, by logical unit.
    map: Vec<u32>,
    /// Logical unit plus one, by physical unit.
    inverse: Vec<u32>,
    /// Units from zero that were written in order, whole blocks of them, when the flash was new.
    in_order: u32,
    mapped: u32,
}

impl Mapping {
    pub(super) fn new(logical: u32, physical: u32) -> Self {
        Self { map: unmapped(logical as usize), inverse: unmapped(physical as usize), in_order: 0, mapped: 0 }
    }

    /// Map the first `units`, whole blocks, to physical units of their own numbers; touches no
    /// entry.
    ///
    /// # Panics
    /// If anything is mapped.
    pub(super) fn write_in_order(&mut self, units: u32) {
        assert_eq!((self.mapped, self.in_order), (0, 0), "the flash is new");
        (self.in_order, self.mapped) = (units, units);
    }

    /// Return what an entry stands for.
    #[inline(always)]
    fn decode(&self, unit: u32, entry: u32) -> Option<u32> {
        match entry {
            UNCHANGED => (unit < self.in_order).then_some(unit),
            NONE => None,
            other => Some(other - 1),
        }
    }

    pub(super) fn logical_units(&self) -> u64 {
        self.map.len() as u64
    }

    pub(super) fn physical_units(&self) -> u64 {
        self.inverse.len() as u64
    }

    pub(super) fn mapped_units(&self) -> u64 {
        u64::from(self.mapped)
    }

    #[inline]
    pub(super) fn lookup(&self, logical: u32) -> Option<u32> {
        self.decode(logical, self.map[logical as usize])
    }

    #[inline]
    pub(super) fn holder(&self, physical: u32) -> Option<u32> {
        self.decode(physical, self.inverse[physical as usize])
    }

    #[inline]
    pub(super) fn prefetch(&self, logical: u32) {
        prefetch(&self.map, logical as usize);
    }

    #[inline]
    pub(super) fn prefetch_inverse(&self, physical: u32) {
        prefetch(&self.inverse, physical as usize);
    }

    /// Map a logical unit to `to`; return the physical unit that it leaves.
    #[inline(always)]
    pub(super) fn put(&mut self, logical: u32, to: u32) -> Option<u32> {
        let old = std::mem::replace(&mut self.map[logical as usize], to + 1);
        let old = self.decode(logical, old);
        match old {
            None => self.mapped += 1,
            Some(old) => self.inverse[old as usize] = NONE,
        }
        self.inverse[to as usize] = logical + 1;
        old
    }

    /// Unmap a logical unit; return the physical unit that it leaves.
    pub(super) fn remove(&mut self, logical: u32) -> Option<u32> {
        let old = self.lookup(logical)?;
        self.map[logical as usize] = NONE;
        self.inverse[old as usize] = NONE;
        self.mapped -= 1;
        Some(old)
    }

    /// Move the data of a valid physical unit.
    #[inline]
    pub(super) fn relocate(&mut self, from: u32, to: u32) {
        let logical = self.holder(from).expect("the unit is valid");
        self.map[logical as usize] = to + 1;
        self.inverse[to as usize] = logical + 1;
        self.inverse[from as usize] = NONE;
    }

    /// Return the first valid unit of `next..end`.
    #[inline]
    pub(super) fn first_valid(&self, next: u32, end: u32) -> Option<u32> {
        let left = &self.inverse[next as usize..end as usize];
        // A block was written in order as a whole, or not at all.
        let unchanged = if next < self.in_order { NONE } else { UNCHANGED };
        left.iter().position(|&entry| entry != NONE && entry != unchanged).map(|skipped| next + skipped as u32)
    }

    /// Clear erased units.
    pub(super) fn erase(&mut self, first: u32, end: u32) {
        let none = if first < self.in_order { NONE } else { UNCHANGED };
        self.inverse[first as usize..end as usize].fill(none);
    }

    /// Prefetch map entries of units moved soon, after the units from `next` to `from` have been
    /// passed: the moves of a block are scattered over the map.
    #[inline]
    pub(super) fn prefetch_moves(&self, next: u32, from: u32) {
        if next / MOVES_TOGETHER == (from + 1) / MOVES_TOGETHER {
            return;
        }
        let turn = |unit: u32| (unit / MOVES_TOGETHER * MOVES_TOGETHER) as usize;
        let soon = turn(next) + 2 * MOVES_TOGETHER as usize..turn(from + 1) + 2 * MOVES_TOGETHER as usize;
        for &entry in self.inverse.get(soon).unwrap_or_default() {
            // Of entries without data, and those that lie in order, none is far away.
            prefetch(&self.map, entry.wrapping_sub(1) as usize);
        }
    }

    /// Check that each map is the other's inverse; return the valid units by block.
    ///
    /// # Panics
    /// At the first mismatch.
    pub(super) fn check(&self, units_per_block: u32, blocks: usize) -> Vec<u32> {
        let mut valid = vec![0u32; blocks];
        for physical in 0..self.inverse.len() as u32 {
            if let Some(logical) = self.holder(physical) {
                assert_eq!(self.lookup(logical), Some(physical), "unit {physical}");
                valid[(physical / units_per_block) as usize] += 1;
            }
        }
        let mapped = (0..self.map.len() as u32).filter(|&logical| self.lookup(logical).is_some()).count();
        assert_eq!(mapped as u32, self.mapped);
        assert_eq!(valid.iter().sum::<u32>(), self.mapped, "each logical unit is in one place");
        valid
    }
}

/// Zeros on large pages, because lookups are random.
fn unmapped(count: usize) -> Vec<u32> {
    let zeros = vec![UNCHANGED; count];
    advise_large_pages(&zeros);
    zeros
}
