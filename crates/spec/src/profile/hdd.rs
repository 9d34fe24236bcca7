//! A hard disk's parameters.

use super::{Drawn, Sourced};
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
    /// Bytes per second that pass under the head: the same everywhere, or the mean where the disk has zones.
    pub media_rate: Sourced<Rate>,
    /// In which order queued commands are served.
    pub scheduling: Sourced<Scheduling>,
    /// Commands the disk holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// Buffer that goes on reading behind the last read; absent: no read-ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<Sourced<Size>>,
    /// Zones of falling density from the outside to the inside; absent: the disk is the same everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// After so long in the disk a command is served whatever the schedule says; absent: 500 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_limit: Option<Sourced<Time>>,
    /// Volatile cache in which writes end; a flush, or force unit access, waits for the medium. Absent: writes end on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<Sourced<Size>>,
    /// What the disk draws; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Drawn>,
}

/// Zones of a disk, each with as many cylinders and a rate of its own, which falls evenly from zone to zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// How many.
    pub count: Sourced<u32>,
    /// Bytes per second that pass under the head in the outermost zone, where the first bytes lie.
    pub outer_rate: Sourced<Rate>,
    /// The same in the innermost zone.
    pub inner_rate: Sourced<Rate>,
}

/// In which order a hard disk serves what is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// The arm sweeps back and forth and serves what lies ahead of it (LOOK).
    Elevator,
    /// What comes first under the head, seek and rotation together, is served first (SPTF).
    ShortestPositioning,
}
