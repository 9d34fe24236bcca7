//! The data sets of a run: which tables its programs work on, and where their pages lie.

use super::change_buffer::{BEYOND, PER_PAGE};
use super::layout::{self, Layout};
use super::planner::Planner;
use super::settings::{self, Settings};
use super::undo::Segments;
use super::{Logic, tpcc};
use tameshi_base::Size;
use tameshi_spec::run::RunSpec;
use tameshi_workload::program::{Program, ProgramSpec};

/// The tables of a program that is not at work now.
pub(super) struct DataSet {
    pub(super) of: ProgramSpec,
    pub(super) layout: Layout,
    pub(super) logic: Logic,
}

/// What of a run's database can't be simulated: a sentence each.
pub(crate) fn unsupported(spec: &RunSpec) -> Vec<String> {
    let mut sentences = settings::unsupported(spec);
    if sentences.is_empty() {
        sentences.extend(room_trouble(spec));
    }
    sentences
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
    for drives in spec.phases.iter().flat_map(|phase| &phase.programs) {
        let mut known = std::iter::once(first).chain(sets.iter().map(|set| &set.of));
        if known.all(|known| !settings::same_data(known, drives)) {
            let program = Program::new(drives, seed);
            let behind = sets.last().map_or(layout, |set| &set.layout);
            let layout = behind.beside(&program.catalogue().tables, |table| groups(&program, table));
            sets.push(DataSet { of: drives.clone(), layout, logic: logic(settings, &program) });
        }
    }
    sets
}

/// The pages of a program's tables and of the system, whose change buffer has room for all that it may hold for so many leaves.
fn laid_out(settings: &Settings, program: &Program, leaves: u64) -> (Segments, Layout) {
    let segments = Segments::new(settings.model.undo.as_ref());
    let most = settings.buffered.0.min(leaves * u64::from(settings.buffered.1));
    let system = (segments.pages(), (most.div_ceil(PER_PAGE) + BEYOND) as u32, settings.bitmap);
    (segments, Layout::new(&program.catalogue().tables, system, |table| groups(program, table)))
}

/// Why a storage has no room for the log and the data sets of a run when they are loaded.
fn room_trouble(spec: &RunSpec) -> Option<String> {
    let (settings, storage) = (Settings::new(spec)?, &spec.database.as_ref()?.storage);
    let (bytes, size) = (settings.page_offset(of(spec, &settings)?.pages), spec.storage.get(storage)?.size);
    let bytes = Size(bytes.next_multiple_of(1 << 20));
    (bytes > size).then(|| format!("storage.{storage}.size: {size} are less than the {bytes} of log and data set"))
}

/// The data sets of a run: that of its first program, those of later ones, and the pages of all.
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
    for drives in spec.phases.iter().flat_map(|phase| &phase.programs) {
        if sets.iter().all(|known| !settings::same_data(known, drives)) {
            sets.push(drives);
        }
    }
    sets.into_iter().map(|drives| layout::leaves_of(&Program::new(drives, seed).catalogue().tables).1).sum()
}
