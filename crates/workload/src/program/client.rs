//! One connection of a program, and what it is asked for.

use super::relation::{Reply, Statement};
use super::thinking::Thinking;
use super::{document, key_update, oltp, pgbench, scan, tpcc, ycsb};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tameshi_base::{Nanos, Random, Time};

/// What sets the randomness of a run apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the data set that the clients work on.
    pub data: u64,
    /// Seed of the run.
    pub run: u64,
}

/// What all clients of a run share: counters, which order nothing but themselves.
#[derive(Debug)]
pub struct Shared {
    card: AtomicU64,
    key: AtomicU64,
}

impl Shared {
    pub(crate) fn new(first_new_key: u64) -> Self {
        Self { card: AtomicU64::new(0), key: AtomicU64::new(first_new_key) }
    }

    /// The number of the next card of a deck that all clients draw from.
    pub(crate) fn next_card(&self) -> u64 {
        self.card.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of the next new record.
    pub(crate) fn next_key(&self) -> u64 {
        self.key.fetch_add(1, Ordering::Relaxed)
    }

    /// Records so far.
    pub(crate) fn keys(&self) -> u64 {
        self.key.load(Ordering::Relaxed)
    }
}

/// Which client of how many, and its seeds.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) client: u32,
    pub(crate) clients: u32,
    pub(crate) seeds: Seeds,
    pub(crate) shared: Arc<Shared>,
}

impl Place {
    /// A stream of randomness of this client's own.
    pub(crate) fn random(&self, what: &str) -> Random {
        Random::named(self.seeds.run, &format!("program/{what}/{}", self.client))
    }
}

/// A transaction that is about to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    /// Its kind: an index into the catalogue's `transactions`.
    pub kind: usize,
    /// Time that a user takes to type before it.
    pub keying: Nanos,
    /// Time that a user takes to think after it.
    pub thinking: Nanos,
}

/// What a client wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A transaction of several statements begins.
    Begin {
        /// Whether it will change the database.
        writes: bool,
    },
    /// The statement is to be carried out; its reply is handed in with the next call.
    Run,
    /// The transaction is to be committed.
    Commit,
    /// The transaction is to be taken back.
    Rollback,
    /// The transaction is over.
    Done(Outcome),
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should, with its changes kept.
    Committed,
    /// As it should, with its changes taken back: TPC-C's New-Order with an item that does not exist.
    RolledBack,
    /// A row that must be there was not: the data set is not what it should be.
    Missing(&'static str),
}

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
    /// Any of the others but a terminal, with a user who thinks.
    Thinking(Box<Thinking>),
}

impl Client {
    /// The same client, number `number` of its run, whose user thinks for `mean` after each transaction; as it is where that is no
    /// time.
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

    /// The next step; a statement is put into `statement`. `reply` belongs to the statement before, and is looked at only
    /// where there was one.
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

    /// The transaction failed and was taken back by the database: the next step is its first again, with the same input.
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
