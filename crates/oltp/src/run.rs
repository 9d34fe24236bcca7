//! Execution of one run: its phases in order, a thread per client, and the record written as
//! intervals arrive.

use crate::client::{Counts, Ending, Message, Task, Worker};
use crate::clock::Clock;
use crate::failure::{Failure, OltpError};
use crate::journal::Journal;
use crate::outage::Outages;
use crate::plan::Plan;
use crate::power::Power;
use crate::profile::Profile;
use crate::session::Session;
use crate::spec::OltpSpec;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tameshi_base::{Nanos, Random};
use tameshi_record::interval::Clock as Boundaries;
use tameshi_record::{EndedBy, RunStatus, Writer};
use tameshi_workload::program::tpcc::{Tally, audit};
use tameshi_workload::program::{Program, ProgramSpec, Shared};
use tameshi_workload::{Arrivals, Queue, Schedule};

/// Time from the start of the threads to the phase's start: long enough to wake all threads.
const LEAD: Nanos = 2_000_000;
/// Interval at which the writing thread checks for a stop.
const WATCH: Duration = Duration::from_millis(20);

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// Complete, or stopped early.
    pub status: RunStatus,
    /// Transactions completed.
    pub completed: u64,
    /// Errors by code.
    pub errors: BTreeMap<String, u64>,
    /// Run number in the ledger, if there is one.
    pub ledger_run: Option<i64>,
}

struct Run<'a> {
    spec: &'a OltpSpec,
    /// Program of the phase.
    program_spec: &'a ProgramSpec,
    program: Program,
    plan: Plan,
    clock: Clock,
    writer: &'a mut Writer,
    power: &'a Power,
    halt: Arc<AtomicBool>,
    /// Names of the kinds of transactions.
    kinds: Vec<String>,
    outcome: RunOutcome,
    last_error: Option<Failure>,
    /// State per program name: phases of one program continue its keys of new rows.
    shared: BTreeMap<&'static str, Arc<Shared>>,
}

/// Run all phases on a loaded database, from `t0_ns` of own time on CLOCK_MONOTONIC, and record
/// them.
///
/// # Errors
/// The database can't be reached at the start, a phase completed no transaction, or the record or a
/// journal can't be written. A database that fails during the run is no error: the outage is
/// recorded.
pub fn execute(spec: &OltpSpec, t0_ns: u64, writer: &mut Writer, power: &Power) -> Result<RunOutcome, OltpError> {
    execute_program(spec, spec.program(), t0_ns, writer, power)
}

/// Like [`execute`], with a given program.
///
/// # Errors
/// As for [`execute`].
pub fn execute_program(
    spec: &OltpSpec,
    program: Program,
    t0_ns: u64,
    writer: &mut Writer,
    power: &Power,
) -> Result<RunOutcome, OltpError> {
    let plan = Plan::new(spec, &program);
    let kinds = program.kinds(spec.program.word());
    let clock = Clock::from(t0_ns, spec.slow);
    // Unique among the runs on this data: the start in nanoseconds.
    let ledger_run = spec.ledger.is_some().then(|| clock.date(0) * 1_000_000_000 + (t0_ns % 1_000_000_000) as i64);
    let outcome = RunOutcome { status: RunStatus::Complete, completed: 0, errors: BTreeMap::new(), ledger_run };
    let (halt, last_error) = (Arc::default(), None);
    let result = {
        let (program_spec, shared) = (&spec.program, BTreeMap::new());
        Run { spec, program_spec, program, plan, clock, writer, power, halt, kinds, outcome, last_error, shared }
            .all_phases()
    };
    if let Err(error) = &result {
        // If this can't be written either, the first error says more.
        let _ = writer.event(clock.now(), "error", json!({ "message": error.to_string() }));
    }
    result
}

impl Run<'_> {
    fn all_phases(mut self) -> Result<RunOutcome, OltpError> {
        let fields = json!({ "program": self.spec.program.word(), "clients": self.spec.program.clients() });
        self.writer.event(0, "run_begin", fields)?;
        for index in 0..self.spec.phases.len() {
            self.change_program(index);
            if self.phase(index)? == EndedBy::Stopped {
                self.outcome.status = RunStatus::Partial;
                break;
            }
        }
        self.writer.event(self.clock.now(), "run_end", json!({ "status": self.outcome.status.word() }))?;
        Ok(self.outcome)
    }

    /// Switch to the program of a phase that has its own.
    fn change_program(&mut self, index: usize) {
        let Some(program_spec) = &self.spec.phases[index].program else { return };
        if program_spec == self.program_spec {
            return;
        }
        self.program_spec = program_spec;
        self.program = self.spec.program_of(program_spec);
        self.plan = Plan::of(self.spec, program_spec, &self.program);
        self.kinds = self.program.kinds(program_spec.word());
    }

    fn phase(&mut self, index: usize) -> Result<EndedBy, OltpError> {
        let phase = &self.spec.phases[index];
        let clients = self.program_spec.clients();
        let background_clients = u32::from(self.program.is_deferred());
        let sessions = (0..clients + background_clients)
            .map(|_| Session::open(&self.spec.target, &self.plan))
            .collect::<Result<Vec<_>, _>>()
            .map_err(OltpError::database("connecting"))?;
        let begin = (self.clock.now() + LEAD).max(if index == 0 { LEAD } else { 0 });
        let end = begin + phase.time.0;
        let streams: Vec<(&str, u32)> =
            self.kinds.iter().map(|kind| (kind.as_str(), clients + background_clients)).collect();
        self.writer.phase_begin(begin, index as u32, &streams)?;
        let (sender, messages) = channel();
        let outages = Arc::new(Outages::new(begin, end));
        let (deferred_sender, mut deliveries) = (background_clients > 0).then(channel).unzip();
        let shared = Arc::clone(self.shared.entry(self.program_spec.word()).or_insert_with(|| self.program.shared()));
        for (number, session) in (0..).zip(sessions) {
            let name = format!("{}/{}/arrivals/{number}", phase.name, self.program_spec.word());
            let arrivals = self.program_spec.rate().map_or(Arrivals::Closed, |rate| Arrivals::Poisson { rate });
            let random = Random::named(self.spec.seed, &name);
            let delivers = number >= clients;
            let seeds = self.spec.seeds();
            let client = self.program.client(number, clients, seeds, &shared);
            let task = Task {
                target: self.spec.target.clone(),
                plan: self.plan.clone(),
                client: client.thinking(self.program_spec.think_time(), number, seeds),
                number,
                ledger: self.journal(index, number)?,
                session: Some(session),
                queue: (!delivers)
                    .then(|| Schedule::new(&arrivals, None, number, clients, begin, random))
                    .flatten()
                    .map(|schedule| Queue::new(schedule, begin)),
                clock: self.clock,
                boundaries: Boundaries::new(begin, phase.ramp.0, self.spec.interval.0.max(1)),
                phase: index as u32,
                begin,
                end,
                kinds: self.kinds.len(),
                outages: Arc::clone(&outages),
                halt: Arc::clone(&self.halt),
                power: self.power.clone(),
                sender: sender.clone(),
                deferred_sender: deferred_sender.clone().filter(|_| !delivers),
                deferred_receiver: if delivers { deliveries.take() } else { None },
            };
            let started = std::thread::Builder::new().name(format!("client-{number}"));
            started.spawn(move || Worker::new(task).work()).map_err(OltpError::Thread)?;
        }
        drop((sender, deferred_sender));
        let endings = self.watch(index as u32, begin.saturating_add(phase.ramp.0), end, &messages)?;
        self.finish(index as u32, end, clients + background_clients, endings, &outages)
    }

    /// Journal of a client in a phase; phases of a run number their transactions separately.
    fn journal(&self, index: usize, number: u32) -> Result<Option<(i64, Journal)>, OltpError> {
        let (Some(ledger), Some(run)) = (&self.spec.ledger, self.outcome.ledger_run) else { return Ok(None) };
        let run = run + index as i64;
        Ok(Some((run, Journal::begin(&ledger.journal, number, run)?)))
    }

    /// Write what the clients send until the last of them has ended.
    fn watch(
        &mut self,
        index: u32,
        ramped: Nanos,
        end: Nanos,
        messages: &Receiver<Message>,
    ) -> Result<Vec<Ending>, OltpError> {
        let mut endings = Vec::new();
        let mut counts: BTreeMap<(Nanos, Nanos), Counts> = BTreeMap::new();
        let mut ramp_recorded = false;
        loop {
            let message = messages.recv_timeout(WATCH);
            let now = self.clock.now();
            if !ramp_recorded && now >= ramped && ramped < end {
                ramp_recorded = true;
                self.writer.phase_ramped(ramped, index)?;
            }
            if self.writer.control().is_stopping() {
                self.halt.store(true, Ordering::Relaxed);
            }
            match message {
                Ok(Message::Interval { stats, counts: more, begin, end }) => {
                    stats.iter().try_for_each(|stats| self.writer.interval(stats))?;
                    counts.entry((begin, end)).or_default().add(&more);
                    // Two intervals later no client adds to it any more.
                    while counts.len() > 3 {
                        let Some((span, whole)) = counts.pop_first() else { break };
                        self.write_counts(span, &whole)?;
                    }
                }
                Ok(Message::Ended(ending)) => endings.push(*ending),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        counts.iter().try_for_each(|(span, whole)| self.write_counts(*span, whole))?;
        Ok(endings)
    }

    fn write_counts(&mut self, (begin, end): (Nanos, Nanos), counts: &Counts) -> Result<(), OltpError> {
        let rows = [
            ("statement.count", counts.reads + counts.writes + counts.others),
            ("statement.reads", counts.reads),
            ("statement.writes", counts.writes),
            ("statement.others", counts.others),
            ("statement.ledger", counts.ledger),
            ("statement.ended", counts.ended),
            ("load.reconnects", counts.reconnects),
            ("load.unserved", counts.unserved),
            ("load.cpu_ns", counts.cpu_ns),
            ("load.in_flight_ns", counts.in_flight_ns.max(0) as u64),
            ("load.waiting_ns", counts.waiting_ns.max(0) as u64),
        ];
        self.writer.counters((begin, end), self.program_spec.word(), &rows)?;
        for (kind, failures) in self.kinds.iter().zip(&counts.kinds) {
            let rows = [
                ("transaction.retries", failures.retries),
                ("transaction.rolled_back", failures.rolled_back),
                ("transaction.failed", failures.failed),
                ("transaction.ambiguous", failures.ambiguous),
            ];
            self.writer.counters((begin, end), kind, &rows)?;
        }
        Ok(())
    }

    fn finish(
        &mut self,
        index: u32,
        end: Nanos,
        threads: u32,
        mut endings: Vec<Ending>,
        outages: &Outages,
    ) -> Result<EndedBy, OltpError> {
        let now = self.clock.now();
        if endings.len() < threads as usize {
            return Err(OltpError::Panicked(format!("{} of {threads} threads ended normally", endings.len())));
        }
        endings.sort_by_key(|ending| ending.client);
        let steady = |of: fn(&Ending) -> u64| endings.iter().map(of).collect::<Vec<_>>();
        let (done, spent) = (steady(|ending| ending.steady), steady(|ending| ending.steady_ns));
        self.writer.event(now, "clients", json!({ "phase": index, "completed": done, "busy_ns": spent }))?;
        let (mut tally, mut profile) = (None::<Tally>, Profile::default());
        let mut completed = 0;
        for ending in endings {
            if let Some(problem) = ending.problem {
                return Err(problem);
            }
            completed += ending.completed;
            for (code, (count, failure)) in ending.errors {
                *self.outcome.errors.entry(code).or_insert(0) += count;
                self.last_error = Some(failure);
            }
            profile.merge(ending.profile);
            if let Some(mine) = ending.tally {
                tally.get_or_insert_default().merge(&mine);
            }
        }
        self.outcome.completed += completed;
        for outage in outages.of_phase(now.min(end)) {
            self.writer.event(outage.first_error_ns, "outage", json!({ "phase": index, "outage": outage }))?;
        }
        if !self.outcome.errors.is_empty() {
            self.writer.event(now, "errors", json!({ "phase": index, "by_code": self.outcome.errors }))?;
        }
        if profile.statements > 0 {
            self.writer.event(now, "profile", json!({ "phase": index, "profile": profile }))?;
        }
        if let (Some(tally), ProgramSpec::Tpcc(spec)) = (tally, self.program_spec) {
            let findings = audit(&tally, u64::from(spec.warehouses.unwrap_or(1)));
            self.writer.event(now, "mix_audit", json!({ "phase": index, "tally": tally, "findings": findings }))?;
        }
        let stopped = self.halt.load(Ordering::Relaxed);
        let ended_by = if stopped { EndedBy::Stopped } else { EndedBy::Time };
        self.writer.phase_end(now, index, ended_by)?;
        match &self.last_error {
            Some(failure) if completed == 0 && !stopped => Err(OltpError::NothingDone(failure.clone())),
            _ => Ok(ended_by),
        }
    }
}
