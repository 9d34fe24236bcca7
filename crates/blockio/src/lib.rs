//! Load of the measured world on real files and devices, by io_uring or, if that is refused, by
//! plain calls.
//!
//! This crate opens nothing. The caller hands it open targets, and it touches no byte outside their
//! payloads. Each job of a stream is a thread with its own queue, and continues from phase to
//! phase. Latencies end when a completion is seen; one clock reading serves a batch.

mod arena;
mod check;
mod clock;
mod error;
mod examine;
mod files;
mod io;
mod layout;
mod rounds;
mod run;
mod target;
mod threads;
mod verify;

pub use check::refusals;
pub use error::BlockError;
pub use examine::{Examined, Finding, Verdict, examine};
pub use files::{holds_files, lay_out_files};
pub use io::backend::Backend;
pub use layout::lay_out;
pub use run::{RunOutcome, execute};
pub use target::Target;
pub use threads::driver::SPIN_NS;
pub use threads::recorder::LATE_NS;
