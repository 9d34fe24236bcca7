//! A volume's parameters: a disk known by its behaviour only, as a virtual machine or a cloud shows it.

use super::Sourced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Share, Size, Time};

/// A volume: latencies, so many commands at a time, a processor that serves one after the other, and rate limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Commands that the volume works on at a time; more wait.
    pub parallel: Sourced<u32>,
    /// Whether commands are taken in rounds: all that wait together, and more only when the last of them is complete. A
    /// virtual disk with one thread behind it does so. A flush is taken in a round too, as a write of no bytes. Absent:
    /// each is taken as soon as there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Sourced<bool>>,
    /// What a read takes.
    pub read: VolumeService,
    /// What a write takes.
    pub write: VolumeService,
    /// Time of a flush, which ends no sooner than everything before it; a write with force unit access takes it too.
    pub flush: Sourced<Vec<LatencyPoint>>,
    /// Time that the processor is busy longer with the first write after a flush; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_flush: Option<Sourced<Time>>,
    /// Rates that all commands together come to in the long run at most, as a provider sets them; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<VolumeLimit>,
    /// Times in which nothing moves; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
}

/// What one kind of command takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeService {
    /// Time beside other commands, one draw for each; with `rounds`, one for each round.
    pub latency: Sourced<Vec<LatencyPoint>>,
    /// Time that the one processor behind the volume is busy with a command of whatever length.
    pub command_time: Sourced<Time>,
    /// Bytes per second that the same processor moves.
    pub transfer_rate: Sourced<Rate>,
    /// Time that a round takes longer in which this command is the only one, as whoever serves it sleeps and has to be woken;
    /// only with `rounds`. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Sourced<Time>>,
}

/// A point of a distribution: that share of all draws takes at most this time. Between points it is linear; the first
/// point is at 0 %, the last at 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyPoint {
    /// Share of all draws.
    pub share: Share,
    /// The time that these take at most.
    pub time: Time,
}

/// Rates that reads and writes share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeLimit {
    /// Commands per second.
    pub command_rate: Sourced<Rate>,
    /// Bytes per second.
    pub byte_rate: Sourced<Rate>,
}

/// Times in which nothing moves, because whoever serves the volume does something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Mean time from the end of one to the begin of the next, exponentially distributed.
    pub every: Sourced<Time>,
    /// How long each lasts.
    pub lasting: Sourced<Vec<LatencyPoint>>,
}
