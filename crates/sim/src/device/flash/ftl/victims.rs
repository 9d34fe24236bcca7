//! Choice of the block to reclaim.

use super::frontier::Frontier;
use std::collections::VecDeque;
use tameshi_base::Random;
use tameshi_spec::profile::CleaningPolicy;

/// Mark in the count of a block that is open, erased or already being reclaimed.
pub(super) const OPEN: u32 = 1 << 31;

/// Block being reclaimed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    pub(super) block: u32,
    /// Unit examined next.
    pub(super) next: u32,
    /// Valid units when it was chosen.
    pub(super) valid: u32,
    /// Frontier that its units move to.
    pub(super) to: Frontier,
}

/// Valid units by block, and the reclaiming policy.
///
/// Greedy cleaning searches all counts once per block, with vector instructions. With thousands of
/// units per block that costs a fraction of a nanosecond per write; a list of blocks by count would
/// cost three memory accesses per write.
#[derive(Debug)]
pub(super) struct Victims {
    counts: Vec<u32>,
    policy: CleaningPolicy,
    units_per_block: u32,
    /// Host writes before each block closed; for cost-benefit cleaning only.
    closed_at: Vec<u64>,
    /// Closed blocks in the order of closing; for FIFO cleaning only.
    closed: VecDeque<u32>,
    /// Start of the next greedy search, so that equals take turns.
    turn: usize,
    random: Random,
}

impl Victims {
    pub(super) fn new(policy: CleaningPolicy, (blocks, units_per_block): (u32, u32), random: Random) -> Self {
        let closed_at = vec![0; if policy == CleaningPolicy::CostBenefit { blocks as usize } else { 0 }];
        let closed = VecDeque::with_capacity(if policy == CleaningPolicy::Fifo { blocks as usize } else { 0 });
        Self { counts: vec![OPEN; blocks as usize], policy, units_per_block, closed_at, closed, turn: 0, random }
    }

    /// Open a block: its units count as valid at once.
    pub(super) fn open(&mut self, block: u32, units: u32) {
        self.counts[block as usize] = OPEN + units;
    }

    /// Close a full block after `writes` host writes.
    pub(super) fn close(&mut self, block: u32, writes: u64) {
        self.counts[block as usize] &= !OPEN;
        match self.policy {
            CleaningPolicy::Fifo => self.closed.push_back(block),
            CleaningPolicy::CostBenefit => self.closed_at[block as usize] = writes,
            _ => {}
        }
    }

    /// Invalidate a unit of a block.
    #[inline]
    pub(super) fn remove_unit(&mut self, block: u32) {
        self.counts[block as usize] -= 1;
    }

    /// Return the units of a block that are valid or still to be written.
    #[inline]
    pub(super) fn valid(&self, block: u32) -> u32 {
        self.counts[block as usize] & !OPEN
    }

    /// Return the closed block with the fewest valid units, and their number.
    pub(super) fn emptiest(&self) -> Option<(u32, u32)> {
        let closed = (0..).zip(&self.counts).filter(|&(_, &count)| count < OPEN);
        closed.min_by_key(|&(_, &count)| count).map(|(block, &count)| (block, count))
    }

    /// Give up unwritten units of an open block.
    pub(super) fn give_up(&mut self, block: u32, units: u32) {
        self.counts[block as usize] -= units;
    }

    /// Return whether a block is full and not being reclaimed.
    pub(super) fn is_closed(&self, block: u32) -> bool {
        self.counts[block as usize] < OPEN
    }

    /// Take a closed block out of turn; return its valid units.
    pub(super) fn take(&mut self, block: u32) -> u32 {
        self.closed.retain(|&other| other != block);
        let valid = self.counts[block as usize];
        self.counts[block as usize] |= OPEN;
        valid
    }

    /// Choose a victim after `writes` host writes; return it and its valid units. `None` without a
    /// closed block.
    ///
    /// A victim with `most` valid units or more is replaced by the emptiest block.
    pub(super) fn choose(&mut self, writes: u64, most: Option<u32>) -> Option<(u32, u32)> {
        let mut block = self.by_policy(writes)?;
        if most.is_some_and(|most| self.counts[block] >= most) {
            if self.policy == CleaningPolicy::Fifo {
                self.closed.push_back(block as u32);
            }
            block = self.least()?;
            return Some((block as u32, self.take(block as u32)));
        }
        let valid = self.counts[block];
        self.counts[block] |= OPEN;
        Some((block as u32, valid))
    }

    fn by_policy(&mut self, writes: u64) -> Option<usize> {
        Some(match self.policy {
            CleaningPolicy::Greedy => self.least()?,
            CleaningPolicy::Fifo => self.closed.pop_front()? as usize,
            CleaningPolicy::Random => self.draw()?,
            CleaningPolicy::CostBenefit => self.best(writes)?,
            CleaningPolicy::Choices { drawn } => {
                let mut best = self.draw()?;
                for _ in 1..drawn {
                    let other = self.draw()?;
                    if self.counts[other] < self.counts[best] {
                        best = other;
                    }
                }
                best
            }
        })
    }

    /// Return the closed block with the fewest valid units, the first after the last search's
    /// result.
    fn least(&mut self) -> Option<usize> {
        let (before, after) = self.counts.split_at(self.turn);
        let least_of = |counts: &[u32]| counts.iter().fold(u32::MAX, |least, &count| least.min(count));
        let (early, late) = (least_of(before), least_of(after));
        let least = early.min(late);
        if least >= OPEN {
            return None;
        }
        let (counts, offset) = if late <= early { (after, self.turn) } else { (before, 0) };
        let place = offset + counts.iter().position(|&count| count == least)?;
        self.turn = (place + 1) % self.counts.len();
        Some(place)
    }

    /// Return the closed block with the best benefit per cost: age · (1 − u) / 2u, where u is the
    /// valid share (Kawaguchi, Nishioka and Motoda, USENIX 1995).
    fn best(&self, writes: u64) -> Option<usize> {
        let mut best = (None, -1.0);
        for (block, (&valid, &closed_at)) in self.counts.iter().zip(&self.closed_at).enumerate() {
            if valid >= OPEN {
                continue;
            }
            if valid == 0 {
                return Some(block);
            }
            let age = (writes - closed_at + 1) as f64;
            let score = age * f64::from(self.units_per_block.saturating_sub(valid)) / f64::from(valid);
            if score > best.1 {
                best = (Some(block), score);
            }
        }
        best.0
    }

    /// Draw a closed block.
    fn draw(&mut self) -> Option<usize> {
        if self.counts.iter().take(64).all(|&count| count >= OPEN) && self.counts.iter().all(|&count| count >= OPEN) {
            return None;
        }
        loop {
            let block = self.random.below(self.counts.len() as u64) as usize;
            if self.counts[block] < OPEN {
                return Some(block);
            }
        }
    }
}
