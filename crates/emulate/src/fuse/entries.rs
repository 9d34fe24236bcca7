//! Entries of FUSE over io_uring: a header and a payload buffer each, in a queue per processor.
//!
//! The kernel needs at least one entry in the queue of each possible processor. Requests of a queue
//! arrive on the ring that registered it, so one thread serves all of them.

use super::abi;
use crate::mapping::Mapping;
use io_uring::squeue::Entry128;
use io_uring::{opcode, types::Fd};
use std::io;
use std::os::fd::RawFd;

/// Bytes from one header to the next.
const HEADER_STRIDE: usize = 512;
/// Entries of all queues together, and the fewest of one.
const ENTRIES: u32 = 256;
const FEWEST: u32 = 16;

/// Entries of all queues.
pub(super) struct Entries {
    headers: Mapping,
    payloads: Mapping,
    /// Header and payload of each entry, as the kernel reads them at registration.
    vectors: Vec<[libc::iovec; 2]>,
    commit_ids: Vec<u64>,
    uniques: Vec<u64>,
    depth: u32,
    payload_bytes: usize,
}

impl Entries {
    pub(super) fn new(payload_bytes: u32) -> io::Result<Self> {
        let queues = possible_processors();
        let (depth, payload_bytes) = (depth(queues), payload_bytes as usize);
        let count = (queues * depth) as usize;
        let headers = Mapping::anonymous(count * HEADER_STRIDE)?;
        let payloads = Mapping::anonymous(count * payload_bytes)?;
        let vector = |base: *mut u8, bytes| libc::iovec { iov_base: base.cast(), iov_len: bytes };
        let vectors = (0..count)
            .map(|number| {
                let header = vector(headers.at(number * HEADER_STRIDE), abi::ENTRY_HEADER);
                [header, vector(payloads.at(number * payload_bytes), payload_bytes)]
            })
            .collect();
        let (commit_ids, uniques) = (vec![0; count], vec![0; count]);
        Ok(Self { headers, payloads, vectors, commit_ids, uniques, depth, payload_bytes })
    }

    pub(super) fn count(&self) -> u32 {
        self.vectors.len() as u32
    }

    /// Return the command that offers an entry to the kernel.
    pub(super) fn register(&self, fd: RawFd, number: u32) -> Entry128 {
        let mut entry = self.command(fd, number, abi::REGISTER, 0, Some(self.vectors[number as usize].as_ptr() as u64));
        // The binding has no setter for the length field, which holds the number of vectors here.
        const LENGTH_AT: usize = 24;
        // SAFETY: an entry is 128 bytes of plain numbers in the kernel's layout.
        unsafe { (&raw mut entry).cast::<u8>().add(LENGTH_AT).cast::<u32>().write_unaligned(2) };
        entry
    }

    fn command(&self, fd: RawFd, number: u32, operation: u32, commit_id: u64, address: Option<u64>) -> Entry128 {
        let mut arguments = [0; 80];
        arguments[8..16].copy_from_slice(&commit_id.to_ne_bytes());
        arguments[16..18].copy_from_slice(&((number / self.depth) as u16).to_ne_bytes());
        let command = opcode::UringCmd80::new(Fd(fd), operation).cmd(arguments).addr(address);
        command.build().user_data(u64::from(number))
    }

    /// Note the request that an entry brought.
    #[inline]
    pub(super) fn accept(&mut self, number: u32) {
        let header = self.header(number);
        let (unique, commit_id) = (abi::u64_at(header, 8), abi::u64_at(header, abi::ENTRY_COMMIT_ID));
        self.uniques[number as usize] = unique;
        self.commit_ids[number as usize] = commit_id;
    }

    /// Return the header of an entry: request header, arguments, and the entry's own fields.
    #[inline]
    pub(super) fn header(&self, number: u32) -> &[u8] {
        self.headers.bytes(number as usize * HEADER_STRIDE, abi::ENTRY_HEADER)
    }

    #[inline]
    pub(super) fn payload(&mut self, number: u32) -> &mut [u8] {
        self.payloads.bytes_mut(number as usize * self.payload_bytes, self.payload_bytes)
    }

    /// Return the command that answers an entry with `length` bytes of its payload, and fetches the
    /// next request.
    #[inline]
    pub(super) fn commit(&mut self, fd: RawFd, number: u32, error: i32, length: usize) -> Entry128 {
        let at = number as usize;
        let answer = abi::out_header(self.uniques[at], error, length);
        let header = self.headers.bytes_mut(at * HEADER_STRIDE, abi::ENTRY_HEADER);
        header[..abi::OUT_HEADER].copy_from_slice(&answer);
        let payload = abi::ENTRY_PAYLOAD_BYTES..abi::ENTRY_PAYLOAD_BYTES + 4;
        header[payload].copy_from_slice(&(length as u32).to_ne_bytes());
        self.command(fd, number, abi::COMMIT_AND_FETCH, self.commit_ids[at], None)
    }
}

/// Return the entries of each queue.
pub(super) fn depth(queues: u32) -> u32 {
    (ENTRIES / queues).max(FEWEST)
}

/// Return the processors that the machine may ever have: the kernel has a queue for each.
pub(super) fn possible_processors() -> u32 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok());
    last.unwrap_or(0) + 1
}
