//! pgbench's built-in transactions: its tables, its statements in its order, its choice of keys.
//!
//! Difference from pgbench: the time of a history row is a parameter, not CURRENT_TIMESTAMP of the
//! server.

use super::keys::between;
use super::relation::{Catalogue, Kind, Lookup, Set, Shape, Statement, Table, column, nullable};
use super::spec::{Pgbench, PgbenchMix};
use super::transaction::{Outcome, Place, Step, Transaction};
use super::{Chunk, Values, parts};
use std::sync::Arc;
use tameshi_base::Random;

/// Rows of a part of the data set.
const ROWS: u64 = 20_000;
/// Rows for each unit of scale.
const TELLERS: u64 = 10;
const ACCOUNTS: u64 = 100_000;
/// Balances change by at most so much.
const MOST_DELTA: u64 = 5000;

const BRANCH: usize = 0;
const TELLER: usize = 1;
const ACCOUNT: usize = 2;
const HISTORY: usize = 3;

/// Shapes in the order of a TPC-B-like transaction.
mod shape {
    pub const UPDATE_ACCOUNT: u16 = 0;
    pub const SELECT_ACCOUNT: u16 = 1;
    pub const UPDATE_TELLER: u16 = 2;
    pub const UPDATE_BRANCH: u16 = 3;
    pub const INSERT_HISTORY: u16 = 4;
}

/// pgbench's transactions on a data set.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    mix: PgbenchMix,
    scale: u64,
}

impl Program {
    pub(super) fn new(spec: &Pgbench) -> Self {
        let scale = u64::from(spec.scale.max(1));
        let int = |name| column(name, Kind::Int);
        let loose = |name| nullable(column(name, Kind::Int));
        let filler = |length| nullable(column("filler", Kind::Char(length)));
        let tables = vec![
            Table::new("pgbench_branches", vec![int("bid"), loose("bbalance"), filler(88)], &["bid"], scale),
            Table::new(
                "pgbench_tellers",
                vec![int("tid"), loose("bid"), loose("tbalance"), filler(84)],
                &["tid"],
                scale * TELLERS,
            ),
            Table::new(
                "pgbench_accounts",
                vec![int("aid"), loose("bid"), loose("abalance"), filler(84)],
                &["aid"],
                scale * ACCOUNTS,
            ),
            Table::new(
                "pgbench_history",
                vec![
                    loose("tid"),
                    loose("bid"),
                    loose("aid"),
                    loose("delta"),
                    nullable(column("mtime", Kind::Time)),
                    filler(22),
                ],
                &[],
                0,
            ),
        ];
        let add = |table: usize, name: &str| {
            let set = vec![Set::Add(tables[table].column(name))];
            Shape::Update { table, set, equal: tables[table].primary.clone() }
        };
        let balance = tables[ACCOUNT].column("abalance");
        let shapes = vec![
            add(ACCOUNT, "abalance"),
            Shape::Get { lookups: vec![Lookup { table: ACCOUNT, columns: vec![balance] }], lock: false },
            add(TELLER, "tbalance"),
            add(BRANCH, "bbalance"),
            Shape::Insert { table: HISTORY, columns: (0..5).collect() },
        ];
        Self { catalogue: Catalogue { tables, shapes, transactions: vec!["pgbench"] }, mix: spec.mix, scale }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        let tables = self.catalogue.tables.iter().enumerate();
        tables.flat_map(|(table, of)| parts(table, of.rows, ROWS)).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, row: &mut dyn FnMut(&Values)) {
        let mut values = Values::default();
        let first = chunk.part * ROWS;
        for number in first..first + chunk.rows {
            values.clear();
            values.int(number as i64 + 1);
            match chunk.table {
                TELLER => drop(values.int((number / TELLERS) as i64 + 1)),
                ACCOUNT => drop(values.int((number / ACCOUNTS) as i64 + 1)),
                _ => {}
            }
            values.int(0);
            // pgbench fills accounts up with spaces, and leaves the others' filler out.
            if chunk.table == ACCOUNT {
                values.text("")
            } else {
                values.null()
            };
            row(&values);
        }
    }

    /// The statements of a transaction in order.
    fn script(&self) -> &'static [u16] {
        use shape::*;
        match self.mix {
            PgbenchMix::TpcbLike => &[UPDATE_ACCOUNT, SELECT_ACCOUNT, UPDATE_TELLER, UPDATE_BRANCH, INSERT_HISTORY],
            PgbenchMix::SimpleUpdate => &[UPDATE_ACCOUNT, SELECT_ACCOUNT, INSERT_HISTORY],
            PgbenchMix::SelectOnly => &[SELECT_ACCOUNT],
        }
    }
}

/// Drawn input of a transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    account: i64,
    branch: i64,
    teller: i64,
    delta: i64,
    date: i64,
}

/// A client of pgbench.
#[derive(Clone, Debug)]
pub struct Client {
    program: Arc<Program>,
    random: Random,
    drawn: Drawn,
    asked: usize,
}

impl Client {
    pub(super) fn new(program: Arc<Program>, place: &Place) -> Self {
        Self { program, random: place.random("pgbench"), drawn: Drawn::default(), asked: 0 }
    }

    pub(super) fn begin(&mut self, date: i64) -> Transaction {
        let (random, scale) = (&mut self.random, self.program.scale);
        let mut upto = |most| between(random, 1, most) as i64;
        let (account, branch, teller) = (upto(scale * ACCOUNTS), upto(scale), upto(scale * TELLERS));
        let delta = upto(2 * MOST_DELTA + 1) - 1 - MOST_DELTA as i64;
        self.drawn = Drawn { account, branch, teller, delta, date };
        self.asked = 0;
        Transaction::default()
    }

    pub(super) fn again(&mut self) {
        self.asked = 0;
    }

    pub(super) fn next(&mut self, statement: &mut Statement) -> Step {
        let script = self.program.script();
        let alone = script.len() == 1;
        let at = self.asked;
        self.asked += 1;
        if !alone && at == 0 {
            return Step::Begin { writes: true };
        }
        let Some(&shape) = script.get(at - usize::from(!alone)) else {
            return if !alone && at == script.len() + 1 { Step::Commit } else { Step::Done(Outcome::Committed) };
        };
        let Drawn { account, branch, teller, delta, date } = self.drawn;
        let row = statement.of(shape);
        match shape {
            shape::UPDATE_ACCOUNT => row.int(delta).int(account),
            shape::UPDATE_TELLER => row.int(delta).int(teller),
            shape::UPDATE_BRANCH => row.int(delta).int(branch),
            shape::INSERT_HISTORY => row.int(teller).int(branch).int(account).int(delta).int(date),
            _ => row.int(account),
        };
        Step::Run
    }
}
