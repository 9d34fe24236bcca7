//! The thread of one job in one phase: prepares all it needs, waits for the phase to begin, runs, drains.

use crate::affinity;
use crate::arena::{Arena, Content};
use crate::backend::{Chosen, Queue};
use crate::clock::{self, Clock, Monotonic};
use crate::driver::{Driver, Ending, Frame, SPIN_NS};
use crate::error::BlockError;
use crate::null::Null;
use crate::portable::{Inline, Pool};
use crate::recorder::{Recorder, Used};
use crate::uring::Uring;
use crate::verify::{Ground, Tally, Verifier};
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use tameshi_base::Nanos;
use tameshi_record::{Clock as Boundaries, IntervalStats, Rounds};
use tameshi_workload::spec::Submission;
use tameshi_workload::{Job, Pacer, Placement, StreamSpec};

/// What a job's thread tells the thread that writes the record.
pub(crate) enum Message {
    /// Ready to begin; what its queue makes use of.
    Ready { features: Vec<String>, apart: Option<String> },
    /// An interval is over.
    Interval { worker: usize, stats: Box<IntervalStats> },
    /// Something failed; `Ended` follows when nothing is in flight any more, or never will be settled.
    Failed(BlockError),
    /// The thread is about to end; the arena is missing when memory is still in flight.
    Ended { worker: usize, arena: Option<Arena>, ending: Option<Ending> },
}

/// One job of one phase.
pub(crate) struct Task {
    /// Index of the job among those of the phase.
    pub(crate) worker: usize,
    pub(crate) phase: u32,
    pub(crate) stream: u16,
    pub(crate) job: u32,
    pub(crate) spec: StreamSpec,
    /// What sets its randomness apart.
    pub(crate) random_name: String,
    pub(crate) storage_bytes: u64,
    pub(crate) seed: u64,
    pub(crate) budget_bytes: Option<u64>,
    /// Length of the phase, if time ends it.
    pub(crate) time: Option<Nanos>,
    pub(crate) ramp: Nanos,
    pub(crate) interval: Nanos,
    /// Rounds that it consists of, or is part of.
    pub(crate) rounds: Rounds,
    pub(crate) chosen: Chosen,
    /// The stream's name, where that is not what the run chose.
    pub(crate) apart: Option<String>,
    pub(crate) arena: Arena,
    /// What holds the job back where its stream keeps step with others.
    pub(crate) pacer: Option<Pacer>,
    /// Where the stream verifies: what is known of the storage, and what the phase has looked at.
    pub(crate) checked: Option<(Arc<Ground>, Arc<Tally>)>,
    /// Its end is filled in when the phase begins.
    pub(crate) frame: Frame,
}

/// What connects a job's thread to the rest.
pub(crate) struct Lines {
    pub(crate) sender: Sender<Message>,
    /// Brings the time at which the phase begins.
    pub(crate) begin: Receiver<Nanos>,
    /// Brings statistics back that have been written.
    pub(crate) returned: Receiver<Box<IntervalStats>>,
    pub(crate) halt: Arc<AtomicBool>,
    pub(crate) clock: Monotonic,
}

/// The whole life of a job's thread.
pub(crate) fn work(task: Task, handle: OwnedFd, lines: Lines) {
    let (worker, sender) = (task.worker, lines.sender.clone());
    clock::wake_on_time();
    let ended = catch_unwind(AssertUnwindSafe(|| open_queue(task, handle, lines)));
    let (arena, ending) = match ended {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => {
            tell(&sender, Message::Failed(error));
            (None, None)
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
            tell(&sender, Message::Failed(BlockError::Panicked(text.unwrap_or_default())));
            (None, None)
        }
    };
    tell(&sender, Message::Ended { worker, arena, ending });
}

/// The other side is gone only when the run was given up; then nobody wants to know.
fn tell(sender: &Sender<Message>, message: Message) {
    let _ = sender.send(message);
}

type Ended = (Option<Arena>, Option<Ending>);

fn open_queue(mut task: Task, handle: OwnedFd, lines: Lines) -> Result<Ended, BlockError> {
    if let Some(processors) = &task.spec.processors {
        affinity::run_on(processors)
            .map_err(|error| BlockError::system("binding a job's thread to processors", error))?;
    }
    task.arena.prepare(Content::of(&task.spec));
    let depth = task.frame.depth;
    let failed = |what: &'static str| move |error: io::Error| BlockError::system(what, error);
    match task.chosen {
        Chosen::Uring => {
            let polled = task.spec.submission == Submission::IoUringPolled;
            let made = Uring::new(handle, depth, &task.arena, polled);
            let (queue, features) = made.map_err(failed("setting up io_uring"))?;
            Ok(carry(task, lines, queue, features))
        }
        Chosen::Null => Ok(carry(task, lines, Null::new(depth), vec!["no requests at all".into()])),
        Chosen::Portable if depth == 1 => Ok(carry(task, lines, Inline::new(handle), plain_calls())),
        Chosen::Portable => {
            let queue = Pool::new(handle, depth).map_err(failed("starting a thread per outstanding request"))?;
            Ok(carry(task, lines, queue, plain_calls()))
        }
    }
}

fn plain_calls() -> Vec<String> {
    vec!["plain calls: in place at depth 1, else a thread per outstanding request".into()]
}

fn carry<Q: Queue>(task: Task, lines: Lines, queue: Q, features: Vec<String>) -> Ended {
    let Task {
        worker,
        phase,
        stream,
        job,
        spec,
        random_name,
        storage_bytes,
        seed,
        budget_bytes,
        arena,
        pacer,
        apart,
        checked,
        mut frame,
        ..
    } = task;
    let Lines { sender, begin, returned, halt, clock } = lines;
    let mut recorder = Recorder::new(worker, (phase, stream), &spec, sender.clone(), returned);
    tell(&sender, Message::Ready { features, apart });
    let Ok(begin) = begin.recv() else {
        return (Some(arena), None);
    };
    let name = random_name.as_str();
    let placement = Placement { stream, job, storage_bytes, begin, budget_bytes, seed, name };
    let job = Job::new(&spec, placement).paced(pacer);
    frame.end = task.time.map(|time| begin.saturating_add(time));
    let used = Used { cpu: clock.cpu() + queue.helpers_cpu(), thread: clock.usage() };
    let boundaries = Boundaries::new(begin, task.ramp, task.interval).in_rounds(task.rounds);
    recorder.begin(begin, boundaries, used);
    let mut driver = Driver::new(frame, job, queue, arena, recorder, &clock, &halt);
    if let Some((ground, tally)) = checked {
        driver.verify(Verifier::new(ground, tally, spec.most_outstanding(), spec.longest_command().0));
    }
    let spin = if driver.is_open_loop() { SPIN_NS } else { 0 };
    clock.wait_until(begin, spin, || halt.load(Ordering::Relaxed));
    let ending = match driver.run(begin) {
        Ok(ending) => Some(ending),
        Err(error) => {
            tell(&sender, Message::Failed(error));
            None
        }
    };
    if let Err(error) = driver.drain() {
        tell(&sender, Message::Failed(error));
    }
    if driver.outstanding() == 0 {
        return (Some(driver.into_arena()), ending);
    }
    // What is in flight may still write to its memory, or read from it: nothing of it is ever freed.
    std::mem::forget(driver);
    (None, ending)
}
