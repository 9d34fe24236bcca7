//! Load thread: works on one storage throughout a run, for at most one job per phase.

use crate::arena::{Arena, Content};
use crate::clock::{self, Clock, Monotonic};
use crate::error::BlockError;
use crate::files::Donor;
use crate::io::Queue;
use crate::io::backend::SelectedBackend;
use crate::io::null::Null;
use crate::io::portable::{Inline, Pool};
use crate::io::uring::{Serving, Uring};
use crate::threads::affinity;
use crate::threads::driver::{Driver, JobContext, SPIN_NS};
use crate::threads::handover::{Assignment, Assignments};
use crate::threads::message::Message;
use crate::threads::recorder::Recorder;
use crate::verify::{Verifier, VerifyCounts, VerifyState};
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use tameshi_base::Nanos;
use tameshi_record::{Clock as Boundaries, IntervalStats, Rounds};
use tameshi_workload::{Job, Pacer, Placement, StreamSpec};

/// Setup of a thread for the whole run.
pub(crate) struct WorkerSetup {
    pub(crate) worker: usize,
    pub(crate) chosen: SelectedBackend,
    /// True if the thread itself performs each request.
    pub(crate) in_place: bool,
    /// True if it polls for completions.
    pub(crate) polled: bool,
    /// Processors that it is bound to, if any.
    pub(crate) processors: Option<Vec<u32>>,
    /// Donor whose extents its requests move, if any.
    pub(crate) donor: Option<Donor>,
    /// Buffers of all requests that it may have outstanding.
    pub(crate) arena: Arena,
    /// Streams that it will have a job of.
    pub(crate) streams: Vec<StreamSpec>,
}

/// One job of one phase.
pub(crate) struct Task {
    pub(crate) phase: u32,
    pub(crate) stream: u16,
    pub(crate) job: u32,
    pub(crate) spec: StreamSpec,
    /// Name of the job's random stream.
    pub(crate) random_name: String,
    pub(crate) storage_bytes: u64,
    pub(crate) seed: u64,
    pub(crate) budget_bytes: Option<u64>,
    /// Length of the phase, if time ends it.
    pub(crate) time: Option<Nanos>,
    pub(crate) ramp: Nanos,
    pub(crate) interval: Nanos,
    /// Rounds that the phase consists of, or is part of.
    pub(crate) rounds: Rounds,
    /// State and counts of a stream that verifies.
    pub(crate) checked: Option<(Arc<VerifyState>, Arc<VerifyCounts>)>,
    /// Its end is set when the phase begins.
    pub(crate) context: JobContext,
    /// Pacer of a stream that keeps step with others.
    pub(crate) pacer: Option<Pacer>,
    /// Most requests outstanding on its storage in the next phase, if that is closed loop there and
    /// this is less than the thread may have now. Excess requests would delay the next phase, and
    /// so drain before it begins.
    pub(crate) room_next: Option<u32>,
}

impl Task {
    /// Create the job of a phase that begins at `begin`, with its context.
    fn load(&mut self, begin: Nanos) -> (JobContext, Job) {
        let place = Placement {
            stream: self.stream,
            job: self.job,
            storage_bytes: self.storage_bytes,
            begin,
            budget_bytes: self.budget_bytes,
            seed: self.seed,
            name: &self.random_name,
        };
        let end = self.time.map(|time| begin.saturating_add(time));
        (JobContext { end, ..self.context.clone() }, Job::new(&self.spec, place).paced(self.pacer.take()))
    }
}

/// Channels between a load thread and the rest.
pub(crate) struct Channels {
    pub(crate) sender: Sender<Message>,
    /// Assignment per phase.
    pub(crate) assignments: Receiver<Assignment<Box<Task>>>,
    /// Returns statistics that have been written.
    pub(crate) returned: Receiver<Box<IntervalStats>>,
    pub(crate) halt: Arc<AtomicBool>,
    pub(crate) clock: Monotonic,
}

/// Run a thread from start to end.
pub(crate) fn run_worker(setup: WorkerSetup, handle: OwnedFd, channels: Channels) {
    let (worker, sender) = (setup.worker, channels.sender.clone());
    clock::wake_on_time();
    match catch_unwind(AssertUnwindSafe(|| open_queue(setup, handle, channels))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => send(&sender, Message::Failed(error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
            send(&sender, Message::Failed(BlockError::Panicked(text.unwrap_or_default())));
        }
    }
    send(&sender, Message::Ended { worker });
}

/// Send a message. The receiver is gone only if the run was given up; the message is then of no
/// use.
fn send(sender: &Sender<Message>, message: Message) {
    let _ = sender.send(message);
}

fn open_queue(mut setup: WorkerSetup, handle: OwnedFd, channels: Channels) -> Result<(), BlockError> {
    if let Some(processors) = &setup.processors {
        affinity::run_on(processors)
            .map_err(|error| BlockError::system("binding a job's thread to processors", error))?;
    }
    if let Some(first) = setup.streams.first() {
        setup.arena.prepare(Content::of(first));
    }
    let slots = setup.arena.slots();
    let failed = |what: &'static str| move |error: io::Error| BlockError::system(what, error);
    match setup.chosen {
        SelectedBackend::Uring { in_place } => {
            let made = Uring::new(handle, slots, &setup.arena, Serving { in_place, polled: setup.polled });
            let (queue, features) = made.map_err(failed("setting up io_uring"))?;
            run_phases(setup, channels, queue, features)
        }
        SelectedBackend::Null => run_phases(setup, channels, Null::new(slots), vec!["no requests at all".into()]),
        SelectedBackend::Portable if setup.in_place => {
            let queue = Inline::new(handle, setup.donor.take());
            run_phases(setup, channels, queue, plain_calls())
        }
        SelectedBackend::Portable => {
            let queue = Pool::new(handle, setup.donor.take(), slots)
                .map_err(failed("starting a thread per outstanding request"))?;
            run_phases(setup, channels, queue, plain_calls())
        }
    }
}

fn plain_calls() -> Vec<String> {
    vec!["plain calls: in place at depth 1, else a thread per outstanding request".into()]
}

/// Run all phases.
fn run_phases<Q: Queue>(
    setup: WorkerSetup,
    channels: Channels,
    queue: Q,
    features: Vec<String>,
) -> Result<(), BlockError> {
    let Channels { sender, assignments, returned, halt, clock } = channels;
    let recorder = Recorder::new(setup.worker, setup.streams.iter(), sender.clone(), returned);
    let (worker, mut assignments) = (setup.worker, Assignments::new(assignments));
    let halted = || halt.load(Ordering::Relaxed);
    send(&sender, Message::Ready { worker, features });
    let (mut task, begin) = loop {
        match assignments.next(halted) {
            Some((Some(task), begin)) => break (task, begin),
            Some((None, _)) => {}
            None => return Ok(()),
        }
    };
    let (context, job) = task.load(begin);
    let driver = Driver::new(context, job, queue, setup.arena, recorder, &clock, &halt);
    let mut thread = Thread { worker, driver, sender, clock: &clock, halt: &halt, quiet: false };
    let worked = thread.phase(&task, begin).and_then(|()| thread.later_phases(&mut assignments));
    let drained = thread.driver.drain();
    thread.send_drained();
    if thread.driver.outstanding() > 0 {
        // Requests in flight may still read or write their memory: leak it.
        std::mem::forget(thread.driver);
    }
    worked.and(drained)
}

/// Load thread in execution.
struct Thread<'a, Q> {
    worker: usize,
    driver: Driver<'a, Q, Monotonic>,
    sender: Sender<Message>,
    clock: &'a Monotonic,
    halt: &'a AtomicBool,
    /// True if it has drained requests that would delay the next phase, and starts none before that
    /// begins.
    quiet: bool,
}

impl<Q: Queue> Thread<'_, Q> {
    /// Run all phases after the first.
    fn later_phases(&mut self, assignments: &mut Assignments<Box<Task>>) -> Result<(), BlockError> {
        let mut resting = false;
        loop {
            if !resting && !self.quiet {
                self.driver.continue_until_next(|| assignments.look())?;
            }
            let Some((task, begin)) = assignments.next(|| self.is_halted()) else { return Ok(()) };
            resting = task.is_none();
            match task {
                None => self.driver.drain()?,
                Some(mut task) => {
                    let (context, job) = task.load(begin);
                    self.driver.take_over(context, job, Content::of(&task.spec), task.checked.is_some())?;
                    self.phase(&task, begin)?;
                }
            }
            self.send_drained();
        }
    }

    /// Run one phase, whose job the driver has.
    fn phase(&mut self, task: &Task, begin: Nanos) -> Result<(), BlockError> {
        self.send_drained();
        let boundaries = Boundaries::new(begin, task.ramp, task.interval).in_rounds(task.rounds);
        let used = self.driver.used();
        self.driver.recorder().begin(task.phase, task.stream, begin, boundaries, used);
        if let Some((state, counts)) = &task.checked {
            let (state, counts, slots) = (Arc::clone(state), Arc::clone(counts), self.driver.slots());
            self.driver.verify(Verifier::new(state, counts, slots, task.spec.longest_command().0));
        }
        self.clock.wait_until(begin, SPIN_NS, || self.is_halted());
        let ending = self.driver.run(begin)?;
        send(&self.sender, Message::Closed { worker: self.worker, ending });
        self.quiet = task.room_next.is_some_and(|room| self.driver.outstanding() > room);
        let mut at = ending.at;
        if self.quiet {
            self.driver.drain()?;
            self.send_drained();
            at = at.max(self.clock.now());
        }
        task.context.handover.close(at);
        Ok(())
    }

    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    fn send_drained(&mut self) {
        if let Some((phases, at)) = self.driver.drained() {
            send(&self.sender, Message::Drained { worker: self.worker, phases, at });
        }
    }
}
