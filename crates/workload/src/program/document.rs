//! JSON documents, ingested by some clients while others query them: by key, by an indexed value
//! inside, and by day.

use super::keys::{alphanumeric, between};
use super::relation::{By, Catalogue, Kind, Limit, Lookup, Read, Shape, Statement, Table, Take, column, text};
use super::spec::Document;
use super::transaction::{Outcome, Place, Shared, Step, Transaction};
use super::{Chunk, Values, parts};
use std::fmt::Write;
use std::sync::Arc;
use tameshi_base::Random;

/// Documents of a part of the data set.
const ROWS: u64 = 1000;
/// Documents of a customer at the begin, in the mean.
const PER_CUSTOMER: u64 = 20;
/// Different days.
const DAYS: u64 = 365;
/// Documents that a query returns at most.
const MOST: u32 = 20;

/// Kinds of operations, by their numbers in the catalogue.
const KINDS: [&str; 4] = ["ingest", "by_key", "by_customer", "by_day"];
const INGEST: u16 = 0;
const BY_KEY: u16 = 1;
const BY_CUSTOMER: u16 = 2;
const BY_DAY: u16 = 3;

/// Documents and how they are asked for.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    /// Documents loaded.
    pub(super) documents: u64,
    bytes: u64,
    data_seed: u64,
}

impl Program {
    pub(super) fn new(spec: &Document, data_seed: u64) -> Self {
        let bytes = spec.size.0.max(256);
        let columns = vec![
            column("id", Kind::BigInt),
            text("body", Kind::Json, u32::try_from(bytes).unwrap_or(u32::MAX)),
            column("customer", Kind::JsonInt { of: "body", key: "customer" }),
            column("day", Kind::JsonInt { of: "body", key: "day" }),
        ];
        let table = Table::new("documents", columns, &["id"], spec.documents)
            .with_index("documents_customer", &["customer", "id"])
            .with_index("documents_day", &["day", "id"]);
        let by = |column| {
            Shape::Read(Read {
                table: 0,
                equal: vec![column],
                bounds: None,
                below: None,
                take: Take::Columns(vec![0, 1]),
                order: vec![By { column: 0, descending: true }],
                limit: Limit::Fixed(MOST),
                lock: false,
            })
        };
        let shapes = vec![
            Shape::Insert { table: 0, columns: vec![0, 1] },
            Shape::Get { lookups: vec![Lookup { table: 0, columns: vec![1] }], lock: false },
            by(2),
            by(3),
        ];
        let catalogue = Catalogue { tables: vec![table], shapes, transactions: KINDS.to_vec() };
        Self { catalogue, documents: spec.documents, bytes, data_seed }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        parts(0, self.documents, ROWS).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, date: i64, row: &mut dyn FnMut(&Values)) {
        let mut random = Random::named(self.data_seed, &format!("document/load/{}", chunk.part));
        let mut values = Values::default();
        let first = chunk.part * ROWS;
        for id in first..first + chunk.rows {
            values.clear();
            self.document(&mut random, id, date, &mut values);
            row(&values);
        }
    }

    fn customers(&self) -> u64 {
        self.documents.div_ceil(PER_CUSTOMER).max(1)
    }

    /// A document of an order: half to one and a half times the mean size, most of it in its lines'
    /// texts.
    fn document(&self, random: &mut Random, id: u64, date: i64, values: &mut Values) {
        let bytes = between(random, self.bytes / 2, self.bytes + self.bytes / 2) as usize;
        let (customer, day) = (random.below(self.customers()), random.below(DAYS));
        let status = ["new", "paid", "sent", "returned"][random.below(4) as usize];
        values.int(id as i64).write(|text| {
            let begin = text.len();
            write!(text, "{{\"id\":{id},\"customer\":{customer},\"day\":{day},\"made\":{date},").expect("takes text");
            write!(text, "\"status\":\"{status}\",\"lines\":[").expect("a string takes text");
            let mut line = 1;
            while line == 1 || text.len() - begin + 4 < bytes {
                let left = bytes.saturating_sub(text.len() - begin + 60);
                let (separator, price) = (if line > 1 { "," } else { "" }, between(random, 1, 99_999));
                write!(
                    text,
                    "{separator}{{\"line\":{line},\"item\":{},\"cents\":{price},\"text\":\"",
                    random.below(100_000)
                )
                .expect("a string takes text");
                alphanumeric(random, left.clamp(8, 200) as u64, text);
                text.push_str("\"}");
                line += 1;
            }
            text.push_str("]}");
        });
    }
}

/// One client: it ingests, or it queries.
#[derive(Clone, Debug)]
pub struct Client {
    program: Arc<Program>,
    shared: Arc<Shared>,
    random: Random,
    start: Random,
    ingests: bool,
    date: i64,
    kind: usize,
    key: u64,
    asked: bool,
}

impl Client {
    pub(super) fn new(program: Arc<Program>, place: Place) -> Self {
        let random = place.random("document");
        let ingests = place.client < place.clients.div_ceil(2);
        let (start, shared) = (random.clone(), place.shared);
        Self { program, shared, start, random, ingests, date: 0, kind: 0, key: 0, asked: false }
    }

    pub(super) fn begin(&mut self, date: i64) -> Transaction {
        self.date = date;
        if self.ingests {
            (self.kind, self.key) = (usize::from(INGEST), self.shared.next_key());
        } else {
            // Half by key, the rest by content.
            self.kind = [BY_KEY, BY_KEY, BY_CUSTOMER, BY_DAY][self.random.below(4) as usize].into();
            self.key = match self.kind as u16 {
                BY_KEY => self.random.below(self.program.documents.max(1)),
                BY_CUSTOMER => self.random.below(self.program.customers()),
                _ => self.random.below(DAYS),
            };
        }
        self.start = self.random.clone();
        self.asked = false;
        Transaction { kind: self.kind, ..Transaction::default() }
    }

    pub(super) fn again(&mut self) {
        self.random = self.start.clone();
        self.asked = false;
    }

    pub(super) fn next(&mut self, statement: &mut Statement) -> Step {
        if self.asked {
            return Step::Done(Outcome::Committed);
        }
        self.asked = true;
        let row = statement.of(self.kind as u16);
        if self.ingests {
            self.program.document(&mut self.random, self.key, self.date, row);
        } else {
            row.int(self.key as i64);
        }
        Step::Run
    }
}
