//! What the cells are good for, and how much of that is left.

use tameshi_spec::profile::FlashProfile;

/// What the cells are good for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endurance {
    /// Cycles that a block takes, and of them those behind it at the run's begin.
    cycles: u64,
    worn: u64,
    /// Cycles beyond, that repeated reads allow.
    extra: u64,
    /// The drive has so many times less flash than the real one.
    scale: u64,
}

impl Endurance {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let cycles = u64::from(profile.nand.endurance_cycles.value);
        let by_profile = profile.read_retry.as_ref().map_or(0, |retry| u64::from(retry.worn.value.0));
        let millionths = profile.simulated.worn_percent.map_or(by_profile, |percent| u64::from(percent) * 10_000);
        let extra = profile.read_retry.as_ref().and_then(|retry| retry.extra_life.as_ref());
        let extra = extra.map_or(0, |share| cycles * u64::from(share.value.0) / 1_000_000);
        let scale = u64::from(profile.simulated.scale.max(1));
        Self { cycles, worn: cycles * millionths / 1_000_000, extra, scale }
    }

    /// Bytes that the cells of the whole drive still take in programs: what was written before the run went to all of them,
    /// what the run writes is as much as it would be on the whole drive.
    ///
    /// Without repeated reads, and what these add.
    pub(super) fn left(&self, physical_bytes: u64, before_bytes: u64, since_bytes: u64) -> [u64; 2] {
        let whole = |bytes: u64| u128::from(bytes) * u128::from(self.scale);
        let left = |cycles: u64| {
            let all = u128::from(cycles.saturating_sub(self.worn)) * whole(physical_bytes);
            let left = all.saturating_sub(whole(before_bytes)).saturating_sub(u128::from(since_bytes));
            u64::try_from(left).unwrap_or(u64::MAX)
        };
        let rated = left(self.cycles);
        [rated, left(self.cycles + self.extra) - rated]
    }
}
