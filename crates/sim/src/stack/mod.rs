//! Devices of any kind, and devices made of devices: arrays, replicas, shared drives, caches. See
//! `docs/models/arrays.md`.
//!
//! Each node of a stack is a [`Device`] like its members. The breakdown of a command adds up to its
//! latency. No node allocates per command once its queues have grown to the load.

mod array;
mod build;
mod cache;
mod device;
mod member;
mod replica;
mod shared;
mod slab;

pub use array::Array;
pub use build::{node, placed, watched};
pub use cache::Cache;
pub use device::Device;
pub use member::Member;
pub use replica::Replica;
pub use shared::Shared;
