//! Numbers below a bound in random order, each once before any comes again, in a few bytes of
//! memory.

use tameshi_base::Random;

/// Rounds of the Feistel network.
const ROUNDS: usize = 4;

/// A pass over `0 .. bound` in random order after another; each has an order of its own.
///
/// A balanced Feistel network permutes the numbers of an even number of bits that hold the bound;
/// those beyond it are skipped. Four rounds of a good mixing function make an order that no drive
/// can tell from a random one.
#[derive(Clone, Debug)]
pub struct Shuffle {
    bound: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
    index: u64,
    random: Random,
}

impl Shuffle {
    /// Passes over `0 .. bound`, which must not be empty.
    pub fn new(bound: u64, mut random: Random) -> Self {
        assert!(bound > 0, "there is nothing to shuffle");
        let bits = u64::BITS - (bound - 1).leading_zeros();
        let keys = [(); ROUNDS].map(|()| random.bits());
        Self { bound, half_bits: bits.div_ceil(2).max(1), keys, index: 0, random }
    }

    /// The next number.
    #[inline]
    pub fn next(&mut self) -> u64 {
        loop {
            if self.index >> self.half_bits >> self.half_bits != 0 {
                self.index = 0;
                self.keys = [(); ROUNDS].map(|()| self.random.bits());
            }
            let number = self.permuted(self.index);
            self.index += 1;
            if number < self.bound {
                return number;
            }
        }
    }

    #[inline]
    fn permuted(&self, index: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (index >> self.half_bits, index & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mixed(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014).
#[inline]
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn shuffle_visits_each_number_once_per_pass() {
        for bound in [1u64, 2, 3, 5, 16, 17, 1000, 4096, 65_537] {
            let mut shuffle = Shuffle::new(bound, Random::named(3, "shuffle"));
            let passes: Vec<Vec<u64>> =
                (0..3).map(|_| (0..bound).map(|_| shuffle.next()).collect::<Vec<_>>()).collect();
            for pass in &passes {
                assert_eq!(pass.iter().copied().collect::<BTreeSet<_>>(), (0..bound).collect(), "{bound}");
            }
            if bound > 16 {
                assert_ne!(passes[0], passes[1], "{bound}");
            }
        }
    }

    #[test]
    fn shuffle_has_no_runs_and_covers_the_span_evenly() {
        let bound = 1u64 << 20;
        let mut shuffle = Shuffle::new(bound, Random::named(3, "shuffle"));
        let first: Vec<u64> = (0..bound / 16).map(|_| shuffle.next()).collect();
        let neighbours = first.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(neighbours < 5, "{neighbours} of {} follow one another", first.len());
        let mut parts = [0i64; 16];
        first.iter().for_each(|number| parts[(number >> 16) as usize] += 1);
        let expected = first.len() as i64 / 16;
        assert!(parts.iter().all(|count| (count - expected).abs() < expected / 10), "{parts:?}");
    }
}
