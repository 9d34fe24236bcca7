//! Counts of durations in the buckets of a histogram with three digits.
//!
//! The buckets equal those of [`Histogram`], which is read and written. A count there takes sixty
//! instructions more than here, and a simulated read takes a thousand in all.

use hdrhistogram::Histogram;
use tameshi_base::Nanos;

const SIGNIFICANT_DIGITS: u8 = 3;
/// Bits of a half bucket range. Values below twice `2^HALF_BITS` have a bucket each; above, each
/// doubling has as many buckets. It is the least power of two that resolves three digits.
const HALF_BITS: u32 = 10;

/// Counts by bucket.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Counts up to the highest bucket in use.
    counts: Vec<u64>,
}

impl Tally {
    /// Count a value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.record_n(value, 1);
    }

    /// Count a value `times` times.
    #[inline(always)]
    pub fn record_n(&mut self, value: Nanos, times: u64) {
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += times,
            None => self.grow(bucket, times),
        }
    }

    /// Number of allocated buckets.
    #[cfg(test)]
    pub(crate) fn buckets(&self) -> usize {
        self.counts.len()
    }

    #[cold]
    fn grow(&mut self, bucket: usize, times: u64) {
        self.counts.resize((bucket + 1).next_power_of_two(), 0);
        self.counts[bucket] += times;
    }

    /// Allocate memory for values of up to `longest`.
    pub fn expect(&mut self, longest: Nanos) {
        self.record_n(longest, 0);
    }

    /// Add the counts of another.
    pub fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Clear all counts; keep the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Least value and count of each non-empty bucket, in ascending order.
    pub fn recorded(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let buckets = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        buckets.map(|(bucket, &count)| (least_of(bucket), count))
    }

    /// Convert to a histogram for reading.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are a valid precision");
        for (value, count) in self.recorded() {
            histogram.record_n(value, count).expect("an automatic histogram takes any value");
        }
        histogram
    }
}

#[inline(always)]
fn bucket_of(value: Nanos) -> usize {
    let doublings = (value | (1 << HALF_BITS)).ilog2() - HALF_BITS;
    (u64::from(doublings) << HALF_BITS) as usize + (value >> doublings) as usize
}

/// Least value of a bucket.
fn least_of(bucket: usize) -> Nanos {
    let doublings = (bucket >> HALF_BITS).saturating_sub(1);
    ((bucket - (doublings << HALF_BITS)) as u64) << doublings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_histogram_of_the_same_values(
            values in proptest::collection::vec((any::<u64>(), 0u32..64), 0..200),
            others in proptest::collection::vec(0u64..5_000_000, 0..50),
        ) {
            let (mut tally, mut more) = (Tally::default(), Tally::default());
            let mut expected = Histogram::<u64>::new(SIGNIFICANT_DIGITS).expect("three digits");
            for value in values.into_iter().map(|(value, shift)| value >> shift) {
                tally.record(value);
                expected.record(value).expect("it grows");
            }
            for &value in &others {
                more.record(value);
                expected.record(value).expect("it grows");
            }
            tally.add(&more);
            let histogram = tally.histogram();
            prop_assert_eq!(&histogram, &expected);
            prop_assert_eq!((histogram.min(), histogram.max()), (expected.min(), expected.max()));
            tally.clear();
            prop_assert!(tally.histogram().is_empty());
        }
    }
}
