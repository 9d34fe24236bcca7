//! Layouts and numbers of the kernel's FUSE interface, as in `linux/fuse.h` (version 7.45).

pub(super) const MAJOR: u32 = 7;
/// Newest minor version that this code knows.
pub(super) const MINOR: u32 = 45;

pub(super) mod opcode {
    pub(in crate::fuse) const FORGET: u32 = 2;
    pub(in crate::fuse) const GETATTR: u32 = 3;
    pub(in crate::fuse) const SETATTR: u32 = 4;
    pub(in crate::fuse) const OPEN: u32 = 14;
    pub(in crate::fuse) const READ: u32 = 15;
    pub(in crate::fuse) const WRITE: u32 = 16;
    pub(in crate::fuse) const STATFS: u32 = 17;
    pub(in crate::fuse) const RELEASE: u32 = 18;
    pub(in crate::fuse) const FSYNC: u32 = 20;
    pub(in crate::fuse) const FLUSH: u32 = 25;
    pub(in crate::fuse) const INIT: u32 = 26;
    pub(in crate::fuse) const INTERRUPT: u32 = 36;
    pub(in crate::fuse) const DESTROY: u32 = 38;
    pub(in crate::fuse) const BATCH_FORGET: u32 = 42;
    pub(in crate::fuse) const FALLOCATE: u32 = 43;
}

const ASYNC_READ: u32 = 1 << 0;
const BIG_WRITES: u32 = 1 << 5;
const ASYNC_DIO: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;
const INIT_EXT: u32 = 1 << 30;
/// FUSE over io_uring, in the second word of flags: bit 41 of all.
pub(super) const OVER_IO_URING: u32 = 1 << (41 - 32);

const FOPEN_DIRECT_IO: u32 = 1 << 0;
const FOPEN_NOFLUSH: u32 = 1 << 5;
const FOPEN_PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

/// Attributes to change in SETATTR: the size.
pub(super) const SETATTR_SIZE: u32 = 1 << 3;

/// Request header: length, opcode, unique number, node, user, group, process, extensions.
pub(super) const IN_HEADER: usize = 40;
/// Answer header: length, error, unique number.
pub(super) const OUT_HEADER: usize = 16;
/// Request header with the arguments of a write: the data follow.
pub(super) const WRITE_HEADER: usize = IN_HEADER + 40;

/// Ring commands.
pub(super) const REGISTER: u32 = 1;
pub(super) const COMMIT_AND_FETCH: u32 = 2;
/// Header of a ring entry: 128 bytes of request or answer header, 128 of arguments, and the entry's
/// own fields.
pub(super) const ENTRY_HEADER: usize = 288;
pub(super) const ENTRY_ARGUMENTS: usize = 128;
pub(super) const ENTRY_COMMIT_ID: usize = 264;
pub(super) const ENTRY_PAYLOAD_BYTES: usize = 272;

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

fn put64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
}

/// Return the answer header of a request, before `length` bytes of arguments or data.
pub(super) fn out_header(unique: u64, error: i32, length: usize) -> [u8; OUT_HEADER] {
    let mut bytes = [0; OUT_HEADER];
    put32(&mut bytes, 0, (OUT_HEADER + length) as u32);
    put32(&mut bytes, 4, error.wrapping_neg() as u32);
    put64(&mut bytes, 8, unique);
    bytes
}

/// Return the answer to INIT.
pub(super) fn init_out(offered: u32, offered_more: u32, max_write: u32, over_ring: bool) -> [u8; 64] {
    let mut bytes = [0; 64];
    put32(&mut bytes, 0, MAJOR);
    put32(&mut bytes, 4, MINOR);
    put32(&mut bytes, 12, offered & (ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES | INIT_EXT));
    // Requests in the background, and the number at which the kernel calls it congested.
    put32(&mut bytes, 16, 4096 | 4096 << 16);
    put32(&mut bytes, 20, max_write);
    put32(&mut bytes, 24, 1);
    put32(&mut bytes, 28, max_write / 4096);
    put32(&mut bytes, 32, if over_ring { offered_more & OVER_IO_URING } else { 0 });
    bytes
}

/// Return whether INIT offers the second word of flags.
pub(super) fn has_more_flags(offered: u32) -> bool {
    offered & INIT_EXT != 0
}

/// Return the answer to GETATTR: one regular file of this size.
pub(super) fn attr_out(size: u64) -> [u8; 104] {
    let mut bytes = [0; 104];
    put64(&mut bytes, 0, 3600);
    put64(&mut bytes, 16, 1);
    put64(&mut bytes, 24, size);
    put64(&mut bytes, 32, size / 512);
    put32(&mut bytes, 76, libc::S_IFREG | 0o600);
    put32(&mut bytes, 80, 1);
    put32(&mut bytes, 96, 4096);
    bytes
}

/// Return the answer to OPEN: no page cache, and writes in parallel.
pub(super) fn open_out() -> [u8; 16] {
    let mut bytes = [0; 16];
    put64(&mut bytes, 0, 1);
    put32(&mut bytes, 8, FOPEN_DIRECT_IO | FOPEN_NOFLUSH | FOPEN_PARALLEL_DIRECT_WRITES);
    bytes
}

/// Return the answer to WRITE.
pub(super) fn write_out(bytes_written: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    put32(&mut bytes, 0, bytes_written);
    bytes
}

/// Return the answer to STATFS.
pub(super) fn statfs_out(size: u64) -> [u8; 80] {
    let mut bytes = [0; 80];
    put64(&mut bytes, 0, size / 4096);
    put32(&mut bytes, 40, 4096);
    put32(&mut bytes, 44, 255);
    put32(&mut bytes, 48, 4096);
    bytes
}
