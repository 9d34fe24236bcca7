//! Sockets that never wait.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// Address to listen on.
#[derive(Clone, Debug)]
pub(super) enum Address {
    Unix(PathBuf),
    Internet(SocketAddr),
}

impl Address {
    /// Parse `unix:PATH` or `IP:PORT`.
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        match text.strip_prefix("unix:") {
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Internet).map_err(|error| io::Error::other(format!("{text}: {error}"))),
        }
    }

    /// Listen for connections.
    pub(super) fn listen(&self) -> io::Result<OwnedFd> {
        Ok(match self {
            Self::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                listener.set_nonblocking(true)?;
                listener.into()
            }
            Self::Internet(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                listener.into()
            }
        })
    }

    /// Remove the file of a socket that `listen` made.
    pub(super) fn remove(&self) -> io::Result<()> {
        match self {
            Self::Unix(path) => std::fs::remove_file(path),
            Self::Internet(_) => Ok(()),
        }
    }
}

/// Accept a connection; `None` if there is none.
pub(super) fn accept(listener: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the address of the peer is not asked for.
    let fd = unsafe { libc::accept4(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags) };
    if fd < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR | libc::ECONNABORTED) => Ok(None),
            _ => Err(error),
        };
    }
    let on: libc::c_int = 1;
    let (level, name, length) = (libc::IPPROTO_TCP, libc::TCP_NODELAY, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the descriptor is new and has no other owner; a Unix socket refuses the option.
    unsafe {
        libc::setsockopt(fd, level, name, (&raw const on).cast(), length);
        Ok(Some(OwnedFd::from_raw_fd(fd)))
    }
}

/// End a connection, or stop listening, although polls of the ring still hold the socket.
pub(super) fn shut(socket: &OwnedFd) {
    // SAFETY: a call with plain numbers on an open descriptor; a broken connection is shut already.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) };
}

/// Receive bytes; zero if there are none now.
///
/// # Errors
/// The peer has closed the connection, or it broke.
pub(super) fn receive(socket: &OwnedFd, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is borrowed during the call.
    let length = unsafe { libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), libc::MSG_DONTWAIT) };
    moved(length).and_then(|length| match length {
        Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        moved => Ok(moved.unwrap_or(0)),
    })
}

/// Send two buffers in one call; return the bytes that the socket took.
///
/// # Errors
/// The connection broke.
pub(super) fn send(socket: &OwnedFd, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let vector = |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut vectors = [vector(first), vector(second)];
    // SAFETY: all-zero bytes are a message without name and control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (vectors.as_mut_ptr(), vectors.len());
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: message and buffers are borrowed during the call, which only reads them.
    let length = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) };
    moved(length).map(|length| length.unwrap_or(0))
}

/// Return the bytes that a call moved; `None` if it would have waited.
fn moved(length: libc::ssize_t) -> io::Result<Option<usize>> {
    if length >= 0 {
        return Ok(Some(length as usize));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}
