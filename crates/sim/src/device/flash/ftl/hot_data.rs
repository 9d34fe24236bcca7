//! Separation of hot and cold data, so that data invalidated together lie together.
//!
//! A unit is hot if it is written again within a number of host writes after its block was opened,
//! unless it was relocated as cold. Garbage collection moves valid units of a hot block to a block
//! of warm data once, and to cold data after that. The classes are those of dynamic data clustering
//! (Chiang, Lee and Chang, Software: Practice and Experience 1999). Ages are kept per block, which
//! costs no memory per unit.

use super::frontier::Frontier;

/// Age and kind of each block.
#[derive(Debug)]
pub(super) struct HotData {
    within: u64,
    /// Frontier that each block was opened for, and the host writes before that.
    opened: Vec<(Frontier, u64)>,
}

impl HotData {
    /// Count units rewritten within `within` host writes as hot.
    pub(super) fn new(within: u64, blocks: u32) -> Self {
        Self { within, opened: vec![(Frontier::Cold, 0); blocks as usize] }
    }

    pub(super) fn open(&mut self, block: u32, frontier: Frontier, writes: u64) {
        self.opened[block as usize] = (frontier, writes);
    }

    /// Return the frontier for a host write whose old version is in `block`.
    #[inline]
    pub(super) fn of_host(&self, block: u32, writes: u64) -> Frontier {
        let (frontier, opened) = self.opened[block as usize];
        let hot = frontier != Frontier::Relocated && writes - opened <= self.within;
        if hot { Frontier::Host } else { Frontier::Cold }
    }

    /// Return the frontier for valid units of a reclaimed block.
    pub(super) fn of_relocated(&self, block: u32, writes: u64) -> Frontier {
        match self.opened[block as usize] {
            (Frontier::Host, _) => Frontier::Warm,
            (Frontier::Warm, opened) if writes - opened <= self.within => Frontier::Warm,
            _ => Frontier::Relocated,
        }
    }
}
