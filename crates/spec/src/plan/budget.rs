//! Upper bounds on time, bytes written and storage of runs.

use crate::run::{PhaseSpec, PhaseStream, RunSpec};
use indexmap::IndexMap;
use tameshi_workload::StreamSpec;

/// Each phase of a run, as often as it is run at most.
fn visits(run: &RunSpec) -> impl Iterator<Item = (&PhaseSpec, u64)> {
    run.phases.iter().enumerate().map(|(index, phase)| (phase, u64::from(run.times_at_most(index))))
}

/// Nanoseconds that a run takes by its phases' limits.
pub(crate) fn time_at_most(run: &RunSpec) -> Option<u64> {
    visits(run).map(|(phase, times)| Some(phase.until.time_at_most(phase.ramp)?.0 * times)).sum()
}

/// Bytes that a run writes by its phases' limits.
pub(crate) fn written_at_most(run: &RunSpec) -> Option<u64> {
    visits(run).map(|(phase, times)| Some(written_in_phase(phase)? * times)).sum()
}

/// Upper bound on bytes written in a phase: of each stream its amount, or its open-loop requests
/// in the phase's time.
fn written_in_phase(phase: &PhaseSpec) -> Option<u64> {
    if !phase.programs.is_empty() {
        return None;
    }
    let time = phase.until.time_at_most(phase.ramp);
    let by_time = |of: &StreamSpec| {
        let requests = u128::from(of.arrivals.requests_within(time?.0, of.duty)?);
        let written_ppm = u128::from(of.written().0);
        Some((requests * u128::from(of.mean_start_bytes()) * written_ppm).div_ceil(1_000_000) as u64)
    };
    let by_amount = |of: &StreamSpec| {
        let per_job = phase.budget_bytes_per_job(of)?;
        // The amount of an LSM tree counts its journal only.
        let times = of.lsm.map_or(1, |tree| 1 + u64::from(tree.levels));
        let of_job = if of.is_mixed() {
            // The last request may begin one byte before the budget's end.
            per_job - 1 + of.longest().0
        } else {
            per_job.next_multiple_of(of.mean_start_bytes() / times)
        };
        Some(of_job * times * u64::from(of.jobs))
    };
    let of_stream = |stream: &PhaseStream| match &stream.stream {
        of if of.written().0 == 0 => Some(0),
        of => by_time(of).into_iter().chain(by_amount(of)).min(),
    };
    phase.streams.iter().map(of_stream).sum()
}

/// Bounds over all runs, added up run by run.
pub(crate) struct Budget {
    pub(crate) time_ns: Option<u64>,
    pub(crate) written_bytes: Option<u64>,
    /// Size that each storage needs.
    pub(crate) storage_bytes: IndexMap<String, u64>,
}

impl Budget {
    /// Without any run.
    pub(crate) fn new() -> Self {
        Self { time_ns: Some(0), written_bytes: Some(0), storage_bytes: IndexMap::new() }
    }

    /// Add a run that is repeated `times` times.
    pub(crate) fn add(&mut self, run: &RunSpec, times: u64) {
        let added = |sum: Option<u64>, of: Option<u64>| Some(sum?.saturating_add(of?.saturating_mul(times)));
        self.time_ns = added(self.time_ns, time_at_most(run));
        self.written_bytes = added(self.written_bytes, written_at_most(run));
        for (name, storage) in &run.storage {
            let most = self.storage_bytes.entry(name.clone()).or_insert(0);
            *most = storage.size.0.max(*most);
        }
    }
}
