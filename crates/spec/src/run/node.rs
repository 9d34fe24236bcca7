//! A resolved storage: a device, or a tree of devices made of devices.

use crate::profile::Device;
use crate::study::{CacheKind, Protocol, ReadBalance, RebuildManner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Share, Size, Time};

/// Granule to which capacities are rounded down if a stack divides them.
const GRANULE_BYTES: u64 = 4096;

/// A node of a storage stack: a device or a device made of devices. The members of an array are
/// equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Node {
    /// One drive.
    Device {
        /// Name of the profile.
        profile: String,
        /// Its parameters.
        device: Device,
    },
    /// Striped members.
    Raid0 {
        /// Number of members.
        members: u32,
        /// Each member.
        of: Box<Node>,
        /// Bytes on one member before the next.
        chunk: Size,
    },
    /// Mirrored members.
    Raid1 {
        /// Number of members.
        members: u32,
        /// Each member.
        of: Box<Node>,
        /// Member that serves a read.
        read: ReadBalance,
        /// Rebuild of a replaced member.
        rebuild: Rebuild,
    },
    /// Striped mirrors of two members each.
    Raid10 {
        /// Number of members, an even one; `2i` and `2i + 1` mirror each other.
        members: u32,
        /// Each member.
        of: Box<Node>,
        /// Bytes on one mirror before the next.
        chunk: Size,
        /// Member of a mirror that serves a read.
        read: ReadBalance,
        /// Rebuild of a replaced member.
        rebuild: Rebuild,
    },
    /// Striped members with rotating parity.
    Raid5 {
        /// Number of members.
        members: u32,
        /// Each member.
        of: Box<Node>,
        /// Bytes on one member before the next.
        chunk: Size,
        /// Rebuild of a replaced member.
        rebuild: Rebuild,
    },
    /// Mirrored across a link.
    Replica {
        /// The storage on either side.
        of: Box<Node>,
        /// Link to the standby.
        link: Link,
        /// When a write counts as done.
        protocol: Protocol,
    },
    /// One function of a drive that several share.
    Partition {
        /// The drive.
        of: Box<Node>,
        /// Function of the drive.
        function: Function,
    },
    /// A device that shows a part of its capacity.
    OverProvisioned {
        /// The device.
        of: Box<Node>,
        /// Share that is visible.
        visible: Share,
    },
    /// A controller's cache in front of a storage.
    Cache {
        /// The storage.
        of: Box<Node>,
        /// The cache.
        cache: Cache,
    },
}

/// Rebuild of the new member of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rebuild {
    /// Bytes per second at most.
    pub rate: Size,
    /// Guaranteed rate under other work, in bytes per second.
    pub rate_min: Size,
    /// Treatment of other work.
    pub manner: RebuildManner,
}

impl Default for Rebuild {
    /// Defaults of Linux: `speed_limit_max` and `speed_limit_min` of md, in KB of 1000 bytes.
    fn default() -> Self {
        Self { rate: Size(200_000_000), rate_min: Size(1_000_000), manner: RebuildManner::Competing }
    }
}

/// A link between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Time of one round trip of an empty message, both ends' work included.
    pub round_trip: Time,
    /// Bytes per second each way.
    pub rate: Size,
}

/// One function of a shared drive, with an equal part of its capacity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Name of the drive; absent: it serves this function alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// Index of the function, from zero.
    pub index: u32,
    /// Functions of the drive.
    pub functions: u32,
    /// Share of the drive's commands under contention.
    pub weight: Share,
    /// Commands that the drive holds of all functions together.
    pub queue_depth: u32,
    /// Arbitration between the queues of this function; absent: it has one queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
}

/// Arbitration between the queues of one function: urgent ones first, the others by weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arbitration {
    /// Weight of the class of high priority: its commands per weight of the others, while all wait.
    pub high: u32,
    /// Weight of the class of medium priority.
    pub medium: u32,
    /// Weight of the class of low priority.
    pub low: u32,
    /// Commands of one stream that its class takes in a row.
    pub burst: u32,
}

/// A cache in front of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Its memory.
    pub memory: Size,
    /// Content kept over a power failure.
    pub kind: CacheKind,
    /// Time of the controller per command.
    pub latency: Time,
    /// Bytes per second between host and cache; absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Size>,
    /// Share of the memory that may hold dirty data.
    pub dirty: Share,
}

impl Node {
    /// Bytes that can be addressed.
    pub fn capacity(&self) -> Size {
        let whole = |of: &Self, chunk: &Size| of.capacity().0 / chunk.0.max(1) * chunk.0.max(1);
        Size(match self {
            Self::Device { device, .. } => device.capacity().0,
            Self::Raid0 { members, of, chunk } => u64::from(*members).saturating_mul(whole(of, chunk)),
            Self::Raid10 { members, of, chunk, .. } => u64::from(*members / 2).saturating_mul(whole(of, chunk)),
            Self::Raid5 { members, of, chunk, .. } => {
                u64::from(members.saturating_sub(1)).saturating_mul(whole(of, chunk))
            }
            Self::Raid1 { of, .. } | Self::Replica { of, .. } | Self::Cache { of, .. } => of.capacity().0,
            Self::Partition { of, function } => granules(of.capacity().0 / u64::from(function.functions.max(1))),
            Self::OverProvisioned { of, visible } => {
                granules((u128::from(of.capacity().0) * u128::from(visible.0) / 1_000_000) as u64)
            }
        })
    }

    /// Drives in the stack, as faults count them.
    pub fn drives(&self) -> u32 {
        match self {
            Self::Device { .. } => 1,
            Self::Raid0 { members, of, .. }
            | Self::Raid1 { members, of, .. }
            | Self::Raid10 { members, of, .. }
            | Self::Raid5 { members, of, .. } => members * of.drives(),
            Self::Replica { of, .. } => 2 * of.drives(),
            Self::Partition { of, .. } | Self::OverProvisioned { of, .. } | Self::Cache { of, .. } => of.drives(),
        }
    }

    /// Return whether other drives hold the data of each drive.
    pub fn is_redundant(&self) -> bool {
        match self {
            Self::Device { .. } => false,
            Self::Raid1 { .. } | Self::Raid10 { .. } | Self::Raid5 { .. } | Self::Replica { .. } => true,
            Self::Raid0 { of, .. }
            | Self::Partition { of, .. }
            | Self::OverProvisioned { of, .. }
            | Self::Cache { of, .. } => of.is_redundant(),
        }
    }

    /// Return whether acknowledged data may be lost at a power cut: from the drives' buffers, or
    /// from a controller's cache.
    pub fn is_volatile(&self) -> bool {
        match self {
            Self::Device { device, .. } => device.is_volatile(),
            Self::Cache { of, cache } => cache.kind == CacheKind::Volatile || of.is_volatile(),
            Self::Raid0 { of, .. }
            | Self::Raid1 { of, .. }
            | Self::Raid10 { of, .. }
            | Self::Raid5 { of, .. }
            | Self::Replica { of, .. }
            | Self::Partition { of, .. }
            | Self::OverProvisioned { of, .. } => of.is_volatile(),
        }
    }

    /// The name and the parameters of the drive that the stack is made of.
    pub fn drive(&self) -> (&str, &Device) {
        match self {
            Self::Device { profile, device } => (profile, device),
            Self::Raid0 { of, .. }
            | Self::Raid1 { of, .. }
            | Self::Raid10 { of, .. }
            | Self::Raid5 { of, .. }
            | Self::Replica { of, .. }
            | Self::Partition { of, .. }
            | Self::OverProvisioned { of, .. }
            | Self::Cache { of, .. } => of.drive(),
        }
    }

    /// The same, to be changed.
    pub fn drive_mut(&mut self) -> &mut Device {
        match self {
            Self::Device { device, .. } => device,
            Self::Raid0 { of, .. }
            | Self::Raid1 { of, .. }
            | Self::Raid10 { of, .. }
            | Self::Raid5 { of, .. }
            | Self::Replica { of, .. }
            | Self::Partition { of, .. }
            | Self::OverProvisioned { of, .. }
            | Self::Cache { of, .. } => of.drive_mut(),
        }
    }
}

fn granules(bytes: u64) -> u64 {
    bytes / GRANULE_BYTES * GRANULE_BYTES
}
