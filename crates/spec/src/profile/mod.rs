//! Profiles: of devices (a model and its parameters), arrays, links, hosts and engines; each value
//! with unit and source, one TOML file each.

mod array;
mod binlog;
pub mod catalog;
mod distribution;
mod drive_link;
mod engine;
mod flash;
mod hdd;
mod host;
mod limits;
mod link;
mod null;
mod pcie;
mod power;
mod range;
mod redo;
mod volume;
mod xpoint;

pub use array::{ArrayProfile, SourcedCache, SourcedOverProvisioned, SourcedRaid, SourcedReplica, SourcedStack};
pub(crate) use array::{cache_error, rebuild_error};
pub use binlog::{Binlog, BinlogGroup};
pub use distribution::LatencyPoint;
pub(crate) use engine::engine_error;
pub use engine::{
    Adaptive, Background, ChangeBuffer, DumpedShare, EngineCosts, EngineModel, EngineProfile, FlushMethod, Flushing,
    FreePages, Innodb, Midpoint, PoolDump, PoolRules, ReadAhead, ReadThreads, RowLocks, TreeLock, Undo,
};
pub use flash::{
    Buffer, Cell, Cleaning, CleaningPolicy, Controller, FlashProfile, HostLink, Idle, Jitter, Nand, Power,
    PowerLossProtection, ReadRetry, SharedPath, Simulated, SlcCache, Thermal, Written,
};
pub use hdd::{HddProfile, Scheduling, Zones};
pub(crate) use host::host_error;
pub use host::{
    AccessPath, Contention, Driver, HostModel, HostProfile, Hypervisor, Interrupt, Lock, Placement, Submission,
};
pub(crate) use limits::device_error;
pub(crate) use link::link_error;
pub use link::{LinkFigures, LinkProfile};
pub use null::NullProfile;
pub use pcie::Pcie;
pub(crate) use pcie::pcie_error;
pub(crate) use range::ProfileError;
pub use redo::{CheckpointAge, GroupCommit};
pub use volume::{Stalls, VolumeLimit, VolumeProfile, VolumeService};
pub use xpoint::XPointProfile;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use tameshi_base::units::Size;

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a value with its source: { value = …, source = \"…\" }")]
pub struct Sourced<T> {
    /// The value, with its unit.
    pub value: T,
    /// Publication, or derivation.
    #[serde(deserialize_with = "said")]
    pub source: String,
    /// Data that the value was fitted on, if it was fitted.
    #[serde(default, deserialize_with = "said_if_any", skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
}

fn said<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    saying(from, "where the value was published or how it was derived")
}

fn said_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    saying(from, "what the value was fitted on, or no such key").map(Some)
}

/// A text that says something.
fn saying<'de, D: Deserializer<'de>>(from: D, what: &str) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() { Err(D::Error::custom(format!("empty text, expected {what}"))) } else { Ok(text) }
}

/// Power draw between idle and fully active.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// Milliwatts of the idle drive.
    pub idle_mw: Sourced<u32>,
    /// Milliwatts while all of its medium works.
    pub active_mw: Sourced<u32>,
}

/// A device profile file: description, and one model's parameters under the model's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceProfile {
    /// The drive in one sentence.
    pub description: String,
    /// The model and its parameters.
    pub device: Device,
}

/// A device model and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Device {
    /// Completes everything at once: the floor of the simulation.
    Null(NullProfile),
    /// A hard disk.
    Hdd(HddProfile),
    /// A flash drive.
    Flash(FlashProfile),
    /// A 3D XPoint drive.
    #[serde(rename = "xpoint")]
    XPoint(XPointProfile),
    /// A disk known by its behaviour only: latencies, parallelism and rates.
    Volume(VolumeProfile),
}

impl Device {
    /// The names of the models.
    pub(crate) const MODELS: [&'static str; 5] = ["null", "hdd", "flash", "xpoint", "volume"];

    /// The device's capacity, at its scale.
    pub fn capacity(&self) -> Size {
        match self {
            Self::Null(null) => null.capacity.value,
            Self::Hdd(hdd) => hdd.capacity.value,
            Self::Flash(flash) => flash.scaled_capacity(),
            Self::XPoint(xpoint) => xpoint.capacity.value,
            Self::Volume(volume) => volume.capacity.value,
        }
    }

    /// Return whether acknowledged data may be lost at a power cut; a worn capacitor loses some.
    pub fn is_volatile(&self) -> bool {
        match self {
            Self::Hdd(disk) => disk.write_cache.is_some(),
            Self::Flash(flash) => {
                let capacitor = flash.buffer.power_loss_protection.as_ref();
                capacitor.is_none_or(|of| of.flush_time.value > of.hold_up.value)
            }
            Self::Null(_) | Self::XPoint(_) | Self::Volume(_) => false,
        }
    }

    /// Commands that it holds, where its host has queues for them that a controller takes turns
    /// with.
    pub(crate) fn queue_depth(&self) -> Option<u32> {
        match self {
            Self::Flash(flash) => Some(flash.controller.queue_depth.value),
            Self::XPoint(xpoint) => Some(xpoint.queue_depth.value),
            Self::Null(_) | Self::Hdd(_) | Self::Volume(_) => None,
        }
    }

    /// Between host and drive, where the profile tells that.
    pub(crate) fn link_mut(&mut self) -> Option<&mut HostLink> {
        match self {
            Self::Flash(flash) => Some(&mut flash.link),
            Self::XPoint(xpoint) => Some(&mut xpoint.link),
            Self::Null(_) | Self::Hdd(_) | Self::Volume(_) => None,
        }
    }

    /// Return the number of functions for guests; `None` for a model that is no drive.
    pub(crate) fn functions(&self) -> Option<u32> {
        let told = match self {
            Self::Null(_) => return None,
            Self::Flash(flash) => flash.controller.functions.as_ref(),
            Self::XPoint(xpoint) => xpoint.functions.as_ref(),
            Self::Hdd(_) | Self::Volume(_) => None,
        };
        Some(told.map_or(1, |functions| functions.value))
    }
}
