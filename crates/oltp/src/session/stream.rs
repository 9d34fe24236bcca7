//! Socket to a server, by Unix, TCP or TLS, and its input buffer.

use super::tls::TlsStream;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream>),
}

impl Stream {
    /// Share a socket that its owner keeps open.
    pub(super) fn shared(socket: BorrowedFd<'_>, is_unix: bool) -> io::Result<Self> {
        let own = socket.try_clone_to_owned()?;
        Ok(if is_unix { Self::Unix(own.into()) } else { Self::Tcp(own.into()) })
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// Read at least one byte; an error if the server has closed the connection.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Unix(stream) => await_bytes(stream).and_then(|()| stream.read(bytes)),
                Self::Tcp(stream) => stream.read(bytes),
                Self::Tls(stream) => stream.read(bytes),
            };
            match read {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")),
                other => return other,
            }
        }
    }
}

/// Wait until there is input. A thread that waits in `read` is woken twice per answer on a Unix
/// socket: Linux wakes it already when the server takes the request off the socket, which frees
/// space to write.
fn await_bytes(stream: &UnixStream) -> io::Result<()> {
    let mut wanted = libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: `wanted` is one valid entry for the length of the call.
    match unsafe { libc::poll(&mut wanted, 1, -1) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Bytes received and not taken yet.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

/// Bytes per read from the socket.
pub(super) const READ: usize = 32 * 1024;

impl Inbox {
    pub(super) fn new() -> Self {
        Self { bytes: vec![0; READ], begin: 0, end: 0 }
    }

    /// Return the next `count` bytes once they have arrived; keep them.
    #[inline]
    pub(super) fn look(&mut self, stream: &mut Stream, count: usize) -> io::Result<&[u8]> {
        if self.end - self.begin < count {
            self.wait_for(stream, count)?;
        }
        Ok(&self.bytes[self.begin..self.begin + count])
    }

    /// Take the next `count` bytes once they have arrived.
    #[inline]
    pub(super) fn take(&mut self, stream: &mut Stream, count: usize) -> io::Result<&[u8]> {
        self.look(stream, count)?;
        self.begin += count;
        Ok(&self.bytes[self.begin - count..self.begin])
    }

    fn wait_for(&mut self, stream: &mut Stream, count: usize) -> io::Result<()> {
        while self.end - self.begin < count {
            if self.begin == self.end {
                (self.begin, self.end) = (0, 0);
            } else if self.begin + count > self.bytes.len() {
                self.bytes.copy_within(self.begin..self.end, 0);
                (self.begin, self.end) = (0, self.end - self.begin);
            }
            if count > self.bytes.len() {
                self.bytes.resize(count.next_multiple_of(READ), 0);
            }
            self.end += stream.read(&mut self.bytes[self.end..])?;
        }
        Ok(())
    }
}
