//! Open file or device, and its properties as the system reports them.

use crate::error::BlockError;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Open target. Only `data_offset .. data_offset + data_bytes` is ever read or written.
#[derive(Debug)]
pub struct Target {
    /// The open file or device; readable and writable as the run needs.
    pub fd: OwnedFd,
    /// Offset of the payload.
    pub data_offset: u64,
    /// Length of the payload.
    pub data_bytes: u64,
    /// True if it is open for direct I/O (O_DIRECT).
    pub direct: bool,
    /// The same target opened through the page cache, for streams with buffered access.
    pub buffered: Option<OwnedFd>,
}

/// Position of a payload within its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload {
    offset: u64,
    bytes: u64,
}

impl Payload {
    /// Payload of `bytes` bytes from `offset`.
    #[cfg(test)]
    pub(crate) fn of(offset: u64, bytes: u64) -> Self {
        Self { offset, bytes }
    }

    /// Offset in the target of `offset .. offset + length` of the payload; `None` if the range
    /// leaves it.
    #[inline]
    pub(crate) fn place(&self, offset: u64, length: u64) -> Option<u64> {
        let end = offset.checked_add(length)?;
        if end > self.bytes { None } else { self.offset.checked_add(offset) }
    }

    /// Offset in the payload of the target's `offset`.
    pub(crate) fn within(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.offset)
    }

    /// Length of the payload.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Unit of direct transfers if the system names none, in bytes.
const SECTOR: u64 = 512;

impl Target {
    /// Position of the payload.
    pub(crate) fn payload(&self) -> Payload {
        Payload { offset: self.data_offset, bytes: self.data_bytes }
    }

    /// Alignment of offsets and lengths.
    pub(crate) fn alignment(&self) -> u64 {
        if !self.direct {
            return 1;
        }
        let fd = self.fd.as_raw_fd();
        let named = logical_block(fd).or_else(|| direct_alignment(fd));
        named.map_or(SECTOR, |bytes| bytes.max(SECTOR))
    }

    /// Reasons why the payload does not match its description.
    pub(crate) fn objections(&self, name: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        let Some(end) = self.data_offset.checked_add(self.data_bytes).filter(|&end| end <= i64::MAX as u64) else {
            return vec![format!("storage `{name}`: the payload ends beyond what a file can hold")];
        };
        match length(self.fd.as_raw_fd()) {
            Ok(Some(bytes)) if bytes < end => sentences
                .push(format!("storage `{name}`: the target has {bytes} bytes, but its payload should reach to {end}")),
            Ok(_) => {}
            Err(error) => sentences.push(format!("storage `{name}`: the target can't be examined: {error}")),
        }
        match is_direct(self.fd.as_raw_fd()) {
            Ok(direct) if direct != self.direct => sentences.push(format!(
                "storage `{name}`: the target should be open {}, but is not",
                if self.direct { "past the page cache (O_DIRECT)" } else { "through the page cache" }
            )),
            _ => {}
        }
        let alignment = self.alignment();
        for (what, value) in [("offset", self.data_offset), ("length", self.data_bytes)] {
            if !value.is_multiple_of(alignment) {
                sentences.push(format!(
                    "storage `{name}`: the payload's {what} of {value} bytes is no multiple of the block of {alignment}"
                ));
            }
        }
        sentences
    }

    /// Return whether the target is a block device.
    pub(crate) fn is_block_device(&self) -> bool {
        status(self.fd.as_raw_fd()).is_ok_and(|status| status.st_mode & libc::S_IFMT == libc::S_IFBLK)
    }

    /// Return whether the target is a directory whose files streams create, query and delete.
    pub(crate) fn is_directory(&self) -> bool {
        status(self.fd.as_raw_fd()).is_ok_and(|status| status.st_mode & libc::S_IFMT == libc::S_IFDIR)
    }

    /// Duplicate the descriptor for a thread that may outlive the target; `buffered`: through the
    /// page cache, if it is open both ways.
    pub(crate) fn handle(&self, buffered: bool) -> Result<OwnedFd, BlockError> {
        self.buffered
            .as_ref()
            .filter(|_| buffered)
            .unwrap_or(&self.fd)
            .try_clone()
            .map_err(|error| BlockError::system("duplicating a target's descriptor", error))
    }
}

fn status(fd: RawFd) -> io::Result<libc::stat> {
    let mut status = MaybeUninit::zeroed();
    // SAFETY: `status` is valid for writes of a `stat`.
    if unsafe { libc::fstat(fd, status.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before, filled by a call that succeeded.
    Ok(unsafe { status.assume_init() })
}

/// Bytes of a regular file or a block device; `None` for a target without length.
fn length(fd: RawFd) -> io::Result<Option<u64>> {
    // _IOR(0x12, 114, size_t)
    const BLKGETSIZE64: libc::Ioctl = 0x8008_1272;
    let status = status(fd)?;
    match status.st_mode & libc::S_IFMT {
        libc::S_IFREG => Ok(Some(status.st_size as u64)),
        libc::S_IFBLK => {
            let mut bytes = 0u64;
            // SAFETY: the request writes one u64.
            if unsafe { libc::ioctl(fd, BLKGETSIZE64, &mut bytes) } < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Some(bytes))
        }
        _ => Ok(None),
    }
}

fn is_direct(fd: RawFd) -> io::Result<bool> {
    // SAFETY: reads the descriptor's flags only.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags < 0 { Err(io::Error::last_os_error()) } else { Ok(flags & libc::O_DIRECT != 0) }
}

/// Logical block size of a block device.
fn logical_block(fd: RawFd) -> Option<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the request writes one int, and fails if the file is no block device.
    let result = unsafe { libc::ioctl(fd, libc::BLKSSZGET, &mut bytes) };
    (result == 0 && bytes > 0).then_some(bytes as u64)
}

/// Alignment of direct transfers that the file system reports.
fn direct_alignment(fd: RawFd) -> Option<u64> {
    let mut status = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: an empty path names the descriptor itself; `status` is valid for writes of a `statx`.
    let status = unsafe {
        if libc::statx(fd, c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, status.as_mut_ptr()) < 0 {
            return None;
        }
        status.assume_init()
    };
    let named = status.stx_mask & libc::STATX_DIOALIGN != 0 && status.stx_dio_offset_align > 0;
    named.then_some(u64::from(status.stx_dio_offset_align))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_beyond_the_payload_has_no_place() {
        let payload = Payload { offset: 4096, bytes: 8192 };
        assert_eq!(payload.place(0, 8192), Some(4096));
        assert_eq!(payload.place(8192, 0), Some(12_288));
        assert_eq!(payload.place(4096, 4097), None);
        assert_eq!(payload.place(u64::MAX, 2), None);
    }
}
