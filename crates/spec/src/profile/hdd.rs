//! A hard disk's parameters.

use super::drive_link::DEEPEST_OF_DISKS;
use super::power::{drawn, draws_more_idle};
use super::range::{
    COUNT, Limit, MB_PER_S, MS, ProfileError, RATE, SHARE, SIZE, TIME, US, capacity, conflict, or_none, outside, sizes,
};
use super::{Drawn, Sourced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Rate, Share, Size, Time};

/// A hard disk: one arm, one spindle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Time of one revolution: 4 ms at 15 000 per minute.
    pub revolution: Sourced<Time>,
    /// Largest deviation of a disk's speed of rotation from the nominal one; absent: none, so that
    /// disks keep the angle between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_tolerance: Option<Sourced<Share>>,
    /// Seek to the next cylinder, settling included.
    pub seek_min: Sourced<Time>,
    /// Mean seek between two uniformly random places.
    pub seek_average: Sourced<Time>,
    /// Share of seeks after which the head settles too late, so that a revolution passes first; a
    /// disk that chooses among n commands has an n-th of it. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_revolutions: Option<Sourced<Share>>,
    /// Cylinders that the capacity is spread over.
    pub cylinders: Sourced<u32>,
    /// Time that the controller and the link take for a command before the mechanics; overlaps with
    /// other commands' mechanics.
    pub command_overhead: Sourced<Time>,
    /// Bytes per second that pass under the head: the same everywhere, or the mean where the disk
    /// has zones.
    pub media_rate: Sourced<Rate>,
    /// In which order queued commands are served.
    pub scheduling: Sourced<Scheduling>,
    /// Commands the disk holds; more wait in the host.
    pub queue_depth: Sourced<u32>,
    /// Read-ahead buffer after the last read; absent: no read-ahead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<Sourced<Size>>,
    /// Zones of falling density from the outside to the inside; absent: the disk is the same
    /// everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// After so long in the disk a command is served whatever the schedule says; absent: 500 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_limit: Option<Sourced<Time>>,
    /// Volatile cache in which writes end; a flush, or force unit access, waits for the medium.
    /// Absent: writes end on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<Sourced<Size>>,
    /// Power draw; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Drawn>,
}

/// Zones of a disk, each with as many cylinders and a rate of its own, which falls evenly from zone
/// to zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// Number of zones.
    pub count: Sourced<u32>,
    /// Bytes per second that pass under the head in the outermost zone, where the first bytes lie.
    pub outer_rate: Sourced<Rate>,
    /// The same in the innermost zone.
    pub inner_rate: Sourced<Rate>,
}

/// Order in which a hard disk serves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// First come, first served.
    Fcfs,
    /// The arm sweeps back and forth and serves commands ahead of it (LOOK).
    Elevator,
    /// Shortest positioning time first (SPTF): seek and rotation together.
    ShortestPositioning,
}

/// Heads of a disk: surfaces of one platter to those of a dozen, and room for tracks of another
/// length than the mean.
const HEADS: (u128, u128) = (1, 64);
/// Nanoseconds of a second, times the thousandths that a rate is counted in.
const RATE_NS: u128 = 1_000_000_000_000;

pub(super) fn hard_disk(hdd: &HddProfile) -> Option<ProfileError<'static>> {
    let at = |key| vec!["hdd", key];
    let limits = vec![
        Limit(hdd.revolution.value.0, at("revolution"), TIME, MS, 100 * MS),
        or_none(Limit(hdd.seek_min.value.0, at("seek_min"), TIME, 50 * US, 20 * MS)),
        or_none(Limit(hdd.seek_average.value.0, at("seek_average"), TIME, 200 * US, 100 * MS)),
        or_none(Limit(hdd.command_overhead.value.0, at("command_overhead"), TIME, 10 * US, 5 * MS)),
        capacity(hdd.capacity.value, "hdd", 1_000_000),
        Limit(u64::from(hdd.cylinders.value), at("cylinders"), COUNT, 1, 10_000_000),
        Limit(u64::from(hdd.queue_depth.value), at("queue_depth"), COUNT, 1, DEEPEST_OF_DISKS),
        Limit(hdd.media_rate.value.0, at("media_rate"), RATE, 2 * MB_PER_S, 1_000 * MB_PER_S),
    ];
    let cache = hdd.write_cache.iter().map(|size| Limit(size.value.0, at("write_cache"), SIZE, 1 << 16, 1 << 32));
    let ahead = hdd.read_ahead.iter().map(|size| Limit(size.value.0, at("read_ahead"), SIZE, 4 << 10, 64 << 20));
    let age = hdd.age_limit.iter().map(|time| Limit(time.value.0, at("age_limit"), TIME, 20 * MS, 10_000 * MS));
    let speed =
        hdd.speed_tolerance.iter().map(|share| Limit(share.value.0.into(), at("speed_tolerance"), SHARE, 0, 20_000));
    let missed = hdd
        .missed_revolutions
        .iter()
        .map(|share| Limit(share.value.0.into(), at("missed_revolutions"), SHARE, 0, 900_000));
    let zones = hdd.zones.iter().flat_map(|zones| {
        let at = |key| vec!["hdd", "zones", key];
        let rates = [("outer_rate", &zones.outer_rate), ("inner_rate", &zones.inner_rate)];
        let rates = rates.map(|(key, rate)| Limit(rate.value.0, at(key), RATE, 2 * MB_PER_S, 1_000 * MB_PER_S));
        let most = u64::from(hdd.cylinders.value);
        rates.into_iter().chain([Limit(u64::from(zones.count.value), at("count"), COUNT, 1, most)])
    });
    let drawn = hdd.power.iter().flat_map(|power| drawn("hdd", power));
    let limits = limits
        .into_iter()
        .chain(cache)
        .chain(ahead)
        .chain(age)
        .chain(speed)
        .chain(missed)
        .chain(zones)
        .chain(drawn)
        .collect();
    outside("hard disk", limits).or_else(|| {
        if hdd.seek_average.value < hdd.seek_min.value {
            return conflict(
                &["hdd", "seek_average"],
                "the mean seek is shorter than the shortest",
                "seek_min or more",
            );
        }
        draws_more_idle("hdd", hdd.power.as_ref()).or_else(|| zones_conflict(hdd)).or_else(|| disk_conflict(hdd))
    })
}

fn zones_conflict(hdd: &HddProfile) -> Option<ProfileError<'static>> {
    let zones = hdd.zones.as_ref()?;
    if zones.outer_rate.value < zones.inner_rate.value {
        let message = "the innermost zone is faster than the outermost";
        return conflict(&["hdd", "zones", "inner_rate"], message, "outer_rate or less");
    }
    let within = zones.inner_rate.value <= hdd.media_rate.value && hdd.media_rate.value <= zones.outer_rate.value;
    let message = "the mean rate is not between those of the zones";
    if within { None } else { conflict(&["hdd", "media_rate"], message, "inner_rate to outer_rate") }
}

/// Error of a capacity that the cylinders and tracks do not have.
fn disk_conflict(hdd: &HddProfile) -> Option<ProfileError<'static>> {
    let track = u128::from(hdd.media_rate.value.0) * u128::from(hdd.revolution.value.0) / RATE_NS;
    let surface = track * u128::from(hdd.cylinders.value);
    let capacity = u128::from(hdd.capacity.value.0);
    // Half of a surface: a disk may use a part of it, and tracks are as long as the mean.
    let (least, most) = (surface * HEADS.0 / 2, surface * HEADS.1);
    if (least..=most).contains(&capacity) {
        return None;
    }
    let message = format!(
        "{} cylinders of tracks of {}, which is media_rate times revolution, do not hold this under any number of heads",
        hdd.cylinders.value,
        Size(u64::try_from(track).unwrap_or(u64::MAX))
    );
    conflict(&["hdd", "capacity"], &message, &sizes(least, most))
}
