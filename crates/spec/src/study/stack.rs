//! Storages: a device, or a device made of devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Share, Size, Time};

/// A storage: exactly one of its kinds, and how much of it is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stack {
    /// Bytes used, from its start; needed where a file or a real device stands for it.
    pub size: Option<Size>,
    /// One drive: the name of a device profile.
    pub device: Option<String>,
    /// Striped members.
    pub raid0: Option<Raid>,
    /// Mirrored members.
    pub raid1: Option<Raid>,
    /// Striped mirrors.
    pub raid10: Option<Raid>,
    /// Striped members with rotating parity.
    pub raid5: Option<Raid>,
    /// Mirrored across a link.
    pub replica: Option<Replica>,
    /// One function of a shared device (SR-IOV).
    pub partition: Option<Partition>,
    /// A device that shows less than it has.
    pub over_provisioned: Option<OverProvisioned>,
    /// A controller's cache in front of a storage.
    pub cache: Option<Cache>,
}

impl Stack {
    /// Every kind that is given, by key.
    pub fn kinds(&self) -> Vec<&'static str> {
        let given = [
            ("device", self.device.is_some()),
            ("raid0", self.raid0.is_some()),
            ("raid1", self.raid1.is_some()),
            ("raid10", self.raid10.is_some()),
            ("raid5", self.raid5.is_some()),
            ("replica", self.replica.is_some()),
            ("partition", self.partition.is_some()),
            ("over_provisioned", self.over_provisioned.is_some()),
            ("cache", self.cache.is_some()),
        ];
        given.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
    }

    /// The kinds there are.
    pub const KINDS: [&'static str; 9] =
        ["device", "raid0", "raid1", "raid10", "raid5", "replica", "partition", "over_provisioned", "cache"];
}

/// An array of equal members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Raid {
    /// Number of members.
    pub members: u32,
    /// Device profile of each member.
    #[serde(default)]
    pub device: Option<String>,
    /// Stack of each member, instead of a plain device.
    #[serde(default)]
    pub of: Option<Box<Stack>>,
    /// Bytes on one member before the next.
    #[serde(default)]
    pub chunk: Option<Size>,
    /// Most bytes per second that a rebuild takes.
    #[serde(default)]
    pub rebuild_rate: Option<Size>,
}

/// A storage mirrored to an equal one across a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// The storage on either side.
    pub of: Box<Stack>,
    /// Name of the link.
    pub link: String,
}

/// A part of a device that a guest sees as its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The device that is shared.
    pub of: Box<Stack>,
    /// Functions that share it.
    pub functions: u32,
    /// Share of its commands that this function is granted under contention.
    #[serde(default)]
    pub weight: Option<Share>,
}

/// A device of which a part is kept as spare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverProvisioned {
    /// The device.
    pub of: Box<Stack>,
    /// Share of its capacity that stays visible.
    pub visible: Share,
}

/// A cache in front of a storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The storage behind it.
    pub of: Box<Stack>,
    /// Its memory.
    pub memory: Size,
    /// What it keeps when power fails.
    pub kind: CacheKind,
}

/// What a cache keeps when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Everything: a battery or a capacitor holds it.
    BatteryBacked,
    /// Nothing that was not flushed.
    Volatile,
}

/// A link between hosts: a profile, or its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Link {
    /// Name of a link profile.
    pub profile: Option<String>,
    /// Time of one round trip.
    pub round_trip: Option<Time>,
    /// Bytes per second each way.
    pub rate: Option<Rate>,
}
