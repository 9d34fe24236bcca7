//! Connection to a database, with the same operations for every product.

mod binary;
mod busy;
mod mysql;
mod postgresql;
mod sqlite;
mod stream;
mod tls;
mod wire;

use crate::failure::Failure;
use crate::plan::Plan;
use crate::profile::Stage;
use crate::spec::Target;
use tameshi_workload::program::{Reply, Statement, Table, Values};

/// Source of rows: calls back with each.
pub(crate) type Rows<'a> = dyn FnMut(&mut dyn FnMut(&Values)) + 'a;

/// Connection to a database.
pub enum Session {
    /// Connection to a SQLite file.
    Sqlite(sqlite::Sqlite),
    /// Connection to MariaDB or MySQL.
    Mysql(Box<mysql::Mysql>),
    /// Connection to PostgreSQL.
    Postgresql(Box<postgresql::Postgresql>),
}

impl Session {
    /// Connect to a database.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub fn open(target: &Target, plan: &Plan) -> Result<Self, Failure> {
        Ok(match target {
            Target::Sqlite { file, pragmas } => Self::Sqlite(sqlite::Sqlite::open(file, pragmas, plan)?),
            Target::Mariadb(server) | Target::Mysql(server) => Self::Mysql(Box::new(mysql::Mysql::open(server, plan)?)),
            Target::Postgresql(server) => Self::Postgresql(Box::new(postgresql::Postgresql::open(server, plan)?)),
        })
    }

    /// Connect for Tameshi's own statements, without the limits that a study sets for its clients.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub(crate) fn own(target: &Target, plan: &Plan, begin: &[String]) -> Result<Self, Failure> {
        let mut session = Self::open(target, plan)?;
        begin.iter().try_for_each(|sql| session.plain(sql))?;
        Ok(session)
    }

    /// True if opening a transaction is a separate statement.
    pub(crate) fn says_begin(&self) -> bool {
        !matches!(self, Self::Mysql(session) if session.begins_by_itself())
    }

    /// Begin a transaction.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn begin(&mut self, writes: bool) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.plain(if writes { "BEGIN IMMEDIATE" } else { "BEGIN" }),
            Self::Mysql(session) => session.begin(),
            Self::Postgresql(session) => session.plain("BEGIN"),
        }
    }

    /// Commit the transaction.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn commit(&mut self) -> Result<(), Failure> {
        match self {
            Self::Mysql(session) => session.commit(),
            Self::Sqlite(_) | Self::Postgresql(_) => self.plain("COMMIT"),
        }
    }

    /// Roll the transaction back.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn roll_back(&mut self) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.roll_back(),
            Self::Mysql(session) => session.roll_back(),
            Self::Postgresql(session) => session.plain("ROLLBACK"),
        }
    }

    /// Execute a text without parameters and results.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.plain(sql),
            Self::Mysql(session) => session.plain(sql),
            Self::Postgresql(session) => session.plain(sql),
        }
    }

    /// Execute a statement of the plan.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.run(statement, reply),
            Self::Mysql(session) => session.run(statement, reply),
            Self::Postgresql(session) => session.run(statement, reply),
        }
    }

    /// Profile of the last statement by stages; `None` if the server has none or was not asked for
    /// it.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub(crate) fn profile(&mut self) -> Result<Option<Vec<Stage>>, Failure> {
        match self {
            Self::Mysql(session) => session.profile(),
            Self::Sqlite(_) | Self::Postgresql(_) => Ok(None),
        }
    }

    /// Rows of a query without parameters, each value as text; `None` for NULL.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        match self {
            Self::Sqlite(session) => session.query(sql),
            Self::Mysql(session) => session.query(sql),
            Self::Postgresql(session) => session.query(sql),
        }
    }

    /// Insert many rows into a table by the product's fast path, in one transaction; `rows` calls
    /// back with each.
    ///
    /// # Errors
    /// The database refuses or is gone.
    pub(crate) fn load(&mut self, table: &Table, rows: &mut Rows<'_>) -> Result<(), Failure> {
        match self {
            Self::Sqlite(session) => session.load(table, rows),
            Self::Mysql(session) => session.load(table, rows),
            Self::Postgresql(session) => session.load(table, rows),
        }
    }
}
