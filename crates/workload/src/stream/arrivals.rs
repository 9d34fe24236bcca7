//! Open-loop schedules: when each request *should* start, fixed in advance and blind to
//! completions.

use crate::stream::spec::{Arrivals, Duty, Gaps, RatePoint, Shape};
use tameshi_base::{Nanos, Random, Rate};

/// The instants at which one job's requests should start.
#[derive(Clone, Debug)]
pub struct Schedule {
    begin: Nanos,
    duty: Option<Duty>,
    course: Course,
}

/// Instants counted from zero, pauses left out.
#[derive(Clone, Debug)]
enum Course {
    Steady(Steady),
    Varying(Varying),
    Bursts(Bursts),
}

impl Schedule {
    /// The share of job `job` of `jobs` in a stream's arrivals, from `begin` on; `None` in closed
    /// loop.
    ///
    /// At a constant rate the jobs interleave evenly; Poisson streams of a share of the rate add up
    /// to a Poisson stream of the whole. In the pauses of `duty` the schedule is suspended.
    pub fn new(
        arrivals: &Arrivals,
        duty: Option<Duty>,
        job: u32,
        jobs: u32,
        begin: Nanos,
        random: Random,
    ) -> Option<Self> {
        let course = match arrivals {
            Arrivals::Closed => return None,
            Arrivals::Constant { rate } => Course::Steady(Steady::new(*rate, (job, jobs), None)),
            Arrivals::Poisson { rate } => Course::Steady(Steady::new(*rate, (job, jobs), Some(random))),
            Arrivals::Ramp { points, shape, gaps } => {
                let random = (*gaps == Gaps::Poisson).then_some(random);
                Course::Varying(Varying::new(Segment::of(points, *shape), (job, jobs), random))
            }
            Arrivals::Bursts { requests, every } => Course::Bursts(Bursts {
                next: u64::from(job),
                step: u64::from(jobs),
                requests: u64::from(*requests),
                every: every.0,
            }),
        };
        Some(Self { begin, duty, course })
    }

    /// When the next request should start; [`Nanos::MAX`] when none is to come.
    #[inline]
    pub fn next(&self) -> Nanos {
        let worked = match &self.course {
            Course::Steady(steady) => steady.next(),
            Course::Varying(varying) => varying.next,
            Course::Bursts(bursts) => bursts.next(),
        };
        let passed = self.duty.map_or(worked, |duty| duty.stretched(worked));
        self.begin.saturating_add(passed)
    }

    /// The next request has started; on to the one after it.
    #[inline]
    pub fn advance(&mut self) {
        match &mut self.course {
            Course::Steady(steady) => steady.advance(),
            Course::Varying(varying) => varying.advance(),
            Course::Bursts(bursts) => bursts.next += bursts.step,
        }
    }

    /// Pass `count` requests at their mean distance.
    pub(crate) fn skip(&mut self, count: u64) {
        match &mut self.course {
            Course::Steady(steady) => steady.next_fixed += steady.gap_fixed * u128::from(count),
            Course::Varying(varying) => {
                varying.mass += varying.step * count as f64;
                varying.settle();
            }
            Course::Bursts(bursts) => bursts.next += bursts.step * count,
        }
    }

    /// Return the number of requests that should have started before `end` and did not.
    ///
    /// At a constant rate and in bursts this is exact. Other arrivals are drawn one by one up to
    /// [`DRAWN`] of them; the rest is taken at its mean. The standard deviation of the omitted part
    /// is below 0.05 % of the count.
    pub fn unserved_before(&self, end: Nanos) -> u64 {
        let passed = end.saturating_sub(self.begin);
        let worked = self.duty.map_or(passed, |duty| duty.worked(passed));
        match &self.course {
            Course::Steady(steady) => steady.unserved_before(worked),
            Course::Varying(varying) => varying.unserved_before(worked),
            Course::Bursts(bursts) => bursts.unserved_before(worked),
        }
    }
}

impl Arrivals {
    /// Requests of the whole stream in the first `length` of a phase, rounded up: of a Poisson
    /// process the mean; `None` in closed loop.
    pub fn requests_within(&self, length: Nanos, duty: Option<Duty>) -> Option<u64> {
        let worked = duty.map_or(length, |duty| duty.worked(length));
        Some(match self {
            Self::Closed => return None,
            Self::Constant { rate } | Self::Poisson { rate } => {
                (u128::from(worked) * u128::from(rate.0)).div_ceil(1_000_000_000_000) as u64
            }
            Self::Ramp { points, shape, .. } => {
                let segments = Segment::of(points, *shape);
                libm::ceil(segments.iter().map(|segment| segment.mass_before(worked)).sum()) as u64
            }
            Self::Bursts { requests, every } => worked.div_ceil(every.0).saturating_mul(u64::from(*requests)),
        })
    }
}

const FIXED_BITS: u32 = 20;
/// Number of arrivals drawn to count them; drawing takes some 20 ms.
pub(crate) const DRAWN: u64 = 1 << 20;

/// One rate. Gaps are summed in units of 2⁻²⁰ ns, so that the mean stays right at any rate: 3.33 µs
/// is not rounded to 3.
#[derive(Clone, Debug)]
struct Steady {
    next_fixed: u128,
    gap_fixed: u128,
    poisson: Option<Random>,
}

impl Steady {
    fn new(rate: Rate, (job, jobs): (u32, u32), poisson: Option<Random>) -> Self {
        let gap_of_stream = (1_000_000_000_000u128 << FIXED_BITS) / u128::from(rate.0.max(1));
        let gap_fixed = (gap_of_stream * u128::from(jobs)).max(1);
        let mut steady = Self { next_fixed: 0, gap_fixed, poisson };
        match steady.poisson {
            None => steady.next_fixed = gap_of_stream * u128::from(job),
            Some(_) => steady.advance(),
        }
        steady
    }

    #[inline]
    fn next(&self) -> Nanos {
        (self.next_fixed >> FIXED_BITS) as Nanos
    }

    #[inline]
    fn advance(&mut self) {
        self.next_fixed += match &mut self.poisson {
            None => self.gap_fixed,
            Some(random) => random.exponential(self.gap_fixed as f64) as u128,
        };
    }

    fn unserved_before(&self, end: Nanos) -> u64 {
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

/// A stretch on which the rate is a straight line.
#[derive(Clone, Copy, Debug)]
struct Segment {
    begin: Nanos,
    /// Infinite for the last.
    length: f64,
    /// Requests per nanosecond at its begin.
    rate: f64,
    /// Growth of the rate per nanosecond.
    slope: f64,
}

impl Segment {
    /// The stretches that the points bound; the last one never ends.
    fn of(points: &[RatePoint], shape: Shape) -> Vec<Self> {
        let per_ns = |rate: Rate| rate.0 as f64 / 1e12;
        let flat = |begin, length, rate| Self { begin, length, rate: per_ns(rate), slope: 0.0 };
        let mut segments = Vec::with_capacity(points.len() + 1);
        segments.extend(points.first().filter(|first| first.at.0 > 0).map(|p| flat(0, p.at.0 as f64, p.rate)));
        for pair in points.windows(2) {
            let length = (pair[1].at.0 - pair[0].at.0) as f64;
            let mut segment = flat(pair[0].at.0, length, pair[0].rate);
            if shape == Shape::Lines && length > 0.0 {
                segment.slope = (per_ns(pair[1].rate) - segment.rate) / length;
            }
            segments.push(segment);
        }
        segments.extend(points.last().map(|last| flat(last.at.0, f64::INFINITY, last.rate)));
        segments
    }

    /// Requests due in the first `passed` ns of it: the rate's integral.
    fn mass(&self, passed: f64) -> f64 {
        if passed <= 0.0 { 0.0 } else { passed * (self.rate + self.slope * passed * 0.5) }
    }

    /// Requests due in all of it.
    fn whole(&self) -> f64 {
        match self.length {
            length if length.is_finite() => self.mass(length),
            _ if self.rate > 0.0 => f64::INFINITY,
            _ => 0.0,
        }
    }

    /// Requests due in it before the time `end` of the whole course.
    fn mass_before(&self, end: Nanos) -> f64 {
        self.mass((end.saturating_sub(self.begin) as f64).min(self.length))
    }

    /// Return the time from its begin at which `count` requests are due; infinite if they never
    /// are.
    fn passed(&self, mass: f64) -> f64 {
        if mass <= 0.0 {
            return 0.0;
        }
        let root = (self.rate * self.rate + 2.0 * self.slope * mass).max(0.0).sqrt();
        2.0 * mass / (self.rate + root)
    }
}

/// A rate that changes: the k-th request is due when the rate's integral reaches k, or, of a
/// Poisson process, the sum of k exponential draws. Both are exact: the process is stretched in
/// time, nothing is thinned out or stepped through.
#[derive(Clone, Debug)]
struct Varying {
    segments: Vec<Segment>,
    current: usize,
    /// Requests of the stream from the current segment's begin to the job's next one.
    mass: f64,
    /// Requests of the stream from one of the job's to its next, in the mean.
    step: f64,
    poisson: Option<Random>,
    next: Nanos,
}

impl Varying {
    fn new(segments: Vec<Segment>, (job, jobs): (u32, u32), poisson: Option<Random>) -> Self {
        let mut varying =
            Self { segments, current: 0, mass: f64::from(job), step: f64::from(jobs), poisson, next: Nanos::MAX };
        if let Some(random) = &mut varying.poisson {
            varying.mass = random.exponential(varying.step);
        }
        varying.settle();
        varying
    }

    #[inline]
    fn advance(&mut self) {
        self.mass += match &mut self.poisson {
            None => self.step,
            Some(random) => random.exponential(self.step),
        };
        self.settle();
    }

    /// Finds the segment that the next request lies in, and its instant.
    #[inline]
    fn settle(&mut self) {
        let Some(mut segment) = self.segments.get(self.current) else { return };
        while self.current + 1 < self.segments.len() {
            let whole = segment.whole();
            if self.mass < whole {
                break;
            }
            self.mass -= whole;
            self.current += 1;
            segment = &self.segments[self.current];
        }
        let none = self.mass >= segment.whole();
        self.next = if none { Nanos::MAX } else { segment.begin.saturating_add(segment.passed(self.mass) as Nanos) };
    }

    fn unserved_before(&self, end: Nanos) -> u64 {
        let mut drawn = self.clone();
        let mut count = 0;
        while drawn.next < end && count < DRAWN {
            drawn.advance();
            count += 1;
        }
        if drawn.next >= end {
            return count;
        }
        let due: f64 = drawn.segments[drawn.current..].iter().map(|segment| segment.mass_before(end)).sum();
        count + libm::ceil((due - drawn.mass) / drawn.step) as u64
    }
}

/// Bursts of requests, again and again.
#[derive(Clone, Debug)]
struct Bursts {
    /// Number of the job's next request among those of the stream.
    next: u64,
    step: u64,
    requests: u64,
    every: Nanos,
}

impl Bursts {
    #[inline]
    fn next(&self) -> Nanos {
        (self.next / self.requests).saturating_mul(self.every)
    }

    fn unserved_before(&self, end: Nanos) -> u64 {
        let due = end.div_ceil(self.every).saturating_mul(self.requests);
        due.saturating_sub(self.next).div_ceil(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::Time;

    const SECOND: Nanos = 1_000_000_000;

    /// Variance over mean of the arrivals in windows of that many nanoseconds: 1 of a Poisson
    /// process, with a standard error of the root of 2 over the number of windows.
    fn dispersion(gaps: &[f64], window: f64) -> f64 {
        let (mut at, mut counts) = (0.0, vec![]);
        for gap in gaps {
            at += gap;
            let place = (at / window) as usize;
            counts.resize(counts.len().max(place + 1), 0.0);
            counts[place] += 1.0;
        }
        counts.pop();
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / n / mean
    }

    fn gaps(arrivals: &Arrivals, count: usize) -> Vec<f64> {
        let mut schedule = Schedule::new(arrivals, None, 0, 1, 0, Random::named(3, "gaps")).expect("open loop");
        let mut instants = vec![];
        for _ in 0..=count {
            instants.push(schedule.next());
            schedule.advance();
        }
        instants.windows(2).map(|w| (w[1] - w[0]) as f64).collect()
    }

    #[test]
    fn constant_rate_keeps_its_mean_with_fractional_gaps() {
        let rate = Rate(3_000_000_000);
        let mean = gaps(&Arrivals::Constant { rate }, 300_000).iter().sum::<f64>() / 300_000.0;
        assert!((mean - 1e9 / 3e6).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn poisson_arrivals_have_exponential_gaps() {
        let n = 1_000_000;
        // 300 k and 3 M per second are where whole microseconds would be 11 % off, and nothing at
        // all.
        for per_second in [300_000, 500_000, 3_000_000] {
            let expected = 1e9 / per_second as f64;
            let mut gaps = gaps(&Arrivals::Poisson { rate: Rate(per_second * 1000) }, n);
            let mean = gaps.iter().sum::<f64>() / n as f64;
            assert!((mean / expected - 1.0).abs() < 0.005, "mean gap {mean} ns");
            // Gaps that hang together would keep their distribution, and none of the bursts that a
            // server's queue is made of.
            let spread = dispersion(&gaps, 20.0 * expected);
            assert!((spread - 1.0).abs() < 0.03, "{per_second}: variance of counts over their mean is {spread}");
            gaps.sort_by(f64::total_cmp);
            let kolmogorov_smirnov = gaps
                .iter()
                .enumerate()
                .map(|(i, gap)| ((1.0 - libm_exp(-gap / expected)) - i as f64 / n as f64).abs())
                .fold(0.0, f64::max);
            // 1.95 / √n rejects at 0.1 %; gaps between whole nanoseconds are up to one off.
            assert!(
                kolmogorov_smirnov < 1.95 / (n as f64).sqrt() + 1.0 / expected,
                "{per_second}: {kolmogorov_smirnov}"
            );
        }
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
                let mut s = Schedule::new(&arrivals, None, job, 4, 500, Random::named(1, "x")).expect("open loop");
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
    fn unserved_of_a_constant_rate_is_exact() {
        let arrivals = Arrivals::Constant { rate: Rate(3_000_000_000) };
        let mut schedule = Schedule::new(&arrivals, None, 1, 3, 1000, Random::named(1, "x")).expect("open loop");
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
    fn unserved_of_poisson_is_drawn_then_expected() {
        let arrivals = Arrivals::Poisson { rate: Rate(1_000_000_000) };
        let schedule = Schedule::new(&arrivals, None, 0, 1, 0, Random::named(1, "x")).expect("open loop");
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

    /// The first `count` instants of a stream of `jobs` jobs, sorted.
    fn instants(arrivals: &Arrivals, duty: Option<Duty>, jobs: u32, before: Nanos) -> Vec<Nanos> {
        let mut all = Vec::new();
        for job in 0..jobs {
            let random = Random::named(u64::from(job), "instants");
            let mut schedule = Schedule::new(arrivals, duty, job, jobs, 0, random).expect("open loop");
            let expected = schedule.unserved_before(before);
            let known = all.len();
            while schedule.next() < before {
                all.push(schedule.next());
                schedule.advance();
            }
            assert_eq!(expected, (all.len() - known) as u64, "unserved are counted as they are drawn");
        }
        all.sort_unstable();
        all
    }

    fn ramp(points: &[(u64, u64)], shape: Shape, gaps: Gaps) -> Arrivals {
        let point = |&(second, rate): &(u64, u64)| RatePoint { at: Time(second * SECOND), rate: Rate(rate * 1000) };
        Arrivals::Ramp { points: points.iter().map(point).collect(), shape, gaps }
    }

    #[test]
    fn ramp_makes_request_k_due_when_the_integral_is_k() {
        // From 0 to 1000 per second in 10 s: k are due after sqrt(k / 50) s, 5000 in all.
        let arrivals = ramp(&[(0, 0), (10, 1000)], Shape::Lines, Gaps::Even);
        for jobs in [1, 3] {
            let found = instants(&arrivals, None, jobs, 10 * SECOND);
            assert_eq!(found.len(), 5000);
            for (k, at) in found.iter().enumerate() {
                let expected = (k as f64 / 50.0).sqrt() * 1e9;
                assert!((*at as f64 - expected).abs() < 2.0, "{k}: {at} {expected}");
            }
        }
        assert_eq!(instants(&arrivals, None, 1, 12 * SECOND).len(), 7000, "after the last point its rate holds");
        assert_eq!(arrivals.requests_within(12 * SECOND, None), Some(7000));
    }

    #[test]
    fn steps_hold_each_rate_and_two_points_at_one_time_are_a_step() {
        let steps = ramp(&[(1, 100), (2, 1000), (3, 0)], Shape::Steps, Gaps::Even);
        let jumps = ramp(&[(0, 100), (2, 100), (2, 1000), (3, 1000), (3, 0)], Shape::Lines, Gaps::Even);
        for arrivals in [steps, jumps] {
            let found = instants(&arrivals, None, 2, 100 * SECOND);
            assert_eq!(found.len(), 1200);
            assert_eq!(found.iter().filter(|&&at| at < 2 * SECOND).count(), 200);
            assert!(found[201..].windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
            assert_eq!(arrivals.requests_within(SECOND, None), Some(100));
        }
    }

    #[test]
    fn poisson_on_a_ramp_has_the_expected_counts() {
        let arrivals = ramp(&[(0, 0), (10, 100_000)], Shape::Lines, Gaps::Poisson);
        let found = instants(&arrivals, None, 2, 10 * SECOND);
        let n = found.len() as f64;
        assert!((n - 500_000.0).abs() < 4.0 * 500_000f64.sqrt(), "{n}");
        // Given their number, the instants have the distribution function (t / 10 s)².
        let distance = found
            .iter()
            .enumerate()
            .map(|(i, &at)| (libm::pow(at as f64 / 1e10, 2.0) - i as f64 / n).abs())
            .fold(0.0, f64::max);
        assert!(distance < 1.95 / n.sqrt(), "Kolmogorov–Smirnov: {distance}");
        let last: Vec<f64> =
            found.windows(2).filter(|pair| pair[0] > 9 * SECOND).map(|p| (p[1] - p[0]) as f64).collect();
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        let deviation = (last.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / last.len() as f64).sqrt();
        assert!((deviation / mean - 1.0).abs() < 0.03, "gaps of a Poisson process vary as much as they are long");
    }

    #[test]
    fn bursts_are_complete_and_on_time_for_any_number_of_jobs() {
        let arrivals = Arrivals::Bursts { requests: 5, every: Time(SECOND) };
        for jobs in [1, 2, 7] {
            let found = instants(&arrivals, None, jobs, 3 * SECOND);
            let expected: Vec<Nanos> = (0..3).flat_map(|burst| [burst * SECOND; 5]).collect();
            assert_eq!(found, expected);
        }
        assert_eq!(arrivals.requests_within(2 * SECOND + 1, None), Some(15));
    }

    #[test]
    fn in_a_pause_nothing_is_due_and_the_schedule_stands_still() {
        let duty = Some(Duty { on: Time(2 * SECOND), off: Time(3 * SECOND) });
        let arrivals = Arrivals::Constant { rate: Rate(10_000) };
        let found = instants(&arrivals, duty, 2, 12 * SECOND);
        let expected: Vec<Nanos> =
            [0, 5, 10].iter().flat_map(|second| (0..20).map(move |k| second * SECOND + k * SECOND / 10)).collect();
        assert_eq!(found, expected);
        assert_eq!(arrivals.requests_within(6 * SECOND, duty), Some(30));
        let poisson = instants(&Arrivals::Poisson { rate: Rate(1_000_000) }, duty, 1, 100 * SECOND);
        assert!(poisson.iter().all(|at| at % (5 * SECOND) < 2 * SECOND));
        assert!((poisson.len() as f64 - 40_000.0).abs() < 800.0, "{}", poisson.len());
    }

    #[test]
    fn rate_is_independent_of_request_lengths() {
        // Reported of others: with a mix of lengths a rate came out two or four times too high.
        use crate::stream::spec::{SizeShare, StreamSpec};
        use crate::{Job, Placement};
        use tameshi_base::{Share, Size};
        let mix = [(4096, 700_000), (65_536, 300_000)];
        let mix = mix.map(|(size, share)| SizeShare { size: Size(size), share: Share(share) }).to_vec();
        for arrivals in [Arrivals::Constant { rate: Rate(50_000_000) }, Arrivals::Poisson { rate: Rate(50_000_000) }] {
            let spec = StreamSpec {
                block_size_mix: Some(mix.clone()),
                read: Share(500_000),
                arrivals,
                ..StreamSpec::default()
            };
            let place = Placement {
                stream: 0,
                job: 0,
                storage_bytes: 1 << 30,
                begin: 0,
                budget_bytes: None,
                seed: 1,
                name: "mix",
            };
            let mut job = Job::new(&spec, place);
            let (mut count, mut bytes) = (0u64, 0u64);
            while let Some(due) = job.next_due().filter(|&due| due < 4 * SECOND) {
                let issue = job.issue(due).expect("due");
                count += 1;
                bytes += job.complete(issue.slot, due).bytes;
            }
            assert!((count as f64 / 200_000.0 - 1.0).abs() < 0.01, "{count}");
            let mean = bytes as f64 / count as f64;
            assert!((mean / spec.mean_bytes() as f64 - 1.0).abs() < 0.02, "{mean}");
        }
    }
}
