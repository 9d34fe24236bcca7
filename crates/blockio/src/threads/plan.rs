//! Thread plan of a run: one thread per concurrent job of a storage, for the whole run.

use crate::io::backend::SelectedBackend;
use crate::target::Target;
use std::collections::BTreeSet;
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::spec::{Access, Submission};
use tameshi_workload::{Arrivals, Donor, StreamSpec};

/// Planned thread.
#[derive(Debug)]
pub(crate) struct PlannedThread {
    pub(crate) storage: String,
    /// True if requests go through the page cache.
    pub(crate) buffered: bool,
    /// Donor whose extents its requests move, if any.
    pub(crate) donor: Option<Donor>,
    pub(crate) chosen: SelectedBackend,
    /// True if the thread itself performs its requests, one at a time.
    pub(crate) in_place: bool,
    /// True if it polls for completions.
    pub(crate) polled: bool,
    /// Processors that it is bound to, if any.
    pub(crate) processors: Option<Vec<u32>>,
    /// Most requests in flight.
    pub(crate) slots: u32,
    /// Longest request in bytes.
    pub(crate) longest_bytes: u64,
    /// Streams that it has a job of, and their names.
    pub(crate) streams: Vec<StreamSpec>,
    pub(crate) names: BTreeSet<String>,
}

/// Threads of a run.
#[derive(Debug, Default)]
pub(crate) struct ThreadPlan {
    pub(crate) threads: Vec<PlannedThread>,
    /// Thread per job of each stream, in their order, per phase.
    pub(crate) job_threads: Vec<Vec<usize>>,
}

/// Backend of a stream: the run's choice, unless the stream asks otherwise. io_uring can't discard
/// a block device's range.
pub(crate) fn backend_of(stream: &StreamSpec, target: Option<&Target>, chosen: SelectedBackend) -> SelectedBackend {
    match stream.submission {
        _ if stream.call.is_some() && chosen != SelectedBackend::Null => SelectedBackend::Portable,
        Submission::PlainCalls => SelectedBackend::Portable,
        Submission::Auto if stream.trims() && target.is_some_and(Target::is_block_device) => SelectedBackend::Portable,
        Submission::Auto | Submission::IoUring | Submission::IoUringPolled => chosen,
    }
}

impl ThreadPlan {
    /// Plan the threads for all phases of `spec`; `chosen` gives the backend of each stream.
    pub(crate) fn of(spec: &RunSpec, chosen: impl Fn(&PhaseStream) -> SelectedBackend) -> Self {
        let mut plan = Self::default();
        for phase in &spec.phases {
            let (mut job_threads, mut taken) = (Vec::new(), Vec::new());
            for stream in &phase.streams {
                let chosen = chosen(stream);
                for _ in 0..stream.stream.jobs {
                    let thread = plan.free_thread(stream, chosen, &mut taken);
                    plan.threads[thread].add_stream(stream);
                    job_threads.push(thread);
                }
            }
            plan.job_threads.push(job_threads);
        }
        let repeated = spec.phases.len() > 1 || !spec.rounds.is_empty();
        plan.threads.iter_mut().for_each(|thread| thread.reserve_slots(repeated));
        plan
    }

    /// Return a thread for a job that is not `taken`; add one if there is none.
    fn free_thread(&mut self, stream: &PhaseStream, chosen: SelectedBackend, taken: &mut Vec<bool>) -> usize {
        let in_place = chosen == SelectedBackend::Portable && stream.stream.most_outstanding() == 1;
        let polled = stream.stream.submission == Submission::IoUringPolled;
        let buffered = stream.stream.access == Access::Buffered;
        let fits = |thread: &PlannedThread| {
            (thread.storage.as_str(), thread.chosen, thread.in_place) == (stream.storage.as_str(), chosen, in_place)
                && (thread.buffered, &thread.donor) == (buffered, &stream.stream.donor)
                && (thread.polled, &thread.processors) == (polled, &stream.stream.processors)
        };
        taken.resize(self.threads.len(), false);
        let free = (0..self.threads.len()).find(|&thread| !taken[thread] && fits(&self.threads[thread]));
        let thread = free.unwrap_or_else(|| {
            taken.push(false);
            self.threads.push(PlannedThread {
                storage: stream.storage.clone(),
                buffered,
                donor: stream.stream.donor.clone(),
                chosen,
                in_place,
                polled,
                processors: stream.stream.processors.clone(),
                slots: 0,
                longest_bytes: 0,
                streams: Vec::new(),
                names: BTreeSet::new(),
            });
            self.threads.len() - 1
        });
        taken[thread] = true;
        thread
    }
}

impl PlannedThread {
    fn add_stream(&mut self, stream: &PhaseStream) {
        self.longest_bytes = self.longest_bytes.max(stream.stream.longest_command().0);
        if !self.streams.contains(&stream.stream) {
            self.streams.push(stream.stream.clone());
        }
        self.names.insert(stream.name.clone());
    }

    /// Reserve slots. If phases follow one another, open-loop arrivals need slots in addition to
    /// requests still in flight.
    fn reserve_slots(&mut self, repeated: bool) {
        let most = |open: bool| {
            let of = self.streams.iter().filter(|stream| !open || stream.arrivals != Arrivals::Closed);
            of.map(StreamSpec::most_outstanding).max().unwrap_or(0)
        };
        let open_loop = if repeated && !self.in_place { most(true) } else { 0 };
        self.slots = most(false).saturating_add(open_loop).max(1);
    }
}
