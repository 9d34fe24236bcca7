//! Command identifiers: the thread that waits for a command, and the command's slot.

/// Identifier of a command, unique among the commands that are outstanding.
///
/// Jobs are threads 0 to *n* - 1, numbered as in the job table; the threads of a database server
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandId(u64);

impl CommandId {
    #[inline(always)]
    pub(crate) const fn new(thread: usize, slot: u32) -> Self {
        Self((thread as u64) << 32 | slot as u64)
    }

    #[inline(always)]
    pub(crate) const fn thread(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline(always)]
    pub(crate) const fn slot(self) -> u32 {
        self.0 as u32
    }
}

impl From<u64> for CommandId {
    #[inline(always)]
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl From<CommandId> for u64 {
    #[inline(always)]
    fn from(id: CommandId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_id_keeps_thread_and_slot() {
        for (thread, slot) in [(0, 0), (7, u32::MAX), (1 << 20, 3)] {
            let id = CommandId::from(u64::from(CommandId::new(thread, slot)));
            assert_eq!((id.thread(), id.slot()), (thread, slot));
        }
    }
}
