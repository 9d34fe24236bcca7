//! What everything else is built from: units, integer time, named seeded streams of randomness,
//! the command a device understands, the registry of metrics, reasons, and the shape of an error in a user's file.
//!
//! Nothing here reads a clock, a file or the environment.

pub mod command;
pub mod error;
pub mod metrics;
pub mod random;
pub mod reason;
pub mod units;

pub use command::{Command, CommandKind};
pub use error::{InputError, InputErrorKind};
pub use random::Random;
pub use reason::Reason;
pub use units::{Nanos, Rate, Share, Size, Time};
