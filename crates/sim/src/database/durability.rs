//! Durability of the logs and of commits: what would survive a fault at any instant.

use super::fault::{FaultKind, ServerFault};
use crate::device::loss::Loss;
use std::collections::VecDeque;

/// Log positions that are kept: more writes of the log than any drive's buffer holds.
const REMEMBERED: usize = 1 << 16;

/// Commits of clients that changed something.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ledger {
    pub(super) acknowledged: u64,
    pub(super) lost: u64,
    pub(super) ambiguous: u64,
}

/// Positions in the logs of a commit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommitPositions {
    /// End of the commit's redo.
    pub(super) lsn: u64,
    /// With a binary log: end of the redo of the prepared transaction.
    pub(super) prepared: u64,
    /// End of its events in the binary log; 0 without one.
    pub(super) binlog: u64,
}

impl CommitPositions {
    /// Return whether the commit survives if the redo log does up to `redo`, and the binary log up
    /// to `binlog`: a prepared transaction is committed if the binary log has it.
    fn survives(&self, redo: u64, binlog: u64) -> bool {
        self.lsn <= redo || (self.binlog > 0 && self.prepared <= redo && self.binlog <= binlog)
    }
}

/// Record of the writes of a log.
#[derive(Debug, Default)]
pub(super) struct WrittenLog {
    /// End of the log that has been written to the storage, synced or not.
    written: u64,
    /// End of the log that the kernel has.
    handed: u64,
    /// Bytes written to the log's storage.
    bytes: u64,
    /// Writes of the log: bytes written to the storage until then, and end of the log.
    writes: VecDeque<(u64, u64)>,
}

impl WrittenLog {
    /// The kernel has the log up to `end`.
    pub(super) fn hand(&mut self, end: u64) {
        self.handed = self.handed.max(end);
    }

    /// A write to the log's storage is complete.
    pub(super) fn write(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// The log has been written up to `end`.
    pub(super) fn log_written(&mut self, end: u64) {
        self.written = self.written.max(end);
        if self.writes.len() == REMEMBERED {
            self.writes.pop_front();
        }
        self.writes.push_back((self.bytes, self.written));
    }

    /// End of the log that survives a fault, with this loss of its storage.
    fn survives(&self, kind: FaultKind, loss: &Loss, durable: u64) -> u64 {
        let Loss { lost_bytes, flush_ns, hold_up_ns, .. } = *loss;
        // A drive with a capacitor reports a write durable once it has it. What its capacitor
        // doesn't save was synced, too. So was what a failover loses with the near side.
        let broken_promise = flush_ns > hold_up_ns || matches!(kind, FaultKind::Failover);
        match kind {
            FaultKind::Kill | FaultKind::Storage | FaultKind::Shutdown => self.handed.max(self.written).max(durable),
            _ if lost_bytes == 0 => self.written.max(durable),
            _ if !broken_promise => durable,
            _ => {
                // The newest writes are lost.
                let kept = self.bytes.saturating_sub(lost_bytes);
                self.writes.iter().rev().find(|(bytes, _)| *bytes <= kept).map_or(0, |(_, end)| *end)
            }
        }
    }

    /// Cut the record off after `survives`.
    fn cut(&mut self, survives: u64) {
        (self.written, self.handed) = (self.written.min(survives), survives);
        self.writes.retain(|&(_, end)| end <= survives);
    }
}

/// Record of changed pages, of writes of the logs, and of answered commits.
#[derive(Debug, Default)]
pub(super) struct Durability {
    /// Log position of the last change of each page.
    pub(super) changed: Vec<u64>,
    /// Changes logged so far.
    records: u64,
    pub(super) redo: WrittenLog,
    pub(super) binlog: WrittenLog,
    /// After a kill: end of the synced log. The restarted server has read more of it from the
    /// kernel and takes that for durable until it syncs the log again.
    synced: Option<u64>,
    /// Positions of the commits that were answered last.
    answered: VecDeque<CommitPositions>,
    pub(super) ledger: Ledger,
}

impl Durability {
    /// Note a page's change by a record that ends at `lsn`.
    #[inline]
    pub(super) fn change(&mut self, page: u32, lsn: u64) {
        let page = page as usize;
        if page >= self.changed.len() {
            self.changed.resize((page + 1).next_multiple_of(1 << 14), 0);
        }
        self.changed[page] = lsn;
        self.records += 1;
    }

    /// The log is synced as far as the server believes.
    pub(super) fn log_synced(&mut self) {
        self.synced = None;
    }

    /// End of the synced log, where the server believes that it is `durable`.
    fn durable(&self, durable: u64) -> u64 {
        self.synced.map_or(durable, |synced| synced.min(durable))
    }

    /// A client has the answer to its commit; the logs are `durable` (redo log, binary log).
    pub(super) fn answer(&mut self, commit: CommitPositions, durable: (u64, u64)) {
        let redo = self.durable(durable.0);
        self.ledger.acknowledged += 1;
        if self.answered.len() >= REMEMBERED
            && self.answered.front().is_some_and(|front| front.survives(redo, durable.1))
        {
            self.answered.pop_front();
        }
        self.answered.push_back(commit);
    }

    /// Mean bytes of log per change.
    pub(super) fn record_bytes(&self, lsn: u64) -> u64 {
        (lsn / self.records.max(1)).max(1)
    }

    /// Ends of the redo log and the binary log that survive a fault, where the server believes
    /// that they are `durable`.
    pub(super) fn survives(&self, fault: &ServerFault, durable: (u64, u64)) -> (u64, u64) {
        let redo = self.redo.survives(fault.kind, fault.loss_of_log(), self.durable(durable.0));
        (redo, self.binlog.survives(fault.kind, fault.loss_of_binlog(), durable.1))
    }

    /// Drop answered commits that logs of these ends do not have; the redo log was synced up to
    /// `durable`. Return their number.
    pub(super) fn lose(&mut self, (redo, binlog): (u64, u64), durable: u64) -> u64 {
        let before = self.answered.len();
        self.answered.retain(|commit| commit.survives(redo, binlog));
        let lost = (before - self.answered.len()) as u64;
        self.ledger.lost += lost;
        self.synced = Some(self.durable(durable)).filter(|&synced| synced < redo);
        self.redo.cut(redo);
        self.binlog.cut(binlog);
        lost
    }
}
