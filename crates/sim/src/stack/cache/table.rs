//! Table of a cache's blocks: by number, in the order of use, and in the order in which they became
//! dirty.

/// Bytes of a block.
pub(in crate::stack) const BLOCK_BYTES: u64 = 4096;
const NONE: u32 = u32::MAX;

/// State of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Equal to the device's data.
    Clean,
    /// Newer than the device's data.
    Dirty,
    /// Being written back.
    Writing,
    /// Being written back, and changed meanwhile.
    Changed,
}

/// Slot of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) block: u64,
    pub(super) state: State,
    /// Flushes begun before it became dirty.
    pub(super) generation: u64,
    /// Serial number of the last write that changed it.
    pub(super) writer: u64,
    before: u32,
    after: u32,
}

/// Linked list through the slots.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Blocks by number. Nothing is allocated once the cache is full.
#[derive(Debug)]
pub(super) struct Table {
    buckets: Vec<u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    most: usize,
    clean: List,
    dirty: List,
}

impl Table {
    /// Build a table for `blocks` blocks.
    pub(super) fn new(blocks: usize) -> Self {
        let empty = List { first: NONE, last: NONE };
        let buckets = vec![NONE; (2 * blocks).next_power_of_two()];
        Self { buckets, slots: Vec::new(), free: Vec::new(), most: blocks, clean: empty, dirty: empty }
    }

    #[inline]
    fn home(&self, block: u64) -> usize {
        let shift = 64 - self.buckets.len().ilog2();
        (block.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
    }

    fn bucket(&self, block: u64) -> Result<usize, usize> {
        let mask = self.buckets.len() - 1;
        let mut place = self.home(block);
        loop {
            match self.buckets[place] {
                NONE => return Err(place),
                slot if self.slots[slot as usize].block == block => return Ok(place),
                _ => place = (place + 1) & mask,
            }
        }
    }

    /// Return the slot of a block.
    #[inline]
    pub(super) fn find(&self, block: u64) -> Option<u32> {
        self.bucket(block).ok().map(|place| self.buckets[place])
    }

    pub(super) fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    pub(super) fn slot_mut(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// Insert a missing block into a free slot, or into that of the clean block not used for
    /// longest.
    pub(super) fn insert(&mut self, block: u64) -> Option<u32> {
        if self.free.is_empty() && self.slots.len() >= self.most {
            let oldest = self.clean.first;
            if oldest == NONE {
                return None;
            }
            self.remove(oldest);
        }
        let new = Slot { block, state: State::Writing, generation: 0, writer: 0, before: NONE, after: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = new;
                slot
            }
            None => {
                self.slots.push(new);
                (self.slots.len() - 1) as u32
            }
        };
        if let Err(place) = self.bucket(block) {
            self.buckets[place] = slot;
        }
        Some(slot)
    }

    /// Remove a block.
    pub(super) fn remove(&mut self, slot: u32) {
        self.set(slot, State::Writing);
        let mask = self.buckets.len() - 1;
        let Ok(mut hole) = self.bucket(self.slots[slot as usize].block) else { return };
        let mut place = hole;
        self.buckets[hole] = NONE;
        // Later entries move up, so that no search ends too early.
        loop {
            place = (place + 1) & mask;
            let other = self.buckets[place];
            if other == NONE {
                break;
            }
            let home = self.home(self.slots[other as usize].block);
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                self.buckets[hole] = other;
                self.buckets[place] = NONE;
                hole = place;
            }
        }
        self.free.push(slot);
    }

    /// Set the state of a block, and make it the last of its list.
    pub(super) fn set(&mut self, slot: u32, state: State) {
        let Slot { before, after, state: old, .. } = self.slots[slot as usize];
        if let Some(list) = Self::list(&mut self.clean, &mut self.dirty, old) {
            if before == NONE {
                list.first = after
            } else {
                self.slots[before as usize].after = after
            }
            if after == NONE { list.last = before } else { self.slots[after as usize].before = before }
        }
        let (mut before, after) = (NONE, NONE);
        if let Some(list) = Self::list(&mut self.clean, &mut self.dirty, state) {
            before = list.last;
            if before == NONE {
                list.first = slot
            } else {
                self.slots[before as usize].after = slot
            }
            list.last = slot;
        }
        let of = &mut self.slots[slot as usize];
        (of.before, of.after, of.state) = (before, after, state);
    }

    fn list<'a>(clean: &'a mut List, dirty: &'a mut List, state: State) -> Option<&'a mut List> {
        match state {
            State::Clean => Some(clean),
            State::Dirty => Some(dirty),
            State::Writing | State::Changed => None,
        }
    }

    /// Append the numbers of the blocks that have been dirty longest.
    pub(super) fn oldest_dirty(&self, most: usize, blocks: &mut Vec<u64>) {
        let mut slot = self.dirty.first;
        while slot != NONE && blocks.len() < most {
            blocks.push(self.slots[slot as usize].block);
            slot = self.slots[slot as usize].after;
        }
    }

    /// Return the slots of all blocks held.
    pub(super) fn held(&self) -> impl Iterator<Item = u32> {
        self.buckets.iter().copied().filter(|&slot| slot != NONE)
    }

    /// Remove all blocks.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    proptest! {
        #[test]
        fn least_recently_used_clean_block_makes_room(
            uses in proptest::collection::vec((0u64..40, any::<bool>()), 1..300),
        ) {
            let mut table = Table::new(8);
            let (mut clean, mut held) = (VecDeque::new(), BTreeMap::new());
            for (block, dirty) in uses {
                let slot = match table.find(block) {
                    Some(slot) => Some(slot),
                    None => {
                        let room = table.insert(block);
                        if held.len() == 8 {
                            prop_assert_eq!(room.is_some(), !clean.is_empty());
                            if let Some(oldest) = clean.pop_front() {
                                held.remove(&oldest);
                            }
                        }
                        room
                    }
                };
                let Some(slot) = slot else { continue };
                table.set(slot, if dirty { State::Dirty } else { State::Clean });
                held.insert(block, dirty);
                clean.retain(|&other| other != block);
                if !dirty {
                    clean.push_back(block);
                }
                for other in 0..40 {
                    let found = table.find(other).map(|slot| table.slot(slot).state == State::Dirty);
                    prop_assert_eq!(found, held.get(&other).copied());
                }
            }
        }
    }
}
