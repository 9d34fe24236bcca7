//! Which block a request touches.

use crate::spec::Pattern;
use tameshi_base::Random;

/// The part of a storage that one job works on, in whole blocks.
#[derive(Clone, Debug)]
pub struct Offsets {
    begin_bytes: u64,
    block_bytes: u64,
    blocks: u64,
    cursor: u64,
    random: Option<Random>,
}

impl Offsets {
    /// Blocks of `block_bytes` in `begin_bytes .. begin_bytes + span_bytes`.
    ///
    /// A sequential job starts at a share of the span that its number gives, moved by a seeded distance: jobs don't
    /// follow one another, and phases don't read again what the phase before them has just read.
    ///
    /// # Panics
    /// When the span holds no whole block; the resolver refuses such a study.
    pub fn new(
        pattern: &Pattern,
        begin_bytes: u64,
        span_bytes: u64,
        block_bytes: u64,
        job: (u32, u32),
        mut random: Random,
    ) -> Self {
        let blocks = span_bytes / block_bytes;
        assert!(blocks > 0, "the span holds no whole block");
        let sequential = matches!(pattern, Pattern::Sequential);
        let share = (u128::from(blocks) * u128::from(job.0) / u128::from(job.1)) as u64;
        let cursor = if sequential { (share + random.below(blocks)) % blocks } else { 0 };
        Self { begin_bytes, block_bytes, blocks, cursor, random: (!sequential).then_some(random) }
    }

    /// The next request's first byte.
    #[inline]
    pub fn next(&mut self) -> u64 {
        let block = match &mut self.random {
            Some(random) => random.below(self.blocks),
            None => {
                let block = self.cursor;
                self.cursor = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
        };
        self.begin_bytes + block * self.block_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequential_job_visits_each_block_once_before_any_again() {
        let mut offsets = Offsets::new(&Pattern::Sequential, 1 << 20, 40_960, 4096, (1, 3), Random::named(5, "o"));
        let first: Vec<u64> = (0..10).map(|_| offsets.next()).collect();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).map(|b| (1 << 20) + b * 4096).collect::<Vec<_>>());
        assert_eq!(first, (0..10).map(|_| offsets.next()).collect::<Vec<_>>());
    }

    #[test]
    fn random_offsets_are_aligned_inside_the_span_and_reach_both_ends() {
        let mut offsets = Offsets::new(&Pattern::Random, 8192, 16 * 4096 + 100, 4096, (0, 1), Random::named(5, "o"));
        let seen: std::collections::BTreeSet<u64> = (0..2000).map(|_| offsets.next()).collect();
        assert_eq!(seen, (0..16).map(|b| 8192 + b * 4096).collect());
    }
}
