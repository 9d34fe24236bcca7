//! Which block is reclaimed next.

use std::collections::VecDeque;
use tameshi_base::Random;
use tameshi_spec::profile::CleaningPolicy;

/// Added to the count of a block that can't be reclaimed because it is open, erased or already being reclaimed.
pub(super) const OPEN: u32 = 1 << 31;

/// Valid units by block, and the order in which blocks are reclaimed.
///
/// Greedy cleaning looks for the least count among all blocks once a block, by a search that the compiler turns into
/// vector instructions: with thousands of units in a block that costs each write a fraction of a nanosecond, where a list
/// of blocks by count would cost each write three places in memory.
#[derive(Debug)]
pub(super) struct Victims {
    counts: Vec<u32>,
    policy: CleaningPolicy,
    units_per_block: u32,
    /// The host's writes up to each block's closing, where the policy asks for it.
    closed_at: Vec<u64>,
    /// Closed blocks in the order of their closing, where the policy asks for it.
    closed: VecDeque<u32>,
    /// Where greedy cleaning begins to look, so that equals take turns.
    turn: usize,
    random: Random,
}

impl Victims {
    pub(super) fn new(policy: CleaningPolicy, (blocks, units_per_block): (u32, u32), random: Random) -> Self {
        let closed_at = vec![0; if policy == CleaningPolicy::CostBenefit { blocks as usize } else { 0 }];
        let closed = VecDeque::with_capacity(if policy == CleaningPolicy::Fifo { blocks as usize } else { 0 });
        Self { counts: vec![OPEN; blocks as usize], policy, units_per_block, closed_at, closed, turn: 0, random }
    }

    /// A block is opened: what will be written into it counts as valid already.
    pub(super) fn open(&mut self, block: u32, units: u32) {
        self.counts[block as usize] = OPEN + units;
    }

    /// A block is full, after so many of the host's writes.
    pub(super) fn close(&mut self, block: u32, writes: u64) {
        self.counts[block as usize] &= !OPEN;
        match self.policy {
            CleaningPolicy::Fifo => self.closed.push_back(block),
            CleaningPolicy::CostBenefit => self.closed_at[block as usize] = writes,
            _ => {}
        }
    }

    /// A unit of a block is no longer valid.
    #[inline]
    pub(super) fn remove_unit(&mut self, block: u32) {
        self.counts[block as usize] -= 1;
    }

    /// Units of a block that are valid, or will be written.
    #[inline]
    pub(super) fn valid(&self, block: u32) -> u32 {
        self.counts[block as usize] & !OPEN
    }

    /// The closed block with the fewest valid units, and these.
    pub(super) fn emptiest(&self) -> Option<(u32, u32)> {
        let closed = (0..).zip(&self.counts).filter(|&(_, &count)| count < OPEN);
        closed.min_by_key(|&(_, &count)| count).map(|(block, &count)| (block, count))
    }

    /// Units of an open block that will not be written.
    pub(super) fn give_up(&mut self, block: u32, units: u32) {
        self.counts[block as usize] -= units;
    }

    /// Whether a block is full, and not being reclaimed.
    pub(super) fn is_closed(&self, block: u32) -> bool {
        self.counts[block as usize] < OPEN
    }

    /// Takes a closed block out of turn; returns its valid units.
    pub(super) fn take(&mut self, block: u32) -> u32 {
        self.closed.retain(|&other| other != block);
        let valid = self.counts[block as usize];
        self.counts[block as usize] |= OPEN;
        valid
    }

    /// Takes the next victim after so many of the host's writes, and its valid units; `None` where no block is closed. One with `most`
    /// valid units or more gives way to the emptiest.
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

    /// The closed block with the fewest valid units, the first of them from where the last search ended.
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

    /// The closed block that gives most for its cost: age · (1 − u) / 2u, u being the valid share (Kawaguchi, Nishioka and Motoda,
    /// USENIX 1995).
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

    /// A closed block at random.
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
