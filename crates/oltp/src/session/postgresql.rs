//! A connection to PostgreSQL: its protocol 3 over a socket of our own, messages by `postgres-protocol`.
//!
//! A client that waits for each reply needs one write and one read a statement; a library with a runtime between costs
//! more than the protocol. Parameters and results are text, as libpq's are by default.

use super::super::failure::{Failure, Fate};
use super::super::plan::{Plan, Text};
use super::super::spec::Server;
use super::wire;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{DataRowBody, ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tameshi_workload::program::{Kind, Reply, Statement, Table, Values};

const PORT: u16 = 5432;
/// Bytes read from the socket at once.
const READ: usize = 16 * 1024;
/// Bytes of a COPY that are sent at once.
const BULK: usize = 256 * 1024;

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn open(server: &Server) -> io::Result<Self> {
        let port = server.port.unwrap_or(PORT);
        let Some(socket) = &server.socket else {
            let stream = TcpStream::connect((server.host.as_str(), port))?;
            stream.set_nodelay(true)?;
            return Ok(Self::Tcp(stream));
        };
        Ok(Self::Unix(UnixStream::connect(socket_file(socket, port))?))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}

/// A folder stands for the socket that the server makes in it.
fn socket_file(socket: &Path, port: u16) -> PathBuf {
    if socket.is_dir() { socket.join(format!(".s.PGSQL.{port}")) } else { socket.to_path_buf() }
}

/// A connection.
pub struct Postgresql {
    stream: Stream,
    texts: Arc<Vec<Text>>,
    prepared: Vec<bool>,
    /// No statement is prepared.
    as_text: bool,
    send: BytesMut,
    received: BytesMut,
    chunk: Vec<u8>,
    scratch: String,
    spans: Vec<Option<std::ops::Range<usize>>>,
}

fn lost(error: &io::Error) -> Failure {
    Failure::new(Fate::Lost, "postgresql connection", error.to_string())
}

fn odd(what: &str) -> Failure {
    Failure::new(Fate::Final, "postgresql protocol", what)
}

fn refusal(body: &ErrorResponseBody) -> Failure {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        match field.type_() {
            b'C' => code = String::from_utf8_lossy(field.value_bytes()).into_owned(),
            b'M' => message = String::from_utf8_lossy(field.value_bytes()).into_owned(),
            _ => {}
        }
    }
    let fate = match code.as_str() {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => Fate::Retry,
        // Shutdown, crash, not ready, too many connections.
        "57P01" | "57P02" | "57P03" | "53300" => Fate::Lost,
        other if other.starts_with("08") => Fate::Lost,
        _ => Fate::Final,
    };
    Failure::new(fate, format!("postgresql {code}"), message)
}

impl Postgresql {
    pub(super) fn open(server: &Server, plan: &Plan) -> Result<Self, Failure> {
        let mut session = Self {
            stream: Stream::open(server).map_err(|error| lost(&error))?,
            texts: Arc::clone(&plan.texts),
            prepared: vec![false; plan.texts.len()],
            as_text: plan.as_text,
            send: BytesMut::with_capacity(4096),
            received: BytesMut::with_capacity(READ),
            chunk: vec![0; READ],
            scratch: String::new(),
            spans: Vec::new(),
        };
        let parameters = [
            ("user", server.user.as_str()),
            ("database", &server.database),
            ("client_encoding", "UTF8"),
            ("DateStyle", "ISO"),
            ("TimeZone", "UTC"),
        ];
        frontend::startup_message(parameters, &mut session.send).map_err(|error| lost(&error))?;
        session.flush()?;
        session.authenticate(server)?;
        session.until_ready(&mut |_| Ok(()))?;
        Ok(session)
    }

    fn authenticate(&mut self, server: &Server) -> Result<(), Failure> {
        let mut scram = None;
        loop {
            match self.message()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartextPassword => self.password(server.password.as_bytes())?,
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(server.user.as_bytes(), server.password.as_bytes(), body.salt());
                    self.password(hash.as_bytes())?;
                }
                Message::AuthenticationSasl(_) => {
                    let exchange = ScramSha256::new(server.password.as_bytes(), ChannelBinding::unsupported());
                    frontend::sasl_initial_response(SCRAM_SHA_256, exchange.message(), &mut self.send)
                        .map_err(|error| lost(&error))?;
                    scram = Some(exchange);
                    self.flush()?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    let exchange = scram.as_mut().ok_or_else(|| odd("SCRAM out of order"))?;
                    exchange.update(body.data()).map_err(|error| lost(&error))?;
                    frontend::sasl_response(exchange.message(), &mut self.send).map_err(|error| lost(&error))?;
                    self.flush()?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    let exchange = scram.as_mut().ok_or_else(|| odd("SCRAM out of order"))?;
                    exchange.finish(body.data()).map_err(|error| lost(&error))?;
                }
                Message::ErrorResponse(body) => return Err(refusal(&body)),
                _ => return Err(odd("this server wants a way to log in that is not supported")),
            }
        }
    }

    fn password(&mut self, password: &[u8]) -> Result<(), Failure> {
        frontend::password_message(password, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let written = self.stream.write_all(&self.send);
        self.send.clear();
        written.map_err(|error| lost(&error))
    }

    fn message(&mut self) -> Result<Message, Failure> {
        loop {
            if let Some(message) = Message::parse(&mut self.received).map_err(|error| lost(&error))? {
                return Ok(message);
            }
            let count = self.stream.read(&mut self.chunk).map_err(|error| lost(&error))?;
            if count == 0 {
                return Err(Failure::new(Fate::Lost, "postgresql connection", "the server closed the connection"));
            }
            self.received.extend_from_slice(&self.chunk[..count]);
        }
    }

    /// Takes messages until the server is ready for the next statement; the first refusal is what is returned.
    fn until_ready(&mut self, take: &mut dyn FnMut(&Message) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut done = Ok(());
        loop {
            match self.message()? {
                Message::ReadyForQuery(_) => return done,
                Message::ErrorResponse(body) if done.is_ok() => done = Err(refusal(&body)),
                message => {
                    if done.is_ok() {
                        done = take(&message);
                    }
                }
            }
        }
    }

    pub(super) fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        frontend::query(sql, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()?;
        self.until_ready(&mut |_| Ok(()))
    }

    pub(super) fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        let texts = Arc::clone(&self.texts);
        let (shape, text) = (statement.shape as usize, &texts[statement.shape as usize]);
        if self.as_text {
            self.scratch.clear();
            wire::with_values(&text.sql, &statement.parameters, &text.parameters, false, &mut self.scratch);
            frontend::query(&self.scratch, &mut self.send).map_err(|error| lost(&error))?;
        } else {
            let name = format!("s{shape}");
            if !self.prepared[shape] {
                frontend::parse(&name, &text.sql, [], &mut self.send).map_err(|error| lost(&error))?;
            }
            self.bind(&name, statement, &text.parameters)?;
            frontend::execute("", 0, &mut self.send).map_err(|error| lost(&error))?;
            frontend::sync(&mut self.send);
        }
        self.flush()?;
        reply.restart(text.results.len());
        let mut spans = std::mem::take(&mut self.spans);
        // What was parsed stays, also where its first execution fails or its transaction is taken back.
        let mut parsed = false;
        let done = self.until_ready(&mut |message| match message {
            Message::ParseComplete => {
                parsed = true;
                Ok(())
            }
            Message::DataRow(row) => receive(row, &text.results, &mut spans, reply),
            Message::CommandComplete(body) => {
                let tag = body.tag().map_err(|error| lost(&error))?;
                reply.affected = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
                Ok(())
            }
            _ => Ok(()),
        });
        self.spans = spans;
        self.prepared[shape] |= parsed;
        done
    }

    fn bind(&mut self, name: &str, statement: &Statement, kinds: &[Kind]) -> Result<(), Failure> {
        let scratch = &mut self.scratch;
        let values = statement.parameters.iter().zip(kinds);
        let encode = |(value, kind): (tameshi_workload::program::Value<'_>, &Kind), buffer: &mut BytesMut| {
            if value == tameshi_workload::program::Value::Null {
                return Ok(postgres_protocol::IsNull::Yes);
            }
            scratch.clear();
            wire::write_value(value, *kind, scratch);
            buffer.extend_from_slice(scratch.as_bytes());
            Ok(postgres_protocol::IsNull::No)
        };
        frontend::bind("", name, [], values, encode, [], &mut self.send)
            .map_err(|_| odd("a value is too long to be sent"))
    }

    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        frontend::query(sql, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()?;
        let mut found = Vec::new();
        self.until_ready(&mut |message| {
            if let Message::DataRow(row) = message {
                let text = |span: Option<std::ops::Range<usize>>| {
                    Ok(span.map(|span| String::from_utf8_lossy(&row.buffer()[span]).into_owned()))
                };
                found.push(row.ranges().map(text).collect().map_err(|error| lost(&error))?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    pub(super) fn load(&mut self, table: &Table, rows: &mut super::Rows<'_>) -> Result<(), Failure> {
        let columns = table.written();
        let names: Vec<&str> = columns.iter().map(|&column| table.columns[column].name).collect();
        let kinds: Vec<Kind> = columns.iter().map(|&column| table.columns[column].kind).collect();
        let sql = format!("COPY {} ({}) FROM STDIN", table.name, names.join(", "));
        frontend::query(&sql, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()?;
        match self.message()? {
            Message::CopyInResponse(_) => {}
            Message::ErrorResponse(body) => {
                let refused = refusal(&body);
                self.until_ready(&mut |_| Ok(()))?;
                return Err(refused);
            }
            _ => return Err(odd("COPY was answered by something else")),
        }
        let mut text = String::with_capacity(BULK + 65_536);
        let mut failed = Ok(());
        rows(&mut |values| {
            line(values, &kinds, &mut text);
            if text.len() >= BULK {
                if failed.is_ok() {
                    failed = self.copy(&text);
                }
                text.clear();
            }
        });
        failed?;
        self.copy(&text)?;
        frontend::copy_done(&mut self.send);
        self.flush()?;
        self.until_ready(&mut |_| Ok(()))
    }

    fn copy(&mut self, text: &str) -> Result<(), Failure> {
        let data = frontend::CopyData::new(text.as_bytes()).map_err(|error| lost(&error))?;
        data.write(&mut self.send);
        self.flush()
    }
}

/// Appends a row in COPY's text format.
fn line(values: &Values, kinds: &[Kind], text: &mut String) {
    for (index, (value, kind)) in values.iter().zip(kinds).enumerate() {
        if index > 0 {
            text.push('\t');
        }
        match value {
            tameshi_workload::program::Value::Null => text.push_str("\\N"),
            tameshi_workload::program::Value::Text(value) if value.contains(['\\', '\t', '\n', '\r']) => {
                for letter in value.chars() {
                    match letter {
                        '\\' => text.push_str("\\\\"),
                        '\t' => text.push_str("\\t"),
                        '\n' => text.push_str("\\n"),
                        '\r' => text.push_str("\\r"),
                        other => text.push(other),
                    }
                }
            }
            value => wire::write_value(value, *kind, text),
        }
    }
    text.push('\n');
}

fn receive(
    row: &DataRowBody,
    kinds: &[Kind],
    spans: &mut Vec<Option<std::ops::Range<usize>>>,
    reply: &mut Reply,
) -> Result<(), Failure> {
    spans.clear();
    let mut ranges = row.ranges();
    while let Some(span) = ranges.next().map_err(|error| lost(&error))? {
        spans.push(span);
    }
    for (span, kind) in spans.iter().zip(kinds) {
        match span {
            None => reply.values.null(),
            Some(span) => {
                let text = std::str::from_utf8(&row.buffer()[span.clone()]).unwrap_or_default();
                reply.values.push(wire::read_value(text, *kind))
            }
        };
    }
    Ok(())
}
