//! What the cells have gone through, what they still take, and how often worn ones are sensed again.

use super::Flash;
use super::die::PARITY;
use tameshi_record::Wear;

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
