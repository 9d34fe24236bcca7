//! File under a store: in memory, or without a name in a directory of a disk.
//!
//! A file without a name ends with its last descriptor, so a killed server leaves nothing. Its hot
//! part is the kernel's page cache.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes of the probe for holes.
const PROBE: u64 = 4096;

/// Sparse file.
#[derive(Debug)]
pub(crate) struct Backing {
    file: OwnedFd,
    is_on_disk: bool,
}

impl Backing {
    /// Create a sparse file in memory.
    pub(crate) fn in_memory(bytes: u64) -> io::Result<Self> {
        // SAFETY: the name is a constant string.
        let fd = unsafe { libc::memfd_create(c"tameshi-drive".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let backing = Self { file: unsafe { OwnedFd::from_raw_fd(fd) }, is_on_disk: false };
        backing.resize(bytes)?;
        Ok(backing)
    }

    /// Create a sparse file without a name in a directory.
    ///
    /// # Errors
    /// A sentence that says what the directory lacks.
    pub(crate) fn in_directory(directory: &Path, bytes: u64) -> Result<Self, String> {
        let mut options = OpenOptions::new();
        let open = options.read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(directory);
        let file = open.map_err(|error| match error.raw_os_error() {
            Some(libc::ENOENT) => "there is no such directory".to_string(),
            Some(libc::ENOTDIR) => "this is no directory".to_string(),
            Some(libc::EOPNOTSUPP | libc::EISDIR) => "its file system has no unnamed files (O_TMPFILE)".to_string(),
            _ => format!("no file can be made in it: {error}"),
        })?;
        let backing = Self { file: file.into(), is_on_disk: true };
        let holes = backing.reserve(0, PROBE).and_then(|()| backing.punch(0, PROBE));
        holes.map_err(|error| match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => "its file system has no holes in files (fallocate)".to_string(),
            _ => format!("no space can be reserved in it: {error}"),
        })?;
        backing.resize(bytes).map_err(|error| format!("its file system holds no file of {bytes} bytes: {error}"))?;
        Ok(backing)
    }

    /// Return the descriptor, to map it.
    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Return whether the file is on a disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.is_on_disk
    }

    fn resize(&self, bytes: u64) -> io::Result<()> {
        let length = libc::off_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
        // SAFETY: a call with plain numbers on an open descriptor.
        if unsafe { libc::ftruncate(self.file.as_raw_fd(), length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Reserve the space of a range, so that the kernel has it when it writes the pages back.
    pub(crate) fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.allocate(libc::FALLOC_FL_KEEP_SIZE, offset, bytes)
    }

    /// Write all of `data`.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            let (left, at) = (&data[done..], (offset + done as u64) as libc::off_t);
            // SAFETY: the bytes are borrowed during the call, which only reads them.
            match unsafe { libc::pwrite(self.file.as_raw_fd(), left.as_ptr().cast(), left.len(), at) } {
                0 => return Err(io::Error::from_raw_os_error(libc::ENOSPC)),
                wrote @ 1.. => done += wrote as usize,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
        Ok(())
    }

    /// Make a range a hole.
    pub(crate) fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.allocate(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, offset, bytes)
    }

    fn allocate(&self, mode: libc::c_int, offset: u64, bytes: u64) -> io::Result<()> {
        loop {
            let (offset, bytes) = (offset as libc::off_t, bytes as libc::off_t);
            // SAFETY: a call with plain numbers on an open descriptor.
            if unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, bytes) } == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}
