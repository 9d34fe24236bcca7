//! Planner: a pure function from a study's text to its runs. Resuming a study is planning it again.

pub(crate) mod budget;
pub mod search;

use crate::plan::budget::{storage_bytes, time_at_most, written_at_most};
use crate::profile::catalog::Profiles;
use crate::refusal::{CellTables, LocatedRefusal, WorldCheck, of_study};
use crate::resolve::arrays::write_out;
use crate::resolve::phases::expand;
use crate::resolve::{resolve_database, resolve_engine, resolve_host, resolve_storages};
use crate::run::{RUN_SPEC_VERSION, RunSpec, World};
use crate::study::summary::{Summary, summarise};
use crate::study::{Mode, Phase, Study, Varies};
use crate::toml::axes::{
    AxisTable, Combination, UnknownTable, own_names, take_axes, take_quick, take_unknowns, with_unknowns,
};
use crate::toml::document::{Source, Table, merge};
use crate::validate::answer as answers;
use crate::validate::bounds;
use crate::validate::event_order;
use crate::validate::events::EventContext;
use crate::validate::unused_overlays;
use crate::validate::values;
use crate::validate::{programs, published};
use indexmap::IndexMap;
use schemars::JsonSchema;
use search::CellRates;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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
}

impl Request {
    /// A request for the whole study in one world.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self { world, quick: false, rates: Vec::new(), exact: false, bound_events: Vec::new(), cells: None }
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
struct Resolved {
    study: Study,
    run: RunSpec,
    has_programs: bool,
}

impl Resolved {
    /// Runs of this cell: one where an unknown setting is tried, compared with its pair.
    fn repetitions(&self) -> u32 {
        if self.run.unknown.is_empty() { self.study.run.repetitions } else { 1 }
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
    bounds::combinations(source, &with_axes, &axes, tried)?;
    let overlays: Vec<_> = axes.iter().chain(unknowns.iter().map(|unknown| &unknown.axis)).cloned().collect();
    unused_overlays::are_there(source, &document, &overlays)?;
    let of_kind = |varies| axes.iter().filter(|axis| axis.varies == varies).collect::<Vec<_>>();
    let (across, within) = (of_kind(Varies::Across), of_kind(Varies::Within));
    let mut cells = with_unknowns(&document, &across, tried);
    let mut resolved = Vec::new();
    for cell in &mut cells {
        write_out(source, &mut cell.table, profiles)?;
        let found = resolve_cell(name, source, cell, &within, request, profiles);
        resolved.push(found.map_err(|error| in_cell(source, error, cell))?);
    }
    let mut summary = check_cells(name, (source, &document), (&axes, &unknowns), &cells, &resolved, quick.is_some())?;
    unused_overlays::are_used(source, &overlays, &document, resolved.iter().map(|cell| &cell.run))?;
    if summary.search.is_some() {
        summary.axes.extend(search::axis(&request.rates));
    }
    let runs = at_rates(resolved, &request.rates);
    let count = runs.iter().map(|(_, resolved)| u64::from(resolved.repetitions())).sum();
    bounds::runs(source, &document, runs.len() as u64, count)?;
    let runs: Vec<_> = runs.into_iter().filter(|(_, resolved)| request.wants(&resolved.run.cell)).collect();
    let refusals = refusals(source, request, &cells, &within, &runs, check);
    let runs: Vec<RunSpec> = repetitions(&runs).collect();
    Ok(Plan {
        study: summary,
        refusals,
        time_ns_at_most: runs.iter().map(time_at_most).sum(),
        bytes_written_at_most: runs.iter().map(written_at_most).sum(),
        storage_bytes: storage_bytes(&runs),
        runs,
    })
}

/// Check all cells together, and summarise the study.
fn check_cells(
    name: &str,
    (source, document): (Source<'_>, &Table<'_>),
    (axes, unknowns): (&[AxisTable<'_>], &[UnknownTable<'_>]),
    cells: &[Combination<'_>],
    resolved: &[Resolved],
    with_quick: bool,
) -> Result<Summary, InputError> {
    let runs = || resolved.iter().map(|cell| &cell.run);
    let tables = cells.iter().map(|cell| &cell.table);
    event_order::may_happen(source, &tables.zip(runs()).collect::<Vec<_>>())?;
    let study = &resolved.first().expect("a product of non-empty axes has a combination").study;
    let mut summary = Summary { quick: with_quick, ..summarise(name, study, axes, unknowns) };
    // The quick part may replace levels: figures and answers of absent levels are left out.
    let Summary { axes: known, published, answer, .. } = &mut summary;
    let known = |name: &String, level: &String| known.iter().any(|a| a.name == *name && a.levels.contains(level));
    if with_quick {
        published.retain(|figure| figure.cell.iter().all(|(axis, level)| known(axis, &level.0)));
        for answer in answer.iter_mut() {
            for (axis, pairs) in &mut answer.levels {
                pairs.retain(|level, base| known(axis, level) && known(axis, &base.0));
            }
            answer.table.retain(|table| table.at.iter().chain(&table.base).all(|(axis, level)| known(axis, &level.0)));
        }
    }
    published::check(source, document, &study.published, &summary, runs())?;
    answers::check(source, document, &summary, runs())?;
    if study.search.is_some() {
        search::check(source, document, study, &resolved[0].run, &summary)?;
    }
    Ok(summary)
}

/// The runs of each cell at the rates of its search, if there is one; each with the index of its
/// cell.
fn at_rates(resolved: Vec<Resolved>, rates: &[CellRates]) -> Vec<(usize, Resolved)> {
    let of_cell = |(cell, resolved): (usize, Resolved)| {
        let runs = match &resolved.study.search {
            Some(search) => search::runs_of(search, &resolved.run, rates),
            None => vec![resolved.run.clone()],
        };
        runs.into_iter().map(move |run| (cell, Resolved { run, study: resolved.study.clone(), ..resolved }))
    };
    resolved.into_iter().enumerate().flat_map(of_cell).collect()
}

/// Refusals of the runs: each once, at its place in the first cell that has it.
fn refusals(
    source: Source<'_>,
    request: &Request,
    cells: &[Combination<'_>],
    within: &[&AxisTable<'_>],
    runs: &[(usize, Resolved)],
    check: WorldCheck<'_>,
) -> Vec<LocatedRefusal> {
    let (mut seen, mut located) = (BTreeSet::new(), Vec::new());
    for (cell, Resolved { study, run, has_programs }) in runs {
        let of_study = of_study(study, request.world, *has_programs, &request.bound_events);
        for refusal in of_study.into_iter().chain(check(run)) {
            if seen.contains(&refusal) {
                continue;
            }
            let within = within.iter().flat_map(|axis| &axis.levels).map(|(_, level)| level).collect();
            let tables = CellTables { table: &cells[*cell].table, within };
            located.push(tables.locate(source, request.world, &refusal));
            seen.insert(refusal);
        }
    }
    located
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
fn repetitions(runs: &[(usize, Resolved)]) -> impl Iterator<Item = RunSpec> + '_ {
    let most = runs.iter().map(|(_, resolved)| resolved.repetitions()).max().unwrap_or(0);
    (0..most).flat_map(move |repetition| {
        let repeated = runs.iter().filter(move |(_, resolved)| repetition < resolved.repetitions());
        repeated.map(move |(_, Resolved { study, run, .. })| RunSpec {
            repetition,
            seed: derived_seed(study.run.seed, &format!("repetition/{repetition}")),
            ..run.clone()
        })
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
    let run = RunSpec {
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
