//! Sizes and policy of a translation layer.

use super::slc_cache::CacheShape;
use super::victims::OPEN;
use tameshi_spec::profile::CleaningPolicy;

/// Sizes and policy of a translation layer.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Logical units.
    pub logical: u32,
    /// Blocks.
    pub blocks: u32,
    /// Units per block.
    pub units_per_block: u32,
    /// Blocks kept erased.
    pub reserve_blocks: u32,
    /// True if relocated units go to blocks of their own.
    pub separate: bool,
    /// Host writes within which a rewritten unit counts as hot; hot data lie apart. `None`: no
    /// separation of hot data. Needs `separate`.
    pub hot_within: Option<u64>,
    /// Choice of the block to reclaim.
    pub policy: CleaningPolicy,
    /// SLC cache for host data, if any. Needs `separate`.
    pub cache: Option<CacheShape>,
    /// Blocks erased beyond the reserve while idle.
    pub idle_blocks: u32,
}

impl Shape {
    /// Return the number of frontiers in use.
    pub(super) fn frontiers(&self) -> u32 {
        1 + u32::from(self.separate) + 2 * u32::from(self.hot_within.is_some()) + u32::from(self.cache.is_some())
    }

    /// Return the physical units.
    ///
    /// # Errors
    /// The spare is too small to reclaim anything, or the flash too large for four-byte addresses.
    pub(super) fn checked_units(&self) -> Result<u32, String> {
        let physical = u64::from(self.blocks) * u64::from(self.units_per_block);
        if physical >= u64::from(OPEN) {
            return Err(format!(
                "{physical} flash units behind one controller are more than can be simulated; use a scale"
            ));
        }
        let kept = u64::from(self.reserve_blocks + self.frontiers()) * u64::from(self.units_per_block);
        if u64::from(self.logical) + kept + u64::from(self.units_per_block) > physical {
            return Err(format!(
                "{} blocks of {} units can't hold {} units beside {} blocks in reserve: more over-provisioning, fewer \
                 reserve_blocks or a smaller scale is needed",
                self.blocks, self.units_per_block, self.logical, self.reserve_blocks
            ));
        }
        Ok(physical as u32)
    }
}
