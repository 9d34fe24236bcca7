//! Striping of mapping units over the controllers of a drive.

use std::ops::Range;
use tameshi_base::Command;
use tameshi_spec::profile::FlashProfile;

/// Position of bytes: mapping units, and their controllers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Striping {
    unit_bytes: u64,
    /// Logarithm of `unit_bytes` to base 2, if whole.
    unit_bits: Option<u32>,
    interleave_units: u64,
    controllers: u64,
}

impl Striping {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let unit_bytes = profile.mapping_unit.value.0;
        Self {
            unit_bytes,
            unit_bits: unit_bytes.is_power_of_two().then(|| unit_bytes.ilog2()),
            interleave_units: profile.controller.interleave.value.0 / unit_bytes,
            controllers: u64::from(profile.controller.count.value),
        }
    }

    #[inline]
    pub(super) fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Return whether there is one controller, and mapping units are a power of two.
    pub(super) fn is_simple(&self) -> bool {
        self.controllers == 1 && self.unit_bits.is_some()
    }

    /// Return the mapping unit that holds a byte.
    #[inline]
    pub(super) fn unit_of(&self, byte: u64) -> u64 {
        match self.unit_bits {
            Some(bits) => byte >> bits,
            None => byte / self.unit_bytes,
        }
    }

    /// Return the controller of a mapping unit, and the unit's number there.
    #[inline]
    pub(super) fn route(&self, unit: u64) -> (usize, u32) {
        if self.controllers == 1 {
            return (0, unit as u32);
        }
        let of = self.interleave_units;
        let (stripe, rest) = (unit / of, unit % of);
        ((stripe % self.controllers) as usize, ((stripe / self.controllers) * of + rest) as u32)
    }

    /// Return the mapping unit of a controller's number: the inverse of [`Striping::route`].
    pub(super) fn unit_at(&self, (controller, number): (usize, u32)) -> u64 {
        let (number, of) = (u64::from(number), self.interleave_units);
        if self.controllers == 1 {
            return number;
        }
        (number / of * self.controllers + controller as u64) * of + number % of
    }

    /// Take the first of some mapping units and its successors at the same controller: the
    /// controller, and their numbers there.
    #[inline]
    pub(super) fn take_stretch(&self, left: &mut Range<u64>) -> (usize, Range<u32>) {
        let (number, first) = self.route(left.start);
        let mut count = left.end - left.start;
        if self.controllers > 1 {
            let of = self.interleave_units;
            count = count.min(of - left.start % of);
        }
        left.start += count;
        (number, first..first + count as u32)
    }

    /// Return the mapping units that a command touches.
    #[inline(always)]
    pub(super) fn units(&self, command: &Command) -> Range<u64> {
        let behind = command.offset_bytes + u64::from(command.length_bytes);
        self.unit_of(command.offset_bytes)..self.unit_of(behind + self.unit_bytes - 1)
    }

    /// Return the mapping units that lie wholly within a command.
    pub(super) fn whole_units(&self, command: &Command) -> Range<u64> {
        let unit = self.unit_bytes;
        command.offset_bytes.div_ceil(unit)..(command.offset_bytes + u64::from(command.length_bytes)) / unit
    }
}
