//! State of a controller with dead channels, and its rebuild.
//!
//! With parity across the channels a dead channel loses no data. New blocks use the live channels,
//! in stripes narrower by one. A page on a dead die is reconstructed: its stripe's other pages are
//! sensed. The rebuild moves blocks across the dead channel into new ones, next to the host's
//! commands, one stripe's worth of data at a time. The drive dies if another channel of the
//! controller dies before the rebuild ends, without parity, or without room.
//!
//! Tasks under way on a dying die finish; queued tasks take no time. The parity of a stripe cut
//! short stays in the controller's memory.

use super::geometry::Place;
use crate::device::loss::Rebuilt;
use tameshi_base::Nanos;

/// State of a controller since its first channel died.
#[derive(Debug)]
pub(super) struct Degraded {
    /// Places of the program units of a block erased after no, one, two … failures; and the data
    /// units of a stripe.
    layouts: Vec<(Vec<Place>, u32)>,
    /// Channel that died last, counted over the drive, and the time.
    channel: u32,
    since: Nanos,
    /// Program units of the rebuild under way.
    outstanding: u32,
    /// True if the host's program unit being filled holds data of the rebuild; without separation
    /// only.
    filling: bool,
    /// Units moved by all rebuilds, and by earlier rebuilds.
    moved: (u64, u64),
    is_rebuilding: bool,
}

impl Degraded {
    /// State before the first failure, with the layout of whole stripes.
    pub(super) fn new(whole: (Vec<Place>, u32)) -> Self {
        let (outstanding, filling) = (0, false);
        let layouts = vec![whole];
        Self { layouts, channel: 0, since: 0, outstanding, filling, moved: (0, 0), is_rebuilding: false }
    }

    /// Note that a channel died at `now`; new blocks have this layout.
    pub(super) fn add_failure(&mut self, channel: u32, layout: (Vec<Place>, u32), now: Nanos) {
        self.layouts.push(layout);
        (self.channel, self.since, self.is_rebuilding) = (channel, now, true);
        self.moved.1 = self.moved.0;
    }

    /// Return the data units of a new stripe.
    pub(super) fn width(&self) -> Option<u32> {
        self.layouts.last().map(|(_, data)| *data)
    }

    /// Return the layout of a block after `generation` failures that holds its `rest`-th program
    /// unit.
    ///
    /// The map may have reclaimed a block while one of its older units is still under way there.
    pub(super) fn layout(&self, generation: usize, rest: u32) -> (&[Place], u32) {
        let known = &self.layouts[..=generation];
        let (places, data) = known.iter().rfind(|(places, _)| (rest as usize) < places.len()).unwrap_or(&known[0]);
        (places, *data)
    }

    /// Return whether the rebuild may send another unit: at most one stripe's worth is under way.
    pub(super) fn may_go_on(&self, width: u32) -> bool {
        self.is_rebuilding && self.outstanding < width
    }

    pub(super) fn count_moved(&mut self) {
        self.moved.0 += 1;
    }

    pub(super) fn note_filling(&mut self, rebuilds: bool) {
        self.filling |= rebuilds;
    }

    /// Take whether the host's full program unit holds data of the rebuild.
    pub(super) fn take_filling(&mut self) -> bool {
        std::mem::take(&mut self.filling)
    }

    /// Count a program unit of the rebuild that goes to its die.
    pub(super) fn begin_program(&mut self) {
        self.outstanding += 1;
    }

    /// Count a finished program unit of the rebuild.
    pub(super) fn end_program(&mut self) {
        self.outstanding -= 1;
    }

    /// End the rebuild if no program is under way; return its report.
    pub(super) fn finish(&mut self, unit_bytes: u64, at: Nanos) -> Option<Rebuilt> {
        self.is_rebuilding = self.outstanding > 0;
        let bytes = (self.moved.0 - self.moved.1) * unit_bytes;
        let (since, channel) = (self.since, Some(self.channel));
        (!self.is_rebuilding).then_some(Rebuilt { at, since, drive: 0, channel, is_resync: false, bytes })
    }

    /// Forget programs under way.
    pub(super) fn clear(&mut self) {
        (self.outstanding, self.filling) = (0, false);
    }

    /// Return the units moved by all rebuilds.
    pub(super) fn moved_units(&self) -> u64 {
        self.moved.0
    }

    #[cfg(test)]
    pub(super) fn layouts(&self) -> &[(Vec<Place>, u32)] {
        &self.layouts
    }
}
