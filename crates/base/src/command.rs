//! A command to a storage device, as plain data.

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandKind {
    /// Transfer bytes from the device.
    Read,
    /// Transfer bytes to the device.
    Write,
    /// Make everything that was completed before durable.
    Flush,
    /// Tell the device that the range holds nothing worth keeping.
    Trim,
}

/// One command; `offset_bytes` and `length_bytes` are zero for a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Chosen by the submitter; returned with the completion.
    pub id: u64,
    /// What is asked.
    pub kind: CommandKind,
    /// First byte, counted from the start of the storage.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub length_bytes: u32,
    /// Force unit access: a write completes only when it is durable.
    pub fua: bool,
    /// Index of the workload stream that asks.
    pub stream: u16,
}

impl Command {
    /// The stream of what a storage does by itself: a rebuild, writing back.
    pub const OF_STORAGE: u16 = u16::MAX - 1;
}
