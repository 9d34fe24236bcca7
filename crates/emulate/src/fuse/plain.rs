//! Requests by plain reads of /dev/fuse, and answers by plain writes.

use super::abi::{self, opcode};
use crate::mapping::Mapping;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Requests under way.
const SLOTS: u32 = 256;
/// Bytes from one header to the next.
const HEADER_STRIDE: usize = 128;

/// Buffers of plain requests.
pub(super) struct Plain {
    headers: Mapping,
    payloads: Mapping,
    payload_bytes: usize,
    free: Vec<u32>,
}

impl Plain {
    pub(super) fn new(payload_bytes: u32) -> io::Result<Self> {
        let payload_bytes = payload_bytes as usize;
        Ok(Self {
            headers: Mapping::anonymous(SLOTS as usize * HEADER_STRIDE)?,
            payloads: Mapping::anonymous(SLOTS as usize * payload_bytes)?,
            payload_bytes,
            free: (0..SLOTS).rev().collect(),
        })
    }

    pub(super) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Return the header of a request with its first 40 bytes of arguments.
    pub(super) fn header(&self, slot: u32) -> &[u8] {
        self.headers.bytes(slot as usize * HEADER_STRIDE, abi::WRITE_HEADER)
    }

    pub(super) fn payload(&mut self, slot: u32) -> &mut [u8] {
        self.payloads.bytes_mut(slot as usize * self.payload_bytes, self.payload_bytes)
    }

    /// Return the arguments of INIT: they begin in the header and end in the payload.
    pub(super) fn init_body(&mut self, slot: u32, length: usize) -> [u8; 64] {
        let mut body = [0; 64];
        let within = abi::WRITE_HEADER - abi::IN_HEADER;
        body[..within].copy_from_slice(&self.header(slot)[abi::IN_HEADER..]);
        let rest = length.saturating_sub(abi::WRITE_HEADER).min(body.len() - within);
        body[within..within + rest].copy_from_slice(&self.payload(slot)[..rest]);
        body
    }

    /// Read a request; the data of a write begin at the payload.
    pub(super) fn read(&mut self, fd: &OwnedFd, slot: u32) -> io::Result<usize> {
        let at = slot as usize;
        let header = self.headers.bytes_mut(at * HEADER_STRIDE, abi::WRITE_HEADER);
        let header = libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: header.len() };
        let payload = self.payloads.bytes_mut(at * self.payload_bytes, self.payload_bytes);
        let payload = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
        let vectors = [header, payload];
        // SAFETY: both vectors lie in mappings of this structure.
        let length = unsafe { libc::readv(fd.as_raw_fd(), vectors.as_ptr(), 2) };
        if length < 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
    }

    /// Answer a request of the drive.
    pub(super) fn complete(&mut self, fd: &OwnedFd, slot: u32, result: Result<u32, i32>) -> io::Result<()> {
        match (result, abi::u32_at(self.header(slot), 4)) {
            (Err(error), _) => self.answer(fd, slot, error, &[]),
            (Ok(bytes), opcode::READ) => {
                let data = self.payloads.bytes(slot as usize * self.payload_bytes, bytes as usize);
                self.answer(fd, slot, 0, data)
            }
            (Ok(bytes), opcode::WRITE) => self.answer(fd, slot, 0, &abi::write_out(bytes)),
            (Ok(_), _) => self.answer(fd, slot, 0, &[]),
        }
    }

    /// Answer a request with an error, or with arguments or data.
    pub(super) fn answer(&self, fd: &OwnedFd, slot: u32, error: i32, data: &[u8]) -> io::Result<()> {
        let header = abi::out_header(abi::u64_at(self.header(slot), 8), error, data.len());
        let vector = |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let vectors = [vector(&header), vector(data)];
        // SAFETY: both vectors are borrowed during the call, which only reads them.
        let written = unsafe { libc::writev(fd.as_raw_fd(), vectors.as_ptr(), if data.is_empty() { 1 } else { 2 }) };
        match written {
            0.. => Ok(()),
            _ => match io::Error::last_os_error() {
                // The request was interrupted, or the connection has ended: no answer is wanted.
                error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::ECONNABORTED)) => {
                    Ok(())
                }
                error => Err(error),
            },
        }
    }
}
