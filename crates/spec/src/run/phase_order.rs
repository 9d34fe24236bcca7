//! Schedule of a run, from its phases and rounds.

use crate::run::RunSpec;
use tameshi_workload::schedule::{Repeated, Schedule};

impl RunSpec {
    /// Order of the run's phases.
    pub fn schedule(&self) -> Schedule {
        let repeated = self.rounds.iter().map(|rounds| Repeated {
            phases: rounds.range(),
            max_rounds: rounds.most(),
            tracked: rounds.tracked.iter().map(|&phase| phase as usize).collect(),
            steady: rounds.steady.map(|rule| (rule, rounds.subjects(&self.phases))),
        });
        Schedule::new(self.phases.len(), repeated.collect())
    }
}
