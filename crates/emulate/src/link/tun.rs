//! TUN devices: one packet per read and per write, without waiting.

use std::io;
use std::os::fd::RawFd;

/// Read a packet that leaves a host; `None` if there is none.
#[inline]
pub(super) fn read(device: RawFd, into: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: the buffer is borrowed during the call.
    let length = unsafe { libc::read(device, into.as_mut_ptr().cast(), into.len()) };
    if length >= 0 {
        return Ok(Some(length as usize));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}

/// Hand a packet over to a host; return whether it took the packet: it does not while its end is
/// down.
#[inline]
pub(super) fn write(device: RawFd, packet: &[u8]) -> bool {
    // SAFETY: the packet is borrowed during the call, which only reads it.
    unsafe { libc::write(device, packet.as_ptr().cast(), packet.len()) == packet.len() as isize }
}
