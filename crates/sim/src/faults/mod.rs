//! Faults of storage and servers: the events of a run and the losses they cause.

pub(crate) mod event_queue;
pub(crate) mod loss;

pub use loss::{Loss, Rebuilt};
