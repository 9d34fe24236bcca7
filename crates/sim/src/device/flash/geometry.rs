//! Geometry of a controller's flash: channels, dies, planes, pages, and blocks at a capacity scale.
//!
//! A block of the translation layer is one erase block of every plane of every die of a controller.
//! Its program units (a page of each plane of one die) run across the channels, then across the
//! dies of a channel, then page by page. With parity, each stripe across the channels has one
//! program unit of parity, on a rotating channel.
//!
//! **Scale.** Scaling by n keeps the number of blocks and gives each 1/n of its pages. Spare,
//! reserve and open blocks stay the same shares of the flash, and so does the relocated share. An
//! erased block then charges an erase to 1/n of its dies in turn: erases take as long, and are as
//! many per written byte, as at full scale.

use super::ftl::{CacheShape, Divide, Shape};
use tameshi_base::Size;
use tameshi_spec::profile::{FlashProfile, SlcCache};

/// Place of a program unit within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Die within the controller: channel · dies per channel + die.
    pub(super) die: u16,
    /// Page type: lower, upper …
    pub(super) kind: u8,
    /// Die of the parity written after this unit, plus one; zero without parity.
    pub(super) parity: u16,
}

/// Page type of a page with one bit per cell, in an SLC cache; other types count from zero.
pub(super) const SLC_PAGE: u8 = 4;

/// Geometry of one controller's flash.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    pub(super) channels: u32,
    data: u32,
    pub(super) dies_per_channel: u32,
    /// Mapping units per program unit.
    pub(super) program_units: u32,
    pub(super) units_per_block: u32,
    pub(super) blocks: u32,
    pub(super) logical: u32,
    /// Places of a block's program units, in order.
    pub(super) places: Vec<Place>,
    /// Die erases per erased block: numerator and denominator.
    pub(super) erase_share: (u32, u32),
    bits: u32,
    by_program_unit: Divide,
    by_block: Divide,
    by_dies: Divide,
    by_bits: Divide,
}

impl Geometry {
    pub(super) fn new(flash: &FlashProfile) -> Result<Self, String> {
        let scale = flash.simulated.scale.max(1);
        let (nand, controller) = (&flash.nand, &flash.controller);
        let unit = flash.mapping_unit.value.0;
        let controllers = u64::from(controller.count.value);
        // Each dead channel narrows the stripes by one, and takes its share of the flash with it.
        let new_data = controller.data_channels.value;
        let data = new_data.saturating_sub(flash.simulated.dead_channels).max(1);
        let (channels, dies) = (data + controller.parity_channels.value, controller.dies_per_channel.value);
        if channels * dies > u32::from(u16::MAX) {
            return Err(format!("{channels} channels of {dies} dies are more than can be simulated"));
        }
        let bits = nand.cell.value.bits();
        let page_units = (nand.page.value.0 / unit) as u32;
        let program_units = page_units * nand.planes.value;
        let pages = (nand.pages_per_block.value / scale).max(1);
        let units_per_page_row = data * dies * program_units;
        let units_per_block = pages * units_per_page_row;
        let logical = flash.scaled_capacity().0.div_ceil(unit).div_ceil(controllers);
        let spare = u128::from(flash.over_provisioning.value.0);
        let physical = u128::from(logical) * (1_000_000 + spare) / 1_000_000;
        let physical = (physical * u128::from(data) / u128::from(new_data)) as u64;
        let blocks = physical.div_ceil(u64::from(units_per_block));
        let narrow = |what: &str, value: u64| {
            u32::try_from(value).map_err(|_| format!("{value} {what} are more than can be simulated; use a scale"))
        };
        Ok(Self {
            channels,
            data,
            dies_per_channel: dies,
            program_units,
            units_per_block,
            blocks: narrow("blocks", blocks)?,
            logical: narrow("logical units", logical)?,
            places: places(pages, data, channels, dies, bits),
            erase_share: (pages, nand.pages_per_block.value),
            bits: bits as u32,
            by_program_unit: Divide::by(program_units),
            by_block: Divide::by(pages * data * dies),
            by_dies: Divide::by(channels * dies),
            by_bits: Divide::by(bits as u32),
        })
    }

    pub(super) fn shape(&self, flash: &FlashProfile) -> Shape {
        Shape {
            logical: self.logical,
            blocks: self.blocks,
            units_per_block: self.units_per_block,
            reserve_blocks: flash.cleaning.reserve_blocks.value,
            separate: flash.cleaning.separate_relocated.value,
            hot_within: flash
                .cleaning
                .separate_hot
                .as_ref()
                .map(|hot| u64::from(self.logical) * u64::from(hot.value.0) / 1_000_000),
            policy: flash.cleaning.policy.value,
            cache: flash.slc_cache.as_ref().map(|cache| self.cache(flash, cache)),
            idle_blocks: flash
                .idle
                .as_ref()
                .and_then(|idle| idle.erased.as_ref())
                .map_or(0, |erased| self.blocks_for(flash, erased.value, self.units_per_block)),
        }
    }

    /// Return the SLC blocks of one controller, made of whole stripes.
    fn cache(&self, flash: &FlashProfile, cache: &SlcCache) -> CacheShape {
        let stripe = self.data * self.program_units;
        let units_per_block = (self.units_per_block / stripe / self.bits).max(1) * stripe;
        CacheShape { units_per_block, blocks: self.blocks_for(flash, cache.size.value, units_per_block) }
    }

    /// Return the blocks of `units_per_block` that hold one controller's part of `bytes` of the
    /// whole drive.
    fn blocks_for(&self, flash: &FlashProfile, bytes: Size, units_per_block: u32) -> u32 {
        let shares = u64::from(flash.controller.count.value) * u64::from(flash.simulated.scale.max(1));
        let units = bytes.0 / flash.mapping_unit.value.0 / shares;
        u32::try_from(units.div_ceil(u64::from(units_per_block))).unwrap_or(u32::MAX).min(self.blocks)
    }

    /// Return the program unit of a mapping unit, and its place there.
    #[inline]
    pub(super) fn program_unit(&self, physical: u32) -> (u32, u32) {
        self.by_program_unit.parts(physical, self.program_units)
    }

    /// Return the controller of a die.
    #[inline]
    pub(super) fn controller_of(&self, die: u32) -> usize {
        self.by_dies.quotient(die) as usize
    }

    /// Return the place of a program unit, and its page type. Blocks start with different page
    /// types in turn.
    #[inline(always)]
    pub(super) fn place(&self, unit: u32) -> (Place, u8) {
        let (block, rest) = self.block(unit);
        self.in_turn(self.places[rest as usize], block)
    }

    /// Return the block of a program unit, and its place there.
    #[inline]
    pub(super) fn block(&self, unit: u32) -> (u32, u32) {
        self.by_block.parts(unit, self.places.len() as u32)
    }

    /// Return a place of a block, and its page type.
    #[inline]
    pub(super) fn in_turn(&self, place: Place, block: u32) -> (Place, u8) {
        let turn = u32::from(place.kind) + block;
        (place, self.by_bits.parts(turn, self.bits).1 as u8)
    }

    /// Return the data units of a stripe.
    pub(super) fn data(&self) -> u32 {
        self.data
    }

    /// Return whether each stripe has parity.
    pub(super) fn has_parity(&self) -> bool {
        self.channels > self.data
    }

    /// Return the places of a block whose stripes hold `data` program units, on the live channels.
    pub(super) fn narrow(&self, data: u32, lives: impl Fn(u32) -> bool) -> Vec<Place> {
        let left: Vec<u32> = (0..self.channels).filter(|&channel| lives(channel)).collect();
        let dies = self.dies_per_channel;
        let pages = self.places.len() as u32 / (self.data * dies);
        let moved = |die: u16| (left[(u32::from(die) / dies) as usize] * dies + u32::from(die) % dies) as u16;
        let of_left = places(pages, data, left.len() as u32, dies, self.bits as usize);
        let place = |place: Place| Place {
            die: moved(place.die),
            parity: place.parity.checked_sub(1).map_or(0, |die| moved(die) + 1),
            ..place
        };
        of_left.into_iter().map(place).collect()
    }

    /// Return the program units of one controller, without parity.
    pub(super) fn program_unit_count(&self) -> usize {
        self.blocks as usize * self.places.len()
    }

    #[inline]
    pub(super) fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }
}

/// Return the places of a block's program units.
fn places(pages: u32, data: u32, channels: u32, dies: u32, bits: usize) -> Vec<Place> {
    let mut places = Vec::with_capacity((pages * data * dies) as usize);
    for stripe in 0..pages * dies {
        let die = stripe % dies;
        let kind = (stripe / dies) as usize % bits;
        let parity_channel = if channels > data { (stripe / dies + die) % channels } else { channels };
        for place in 0..data {
            let channel = place + u32::from(place >= parity_channel);
            let last = place + 1 == data && channels > data;
            places.push(Place {
                die: (channel * dies + die) as u16,
                kind: kind as u8,
                parity: if last { (parity_channel * dies + die) as u16 + 1 } else { 0 },
            });
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn stripe_uses_each_channel_once_and_rotates_parity() {
        let (pages, data, channels, dies) = (34, 16, 17, 2);
        let places = places(pages, data, channels, dies, 2);
        assert_eq!(places.len() as u32, pages * data * dies);
        let mut parities = [0; 17];
        for stripe in places.chunks(data as usize) {
            let parity = stripe[15].parity - 1;
            let used: BTreeSet<u16> = stripe.iter().map(|place| place.die / 2).chain([parity / 2]).collect();
            assert_eq!(used.len(), 17, "{stripe:?}");
            parities[usize::from(parity / 2)] += 1;
        }
        assert!(parities.iter().all(|&count| count == 4), "{parities:?}");
    }

    #[test]
    fn each_die_holds_as_many_pages_of_each_type() {
        let places = places(32, 8, 8, 4, 2);
        let mut counts = [[0; 2]; 32];
        places.iter().for_each(|place| counts[usize::from(place.die)][usize::from(place.kind)] += 1);
        assert!(counts.iter().flatten().all(|&count| count == 16), "{counts:?}");
    }
}
