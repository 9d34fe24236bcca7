//! What can go wrong between a client and its database, and what becomes of the transaction.

use tameshi_record::RecordError;
use thiserror::Error;

/// What a failure means for the transaction that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The database took it back; it may succeed when it is tried again: deadlock, lock wait, busy.
    Retry,
    /// The connection is gone, or the server is not there (yet).
    Lost,
    /// It can't succeed.
    Final,
}

/// A statement that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it means.
    pub fate: Fate,
    /// The product's own code, short: errors are counted by it.
    pub code: String,
    /// What the database said.
    pub message: String,
}

impl Failure {
    /// A failure of that fate.
    pub fn new(fate: Fate, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fate, code: code.into(), message: message.into() }
    }
}

/// The work could not be done.
#[derive(Debug, Error)]
pub enum OltpError {
    /// The database can't be reached or refused what is needed before any load.
    #[error("{doing} failed ({}): {}", .failure.code, .failure.message)]
    Database {
        /// What was being done.
        doing: String,
        /// What the database said.
        failure: Failure,
    },
    /// A thread of the load ended with an error that no server can be blamed for.
    #[error("a client stopped unexpectedly: {0}")]
    Panicked(String),
    /// The journal of acknowledged commits can't be written or read.
    #[error("the journal {file}: {why}")]
    Journal {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// Nothing was done in a whole phase.
    #[error("no transaction was completed; the last error was ({}): {}", .0.code, .0.message)]
    NothingDone(Failure),
    /// The system refused a thread.
    #[error("starting a client's thread failed: {0}")]
    Thread(std::io::Error),
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl OltpError {
    /// The database's refusal of `doing`.
    pub(crate) fn database(doing: impl Into<String>) -> impl FnOnce(Failure) -> Self {
        let doing = doing.into();
        move |failure| Self::Database { doing, failure }
    }
}
