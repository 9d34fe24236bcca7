//! Errors of a simulated run.

use tameshi_record::RecordError;
use thiserror::Error;

/// Error of a simulated run.
#[derive(Debug, Error)]
pub enum SimError {
    /// The spec needs something that the simulated world does not support; one sentence each.
    #[error("{}", .0.join("\n"))]
    Unsupported(Vec<String>),
    /// Virtual time stands still.
    #[error("{0}")]
    NoProgress(String),
    /// A database has outgrown its storage.
    #[error("{0}")]
    NoSpace(String),
    /// A device model lost commands: a defect of the model, not of the study.
    #[error("phase.{phase}: {commands} commands never completed; this is a fault of Tameshi's device model")]
    Lost {
        /// Name of the phase.
        phase: String,
        /// Number of outstanding commands while all devices are idle.
        commands: u64,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}
