//! Writer of a fast-mode phase's intervals: simulated segments, then extrapolated pieces.

use super::extrapolation::{Extrapolation, Shares};
use super::segment::Segment;
use crate::database::{Snapshot, Totals};
use crate::error::SimError;
use crate::kernel::accounting::TRANSACTION;
use crate::kernel::usage::UsageTotals;
use crate::kernel::world::World;
use tameshi_base::Nanos;
use tameshi_record::{Clock, IntervalStats, OpStats, Writer};

/// Writer of a phase's intervals, in the record's time.
pub(super) struct IntervalWriter {
    clock: Clock,
    phase: u32,
    word: &'static str,
    /// End of what was added.
    pub(super) at: Nanos,
    /// Begin of the interval.
    began: Nanos,
    stats: Vec<IntervalStats>,
    /// Counters of the interval.
    counted: Totals,
    /// Counters since the phase's begin.
    since_begin: Totals,
    used: Vec<UsageTotals>,
    snapshot: Snapshot,
}

impl IntervalWriter {
    /// Writer of phase number `phase` of the program `word`; `stats` are those of the first
    /// interval.
    pub(super) fn new(
        clock: Clock,
        (phase, word): (u32, &'static str),
        (begin, stats): (Nanos, Vec<IntervalStats>),
        (clients, used): (usize, Vec<UsageTotals>),
    ) -> Self {
        let none = Totals::nothing(clients);
        Self {
            clock,
            phase,
            word,
            at: begin,
            began: begin,
            stats,
            counted: none.clone(),
            since_begin: none,
            used,
            snapshot: Snapshot::default(),
        }
    }

    /// Return the end of the interval that contains a time.
    pub(super) fn boundary_after(&self, time: Nanos) -> Nanos {
        self.clock.boundary_after(time)
    }

    /// Counters since the phase's begin.
    pub(super) fn since_begin(&self) -> &Totals {
        &self.since_begin
    }

    /// Add shares of a segment.
    fn add(&mut self, segment: &Segment, shares: &Shares) {
        for (place, (stats, kind)) in self.stats.iter_mut().zip(&segment.kinds).enumerate() {
            stats.operations[TRANSACTION].add_share(kind, shares.work, shares.time_of(place));
        }
        for counted in [&mut self.counted, &mut self.since_begin] {
            counted.add(&segment.counted, (shares.work, shares.time), |place| shares.counter(place));
        }
        for (used, (begin, end)) in self.used.iter_mut().zip(segment.used.0.iter().zip(&segment.used.1)) {
            *used = used.after((begin, end), shares.work);
        }
    }

    /// Add a simulated segment, which lies within one interval.
    pub(super) fn simulated(
        &mut self,
        segment: &Segment,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        self.add(segment, &Shares::ALL);
        self.snapshot = segment.snapshot.1;
        self.at += segment.length;
        self.write_at_boundary(world, writer)
    }

    /// Add the extrapolated rest, up to `end`.
    pub(super) fn extrapolate(
        &mut self,
        end: Nanos,
        extrapolation: &mut Extrapolation,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        let begin = self.at;
        while self.at < end {
            let to = self.boundary_after(self.at).min(end);
            let shares = extrapolation.next_piece(to - begin);
            self.add(&extrapolation.window, &shares);
            self.snapshot = extrapolation.snapshot();
            self.at = to;
            self.write_at_boundary(world, writer)?;
        }
        Ok(())
    }

    fn write_at_boundary(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if self.boundary_after(self.at - 1) == self.at { self.write(world, writer) } else { Ok(()) }
    }

    /// Write the interval so far, unless it is empty.
    pub(super) fn write(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if self.at == self.began {
            return Ok(());
        }
        for stats in &mut self.stats {
            stats.end = self.at;
            writer.interval(stats)?;
            let OpStats { count, latency_ns_sum, .. } = stats.operations[TRANSACTION];
            stats.restart(self.phase, self.clock.part(self.at), self.at);
            // Without a transaction the time belongs to one that ends later.
            stats.operations[TRANSACTION].latency_ns_sum = if count == 0 { latency_ns_sum } else { 0 };
        }
        world.write_usage_at(self.at, self.used.clone(), writer)?;
        let counted = std::mem::replace(&mut self.counted, Totals::nothing(0));
        counted.write((self.began, self.at), (self.word, &self.snapshot), writer)?;
        if self.at == self.clock.ramped() {
            writer.phase_ramped(self.at, self.phase)?;
        }
        self.began = self.at;
        Ok(())
    }
}
