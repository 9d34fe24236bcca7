//! A full scan: one statement that reads every row of a table, by a column that no index holds.

use super::keys::alphanumeric;
use super::relation::{Catalogue, Kind, Limit, Read, Shape, Statement, Table, Take, column, text};
use super::spec::Scan;
use super::transaction::{Outcome, Step, Transaction};
use super::{Chunk, Values, parts};
use tameshi_base::Random;

/// Rows of a part of the data set.
const ROWS: u64 = 10_000;
/// Bytes of a row's filler, and of a whole row with its key and number.
const FILLER: u16 = 184;
const ROW_BYTES: u64 = 200;

/// The table that is scanned.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    rows: u64,
    data_seed: u64,
}

impl Program {
    pub(super) fn new(spec: &Scan, data_seed: u64) -> Self {
        let rows = spec.size.0.div_ceil(ROW_BYTES);
        let columns = vec![
            column("id", Kind::BigInt),
            column("number", Kind::BigInt),
            text("filler", Kind::Text(FILLER), u32::from(FILLER)),
        ];
        let tables = vec![Table::new("scanned", columns, &["id"], rows)];
        let (equal, take, order) = (vec![], Take::Sum(1), vec![]);
        let read = Read { table: 0, equal, bounds: None, below: None, take, order, limit: Limit::None, lock: false };
        let catalogue = Catalogue { tables, shapes: vec![Shape::Read(read)], transactions: vec!["scan"] };
        Self { catalogue, rows, data_seed }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        parts(0, self.rows, ROWS).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, row: &mut dyn FnMut(&Values)) {
        let mut random = Random::named(self.data_seed, &format!("scan/load/{}", chunk.part));
        let mut values = Values::default();
        let first = chunk.part * ROWS + 1;
        for id in first..first + chunk.rows {
            values.clear();
            values.int(id as i64).int(random.below(1_000_000) as i64);
            values.write(|text| alphanumeric(&mut random, u64::from(FILLER), text));
            row(&values);
        }
    }
}

/// One client.
#[derive(Clone, Debug, Default)]
pub struct Client {
    asked: bool,
}

impl Client {
    pub(super) fn begin(&mut self) -> Transaction {
        self.asked = false;
        Transaction::default()
    }

    pub(super) fn again(&mut self) {
        self.asked = false;
    }

    pub(super) fn next(&mut self, statement: &mut Statement) -> Step {
        if self.asked {
            return Step::Done(Outcome::Committed);
        }
        self.asked = true;
        statement.of(0);
        Step::Run
    }
}
