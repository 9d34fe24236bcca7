//! State of garbage collection: pacing, erases owed to dies, and relocations under way.

use super::dies::NONE;
use super::ftl::Frontier;
use crate::basics::prefetch::prefetch;

/// Garbage collection of one controller.
#[derive(Debug)]
pub(super) struct Collector {
    /// Units to move, times the denominator of the pace.
    owed: u64,
    /// Erases that scaled blocks owe their dies, and the die of the last erase.
    erase_debt: u32,
    erase_turn: u32,
    /// Program unit being relocated, by garbage collection and by a rebuild.
    sensing: [u32; 2],
    /// Relocation being filled, by frontier.
    relocation: [u32; Frontier::COUNT],
}

impl Collector {
    pub(super) fn new() -> Self {
        Self { owed: 0, erase_debt: 0, erase_turn: 0, sensing: [NONE; 2], relocation: [NONE; Frontier::COUNT] }
    }

    /// Owe moves.
    pub(super) fn owe(&mut self, moves: u64) {
        self.owed += moves;
    }

    /// Pay for one move at the price of `gain`; return whether enough was owed.
    pub(super) fn pay(&mut self, gain: u64) -> bool {
        let owes = self.owed >= gain;
        self.owed -= if owes { gain } else { 0 };
        owes
    }

    /// Forget the moves owed.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.owed = 0;
    }

    /// Add `erases` die erases; [`Collector::next_erase`] returns the dies.
    pub(super) fn owe_erases(&mut self, erases: u32) {
        self.erase_debt += erases;
    }

    /// Return the next of `dies` dies to erase, once `per_erase` is owed.
    pub(super) fn next_erase(&mut self, per_erase: u32, dies: u32) -> Option<u32> {
        self.erase_debt = self.erase_debt.checked_sub(per_erase)?;
        self.erase_turn = (self.erase_turn + 1) % dies;
        Some(self.erase_turn)
    }

    /// Note the program unit being relocated; return whether it must be sensed.
    #[inline]
    pub(super) fn senses(&mut self, rebuilds: bool, source: u32) -> bool {
        std::mem::replace(&mut self.sensing[usize::from(rebuilds)], source) != source
    }

    /// Relocation that a frontier fills; [`NONE`] without one.
    #[inline]
    pub(super) fn relocation(&mut self, frontier: Frontier) -> &mut u32 {
        &mut self.relocation[frontier as usize]
    }

    /// Forget relocations under way.
    pub(super) fn clear(&mut self) {
        (self.sensing, self.relocation) = ([NONE; 2], [NONE; Frontier::COUNT]);
    }
}

/// Relocated program units that wait for the senses of their data.
#[derive(Debug, Default)]
pub(super) struct Relocations {
    list: Vec<Relocation>,
    unused: Vec<u32>,
}

/// Relocation of one program unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relocation {
    pub(super) controller: u32,
    /// Program unit; [`NONE`] while it is being filled.
    pub(super) unit: u32,
    /// Unfinished senses.
    pub(super) senses: u32,
    /// True if it holds data of a rebuild.
    pub(super) rebuilds: bool,
}

impl Relocations {
    /// Open a relocation; return its number.
    pub(super) fn open(&mut self, controller: u32) -> u32 {
        let new = Relocation { controller, unit: NONE, senses: 0, rebuilds: false };
        match self.unused.pop() {
            Some(number) => {
                self.list[number as usize] = new;
                number
            }
            None => {
                self.list.push(new);
                (self.list.len() - 1) as u32
            }
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, relocation: u32) {
        prefetch(&self.list, relocation as usize);
    }

    /// Add a sense to wait for; no effect on an absent relocation.
    pub(super) fn add_sense(&mut self, relocation: u32) {
        if let Some(of) = self.list.get_mut(relocation as usize) {
            of.senses += 1;
        }
    }

    /// Finish a sense.
    pub(super) fn finish_sense(&mut self, relocation: u32) {
        self.list[relocation as usize].senses -= 1;
    }

    /// Note whether a unit just moved there belongs to a rebuild.
    pub(super) fn note_rebuild(&mut self, relocation: u32, rebuilds: bool) {
        self.list[relocation as usize].rebuilds |= rebuilds;
    }

    /// Note that the program unit is full; return whether it holds data of a rebuild.
    pub(super) fn fill(&mut self, relocation: u32, unit: u32) -> bool {
        let of = &mut self.list[relocation as usize];
        of.unit = unit;
        of.rebuilds
    }

    /// Close a full relocation whose senses are finished; return it.
    pub(super) fn close_if_ready(&mut self, relocation: u32) -> Option<Relocation> {
        let of = self.list[relocation as usize];
        if of.unit == NONE || of.senses > 0 {
            return None;
        }
        self.unused.push(relocation);
        Some(of)
    }

    #[cfg(test)]
    pub(super) fn list(&self) -> &[Relocation] {
        &self.list
    }
}
