//! Client that measures the path of an NBD socket.

use super::handshake::greeting;
use super::wire::{self, command, option};
use crate::clock;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use tameshi_base::Nanos;

const BLOCK: usize = 4096;

/// Return the median time of reads of 4 KiB from a served drive, one at a time, after as many to
/// warm up. `address` is `unix:PATH` or `IP:PORT`.
///
/// # Errors
/// Those of the kernel; an answer that is not the server's.
pub fn nbd_latency(address: &str, reads: u32) -> io::Result<Nanos> {
    match address.strip_prefix("unix:") {
        Some(path) => measured(UnixStream::connect(path)?, reads),
        None => {
            let stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            measured(stream, reads)
        }
    }
}

fn measured<S: Read + Write>(mut stream: S, reads: u32) -> io::Result<Nanos> {
    let mut hello = greeting();
    stream.read_exact(&mut hello)?;
    // An export's name, which is empty: the oldest option has the simplest answer.
    let flags = u32::from(wire::FIXED | wire::NO_ZEROES).to_be_bytes();
    let ask = [&flags[..], &wire::OPTION.to_be_bytes(), &option::EXPORT_NAME.to_be_bytes(), &[0; 4]];
    stream.write_all(&ask.concat())?;
    stream.read_exact(&mut [0; 10])?;
    let mut request = [0; wire::REQUEST_BYTES];
    request[..4].copy_from_slice(&wire::REQUEST.to_be_bytes());
    request[6..8].copy_from_slice(&command::READ.to_be_bytes());
    request[24..].copy_from_slice(&(BLOCK as u32).to_be_bytes());
    let mut answer = [0; wire::REPLY_BYTES + BLOCK];
    let mut times = Vec::with_capacity(reads as usize);
    for number in 0..2 * reads {
        let begin = clock::now();
        stream.write_all(&request)?;
        stream.read_exact(&mut answer)?;
        if answer[..wire::REPLY_BYTES] != wire::reply_header(0, 0) {
            return Err(io::Error::other("the drive failed a read"));
        }
        if number >= reads {
            times.push(clock::now() - begin);
        }
    }
    times.sort_unstable();
    times.get(times.len() / 2).copied().ok_or_else(|| io::Error::other("no read to measure"))
}
