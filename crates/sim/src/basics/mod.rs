//! Basics below all models: event queue, command identifiers, prefetch hints, seeds.

pub(crate) mod calendar_queue;
pub(crate) mod command_id;
pub(crate) mod prefetch;
pub(crate) mod seed_path;
