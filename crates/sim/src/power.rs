//! What drives draw: a share of it always, the rest while they work. A storage draws what its drives draw together.
//!
//! A flash drive draws the energies of its senses, programs and erases beside its idle power, spread by its limit, and gets
//! warm by it ([`crate::device::Flash`]); a disk or a 3D XPoint drive lies between idling and working as its medium does. What the
//! host, a link or a cache's controller draw is not told.

use crate::device::Device;
use tameshi_base::Nanos;
use tameshi_record::{Heat, Resource, Usage};
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

impl Device {
    /// Nanojoules that the drives have drawn from time zero to `now`; `None` unless the profile of each says.
    pub fn energy_nj(&self, now: Nanos) -> Option<u64> {
        match self {
            Self::Null(_) | Self::Volume(_) => None,
            Self::Hdd(hdd) => hdd.energy_nj(now),
            Self::XPoint(xpoint) => xpoint.energy_nj(now),
            Self::Flash(flash) => flash.energy_nj(now),
            Self::Array(array) => array.energy_nj(now),
            Self::Linked(linked) => linked.inner().energy_nj(now),
            Self::Shared(shared) => shared.inner().energy_nj(now),
            Self::Cache(cache) => cache.inner().energy_nj(now),
        }
    }

    /// How warm the warmest of the drives is at `now`, and how long heat has held any of them back; `None` where no profile says.
    pub fn heat(&self, now: Nanos) -> Option<Heat> {
        match self {
            Self::Null(_) | Self::Volume(_) | Self::Hdd(_) | Self::XPoint(_) => None,
            Self::Flash(flash) => flash.heat(now),
            Self::Array(array) => array.heat(now),
            Self::Linked(linked) => linked.inner().heat(now),
            Self::Shared(shared) => shared.inner().heat(now),
            Self::Cache(cache) => cache.inner().heat(now),
        }
    }
}
