//! Settings of a cache, and requests under way in it and behind it.

use crate::device::Breakdown;
use tameshi_base::{Command, Nanos};
use tameshi_spec::study::CacheKind;

/// What a cache is like.
#[derive(Clone, Copy, Debug)]
pub(in crate::stack) struct Settings {
    pub(in crate::stack) memory_bytes: u64,
    pub(in crate::stack) dirty_bytes: u64,
    pub(in crate::stack) kind: CacheKind,
    /// Time of the controller for a write or a hit, and for a miss.
    pub(in crate::stack) latency: Nanos,
    pub(in crate::stack) miss_latency: Nanos,
    pub(in crate::stack) bytes_per_second: Option<u64>,
    /// Bytes of the device behind.
    pub(in crate::stack) capacity_bytes: u64,
    /// Bytes of its rows, where a write of whole rows costs it less.
    pub(in crate::stack) row_bytes: Option<u64>,
}

/// What follows when a command's present stretch of time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Complete,
    Device,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) command: Command,
    pub(super) submitted: Nanos,
    pub(super) epoch: u64,
    pub(super) path: Breakdown,
    pub(super) since: Nanos,
    pub(super) then: Then,
    pub(super) failed: bool,
    /// Of a write: its serial number.
    pub(super) writer: u64,
}

/// What the device behind has been given to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    /// A command of the user.
    For(u32),
    /// Blocks that are written back: the first, and how many.
    Back(u64, u64),
}
