//! Time that a path adds to a request, measured on the path itself.

use crate::clock;
use crate::mapping::Mapping;
use std::io;
use std::os::fd::RawFd;
use tameshi_base::Nanos;

const BLOCK: usize = 4096;
const GROUPS: usize = 10;

/// Measure reads of 4 KiB, one at a time, after as many to warm up.
///
/// Return the least median of ten groups: other work on the machine lengthens some of them.
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
    least_median(&mut times).ok_or_else(|| io::Error::other("no read to measure"))
}

/// Return the least median of groups of times; `None` if there is no time.
pub(crate) fn least_median(times: &mut [Nanos]) -> Option<Nanos> {
    let length = times.len().div_ceil(GROUPS).max(1);
    let medians = times.chunks_mut(length).map(|group| {
        group.sort_unstable();
        group[group.len() / 2]
    });
    medians.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_beside_other_work_takes_the_time_of_a_calm_group() {
        let mut times: Vec<Nanos> = (0..1000).map(|number| 12_000 + number % 7).collect();
        times[150..900].iter_mut().for_each(|time| *time += 2_000_000);
        assert_eq!(least_median(&mut times), Some(12_003));
        assert_eq!(least_median(&mut [5, 9, 7]), Some(5));
        assert_eq!(least_median(&mut []), None);
    }
}
