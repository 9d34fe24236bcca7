//! Capacities, buffers and reserves that the geometry of a profile does not have.
//!
//! Each is compared with what follows from other values, within a factor that is less than a
//! thousand.

use super::FlashProfile;
use crate::profile::range::{ProfileError, conflict, size_up_to};
use tameshi_base::units::Size;

/// Bytes of a die: 32 Tbit, and as many as several dies that a profile takes for one.
const MOST_OF_A_DIE: u64 = 4_000_000_000_000;
/// Capacity limit of a buffer, as a multiple of the bytes that the flash programs in the time to
/// flush it.
const BUFFER_TIMES: u128 = 10;
/// Time to flush the buffer of a drive that does not say.
const FLUSH_NS: u64 = 100_000_000;
const PPM: u128 = 1_000_000;

/// Conflict of the geometry with the dies, the spare or the flash's speed.
pub(super) fn flash_geometry_conflict(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    die_conflict(flash).or_else(|| buffer_conflict(flash)).or_else(|| reserve_conflict(flash))
}

/// Dies of all controllers that hold data.
fn dies(flash: &FlashProfile) -> u64 {
    let controller = &flash.controller;
    let each = [&controller.count, &controller.data_channels, &controller.dies_per_channel];
    each.iter().map(|count| u64::from(count.value)).product()
}

fn die_conflict(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    let most = Size(dies(flash) * MOST_OF_A_DIE);
    if flash.capacity.value <= most {
        return None;
    }
    let message = format!("{} dies, each with {} at most, do not hold this", dies(flash), Size(MOST_OF_A_DIE));
    conflict(&["flash", "capacity"], &message, &size_up_to(most.0.into()))
}

fn buffer_conflict(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    let (nand, buffer) = (&flash.nand, &flash.buffer);
    let flush = buffer.power_loss_protection.as_ref().map_or(FLUSH_NS, |protection| protection.flush_time.value.0);
    let programs = &nand.program_time.value;
    let program = programs.iter().map(|time| u128::from(time.0)).sum::<u128>() / programs.len().max(1) as u128;
    let unit = u128::from(nand.page.value.0) * u128::from(nand.planes.value) * u128::from(dies(flash));
    let most = BUFFER_TIMES * unit * u128::from(flush) / program.max(1);
    if u128::from(buffer.size.value.0) <= most {
        return None;
    }
    let message = "the buffer holds more than all dies program in ten times its flush_time";
    conflict(&["flash", "buffer", "size"], message, &size_up_to(most))
}

/// Error of more reserve blocks than each controller has besides its data: no run could simulate
/// it.
fn reserve_conflict(flash: &FlashProfile) -> Option<ProfileError<'static>> {
    let (nand, cleaning) = (&flash.nand, &flash.cleaning);
    let controllers = u128::from(flash.controller.count.value);
    let block = u128::from(nand.page.value.0)
        * u128::from(nand.planes.value)
        * u128::from(nand.pages_per_block.value)
        * u128::from(dies(flash))
        / controllers;
    let logical = u128::from(flash.capacity.value.0).div_ceil(controllers);
    let blocks = (logical * (PPM + u128::from(flash.over_provisioning.value.0)) / PPM).div_ceil(block);
    let spare = (blocks * block).saturating_sub(logical) / block;
    // One is written by the host, one more where relocated data lie apart or a cache is there, two
    // where hot data lie apart, and one is reclaimed.
    let open = 2
        + u128::from(cleaning.separate_relocated.value)
        + u128::from(flash.slc_cache.is_some())
        + 2 * u128::from(cleaning.separate_hot.is_some());
    let most = spare.saturating_sub(open);
    if u128::from(cleaning.reserve_blocks.value) <= most {
        return None;
    }
    let message = format!(
        "a controller has {blocks} blocks of {} for {} of data: beside these and {open} that are open there is no room for \
         this many",
        size(block),
        size(logical)
    );
    let accepted = if most >= 2 { format!("2 to {most}") } else { "more over_provisioning or smaller blocks".into() };
    conflict(&["flash", "cleaning", "reserve_blocks"], &message, &accepted)
}

fn size(bytes: u128) -> Size {
    Size(u64::try_from(bytes).unwrap_or(u64::MAX))
}
