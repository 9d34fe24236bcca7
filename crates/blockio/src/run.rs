//! Execution of one run: its phases in order, a thread per job, and the record written as intervals
//! arrive.

use crate::arena::Arena;
use crate::check;
use crate::clock::{Clock, Monotonic};
use crate::error::BlockError;
use crate::io::backend::{Backend, SelectedBackend};
use crate::rounds::{RoundTally, record, rounds_in};
use crate::target::Target;
use crate::threads::driver::DRAIN_LIMIT;
use crate::threads::message::{Ending, Message};
use crate::threads::plan::{ThreadPlan, backend_of};
use crate::threads::{LEAD, PhaseRun, RunContext, Threads};
use crate::verify::{VerifyCounts, VerifyState};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use tameshi_base::random::derived_seed;
use tameshi_base::{Nanos, Slow};
use tameshi_record::{Clock as Boundaries, EndedBy, Progress, RecordError, RunStatus, Writer};
use tameshi_spec::run::{PhaseStream, RunSpec};
use tameshi_workload::schedule::{Cursor, Step};
use tameshi_workload::spec::{Submission, Verify};
use tameshi_workload::steady::Round;

/// Interval at which the writing thread checks for a stop.
const WATCH: Duration = Duration::from_millis(20);
/// Time after which a thread that owes its end is given up; longer than the drivers' own limit.
const GIVE_UP: Nanos = DRAIN_LIMIT + 5_000_000_000;

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// Complete, or stopped early.
    pub status: RunStatus,
    /// Backend of the requests: `io_uring` or `portable`.
    pub backend: &'static str,
    /// Features that all jobs used, and the reason why io_uring was not used, if so.
    pub features: Vec<String>,
}

/// Run `spec` on `targets`, from `t0_ns` of own time on CLOCK_MONOTONIC, and record it.
///
/// # Errors
/// A refused spec (before any request), a failed request, or a record that can't be written. The
/// failure is also an event of the record, and earlier measurements stay there.
pub fn execute(
    spec: &RunSpec,
    targets: Vec<(String, Target)>,
    (t0_ns, slow): (u64, Slow),
    backend: Backend,
    writer: &mut Writer,
) -> Result<RunOutcome, BlockError> {
    let clock = Monotonic::from(t0_ns, slow);
    let done = prepare(spec, targets, clock, backend, writer).and_then(Run::all_phases);
    if let Err(error) = &done {
        // If this can't be written either, the first error says more.
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
    if let (SelectedBackend::Portable, Some(stream)) = (chosen, demanding) {
        let why = remark.as_deref().unwrap_or("this run uses plain calls");
        let sentence = format!("stream `{}`: `submission` asks for io_uring, but {why}", stream.name);
        return Err(BlockError::Refused(vec![sentence]));
    }
    let target_of = |storage: &str| targets.iter().find(|(name, _)| name == storage).map(|(_, target)| target);
    let plan = ThreadPlan::of(spec, |stream| backend_of(&stream.stream, target_of(&stream.storage), chosen));
    let arenas =
        plan.threads.iter().enumerate().map(|(worker, thread)| {
            Arena::new(thread.slots, thread.longest_bytes, spec.seed, worker as u16, clock.t0())
        });
    let arenas = arenas.collect::<Result<Vec<Arena>, BlockError>>()?;
    let verify_states = verify_states(spec, chosen, clock.t0(), writer)?;
    let threads = Threads::spawn(&plan, &targets, arenas, clock)?;
    Ok(Run {
        setting: RunContext { spec, targets, plan, verify_states },
        clock,
        chosen,
        remark,
        features: None,
        apart: BTreeSet::new(),
        threads,
        writer,
        draining: Vec::new(),
        early: Vec::new(),
    })
}

/// Create a journal for each storage that some stream verifies.
fn verify_states(
    spec: &RunSpec,
    chosen: SelectedBackend,
    began: u64,
    writer: &Writer,
) -> Result<BTreeMap<String, Arc<VerifyState>>, BlockError> {
    let mut verify_states = BTreeMap::new();
    let streams = || spec.phases.iter().flat_map(|phase| &phase.streams);
    for stream in streams().filter(|stream| stream.stream.verify != Verify::Off) {
        let storage = &stream.storage;
        if verify_states.contains_key(storage) {
            continue;
        }
        if chosen == SelectedBackend::Null {
            let sentence = format!("stream `{}`: nothing is read or written, so nothing can be verified", stream.name);
            return Err(BlockError::Refused(vec![sentence]));
        }
        let generation = derived_seed(spec.seed, &format!("blockio/verify/{storage}/{began}"));
        let journal = writer.journal(storage, spec.storage[storage].size.0, generation)?;
        let syncs = streams().any(|other| other.storage == *storage && other.stream.syncs());
        verify_states.insert(storage.clone(), Arc::new(VerifyState::new(journal, syncs)));
    }
    Ok(verify_states)
}

/// Run in execution, as seen by the thread that writes the record.
struct Run<'a> {
    setting: RunContext<'a>,
    clock: Monotonic,
    chosen: SelectedBackend,
    remark: Option<String>,
    features: Option<Vec<String>>,
    /// Features of streams with another backend than the run's.
    apart: BTreeSet<String>,
    threads: Threads,
    writer: &'a mut Writer,
    /// Phases whose last requests are in flight.
    draining: Vec<DrainingPhase>,
    /// Messages of threads that have begun the next phase while others are still in this one.
    early: Vec<Message>,
}

/// Phase with requests that may be in flight.
struct DrainingPhase {
    phase: u32,
    /// Threads that may have requests in flight, with the phase's number among those of each
    /// thread.
    threads: BTreeMap<usize, u32>,
    since: Nanos,
    ended: bool,
}

/// State of the current phase.
struct Watch {
    begin: Nanos,
    ramped: Nanos,
    end: Option<Nanos>,
    ramp_recorded: bool,
    /// Threads that have not ended the phase.
    owing: BTreeSet<usize>,
    endings: Vec<Ending>,
    failure: Option<BlockError>,
    tally: RoundTally,
    /// Time of the last message from a thread, and the time since which all threads should be
    /// ending.
    heard: Nanos,
    ending_since: Option<Nanos>,
}

impl Run<'_> {
    fn all_phases(mut self) -> Result<RunOutcome, BlockError> {
        let status = self.await_ready().and_then(|()| self.course());
        let left = self.dismiss(status.is_err());
        let status = status?;
        left?;
        let now = self.clock.now();
        self.writer.event(now, "run_end", json!({ "status": status.word() }))?;
        Ok(RunOutcome { status, backend: self.chosen.word(), features: self.all_features() })
    }

    /// Run the phases in their order; judge repeated ones round by round.
    fn course(&mut self) -> Result<RunStatus, BlockError> {
        let spec = self.setting.spec;
        let Some(mut cursor) = Cursor::new(spec.schedule()) else { return Ok(RunStatus::Complete) };
        let mut phase_run = self.threads.start_phase(&self.setting, cursor.step());
        let begin = if self.clock.left_until(0) > LEAD { 0 } else { self.clock.now() + LEAD };
        phase_run.start.set(begin);
        loop {
            if let Some((place, number)) = cursor.begin() {
                let now = self.clock.now();
                self.writer.event(now, "round_begin", json!({ "rounds": place, "round": number }))?;
            }
            let (ended_by, done, prepared) = self.phase(&phase_run, cursor.foreseen())?;
            if ended_by == EndedBy::Stopped {
                return Ok(RunStatus::Partial);
            }
            if let Some((place, judgement)) = cursor.end(done) {
                record(self.writer, self.clock.now(), ("rounds", place as u32), &judgement)?;
            }
            let Some(next) = cursor.advance() else { return Ok(RunStatus::Complete) };
            phase_run = match prepared {
                Some(phase_run) => phase_run,
                None => {
                    let next = self.threads.start_phase(&self.setting, next);
                    phase_run.handover.follow(&next.start, self.clock.now());
                    next
                }
            };
        }
    }

    fn all_features(&self) -> Vec<String> {
        self.features.iter().flatten().chain(&self.remark).chain(&self.apart).cloned().collect()
    }

    /// Run one phase, whose threads have their assignments; assign the next one if it is foreseen.
    /// Also return what its streams did in the round.
    fn phase(
        &mut self,
        phase_run: &PhaseRun,
        foreseen: Option<Step>,
    ) -> Result<(EndedBy, Vec<Round>, Option<PhaseRun>), BlockError> {
        let RunContext { spec, plan, .. } = &self.setting;
        let (index, phase) = (phase_run.step.phase as u32, &spec.phases[phase_run.step.phase]);
        let Some(begin) = phase_run.start.wait(|| self.threads.is_halted() || self.writer.control().is_stopping())
        else {
            return Ok((EndedBy::Stopped, Vec::new(), None));
        };
        let end = phase.until.time.map(|time| begin.saturating_add(time.0));
        let clock = Boundaries::new(begin, phase.ramp.0, spec.interval.0);
        let clock = clock.in_rounds(rounds_in(phase, phase_run.step.number()));
        let mut watch = Watch {
            begin,
            ramped: begin.saturating_add(phase.ramp.0),
            end,
            ramp_recorded: false,
            owing: phase_run.threads.keys().copied().collect(),
            endings: Vec::new(),
            failure: None,
            tally: RoundTally::new(index, phase, clock, (&plan.job_threads[phase_run.step.phase], self.threads.len())),
            heard: 0,
            ending_since: None,
        };
        let streams: Vec<(&str, u32)> = phase.streams.iter().map(|s| (s.name.as_str(), s.stream.jobs)).collect();
        self.writer.phase_begin(begin, index, &streams)?;
        let threads = phase_run.threads.clone();
        self.draining.push(DrainingPhase { phase: index, threads, since: begin, ended: false });
        let next = foreseen.map(|step| self.threads.start_phase(&self.setting, step));
        let certain = end.filter(|_| phase.until.steady.is_none() && !phase.is_bounded() && !phase_run.may_drain);
        let idle = phase_run.threads.is_empty();
        if let Some(next) = &next {
            match certain {
                Some(end) => next.start.set_after(end),
                None if idle => {}
                None => phase_run.handover.follow(&next.start, self.clock.now()),
            }
        }
        self.watch(phase_run, &mut watch);
        if let (true, None, Some(next)) = (idle, certain, &next) {
            // If no thread works in the phase, this thread ends it.
            next.start.set_after(end.unwrap_or_else(|| self.clock.now()));
        }
        let (ended_by, rounds) = self.end_phase(phase_run, watch)?;
        Ok((ended_by, rounds, next))
    }

    /// Wait until every thread is ready or has failed, and begin the record.
    fn await_ready(&mut self) -> Result<(), BlockError> {
        let mut failure = None;
        let mut left = self.threads.len();
        while left > 0 {
            match self.threads.messages.recv() {
                Ok(Message::Ready { worker, features }) => {
                    left -= 1;
                    let thread = &self.setting.plan.threads[worker];
                    if thread.chosen == self.chosen {
                        let known = self.features.get_or_insert_with(|| features.clone());
                        known.retain(|feature| features.contains(feature));
                    } else {
                        let features_of = |stream: &String| format!("stream {stream}: {}", features.join(", "));
                        self.apart.extend(thread.names.iter().map(features_of));
                    }
                }
                Ok(Message::Failed(error)) => {
                    failure.get_or_insert(error);
                }
                Ok(Message::Ended { worker }) => {
                    self.threads.mark_ended(worker);
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

    /// Write what the threads send until the last of them has ended the phase.
    fn watch(&mut self, phase_run: &PhaseRun, watch: &mut Watch) {
        let idle_until = if phase_run.threads.is_empty() { watch.end } else { None };
        for message in std::mem::take(&mut self.early) {
            if let Err(error) = self.handle(phase_run, message, watch) {
                watch.failure.get_or_insert(error);
            }
        }
        while !watch.owing.is_empty()
            || idle_until.is_some_and(|end| self.clock.now() < end && !self.threads.is_halted())
        {
            let left_until = |end: Nanos| self.clock.wall_time(end.saturating_sub(self.clock.now()));
            let left = idle_until.map_or(WATCH, |end| Duration::from_nanos(left_until(end)));
            match self.threads.messages.recv_timeout(left.min(WATCH)) {
                Ok(message) => {
                    watch.heard = self.clock.now();
                    if let Err(error) = self.handle(phase_run, message, watch) {
                        watch.failure.get_or_insert(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if idle_until.is_some() => std::thread::sleep(left.min(WATCH)),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = self.clock.now();
            if let Err(error) = self.record_ramp(phase_run, now, watch) {
                watch.failure.get_or_insert(error);
            }
            if self.writer.control().is_stopping() || watch.failure.is_some() {
                self.threads.halt();
            }
            if self.threads.is_halted() || watch.end.is_some_and(|end| now > end) {
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

    fn handle(&mut self, phase_run: &PhaseRun, message: Message, watch: &mut Watch) -> Result<(), BlockError> {
        let verdict = match message {
            Message::Ready { .. } => None,
            Message::Interval { worker, .. } | Message::Closed { worker, .. } if !watch.owing.contains(&worker) => {
                self.early.push(message);
                None
            }
            Message::Interval { worker, stats } => {
                self.record_ramp(phase_run, stats.begin, watch)?;
                self.writer.interval(&stats)?;
                let verdict = watch.tally.add(worker, &stats, self.writer)?;
                self.threads.recycle(worker, stats);
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
                self.threads.mark_ended(worker);
                self.drained(worker, u32::MAX, self.clock.now())?;
                watch.tally.ended(worker, self.writer)?
            }
        };
        if let Some(by) = verdict {
            phase_run.end_signals.iter().for_each(|signal| signal.set(by));
        }
        Ok(())
    }

    /// Note that since `at` a thread's first `phases` phases have nothing in flight.
    fn drained(&mut self, worker: usize, phases: u32, at: Nanos) -> Result<(), RecordError> {
        for draining in &mut self.draining {
            if draining.threads.get(&worker).is_some_and(|number| *number <= phases) {
                draining.threads.remove(&worker);
                draining.since = draining.since.max(at);
            }
        }
        self.record_drained()
    }

    /// Record the phases that have ended and have nothing in flight any more.
    fn record_drained(&mut self) -> Result<(), RecordError> {
        let (over, left): (Vec<DrainingPhase>, Vec<DrainingPhase>) =
            std::mem::take(&mut self.draining).into_iter().partition(|of| of.ended && of.threads.is_empty());
        self.draining = left;
        over.iter().try_for_each(|of| self.writer.event(of.since, "phase_drained", json!({ "phase": of.phase })))
    }

    fn record_ramp(&mut self, phase_run: &PhaseRun, now: Nanos, watch: &mut Watch) -> Result<(), BlockError> {
        if !watch.ramp_recorded && now >= watch.ramped && watch.end.is_none_or(|end| watch.ramped < end) {
            watch.ramp_recorded = true;
            self.writer.phase_ramped(watch.ramped, phase_run.step.phase as u32)?;
        }
        Ok(())
    }

    fn record_counts(&mut self, at: Nanos, index: u32, tally: Option<&VerifyCounts>) -> Result<(), RecordError> {
        let Some(tally) = tally else { return Ok(()) };
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (right, unwritten, unsettled) = (of(&tally.right), of(&tally.unwritten), of(&tally.unsettled));
        let counts = json!({ "phase": index, "right": right, "unwritten": unwritten, "unsettled": unsettled });
        self.writer.event(at, "verified", counts)
    }

    /// Write the phase's end; return its failure, if any, to the caller.
    fn end_phase(&mut self, phase_run: &PhaseRun, mut watch: Watch) -> Result<(EndedBy, Vec<Round>), BlockError> {
        let (now, index) = (self.clock.now(), phase_run.step.phase as u32);
        let any = |by: EndedBy| watch.endings.iter().any(|ending| ending.by == by);
        let idle = watch.endings.is_empty();
        let by = if watch.failure.is_some() || any(EndedBy::Stopped) || (idle && self.threads.is_halted()) {
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
        let written = self.record_counts(at, index, phase_run.verify_counts.as_deref());
        let written = written.and_then(|()| self.writer.phase_end(at, index, by));
        if let Some(draining) = self.draining.last_mut() {
            (draining.ended, draining.since) = (true, draining.since.max(at));
        }
        let written = written.and_then(|()| self.record_drained());
        match watch.failure {
            Some(failure) => Err(failure),
            None => {
                written?;
                Ok((by, watch.tally.whole(at)))
            }
        }
    }

    /// End the threads, and take their last messages.
    fn dismiss(&mut self, failed: bool) -> Result<(), BlockError> {
        self.threads.end(failed || self.writer.control().is_stopping());
        let (mut failure, mut heard) = (None, self.clock.now());
        while self.threads.is_running() {
            match self.threads.messages.recv_timeout(WATCH) {
                Ok(message) => {
                    heard = self.clock.now();
                    match message {
                        Message::Failed(error) => {
                            failure.get_or_insert(error);
                        }
                        Message::Drained { worker, phases, at } => self.drained(worker, phases, at)?,
                        Message::Ended { worker } => {
                            self.threads.mark_ended(worker);
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
                failure.get_or_insert(BlockError::Silent { threads: self.threads.running(), waited });
                break;
            }
        }
        failure.map_or(Ok(()), Err)
    }
}
