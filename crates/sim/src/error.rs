//! Errors of a simulated run.

use tameshi_record::RecordError;
use tameshi_spec::refusal::Refusal;
use thiserror::Error;

/// Error of a simulated run.
#[derive(Debug, Error)]
pub enum SimError {
    /// The simulated world refuses parts of the spec.
    #[error("{}", .0.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n"))]
    Unsupported(Vec<Refusal>),
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
