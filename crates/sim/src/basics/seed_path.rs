//! Seed of a device's random streams.

use std::fmt::Display;
use tameshi_base::Random;

/// The run's seed and the device's path in the run.
///
/// Another seed gives other draws, and no two devices draw the same numbers.
#[derive(Clone, Debug, Default)]
pub struct SeedPath {
    seed: u64,
    path: String,
}

impl SeedPath {
    /// Path of a storage's device in a run with this seed.
    pub fn new(seed: u64, storage: &str) -> Self {
        Self { seed, path: storage.into() }
    }

    /// Path of a device inside this one.
    pub(crate) fn within(&self, part: impl Display) -> Self {
        Self { seed: self.seed, path: format!("{}/{part}", self.path) }
    }

    /// Return whether the device is in no run and part of no other device.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.path.is_empty()
    }

    /// Random stream for one purpose in the device.
    pub(crate) fn stream(&self, purpose: &str) -> Random {
        Random::named(self.seed, &format!("device/{}/{purpose}", self.path))
    }
}
