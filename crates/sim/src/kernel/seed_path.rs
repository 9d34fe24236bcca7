//! What is chance in a device.

use std::fmt::Display;
use tameshi_base::Random;

/// What a device draws from: the run's seed and the device's place in the run, so that another seed gives other draws and
/// no two devices draw alike.
#[derive(Clone, Debug, Default)]
pub struct SeedPath {
    seed: u64,
    place: String,
}

impl SeedPath {
    /// That of a storage's device in a run with this seed.
    pub fn new(seed: u64, storage: &str) -> Self {
        Self { seed, place: storage.into() }
    }

    /// That of a device inside this one.
    pub(crate) fn within(&self, part: impl Display) -> Self {
        Self { seed: self.seed, place: format!("{}/{part}", self.place) }
    }

    /// What one thing in the device is drawn from.
    pub(crate) fn of(&self, what: &str) -> Random {
        Random::named(self.seed, &format!("device/{}/{what}", self.place))
    }
}
