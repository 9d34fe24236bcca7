//! SLC cache: blocks that hold one bit per cell.
//!
//! Host data go there first and are moved later. Cache blocks are blocks with fewer units, so
//! garbage collection reclaims them in turn; greedy cleaning finds them first.

use std::collections::VecDeque;

/// Size of an SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Units per cache block.
    pub units_per_block: u32,
    /// Maximum of cache blocks.
    pub blocks: u32,
}

/// Blocks of the cache.
#[derive(Debug)]
pub(super) struct SlcCache {
    shape: CacheShape,
    is_bypassed: bool,
    /// Membership by block.
    holds: Vec<bool>,
    /// Blocks in the order of their opening.
    blocks: VecDeque<u32>,
    /// Host units after which to look for a stale block again.
    looks_again: u64,
}

impl SlcCache {
    pub(super) fn new(shape: CacheShape, blocks: u32) -> Self {
        Self {
            shape,
            is_bypassed: false,
            holds: vec![false; blocks as usize],
            blocks: VecDeque::with_capacity(shape.blocks as usize),
            looks_again: 0,
        }
    }

    /// Open a block; return its units.
    pub(super) fn open(&mut self, block: u32) -> u32 {
        self.holds[block as usize] = true;
        self.blocks.push_back(block);
        self.shape.units_per_block
    }

    pub(super) fn erased(&mut self, block: u32) {
        if std::mem::take(&mut self.holds[block as usize]) {
            self.blocks.retain(|&other| other != block);
        }
    }

    /// Shrink future blocks in the proportion `to / of`.
    pub(super) fn narrow(&mut self, (to, of): (u32, u32)) {
        let units = u64::from(self.shape.units_per_block) * u64::from(to) / u64::from(of);
        self.shape.units_per_block = (units as u32).max(1);
    }

    pub(super) fn bypass(&mut self, bypasses: bool) {
        self.is_bypassed = bypasses;
    }

    #[inline]
    pub(super) fn holds(&self, block: u32) -> bool {
        self.holds[block as usize]
    }

    /// Cache blocks in the order of their opening.
    pub(super) fn blocks(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().copied()
    }

    fn is_full(&self) -> bool {
        self.blocks.len() >= self.shape.blocks as usize
    }

    /// Return whether the next host write goes into the cache, given room in its open block and
    /// spare blocks.
    pub(super) fn accepts(&self, has_open: bool, is_spare: bool) -> bool {
        !self.is_bypassed && (has_open || (is_spare && !self.is_full()))
    }

    /// Return whether to look for a stale block in a full cache: after each block's worth of host
    /// writes.
    pub(super) fn looks_for_stale(&mut self, host_units: u64) -> bool {
        if !self.is_full() || host_units < self.looks_again {
            return false;
        }
        self.looks_again = host_units + u64::from(self.shape.units_per_block);
        true
    }

    /// Note that a stale block was found: look again at once.
    pub(super) fn found_stale(&mut self, host_units: u64) {
        self.looks_again = host_units;
    }

    /// Return the units that the cache's blocks hold less than other blocks.
    pub(super) fn given_up_units(&self, usable_units: u32) -> u64 {
        self.blocks.len() as u64 * u64::from(usable_units - self.shape.units_per_block)
    }
}
