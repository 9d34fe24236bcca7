//! What the engine asks of the kernel: work on a processor, and commands to its storage.

use super::counters::Count;
use super::{Engine, Purpose, REQUEST, Request, Who};
use tameshi_base::{Command, CommandKind, Nanos};

/// So many times in a row something has come due and led to no request: it never will. Retries of a thousand clients that
/// sleep for ten milliseconds come to it within a minute, the server's seconds within seven weeks.
const MOST_IN_VAIN: u32 = 1 << 22;

impl Engine {
    /// Whether what comes due here has led to nothing for so long that nothing else is to come of it.
    pub(crate) fn is_stuck(&self) -> bool {
        self.in_vain > MOST_IN_VAIN
    }

    pub(super) fn thread_of(&self, who: Who) -> u32 {
        let clients = self.clients.len() as u32;
        match who {
            Who::Client(client) => client,
            Who::Batch(batch) => clients + batch as u32,
            Who::LogThread => clients + 3,
        }
    }

    pub(super) fn work(&mut self, thread: u32, time: Nanos) {
        self.in_vain = 0;
        if let Some(watch) = &mut self.watch {
            watch.working += 1;
        }
        self.requests.push_back(Request::Work { thread, time });
    }

    /// Sends a command of a thread's slot.
    pub(super) fn command(
        &mut self,
        thread: u32,
        slot: u32,
        kind: CommandKind,
        (offset, bytes): (u64, u32),
        purpose: Purpose,
    ) {
        match kind {
            CommandKind::Read => {
                self.counters.one(Count::Reads);
                self.counters.add(Count::ReadBytes, u64::from(bytes));
            }
            CommandKind::Write => {
                self.counters.one(Count::Writes);
                self.counters.add(Count::WrittenBytes, u64::from(bytes));
            }
            CommandKind::Flush | CommandKind::Trim => {}
        }
        self.send(thread, slot, kind, (offset, bytes), purpose);
    }

    /// Sends a command that is counted already.
    pub(super) fn send(
        &mut self,
        thread: u32,
        slot: u32,
        kind: CommandKind,
        (offset, bytes): (u64, u32),
        purpose: Purpose,
    ) {
        let at = (self.slots[thread as usize] + slot) as usize;
        debug_assert_eq!(self.purposes[at], Purpose::Nothing, "the slot is taken");
        self.purposes[at] = purpose;
        let id = (self.base + u64::from(thread)) << 32 | u64::from(slot);
        let offset = if kind == CommandKind::Flush { 0 } else { offset + self.base_bytes };
        (self.outstanding, self.in_vain) = (self.outstanding + 1, 0);
        let command = Command { id, kind, offset_bytes: offset, length_bytes: bytes, fua: false, stream: u16::MAX };
        self.requests.push_back(Request::Command(command));
    }

    pub(super) fn flush_command(&mut self, who: Who, purpose: Purpose) {
        self.counters.one(Count::Fsyncs);
        let thread = self.thread_of(who);
        self.command(thread, REQUEST, CommandKind::Flush, (0, 0), purpose);
    }
}
