//! What a stretch of a phase did that was simulated.

use crate::database::{Snapshot, Totals};
use crate::world::Used;
use tameshi_base::Nanos;
use tameshi_record::{OpStats, Share};

/// A stretch that was simulated.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) length: Nanos,
    /// Transactions by kind.
    pub(super) kinds: Vec<OpStats>,
    pub(super) counted: Totals,
    /// What each device and the host had done at its begin and at its end.
    pub(super) used: (Vec<Used>, Vec<Used>),
    /// How things stood at its begin and at its end.
    pub(super) standing: (Snapshot, Snapshot),
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A stretch of so many transactions of one kind.
    pub(in super::super) fn block(length: Nanos, transactions: u64) -> Stretch {
        Stretch {
            length,
            kinds: vec![OpStats { count: transactions, ..Default::default() }],
            counted: Totals::nothing(0),
            standing: Default::default(),
            used: Default::default(),
        }
    }
}
