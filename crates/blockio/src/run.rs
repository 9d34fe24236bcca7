//! One run: its phases in order, a thread for each job, and the record written as their intervals arrive.

use crate::arena::Arena;
use crate::backend::{Backend, Chosen};
use crate::check;
use crate::clock::{Clock, Monotonic};
use crate::crew::{Crew, LEAD, Setting, Shift};
use crate::driver::DRAIN_LIMIT;
use crate::error::BlockError;
use crate::message::{Ending, Message};
use crate::roster::{Roster, chosen_for};
use crate::rounds::{RoundTally, record, rounds_in};
use crate::target::Target;
use crate::verify::{Ground, Tally};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tameshi_base::Nanos;
use tameshi_base::random::derived_seed;
use tameshi_record::{Clock as Boundaries, EndedBy, Progress, RecordError, RunStatus, Writer};
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::schedule::{Cursor, Step};
use tameshi_workload::spec::{Submission, Verify};
use tameshi_workload::steady::Round;

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
    let target_of = |storage: &str| targets.iter().find(|(name, _)| name == storage).map(|(_, target)| target);
    let roster = Roster::of(spec, |stream| chosen_for(&stream.stream, target_of(&stream.storage), chosen));
    let arenas =
        roster.places.iter().enumerate().map(|(worker, place)| {
            Arena::new(place.slots, place.longest_bytes, spec.seed, (worker as u16, clock.t0()))
        });
    let arenas = arenas.collect::<Result<Vec<Arena>, BlockError>>()?;
    let grounds = grounds(spec, (chosen, clock.t0()), writer)?;
    let crew = Crew::hire(&roster, &targets, arenas, clock)?;
    Ok(Run {
        setting: Setting { spec, targets, roster, grounds },
        clock,
        chosen,
        remark,
        features: None,
        apart: BTreeSet::new(),
        crew,
        writer,
        leaving: Vec::new(),
        early: Vec::new(),
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

/// A run under way, as the thread sees it that writes the record.
struct Run<'a> {
    setting: Setting<'a>,
    clock: Monotonic,
    chosen: Chosen,
    remark: Option<String>,
    features: Option<Vec<String>>,
    /// What streams that are carried otherwise than the run make use of.
    apart: BTreeSet<String>,
    crew: Crew,
    writer: &'a mut Writer,
    /// Phases whose last requests are in flight.
    leaving: Vec<Leaving>,
    /// What threads tell of a phase that has begun for them while others are still at the one before.
    early: Vec<Message>,
}

/// A phase of which requests may be in flight.
struct Leaving {
    phase: u32,
    /// The threads that have not told that nothing is, with the number that the phase has among theirs.
    threads: BTreeMap<usize, u32>,
    since: Nanos,
    ended: bool,
}

/// What is known of a phase that runs.
struct Watch {
    begin: Nanos,
    ramped: Nanos,
    end: Option<Nanos>,
    ramp_told: bool,
    /// Threads that have not ended it.
    owing: BTreeSet<usize>,
    endings: Vec<Ending>,
    failure: Option<BlockError>,
    tally: RoundTally,
    /// When something was last heard of the threads, and since when all of them should be ending.
    heard: Nanos,
    ending_since: Option<Nanos>,
}

impl Run<'_> {
    fn all_phases(mut self) -> Result<Done, BlockError> {
        let status = self.await_ready().and_then(|()| self.course());
        let left = self.dismiss(status.is_err());
        let status = status?;
        left?;
        let now = self.clock.now();
        self.writer.event(now, "run_end", json!({ "status": status.word() }))?;
        Ok(Done { status, backend: self.chosen.word(), features: self.all_features() })
    }

    /// The phases in their order, those that are repeated judged round by round.
    fn course(&mut self) -> Result<RunStatus, BlockError> {
        let spec = self.setting.spec;
        let Some(mut cursor) = Cursor::new(spec.schedule()) else { return Ok(RunStatus::Complete) };
        let mut shift = self.crew.shift(&self.setting, cursor.step());
        let begin = if self.clock.left_until(0) > LEAD { 0 } else { self.clock.now() + LEAD };
        shift.turn.set(begin);
        loop {
            if let Some((place, number)) = cursor.begin() {
                let now = self.clock.now();
                self.writer.event(now, "round_begin", json!({ "rounds": place, "round": number }))?;
            }
            let (ended_by, done, prepared) = self.phase(&shift, cursor.foreseen())?;
            if ended_by == EndedBy::Stopped {
                return Ok(RunStatus::Partial);
            }
            if let Some((place, judgement)) = cursor.end(done) {
                record(self.writer, self.clock.now(), ("rounds", place as u32), &judgement)?;
            }
            let Some(next) = cursor.advance() else { return Ok(RunStatus::Complete) };
            shift = match prepared {
                Some(shift) => shift,
                None => {
                    let next = self.crew.shift(&self.setting, next);
                    shift.handover.follow(&next.turn, self.clock.now());
                    next
                }
            };
        }
    }

    fn all_features(&self) -> Vec<String> {
        self.features.iter().flatten().chain(&self.remark).chain(&self.apart).cloned().collect()
    }

    /// One phase, whose threads know what to do; those of the next one are told, where it is foreseen. Returns what its
    /// streams did in the round, too.
    fn phase(
        &mut self,
        shift: &Shift,
        foreseen: Option<Step>,
    ) -> Result<(EndedBy, Vec<Round>, Option<Shift>), BlockError> {
        let Setting { spec, roster, .. } = &self.setting;
        let (index, phase) = (shift.step.phase as u32, &spec.phases[shift.step.phase]);
        let Some(begin) = shift.turn.wait(|| self.crew.is_halted() || self.writer.control().is_stopping()) else {
            return Ok((EndedBy::Stopped, Vec::new(), None));
        };
        let end = phase.until.time.map(|time| begin.saturating_add(time.0));
        let clock = Boundaries::new(begin, phase.ramp.0, spec.interval.0);
        let clock = clock.in_rounds(rounds_in(phase, shift.step.number()));
        let mut watch = Watch {
            begin,
            ramped: begin.saturating_add(phase.ramp.0),
            end,
            ramp_told: false,
            owing: shift.threads.keys().copied().collect(),
            endings: Vec::new(),
            failure: None,
            tally: RoundTally::new(index, phase, clock, (&roster.seats[shift.step.phase], self.crew.len())),
            heard: 0,
            ending_since: None,
        };
        let streams: Vec<(&str, u32)> = phase.streams.iter().map(|s| (s.name.as_str(), s.stream.jobs)).collect();
        self.writer.phase_begin(begin, index, &streams)?;
        let threads = shift.threads.clone();
        self.leaving.push(Leaving { phase: index, threads, since: begin, ended: false });
        let next = foreseen.map(|step| self.crew.shift(&self.setting, step));
        let certain = end.filter(|_| phase.until.steady.is_none() && !phase.is_bounded() && !shift.crowds);
        let idle = shift.threads.is_empty();
        if let Some(next) = &next {
            match certain {
                Some(end) => next.turn.set_after(end),
                None if idle => {}
                None => shift.handover.follow(&next.turn, self.clock.now()),
            }
        }
        self.watch(shift, &mut watch);
        if let (true, None, Some(next)) = (idle, certain, &next) {
            // Where nobody works, it is this thread that ends the phase.
            next.turn.set_after(end.unwrap_or_else(|| self.clock.now()));
        }
        let (ended_by, rounds) = self.end_phase(shift, watch)?;
        Ok((ended_by, rounds, next))
    }

    /// Waits until every thread is ready or has failed to be, and begins the record.
    fn await_ready(&mut self) -> Result<(), BlockError> {
        let mut failure = None;
        let mut left = self.crew.len();
        while left > 0 {
            match self.crew.messages.recv() {
                Ok(Message::Ready { worker, features }) => {
                    left -= 1;
                    let place = &self.setting.roster.places[worker];
                    if place.chosen == self.chosen {
                        let known = self.features.get_or_insert_with(|| features.clone());
                        known.retain(|feature| features.contains(feature));
                    } else {
                        let told = |stream: &String| format!("stream {stream}: {}", features.join(", "));
                        self.apart.extend(place.names.iter().map(told));
                    }
                }
                Ok(Message::Failed(error)) => {
                    failure.get_or_insert(error);
                }
                Ok(Message::Ended { worker }) => {
                    self.crew.has_ended(worker);
                    left -= 1;
                }
                Ok(Message::Closed { .. } | Message::Interval { .. } | Message::Drained { .. }) => {}
                Err(_) => break,
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let fields = json!({ "backend": self.chosen.word(), "features": self.all_features() });
        Ok(self.writer.event(0, "run_begin", fields)?)
    }

    /// Writes what the threads send until the last of them has ended the phase.
    fn watch(&mut self, shift: &Shift, watch: &mut Watch) {
        let idle_until = if shift.threads.is_empty() { watch.end } else { None };
        for message in std::mem::take(&mut self.early) {
            if let Err(error) = self.hear(shift, message, watch) {
                watch.failure.get_or_insert(error);
            }
        }
        while !watch.owing.is_empty() || idle_until.is_some_and(|end| self.clock.now() < end && !self.crew.is_halted())
        {
            let left = idle_until.map_or(WATCH, |end| Duration::from_nanos(end.saturating_sub(self.clock.now())));
            match self.crew.messages.recv_timeout(left.min(WATCH)) {
                Ok(message) => {
                    watch.heard = self.clock.now();
                    if let Err(error) = self.hear(shift, message, watch) {
                        watch.failure.get_or_insert(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if idle_until.is_some() => std::thread::sleep(left.min(WATCH)),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.clock.now();
            if let Err(error) = self.tell_ramp(shift, now, watch) {
                watch.failure.get_or_insert(error);
            }
            if self.writer.control().is_stopping() || watch.failure.is_some() {
                self.crew.halt();
            }
            if self.crew.is_halted() || watch.end.is_some_and(|end| now > end) {
                let shown = self.writer.control().progress();
                self.writer.control().show(Progress { elapsed_ns: now, operations_per_second: 0, ..shown });
                let waited = now - watch.heard.max(*watch.ending_since.get_or_insert(now));
                if waited > GIVE_UP {
                    watch.failure.get_or_insert(BlockError::Silent { threads: watch.owing.len(), waited });
                    return;
                }
            }
        }
    }

    fn hear(&mut self, shift: &Shift, message: Message, watch: &mut Watch) -> Result<(), BlockError> {
        let verdict = match message {
            Message::Ready { .. } => None,
            Message::Interval { worker, .. } | Message::Closed { worker, .. } if !watch.owing.contains(&worker) => {
                self.early.push(message);
                None
            }
            Message::Interval { worker, stats } => {
                self.tell_ramp(shift, stats.begin, watch)?;
                self.writer.interval(&stats)?;
                let verdict = watch.tally.add(worker, &stats, self.writer)?;
                self.crew.give_back(worker, stats);
                verdict
            }
            Message::Failed(error) => {
                watch.failure.get_or_insert(error);
                None
            }
            Message::Closed { worker, ending } => {
                watch.endings.push(ending);
                watch.owing.remove(&worker);
                watch.tally.ended(worker, self.writer)?
            }
            Message::Drained { worker, phases, at } => {
                self.drained(worker, phases, at)?;
                None
            }
            Message::Ended { worker } => {
                watch.owing.remove(&worker);
                self.crew.has_ended(worker);
                self.drained(worker, u32::MAX, self.clock.now())?;
                watch.tally.ended(worker, self.writer)?
            }
        };
        if let Some(by) = verdict {
            shift.over.iter().for_each(|over| over.set(by));
        }
        Ok(())
    }

    /// Since `at` nothing of a thread's first so many phases is in flight.
    fn drained(&mut self, worker: usize, phases: u32, at: Nanos) -> Result<(), RecordError> {
        for leaving in &mut self.leaving {
            if leaving.threads.get(&worker).is_some_and(|number| *number <= phases) {
                leaving.threads.remove(&worker);
                leaving.since = leaving.since.max(at);
            }
        }
        self.tell_drained()
    }

    /// Records the phases that have ended and of which nothing is in flight any more.
    fn tell_drained(&mut self) -> Result<(), RecordError> {
        let (over, left): (Vec<Leaving>, Vec<Leaving>) =
            std::mem::take(&mut self.leaving).into_iter().partition(|of| of.ended && of.threads.is_empty());
        self.leaving = left;
        over.iter().try_for_each(|of| self.writer.event(of.since, "phase_drained", json!({ "phase": of.phase })))
    }

    fn tell_ramp(&mut self, shift: &Shift, now: Nanos, watch: &mut Watch) -> Result<(), BlockError> {
        if !watch.ramp_told && now >= watch.ramped && watch.end.is_none_or(|end| watch.ramped < end) {
            watch.ramp_told = true;
            self.writer.phase_ramped(watch.ramped, shift.step.phase as u32)?;
        }
        Ok(())
    }

    fn tell_tally(&mut self, at: Nanos, index: u32, tally: Option<&Tally>) -> Result<(), RecordError> {
        let Some(tally) = tally else { return Ok(()) };
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (right, unwritten, unsettled) = (of(&tally.right), of(&tally.unwritten), of(&tally.unsettled));
        let counts = json!({ "phase": index, "right": right, "unwritten": unwritten, "unsettled": unsettled });
        self.writer.event(at, "verified", counts)
    }

    /// Writes the phase's end; its failure, if there is one, goes to the caller.
    fn end_phase(&mut self, shift: &Shift, mut watch: Watch) -> Result<(EndedBy, Vec<Round>), BlockError> {
        let (now, index) = (self.clock.now(), shift.step.phase as u32);
        let any = |by: EndedBy| watch.endings.iter().any(|ending| ending.by == by);
        let idle = watch.endings.is_empty();
        let by = if watch.failure.is_some() || any(EndedBy::Stopped) || (idle && self.crew.is_halted()) {
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
        let written = self.tell_tally(at, index, shift.tally.as_deref());
        let written = written.and_then(|()| self.writer.phase_end(at, index, by));
        if let Some(leaving) = self.leaving.last_mut() {
            (leaving.ended, leaving.since) = (true, leaving.since.max(at));
        }
        let written = written.and_then(|()| self.tell_drained());
        match watch.failure {
            Some(failure) => Err(failure),
            None => {
                written?;
                Ok((by, watch.tally.whole(at)))
            }
        }
    }

    /// Lets the threads go, and hears them out.
    fn dismiss(&mut self, failed: bool) -> Result<(), BlockError> {
        self.crew.dismiss(failed || self.writer.control().is_stopping());
        let (mut failure, mut heard) = (None, self.clock.now());
        while self.crew.is_at_work() {
            match self.crew.messages.recv_timeout(WATCH) {
                Ok(message) => {
                    heard = self.clock.now();
                    match message {
                        Message::Failed(error) => {
                            failure.get_or_insert(error);
                        }
                        Message::Drained { worker, phases, at } => self.drained(worker, phases, at)?,
                        Message::Ended { worker } => {
                            self.crew.has_ended(worker);
                            self.drained(worker, u32::MAX, heard)?;
                        }
                        Message::Ready { .. } | Message::Closed { .. } | Message::Interval { .. } => {}
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let waited = self.clock.now() - heard;
            if waited > GIVE_UP {
                failure.get_or_insert(BlockError::Silent { threads: self.crew.at_work(), waited });
                break;
            }
        }
        failure.map_or(Ok(()), Err)
    }
}
