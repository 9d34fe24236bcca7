//! Requests to the system, and the queue that every backend implements.

pub(crate) mod backend;
pub(crate) mod null;
pub(crate) mod portable;
pub(crate) mod uring;

use crate::files::FileOperation;
use std::io;
use tameshi_base::Nanos;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Write that completes when it is durable.
    WriteDurable,
    /// Tell the system that the range holds no data worth keeping.
    Trim,
    /// `fdatasync`.
    SyncData,
    /// `fsync`.
    SyncAll,
    /// Call on files that moves no data.
    File(FileOperation),
}

impl Kind {
    /// Name in errors.
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

/// Request with its place; `offset` counts from the target's start.
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

/// Queue of a job's requests to the system. It never holds more requests than its depth.
pub(crate) trait Queue {
    /// Take a request; it starts with the next `wait` at the latest. Return whether all pushed
    /// requests have started.
    fn push(&mut self, request: Request) -> io::Result<bool>;

    /// Start pushed requests, wait until one completes or `patience` has passed, and add all
    /// completions to `reaped`. A patience of zero only polls.
    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()>;

    /// Processor time of the queue's own threads since it was created.
    fn helpers_cpu(&self) -> Nanos {
        0
    }
}
