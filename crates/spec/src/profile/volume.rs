//! A volume's parameters: a disk known by its behaviour only, as a virtual machine or a cloud shows
//! it.

use super::Sourced;
use super::distribution::{LatencyPoint, no_distribution};
use super::range::{COUNT, Limit, MB_PER_S, MS, ProfileError, RATE, TIME, US, capacity, conflict, or_none, outside};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Size, Time};

/// A volume: latencies, parallel commands, a processor that serves them one after the other, and
/// rate limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeProfile {
    /// Bytes that can be addressed.
    pub capacity: Sourced<Size>,
    /// Commands that the volume works on at a time; more wait.
    pub parallel: Sourced<u32>,
    /// True if commands are taken in rounds: all that wait together, and more only after the last
    /// of them completes. A virtual disk served by one thread behaves so. A flush is taken in a
    /// round too, as a write of no bytes. Absent: each is taken when there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Sourced<bool>>,
    /// Service of a read.
    pub read: VolumeService,
    /// Service of a write.
    pub write: VolumeService,
    /// Time of a flush, which ends no sooner than everything before it; a write with force unit
    /// access takes it too.
    pub flush: Sourced<Vec<LatencyPoint>>,
    /// Time that the processor is busy longer with the first write after a flush; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_flush: Option<Sourced<Time>>,
    /// Rates that all commands together come to in the long run at most, as a provider sets them;
    /// absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<VolumeLimit>,
    /// Stalls of the whole volume; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
}

/// Service of one kind of command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeService {
    /// Time in parallel with other commands, one draw for each; with `rounds`, one for each round.
    pub latency: Sourced<Vec<LatencyPoint>>,
    /// Time of the volume's single processor per command of any length.
    pub command_time: Sourced<Time>,
    /// Bytes per second that the same processor moves.
    pub transfer_rate: Sourced<Rate>,
    /// Time that a round takes longer in which this command is the only one, because its server
    /// sleeps and must be woken; only with `rounds`. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Sourced<Time>>,
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

/// Stalls: times in which the volume serves no command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Mean time from the end of one to the begin of the next, exponentially distributed.
    pub every: Sourced<Time>,
    /// Duration of each stall.
    pub lasting: Sourced<Vec<LatencyPoint>>,
}

/// The longest that half of all commands may take, and the longest that any may.
const TYPICAL: u64 = 200 * MS;
const LONGEST: u64 = 60_000 * MS;

/// The first thing in a volume's profile that can't be.
pub(super) fn volume(volume: &VolumeProfile) -> Option<ProfileError<'static>> {
    let mut limits = vec![
        capacity(volume.capacity.value, "volume", 1 << 20),
        Limit(u64::from(volume.parallel.value), vec!["volume", "parallel"], COUNT, 1, 65_536),
    ];
    limits
        .extend([("read", &volume.read), ("write", &volume.write)].into_iter().flat_map(|(key, of)| service(key, of)));
    limits.extend(volume.limit.iter().flat_map(|limit| {
        let at = |key| vec!["volume", "limit", key];
        [
            Limit(limit.command_rate.value.0, at("command_rate"), RATE, 1_000, 100_000_000_000),
            Limit(limit.byte_rate.value.0, at("byte_rate"), RATE, MB_PER_S / 10, 256_000 * MB_PER_S),
        ]
    }));
    limits.extend(
        volume
            .stalls
            .iter()
            .map(|stalls| Limit(stalls.every.value.0, vec!["volume", "stalls", "every"], TIME, 10 * US, LONGEST)),
    );
    limits.extend(
        volume
            .after_flush
            .iter()
            .map(|time| or_none(Limit(time.value.0, vec!["volume", "after_flush"], TIME, 50, 100 * MS))),
    );
    let distributions = [
        (vec!["volume", "read", "latency"], &volume.read.latency.value),
        (vec!["volume", "write", "latency"], &volume.write.latency.value),
        (vec!["volume", "flush"], &volume.flush.value),
    ];
    let stalls = volume.stalls.iter().map(|stalls| (vec!["volume", "stalls", "lasting"], &stalls.lasting.value));
    let mut all = distributions.into_iter().chain(stalls);
    let found = outside("volume", limits).or_else(|| all.find_map(|(path, points)| distribution(path, points)));
    found.or_else(|| limit_conflict(volume)).or_else(|| alone_without_rounds(volume))
}

/// Rates that do not go together.
fn limit_conflict(volume: &VolumeProfile) -> Option<ProfileError<'static>> {
    let limit = volume.limit.as_ref()?;
    let (bytes, commands) = (limit.byte_rate.value.0, limit.command_rate.value.0);
    let accepted = "command_rate times 512 B to 1 MiB";
    if !(512..=1 << 20).contains(&(bytes / commands)) {
        return conflict(&["volume", "limit", "byte_rate"], "no limits let through so much for each command", accepted);
    }
    for (key, of) in [("read", &volume.read), ("write", &volume.write)] {
        if of.transfer_rate.value.0 < bytes / 20 {
            let message = "the volume moves far less than its limit lets through";
            return conflict(&["volume", key, "transfer_rate"], message, "a twentieth of limit.byte_rate, or more");
        }
    }
    None
}

/// Without rounds no command is alone in one.
fn alone_without_rounds(volume: &VolumeProfile) -> Option<ProfileError<'static>> {
    if volume.rounds.as_ref().is_some_and(|rounds| rounds.value) {
        return None;
    }
    let (key, _) = [("read", &volume.read), ("write", &volume.write)].into_iter().find(|(_, of)| of.alone.is_some())?;
    let message = "only of rounds there are some with one command alone";
    conflict(&["volume", key, "alone"], message, "rounds = { value = true, … }, or no such key")
}

fn service(key: &'static str, of: &VolumeService) -> Vec<Limit<'static>> {
    let alone = of.alone.iter();
    let alone = alone.map(|time| or_none(Limit(time.value.0, vec!["volume", key, "alone"], TIME, 50, 100 * MS)));
    let mut limits = vec![
        or_none(Limit(of.command_time.value.0, vec!["volume", key, "command_time"], TIME, 50, 100 * MS)),
        Limit(of.transfer_rate.value.0, vec!["volume", key, "transfer_rate"], RATE, MB_PER_S, 256_000 * MB_PER_S),
    ];
    limits.extend(alone);
    limits
}

/// Error of points that are no distribution of times.
fn distribution(mut path: Vec<&'static str>, points: &[LatencyPoint]) -> Option<ProfileError<'static>> {
    let message = if let Some(why) = no_distribution(points) {
        why
    } else if points.iter().any(|point| point.time.0 > if point.share.0 <= 500_000 { TYPICAL } else { LONGEST }) {
        "no volume takes so long: more than 200 ms for half of all commands, or more than 60 s for any"
    } else if points.iter().find(|point| point.share.0 >= 500_000).is_some_and(|point| (1..US).contains(&point.time.0))
    {
        "no volume is so fast: less than 1 us for half of all commands, or no time at all"
    } else {
        return None;
    };
    path.push("value");
    let accepted = "points such as { share = \"0 %\", time = \"300 us\" }, … { share = \"100 %\", time = \"20 ms\" }";
    Some(ProfileError { path, kind: InputErrorKind::BadValue, message: message.into(), accepted: accepted.into() })
}
