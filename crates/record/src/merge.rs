//! Merge of a stream's job intervals, which arrive in any order, into intervals of the stream.

use crate::interval::IntervalStats;
use std::collections::BTreeMap;
use tameshi_base::Nanos;

/// Intervals that wait until all jobs of their stream have reported them.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    jobs: Vec<u32>,
    pending: BTreeMap<(Nanos, u16), (u32, IntervalStats)>,
}

impl Merger {
    /// Begin a phase with this number of jobs per stream.
    pub(crate) fn begin(&mut self, jobs: Vec<u32>) {
        self.jobs = jobs;
        self.pending.clear();
    }

    /// Add one job's interval; return the stream's when all jobs have reported.
    pub(crate) fn add(&mut self, stats: &IntervalStats) -> Option<IntervalStats> {
        let jobs = self.jobs[stats.stream as usize];
        if jobs == 1 {
            return Some(stats.clone());
        }
        let key = (stats.begin, stats.stream);
        match self.pending.get_mut(&key) {
            Some((reported, whole)) => {
                *reported += 1;
                whole.merge(stats);
            }
            None => {
                self.pending.insert(key, (1, stats.clone()));
            }
        }
        if self.pending[&key].0 == jobs { self.pending.remove(&key).map(|(_, whole)| whole) } else { None }
    }

    /// Incomplete intervals at the phase's end: some jobs ended before them.
    pub(crate) fn drain(&mut self) -> Vec<IntervalStats> {
        std::mem::take(&mut self.pending).into_values().map(|(_, whole)| whole).collect()
    }
}
