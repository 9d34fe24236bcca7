//! Wear of the cells: remaining endurance, and repeated senses of worn cells.

use super::ftl::Ftl;
use tameshi_base::{Random, Share};
use tameshi_spec::profile::FlashProfile;

/// Endurance of the cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endurance {
    /// Rated cycles of a block, and those spent before the run.
    cycles: u64,
    worn: u64,
    /// Cycles beyond the rating that repeated senses allow.
    extra: u64,
    /// Capacity of the real drive divided by that of the simulated one.
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

    /// Return the bytes that the whole drive's cells can still program: within the rating, and
    /// beyond it.
    ///
    /// Bytes written before the run are scaled up to the whole drive; the run writes as much as it
    /// would there.
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

/// Repeated senses of worn cells.
#[derive(Debug)]
pub(super) struct ReadRetry {
    /// Probability of a repetition at the end of life.
    at_end: f64,
    /// Share of life spent before the run.
    worn: f64,
    /// Cycles of a life.
    cycles: f64,
    random: Random,
}

impl ReadRetry {
    /// Return the model of a profile that states repetitions.
    pub(super) fn new(profile: &FlashProfile) -> Option<Self> {
        let retry = profile.read_retry.as_ref()?;
        let share = |share: Share| f64::from(share.0) / 1e6;
        Some(Self {
            at_end: share(retry.at_end_of_life.value),
            worn: profile.simulated.worn_percent.map_or(share(retry.worn.value), |worn| f64::from(worn) / 100.0),
            cycles: f64::from(profile.nand.endurance_cycles.value),
            random: Random::named(0, "flash/read_retry"),
        })
    }

    /// Draw the repetitions for a sense of a physical unit.
    pub(super) fn draw(&mut self, ftl: &Ftl, physical: u32) -> u32 {
        let wear = self.worn + f64::from(ftl.erases()[ftl.block_of(physical) as usize]) / self.cycles;
        let seeds = (self.at_end * wear * wear).min(0.9);
        let mut repeats = 0;
        while self.random.unit() < seeds {
            repeats += 1;
        }
        repeats
    }
}
