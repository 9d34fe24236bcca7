//! Workloads: pure logic without clock, file or thread.
//!
//! A [`StreamSpec`] describes a storage stream as the user wrote it; a [`Job`] is one job of it in
//! flight. The driver of each world owns the clock: it asks a job for its next due time, issues
//! commands, and reports completions. A [`program`] is the logic of a database workload.

mod occupancy;
pub mod program;
pub mod schedule;
pub mod steady;
pub mod stream;

pub use occupancy::Occupancy;
pub use stream::spec;
pub use stream::{
    Arrivals, Completion, Donor, Failing, FileCall, Issue, Job, OPERATIONS, Operation, Pacer, Paces, Pattern,
    Placement, Priority, Queue, QueueTime, Request, Schedule, StreamError, StreamSpec, Sync, Turn,
};
