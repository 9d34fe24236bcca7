//! Order of flushes: each waits for all earlier writes and trims, and for nothing else.
//!
//! A flush that the interface cannot queue (Serial ATA) runs alone. It waits for reads too, begins
//! once the drive is empty, and holds back later commands.
//!
//! A drive without a volatile cache tells its host so, which then sends no flush: one ends at once,
//! whatever else is under way.

use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};

/// Flush under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flush {
    pub(crate) command: Command,
    pub(crate) submitted: Nanos,
    /// Earliest completion, as far as the device is concerned.
    ready_at: Nanos,
    /// Incomplete commands between the previous flush and this one.
    before: u32,
}

/// Counters of commands between flushes; every operation takes constant time.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    flushes: VecDeque<Flush>,
    /// Completed flushes: the epoch of the front flush.
    completed: u64,
    /// Incomplete commands since the last flush.
    since: u32,
    /// Earliest completion of the front flush, as far as earlier commands are concerned.
    floor: Nanos,
    /// Duration of a flush that runs alone; `None` if flushes run next to other commands.
    alone: Option<Nanos>,
    /// Flushes end at once.
    is_free: bool,
}

/// Epoch of a command that no flush waits for.
const FREE: u64 = u64::MAX;

impl Barrier {
    /// Build the barrier of a drive whose flushes run alone, each for `time`.
    pub(crate) fn alone(time: Nanos) -> Self {
        Self { alone: Some(time), ..Self::default() }
    }

    /// Build the barrier of a drive whose host sends it no flush.
    pub(crate) fn free() -> Self {
        Self { is_free: true, ..Self::default() }
    }

    /// Register a command other than a flush; return its epoch for [`Barrier::leave`].
    #[inline]
    pub(crate) fn enter(&mut self, kind: CommandKind) -> u64 {
        if self.is_free || (kind == CommandKind::Read && self.alone.is_none()) {
            return FREE;
        }
        self.since += 1;
        self.completed + self.flushes.len() as u64
    }

    /// Return whether no flush holds back a command of `epoch`.
    #[inline]
    pub(crate) fn admits(&self, epoch: u64) -> bool {
        self.alone.is_none() || epoch <= self.completed
    }

    /// Note that a command of `epoch` completed at `now`.
    #[inline]
    pub(crate) fn leave(&mut self, epoch: u64, now: Nanos) {
        if epoch == FREE {
            return;
        }
        match self.flushes.get_mut((epoch - self.completed) as usize) {
            Some(flush) => {
                flush.before -= 1;
                self.floor = now;
            }
            None => self.since -= 1,
        }
    }

    /// Register a flush, which takes the drive until `ready_at` by itself.
    pub(crate) fn flush(&mut self, command: &Command, submitted: Nanos, ready_at: Nanos) {
        let ready_at = if self.is_free { submitted } else { ready_at };
        let before = std::mem::take(&mut self.since);
        self.flushes.push_back(Flush { command: *command, submitted, ready_at, before });
    }

    /// Forget all commands under way.
    pub(crate) fn clear(&mut self) {
        *self = Self { alone: self.alone, is_free: self.is_free, ..Self::default() };
    }

    /// Return whether no flush is under way.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.flushes.is_empty()
    }

    /// Return when the front flush completes; `None` while it waits for commands.
    #[inline]
    pub(crate) fn next(&self) -> Option<Nanos> {
        let front = self.flushes.front()?;
        (front.before == 0).then(|| match self.alone {
            None => front.ready_at.max(self.floor),
            Some(time) => front.submitted.max(self.floor) + time,
        })
    }

    /// Return the number of leading flushes that wait for no earlier command at `now`.
    pub(crate) fn ready(&self, now: Nanos) -> usize {
        self.flushes.iter().take_while(|flush| flush.before == 0 && flush.ready_at <= now).count()
    }

    /// Take the front flush, which completes at `now`.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<Flush> {
        self.floor = now;
        self.completed += 1;
        self.flushes.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flush(id: u64) -> Command {
        Command { id, kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0, fua: false, stream: 0 }
    }

    #[test]
    fn flush_waits_for_earlier_writes_only() {
        let mut barrier = Barrier::default();
        let before = barrier.enter(CommandKind::Write);
        barrier.flush(&flush(1), 10, 12);
        let after = barrier.enter(CommandKind::Write);
        barrier.leave(after, 20);
        assert_eq!(barrier.next(), None);
        barrier.leave(before, 30);
        assert_eq!(barrier.next(), Some(30));
        assert_eq!(barrier.pop(30).map(|flush| flush.command.id), Some(1));
        assert_eq!(barrier.next(), None);
    }

    #[test]
    fn free_flush_ends_at_once_whatever_is_under_way() {
        let mut barrier = Barrier::free();
        let write = barrier.enter(CommandKind::Write);
        barrier.flush(&flush(1), 10, 12);
        assert_eq!((barrier.next(), barrier.ready(10)), (Some(10), 1));
        assert_eq!(barrier.pop(10).map(|flush| flush.command.id), Some(1));
        barrier.leave(write, 30);
        barrier.flush(&flush(2), 30, 32);
        assert_eq!((barrier.next(), barrier.ready(30)), (Some(30), 1));
    }

    #[test]
    fn flush_waits_for_reads_only_if_it_runs_alone() {
        let mut barrier = Barrier::default();
        let read = barrier.enter(CommandKind::Read);
        barrier.flush(&flush(1), 10, 12);
        assert_eq!((barrier.next(), barrier.admits(barrier.completed + 1)), (Some(12), true));
        barrier.leave(read, 30);
        assert_eq!(barrier.next(), Some(12));

        let mut barrier = Barrier::alone(5);
        let read = barrier.enter(CommandKind::Read);
        barrier.flush(&flush(1), 10, 12);
        let later = barrier.enter(CommandKind::Read);
        assert_eq!((barrier.next(), barrier.admits(read), barrier.admits(later)), (None, true, false));
        barrier.leave(read, 30);
        assert_eq!(barrier.next(), Some(35));
        barrier.pop(35);
        assert!(barrier.admits(later));
    }

    #[test]
    fn flushes_complete_in_submission_order() {
        let mut barrier = Barrier::default();
        let before = barrier.enter(CommandKind::Write);
        barrier.flush(&flush(1), 10, 12);
        barrier.flush(&flush(2), 11, 13);
        barrier.leave(before, 11);
        assert_eq!(barrier.next(), Some(12));
        barrier.pop(12);
        assert_eq!(barrier.next(), Some(13));
        assert_eq!(barrier.pop(13).map(|flush| flush.command.id), Some(2));
    }
}
