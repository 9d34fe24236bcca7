//! SQL text of a program's statements, including the ledger's.

use crate::dialect::Dialect;
use crate::spec::{OltpSpec, Target};
use std::sync::Arc;
use tameshi_base::Slow;
use tameshi_workload::program::relation::{Table, column};
use tameshi_workload::program::{Catalogue, Kind, Program, ProgramSpec, PsMode, Shape};

/// Name of the ledger's table.
pub(crate) const LEDGER: &str = "tameshi_ledger";

/// Settings that all connections of a run share.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Tables and shapes of the program, and of the ledger if there is one.
    pub catalogue: Arc<Catalogue>,
    /// Shape that writes a row of the ledger.
    pub ledger: Option<u16>,
    /// SQL text of each shape.
    pub(crate) texts: Arc<Vec<Text>>,
    /// True if all statements run in transactions, so that products with implicit transactions need
    /// no BEGIN.
    pub(crate) always_in_transaction: bool,
    /// True if the server is asked for a profile of each statement.
    pub(crate) profiled: bool,
    /// True if statements are sent as text with their values, not prepared.
    pub(crate) as_text: bool,
    /// Transactions after which a client reconnects.
    pub(crate) reconnect: Option<u64>,
    /// Slow motion of the run.
    pub(crate) slow: Slow,
}

/// SQL text of a shape, and the kinds of its parameters and results.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Kind>,
    pub(crate) results: Vec<Kind>,
    pub(crate) returns_rows: bool,
}

impl Plan {
    /// Plan of the run's program on the target's kind of database.
    pub fn new(spec: &OltpSpec, program: &Program) -> Self {
        Self::of(spec, &spec.program, program)
    }

    /// Plan of another program than the run's first.
    pub(crate) fn of(spec: &OltpSpec, program_spec: &ProgramSpec, program: &Program) -> Self {
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
        let always_in_transaction = matches!(program_spec, ProgramSpec::Tpcc(_));
        let profiled = matches!(program_spec, ProgramSpec::Scan(_));
        let (mut as_text, mut reconnect) = (false, None);
        if let ProgramSpec::Oltp(oltp) = program_spec {
            as_text = oltp.db_ps_mode == PsMode::Disable;
            reconnect = Some(u64::from(oltp.reconnect)).filter(|count| *count > 0);
        }
        let (texts, catalogue) = (Arc::new(texts), Arc::new(catalogue));
        let slow = spec.slow;
        Self { ledger, texts, catalogue, always_in_transaction, profiled, as_text, reconnect, slow }
    }

    /// Plan without a program, for ad-hoc queries.
    pub fn none() -> Self {
        let catalogue = Catalogue { tables: Vec::new(), shapes: Vec::new(), transactions: Vec::new() };
        let (texts, catalogue) = (Arc::default(), Arc::new(catalogue));
        let (always_in_transaction, profiled, as_text) = (false, false, false);
        Self {
            catalogue,
            ledger: None,
            texts,
            always_in_transaction,
            profiled,
            as_text,
            reconnect: None,
            slow: Slow::NONE,
        }
    }

    /// True if the shape changes the database.
    pub(crate) fn writes(&self, shape: u16) -> bool {
        self.catalogue.shapes[shape as usize].writes()
    }
}

/// Table of the ledger: one row per transaction with run, client and number. No key forbids
/// duplicates, because a duplicate would be a finding.
fn ledger_table() -> Table {
    let columns = vec![column("run", Kind::BigInt), column("client", Kind::Int), column("number", Kind::BigInt)];
    Table::new(LEDGER, columns, &[], 0)
}

/// True if the target is a server process.
pub(crate) fn has_server(target: &Target) -> bool {
    !matches!(target, Target::Sqlite { .. })
}
