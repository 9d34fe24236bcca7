//! Checks of a study, each error at its place in the file.

pub(crate) mod answer;
pub(crate) mod bounds;
pub(crate) mod event_order;
pub(crate) mod events;
pub(crate) mod names;
pub(crate) mod programs;
pub(crate) mod published;
pub(crate) mod spans;
pub(crate) mod trims;
pub(crate) mod unused_overlays;
pub(crate) mod values;
