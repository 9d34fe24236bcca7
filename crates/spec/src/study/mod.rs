//! A written study with its overlays merged: the meaning and default of each key.
//!
//! The documentation comments here are the reference page's text; the JSON schema is derived from
//! these types.

mod answer;
mod engine;
mod event;
mod method;
mod program;
mod rounds;
mod search;
mod stack;
mod standby;
pub mod summary;
mod until;

pub use answer::{Answer, AnswerFigure, AnswerTable, Japanese};
pub use engine::{Doublewrite, Engine, Engines};
pub use event::{Cause, Derived, Event, Failover, Failure, Kill, Member, PowerCut, Published, Restart, Scalar, Window};
pub use method::Method;
pub use program::{Document, KeyUpdate, Oltp, Scan, Tpcc, Trace, Workloads, Ycsb};
pub use rounds::{Rounds, Tracked};
pub use search::{Limit, Search, Spacing};
pub use stack::{
    Aged, Arbitration, Cache, CacheKind, Link, OverProvisioned, Partition, Protocol, Raid, ReadBalance, RebuildManner,
    Replica, Stack,
};
pub use standby::{Replication, Standby};
pub use until::{Amount, Until};

use crate::run::Start;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Size, Time};

/// A study: one question with the settings to answer it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Title in reports.
    pub title: String,
    /// The question it answers, as a sentence.
    pub question: String,
    /// Comparison in the report's first sentence; absent: the effect of each axis on the programs'
    /// rates.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Title, question and names in Japanese.
    pub japanese: Option<Japanese>,
    /// Names that are used, of those defined below.
    #[serde(default, rename = "use")]
    pub uses: Uses,
    /// Axes. A level is a labelled partial study that is merged in before anything is checked.
    #[serde(default)]
    pub axis: IndexMap<String, Axis>,
    /// Settings that were not published: a range of levels, and the one that the cells run at. One
    /// at a time, the others are tried too, and the answer covers them.
    #[serde(default)]
    pub unknown: IndexMap<String, Unknown>,
    /// A partial study that `--quick` merges in: shorter, smaller, fewer repetitions.
    #[serde(default)]
    pub quick: Option<PartialStudy>,
    /// Storages by name: devices, or devices made of devices. A real path is never written here; it
    /// is bound by `--on NAME=PATH`.
    #[serde(default)]
    pub storage: IndexMap<String, Stack>,
    /// Links between hosts by name.
    #[serde(default)]
    pub link: IndexMap<String, Link>,
    /// The machine that runs the work, where it is simulated.
    #[serde(default)]
    pub host: Option<Host>,
    /// Database engines.
    #[serde(default)]
    pub engine: Engines,
    /// A standby of the database.
    #[serde(default)]
    pub standby: Standby,
    /// Workloads.
    #[serde(default)]
    pub workload: Workloads,
    /// Phases of a run in the order written; absent: one phase called `run` with every workload,
    /// for `run.duration`.
    #[serde(default)]
    pub phase: IndexMap<String, Phase>,
    /// Phases that are repeated together, a number of times or until steady state.
    #[serde(default)]
    pub rounds: IndexMap<String, Rounds>,
    /// Things that happen during a run.
    #[serde(default)]
    pub event: IndexMap<String, Event>,
    /// Stretches that estimates are taken over, besides each phase and `all`.
    #[serde(default)]
    pub window: IndexMap<String, Window>,
    /// Settings of the runs.
    #[serde(default)]
    pub run: Run,
    /// The published method that the study follows.
    #[serde(default)]
    pub method: Option<Method>,
    /// A search for the rate that a stream can have.
    #[serde(default)]
    pub search: Option<Search>,
    /// Published figures that a cell reproduces.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// Name of the storage below a running server whose study names no storage: `--on server=PATH`
/// names the server's data, whose disk is then sampled.
const OWN_SERVER: &str = "server";

impl Study {
    /// Add a storage without size to a study without storages whose engine runs already, because
    /// nothing is created on it.
    pub(crate) fn add_storage_of_own_server(&mut self) {
        let engines = self.engine.by_name();
        let used = match &self.uses.engine {
            Some(name) => engines.get(name),
            None => engines.values().next().filter(|_| engines.len() == 1),
        };
        let runs_already = used.is_some_and(|engine| engine.dsn.is_some());
        if runs_already && self.storage.is_empty() && self.workload.stream.is_empty() {
            self.storage.insert(OWN_SERVER.into(), Stack { size: Some(Size(0)), ..Stack::default() });
        }
    }
}

/// A part of a study; checked when it is merged in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PartialStudy(pub IndexMap<String, serde_json::Value>);

/// An axis: either `set` and `levels`, or labelled partial studies (`small = {
/// engine.mysql.buffer_pool = "256 MiB" }`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// True if levels are runs of their own, or phases of one run on one state of the device.
    #[serde(default)]
    pub varies: Varies,
    /// The key that the levels set.
    #[serde(default)]
    pub set: Option<String>,
    /// The values it takes.
    #[serde(default)]
    pub levels: Option<Vec<serde_json::Value>>,
}

/// An unknown setting: levels as of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unknown {
    /// Label of the level that the cells run at; absent: the first.
    #[serde(default)]
    pub assumed: Option<String>,
    /// The key that the levels set.
    #[serde(default)]
    pub set: Option<String>,
    /// The values it takes.
    #[serde(default)]
    pub levels: Option<Vec<serde_json::Value>>,
}

/// Scope in which an axis varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Varies {
    /// Each level is a run of its own.
    #[default]
    Across,
    /// The levels are phases of one run, without an idle gap.
    Within,
}

/// Roles, and the named thing that plays each. Where a study defines only one thing of a kind, that
/// one plays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Uses {
    /// Storage under the data.
    pub storage: Option<String>,
    /// Storage of the redo log (PostgreSQL: WAL); absent: with the data.
    pub log: Option<String>,
    /// Storage of the binary log, which the server then writes; absent: what the engine's options
    /// say.
    pub binlog: Option<String>,
    /// Storage of temporary files; absent: with the data.
    pub temp: Option<String>,
    /// Database engine.
    pub engine: Option<String>,
    /// Workloads of a study without phases.
    pub workload: Option<Vec<String>>,
}

/// A host by profile, with the study's changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Name of a host profile.
    pub profile: Option<String>,
    /// Processor cores, instead of the profile's.
    pub cores: Option<u32>,
    /// Way in which storage streams submit requests; absent: synchronous if one is outstanding,
    /// else the first asynchronous way that the host has.
    pub submission: Option<crate::profile::Submission>,
    /// The machine's memory, instead of the profile's. What a simulated database's buffer pool
    /// leaves of it is the page cache of its files, where they go through that.
    pub memory: Option<tameshi_base::Size>,
}

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Workloads that run at once: `stream.NAME`, or a program such as `tpcc`; an empty list idles.
    pub workload: Vec<String>,
    /// The axes within the run that the phase is repeated over; absent: all of them. Neighbours
    /// over the same axes repeat together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Vec<String>>,
    /// Time at its begin that estimates leave out.
    #[serde(default)]
    pub ramp: Time,
    /// When it ends: at whichever comes first.
    pub until: Until,
}

/// Settings of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// State of caches and servers at t0.
    pub start: Start,
    /// Length of the one phase of a study without phases.
    pub duration: Option<Time>,
    /// Runs of each cell.
    pub repetitions: u32,
    /// Length of a recorded interval.
    pub interval: Time,
    /// Seed of everything random.
    pub seed: u64,
    /// Mode of the simulation of a database.
    pub mode: Mode,
}

/// Mode of the simulation of a database. Other worlds and storages without a database have no
/// modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each phase until it is steady; the rest is extrapolated.
    #[default]
    Fast,
    /// All of it, every transaction.
    Exact,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            start: Start::AsIs,
            duration: None,
            repetitions: 1,
            interval: Time(1_000_000_000),
            seed: 1,
            mode: Mode::Fast,
        }
    }
}
