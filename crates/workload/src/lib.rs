//! What asks for work, and when: pure logic without clock, file or thread.
//!
//! A [`StreamSpec`] describes a storage stream as the user wrote it; a [`Job`] is one job of it in flight. The driver of
//! each world owns the clock: it asks a job when it is next due, issues, and tells it what completed.

mod arrivals;
mod calls;
mod check;
mod group;
mod issue;
mod job;
mod lengths;
mod lsm;
mod offsets;
mod pace;
mod pages;
mod plain;
mod priority;
pub mod program;
pub mod schedule;
mod shuffle;
mod skew;
mod source;
pub mod spec;
pub mod steady;

pub use arrivals::Schedule;
pub use calls::{Donor, Failing, FileCall};
pub use check::Objection;
pub use issue::{Completion, Issue, OPERATIONS, Operation, Placement, Turn};
pub use job::Job;
pub use pace::{Pacer, Paces};
pub use priority::Priority;
pub use source::Request;
pub use spec::{Arrivals, Pattern, StreamSpec, Sync};
