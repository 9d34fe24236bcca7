//! Revolutions that pass because the head settles too late after a seek, drawn by chance.

use crate::basics::seed_path::SeedPath;
use tameshi_base::Random;
use tameshi_spec::profile::HddProfile;

const MILLION: u64 = 1_000_000;

/// Chance of a missed revolution.
#[derive(Debug)]
pub(super) struct Misses {
    /// Share of seeks in millionths.
    share: u64,
    random: Random,
}

impl Misses {
    /// Build the chance of a disk in its place in a run.
    pub(super) fn placed(profile: &HddProfile, seeds: &SeedPath) -> Self {
        let share = profile.missed_revolutions.as_ref().map_or(0, |share| u64::from(share.value.0));
        Self { share, random: seeds.stream("misses") }
    }

    /// Return whether a seek over a distance in cylinders misses its revolution.
    ///
    /// A disk that chooses among `held` commands misses that much less often.
    #[inline]
    pub(super) fn next(&mut self, distance: u64, held: usize) -> bool {
        self.share > 0 && distance > 0 && self.random.below(MILLION * held as u64) < self.share
    }
}
