//! Times of the flash itself.

use super::geometry::{Geometry, SLC_PAGE};
use crate::device::pace::Pace;
use tameshi_base::{Nanos, Time};
use tameshi_spec::profile::{FlashProfile, SlcCache};

/// Times of dies and channels.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// Sense and program times by page type, including [`SLC_PAGE`].
    pub(super) read: [Nanos; SLC_PAGE as usize + 1],
    pub(super) program: [Nanos; SLC_PAGE as usize + 1],
    pub(super) erase: Nanos,
    pub(super) suspend: Option<Nanos>,
    /// Extra time of a repeated sense.
    pub(super) repeat: Nanos,
    /// Time of a map write.
    pub(super) map_write: Nanos,
    /// Transfer of one mapping unit on a channel.
    pub(super) unit_transfer: Nanos,
    /// Transfer of a program unit.
    pub(super) program_transfer: Nanos,
    /// Transfer of data sensed for relocation: about half of each plane's page is still valid.
    pub(super) moved_transfer: Nanos,
    /// Overhead of the controller before a read is sensed.
    pub(super) read_overhead: Nanos,
}

impl Timing {
    pub(super) fn new(profile: &FlashProfile, geometry: &Geometry) -> Self {
        let nand = &profile.nand;
        let by_type = |times: &[Time], slc: fn(&SlcCache) -> Time| {
            let mut all = [0; SLC_PAGE as usize + 1];
            all.iter_mut().zip(times.iter().cycle()).for_each(|(time, given)| *time = given.0);
            all[usize::from(SLC_PAGE)] = profile.slc_cache.as_ref().map_or(0, |cache| slc(cache).0);
            all
        };
        let channel = Pace::per_second(profile.controller.channel_rate.value);
        let (unit, program_units) = (profile.mapping_unit.value.0, geometry.program_units);
        Self {
            read: by_type(&nand.read_time.value, |cache| cache.read_time.value),
            program: by_type(&nand.program_time.value, |cache| cache.program_time.value),
            erase: nand.erase_time.value.0,
            suspend: nand.suspend_time.as_ref().map(|time| time.value.0),
            repeat: profile.read_retry.as_ref().map_or(0, |retry| retry.retry_time.value.0),
            map_write: profile.buffer.map_write_time.as_ref().map_or(0, |time| time.value.0),
            unit_transfer: channel.time(unit),
            program_transfer: channel.time(u64::from(program_units) * unit),
            moved_transfer: channel.time(u64::from(program_units.div_ceil(2)) * unit),
            read_overhead: profile.controller.read_overhead.value.0,
        }
    }
}
