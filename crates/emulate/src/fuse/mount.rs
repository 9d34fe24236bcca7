//! Mount of a drive as one regular file.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Open /dev/fuse and mount it on the file at `path`; `source` names it in the table of mounts.
///
/// The kernel ends the connection when the descriptor is closed, also by the death of this process.
pub(super) fn mount(path: &Path, source: &str) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path is a constant string.
    let fd = unsafe { libc::open(c"/dev/fuse".as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let options = CString::new(format!("fd={},rootmode=100600,user_id=0,group_id=0", fd.as_raw_fd()))?;
    let (source, path) = (CString::new(source)?, CString::new(path.as_os_str().as_bytes())?);
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC | libc::MS_NOATIME;
    let kind = c"fuse.tameshi";
    // SAFETY: all pointers are to strings of this function.
    let mounted = unsafe { libc::mount(source.as_ptr(), path.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    if mounted < 0 { Err(io::Error::last_os_error()) } else { Ok(fd) }
}
