//! A connection whose user thinks between transactions.

use super::client::{Client, Transaction};
use tameshi_base::{Nanos, Random};

/// A client, and the pauses of its user.
#[derive(Clone, Debug)]
pub struct Thinking {
    pub(crate) client: Client,
    mean: Nanos,
    random: Random,
}

impl Thinking {
    pub(crate) fn new(client: Client, mean: Nanos, random: Random) -> Self {
        Self { client, mean, random }
    }

    /// The client's next transaction, and how long its user thinks after it.
    pub(crate) fn begin(&mut self, date: i64) -> Transaction {
        let thinking = self.random.exponential(self.mean as f64) as Nanos;
        Transaction { thinking, ..self.client.begin(date) }
    }
}
