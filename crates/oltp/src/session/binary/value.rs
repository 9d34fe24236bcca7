//! Values in the binary protocol: encoding of parameters, decoding of rows.

use super::super::wire;
use tameshi_workload::program::{Kind, Reply, Value};

/// Type codes of columns and parameters.
pub(super) mod code {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VAR_STRING: u8 = 253;
}
/// Flag of an unsigned column.
pub(super) const UNSIGNED: u16 = 32;

/// Type of a column, and whether its numbers are unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) code: u8,
    pub(super) unsigned: bool,
}

/// Append a value; return its type code.
pub(super) fn parameter(value: Value<'_>, kind: Kind, request: &mut Vec<u8>, scratch: &mut String) -> u8 {
    match (value, kind) {
        (Value::Null, _) => code::NULL,
        (Value::Int(value), Kind::Time) => {
            let (year, month, day, hour, minute, second) = wire::civil(value);
            request.push(7);
            request.extend_from_slice(&(year as u16).to_le_bytes());
            request.extend_from_slice(&[month, day, hour, minute, second]);
            code::DATETIME
        }
        (Value::Int(value), Kind::Decimal { scale, .. }) => {
            scratch.clear();
            wire::decimal(value, scale, scratch);
            text(scratch, request);
            code::VAR_STRING
        }
        (Value::Int(value), _) => {
            request.extend_from_slice(&value.to_le_bytes());
            code::LONGLONG
        }
        (Value::Text(value), _) => {
            text(value, request);
            code::VAR_STRING
        }
    }
}

/// Append a text with its length.
pub(super) fn text(value: &str, request: &mut Vec<u8>) {
    let length = (value.len() as u64).to_le_bytes();
    match value.len() {
        ..=250 => request.push(length[0]),
        251..=0xFFFF => {
            request.push(0xFC);
            request.extend_from_slice(&length[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            request.push(0xFD);
            request.extend_from_slice(&length[..3]);
        }
        _ => {
            request.push(0xFE);
            request.extend_from_slice(&length);
        }
    }
    request.extend_from_slice(value.as_bytes());
}

/// Rest of a packet; reads return `None` if it is too short.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    pub(super) fn number<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        self.take(BYTES)?.try_into().ok()
    }

    /// Number of variable length: the first byte gives the length.
    #[inline]
    pub(super) fn length(&mut self) -> Option<usize> {
        match self.number::<1>()?[0] {
            short @ ..=250 => Some(short.into()),
            0xFC => Some(u16::from_le_bytes(self.number()?).into()),
            0xFD => {
                let [a, b, c] = self.number()?;
                Some(u32::from_le_bytes([a, b, c, 0]) as usize)
            }
            0xFE => Some(u64::from_le_bytes(self.number()?) as usize),
            _ => None,
        }
    }

    /// Text with a length prefix.
    #[inline]
    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }
}

/// Type in a column's description.
pub(super) fn column(packet: &[u8]) -> Option<Type> {
    let mut rest = Reader(packet);
    // Catalogue, schema, table and column, each also by its own name; then the length of the rest,
    // character set, width.
    for _ in 0..6 {
        rest.text()?;
    }
    rest.take(1 + 2 + 4)?;
    let [code] = rest.number()?;
    let flags = u16::from_le_bytes(rest.number()?);
    Some(Type { code, unsigned: flags & UNSIGNED != 0 })
}

/// Decode a row.
pub(super) fn row(packet: &[u8], columns: &[Type], kinds: &[Kind], reply: &mut Reply) -> Option<()> {
    let mut rest = Reader(&packet[1..]);
    let nulls = rest.take((columns.len() + 9) / 8)?;
    for (index, (of, kind)) in columns.iter().zip(kinds).enumerate() {
        // The first two bits are reserved.
        let at = index + 2;
        if nulls[at / 8] >> (at % 8) & 1 == 1 {
            reply.values.null();
        } else {
            value(&mut rest, *of, *kind, reply)?;
        }
    }
    Some(())
}

/// Decode one value.
#[inline]
fn value(rest: &mut Reader<'_>, of: Type, kind: Kind, reply: &mut Reply) -> Option<()> {
    let signed = !of.unsigned;
    let number: i64 = match of.code {
        code::TINY => match rest.number()? {
            byte if signed => i8::from_le_bytes(byte).into(),
            [byte] => byte.into(),
        },
        code::SHORT | code::YEAR => match rest.number()? {
            bytes if signed => i16::from_le_bytes(bytes).into(),
            bytes => u16::from_le_bytes(bytes).into(),
        },
        code::LONG | code::INT24 => match rest.number()? {
            bytes if signed => i32::from_le_bytes(bytes).into(),
            bytes => u32::from_le_bytes(bytes).into(),
        },
        code::LONGLONG => i64::from_le_bytes(rest.number()?),
        code::FLOAT => {
            reply.values.text(&f32::from_le_bytes(rest.number()?).to_string());
            return Some(());
        }
        code::DOUBLE => {
            reply.values.text(&f64::from_le_bytes(rest.number()?).to_string());
            return Some(());
        }
        code::TIMESTAMP | code::DATETIME | code::DATE => time(rest)?,
        _ => {
            let text = std::str::from_utf8(rest.text()?).ok()?;
            reply.values.push(wire::read_value(text, kind));
            return Some(());
        }
    };
    reply.values.int(number);
    Some(())
}

/// Seconds since 1970 of a date and time; the protocol omits trailing zeros.
fn time(rest: &mut Reader<'_>) -> Option<i64> {
    let length = rest.length()?;
    let bytes = rest.take(length)?;
    let byte = |at: usize| i64::from(bytes.get(at).copied().unwrap_or(0));
    let of_day = byte(4) * 3600 + byte(5) * 60 + byte(6);
    Some(wire::seconds(byte(0) + (byte(1) << 8), byte(2), byte(3), of_day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_follows_its_length() {
        for (length, head) in [(250, vec![250]), (251, vec![0xFC, 251, 0]), (65_536, vec![0xFD, 0, 0, 1])] {
            let mut bytes = Vec::new();
            text(&"x".repeat(length), &mut bytes);
            assert_eq!((&bytes[..head.len()], bytes.len()), (&head[..], head.len() + length));
            assert_eq!(Reader(&bytes).text().map(<[u8]>::len), Some(length));
        }
    }

    #[test]
    fn numbers_of_every_width_are_read_signed_and_unsigned() {
        for (code, bytes, with, without) in [
            (code::TINY, &[0xFF][..], -1, 255),
            (code::SHORT, &[0xFE, 0xFF], -2, 65_534),
            (code::YEAR, &[0xEA, 0x07], 2026, 2026),
            (code::INT24, &[0xFD, 0xFF, 0xFF, 0xFF], -3, 4_294_967_293),
            (code::LONG, &[1, 0, 0, 0x80], -2_147_483_647, 2_147_483_649),
            (code::LONGLONG, &[5, 0, 0, 0, 0, 0, 0, 0], 5, 5),
        ] {
            for (unsigned, expected) in [(false, with), (true, without)] {
                let mut reply = Reply::default();
                value(&mut Reader(bytes), Type { code, unsigned }, Kind::BigInt, &mut reply).expect("a number");
                assert_eq!(reply.values.get(0), Value::Int(expected), "type {code}");
            }
        }
    }
}
