//! Storages: a device, or a device made of devices.

use crate::profile::{Pcie, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Share, Size, Temperature, Time};

/// A storage: exactly one of its kinds, and how much of it is used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stack {
    /// Bytes used, from its start; required if a file or a real device is bound to it.
    pub size: Option<Size>,
    /// True if a measured file stays as it is made, without room of its own, instead of being
    /// written whole before the first run: reads of unwritten parts bring zeros, and writes may
    /// meet a full disk.
    #[serde(skip_serializing_if = "is_no")]
    pub sparse: bool,
    /// Simulate flash drives at one n-th of their capacity; offsets, spans, amounts and
    /// steady-state rounds go with it, times and request sizes don't. Absent: as far as results
    /// were shown not to change with it, at most 256, and 1 where an engine or a program runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,
    /// Writes to flash drives before the run, by the simulated drive's own rules but without taking
    /// time; absent: `once` if a stream reads the storage or a database lies on it, else `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// Wear of flash drives before the run; absent: the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aged: Option<Aged>,
    /// True if flash drives lack the capacitor of their profile: what is in their write buffer when
    /// power fails is lost, and flushes wait for the flash.
    #[serde(skip_serializing_if = "is_no")]
    pub without_capacitor: bool,
    /// True if flash drives lack the atomic writes of their profile: of a write that is larger than
    /// one mapping unit, a power cut may store a part.
    #[serde(skip_serializing_if = "is_no")]
    pub without_atomic_write: bool,
    /// True if the drive acknowledges flushes at once and does nothing: what is in volatile memory
    /// when power fails is lost, flushed or not. Emulated world only.
    #[serde(skip_serializing_if = "is_no")]
    pub ignores_flush: bool,
    /// Temperature around flash drives that get warm, instead of their profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambient: Option<Temperature>,
    /// Slot of PCI Express that each drive is in: where it has fewer lanes or an older generation
    /// than the drive, no more crosses either way than it carries. Absent: one like the drive's
    /// own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<Pcie>,
    /// Streams wait in queues of their own by their `priority`, and these take turns (NVMe's
    /// weighted round robin with an urgent class); of a `device`, or of the function that a
    /// `partition` is. Absent: in one queue. Simulated world only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<Arbitration>,
    /// The name of an array profile, whose stack is used; other keys of that stack
    /// changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<String>,
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

fn is_no(flag: &bool) -> bool {
    !flag
}

impl Stack {
    /// Every kind that is given, by key. The name of an array is none: its profile's kind stands in
    /// its place.
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

    /// The kinds there are, and `array` for a profile of one.
    pub const KINDS: [&'static str; 10] =
        ["array", "device", "raid0", "raid1", "raid10", "raid5", "replica", "partition", "over_provisioned", "cache"];
}

/// Wear of a flash drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aged {
    /// Wear of the flash at the run's begin, as a share of its endurance; may be above 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_percent: Option<u32>,
    /// Failed channels of each controller, with their data rebuilt: data go
    /// round those that are left, one fewer with each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_channels: Option<u32>,
    /// Time that the capacitor still holds the drive up when power fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_up: Option<Time>,
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
    /// Bytes on one member before the next, a power of two; absent: 256 KiB. Mirrors have none.
    #[serde(default)]
    pub chunk: Option<Size>,
    /// Member of a mirror that serves a read; absent: the one with the shortest queue.
    #[serde(default)]
    pub read: Option<ReadBalance>,
    /// Most bytes per second that a rebuild writes; absent: 200 MB, the default of Linux.
    #[serde(default)]
    pub rebuild_rate: Option<Size>,
    /// Guaranteed rate of a rebuild under other work, in bytes per second; absent: 1000 KB,
    /// the default of Linux.
    #[serde(default)]
    pub rebuild_rate_min: Option<Size>,
    /// Treatment of other work during a rebuild; absent: `competing`.
    #[serde(default)]
    pub rebuild: Option<RebuildManner>,
}

/// Member of a mirror that serves a read. A read that continues the last one of a member stays with
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadBalance {
    /// The member with the fewest commands outstanding; among equals in turn.
    #[default]
    ShortestQueue,
    /// Each in turn.
    RoundRobin,
    /// The member whose last command ended nearest, as in Linux with rotating members.
    Nearest,
}

/// Treatment of other work while a rebuild is faster than its least rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RebuildManner {
    /// During other work it continues one step at a time, so that others get their turns (Linux
    /// since 4.x).
    #[default]
    Competing,
    /// It sleeps for half a second whenever there is other work (older kernels), and so crawls at
    /// its least rate.
    Yielding,
}

/// A storage mirrored to an equal one across a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// The storage on either side.
    pub of: Box<Stack>,
    /// Name of a link of the study, or of a link profile.
    pub link: String,
    /// Extent to which a write is done when it completes; absent: `far_medium`.
    #[serde(default)]
    pub protocol: Option<Protocol>,
}

/// Replication protocol: the extent to which a write is done when it completes. A flush waits for
/// the near side alone, and goes to the far side after earlier writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// It is done on the near side; the far side follows later (DRBD's protocol A).
    Asynchronous,
    /// It is done on the near side, and the far side's host has received it (DRBD's protocol B,
    /// semi-synchronous).
    FarMemory,
    /// Both sides' storages have done it (DRBD's protocol C, synchronous).
    #[default]
    FarMedium,
}

/// A part of a device that a guest sees as its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The device that is shared.
    pub of: Box<Stack>,
    /// Functions that share it, each with an equal part of its capacity.
    pub functions: u32,
    /// Share of its commands that this function is granted under contention; absent: an equal one.
    #[serde(default)]
    pub weight: Option<Share>,
    /// Storages that name the same drive here are functions of one drive; absent: the drive serves
    /// this function alone.
    #[serde(default)]
    pub drive: Option<String>,
    /// Commands that the drive takes from all functions together before the others wait their
    /// turns; absent: 256.
    #[serde(default)]
    pub queue_depth: Option<u32>,
}

/// Arbitration between the queues of a full drive: urgent ones before all others, those by their
/// weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arbitration {
    /// Weight of streams of high priority: their commands per weight of the others, 1 to 256.
    pub high: u32,
    /// Weight of streams of medium priority, and of those that have none.
    pub medium: u32,
    /// Weight of streams of low priority.
    pub low: u32,
    /// Commands of one stream that its class takes in a row, a power of two up to 64; absent: 1.
    #[serde(default)]
    pub burst: Option<u32>,
    /// Commands that the drive takes before the others wait their turns; absent: as its profile
    /// says. A partition has its own.
    #[serde(default)]
    pub queue_depth: Option<u32>,
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

/// A controller's cache in front of a storage: it takes writes and writes them back later, and
/// keeps recently used data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The cached storage.
    pub of: Box<Stack>,
    /// Its memory.
    pub memory: Size,
    /// Content kept over a power failure.
    pub kind: CacheKind,
    /// Time that the controller takes for a command; absent: 50 us.
    #[serde(default)]
    pub latency: Option<Time>,
    /// Bytes per second between host and cache; absent: no limit.
    #[serde(default)]
    pub rate: Option<Size>,
    /// Share of the memory that may hold dirty data; absent: 75 %.
    #[serde(default)]
    pub dirty: Option<Share>,
}

/// Content that a cache keeps over a power failure.
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
    pub rate: Option<Size>,
}
