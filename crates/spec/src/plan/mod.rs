//! Planner: a pure function from a study's text to its runs. Resuming a study is planning it again.

pub(crate) mod budget;
mod gathered;
pub mod search;

use crate::plan::gathered::Gathered;
use crate::profile::catalog::Profiles;
use crate::refusal::{LocatedRefusal, WorldCheck};
use crate::resolve::arrays::write_out;
use crate::resolve::phases::expand;
use crate::resolve::{resolve_database, resolve_engine, resolve_host, resolve_storages};
use crate::run::{RUN_SPEC_VERSION, RunSpec, World};
use crate::study::summary::Summary;
use crate::study::{Mode, Phase, Study, Varies};
use crate::toml::axes::{AxisTable, Combination, own_names, take_axes, take_quick, take_unknowns, with_unknowns};
use crate::toml::document::{Source, Table, merge};
use crate::validate::bounds;
use crate::validate::events::EventContext;
use crate::validate::programs;
use crate::validate::unused_overlays;
use crate::validate::values;
use indexmap::IndexMap;
use schemars::JsonSchema;
use search::CellRates;
use serde::{Deserialize, Serialize};
use tameshi_base::random::derived_seed;
use tameshi_base::{InputError, InputErrorKind, Time};

/// Request to the planner.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// World of the runs.
    pub world: World,
    /// Merge the study's `quick` part.
    pub quick: bool,
    /// Rates that a search has chosen so far, by cell.
    #[serde(default)]
    pub rates: Vec<CellRates>,
    /// Simulate databases in exact mode, whatever the study says.
    #[serde(default)]
    pub exact: bool,
    /// Events that commands of the user make happen in the measured world.
    #[serde(default)]
    pub bound_events: Vec<String>,
    /// Plan only cells that have all levels of one of these; absent: every cell.
    #[serde(default)]
    pub cells: Option<Vec<IndexMap<String, String>>>,
    /// Allow the runs of a study whose records are packed, ten times as many.
    #[serde(default)]
    pub packed: bool,
}

impl Request {
    /// A request for the whole study in one world.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self {
            world,
            quick: false,
            rates: Vec::new(),
            exact: false,
            bound_events: Vec::new(),
            cells: None,
            packed: false,
        }
    }

    /// Return whether the request asks for a cell.
    fn wants(&self, cell: &IndexMap<String, String>) -> bool {
        let has = |wanted: &IndexMap<String, String>| wanted.iter().all(|(axis, level)| cell.get(axis) == Some(level));
        self.cells.as_ref().is_none_or(|cells| cells.iter().any(has))
    }
}

/// A study, planned for one world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Subject of the study.
    pub study: Summary,
    /// Every run, in the order of execution.
    pub runs: Vec<RunSpec>,
    /// Parts of the runs that the world cannot execute; if there is any, no run may start.
    pub refusals: Vec<LocatedRefusal>,
    /// Upper bound on the time of all runs in ns; null if a phase has no limit in time.
    pub time_ns_at_most: Option<u64>,
    /// Upper bound on bytes written by the runs, without the layout of the targets; null if a phase
    /// has no limit.
    pub bytes_written_at_most: Option<u64>,
    /// Bytes that each storage needs.
    pub storage_bytes: IndexMap<String, u64>,
}

/// One cell, resolved.
pub(crate) struct Resolved {
    pub(crate) study: Study,
    pub(crate) run: RunSpec,
    pub(crate) has_programs: bool,
}

/// Run of a cell with its repetitions.
#[derive(Clone, Debug)]
pub struct RepeatedRun {
    /// The first repetition.
    run: RunSpec,
    /// Seed of the study.
    seed: u64,
    /// Number of repetitions: one where an unknown setting is tried, compared with its pair.
    pub repetitions: u32,
}

impl RepeatedRun {
    /// One of its repetitions, with a seed of its own.
    #[must_use]
    pub fn repetition(&self, repetition: u32) -> RunSpec {
        let seed = derived_seed(self.seed, &format!("repetition/{repetition}"));
        RunSpec { repetition, seed, ..self.run.clone() }
    }
}

/// Plan every run of a study in one world. `check` returns the refusals of that world.
///
/// # Errors
/// At the first error in the study, or in a profile that it names.
pub fn plan<'t>(
    name: &str,
    source: Source<'t>,
    request: &Request,
    profiles: &'t Profiles,
    check: WorldCheck<'_>,
) -> Result<Plan, InputError> {
    let mut runs = Vec::new();
    let outline = plan_each(name, source, request, profiles, check, &mut |run| runs.push(run))?;
    Ok(Plan { runs: repetitions(&runs).collect(), ..outline })
}

/// Plan a study as [`plan`] does, in constant memory: `take` gets the run of each cell as soon as
/// it is resolved, and the returned plan has none. After an error, no run counts.
///
/// # Errors
/// As [`plan`].
pub fn plan_each<'t>(
    name: &str,
    source: Source<'t>,
    request: &Request,
    profiles: &'t Profiles,
    check: WorldCheck<'_>,
    take: &mut dyn FnMut(RepeatedRun),
) -> Result<Plan, InputError> {
    let mut document = source.parse()?;
    let quick = take_quick(source, &mut document)?;
    if let Some(quick) = &quick {
        unused_overlays::of_quick(source, &document, quick)?;
    }
    let unknowns = take_unknowns(source, &mut document, quick.as_ref())?;
    let quick = quick.filter(|_| request.quick);
    if request.quick {
        // The quick part may replace what the settings are assumed to be.
        unknowns.iter().for_each(|unknown| merge(&mut document, &unknown.axis.levels[unknown.assumed].1));
    }
    if let Some(quick) = &quick {
        merge(&mut document, quick);
    }
    let tried = if request.quick { &[] } else { &unknowns[..] };
    let with_axes = document.clone();
    let axes = take_axes(source, &mut document)?;
    own_names(source, &axes, &unknowns)?;
    bounds::combinations(source, &with_axes, (&axes, tried), request.packed)?;
    drop(with_axes);
    let overlays: Vec<_> = axes.iter().chain(unknowns.iter().map(|unknown| &unknown.axis)).collect();
    unused_overlays::are_there(source, &document, &overlays)?;
    let of_kind = |varies| axes.iter().filter(|axis| axis.varies == varies).collect::<Vec<_>>();
    let (across, within) = (of_kind(Varies::Across), of_kind(Varies::Within));
    let mut gathered = Gathered::new(source, request, &within, check);
    for mut cell in with_unknowns(&document, &across, tried) {
        write_out(source, &mut cell.table, profiles)?;
        let found = resolve_cell(name, source, &cell, &within, request, profiles);
        let resolved = found.map_err(|error| in_cell(source, error, &cell))?;
        gathered.add(&cell, &resolved);
        for run in at_rates(&resolved, request) {
            let run = gathered.add_run(&cell, &resolved, run);
            run.into_iter().for_each(&mut *take);
        }
    }
    gathered.finish(name, &document, (&axes, &unknowns, &overlays), quick.is_some())
}

/// The runs of a cell at the rates of its search, if there is one.
fn at_rates(resolved: &Resolved, request: &Request) -> Vec<RunSpec> {
    match &resolved.study.search {
        Some(search) => search::runs_of(search, &resolved.run, &request.rates),
        None => vec![resolved.run.clone()],
    }
}

/// A conflict with the levels of its cell, because it may not exist at other levels.
fn in_cell(source: Source<'_>, mut error: InputError, cell: &Combination<'_>) -> InputError {
    let mut levels = cell.levels.iter().chain(&cell.unknown).peekable();
    if error.kind == InputErrorKind::Conflict && error.file == source.file && levels.peek().is_some() {
        let levels: Vec<String> = levels.map(|(axis, level)| format!("{axis} = {level}")).collect();
        error.message += &format!(" (at {})", levels.join(", "));
    }
    error
}

/// The runs repetition by repetition, so that an interrupted study has every cell once before any
/// cell twice.
fn repetitions(runs: &[RepeatedRun]) -> impl Iterator<Item = RunSpec> + '_ {
    let most = runs.iter().map(|run| run.repetitions).max().unwrap_or(0);
    (0..most).flat_map(move |repetition| {
        let repeated = runs.iter().filter(move |run| repetition < run.repetitions);
        repeated.map(move |run| run.repetition(repetition))
    })
}

fn resolve_cell(
    name: &str,
    source: Source<'_>,
    cell: &Combination<'_>,
    within: &[&AxisTable<'_>],
    request: &Request,
    profiles: &Profiles,
) -> Result<Resolved, InputError> {
    let world = request.world;
    let mut study: Study = source.typed(&cell.table)?;
    values::study(source, &cell.table, &study)?;
    if request.exact {
        study.run.mode = Mode::Exact;
    }
    if world == World::Measured {
        study.add_storage_of_own_server();
    }
    if study.phase.is_empty() {
        study.phase.insert("run".into(), default_phase(source, &cell.table, &study)?);
    }
    let mut expanded = expand(source, cell, &study, within)?;
    bounds::intervals(source, &cell.table, &study, &expanded.phases)?;
    bounds::windows(source, &cell.table, &study, &expanded.phases)?;
    let storage = resolve_storages(source, &cell.table, &study, &expanded.phases, world, profiles)?;
    expanded.resolve_amounts(&storage);
    crate::validate::spans::end_within(source, &cell.table, &expanded.phases, &storage)?;
    crate::resolve::scale::shrink(&mut expanded.phases, &storage);
    let has_programs = expanded.phases.iter().any(|phase| !phase.programs.is_empty());
    let engines = resolve_engine(source, &cell.table, &study, has_programs)?;
    let mut run = RunSpec {
        schema_version: RUN_SPEC_VERSION,
        study: name.to_string(),
        world,
        cell: cell.levels.clone(),
        unknown: cell.unknown.clone(),
        repetition: 0,
        seed: study.run.seed,
        start: study.run.start,
        interval: study.run.interval,
        host: resolve_host(source, &cell.table, &study, world, profiles)?,
        database: resolve_database(source, &cell.table, &study, &engines, &expanded.phases, (world, profiles))?,
        engines,
        events: EventContext {
            source,
            table: &cell.table,
            study: &study,
            phases: &expanded.phases,
            storages: &storage,
            has_programs,
        }
        .events(world)?,
        storage,
        phases: expanded.phases,
        rounds: expanded.rounds,
    };
    crate::resolve::standby::stand_in(&mut run);
    crate::validate::spans::hold_blocks(source, &cell.table, &run)?;
    crate::resolve::submissions(source, &cell.table, &run)?;
    if run.world == World::Simulated {
        crate::resolve::arbitration::priorities(source, &cell.table, &study, &run)?;
    }
    if run.world != World::Measured {
        crate::validate::trims::are_taken(source, &cell.table, &run)?;
    }
    programs::check(source, &cell.table, &run)?;
    Ok(Resolved { study, run, has_programs })
}

/// The one phase of a study that writes none.
fn default_phase(source: Source<'_>, table: &Table<'_>, study: &Study) -> Result<Phase, InputError> {
    let Some(duration) = study.run.duration else {
        let message = "a study without phases needs `run.duration`";
        return Err(source.error_at(table, &["run"], InputErrorKind::MissingKey, message));
    };
    let workload = study.uses.workload.clone().unwrap_or_else(|| study.workload.names());
    let until = crate::study::Until { time: Some(duration), ..Default::default() };
    Ok(Phase { workload, over: None, ramp: Time(0), until })
}
