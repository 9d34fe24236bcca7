//! One run: its phases in order, a thread for each job, and the record written as their intervals arrive.

use crate::arena::Arena;
use crate::backend::{Backend, Chosen};
use crate::check;
use crate::clock::{Clock, Monotonic};
use crate::driver::{DRAIN_LIMIT, Ending, Frame, Over};
use crate::error::BlockError;
use crate::rounds::{RoundTally, tell_round};
use crate::target::Target;
use crate::verify::{Ground, Tally};
use crate::worker::{Lines, Message, Task, work};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tameshi_base::Nanos;
use tameshi_base::random::derived_seed;
use tameshi_record::{Clock as Boundaries, EndedBy, IntervalStats, Progress, RecordError, Rounds, RunStatus, Writer};
use tameshi_spec::run::{PhaseSpec, PhaseStream, RoundsSpec, RunSpec};
use tameshi_workload::spec::{Submission, Verify};
use tameshi_workload::steady::{Detector, Round, State};
use tameshi_workload::{Arrivals, Pacer, Paces, StreamSpec};

/// From the word to begin until the phase begins: all threads are awake by then.
const LEAD: Nanos = 300_000;
/// How often the writing thread looks whether to stop.
const WATCH: Duration = Duration::from_millis(20);
/// A thread that owes its end for so long past the drivers' own limit is given up.
const GIVE_UP: Nanos = DRAIN_LIMIT + 5_000_000_000;

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Complete, or stopped before.
    pub status: RunStatus,
    /// What carried the requests: `io_uring` or `portable`.
    pub backend: &'static str,
    /// What all jobs made use of, and why io_uring wasn't taken, if so.
    pub features: Vec<String>,
}

/// Runs `spec` on `targets`, from `t0_ns` on CLOCK_MONOTONIC on, and records it.
///
/// # Errors
/// A refused spec (before any request), a failed request, or a record that can't be written. The failure is an event of
/// the record too, and what was measured before it stays there.
pub fn execute(
    spec: &RunSpec,
    targets: Vec<(String, Target)>,
    t0_ns: u64,
    backend: Backend,
    writer: &mut Writer,
) -> Result<Done, BlockError> {
    let clock = Monotonic::from(t0_ns);
    let done = prepare(spec, targets, clock, backend, writer).and_then(Run::all_phases);
    if let Err(error) = &done {
        // When this can't be written either, the first error says more.
        let _ = writer.event(clock.now(), "error", json!({ "message": error.to_string() }));
    }
    done
}

fn prepare<'a>(
    spec: &'a RunSpec,
    targets: Vec<(String, Target)>,
    clock: Monotonic,
    backend: Backend,
    writer: &'a mut Writer,
) -> Result<Run<'a>, BlockError> {
    check::refuse(spec, &targets)?;
    let (chosen, remark) = backend.choose()?;
    let ring =
        |stream: &&PhaseStream| matches!(stream.stream.submission, Submission::IoUring | Submission::IoUringPolled);
    let demanding = spec.phases.iter().flat_map(|phase| &phase.streams).find(ring);
    if let (Chosen::Portable, Some(stream)) = (chosen, demanding) {
        let why = remark.as_deref().unwrap_or("this run was told to use plain calls");
        let sentence = format!("stream `{}`: `submission` asks for io_uring, but {why}", stream.name);
        return Err(BlockError::Refused(vec![sentence]));
    }
    let arenas = (0..spec.phases.iter().map(PhaseSpec::jobs).max().unwrap_or(0) as usize)
        .map(|worker| {
            let needs: Vec<(u32, u64)> =
                spec.phases.iter().filter_map(|phase| nth_job(phase, worker)).map(need).collect();
            let depth = needs.iter().map(|need| need.0).max().unwrap_or(1);
            let block = needs.iter().map(|need| need.1).max().unwrap_or(0);
            Arena::new(depth, block, spec.seed, (worker as u16, clock.t0())).map(Some)
        })
        .collect::<Result<Vec<_>, BlockError>>()?;
    let grounds = grounds(spec, (chosen, clock.t0()), writer)?;
    Ok(Run {
        spec,
        targets,
        grounds,
        clock,
        chosen,
        tally: None,
        remark,
        features: None,
        apart: BTreeSet::new(),
        arenas,
        writer,
        halt: Arc::default(),
    })
}

/// A journal for each storage that some stream verifies.
fn grounds(
    spec: &RunSpec,
    (chosen, began): (Chosen, u64),
    writer: &Writer,
) -> Result<BTreeMap<String, Arc<Ground>>, BlockError> {
    let mut grounds = BTreeMap::new();
    let streams = || spec.phases.iter().flat_map(|phase| &phase.streams);
    for stream in streams().filter(|stream| stream.stream.verify != Verify::Off) {
        let storage = &stream.storage;
        if grounds.contains_key(storage) {
            continue;
        }
        if chosen == Chosen::Null {
            let sentence = format!("stream `{}`: nothing is read or written, so nothing can be verified", stream.name);
            return Err(BlockError::Refused(vec![sentence]));
        }
        let generation = derived_seed(spec.seed, &format!("blockio/verify/{storage}/{began}"));
        let journal = writer.journal(storage, spec.storage[storage].size.0, generation)?;
        let syncs = streams().any(|other| other.storage == *storage && other.stream.syncs());
        grounds.insert(storage.clone(), Arc::new(Ground::new(journal, syncs)));
    }
    Ok(grounds)
}

/// The stream of a phase's job number `worker`.
fn nth_job(phase: &PhaseSpec, worker: usize) -> Option<&PhaseStream> {
    phase.streams.iter().flat_map(|stream| (0..stream.stream.jobs).map(move |_| stream)).nth(worker)
}

/// Requests and length of each that a job needs memory for.
fn need(stream: &PhaseStream) -> (u32, u64) {
    (stream.stream.most_outstanding(), stream.stream.longest_command().0)
}

/// The rounds that a phase consists of, or the one that it is part of.
fn rounds_in(phase: &PhaseSpec, round: Option<u32>) -> Rounds {
    round.map_or(phase.round().map_or(Rounds::None, Rounds::Each), Rounds::Within)
}

struct Run<'a> {
    spec: &'a RunSpec,
    targets: Vec<(String, Target)>,
    /// What is known of storages that streams verify.
    grounds: BTreeMap<String, Arc<Ground>>,
    /// What the phase's verifying streams have looked at; absent where none verifies.
    tally: Option<Arc<Tally>>,
    clock: Monotonic,
    chosen: Chosen,
    remark: Option<String>,
    features: Option<Vec<String>>,
    /// What streams that are carried otherwise than the run make use of.
    apart: BTreeSet<String>,
    arenas: Vec<Option<Arena>>,
    writer: &'a mut Writer,
    halt: Arc<AtomicBool>,
}

/// The threads of a phase, seen from here.
struct Crew {
    messages: Receiver<Message>,
    begins: Vec<Sender<Nanos>>,
    returns: Vec<Sender<Box<IntervalStats>>>,
}

/// What is known of a phase that runs.
struct Watch {
    begin: Nanos,
    ramped: Nanos,
    end: Option<Nanos>,
    ramp_told: bool,
    left: usize,
    endings: Vec<Ending>,
    failure: Option<BlockError>,
    tally: RoundTally,
    /// Where the jobs look whether the phase is over.
    over: Arc<Over>,
    /// When something was last heard of the threads, and since when all of them should be ending.
    heard: Nanos,
    ending_since: Option<Nanos>,
}

impl Run<'_> {
    fn all_phases(mut self) -> Result<Done, BlockError> {
        let mut status = RunStatus::Complete;
        let mut index = 0;
        while index < self.spec.phases.len() {
            let rounds = self.spec.rounds_of(index).filter(|(_, rounds)| rounds.first as usize == index);
            let ended_by = match rounds {
                Some(of) => self.repeat(of)?,
                None => self.phase(index, None)?.0,
            };
            if ended_by == EndedBy::Stopped {
                status = RunStatus::Partial;
                break;
            }
            index += rounds.map_or(1, |(_, rounds)| rounds.phases as usize);
        }
        let now = self.clock.now();
        self.writer.event(now, "run_end", json!({ "status": status.word() }))?;
        Ok(Done { status, backend: self.chosen.word(), features: self.all_features() })
    }

    /// Repeats phases a number of times or until steady state.
    fn repeat(&mut self, (place, rounds): (usize, &RoundsSpec)) -> Result<EndedBy, BlockError> {
        let mut detector = rounds.steady.map(|rule| Detector::new(rule, rounds.subjects(&self.spec.phases)));
        for number in 1..=rounds.most() {
            let now = self.clock.now();
            self.writer.event(now, "round_begin", json!({ "rounds": place, "round": number }))?;
            let mut tracked = Vec::new();
            for index in rounds.range() {
                let (ended_by, done) = self.phase(index, Some(number))?;
                if ended_by == EndedBy::Stopped {
                    return Ok(ended_by);
                }
                if rounds.tracked.contains(&(index as u32)) {
                    tracked.extend(done);
                }
            }
            if let Some(detector) = &mut detector {
                let state = detector.add(&tracked);
                tell_round(self.writer, self.clock.now(), ("rounds", place as u32), detector, state)?;
                if state != State::Unsettled {
                    break;
                }
            }
        }
        Ok(EndedBy::Rounds)
    }

    fn all_features(&self) -> Vec<String> {
        self.features.iter().flatten().chain(&self.remark).chain(&self.apart).cloned().collect()
    }

    /// One phase; `round` is that of a phase that is repeated. Returns what its streams did in the round, too.
    fn phase(&mut self, index: usize, round: Option<u32>) -> Result<(EndedBy, Vec<Round>), BlockError> {
        let phase = &self.spec.phases[index];
        let verifies = phase.streams.iter().any(|stream| stream.stream.verify != Verify::Off);
        self.tally = verifies.then(Arc::default);
        let over = Arc::new(Over::default());
        let crew = self.hire(index, round, &over)?;
        let mut watch = Watch {
            begin: 0,
            ramped: 0,
            end: None,
            ramp_told: false,
            left: crew.begins.len(),
            endings: Vec::new(),
            failure: None,
            tally: RoundTally::default(),
            over,
            heard: 0,
            ending_since: None,
        };
        self.await_ready(&crew, &mut watch);
        if index == 0 && watch.failure.is_none() {
            let fields = json!({ "backend": self.chosen.word(), "features": self.all_features() });
            self.writer.event(0, "run_begin", fields)?;
        }
        watch.begin = if self.clock.left_until(0) > LEAD { 0 } else { self.clock.now() + LEAD };
        watch.ramped = watch.begin.saturating_add(phase.ramp.0);
        watch.end = phase.until.time.map(|time| watch.begin.saturating_add(time.0));
        let clock = Boundaries::new(watch.begin, phase.ramp.0, self.spec.interval.0);
        watch.tally = RoundTally::new(index as u32, phase, clock.in_rounds(rounds_in(phase, round)));
        if watch.failure.is_none() {
            let streams: Vec<(&str, u32)> = phase.streams.iter().map(|s| (s.name.as_str(), s.stream.jobs)).collect();
            self.writer.phase_begin(watch.begin, index as u32, &streams)?;
            // A thread that is gone has said why.
            for begin in &crew.begins {
                let _ = begin.send(watch.begin);
            }
            self.clock.wait_until(watch.begin, 0, || self.writer.control().is_stopping());
        }
        let Crew { messages, begins, returns } = crew;
        drop(begins);
        let begun = watch.failure.is_none();
        self.watch(index as u32, &messages, &returns, &mut watch);
        if begun {
            return self.end_phase(index as u32, watch);
        }
        watch.failure.map_or(Ok((EndedBy::Stopped, Vec::new())), Err)
    }

    /// Starts a thread for each job of the phase.
    fn hire(&mut self, index: usize, round: Option<u32>, over: &Arc<Over>) -> Result<Crew, BlockError> {
        let phase = &self.spec.phases[index];
        let (sender, messages) = channel();
        let paces = Paces::new(phase.streams.iter().map(|stream| &stream.stream));
        let mut crew = Crew { messages, begins: Vec::new(), returns: Vec::new() };
        for (stream_index, stream) in phase.streams.iter().enumerate() {
            for job in 0..stream.stream.jobs {
                let worker = crew.begins.len();
                let target = self.targets.iter().find(|(name, _)| *name == stream.storage);
                let target = &target.expect("checked before the run").1;
                let arena = self.arenas[worker].take().expect("the phase before gave it back");
                let numbers = (index, stream_index, job, worker);
                let task = self.task((phase, round, over), numbers, stream, target, (arena, paces.of(stream_index)));
                let (begin_sender, begin) = channel();
                let (return_sender, returned) = channel();
                let (halt, sender) = (Arc::clone(&self.halt), sender.clone());
                let lines = Lines { sender, begin, returned, halt, clock: self.clock };
                let handle = target.handle()?;
                std::thread::Builder::new()
                    .name(format!("load-{worker}"))
                    .spawn(move || work(task, handle, lines))
                    .map_err(|error| BlockError::system("starting a thread for a job", error))?;
                crew.begins.push(begin_sender);
                crew.returns.push(return_sender);
            }
        }
        Ok(crew)
    }

    fn task(
        &self,
        (phase, round, over): (&PhaseSpec, Option<u32>, &Arc<Over>),
        (index, stream_index, job, worker): (usize, usize, u32, usize),
        stream: &PhaseStream,
        target: &Target,
        (arena, pacer): (Arena, Option<Pacer>),
    ) -> Task {
        let spec = stream.stream.clone();
        Task {
            worker,
            phase: index as u32,
            stream: stream_index as u16,
            job,
            random_name: phase.random_name(stream, round),
            storage_bytes: self.spec.storage[&stream.storage].size.0,
            seed: self.spec.seed,
            budget_bytes: phase.budget_bytes_per_job(&spec),
            time: phase.until.time.map(|time| time.0),
            ramp: phase.ramp.0,
            interval: self.spec.interval.0,
            rounds: rounds_in(phase, round),
            chosen: self.chosen_for(&spec, target),
            apart: (self.chosen_for(&spec, target) != self.chosen).then(|| stream.name.clone()),
            arena,
            pacer,
            checked: self.checked(stream),
            frame: Frame {
                storage: stream.storage.clone(),
                payload: target.payload(),
                depth: spec.most_outstanding(),
                open_loop: spec.arrivals != Arrivals::Closed,
                sync: Frame::sync_kind(&spec),
                end: None,
                over: Arc::clone(over),
            },
            spec,
        }
    }

    /// What a verifying stream needs.
    fn checked(&self, stream: &PhaseStream) -> Option<(Arc<Ground>, Arc<Tally>)> {
        let ground = self.grounds.get(&stream.storage).filter(|_| stream.stream.verify != Verify::Off)?;
        Some((Arc::clone(ground), Arc::clone(self.tally.as_ref()?)))
    }

    /// What carries a stream's requests: what the run chose, but for streams that say otherwise. io_uring knows no
    /// discard of a block device's range.
    fn chosen_for(&self, stream: &StreamSpec, target: &Target) -> Chosen {
        match stream.submission {
            Submission::PlainCalls => Chosen::Portable,
            Submission::Auto if stream.trims() && target.is_block_device() => Chosen::Portable,
            Submission::Auto | Submission::IoUring | Submission::IoUringPolled => self.chosen,
        }
    }

    /// Waits until every thread is ready or has failed to be.
    fn await_ready(&mut self, crew: &Crew, watch: &mut Watch) {
        for _ in 0..watch.left {
            match crew.messages.recv() {
                Ok(Message::Ready { features, apart: Some(stream) }) => {
                    self.apart.insert(format!("stream {stream}: {}", features.join(", ")));
                }
                Ok(Message::Ready { features, apart: None }) => {
                    let known = self.features.get_or_insert_with(|| features.clone());
                    known.retain(|feature| features.contains(feature));
                }
                Ok(Message::Failed(error)) => {
                    watch.failure.get_or_insert(error);
                }
                Ok(Message::Ended { .. } | Message::Interval { .. }) | Err(_) => {}
            }
        }
        if watch.failure.is_some() {
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Writes what the threads send until the last of them has ended.
    fn watch(
        &mut self,
        index: u32,
        messages: &Receiver<Message>,
        returns: &[Sender<Box<IntervalStats>>],
        watch: &mut Watch,
    ) {
        let idle_until = if returns.is_empty() { watch.end } else { None };
        while watch.left > 0 || idle_until.is_some_and(|end| self.clock.now() < end && !self.is_halted()) {
            match messages.recv_timeout(WATCH) {
                Ok(message) => {
                    watch.heard = self.clock.now();
                    if let Err(error) = self.hear(index, message, returns, watch) {
                        watch.failure.get_or_insert(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if idle_until.is_some() => std::thread::sleep(WATCH),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.clock.now();
            if let Err(error) = self.tell_ramp(index, now, watch) {
                watch.failure.get_or_insert(error);
            }
            if self.writer.control().is_stopping() || watch.failure.is_some() {
                self.halt.store(true, Ordering::Relaxed);
            }
            if self.is_halted() || watch.end.is_some_and(|end| now > end) {
                let shown = self.writer.control().progress();
                self.writer.control().show(Progress { elapsed_ns: now, operations_per_second: 0, ..shown });
                let waited = now - watch.heard.max(*watch.ending_since.get_or_insert(now));
                if waited > GIVE_UP {
                    watch.failure.get_or_insert(BlockError::Silent { threads: watch.left, waited });
                    return;
                }
            }
        }
    }

    fn hear(
        &mut self,
        index: u32,
        message: Message,
        returns: &[Sender<Box<IntervalStats>>],
        watch: &mut Watch,
    ) -> Result<(), BlockError> {
        match message {
            Message::Ready { .. } => {}
            Message::Interval { worker, stats } => {
                self.tell_ramp(index, stats.begin, watch)?;
                self.writer.interval(&stats)?;
                if let Some(by) = watch.tally.add(worker, &stats, self.writer)? {
                    watch.over.set(by);
                }
                // A thread that has ended wants nothing back.
                let _ = returns[worker].send(stats);
            }
            Message::Failed(error) => {
                watch.failure.get_or_insert(error);
            }
            Message::Ended { worker, arena, ending } => {
                self.arenas[worker] = arena;
                watch.endings.extend(ending);
                watch.left -= 1;
                if let Some(by) = watch.tally.ended(worker, self.writer)? {
                    watch.over.set(by);
                }
            }
        }
        Ok(())
    }

    fn tell_ramp(&mut self, index: u32, now: Nanos, watch: &mut Watch) -> Result<(), BlockError> {
        if !watch.ramp_told && now >= watch.ramped && watch.end.is_none_or(|end| watch.ramped < end) {
            watch.ramp_told = true;
            self.writer.phase_ramped(watch.ramped, index)?;
        }
        Ok(())
    }

    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    fn tell_tally(&mut self, at: Nanos, index: u32) -> Result<(), RecordError> {
        let Some(tally) = &self.tally else { return Ok(()) };
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (right, unwritten, unsettled) = (of(&tally.right), of(&tally.unwritten), of(&tally.unsettled));
        let counts = json!({ "phase": index, "right": right, "unwritten": unwritten, "unsettled": unsettled });
        self.writer.event(at, "verified", counts)
    }

    /// Writes the phase's end; its failure, if there is one, goes to the caller.
    fn end_phase(&mut self, index: u32, mut watch: Watch) -> Result<(EndedBy, Vec<Round>), BlockError> {
        let now = self.clock.now();
        let any = |by: EndedBy| watch.endings.iter().any(|ending| ending.by == by);
        let idle = watch.endings.is_empty();
        let by = if watch.failure.is_some() || any(EndedBy::Stopped) || (idle && self.is_halted()) {
            EndedBy::Stopped
        } else if let Some(by) = [EndedBy::Steady, EndedBy::Rounds].into_iter().find(|&by| any(by)) {
            by
        } else if any(EndedBy::Time) || idle {
            EndedBy::Time
        } else {
            EndedBy::Amount
        };
        let last = watch.endings.iter().map(|ending| ending.at).max();
        let at = if by == EndedBy::Time { watch.end.unwrap_or(now) } else { last.unwrap_or(now).max(watch.begin) };
        let written = self.tell_tally(at, index).and_then(|()| self.writer.phase_end(at, index, by));
        let written = written.and_then(|()| self.writer.event(now, "phase_drained", json!({ "phase": index })));
        match watch.failure {
            Some(failure) => Err(failure),
            None => {
                written?;
                Ok((by, watch.tally.whole(at)))
            }
        }
    }
}
