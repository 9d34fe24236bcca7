//! Arrays under a name: the stack of a study, each of its values with its source.

use super::Sourced;
use super::range::{Limit, MS, ProfileError, SIZE, TIME, US, or_none, outside};
use crate::run::node::{Cache, Rebuild};
use crate::study::{CacheKind, Protocol, ReadBalance, RebuildManner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Share, Size, Time};

/// An array profile file: description and stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayProfile {
    /// The array in one sentence.
    pub description: String,
    /// Stack of the array.
    pub array: SourcedStack,
}

/// A storage of an array profile: exactly one of its kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SourcedStack {
    /// One drive: the name of a device profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Sourced<String>>,
    /// Striped members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid0: Option<SourcedRaid>,
    /// Mirrored members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid1: Option<SourcedRaid>,
    /// Striped mirrors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid10: Option<SourcedRaid>,
    /// Striped members with rotating parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid5: Option<SourcedRaid>,
    /// Mirrored across a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica: Option<SourcedReplica>,
    /// A device that shows less than it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_provisioned: Option<SourcedOverProvisioned>,
    /// A controller's cache in front of a storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<SourcedCache>,
}

/// Equal members. What is absent is as in a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcedRaid {
    /// Number of members.
    pub members: Sourced<u32>,
    /// Device profile of each member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Sourced<String>>,
    /// Stack of each member, instead of a plain device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<SourcedStack>>,
    /// Bytes on one member before the next, a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Sourced<Size>>,
    /// Member of a mirror that serves a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Sourced<ReadBalance>>,
    /// Most bytes per second that a rebuild writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild_rate: Option<Sourced<Size>>,
    /// Guaranteed rate of a rebuild under other work, in bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild_rate_min: Option<Sourced<Size>>,
    /// Treatment of other work during a rebuild.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Sourced<RebuildManner>>,
}

/// A storage mirrored to an equal one across a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcedReplica {
    /// Name of a link profile.
    pub link: Sourced<String>,
    /// Extent to which a write is done when it completes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Sourced<Protocol>>,
    /// The storage on either side.
    pub of: Box<SourcedStack>,
}

/// A device of which a part is kept as spare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcedOverProvisioned {
    /// Share of its capacity that stays visible.
    pub visible: Sourced<Share>,
    /// The device.
    pub of: Box<SourcedStack>,
}

/// A controller's cache in front of a storage. What is absent is as in a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcedCache {
    /// Its memory.
    pub memory: Sourced<Size>,
    /// Content kept over a power failure.
    pub kind: Sourced<CacheKind>,
    /// Time that the controller takes for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Sourced<Time>>,
    /// Bytes per second between host and cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Sourced<Size>>,
    /// Share of the memory that may hold dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<Sourced<Share>>,
    /// The cached storage.
    pub of: Box<SourcedStack>,
}

/// From a controller in the host to the processor of an array across a network.
const CONTROLLER: (u64, u64) = (5 * US, 4 * MS);
/// Bytes per second of arrays: behind Gigabit Ethernet, or behind some ports of 100 Gbit/s.
const ARRAY: (u64, u64) = (100_000_000, 90_000_000_000);
/// Bytes per second up to what the fastest drives write; md's own least is 1000 KB, and its
/// greatest 200 MB.
const FASTEST_REBUILD: u64 = 20_000_000_000;

/// The first value that no controller's cache can have.
pub(crate) fn cache_error(cache: &Cache) -> Option<ProfileError<'static>> {
    let mut limits = vec![
        Limit(cache.memory.0, vec!["memory"], SIZE, 1 << 20, 1 << 38),
        or_none(Limit(cache.latency.0, vec!["latency"], TIME, CONTROLLER.0, CONTROLLER.1)),
    ];
    limits.extend(cache.rate.iter().map(|rate| Limit(rate.0, vec!["rate"], SIZE, ARRAY.0, ARRAY.1)));
    outside("controller", limits)
}

/// The first rate that no rebuild can be set to.
pub(crate) fn rebuild_error(rebuild: &Rebuild) -> Option<ProfileError<'static>> {
    let rates = vec![
        Limit(rebuild.rate.0, vec!["rebuild_rate"], SIZE, 1_000_000, FASTEST_REBUILD),
        Limit(rebuild.rate_min.0, vec!["rebuild_rate_min"], SIZE, 100_000, FASTEST_REBUILD),
    ];
    outside("array", rates)
}
