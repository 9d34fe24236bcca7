//! Faults of storage and database servers: the events of a run, and their losses.

pub(crate) mod event_queue;

pub use crate::device::loss::{Loss, Rebuilt};
