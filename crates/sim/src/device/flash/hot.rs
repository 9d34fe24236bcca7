//! Telling hot data from cold ones, so that what dies together lies together.
//!
//! A unit is hot when it is written again within so many of the host's writes after its block was opened, unless it was relocated
//! as cold. What reclaiming still finds valid in a block of hot data gets another chance in a block of its kind, and is cold
//! after that. The classes are those of dynamic data clustering (Chiang, Lee and Chang, Software: Practice and Experience
//! 1999); ages are known by block, not by unit, which costs no memory for each unit.

use super::ftl::frontier::Frontier;

/// What is known of each block.
#[derive(Debug)]
pub(super) struct Hot {
    within: u64,
    /// What each block was opened for, and the host's writes up to then.
    opened: Vec<(Frontier, u64)>,
}

impl Hot {
    /// What is written again within so many writes is hot.
    pub(super) fn new(within: u64, blocks: u32) -> Self {
        Self { within, opened: vec![(Frontier::Cold, 0); blocks as usize] }
    }

    /// A block is opened.
    pub(super) fn open(&mut self, block: u32, frontier: Frontier, writes: u64) {
        self.opened[block as usize] = (frontier, writes);
    }

    /// Where the host's new version of a unit goes whose old one is in `block`.
    #[inline]
    pub(super) fn of_host(&self, block: u32, writes: u64) -> Frontier {
        let (frontier, opened) = self.opened[block as usize];
        let hot = frontier != Frontier::Relocated && writes - opened <= self.within;
        if hot { Frontier::Host } else { Frontier::Cold }
    }

    /// Where that goes which is still valid in `block` when it is reclaimed.
    pub(super) fn of_relocated(&self, block: u32, writes: u64) -> Frontier {
        match self.opened[block as usize] {
            (Frontier::Host, _) => Frontier::Warm,
            (Frontier::Warm, opened) if writes - opened <= self.within => Frontier::Warm,
            _ => Frontier::Relocated,
        }
    }
}
