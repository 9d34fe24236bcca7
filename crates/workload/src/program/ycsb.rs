//! YCSB's core workloads A to F on its `usertable`: ten fields of a hundred bytes, keys in hashed
//! order, Zipf 0.99.

use super::keys::{Zipf, alphanumeric, between, fnv};
use super::relation::{
    Bounds, By, Catalogue, Column, Kind, Limit, Lookup, Read, Set, Shape, Statement, Table, Take, column, text,
};
use super::spec::{Ycsb, YcsbMix};
use super::transaction::{Outcome, Place, Shared, Step, Transaction};
use super::{Chunk, Values, parts};
use std::fmt::Write;
use std::sync::Arc;
use tameshi_base::Random;

/// Records of a part of the data set.
const ROWS: u64 = 10_000;
const FIELDS: [&str; 10] =
    ["field0", "field1", "field2", "field3", "field4", "field5", "field6", "field7", "field8", "field9"];
const FIELD_BYTES: u16 = 100;
/// Longest scan, in records.
const LONGEST_SCAN: u64 = 100;
/// Number of items over which YCSB scatters Zipf's ranks, whatever the number of records.
const SCATTERED: u64 = 10_000_000_000;

/// Kinds of operations, by their numbers in the catalogue.
const KINDS: [&str; 5] = ["read", "update", "insert", "scan", "read_modify_write"];
const READ: u16 = 0;
const INSERT: u16 = 1;
const SCAN: u16 = 2;
/// The first of ten: one for each field.
const UPDATE: u16 = 3;

/// YCSB on a number of records.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    /// Records loaded.
    pub(super) records: u64,
    mix: YcsbMix,
    zipf: Zipf,
    data_seed: u64,
}

impl Program {
    pub(super) fn new(spec: &Ycsb, data_seed: u64) -> Self {
        let field = |name| text(name, Kind::Text(FIELD_BYTES), u32::from(FIELD_BYTES));
        let columns: Vec<Column> = [column("ycsb_key", Kind::Text(24))].into_iter().chain(FIELDS.map(field)).collect();
        let all: Vec<usize> = (1..=FIELDS.len()).collect();
        let tables = vec![Table::new("usertable", columns, &["ycsb_key"], spec.records)];
        let scan = Read {
            table: 0,
            equal: vec![],
            bounds: Some(Bounds::From(0)),
            below: None,
            take: Take::Columns(all.clone()),
            order: vec![By { column: 0, descending: false }],
            limit: Limit::Parameter,
            lock: false,
        };
        let mut shapes = vec![
            Shape::Get { lookups: vec![Lookup { table: 0, columns: all }], lock: false },
            Shape::Insert { table: 0, columns: (0..=FIELDS.len()).collect() },
            Shape::Read(scan),
        ];
        shapes.extend((1..=FIELDS.len()).map(|field| Shape::Update {
            table: 0,
            set: vec![Set::To(field)],
            equal: vec![0],
        }));
        let catalogue = Catalogue { tables, shapes, transactions: KINDS.to_vec() };
        Self { catalogue, records: spec.records, mix: spec.mix, zipf: Zipf::new(0.99), data_seed }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        parts(0, self.records, ROWS).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, row: &mut dyn FnMut(&Values)) {
        let mut random = Random::named(self.data_seed, &format!("ycsb/load/{}", chunk.part));
        let mut values = Values::default();
        let first = chunk.part * ROWS;
        for number in first..first + chunk.rows {
            values.clear();
            values.write(|text| key(number, text));
            fill(&mut random, &mut values);
            row(&values);
        }
    }

    /// Return the number of an existing record, of `records`.
    fn choose(&self, random: &mut Random, records: u64) -> u64 {
        match self.mix {
            // The newest is the most popular.
            YcsbMix::D => records - 1 - self.zipf.draw(random, records),
            // By YCSB's own constant number of items, then scattered: a record keeps its popularity
            // as others come.
            _ => fnv(self.zipf.draw(random, SCATTERED)) % records,
        }
    }

    fn kind(&self, random: &mut Random) -> usize {
        let percent = random.below(100);
        let (most, share, rest) = match self.mix {
            YcsbMix::A => (0, 50, 1),
            YcsbMix::B => (0, 95, 1),
            YcsbMix::C => (0, 100, 0),
            YcsbMix::D => (0, 95, 2),
            YcsbMix::E => (3, 95, 2),
            YcsbMix::F => (0, 50, 4),
        };
        if percent < share { most } else { rest }
    }
}

fn key(number: u64, text: &mut String) {
    write!(text, "user{:020}", fnv(number)).expect("a string takes text");
}

fn fill(random: &mut Random, values: &mut Values) {
    FIELDS.iter().for_each(|_| {
        values.write(|text| alphanumeric(random, u64::from(FIELD_BYTES), text));
    });
}

/// One thread.
#[derive(Clone, Debug)]
pub struct Client {
    program: Arc<Program>,
    shared: Arc<Shared>,
    random: Random,
    start: Random,
    kind: usize,
    record: u64,
    asked: u32,
}

impl Client {
    pub(super) fn new(program: Arc<Program>, place: Place) -> Self {
        let random = place.random("ycsb");
        Self { program, shared: place.shared, start: random.clone(), random, kind: 0, record: 0, asked: 0 }
    }

    pub(super) fn begin(&mut self) -> Transaction {
        self.kind = self.program.kind(&mut self.random);
        self.record = match self.kind {
            2 => self.shared.next_key(),
            _ => self.program.choose(&mut self.random, self.shared.keys()),
        };
        self.start = self.random.clone();
        self.asked = 0;
        Transaction { kind: self.kind, ..Transaction::default() }
    }

    pub(super) fn again(&mut self) {
        self.random = self.start.clone();
        self.asked = 0;
    }

    pub(super) fn next(&mut self, statement: &mut Statement) -> Step {
        self.asked += 1;
        let record = self.record;
        match (self.kind, self.asked) {
            (4, 1) => return Step::Begin { writes: true },
            (4, 2) | (0, 1) => statement.of(READ).write(|text| key(record, text)),
            (4, 3) | (1, 1) => {
                let field = self.random.below(FIELDS.len() as u64) as u16;
                let row = statement.of(UPDATE + field);
                let row = row.write(|text| alphanumeric(&mut self.random, u64::from(FIELD_BYTES), text));
                row.write(|text| key(record, text))
            }
            (4, 4) => return Step::Commit,
            (2, 1) => {
                let row = statement.of(INSERT).write(|text| key(record, text));
                fill(&mut self.random, row);
                row
            }
            (3, 1) => {
                let length = between(&mut self.random, 1, LONGEST_SCAN);
                statement.of(SCAN).write(|text| key(record, text)).int(length as i64)
            }
            _ => return Step::Done(Outcome::Committed),
        };
        Step::Run
    }
}
