//! Load threads of a run, and their assignments per phase.

pub(crate) mod affinity;
pub(crate) mod driver;
pub(crate) mod handover;
pub(crate) mod message;
pub(crate) mod plan;
pub(crate) mod recorder;
#[cfg(test)]
mod scripted;
pub(crate) mod worker;

use crate::arena::Arena;
use crate::clock::Monotonic;
use crate::error::BlockError;
use crate::files::Donor;
use crate::rounds::rounds_in;
use crate::target::Target;
use crate::threads::driver::{EndSignal, JobContext};
use crate::threads::handover::{Assignment, Handover, PhaseStart};
use crate::threads::message::Message;
use crate::threads::plan::ThreadPlan;
use crate::threads::worker::{Channels, Task, WorkerSetup, run_worker};
use crate::verify::{VerifyCounts, VerifyState};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use tameshi_base::Nanos;
use tameshi_record::IntervalStats;
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::schedule::Step;
use tameshi_workload::spec::Verify;
use tameshi_workload::{Arrivals, Paces, StreamSpec};

/// Time from the first assignment to the run's start, and from one phase to an open-loop one: long
/// enough to wake all threads.
pub(crate) const LEAD: Nanos = 300_000;

/// Facts that all phases of a run share.
pub(crate) struct RunContext<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) targets: Vec<(String, Target)>,
    pub(crate) plan: ThreadPlan,
    /// Verification state per storage that streams verify.
    pub(crate) verify_states: BTreeMap<String, Arc<VerifyState>>,
}

/// Load threads, as seen by the thread that writes the record.
pub(crate) struct Threads {
    pub(crate) messages: Receiver<Message>,
    /// Empty if there is no further phase.
    assignments: Vec<Sender<Assignment<Box<Task>>>>,
    returns: Vec<Sender<Box<IntervalStats>>>,
    running: Vec<bool>,
    /// Phases that each thread has worked in.
    phases_of: Vec<u32>,
    halt: Arc<AtomicBool>,
}

/// One phase in execution.
pub(crate) struct PhaseRun {
    pub(crate) step: Step,
    pub(crate) start: Arc<PhaseStart>,
    pub(crate) handover: Arc<Handover>,
    /// End signal per stream, which its jobs poll.
    pub(crate) end_signals: Vec<Arc<EndSignal>>,
    /// Threads that work in the phase, with the phase's number among those of each thread.
    pub(crate) threads: BTreeMap<usize, u32>,
    /// True if some of its threads may have to drain before the next phase begins.
    pub(crate) may_drain: bool,
    /// Counts of its verifying streams; absent if none verifies.
    pub(crate) verify_counts: Option<Arc<VerifyCounts>>,
}

impl Threads {
    /// Start a thread per planned thread; each sets up its queue and waits for assignments.
    pub(crate) fn spawn(
        plan: &ThreadPlan,
        targets: &[(String, Target)],
        arenas: Vec<Arena>,
        clock: Monotonic,
    ) -> Result<Self, BlockError> {
        let (sender, messages) = channel();
        let count = plan.threads.len();
        let (mut assignments, mut returns, halt) = (Vec::new(), Vec::new(), Arc::new(AtomicBool::new(false)));
        for (worker, (planned, arena)) in plan.threads.iter().zip(arenas).enumerate() {
            let target_of = |storage: &str| {
                let target = targets.iter().find(|(name, _)| name == storage);
                &target.expect("checked before the run").1
            };
            let handle = target_of(&planned.storage).handle(planned.buffered)?;
            let donor = planned
                .donor
                .as_ref()
                .map(|donor| open_donor(target_of(&donor.storage), donor.in_place))
                .transpose()?;
            let (assignment_sender, assignment) = channel();
            let (return_sender, returned) = channel();
            let channels =
                Channels { sender: sender.clone(), assignments: assignment, returned, halt: Arc::clone(&halt), clock };
            let (chosen, in_place, polled) = (planned.chosen, planned.in_place, planned.polled);
            let (processors, streams) = (planned.processors.clone(), planned.streams.clone());
            let setup = WorkerSetup { worker, chosen, in_place, polled, processors, donor, arena, streams };
            std::thread::Builder::new()
                .name(format!("load-{worker}"))
                .spawn(move || run_worker(setup, handle, channels))
                .map_err(|error| BlockError::system("starting a thread for a job", error))?;
            assignments.push(assignment_sender);
            returns.push(return_sender);
        }
        Ok(Self { messages, assignments, returns, running: vec![true; count], phases_of: vec![0; count], halt })
    }

    pub(crate) fn len(&self) -> usize {
        self.running.len()
    }

    /// Number of threads that have not ended.
    pub(crate) fn running(&self) -> usize {
        self.running.iter().filter(|running| **running).count()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.contains(&true)
    }

    pub(crate) fn mark_ended(&mut self, worker: usize) {
        self.running[worker] = false;
    }

    /// Return written statistics to the thread that fills them.
    pub(crate) fn recycle(&self, worker: usize, stats: Box<IntervalStats>) {
        // A thread that has ended ignores them.
        let _ = self.returns[worker].send(stats);
    }

    /// Stop all threads as soon as they see it.
    pub(crate) fn halt(&self) {
        self.halt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Announce that there is no further phase; `at_once` also stops the current one.
    pub(crate) fn end(&mut self, at_once: bool) {
        if at_once {
            self.halt();
        }
        self.assignments.clear();
    }

    /// Assign each thread its task in a step. The phase begins at the time that its start holds.
    pub(crate) fn start_phase(&mut self, setting: &RunContext<'_>, step: Step) -> PhaseRun {
        let (phase, job_threads) = (&setting.spec.phases[step.phase], &setting.plan.job_threads[step.phase]);
        let open = phase.streams.iter().any(|stream| stream.stream.arrivals != Arrivals::Closed);
        let verifies = phase.streams.iter().any(|stream| stream.stream.verify != Verify::Off);
        let mut phase_run = PhaseRun {
            step,
            start: Arc::new(PhaseStart::after(if open { LEAD } else { 0 })),
            handover: Arc::new(Handover::of(job_threads.len() as u32)),
            end_signals: phase.streams.iter().map(|_| Arc::default()).collect(),
            threads: BTreeMap::new(),
            may_drain: false,
            verify_counts: verifies.then(Arc::default),
        };
        let paces = Paces::new(phase.streams.iter().map(|stream| &stream.stream));
        let jobs = phase
            .streams
            .iter()
            .enumerate()
            .flat_map(|(number, stream)| (0..stream.stream.jobs).map(move |job| (number as u16, stream, job)));
        for (&worker, (number, stream, job)) in job_threads.iter().zip(jobs) {
            self.phases_of[worker] += 1;
            phase_run.threads.insert(worker, self.phases_of[worker]);
            let task = Task { pacer: paces.of(usize::from(number)), ..setting.task(&phase_run, number, job, stream) };
            phase_run.may_drain |= task.room_next.is_some();
            self.send(worker, &phase_run.start, Some(Box::new(task)));
        }
        let resting = (0..self.len()).filter(|worker| !phase_run.threads.contains_key(worker));
        resting.for_each(|worker| self.send(worker, &phase_run.start, None));
        phase_run
    }

    fn send(&self, worker: usize, start: &Arc<PhaseStart>, task: Option<Box<Task>>) {
        // A thread that has ended has already reported the reason.
        let _ = self.assignments[worker].send(Assignment { start: Arc::clone(start), task });
    }
}

fn open_donor(target: &Target, in_place: bool) -> Result<Donor, BlockError> {
    Donor::new(target.handle(false)?, target.data_offset, target.data_bytes, in_place)
        .map_err(|error| BlockError::system("allocating a donor's space", error))
}

impl RunContext<'_> {
    /// Most requests that the next phase may have outstanding on a storage. `None` if the next
    /// phase is not certain, or not purely closed loop there.
    fn room_next(&self, step: Step, storage: &str) -> Option<u32> {
        let next = &self.spec.phases[self.spec.schedule().foreseen(step)?.phase];
        let streams = next.streams.iter().filter(|of| of.storage == storage).map(|of| &of.stream);
        let room = |room: u32, stream: &StreamSpec| {
            let slots = stream.jobs.saturating_mul(stream.most_outstanding());
            (stream.arrivals == Arrivals::Closed).then_some(room.saturating_add(slots))
        };
        streams.clone().next()?;
        streams.clone().try_fold(0, room)
    }

    fn task(&self, phase_run: &PhaseRun, number: u16, job: u32, stream: &PhaseStream) -> Task {
        let phase = &self.spec.phases[phase_run.step.phase];
        let target = self.targets.iter().find(|(name, _)| *name == stream.storage);
        let target = &target.expect("checked before the run").1;
        let spec = stream.stream.clone();
        Task {
            phase: phase_run.step.phase as u32,
            stream: number,
            job,
            random_name: phase.random_name(stream, phase_run.step.number()),
            storage_bytes: self.spec.storage[&stream.storage].size.0,
            seed: self.spec.seed,
            budget_bytes: phase.budget_bytes_per_job(&spec),
            time: phase.until.time.map(|time| time.0),
            ramp: phase.ramp.0,
            interval: self.spec.interval.0,
            rounds: rounds_in(phase, phase_run.step.number()),
            checked: self.checked(stream, phase_run),
            context: JobContext {
                storage: stream.storage.clone(),
                payload: target.payload(),
                depth: spec.most_outstanding(),
                open_loop: spec.arrivals != Arrivals::Closed,
                sync: JobContext::sync_kind(&spec),
                end: None,
                end_signal: Arc::clone(&phase_run.end_signals[usize::from(number)]),
                linked_ends: phase
                    .ended_with(&stream.name)
                    .map(|other| Arc::clone(&phase_run.end_signals[other]))
                    .collect(),
                call: spec.call,
                tolerates: spec.tolerates.clone(),
                handover: Arc::clone(&phase_run.handover),
            },
            pacer: None,
            room_next: self.room_next(phase_run.step, &stream.storage).filter(|room| *room < spec.most_outstanding()),
            spec,
        }
    }

    /// Verification state and counts of a verifying stream.
    fn checked(&self, stream: &PhaseStream, phase_run: &PhaseRun) -> Option<(Arc<VerifyState>, Arc<VerifyCounts>)> {
        let state = self.verify_states.get(&stream.storage).filter(|_| stream.stream.verify != Verify::Off)?;
        Some((Arc::clone(state), Arc::clone(phase_run.verify_counts.as_ref()?)))
    }
}
