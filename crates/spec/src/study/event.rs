//! Events, windows and published figures.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tameshi_base::units::{Share, Size, Time};

/// Something that happens during a run: a time, and exactly one thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, from the begin of the phase (or of the run).
    pub at: Time,
    /// The phase it belongs to; absent: the run.
    #[serde(default)]
    pub phase: Option<String>,
    /// A member of a storage dies, or one channel in it.
    #[serde(default)]
    pub fail: Option<Failure>,
    /// A new member takes a dead one's place and is rebuilt.
    #[serde(default)]
    pub replace: Option<Member>,
    /// Power fails, and a database on the storage is started again. Under a measured one its file
    /// system is shut down.
    #[serde(default)]
    pub power_cut: Option<PowerCut>,
    /// The database's server is killed (kill -9) and started again.
    #[serde(default)]
    pub kill: Option<Kill>,
    /// The database's server is shut down in good order and started again (simulated world).
    #[serde(default)]
    pub restart: Option<Restart>,
    /// The machine under the database is gone, and its standby takes over, or the one at the other
    /// side of its replica.
    #[serde(default)]
    pub failover: Option<Failover>,
    /// The user's own command is run (measured world).
    #[serde(default)]
    pub command: Option<Vec<String>>,
}

impl Event {
    /// The kinds that are given.
    pub fn kinds(&self) -> Vec<&'static str> {
        let given = [
            ("fail", self.fail.is_some()),
            ("replace", self.replace.is_some()),
            ("power_cut", self.power_cut.is_some()),
            ("kill", self.kill.is_some()),
            ("restart", self.restart.is_some()),
            ("failover", self.failover.is_some()),
            ("command", self.command.is_some()),
        ];
        given.into_iter().filter_map(|(key, given)| given.then_some(key)).collect()
    }

    /// The kinds there are.
    pub const KINDS: [&'static str; 7] = ["fail", "replace", "power_cut", "kill", "restart", "failover", "command"];
}

/// The end of a database's server, and its return.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Kill {
    /// Time before the server is started again.
    pub down: Time,
}

/// A clean shutdown of a database's server, and its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Restart {
    /// Time before the server is started again, after it is down.
    pub down: Time,
}

/// Failure of a drive, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Failure {
    /// Name of the storage; absent: the one in use.
    pub storage: Option<String>,
    /// Member of the storage, from zero.
    pub member: Option<u32>,
    /// Flash channel of the member, from zero over all its controllers; absent: the whole member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
}

/// The end of the machine under a database, and the standby in its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Failover {
    /// Name of the storage, a replica; absent: the one in use.
    pub storage: Option<String>,
    /// Time until the standby starts its server: detection and decision.
    pub down: Time,
    /// Event before the failover, of a server with a standby; absent: `power_cut`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// Cause of a failover to a standby (emulated world).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The first server's host and drive lose their power.
    #[default]
    PowerCut,
    /// The first server is killed (kill -9).
    Kill,
    /// The link is cut: the first server goes on until the failover fences it.
    LinkCut,
}

/// Target of an event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Member {
    /// Name of the storage; absent: the one in use.
    pub storage: Option<String>,
    /// Member of the storage, from zero.
    pub member: Option<u32>,
}

/// A power cut: its target and its moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerCut {
    /// Name of the storage; absent: the one in use.
    pub storage: Option<String>,
    /// Not accepted: the power of a whole storage fails.
    pub member: Option<u32>,
    /// Wait, for at most 2 s, until a write of this size is under way, such as a database's page:
    /// the cut may tear it (simulated and emulated worlds). Absent: the cut does not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub during_write: Option<Size>,
}

impl PowerCut {
    /// Longest time in ns that a cut waits for a write.
    pub const LONGEST_WAIT_NS: u64 = 2_000_000_000;
}

/// A stretch of a run that estimates are taken over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The phase it lies in; absent: each of them.
    #[serde(default)]
    pub phase: Option<String>,
    /// Its begin, from the begin of the phase.
    #[serde(default)]
    pub from: Time,
    /// Its end; absent: the end of the phase.
    #[serde(default)]
    pub to: Option<Time>,
}

/// A published figure and the cell that reproduces it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Identity in the lists of published figures.
    pub id: String,
    /// Level of each axis.
    pub cell: IndexMap<String, Scalar>,
    /// Phase it belongs to; absent: the only one.
    #[serde(default)]
    pub phase: Option<String>,
    /// Metric of the registry; `all.iops`, `all.bandwidth`, `all.latency.mean`: of reads and writes
    /// together.
    pub metric: String,
    /// Subject, if a cell has several with the metric, such as `tpcc.delivery`;
    /// absent: of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Another metric of the same cell that it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// Window it is taken over; absent: the phase.
    #[serde(default)]
    pub window: Option<String>,
    /// Derivation from several cells; absent: the figure is the metric's value in the cell that
    /// `cell` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derived>,
}

/// A figure that several cells make together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Derived {
    /// The largest value among the cells that `cell` leaves open.
    Most,
    /// By how much the value exceeds that of another cell.
    MoreThan {
        /// Levels in which the other cell differs.
        cell: IndexMap<String, Scalar>,
    },
    /// Ratio to the value of another cell.
    RatioTo {
        /// Levels in which the other cell differs.
        cell: IndexMap<String, Scalar>,
    },
    /// Share of another cell's value by which it exceeds that value.
    GainOver {
        /// Levels in which the other cell differs.
        cell: IndexMap<String, Scalar>,
    },
    /// A mean latency as a tool makes it that adds up from the begin of the ramp on, and counts
    /// what completes after it (tpcc-mysql's avg_rt).
    RampIncluded,
    /// The greatest level of a numeric axis up to which another axis makes no difference.
    SameUpTo {
        /// The numeric axis.
        axis: String,
        /// The axis that makes no difference.
        whatever: String,
        /// Largest distance between its levels, relative to the largest value.
        within: Share,
    },
    /// The least level of a numeric axis from which on another axis makes a difference.
    ApartFrom {
        /// The numeric axis.
        axis: String,
        /// The axis that makes a difference.
        whatever: String,
        /// Least distance between its levels, relative to the largest value.
        beyond: Share,
    },
}

/// A level's label as it may be written: a string or a number.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Label;
        impl serde::de::Visitor<'_> for Label {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a level's label: a string or a whole number")
            }
            fn visit_str<E>(self, label: &str) -> Result<Scalar, E> {
                Ok(Scalar(label.to_string()))
            }
            fn visit_i64<E>(self, label: i64) -> Result<Scalar, E> {
                Ok(Scalar(label.to_string()))
            }
            fn visit_u64<E>(self, label: u64) -> Result<Scalar, E> {
                Ok(Scalar(label.to_string()))
            }
        }
        deserializer.deserialize_any(Label)
    }
}
