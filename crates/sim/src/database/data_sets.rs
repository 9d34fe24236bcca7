//! Data sets of a run: the tables of its programs, and the places of their pages.

use super::change_buffer::{BEYOND, PER_PAGE};
use super::layout::{self, Layout};
use super::planner::Planner;
use super::settings::Settings;
use super::tpcc;
use super::undo_log::Segments;
use super::validation;
use tameshi_base::Size;
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::RunSpec;
use tameshi_workload::program::{Program, ProgramSpec};

/// Planner of a program's statements.
#[derive(Debug)]
pub(super) enum Logic {
    Plain(Planner),
    Tpcc(Box<tpcc::State>),
}

/// The tables of a program that is not at work now.
pub(super) struct DataSet {
    pub(super) spec: ProgramSpec,
    pub(super) layout: Layout,
    pub(super) logic: Logic,
}

/// Refusals of a run's database.
pub(crate) fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    let mut refusals = validation::refusals(spec);
    if refusals.is_empty() {
        refusals.extend(refused_size(spec));
    }
    refusals
}

fn groups(program: &Program, table: usize) -> u64 {
    match program {
        Program::Tpcc(of) => tpcc::groups(of, table),
        _ => 1,
    }
}

pub(super) fn logic(settings: &Settings, program: &Program) -> Logic {
    match program {
        Program::Tpcc(of) => Logic::Tpcc(Box::new(tpcc::State::new(of, settings.model.row_locks.is_some()))),
        _ => Logic::Plain(Planner::new(program.catalogue())),
    }
}

/// Data sets of later phases whose programs work on other tables than the first.
fn other_data_sets(spec: &RunSpec, settings: &Settings, first: &ProgramSpec, layout: &Layout) -> Vec<DataSet> {
    let seed = spec.database.as_ref().map_or(0, |database| database.seed);
    let mut sets: Vec<DataSet> = Vec::new();
    for program_spec in spec.phases.iter().flat_map(|phase| &phase.programs) {
        let mut known = std::iter::once(first).chain(sets.iter().map(|set| &set.spec));
        if known.all(|known| !validation::same_data(known, program_spec)) {
            let program = Program::new(program_spec, seed);
            let last = sets.last().map_or(layout, |set| &set.layout);
            let layout = last.next_to(&program.catalogue().tables, |table| groups(&program, table));
            sets.push(DataSet { spec: program_spec.clone(), layout, logic: logic(settings, &program) });
        }
    }
    sets
}

/// Lay out the pages of a program's tables and of the system. The change buffer has room for all
/// changes that it may hold for `leaves`.
fn laid_out(settings: &Settings, program: &Program, leaves: u64) -> (Segments, Layout) {
    let segments = Segments::new(settings.model.undo.as_ref());
    let most = settings.change_buffer.most.min(leaves * u64::from(settings.change_buffer.per_leaf));
    let system = (segments.pages(), (most.div_ceil(PER_PAGE) + BEYOND) as u32, settings.change_buffer.bitmap);
    let layout = Layout::new(&program.catalogue().tables, system, |table| groups(program, table));
    (segments.placed_at(layout.undo.0), layout)
}

/// Refusal of a storage without room for the log and the loaded data sets of a run.
fn refused_size(spec: &RunSpec) -> Option<Refusal> {
    let (settings, storage) = (Settings::new(spec)?, &spec.database.as_ref()?.storage);
    let (bytes, size) = (settings.page_offset(of(spec, &settings)?.pages), spec.storage.get(storage)?.size);
    let bytes = Size(bytes.next_multiple_of(1 << 20));
    let logs = if settings.binlog.is_some_and(|binlog| binlog.with_data) { "logs" } else { "log" };
    let message = format!("{size} are less than the {bytes} of {logs} and data set");
    (bytes > size).then(|| Refusal::new("data_set_size", &["storage", storage, "size"], message))
}

/// Data sets of a run: that of its first program, those of later ones, and the pages of all.
pub(super) struct DataSets {
    pub(super) program: Program,
    pub(super) segments: Segments,
    pub(super) layout: Layout,
    pub(super) idle: Vec<DataSet>,
    pub(super) pages: u32,
}

pub(super) fn of(spec: &RunSpec, settings: &Settings) -> Option<DataSets> {
    let seed = spec.database.as_ref()?.seed;
    let first = spec.phases.iter().flat_map(|phase| &phase.programs).next()?;
    let program = Program::new(first, seed);
    let (segments, layout) = laid_out(settings, &program, secondary_leaves(spec, seed));
    let idle = other_data_sets(spec, settings, first, &layout);
    let pages = idle.last().map_or(layout.next, |set| set.layout.next);
    Some(DataSets { program, segments, layout, idle, pages })
}

/// Leaves of secondary indexes in all data sets of a run.
fn secondary_leaves(spec: &RunSpec, seed: u64) -> u64 {
    let mut sets: Vec<&ProgramSpec> = Vec::new();
    for program_spec in spec.phases.iter().flat_map(|phase| &phase.programs) {
        if sets.iter().all(|known| !validation::same_data(known, program_spec)) {
            sets.push(program_spec);
        }
    }
    sets.into_iter().map(|spec| layout::leaves_of(&Program::new(spec, seed).catalogue().tables).1).sum()
}
