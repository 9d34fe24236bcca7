//! Failures between a client and its database, and errors of a run.

use tameshi_record::RecordError;
use thiserror::Error;

/// Consequence of a failure for its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The database rolled it back, and a retry may succeed: deadlock, lock wait, busy.
    Retry,
    /// The connection is lost, or the server is not available (yet).
    Lost,
    /// The database does not say whether a commit took place.
    Unknown,
    /// A retry can't succeed.
    Final,
}

/// Failed statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Consequence for the transaction.
    pub failure_kind: FailureKind,
    /// Error code of the product, short; errors are counted by it.
    pub code: String,
    /// Message of the database.
    pub message: String,
}

impl Failure {
    /// Create a failure with its consequence, code and message.
    pub fn new(failure_kind: FailureKind, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { failure_kind, code: code.into(), message: message.into() }
    }

    /// True if a commit that failed in this way may have taken place.
    pub(crate) fn may_be_committed(&self) -> bool {
        matches!(self.failure_kind, FailureKind::Lost | FailureKind::Unknown)
    }
}

/// Error of a run.
#[derive(Debug, Error)]
pub enum OltpError {
    /// The database can't be reached, or refused a preparation before any load.
    #[error("{doing} failed ({}): {}", .failure.code, .failure.message)]
    Database {
        /// Attempted operation.
        doing: String,
        /// Answer of the database.
        failure: Failure,
    },
    /// A load thread panicked.
    #[error("a client thread panicked: {0}")]
    Panicked(String),
    /// The journal of acknowledged commits can't be written or read.
    #[error("the journal {file}: {why}")]
    Journal {
        /// Path of the file.
        file: String,
        /// Description of the error.
        why: String,
    },
    /// No transaction completed in a whole phase.
    #[error("no transaction was completed; the last error was ({}): {}", .0.code, .0.message)]
    NothingDone(Failure),
    /// The system refused to start a thread.
    #[error("starting a client's thread failed: {0}")]
    Thread(std::io::Error),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl OltpError {
    /// Error of the database at the operation `doing`.
    pub(crate) fn database(doing: impl Into<String>) -> impl FnOnce(Failure) -> Self {
        let doing = doing.into();
        move |failure| Self::Database { doing, failure }
    }
}
