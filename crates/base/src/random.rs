//! Named, seeded random streams: one more draw from one stream shifts no other.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// Random stream, fixed by a seed and a name.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Create the stream `name` under `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(name).finalize();
        Self(Xoshiro256PlusPlus::from_seed(digest.into()))
    }

    /// Draw 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draw an integer in `0..bound` without bias (Lemire's multiply-and-reject); `bound` must not
    /// be zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a range must not be empty");
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            let low = wide as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (wide >> 64) as u64;
            }
        }
    }

    /// Draw a number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draw an exponentially distributed number with the given mean, in the mean's unit.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.unit())
    }
}

/// Derive the seed of a part: a repetition of a study, a job of a stream.
pub fn derived_seed(seed: u64, name: &str) -> u64 {
    Random::named(seed, name).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| Random::named(seed, name).bits();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn below_is_uniform_within_four_standard_errors() {
        let (mut random, bound, draws) = (Random::named(7, "uniform"), 10u64, 1_000_000u64);
        let mut counts = [0u64; 10];
        for _ in 0..draws {
            counts[random.below(bound) as usize] += 1;
        }
        let expected = (draws / bound) as f64;
        let limit = 4.0 * (expected * 0.9).sqrt();
        assert!(counts.iter().all(|&c| (c as f64 - expected).abs() < limit), "{counts:?}");
    }

    #[test]
    fn exponential_has_its_mean_and_standard_deviation() {
        let mut random = Random::named(7, "exponential");
        let draws: Vec<f64> = (0..400_000).map(|_| random.exponential(250.0)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / draws.len() as f64;
        assert!((mean / 250.0 - 1.0).abs() < 0.01, "mean {mean}");
        assert!((variance.sqrt() / 250.0 - 1.0).abs() < 0.02, "standard deviation {}", variance.sqrt());
    }
}
