//! Blocks that must be rewritten because a channel has died: new blocks are narrower.

use super::victims::Victim;

/// State of each block since the first channel died.
#[derive(Debug)]
pub(super) struct Renewal {
    /// Units of a block erased after no, one, two … channel failures.
    capacities: Vec<u32>,
    /// Channel failures before each block's last erase.
    of: Vec<u8>,
    /// Blocks erased before the last failure.
    old: u32,
    /// Units lost to narrower blocks.
    lost_units: u64,
    /// Old block under way.
    pub(super) victim: Option<Victim>,
    /// First block that may be old.
    cursor: u32,
}

impl Renewal {
    /// State of `blocks` blocks of `units` units before the first failure.
    pub(super) fn new(units: u32, blocks: usize) -> Self {
        Self { capacities: vec![units], of: vec![0; blocks], old: 0, lost_units: 0, victim: None, cursor: 0 }
    }

    /// Note that a channel died: erased blocks hold `units` from now on.
    pub(super) fn narrow(&mut self, units: u32) {
        self.capacities.push(units);
        (self.old, self.cursor) = (self.of.len() as u32, 0);
    }

    fn generation(&self) -> u8 {
        (self.capacities.len() - 1) as u8
    }

    pub(super) fn lost_units(&self) -> u64 {
        self.lost_units
    }

    /// Return the channel failures before a block's last erase.
    #[inline]
    pub(super) fn generation_of(&self, block: u32) -> usize {
        usize::from(self.of[block as usize])
    }

    /// Return the blocks that still lie across a dead channel.
    pub(super) fn old_blocks(&self) -> u32 {
        self.old
    }

    /// Note an erase: the block takes the present width.
    pub(super) fn erased(&mut self, block: u32) {
        let (generation, of) = (self.generation(), &mut self.of[block as usize]);
        if *of != generation {
            let units = |generation: u8| self.capacities[usize::from(generation)];
            self.lost_units += u64::from(units(*of) - units(generation));
            self.old -= 1;
            *of = generation;
        }
    }

    /// Return the next old block that is closed.
    pub(super) fn next(&mut self, is_closed: impl Fn(u32) -> bool) -> Option<u32> {
        let generation = self.generation();
        let is_next = |&block: &u32| self.of[block as usize] != generation && is_closed(block);
        let block = (self.cursor..self.of.len() as u32).find(is_next)?;
        self.cursor = block;
        Some(block)
    }
}
