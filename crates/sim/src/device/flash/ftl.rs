//! The translation layer as a data structure without time: where each logical unit is, which blocks can be reclaimed.
//!
//! Eight bytes for each flash unit at most (a map and its inverse, four bytes each) and a constant for each block. Writing
//! always goes to the open block of a frontier; a block is reclaimed by moving what is still valid in it and erasing it.

mod cache;
pub(super) mod frontier;
mod renewal;
mod tidy;

use super::hot::Hot;
use super::victims::{OPEN, Victims};
use crate::kernel::prefetch::{advise_large_pages, prefetch};
use cache::Cache;
pub use cache::CacheShape;
pub use frontier::Frontier;
use renewal::Renewal;
use std::collections::VecDeque;
use tameshi_base::Random;
use tameshi_spec::profile::CleaningPolicy;

/// So many units that are moved soon are looked up together, so that walks through page tables go on beside one another.
const MOVES_TOGETHER: u32 = 16;

/// Stands for "nowhere" in the map and for "nothing valid" in its inverse: memory that was never touched is zero.
const NONE: u32 = 0;

/// An open block.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// The unit written next; equal to `end` where no block is open.
    next: u32,
    end: u32,
}

/// A block being reclaimed.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: u32,
    /// The unit looked at next.
    next: u32,
    /// Valid units when it was chosen.
    valid: u32,
    /// Where they go.
    to: Frontier,
}

/// One step of reclaiming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit moved.
    Moved {
        /// From here.
        from: u32,
        /// To here.
        to: u32,
        /// Whose block that is in.
        frontier: Frontier,
    },
    /// Nothing valid was left in the block: it is erased and can be written again.
    Erased {
        /// The block.
        block: u32,
    },
}

/// What a translation layer has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Units that the host wrote.
    pub host_units: u64,
    /// Units that reclaiming moved.
    pub moved_units: u64,
    /// Units left empty because something had to be made durable at once.
    pub padded_units: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Work {
    /// Units programmed.
    pub fn programmed_units(&self) -> u64 {
        self.host_units + self.moved_units + self.padded_units
    }

    /// Flash units written for each unit the host wrote; 1 before it wrote any.
    pub fn write_amplification(&self) -> f64 {
        if self.host_units == 0 {
            return 1.0;
        }
        self.programmed_units() as f64 / self.host_units as f64
    }

    /// What was done since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host_units: self.host_units - before.host_units,
            moved_units: self.moved_units - before.moved_units,
            padded_units: self.padded_units - before.padded_units,
            erases: self.erases - before.erases,
        }
    }
}

/// A page-mapped translation layer.
#[derive(Debug)]
pub struct Ftl {
    /// Physical unit plus one, by logical unit.
    map: Vec<u32>,
    /// Logical unit plus one, by physical unit; zero where nothing valid is.
    back: Vec<u32>,
    units_per_block: u32,
    /// Units of a block that may be written now; fewer after a channel has failed.
    usable_units: u32,
    divide: Divide,
    victims: Victims,
    /// Erased blocks, the longest erased first.
    free: VecDeque<u32>,
    open: [Open; Frontier::COUNT],
    separate: bool,
    hot: Option<Hot>,
    cache: Option<Cache>,
    idle_blocks: u32,
    reserve_blocks: usize,
    /// So few erased blocks, and nothing must be written before one has been reclaimed.
    least_free: usize,
    victim: Option<Victim>,
    /// The block that an idle drive has begun to empty, and its unit that is looked at next: what is before it is not valid any more.
    tidied: Option<(u32, u32)>,
    /// Since a channel died.
    renewal: Option<Box<Renewal>>,
    /// Program and erase cycles by block.
    erases: Vec<u32>,
    mapped: u32,
    work: Work,
}

/// Sizes and policy of a translation layer.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Logical units.
    pub logical: u32,
    /// Blocks.
    pub blocks: u32,
    /// Units in a block.
    pub units_per_block: u32,
    /// Blocks kept erased.
    pub reserve_blocks: u32,
    /// Whether relocated units go to blocks of their own.
    pub separate: bool,
    /// Units that are written again within so many of the host's writes are hot, and lie apart; `None`: nothing is told apart. Needs
    /// `separate`.
    pub hot_within: Option<u64>,
    /// Which block is reclaimed.
    pub policy: CleaningPolicy,
    /// Blocks that hold one bit in a cell, for what the host writes; `None`: there are none. Needs `separate`.
    pub cache: Option<CacheShape>,
    /// Blocks that are erased beyond the reserve when it idles.
    pub idle_blocks: u32,
}

impl Ftl {
    /// Erased flash.
    ///
    /// # Errors
    /// When the spare is too small to reclaim anything, or the flash too large for four-byte addresses.
    pub fn new(shape: Shape, random: Random) -> Result<Self, String> {
        let physical = u64::from(shape.blocks) * u64::from(shape.units_per_block);
        if physical >= u64::from(OPEN) {
            return Err(format!(
                "{physical} flash units behind one controller are more than can be simulated; use a scale"
            ));
        }
        let frontiers = 1
            + u32::from(shape.separate)
            + 2 * u32::from(shape.hot_within.is_some())
            + u32::from(shape.cache.is_some());
        let kept = u64::from(shape.reserve_blocks + frontiers) * u64::from(shape.units_per_block);
        if u64::from(shape.logical) + kept + u64::from(shape.units_per_block) > physical {
            return Err(format!(
                "{} blocks of {} units can't hold {} units beside {} blocks in reserve: more over-provisioning, fewer \
                 reserve_blocks or a smaller scale is needed",
                shape.blocks, shape.units_per_block, shape.logical, shape.reserve_blocks
            ));
        }
        Ok(Self {
            map: nowhere(shape.logical as usize),
            back: nowhere(physical as usize),
            units_per_block: shape.units_per_block,
            usable_units: shape.units_per_block,
            divide: Divide::by(shape.units_per_block),
            victims: Victims::new(shape.policy, (shape.blocks, shape.units_per_block), random),
            free: (0..shape.blocks).collect(),
            open: [Open::default(); Frontier::COUNT],
            separate: shape.separate,
            hot: shape.hot_within.map(|within| Hot::new(within, shape.blocks)),
            cache: shape.cache.map(|cache| Cache::new(cache, shape.blocks)),
            idle_blocks: shape.idle_blocks,
            reserve_blocks: shape.reserve_blocks as usize,
            least_free: 1,
            victim: None,
            tidied: None,
            renewal: None,
            erases: vec![0; shape.blocks as usize],
            mapped: 0,
            work: Work::default(),
        })
    }

    /// Where a logical unit is.
    #[inline]
    pub fn lookup(&self, logical: u32) -> Option<u32> {
        self.map[logical as usize].checked_sub(1)
    }

    /// The logical unit that a physical one holds; `None` where it is stale, padded or erased.
    pub fn holder(&self, physical: u32) -> Option<u32> {
        self.back[physical as usize].checked_sub(1)
    }

    /// Brings a logical unit's place in the map nearer to the processor.
    #[inline]
    pub fn prefetch(&self, logical: u32) {
        prefetch(&self.map, logical as usize);
    }

    /// Brings nearer what [`Ftl::write`] of a unit that is at `physical` will change.
    #[inline]
    pub fn prefetch_inverse(&self, physical: u32) {
        prefetch(&self.back, physical as usize);
    }

    /// The block of a physical unit.
    #[inline]
    pub fn block_of(&self, physical: u32) -> u32 {
        self.divide.quotient(physical)
    }

    /// Writes a logical unit; returns where it is now, and whose block that is in.
    ///
    /// # Panics
    /// When no erased block is left: reclaim first ([`Ftl::is_short`]).
    #[inline(always)]
    pub fn write(&mut self, logical: u32) -> (u32, Frontier) {
        self.work.host_units += 1;
        let frontier = match &self.hot {
            _ if self.cache.is_some() && self.goes_into_cache() => Frontier::Cached,
            None => Frontier::Host,
            Some(hot) => self
                .lookup(logical)
                .map_or(Frontier::Cold, |old| hot.of_host(self.divide.quotient(old), self.work.host_units)),
        };
        let to = self.next_unit(frontier);
        let old = std::mem::replace(&mut self.map[logical as usize], to + 1);
        if old != NONE {
            self.invalidate(old - 1);
        } else {
            self.mapped += 1;
        }
        self.back[to as usize] = logical + 1;
        (to, frontier)
    }

    /// Forgets a logical unit; tells whether it was known.
    pub fn trim(&mut self, logical: u32) -> bool {
        let old = std::mem::replace(&mut self.map[logical as usize], NONE);
        if old != NONE {
            self.invalidate(old - 1);
            self.mapped -= 1;
        }
        old != NONE
    }

    #[inline]
    fn invalidate(&mut self, physical: u32) {
        self.back[physical as usize] = NONE;
        self.victims.remove_unit(self.divide.quotient(physical));
    }

    /// Leaves a unit of a frontier's open block empty.
    pub fn pad(&mut self, frontier: Frontier) -> u32 {
        self.work.padded_units += 1;
        let to = self.next_unit(frontier);
        self.victims.remove_unit(self.divide.quotient(to));
        to
    }

    /// Takes the next unit of a frontier, which counts as valid from now on.
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

    /// The last unit of an open block was taken.
    #[cold]
    fn close_block(&mut self, unit: u32) {
        self.victims.close(self.divide.quotient(unit), self.work.host_units);
    }

    /// Whether writing has used up the erased blocks beyond the reserve: from here on reclaiming must keep step.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.free.len() < self.reserve_blocks
    }

    /// Whether nothing must be written before a block has been reclaimed.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.free.len() <= self.least_free
    }

    /// Units to move for each unit that the host writes, as a fraction, so that the reserve neither grows nor shrinks.
    #[inline]
    pub fn pace(&mut self) -> (u64, u64) {
        let units = self.usable_units;
        let valid = self.victim().valid;
        (u64::from(valid), u64::from(units.saturating_sub(valid)))
    }

    #[inline]
    fn victim(&mut self) -> &Victim {
        if self.victim.is_none() {
            // What is as full as a block may be now gives nothing.
            let most = (self.old_blocks() > 0).then_some(self.usable_units);
            self.victim = Some(self.next_victim(most));
        }
        self.victim.as_ref().expect("one was chosen")
    }

    /// One with `most` valid units or more gives way to the emptiest.
    fn next_victim(&mut self, most: Option<u32>) -> Victim {
        let writes = self.work.host_units;
        let chosen = self.victims.choose(writes, most);
        let (block, valid) = chosen.expect("closed blocks are there when erased ones are short");
        self.victim_of(block, valid)
    }

    fn victim_of(&self, block: u32, valid: u32) -> Victim {
        Victim { block, next: block * self.units_per_block, valid, to: self.kept_apart(block) }
    }

    /// Where that goes which is still valid in a block.
    fn kept_apart(&self, block: u32) -> Frontier {
        let of_hot = |hot: &Hot| hot.of_relocated(block, self.work.host_units);
        self.hot.as_ref().map_or(Frontier::Relocated, of_hot)
    }

    /// Moves the next valid unit out of the block that is being reclaimed, or erases it when none is left.
    pub fn reclaim(&mut self) -> Step {
        // Field by field: what was written in part is slow to read as a whole.
        let &Victim { block, next, to, .. } = self.victim();
        let step = self.step((block, next), to);
        match (step, &mut self.victim) {
            (Step::Moved { from, .. }, Some(victim)) => victim.next = from + 1,
            _ => self.victim = None,
        }
        step
    }

    /// One step of reclaiming a block whose units up to `next` are not valid any more.
    #[inline]
    fn step(&mut self, (block, next): (u32, u32), frontier: Frontier) -> Step {
        let end = (block + 1) * self.units_per_block;
        if self.victims.valid(block) > 0 {
            let left = &self.back[next as usize..end as usize];
            let skipped = left.iter().position(|&logical| logical != NONE).expect("a valid unit is left");
            let from = next + skipped as u32;
            self.prefetch_moves(next, from);
            let to = self.relocate(from, frontier);
            return Step::Moved { from, to, frontier };
        }
        self.erase(block, end);
        Step::Erased { block }
    }

    fn erase(&mut self, block: u32, end: u32) {
        self.back[(end - self.units_per_block) as usize..end as usize].fill(NONE);
        self.erases[block as usize] += 1;
        self.work.erases += 1;
        self.free.push_back(block);
        self.tidied = self.tidied.filter(|&(begun, _)| begun != block);
        if let Some(cache) = &mut self.cache {
            cache.erased(block);
        }
        if let Some(renewal) = &mut self.renewal {
            renewal.erased(block);
        }
    }

    /// Brings near what is moved soon, once the units from `next` to `from` are behind: a block's moves are scattered over the
    /// map.
    #[inline]
    fn prefetch_moves(&self, next: u32, from: u32) {
        if next / MOVES_TOGETHER == (from + 1) / MOVES_TOGETHER {
            return;
        }
        let turn = |unit: u32| (unit / MOVES_TOGETHER * MOVES_TOGETHER) as usize;
        let soon = turn(next) + 2 * MOVES_TOGETHER as usize..turn(from + 1) + 2 * MOVES_TOGETHER as usize;
        for &soon in self.back.get(soon).unwrap_or_default().iter().filter(|&&soon| soon != NONE) {
            prefetch(&self.map, soon as usize - 1);
        }
    }

    #[inline]
    fn relocate(&mut self, from: u32, frontier: Frontier) -> u32 {
        self.work.moved_units += 1;
        let to = self.next_unit(frontier);
        let logical = self.back[from as usize] - 1;
        self.map[logical as usize] = to + 1;
        self.back[to as usize] = logical + 1;
        self.invalidate(from);
        to
    }

    /// Writes without regard to time: reclaims as much as is needed first.
    pub fn write_untimed(&mut self, logical: u32) {
        while self.is_short() {
            self.reclaim();
        }
        self.write(logical);
    }

    /// What has been done since the beginning.
    pub fn work(&self) -> Work {
        self.work
    }

    /// Physical units, logical units, logical units that hold something, units that are erased.
    pub fn fill(&self) -> Fill {
        let open: u64 = self.open.iter().map(|open| u64::from(open.end - open.next)).sum();
        let given_up = self.given_up_units();
        Fill {
            physical: self.back.len() as u64
                - self.renewal.as_ref().map_or(0, |renewal| renewal.lost_units())
                - given_up,
            given_up,
            logical: self.map.len() as u64,
            mapped: u64::from(self.mapped),
            erased: self.free.len() as u64 * u64::from(self.usable_units) + open,
        }
    }

    /// Program and erase cycles by block.
    pub fn erases(&self) -> &[u32] {
        &self.erases
    }

    /// Whether each map is the other's inverse and every count is right; for tests.
    ///
    /// # Panics
    /// At the first thing that is wrong.
    pub fn check(&self) {
        let mut valid = vec![0u32; self.erases.len()];
        for (physical, &logical) in self.back.iter().enumerate() {
            if logical != NONE {
                assert_eq!(self.map[logical as usize - 1], physical as u32 + 1, "unit {physical}");
                valid[physical / self.units_per_block as usize] += 1;
            }
        }
        let mapped = self.map.iter().filter(|&&physical| physical != NONE).count();
        assert_eq!(mapped as u32, self.mapped);
        assert_eq!(valid.iter().sum::<u32>(), self.mapped, "each logical unit is in one place");
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

/// How full flash is, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// What flash takes in.
    pub physical: u64,
    /// What it would take in beyond that, did cells that hold one bit hold all that they can.
    pub given_up: u64,
    /// Addressed by the host.
    pub logical: u64,
    /// Holding something.
    pub mapped: u64,
    /// Erased.
    pub erased: u64,
}

impl Fill {
    /// Spare that reclaiming works with, as a share of what is mapped: erased units hold nothing that could be reclaimed.
    pub fn effective_over_provisioning(&self) -> f64 {
        (self.physical - self.erased - self.mapped) as f64 / self.mapped as f64
    }

    /// The same as a share of the flash that holds something: 1 − ρ of the literature.
    pub fn effective_spare(&self) -> f64 {
        1.0 - self.mapped as f64 / (self.physical - self.erased) as f64
    }
}

/// Division by a number that does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divide {
    multiplier: u64,
}

impl Divide {
    /// Exact for dividends below 2^31 (Granlund and Montgomery 1994, theorem 4.2 with 63 fractional bits).
    pub(super) fn by(divisor: u32) -> Self {
        Self { multiplier: (1u64 << 63) / u64::from(divisor) + 1 }
    }

    #[inline]
    pub(super) fn quotient(self, dividend: u32) -> u32 {
        ((u128::from(self.multiplier) * u128::from(dividend)) >> 63) as u32
    }

    /// Quotient and rest; `divisor` is the one it was made for.
    #[inline]
    pub(super) fn parts(self, dividend: u32, divisor: u32) -> (u32, u32) {
        let quotient = self.quotient(dividend);
        // The product is no more than the dividend.
        (quotient, dividend.wrapping_sub(quotient.wrapping_mul(divisor)))
    }
}

/// So many zeros, which are looked up at random.
fn nowhere(count: usize) -> Vec<u32> {
    let zeros = vec![NONE; count];
    advise_large_pages(&zeros);
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn division_by_a_constant_is_division() {
        for divisor in [1, 2, 3, 64, 1000, 65_537, 1 << 20, (1 << 31) - 1] {
            let divide = Divide::by(divisor);
            for dividend in [0, 1, divisor - 1, divisor, divisor.saturating_mul(7) / 3, (1 << 31) - 1] {
                let dividend = dividend.min((1 << 31) - 1);
                assert_eq!(divide.quotient(dividend), dividend / divisor, "{dividend} / {divisor}");
            }
        }
    }

    pub(super) fn policies() -> impl Strategy<Value = CleaningPolicy> {
        prop_oneof![
            Just(CleaningPolicy::Greedy),
            Just(CleaningPolicy::Fifo),
            Just(CleaningPolicy::Random),
            Just(CleaningPolicy::CostBenefit),
            (1..6u32).prop_map(|drawn| CleaningPolicy::Choices { drawn }),
        ]
    }

    pub(super) fn caches() -> impl Strategy<Value = CacheShape> {
        (1..8u32, 1..12u32).prop_map(|(units_per_block, blocks)| CacheShape { units_per_block, blocks })
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_doubled_whatever_is_written_and_trimmed(
            policy in policies(), separate in any::<bool>(), seed in any::<u64>(), writes in 100..4000u32,
            hot in proptest::option::of(1..600u64), cache in proptest::option::of(caches()), idles in any::<bool>(),
        ) {
            let (hot_within, cache) = (hot.filter(|_| separate), cache.filter(|_| separate));
            let (idle_blocks, blocks) = (2 * u32::from(idles), 32);
            let shape = Shape {
                logical: 300, blocks, units_per_block: 16, reserve_blocks: 3, separate, hot_within, policy,
                cache, idle_blocks,
            };
            let mut ftl = Ftl::new(shape, Random::named(seed, "victims")).expect("a layer");
            let mut random = Random::named(seed, "writes");
            let mut known = [false; 300];
            for _ in 0..writes {
                let logical = random.below(300) as u32;
                let trims = random.below(10) == 0;
                if trims {
                    prop_assert_eq!(ftl.trim(logical), known[logical as usize]);
                } else {
                    ftl.write_untimed(logical);
                }
                known[logical as usize] = !trims;
                if idles && random.below(100) == 0 {
                    (0..random.below(200)).for_each(|_| _ = ftl.tidy());
                }
            }
            ftl.check();
            for (logical, &known) in known.iter().enumerate() {
                prop_assert_eq!(ftl.lookup(logical as u32).is_some(), known);
            }
        }
    }
}
