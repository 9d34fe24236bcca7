//! Flushes of an array: each completes when all before it that change data have, and its members have flushed.

use std::collections::VecDeque;
use tameshi_base::CommandKind;

/// Epoch of a flush, which has a place in the order instead.
pub(super) const ORDERED: u64 = u64::MAX;
/// Epoch of a command that no flush waits for.
const FREE: u64 = u64::MAX - 1;

/// A flush under way.
#[derive(Clone, Copy, Debug)]
struct Flush {
    op: u32,
    /// Commands before it, back to the flush before, that are not complete.
    before: u32,
    /// Whether the members have been sent.
    sent: bool,
    /// Whether they are done.
    done: bool,
}

/// What may happen to the front flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The members must be sent.
    Send(u32),
    /// It completes.
    Complete(u32),
}

/// Counts commands between flushes.
#[derive(Debug, Default)]
pub(super) struct Order {
    flushes: VecDeque<Flush>,
    completed: u64,
    since: u32,
}

impl Order {
    /// A command other than a flush begins; hand the epoch back when it completes.
    #[inline]
    pub(super) fn enter(&mut self, kind: CommandKind) -> u64 {
        if kind == CommandKind::Read {
            return FREE;
        }
        self.since += 1;
        self.completed + self.flushes.len() as u64
    }

    /// The command that entered in `epoch` completed.
    #[inline]
    pub(super) fn leave(&mut self, epoch: u64) {
        if epoch == FREE {
            return;
        }
        match self.flushes.get_mut((epoch - self.completed) as usize) {
            Some(flush) => flush.before -= 1,
            None => self.since -= 1,
        }
    }

    /// A flush begins; `sent` says whether the members know already.
    pub(super) fn flush(&mut self, op: u32, sent: bool) {
        let before = std::mem::take(&mut self.since);
        self.flushes.push_back(Flush { op, before, sent, done: false });
    }

    /// The members are done with a flush.
    pub(super) fn done(&mut self, op: u32) {
        self.of(op).done = true;
    }

    /// The members have to be sent again.
    pub(super) fn unsent(&mut self, op: u32) {
        let flush = self.of(op);
        (flush.sent, flush.done) = (false, false);
    }

    fn of(&mut self, op: u32) -> &mut Flush {
        self.flushes.iter_mut().find(|flush| flush.op == op).expect("the flush is under way")
    }

    /// What the front flush is ready for.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Next> {
        let front = self.flushes.front_mut()?;
        if front.before > 0 {
            return None;
        }
        if !front.sent {
            front.sent = true;
            return Some(Next::Send(front.op));
        }
        if !front.done {
            return None;
        }
        let op = front.op;
        self.flushes.pop_front();
        self.completed += 1;
        Some(Next::Complete(op))
    }

    /// Everything under way is forgotten.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
