//! Interface between a client and its driver: place, seeds, transactions and steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tameshi_base::{Nanos, Random};

/// Seeds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Seed of the data set that the clients work on.
    pub data: u64,
    /// Seed of the run.
    pub run: u64,
}

/// State shared by all clients of a run: counters that order nothing but themselves.
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

/// Index of a client among all clients, and its seeds.
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

/// Next step of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A transaction of several statements begins.
    Begin {
        /// True if it will change the database.
        writes: bool,
    },
    /// The statement is to be carried out; its reply is handed in with the next call.
    Run,
    /// The transaction is to be committed.
    Commit,
    /// The transaction is to be taken back.
    Rollback,
    /// The transaction has ended.
    Done(Outcome),
}

/// Outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should, with its changes kept.
    Committed,
    /// As it should, with its changes taken back: TPC-C's New-Order with an item that does not
    /// exist.
    RolledBack,
    /// A required row was absent: the data set is damaged.
    Missing(&'static str),
}
