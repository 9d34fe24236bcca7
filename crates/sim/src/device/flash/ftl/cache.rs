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
    /// The one that is being emptied, and its unit that is looked at next: what is before it is not valid any more.
    emptied: Option<(u32, u32)>,
}

impl Cache {
    pub(super) fn new(shape: CacheShape, blocks: u32) -> Self {
        Self {
            shape,
            is_bypassed: false,
            holds: vec![false; blocks as usize],
            blocks: VecDeque::with_capacity(shape.blocks as usize),
            emptied: None,
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
            self.emptied = self.emptied.filter(|&(emptied, _)| emptied != block);
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

    /// One step of emptying the cache's full blocks, the oldest first; `None` where it has none but those being reclaimed.
    pub(super) fn empty_cache(&mut self) -> Option<Step> {
        let blocks = &self.cache.as_ref()?.blocks;
        let block = blocks.iter().copied().find(|&block| self.victims.is_closed(block))?;
        Some(self.empty(block))
    }

    /// Moves the next valid unit out of a block of the cache, or erases it when none is left.
    fn empty(&mut self, block: u32) -> Step {
        let emptied = self.cache.as_ref().and_then(|cache| cache.emptied).filter(|&(emptied, _)| emptied == block);
        let (_, next) = emptied.unwrap_or((block, block * self.units_per_block));
        if self.victims.valid(block) == 0 {
            self.victims.take(block);
        }
        let to = self.kept_apart(block);
        let step = self.step((block, next), to);
        if let (Step::Moved { from, .. }, Some(cache)) = (step, &mut self.cache) {
            cache.emptied = Some((block, from + 1));
        }
        step
    }
}
