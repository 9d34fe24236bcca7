//! Commands that a drive holds.

use crate::basics::prefetch::prefetch_all;
use crate::device::{Breakdown, DeviceCompletion};
use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};
use tameshi_base::{Command, CommandKind, Nanos};

/// Command that the drive holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Completion to be, except for parts known only at its end.
    pub(super) done: DeviceCompletion,
    pub(super) epoch: u64,
    /// Time at which its data have crossed the link and the processor's overhead has passed.
    pub(super) ready: Nanos,
    /// Mapping units without a place in the buffer: `next..end`.
    pub(super) next: u64,
    pub(super) end: u64,
    /// Programs that it waits for.
    pub(super) programs: u32,
    /// True if it must be on the flash before it completes.
    pub(super) durable: bool,
    /// True if it begins or ends within a mapping unit whose other part has not been looked up.
    pub(super) edges: bool,
}

/// Slot before its first command.
const UNUSED: Slot = Slot {
    done: DeviceCompletion {
        command: Command { id: 0, kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0, fua: false, stream: 0 },
        submitted: 0,
        at: 0,
        breakdown: Breakdown { queue: 0, host: 0, link: 0, controller: 0, media: 0, garbage_collection: 0, rebuild: 0 },
        failed: false,
    },
    epoch: 0,
    ready: 0,
    next: 0,
    end: 0,
    programs: 0,
    durable: false,
    edges: false,
};

/// Command slots by number.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slots {
    /// Take a free slot.
    #[inline(always)]
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(UNUSED);
            (self.slots.len() - 1) as u32
        })
    }

    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        self.free.push(number);
    }

    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        prefetch_all(&self.slots, number as usize);
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
    }

    /// Writes that are not complete.
    pub(super) fn writes_under_way(&self) -> impl Iterator<Item = &Slot> {
        let free: BTreeSet<u32> = self.free.iter().copied().collect();
        let held = (0..).zip(&self.slots).filter(move |(number, _)| !free.contains(number));
        held.map(|(_, slot)| slot).filter(|slot| slot.done.command.kind == CommandKind::Write)
    }
}

impl Index<u32> for Slots {
    type Output = Slot;

    #[inline(always)]
    fn index(&self, number: u32) -> &Slot {
        &self.slots[number as usize]
    }
}

impl IndexMut<u32> for Slots {
    #[inline(always)]
    fn index_mut(&mut self, number: u32) -> &mut Slot {
        &mut self.slots[number as usize]
    }
}
