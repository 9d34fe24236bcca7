//! The log with its waiters: group commit, room for changes, and durability of commits.

use super::durability::{CommitPositions, Durability};
use super::port::Requester;
use super::redo::{Need, Redo};
use super::settings::{CommitMode, LogSettings};
use tameshi_spec::profile::Innodb;

/// Redo bytes of one change from which on the profile's share of extra redo no longer applies:
/// long values add none.
const EXTRA_OF: u64 = 1024;

/// Requester that waits until the log is durable.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    lsn: u64,
    requester: Requester,
    is_commit: bool,
}

/// The redo log, activities that wait for it, and the record of what survives a fault.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) redo: Redo,
    settings: LogSettings,
    waiters: Vec<Waiter>,
    /// Requesters whose log position the last flush has made durable.
    durable: Vec<Requester>,
    /// Clients that wait for room in the log.
    pub(super) space_waiters: Vec<u32>,
    /// Only in runs with faults of the server or its storage.
    pub(super) durability: Option<Box<Durability>>,
}

impl Log {
    pub(super) fn new(settings: LogSettings, rules: &Innodb, has_faults: bool) -> Self {
        Self {
            redo: Redo::new(settings.bytes, rules),
            settings,
            waiters: Vec::new(),
            durable: Vec::new(),
            space_waiters: Vec::new(),
            durability: has_faults.then(Box::default),
        }
    }

    /// Drop all waiters: the server has ended.
    pub(super) fn forget_waiters(&mut self) {
        self.waiters.clear();
        self.space_waiters.clear();
    }

    /// Bytes of log of a change, with the profile's extra share.
    #[inline]
    pub(super) fn bytes_of(&self, redo: u16) -> u64 {
        u64::from(redo) + u64::from(redo).min(EXTRA_OF) * self.settings.extra / 1_000_000
    }

    /// Bytes of a commit.
    pub(super) fn commit_bytes(&self) -> u64 {
        self.settings.records.commit
    }

    /// Request the log durable up to `lsn`. Without [`Need::Durable`] the requester waits.
    pub(super) fn want(&mut self, lsn: u64, requester: Requester) -> Need {
        let need = self.redo.need(lsn);
        if need != Need::Durable {
            self.waiters.push(Waiter { lsn, requester, is_commit: false });
        }
        need
    }

    /// Request the log durable for a commit, which shares its flush where the version does so.
    pub(super) fn want_for_commit(&mut self, lsn: u64, client: u32) -> Need {
        let need = if self.redo.is_shared() { self.redo.need(lsn) } else { self.redo.need_alone(lsn) };
        if need != Need::Durable {
            self.waiters.push(Waiter { lsn, requester: Requester::Client(client), is_commit: true });
        }
        need
    }

    /// Finish the flush that `leader` led. [`Self::take_durable`] has the requesters it served.
    pub(super) fn flushed(&mut self, leader: Requester) {
        self.redo.flushed();
        if let Some(durability) = &mut self.durability {
            durability.log_synced();
        }
        let (redo, durable, shared) = (&self.redo, &mut self.durable, self.redo.is_shared());
        self.waiters.retain(|&Waiter { lsn, requester, is_commit }| {
            let served = redo.is_durable(lsn) && (shared || requester == leader || !is_commit);
            durable.extend(served.then_some(requester));
            !served
        });
    }

    /// Take the buffer of requesters that the last flush served; [`Self::give_back`] returns it.
    pub(super) fn take_durable(&mut self) -> Vec<Requester> {
        std::mem::take(&mut self.durable)
    }

    pub(super) fn give_back(&mut self, mut durable: Vec<Requester>) {
        durable.clear();
        self.durable = durable;
    }

    /// Leader of the next flush, with the offset and bytes to write: the first that came
    /// meanwhile, unless a flush is under way.
    pub(super) fn next_leader(&mut self) -> Option<(Requester, (u64, u32))> {
        let &Waiter { lsn, requester, is_commit } = self.waiters.first()?;
        let alone = is_commit && !self.redo.is_shared();
        match if alone { self.redo.need_alone(lsn) } else { self.redo.need(lsn) } {
            Need::Lead { offset, bytes } => Some((requester, (offset, bytes))),
            Need::Durable | Need::Wait => None,
        }
    }

    /// Return whether a commit is answered only after its log is durable.
    pub(super) fn commits_wait(&self) -> bool {
        self.settings.commit == CommitMode::Durable
    }

    /// Return whether log writes are durable without a sync.
    pub(super) fn writes_through(&self) -> bool {
        self.settings.through
    }

    /// Give the kernel the log of a commit that is answered before its log is durable. Return
    /// whether it takes a write.
    pub(super) fn hand(&mut self) -> bool {
        let is_handed = self.settings.commit == CommitMode::Handed;
        let end = self.redo.lsn();
        if let Some(durability) = self.durability.as_mut().filter(|_| is_handed) {
            durability.redo.hand(end);
        }
        is_handed
    }

    /// Note an answered commit, where the binary log is durable up to `binlog`.
    pub(super) fn answer(&mut self, commit: CommitPositions, binlog: u64) {
        if let Some(durability) = &mut self.durability {
            durability.answer(commit, (self.redo.durable(), binlog));
        }
    }

    /// Let a client wait for room in the log.
    pub(super) fn await_room(&mut self, client: u32) {
        self.space_waiters.push(client);
    }

    /// Return whether changes must wait for a checkpoint.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.redo.age() > self.redo.most_age()
    }

    /// Return whether pages are flushed for the log before changes must wait.
    #[inline]
    pub(super) fn is_old(&self) -> bool {
        self.redo.age() > self.redo.hasty_age()
    }
}
