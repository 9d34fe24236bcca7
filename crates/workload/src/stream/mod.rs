//! Streams: storage jobs with arrivals, offsets and sizes.

mod arrivals;
mod file_calls;
mod issue;
mod job;
mod jobs;
mod lengths;
mod offsets;
mod pace;
mod priority;
mod queue;
mod shuffle;
mod skew;
mod source;
pub mod spec;
mod sync;
mod validate;

pub use arrivals::Schedule;
pub use file_calls::{Donor, Failing, FileCall};
pub use issue::{Completion, Issue, OPERATIONS, Operation, Placement, Turn};
pub use job::Job;
pub use pace::{Pacer, Paces};
pub use priority::Priority;
pub use queue::{Queue, QueueTime};
pub use source::Request;
pub use spec::{Arrivals, Pattern, StreamSpec, Sync};
pub use validate::StreamError;
