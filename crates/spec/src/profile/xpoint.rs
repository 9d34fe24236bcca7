//! A 3D XPoint drive's parameters: a medium that is written in place.

use super::flash::HostLink;
use super::{Drawn, Sourced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};

/// A 3D XPoint drive: no erasing, no translation layer that moves data, hence no write amplification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XPointProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Bytes that one channel reads or writes at a time; neighbours are on neighbouring channels.
    pub access_unit: Sourced<Size>,
    /// Channels, each serving one access at a time.
    pub channels: Sourced<u32>,
    /// Time that a channel is busy with reading one access unit.
    pub read_time: Sourced<Time>,
    /// Time that a channel is busy with writing one access unit.
    pub write_time: Sourced<Time>,
    /// Time that a read spends in the electronics, beside others.
    pub read_overhead: Sourced<Time>,
    /// Time that a write spends in the electronics, beside others.
    pub write_overhead: Sourced<Time>,
    /// Commands that the controller starts per second at most.
    pub command_rate: Sourced<Rate>,
    /// Between host and drive.
    pub link: HostLink,
    /// Commands the drive holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// Functions that guests can be given (SR-IOV); absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Sourced<u32>>,
    /// What the drive draws; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Drawn>,
}
