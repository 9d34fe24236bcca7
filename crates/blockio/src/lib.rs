//! The measured world's load: real files and devices, driven by io_uring or, where that is refused, by plain calls.
//!
//! This crate opens nothing: it is handed open targets, and touches no byte outside their payload. Each job of a stream
//! is a thread with a queue of its own, which goes on from phase to phase; latencies are taken when a completion is seen, one clock reading a batch.

mod affinity;
mod arena;
mod backend;
mod check;
mod clock;
mod crew;
mod driver;
mod error;
mod examine;
mod files;
mod layout;
mod message;
mod null;
mod portable;
mod recorder;
mod relay;
mod request;
mod roster;
mod rounds;
mod run;
#[cfg(test)]
mod scripted;
mod target;
mod uring;
mod verify;
mod worker;

pub use backend::Backend;
pub use check::refusals;
pub use driver::SPIN_NS;
pub use error::BlockError;
pub use examine::{Examined, Finding, Verdict, examine};
pub use files::{holds_files, lay_out_files};
pub use layout::lay_out;
pub use recorder::LATE_NS;
pub use run::{Done, execute};
pub use target::Target;
