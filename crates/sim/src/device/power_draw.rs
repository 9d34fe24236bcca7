//! Power draw of drives: idle power, and more while their medium works.
//!
//! A flash drive draws the energy of its senses, programs and erases in addition to its idle power,
//! spread by its power limit, and gets warm ([`crate::device::Flash`]). A disk or a 3D XPoint drive
//! draws its active power while its medium works. A storage draws the sum of its drives. Host,
//! links and cache controllers are not modelled.

use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::Drawn;

/// Return the energy of a power over a time.
pub(crate) fn nanojoules(milliwatts: u64, time: Nanos) -> u64 {
    (u128::from(milliwatts) * u128::from(time) / 1000) as u64
}

/// Drive with one power when idle, and another while all of its medium works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing {
    idle_mw: u64,
    active_mw: u64,
}

impl Drawing {
    pub(crate) fn new(drawn: &Drawn) -> Self {
        Self { idle_mw: u64::from(drawn.idle_mw.value), active_mw: u64::from(drawn.active_mw.value) }
    }

    /// Return the energy from time zero to `now` in nanojoules, from the usage of the medium.
    pub(crate) fn energy_nj(self, now: Nanos, usage: &Usage) -> u64 {
        let (servers, busy) = usage.of(Resource::Media);
        let beyond = self.active_mw.saturating_sub(self.idle_mw);
        nanojoules(self.idle_mw, now) + nanojoules(beyond, busy) / servers.max(1)
    }
}
