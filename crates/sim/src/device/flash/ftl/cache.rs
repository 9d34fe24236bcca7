//! Blocks that hold one bit in a cell: the host's data go there first, and are moved on later.
//!
//! They are blocks like others which hold fewer units, so that reclaiming moves what is in them when it is their turn. Greedy
//! cleaning finds them first.

use super::{Frontier, Ftl, Step};
use std::collections::VecDeque;

/// How large a cache may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Units of one of its blocks.
    pub units_per_block: u32,
    /// Blocks at most.
    pub blocks: u32,
}

/// Which blocks are the cache's.
#[derive(Debug)]
pub(super) struct Cache {
    shape: CacheShape,
    is_bypassed: bool,
    /// By block.
    holds: Vec<bool>,
    /// In the order in which they were opened.
    blocks: VecDeque<u32>,
    /// It looks for stale blocks again when the host has written so many units.
    looks_again: u64,
}

impl Cache {
    pub(super) fn new(shape: CacheShape, blocks: u32) -> Self {
        Self {
            shape,
            is_bypassed: false,
            holds: vec![false; blocks as usize],
            blocks: VecDeque::with_capacity(shape.blocks as usize),
            looks_again: 0,
        }
    }

    /// Opens a block; units that it takes.
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

    /// Blocks hold fewer units from now on, in this proportion.
    pub(super) fn narrow(&mut self, (to, of): (u32, u32)) {
        let units = u64::from(self.shape.units_per_block) * u64::from(to) / u64::from(of);
        self.shape.units_per_block = (units as u32).max(1);
    }
}

impl Ftl {
    /// Whether a block holds one bit in a cell.
    #[inline]
    pub fn is_in_cache(&self, block: u32) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.holds[block as usize])
    }

    /// Valid units in the cache; `None` where there is none.
    pub fn cached_units(&self) -> Option<u64> {
        let (open, cache) = (self.open[Frontier::Cached as usize], self.cache.as_ref()?);
        let held: u64 = cache.blocks.iter().map(|&block| u64::from(self.victims.valid(block))).sum();
        Some(held - u64::from(open.end - open.next))
    }

    /// Whether what the host writes next goes into the cache: there is room in its open block, or a block for it.
    pub(super) fn goes_into_cache(&self) -> bool {
        let (open, is_spare) = (self.open[Frontier::Cached as usize], self.free.len() > self.reserve_blocks);
        self.cache.as_ref().is_some_and(|cache| {
            let has_room = cache.blocks.len() < cache.shape.blocks as usize;
            !cache.is_bypassed && (open.next < open.end || (is_spare && has_room))
        })
    }

    /// From now on what the host writes passes by the cache, or does no longer.
    pub fn bypass_cache(&mut self, bypasses: bool) {
        if let Some(cache) = &mut self.cache {
            cache.is_bypassed = bypasses;
        }
    }

    /// The oldest full block of the cache, those left out that are being reclaimed.
    pub(super) fn oldest_in_cache(&self) -> Option<u32> {
        let blocks = &self.cache.as_ref()?.blocks;
        blocks.iter().copied().find(|&block| self.victims.is_closed(block))
    }

    /// Erases a full block of the cache that holds nothing valid any more, where the cache may have no more blocks. It looks for one each time
    /// the host has written as much as a block of the cache takes.
    pub fn reuse_cache(&mut self) -> Option<Step> {
        let (host_units, victims) = (self.work.host_units, &self.victims);
        let cache = self.cache.as_mut()?;
        if cache.blocks.len() < cache.shape.blocks as usize || host_units < cache.looks_again {
            return None;
        }
        cache.looks_again = host_units + u64::from(cache.shape.units_per_block);
        let is_stale = |block: &u32| victims.is_closed(*block) && victims.valid(*block) == 0;
        let block = cache.blocks.iter().copied().find(is_stale)?;
        cache.looks_again = host_units;
        Some(self.empty(block))
    }

    /// Units that the cache's blocks hold less than others.
    pub(super) fn given_up_units(&self) -> u64 {
        let given_up =
            |cache: &Cache| cache.blocks.len() as u64 * u64::from(self.usable_units - cache.shape.units_per_block);
        self.cache.as_ref().map_or(0, given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use tameshi_base::Random;
    use tameshi_spec::profile::CleaningPolicy;

    #[test]
    fn its_blocks_hold_the_same_part_of_what_others_hold_when_these_become_narrower() {
        let cache = Some(CacheShape { units_per_block: 8, blocks: 5 });
        let (policy, separate, hot_within) = (CleaningPolicy::Greedy, true, None);
        let (logical, blocks, units_per_block, reserve_blocks, idle_blocks) = (300, 40, 16, 2, 0);
        let shape = Shape {
            logical,
            blocks,
            units_per_block,
            reserve_blocks,
            separate,
            hot_within,
            policy,
            cache,
            idle_blocks,
        };
        let mut ftl = Ftl::new(shape, Random::named(1, "victims")).expect("a layer");
        let (before, _) = ftl.write(0);
        assert_eq!((ftl.is_in_cache(before / 16), ftl.given_up_units()), (true, 8));
        ftl.narrow(14).expect("room");
        for unit in 1..=7 {
            let (to, _) = ftl.write(unit);
            assert!(ftl.is_in_cache(to / 16), "{unit}");
        }
        assert_eq!(ftl.given_up_units(), 2 * 7, "one block of before and one of now, counted alike");
        ftl.write(8);
        assert_eq!(ftl.given_up_units(), 3 * 7, "seven fill it");
        ftl.check();
    }
}
