//! Bytes of a served drive: a memory file with holes, and a bitmap of the pages that were written.
//!
//! A page takes memory once it holds something other than zeros; a trim gives it back. The limit
//! bounds the memory, so that a full store refuses a write before the machine runs out of memory.

use crate::mapping::Mapping;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes of a page, the granule of memory.
pub const PAGE: u64 = 4096;

const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];

/// Store of a drive's bytes.
#[derive(Debug)]
pub struct Store {
    memory: Mapping,
    file: OwnedFd,
    capacity_bytes: u64,
    /// One bit per page that takes memory.
    written: Vec<u64>,
    pages: u64,
    limit_pages: u64,
}

/// Refusal of a write: the pages would exceed the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Store {
    /// Create an empty store that takes at most `limit_bytes` of memory.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn new(capacity_bytes: u64, limit_bytes: u64) -> io::Result<Self> {
        // SAFETY: the name is a constant string.
        let fd = unsafe { libc::memfd_create(c"tameshi-drive".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let pages = capacity_bytes.div_ceil(PAGE);
        // SAFETY: a call with plain numbers on an open descriptor.
        if unsafe { libc::ftruncate(file.as_raw_fd(), (pages * PAGE) as libc::off_t) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let memory = Mapping::of_file(&file, (pages * PAGE) as usize)?;
        let written = vec![0; pages.div_ceil(64) as usize];
        Ok(Self { memory, file, capacity_bytes, written, pages: 0, limit_pages: limit_bytes / PAGE })
    }

    /// Return the bytes that can be addressed.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Return the bytes of memory taken.
    pub fn used_bytes(&self) -> u64 {
        self.pages * PAGE
    }

    /// Return the most bytes of memory that the store may take.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_pages * PAGE
    }

    #[inline]
    fn is_written(&self, page: u64) -> bool {
        self.written[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    /// Return a page's bytes; `None` for a hole.
    #[inline]
    pub(crate) fn page(&self, page: u64) -> Option<&[u8]> {
        self.is_written(page).then(|| self.memory.bytes((page * PAGE) as usize, PAGE as usize))
    }

    /// Return the first range of written pages from byte `from` on, of at most `most_bytes`.
    pub fn next_written(&self, from: u64, most_bytes: u64) -> Option<(u64, u64)> {
        let pages = self.capacity_bytes.div_ceil(PAGE);
        let mut first = from.div_ceil(PAGE);
        while first < pages && !self.is_written(first) {
            // Whole words of holes at once.
            let rest = self.written[(first / 64) as usize] >> (first % 64);
            first += if rest == 0 { 64 - first % 64 } else { u64::from(rest.trailing_zeros()) };
        }
        let end = pages.min(first + most_bytes / PAGE);
        let after = (first..end).find(|&page| !self.is_written(page)).unwrap_or(end);
        (first < pages).then(|| (first * PAGE, (after - first) * PAGE))
    }

    /// Copy bytes of the drive; holes are zeros.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        let mut left = into;
        for (page, within, length) in pieces(offset, left.len() as u64) {
            let (part, rest) = left.split_at_mut(length);
            match self.page(page) {
                Some(bytes) => part.copy_from_slice(&bytes[within..within + length]),
                None => part.fill(0),
            }
            left = rest;
        }
    }

    /// Store bytes. Zeros on a hole take no memory.
    ///
    /// # Errors
    /// The limit is reached; pages before it are stored.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Full> {
        let mut left = data;
        for (page, within, length) in pieces(offset, data.len() as u64) {
            let (part, rest) = left.split_at(length);
            left = rest;
            if !self.is_written(page) {
                if part == &ZEROS[..length] {
                    continue;
                }
                if self.pages >= self.limit_pages {
                    return Err(Full);
                }
                self.written[(page / 64) as usize] |= 1 << (page % 64);
                self.pages += 1;
            }
            self.memory.bytes_mut((page * PAGE) as usize + within, length).copy_from_slice(part);
        }
        Ok(())
    }

    /// Make a range zeros, and give back the memory of its whole pages.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn clear(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let end = offset.saturating_add(length).min(self.capacity_bytes);
        let (first, after) = (offset.div_ceil(PAGE), end / PAGE);
        if first >= after {
            self.zero(offset, end);
            return Ok(());
        }
        self.zero(offset, first * PAGE);
        self.zero(after * PAGE, end);
        let Some((first, last)) = self.forget(first, after) else { return Ok(()) };
        let (start, bytes) = ((first * PAGE) as libc::off_t, ((last + 1 - first) * PAGE) as libc::off_t);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a call with plain numbers on an open descriptor.
        if unsafe { libc::fallocate(self.file.as_raw_fd(), mode, start, bytes) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Overwrite written pages from `offset` to `end` with zeros.
    fn zero(&mut self, offset: u64, end: u64) {
        for (page, within, length) in pieces(offset, end.saturating_sub(offset)) {
            if self.is_written(page) {
                self.memory.bytes_mut((page * PAGE) as usize + within, length).fill(0);
            }
        }
    }

    /// Clear the bits of pages; return the first and the last page that was written.
    fn forget(&mut self, first: u64, after: u64) -> Option<(u64, u64)> {
        let mut found: Option<(u64, u64)> = None;
        for word in first / 64..after.div_ceil(64) {
            let from = first.saturating_sub(word * 64);
            let to = (after - word * 64).min(64);
            let mask = (u64::MAX << from) & (u64::MAX >> (64 - to));
            let bits = self.written[word as usize] & mask;
            if bits != 0 {
                self.written[word as usize] &= !mask;
                self.pages -= u64::from(bits.count_ones());
                let (low, high) = (u64::from(bits.trailing_zeros()), u64::from(63 - bits.leading_zeros()));
                let start = found.map_or(word * 64 + low, |(start, _)| start);
                found = Some((start, word * 64 + high));
            }
        }
        found
    }
}

/// Return the pages of a range: page, first byte within it, and number of bytes.
pub(crate) fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length;
    (offset / PAGE..end.div_ceil(PAGE)).filter(move |_| length > 0).map(move |page| {
        let (from, to) = (offset.max(page * PAGE), end.min((page + 1) * PAGE));
        (page, (from - page * PAGE) as usize, (to - from) as usize)
    })
}
