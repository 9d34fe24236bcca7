//! Refusals: parts of a run that its world cannot execute, as data.

use crate::run::{RunSpec, Start, World};
use crate::study::{Event, Study};
use crate::toml::document::{Source, Table, has_key, span_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tameshi_base::{InputError, InputErrorKind};

/// Part of a run that its world cannot execute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// Path of the key in the study.
    pub key: Vec<String>,
    /// Identifier of the reason, for programs.
    pub code: &'static str,
    /// One clause for users: the cause and the remedy.
    pub message: String,
    /// Value that the world refuses, if it differs from the value in the study.
    pub found: String,
    /// Values that the world accepts instead.
    pub accepted: Vec<String>,
}

impl Refusal {
    /// A refusal of the key under `path`.
    #[must_use]
    pub fn new(code: &'static str, path: &[&str], message: impl Into<String>) -> Self {
        let key = path.iter().map(|name| (*name).to_string()).collect();
        Self { key, code, message: message.into(), found: String::new(), accepted: Vec::new() }
    }

    /// A refusal of a stream's `key`, which may be dotted.
    #[must_use]
    pub fn of_stream(stream: &str, key: &str, message: impl Into<String>) -> Self {
        let path: Vec<&str> = ["workload", "stream", stream].into_iter().chain(key.split('.')).collect();
        Self::new("stream", &path, message)
    }

    /// The refusal with the value that the world refuses.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    /// The refusal with the values that the world accepts.
    #[must_use]
    pub fn accepted(mut self, accepted: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.accepted = accepted.into_iter().map(Into::into).collect();
        self
    }

    /// Dotted path of the key.
    #[must_use]
    pub fn dotted_key(&self) -> String {
        self.key.join(".")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.dotted_key(), self.message)?;
        if self.accepted.is_empty() { Ok(()) } else { write!(f, "; accepted: {}", self.accepted.join(", ")) }
    }
}

/// Check of one run by the world that executes it.
pub type WorldCheck<'a> = &'a dyn Fn(&RunSpec) -> Vec<Refusal>;

/// Refusal of a planned run, with its place in the study file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocatedRefusal {
    /// Identifier of the reason.
    pub code: String,
    /// Study file.
    pub file: String,
    /// Line, from one; zero if the study does not contain the key.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// Dotted path of the key.
    pub key: String,
    /// Value that the world refuses; empty if the place shows it.
    pub found: String,
    /// Values that the world accepts.
    pub accepted: Vec<String>,
    /// One clause: the cause and the remedy.
    pub message: String,
    /// The whole error as shown in a terminal, with the source line.
    pub text: String,
}

/// Tables of one cell: the study with the levels of its axes merged in, and the levels within the
/// run.
pub(crate) struct CellTables<'a, 't> {
    pub(crate) table: &'a Table<'t>,
    pub(crate) within: Vec<&'a Table<'t>>,
}

impl CellTables<'_, '_> {
    /// The refusal with its place.
    pub(crate) fn locate(&self, source: Source<'_>, world: World, refusal: &Refusal) -> LocatedRefusal {
        let path: Vec<&str> = refusal.key.iter().map(String::as_str).collect();
        let tables = std::iter::once(self.table).chain(self.within.iter().copied());
        let holders: Vec<_> = tables.filter(|table| has_key(table, &path)).collect();
        let (table, known) = match holders[..] {
            [] => (self.table, &path[..]),
            [only] => (only, &path[..]),
            // Several levels within the run set the key, so only its table is certain.
            [.., last] => (last, &path[..path.len() - 1]),
        };
        let message = format!("the {} world can't run this: {}", world.word(), refusal.message);
        let error = source.error_at(table, known, InputErrorKind::Unsupported, message);
        let line = if span_of(table, known).is_empty() { 0 } else { error.line };
        let (key, found, accepted) = (refusal.dotted_key(), refusal.found.clone(), refusal.accepted.clone());
        let error = InputError { key, line, found, accepted, ..error };
        LocatedRefusal {
            code: refusal.code.to_string(),
            text: error.to_string().trim_end().to_string(),
            file: error.file,
            line: error.line,
            column: error.column,
            key: error.key,
            found: error.found,
            accepted: error.accepted,
            message: refusal.message.clone(),
        }
    }
}

/// Refusals that follow from the study and the world alone. `bound_events` happen by commands of
/// the user.
pub(crate) fn of_study(study: &Study, world: World, has_programs: bool, bound_events: &[String]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |code, path: &[&str], message: &str| refusals.push(Refusal::new(code, path, message));
    if study.workload.trace.is_some() {
        let message = "no world replays a trace yet; let a `workload.stream` or a program do the work";
        refuse("trace", &["workload", "trace"], message);
    }
    if study.host.as_ref().is_some_and(|host| host.memory.is_some()) && (world != World::Simulated || !has_programs) {
        refuse("host_memory", &["host", "memory"], "only a simulated database uses the host's memory");
    }
    let uses = &study.uses;
    for (key, role) in [("log", &uses.log), ("binlog", &uses.binlog), ("temp", &uses.temp)] {
        if role.is_some() && !has_programs {
            let message =
                "these are files of a database, and no phase runs a program; add such a program, or leave it out";
            refuse("role_without_database", &["use", key], message);
        }
    }
    if study.standby.replication.is_some() && world == World::Measured {
        let message = "the measured world has one machine, and a standby needs a second host: emulate or simulate it";
        refuse("standby", &["standby", "replication"], message);
    }
    if study.standby.replication.is_some() && world == World::Emulated && study.run.start == Start::Cold {
        let message = "a cold start restarts the server, which a standby does not outlive; start warm, or as it is";
        refuse("cold_with_standby", &["run", "start"], message);
    }
    if study.standby.replication.is_some() && !has_programs {
        let message = "a standby is of a database, and no phase runs a program; add such a program, or leave it out";
        refuse("standby_without_database", &["standby", "replication"], message);
    }
    let lying = study.storage.iter().filter(|(_, stack)| stack.ignores_flush && world != World::Emulated);
    for (name, _) in lying {
        let message = "only the emulated world has drives that ignore flushes; leave it out elsewhere";
        refuse("ignores_flush", &["storage", name, "ignores_flush"], message);
    }
    let prioritised = study.workload.stream.iter().filter(|(_, stream)| stream.priority.is_some());
    for (name, _) in prioritised.filter(|_| world != World::Simulated) {
        let message = "only the simulated world has queues by priority; leave it out elsewhere";
        refuse("priority", &["workload", "stream", name, "priority"], message);
    }
    let bound = |name: &String| world == World::Measured && bound_events.contains(name);
    let events = study.event.iter().filter(|(name, _)| !bound(name));
    refusals.extend(events.filter_map(|(name, event)| of_event(name, event, world, has_programs)));
    refusals
}

/// The refusal of an event that the world does not inject by itself.
fn of_event(name: &str, event: &Event, world: World, has_programs: bool) -> Option<Refusal> {
    use crate::validate::events::{injected, is_injected};
    if is_injected(event, world, has_programs) {
        return None;
    }
    let (kind, path) = (event.kinds().join("."), ["event", name]);
    if world == World::Measured {
        let message = format!("bind a command to it, --event {name}=COMMAND");
        return Some(Refusal::new("event_not_bound", &path, message).found(kind));
    }
    if !has_programs && is_injected(event, world, true) {
        let message = format!("`{kind}` is an event of a database, and no phase runs a program; add such a program");
        return Some(Refusal::new("event_without_database", &path, message));
    }
    let message = format!("this world has no event `{kind}`");
    Some(Refusal::new("event_kind", &path, message).found(kind).accepted(injected(world, has_programs).iter().copied()))
}
