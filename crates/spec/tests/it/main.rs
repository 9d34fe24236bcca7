//! The spec crate as its users see it: studies in, plans or errors out.

mod arbitration;
mod arrays;
mod bounds;
mod errors;
mod events;
mod golden;
mod planning;
mod programs;
mod published;
mod refusals;
mod scale;
mod stacks;
mod support;
mod surroundings;
mod tables;
mod trims;
mod values;
