//! Handshake of a client: greeting, flags, options, until it asks for the drive.

use super::wire::{self, flag, option, reply};
use crate::door::Offer;

/// Largest option that is taken.
const MOST_BYTES: usize = 8 << 10;
/// Zeros after the answer to an export's name.
const PADDING: usize = 124;
/// Least and preferred size of requests in bytes.
const LEAST_BLOCK: u32 = 512;
const PREFERRED_BLOCK: u32 = 4096;

/// Step of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// More bytes are needed.
    Wait,
    /// The client may send requests.
    Begin,
    /// The connection ends.
    Close,
}

/// Handshake under way.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    has_flags: bool,
    without_padding: bool,
}

/// Return the greeting of a new connection.
pub(super) fn greeting() -> Vec<u8> {
    let flags = (wire::FIXED | wire::NO_ZEROES).to_be_bytes();
    [&wire::GREETING.to_be_bytes()[..], &wire::OPTION.to_be_bytes(), &flags].concat()
}

/// Return the properties of the export.
fn flags(offer: &Offer) -> u16 {
    let given = [(flag::ROTATIONAL, offer.is_rotational), (flag::TRIM, offer.trims)];
    let always = flag::HAS_FLAGS | flag::FLUSH | flag::FUA | flag::WRITE_ZEROES | flag::MULTIPLE_CONNECTIONS;
    given.into_iter().filter(|&(_, given)| given).fold(always, |flags, (flag, _)| flags | flag)
}

impl Handshake {
    /// Consume bytes of the client from the front of `input`, and append answers to `output`;
    /// return the number of bytes consumed, and the next step.
    pub(super) fn advance(&mut self, input: &[u8], output: &mut Vec<u8>, offer: &Offer, most: u32) -> (usize, Step) {
        let mut used = 0;
        if !self.has_flags {
            if input.len() < 4 {
                return (0, Step::Wait);
            }
            let flags = wire::u32_at(input, 0);
            if flags & !u32::from(wire::FIXED | wire::NO_ZEROES) != 0 {
                return (4, Step::Close);
            }
            (self.has_flags, self.without_padding, used) = (true, flags & u32::from(wire::NO_ZEROES) != 0, 4);
        }
        loop {
            let rest = &input[used..];
            if rest.len() < wire::OPTION_BYTES {
                return (used, Step::Wait);
            }
            let (code, length) = (wire::u32_at(rest, 8), wire::u32_at(rest, 12) as usize);
            if wire::u64_at(rest, 0) != wire::OPTION || length > MOST_BYTES {
                return (used, Step::Close);
            }
            if rest.len() < wire::OPTION_BYTES + length {
                return (used, Step::Wait);
            }
            let data = &rest[wire::OPTION_BYTES..wire::OPTION_BYTES + length];
            used += wire::OPTION_BYTES + length;
            match self.option(code, data, output, offer, most) {
                Step::Wait => {}
                end => return (used, end),
            }
        }
    }

    fn option(&self, code: u32, data: &[u8], output: &mut Vec<u8>, offer: &Offer, most: u32) -> Step {
        match code {
            option::EXPORT_NAME if !is_name(data) => Step::Close,
            option::EXPORT_NAME => {
                output.extend(offer.bytes.to_be_bytes());
                output.extend(flags(offer).to_be_bytes());
                output.extend(std::iter::repeat_n(0, if self.without_padding { 0 } else { PADDING }));
                Step::Begin
            }
            option::ABORT => {
                wire::answer_option(output, code, reply::ACK, &[]);
                Step::Close
            }
            option::LIST if !data.is_empty() => {
                wire::answer_option(output, code, reply::INVALID, &[]);
                Step::Wait
            }
            option::LIST => {
                // One export, whose name is empty.
                wire::answer_option(output, code, reply::SERVER, &0_u32.to_be_bytes());
                wire::answer_option(output, code, reply::ACK, &[]);
                Step::Wait
            }
            option::INFO | option::GO => {
                let found = information(data, output, code, offer, most);
                wire::answer_option(output, code, found, &[]);
                if found == reply::ACK && code == option::GO { Step::Begin } else { Step::Wait }
            }
            _ => {
                wire::answer_option(output, code, reply::UNSUPPORTED, &[]);
                Step::Wait
            }
        }
    }
}

/// Answer a request for information; return the kind of the last reply.
fn information(data: &[u8], output: &mut Vec<u8>, code: u32, offer: &Offer, most: u32) -> u32 {
    let name_bytes = if data.len() < 6 { usize::MAX } else { wire::u32_at(data, 0) as usize };
    let Some(after) = name_bytes.checked_add(4).filter(|after| after + 2 <= data.len()) else {
        return reply::INVALID;
    };
    let count = usize::from(wire::u16_at(data, after));
    if data.len() != after + 2 + 2 * count {
        return reply::INVALID;
    }
    if !is_name(&data[4..after]) {
        return reply::UNKNOWN;
    }
    let export = [&wire::INFO_EXPORT.to_be_bytes()[..], &offer.bytes.to_be_bytes(), &flags(offer).to_be_bytes()];
    wire::answer_option(output, code, reply::INFO, &export.concat());
    let sizes = [LEAST_BLOCK, PREFERRED_BLOCK, most].map(u32::to_be_bytes);
    let sizes = [&wire::INFO_BLOCK_SIZE.to_be_bytes()[..], sizes.as_flattened()];
    wire::answer_option(output, code, reply::INFO, &sizes.concat());
    reply::ACK
}

/// Return whether a client names the only export: its name is empty.
fn is_name(name: &[u8]) -> bool {
    name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: Offer = Offer { bytes: 1 << 30, trims: true, flushes: true, is_rotational: false };
    const MOST: u32 = 1 << 21;

    fn asked(code: u32, data: &[u8]) -> Vec<u8> {
        let head = [code, data.len() as u32].map(u32::to_be_bytes);
        [&wire::OPTION.to_be_bytes()[..], head.as_flattened(), data].concat()
    }

    fn after_flags(flags: u32, bytes: &[u8]) -> (usize, Step, Vec<u8>) {
        let (mut output, input) = (Vec::new(), [&flags.to_be_bytes(), bytes].concat());
        let (used, step) = Handshake::default().advance(&input, &mut output, &OFFER, MOST);
        (used, step, output)
    }

    fn kinds(mut output: &[u8]) -> Vec<u32> {
        let mut found = Vec::new();
        while !output.is_empty() {
            assert_eq!(wire::u64_at(output, 0), wire::OPTION_REPLY);
            found.push(wire::u32_at(output, 12));
            output = &output[20 + wire::u32_at(output, 16) as usize..];
        }
        found
    }

    #[test]
    fn go_begins_after_size_and_block_sizes() {
        let (used, step, output) = after_flags(3, &asked(option::GO, &[0, 0, 0, 0, 0, 0]));
        assert_eq!((used, step), (4 + 16 + 6, Step::Begin));
        assert_eq!(kinds(&output), [reply::INFO, reply::INFO, reply::ACK]);
        assert_eq!(wire::u64_at(&output, 22), 1 << 30);
    }

    #[test]
    fn unknown_export_and_option_are_refused() {
        let other = asked(option::GO, &[0, 0, 0, 1, b'x', 0, 0]);
        let tls = asked(5, &[]);
        let (_, step, output) = after_flags(3, &[other, tls].concat());
        assert_eq!((step, kinds(&output)), (Step::Wait, vec![reply::UNKNOWN, reply::UNSUPPORTED]));
    }

    #[test]
    fn old_client_gets_padding_unless_it_declines() {
        let name = asked(option::EXPORT_NAME, &[]);
        assert_eq!(after_flags(1, &name).2.len(), 10 + 124);
        assert_eq!(after_flags(3, &name).2.len(), 10);
    }

    #[test]
    fn broken_handshakes_close_the_connection() {
        assert_eq!(after_flags(8, &[]).1, Step::Close);
        assert_eq!(after_flags(3, &[0; 16]).1, Step::Close);
        let (huge, lying) = (asked(option::GO, &[0; 9000]), asked(option::GO, &[0xFF; 6]));
        assert_eq!(after_flags(3, &huge).1, Step::Close);
        assert_eq!(kinds(&after_flags(3, &lying).2), [reply::INVALID]);
    }

    #[test]
    fn option_in_pieces_waits_for_the_rest() {
        let whole = asked(option::LIST, &[]);
        for end in 0..whole.len() {
            assert_eq!(after_flags(3, &whole[..end]).1, Step::Wait);
        }
        assert_eq!(kinds(&after_flags(3, &whole).2), [reply::SERVER, reply::ACK]);
    }
}
