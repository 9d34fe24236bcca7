//! Prepared statements in the binary protocol of MariaDB and MySQL, on the socket of a connection
//! that the `mysql` library opened.
//!
//! The library connects, logs in, prepares and loads. Statements of the hot path bypass it with one
//! write and one read: the library creates objects per row and value, which costs more than the
//! protocol. Between two statements nothing is in flight on the socket, so that either may use it
//! next.
//!
//! Source: MariaDB's documentation of the client/server protocol, COM_STMT_EXECUTE, COM_QUERY and
//! "Resultset row".

mod value;

use super::stream::{Inbox, Stream};
use crate::failure::{Failure, FailureKind};
use std::io;
use tameshi_workload::program::{Kind, Reply, Values};
use value::{Reader, Type, UNSIGNED, code, column, parameter, row};

/// Header bytes of a packet: three for the length, one for the number.
const HEADER: usize = 4;
/// Largest packet; longer data would come in several.
const LONGEST: usize = 0xFF_FFFF;

const QUERY: u8 = 0x03;
const EXECUTE: u8 = 0x17;

const OK: u8 = 0x00;
const END: u8 = 0xFE;
const REFUSED: u8 = 0xFF;

/// Statement that the server has prepared.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    id: u32,
    parameters: usize,
    /// Column types. The server omits them from a result if they are unchanged (MariaDB's metadata
    /// cache).
    columns: Vec<Type>,
}

impl From<&::mysql::Statement> for Prepared {
    fn from(statement: &::mysql::Statement) -> Self {
        let type_of = |column: &::mysql::Column| Type {
            code: column.column_type() as u8,
            unsigned: column.flags().bits() & UNSIGNED != 0,
        };
        let columns = statement.columns().iter().map(type_of).collect();
        Self { id: statement.id(), parameters: statement.num_params().into(), columns }
    }
}

/// Client side of the protocol.
pub(super) struct Binary {
    stream: Stream,
    request: Vec<u8>,
    inbox: Inbox,
    scratch: String,
}

fn lost(error: &io::Error) -> Failure {
    Failure::new(FailureKind::Lost, "mysql connection", error.to_string())
}

/// Failure after an unexpected answer: the stream is out of step, and only a new connection helps.
fn odd(what: &str) -> Failure {
    Failure::new(FailureKind::Lost, "mysql protocol", what)
}

impl Binary {
    pub(super) fn on(stream: Stream) -> Self {
        Self { stream, request: Vec::with_capacity(4096), inbox: Inbox::new(), scratch: String::new() }
    }

    /// Execute a text that returns no rows.
    pub(super) fn plain(&mut self, sql: &str) -> Result<(), Failure> {
        self.request.clear();
        self.request.extend_from_slice(&[0; HEADER]);
        self.request.push(QUERY);
        self.request.extend_from_slice(sql.as_bytes());
        self.send()?;
        let answer = self.packet()?;
        match answer[0] {
            OK => Ok(()),
            REFUSED => Err(refusal(answer)),
            _ => Err(odd("a statement without a result returned one")),
        }
    }

    /// Execute a prepared statement.
    pub(super) fn execute(
        &mut self,
        prepared: &mut Prepared,
        values: &Values,
        kinds: &[Kind],
        results: &[Kind],
        reply: &mut Reply,
    ) -> Result<(), Failure> {
        if values.len() != prepared.parameters {
            let message = format!("{} values for {} parameters", values.len(), prepared.parameters);
            return Err(Failure::new(FailureKind::Final, "mysql parameters", message));
        }
        execution(prepared.id, values, kinds, &mut self.request, &mut self.scratch);
        self.send()?;
        reply.restart(results.len());
        let answer = self.packet()?;
        match answer[0] {
            OK => {
                reply.affected = Reader(&answer[1..]).length().ok_or_else(|| odd("an answer is too short"))? as u64;
                Ok(())
            }
            REFUSED => Err(refusal(answer)),
            _ => {
                let mut head = Reader(answer);
                let count = head.length().ok_or_else(|| odd("a result has no number of columns"))?;
                let described = head.0.first() != Some(&0);
                self.result(count, described, prepared, results, reply)
            }
        }
    }

    /// Read a result of `columns` columns, described first or already known.
    fn result(
        &mut self,
        count: usize,
        described: bool,
        prepared: &mut Prepared,
        results: &[Kind],
        reply: &mut Reply,
    ) -> Result<(), Failure> {
        if described {
            prepared.columns.clear();
            for _ in 0..count {
                let column = column(self.packet()?).ok_or_else(|| odd("a column can't be read"))?;
                prepared.columns.push(column);
            }
        }
        if prepared.columns.len() != count || count != results.len() {
            return Err(odd("a result has another number of columns than its statement"));
        }
        if self.packet()?[0] != END {
            return Err(odd("a result's columns don't end"));
        }
        loop {
            let packet = self.packet()?;
            match packet[0] {
                OK => row(packet, &prepared.columns, results, reply).ok_or_else(|| odd("a row can't be read"))?,
                END => return Ok(()),
                REFUSED => return Err(refusal(packet)),
                _ => return Err(odd("something else than a row stands in a result")),
            }
        }
    }

    fn send(&mut self) -> Result<(), Failure> {
        let length = self.request.len() - HEADER;
        if length >= LONGEST {
            return Err(Failure::new(
                FailureKind::Final,
                "mysql parameters",
                "a statement of 16 MiB and more is not sent",
            ));
        }
        // Packet number zero starts a command.
        self.request[..HEADER].copy_from_slice(&(length as u32).to_le_bytes());
        self.stream.write_all(&self.request).map_err(|error| lost(&error))
    }

    /// Next packet, without its header; never empty.
    #[inline]
    fn packet(&mut self) -> Result<&[u8], Failure> {
        let head = self.inbox.look(&mut self.stream, HEADER).map_err(|error| lost(&error))?;
        match u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize {
            0 => Err(odd("a packet is empty")),
            LONGEST => Err(odd("a packet is longer than 16 MiB")),
            length => {
                let packet = self.inbox.take(&mut self.stream, HEADER + length).map_err(|error| lost(&error))?;
                Ok(&packet[HEADER..])
            }
        }
    }
}

/// Consequence of a server's error.
pub(super) fn failure_kind(error: u16) -> FailureKind {
    match error {
        // Deadlock, lock wait timeout, record changed, too many that wait, foreign transaction.
        1213 | 1205 | 1020 | 3572 => FailureKind::Retry,
        // Shutdown, killed, gone; a server that is not ready, or accepts no more connections. A
        // Galera node without a majority refuses statements by 1047.
        1053 | 1077 | 1079 | 1080 | 1152 | 1158..=1161 | 1184 | 1317 | 1927 | 2006 | 2013 | 1040 | 1047 | 1203 => {
            FailureKind::Lost
        }
        // Error during a commit. A Galera node that loses its majority answers so to commits under
        // way, of which the other nodes have some.
        1180 => FailureKind::Unknown,
        _ => FailureKind::Final,
    }
}

fn refusal(packet: &[u8]) -> Failure {
    let mut rest = Reader(&packet[1..]);
    let error = rest.number::<2>().map_or(0, u16::from_le_bytes);
    let message = if rest.0.first() == Some(&b'#') { rest.0.get(6..).unwrap_or_default() } else { rest.0 };
    Failure::new(failure_kind(error), format!("mysql {error}"), String::from_utf8_lossy(message))
}

/// Build a request to execute a prepared statement, with space for the header.
fn execution(id: u32, values: &Values, kinds: &[Kind], request: &mut Vec<u8>, scratch: &mut String) {
    request.clear();
    request.extend_from_slice(&[0; HEADER]);
    request.push(EXECUTE);
    request.extend_from_slice(&id.to_le_bytes());
    // No cursor, once.
    request.extend_from_slice(&[0, 1, 0, 0, 0]);
    let count = values.len();
    if count == 0 {
        return;
    }
    let nulls = request.len();
    // NULL bitmap, the flag for types, and the types: two bytes each, the second for unsigned
    // numbers.
    request.resize(nulls + count.div_ceil(8), 0);
    request.push(1);
    let types = request.len();
    request.resize(types + 2 * count, 0);
    for (index, (value, kind)) in values.iter().zip(kinds).enumerate() {
        let code = parameter(value, *kind, request, scratch);
        request[types + 2 * index] = code;
        if code == code::NULL {
            request[nulls + index / 8] |= 1 << (index % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::READ;
    use super::value::text;
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use tameshi_workload::program::Value;

    const KINDS: [Kind; 4] = [Kind::Int, Kind::Char(9), Kind::Decimal { digits: 12, scale: 2 }, Kind::Time];

    fn pair() -> (Binary, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("two ends");
        (Binary::on(Stream::Unix(ours)), theirs)
    }

    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }

    fn described(code: u8, flags: u16) -> Vec<u8> {
        let mut bytes = vec![3];
        bytes.extend_from_slice(b"def\x01d\x01t\x01t\x01c\x01c\x0c\x21\0\x09\0\0\0");
        bytes.push(code);
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(&[0, 0, 0]);
        packet(&bytes)
    }

    /// Two rows: one with all kinds of values, and one of NULLs.
    fn rows() -> Vec<u8> {
        let whole = b"\0\0\xFF\xFF\xFF\xFF\x05ab   \x05-0.50\x04\xD0\x07\x02\x1D";
        let end = b"\xFE\0\0\x02\0";
        [&packet(whole)[..], &packet(b"\0\x3C"), &packet(end)].concat()
    }

    fn prepared() -> Prepared {
        Prepared { id: 7, parameters: 0, columns: Vec::new() }
    }

    fn taken(reply: &Reply) -> Vec<Value<'_>> {
        reply.values.iter().collect()
    }

    const WHOLE: [Value<'_>; 8] = [
        Value::Int(-1),
        Value::Text("ab"),
        Value::Int(-50),
        Value::Int(951_782_400),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
    ];

    #[test]
    fn statement_is_encoded_as_the_protocol_specifies() {
        let mut values = Values::default();
        values.int(-2).null().int(-1050).int(951_782_400);
        let (mut request, mut scratch) = (Vec::new(), String::new());
        execution(258, &values, &KINDS, &mut request, &mut scratch);
        let expected = [
            &[0, 0, 0, 0, 0x17, 2, 1, 0, 0, 0, 1, 0, 0, 0][..],
            &[0b10, 1, 8, 0, 6, 0, 253, 0, 12, 0],
            &[0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            b"\x06-10.50",
            &[7, 0xD0, 0x07, 2, 29, 0, 0, 0],
        ];
        assert_eq!(request, expected.concat());
    }

    #[test]
    fn result_in_pieces_is_read_with_and_without_columns() {
        let columns = [(3, 0), (254, 0), (246, 0), (12, 0)].map(|(code, flags)| described(code, flags)).concat();
        let described = [&packet(&[4, 1])[..], &columns, &packet(b"\xFE\0\0\x02\0"), &rows()].concat();
        let known = [&packet(&[4, 0])[..], &packet(b"\xFE\0\0\x02\0"), &rows()].concat();
        for piece in [1, 3, 4096] {
            let (mut binary, mut server) = pair();
            let (mut prepared, mut reply) = (prepared(), Reply::default());
            for answer in [&described, &known, &known] {
                std::thread::scope(|scope| {
                    scope.spawn(|| answer.chunks(piece).for_each(|part| server.write_all(part).expect("room")));
                    let done = binary.execute(&mut prepared, &Values::default(), &[], &KINDS, &mut reply);
                    done.expect("a result");
                });
                assert_eq!(taken(&reply), WHOLE);
            }
        }
    }

    #[test]
    fn result_longer_than_the_buffer_is_read_whole() {
        let (mut binary, mut server) = pair();
        let mut prepared = Prepared { columns: vec![Type { code: 254, unsigned: false }], ..prepared() };
        let long = "y".repeat(3 * READ + 5);
        let mut row = vec![0, 0];
        text(&long, &mut row);
        let answer =
            [&packet(&[1, 0])[..], &packet(b"\xFE\0\0\x02\0"), &packet(&row), &packet(b"\xFE\0\0\x02\0")].concat();
        let mut reply = Reply::default();
        std::thread::scope(|scope| {
            scope.spawn(|| server.write_all(&answer).expect("room"));
            let none = Values::default();
            binary.execute(&mut prepared, &none, &[], &[Kind::Text(9)], &mut reply).expect("a result");
        });
        assert_eq!(taken(&reply), [Value::Text(&long)]);
    }

    #[test]
    fn refused_statement_keeps_the_connection() {
        let (mut binary, mut server) = pair();
        let (none, mut reply) = (Values::default(), Reply::default());
        server.write_all(&packet(b"\xFF\xBD\x04#40001Deadlock found")).expect("room");
        let failure = binary.execute(&mut prepared(), &none, &[], &[], &mut reply).expect_err("refused");
        assert_eq!(failure, Failure::new(FailureKind::Retry, "mysql 1213", "Deadlock found"));
        server.write_all(&packet(&[0, 0xFC, 44, 1, 0, 2, 0, 0, 0])).expect("room");
        binary.execute(&mut prepared(), &none, &[], &[], &mut reply).expect("done");
        assert_eq!(reply.affected, 300);
        server.write_all(&packet(&[0, 0, 0, 2, 0, 0, 0])).expect("room");
        binary.plain("COMMIT").expect("done");
        let mut sent = [0; 39];
        server.read_exact(&mut sent).expect("three commands");
        assert_eq!(&sent[28..], b"\x07\0\0\0\x03COMMIT");
        let mut one = Values::default();
        one.int(1);
        let wrong = binary.execute(&mut prepared(), &one, &[Kind::Int], &[], &mut reply);
        assert_eq!(wrong.expect_err("one value too many").failure_kind, FailureKind::Final);
    }

    #[test]
    fn error_during_commit_leaves_its_outcome_unknown() {
        let kinds = [1213, 1180, 1047, 1062].map(failure_kind);
        assert_eq!(kinds, [FailureKind::Retry, FailureKind::Unknown, FailureKind::Lost, FailureKind::Final]);
        let open = kinds.map(|kind| Failure::new(kind, "", "").may_be_committed());
        assert_eq!(open, [false, true, true, false]);
    }

    #[test]
    fn unreadable_answer_or_closed_socket_is_a_lost_connection() {
        let short_row = [&packet(&[1, 0])[..], &packet(b"\xFE\0\0\x02\0"), &packet(&[0, 0, 9])].concat();
        let other_count = packet(&[2, 0]);
        for answer in [short_row, other_count, packet(&[]), Vec::new()] {
            let (mut binary, mut server) = pair();
            let mut prepared = Prepared { columns: vec![Type { code: code::LONG, unsigned: false }], ..prepared() };
            server.write_all(&answer).expect("room");
            server.shutdown(std::net::Shutdown::Write).expect("closed");
            let none = Values::default();
            let failure = binary.execute(&mut prepared, &none, &[], &[Kind::Int], &mut Reply::default());
            assert_eq!(failure.expect_err("nothing to go by").failure_kind, FailureKind::Lost);
        }
    }
}
