//! TOML with the place of every key and value.

pub mod axes;
pub mod document;
pub(crate) mod merge;
pub(crate) mod tables;
pub mod typing;
