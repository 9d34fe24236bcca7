//! Connection to PostgreSQL: protocol 3 over our own socket, with requests built by
//! `postgres-protocol`.
//!
//! A client that waits for each reply needs one write and one read per statement. A library with an
//! async runtime costs more than the protocol. Parameters and results are text, as libpq's are by
//! default.

use super::super::failure::{Failure, FailureKind};
use super::super::plan::{Plan, Text};
use super::super::spec::{Server, TlsMode};
use super::stream::{Inbox, Stream};
use super::tls;
use super::wire;
use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tameshi_workload::program::{Kind, Reply, Statement, Table, Values};

const PORT: u16 = 5432;
/// Request for TLS before the start-up message, and the server's agreement.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const TLS_AGREED: u8 = b'S';
/// Header bytes of a message: its type, and its length without that byte.
const HEADER: usize = 5;
/// Bytes of a COPY sent at once.
const BULK: usize = 256 * 1024;

/// Connect to the server.
fn connect(server: &Server) -> io::Result<Stream> {
    let port = server.port.unwrap_or(PORT);
    if let Some(socket) = &server.socket {
        return Ok(Stream::Unix(UnixStream::connect(socket_file(socket, port))?));
    }
    let optional = server.tls.mode == TlsMode::Prefer;
    let mut stream = connect_tcp(&server.host, port)?;
    if server.tls.mode == TlsMode::Disable {
        return Ok(Stream::Tcp(stream));
    }
    stream.write_all(&TLS_REQUEST)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer[0] != TLS_AGREED {
        let refusal = || io::Error::other("the server offers no TLS");
        return if optional { Ok(Stream::Tcp(stream)) } else { Err(refusal()) };
    }
    match tls::secured(stream, &server.host, &server.tls) {
        Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
        Err(_) if optional => Ok(Stream::Tcp(connect_tcp(&server.host, port)?)),
        Err(error) => Err(error),
    }
}

fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Path of the socket; a folder stands for the socket that the server creates in it.
fn socket_file(socket: &Path, port: u16) -> PathBuf {
    if socket.is_dir() { socket.join(format!(".s.PGSQL.{port}")) } else { socket.to_path_buf() }
}

/// Callback for a message: its type and its body.
type Take<'a> = dyn FnMut(u8, &[u8]) -> Result<(), Failure> + 'a;

/// Connection to PostgreSQL.
pub struct Postgresql {
    stream: Stream,
    texts: Arc<Vec<Text>>,
    prepared: Vec<bool>,
    /// True if no statement is prepared.
    as_text: bool,
    send: BytesMut,
    inbox: Inbox,
    /// Names of the prepared statements, per shape.
    names: Vec<String>,
    scratch: String,
}

const PARSED: u8 = b'1';
const ROW: u8 = b'D';
const COMPLETE: u8 = b'C';
const READY: u8 = b'Z';
const REFUSED: u8 = b'E';

fn parsed(tag: u8, body: &[u8]) -> Result<Message, Failure> {
    let mut bytes = BytesMut::with_capacity(HEADER + body.len());
    bytes.extend_from_slice(&[tag]);
    bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(body);
    let message = Message::parse(&mut bytes).map_err(|error| lost(&error))?;
    message.ok_or_else(|| odd("a message is shorter than it says"))
}

fn refused(body: &[u8]) -> Failure {
    match parsed(REFUSED, body) {
        Ok(Message::ErrorResponse(body)) => refusal(&body),
        Ok(_) => odd("an error is none"),
        Err(failure) => failure,
    }
}

fn lost(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Lost, "postgresql connection", error.to_string())
}

fn odd(what: &str) -> Failure {
    Failure::new(FailureKind::Final, "postgresql protocol", what)
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
    let failure_kind = match code.as_str() {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => FailureKind::Retry,
        // Shutdown, crash, not ready, too many connections.
        "57P01" | "57P02" | "57P03" | "53300" => FailureKind::Lost,
        other if other.starts_with("08") => FailureKind::Lost,
        _ => FailureKind::Final,
    };
    Failure::new(failure_kind, format!("postgresql {code}"), message)
}

impl Postgresql {
    pub(super) fn open(server: &Server, plan: &Plan) -> Result<Self, Failure> {
        let mut session = Self {
            stream: connect(server).map_err(|error| lost(&error))?,
            texts: Arc::clone(&plan.texts),
            prepared: vec![false; plan.texts.len()],
            as_text: plan.as_text,
            send: BytesMut::with_capacity(4096),
            inbox: Inbox::new(),
            names: (0..plan.texts.len()).map(|shape| format!("s{shape}")).collect(),
            scratch: String::new(),
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
        session.until_ready(&mut |_, _| Ok(()))?;
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

    /// Next message: its type and its body.
    #[inline]
    fn receive(&mut self) -> Result<(u8, &[u8]), Failure> {
        let head = self.inbox.look(&mut self.stream, HEADER).map_err(|error| lost(&error))?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length < HEADER - 1 {
            return Err(Failure::new(
                FailureKind::Lost,
                "postgresql protocol",
                "a message is shorter than its own length",
            ));
        }
        let message = self.inbox.take(&mut self.stream, 1 + length).map_err(|error| lost(&error))?;
        Ok((message[0], &message[HEADER..]))
    }

    /// Next message of any kind; hot paths look at its raw bytes.
    fn message(&mut self) -> Result<Message, Failure> {
        let (tag, body) = self.receive()?;
        parsed(tag, body)
    }

    /// Take messages until the server is ready for the next statement; return the first refusal.
    fn until_ready(&mut self, take: &mut Take<'_>) -> Result<(), Failure> {
        let mut done = Ok(());
        loop {
            match self.receive()? {
                (READY, _) => return done,
                (_, _) if done.is_err() => {}
                (REFUSED, body) => done = Err(refused(body)),
                (tag, body) => done = take(tag, body),
            }
        }
    }

    pub(super) fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        frontend::query(sql, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()?;
        self.until_ready(&mut |_, _| Ok(()))
    }

    pub(super) fn run(&mut self, statement: &Statement, reply: &mut Reply) -> Result<(), Failure> {
        let texts = Arc::clone(&self.texts);
        let (shape, text) = (statement.shape as usize, &texts[statement.shape as usize]);
        if self.as_text {
            self.scratch.clear();
            wire::with_values(&text.sql, &statement.parameters, &text.parameters, false, &mut self.scratch);
            frontend::query(&self.scratch, &mut self.send).map_err(|error| lost(&error))?;
        } else {
            if !self.prepared[shape] {
                frontend::parse(&self.names[shape], &text.sql, [], &mut self.send).map_err(|error| lost(&error))?;
            }
            self.bind(statement, &text.parameters)?;
            frontend::execute("", 0, &mut self.send).map_err(|error| lost(&error))?;
            frontend::sync(&mut self.send);
        }
        self.flush()?;
        reply.restart(text.results.len());
        // A parsed statement stays, even if its first execution fails or its transaction is rolled
        // back.
        let mut parsed = false;
        let done = self.until_ready(&mut |tag, body| {
            match tag {
                PARSED => parsed = true,
                ROW => row(body, &text.results, reply).ok_or_else(|| odd("a row can't be read"))?,
                COMPLETE => reply.affected = affected(body),
                _ => {}
            }
            Ok(())
        });
        self.prepared[shape] |= parsed;
        done
    }

    fn bind(&mut self, statement: &Statement, kinds: &[Kind]) -> Result<(), Failure> {
        let Self { scratch, names, send, .. } = self;
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
        frontend::bind("", &names[statement.shape as usize], [], values, encode, [], send)
            .map_err(|_| odd("a value is too long to be sent"))
    }

    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        frontend::query(sql, &mut self.send).map_err(|error| lost(&error))?;
        self.flush()?;
        let mut found = Vec::new();
        self.until_ready(&mut |tag, body| {
            if tag == ROW {
                let mut values = Vec::new();
                let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
                each(body, |value| values.push(value.map(text))).ok_or_else(|| odd("a row can't be read"))?;
                found.push(values);
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
                self.until_ready(&mut |_, _| Ok(()))?;
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
        self.until_ready(&mut |_, _| Ok(()))
    }

    fn copy(&mut self, text: &str) -> Result<(), Failure> {
        let data = frontend::CopyData::new(text.as_bytes()).map_err(|error| lost(&error))?;
        data.write(&mut self.send);
        self.flush()
    }
}

/// Append a row in COPY's text format.
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

/// Number of rows that a completed statement reports as changed or returned.
fn affected(body: &[u8]) -> u64 {
    let tag = body.strip_suffix(b"\0").unwrap_or(body);
    let count = tag.rsplit(|byte| *byte == b' ').next().and_then(|count| std::str::from_utf8(count).ok());
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Hand over each value of a row; `None` if it is too short.
#[inline]
fn each(body: &[u8], mut take: impl FnMut(Option<&[u8]>)) -> Option<()> {
    let (count, mut rest) = body.split_first_chunk()?;
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk()?;
        // Length -1: NULL.
        match usize::try_from(i32::from_be_bytes(*length)) {
            Err(_) => {
                take(None);
                rest = after;
            }
            Ok(length) => {
                let (value, after) = after.split_at_checked(length)?;
                take(Some(value));
                rest = after;
            }
        }
    }
    Some(())
}

/// Decode a row.
fn row(body: &[u8], kinds: &[Kind], reply: &mut Reply) -> Option<()> {
    let mut kinds = kinds.iter();
    each(body, |value| {
        match (value, kinds.next()) {
            (Some(value), Some(kind)) => {
                reply.values.push(wire::read_value(std::str::from_utf8(value).unwrap_or_default(), *kind));
            }
            (None, Some(_)) => drop(reply.values.null()),
            (_, None) => {}
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tameshi_workload::program::Value;

    fn session() -> (Postgresql, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("two ends");
        let text = |sql: &str, results: &[Kind]| Text {
            sql: sql.into(),
            parameters: vec![Kind::Int],
            results: results.to_vec(),
            returns_rows: true,
        };
        let session = Postgresql {
            stream: Stream::Unix(ours),
            texts: Arc::new(vec![text("SELECT", &[Kind::Int, Kind::Char(5), Kind::Decimal { digits: 9, scale: 2 }])]),
            prepared: vec![false],
            as_text: false,
            send: BytesMut::new(),
            inbox: Inbox::new(),
            names: vec!["s0".into()],
            scratch: String::new(),
        };
        (session, theirs)
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    fn asked() -> Statement {
        let mut statement = Statement::default();
        statement.of(0).int(7);
        statement
    }

    #[test]
    fn answer_in_pieces_is_read_whole() {
        let whole = [
            message(b'1', b""),
            message(b'2', b""),
            message(b'N', b"SNOTICE\0\0"),
            message(b'D', b"\0\x03\0\0\0\x02-7\0\0\0\x05ab   \xFF\xFF\xFF\xFF"),
            message(b'D', b"\0\x03\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\x041.50"),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        for piece in [1, 4, 4096] {
            let (mut session, mut server) = session();
            let mut reply = Reply::default();
            std::thread::scope(|scope| {
                scope.spawn(|| whole.chunks(piece).for_each(|part| server.write_all(part).expect("room")));
                session.run(&asked(), &mut reply).expect("rows");
            });
            let expected =
                [Value::Int(-7), Value::Text("ab"), Value::Null, Value::Null, Value::Text(""), Value::Int(150)];
            assert_eq!(reply.values.iter().collect::<Vec<_>>(), expected);
            assert_eq!((reply.affected, session.prepared[0]), (2, true));
        }
    }

    #[test]
    fn refusal_is_returned_when_the_server_is_ready() {
        let (mut session, mut server) = session();
        let refusal = b"SERROR\0C40P01\0Mdeadlock detected\0\0";
        let answer = [message(b'1', b""), message(b'E', refusal), message(b'Z', b"E"), message(b'C', b"ROLLBACK\0")];
        server.write_all(&[answer.concat(), message(b'Z', b"I")].concat()).expect("room");
        let failure = session.run(&asked(), &mut Reply::default()).expect_err("refused");
        assert_eq!(failure, Failure::new(FailureKind::Retry, "postgresql 40P01", "deadlock detected"));
        assert!(session.prepared[0], "what was parsed stays");
        session.plain("ROLLBACK").expect("done");
    }

    #[test]
    fn closed_or_unreadable_connection_is_lost() {
        for (answer, failure_kind) in [
            (Vec::new(), FailureKind::Lost),
            (message(b'D', b"\0\x01")[..4].to_vec(), FailureKind::Lost),
            (b"D\0\0\0\x03".to_vec(), FailureKind::Lost),
            ([message(b'D', b"\0\x01\0\0"), message(b'Z', b"I")].concat(), FailureKind::Final),
        ] {
            let (mut session, mut server) = session();
            server.write_all(&answer).expect("room");
            server.shutdown(std::net::Shutdown::Write).expect("closed");
            let failure = session.run(&asked(), &mut Reply::default()).expect_err("nothing to go by");
            assert_eq!(failure.failure_kind, failure_kind, "{failure:?}");
        }
    }
}
