//! What the cells have gone through, what they still take, and how often worn ones are sensed again.

use super::Flash;
use super::channel::PARITY;
use tameshi_record::Wear;
use tameshi_spec::profile::FlashProfile;

/// What the cells are good for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endurance {
    /// Cycles that a block takes, and of them those behind it at the run's begin.
    cycles: u64,
    worn: u64,
    /// Cycles beyond, that repeated reads allow.
    extra: u64,
    /// The drive has so many times less flash than the real one.
    scale: u64,
}

impl Endurance {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let cycles = u64::from(profile.nand.endurance_cycles.value);
        let by_profile = profile.read_retry.as_ref().map_or(0, |retry| u64::from(retry.worn.value.0));
        let millionths = profile.simulated.worn_percent.map_or(by_profile, |percent| u64::from(percent) * 10_000);
        let extra = profile.read_retry.as_ref().and_then(|retry| retry.extra_life.as_ref());
        let extra = extra.map_or(0, |share| cycles * u64::from(share.value.0) / 1_000_000);
        let scale = u64::from(profile.simulated.scale.max(1));
        Self { cycles, worn: cycles * millionths / 1_000_000, extra, scale }
    }

    /// Bytes that the cells of the whole drive still take in programs: what was written before the run went to all of them,
    /// what the run writes is as much as it would be on the whole drive.
    ///
    /// Without repeated reads, and what these add.
    fn left(&self, physical_bytes: u64, before_bytes: u64, since_bytes: u64) -> [u64; 2] {
        let whole = |bytes: u64| u128::from(bytes) * u128::from(self.scale);
        let left = |cycles: u64| {
            let all = u128::from(cycles.saturating_sub(self.worn)) * whole(physical_bytes);
            let left = all.saturating_sub(whole(before_bytes)).saturating_sub(u128::from(since_bytes));
            u64::try_from(left).unwrap_or(u64::MAX)
        };
        let rated = left(self.cycles);
        [rated, left(self.cycles + self.extra) - rated]
    }
}

impl Flash {
    /// What the flash has gone through since the run's begin, and how worn it is.
    pub fn wear(&self) -> Wear {
        let unit = self.times.unit_bytes;
        let work = self.work_since_begin();
        let mut wear = Wear {
            written_bytes: self.written_bytes,
            host_bytes: work.host_units * unit,
            moved_bytes: work.moved_units * unit,
            padded_bytes: work.padded_units * unit,
            ..Wear::default()
        };
        let cached = self.controllers.iter().filter_map(|controller| controller.ftl.cached_units());
        wear.cached_bytes = cached.reduce(|all, more| all + more).map(|units| units * unit);
        for controller in &self.controllers {
            let (fill, erases) = (controller.ftl.fill(), controller.ftl.erases());
            wear.physical_bytes += (fill.physical + fill.given_up) * unit;
            wear.given_up_bytes += fill.given_up * unit;
            wear.logical_bytes += fill.logical * unit;
            wear.mapped_bytes += fill.mapped * unit;
            wear.erased_bytes += fill.erased * unit;
            wear.blocks += erases.len() as u64;
            wear.cycles += controller.ftl.work().erases;
            wear.cycles_max = wear.cycles_max.max(erases.iter().max().map_or(0, |&cycles| u64::from(cycles)));
        }
        let (before, since) = (self.before.programmed_units() * unit, work.programmed_units() * unit);
        [wear.life_bytes, wear.retry_life_bytes] = self.endurance.left(wear.physical_bytes, before, since);
        wear
    }

    /// How often a sense must be repeated because the flash is worn.
    #[inline(always)]
    pub(super) fn repeats(&mut self, number: usize, physical: u32) -> u32 {
        if self.times.retry.is_none() { 0 } else { self.drawn_repeats(number, physical) }
    }

    /// The same for something that is sensed to be moved, or for the sake of others.
    #[inline]
    pub(super) fn repeats_of_moved(&mut self, die: u32, unit: u32) -> u32 {
        if self.times.retry.is_none() {
            return 0;
        }
        let number = self.layout.controller_of(die);
        self.drawn_repeats(number, (unit & !PARITY) * self.layout.program_units)
    }

    fn drawn_repeats(&mut self, number: usize, physical: u32) -> u32 {
        let Some((at_end, worn, cycles)) = self.times.retry else { return 0 };
        let ftl = &self.controllers[number].ftl;
        let wear = worn + f64::from(ftl.erases()[ftl.block_of(physical) as usize]) / cycles;
        let chance = (at_end * wear * wear).min(0.9);
        let mut repeats = 0;
        while self.random.unit() < chance {
            repeats += 1;
        }
        repeats
    }
}
