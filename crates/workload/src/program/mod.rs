//! Programs: database workloads as pure logic.
//!
//! A [`Program`] knows its data set and its statements; a [`Client`] is one connection of it. The
//! driver of each world asks a client for its next transaction ([`Client::begin`]), then again and
//! again for the next [`Step`], handing in the reply to the statement before. No text of SQL, no
//! clock and no connection is known here.

mod client;
pub mod document;
mod key_update;
pub mod keys;
mod memory;
pub mod oltp;
mod pgbench;
pub mod relation;
mod scan;
mod spec;
pub mod tpcc;
mod transaction;
pub mod ycsb;

pub use client::Client;
pub use memory::{Cell, Memory, Row};
pub use relation::{Catalogue, Kind, Reply, Shape, Statement, Table, Value, Values};
pub use spec::{
    Delivery, Document, KeyUpdate, Manner, Oltp, OltpMix, Pgbench, PgbenchMix, Popularity, ProgramSpec, PsMode, Scan,
    Tpcc, Waits, Ycsb, YcsbMix,
};
pub use transaction::{Outcome, Seeds, Shared, Step, Transaction};

use std::sync::Arc;

/// A part of a data set that one loader makes: some rows of one table, in the order of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
    /// The table.
    pub table: usize,
    /// Index of the part, from zero.
    pub part: u64,
    /// Number of rows; exact, except if a table's rows are drawn too (TPC-C's order lines).
    pub rows: u64,
}

/// A program: its data set and its statements, the same for all its clients.
#[derive(Clone, Debug)]
pub enum Program {
    /// TPC-C.
    Tpcc(Arc<tpcc::Tpcc>),
    /// sysbench's transactions.
    Oltp(Arc<oltp::Program>),
    /// Single-row updates by key.
    KeyUpdate(Arc<key_update::Program>),
    /// Full scans.
    Scan(Arc<scan::Program>),
    /// YCSB.
    Ycsb(Arc<ycsb::Program>),
    /// Documents ingested and queried.
    Document(Arc<document::Program>),
    /// pgbench's transactions.
    Pgbench(Arc<pgbench::Program>),
}

impl Program {
    /// The program as a study describes it. `data` is the seed of its data set.
    pub fn new(spec: &ProgramSpec, data: u64) -> Self {
        match spec {
            ProgramSpec::Tpcc(spec) => Self::Tpcc(Arc::new(tpcc::Tpcc::new(spec, tpcc::Sizes::SPECIFICATION, data))),
            ProgramSpec::Oltp(spec) => Self::Oltp(Arc::new(oltp::Program::new(spec, data))),
            ProgramSpec::KeyUpdate(spec) => Self::KeyUpdate(Arc::new(key_update::Program::new(spec, data))),
            ProgramSpec::Scan(spec) => Self::Scan(Arc::new(scan::Program::new(spec, data))),
            ProgramSpec::Ycsb(spec) => Self::Ycsb(Arc::new(ycsb::Program::new(spec, data))),
            ProgramSpec::Document(spec) => Self::Document(Arc::new(document::Program::new(spec, data))),
            ProgramSpec::Pgbench(spec) => Self::Pgbench(Arc::new(pgbench::Program::new(spec))),
        }
    }

    /// Tables, statement shapes and kinds of transactions.
    pub fn catalogue(&self) -> &Catalogue {
        match self {
            Self::Tpcc(program) => &program.catalogue,
            Self::Oltp(program) => &program.catalogue,
            Self::KeyUpdate(program) => &program.catalogue,
            Self::Scan(program) => &program.catalogue,
            Self::Ycsb(program) => &program.catalogue,
            Self::Document(program) => &program.catalogue,
            Self::Pgbench(program) => &program.catalogue,
        }
    }

    /// Return whether deliveries are queued, so that one more connection than there are clients
    /// carries them out (TPC-C 2.7.2).
    pub fn is_deferred(&self) -> bool {
        matches!(self, Self::Tpcc(program) if program.deferred)
    }

    /// Return the names of the kinds of transactions in a record, for a program named `word`.
    pub fn kinds(&self, word: &str) -> Vec<String> {
        let kinds = self.catalogue().transactions.iter();
        kinds.map(|&kind| if word == kind { word.to_string() } else { format!("{word}.{kind}") }).collect()
    }

    /// The data set in parts, which may be made in any order and at once. Rows of a table lie in
    /// the order of the parts.
    pub fn chunks(&self) -> Vec<Chunk> {
        match self {
            Self::Tpcc(program) => program.chunks(),
            Self::Oltp(program) => program.chunks(),
            Self::KeyUpdate(program) => program.chunks(),
            Self::Scan(program) => program.chunks(),
            Self::Ycsb(program) => program.chunks(),
            Self::Document(program) => program.chunks(),
            Self::Pgbench(program) => program.chunks(),
        }
    }

    /// Makes the rows of a part: the table's written columns of each. `date` is the loading's date,
    /// in seconds since 1970.
    pub fn populate(&self, chunk: Chunk, date: i64, mut row: impl FnMut(&Values)) {
        let row: &mut dyn FnMut(&Values) = &mut row;
        match self {
            Self::Tpcc(program) => program.populate(chunk, date, row),
            Self::Oltp(program) => program.populate(chunk, row),
            Self::KeyUpdate(program) => program.populate(chunk, row),
            Self::Scan(program) => program.populate(chunk, row),
            Self::Ycsb(program) => program.populate(chunk, row),
            Self::Document(program) => program.populate(chunk, date, row),
            Self::Pgbench(program) => program.populate(chunk, row),
        }
    }

    /// Return the state that all clients of a run share.
    pub fn shared(&self) -> Arc<Shared> {
        let first_new_key = match self {
            Self::Ycsb(program) => program.records,
            Self::Document(program) => program.documents,
            _ => 0,
        };
        Arc::new(Shared::new(first_new_key))
    }

    /// Client number `client` of `clients`.
    pub fn client(&self, client: u32, clients: u32, seeds: Seeds, shared: &Arc<Shared>) -> Client {
        let place = transaction::Place { client, clients, seeds, shared: Arc::clone(shared) };
        match self {
            Self::Tpcc(program) => Client::Tpcc(Box::new(tpcc::Terminal::new(Arc::clone(program), place))),
            Self::Oltp(program) => Client::Oltp(oltp::Client::new(Arc::clone(program), &place)),
            Self::KeyUpdate(program) => Client::KeyUpdate(key_update::Client::new(Arc::clone(program), &place)),
            Self::Scan(_) => Client::Scan(scan::Client::default()),
            Self::Ycsb(program) => Client::Ycsb(ycsb::Client::new(Arc::clone(program), place)),
            Self::Document(program) => Client::Document(document::Client::new(Arc::clone(program), place)),
            Self::Pgbench(program) => Client::Pgbench(pgbench::Client::new(Arc::clone(program), &place)),
        }
    }
}

/// Splits rows into parts of at most `most`, numbered from zero, for one table.
fn parts(table: usize, rows: u64, most: u64) -> impl Iterator<Item = Chunk> {
    (0..rows.div_ceil(most)).map(move |part| Chunk { table, part, rows: most.min(rows - part * most) })
}
