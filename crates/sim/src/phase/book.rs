//! The record of a phase that is not simulated to its end: what was simulated as it was, and behind it what is like that.

use super::course::{Course, Shares};
use super::entries::TRANSACTION;
use super::stretch::Stretch;
use crate::database::{Snapshot, Totals};
use crate::error::SimError;
use crate::world::{Used, World};
use tameshi_base::Nanos;
use tameshi_record::{Clock, IntervalStats, OpStats, Writer};

/// Fills the intervals of a phase in the order of time.
pub(super) struct Book {
    clock: Clock,
    phase: u32,
    word: &'static str,
    /// How far it is filled, and where the interval began; as all times here those of the record.
    pub(super) at: Nanos,
    began: Nanos,
    stats: Vec<IntervalStats>,
    counted: Totals,
    /// Since the phase's begin.
    whole: Totals,
    used: Vec<Used>,
    standing: Snapshot,
}

impl Book {
    /// An empty one; `stats` are those of the first interval.
    pub(super) fn new(
        clock: Clock,
        (phase, word): (u32, &'static str),
        (begin, stats): (Nanos, Vec<IntervalStats>),
        (clients, used): (usize, Vec<Used>),
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
            whole: none,
            used,
            standing: Snapshot::default(),
        }
    }

    /// Where the interval ends that a time lies in.
    pub(super) fn boundary_after(&self, time: Nanos) -> Nanos {
        self.clock.boundary_after(time)
    }

    /// All that was counted since the phase's begin.
    pub(super) fn whole(&self) -> &Totals {
        &self.whole
    }

    /// Adds shares of what a stretch did, and of the time that it took.
    fn add(&mut self, stretch: &Stretch, shares: &Shares) {
        for (place, (stats, kind)) in self.stats.iter_mut().zip(&stretch.kinds).enumerate() {
            stats.operations[TRANSACTION].add_share(kind, shares.work, shares.time_of(place));
        }
        for counted in [&mut self.counted, &mut self.whole] {
            counted.add(&stretch.counted, (shares.work, shares.time), |place| shares.counter(place));
        }
        for (used, (begin, end)) in self.used.iter_mut().zip(stretch.used.0.iter().zip(&stretch.used.1)) {
            *used = used.after((begin, end), shares.work);
        }
    }

    /// A stretch that was simulated, within one interval.
    pub(super) fn simulated(
        &mut self,
        stretch: &Stretch,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        self.add(stretch, &Shares::ALL);
        self.standing = stretch.standing.1;
        self.at += stretch.length;
        self.write_at_boundary(world, writer)
    }

    /// From here to `end` everything takes its course.
    pub(super) fn rest(
        &mut self,
        end: Nanos,
        course: &mut Course,
        (world, writer): (&mut World, &mut Writer),
    ) -> Result<(), SimError> {
        let begin = self.at;
        while self.at < end {
            let to = self.boundary_after(self.at).min(end);
            let shares = course.next(to - begin);
            self.add(&course.like, &shares);
            self.standing = course.standing();
            self.at = to;
            self.write_at_boundary(world, writer)?;
        }
        Ok(())
    }

    fn write_at_boundary(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if self.boundary_after(self.at - 1) == self.at { self.write(world, writer) } else { Ok(()) }
    }

    /// Writes the interval up to here, if there is anything of it.
    pub(super) fn write(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if self.at == self.began {
            return Ok(());
        }
        for stats in &mut self.stats {
            stats.end = self.at;
            writer.interval(stats)?;
            let OpStats { count, latency_ns_sum, .. } = stats.operations[TRANSACTION];
            stats.restart(self.phase, self.clock.part(self.at), self.at);
            // Time of a transaction that ends later only.
            stats.operations[TRANSACTION].latency_ns_sum = if count == 0 { latency_ns_sum } else { 0 };
        }
        world.write_used(self.at, self.used.clone(), writer)?;
        let counted = std::mem::replace(&mut self.counted, Totals::nothing(0));
        counted.write((self.began, self.at), (self.word, &self.standing), writer)?;
        if self.at == self.clock.ramped() {
            writer.phase_ramped(self.at, self.phase)?;
        }
        self.began = self.at;
        Ok(())
    }
}
