//! The threads of a run, and what each is told to do in a phase.

use crate::arena::Arena;
use crate::clock::Monotonic;
use crate::driver::{Frame, Over};
use crate::error::BlockError;
use crate::files::Donor;
use crate::message::Message;
use crate::relay::{Handover, Order, Turn};
use crate::roster::Roster;
use crate::rounds::rounds_in;
use crate::target::Target;
use crate::verify::{Ground, Tally};
use crate::worker::{Lines, Post, Task, work};
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

/// From the word to begin until the run begins, and from one phase to an open-loop one: all threads are awake by then.
pub(crate) const LEAD: Nanos = 300_000;

/// What a run works on.
pub(crate) struct Setting<'a> {
    pub(crate) spec: &'a RunSpec,
    pub(crate) targets: Vec<(String, Target)>,
    pub(crate) roster: Roster,
    /// What is known of storages that streams verify.
    pub(crate) grounds: BTreeMap<String, Arc<Ground>>,
}

/// The threads, seen from the one that writes the record.
pub(crate) struct Crew {
    pub(crate) messages: Receiver<Message>,
    /// Empty when there is no further phase.
    orders: Vec<Sender<Order<Box<Task>>>>,
    returns: Vec<Sender<Box<IntervalStats>>>,
    at_work: Vec<bool>,
    /// Phases that each has had a part in.
    parts: Vec<u32>,
    halt: Arc<AtomicBool>,
}

/// A step of the run that the threads know of.
pub(crate) struct Shift {
    pub(crate) step: Step,
    pub(crate) turn: Arc<Turn>,
    pub(crate) handover: Arc<Handover>,
    /// Where the jobs of each of its streams look whether they are over.
    pub(crate) over: Vec<Arc<Over>>,
    /// Who works in it, and the number that it has among the phases of each.
    pub(crate) threads: BTreeMap<usize, u32>,
    /// Whether some of its threads may have to drain before the next phase begins.
    pub(crate) crowds: bool,
    /// What its verifying streams have looked at; absent where none verifies.
    pub(crate) tally: Option<Arc<Tally>>,
}

impl Crew {
    /// Starts a thread for each place; each sets up its queue and waits for orders.
    pub(crate) fn hire(
        roster: &Roster,
        targets: &[(String, Target)],
        arenas: Vec<Arena>,
        clock: Monotonic,
    ) -> Result<Self, BlockError> {
        let (sender, messages) = channel();
        let count = roster.places.len();
        let (mut orders, mut returns, halt) = (Vec::new(), Vec::new(), Arc::new(AtomicBool::new(false)));
        for (worker, (place, arena)) in roster.places.iter().zip(arenas).enumerate() {
            let of = |storage: &str| {
                let target = targets.iter().find(|(name, _)| name == storage);
                &target.expect("checked before the run").1
            };
            let handle = of(&place.storage).handle(place.buffered)?;
            let donor = place.donor.as_ref().map(|donor| open_donor(of(&donor.storage), donor.in_place)).transpose()?;
            let (order_sender, order) = channel();
            let (return_sender, returned) = channel();
            let lines = Lines { sender: sender.clone(), orders: order, returned, halt: Arc::clone(&halt), clock };
            let (chosen, in_place, polled) = (place.chosen, place.in_place, place.polled);
            let (processors, streams) = (place.processors.clone(), place.streams.clone());
            let post = Post { worker, chosen, in_place, polled, processors, donor, arena, streams };
            std::thread::Builder::new()
                .name(format!("load-{worker}"))
                .spawn(move || work(post, handle, lines))
                .map_err(|error| BlockError::system("starting a thread for a job", error))?;
            orders.push(order_sender);
            returns.push(return_sender);
        }
        Ok(Self { messages, orders, returns, at_work: vec![true; count], parts: vec![0; count], halt })
    }

    pub(crate) fn len(&self) -> usize {
        self.at_work.len()
    }

    /// Threads that have not ended.
    pub(crate) fn at_work(&self) -> usize {
        self.at_work.iter().filter(|at_work| **at_work).count()
    }

    pub(crate) fn is_at_work(&self) -> bool {
        self.at_work.contains(&true)
    }

    pub(crate) fn has_ended(&mut self, worker: usize) {
        self.at_work[worker] = false;
    }

    /// Statistics that have been written, to be filled again.
    pub(crate) fn give_back(&self, worker: usize, stats: Box<IntervalStats>) {
        // A thread that has ended wants nothing back.
        let _ = self.returns[worker].send(stats);
    }

    /// Everybody stops as soon as they see it.
    pub(crate) fn halt(&self) {
        self.halt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// There is no further phase; `at_once`: what runs is over, too.
    pub(crate) fn dismiss(&mut self, at_once: bool) {
        if at_once {
            self.halt();
        }
        self.orders.clear();
    }

    /// Tells every thread what to do in a step, which begins when its turn says.
    pub(crate) fn shift(&mut self, setting: &Setting<'_>, step: Step) -> Shift {
        let (phase, seats) = (&setting.spec.phases[step.phase], &setting.roster.seats[step.phase]);
        let open = phase.streams.iter().any(|stream| stream.stream.arrivals != Arrivals::Closed);
        let verifies = phase.streams.iter().any(|stream| stream.stream.verify != Verify::Off);
        let mut shift = Shift {
            step,
            turn: Arc::new(Turn::after(if open { LEAD } else { 0 })),
            handover: Arc::new(Handover::of(seats.len() as u32)),
            over: phase.streams.iter().map(|_| Arc::default()).collect(),
            threads: BTreeMap::new(),
            crowds: false,
            tally: verifies.then(Arc::default),
        };
        let paces = Paces::new(phase.streams.iter().map(|stream| &stream.stream));
        let jobs = phase
            .streams
            .iter()
            .enumerate()
            .flat_map(|(number, stream)| (0..stream.stream.jobs).map(move |job| (number as u16, stream, job)));
        for (&worker, (number, stream, job)) in seats.iter().zip(jobs) {
            self.parts[worker] += 1;
            shift.threads.insert(worker, self.parts[worker]);
            let task = Task { pacer: paces.of(usize::from(number)), ..setting.task(&shift, (number, job), stream) };
            shift.crowds |= task.room_next.is_some();
            self.send(worker, &shift.turn, Some(Box::new(task)));
        }
        let resting = (0..self.len()).filter(|worker| !shift.threads.contains_key(worker));
        resting.for_each(|worker| self.send(worker, &shift.turn, None));
        shift
    }

    fn send(&self, worker: usize, turn: &Arc<Turn>, task: Option<Box<Task>>) {
        // A thread that is gone has said why.
        let _ = self.orders[worker].send(Order { turn: Arc::clone(turn), task });
    }
}

fn open_donor(target: &Target, in_place: bool) -> Result<Donor, BlockError> {
    Donor::new(target.handle(false)?, (target.data_offset, target.data_bytes), in_place)
        .map_err(|error| BlockError::system("giving a donor of extents its room", error))
}

impl Setting<'_> {
    /// What may be outstanding on a storage in the phase that follows, where it is certain which that is, and it works there
    /// in closed loop alone.
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

    fn task(&self, shift: &Shift, (number, job): (u16, u32), stream: &PhaseStream) -> Task {
        let phase = &self.spec.phases[shift.step.phase];
        let target = self.targets.iter().find(|(name, _)| *name == stream.storage);
        let target = &target.expect("checked before the run").1;
        let spec = stream.stream.clone();
        Task {
            phase: shift.step.phase as u32,
            stream: number,
            job,
            random_name: phase.random_name(stream, shift.step.number()),
            storage_bytes: self.spec.storage[&stream.storage].size.0,
            seed: self.spec.seed,
            budget_bytes: phase.budget_bytes_per_job(&spec),
            time: phase.until.time.map(|time| time.0),
            ramp: phase.ramp.0,
            interval: self.spec.interval.0,
            rounds: rounds_in(phase, shift.step.number()),
            checked: self.checked(stream, shift),
            frame: Frame {
                storage: stream.storage.clone(),
                payload: target.payload(),
                depth: spec.most_outstanding(),
                open_loop: spec.arrivals != Arrivals::Closed,
                sync: Frame::sync_kind(&spec),
                end: None,
                over: Arc::clone(&shift.over[usize::from(number)]),
                ends: phase.ended_with(&stream.name).map(|other| Arc::clone(&shift.over[other])).collect(),
                call: spec.call,
                tolerates: spec.tolerates.clone(),
                handover: Arc::clone(&shift.handover),
            },
            pacer: None,
            room_next: self.room_next(shift.step, &stream.storage).filter(|room| *room < spec.most_outstanding()),
            spec,
        }
    }

    /// What a verifying stream needs.
    fn checked(&self, stream: &PhaseStream, shift: &Shift) -> Option<(Arc<Ground>, Arc<Tally>)> {
        let ground = self.grounds.get(&stream.storage).filter(|_| stream.stream.verify != Verify::Off)?;
        Some((Arc::clone(ground), Arc::clone(shift.tally.as_ref()?)))
    }
}
