//! Thread of one client: its connection, its transactions, and the handling of failures.

use crate::clock::{Clock, wake_on_time};
use crate::failure::{Failure, FailureKind};
use crate::journal::Journal;
use crate::outage::Outages;
use crate::plan::Plan;
use crate::power::{self, Power};
use crate::profile::Profile;
use crate::session::Session;
use crate::spec::Target;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use tameshi_base::Nanos;
use tameshi_record::interval::Clock as Boundaries;
use tameshi_record::{IntervalStats, Part};
use tameshi_workload::program::tpcc::{DELIVERY, QueuedDelivery, Tally};
use tameshi_workload::program::{Client, Outcome, Reply, Statement, Step};
use tameshi_workload::{Occupancy, Queue};

/// Most attempts of a transaction that the database rolls back, before the client gives it up.
pub const MOST_TRIES: u32 = 100;
/// Pause between two attempts to connect.
const RECONNECT: Nanos = 20_000_000;
/// Lateness threshold of a scheduled transaction.
const LATE: Nanos = 50_000;
/// Index of a transaction in interval statistics.
pub(crate) const TRANSACTION: usize = 5;

/// Transactions of one kind that did not complete, by outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutcomeCounts {
    pub(crate) retries: u64,
    pub(crate) rolled_back: u64,
    pub(crate) failed: u64,
    pub(crate) ambiguous: u64,
}

/// Counts of an interval besides latencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Statements that read, that change data, and that begin or end transactions.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) others: u64,
    /// Statements that only the ledger needs.
    pub(crate) ledger: u64,
    /// Transactions that the database ended; a statement outside a transaction counts as one.
    pub(crate) ended: u64,
    pub(crate) reconnects: u64,
    /// Arrivals that were never begun; their kinds were not drawn.
    pub(crate) unserved: u64,
    pub(crate) cpu_ns: u64,
    /// Transactions begun and not ended, integrated over time.
    pub(crate) in_flight_ns: i64,
    /// Transactions that have arrived and not begun, integrated over time. A client that queues a
    /// delivery adds it, the background client subtracts it.
    pub(crate) waiting_ns: i64,
    /// Outcomes by kind of transaction.
    pub(crate) kinds: Vec<OutcomeCounts>,
}

impl Counts {
    fn of(kinds: usize) -> Self {
        Self { kinds: vec![OutcomeCounts::default(); kinds], ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.ledger += other.ledger;
        self.ended += other.ended;
        self.reconnects += other.reconnects;
        self.unserved += other.unserved;
        self.cpu_ns += other.cpu_ns;
        self.in_flight_ns += other.in_flight_ns;
        self.waiting_ns += other.waiting_ns;
        self.kinds.resize(other.kinds.len(), OutcomeCounts::default());
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.retries += theirs.retries;
            mine.rolled_back += theirs.rolled_back;
            mine.failed += theirs.failed;
            mine.ambiguous += theirs.ambiguous;
        }
    }
}

/// Message from a client to the thread that writes the record.
pub(crate) enum Message {
    /// Statistics by kind of the interval from `begin` to `end`.
    Interval { stats: Vec<IntervalStats>, counts: Counts, begin: Nanos, end: Nanos },
    /// Last message of the thread.
    Ended(Box<Ending>),
}

/// Final state of a client.
#[derive(Default)]
pub(crate) struct Ending {
    pub(crate) tally: Option<Tally>,
    /// Errors by code: their number, and the first of them.
    pub(crate) errors: BTreeMap<String, (u64, Failure)>,
    pub(crate) completed: u64,
    /// Number of the client, its transactions completed after the ramp, and their time.
    pub(crate) client: u32,
    pub(crate) steady: u64,
    pub(crate) steady_ns: Nanos,
    /// Profile of its statements after the ramp, if the server reports one.
    pub(crate) profile: Profile,
    pub(crate) problem: Option<crate::OltpError>,
}

/// Deferred delivery, and its arrival time.
pub(crate) type DeferredDelivery = (QueuedDelivery, Nanos);

/// Everything that one client needs.
pub(crate) struct Task {
    pub(crate) target: Target,
    pub(crate) plan: Plan,
    pub(crate) client: Client,
    pub(crate) number: u32,
    /// Run number in the ledger, and this client's journal.
    pub(crate) ledger: Option<(i64, Journal)>,
    pub(crate) session: Option<Session>,
    pub(crate) queue: Option<Queue>,
    pub(crate) clock: Clock,
    pub(crate) boundaries: Boundaries,
    pub(crate) phase: u32,
    pub(crate) begin: Nanos,
    pub(crate) end: Nanos,
    pub(crate) kinds: usize,
    pub(crate) outages: Arc<Outages>,
    pub(crate) halt: Arc<AtomicBool>,
    pub(crate) power: Power,
    pub(crate) sender: Sender<Message>,
    /// Channel of deferred deliveries: senders queue them, and a background client does nothing but
    /// execute them.
    pub(crate) deferred_sender: Option<Sender<DeferredDelivery>>,
    pub(crate) deferred_receiver: Option<Receiver<DeferredDelivery>>,
}

/// Failed attempt; `committing`: its commit had been sent.
struct FailedTry {
    failure: Failure,
    committing: bool,
}

pub(crate) struct Worker {
    task: Task,
    stats: Vec<IntervalStats>,
    counts: Counts,
    boundary: Nanos,
    interval_begin: Nanos,
    cpu: Nanos,
    reply: Reply,
    statement: Statement,
    ledger_row: Statement,
    ledger_reply: Reply,
    /// Last number given to a transaction.
    ledger_number: u64,
    opened: Nanos,
    in_flight: Occupancy,
    /// Queued deliveries.
    queued: Occupancy,
    ending: Ending,
}

impl Worker {
    pub(crate) fn new(task: Task) -> Self {
        let part = task.boundaries.part(task.begin);
        let empty = |kind| IntervalStats::new(task.phase, kind as u16, part, task.begin);
        Self {
            stats: (0..task.kinds).map(empty).collect(),
            counts: Counts::of(task.kinds),
            boundary: task.boundaries.boundary_after(task.begin),
            interval_begin: task.begin,
            cpu: 0,
            reply: Reply::default(),
            statement: Statement::default(),
            ledger_row: Statement::default(),
            ledger_reply: Reply::default(),
            ledger_number: 0,
            opened: 0,
            in_flight: Occupancy::from(task.begin),
            queued: Occupancy::from(task.begin),
            ending: Ending { client: task.number, ..Ending::default() },
            task,
        }
    }

    /// Run until the phase ends.
    pub(crate) fn work(mut self) {
        wake_on_time();
        let Task { clock, begin, .. } = self.task;
        clock.wait_until(begin, || self.is_halted());
        self.cpu = clock.cpu();
        let queued = self.task.deferred_receiver.take().map(|deliveries| self.deliver(&deliveries));
        if queued.is_none() {
            self.serve();
        }
        // The background client ends when all senders are dropped.
        self.task.deferred_sender = None;
        let due = clock.now().min(self.task.end);
        // A long last transaction ends intervals after the phase's end, in which nothing arrives.
        let end = due.max(self.interval_begin + 1);
        self.rotate(end);
        self.counts.unserved = self.task.queue.as_ref().map_or(0, |queue| queue.unserved_before(due));
        if let Some(queued) = queued {
            self.stats[DELIVERY].unserved = queued;
        }
        self.send(end);
        if let Some((_, journal)) = self.task.ledger.take()
            && let Err(problem) = journal.end(self.ledger_number)
        {
            self.ending.problem.get_or_insert(problem);
        }
        if let Client::Tpcc(terminal) = &self.task.client {
            self.ending.tally = Some(terminal.tally);
        }
        // After a failed run the receiver is gone.
        let _ = self.task.sender.send(Message::Ended(Box::new(self.ending)));
    }

    fn is_halted(&self) -> bool {
        self.task.halt.load(Ordering::Relaxed)
    }

    fn has_ended(&self, now: Nanos) -> bool {
        now >= self.task.end || self.is_halted()
    }

    /// Wait until `at`; close the connection if the power fails meanwhile, since an embedded
    /// database holds its files open.
    fn wait_until(&mut self, at: Nanos) {
        let clock = self.task.clock;
        let lost_power = |worker: &Self| worker.task.session.is_some() && worker.task.power.is_off();
        clock.wait_until(at, || self.is_halted() || lost_power(self));
        if lost_power(self) {
            self.task.outages.lost(clock.now(), self.opened);
            self.task.session = None;
            clock.wait_until(at, || self.is_halted());
        }
    }

    /// Run transactions in closed loop or on the schedule.
    fn serve(&mut self) {
        let clock = self.task.clock;
        loop {
            let now = clock.now();
            self.rotate(now);
            if self.has_ended(now) {
                return;
            }
            let intended = self.task.queue.as_ref().map(Queue::next);
            if intended.is_some_and(|at| at >= self.task.end) {
                return self.wait_until(self.task.end);
            }
            if let Some(at) = intended {
                self.wait_until(at);
            }
            let transaction = self.task.client.begin(clock.date(clock.now()));
            if transaction.keying > 0 {
                self.wait_until(clock.now() + transaction.keying);
            }
            let start = clock.now();
            if self.has_ended(start) && intended.is_none() {
                return;
            }
            self.rotate(start);
            if let Some(queue) = &mut self.task.queue {
                queue.start(start);
            }
            if !self.queued(intended.unwrap_or(start), start) {
                if let Some(at) = intended {
                    self.started(transaction.kind, at, now, start);
                }
                self.transaction(transaction.kind, intended.unwrap_or(start), start);
            }
            if transaction.thinking > 0 {
                self.wait_until(clock.now() + transaction.thinking);
            }
        }
    }

    /// Record the start of a transaction that arrived at `at`; the client was `free` for it from
    /// then on.
    fn started(&mut self, kind: usize, at: Nanos, free: Nanos, start: Nanos) {
        let (stats, slip) = (&mut self.stats[kind], start.saturating_sub(at));
        stats.late += u64::from(slip > LATE);
        stats.started(slip, start.saturating_sub(at.max(free)));
    }

    /// Queue a delivery that arrived at `since` for the background client if deliveries are
    /// deferred; the terminal is then done with it.
    fn queued(&mut self, since: Nanos, now: Nanos) -> bool {
        let (Client::Tpcc(terminal), Some(background)) = (&self.task.client, &self.task.deferred_sender) else {
            return false;
        };
        let Some(delivery) = terminal.queued() else { return false };
        // The receiver is gone only if its thread has died; then the run fails.
        let _ = background.send((delivery, since));
        self.queued.change(1, now);
        true
    }

    /// Execute queued deliveries, whose queue times are their arrivals. Return the number of those
    /// never begun.
    fn deliver(&mut self, deliveries: &Receiver<DeferredDelivery>) -> u64 {
        let clock = self.task.clock;
        loop {
            let free = clock.now();
            self.rotate(free);
            if self.has_ended(free) {
                // Wait until the last terminal has ended.
                return deliveries.iter().count() as u64;
            }
            let waits = self.task.end.saturating_sub(free).min(RECONNECT);
            match deliveries.recv_timeout(clock.wall_time(waits)) {
                Ok((delivery, since)) => {
                    let start = clock.now();
                    self.rotate(start);
                    self.queued.change(-1, start);
                    if let Client::Tpcc(terminal) = &mut self.task.client {
                        terminal.begin_delivery(delivery, clock.date(start));
                    }
                    self.started(DELIVERY, since, free, start);
                    self.transaction(DELIVERY, since, start);
                }
                Err(RecvTimeoutError::Timeout) => self.wait_until(clock.now()),
                Err(RecvTimeoutError::Disconnected) => self.wait_until(self.task.end),
            }
        }
    }

    /// Run one transaction to its end, and count the time that it is in flight.
    fn transaction(&mut self, kind: usize, intended: Nanos, start: Nanos) {
        self.in_flight.change(1, start);
        let ended = self.run_to_end(kind, intended, start);
        let end = ended.unwrap_or_else(|| self.task.clock.now());
        self.in_flight.change(-1, end);
    }

    /// Run one transaction to its end, through retries and failures. Return the time of its
    /// completion, if it completes.
    fn run_to_end(&mut self, kind: usize, intended: Nanos, start: Nanos) -> Option<Nanos> {
        let mut tries = 0;
        loop {
            if self.task.session.is_none() && !self.reconnect() {
                return None;
            }
            let FailedTry { failure, committing } = match self.attempt() {
                Ok(outcome) => {
                    self.reconnect_if_due();
                    let end = self.completed(kind, intended, start, outcome);
                    self.profile(kind);
                    return Some(end);
                }
                Err(failed) => failed,
            };
            let failure_kind = failure.failure_kind;
            self.count_error(failure);
            match failure_kind {
                FailureKind::Retry if tries < MOST_TRIES => {
                    tries += 1;
                    self.counts.kinds[kind].retries += 1;
                    self.roll_back();
                    self.task.client.again();
                }
                FailureKind::Lost => {
                    self.task.outages.lost(self.task.clock.now(), self.opened);
                    self.task.session = None;
                    // A server may accept connections and refuse all statements.
                    self.task.clock.wait_until(self.opened + RECONNECT, || self.is_halted());
                    if committing {
                        // It may have been committed; a retry could commit it twice.
                        self.counts.kinds[kind].ambiguous += 1;
                        return None;
                    }
                    self.task.client.again();
                }
                FailureKind::Unknown | FailureKind::Retry | FailureKind::Final => {
                    let (counts, is_open) = (&mut self.counts.kinds[kind], failure_kind == FailureKind::Unknown);
                    *(if is_open { &mut counts.ambiguous } else { &mut counts.failed }) += 1;
                    self.roll_back();
                    return None;
                }
            }
            if self.has_ended(self.task.clock.now()) {
                return None;
            }
        }
    }

    /// Reconnect if due; the time counts to the last transaction, as in sysbench.
    fn reconnect_if_due(&mut self) {
        if self.task.plan.reconnect.is_some_and(|every| (self.ending.completed + 1).is_multiple_of(every)) {
            self.task.session = None;
            self.reconnect();
        }
    }

    /// Ask for the profile of the last statement. Missing data are left out; the next statement
    /// notices a lost connection.
    fn profile(&mut self, kind: usize) {
        if !self.task.plan.profiled {
            return;
        }
        let Some(Ok(Some(stages))) = self.task.session.as_mut().map(Session::profile) else { return };
        self.counts.others += 1;
        if self.stats[kind].part != Part::Ramp {
            self.ending.profile.take(stages);
        }
    }

    fn roll_back(&mut self) {
        let Some(session) = &mut self.task.session else { return };
        self.counts.others += 1;
        self.counts.ended += 1;
        if let Err(failure) = session.roll_back() {
            self.count_error(failure);
            self.task.outages.lost(self.task.clock.now(), self.opened);
            self.task.session = None;
        }
    }

    fn count_error(&mut self, failure: Failure) {
        self.ending.errors.entry(failure.code.clone()).or_insert((0, failure)).0 += 1;
    }

    /// Try to connect until it succeeds; `false` if the phase ends first.
    fn reconnect(&mut self) -> bool {
        loop {
            let now = self.task.clock.now();
            self.rotate(now);
            if self.has_ended(now) {
                return false;
            }
            let opened = match self.task.power.is_off() {
                true => Err(power::failure()),
                false => Session::open(&self.task.target, &self.task.plan),
            };
            match opened {
                Ok(session) => {
                    self.task.session = Some(session);
                    self.opened = self.task.clock.now();
                    self.counts.reconnects += 1;
                    return true;
                }
                Err(failure) => {
                    self.task.outages.lost(now, self.opened);
                    self.count_error(failure);
                    self.task.clock.wait_until(now + RECONNECT, || self.is_halted());
                }
            }
        }
    }

    fn attempt(&mut self) -> Result<Outcome, FailedTry> {
        let Some(mut session) = self.task.session.take() else {
            return Err(FailedTry { failure: Failure::new(FailureKind::Lost, "no connection", ""), committing: false });
        };
        let outcome = self.steps(&mut session);
        self.task.session = Some(session);
        // An answer after a power failure counts as not received.
        match outcome {
            Ok(_) if self.task.power.is_off() => Err(FailedTry { failure: power::failure(), committing: true }),
            Err(broken) if self.task.power.is_off() => Err(FailedTry { failure: power::failure(), ..broken }),
            heard => heard,
        }
    }

    fn steps(&mut self, session: &mut Session) -> Result<Outcome, FailedTry> {
        let broken = |committing| move |failure| FailedTry { failure, committing };
        let (mut inside, mut wrote) = (false, false);
        loop {
            match self.task.client.next(&self.reply, &mut self.statement) {
                Step::Begin { writes } => {
                    self.counts.others += u64::from(session.says_begin());
                    session.begin(writes).map_err(broken(false))?;
                    (inside, wrote) = (true, false);
                }
                Step::Run => {
                    let writes = self.task.plan.writes(self.statement.shape);
                    wrote |= writes;
                    *(if writes { &mut self.counts.writes } else { &mut self.counts.reads }) += 1;
                    if inside || !writes {
                        self.counts.ended += u64::from(!inside);
                        session.run(&self.statement, &mut self.reply).map_err(broken(false))?;
                    } else if self.task.ledger.is_some() {
                        self.counts.ledger += u64::from(session.says_begin());
                        session.begin(true).map_err(broken(false))?;
                        session.run(&self.statement, &mut self.reply).map_err(broken(false))?;
                        self.commit(session, true, false)?;
                    } else {
                        self.counts.ended += 1;
                        session.run(&self.statement, &mut self.reply).map_err(broken(true))?;
                    }
                }
                Step::Commit => {
                    self.commit(session, wrote, true)?;
                    inside = false;
                }
                Step::Rollback => {
                    self.counts.others += 1;
                    self.counts.ended += 1;
                    session.roll_back().map_err(broken(false))?;
                    inside = false;
                }
                Step::Done(Outcome::Missing(what)) => {
                    let failure = Failure::new(FailureKind::Final, "missing row", format!("there is no {what}"));
                    return Err(FailedTry { failure, committing: false });
                }
                Step::Done(outcome) => return Ok(outcome),
            }
        }
    }

    /// Commit; if the transaction wrote, add a row to the ledger first. `asked`: the program asks
    /// for the commit, not only the ledger.
    fn commit(&mut self, session: &mut Session, wrote: bool, asked: bool) -> Result<(), FailedTry> {
        let mut numbered = None;
        if let (Some((run, _)), Some(shape), true) = (&self.task.ledger, self.task.plan.ledger, wrote) {
            self.ledger_number += 1;
            self.counts.ledger += 1;
            let row = self.ledger_row.of(shape);
            row.int(*run).int(i64::from(self.task.number)).int(self.ledger_number as i64);
            let written = session.run(&self.ledger_row, &mut self.ledger_reply);
            written.map_err(|failure| FailedTry { failure, committing: false })?;
            numbered = Some(self.ledger_number);
        }
        *(if asked { &mut self.counts.others } else { &mut self.counts.ledger }) += 1;
        self.counts.ended += 1;
        let committed = session.commit();
        if let (Some(number), Some((_, journal))) = (numbered, &mut self.task.ledger) {
            match &committed {
                _ if self.task.power.is_off() => journal.ambiguous(number),
                Ok(()) => journal.acknowledged(number),
                Err(failure) if failure.may_be_committed() => journal.ambiguous(number),
                Err(_) => {}
            }
        }
        committed.map_err(|failure| FailedTry { failure, committing: true })
    }

    /// Count a completed transaction. Return the time of its end.
    fn completed(&mut self, kind: usize, intended: Nanos, start: Nanos, outcome: Outcome) -> Nanos {
        let now = self.task.clock.now();
        self.rotate(now);
        let stats = &mut self.stats[kind];
        stats.record(TRANSACTION, 0, now.saturating_sub(intended));
        stats.service_ns_sum += now.saturating_sub(start);
        self.counts.kinds[kind].rolled_back += u64::from(outcome == Outcome::RolledBack);
        self.ending.completed += 1;
        if stats.part != Part::Ramp {
            self.ending.steady += 1;
            self.ending.steady_ns += now.saturating_sub(intended);
        }
        self.task.outages.completed(now, self.opened);
        now
    }

    /// Send every interval that has ended by `now`.
    fn rotate(&mut self, now: Nanos) {
        while now >= self.boundary {
            let boundary = self.boundary;
            self.send(boundary);
            self.boundary = self.task.boundaries.boundary_after(boundary);
        }
    }

    fn send(&mut self, end: Nanos) {
        if end <= self.interval_begin {
            return;
        }
        let cpu = self.task.clock.cpu();
        self.counts.cpu_ns = cpu.saturating_sub(self.cpu);
        self.cpu = cpu;
        self.counts.in_flight_ns = self.in_flight.take(end);
        let waited = self.task.queue.as_mut().map_or(0, |queue| queue.take_waited(end));
        self.counts.waiting_ns = waited as i64 + self.queued.take(end);
        if let Some((_, journal)) = &mut self.task.ledger
            && let Err(problem) = journal.write()
        {
            self.ending.problem.get_or_insert(problem);
            self.task.halt.store(true, Ordering::Relaxed);
        }
        let part: Part = self.task.boundaries.part(end);
        let fresh = |kind| IntervalStats::new(self.task.phase, kind as u16, part, end);
        let next = (0..self.task.kinds).map(fresh).collect();
        let mut stats = std::mem::replace(&mut self.stats, next);
        stats.iter_mut().for_each(|stats| stats.end = end);
        let counts = std::mem::replace(&mut self.counts, Counts::of(self.task.kinds));
        let _ = self.task.sender.send(Message::Interval { stats, counts, begin: self.interval_begin, end });
        self.interval_begin = end;
    }
}
