//! Errors of a load, each as a sentence for the user.

use tameshi_base::Nanos;
use tameshi_record::RecordError;
use thiserror::Error;

/// Error of a load.
#[derive(Debug, Error)]
pub enum BlockError {
    /// A refused run, with all reasons.
    #[error("{}", .0.join("; "))]
    Refused(Vec<String>),
    /// The operating system refused a preparation, before any request.
    #[error("{doing} failed: {error}")]
    System {
        /// Attempted operation.
        doing: String,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A request failed.
    #[error("{request} failed: {error}")]
    Io {
        /// Operation, offset and length.
        request: String,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A request moved fewer bytes than asked.
    #[error("{request} moved only {moved} bytes: the target ends there, or has no space left")]
    Short {
        /// Operation, offset and length.
        request: String,
        /// Bytes moved.
        moved: u64,
    },
    /// A request outside the payload. It was not submitted.
    #[error("{request} lies outside the payload of {payload_bytes} bytes and was not submitted")]
    OutOfBounds {
        /// Operation, offset and length.
        request: String,
        /// Length of the payload in bytes.
        payload_bytes: u64,
    },
    /// A read returned wrong data.
    #[error("{request} returned wrong data: the block at offset {offset} {why}")]
    Wrong {
        /// Operation, offset and length.
        request: String,
        /// Offset of the block in the payload.
        offset: u64,
        /// Description of the damage.
        why: String,
    },
    /// Requests that did not complete in time.
    #[error("{outstanding} requests to {target} are outstanding and none completed for {} s", .waited / 1_000_000_000)]
    Stuck {
        /// The target.
        target: String,
        /// Number of requests that did not complete.
        outstanding: u32,
        /// Time without a completion.
        waited: Nanos,
    },
    /// Load threads that did not answer in time.
    #[error("{threads} load threads hang in a system call; none answered for {} s", .waited / 1_000_000_000)]
    Silent {
        /// Number of threads that did not answer.
        threads: usize,
        /// Time without an answer.
        waited: Nanos,
    },
    /// A load thread panicked.
    #[error("a load thread panicked: {0}")]
    Panicked(String),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl BlockError {
    /// Error of the system at the operation `doing`.
    pub(crate) fn system(doing: impl Into<String>, error: std::io::Error) -> Self {
        Self::System { doing: doing.into(), error }
    }
}
