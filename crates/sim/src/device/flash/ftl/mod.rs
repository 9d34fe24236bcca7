//! Flash translation layer without time: map, blocks and garbage collection of one controller.
//!
//! Memory: at most eight bytes per flash unit (a map and its inverse), and a constant per block.
//! Each frontier writes to its open block. Garbage collection moves the valid units out of a block
//! and erases it.

mod divide;
mod frontier;
mod hot_data;
mod mapping;
mod renewal;
mod shape;
mod slc_cache;
mod victims;
mod work;

pub(super) use divide::Divide;
pub use frontier::Frontier;
pub use shape::Shape;
pub use slc_cache::CacheShape;
pub use work::{Fill, Work};

use frontier::Open;
use hot_data::HotData;
use mapping::Mapping;
use renewal::Renewal;
use slc_cache::SlcCache;
use std::collections::VecDeque;
use tameshi_base::Random;
use victims::{Victim, Victims};

/// Maximum valid share of a block that an idle drive reclaims: a fuller block is not worth the
/// wear.
const MOST_VALID: (u64, u64) = (15, 16);

/// One step of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit moved.
    Moved {
        /// Old physical unit.
        from: u32,
        /// New physical unit.
        to: u32,
        /// Frontier of the new unit.
        frontier: Frontier,
    },
    /// A block without valid units was erased.
    Erased {
        /// The block.
        block: u32,
    },
}

/// Page-mapped translation layer.
#[derive(Debug)]
pub struct Ftl {
    mapping: Mapping,
    units_per_block: u32,
    /// Units of a newly opened block; fewer after a channel failure.
    usable_units: u32,
    divide: Divide,
    victims: Victims,
    /// Erased blocks, the longest erased first.
    free: VecDeque<u32>,
    open: [Open; Frontier::COUNT],
    separate: bool,
    hot: Option<HotData>,
    cache: Option<SlcCache>,
    idle_blocks: u32,
    reserve_blocks: usize,
    /// Erased blocks at which writes must wait for garbage collection.
    least_free: usize,
    victim: Option<Victim>,
    /// Block that an idle drive empties, and its unit examined next.
    idle_victim: Option<(u32, u32)>,
    /// State since the first channel failure.
    renewal: Option<Box<Renewal>>,
    /// Program and erase cycles by block.
    erases: Vec<u32>,
    work: Work,
}

impl Ftl {
    /// Build erased flash.
    ///
    /// # Errors
    /// The spare is too small to reclaim anything, or the flash too large for four-byte addresses.
    pub fn new(shape: Shape, random: Random) -> Result<Self, String> {
        let physical = shape.checked_units()?;
        Ok(Self {
            mapping: Mapping::new(shape.logical, physical),
            units_per_block: shape.units_per_block,
            usable_units: shape.units_per_block,
            divide: Divide::by(shape.units_per_block),
            victims: Victims::new(shape.policy, (shape.blocks, shape.units_per_block), random),
            free: (0..shape.blocks).collect(),
            open: [Open::default(); Frontier::COUNT],
            separate: shape.separate,
            hot: shape.hot_within.map(|within| HotData::new(within, shape.blocks)),
            cache: shape.cache.map(|cache| SlcCache::new(cache, shape.blocks)),
            idle_blocks: shape.idle_blocks,
            reserve_blocks: shape.reserve_blocks as usize,
            least_free: 1,
            victim: None,
            idle_victim: None,
            renewal: None,
            erases: vec![0; shape.blocks as usize],
            work: Work::default(),
        })
    }

    /// Return the physical unit of a logical unit.
    #[inline]
    pub fn lookup(&self, logical: u32) -> Option<u32> {
        self.mapping.lookup(logical)
    }

    /// Return the logical unit in a physical unit; `None` if the physical unit is stale, padded or
    /// erased.
    pub fn holder(&self, physical: u32) -> Option<u32> {
        self.mapping.holder(physical)
    }

    /// Prefetch the map entry of a logical unit.
    #[inline]
    pub fn prefetch(&self, logical: u32) {
        self.mapping.prefetch(logical);
    }

    /// Prefetch what [`Ftl::write`] changes for a unit now at `physical`.
    #[inline]
    pub fn prefetch_inverse(&self, physical: u32) {
        self.mapping.prefetch_inverse(physical);
    }

    /// Return the block of a physical unit.
    #[inline]
    pub fn block_of(&self, physical: u32) -> u32 {
        self.divide.quotient(physical)
    }

    /// Write a logical unit; return its physical unit and frontier.
    ///
    /// # Panics
    /// If no erased block is left: reclaim first ([`Ftl::is_short`]).
    #[inline(always)]
    pub fn write(&mut self, logical: u32) -> (u32, Frontier) {
        self.work.host_units += 1;
        let frontier = match &self.hot {
            _ if self.cache.is_some() && self.goes_into_cache() => Frontier::Cached,
            None => Frontier::Host,
            Some(hot) => self
                .mapping
                .lookup(logical)
                .map_or(Frontier::Cold, |old| hot.of_host(self.divide.quotient(old), self.work.host_units)),
        };
        let to = self.next_unit(frontier);
        if let Some(old) = self.mapping.put(logical, to) {
            self.victims.remove_unit(self.divide.quotient(old));
        }
        (to, frontier)
    }

    /// Unmap a logical unit; return whether it was mapped.
    pub fn trim(&mut self, logical: u32) -> bool {
        let old = self.mapping.remove(logical);
        if let Some(old) = old {
            self.victims.remove_unit(self.divide.quotient(old));
        }
        old.is_some()
    }

    /// Leave a unit of a frontier's open block empty; return it.
    pub fn pad(&mut self, frontier: Frontier) -> u32 {
        self.work.padded_units += 1;
        let to = self.next_unit(frontier);
        self.victims.remove_unit(self.divide.quotient(to));
        to
    }

    /// Take the next unit of a frontier; it counts as valid.
    #[inline(always)]
    fn next_unit(&mut self, frontier: Frontier) -> u32 {
        let place = if self.separate { frontier as usize } else { 0 };
        if self.open[place].next == self.open[place].end {
            self.open[place] = self.open_block(frontier);
        }
        let open = &mut self.open[place];
        let unit = open.next;
        open.next += 1;
        if open.next == open.end {
            self.close_block(unit);
        }
        unit
    }

    #[cold]
    fn open_block(&mut self, frontier: Frontier) -> Open {
        let block = self.free.pop_front().expect("reclaiming keeps a block erased");
        let cache = self.cache.as_mut().filter(|_| frontier == Frontier::Cached);
        let units = cache.map_or(self.usable_units, |cache| cache.open(block));
        self.victims.open(block, units);
        if let Some(hot) = &mut self.hot {
            hot.open(block, frontier, self.work.host_units);
        }
        let begin = block * self.units_per_block;
        Open { next: begin, end: begin + units }
    }

    /// Close the block whose last unit was taken.
    #[cold]
    fn close_block(&mut self, unit: u32) {
        self.victims.close(self.divide.quotient(unit), self.work.host_units);
    }

    /// Return whether fewer erased blocks are left than the reserve: garbage collection must keep
    /// pace with writes.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.free.len() < self.reserve_blocks
    }

    /// Return whether writes must wait until a block has been reclaimed.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.free.len() <= self.least_free
    }

    /// Return the units to move per unit that the host writes, as a fraction, that keep the reserve
    /// constant.
    #[inline]
    pub fn pace(&mut self) -> (u64, u64) {
        let units = self.usable_units;
        let valid = self.victim().valid;
        (u64::from(valid), u64::from(units.saturating_sub(valid)))
    }

    #[inline]
    fn victim(&mut self) -> &Victim {
        if self.victim.is_none() {
            // A block as full as a new block can be gains nothing.
            let most = (self.old_blocks() > 0).then_some(self.usable_units);
            self.victim = Some(self.next_victim(most));
        }
        self.victim.as_ref().expect("one was chosen")
    }

    /// Choose a victim; one with `most` valid units or more is replaced by the emptiest block.
    fn next_victim(&mut self, most: Option<u32>) -> Victim {
        let writes = self.work.host_units;
        let chosen = self.victims.choose(writes, most);
        let (block, valid) = chosen.expect("closed blocks are there when erased ones are short");
        self.victim_of(block, valid)
    }

    fn victim_of(&self, block: u32, valid: u32) -> Victim {
        Victim { block, next: block * self.units_per_block, valid, to: self.relocation_frontier(block) }
    }

    /// Return the frontier to which a block's valid units are relocated.
    fn relocation_frontier(&self, block: u32) -> Frontier {
        let of_hot = |hot: &HotData| hot.of_relocated(block, self.work.host_units);
        self.hot.as_ref().map_or(Frontier::Relocated, of_hot)
    }

    /// Move the victim's next valid unit, or erase the victim if none is left.
    pub fn reclaim(&mut self) -> Step {
        // Field by field: reading a partly written struct as a whole is slow.
        let &Victim { block, next, to, .. } = self.victim();
        let step = self.step((block, next), to);
        match (step, &mut self.victim) {
            (Step::Moved { from, .. }, Some(victim)) => victim.next = from + 1,
            _ => self.victim = None,
        }
        step
    }

    /// Reclaim one step of a block whose units before `next` are invalid.
    #[inline]
    fn step(&mut self, (block, next): (u32, u32), frontier: Frontier) -> Step {
        let end = (block + 1) * self.units_per_block;
        if self.victims.valid(block) > 0 {
            let from = self.mapping.first_valid(next, end).expect("a valid unit is left");
            self.mapping.prefetch_moves(next, from);
            self.work.moved_units += 1;
            let to = self.next_unit(frontier);
            self.mapping.relocate(from, to);
            self.victims.remove_unit(self.divide.quotient(from));
            return Step::Moved { from, to, frontier };
        }
        self.erase(block, end);
        Step::Erased { block }
    }

    fn erase(&mut self, block: u32, end: u32) {
        self.mapping.erase(end - self.units_per_block, end);
        self.erases[block as usize] += 1;
        self.work.erases += 1;
        self.free.push_back(block);
        self.idle_victim = self.idle_victim.filter(|&(begun, _)| begun != block);
        if let Some(cache) = &mut self.cache {
            cache.erased(block);
        }
        if let Some(renewal) = &mut self.renewal {
            renewal.erased(block);
        }
    }

    /// Write without regard to time: reclaim first as needed.
    pub fn write_untimed(&mut self, logical: u32) {
        while self.is_short() {
            self.reclaim();
        }
        self.write(logical);
    }

    /// Write the first `units` of new flash in order, without regard to time; a cache must be
    /// bypassed.
    ///
    /// Whole blocks take no memory, and next to no time of the processor.
    pub fn write_untimed_in_order(&mut self, units: u32) {
        let frontier = if self.hot.is_some() { Frontier::Cold } else { Frontier::Host };
        let (size, is_new) = (self.units_per_block, self.work == Work::default() && self.renewal.is_none());
        let mut written = 0;
        while is_new && written + size <= units && self.free.len() > self.reserve_blocks {
            self.work.host_units += 1;
            let open = self.open_block(frontier);
            debug_assert_eq!((open.next, open.end), (written, written + size));
            self.work.host_units += u64::from(size) - 1;
            self.close_block(open.end - 1);
            written = open.end;
        }
        if written > 0 {
            self.mapping.write_in_order(written);
        }
        (written..units).for_each(|unit| self.write_untimed(unit));
    }

    /// Return the work since the flash was new.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Return capacity, mapped and erased units.
    pub fn fill(&self) -> Fill {
        let open: u64 = self.open.iter().map(|open| u64::from(open.end - open.next)).sum();
        let given_up = self.given_up_units();
        let lost = self.renewal.as_ref().map_or(0, |renewal| renewal.lost_units());
        Fill {
            physical: self.mapping.physical_units() - lost - given_up,
            given_up,
            logical: self.mapping.logical_units(),
            mapped: self.mapping.mapped_units(),
            erased: self.free.len() as u64 * u64::from(self.usable_units) + open,
        }
    }

    /// Return program and erase cycles by block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Check that each map is the other's inverse and every count is right; for tests.
    ///
    /// # Panics
    /// At the first mismatch.
    pub fn check(&self) {
        let valid = self.mapping.check(self.units_per_block, self.erases.len());
        let open = |block: u32| {
            let left = self.open.iter().find(|open| open.next < open.end && self.block_of(open.next) == block);
            left.map_or(0, |open| open.end - open.next)
        };
        for (block, &valid) in valid.iter().enumerate() {
            let block = block as u32;
            if !self.free.contains(&block) {
                assert_eq!(self.victims.valid(block), valid + open(block), "block {block}");
            }
        }
    }
}

/// SLC cache.
impl Ftl {
    /// Return whether a block holds one bit per cell.
    #[inline]
    pub fn is_in_cache(&self, block: u32) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.holds(block))
    }

    /// Return the valid units in the cache; `None` without a cache.
    pub fn cached_units(&self) -> Option<u64> {
        let (open, cache) = (self.open[Frontier::Cached as usize], self.cache.as_ref()?);
        let held: u64 = cache.blocks().map(|block| u64::from(self.victims.valid(block))).sum();
        Some(held - u64::from(open.end - open.next))
    }

    fn goes_into_cache(&self) -> bool {
        let (open, is_spare) = (self.open[Frontier::Cached as usize], self.free.len() > self.reserve_blocks);
        self.cache.as_ref().is_some_and(|cache| cache.accepts(open.next < open.end, is_spare))
    }

    /// Make host writes bypass the cache, or no longer.
    pub fn bypass_cache(&mut self, bypasses: bool) {
        if let Some(cache) = &mut self.cache {
            cache.bypass(bypasses);
        }
    }

    /// Return the oldest full block of the cache that is not being reclaimed.
    fn oldest_in_cache(&self) -> Option<u32> {
        self.cache.as_ref()?.blocks().find(|&block| self.victims.is_closed(block))
    }

    /// Erase a full block of a full cache that holds no valid data. Looks for one after each
    /// block's worth of host writes.
    pub fn reuse_cache(&mut self) -> Option<Step> {
        let (host_units, victims) = (self.work.host_units, &self.victims);
        let cache = self.cache.as_mut()?;
        if !cache.looks_for_stale(host_units) {
            return None;
        }
        let is_stale = |block: &u32| victims.is_closed(*block) && victims.valid(*block) == 0;
        let block = cache.blocks().find(is_stale)?;
        cache.found_stale(host_units);
        Some(self.empty(block))
    }

    fn given_up_units(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.given_up_units(self.usable_units))
    }
}

/// Idle-time maintenance.
impl Ftl {
    /// Process one step of idle-time maintenance; `None` if nothing is left to do, or too little
    /// would be gained.
    ///
    /// It empties the oldest full blocks of the cache, then reclaims the emptiest blocks until the
    /// reserve and the idle blocks are erased.
    pub fn reclaim_idle(&mut self) -> Option<Step> {
        let wanted = self.reserve_blocks + self.idle_blocks as usize;
        if self.is_exhausted() {
            // The last block is for the victim's units, as it is when the host writes.
            if self.victim.is_none() {
                self.emptiest()?;
                self.victim = Some(self.next_victim(Some(self.most_valid() + 1)));
            }
            return Some(self.reclaim());
        }
        let begun = self.idle_victim.map(|(block, _)| block).filter(|&block| self.victims.is_closed(block));
        let block = begun.or_else(|| self.oldest_in_cache()).or_else(|| {
            let too_few = self.idle_blocks > 0 && self.free.len() < wanted;
            if too_few { self.emptiest() } else { None }
        });
        block.map(|block| self.empty(block))
    }

    /// Return the closed block with the fewest valid units, if reclaiming it gains enough.
    fn emptiest(&self) -> Option<u32> {
        self.victims.emptiest().filter(|&(_, valid)| valid <= self.most_valid()).map(|(block, _)| block)
    }

    fn most_valid(&self) -> u32 {
        let (most, of) = MOST_VALID;
        (u64::from(self.usable_units) * most / of) as u32
    }

    /// Move the next valid unit out of a closed block, or erase it. Until then, garbage collection
    /// may take it over.
    fn empty(&mut self, block: u32) -> Step {
        let begun = self.idle_victim.filter(|&(begun, _)| begun == block);
        let (_, next) = begun.unwrap_or((block, block * self.units_per_block));
        if self.victims.valid(block) == 0 {
            self.victims.take(block);
        }
        let to = self.relocation_frontier(block);
        let step = self.step((block, next), to);
        if let Step::Moved { from, .. } = step {
            self.idle_victim = Some((block, from + 1));
        }
        step
    }
}

/// Channel failures.
impl Ftl {
    /// Shrink blocks from their next erase on, because a channel has died; close open blocks.
    ///
    /// # Errors
    /// A sentence, if the smaller blocks can't hold the logical units; then nothing has changed.
    pub fn narrow(&mut self, usable_units: u32) -> Result<(), String> {
        let blocks = self.erases.len();
        let hot_and_cache = 2 * usize::from(self.hot.is_some()) + usize::from(self.cache.is_some());
        let frontiers = 1 + usize::from(self.separate) + hot_and_cache;
        let (reserve, usable) = (self.reserve_blocks.max(3), u64::from(usable_units));
        let logical = self.mapping.logical_units();
        if logical + (reserve + frontiers + 1) as u64 * usable > blocks as u64 * usable {
            return Err(format!("{blocks} blocks of {usable} units can't hold {logical} units any more"));
        }
        self.close_open_blocks();
        (self.reserve_blocks, self.least_free) = (reserve, 2);
        let before = self.usable_units;
        self.usable_units = usable_units;
        if let Some(cache) = &mut self.cache {
            cache.narrow((usable_units, before));
        }
        let renewal = self.renewal.get_or_insert_with(|| Box::new(Renewal::new(before, blocks)));
        renewal.narrow(usable_units);
        self.free.iter().for_each(|&block| renewal.erased(block));
        Ok(())
    }

    /// Close the open blocks; their unwritten units stay empty.
    fn close_open_blocks(&mut self) {
        for open in &mut self.open {
            if open.next < open.end {
                let block = self.divide.quotient(open.next);
                self.victims.give_up(block, open.end - open.next);
                self.victims.close(block, self.work.host_units);
            }
            *open = Open::default();
        }
    }

    /// Return the channel failures before a block's last erase.
    #[inline]
    pub fn generation(&self, block: u32) -> usize {
        self.renewal.as_ref().map_or(0, |renewal| renewal.generation_of(block))
    }

    /// Return the blocks that still lie across a dead channel.
    pub fn old_blocks(&self) -> u32 {
        self.renewal.as_ref().map_or(0, |renewal| renewal.old_blocks())
    }

    /// Move the next valid unit out of a block across a dead channel, or erase it; `None` if no
    /// such block is closed.
    pub fn renew(&mut self) -> Option<Step> {
        let renewal = self.renewal.as_mut().filter(|renewal| renewal.old_blocks() > 0)?;
        let victim = match renewal.victim {
            Some(victim) => victim,
            None => {
                let block = renewal.next(|block| self.victims.is_closed(block))?;
                let valid = self.victims.take(block);
                self.victim_of(block, valid)
            }
        };
        let step = self.step((victim.block, victim.next), victim.to);
        if let Some(renewal) = &mut self.renewal {
            renewal.victim = match step {
                Step::Moved { from, .. } => Some(Victim { next: from + 1, ..victim }),
                Step::Erased { .. } => None,
            };
        }
        Some(step)
    }
}

#[cfg(test)]
mod tests;
