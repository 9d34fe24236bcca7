//! The record of a phase that is not simulated to its end: what was simulated as it was, and behind it what is like that.

use super::TRANSACTION;
use super::course::{Course, Shares};
use crate::engine::{Counted, Standing};
use crate::error::SimError;
use crate::world::{Used, World};
use tameshi_base::Nanos;
use tameshi_record::{Clock, IntervalStats, OpStats, Share, Writer};

/// A stretch that was simulated.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) length: Nanos,
    /// Transactions by kind.
    pub(super) kinds: Vec<OpStats>,
    pub(super) counted: Counted,
    /// What each device and the host had done at its begin and at its end.
    pub(super) used: (Vec<Used>, Vec<Used>),
    /// How things stood at its begin and at its end.
    pub(super) standing: (Standing, Standing),
}

impl Stretch {
    /// Adds what followed on it.
    pub(super) fn append(&mut self, later: &Self) {
        self.length += later.length;
        self.kinds.iter_mut().zip(&later.kinds).for_each(|(mine, theirs)| mine.add(theirs));
        self.counted.add(&later.counted, (Share::ALL, Share::ALL), |_| None);
        self.used.1.clone_from(&later.used.1);
        self.standing.1 = later.standing.1;
    }

    /// Transactions that ended.
    pub(super) fn transactions(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Of the changes of secondary indexes' leaves, the share that was buffered; zero where there were none.
    pub(super) fn buffered_share(&self) -> f64 {
        let ((all, buffered), end) = (self.standing.0.leaf_changes, self.standing.1.leaf_changes);
        end.1.saturating_sub(buffered) as f64 / end.0.saturating_sub(all).max(1) as f64
    }

    /// Transactions a nanosecond.
    pub(super) fn rate(&self) -> f64 {
        self.transactions() as f64 / self.length.max(1) as f64
    }
}

/// Fills the intervals of a phase in the order of time.
pub(super) struct Book {
    clock: Clock,
    phase: u32,
    word: &'static str,
    /// How far it is filled, and where the interval began; as all times here those of the record.
    pub(super) at: Nanos,
    began: Nanos,
    stats: Vec<IntervalStats>,
    counted: Counted,
    /// Since the phase's begin.
    whole: Counted,
    used: Vec<Used>,
    standing: Standing,
}

impl Book {
    /// An empty one; `stats` are those of the first interval.
    pub(super) fn new(
        clock: Clock,
        (phase, word): (u32, &'static str),
        (begin, stats): (Nanos, Vec<IntervalStats>),
        (clients, used): (usize, Vec<Used>),
    ) -> Self {
        let none = Counted::nothing(clients);
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
            standing: Standing::default(),
        }
    }

    /// Where the interval ends that a time lies in.
    pub(super) fn boundary_after(&self, time: Nanos) -> Nanos {
        self.clock.boundary_after(time)
    }

    /// All that was counted since the phase's begin.
    pub(super) fn whole(&self) -> &Counted {
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
        let counted = std::mem::replace(&mut self.counted, Counted::nothing(0));
        counted.write((self.began, self.at), (self.word, &self.standing), writer)?;
        if self.at == self.clock.ramped() {
            writer.phase_ramped(self.at, self.phase)?;
        }
        self.began = self.at;
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A stretch of so many transactions of one kind.
    pub(in super::super) fn block(length: Nanos, transactions: u64) -> Stretch {
        Stretch {
            length,
            kinds: vec![OpStats { count: transactions, ..Default::default() }],
            counted: Counted::nothing(0),
            standing: Default::default(),
            used: Default::default(),
        }
    }
}
