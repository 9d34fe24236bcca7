//! Which block a request touches.

use crate::spec::Pattern;
use tameshi_base::Random;

/// The part of a storage that one job works on.
#[derive(Clone, Debug)]
pub struct Offsets {
    begin_bytes: u64,
    span_bytes: u64,
    /// The longest request, and how often it fits into the span.
    longest_bytes: u64,
    blocks: u64,
    /// Where the next sequential request begins, from the span's begin.
    cursor: u64,
    random: Option<Random>,
}

impl Offsets {
    /// Requests of up to `longest_bytes` in `begin_bytes .. begin_bytes + span_bytes`.
    ///
    /// A sequential job starts at a share of the span that its number gives, moved by a seeded distance: jobs don't
    /// follow one another, and phases don't read again what the phase before them has just read.
    ///
    /// # Panics
    /// When the span has no room for a request; the resolver refuses such a study.
    pub fn new(
        pattern: &Pattern,
        begin_bytes: u64,
        span_bytes: u64,
        longest_bytes: u64,
        job: (u32, u32),
        mut random: Random,
    ) -> Self {
        let blocks = span_bytes / longest_bytes;
        assert!(blocks > 0, "the span holds no whole block");
        let sequential = matches!(pattern, Pattern::Sequential);
        let share = (u128::from(blocks) * u128::from(job.0) / u128::from(job.1)) as u64;
        let first = if sequential { (share + random.below(blocks)) % blocks } else { 0 };
        let cursor = first * longest_bytes;
        Self { begin_bytes, span_bytes, longest_bytes, blocks, cursor, random: (!sequential).then_some(random) }
    }

    /// The first byte of the next request, which is `length_bytes` long and no longer than the longest.
    ///
    /// A random request begins at a multiple of its own length from the span's begin; a sequential one where the one
    /// before it ended, or at the span's begin where the rest is too short.
    #[inline]
    pub fn next(&mut self, length_bytes: u32) -> u64 {
        let length = u64::from(length_bytes);
        let offset = match &mut self.random {
            Some(random) => {
                let blocks = if length == self.longest_bytes { self.blocks } else { self.span_bytes / length };
                random.below(blocks) * length
            }
            None => {
                let offset = if self.cursor + length > self.span_bytes { 0 } else { self.cursor };
                self.cursor = offset + length;
                offset
            }
        };
        self.begin_bytes + offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequential_job_visits_each_block_once_before_any_again() {
        let mut offsets = Offsets::new(&Pattern::Sequential, 1 << 20, 40_960, 4096, (1, 3), Random::named(5, "o"));
        let first: Vec<u64> = (0..10).map(|_| offsets.next(4096)).collect();
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).map(|b| (1 << 20) + b * 4096).collect::<Vec<_>>());
        assert_eq!(first, (0..10).map(|_| offsets.next(4096)).collect::<Vec<_>>());
    }

    #[test]
    fn random_offsets_are_aligned_inside_the_span_and_reach_both_ends() {
        let mut offsets = Offsets::new(&Pattern::Random, 8192, 16 * 4096 + 100, 4096, (0, 1), Random::named(5, "o"));
        let seen: std::collections::BTreeSet<u64> = (0..2000).map(|_| offsets.next(4096)).collect();
        assert_eq!(seen, (0..16).map(|b| 8192 + b * 4096).collect());
    }

    #[test]
    fn a_random_request_of_a_mix_begins_at_a_multiple_of_its_own_length_and_ends_in_the_span() {
        let (begin, span) = (8192, 10 * 65_536 + 4096);
        let mut offsets = Offsets::new(&Pattern::Random, begin, span, 65_536, (0, 1), Random::named(5, "o"));
        for length in [4096u32, 16_384, 65_536] {
            let seen: std::collections::BTreeSet<u64> = (0..4000).map(|_| offsets.next(length)).collect();
            let whole = span / u64::from(length);
            assert_eq!(seen, (0..whole).map(|k| begin + k * u64::from(length)).collect(), "{length}");
        }
    }

    #[test]
    fn sequential_requests_of_a_mix_follow_one_another_without_a_gap() {
        let mut offsets = Offsets::new(&Pattern::Sequential, 0, 100_000, 16_384, (0, 1), Random::named(5, "o"));
        let mut expected = offsets.next(512) + 512;
        for turn in 0..1000 {
            let length = [512, 4096, 16_384][turn % 3];
            let offset = offsets.next(length);
            let wraps = expected + u64::from(length) > 100_000;
            assert_eq!(offset, if wraps { 0 } else { expected });
            expected = offset + u64::from(length);
        }
    }
}
