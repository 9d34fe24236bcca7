//! When clients begin their transactions: one after the other, or in open loop when they arrive.

use super::counters::Why;
use super::stage::Stage;
use super::{Alarm, Ended, Engine};
use tameshi_base::{Nanos, Random};
use tameshi_record::{RecordError, Writer};
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::program::ProgramSpec;
use tameshi_workload::program::tpcc::DELIVERY;
use tameshi_workload::{Arrivals, Schedule};

/// Virtual dates: 2020-01-01, in seconds since 1970.
pub(super) const EPOCH: i64 = 1_577_836_800;

impl Engine {
    /// In open loop each client has its share of the arrivals, the same as on a real server.
    pub(super) fn schedule(&mut self, phase: &PhaseSpec, drives: &ProgramSpec) {
        let Some(rate) = drives.rate() else { return };
        let (count, now) = (drives.clients(), self.now);
        for (number, seat) in (0..count).zip(&mut self.clients) {
            let name = format!("{}/{}/arrivals/{number}", phase.name, drives.word());
            let random = Random::named(self.seeds.run, &name);
            seat.schedule = Schedule::new(&Arrivals::Poisson { rate }, None, number, count, now, random);
        }
    }

    /// Tells at the phase's end what nobody has begun: arrivals, of the program as a whole, as nobody has drawn of
    /// which kind they would have been, and deliveries that are still queued.
    pub(crate) fn write_unserved(
        &self,
        (begin, end): (Nanos, Nanos),
        word: &str,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let schedules = self.clients.iter().filter_map(|seat| seat.schedule.as_ref());
        let (arrived, queued) = (schedules.map(|of| of.unserved_before(end)).sum(), self.deliveries.len() as u64);
        if arrived > 0 {
            writer.counters((begin, end), word, &[("load.unserved", arrived)])?;
        }
        if queued > 0 {
            writer.counters((begin, end), &self.program.kinds(word)[DELIVERY], &[("load.unserved", queued)])?;
        }
        Ok(())
    }

    /// Clients whose users think when the phase ends, or wait for an arrival, are done.
    pub(super) fn end_idle_clients(&mut self) {
        for client in 0..self.clients.len() {
            if self.clients[client].stage.is_users() {
                self.turns(client as u32, Stage::Ended, Why::Thinking);
                self.active -= 1;
            }
        }
    }

    /// A client begins its next transaction, if there is one, or waits until it arrives.
    pub(super) fn begin_transaction(&mut self, client: u32) {
        if self.closing {
            self.turns(client, Stage::Ended, Why::Thinking);
            self.active -= 1;
            return;
        }
        if self.deliverer() == Some(client) {
            return self.deliver(client);
        }
        let seat = &mut self.clients[client as usize];
        if let Some(schedule) = &mut seat.schedule {
            let at = schedule.next();
            schedule.advance();
            seat.arrived = Some(at);
            if at > self.now {
                self.turns(client, Stage::Idle, Why::Thinking);
                return self.alarm(at, Alarm::Client(client));
            }
        }
        self.draw(client);
    }

    /// A client draws its transaction, and its user types.
    pub(super) fn draw(&mut self, client: u32) {
        let date = self.date();
        let seat = &mut self.clients[client as usize];
        seat.transaction = seat.client.begin(date);
        let keying = seat.transaction.keying;
        self.outlook_of(client);
        if keying > 0 {
            self.turns(client, Stage::Typing, Why::Thinking);
            self.alarm(self.now + keying, Alarm::Client(client));
        } else {
            self.started(client);
        }
    }

    /// The date, in seconds since 1970.
    pub(super) fn date(&self) -> i64 {
        EPOCH + (self.now / 1_000_000_000) as i64
    }

    /// A client's transaction begins.
    pub(super) fn started(&mut self, client: u32) {
        self.clients[client as usize].began = self.now;
        if let Some(delivery) = self.delivery_of(client) {
            let since = self.clients[client as usize].arrived.unwrap_or(self.now);
            self.queue_delivery(delivery, since);
            return self.done_with_transaction(client);
        }
        if self.is_shutting_down() {
            return self.turns(client, Stage::Outside, Why::Outage);
        }
        let why = if self.is_down() { Why::Outage } else { Why::Processor };
        self.turns(client, Stage::Next, why);
        self.ready.push_back(client);
    }

    /// The server has ended a client's transaction, whose latency runs from its arrival, if it had one.
    pub(super) fn finish(&mut self, client: u32) {
        if let Some(watch) = &mut self.watch {
            watch.complete(self.now);
        }
        let seat = &self.clients[client as usize];
        let (kind, took) = (seat.transaction.kind, self.now - seat.began);
        let late = seat.arrived.map(|at| seat.began - at);
        self.ended.push(Ended { kind, latency: took + late.unwrap_or(0), late });
        if self.now >= self.done.0 && !self.closing {
            let done = &mut self.done.1[client as usize];
            *done = (done.0 + 1, done.1 + took);
        }
        self.done_with_transaction(client);
    }

    /// A client is done with its transaction: its user thinks, or the next one begins.
    fn done_with_transaction(&mut self, client: u32) {
        let thinking = self.clients[client as usize].transaction.thinking;
        if thinking == 0 || self.closing {
            self.begin_transaction(client);
            return;
        }
        self.turns(client, Stage::Thinking, Why::Thinking);
        self.alarm(self.now + thinking, Alarm::Client(client));
    }
}
