//! Command to a storage device, as plain data.

/// Operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandKind {
    /// Transfer bytes from the device.
    Read,
    /// Transfer bytes to the device.
    Write,
    /// Make everything durable that completed before.
    Flush,
    /// Tell the device that the range holds no data worth keeping.
    Trim,
}

/// Command to a device; `offset_bytes` and `length_bytes` are zero for a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Number chosen by the submitter and returned with the completion.
    pub id: u64,
    /// Operation.
    pub kind: CommandKind,
    /// First byte, counted from the start of the storage.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub length_bytes: u32,
    /// Force unit access: a write completes only when it is durable.
    pub fua: bool,
    /// Index of the workload stream that issued it.
    pub stream: u16,
}

impl Command {
    /// Stream index of a storage's own work: a rebuild, a write-back.
    pub const OF_STORAGE: u16 = u16::MAX - 1;
}
