//! Names that figures, answers and axes may use: phases, subjects and storages of all runs.

use crate::run::RunSpec;
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;
use tameshi_workload::program::{Program, ProgramSpec};

/// Subjects with figures besides a program's.
const AROUND_PROGRAMS: [&str; 3] = ["server", "client", "disk"];

/// Names in the runs of a study, gathered run by run.
#[derive(Default)]
pub(crate) struct Names {
    phases: IndexSet<String>,
    streams: IndexSet<String>,
    /// Programs by their word in studies, as the last run has them.
    programs: IndexMap<String, ProgramSpec>,
    storages: BTreeSet<String>,
}

impl Names {
    /// Add the names of a run.
    pub(crate) fn add(&mut self, run: &RunSpec) {
        for phase in &run.phases {
            keep(&mut self.phases, &phase.name);
            phase.streams.iter().for_each(|stream| keep(&mut self.streams, &stream.name));
            for program in &phase.programs {
                if self.programs.get(program.word()) != Some(program) {
                    self.programs.insert(program.word().to_string(), program.clone());
                }
            }
        }
        for name in run.storage.keys() {
            if !self.storages.contains(name) {
                self.storages.insert(name.clone());
            }
        }
    }

    /// Names of all phases, in the order in which runs have them.
    pub(crate) fn phases(&self) -> Vec<String> {
        self.phases.iter().cloned().collect()
    }

    /// Subjects that estimates of the runs may have.
    pub(crate) fn subjects(&self) -> Vec<String> {
        let mut subjects = self.streams.clone();
        for (word, program) in &self.programs {
            subjects.insert(word.clone());
            subjects.extend(Program::new(program, 0).kinds(word));
        }
        if !self.programs.is_empty() {
            subjects.extend(AROUND_PROGRAMS.map(str::to_string));
        }
        subjects.into_iter().collect()
    }

    /// Streams, words of programs, and storages, each sorted.
    pub(crate) fn used(&self) -> [BTreeSet<String>; 3] {
        let (streams, programs) = (self.streams.iter().cloned(), self.programs.keys().cloned());
        [streams.collect(), programs.collect(), self.storages.clone()]
    }
}

fn keep(names: &mut IndexSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_string());
    }
}
