//! Foundation of all crates: units, integer time, named seeded random streams, device commands, the
//! metric registry, reasons, and errors in a user's file.
//!
//! Nothing here reads a clock, a file or the environment.

pub mod command;
pub mod error;
pub mod metrics;
pub mod random;
pub mod reason;
pub mod slow;
pub mod units;

pub use command::{Command, CommandKind};
pub use error::{InputError, InputErrorKind};
pub use random::Random;
pub use reason::Reason;
pub use slow::Slow;
pub use units::{Nanos, Rate, Share, Size, Time};
