//! Flushes: each waits for everything that was submitted before it and changes data, and for nothing else.
//!
//! A flush that the interface can't queue (Serial ATA) waits for reads, too, begins when the drive is empty, and holds back what comes after it.

use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};

/// A flush that is not complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flush {
    pub(crate) command: Command,
    pub(crate) submitted: Nanos,
    /// From when on the device may complete it, the commands before it permitting.
    ready_at: Nanos,
    /// Commands submitted since the flush before it and not yet complete.
    before: u32,
}

/// Counts commands between flushes, so that every step takes constant time.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    flushes: VecDeque<Flush>,
    /// Flushes that have completed: the epoch of the front one.
    completed: u64,
    /// Commands submitted since the last flush and not yet complete.
    since: u32,
    /// When the front flush could first complete, as far as the commands before it are concerned.
    floor: Nanos,
    /// What a flush takes that is alone on the drive; `None` where it passes beside other commands.
    alone: Option<Nanos>,
}

/// Epoch of a command that no flush waits for.
const FREE: u64 = u64::MAX;

impl Barrier {
    /// Of a drive whose flushes take so long, alone.
    pub(crate) fn alone(time: Nanos) -> Self {
        Self { alone: Some(time), ..Self::default() }
    }

    /// A command other than a flush was submitted; hand the epoch back when it completes.
    #[inline]
    pub(crate) fn enter(&mut self, kind: CommandKind) -> u64 {
        if kind == CommandKind::Read && self.alone.is_none() {
            return FREE;
        }
        self.since += 1;
        self.completed + self.flushes.len() as u64
    }

    /// Whether no flush holds back what entered in `epoch`.
    #[inline]
    pub(crate) fn lets_begin(&self, epoch: u64) -> bool {
        self.alone.is_none() || epoch <= self.completed
    }

    /// The command that entered in `epoch` completed at `now`.
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

    /// A flush was submitted.
    pub(crate) fn flush(&mut self, command: &Command, submitted: Nanos, ready_at: Nanos) {
        let before = std::mem::take(&mut self.since);
        self.flushes.push_back(Flush { command: *command, submitted, ready_at, before });
    }

    /// Everything under way is forgotten.
    pub(crate) fn clear(&mut self) {
        *self = Self { alone: self.alone, ..Self::default() };
    }

    /// Whether no flush is waiting.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.flushes.is_empty()
    }

    /// When the next flush completes, if nothing is left that it waits for.
    #[inline]
    pub(crate) fn next(&self) -> Option<Nanos> {
        let front = self.flushes.front()?;
        (front.before == 0).then(|| match self.alone {
            None => front.ready_at.max(self.floor),
            Some(time) => front.submitted.max(self.floor) + time,
        })
    }

    /// How many flushes, in their order, wait for nothing that came before them any more at `now`.
    pub(crate) fn ready(&self, now: Nanos) -> usize {
        self.flushes.iter().take_while(|flush| flush.before == 0 && flush.ready_at <= now).count()
    }

    /// Takes the flush that completes at `now`.
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
    fn a_flush_waits_for_what_came_before_it_and_not_for_what_came_after() {
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
    fn a_flush_waits_for_no_read_unless_it_must_be_alone() {
        let mut barrier = Barrier::default();
        let read = barrier.enter(CommandKind::Read);
        barrier.flush(&flush(1), 10, 12);
        assert_eq!((barrier.next(), barrier.lets_begin(barrier.completed + 1)), (Some(12), true));
        barrier.leave(read, 30);
        assert_eq!(barrier.next(), Some(12));

        let mut barrier = Barrier::alone(5);
        let read = barrier.enter(CommandKind::Read);
        barrier.flush(&flush(1), 10, 12);
        let later = barrier.enter(CommandKind::Read);
        assert_eq!((barrier.next(), barrier.lets_begin(read), barrier.lets_begin(later)), (None, true, false));
        barrier.leave(read, 30);
        assert_eq!(barrier.next(), Some(35));
        barrier.pop(35);
        assert!(barrier.lets_begin(later));
    }

    #[test]
    fn flushes_complete_in_their_order() {
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
