//! Time that a path adds to a request, measured on the path itself.

use crate::clock;
use crate::mapping::Mapping;
use std::io;
use std::os::fd::RawFd;
use tameshi_base::Nanos;

const BLOCK: usize = 4096;

/// Return the median time of reads of 4 KiB, one at a time, after as many to warm up.
///
/// # Errors
/// Those of the kernel.
pub fn path_latency(fd: RawFd, reads: u32) -> io::Result<Nanos> {
    let mut buffer = Mapping::anonymous(BLOCK)?;
    let mut times = Vec::with_capacity(reads as usize);
    for number in 0..2 * reads {
        let begin = clock::now();
        let into = buffer.bytes_mut(0, BLOCK);
        // SAFETY: the buffer belongs to this function.
        let read = unsafe { libc::pread(fd, into.as_mut_ptr().cast(), BLOCK, 0) };
        if read != BLOCK as isize {
            return Err(io::Error::last_os_error());
        }
        if number >= reads {
            times.push(clock::now() - begin);
        }
    }
    times.sort_unstable();
    times.get(times.len() / 2).copied().ok_or_else(|| io::Error::other("no read to measure"))
}
