//! Terminal of TPC-C: choice of the next transaction, and its state.

use super::super::relation::{Reply, Statement};
use super::super::spec::Manner;
use super::super::transaction::{Place, Step, Transaction};
use super::Tpcc;
use super::audit::Tally;
use super::input::{Customer, Deck, Draw, Input};
use super::names::last_name;
use std::sync::Arc;
use tameshi_base::{Nanos, Random};

/// The number of deliveries among the kinds of transactions in the catalogue.
pub const DELIVERY: usize = 3;
const SECOND: Nanos = 1_000_000_000;
/// Clause 5.2.5.7.
const KEYING: [Nanos; 5] = [18 * SECOND, 3 * SECOND, 2 * SECOND, 2 * SECOND, 2 * SECOND];
/// Means, clause 5.2.5.7.
const THINKING: [Nanos; 5] = [12 * SECOND, 12 * SECOND, 10 * SECOND, 5 * SECOND, 5 * SECOND];

/// A delivery that waits for the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedDelivery {
    /// Warehouse.
    pub warehouse: i64,
    /// Carrier.
    pub carrier: i64,
}

/// State of a transaction.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) stage: u32,
    /// The order's number, or the customer's.
    pub(super) number: i64,
    pub(super) tax: i64,
    pub(super) discount: i64,
    pub(super) total: i64,
    /// The line, the district or the item that it is at.
    pub(super) at: usize,
    pub(super) asked_twice: bool,
    pub(super) list: Vec<i64>,
}

/// A terminal: one client of TPC-C.
#[derive(Clone, Debug)]
pub struct Terminal {
    pub(super) tpcc: Arc<Tpcc>,
    place: Place,
    deck: Deck,
    card: u64,
    think: Random,
    pub(super) draw: Draw,
    home: (i64, i64),
    /// The warehouse of this transaction.
    pub(super) w: i64,
    pub(super) input: Input,
    pub(super) date: i64,
    pub(super) state: State,
    /// The stock's text of the order's district.
    pub(super) dist_info: String,
    /// Names of the warehouse and the district of a payment.
    pub(super) names: String,
    /// Counts of input and outcomes.
    pub tally: Tally,
}

impl Terminal {
    pub(in super::super) fn new(tpcc: Arc<Tpcc>, place: Place) -> Self {
        let shared = tpcc.manner == Manner::TpccMysql;
        let deck = if shared { "tpcc/deck".to_string() } else { format!("tpcc/deck/{}", place.client) };
        let (client, warehouses) = (u64::from(place.client), tpcc.warehouses);
        // Terminals are dealt out to the warehouses in turn, and at each warehouse to its districts
        // in turn.
        let home = (client % warehouses + 1, client / warehouses % tpcc.sizes.districts + 1);
        Self {
            deck: Deck::new(place.seeds.run, deck),
            card: 0,
            think: place.random("tpcc/think"),
            draw: Draw::new(&tpcc, place.seeds.run, place.random("tpcc/input")),
            home: (home.0 as i64, home.1 as i64),
            w: home.0 as i64,
            input: Input::Delivery { carrier: 1 },
            date: 0,
            state: State::default(),
            dist_info: String::new(),
            names: String::new(),
            tally: Tally::default(),
            tpcc,
            place,
        }
    }

    /// Return the warehouse and the district of the terminal; in tpcc-mysql's manner without
    /// meaning.
    pub fn home(&self) -> (i64, i64) {
        self.home
    }

    /// The input of the transaction that runs, and its warehouse.
    pub fn input(&self) -> (i64, &Input) {
        (self.w, &self.input)
    }

    pub(in super::super) fn begin(&mut self, date: i64) -> Transaction {
        let tool = self.tpcc.manner == Manner::TpccMysql;
        let card = if tool {
            self.place.shared.next_card()
        } else {
            self.card += 1;
            self.card - 1
        };
        let kind = self.deck.kind(card);
        let home_district = if tool { self.draw.district() } else { self.home.1 };
        self.w = if tool { self.draw.warehouse() } else { self.home.0 };
        self.input = match kind {
            0 => self.draw.new_order(self.w),
            1 => self.draw.payment(self.w),
            2 => self.draw.order_status(),
            DELIVERY => self.draw.delivery(),
            _ => self.draw.stock_level(home_district),
        };
        self.date = date;
        self.again();
        let waits = self.tpcc.waits;
        let thinking = if waits { self.thinking(THINKING[kind]) } else { 0 };
        Transaction { kind, keying: if waits { KEYING[kind] } else { 0 }, thinking }
    }

    /// Exponentially distributed, cut at ten times the mean (clause 5.2.5.4).
    fn thinking(&mut self, mean: Nanos) -> Nanos {
        (self.think.exponential(mean as f64) as Nanos).min(10 * mean)
    }

    /// The delivery that was drawn, where deliveries are queued: the terminal is done with it once
    /// it is queued.
    pub fn queued(&self) -> Option<QueuedDelivery> {
        match self.input {
            Input::Delivery { carrier } if self.tpcc.deferred => Some(QueuedDelivery { warehouse: self.w, carrier }),
            _ => None,
        }
    }

    /// Takes a queued delivery as the next transaction.
    pub fn begin_delivery(&mut self, queued: QueuedDelivery, date: i64) {
        self.w = queued.warehouse;
        self.input = Input::Delivery { carrier: queued.carrier };
        self.date = date;
        self.again();
    }

    pub(in super::super) fn again(&mut self) {
        let list = std::mem::take(&mut self.state.list);
        self.state = State { list, ..State::default() };
    }

    /// It works as tpcc-mysql does, which counts the customers of a name before it reads them.
    pub(super) fn as_the_tool(&self) -> bool {
        self.tpcc.manner == Manner::TpccMysql
    }

    /// Asks how many customers have the name, or for the customers themselves.
    pub(super) fn ask_name(&self, shape: u16, (w, d): (i64, i64), name: u64, statement: &mut Statement) -> Step {
        statement.of(shape).int(w).int(d).write(|text| last_name(name, text));
        Step::Run
    }

    pub(super) fn customer(&self) -> Customer {
        match self.input {
            Input::Payment { customer, .. } | Input::OrderStatus { customer, .. } => customer,
            _ => Customer::Number(0),
        }
    }

    /// Return the row of the customer with a last name: of n sorted by first name, the one at
    /// n/2, rounded up (clause 2.5.2.2). `None` if no customer has the name.
    pub(super) fn middle(reply: &Reply) -> Option<usize> {
        (reply.rows() > 0).then(|| reply.rows().div_ceil(2) - 1)
    }

    /// Return the total of the last New-Order, in cents (clause 2.4.2.2).
    pub fn total(&self) -> i64 {
        self.state.total
    }
}
