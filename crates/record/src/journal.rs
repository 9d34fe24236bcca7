//! Journal of a verified storage: written and acknowledged blocks. After a crash it tells which
//! writes must still be there.
//!
//! The journal is a memory-mapped file of the run folder. An entry costs no system call, and
//! survives the death of the process at any instant.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Block size of verification in bytes.
pub const CHECKED_BYTES: u64 = 4096;
const MAGIC: &[u8; 8] = b"TMSHJRN1";
const HEADER_BYTES: u64 = 4096;
const FIELDS: u64 = 3;
const ENTRY_BYTES: u64 = FIELDS * 8;

/// Writes of one block by number; zero if there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Last submitted write.
    pub issued: u64,
    /// Oldest write that the block may hold: the last completed one, or one in flight together with
    /// it.
    pub acknowledged: u64,
    /// The same for durable writes.
    pub durable: u64,
}

/// Fields of an entry, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// [`Written::issued`].
    Issued,
    /// [`Written::acknowledged`].
    Acknowledged,
    /// [`Written::durable`].
    Durable,
}

/// Journal, new or read back; shared by threads.
#[derive(Debug)]
pub struct Journal {
    map: Map,
    generation: u64,
    blocks: u64,
}

impl Journal {
    /// Create a journal for a storage of `storage_bytes`; `generation` tells its run from every
    /// other.
    ///
    /// # Errors
    /// The file can't be created, there is no space for it, or it exists.
    pub fn create(path: &Path, storage_bytes: u64, generation: u64) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let blocks = storage_bytes / CHECKED_BYTES;
        let length = HEADER_BYTES + blocks * ENTRY_BYTES;
        // Allocate the space at once: an entry must not meet a full disk. SAFETY: takes numbers
        // only.
        let refused = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) };
        if refused != 0 {
            return Err(io::Error::from_raw_os_error(refused));
        }
        let mut header = MAGIC.to_vec();
        for value in [generation, blocks, CHECKED_BYTES] {
            header.extend_from_slice(&value.to_le_bytes());
        }
        file.write_all(&header)?;
        file.sync_all()?;
        Ok(Self { map: Map::new(&file, length, true)?, generation, blocks })
    }

    /// Read a journal back.
    ///
    /// # Errors
    /// The file can't be read or is no journal.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "this is no journal of written blocks");
        let length = file.metadata()?.len();
        if length < HEADER_BYTES {
            return Err(wrong());
        }
        let map = Map::new(&file, length, false)?;
        let [magic, generation, blocks, unit] = [0, 1, 2, 3].map(|word| map.word(word).load(Ordering::Relaxed));
        let whole = blocks.checked_mul(ENTRY_BYTES).and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        if magic != u64::from_ne_bytes(*MAGIC) || u64::from_le(unit) != CHECKED_BYTES || whole != Some(length) {
            return Err(wrong());
        }
        Ok(Self { map, generation: u64::from_le(generation), blocks: u64::from_le(blocks) })
    }

    /// Number that tells this run's blocks from those of other runs.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Number of blocks of the storage.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Writes of a block.
    pub fn written(&self, block: u64) -> Written {
        let of = |field| u64::from_le(self.field(block, field).load(Ordering::Acquire));
        Written { issued: of(Field::Issued), acknowledged: of(Field::Acknowledged), durable: of(Field::Durable) }
    }

    /// Note that write `sequence` of `blocks` has reached the state `field`; entries never go back.
    pub fn note(&self, blocks: Range<u64>, field: Field, sequence: u64) {
        for block in blocks {
            let entry = self.field(block, field);
            if sequence > u64::from_le(entry.load(Ordering::Acquire)) {
                entry.store(sequence.to_le(), Ordering::Release);
            }
        }
    }

    fn field(&self, block: u64, field: Field) -> &AtomicU64 {
        assert!(block < self.blocks, "block {block} of {}", self.blocks);
        self.map.word(HEADER_BYTES / 8 + block * FIELDS + field as u64)
    }
}

/// Memory-mapped file.
#[derive(Debug)]
struct Map {
    base: NonNull<AtomicU64>,
    bytes: u64,
}

// SAFETY: the memory is accessed as atomic words only.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    fn new(file: &File, bytes: u64, writable: bool) -> io::Result<Self> {
        let access = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        // SAFETY: a new mapping at an address that the system chooses.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base: NonNull::new(base.cast()).expect("a mapping is nowhere at zero"), bytes })
    }

    fn word(&self, index: u64) -> &AtomicU64 {
        assert!(index < self.bytes / 8, "word {index} of {} bytes", self.bytes);
        // SAFETY: within the mapping, which lives as long as `self` and begins at a page.
        unsafe { self.base.add(index as usize).as_ref() }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; no reference to it remains.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_entries_read_back_and_never_decrease() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("disk.journal");
        let journal = Journal::create(&path, 10 * CHECKED_BYTES + 100, 77).expect("a journal");
        assert!(Journal::create(&path, 10, 77).is_err(), "a journal is never overwritten");
        journal.note(2..5, Field::Issued, 1);
        journal.note(4..5, Field::Issued, 2);
        journal.note(4..5, Field::Acknowledged, 2);
        journal.note(4..5, Field::Acknowledged, 1);
        journal.note(2..3, Field::Durable, 1);
        for journal in [&Journal::open(&path).expect("reads back while it is written"), &journal] {
            assert_eq!((journal.generation(), journal.blocks()), (77, 10));
            let of = |issued, acknowledged, durable| Written { issued, acknowledged, durable };
            assert_eq!(
                [2, 3, 4, 5].map(|block| journal.written(block)),
                [of(1, 0, 1), of(1, 0, 0), of(2, 2, 0), of(0, 0, 0)]
            );
        }
    }

    #[test]
    fn file_that_is_no_journal_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let long = vec![b'x'; 2 * HEADER_BYTES as usize];
        for text in [&b""[..], b"TMSHJRN1", &long] {
            std::fs::write(&path, text).expect("written");
            assert!(Journal::open(&path).is_err());
        }
        drop(Journal::create(&folder.path().join("cut"), 8 * CHECKED_BYTES, 1).expect("a journal"));
        let cut = OpenOptions::new().write(true).open(folder.path().join("cut")).expect("a file");
        cut.set_len(HEADER_BYTES + 3).expect("cut");
        assert!(Journal::open(&folder.path().join("cut")).is_err(), "one that was cut short");
    }
}
