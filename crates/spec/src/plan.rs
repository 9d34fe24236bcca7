//! From a study's text to the runs it asks for: a pure function, so that resuming is planning again.

use crate::arrays::write_out;
use crate::axes::{AxisTable, Combination, combinations, take_axes, take_quick};
use crate::bounds;
use crate::check;
use crate::document::{Source, Table, merge};
use crate::effects;
use crate::extent::{storage_bytes, time_at_most, written_at_most};
use crate::happenings::Stage;
use crate::phases::expand;
use crate::profiles::Profiles;
use crate::resolve::{resolve_database, resolve_engine, resolve_host, resolve_storages, unsupported};
use crate::run::{RUN_SPEC_VERSION, RunSpec, World};
use crate::search::{self, CellRates};
use crate::sequence;
use crate::study::{Phase, Study, Varies};
use crate::summary::{Summary, summarise};
use crate::{programs, published};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::random::derived_seed;
use tameshi_base::{InputError, InputErrorKind, Time};

/// What the planner is asked.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Where the runs are to happen.
    pub world: World,
    /// Whether the study's `quick` part is merged in.
    pub quick: bool,
    /// The rates of a search so far, by cell.
    #[serde(default)]
    pub rates: Vec<CellRates>,
}

/// A study, planned for one world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the study is about.
    pub study: Summary,
    /// Every run, in the order in which they are to be made.
    pub runs: Vec<RunSpec>,
    /// Nanoseconds that the runs take by their phases' limits, or null where a phase has no limit in time.
    pub time_ns_at_most: Option<u64>,
    /// Bytes that the runs write at most, laying out the targets apart; null where a phase has no limit.
    pub bytes_written_at_most: Option<u64>,
    /// Bytes that each storage needs.
    pub storage_bytes: IndexMap<String, u64>,
}

/// Plans every run of a study in one world.
///
/// # Errors
/// At the first thing in the study, or in a profile it names, that can't be.
pub fn plan<'t>(name: &str, source: Source<'t>, request: &Request, profiles: &'t Profiles) -> Result<Plan, InputError> {
    let mut document = source.parse()?;
    let quick = take_quick(source, &mut document)?;
    if let Some(quick) = &quick {
        effects::of_quick(source, &document, quick)?;
    }
    let quick = quick.filter(|_| request.quick);
    if let Some(quick) = &quick {
        merge(&mut document, quick);
    }
    let with_axes = document.clone();
    let axes = take_axes(source, &mut document)?;
    bounds::combinations(source, &with_axes, &axes)?;
    effects::are_there(source, &document, &axes)?;
    let of_kind = |varies| axes.iter().filter(|axis| axis.varies == varies).collect::<Vec<_>>();
    let (across, within) = (of_kind(Varies::Across), of_kind(Varies::Within));
    let mut cells = combinations(&document, &across);
    let mut resolved = Vec::new();
    for cell in &mut cells {
        write_out(source, &mut cell.table, profiles)?;
        let found = resolve_cell(name, source, cell, &within, request.world, profiles);
        resolved.push(found.map_err(|error| in_cell(source, error, cell))?);
    }
    let tables = cells.iter().map(|cell| &cell.table);
    sequence::may_happen(source, &tables.zip(resolved.iter().map(|(_, run)| run)).collect::<Vec<_>>())?;
    let (study, _) = resolved.first().expect("a product of non-empty axes has a combination");
    let mut summary = Summary { quick: quick.is_some(), ..summarise(name, study, &axes) };
    if quick.is_some() {
        // The quick part may have other levels: figures of cells that it leaves out are left out.
        let Summary { axes, published, answer, .. } = &mut summary;
        let known = |name: &String, level: &String| axes.iter().any(|a| a.name == *name && a.levels.contains(level));
        published.retain(|figure| figure.cell.iter().all(|(axis, level)| known(axis, &level.0)));
        for (axis, pairs) in answer.iter_mut().flat_map(|answer| &mut answer.levels) {
            pairs.retain(|level, base| known(axis, level) && known(axis, &base.0));
        }
    }
    effects::are_used(source, &axes, &document, resolved.iter().map(|resolved| &resolved.1))?;
    let runs = resolved.iter().map(|resolved| &resolved.1);
    published::check(source, &document, &study.published, &summary, runs)?;
    check::answer(source, &document, &summary, resolved.iter().map(|resolved| &resolved.1))?;
    if let Some(searched) = study.search.clone() {
        search::check(source, &document, study, &resolved[0].1, &summary.axes)?;
        summary.axes.extend(search::axis(&request.rates));
        resolved = resolved
            .iter()
            .flat_map(|(study, run)| {
                search::runs_of(&searched, run, &request.rates).into_iter().map(|run| (study.clone(), run))
            })
            .collect();
    }
    let count = resolved.iter().map(|(study, _)| u64::from(study.run.repetitions)).sum();
    bounds::runs(source, &document, resolved.len() as u64, count)?;
    let runs: Vec<RunSpec> = repetitions(&resolved).collect();
    Ok(Plan {
        study: summary,
        time_ns_at_most: runs.iter().map(time_at_most).sum(),
        bytes_written_at_most: runs.iter().map(written_at_most).sum(),
        storage_bytes: storage_bytes(&runs),
        runs,
    })
}

/// What does not go together in the study may do so at other levels of its axes: the error tells at which it does not.
fn in_cell(source: Source<'_>, mut error: InputError, cell: &Combination<'_>) -> InputError {
    if error.kind == InputErrorKind::Conflict && error.file == source.file && !cell.levels.is_empty() {
        let levels: Vec<String> = cell.levels.iter().map(|(axis, level)| format!("{axis} = {level}")).collect();
        error.message += &format!(" (at {})", levels.join(", "));
    }
    error
}

/// Repetition by repetition, so that an interrupted study has every cell before it has any twice.
fn repetitions(resolved: &[(Study, RunSpec)]) -> impl Iterator<Item = RunSpec> + '_ {
    let most = resolved.iter().map(|(study, _)| study.run.repetitions).max().unwrap_or(0);
    (0..most).flat_map(move |repetition| {
        resolved.iter().filter(move |(study, _)| repetition < study.run.repetitions).map(move |(study, run)| RunSpec {
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
    world: World,
    profiles: &Profiles,
) -> Result<(Study, RunSpec), InputError> {
    let mut study: Study = source.typed(&cell.table)?;
    check::study(source, &cell.table, &study)?;
    if study.phase.is_empty() {
        study.phase.insert("run".into(), default_phase(source, &cell.table, &study)?);
    }
    let mut expanded = expand(source, cell, &study, within)?;
    bounds::intervals(source, &cell.table, &study, &expanded.phases)?;
    bounds::windows(source, &cell.table, &study, &expanded.phases)?;
    let storage = resolve_storages(source, &cell.table, &study, &expanded.phases, world, profiles)?;
    expanded.resolve_amounts(&storage);
    crate::spans::end_within(source, &cell.table, &expanded.phases, &storage)?;
    crate::scale::shrink(&mut expanded.phases, &storage);
    let has_programs = expanded.phases.iter().any(|phase| !phase.programs.is_empty());
    let engines = resolve_engine(source, &cell.table, &study, has_programs)?;
    let run = RunSpec {
        schema_version: RUN_SPEC_VERSION,
        study: name.to_string(),
        world,
        cell: cell.levels.clone(),
        repetition: 0,
        seed: study.run.seed,
        start: study.run.start,
        interval: study.run.interval,
        host: resolve_host(source, &cell.table, &study, world, profiles)?,
        database: resolve_database(source, &cell.table, &study, &engines, &expanded.phases, (world, profiles))?,
        engines,
        events: Stage {
            source,
            table: &cell.table,
            study: &study,
            phases: &expanded.phases,
            storages: &storage,
            has_programs,
        }
        .events(world)?,
        storage,
        unsupported: unsupported(&study, world, has_programs),
        phases: expanded.phases,
        rounds: expanded.rounds,
    };
    crate::spans::hold_blocks(source, &cell.table, &run)?;
    crate::resolve::submissions(source, &cell.table, &run)?;
    if run.world == World::Simulated {
        crate::arbitration::priorities(source, &cell.table, &study, &run)?;
        crate::trims::are_taken(source, &cell.table, &run)?;
    }
    programs::check(source, &cell.table, &run)?;
    Ok((study, run))
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
