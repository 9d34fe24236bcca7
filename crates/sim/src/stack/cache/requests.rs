//! Settings of a cache, and requests under way in it and behind it.

use crate::device::Breakdown;
use tameshi_base::{Command, Nanos};
use tameshi_spec::study::CacheKind;

/// Settings of a cache.
#[derive(Clone, Copy, Debug)]
pub(in crate::stack) struct Settings {
    pub(in crate::stack) memory_bytes: u64,
    pub(in crate::stack) dirty_bytes: u64,
    pub(in crate::stack) kind: CacheKind,
    /// Controller time of a write or a hit, and of a miss.
    pub(in crate::stack) latency: Nanos,
    pub(in crate::stack) miss_latency: Nanos,
    pub(in crate::stack) bytes_per_second: Option<u64>,
    /// Capacity of the device behind.
    pub(in crate::stack) capacity_bytes: u64,
    /// Bytes of its rows, if writes of whole rows are cheaper.
    pub(in crate::stack) row_bytes: Option<u64>,
}

/// Next step of a command after its present time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Complete,
    Device,
}

/// Command under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) command: Command,
    pub(super) submitted: Nanos,
    pub(super) epoch: u64,
    pub(super) path: Breakdown,
    pub(super) since: Nanos,
    pub(super) then: Then,
    pub(super) failed: bool,
    /// Serial number of a write.
    pub(super) writer: u64,
}

/// Request at the device behind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    /// Command of the user, by number.
    User(u32),
    /// Write-back of blocks: the first, and the count.
    WriteBack(u64, u64),
}
