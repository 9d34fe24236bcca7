//! Who works in a phase, and where each job begins.

use crate::kernel::device_map::device_map;
use crate::kernel::job_table::{JobSlot, JobTable};
use tameshi_base::Nanos;
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::{Arrivals, Job, Paces, Placement};

/// The jobs of a phase take their seats.
pub(crate) fn start_jobs(spec: &RunSpec, phase: &PhaseSpec, begin: Nanos, round: Option<u32>, seats: &mut JobTable) {
    let (places, paces) = (device_map(spec), Paces::new(phase.streams.iter().map(|stream| &stream.stream)));
    seats.begin(places.len());
    for (number, stream) in phase.streams.iter().enumerate() {
        let storage = spec.storage.get_index_of(&stream.storage);
        let storage = storage.expect("the spec was checked: the storage is there");
        let (device, base_bytes) = places[storage];
        let name = phase.random_name(stream, round);
        for job in 0..stream.stream.jobs {
            let place = Placement {
                stream: number as u16,
                job,
                storage_bytes: spec.storage[storage].size.0,
                begin,
                budget_bytes: phase.budget_bytes_per_job(&stream.stream),
                seed: spec.seed,
                name: &name,
            };
            let started = Job::new(&stream.stream, place).paced(paces.of(number));
            let open_loop = stream.stream.arrivals != Arrivals::Closed;
            let seat =
                JobSlot { job: started, number: job, stream: place.stream, storage, device, base_bytes, open_loop };
            seats.take(seat, stream.stream.most_outstanding());
        }
    }
}
