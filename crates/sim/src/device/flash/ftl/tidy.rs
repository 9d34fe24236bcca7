//! What a drive that idles does to its flash.

use super::{Ftl, Step};

/// A block with a greater share of valid units is not reclaimed by an idle drive: what it would gain is not worth the wear.
const MOST_VALID: (u64, u64) = (15, 16);

impl Ftl {
    /// One step of emptying the cache and of reclaiming what is to be erased beyond the reserve; `None` where nothing is left to do,
    /// or too little is gained.
    pub fn tidy(&mut self) -> Option<Step> {
        if self.is_exhausted() {
            return None;
        }
        if let Some(step) = self.empty_cache() {
            return Some(step);
        }
        let wanted = self.reserve_blocks + self.idle_blocks as usize;
        (self.idle_blocks > 0 && self.free.len() < wanted && self.gains()).then(|| self.reclaim())
    }

    /// Whether reclaiming gains enough.
    fn gains(&self) -> bool {
        let valid = self.victim.map_or_else(|| self.victims.least_valid(), |victim| victim.valid);
        let (most, of) = MOST_VALID;
        u64::from(valid) * of <= u64::from(self.usable_units) * most
    }
}
