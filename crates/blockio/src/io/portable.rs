//! Backend of plain calls: in the job's thread at depth 1, else one thread per outstanding request.

use crate::clock;
use crate::files::{Donor, HOLE};
use crate::io::{Kind, Queue, Reaped, Request};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tameshi_base::Nanos;

/// _IO(0x12, 119)
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Discard a range of a block device, or punch a hole into a file.
fn trim(fd: RawFd, offset: u64, length: u64) -> isize {
    let range = [offset, length];
    // SAFETY: the request reads two u64; a file that is no block device refuses it without reading
    // them.
    let discarded = unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) };
    if discarded == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOTTY) {
        return discarded as isize;
    }
    // SAFETY: takes numbers only.
    unsafe { libc::fallocate(fd, HOLE, offset as libc::off_t, length as libc::off_t) as isize }
}

/// Perform the request; return bytes moved or a negative error number.
fn perform(fd: RawFd, donor: Option<&Donor>, request: &Request) -> i32 {
    let (buffer, length, offset) = (request.buffer.cast(), request.length as usize, request.offset as libc::off_t);
    loop {
        // SAFETY: the buffer holds `length` bytes and belongs to the request until it has
        // completed.
        let result = unsafe {
            match request.kind {
                Kind::Read => libc::pread(fd, buffer, length, offset),
                Kind::Write => libc::pwrite(fd, buffer, length, offset),
                Kind::WriteDurable => {
                    let part = libc::iovec { iov_base: buffer, iov_len: length };
                    libc::pwritev2(fd, &part, 1, offset, libc::RWF_DSYNC)
                }
                Kind::Trim => trim(fd, request.offset, u64::from(request.length)),
                Kind::SyncData => libc::fdatasync(fd) as isize,
                Kind::SyncAll => libc::fsync(fd) as isize,
                Kind::File(operation) => operation.perform(fd, donor, request.offset, u64::from(request.length)),
            }
        };
        if result >= 0 {
            return result as i32;
        }
        let error = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if error != libc::EINTR {
            return -error;
        }
    }
}

/// Queue of one request, performed by the calling thread.
pub(crate) struct Inline {
    handle: OwnedFd,
    donor: Option<Donor>,
    pushed: VecDeque<Request>,
}

impl Inline {
    /// Work on `handle`, with extents of `donor` to move.
    pub(crate) fn new(handle: OwnedFd, donor: Option<Donor>) -> Self {
        Self { handle, donor, pushed: VecDeque::with_capacity(1) }
    }
}

impl Queue for Inline {
    fn push(&mut self, request: Request) -> io::Result<bool> {
        self.pushed.push_back(request);
        Ok(false)
    }

    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        match self.pushed.pop_front() {
            Some(request) => {
                reaped.push(Reaped {
                    slot: request.slot,
                    result: perform(self.handle.as_raw_fd(), self.donor.as_ref(), &request),
                });
            }
            None if patience > 0 => std::thread::sleep(Duration::from_nanos(patience)),
            None => std::hint::spin_loop(),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Submissions {
    requests: VecDeque<Request>,
    closed: bool,
}

struct Shared {
    handle: OwnedFd,
    donor: Option<Donor>,
    submissions: Mutex<Submissions>,
    submitted: Condvar,
    done: Mutex<Vec<Reaped>>,
    completed: Condvar,
}

/// Lock a mutex in spite of poisoning: the panicking thread reports itself, and the plain data stay
/// consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn serve(&self) {
        loop {
            let mut submissions = lock(&self.submissions);
            let request = loop {
                if submissions.closed {
                    return;
                }
                match submissions.requests.pop_front() {
                    Some(request) => break request,
                    None => submissions = self.submitted.wait(submissions).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(submissions);
            let result = perform(self.handle.as_raw_fd(), self.donor.as_ref(), &request);
            lock(&self.done).push(Reaped { slot: request.slot, result });
            self.completed.notify_one();
        }
    }
}

/// Queue with one thread per outstanding request.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    clocks: Vec<libc::clockid_t>,
    outstanding: u32,
}

impl Pool {
    /// Start `depth` threads on `handle`, with extents of `donor` to move.
    pub(crate) fn new(handle: OwnedFd, donor: Option<Donor>, depth: u32) -> io::Result<Self> {
        const STACK: usize = 64 << 10;
        let shared = Arc::new(Shared {
            handle,
            donor,
            submissions: Mutex::new(Submissions { requests: VecDeque::with_capacity(depth as usize), closed: false }),
            submitted: Condvar::new(),
            done: Mutex::new(Vec::with_capacity(depth as usize)),
            completed: Condvar::new(),
        });
        let mut pool = Self { shared, threads: Vec::new(), clocks: Vec::new(), outstanding: 0 };
        for _ in 0..depth {
            let shared = Arc::clone(&pool.shared);
            let name = "load-call".to_string();
            let thread = std::thread::Builder::new().name(name).stack_size(STACK).spawn(move || shared.serve())?;
            let mut clock = 0;
            // SAFETY: the thread is not joined, so its handle is valid; `clock` is valid for
            // writes.
            if unsafe { libc::pthread_getcpuclockid(thread.as_pthread_t(), &mut clock) } == 0 {
                pool.clocks.push(clock);
            }
            pool.threads.push(thread);
        }
        Ok(pool)
    }
}

impl Queue for Pool {
    fn push(&mut self, request: Request) -> io::Result<bool> {
        self.outstanding += 1;
        lock(&self.shared.submissions).requests.push_back(request);
        self.shared.submitted.notify_one();
        Ok(true)
    }

    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        let mut done = lock(&self.shared.done);
        if done.is_empty() && patience > 0 {
            let waited = self.shared.completed.wait_timeout(done, Duration::from_nanos(patience));
            done = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.outstanding -= done.len() as u32;
        reaped.append(&mut done);
        Ok(())
    }

    fn helpers_cpu(&self) -> Nanos {
        self.clocks.iter().map(|&clock| clock::read(clock)).sum()
    }
}

impl Drop for Pool {
    /// End the threads; detach them if one hangs in a call.
    fn drop(&mut self) {
        let mut submissions = lock(&self.shared.submissions);
        submissions.closed = true;
        submissions.requests.clear();
        drop(submissions);
        self.shared.submitted.notify_all();
        if self.outstanding == 0 {
            for thread in self.threads.drain(..) {
                // Threads of the pool run no code that panics; if one did, its request would still
                // be outstanding.
                let _ = thread.join();
            }
        }
    }
}
