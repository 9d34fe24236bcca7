//! Spindle of one disk: its angle at time zero, and its deviation from the nominal speed.

use crate::basics::seed_path::SeedPath;
use tameshi_base::{Nanos, Random};
use tameshi_spec::profile::HddProfile;

const MILLION: u128 = 1_000_000;

/// Rotation of one disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spindle {
    /// Time that the disk has turned at time zero, less than one revolution.
    pub(super) ahead: Nanos,
    /// Duration of a revolution in millionths of the nominal one.
    period: u32,
}

impl Spindle {
    /// Draw the rotation of a disk in its place in a run. A disk outside of a run starts at angle
    /// zero and turns at the nominal speed.
    pub(super) fn placed(profile: &HddProfile, seeds: &SeedPath) -> Self {
        if seeds.is_nowhere() {
            return Self { ahead: 0, period: MILLION as u32 };
        }
        let mut random: Random = seeds.stream("spindle");
        let tolerance = profile.speed_tolerance.as_ref().map_or(0, |tolerance| tolerance.value.0);
        let period = MILLION as u32 - tolerance + random.below(2 * u64::from(tolerance) + 1) as u32;
        let revolution = period_of(profile.revolution.value.0, period);
        Self { ahead: if revolution == 0 { 0 } else { random.below(revolution) }, period }
    }

    /// Return the disk's own duration of what takes `nominal` at the nominal speed.
    pub(super) fn period(&self, nominal: Nanos) -> Nanos {
        period_of(nominal, self.period)
    }

    /// Return the disk's own rate of what passes at `nominal` at the nominal speed.
    pub(super) fn rate(&self, nominal: u64) -> u64 {
        (u128::from(nominal) * MILLION / u128::from(self.period)) as u64
    }
}

fn period_of(nominal: Nanos, millionths: u32) -> Nanos {
    (u128::from(nominal) * u128::from(millionths) / MILLION) as Nanos
}
