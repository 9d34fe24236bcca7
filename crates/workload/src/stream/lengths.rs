//! Request lengths: constant, or drawn from a mix.

use crate::stream::spec::SizeShare;
use tameshi_base::Random;

/// Source of a job's lengths.
#[derive(Clone, Debug)]
pub struct Lengths {
    /// Lengths with the millionths of requests that are at most so far down the list; one entry: no
    /// draw.
    cumulative: Vec<(u64, u32)>,
    random: Random,
}

impl Lengths {
    /// Out of `mix`; `random` is drawn from once a request, and only where there are several.
    pub fn new(mix: &[SizeShare], random: Random) -> Self {
        let mut sum = 0;
        let cumulative = mix.iter().map(|length| {
            sum += u64::from(length.share.0);
            (sum, length.size.0 as u32)
        });
        Self { cumulative: cumulative.collect(), random }
    }

    /// The length in bytes of every request, where all have the same.
    #[inline]
    pub fn only(&self) -> Option<u32> {
        match self.cumulative[..] {
            [(_, length)] => Some(length),
            _ => None,
        }
    }

    /// The next request's length in bytes.
    #[inline]
    pub fn next(&mut self) -> u32 {
        let (last, rest) = self.cumulative.split_last().expect("a stream has a length");
        if rest.is_empty() {
            return last.1;
        }
        let drawn = self.random.below(last.0);
        rest.iter().find(|(below, _)| drawn < *below).unwrap_or(last).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::spec::StreamSpec;
    use tameshi_base::{Share, Size};

    fn mixed(parts: &[(u64, u32)]) -> StreamSpec {
        let part = |&(size, percent)| SizeShare { size: Size(size), share: Share(percent * 10_000) };
        StreamSpec { block_size_mix: Some(parts.iter().map(part).collect()), ..StreamSpec::default() }
    }

    #[test]
    fn a_mix_meets_its_shares_within_four_standard_errors() {
        let spec = mixed(&[(4096, 60), (16_384, 25), (65_536, 15), (512, 0)]);
        let (mut lengths, draws) = (Lengths::new(&spec.lengths(), Random::named(3, "lengths")), 1_000_000);
        let mut counts = std::collections::BTreeMap::new();
        (0..draws).for_each(|_| *counts.entry(lengths.next()).or_insert(0u32) += 1);
        for (bytes, share) in [(4096, 0.60), (16_384, 0.25), (65_536, 0.15)] {
            let limit = 4.0 * (f64::from(draws) * share * (1.0 - share)).sqrt();
            assert!((f64::from(counts[&bytes]) - f64::from(draws) * share).abs() < limit, "{counts:?}");
        }
        assert_eq!(counts.get(&512), None, "a share of nothing never comes");
    }

    #[test]
    fn one_length_draws_nothing() {
        let spec = StreamSpec::default();
        let (mut one, untouched) = (Lengths::new(&spec.lengths(), Random::named(3, "l")), Random::named(3, "l"));
        assert_eq!([one.next(), one.next()], [4096, 4096]);
        assert_eq!(one.random.bits(), untouched.clone().bits());
    }

    #[test]
    fn lengths_of_a_mix_have_a_longest_and_a_mean() {
        let spec = mixed(&[(4096, 50), (8192, 50)]);
        assert_eq!((spec.longest(), spec.mean_bytes()), (Size(8192), 6144));
        assert_eq!((StreamSpec::default().longest(), StreamSpec::default().mean_bytes()), (Size(4096), 4096));
    }

    #[test]
    fn read_and_write_lengths_have_their_own_means() {
        let apart = |read| StreamSpec {
            read: Share(read),
            block_size: Size(8192),
            write_block_size_mix: mixed(&[(4096, 50), (65_536, 50)]).block_size_mix,
            ..StreamSpec::default()
        };
        let of = |spec: StreamSpec| (spec.shortest().0, spec.longest().0, spec.mean_bytes(), spec.mean_start_bytes());
        assert_eq!(of(apart(750_000)), (4096, 65_536, (3 * 8192 + 34_816) / 4, 34_816));
        assert_eq!(of(apart(0)), (4096, 65_536, 34_816, 34_816), "nothing is read, so reads' lengths don't count");
        assert_eq!(of(apart(1_000_000)).0..=of(apart(1_000_000)).1, 8192..=8192);
    }
}
