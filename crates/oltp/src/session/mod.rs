//! A connection: what a client may ask of it, whatever the product.

mod binary;
mod mysql;
mod postgresql;
mod sqlite;
mod stream;
mod wire;

use crate::failure::Failure;
use crate::plan::Plan;
use crate::profile::Stage;
use crate::spec::Target;
use tameshi_workload::program::{Reply, Statement, Table, Values};

/// Calls back with each of many rows.
pub(crate) type Rows<'a> = dyn FnMut(&mut dyn FnMut(&Values)) + 'a;

/// A connection to a database.
pub enum Session {
    /// To a SQLite file.
    Sqlite(sqlite::Sqlite),
    /// To MariaDB or MySQL.
    Mysql(Box<mysql::Mysql>),
    /// To PostgreSQL.
    Postgresql(Box<postgresql::Postgresql>),
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// When the database can't be reached, or refuses.
    pub fn open(target: &Target, plan: &Plan) -> Result<Self, Failure> {
        Ok(match target {
            Target::Sqlite { file, pragmas } => Self::Sqlite(sqlite::Sqlite::open(file, pragmas, plan)?),
            Target::Mariadb(server) | Target::Mysql(server) => Self::Mysql(Box::new(mysql::Mysql::open(server, plan)?)),
            Target::Postgresql(server) => Self::Postgresql(Box::new(postgresql::Postgresql::open(server, plan)?)),
        })
    }

    /// Whether opening a transaction is a statement of its own.
    pub(crate) fn says_begin(&self) -> bool {
        !matches!(self, Self::Mysql(session) if session.begins_by_itself())
    }

    /// Opens a transaction.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn begin(&mut self, writes: bool) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.plain(if writes { "BEGIN IMMEDIATE" } else { "BEGIN" }),
            Self::Mysql(session) => session.begin(),
            Self::Postgresql(session) => session.plain("BEGIN"),
        }
    }

    /// Keeps what the transaction changed.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn commit(&mut self) -> Result<(), Failure> {
        match self {
            Self::Mysql(session) => session.commit(),
            Self::Sqlite(_) | Self::Postgresql(_) => self.plain("COMMIT"),
        }
    }

    /// Takes back what the transaction changed.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn roll_back(&mut self) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.roll_back(),
            Self::Mysql(session) => session.roll_back(),
            Self::Postgresql(session) => session.plain("ROLLBACK"),
        }
    }

    /// Carries out one text without parameters and without a result.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.plain(sql),
            Self::Mysql(session) => session.plain(sql),
            Self::Postgresql(session) => session.plain(sql),
        }
    }

    /// Carries out a statement of the plan.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.run(statement, reply),
            Self::Mysql(session) => session.run(statement, reply),
            Self::Postgresql(session) => session.run(statement, reply),
        }
    }

    /// Where the time of the statement before went, stage by stage; nothing where the server can't tell, or was not asked
    /// to note it.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub(crate) fn profile(&mut self) -> Result<Option<Vec<Stage>>, Failure> {
        match self {
            Self::Mysql(session) => session.profile(),
            Self::Sqlite(_) | Self::Postgresql(_) => Ok(None),
        }
    }

    /// The rows of a query without parameters, each value as text; `None` where there is nothing.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        match self {
            Self::Sqlite(session) => session.query(sql),
            Self::Mysql(session) => session.query(sql),
            Self::Postgresql(session) => session.query(sql),
        }
    }

    /// Adds many rows of a table by the product's fast path; `rows` calls back with each. One transaction.
    ///
    /// # Errors
    /// When the database refuses or is gone.
    pub(crate) fn load(&mut self, table: &Table, rows: &mut Rows<'_>) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.load(table, rows),
            Self::Mysql(session) => session.load(table, rows),
            Self::Postgresql(session) => session.load(table, rows),
        }
    }
}
