//! One controller: its translation layer, buffered units, garbage collection and stripes.

use super::buffer::BufferedUnits;
use super::degraded::Degraded;
use super::dies::{NONE, PARITY};
use super::ftl::{Frontier, Ftl};
use super::gc::Collector;
use super::geometry::{Geometry, Place, SLC_PAGE};
use tameshi_base::Random;
use tameshi_record::Wear;
use tameshi_spec::profile::FlashProfile;

/// One controller.
#[derive(Debug)]
pub(super) struct Controller {
    pub(super) ftl: Ftl,
    pub(super) buffered: BufferedUnits,
    pub(super) collector: Collector,
    pub(super) first_die: u32,
    /// State since the first channel failure.
    pub(super) degraded: Option<Box<Degraded>>,
    /// True if all blocks are alike: no channel is dead, and there is no SLC cache.
    pub(super) is_uniform: bool,
}

impl Controller {
    pub(super) fn new(number: u32, profile: &FlashProfile, geometry: &Geometry) -> Result<Self, String> {
        let random = Random::named(0, &format!("flash/victims/{number}"));
        Ok(Self {
            ftl: Ftl::new(geometry.shape(profile), random)?,
            buffered: BufferedUnits::new(geometry.program_unit_count()),
            collector: Collector::new(),
            first_die: number * geometry.dies(),
            degraded: None,
            is_uniform: profile.slc_cache.is_none(),
        })
    }

    /// Return the place of a program unit, and its page type.
    #[inline(always)]
    pub(super) fn place(&self, geometry: &Geometry, unit: u32) -> (Place, u8) {
        if self.is_uniform {
            return geometry.place(unit);
        }
        self.place_among_others(geometry, unit)
    }

    #[inline(never)]
    fn place_among_others(&self, geometry: &Geometry, unit: u32) -> (Place, u8) {
        let (block, rest) = geometry.block(unit);
        let (places, _) = self.layout(geometry, block, rest);
        self.of_block(geometry, places[rest as usize], block)
    }

    /// Return a place of a block, and its page type.
    fn of_block(&self, geometry: &Geometry, place: Place, block: u32) -> (Place, u8) {
        if self.ftl.is_in_cache(block) {
            return (place, SLC_PAGE);
        }
        geometry.in_turn(place, block)
    }

    /// Return the places of the program units of a block that has a `rest`-th one, and the data
    /// units of a stripe.
    fn layout<'a>(&'a self, geometry: &'a Geometry, block: u32, rest: u32) -> (&'a [Place], u32) {
        match &self.degraded {
            Some(degraded) => degraded.layout(self.ftl.generation(block), rest),
            None => (&geometry.places, geometry.data()),
        }
    }

    /// Return the data units of a new stripe.
    pub(super) fn width(&self, geometry: &Geometry) -> u32 {
        self.degraded.as_ref().and_then(|degraded| degraded.width()).unwrap_or(geometry.data())
    }

    /// Return the parts of a program unit's stripe, including parity.
    pub(super) fn stripe_parts(&self, geometry: &Geometry, unit: u32) -> u32 {
        let (block, rest) = geometry.block(unit);
        self.layout(geometry, block, rest).1 + 1
    }

    /// Return a part of a program unit's stripe, parity last: its die, its number for a sense, and
    /// its page type. `None` for the unit itself.
    pub(super) fn stripe_part(&self, geometry: &Geometry, unit: u32, position: u32) -> Option<(u32, u32, u8)> {
        let (block, rest) = geometry.block(unit);
        let (places, data) = self.layout(geometry, block, rest);
        let first = rest / data * data;
        if position == data {
            let (last, page) = self.of_block(geometry, places[(first + data - 1) as usize], block);
            return Some((self.first_die + u32::from(last.parity) - 1, (unit - rest + first) | PARITY, page));
        }
        let (place, page) = self.of_block(geometry, places[(first + position) as usize], block);
        let other = unit - rest + first + position;
        (other != unit).then_some((self.first_die + u32::from(place.die), other, page))
    }

    /// Return the program unit in the buffer that holds a logical unit, and its die.
    pub(super) fn buffered_unit(&self, geometry: &Geometry, logical: u32) -> Option<(u32, u32)> {
        let (unit, _) = geometry.program_unit(self.ftl.lookup(logical)?);
        let is_held = self.buffered.holds(unit);
        is_held.then(|| (unit, self.first_die + u32::from(self.place(geometry, unit).0.die)))
    }

    /// Logical units in a program unit.
    pub(super) fn holders<'a>(&'a self, geometry: &Geometry, unit: u32) -> impl Iterator<Item = u32> + use<'a> {
        let first = unit * geometry.program_units;
        (first..first + geometry.program_units).filter_map(|at| self.ftl.holder(at))
    }

    /// Write the first `units` in order, then as many at random `random_passes` times, past an SLC
    /// cache.
    pub(super) fn precondition(&mut self, units: u64, random_passes: u32, random: &mut Random) {
        self.ftl.bypass_cache(true);
        self.ftl.write_untimed_in_order(units as u32);
        self.write_at_random(units, units * u64::from(random_passes), random);
        self.ftl.bypass_cache(false);
    }

    /// Write `count` of the first `units` at random, without regard to time. Units are drawn before
    /// their turn: their entries and those of their old places are prefetched meanwhile.
    fn write_at_random(&mut self, units: u64, count: u64, random: &mut Random) {
        const AHEAD: u64 = 32;
        let mut soon = [0; AHEAD as usize];
        let place = |number: u64| (number % AHEAD) as usize;
        for number in 0..count + AHEAD {
            if number >= AHEAD {
                self.ftl.write_untimed(soon[place(number)]);
            }
            if number < count {
                soon[place(number)] = random.below(units) as u32;
                self.ftl.prefetch(soon[place(number)]);
            }
            if (AHEAD / 2..count + AHEAD / 2).contains(&number) {
                let old = self.ftl.lookup(soon[place(number - AHEAD / 2)]);
                old.into_iter().for_each(|physical| self.ftl.prefetch_inverse(physical));
            }
        }
    }

    /// Empty the buffer after a power loss. Program units being filled stay partly empty.
    pub(super) fn restart(&mut self, geometry: &Geometry) {
        for frontier in Frontier::OF_HOST.into_iter().chain(Frontier::OF_RELOCATED) {
            while self.buffered.filling(frontier) != NONE {
                let (_, rest) = geometry.program_unit(self.ftl.pad(frontier));
                if rest + 1 == geometry.program_units {
                    self.buffered.abandon(frontier);
                }
            }
        }
        self.buffered.clear();
        self.collector.clear();
    }

    /// Add fill and cycles of the flash, in bytes of `unit` per mapping unit.
    pub(super) fn add_wear(&self, unit: u64, wear: &mut Wear) {
        let (fill, erases) = (self.ftl.fill(), self.ftl.erases());
        wear.physical_bytes += (fill.physical + fill.given_up) * unit;
        wear.given_up_bytes += fill.given_up * unit;
        wear.logical_bytes += fill.logical * unit;
        wear.mapped_bytes += fill.mapped * unit;
        wear.erased_bytes += fill.erased * unit;
        wear.blocks += erases.len() as u64;
        wear.cycles += self.ftl.work().erases;
        wear.cycles_max = wear.cycles_max.max(erases.iter().max().map_or(0, |&cycles| u64::from(cycles)));
    }
}
