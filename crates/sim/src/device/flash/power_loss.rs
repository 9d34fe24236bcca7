//! Data at a power cut: acknowledged data in the buffer, and torn writes.
//!
//! A write under way is torn if some of its mapping units have reached safe storage and others have
//! not. Safe storage is the buffer of a protected drive, filled as units cross the link, and the
//! flash of an unprotected drive. A write up to the atomic size is never torn. An address whose
//! data are lost holds its older data.

use super::slots::{Slot, Slots};
use super::striping::Striping;
use std::collections::BTreeSet;
use tameshi_base::Command;

/// Mapping unit: its controller, and its number there.
pub(super) type Unit = (usize, u32);

/// Count torn writes; `stored` returns the mapping units of a write in safe storage.
///
/// Writes of an array or a cache itself are never counted: a rebuild begins again, and written-back
/// data are still in the cache or lost with it.
pub(super) fn torn_writes(
    slots: &Slots,
    striping: &Striping,
    atomic_bytes: u64,
    mut stored: impl FnMut(&Slot) -> u64,
) -> u64 {
    let larger = |slot: &&Slot| {
        let Command { length_bytes, stream, .. } = slot.done.command;
        u64::from(length_bytes) > atomic_bytes && stream != Command::OF_STORAGE
    };
    let is_torn = |slot: &&Slot| {
        let stored = stored(slot);
        0 < stored && stored < slot.end - first_unit(slot, striping)
    };
    slots.writes_under_way().filter(larger).filter(is_torn).count() as u64
}

/// Return the first mapping unit of a write.
pub(super) fn first_unit(slot: &Slot, striping: &Striping) -> u64 {
    slot.done.command.offset_bytes / striping.unit_bytes()
}

/// Return the units in the buffer whose writes have completed.
pub(super) fn acknowledged_units(
    slots: &Slots,
    striping: &Striping,
    buffered: impl Iterator<Item = Unit>,
) -> impl Iterator<Item = Unit> {
    let taken =
        |slot: &Slot| (first_unit(slot, striping)..slot.next).map(|unit| striping.route(unit)).collect::<Vec<_>>();
    let under_way: BTreeSet<Unit> = slots.writes_under_way().flat_map(taken).collect();
    buffered.filter(move |unit| !under_way.contains(unit))
}
