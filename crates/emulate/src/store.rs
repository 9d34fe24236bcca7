//! Bytes of a served drive: a mapped file with holes, and a bitmap of the pages that were written.
//!
//! The file is in memory or on a disk. A page takes room once it holds something other than zeros;
//! a trim gives it back. The limit bounds the room, so that a full store refuses a write before the
//! machine runs out of memory, or its disk out of space.

use crate::backing::Backing;
use crate::mapping::Mapping;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Bytes of a page, the granule of room.
pub const PAGE: u64 = 4096;

const ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];

/// Store of a drive's bytes.
#[derive(Debug)]
pub struct Store {
    memory: Mapping,
    backing: Backing,
    capacity_bytes: u64,
    /// One bit per page that takes room.
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
        Self::on(Backing::in_memory(file_bytes(capacity_bytes))?, capacity_bytes, limit_bytes)
    }

    /// Create an empty store in a directory, on a file without a name. It takes at most
    /// `limit_bytes` of the disk.
    ///
    /// # Errors
    /// A sentence that says what the directory lacks.
    pub fn in_directory(directory: &Path, capacity_bytes: u64, limit_bytes: u64) -> Result<Self, String> {
        let backing = Backing::in_directory(directory, file_bytes(capacity_bytes))?;
        Self::on(backing, capacity_bytes, limit_bytes).map_err(|error| format!("its file cannot be mapped: {error}"))
    }

    fn on(backing: Backing, capacity_bytes: u64, limit_bytes: u64) -> io::Result<Self> {
        let memory = Mapping::of_file(backing.file(), file_bytes(capacity_bytes) as usize)?;
        let written = vec![0; capacity_bytes.div_ceil(PAGE).div_ceil(64) as usize];
        Ok(Self { memory, backing, capacity_bytes, written, pages: 0, limit_pages: limit_bytes / PAGE })
    }

    /// Let the kernel evict pages that are on disk, in a process that locks its memory.
    pub(crate) fn allow_eviction(&self) {
        if self.backing.is_on_disk() {
            self.memory.unlock();
        }
    }

    /// Return the bytes that can be addressed.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Return the bytes of room taken.
    pub fn used_bytes(&self) -> u64 {
        self.pages * PAGE
    }

    /// Return the most bytes of room that the store may take.
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

    /// Return the number of holes in a range: pages that take no room.
    pub(crate) fn holes(&self, offset: u64, length: u64) -> u64 {
        pieces(offset, length).filter(|&(page, ..)| !self.is_written(page)).count() as u64
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

    /// Store bytes. Zeros on a hole take no room.
    ///
    /// # Errors
    /// The limit is reached, or the disk is full; pages before that may be stored.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Full> {
        if self.backing.is_on_disk() {
            self.reserve(offset, data)?;
        }
        // Bytes of `data` that are looked at, and those of them that are not stored yet.
        let (mut seen, mut run) = (0, 0..0);
        for (page, _, length) in pieces(offset, data.len() as u64) {
            let part = seen..seen + length;
            seen = part.end;
            if !self.is_written(page) {
                if data[part.clone()] == ZEROS[..length] {
                    continue;
                }
                if self.pages >= self.limit_pages {
                    self.put(offset, data, &run)?;
                    return Err(Full);
                }
                self.written[(page / 64) as usize] |= 1 << (page % 64);
                self.pages += 1;
            }
            if run.end != part.start {
                self.put(offset, data, &run)?;
                run.start = part.start;
            }
            run.end = part.end;
        }
        self.put(offset, data, &run)
    }

    /// Store a part of the data of a write to `offset`.
    ///
    /// On a disk by a call: where the file system needs a block of its own for it and has none, a
    /// write to the mapping would kill the process.
    fn put(&mut self, offset: u64, data: &[u8], part: &Range<usize>) -> Result<(), Full> {
        let (at, data) = (offset + part.start as u64, &data[part.clone()]);
        if self.backing.is_on_disk() {
            return self.backing.write(at, data).map_err(|_| Full);
        }
        self.memory.bytes_mut(at as usize, data.len()).copy_from_slice(data);
        Ok(())
    }

    /// Reserve space on the disk for the new pages of a write, one call per run of them.
    fn reserve(&self, offset: u64, data: &[u8]) -> Result<(), Full> {
        let (mut left, mut run) = (data, 0..0);
        for (page, _, length) in pieces(offset, data.len() as u64) {
            let (part, rest) = left.split_at(length);
            left = rest;
            if self.is_written(page) || part == &ZEROS[..length] {
                continue;
            }
            if page != run.end {
                self.reserve_run(&run)?;
                run.start = page;
            }
            run.end = page + 1;
        }
        self.reserve_run(&run)
    }

    fn reserve_run(&self, run: &Range<u64>) -> Result<(), Full> {
        let pages = run.end - run.start;
        if pages == 0 {
            return Ok(());
        }
        if self.pages + pages > self.limit_pages {
            return Err(Full);
        }
        self.backing.reserve(run.start * PAGE, pages * PAGE).map_err(|_| Full)
    }

    /// Make a range zeros, and give back the room of its whole pages.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn clear(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let end = offset.saturating_add(length).min(self.capacity_bytes);
        let (first, after) = (offset.div_ceil(PAGE), end / PAGE);
        if first >= after {
            return self.zero(offset, end);
        }
        self.zero(offset, first * PAGE)?;
        self.zero(after * PAGE, end)?;
        let Some((first, last)) = self.forget(first, after) else { return Ok(()) };
        self.backing.punch(first * PAGE, (last + 1 - first) * PAGE)
    }

    /// Overwrite written pages from `offset` to `end` with zeros.
    fn zero(&mut self, offset: u64, end: u64) -> io::Result<()> {
        for (page, within, length) in pieces(offset, end.saturating_sub(offset)) {
            if self.is_written(page) {
                let put = self.put(page * PAGE + within as u64, &ZEROS, &(0..length));
                put.map_err(|Full| io::Error::from_raw_os_error(libc::ENOSPC))?;
            }
        }
        Ok(())
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

/// Return the bytes of a file of whole pages.
fn file_bytes(capacity_bytes: u64) -> u64 {
    capacity_bytes.div_ceil(PAGE) * PAGE
}

/// Return the pages of a range: page, first byte within it, and number of bytes.
pub(crate) fn pieces(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + length;
    (offset / PAGE..end.div_ceil(PAGE)).filter(move |_| length > 0).map(move |page| {
        let (from, to) = (offset.max(page * PAGE), end.min((page + 1) * PAGE));
        (page, (from - page * PAGE) as usize, (to - from) as usize)
    })
}
