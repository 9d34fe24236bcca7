//! What can go wrong with a load, each as a sentence for the user.

use tameshi_base::Nanos;
use tameshi_record::RecordError;
use thiserror::Error;

/// The load failed.
#[derive(Debug, Error)]
pub enum BlockError {
    /// The run can't be: each sentence says why.
    #[error("{}", .0.join("; "))]
    Refused(Vec<String>),
    /// The operating system refused what the load needs before any request.
    #[error("{doing} failed: {error}")]
    System {
        /// What was being done.
        doing: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A request failed.
    #[error("{request} failed: {error}")]
    Io {
        /// Operation, offset and length.
        request: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A request moved less than it should.
    #[error("{request} moved {moved} bytes only: the target ends there, or has no space left")]
    Short {
        /// Operation, offset and length.
        request: String,
        /// Bytes moved.
        moved: u64,
    },
    /// A request would leave the payload. It was not submitted.
    #[error("{request} lies outside the payload of {payload_bytes} bytes and was not submitted")]
    OutOfBounds {
        /// Operation, offset and length.
        request: String,
        /// Length of the payload.
        payload_bytes: u64,
    },
    /// A read brought what should not be there.
    #[error("{request} brought wrong data: the block at offset {offset} {why}")]
    Wrong {
        /// Operation, offset and length.
        request: String,
        /// The block's first byte, from the payload's begin.
        offset: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Requests did not come back.
    #[error("{outstanding} requests to {target} are outstanding and none completed for {} s", .waited / 1_000_000_000)]
    Stuck {
        /// The target.
        target: String,
        /// Requests that did not come back.
        outstanding: u32,
        /// Time without a completion.
        waited: Nanos,
    },
    /// Threads of the load did not come back, not even to say what is outstanding.
    #[error("{threads} threads of the load hang in a call, none answered for {} s", .waited / 1_000_000_000)]
    Silent {
        /// Threads that did not come back.
        threads: usize,
        /// Time without an answer.
        waited: Nanos,
    },
    /// A thread of the load panicked.
    #[error("a thread of the load stopped unexpectedly: {0}")]
    Panicked(String),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl BlockError {
    /// The system's refusal of `doing`.
    pub(crate) fn system(doing: impl Into<String>, error: std::io::Error) -> Self {
        Self::System { doing: doing.into(), error }
    }
}
