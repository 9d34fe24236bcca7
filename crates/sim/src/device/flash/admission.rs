//! Admission of commands: the queue in the host while the drive is full, and the order of flushes.

use crate::device::barrier::{Barrier, Flush};
use crate::device::queue_full::QueueFull;
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::Usage;

/// Command that waits in the host: command, submission, epoch.
pub(super) type Waiting = (Command, Nanos, u64);

/// Commands held by the drive, and commands that wait for admission.
#[derive(Debug)]
pub(super) struct Admission {
    depth: u32,
    held: u32,
    host: VecDeque<Waiting>,
    queue_full: QueueFull,
    flushes: Barrier,
}

impl Admission {
    /// Admission of a drive that holds `depth` commands.
    pub(super) fn new(depth: u32, flushes: Barrier) -> Self {
        Self { depth, held: 0, host: VecDeque::new(), queue_full: QueueFull::default(), flushes }
    }

    /// Register a command other than a flush; return its epoch.
    #[inline]
    pub(super) fn enter(&mut self, kind: CommandKind) -> u64 {
        self.flushes.enter(kind)
    }

    /// Return whether a command of this epoch begins at once.
    #[inline]
    pub(super) fn admits(&self, epoch: u64) -> bool {
        self.held < self.depth && self.flushes.admits(epoch)
    }

    /// Count a command that begins.
    #[inline]
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// Count a completed command.
    #[inline]
    pub(super) fn release(&mut self, epoch: u64, at: Nanos) {
        self.held -= 1;
        self.flushes.leave(epoch, at);
    }

    /// Replace a completed command by another one of a different kind in the same slot; return its
    /// epoch.
    #[inline]
    pub(super) fn exchange(&mut self, epoch: u64, kind: CommandKind, now: Nanos) -> u64 {
        self.flushes.leave(epoch, now);
        self.flushes.enter(kind)
    }

    /// Return whether the drive holds no command.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.held == 0
    }

    /// Return whether a completion may let a flush or a waiting command go on.
    #[inline]
    pub(super) fn holds_back(&self) -> bool {
        !self.flushes.is_open() || !self.host.is_empty()
    }

    /// Return whether no flush is under way.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.flushes.is_open()
    }

    /// Return whether commands wait in the host.
    #[inline]
    pub(super) fn has_waiting(&self) -> bool {
        !self.host.is_empty()
    }

    /// Queue a command in the host: the drive is full, or a flush holds it back.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.host.push_back(waiting);
        self.note_queue_full(waiting.1);
    }

    /// Take the command that has waited longest, unless a flush holds it back.
    pub(super) fn next_waiting(&mut self) -> Option<Waiting> {
        let flushes = &self.flushes;
        self.host.pop_front_if(|(.., epoch)| flushes.admits(*epoch))
    }

    /// Take a waiting command if the drive has room.
    pub(super) fn next_admitted(&mut self) -> Option<Waiting> {
        if self.held < self.depth { self.next_waiting() } else { None }
    }

    /// Update whether commands wait because the drive is full.
    pub(super) fn note_queue_full(&mut self, now: Nanos) {
        self.queue_full.set(self.held >= self.depth && !self.host.is_empty(), now);
    }

    pub(super) fn flush(&mut self, command: &Command, now: Nanos, ready_at: Nanos) {
        self.flushes.flush(command, now, ready_at);
    }

    /// Return when the next flush completes, as far as the commands before it are concerned.
    #[inline]
    pub(super) fn next_flush(&self) -> Option<Nanos> {
        self.flushes.next()
    }

    /// Return the number of leading flushes that wait for no command at `now`.
    pub(super) fn ready_flushes(&self, now: Nanos) -> usize {
        self.flushes.ready(now)
    }

    pub(super) fn pop_flush(&mut self, at: Nanos) -> Option<Flush> {
        self.flushes.pop(at)
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        self.queue_full.usage(u64::from(self.depth), now, usage);
    }

    /// Forget all commands.
    pub(super) fn clear(&mut self, now: Nanos) {
        self.held = 0;
        self.host.clear();
        self.note_queue_full(now);
        self.flushes.clear();
    }
}
