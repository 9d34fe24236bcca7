//! A hard disk's parameters.

use super::Sourced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};

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
