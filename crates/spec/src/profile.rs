//! Device profiles: a model and its parameters, each with unit and source, one TOML file each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value, with its unit.
    pub value: T,
    /// Where it was published, or how it was derived.
    pub source: String,
    /// What it was fitted on, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
}

/// A device profile file: what it is, and one model's parameters under the model's name.
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
    /// Completes everything at once: the floor of what is simulated.
    Null(NullProfile),
    /// A hard disk.
    Hdd(HddProfile),
}

impl Device {
    /// The device's capacity.
    pub fn capacity(&self) -> Size {
        match self {
            Self::Null(null) => null.capacity.value,
            Self::Hdd(hdd) => hdd.capacity.value,
        }
    }
}

/// A device without any cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NullProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
}

/// A hard disk: one arm, one spindle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Time of one revolution: 4 ms at 15 000 per minute.
    pub revolution: Sourced<Time>,
    /// Seek to the next cylinder, settling included.
    pub seek_min: Sourced<Time>,
    /// Mean seek between two uniformly random places.
    pub seek_average: Sourced<Time>,
    /// Cylinders that the capacity is spread over.
    pub cylinders: Sourced<u32>,
    /// Time that the controller and the link take for a command before the mechanics; overlaps with other commands' mechanics.
    pub command_overhead: Sourced<Time>,
    /// Bytes per second that pass under the head, the same everywhere on the disk.
    pub media_rate: Sourced<Rate>,
    /// In which order queued commands are served.
    pub scheduling: Sourced<Scheduling>,
    /// Commands the disk holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// Buffer that goes on reading behind the last read; absent: no read-ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<Sourced<Size>>,
}

/// In which order a hard disk serves what is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// The arm sweeps back and forth and serves what lies ahead of it (LOOK).
    Elevator,
}
