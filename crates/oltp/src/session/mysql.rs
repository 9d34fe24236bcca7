//! Connection to MariaDB or MySQL, opened by the `mysql` client library. Statements are prepared
//! once and executed by [`binary`].

use super::super::failure::{Failure, FailureKind};
use super::super::plan::{Plan, Text};
use super::super::profile::{self, Stage};
use super::super::spec::{Server, Tls, TlsMode};
use super::binary::{self, Binary, Prepared};
use super::stream::Stream;
use super::wire;
use ::mysql::prelude::{Protocol, Queryable};
use ::mysql::{Conn, OptsBuilder, Params, QueryResult, SslOpts, Value as Sent};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;
use tameshi_workload::program::{Kind, Reply, Statement, Table, Value, Values};

/// Timeout of connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// Approximate length of a loader's statement in bytes; it must stay below the server's
/// `max_allowed_packet`.
const BULK: usize = 1 << 20;

/// Connection to MariaDB or MySQL.
pub struct Mysql {
    connection: Conn,
    /// Statement execution on the connection's own socket; absent with TLS, which only the library
    /// can speak on it.
    binary: Option<Binary>,
    texts: Arc<Vec<Text>>,
    prepared: Vec<Option<Prepared>>,
    /// The same statements, as the library executes them.
    statements: Vec<Option<::mysql::Statement>>,
    /// True if transactions begin implicitly.
    implicit: bool,
    /// True if the server profiles statements; they are then sent as text, since it profiles no
    /// others.
    profiled: bool,
    /// True if no statement is prepared.
    as_text: bool,
    scratch: String,
}

fn failure(error: &::mysql::Error) -> Failure {
    if let ::mysql::Error::MySqlError(error) = error {
        return Failure::new(binary::failure_kind(error.code), format!("mysql {}", error.code), error.message.clone());
    }
    let failure_kind = if matches!(error, ::mysql::Error::IoError(_) | ::mysql::Error::CodecError(_))
        || error.is_connectivity_error()
    {
        FailureKind::Lost
    } else {
        FailureKind::Final
    };
    Failure::new(failure_kind, "mysql connection", error.to_string())
}

impl Mysql {
    pub(super) fn open(server: &Server, plan: &Plan) -> Result<Self, Failure> {
        let (mut connection, encrypted) = connect(server).map_err(|error| failure(&error))?;
        let implicit = plan.always_in_transaction;
        if implicit {
            connection.query_drop("SET autocommit = 0").map_err(|error| failure(&error))?;
        }
        // A server built without profiling refuses.
        let profiled = plan.profiled && connection.query_drop("SET profiling = 1").is_ok();
        let binary = if encrypted { None } else { Some(shared(&connection, server)?) };
        let texts = Arc::clone(&plan.texts);
        let (prepared, statements) = (vec![None; texts.len()], vec![None; texts.len()]);
        let (as_text, scratch) = (plan.as_text, String::new());
        Ok(Self { connection, binary, texts, prepared, statements, implicit, profiled, as_text, scratch })
    }

    pub(super) fn begins_by_itself(&self) -> bool {
        self.implicit
    }

    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        if self.implicit { Ok(()) } else { self.end("BEGIN") }
    }

    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.end("COMMIT")
    }

    pub(super) fn roll_back(&mut self) -> Result<(), Failure> {
        self.end("ROLLBACK")
    }

    /// Execute a statement that begins or ends a transaction.
    fn end(&mut self, sql: &str) -> Result<(), Failure> {
        match &mut self.binary {
            Some(binary) => binary.plain(sql),
            None => self.plain(sql),
        }
    }

    pub(super) fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        self.connection.query_drop(sql).map_err(|error| failure(&error))
    }

    pub(super) fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        let Self { connection, binary, prepared, statements, scratch, texts, .. } = self;
        let shape = statement.shape as usize;
        let text = &texts[shape];
        if self.as_text || self.profiled && statement.parameters.is_empty() {
            scratch.clear();
            wire::with_values(&text.sql, &statement.parameters, &text.parameters, true, scratch);
            let result = connection.query_iter(&*scratch).map_err(|error| failure(&error))?;
            take_rows(result, &text.results, reply).map_err(|error| failure(&error))?;
            // Read after the rows were taken: the result itself no longer knows the count.
            reply.affected = connection.affected_rows();
            return Ok(());
        }
        let Some(binary) = binary else {
            return by_library(connection, &mut statements[shape], text, statement, reply)
                .map_err(|error| failure(&error));
        };
        let prepared = match &mut prepared[shape] {
            Some(prepared) => prepared,
            empty => {
                let made = connection.prep(&text.sql).map_err(|error| failure(&error))?;
                empty.insert(Prepared::from(&made))
            }
        };
        binary.execute(prepared, &statement.parameters, &text.parameters, &text.results, reply)
    }

    pub(super) fn profile(&mut self) -> Result<Option<Vec<Stage>>, Failure> {
        if !self.profiled {
            return Ok(None);
        }
        let rows = self.query(profile::ASK)?;
        Ok(Some(rows.iter().filter_map(|row| profile::stage(row)).collect()))
    }

    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let rows: Vec<::mysql::Row> = self.connection.query(sql).map_err(|error| failure(&error))?;
        let text = |value: Sent| match value {
            Sent::NULL => None,
            Sent::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(true).trim_matches('\'').to_string()),
        };
        Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
    }

    pub(super) fn load(&mut self, table: &Table, rows: &mut super::Rows<'_>) -> Result<(), Failure> {
        let columns = table.written();
        let names: Vec<&str> = columns.iter().map(|&column| table.columns[column].name).collect();
        let kinds: Vec<Kind> = columns.iter().map(|&column| table.columns[column].kind).collect();
        let head = format!("INSERT INTO {} ({}) VALUES ", table.name, names.join(", "));
        let mut sql = String::with_capacity(BULK + 65_536);
        let Self { connection, .. } = self;
        let mut failed = Ok(());
        rows(&mut |values| {
            sql.push_str(if sql.is_empty() { &head } else { "," });
            literals(values, &kinds, &mut sql);
            if sql.len() >= BULK && failed.is_ok() {
                failed = connection.query_drop(&sql);
                sql.clear();
            } else if failed.is_err() {
                sql.clear();
            }
        });
        if failed.is_ok() && !sql.is_empty() {
            failed = connection.query_drop(&sql);
        }
        failed.and_then(|()| connection.query_drop("COMMIT")).map_err(|error| failure(&error))
    }
}

/// Connect; also return whether the connection is encrypted.
fn connect(server: &Server) -> Result<(Conn, bool), ::mysql::Error> {
    let options = || {
        OptsBuilder::new()
            .user(Some(&server.user))
            .pass(Some(&server.password))
            .db_name(Some(&server.database))
            .socket(server.socket.as_ref().map(|socket| socket.to_string_lossy().into_owned()))
            .ip_or_hostname(Some(&server.host))
            .tcp_port(server.port.unwrap_or(3306))
            .tcp_connect_timeout(Some(CONNECT))
            .prefer_socket(false)
            .stmt_cache_size(0)
    };
    let mode = server.tls.mode;
    if server.socket.is_some() || mode == TlsMode::Disable {
        return Ok((Conn::new(options())?, false));
    }
    match Conn::new(options().ssl_opts(encryption(&server.tls))) {
        Err(error) if mode == TlsMode::Prefer && !matches!(error, ::mysql::Error::MySqlError(_)) => {
            Ok((Conn::new(options())?, false))
        }
        connected => Ok((connected?, true)),
    }
}

fn encryption(tls: &Tls) -> SslOpts {
    let verified = tls.mode >= TlsMode::VerifyCa;
    SslOpts::default()
        .with_danger_accept_invalid_certs(!verified)
        .with_danger_skip_domain_validation(tls.mode < TlsMode::VerifyFull)
        .with_root_cert_path(tls.authorities.clone().filter(|_| verified))
}

/// Share the connection's socket.
fn shared(connection: &Conn, server: &Server) -> Result<Binary, Failure> {
    // SAFETY: the connection keeps its socket open during this call, which duplicates the
    // descriptor.
    let socket = unsafe { BorrowedFd::borrow_raw(connection.as_raw_fd()) };
    let stream = Stream::shared(socket, server.socket.is_some()).map_err(|error| failure(&error.into()))?;
    Ok(Binary::on(stream))
}

/// Execute a prepared statement by the library.
fn by_library(
    connection: &mut Conn,
    prepared: &mut Option<::mysql::Statement>,
    text: &Text,
    statement: &Statement,
    reply: &mut Reply,
) -> Result<(), ::mysql::Error> {
    let made = match prepared {
        Some(made) => made,
        empty => empty.insert(connection.prep(&text.sql)?),
    };
    let values = statement.parameters.iter().zip(&text.parameters).map(|(value, kind)| sent(value, *kind));
    let result = connection.exec_iter(&*made, Params::Positional(values.collect()))?;
    take_rows(result, &text.results, reply)?;
    reply.affected = connection.affected_rows();
    Ok(())
}

fn sent(value: Value<'_>, kind: Kind) -> Sent {
    if value == Value::Null {
        return Sent::NULL;
    }
    let mut text = String::new();
    wire::write_value(value, kind, &mut text);
    Sent::Bytes(text.into_bytes())
}

/// Take all rows of a result.
fn take_rows<P: Protocol>(
    mut result: QueryResult<'_, '_, '_, P>,
    kinds: &[Kind],
    reply: &mut Reply,
) -> Result<(), ::mysql::Error> {
    reply.restart(kinds.len());
    for row in result.by_ref() {
        let row = row?;
        for (column, kind) in kinds.iter().enumerate() {
            receive(row.as_ref(column).unwrap_or(&Sent::NULL), *kind, reply);
        }
    }
    Ok(())
}

/// Append a row as SQL literals.
fn literals(values: &Values, kinds: &[Kind], sql: &mut String) {
    sql.push('(');
    for (index, (value, kind)) in values.iter().zip(kinds).enumerate() {
        if index > 0 {
            sql.push(',');
        }
        wire::literal(value, *kind, true, sql);
    }
    sql.push(')');
}

fn receive(value: &Sent, kind: Kind, reply: &mut Reply) {
    match value {
        Sent::NULL => reply.values.null(),
        Sent::Int(value) => reply.values.int(*value),
        Sent::UInt(value) => reply.values.int(*value as i64),
        Sent::Date(year, month, day, hour, minute, second, _) => {
            let of_day = i64::from(*hour) * 3600 + i64::from(*minute) * 60 + i64::from(*second);
            reply.values.int(wire::seconds(i64::from(*year), i64::from(*month), i64::from(*day), of_day))
        }
        Sent::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            reply.values.push(wire::read_value(text, kind))
        }
        other => reply.values.text(&other.as_sql(true)),
    };
}
