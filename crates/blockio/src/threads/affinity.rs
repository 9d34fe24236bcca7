//! Processor affinity of threads.

use std::io;

/// Processor numbers that fit into a `cpu_set_t`.
const MOST: u32 = libc::CPU_SETSIZE as u32;

/// Bind the calling thread, and threads that it starts later, to `processors`.
///
/// # Errors
/// The system's error, if none of them exists or the thread may not run there.
pub(crate) fn run_on(processors: &[u32]) -> io::Result<()> {
    // SAFETY: an all-zero set is an empty set of processors.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &processor in processors.iter().filter(|&&processor| processor < MOST) {
        // SAFETY: the number lies within the set.
        unsafe { libc::CPU_SET(processor as usize, &mut set) };
    }
    // SAFETY: the set is valid for reads, and this long.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Return whether this process may run on `processor`.
pub(crate) fn is_allowed(processor: u32) -> bool {
    processor < MOST
        && allowed().is_ok_and(|set| {
            // SAFETY: the number lies within the set.
            unsafe { libc::CPU_ISSET(processor as usize, &set) }
        })
}

/// Processors that the calling thread may run on.
fn allowed() -> io::Result<libc::cpu_set_t> {
    // SAFETY: an all-zero set is an empty set of processors.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is valid for writes, and this long.
    match unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } {
        0 => Ok(set),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_applies_to_the_thread_and_its_later_threads_only() {
        let last = (0..MOST).rev().find(|&processor| is_allowed(processor)).expect("a processor");
        let count = || allowed().map(|set| unsafe { libc::CPU_COUNT(&set) }).expect("a set");
        let before = count();
        let bound = std::thread::spawn(move || {
            run_on(&[last]).expect("allowed");
            let inherited = std::thread::spawn(move || (count(), is_allowed(last))).join().expect("no panic");
            (count(), inherited)
        });
        assert_eq!(bound.join().expect("no panic"), (1, (1, true)));
        assert_eq!(count(), before);
    }

    #[test]
    fn affinity_to_a_missing_processor_is_refused() {
        assert!(!is_allowed(MOST) && !is_allowed(u32::MAX));
        assert!(std::thread::spawn(|| run_on(&[u32::MAX]).is_err()).join().expect("no panic"));
    }
}
