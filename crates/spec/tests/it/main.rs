//! The spec crate as its users see it: studies in, plans or errors out.

mod ambient;
mod answers;
mod arbitration;
mod arrays;
mod bounds;
mod durability;
mod errors;
mod events;
mod golden;
mod lone_links;
mod lone_storages;
mod planning;
mod programs;
mod published;
mod refusals;
mod scale;
mod stacks;
mod standbys;
mod support;
mod tables;
mod trims;
mod unknowns;
mod values;
