//! Studies, the runs that they resolve to, and profiles.
//!
//! A study's text passes through [`toml`] (tables with places, overlays, types), [`resolve`] (names
//! become models) and [`validate`] to [`plan`], which returns [`run::RunSpec`]s and
//! [`refusal::LocatedRefusal`]s. No module reads a file: texts come in, plain types go out.

mod errors;
mod lone_link;
mod lone_storage;
pub mod plan;
pub mod profile;
pub mod refusal;
pub mod resolve;
pub mod run;
pub mod study;
pub mod toml;
mod validate;

pub use self::toml::{axes, document};
pub use lone_link::lone_link;
pub use lone_storage::{LoneStorage, StorageRequest, lone_storage};
pub use plan::search;
pub use profile::catalog as profiles;
