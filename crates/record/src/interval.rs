//! Statistics of one job over one interval, filled in the hot loop without an allocation.

use hdrhistogram::Histogram;
use tameshi_base::Nanos;

/// Number of operations that are told apart; `tameshi_workload::OPERATIONS` in that order.
pub const OPERATION_COUNT: usize = 4;
/// Their words in tags and metrics.
pub const OPERATION_WORDS: [&str; OPERATION_COUNT] = ["read", "write", "sync", "commit"];
const SIGNIFICANT_DIGITS: u8 = 3;

/// The part of a phase that an interval lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Before the phase's ramp is over.
    Ramp,
    /// After it: what estimates are taken over.
    Steady,
}

impl Part {
    /// The word in histogram tags.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ramp => "ramp",
            Self::Steady => "steady",
        }
    }
}

/// Count, bytes and latencies of one operation.
#[derive(Clone, Debug)]
pub struct OpStats {
    /// Operations completed.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of latencies, for an exact mean.
    pub latency_ns_sum: u64,
    /// Latencies in nanoseconds; grows as needed, so nothing is clipped.
    pub latency: Histogram<u64>,
}

impl Default for OpStats {
    fn default() -> Self {
        let latency = Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are a valid precision");
        Self { count: 0, bytes: 0, latency_ns_sum: 0, latency }
    }
}

impl OpStats {
    fn clear(&mut self) {
        (self.count, self.bytes, self.latency_ns_sum) = (0, 0, 0);
        self.latency.reset();
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
        if other.count > 0 {
            self.latency.add(&other.latency).expect("an automatic histogram takes any value");
        }
    }
}

/// What one job (or, after merging, one stream) did in one interval.
#[derive(Clone, Debug)]
pub struct IntervalStats {
    /// Index of the phase in the spec.
    pub phase: u32,
    /// Index of the stream within the phase.
    pub stream: u16,
    /// Ramp or steady.
    pub part: Part,
    /// Begin, from t0.
    pub begin: Nanos,
    /// End, from t0.
    pub end: Nanos,
    /// Per operation.
    pub operations: [OpStats; OPERATION_COUNT],
    /// Open-loop requests that started later than intended by more than the driver's clock step.
    pub late: u64,
    /// Open-loop requests that should have started in the phase and never did; counted once, at its end.
    pub unserved: u64,
    /// Processor time of the generator, where there is a real one.
    pub generator_cpu_ns: u64,
}

impl IntervalStats {
    /// An empty interval.
    pub fn new(phase: u32, stream: u16, part: Part, begin: Nanos) -> Self {
        Self {
            phase,
            stream,
            part,
            begin,
            end: begin,
            operations: Default::default(),
            late: 0,
            unserved: 0,
            generator_cpu_ns: 0,
        }
    }

    /// Empties it for the interval that begins at `begin`, keeping its memory.
    pub fn restart(&mut self, phase: u32, part: Part, begin: Nanos) {
        (self.phase, self.part, self.begin, self.end) = (phase, part, begin, begin);
        (self.late, self.unserved, self.generator_cpu_ns) = (0, 0, 0);
        self.operations.iter_mut().for_each(OpStats::clear);
    }

    /// Counts one completed operation; `operation` is the operation's discriminant.
    #[inline]
    pub fn record(&mut self, operation: usize, bytes: u64, latency: Nanos) {
        let stats = &mut self.operations[operation];
        stats.count += 1;
        stats.bytes += bytes;
        stats.latency_ns_sum += latency;
        stats.latency.record(latency).expect("an automatic histogram takes any value");
    }

    /// Adds another job's part of the same interval.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.end = self.end.max(other.end);
        self.late += other.late;
        self.unserved += other.unserved;
        self.generator_cpu_ns += other.generator_cpu_ns;
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.add(theirs);
        }
    }
}

/// Where interval boundaries lie within a phase: multiples of the interval from its begin, and the end of the ramp.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begin: Nanos,
    ramped: Nanos,
    interval: Nanos,
}

impl Clock {
    /// A phase that begins at `begin`, ramps for `ramp` and is recorded each `interval` (counted anew after the ramp).
    pub fn new(begin: Nanos, ramp: Nanos, interval: Nanos) -> Self {
        assert!(interval > 0, "the resolver refuses an interval of zero");
        Self { begin, ramped: begin + ramp, interval }
    }

    /// Ramp or steady at `now`.
    pub fn part(&self, now: Nanos) -> Part {
        if now < self.ramped { Part::Ramp } else { Part::Steady }
    }

    /// When the ramp is over.
    pub fn ramped(&self) -> Nanos {
        self.ramped
    }

    /// The first boundary after `now`.
    pub fn boundary_after(&self, now: Nanos) -> Nanos {
        let after = |from: Nanos| from + ((now - from) / self.interval + 1) * self.interval;
        if now < self.ramped { after(self.begin).min(self.ramped) } else { after(self.ramped) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_never_straddle_the_end_of_the_ramp() {
        let clock = Clock::new(1000, 250, 100);
        let mut now = 1000;
        let boundaries: Vec<Nanos> = std::iter::from_fn(|| {
            now = clock.boundary_after(now);
            Some(now)
        })
        .take(5)
        .collect();
        assert_eq!(boundaries, [1100, 1200, 1250, 1350, 1450]);
        assert_eq!((clock.part(1249), clock.part(1250)), (Part::Ramp, Part::Steady));
    }

    #[test]
    fn nothing_is_clipped_at_seventeen_seconds() {
        let mut stats = IntervalStats::new(0, 0, Part::Steady, 0);
        let hour = 3_600_000_000_000;
        stats.record(0, 4096, hour);
        let max = stats.operations[0].latency.max();
        assert!(max.abs_diff(hour) as f64 <= hour as f64 * 1e-3, "{max}");
    }
}
