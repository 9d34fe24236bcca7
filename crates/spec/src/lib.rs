//! What a study says, what it resolves to, and what a profile holds.
//!
//! A study's text goes through [`document`] (TOML with places), [`axes`] (overlays), [`study`] (typing), [`plan`] (resolving)
//! and comes out as [`run::RunSpec`]s. Nothing here reads a file: texts come in, plain types go out.

mod arbitration;
mod arrays;
pub mod axes;
mod bounds;
mod check;
mod course;
pub mod document;
mod effects;
mod extent;
mod happenings;
mod node;
mod objections;
mod phases;
pub mod plan;
pub mod profile;
pub mod profiles;
mod programs;
mod published;
pub mod refusal;
pub mod resolve;
pub mod run;
mod scale;
pub mod search;
mod sequence;
mod spans;
mod stacks;
pub mod study;
pub mod summary;
mod surroundings;
mod tables;
mod trims;
pub mod typing;
