//! Shares of counts over a stretch of time, for extrapolation to similar stretches that are not
//! simulated.

use crate::heat::Heat;
use crate::interval::OpStats;
use crate::usage::Usage;
use crate::wear::Wear;
use tameshi_base::Nanos;

/// Part of a stretch of time, from `from` to `to`. It may reach beyond the stretch's end, as the
/// stretch repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Start of the part.
    pub from: Nanos,
    /// End of the part.
    pub to: Nanos,
    /// Length of the stretch.
    pub whole: Nanos,
}

const HALF: u32 = 1 << 31;
/// Golden section of `2^32`: offsets at multiples of it are spread evenly for any number of them.
const GOLDEN: u32 = 0x9E37_79B9;

impl Share {
    /// The whole stretch, once.
    pub const ALL: Self = Self { from: 0, to: 1, whole: 1 };

    /// Part of a count. Consecutive parts add up exactly: no rounding error accumulates.
    #[inline]
    pub fn of(self, count: u64) -> u64 {
        self.of_early(count, HALF)
    }

    /// The same with an offset: the greater `early` of `2^32`, the earlier a count of one occurs.
    #[inline]
    fn of_early(self, count: u64, early: u32) -> u64 {
        let whole = u128::from(self.whole.max(1));
        let ahead = (whole * u128::from(early)) >> 32;
        let up_to = |time: Nanos| (u128::from(count) * u128::from(time) + ahead) / whole;
        (up_to(self.to) - up_to(self.from)) as u64
    }
}

impl OpStats {
    /// Add a share of another's operations with its latencies, and of the time that they took. Rare
    /// latencies are spread over the whole time.
    pub fn add_share(&mut self, other: &Self, share: Share, time: Share) {
        if share == Share::ALL {
            return self.add(other);
        }
        // Latencies of equal frequency take turns, so that any time holds equally many.
        let mut early = [HALF; 64];
        for (latency, all) in other.latency.recorded() {
            let turn = &mut early[all.min(63) as usize];
            *turn = turn.wrapping_add(GOLDEN);
            let count = share.of_early(all, *turn);
            if count > 0 {
                self.latency.record_n(latency, count);
                self.count += count;
            }
        }
        self.bytes += share.of(other.bytes);
        self.latency_ns_sum += time.of(other.latency_ns_sum);
    }
}

impl Usage {
    /// State after another share of what happened between `begin` and `end`.
    #[must_use]
    pub fn after(&self, (begin, end): (&Self, &Self), share: Share) -> Self {
        let mut after = self.clone();
        for (mine, (begin, end)) in after.0.iter_mut().zip(begin.0.iter().zip(&end.0)) {
            mine.busy_ns += share.of(end.busy_ns.saturating_sub(begin.busy_ns));
            if let (Some(mine), Some((begin, end))) = (&mut mine.waits, begin.waits.zip(end.waits)) {
                mine.so_far += share.of(end.so_far.saturating_sub(begin.so_far));
                mine.now = end.now;
            }
        }
        after
    }
}

impl Wear {
    /// State of the flash after another share of what happened between `begin` and `end`; mapped
    /// data stay as at the end.
    #[must_use]
    pub fn after(&self, (begin, end): (&Self, &Self), share: Share) -> Self {
        let gained = |of: fn(&Self) -> u64| of(self) + share.of(of(end).saturating_sub(of(begin)));
        Self {
            written_bytes: gained(|wear| wear.written_bytes),
            host_bytes: gained(|wear| wear.host_bytes),
            moved_bytes: gained(|wear| wear.moved_bytes),
            padded_bytes: gained(|wear| wear.padded_bytes),
            cycles: gained(|wear| wear.cycles),
            ..*end
        }
    }
}

impl Heat {
    /// Throttled time after another share of what happened between `begin` and `end`; temperatures
    /// stay as at the end.
    #[must_use]
    pub fn after(&self, (begin, end): (&Self, &Self), share: Share) -> Self {
        let more = share.of(end.throttled_ns.saturating_sub(begin.throttled_ns));
        Self { throttled_ns: self.throttled_ns + more, ..*end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Resource;

    #[test]
    fn consecutive_shares_add_up_to_the_stretch() {
        let cuts = [0, 7, 100, 101, 555, 2000, 3000];
        for count in [0, 1, 3, 999, 12_345_678] {
            let shares = cuts.windows(2).map(|cut| Share { from: cut[0], to: cut[1], whole: 1000 });
            assert_eq!(shares.map(|share| share.of(count)).sum::<u64>(), 3 * count);
        }
    }

    #[test]
    fn share_has_the_latencies_of_its_stretch() {
        let (mut window, mut after) = (OpStats::default(), OpStats::default());
        for (latency, count) in [(1000, 600), (5000, 300), (90_000, 100)] {
            window.latency.record_n(latency, count);
            window.count += count;
            window.latency_ns_sum += latency * count;
        }
        for from in 0..50 {
            let time = Share { from, to: from + 1, whole: 10 };
            after.add_share(&window, time, Share { whole: 5, ..time });
        }
        assert_eq!((after.count, after.latency_ns_sum), (5 * window.count, 10 * window.latency_ns_sum));
        assert_eq!(
            after.latency.histogram().value_at_quantile(0.75),
            window.latency.histogram().value_at_quantile(0.75)
        );
    }

    #[test]
    fn rare_latencies_are_spread_over_the_time() {
        let mut window = OpStats::default();
        for latency in 1..=1000 {
            window.latency.record_n(latency * 1000, 1 + latency % 7 / 5);
        }
        (window.count, window.latency_ns_sum) = (window.latency.histogram().len(), 500_500_000);
        for part in 0..100 {
            let (mut after, share) = (OpStats::default(), Share { from: part, to: part + 1, whole: 100 });
            after.add_share(&window, share, share);
            assert!((9..=17).contains(&after.count), "a hundredth of 1285: {}", after.count);
            let low = after
                .latency
                .recorded()
                .filter(|(latency, _)| *latency <= 500_000)
                .map(|(_, count)| count)
                .sum::<u64>();
            assert!((3..=10).contains(&low), "half of them are short: {low}");
        }
    }

    #[test]
    fn usage_and_wear_of_a_share_are_proportional() {
        let (mut begin, mut end) = (Usage::default(), Usage::default());
        begin.add(Resource::Media, 2, 100);
        end.add(Resource::Media, 2, 300);
        let after = end.after((&begin, &end), Share { from: 0, to: 50, whole: 100 });
        assert_eq!(after.of(Resource::Media), (2, 400));
        let (begin, end) =
            (Wear { host_bytes: 10, ..Wear::default() }, Wear { host_bytes: 30, mapped_bytes: 7, ..Wear::default() });
        let after = end.after((&begin, &end), Share { from: 100, to: 300, whole: 100 });
        assert_eq!((after.host_bytes, after.mapped_bytes), (70, 7));
        let (begin, end) = (Heat { throttled_ns: 10, ..Heat::default() }, Heat { throttled_ns: 30, millidegrees: 9 });
        let after = end.after((&begin, &end), Share { from: 100, to: 300, whole: 100 });
        assert_eq!(after, Heat { throttled_ns: 70, millidegrees: 9 });
    }
}
