//! What drives draw: a share of it always, the rest while they work. A storage draws what its drives draw together.
//!
//! A flash drive draws the energies of its senses, programs and erases beside its idle power, spread by its limit, and gets
//! warm by it ([`crate::device::Flash`]); a disk or a 3D XPoint drive lies between idling and working as its medium does. What the
//! host, a link or a cache's controller draw is not told.

use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::Drawn;

/// What so many milliwatts are over a time.
pub(crate) fn nanojoules(milliwatts: u64, time: Nanos) -> u64 {
    (u128::from(milliwatts) * u128::from(time) / 1000) as u64
}

/// A drive that draws one power idling, and another while all of its medium works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawing {
    idle_mw: u64,
    active_mw: u64,
}

impl Drawing {
    pub(crate) fn new(drawn: &Drawn) -> Self {
        Self { idle_mw: u64::from(drawn.idle_mw.value), active_mw: u64::from(drawn.active_mw.value) }
    }

    /// Nanojoules from time zero to `now`, by the use of the medium.
    pub(crate) fn energy_nj(self, now: Nanos, usage: &Usage) -> u64 {
        let (servers, busy) = usage.of(Resource::Media);
        let beyond = self.active_mw.saturating_sub(self.idle_mw);
        nanojoules(self.idle_mw, now) + nanojoules(beyond, busy) / servers.max(1)
    }
}
