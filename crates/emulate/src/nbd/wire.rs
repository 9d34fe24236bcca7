//! Words of the NBD protocol: fixed newstyle handshake, simple replies. Numbers are big-endian.

/// Magic numbers: of the greeting, of options and their replies, of requests and their replies.
pub(super) const GREETING: u64 = 0x4e42_444d_4147_4943;
pub(super) const OPTION: u64 = 0x4948_4156_454f_5054;
pub(super) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST: u32 = 0x2560_9513;
pub(super) const REPLY: u32 = 0x6744_6698;

/// Flags of either side of the handshake: fixed newstyle, and no padding after an export name.
pub(super) const FIXED: u16 = 1;
pub(super) const NO_ZEROES: u16 = 2;

/// Options of a client.
pub(super) mod option {
    pub(in super::super) const EXPORT_NAME: u32 = 1;
    pub(in super::super) const ABORT: u32 = 2;
    pub(in super::super) const LIST: u32 = 3;
    pub(in super::super) const INFO: u32 = 6;
    pub(in super::super) const GO: u32 = 7;
}

/// Kinds of replies to options.
pub(super) mod reply {
    pub(in super::super) const ACK: u32 = 1;
    pub(in super::super) const SERVER: u32 = 2;
    pub(in super::super) const INFO: u32 = 3;
    pub(in super::super) const UNSUPPORTED: u32 = 1 << 31 | 1;
    pub(in super::super) const INVALID: u32 = 1 << 31 | 3;
    pub(in super::super) const UNKNOWN: u32 = 1 << 31 | 6;
}

/// Kinds of information on an export.
pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Properties of an export.
pub(super) mod flag {
    pub(in super::super) const HAS_FLAGS: u16 = 1;
    pub(in super::super) const FLUSH: u16 = 1 << 2;
    pub(in super::super) const FUA: u16 = 1 << 3;
    pub(in super::super) const ROTATIONAL: u16 = 1 << 4;
    pub(in super::super) const TRIM: u16 = 1 << 5;
    pub(in super::super) const WRITE_ZEROES: u16 = 1 << 6;
    /// A flush on one connection covers the writes of all.
    pub(in super::super) const MULTIPLE_CONNECTIONS: u16 = 1 << 8;
}

/// Commands of a request, and flags of them.
pub(super) mod command {
    pub(in super::super) const READ: u16 = 0;
    pub(in super::super) const WRITE: u16 = 1;
    pub(in super::super) const DISCONNECT: u16 = 2;
    pub(in super::super) const FLUSH: u16 = 3;
    pub(in super::super) const TRIM: u16 = 4;
    pub(in super::super) const WRITE_ZEROES: u16 = 6;

    pub(in super::super) const FUA: u16 = 1;
    pub(in super::super) const NO_HOLE: u16 = 2;
}

/// Bytes of a request without its data.
pub(super) const REQUEST_BYTES: usize = 28;
/// Bytes of a reply without its data.
pub(super) const REPLY_BYTES: usize = 16;
/// Bytes of an option without its data.
pub(super) const OPTION_BYTES: usize = 16;

/// Request of a client, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) flags: u16,
    pub(super) command: u16,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// Parse a request; `None` if it is none.
pub(super) fn asked(bytes: &[u8]) -> Option<Asked> {
    (u32_at(bytes, 0) == REQUEST).then(|| Asked {
        flags: u16_at(bytes, 4),
        command: u16_at(bytes, 6),
        cookie: u64_at(bytes, 8),
        offset: u64_at(bytes, 16),
        length: u32_at(bytes, 24),
    })
}

/// Return the reply to a request, without its data; zero is no error.
pub(super) fn reply_header(error: i32, cookie: u64) -> [u8; REPLY_BYTES] {
    let mut bytes = [0; REPLY_BYTES];
    bytes[..4].copy_from_slice(&REPLY.to_be_bytes());
    bytes[4..8].copy_from_slice(&error.to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

/// Append the reply to an option.
pub(super) fn answer_option(output: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    output.extend(OPTION_REPLY.to_be_bytes());
    output.extend([option, kind, data.len() as u32].map(u32::to_be_bytes).as_flattened());
    output.extend(data);
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
