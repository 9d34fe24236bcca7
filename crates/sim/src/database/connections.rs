//! Connections between transactions: arrivals, pauses, and deliveries in the background.
//!
//! In open loop each connection begins a transaction when it arrives, else after the one before.
//! Queued deliveries (TPC-C, clause 2.7.2) end their terminal's transaction at once; one more
//! connection carries them out in their order, as in the measured world.

use super::connection::{After, Connection, Stage};
use super::counters::{CLIENT_COUNTS, ClientCount, WaitReason};
use super::port::Alarm;
use super::prefetch;
use super::statements::Statements;
use super::store::{Effect, Store};
use std::collections::VecDeque;
use tameshi_base::{Nanos, Random};
use tameshi_record::{RecordError, Writer};
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::program::tpcc::{DELIVERY, QueuedDelivery};
use tameshi_workload::program::{Client, ProgramSpec, Transaction};
use tameshi_workload::{Arrivals, Occupancy, Queue, QueueTime, Schedule};

/// Virtual dates: 2020-01-01, in seconds since 1970.
pub(super) const EPOCH: i64 = 1_577_836_800;

/// Transaction that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) kind: usize,
    /// From its begin to its end; from its arrival in open loop, or where it was queued.
    pub(crate) latency: Nanos,
    /// From its arrival to its begin.
    pub(crate) late: Option<Nanos>,
}

/// State of the server towards its clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Admission {
    #[default]
    Open,
    /// It shuts down, and refuses new statements.
    Closing,
    /// It doesn't answer.
    Down,
}

/// All connections of a phase.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pub(super) list: Vec<Connection>,
    /// Connections that may proceed, in their order.
    pub(super) ready: VecDeque<u32>,
    pub(super) admission: Admission,
    /// The last connection carries out queued deliveries.
    has_deliverer: bool,
    /// Queued deliveries, and their arrivals.
    deliveries: VecDeque<(QueuedDelivery, Nanos)>,
    /// Number of queued deliveries, and of transactions begun and not ended.
    waiting: Occupancy,
    in_flight: Occupancy,
    pub(super) ended: Vec<Ended>,
    /// Counts of the interval.
    pub(super) counts: [u64; CLIENT_COUNTS],
    /// Transactions since the phase's ramp, and their total time, by connection.
    pub(super) done: Vec<(u64, Nanos)>,
    ramp_end: Nanos,
    /// The phase is over: no transaction begins any more.
    pub(super) is_closing: bool,
    /// Connections that have not ended.
    pub(super) active: usize,
}

impl Connections {
    /// No connections, before the first phase.
    pub(super) fn new() -> Self {
        Self { is_closing: true, ..Self::default() }
    }

    /// Connect the clients of a phase.
    pub(super) fn begin(&mut self, now: Nanos, phase: &PhaseSpec, spec: &ProgramSpec, statements: &Statements) {
        let (clients, program, seeds) = (spec.clients(), &statements.program, statements.seeds);
        self.has_deliverer = program.is_deferred();
        let count = clients + u32::from(self.has_deliverer);
        let shared = program.shared();
        let client = |number| program.client(number, clients, seeds, &shared);
        let thinking = |number| client(number).thinking(spec.think_time(), number, seeds);
        self.list.clear();
        let work = |number| Random::named(seeds.run, &format!("{}/work/{number}", phase.name));
        self.list.extend((0..count).map(|number| Connection::new(thinking(number), now, work(number))));
        self.deliveries.clear();
        (self.waiting, self.in_flight) = (Occupancy::from(now), Occupancy::from(now));
        (self.ramp_end, self.done) = (now + phase.ramp.0, vec![(0, 0); count as usize]);
        (self.is_closing, self.active) = (false, count as usize);
        let Some(rate) = spec.rate() else { return };
        for (number, connection) in (0..clients).zip(&mut self.list) {
            // The arrivals of a real server's client.
            let name = format!("{}/{}/arrivals/{number}", phase.name, spec.word());
            let random = Random::named(seeds.run, &name);
            let schedule = Schedule::new(&Arrivals::Poisson { rate }, None, number, clients, now, random);
            connection.queue = schedule.map(|schedule| Queue::new(schedule, now));
        }
    }

    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.list.len() as u32
    }

    pub(super) fn get(&mut self, number: u32) -> &mut Connection {
        &mut self.list[number as usize]
    }

    pub(super) fn stage(&self, number: u32) -> Stage {
        self.list[number as usize].stage
    }

    pub(super) fn count(&mut self, count: ClientCount) {
        self.counts[count as usize] += 1;
    }

    /// Let a connection resume its plan.
    pub(super) fn make_ready(&mut self, number: u32, store: &mut Store) {
        self.get(number).enter(Stage::Planned, WaitReason::Processor, store);
        self.ready.push_back(number);
    }

    /// Let a connection take the next step of its transaction.
    pub(super) fn make_next(&mut self, number: u32, store: &mut Store) {
        self.get(number).enter(Stage::Next, WaitReason::Processor, store);
        self.ready.push_back(number);
    }

    /// Apply the effects of operations on pages.
    #[inline]
    pub(super) fn apply_effects(&mut self, store: &mut Store) {
        if !store.effects.is_empty() {
            self.apply_each(store);
        }
    }

    fn apply_each(&mut self, store: &mut Store) {
        let mut effects = std::mem::take(&mut store.effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Resume(number) => self.make_ready(number, store),
                Effect::PlanStatement(number) => self.plan_statement(number),
                Effect::AwaitFreePage(number) => {
                    self.get(number).enter(Stage::Waiting, WaitReason::FreePage, store);
                }
            }
        }
        store.effects = effects;
    }

    /// Let a client that waited for room in the log plan its statement.
    pub(super) fn plan_statement(&mut self, number: u32) {
        self.get(number).cursor.waited = true;
        self.ready.push_back(number);
    }

    /// Account for the time of all connections up to `end`.
    pub(super) fn account(&mut self, end: Nanos, store: &mut Store) {
        for connection in self.list.iter_mut().filter(|connection| connection.stage != Stage::Ended) {
            connection.account(end, store);
            connection.since = end;
        }
    }

    fn end(&mut self, number: u32, store: &mut Store) {
        self.get(number).enter(Stage::Ended, WaitReason::Thinking, store);
        self.active -= 1;
    }

    /// End the connections whose users pause when the phase ends.
    pub(super) fn end_idle(&mut self, store: &mut Store) {
        for number in self.numbers() {
            if self.stage(number).is_users() {
                self.end(number, store);
            }
        }
    }

    /// End all connections: the phase ends, and the server will not come back.
    pub(super) fn end_all(&mut self, store: &mut Store) {
        self.ready.clear();
        for number in self.numbers() {
            if self.stage(number) != Stage::Ended {
                self.end(number, store);
            }
        }
    }

    /// Number of the connection that carries out queued deliveries.
    fn deliverer(&self) -> Option<u32> {
        self.has_deliverer.then(|| self.list.len() as u32 - 1)
    }

    /// Begin a connection's next transaction, or wait until it arrives.
    pub(super) fn begin_transaction(&mut self, number: u32, store: &mut Store, statements: &Statements) {
        if self.is_closing {
            return self.end(number, store);
        }
        if self.deliverer() == Some(number) {
            return self.deliver(number, store, statements);
        }
        let connection = self.get(number);
        if let Some(queue) = &connection.queue {
            let at = queue.next();
            connection.arrived = Some(at);
            if at > store.port.now {
                connection.enter(Stage::Idle, WaitReason::Thinking, store);
                return store.port.alarm(at, Alarm::Client(number));
            }
        }
        self.draw(number, store, statements);
    }

    /// Draw a connection's transaction, and begin it after its keying time.
    pub(super) fn draw(&mut self, number: u32, store: &mut Store, statements: &Statements) {
        let connection = self.get(number);
        connection.transaction = connection.client.begin(date(store.port.now));
        let keying = connection.transaction.keying;
        prefetch::for_transaction(&connection.client, &statements.logic, &store.pool, &store.layout);
        if keying > 0 {
            connection.enter(Stage::Keying, WaitReason::Thinking, store);
            store.port.alarm(store.port.now + keying, Alarm::Client(number));
        } else {
            self.start(number, store, statements);
        }
    }

    /// Start a connection's transaction; queue it, if it is a delivery of a terminal.
    pub(super) fn start(&mut self, number: u32, store: &mut Store, statements: &Statements) {
        let now = store.port.now;
        let connection = self.get(number);
        connection.began = now;
        if let Some(queue) = &mut connection.queue {
            queue.start(now);
        }
        if let Some(delivery) = self.delivery_of(number) {
            let arrived = self.get(number).arrived.unwrap_or(now);
            self.deliveries.push_back((delivery, arrived));
            self.waiting.change(1, now);
            if let Some(deliverer) = self.deliverer().filter(|&of| self.stage(of) == Stage::Idle) {
                self.deliver(deliverer, store, statements);
            }
            return self.end_transaction(number, store, statements);
        }
        self.in_flight.change(1, now);
        if self.admission == Admission::Closing {
            return self.get(number).enter(Stage::Refused, WaitReason::Outage, store);
        }
        let is_down = self.admission == Admission::Down;
        let why = if is_down { WaitReason::Outage } else { WaitReason::Processor };
        self.get(number).enter(Stage::Next, why, store);
        self.ready.push_back(number);
    }

    /// Delivery that a terminal's transaction queues.
    fn delivery_of(&self, number: u32) -> Option<QueuedDelivery> {
        self.deliverer().filter(|&deliverer| deliverer != number)?;
        match &self.list[number as usize].client {
            Client::Tpcc(terminal) => terminal.queued(),
            _ => None,
        }
    }

    /// Carry out the next queued delivery, whose latency runs from its arrival, or wait for one.
    fn deliver(&mut self, deliverer: u32, store: &mut Store, statements: &Statements) {
        let Some((delivery, arrived)) = self.deliveries.pop_front() else {
            return self.get(deliverer).enter(Stage::Idle, WaitReason::Thinking, store);
        };
        self.waiting.change(-1, store.port.now);
        let connection = self.get(deliverer);
        if let Client::Tpcc(terminal) = &mut connection.client {
            terminal.begin_delivery(delivery, date(store.port.now));
        }
        connection.transaction = Transaction { kind: DELIVERY, keying: 0, thinking: 0 };
        connection.arrived = Some(arrived);
        self.start(deliverer, store, statements);
    }

    /// Report a transaction that the server has ended, and go on to the next one.
    pub(super) fn finish(&mut self, number: u32, store: &mut Store, statements: &Statements) {
        let (now, connection) = (store.port.now, &self.list[number as usize]);
        self.in_flight.change(-1, now);
        let (kind, took) = (connection.transaction.kind, now - connection.began);
        let late = connection.arrived.map(|at| connection.began - at);
        self.ended.push(Ended { kind, latency: took + late.unwrap_or(0), late });
        if now >= self.ramp_end && !self.is_closing {
            let done = &mut self.done[number as usize];
            *done = (done.0 + 1, done.1 + took);
        }
        self.end_transaction(number, store, statements);
    }

    /// Let the user of an ended transaction think, or begin the next one.
    fn end_transaction(&mut self, number: u32, store: &mut Store, statements: &Statements) {
        let thinking = self.get(number).transaction.thinking;
        if thinking == 0 || self.is_closing {
            return self.begin_transaction(number, store, statements);
        }
        self.get(number).enter(Stage::Thinking, WaitReason::Thinking, store);
        store.port.alarm(store.port.now + thinking, Alarm::Client(number));
    }

    /// Cut a connection off: the server has ended. The client begins its transaction again, or
    /// never hears of its commit.
    pub(super) fn cut_off(&mut self, number: u32, store: &mut Store, statements: &mut Statements) {
        let connection = self.get(number);
        match connection.stage {
            Stage::Thinking | Stage::Keying | Stage::Idle | Stage::Ended => return,
            Stage::Log
            | Stage::Prepare
            | Stage::Group
            | Stage::Working(After::Commit)
            | Stage::HeldUp(After::Commit)
                if connection.stage.is_committing() || connection.changes.wrote =>
            {
                connection.changes.undo.clear();
                connection.abandon();
                self.count(ClientCount::Ambiguous);
                self.in_flight.change(-1, store.port.now);
                if let Some(durability) = &mut store.log.durability {
                    durability.ledger.ambiguous += 1;
                }
                self.begin_transaction(number, store, statements);
            }
            Stage::Refused => self.ready.push_back(number),
            _ => {
                statements.roll_back(&mut connection.changes.undo);
                connection.changes.undo.clear();
                connection.client.again();
                connection.abandon();
                self.count(ClientCount::Retries);
                self.ready.push_back(number);
            }
        }
        let connection = self.get(number);
        match connection.stage {
            Stage::Ended => {}
            stage if stage.is_users() => connection.enter(stage, WaitReason::Thinking, store),
            _ => connection.enter(Stage::Next, WaitReason::Outage, store),
        }
    }

    /// Let all refused connections take their next step once the server answers.
    pub(super) fn queue_refused(&mut self) {
        let refused = (0..).zip(&self.list).filter(|(_, connection)| connection.stage == Stage::Refused);
        self.ready.extend(refused.map(|(number, _)| number));
    }

    /// Let the ready connections of a restarted server take their next steps.
    pub(super) fn restart_ready(&mut self, store: &mut Store) {
        for place in 0..self.ready.len() {
            let number = self.ready[place];
            self.get(number).enter(Stage::Next, WaitReason::Processor, store);
        }
    }

    /// Begin of the oldest transaction in the server; `now` without any.
    pub(super) fn oldest_begin(&self, now: Nanos) -> Nanos {
        let active = self.list.iter().filter(|connection| !connection.stage.is_outside());
        active.map(|connection| connection.began).min().unwrap_or(now)
    }

    /// Take the integrals of transactions that wait, and of those under way, in the interval that
    /// ends at `end`.
    pub(super) fn take_queue_time(&mut self, end: Nanos) -> QueueTime {
        let queues = self.list.iter_mut().filter_map(|connection| connection.queue.as_mut());
        let arrived: u64 = queues.map(|queue| queue.take_waited(end)).sum();
        let waiting_ns = arrived + self.waiting.take(end).max(0) as u64;
        QueueTime { in_flight_ns: self.in_flight.take(end).max(0) as u64, waiting_ns }
    }

    /// Return whether no connection pauses or waits for arrivals between transactions.
    pub(super) fn is_unpaced(&self) -> bool {
        let unpaced = |connection: &Connection| connection.pause() == 0 && connection.queue.is_none();
        !self.has_deliverer && self.list.iter().all(unpaced)
    }

    /// Record the arrivals before `end` that no connection has begun, and deliveries that are still
    /// queued. The arrivals count for the program as a whole: their kinds have not been drawn.
    pub(super) fn write_unserved(
        &self,
        (begin, end): (Nanos, Nanos),
        (word, statements): (&str, &Statements),
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let queues = self.list.iter().filter_map(|connection| connection.queue.as_ref());
        let arrived: u64 = queues.map(|queue| queue.unserved_before(end)).sum();
        let queued = self.deliveries.len() as u64;
        if arrived > 0 {
            writer.counters((begin, end), word, &[("load.unserved", arrived)])?;
        }
        if queued > 0 {
            writer.counters((begin, end), &statements.program.kinds(word)[DELIVERY], &[("load.unserved", queued)])?;
        }
        Ok(())
    }
}

/// Date at a virtual time, in seconds since 1970.
fn date(now: Nanos) -> i64 {
    EPOCH + (now / 1_000_000_000) as i64
}
