//! A thread of the load: it works on one storage throughout a run, for one job of each phase at most.

use crate::affinity;
use crate::arena::{Arena, Content};
use crate::backend::Chosen;
use crate::clock::{self, Clock, Monotonic};
use crate::driver::{Driver, Frame, SPIN_NS};
use crate::error::BlockError;
use crate::files::Donor;
use crate::message::Message;
use crate::null::Null;
use crate::portable::{Inline, Pool};
use crate::recorder::Recorder;
use crate::relay::{Order, Orders};
use crate::request::Queue;
use crate::uring::{Serving, Uring};
use crate::verify::{Ground, Tally, Verifier};
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use tameshi_base::Nanos;
use tameshi_record::{Clock as Boundaries, IntervalStats, Rounds};
use tameshi_workload::{Job, Pacer, Placement, StreamSpec};

/// What a thread has for the whole run.
pub(crate) struct Post {
    pub(crate) worker: usize,
    pub(crate) chosen: Chosen,
    /// Each request is carried out by the thread itself.
    pub(crate) in_place: bool,
    /// Completions are polled for.
    pub(crate) polled: bool,
    /// The processors that it runs on, where it is told.
    pub(crate) processors: Option<Vec<u32>>,
    /// Whose extents its requests move, where they do.
    pub(crate) donor: Option<Donor>,
    /// Room for all that it may have outstanding.
    pub(crate) arena: Arena,
    /// Every stream that it will have a job of.
    pub(crate) streams: Vec<StreamSpec>,
}

/// One job of one phase.
pub(crate) struct Task {
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
    /// Where the stream verifies: what is known of the storage, and what the phase has looked at.
    pub(crate) checked: Option<(Arc<Ground>, Arc<Tally>)>,
    /// Its end is filled in when the phase begins.
    pub(crate) frame: Frame,
    /// What holds the job back where its stream keeps step with others.
    pub(crate) pacer: Option<Pacer>,
    /// What may be outstanding on its storage in the next phase, where that works there in closed loop and it is less than
    /// this thread may have now: what exceeds it would be in the way of that phase, and so drains before it begins.
    pub(crate) room_next: Option<u32>,
}

impl Task {
    /// The job and its facts, in a phase that begins at `begin`.
    fn load(&mut self, begin: Nanos) -> (Frame, Job) {
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
        (Frame { end, ..self.frame.clone() }, Job::new(&self.spec, place).paced(self.pacer.take()))
    }
}

/// What connects a thread of the load to the rest.
pub(crate) struct Lines {
    pub(crate) sender: Sender<Message>,
    /// What to do in each phase.
    pub(crate) orders: Receiver<Order<Box<Task>>>,
    /// Brings statistics back that have been written.
    pub(crate) returned: Receiver<Box<IntervalStats>>,
    pub(crate) halt: Arc<AtomicBool>,
    pub(crate) clock: Monotonic,
}

/// The whole life of a thread.
pub(crate) fn work(post: Post, handle: OwnedFd, lines: Lines) {
    let (worker, sender) = (post.worker, lines.sender.clone());
    clock::wake_on_time();
    match catch_unwind(AssertUnwindSafe(|| open_queue(post, handle, lines))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tell(&sender, Message::Failed(error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_string()));
            tell(&sender, Message::Failed(BlockError::Panicked(text.unwrap_or_default())));
        }
    }
    tell(&sender, Message::Ended { worker });
}

/// The other side is gone only when the run was given up; then nobody wants to know.
fn tell(sender: &Sender<Message>, message: Message) {
    let _ = sender.send(message);
}

fn open_queue(mut post: Post, handle: OwnedFd, lines: Lines) -> Result<(), BlockError> {
    if let Some(processors) = &post.processors {
        affinity::run_on(processors)
            .map_err(|error| BlockError::system("binding a job's thread to processors", error))?;
    }
    if let Some(first) = post.streams.first() {
        post.arena.prepare(Content::of(first));
    }
    let slots = post.arena.slots();
    let failed = |what: &'static str| move |error: io::Error| BlockError::system(what, error);
    match post.chosen {
        Chosen::Uring { in_place } => {
            let made = Uring::new(handle, slots, &post.arena, Serving { in_place, polled: post.polled });
            let (queue, features) = made.map_err(failed("setting up io_uring"))?;
            carry(post, lines, queue, features)
        }
        Chosen::Null => carry(post, lines, Null::new(slots), vec!["no requests at all".into()]),
        Chosen::Portable if post.in_place => {
            let queue = Inline::new(handle, post.donor.take());
            carry(post, lines, queue, plain_calls())
        }
        Chosen::Portable => {
            let queue = Pool::new(handle, post.donor.take(), slots)
                .map_err(failed("starting a thread per outstanding request"))?;
            carry(post, lines, queue, plain_calls())
        }
    }
}

fn plain_calls() -> Vec<String> {
    vec!["plain calls: in place at depth 1, else a thread per outstanding request".into()]
}

/// Works through the phases.
fn carry<Q: Queue>(post: Post, lines: Lines, queue: Q, features: Vec<String>) -> Result<(), BlockError> {
    let Lines { sender, orders, returned, halt, clock } = lines;
    let recorder = Recorder::new(post.worker, post.streams.iter(), sender.clone(), returned);
    let (worker, mut orders) = (post.worker, Orders::new(orders));
    let halted = || halt.load(Ordering::Relaxed);
    tell(&sender, Message::Ready { worker, features });
    let (mut task, begin) = loop {
        match orders.next(halted) {
            Some((Some(task), begin)) => break (task, begin),
            Some((None, _)) => {}
            None => return Ok(()),
        }
    };
    let (frame, job) = task.load(begin);
    let driver = Driver::new(frame, job, queue, post.arena, recorder, &clock, &halt);
    let mut thread = Thread { worker, driver, sender, clock: &clock, halt: &halt, quiet: false };
    let worked = thread.phase(&task, begin).and_then(|()| thread.go_on(&mut orders));
    let drained = thread.driver.drain();
    thread.tell_drained();
    if thread.driver.outstanding() > 0 {
        // What is in flight may still write to its memory, or read from it: nothing of it is ever freed.
        std::mem::forget(thread.driver);
    }
    worked.and(drained)
}

/// A thread at work.
struct Thread<'a, Q> {
    worker: usize,
    driver: Driver<'a, Q, Monotonic>,
    sender: Sender<Message>,
    clock: &'a Monotonic,
    halt: &'a AtomicBool,
    /// It has drained what would crowd the next phase, and starts nothing before that begins.
    quiet: bool,
}

impl<Q: Queue> Thread<'_, Q> {
    /// All phases behind the first.
    fn go_on(&mut self, orders: &mut Orders<Box<Task>>) -> Result<(), BlockError> {
        let mut resting = false;
        loop {
            if !resting && !self.quiet {
                self.driver.bridge(|| orders.look())?;
            }
            let Some((task, begin)) = orders.next(|| self.is_halted()) else { return Ok(()) };
            resting = task.is_none();
            match task {
                None => self.driver.drain()?,
                Some(mut task) => {
                    let (frame, job) = task.load(begin);
                    self.driver.take_over(frame, job, Content::of(&task.spec), task.checked.is_some())?;
                    self.phase(&task, begin)?;
                }
            }
            self.tell_drained();
        }
    }

    /// One phase: the driver has its job.
    fn phase(&mut self, task: &Task, begin: Nanos) -> Result<(), BlockError> {
        self.tell_drained();
        let boundaries = Boundaries::new(begin, task.ramp, task.interval).in_rounds(task.rounds);
        let used = self.driver.used();
        self.driver.recorder().begin((task.phase, task.stream), begin, boundaries, used);
        if let Some((ground, tally)) = &task.checked {
            let (ground, tally, slots) = (Arc::clone(ground), Arc::clone(tally), self.driver.slots());
            self.driver.verify(Verifier::new(ground, tally, slots, task.spec.longest_command().0));
        }
        self.clock.wait_until(begin, SPIN_NS, || self.is_halted());
        let ending = self.driver.run(begin)?;
        tell(&self.sender, Message::Closed { worker: self.worker, ending });
        self.quiet = task.room_next.is_some_and(|room| self.driver.outstanding() > room);
        let mut at = ending.at;
        if self.quiet {
            self.driver.drain()?;
            self.tell_drained();
            at = at.max(self.clock.now());
        }
        task.frame.handover.close(at);
        Ok(())
    }

    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    fn tell_drained(&mut self) {
        if let Some((phases, at)) = self.driver.drained() {
            tell(&self.sender, Message::Drained { worker: self.worker, phases, at });
        }
    }
}
