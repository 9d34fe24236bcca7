//! Why a run could not be simulated.

use tameshi_record::RecordError;
use thiserror::Error;

/// Why a run could not be simulated.
#[derive(Debug, Error)]
pub enum SimError {
    /// The spec asks for what the simulated world can't do; a sentence each.
    #[error("{}", .0.join("\n"))]
    Unsupported(Vec<String>),
    /// Virtual time stands still.
    #[error("{0}")]
    NoProgress(String),
    /// A database has outgrown its storage.
    #[error("{0}")]
    NoSpace(String),
    /// A device model kept commands to itself: a fault of the model, never of the study.
    #[error("phase.{phase}: {commands} commands never completed; this is a fault of Tameshi's device model")]
    Lost {
        /// Name of the phase.
        phase: String,
        /// Commands outstanding with idle devices.
        commands: u64,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}
