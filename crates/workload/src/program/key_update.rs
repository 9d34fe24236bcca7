//! Single-row updates by key, each its own transaction: the whole payload of a row is written anew.

use super::keys::alphanumeric;
use super::relation::{Catalogue, Kind, Set, Shape, Statement, Table, column};
use super::spec::KeyUpdate;
use super::transaction::{Outcome, Place, Step, Transaction};
use super::{Chunk, Values, parts};
use std::sync::Arc;
use tameshi_base::Random;

/// Rows of a part of the data set.
const ROWS: u64 = 10_000;
/// Bytes of a row besides its payload: the key.
const KEY_BYTES: u64 = 8;

/// Tables of rows with a payload.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    rows: u64,
    payload: u64,
    data_seed: u64,
}

impl Program {
    pub(super) fn new(spec: &KeyUpdate, data_seed: u64) -> Self {
        let (count, payload) =
            (u64::from(spec.tables.max(1)), spec.row_size.0.saturating_sub(KEY_BYTES).clamp(1, 60_000));
        let rows = spec.rows.div_ceil(count);
        let table = |number| {
            let columns = vec![column("id", Kind::BigInt), column("payload", Kind::Text(payload as u16))];
            Table::new(format!("key_update{number}"), columns, &["id"], rows)
        };
        let tables: Vec<Table> = (1..=count).map(table).collect();
        let shape = |table| Shape::Update { table, set: vec![Set::To(1)], equal: vec![0] };
        let catalogue =
            Catalogue { shapes: (0..tables.len()).map(shape).collect(), tables, transactions: vec!["key_update"] };
        Self { catalogue, rows, payload, data_seed }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        (0..self.catalogue.tables.len()).flat_map(|table| parts(table, self.rows, ROWS)).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, row: &mut dyn FnMut(&Values)) {
        let mut random = Random::named(self.data_seed, &format!("key_update/load/{}/{}", chunk.table, chunk.part));
        let mut values = Values::default();
        let first = chunk.part * ROWS + 1;
        for id in first..first + chunk.rows {
            values.clear();
            values.int(id as i64).write(|text| alphanumeric(&mut random, self.payload, text));
            row(&values);
        }
    }
}

/// One client.
#[derive(Clone, Debug)]
pub struct Client {
    program: Arc<Program>,
    random: Random,
    start: Random,
    asked: bool,
}

impl Client {
    pub(super) fn new(program: Arc<Program>, place: &Place) -> Self {
        let random = place.random("key_update");
        Self { program, start: random.clone(), random, asked: false }
    }

    pub(super) fn begin(&mut self) -> Transaction {
        self.start = self.random.clone();
        self.asked = false;
        Transaction::default()
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
        let table = self.random.below(self.program.catalogue.tables.len() as u64);
        let id = 1 + self.random.below(self.program.rows);
        let payload = self.program.payload;
        statement.of(table as u16).write(|text| alphanumeric(&mut self.random, payload, text)).int(id as i64);
        Step::Run
    }
}
