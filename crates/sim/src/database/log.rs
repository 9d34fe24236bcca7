//! The log with its waiters: group commit, room for changes, and durability of commits.

use super::durability::{CommitPositions, Durability};
use super::port::Requester;
use super::redo::{Need, Redo};
use super::settings::{CommitMode, LogSettings};
use tameshi_spec::profile::Innodb;

/// Redo bytes of one change from which on the profile's share of extra redo no longer applies:
/// long values add none.
const EXTRA_OF: u64 = 1024;

/// Bytes that a waiting client of MariaDB has the checkpoint move (log0chkp.cc:
/// `log_checkpoint_margin`).
const ROOM: u64 = 1 << 20;

/// State of the log that a requester waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    Durable,
    /// A commit's own flush, unless commits share one.
    Committed,
    Written,
}

/// Requester that waits until the log is durable, or written.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    lsn: u64,
    requester: Requester,
    until: Until,
}

/// The redo log, activities that wait for it, and the record of what survives a fault.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) redo: Redo,
    settings: LogSettings,
    waiters: Vec<Waiter>,
    /// Requesters that the last flush or write has served.
    served: Vec<Requester>,
    /// Clients that wait for room in the log.
    pub(super) space_waiters: Vec<u32>,
    /// Position that the checkpoint must reach before MariaDB's clients look again.
    room_at: u64,
    /// Only in runs with faults of the server or its storage.
    pub(super) durability: Option<Box<Durability>>,
}

/// Return what a waiter must do.
fn need_of(redo: &mut Redo, waiter: Waiter) -> Need {
    match waiter.until {
        Until::Written => redo.need_written(waiter.lsn),
        Until::Committed if !redo.is_shared() => redo.need_alone(waiter.lsn),
        Until::Committed | Until::Durable => redo.need(waiter.lsn),
    }
}

impl Log {
    pub(super) fn new(settings: LogSettings, rules: &Innodb, has_faults: bool) -> Self {
        Self {
            redo: Redo::new(settings.bytes, rules),
            settings,
            waiters: Vec::new(),
            served: Vec::new(),
            space_waiters: Vec::new(),
            room_at: 0,
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
        self.await_log(Waiter { lsn, requester, until: Until::Durable })
    }

    /// Request the log for a commit, which shares its flush where the version does so.
    pub(super) fn want_for_commit(&mut self, lsn: u64, client: u32) -> Need {
        let until = if self.settings.commit == CommitMode::Written { Until::Written } else { Until::Committed };
        self.await_log(Waiter { lsn, requester: Requester::Client(client), until })
    }

    fn await_log(&mut self, waiter: Waiter) -> Need {
        let need = need_of(&mut self.redo, waiter);
        if need != Need::Durable {
            self.waiters.push(waiter);
        }
        need
    }

    /// Finish the write under way. Return whether a sync follows. [`Self::take_served`] has the
    /// requesters it served.
    pub(super) fn wrote(&mut self) -> bool {
        let is_flush = self.redo.wrote();
        if self.settings.commit == CommitMode::Written {
            let (redo, served) = (&self.redo, &mut self.served);
            self.waiters.retain(|&Waiter { lsn, requester, until }| {
                let is_served = until == Until::Written && redo.written() >= lsn;
                served.extend(is_served.then_some(requester));
                !is_served
            });
        }
        is_flush
    }

    /// Finish the flush that `leader` led. [`Self::take_served`] has the requesters it served.
    pub(super) fn flushed(&mut self, leader: Requester) {
        self.redo.flushed();
        if let Some(durability) = &mut self.durability {
            durability.log_synced();
        }
        let (redo, served, shared) = (&self.redo, &mut self.served, self.redo.is_shared());
        self.waiters.retain(|&Waiter { lsn, requester, until }| {
            let is_served = redo.is_durable(lsn) && (shared || requester == leader || until == Until::Durable);
            served.extend(is_served.then_some(requester));
            !is_served
        });
    }

    /// Take the buffer of requesters that the last flush or write served; [`Self::give_back`]
    /// returns it.
    pub(super) fn take_served(&mut self) -> Vec<Requester> {
        std::mem::take(&mut self.served)
    }

    pub(super) fn give_back(&mut self, mut served: Vec<Requester>) {
        served.clear();
        self.served = served;
    }

    /// Leader of the next flush or write, with what it does: the first that came meanwhile, unless
    /// one is under way.
    pub(super) fn next_leader(&mut self) -> Option<(Requester, Need)> {
        let redo = &mut self.redo;
        self.waiters.iter().find_map(|&waiter| match need_of(redo, waiter) {
            Need::Durable | Need::Wait => None,
            need => Some((waiter.requester, need)),
        })
    }

    /// Return whether a commit is answered only after its log is durable, or written.
    pub(super) fn commits_wait(&self) -> bool {
        matches!(self.settings.commit, CommitMode::Durable | CommitMode::Written)
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
        if self.space_waiters.is_empty() {
            self.room_at = self.redo.lsn().min(self.redo.last_checkpoint() + ROOM);
        }
        self.space_waiters.push(client);
    }

    /// Return whether the checkpoint has moved as far as MariaDB's waiting clients asked.
    pub(super) fn has_made_room(&self) -> bool {
        self.redo.last_checkpoint() >= self.room_at
    }

    /// Return whether changes must wait for a checkpoint.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.redo.age() > self.redo.most_age()
    }
}
