//! What of a profile time depends on.

use super::layout::{IN_CACHE, Layout};
use crate::device::pace::Pace;
use tameshi_base::Nanos;
use tameshi_spec::profile::{FlashProfile, SlcCache};

/// What of the profile time depends on.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) unit_bytes: u64,
    /// Its logarithm to base 2, where that is whole.
    pub(super) unit_bits: Option<u32>,
    pub(super) interleave_units: u64,
    /// By kind of page, [`IN_CACHE`] included.
    pub(super) read: [Nanos; IN_CACHE as usize + 1],
    pub(super) program: [Nanos; IN_CACHE as usize + 1],
    pub(super) erase: Nanos,
    pub(super) suspend: Option<Nanos>,
    /// One mapping unit on a channel, and a whole program unit.
    pub(super) unit_transfer: Nanos,
    pub(super) program_transfer: Nanos,
    /// What is sensed to be moved: about half of every plane's page is still valid.
    pub(super) moved_transfer: Nanos,
    pub(super) link: [Pace; 2],
    /// One mapping unit from the drive to the host.
    pub(super) unit_link: Nanos,
    pub(super) half_duplex: bool,
    /// What the electronics move both ways together, where that is less than the link carries.
    pub(super) transfer: Option<Pace>,
    pub(super) read_turn: Nanos,
    pub(super) write_turn: Nanos,
    pub(super) read_overhead: Nanos,
    pub(super) write_overhead: Nanos,
    pub(super) depth: u32,
    /// Mapping units of the buffer.
    pub(super) buffer_units: u64,
    pub(super) protected: bool,
    /// Writing what has changed of the map.
    pub(super) map_write: Nanos,
    /// Bytes of a write that is stored whole or not at all.
    pub(super) atomic_bytes: u64,
    /// Time to write the full buffer to the flash when power fails, and time that the capacitor holds.
    pub(super) protection: Option<(Nanos, Nanos)>,
    /// SeedPath of a repeated sense at the end of life, share of life behind it, cycles of a life; and what each takes.
    pub(super) retry: Option<(f64, f64, f64)>,
    pub(super) repeat: Nanos,
}

impl Times {
    /// The mapping unit that a byte lies in.
    #[inline]
    pub(super) fn unit_of(&self, byte: u64) -> u64 {
        match self.unit_bits {
            Some(bits) => byte >> bits,
            None => byte / self.unit_bytes,
        }
    }

    /// Whether a drive that lives whole is plain (`Flash::is_plain`).
    pub(super) fn is_plain(&self, profile: &FlashProfile) -> bool {
        profile.controller.count.value == 1
            && self.unit_bits.is_some()
            && profile.slc_cache.is_none()
            && self.retry.is_none()
            && self.transfer.is_none()
            && profile.power.as_ref().is_none_or(|power| power.thermal.is_none())
    }

    pub(super) fn new(profile: &FlashProfile, layout: &Layout) -> Self {
        let (nand, controller) = (&profile.nand, &profile.controller);
        let by_kind = |times: &[tameshi_base::Time], in_cache: fn(&SlcCache) -> tameshi_base::Time| {
            let mut all = [0; IN_CACHE as usize + 1];
            all.iter_mut().zip(times.iter().cycle()).for_each(|(time, given)| *time = given.0);
            all[usize::from(IN_CACHE)] = profile.slc_cache.as_ref().map_or(0, |cache| in_cache(cache).0);
            all
        };
        let retry = profile.read_retry.as_ref().map(|retry| {
            let share = |share: tameshi_base::Share| f64::from(share.0) / 1e6;
            let cycles = f64::from(nand.endurance_cycles.value);
            let worn = profile.simulated.worn_percent.map_or(share(retry.worn.value), |worn| f64::from(worn) / 100.0);
            (share(retry.at_end_of_life.value), worn, cycles)
        });
        let channel = Pace::per_second(controller.channel_rate.value);
        let (unit, program_units) = (profile.mapping_unit.value.0, layout.program_units);
        let link = [profile.link.read_rate.value, profile.link.write_rate.value].map(Pace::per_second);
        Self {
            unit_bytes: profile.mapping_unit.value.0,
            unit_bits: profile.mapping_unit.value.0.is_power_of_two().then(|| profile.mapping_unit.value.0.ilog2()),
            interleave_units: controller.interleave.value.0 / profile.mapping_unit.value.0,
            read: by_kind(&nand.read_time.value, |cache| cache.read_time.value),
            program: by_kind(&nand.program_time.value, |cache| cache.program_time.value),
            erase: nand.erase_time.value.0,
            suspend: nand.suspend_time.as_ref().map(|time| time.value.0),
            unit_transfer: channel.time(unit),
            program_transfer: channel.time(u64::from(program_units) * unit),
            moved_transfer: channel.time(u64::from(program_units.div_ceil(2)) * unit),
            unit_link: link[0].time(unit),
            link,
            half_duplex: profile.link.half_duplex.value,
            transfer: controller.transfer_rate.as_ref().map(|rate| Pace::per_second(rate.value)),
            read_turn: Pace::per_second(controller.read_rate.value).time(1),
            write_turn: Pace::per_second(controller.write_rate.value).time(1),
            read_overhead: controller.read_overhead.value.0,
            write_overhead: controller.write_overhead.value.0,
            depth: controller.queue_depth.value,
            buffer_units: profile.buffer.size.value.0 / profile.mapping_unit.value.0,
            protected: profile.buffer.power_loss_protection.is_some(),
            map_write: profile.buffer.map_write_time.as_ref().map_or(0, |time| time.value.0),
            atomic_bytes: profile.atomic_write.as_ref().unwrap_or(&profile.mapping_unit).value.0,
            protection: profile
                .buffer
                .power_loss_protection
                .as_ref()
                .map(|of| (of.flush_time.value.0, of.hold_up.value.0)),
            retry,
            repeat: profile.read_retry.as_ref().map_or(0, |retry| retry.retry_time.value.0),
        }
    }
}
