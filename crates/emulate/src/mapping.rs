//! Memory mapped from the kernel.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;

/// Mapped memory; pages take memory once they are touched.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory belongs to the mapping alone.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Map private memory.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Self> {
        Self::new(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
    }

    /// Map a file, shared with it.
    pub(crate) fn of_file(file: &OwnedFd, bytes: usize) -> io::Result<Self> {
        Self::new(bytes, libc::MAP_SHARED, file.as_raw_fd())
    }

    fn new(bytes: usize, flags: libc::c_int, fd: libc::c_int) -> io::Result<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_NORESERVE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mmap returned no address"))?;
        Ok(Self { start, bytes })
    }

    /// Let the kernel evict the mapping's pages, although the process locks its memory.
    pub(crate) fn unlock(&self) {
        // SAFETY: the mapping's own range; the call changes no content. Pages that stay locked are
        // only slower to give back.
        unsafe { libc::munlock(self.start.as_ptr().cast(), self.bytes) };
    }

    /// Return an address within the mapping.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.bytes, "an address beyond the mapping");
        // SAFETY: the address lies within the mapping, or at its end.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Return bytes of the mapping.
    #[inline]
    pub(crate) fn bytes(&self, offset: usize, length: usize) -> &[u8] {
        assert!(offset <= self.bytes && length <= self.bytes - offset, "bytes beyond the mapping");
        // SAFETY: the range lies within the mapping, which this borrow keeps.
        unsafe { std::slice::from_raw_parts(self.at(offset), length) }
    }

    /// Return bytes of the mapping, mutable.
    #[inline]
    pub(crate) fn bytes_mut(&mut self, offset: usize, length: usize) -> &mut [u8] {
        assert!(offset <= self.bytes && length <= self.bytes - offset, "bytes beyond the mapping");
        // SAFETY: the range lies within the mapping, which this borrow keeps exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset), length) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and no borrow of it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
