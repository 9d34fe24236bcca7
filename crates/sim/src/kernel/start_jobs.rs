//! Start of a phase's jobs.

use super::device_map::device_map;
use super::job_table::{JobSlot, JobTable};
use tameshi_base::Nanos;
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::{Arrivals, Job, Paces, Placement};

/// Add the jobs of a phase, or of its visit in a round, to the table.
pub(super) fn start_jobs(spec: &RunSpec, phase: &PhaseSpec, begin: Nanos, round: Option<u32>, jobs: &mut JobTable) {
    let map = device_map(spec);
    let paces = Paces::new(phase.streams.iter().map(|stream| &stream.stream));
    jobs.begin(map.len());
    for (number, stream) in phase.streams.iter().enumerate() {
        let storage = spec.storage.get_index_of(&stream.storage);
        let storage = storage.expect("validation has found the storage of each stream");
        let (device, base_bytes) = map[storage];
        let name = phase.random_name(stream, round);
        for job in 0..stream.stream.jobs {
            let placement = Placement {
                stream: number as u16,
                job,
                storage_bytes: spec.storage[storage].size.0,
                begin,
                budget_bytes: phase.budget_bytes_per_job(&stream.stream),
                seed: spec.seed,
                name: &name,
            };
            let slot = JobSlot {
                job: Job::new(&stream.stream, placement).paced(paces.of(number)),
                number: job,
                stream: placement.stream,
                storage,
                device,
                base_bytes,
                open_loop: stream.stream.arrivals != Arrivals::Closed,
            };
            jobs.add(slot, stream.stream.most_outstanding());
        }
    }
}
