//! One connection of a program.

use super::relation::{Reply, Statement};
use super::transaction::{Seeds, Step, Transaction};
use super::{document, key_update, oltp, pgbench, scan, tpcc, ycsb};
use tameshi_base::{Nanos, Random, Time};

/// One connection of a program.
#[derive(Clone, Debug)]
pub enum Client {
    /// A terminal of TPC-C.
    Tpcc(Box<tpcc::Terminal>),
    /// A thread of sysbench.
    Oltp(oltp::Client),
    /// Updates single rows.
    KeyUpdate(key_update::Client),
    /// Scans.
    Scan(scan::Client),
    /// A thread of YCSB.
    Ycsb(ycsb::Client),
    /// Ingests or queries documents.
    Document(document::Client),
    /// A client of pgbench.
    Pgbench(pgbench::Client),
    /// Any program but TPC-C, with think time.
    Thinking(Box<Thinking>),
}

impl Client {
    /// The same client, number `number` of its run, whose user thinks for `mean` after each
    /// transaction; as it is where that is no time.
    #[must_use]
    pub fn thinking(self, mean: Time, number: u32, seeds: Seeds) -> Self {
        if mean.0 == 0 {
            return self;
        }
        let random = Random::named(seeds.run, &format!("program/thinking/{number}"));
        Self::Thinking(Box::new(Thinking::new(self, mean.0, random)))
    }

    /// Draws the next transaction with all its input. `date` is its date, in seconds since 1970.
    pub fn begin(&mut self, date: i64) -> Transaction {
        match self {
            Self::Tpcc(client) => client.begin(date),
            Self::Oltp(client) => client.begin(),
            Self::KeyUpdate(client) => client.begin(),
            Self::Scan(client) => client.begin(),
            Self::Ycsb(client) => client.begin(),
            Self::Document(client) => client.begin(date),
            Self::Pgbench(client) => client.begin(date),
            Self::Thinking(of) => of.begin(date),
        }
    }

    /// The next step; a statement is put into `statement`. `reply` belongs to the statement before,
    /// and is looked at only where there was one.
    pub fn next(&mut self, reply: &Reply, statement: &mut Statement) -> Step {
        match self {
            Self::Tpcc(client) => client.next(reply, statement),
            Self::Oltp(client) => client.next(statement),
            Self::KeyUpdate(client) => client.next(statement),
            Self::Scan(client) => client.next(statement),
            Self::Ycsb(client) => client.next(statement),
            Self::Document(client) => client.next(statement),
            Self::Pgbench(client) => client.next(statement),
            Self::Thinking(of) => of.client.next(reply, statement),
        }
    }

    /// The transaction failed and was taken back by the database: the next step is its first again,
    /// with the same input.
    pub fn again(&mut self) {
        match self {
            Self::Tpcc(client) => client.again(),
            Self::Oltp(client) => client.again(),
            Self::KeyUpdate(client) => client.again(),
            Self::Scan(client) => client.again(),
            Self::Ycsb(client) => client.again(),
            Self::Document(client) => client.again(),
            Self::Pgbench(client) => client.again(),
            Self::Thinking(of) => of.client.again(),
        }
    }
}

/// A client, and the pauses of its user.
#[derive(Clone, Debug)]
pub struct Thinking {
    client: Client,
    mean: Nanos,
    random: Random,
}

impl Thinking {
    fn new(client: Client, mean: Nanos, random: Random) -> Self {
        Self { client, mean, random }
    }

    /// The client's next transaction, and how long its user thinks after it.
    fn begin(&mut self, date: i64) -> Transaction {
        let thinking = self.random.exponential(self.mean as f64) as Nanos;
        Transaction { thinking, ..self.client.begin(date) }
    }
}
