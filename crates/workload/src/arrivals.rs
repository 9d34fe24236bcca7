//! Open-loop schedules: when each request *should* start, fixed in advance and blind to completions.

use crate::spec::Arrivals;
use tameshi_base::{Nanos, Random};

/// The instants at which one job's requests should start.
///
/// Gaps are summed in units of 2⁻²⁰ ns, so that the mean stays right at any rate: 3.33 µs is not rounded to 3.
#[derive(Clone, Debug)]
pub struct Schedule {
    next_fixed: u128,
    gap_fixed: u128,
    poisson: Option<Random>,
}

const FIXED_BITS: u32 = 20;
/// So many Poisson arrivals are drawn to count them; it takes some 20 ms.
const DRAWN: u64 = 1 << 20;

impl Schedule {
    /// The share of job `job` of `jobs` in a stream's arrivals, from `begin` on; `None` in closed loop.
    ///
    /// At a constant rate the jobs interleave evenly; Poisson streams of a share of the rate add up to a Poisson stream of the whole.
    pub fn new(arrivals: &Arrivals, job: u32, jobs: u32, begin: Nanos, random: Random) -> Option<Self> {
        let rate = match arrivals {
            Arrivals::Closed | Arrivals::Ramp { .. } => return None,
            Arrivals::Constant { rate } | Arrivals::Poisson { rate } => *rate,
        };
        let gap_of_stream = (1_000_000_000_000u128 << FIXED_BITS) / u128::from(rate.0.max(1));
        let begin_fixed = u128::from(begin) << FIXED_BITS;
        let mut schedule = Self {
            next_fixed: begin_fixed + gap_of_stream * u128::from(job),
            gap_fixed: (gap_of_stream * u128::from(jobs)).max(1),
            poisson: matches!(arrivals, Arrivals::Poisson { .. }).then_some(random),
        };
        if schedule.poisson.is_some() {
            schedule.next_fixed = begin_fixed;
            schedule.advance();
        }
        Some(schedule)
    }

    /// When the next request should start.
    #[inline]
    pub fn next(&self) -> Nanos {
        (self.next_fixed >> FIXED_BITS) as Nanos
    }

    /// The next request has started; on to the one after it.
    #[inline]
    pub fn advance(&mut self) {
        self.next_fixed += match &mut self.poisson {
            None => self.gap_fixed,
            Some(random) => random.exponential(self.gap_fixed as f64) as u128,
        };
    }

    /// How many requests should have started before `end` and did not.
    ///
    /// At a constant rate this is exact. Poisson arrivals are drawn one by one up to [`DRAWN`] of them, and what is left
    /// then is taken at its mean: the standard deviation of what that leaves out is below 0.05 % of the count.
    pub fn unserved_before(&self, end: Nanos) -> u64 {
        let end_fixed = u128::from(end) << FIXED_BITS;
        let rest = |from: u128| end_fixed.saturating_sub(from).div_ceil(self.gap_fixed) as u64;
        if self.poisson.is_none() {
            return rest(self.next_fixed);
        }
        let mut drawn = self.clone();
        let mut count = 0;
        while drawn.next() < end && count < DRAWN {
            drawn.advance();
            count += 1;
        }
        count + rest(drawn.next_fixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::Rate;

    fn gaps(arrivals: &Arrivals, count: usize) -> Vec<f64> {
        let mut schedule = Schedule::new(arrivals, 0, 1, 0, Random::named(3, "gaps")).expect("open loop");
        let mut instants = vec![];
        for _ in 0..=count {
            instants.push(schedule.next());
            schedule.advance();
        }
        instants.windows(2).map(|w| (w[1] - w[0]) as f64).collect()
    }

    #[test]
    fn a_constant_rate_keeps_its_mean_where_the_gap_is_no_whole_nanosecond() {
        let rate = Rate(3_000_000_000);
        let mean = gaps(&Arrivals::Constant { rate }, 300_000).iter().sum::<f64>() / 300_000.0;
        assert!((mean - 1e9 / 3e6).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn poisson_arrivals_at_half_a_million_per_second_have_exponential_gaps() {
        let n = 1_000_000;
        let mut gaps = gaps(&Arrivals::Poisson { rate: Rate(500_000_000) }, n);
        let mean = gaps.iter().sum::<f64>() / n as f64;
        assert!((mean / 2000.0 - 1.0).abs() < 0.005, "mean gap {mean} ns");
        gaps.sort_by(f64::total_cmp);
        let kolmogorov_smirnov = gaps
            .iter()
            .enumerate()
            .map(|(i, gap)| ((1.0 - libm_exp(-gap / 2000.0)) - i as f64 / n as f64).abs())
            .fold(0.0, f64::max);
        // 1.95 / √n rejects at 0.1 %; gaps in whole nanoseconds add half a nanosecond over the mean.
        assert!(kolmogorov_smirnov < 1.95 / (n as f64).sqrt() + 0.5 / 2000.0, "{kolmogorov_smirnov}");
    }

    #[allow(clippy::disallowed_methods, reason = "a test may use the platform's exponential")]
    fn libm_exp(x: f64) -> f64 {
        x.exp()
    }

    #[test]
    fn jobs_share_a_constant_rate_evenly() {
        let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
        let mut all: Vec<Nanos> = (0..4)
            .flat_map(|job| {
                let mut s = Schedule::new(&arrivals, job, 4, 500, Random::named(1, "x")).expect("open loop");
                (0..5).map(move |_| {
                    let at = s.next();
                    s.advance();
                    at
                })
            })
            .collect();
        all.sort_unstable();
        let expected: Vec<Nanos> = (0..20).map(|k| 500 + k * 1_000_000).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn the_unserved_of_a_constant_rate_are_counted_exactly_and_at_once() {
        let arrivals = Arrivals::Constant { rate: Rate(3_000_000_000) };
        let mut schedule = Schedule::new(&arrivals, 1, 3, 1000, Random::named(1, "x")).expect("open loop");
        (0..17).for_each(|_| schedule.advance());
        for end in [0, 1000, 18_000, 18_333, 18_334, 1_000_000] {
            let mut rest = schedule.clone();
            let counted = std::iter::from_fn(|| {
                let before = rest.next() < end;
                rest.advance();
                before.then_some(())
            });
            assert_eq!(schedule.unserved_before(end), counted.count() as u64, "before {end}");
        }
        let day = 86_400_000_000_000;
        assert!(schedule.unserved_before(day).abs_diff(86_400_000_000) < 20_000, "a million per second for a day");
    }

    #[test]
    fn the_unserved_of_poisson_arrivals_are_drawn_and_from_a_million_on_expected() {
        let arrivals = Arrivals::Poisson { rate: Rate(1_000_000_000) };
        let schedule = Schedule::new(&arrivals, 0, 1, 0, Random::named(1, "x")).expect("open loop");
        let mut rest = schedule.clone();
        let mut drawn = 0;
        while rest.next() < 500_000_000 {
            rest.advance();
            drawn += 1;
        }
        assert_eq!(schedule.unserved_before(500_000_000), drawn, "half a million are drawn");
        let many = schedule.unserved_before(100_000_000_000) as f64;
        assert!((many / 1e8 - 1.0).abs() < 4.0 / 1e8f64.sqrt() + 2e-3, "{many}");
        assert_eq!(schedule.unserved_before(0), 0);
    }
}
