//! What a cache is like, and what is under way in it and behind it.

use crate::device::completion::Breakdown;
use tameshi_base::{Command, Nanos};
use tameshi_spec::study::CacheKind;

/// What a cache is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) memory_bytes: u64,
    pub(super) dirty_bytes: u64,
    pub(super) kind: CacheKind,
    /// Time of the controller for a write or a hit, and for a miss.
    pub(super) latency: Nanos,
    pub(super) miss_latency: Nanos,
    pub(super) bytes_per_second: Option<u64>,
    /// Bytes of the device behind.
    pub(super) capacity_bytes: u64,
    /// Bytes of its rows, where a write of whole rows costs it less.
    pub(super) row_bytes: Option<u64>,
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
pub(super) enum Errand {
    /// A command of the user.
    For(u32),
    /// Blocks that are written back: the first, and how many.
    Back(u64, u64),
}
