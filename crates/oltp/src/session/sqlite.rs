//! Connection to a SQLite file, by rusqlite.

use super::super::failure::{Failure, FailureKind};
use super::super::plan::{Plan, Text};
use super::{busy, wire};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tameshi_workload::program::{Kind, Reply, Statement, Table, Value, Values};

/// Longest wait for the single writer's lock before the transaction is retried.
const BUSY: Duration = Duration::from_secs(5);

/// Connection to a SQLite file.
pub struct Sqlite {
    connection: Connection,
    texts: Arc<Vec<Text>>,
    /// True if statements are prepared anew each time.
    as_text: bool,
    scratch: String,
}

fn failure(error: &rusqlite::Error) -> Failure {
    let code = error.sqlite_error_code();
    let failure_kind = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FailureKind::Retry,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::FileLockingProtocolFailed) => {
            FailureKind::Lost
        }
        _ => FailureKind::Final,
    };
    let code = code.map_or("other".to_string(), |code| format!("{code:?}"));
    Failure::new(failure_kind, format!("sqlite {code}"), error.to_string())
}

impl Sqlite {
    pub(super) fn open(file: &Path, pragmas: &[(String, String)], plan: &Plan) -> Result<Self, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags).map_err(|error| failure(&error))?;
        connection.busy_timeout(BUSY).map_err(|error| failure(&error))?;
        connection.set_prepared_statement_cache_capacity(plan.texts.len() + 16);
        for (name, value) in pragmas {
            connection.pragma_update(None, name, value).map_err(|error| failure(&error))?;
        }
        busy::stretch(&connection, plan.slow).map_err(|error| failure(&error))?;
        Ok(Self { connection, texts: Arc::clone(&plan.texts), as_text: plan.as_text, scratch: String::new() })
    }

    pub(super) fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        let done = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        };
        done().map_err(|error| failure(&error))
    }

    pub(super) fn roll_back(&mut self) -> Result<(), Failure> {
        // Some failures end the transaction themselves.
        if self.connection.is_autocommit() { Ok(()) } else { self.plain("ROLLBACK") }
    }

    pub(super) fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        let text = &self.texts[statement.shape as usize];
        let done = if self.as_text {
            self.scratch.clear();
            let (values, kinds) = (&statement.parameters, &text.parameters);
            // SQLite stores decimals and times as integers.
            let kinds: Vec<Kind> = kinds.iter().map(|_| Kind::BigInt).collect();
            wire::with_values(&text.sql, values, &kinds, false, &mut self.scratch);
            self.connection.prepare(&self.scratch).and_then(|mut prepared| execute(&mut prepared, text, reply))
        } else {
            self.connection.prepare_cached(&text.sql).and_then(|mut prepared| {
                bind(&mut prepared, &statement.parameters)?;
                execute(&mut prepared, text, reply)
            })
        };
        done.map_err(|error| failure(&error))
    }

    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let all = || {
            let mut statement = self.connection.prepare(sql)?;
            let width = statement.column_count();
            let mut rows = statement.raw_query();
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let text = |column| {
                    Ok(match row.get_ref(column)? {
                        ValueRef::Null => None,
                        ValueRef::Integer(value) => Some(value.to_string()),
                        ValueRef::Real(value) => Some(value.to_string()),
                        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
                    })
                };
                found.push((0..width).map(text).collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok(found)
        };
        all().map_err(|error| failure(&error))
    }

    pub(super) fn load(&mut self, table: &Table, rows: &mut super::Rows<'_>) -> Result<(), Failure> {
        let names: Vec<&str> = table.written().into_iter().map(|column| table.columns[column].name).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, names.join(", "));
        let mut all = || {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut failed = Ok(());
            rows(&mut |values| {
                if failed.is_ok() {
                    failed = bind(&mut statement, values).and_then(|()| statement.raw_execute().map(drop));
                }
            });
            drop(statement);
            failed.and_then(|()| self.connection.execute_batch("COMMIT"))
        };
        let done = all().map_err(|error: rusqlite::Error| failure(&error));
        if done.is_err() {
            let _ = self.roll_back();
        }
        done
    }
}

fn bind(statement: &mut rusqlite::Statement<'_>, values: &Values) -> rusqlite::Result<()> {
    for (index, value) in (1..).zip(values.iter()) {
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(value) => statement.raw_bind_parameter(index, value)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
        }
    }
    Ok(())
}

fn execute(prepared: &mut rusqlite::Statement<'_>, text: &Text, reply: &mut Reply) -> rusqlite::Result<()> {
    let width = text.results.len();
    reply.restart(width);
    if !text.returns_rows {
        reply.affected = prepared.raw_execute()? as u64;
        return Ok(());
    }
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next()? {
        for column in 0..width {
            match row.get_ref(column)? {
                ValueRef::Null => reply.values.null(),
                ValueRef::Integer(value) => reply.values.int(value),
                // No column of a program holds a real number.
                ValueRef::Real(value) => reply.values.int(value as i64),
                ValueRef::Text(text) | ValueRef::Blob(text) => {
                    reply.values.write(|into| into.push_str(&String::from_utf8_lossy(text)))
                }
            };
        }
    }
    Ok(())
}
