//! A 3D XPoint drive's parameters: a medium that is written in place.

use super::drive_link::{
    FASTEST_ELECTRONICS, MOST_FUNCTIONS, SLOWEST_ELECTRONICS, deepest, link_conflict, link_limits,
};
use super::flash::HostLink;
use super::power::{drawn, draws_more_idle};
use super::range::{COUNT, Limit, ProfileError, RATE, SIZE, TIME, US, conflict, or_none, outside, sizes};
use super::{Drawn, Sourced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Size, Time};

/// A 3D XPoint drive: no erasing, no translation layer that moves data, hence no write
/// amplification.
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
    /// Time of a read in the electronics, in parallel with others.
    pub read_overhead: Sourced<Time>,
    /// Time of a write in the electronics, in parallel with others.
    pub write_overhead: Sourced<Time>,
    /// Commands that the controller starts per second at most.
    pub command_rate: Sourced<Rate>,
    /// Between host and drive.
    pub link: HostLink,
    /// True if reads and writes share the medium, which moves one of them at a time at the link's
    /// rates; absent: they don't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_medium: Option<Sourced<bool>>,
    /// Commands the drive holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// Functions that guests can be given (SR-IOV); absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Sourced<u32>>,
    /// Power draw; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Drawn>,
}

/// Bytes of a drive of 3D XPoint: a single die has 16 GB, and no drive has had more than some TB.
const XPOINT: (u64, u64) = (16_000_000_000, 15_000_000_000_000);
/// Bytes per channel of 3D XPoint: half of a die of 128 Gbit, for a drive may show a part of
/// it, to 64 of twice the size.
const XPOINT_CHANNEL: (u64, u64) = (8_000_000_000, 64 * 32_000_000_000);

pub(super) fn xpoint_drive(xpoint: &XPointProfile) -> Option<ProfileError<'static>> {
    let at = |key| vec!["xpoint", key];
    let mut limits = vec![
        Limit(xpoint.capacity.value.0, at("capacity"), SIZE, XPOINT.0, XPOINT.1),
        Limit(xpoint.access_unit.value.0, at("access_unit"), SIZE, 64, 64 << 10),
        Limit(u64::from(xpoint.channels.value), at("channels"), COUNT, 1, 256),
        Limit(xpoint.read_time.value.0, at("read_time"), TIME, 100, 50 * US),
        Limit(xpoint.write_time.value.0, at("write_time"), TIME, 200, 100 * US),
        or_none(Limit(xpoint.read_overhead.value.0, at("read_overhead"), TIME, 500, 400 * US)),
        or_none(Limit(xpoint.write_overhead.value.0, at("write_overhead"), TIME, 500, 400 * US)),
        Limit(xpoint.command_rate.value.0, at("command_rate"), RATE, SLOWEST_ELECTRONICS, FASTEST_ELECTRONICS),
        Limit(u64::from(xpoint.queue_depth.value), at("queue_depth"), COUNT, 1, deepest(&xpoint.link)),
    ];
    limits.extend(link_limits("xpoint", &xpoint.link));
    limits
        .extend(xpoint.functions.iter().map(|f| Limit(u64::from(f.value), at("functions"), COUNT, 1, MOST_FUNCTIONS)));
    limits.extend(xpoint.power.iter().flat_map(|power| drawn("xpoint", power)));
    let drawn = || draws_more_idle("xpoint", xpoint.power.as_ref());
    let geometry = || xpoint_conflict(xpoint);
    outside("3D XPoint drive", limits)
        .or_else(geometry)
        .or_else(drawn)
        .or_else(|| link_conflict("xpoint", &xpoint.link))
}

/// Error of a capacity that the channels and dies do not have.
fn xpoint_conflict(xpoint: &XPointProfile) -> Option<ProfileError<'static>> {
    let channels = xpoint.channels.value;
    let (least, most) = (Size(u64::from(channels) * XPOINT_CHANNEL.0), Size(u64::from(channels) * XPOINT_CHANNEL.1));
    if (least..=most).contains(&xpoint.capacity.value) {
        return None;
    }
    let message = format!("{channels} channels, each with one to 64 dies behind it, do not hold this");
    conflict(&["xpoint", "capacity"], &message, &sizes(least.0.into(), most.0.into()))
}
