//! Durability of the log and of commits: what would survive a fault at any instant.

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

/// Record of changed pages, of writes of the log, and of answered commits.
#[derive(Debug, Default)]
pub(super) struct Durability {
    /// Log position of the last change of each page.
    pub(super) changed: Vec<u64>,
    /// Changes logged so far.
    records: u64,
    /// End of the log that has been written to the storage, synced or not.
    written: u64,
    /// End of the log that the kernel has.
    handed: u64,
    /// After a kill: end of the synced log. The restarted server has read more of it from the
    /// kernel and takes that for durable until it syncs the log again.
    synced: Option<u64>,
    /// Bytes written to the storage.
    bytes: u64,
    /// Writes of the log: bytes written to the storage until then, and end of the log.
    writes: VecDeque<(u64, u64)>,
    /// Log positions of the commits that were answered last.
    answered: VecDeque<u64>,
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

    /// The kernel has the log up to `lsn`.
    pub(super) fn hand(&mut self, lsn: u64) {
        self.handed = self.handed.max(lsn);
    }

    /// A write to the storage is complete.
    pub(super) fn write(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// The log has been written up to `lsn`.
    pub(super) fn log_written(&mut self, lsn: u64) {
        self.written = self.written.max(lsn);
        if self.writes.len() == REMEMBERED {
            self.writes.pop_front();
        }
        self.writes.push_back((self.bytes, self.written));
    }

    /// The log is synced as far as the server believes.
    pub(super) fn log_synced(&mut self) {
        self.synced = None;
    }

    /// End of the synced log, where the server believes that it is `durable`.
    fn durable(&self, durable: u64) -> u64 {
        self.synced.map_or(durable, |synced| synced.min(durable))
    }

    /// A client has the answer to its commit, whose log ends at `lsn`.
    pub(super) fn answer(&mut self, lsn: u64, durable: u64) {
        let durable = self.durable(durable);
        self.ledger.acknowledged += 1;
        if self.answered.len() >= REMEMBERED && self.answered.front().is_some_and(|&front| front <= durable) {
            self.answered.pop_front();
        }
        self.answered.push_back(lsn);
    }

    /// Mean bytes of log per change.
    pub(super) fn record_bytes(&self, lsn: u64) -> u64 {
        (lsn / self.records.max(1)).max(1)
    }

    /// End of the log that survives a fault.
    pub(super) fn survives(&self, fault: &ServerFault, durable: u64) -> u64 {
        let durable = self.durable(durable);
        let Loss { lost_bytes, flush_ns, hold_up_ns, .. } = *fault.loss_of_log();
        // A drive with a capacitor reports a write durable once it has it. What its capacitor
        // doesn't save was synced, too. So was what a failover loses with the near side.
        let broken_promise = flush_ns > hold_up_ns || matches!(fault.kind, FaultKind::Failover);
        match fault.kind {
            FaultKind::Kill | FaultKind::Storage | FaultKind::Shutdown => self.handed.max(self.written).max(durable),
            _ if lost_bytes == 0 => self.written.max(durable),
            _ if !broken_promise => durable,
            _ => {
                // The newest writes are lost.
                let kept = self.bytes.saturating_sub(lost_bytes);
                self.writes.iter().rev().find(|(bytes, _)| *bytes <= kept).map_or(0, |(_, lsn)| *lsn)
            }
        }
    }

    /// Drop answered commits beyond `survives` of a log that was synced up to `durable`. Return
    /// their number.
    pub(super) fn lose(&mut self, survives: u64, durable: u64) -> u64 {
        let before = self.answered.len();
        self.answered.retain(|&lsn| lsn <= survives);
        let lost = (before - self.answered.len()) as u64;
        self.ledger.lost += lost;
        self.synced = Some(self.durable(durable)).filter(|&synced| synced < survives);
        (self.written, self.handed) = (self.written.min(survives), survives);
        self.writes.retain(|&(_, lsn)| lsn <= survives);
        lost
    }
}
