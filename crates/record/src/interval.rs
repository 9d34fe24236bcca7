//! Statistics of one job over one interval, updated in the hot loop without allocation.

use crate::ledger::Ledger;
use crate::operation::OPERATION_COUNT;
use crate::tally::Tally;
use std::fmt;
use tameshi_base::Nanos;

/// Number of parts of a latency.
pub const PART_COUNT: usize = 7;
/// Names of the parts in metrics: waiting for other requests, host, link, controller, medium,
/// waiting for garbage collection, waiting for a rebuild.
pub const PART_WORDS: [&str; PART_COUNT] = ["queue", "host", "link", "controller", "media", "gc", "rebuild"];

/// Part of a phase that an interval lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Before the end of the ramp.
    Ramp,
    /// After the ramp; estimates use it.
    Steady,
    /// After the ramp, in the round of this number, from one. The rounds that estimates use are
    /// known at the end.
    Round(u32),
}

impl fmt::Display for Part {
    /// Name in histogram tags.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ramp => f.write_str("ramp"),
            Self::Steady => f.write_str("steady"),
            Self::Round(number) => write!(f, "round-{number}"),
        }
    }
}

/// Count, bytes and latencies of one operation.
#[derive(Clone, Debug, Default)]
pub struct OpStats {
    /// Completed operations.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of latencies, for an exact mean.
    pub latency_ns_sum: u64,
    /// Latencies in nanoseconds; grows as needed, so that nothing is clipped.
    pub latency: Tally,
}

impl OpStats {
    fn clear(&mut self) {
        if self.count > 0 {
            self.latency.clear();
        }
        (self.count, self.bytes, self.latency_ns_sum) = (0, 0, 0);
    }

    /// Add the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
        if other.count > 0 {
            self.latency.add(&other.latency);
        }
    }
}

/// Number, sum and maximum of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number.
    pub count: u64,
    /// Sum in nanoseconds.
    pub ns_sum: u64,
    /// Maximum in nanoseconds.
    pub ns_max: u64,
}

impl Spent {
    /// Add a duration.
    #[inline]
    pub fn add(&mut self, ns: Nanos) {
        self.count += 1;
        self.ns_sum += ns;
        self.ns_max = self.ns_max.max(ns);
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.ns_sum += other.ns_sum;
        self.ns_max = self.ns_max.max(other.ns_max);
    }
}

/// Lateness of scheduled requests' starts.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Count, sum and maximum.
    pub spent: Spent,
    /// Distribution in nanoseconds.
    pub tally: Tally,
}

impl Lateness {
    #[inline]
    fn add(&mut self, ns: Nanos) {
        self.spent.add(ns);
        self.tally.record(ns);
    }

    fn clear(&mut self) {
        if self.spent.count > 0 {
            self.tally.clear();
        }
        self.spent = Spent::default();
    }

    fn merge(&mut self, other: &Self) {
        self.spent.merge(&other.spent);
        if other.spent.count > 0 {
            self.tally.add(&other.tally);
        }
    }
}

/// Statistics of one job, or after merging of one stream, in one interval.
#[derive(Clone, Debug)]
pub struct IntervalStats {
    /// Index of the phase in the spec.
    pub phase: u32,
    /// Index of the stream within the phase.
    pub stream: u16,
    /// Ramp, steady or a round.
    pub part: Part,
    /// Start, from t0.
    pub begin: Nanos,
    /// End, from t0.
    pub end: Nanos,
    /// Statistics per operation.
    pub operations: [OpStats; OPERATION_COUNT],
    /// Open-loop requests that started later than intended by more than the driver's clock
    /// resolution.
    pub late: u64,
    /// Open-loop requests due in the phase that never started; counted once, at its end.
    pub unserved: u64,
    /// Failed commands; they count in nothing else.
    pub failed: u64,
    /// Processor time of the load generator, if it is a real one.
    pub generator_cpu_ns: u64,
    /// Sum over completed operations of the time since submission, not since the intended start.
    pub service_ns_sum: u64,
    /// Requests in flight, integrated over the interval.
    pub in_flight_ns: u64,
    /// Open-loop requests that arrived and did not start, integrated over the interval.
    pub waiting_ns: u64,
    /// Time of completed operations by part, see [`PART_WORDS`]. If a world reports it, the parts
    /// add up exactly to the latencies of reads, writes, syncs and trims.
    pub parts_ns: [u64; PART_COUNT],
    /// Time from an open-loop request's intended start to its submission.
    pub slip: Lateness,
    /// Part of that time caused by the generator: since the start was due *and* a slot was free.
    pub lag: Lateness,
    /// Time from the end of a wait with completions to the next wait. Completions in that time are
    /// seen late by at most as much.
    pub reap: Spent,
    /// Data recorded once per phase.
    pub ledger: Ledger,
}

impl IntervalStats {
    /// Create an empty interval.
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
            failed: 0,
            generator_cpu_ns: 0,
            service_ns_sum: 0,
            in_flight_ns: 0,
            waiting_ns: 0,
            parts_ns: [0; PART_COUNT],
            slip: Lateness::default(),
            lag: Lateness::default(),
            reap: Spent::default(),
            ledger: Ledger::default(),
        }
    }

    /// Clear it for the interval that begins at `begin`; keep its memory.
    pub fn restart(&mut self, phase: u32, part: Part, begin: Nanos) {
        (self.phase, self.part, self.begin, self.end) = (phase, part, begin, begin);
        (self.late, self.unserved, self.generator_cpu_ns, self.service_ns_sum) = (0, 0, 0, 0);
        self.parts_ns = [0; PART_COUNT];
        (self.failed, self.in_flight_ns, self.waiting_ns) = (0, 0, 0);
        self.operations.iter_mut().for_each(OpStats::clear);
        self.slip.clear();
        self.lag.clear();
        self.reap = Spent::default();
        self.ledger = Ledger::default();
    }

    /// Count one completed operation; `operation` is the operation's discriminant.
    #[inline(always)]
    pub fn record(&mut self, operation: usize, bytes: u64, latency: Nanos) {
        let stats = &mut self.operations[operation];
        stats.count += 1;
        stats.bytes += bytes;
        stats.latency_ns_sum += latency;
        stats.latency.record(latency);
    }

    /// Reads and writes together: number, bytes, and sum of latencies in nanoseconds.
    pub fn transferred(&self) -> (u64, u64, u64) {
        let [read, write, ..] = &self.operations;
        let (bytes, latency) = (read.bytes + write.bytes, read.latency_ns_sum + write.latency_ns_sum);
        (read.count + write.count, bytes, latency)
    }

    /// Count the start of an open-loop request: `slip` after its intended start, `lag` after it was
    /// possible.
    #[inline]
    pub fn started(&mut self, slip: Nanos, lag: Nanos) {
        self.slip.add(slip);
        self.lag.add(lag);
    }

    /// Allocate memory for latencies of `operation`, or with `None` for lateness, of up to
    /// `longest`.
    pub fn expect(&mut self, operation: Option<usize>, longest: Nanos) {
        match operation {
            Some(operation) => self.operations[operation].latency.expect(longest),
            None => [&mut self.slip, &mut self.lag].into_iter().for_each(|late| late.tally.expect(longest)),
        }
    }

    /// Add another job's part of the same interval.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.end = self.end.max(other.end);
        self.late += other.late;
        self.unserved += other.unserved;
        self.failed += other.failed;
        self.generator_cpu_ns += other.generator_cpu_ns;
        self.service_ns_sum += other.service_ns_sum;
        self.in_flight_ns = self.in_flight_ns.saturating_add(other.in_flight_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        for (mine, theirs) in self.parts_ns.iter_mut().zip(&other.parts_ns) {
            *mine += theirs;
        }
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.add(theirs);
        }
        self.slip.merge(&other.slip);
        self.lag.merge(&other.lag);
        self.reap.merge(&other.reap);
        self.ledger.merge(&other.ledger);
    }
}

/// Rounds of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounds {
    /// No rounds.
    #[default]
    None,
    /// Rounds of this length after the ramp.
    Each(Nanos),
    /// The phase is a part of the round of this number.
    Within(u32),
}

/// Interval boundaries of a phase: multiples of the interval from its start, the end of the ramp,
/// and the ends of rounds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begin: Nanos,
    ramped: Nanos,
    interval: Nanos,
    rounds: Rounds,
}

impl Clock {
    /// Boundaries of a phase that begins at `begin`, ramps for `ramp` and is recorded each
    /// `interval`, counted anew after the ramp.
    pub fn new(begin: Nanos, ramp: Nanos, interval: Nanos) -> Self {
        assert!(interval > 0, "the resolver refuses an interval of zero");
        Self { begin, ramped: begin + ramp, interval, rounds: Rounds::None }
    }

    /// The same boundaries, with rounds; intervals are counted anew in each round.
    pub fn in_rounds(self, rounds: Rounds) -> Self {
        Self { rounds, ..self }
    }

    /// Part of the phase at `now`.
    pub fn part(&self, now: Nanos) -> Part {
        match self.rounds {
            _ if now < self.ramped => Part::Ramp,
            Rounds::None => Part::Steady,
            Rounds::Each(length) => Part::Round(((now - self.ramped) / length + 1) as u32),
            Rounds::Within(number) => Part::Round(number),
        }
    }

    /// Round that ends at `now`, if any.
    pub fn round_ending_at(&self, now: Nanos) -> Option<u32> {
        let Rounds::Each(length) = self.rounds else { return None };
        let over = now.checked_sub(self.ramped)?;
        (over > 0 && over.is_multiple_of(length)).then_some((over / length) as u32)
    }

    /// End of the round of this number; never if there are no rounds.
    pub fn end_of_round(&self, number: u32) -> Nanos {
        match self.rounds {
            Rounds::Each(length) => self.ramped.saturating_add(length.saturating_mul(u64::from(number))),
            Rounds::None | Rounds::Within(_) => Nanos::MAX,
        }
    }

    /// End of the ramp.
    pub fn ramped(&self) -> Nanos {
        self.ramped
    }

    /// First boundary after `now`.
    pub fn boundary_after(&self, now: Nanos) -> Nanos {
        let after = |from: Nanos| from + ((now - from) / self.interval + 1) * self.interval;
        match self.rounds {
            _ if now < self.ramped => after(self.begin).min(self.ramped),
            Rounds::Each(length) => {
                let begin = self.ramped + (now - self.ramped) / length * length;
                after(begin).min(begin + length)
            }
            Rounds::None | Rounds::Within(_) => after(self.ramped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_never_straddle_the_end_of_the_ramp() {
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
    fn intervals_end_with_rounds_and_name_them() {
        let clock = Clock::new(0, 100, 100).in_rounds(Rounds::Each(250));
        let boundaries: Vec<Nanos> = [0, 100, 200, 300, 350, 599, 600].map(|now| clock.boundary_after(now)).to_vec();
        assert_eq!(boundaries, [100, 200, 300, 350, 450, 600, 700]);
        assert_eq!((clock.part(99), clock.part(100), clock.part(349)), (Part::Ramp, Part::Round(1), Part::Round(1)));
        assert_eq!((clock.part(350).to_string(), clock.round_ending_at(350)), ("round-2".to_string(), Some(1)));
        assert_eq!((clock.round_ending_at(100), clock.round_ending_at(400), clock.end_of_round(2)), (None, None, 600));
        let third = Clock::new(0, 100, 100).in_rounds(Rounds::Within(3));
        assert_eq!((third.part(0), third.part(100), third.boundary_after(100)), (Part::Ramp, Part::Round(3), 200));
    }

    #[test]
    fn recording_within_expected_latency_allocates_nothing() {
        let mut stats = IntervalStats::new(0, 0, Part::Steady, 0);
        stats.expect(Some(0), 1_000_000_000);
        let places = stats.operations[0].latency.buckets();
        (0..1_000_000).for_each(|number: u64| stats.record(0, 4096, number * 999));
        assert_eq!(stats.operations[0].latency.buckets(), places);
        stats.restart(0, Part::Steady, 0);
        assert_eq!((stats.operations[0].count, stats.operations[0].latency.buckets()), (0, places));
    }

    #[test]
    fn latencies_beyond_17_s_are_not_clipped() {
        let mut stats = IntervalStats::new(0, 0, Part::Steady, 0);
        let hour = 3_600_000_000_000;
        stats.record(0, 4096, hour);
        let max = stats.operations[0].latency.histogram().max();
        assert!(max.abs_diff(hour) as f64 <= hour as f64 * 1e-3, "{max}");
    }
}
