//! How requests reach the system: the choice, and what every backend does.

use crate::error::BlockError;
use crate::files::FileOperation;
use crate::uring;
use std::io;
use tameshi_base::Nanos;

/// How requests reach the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// io_uring where the system allows it, else plain calls; the record says which and why.
    #[default]
    Auto,
    /// io_uring or an error; also a file in memory is served as the kernel will.
    Uring,
    /// Plain calls, from a thread per outstanding request.
    Portable,
    /// Nothing is read or written, every request completes at once: the cost of the generator itself.
    Null,
}

/// A backend that was found to work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// io_uring, and whether a file in memory is read and written where a request is handed over.
    Uring {
        in_place: bool,
    },
    Portable,
    Null,
}

impl Chosen {
    /// The word in records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Uring { .. } => "io_uring",
            Self::Portable => "portable",
            Self::Null => "null",
        }
    }
}

impl Backend {
    /// Every word that names a backend, with the backend.
    pub const WORDS: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("io_uring", Self::Uring), ("portable", Self::Portable), ("null", Self::Null)];

    /// The backend of that name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|&(_, backend)| backend)
    }

    /// Chooses what works here; with a remark when that is not the first choice.
    pub(crate) fn choose(self) -> Result<(Chosen, Option<String>), BlockError> {
        match self {
            Self::Portable => Ok((Chosen::Portable, None)),
            Self::Null => Ok((Chosen::Null, None)),
            Self::Uring => uring::probe()
                .map(|()| (Chosen::Uring { in_place: false }, None))
                .map_err(|error| BlockError::system("setting up io_uring", error)),
            Self::Auto => Ok(match uring::probe() {
                Ok(()) => (Chosen::Uring { in_place: true }, None),
                Err(error) => (Chosen::Portable, Some(format!("io_uring is not available: {error}"))),
            }),
        }
    }
}

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
