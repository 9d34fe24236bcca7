//! What a drive that idles does to its flash.

use super::{Ftl, Step};

/// A block with a greater share of valid units is not reclaimed by an idle drive: what it would gain is not worth the wear.
const MOST_VALID: (u64, u64) = (15, 16);

impl Ftl {
    /// One step of emptying the cache, the oldest of its full blocks first, and of reclaiming the emptiest blocks until as many are erased
    /// beyond the reserve as are to be. `None` where nothing is left to do, or too little is gained.
    pub fn tidy(&mut self) -> Option<Step> {
        let wanted = self.reserve_blocks + self.idle_blocks as usize;
        if self.is_exhausted() {
            // The last block is for what is being reclaimed, as it is when the host writes.
            if self.victim.is_none() {
                self.emptiest()?;
                self.victim = Some(self.next_victim(Some(self.most_valid() + 1)));
            }
            return Some(self.reclaim());
        }
        let begun = self.tidied.map(|(block, _)| block).filter(|&block| self.victims.is_closed(block));
        let block = begun.or_else(|| self.oldest_in_cache()).or_else(|| {
            let too_few = self.idle_blocks > 0 && self.free.len() < wanted;
            if too_few { self.emptiest() } else { None }
        });
        block.map(|block| self.empty(block))
    }

    /// The closed block with the fewest valid units, where reclaiming it gains enough.
    fn emptiest(&self) -> Option<u32> {
        self.victims.emptiest().filter(|&(_, valid)| valid <= self.most_valid()).map(|(block, _)| block)
    }

    fn most_valid(&self) -> u32 {
        let (most, of) = MOST_VALID;
        (u64::from(self.usable_units) * most / of) as u32
    }

    /// Moves the next valid unit out of a closed block, or erases it when none is left. Until then reclaiming may take it over.
    pub(super) fn empty(&mut self, block: u32) -> Step {
        let begun = self.tidied.filter(|&(begun, _)| begun == block);
        let (_, next) = begun.unwrap_or((block, block * self.units_per_block));
        if self.victims.valid(block) == 0 {
            self.victims.take(block);
        }
        let to = self.kept_apart(block);
        let step = self.step((block, next), to);
        if let Step::Moved { from, .. } = step {
            self.tidied = Some((block, from + 1));
        }
        step
    }
}
