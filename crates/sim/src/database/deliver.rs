//! Deliveries that are queued (TPC-C, clause 2.7.2): their terminals are done with them at once, and one more connection carries
//! them out in their order, as in the measured world.

use super::Engine;
use super::counters::Why;
use super::stage::Stage;
use tameshi_base::Nanos;
use tameshi_workload::program::tpcc::{DELIVERY, QueuedDelivery};
use tameshi_workload::program::{Client, Transaction};

impl Engine {
    /// The client that carries out queued deliveries, where they are queued: the last one.
    pub(super) fn deliverer(&self) -> Option<u32> {
        self.program.is_deferred().then(|| self.clients.len() as u32 - 1)
    }

    /// What a terminal that begins its transaction is to queue.
    pub(super) fn delivery_of(&self, client: u32) -> Option<QueuedDelivery> {
        self.deliverer().filter(|&deliverer| deliverer != client)?;
        match &self.clients[client as usize].client {
            Client::Tpcc(terminal) => terminal.queued(),
            _ => None,
        }
    }

    /// A delivery that arrived at `since` waits from now on; the background takes it up if it has nothing to do.
    pub(super) fn queue_delivery(&mut self, delivery: QueuedDelivery, since: Nanos) {
        self.deliveries.push_back((delivery, since));
        if let Some(deliverer) = self.deliverer().filter(|&of| self.clients[of as usize].stage == Stage::Idle) {
            self.deliver(deliverer);
        }
    }

    /// The background takes up the next delivery, or waits for one. Its latency runs from when it arrived.
    pub(super) fn deliver(&mut self, deliverer: u32) {
        let Some((delivery, since)) = self.deliveries.pop_front() else {
            return self.turns(deliverer, Stage::Idle, Why::Thinking);
        };
        let date = self.date();
        let seat = &mut self.clients[deliverer as usize];
        if let Client::Tpcc(terminal) = &mut seat.client {
            terminal.begin_delivery(delivery, date);
        }
        seat.transaction = Transaction { kind: DELIVERY, keying: 0, thinking: 0 };
        seat.arrived = Some(since);
        self.started(deliverer);
    }
}
