//! Choice of the next key: the distributions of sysbench and of YCSB, and random text.

use tameshi_base::Random;

/// Letters and digits.
const ALPHANUMERIC: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Appends `length` random letters and digits.
pub fn alphanumeric(random: &mut Random, length: u64, text: &mut String) {
    characters(random, length, ALPHANUMERIC, text);
}

/// Fills `text` with random letters and digits, the ones that [`alphanumeric`] would append.
#[inline]
pub fn fill_alphanumeric(random: &mut Random, text: &mut [u8]) {
    text.chunks_mut(DRAWN).for_each(|drawn| draw(random, ALPHANUMERIC, drawn));
}

/// Appends `length` random digits.
pub fn digits(random: &mut Random, length: u64, text: &mut String) {
    characters(random, length, b"0123456789", text);
}

/// Characters out of 64 random bits.
const DRAWN: usize = 10;

fn characters<const N: usize>(random: &mut Random, mut length: u64, alphabet: &[u8; N], text: &mut String) {
    let mut drawn = [0; DRAWN];
    while length > 0 {
        let count = length.min(DRAWN as u64);
        let drawn = &mut drawn[..count as usize];
        draw(random, alphabet, drawn);
        text.push_str(std::str::from_utf8(drawn).expect("alphabets are ASCII"));
        length -= count;
    }
}

/// Draws five characters, or as many as there shall be, out of each half of 64 random bits; what
/// that favours a character by is below 10^-6.
#[inline]
fn draw<const N: usize>(random: &mut Random, alphabet: &[u8; N], drawn: &mut [u8]) {
    let bits = random.bits();
    for (half, five) in [bits as u32, (bits >> 32) as u32].into_iter().zip(drawn.chunks_mut(DRAWN / 2)) {
        let mut fraction = u64::from(half);
        for character in five {
            fraction *= N as u64;
            *character = alphabet[(fraction >> 32) as usize];
            fraction &= u64::from(u32::MAX);
        }
    }
}

/// A whole number from `low` to `high`, both included.
#[inline]
pub fn between(random: &mut Random, low: u64, high: u64) -> u64 {
    low + random.below(high - low + 1)
}

/// Popularity of keys.
#[derive(Clone, Debug)]
pub enum Keys {
    /// All alike.
    Uniform,
    /// sysbench's `gaussian`: the mean of uniform draws.
    Gaussian {
        /// Number of draws; 12 is sysbench's default.
        draws: u32,
    },
    /// sysbench's `special`: some gaussian over all, the others uniform over the middle.
    Special {
        /// Draws of the gaussian; 12 is its default.
        draws: u32,
        /// Size of the middle as a share of all; 0.01 is its default.
        middle: f64,
        /// Share of the draws that fall there; 0.75 is its default.
        share: f64,
    },
    /// sysbench's `pareto`, with its exponent worked out.
    Pareto {
        /// ln h / ln (1 − h).
        power: f64,
    },
    /// Zipf-distributed, the first key the most popular.
    Zipfian(Zipf),
}

impl Keys {
    /// sysbench's `pareto` of shape `h`; 0.2 is its default.
    pub fn pareto(h: f64) -> Self {
        Self::Pareto { power: libm::log(h) / libm::log(1.0 - h) }
    }

    /// A key from 1 to `count`.
    pub fn draw(&self, random: &mut Random, count: u64) -> u64 {
        let whole = count as f64;
        let at = match self {
            Self::Uniform => return 1 + random.below(count),
            Self::Zipfian(zipf) => return 1 + zipf.draw(random, count),
            Self::Gaussian { draws } => mean(random, *draws) * whole,
            Self::Special { draws, middle, share } => special(random, whole - 1.0, *draws, (*middle, *share)),
            Self::Pareto { power } => libm::pow(random.unit(), *power) * whole,
        };
        1 + (at as u64).min(count - 1)
    }
}

fn mean(random: &mut Random, draws: u32) -> f64 {
    (0..draws).map(|_| random.unit()).sum::<f64>() / f64::from(draws.max(1))
}

/// sysbench's `special` on `0..=span`: by its defaults (iter 12, pct 1, res 75) three quarters of
/// the draws are spread over the middle hundredth, by the very number that decided for it, so that
/// a quarter of that hundredth stays empty.
fn special(random: &mut Random, span: f64, draws: u32, (middle, share): (f64, f64)) -> f64 {
    let decides = random.unit();
    if decides < 1.0 - share {
        return mean(random, draws) * span;
    }
    let middle = span * middle;
    span / 2.0 - middle / 2.0 + (decides * (middle + 1.0)).floor()
}

/// Zipf's distribution over any number of keys, by rejection-inversion (Hörmann and Derflinger,
/// 1996): no table, and the number of keys may change from draw to draw.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    exponent: f64,
    squeeze: f64,
}

impl Zipf {
    /// P(k) ∝ 1 / k^`exponent`; the exponent is above zero.
    pub fn new(exponent: f64) -> Self {
        let mut zipf = Self { exponent, squeeze: 0.0 };
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank from zero to `count` - 1, zero the most popular.
    pub fn draw(&self, random: &mut Random, count: u64) -> u64 {
        let low = self.integral(1.5) - 1.0;
        let high = self.integral(count as f64 + 0.5);
        loop {
            let u = high + random.unit() * (low - high);
            let x = self.inverse(u);
            let k = ((x + 0.5) as u64).clamp(1, count);
            let rank = k as f64;
            if rank - x <= self.squeeze || u >= self.integral(rank + 0.5) - self.density(rank) {
                return k - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// ∫ x^-s from 1, whose limit at s = 1 is ln x.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let power = (1.0 - self.exponent) * log;
        if power.abs() > 1e-8 { libm::expm1(power) / (1.0 - self.exponent) } else { log * (1.0 + power / 2.0) }
    }

    fn inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.exponent)).max(-1.0);
        if t.abs() > 1e-8 { libm::exp(y * libm::log1p(t) / t) } else { libm::exp(y * (1.0 - t / 2.0)) }
    }
}

/// The 64-bit FNV-1a hash of a number's eight bytes, lowest first: YCSB scatters its keys by it.
pub fn fnv(number: u64) -> u64 {
    number
        .to_le_bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(keys: &Keys, count: u64, draws: u64) -> Vec<f64> {
        let mut random = Random::named(3, "keys");
        let mut found = vec![0.0; count as usize];
        (0..draws).for_each(|_| found[keys.draw(&mut random, count) as usize - 1] += 1.0 / draws as f64);
        found
    }

    #[test]
    fn zipf_gives_each_rank_its_probability() {
        for exponent in [0.8, 0.99, 1.0, 1.2] {
            let zipf = Keys::Zipfian(Zipf::new(exponent));
            let weight = |k: usize| libm::pow(k as f64, -exponent);
            let whole: f64 = (1..=1000).map(weight).sum();
            let found = shares(&zipf, 1000, 400_000);
            for k in [1, 2, 3, 10, 100] {
                let expected = weight(k) / whole;
                let error = (found[k - 1] - expected) / (expected / 400_000.0).sqrt();
                assert!(error.abs() < 4.5, "s = {exponent}, rank {k}: {} against {expected}", found[k - 1]);
            }
        }
    }

    #[test]
    fn pareto_of_a_fifth_sends_four_fifths_to_the_first_fifth() {
        let found = shares(&Keys::pareto(0.2), 1000, 400_000);
        let first: f64 = found[..200].iter().sum();
        assert!((first - 0.8).abs() < 0.005, "{first}");
    }

    #[test]
    fn special_keys_gather_in_the_middle_hundredth() {
        let found = shares(&Keys::Special { draws: 12, middle: 0.01, share: 0.75 }, 100_000, 400_000);
        let middle: f64 = found[49_490..50_510].iter().sum();
        // Three quarters, and what the gaussian quarter has there: 1.02 % of the span at a density
        // of 4.8 (σ = 1/12).
        let expected = 0.75 + 0.25 * 0.0102 * 12.0 / (2.0 * std::f64::consts::PI).sqrt();
        assert!((middle - expected).abs() < 0.004, "{middle} against {expected}");
        let low: f64 = found[..20_000].iter().sum();
        assert!(low < 0.001, "nearly nothing at the edge: {low}");
    }

    #[test]
    fn text_has_its_length_and_an_even_alphabet() {
        let mut random = Random::named(1, "text");
        let mut text = String::new();
        alphanumeric(&mut random, 620_000, &mut text);
        assert_eq!(text.len(), 620_000);
        for letter in ALPHANUMERIC {
            let count = text.bytes().filter(|byte| byte == letter).count();
            assert!((9_600..10_400).contains(&count), "{}: {count}", char::from(*letter));
        }
        for length in 0..24 {
            let mut filled = vec![0; length as usize];
            fill_alphanumeric(&mut random.clone(), &mut filled);
            let mut text = String::new();
            alphanumeric(&mut random, length, &mut text);
            assert_eq!(text.as_bytes(), filled);
            text.clear();
            digits(&mut random, length, &mut text);
            assert_eq!(text.len() as u64, length);
            assert!(text.bytes().all(|byte| byte.is_ascii_digit()));
        }
    }
}
