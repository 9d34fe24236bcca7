//! Map from logical to physical units, and its inverse: four bytes each.

use crate::basics::prefetch::{advise_large_pages, prefetch};

/// No place in the map, and no valid data in its inverse: memory that was never touched is zero.
const NONE: u32 = 0;

/// Units whose map entries are prefetched together, so that their page-table walks overlap.
const MOVES_TOGETHER: u32 = 16;

/// Map and inverse map.
#[derive(Debug)]
pub(super) struct Mapping {
    /// Physical unit plus one, by logical unit.
    map: Vec<u32>,
    /// Logical unit plus one, by physical unit; zero without valid data.
    inverse: Vec<u32>,
    mapped: u32,
}

impl Mapping {
    pub(super) fn new(logical: u32, physical: u32) -> Self {
        Self { map: unmapped(logical as usize), inverse: unmapped(physical as usize), mapped: 0 }
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
        self.map[logical as usize].checked_sub(1)
    }

    pub(super) fn holder(&self, physical: u32) -> Option<u32> {
        self.inverse[physical as usize].checked_sub(1)
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
        if old == NONE {
            self.mapped += 1;
        } else {
            self.inverse[old as usize - 1] = NONE;
        }
        self.inverse[to as usize] = logical + 1;
        old.checked_sub(1)
    }

    /// Unmap a logical unit; return the physical unit that it leaves.
    pub(super) fn remove(&mut self, logical: u32) -> Option<u32> {
        let old = std::mem::replace(&mut self.map[logical as usize], NONE).checked_sub(1)?;
        self.inverse[old as usize] = NONE;
        self.mapped -= 1;
        Some(old)
    }

    /// Move the data of a valid physical unit.
    #[inline]
    pub(super) fn relocate(&mut self, from: u32, to: u32) {
        let logical = self.inverse[from as usize] - 1;
        self.map[logical as usize] = to + 1;
        self.inverse[to as usize] = logical + 1;
        self.inverse[from as usize] = NONE;
    }

    /// Return the first valid unit of `next..end`.
    #[inline]
    pub(super) fn first_valid(&self, next: u32, end: u32) -> Option<u32> {
        let left = &self.inverse[next as usize..end as usize];
        left.iter().position(|&logical| logical != NONE).map(|skipped| next + skipped as u32)
    }

    /// Clear erased units.
    pub(super) fn erase(&mut self, first: u32, end: u32) {
        self.inverse[first as usize..end as usize].fill(NONE);
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
        for &soon in self.inverse.get(soon).unwrap_or_default().iter().filter(|&&soon| soon != NONE) {
            prefetch(&self.map, soon as usize - 1);
        }
    }

    /// Check that each map is the other's inverse; return the valid units by block.
    ///
    /// # Panics
    /// At the first mismatch.
    pub(super) fn check(&self, units_per_block: u32, blocks: usize) -> Vec<u32> {
        let mut valid = vec![0u32; blocks];
        for (physical, &logical) in self.inverse.iter().enumerate() {
            if logical != NONE {
                assert_eq!(self.map[logical as usize - 1], physical as u32 + 1, "unit {physical}");
                valid[physical / units_per_block as usize] += 1;
            }
        }
        let mapped = self.map.iter().filter(|&&physical| physical != NONE).count();
        assert_eq!(mapped as u32, self.mapped);
        assert_eq!(valid.iter().sum::<u32>(), self.mapped, "each logical unit is in one place");
        valid
    }
}

/// Zeros on large pages, because lookups are random.
fn unmapped(count: usize) -> Vec<u32> {
    let zeros = vec![NONE; count];
    advise_large_pages(&zeros);
    zeros
}
