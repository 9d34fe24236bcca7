//! A program on a database: its statements as SQL text, and the ledger among them.

use crate::dialect::Dialect;
use crate::spec::{OltpSpec, Target};
use std::sync::Arc;
use tameshi_workload::program::relation::{Table, column};
use tameshi_workload::program::{Catalogue, Kind, Program, ProgramSpec, PsMode, Shape};

/// Name of the ledger's table.
pub(crate) const LEDGER: &str = "tameshi_ledger";

/// What all connections of a run have in common.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program's tables and shapes, with the ledger's where there is one.
    pub catalogue: Arc<Catalogue>,
    /// The shape that writes a row of the ledger.
    pub ledger: Option<u16>,
    /// The SQL text of each shape.
    pub(crate) texts: Arc<Vec<Text>>,
    /// All statements stand in transactions, so that none needs to be opened where the product can do without.
    pub(crate) always_in_transaction: bool,
    /// The server is asked where the time of each statement went, if it can tell.
    pub(crate) profiled: bool,
    /// Statements go as text with their values, and are not prepared.
    pub(crate) as_text: bool,
    /// Transactions after which a client connects anew.
    pub(crate) reconnect: Option<u64>,
}

/// A shape's SQL text and the kinds of what goes in and comes out.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Kind>,
    pub(crate) results: Vec<Kind>,
    pub(crate) returns_rows: bool,
}

impl Plan {
    /// The program on the target's kind of database.
    pub fn new(spec: &OltpSpec, program: &Program) -> Self {
        Self::of(spec, &spec.program, program)
    }

    /// The same with another program than the run's first.
    pub(crate) fn of(spec: &OltpSpec, drives: &ProgramSpec, program: &Program) -> Self {
        let mut catalogue = program.catalogue().clone();
        let ledger = spec.ledger.as_ref().map(|_| {
            catalogue.tables.push(ledger_table());
            let table = catalogue.tables.len() - 1;
            catalogue.shapes.push(Shape::Insert { table, columns: vec![0, 1, 2] });
            (catalogue.shapes.len() - 1) as u16
        });
        let dialect = Dialect::of(&spec.target);
        let tables = &catalogue.tables;
        let text = |shape: &Shape| Text {
            sql: dialect.statement(shape, tables),
            parameters: shape.parameters(tables),
            results: shape.results(tables),
            returns_rows: shape.returns_rows(),
        };
        let texts = catalogue.shapes.iter().map(text).collect();
        let always_in_transaction = matches!(drives, ProgramSpec::Tpcc(_));
        let profiled = matches!(drives, ProgramSpec::Scan(_));
        let (mut as_text, mut reconnect) = (false, None);
        if let ProgramSpec::Oltp(oltp) = drives {
            as_text = oltp.db_ps_mode == PsMode::Disable;
            reconnect = Some(u64::from(oltp.reconnect)).filter(|count| *count > 0);
        }
        let (texts, catalogue) = (Arc::new(texts), Arc::new(catalogue));
        Self { ledger, texts, catalogue, always_in_transaction, profiled, as_text, reconnect }
    }

    /// No program: for queries of one's own.
    pub fn none() -> Self {
        let catalogue = Catalogue { tables: Vec::new(), shapes: Vec::new(), transactions: Vec::new() };
        let (texts, catalogue) = (Arc::default(), Arc::new(catalogue));
        let (always_in_transaction, profiled, as_text) = (false, false, false);
        Self { catalogue, ledger: None, texts, always_in_transaction, profiled, as_text, reconnect: None }
    }

    /// Whether the shape changes the database.
    pub(crate) fn writes(&self, shape: u16) -> bool {
        self.catalogue.shapes[shape as usize].writes()
    }
}

/// One row for each transaction: which run, which client, its how-manieth. No key forbids that a number stands there twice,
/// because that would be a finding.
fn ledger_table() -> Table {
    let columns = vec![column("run", Kind::BigInt), column("client", Kind::Int), column("number", Kind::BigInt)];
    Table::new(LEDGER, columns, &[], 0)
}

/// Whether the target is served by a process of its own.
pub(crate) fn has_server(target: &Target) -> bool {
    !matches!(target, Target::Sqlite { .. })
}
