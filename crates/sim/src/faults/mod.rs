//! Faults of storage and database servers: the events of a run, and their losses.

pub(crate) mod event_queue;
pub(crate) mod loss;

pub use loss::{Loss, Rebuilt};
