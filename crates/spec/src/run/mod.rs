//! The resolved RunSpec: everything that one run needs, independent of the time and place at which
//! it runs.

pub(crate) mod node;
pub mod phase_order;

use crate::profile::{EngineModel, HostModel, Submission};
pub use crate::study::Mode;
use crate::study::{Engine, Event, Replication};
use indexmap::IndexMap;
pub use node::{Arbitration, Cache, Function, Link, Node, Rebuild};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::Nanos;
use tameshi_base::units::{Size, Time};
use tameshi_workload::StreamSpec;
use tameshi_workload::program::ProgramSpec;
pub use tameshi_workload::steady::SteadyRule;
use tameshi_workload::steady::Subject;

/// Version of the RunSpec's form; history: 1, the first.
pub const RUN_SPEC_VERSION: u32 = 1;

/// World in which a run happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum World {
    /// Modelled drives and databases in virtual time.
    Simulated,
    /// Modelled drives served as a real disk in real time.
    Emulated,
    /// The real device, the real database.
    Measured,
}

impl World {
    /// The world as a study's reader knows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Emulated => "emulated",
            Self::Measured => "measured",
        }
    }
}

/// One run: a cell, a repetition, a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Version of this form.
    pub schema_version: u32,
    /// The study's name: its file's stem.
    pub study: String,
    /// World of the run.
    pub world: World,
    /// The level of each axis that varies across runs.
    pub cell: IndexMap<String, String>,
    /// The unknown setting that is not at its assumed level, and its level.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub unknown: IndexMap<String, String>,
    /// Repetition of the cell, from zero.
    pub repetition: u32,
    /// Seed of everything random in the run; repetitions differ.
    pub seed: u64,
    /// State at t0.
    pub start: Start,
    /// Length of a recorded interval.
    pub interval: Time,
    /// Storages that the run uses, by name.
    pub storage: IndexMap<String, StorageSpec>,
    /// The machine that the jobs run on, if it is simulated; absent: a machine without costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSpec>,
    /// Phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// Groups of phases that are repeated together, in order and disjoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundsSpec>,
    /// Engines that the run uses, by product.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub engines: IndexMap<String, Engine>,
    /// The database that programs work on; absent: no phase runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseSpec>,
    /// Events of the run, by name; an event that the simulated world injects names its
    /// storage.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub events: IndexMap<String, Event>,
}

fn unscaled() -> u32 {
    1
}

fn is_no(flag: &bool) -> bool {
    !flag
}

fn is_unscaled(scale: &u32) -> bool {
    *scale == 1
}

/// A storage of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageSpec {
    /// Bytes that the run uses, from the storage's start.
    pub size: Size,
    /// Capacity scale: flash drives have one n-th of their capacity, and so have size, offsets,
    /// spans and amounts.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    pub scale: u32,
    /// True if a file is not written before the run.
    #[serde(default, skip_serializing_if = "is_no")]
    pub sparse: bool,
    /// True if the drive acknowledges flushes at once and does nothing.
    #[serde(default, skip_serializing_if = "is_no")]
    pub ignores_flush: bool,
    /// The model of the storage; absent if a real target is bound to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Node>,
}

/// The database of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSpec {
    /// Its engine, a key of `engines`.
    pub engine: String,
    /// Name of the storage under its data.
    pub storage: String,
    /// Name of the redo log's storage, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Name of the binary log's storage, if the server writes one there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binlog: Option<String>,
    /// Name of the storage of temporary files, if they have one of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp: Option<String>,
    /// Seed of its data set, the same for all repetitions.
    pub seed: u64,
    /// Name of the engine's profile, where the database is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The engine's model; absent if a real server runs, or if there is no model of the
    /// product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<EngineModel>,
    /// Mode of the simulation; absent if a real server runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Its standby. In the simulated world a `replica` of the storage stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<StandbySpec>,
}

/// The standby of a database, on a drive like the first server's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StandbySpec {
    /// Replication: it says what a commit waits for.
    pub replication: Replication,
    /// Link between both hosts.
    pub link: Link,
}

/// The simulated machine that jobs run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Name of the profile.
    pub profile: String,
    /// Its processors and costs.
    pub model: HostModel,
    /// Cores instead of the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Memory instead of the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Way to submit requests; absent: each stream uses the first way that keeps enough
    /// outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
}

impl HostSpec {
    /// Physical cores.
    pub fn cores(&self) -> u32 {
        self.cores.unwrap_or(self.model.sockets.value * self.model.cores_per_socket.value)
    }

    /// Memory, where it is known.
    pub fn memory(&self) -> Option<Size> {
        self.memory.or(self.model.memory.as_ref().map(|memory| memory.value))
    }

    /// Return whether some way of submitting takes no time at all.
    pub fn is_free(&self) -> bool {
        let model = &self.model;
        let costs = [&model.interrupt.cost, &model.context_switch, &model.wake_up];
        let path =
            |submission| model.path(submission).is_some_and(|path| path.read.value.0 + path.complete.value.0 == 0);
        costs.iter().all(|cost| cost.value.0 == 0)
            && model.lock.is_none()
            && model.hypervisor.is_none()
            && model.array_flush.is_none()
            && Submission::ALL.into_iter().any(path)
    }
}

/// State of caches and servers at t0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// As it happens to be.
    AsIs,
    /// Caches dropped, server restarted.
    Cold,
    /// Every table and index read once; simulated, the workload follows until the pool holds the
    /// pages that it requests most.
    Warm,
    /// Every table and index read once, and nothing else: as servers of the measured and the
    /// emulated world start warm.
    Scanned,
}

/// A stretch of a run with its streams and its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// Name in the study; repeated for each combination of the axes it runs over.
    pub name: String,
    /// The level of each axis within the run that the phase runs over.
    pub levels: IndexMap<String, String>,
    /// Streams that run at once.
    pub streams: Vec<PhaseStream>,
    /// Programs that drive the database meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramSpec>,
    /// Time at the phase's begin that estimates leave out.
    pub ramp: Time,
    /// When it ends.
    pub until: Until,
}

/// Phases that are repeated together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundsSpec {
    /// Name in the study.
    pub name: String,
    /// The level of each axis within the run that is outside the rounds.
    pub levels: IndexMap<String, String>,
    /// Index of the first phase.
    pub first: u32,
    /// Number of phases.
    pub phases: u32,
    /// So often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Until steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
    /// Indices of the phases that must be steady.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tracked: Vec<u32>,
}

impl RoundsSpec {
    /// Indices of its phases.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.phases) as usize
    }

    /// Rounds at most.
    pub fn most(&self) -> u32 {
        self.times.or(self.steady.map(|rule| rule.max_rounds)).unwrap_or(1)
    }

    /// Return the streams of `phases` whose rounds are tracked.
    pub fn subjects(&self, phases: &[PhaseSpec]) -> Vec<Subject> {
        let of = |&phase: &u32| phases[phase as usize].subjects(phase);
        self.tracked.iter().flat_map(of).collect()
    }
}

impl RunSpec {
    /// The rounds that phase `index` belongs to, and their place in the list.
    pub fn rounds_of(&self, index: usize) -> Option<(usize, &RoundsSpec)> {
        self.rounds.iter().enumerate().find(|(_, rounds)| rounds.range().contains(&index))
    }

    /// Return the highest number of times that phase `index` is run.
    pub fn times_at_most(&self, index: usize) -> u32 {
        self.rounds_of(index).map_or(1, |(_, rounds)| rounds.most())
    }
}

/// A stream of a phase, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseStream {
    /// Name in the study.
    pub name: String,
    /// Name of the storage it works on.
    pub storage: String,
    /// Description of the stream.
    pub stream: StreamSpec,
}

/// When a phase ends: at whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// After so long, ramp included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// After this many bytes moved, split evenly over the jobs of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Size>,
    /// At steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRule>,
}

impl Until {
    /// Return the latest end of a phase, counted from its begin: its time, or the most
    /// rounds after the ramp.
    pub fn time_at_most(&self, ramp: Time) -> Option<Time> {
        let rounds = self.steady.and_then(|rule| rule.round?.0.checked_mul(u64::from(rule.max_rounds)));
        let by_rounds = rounds.map(|length| Time(length.saturating_add(ramp.0)));
        [self.time, by_rounds].into_iter().flatten().min()
    }
}

impl PhaseSpec {
    /// Return its streams as subjects of steady state; `index` is the phase's.
    pub fn subjects(&self, index: u32) -> Vec<Subject> {
        self.streams.iter().map(|stream| Subject { phase: index, stream: stream.name.clone() }).collect()
    }

    /// All jobs of all streams.
    pub fn jobs(&self) -> u32 {
        self.streams.iter().map(|stream| stream.stream.jobs).sum()
    }

    /// Bytes that each job of `stream` may move: its part of the stream's amount, or of the
    /// phase's, in which streams that have an end of their own take no part.
    pub fn budget_bytes_per_job(&self, stream: &StreamSpec) -> Option<u64> {
        let per_job = |amount: Size, jobs: u32| amount.0.div_ceil(u64::from(jobs.max(1)));
        if stream.amount.is_some() || stream.duration.is_some() {
            return stream.amount.map(|amount| per_job(amount, stream.jobs));
        }
        let sharing = self.streams.iter().map(|stream| &stream.stream);
        let sharing = sharing.filter(|stream| stream.amount.is_none() && stream.duration.is_none());
        let jobs = sharing.map(|stream| stream.jobs).sum();
        self.until.amount.map(|amount| per_job(amount, jobs))
    }

    /// Numbers of the streams that end with the stream of that name.
    pub fn ended_with<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let with = move |stream: &PhaseStream| stream.stream.ends_with.iter().any(|other| other == name);
        self.streams.iter().enumerate().filter(move |(_, stream)| with(stream)).map(|(number, _)| number)
    }

    /// Return whether the phase may end before its time because every job is done.
    pub fn is_bounded(&self) -> bool {
        self.until.amount.is_some()
            || self.streams.iter().any(|stream| stream.stream.amount.is_some() || stream.stream.duration.is_some())
    }

    /// Length of the rounds that the phase consists of after its ramp, if it does.
    pub fn round(&self) -> Option<Nanos> {
        self.until.steady.and_then(|rule| rule.round).map(|round| round.0)
    }

    /// Return the name that seeds a stream in this phase; `round` is the number of a repeated
    /// phase.
    pub fn random_name(&self, stream: &PhaseStream, round: Option<u32>) -> String {
        let levels: Vec<String> = self.levels.iter().map(|(axis, level)| format!("{axis}={level}")).collect();
        let round = round.map(|number| format!("/round-{number}")).unwrap_or_default();
        format!("{}/{}/{}{round}", self.name, levels.join("/"), stream.name)
    }
}
