//! Flush order of a volatile cache: a flush begins after all earlier writes and trims, and
//! completes after them.

use std::collections::VecDeque;
use tameshi_base::CommandKind;

/// Epoch of a flush; its place in the order counts instead.
pub(super) const ORDERED: u64 = u64::MAX;
/// Epoch of a command that no flush waits for.
pub(super) const FREE: u64 = u64::MAX - 1;

/// Flush under way.
#[derive(Clone, Copy, Debug)]
struct Flush {
    op: u32,
    /// Incomplete commands between the previous flush and this one.
    before: u32,
    /// True once it has begun.
    begun: bool,
    /// True once the device has completed it.
    done: bool,
}

/// Next action for the front flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Begin it.
    Begin(u32),
    /// Complete it.
    Complete(u32),
}

/// Counters of commands between flushes.
#[derive(Debug, Default)]
pub(super) struct Order {
    flushes: VecDeque<Flush>,
    completed: u64,
    since: u32,
}

impl Order {
    /// Register a command other than a flush; return its epoch for [`Order::leave`].
    #[inline]
    pub(super) fn enter(&mut self, kind: CommandKind) -> u64 {
        if kind == CommandKind::Read {
            return FREE;
        }
        self.since += 1;
        self.completed + self.flushes.len() as u64
    }

    /// Note that a command of `epoch` completed.
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

    /// Register a flush.
    pub(super) fn flush(&mut self, op: u32) {
        let before = std::mem::take(&mut self.since);
        self.flushes.push_back(Flush { op, before, begun: false, done: false });
    }

    /// Note that the device has completed a flush.
    pub(super) fn device_done(&mut self, op: u32) {
        self.of(op).done = true;
    }

    fn of(&mut self, op: u32) -> &mut Flush {
        self.flushes.iter_mut().find(|flush| flush.op == op).expect("the flush is under way")
    }

    /// Return the next action for the front flush, if it is ready.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Next> {
        let front = self.flushes.front_mut()?;
        if front.before > 0 {
            return None;
        }
        if !front.begun {
            front.begun = true;
            return Some(Next::Begin(front.op));
        }
        if !front.done {
            return None;
        }
        let op = front.op;
        self.flushes.pop_front();
        self.completed += 1;
        Some(Next::Complete(op))
    }

    /// Forget all commands.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
