//! Simulated segment of a phase: its transactions, counters, usage and server state.

use crate::database::{Snapshot, Totals};
use crate::kernel::usage::UsageTotals;
use tameshi_base::Nanos;
use tameshi_record::{OpStats, Share};

/// Simulated segment of a phase.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) length: Nanos,
    /// Transactions by kind.
    pub(super) kinds: Vec<OpStats>,
    pub(super) counted: Totals,
    /// Usage of each device and of the host, at begin and end.
    pub(super) used: (Vec<UsageTotals>, Vec<UsageTotals>),
    /// State of the server, at begin and end.
    pub(super) snapshot: (Snapshot, Snapshot),
}

impl Segment {
    /// Append the segment that followed.
    pub(super) fn append(&mut self, later: &Self) {
        self.length += later.length;
        self.kinds.iter_mut().zip(&later.kinds).for_each(|(mine, theirs)| mine.add(theirs));
        self.counted.add(&later.counted, (Share::ALL, Share::ALL), |_| None);
        self.used.1.clone_from(&later.used.1);
        self.snapshot.1 = later.snapshot.1;
    }

    /// Number of transactions that ended.
    pub(super) fn transactions(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Share of the changes of secondary-index leaves that were buffered; zero without changes.
    pub(super) fn buffered_share(&self) -> f64 {
        let ((all, buffered), end) = (self.snapshot.0.leaf_changes, self.snapshot.1.leaf_changes);
        end.1.saturating_sub(buffered) as f64 / end.0.saturating_sub(all).max(1) as f64
    }

    /// Transactions per nanosecond.
    pub(super) fn rate(&self) -> f64 {
        self.transactions() as f64 / self.length.max(1) as f64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Segment with this number of transactions, all of one kind.
    pub(crate) fn block(length: Nanos, transactions: u64) -> Segment {
        Segment {
            length,
            kinds: vec![OpStats { count: transactions, ..Default::default() }],
            counted: Totals::nothing(0),
            snapshot: Default::default(),
            used: Default::default(),
        }
    }
}
