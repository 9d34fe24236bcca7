//! Popularity of blocks: which rank a request draws, and which block holds that rank.

use tameshi_base::Random;

/// Draws ranks `0 .. count` with Zipf-distributed popularity, exactly and in constant time, for any
/// exponent above zero: rejection-inversion (Hörmann and Derflinger, *Rejection-inversion to
/// generate variates from monotone discrete distributions*, ACM TOMACS 6(3), 1996).
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    exponent: f64,
    count: f64,
    /// The integral of the hat at the left edge of the first rank's bar and at the right edge of
    /// the last one's.
    first: f64,
    last: f64,
    /// A drawn abscissa this close to its rank is accepted without computing the hat.
    sure: f64,
}

impl Zipf {
    /// Popularity of the k-th of `count` in proportion to `k` to the power of −`exponent`.
    pub(crate) fn new(exponent: f64, count: u64) -> Self {
        let mut zipf = Self { exponent, count: count as f64, first: 0.0, last: 0.0, sure: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.count + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank; 0 is the most popular.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.last + random.unit() * (self.first - self.last);
            let x = self.inverse(area);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.count);
            if rank - x <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// ∫ t^−θ dt from 1 to x, without a special case at θ = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let t = (1.0 - self.exponent) * log;
        log * if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t * 0.5 }
    }

    fn inverse(&self, area: f64) -> f64 {
        // Below −1 only by rounding.
        let t = (area * (1.0 - self.exponent)).max(-1.0);
        libm::exp(area * if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t * 0.5 })
    }
}

/// Draws ranks `0 .. count` so that the share h of them takes 1 − h of the draws, and so on within:
/// the share x takes x^(ln (1−h) / ln h).
#[derive(Clone, Debug)]
pub(crate) struct SelfSimilar {
    exponent: f64,
    count: u64,
}

impl SelfSimilar {
    /// `hot` lies above 0 and below ½.
    pub(crate) fn new(hot: f64, count: u64) -> Self {
        Self { exponent: libm::log(hot) / libm::log1p(-hot), count }
    }

    /// A rank; 0 is the most popular.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        let place = libm::pow(random.unit(), self.exponent) * self.count as f64;
        (place as u64).min(self.count - 1)
    }
}

const ROUNDS: usize = 4;

/// A bijection of `0 .. count`: a keyed Feistel network over the next even power of two, walked
/// until inside.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Scatter {
    /// The bijection that `random` picks.
    pub(crate) fn new(count: u64, mut random: Random) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self { count, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| random.bits()) }
    }

    /// Return the position of `rank`, which is below the count.
    #[inline]
    pub(crate) fn place(&self, rank: u64) -> u64 {
        let mut place = rank;
        loop {
            place = self.permuted(place);
            if place < self.count {
                return place;
            }
        }
    }

    #[inline]
    fn permuted(&self, number: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (left, right) = (right, (left ^ (mixed >> 32)) & mask);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Pearson's statistic of counts against expected shares.
    fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
        let draws = counts.iter().sum::<u64>() as f64;
        counts.iter().zip(shares).map(|(&n, share)| libm::pow(n as f64 - draws * share, 2.0) / (draws * share)).sum()
    }

    /// Return the upper bound of chi-square in 99.99 % of cases (Wilson and Hilferty's
    /// approximation).
    fn limit(degrees: f64) -> f64 {
        let t = 2.0 / (9.0 * degrees);
        degrees * libm::pow(1.0 - t + 3.72 * t.sqrt(), 3.0)
    }

    #[test]
    fn zipf_draws_ranks_with_exact_shares() {
        for exponent in [0.3, 0.5, 0.99, 1.0, 1.2, 2.5] {
            let (count, draws) = (40usize, 400_000);
            let zipf = Zipf::new(exponent, count as u64);
            let mut random = Random::named(11, "zipf");
            let mut counts = vec![0; count];
            (0..draws).for_each(|_| counts[zipf.draw(&mut random) as usize] += 1);
            let weights: Vec<f64> = (1..=count).map(|k| libm::pow(k as f64, -exponent)).collect();
            let whole: f64 = weights.iter().sum();
            let shares: Vec<f64> = weights.iter().map(|weight| weight / whole).collect();
            let found = chi_square(&counts, &shares);
            assert!(found < limit(count as f64 - 1.0), "θ = {exponent}: {found}");
        }
    }

    #[test]
    fn zipf_over_a_hundred_billion_blocks_has_the_head_it_should() {
        let (exponent, count) = (1.0, 100_000_000_000u64);
        let zipf = Zipf::new(exponent, count);
        let mut random = Random::named(3, "zipf");
        let draws = 200_000;
        let head = (0..draws).filter(|_| zipf.draw(&mut random) < 1000).count() as f64 / f64::from(draws);
        let harmonic = |n: f64| libm::log(n) + 0.577_215_664_901_532_9 + 0.5 / n;
        let expected = harmonic(1000.0) / harmonic(count as f64);
        assert!((head - expected).abs() < 4.0 * (expected / f64::from(draws)).sqrt(), "{head} {expected}");
    }

    #[test]
    fn one_block_is_always_drawn() {
        let mut random = Random::named(3, "one");
        assert_eq!(Zipf::new(1.2, 1).draw(&mut random), 0);
        assert_eq!(SelfSimilar::new(0.2, 1).draw(&mut random), 0);
        assert_eq!(Scatter::new(1, random).place(0), 0);
    }

    #[test]
    fn a_fifth_takes_four_fifths_and_a_fifth_of_that_again() {
        let (count, draws) = (1_000_000u64, 400_000);
        for hot in [0.2, 0.1, 0.4] {
            let pareto = SelfSimilar::new(hot, count);
            let mut random = Random::named(5, "pareto");
            let ranks: Vec<u64> = (0..draws).map(|_| pareto.draw(&mut random)).collect();
            for level in 1..4 {
                let (part, expected) = (libm::pow(hot, f64::from(level)), libm::pow(1.0 - hot, f64::from(level)));
                let below = (part * count as f64) as u64;
                let found = ranks.iter().filter(|&&rank| rank < below).count() as f64 / f64::from(draws);
                let error = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                assert!((found - expected).abs() < 4.0 * error + 1e-5, "{hot}, level {level}: {found} {expected}");
            }
        }
    }

    #[test]
    fn scatter_is_a_bijection_that_depends_on_its_key() {
        for count in (1..200).chain([4096, 5000]) {
            let scatter = Scatter::new(count, Random::named(9, "scatter"));
            let places: BTreeSet<u64> = (0..count).map(|rank| scatter.place(rank)).collect();
            assert_eq!(places, (0..count).collect(), "{count}");
        }
        let placed = |seed| {
            let scatter = Scatter::new(1 << 40, Random::named(seed, "scatter"));
            (0..100).map(|rank| scatter.place(rank)).collect::<Vec<_>>()
        };
        assert_eq!(placed(1), placed(1));
        assert_ne!(placed(1), placed(2));
    }

    #[test]
    fn popular_blocks_lie_evenly_over_the_span() {
        let (count, parts) = (1_000_003u64, 16u64);
        let scatter = Scatter::new(count, Random::named(9, "scatter"));
        let mut counts = vec![0; parts as usize];
        (0..16_000).for_each(|rank| counts[(scatter.place(rank) * parts / count) as usize] += 1);
        assert!(chi_square(&counts, &[1.0 / parts as f64; 16]) < limit(15.0), "{counts:?}");
    }
}
