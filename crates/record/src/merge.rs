//! Joins the intervals of a stream's jobs, which arrive in any order, into intervals of the stream.

use crate::interval::IntervalStats;
use std::collections::BTreeMap;
use tameshi_base::Nanos;

/// Waits for each interval until all jobs of its stream have reported it.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    jobs: Vec<u32>,
    pending: BTreeMap<(Nanos, u16), (u32, IntervalStats)>,
}

impl Merger {
    /// A phase begins whose streams have so many jobs each.
    pub(crate) fn begin(&mut self, jobs: Vec<u32>) {
        self.jobs = jobs;
        self.pending.clear();
    }

    /// Takes one job's interval; returns the stream's when it is whole.
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

    /// What is left at the phase's end: intervals that some jobs did not live to see.
    pub(crate) fn drain(&mut self) -> Vec<IntervalStats> {
        std::mem::take(&mut self.pending).into_values().map(|(_, whole)| whole).collect()
    }
}
