//! A request to the system, and what every backend does with it.

use crate::files::FileOperation;
use std::io;
use tameshi_base::Nanos;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// A write that completes when it is durable.
    WriteDurable,
    /// Tells the system that the range holds nothing worth keeping.
    Trim,
    /// `fdatasync`.
    SyncData,
    /// `fsync`.
    SyncAll,
    /// A call on files that moves no data.
    File(FileOperation),
}

impl Kind {
    /// The word in errors.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteDurable => "durable write",
            Self::Trim => "trim",
            Self::SyncData => "fdatasync",
            Self::SyncAll => "fsync",
            Self::File(operation) => operation.word(),
        }
    }
}

/// One request, placed: its offset counts from the target's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) slot: u32,
    pub(crate) kind: Kind,
    pub(crate) length: u32,
    pub(crate) offset: u64,
    pub(crate) buffer: *mut u8,
}

// SAFETY: the buffer belongs to the request until it has completed.
unsafe impl Send for Request {}

/// A completed request: bytes moved, or a negative error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reaped {
    pub(crate) slot: u32,
    pub(crate) result: i32,
}

/// A job's queue to the system. It never holds more requests than the depth it was made for.
pub(crate) trait Queue {
    /// Takes a request; it starts at the latest with the next `wait`. Says whether all that was pushed has started.
    fn push(&mut self, request: Request) -> io::Result<bool>;

    /// Starts what was pushed, waits until something completed or `patience` is over, and adds all that completed to
    /// `reaped`. A patience of zero only looks.
    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()>;

    /// Processor time of the queue's own threads since it began.
    fn helpers_cpu(&self) -> Nanos {
        0
    }
}
