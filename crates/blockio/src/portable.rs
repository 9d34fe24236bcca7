//! Requests by plain calls: in place at depth one, else a thread per request that may be outstanding.

use crate::clock;
use crate::files::{Donor, HOLE};
use crate::request::{Kind, Queue, Reaped, Request};
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

/// Discards a range of a block device, or punches a hole into a file.
fn trim(fd: RawFd, offset: u64, length: u64) -> isize {
    let range = [offset, length];
    // SAFETY: the request reads two u64; what is no block device refuses it without looking.
    let discarded = unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) };
    if discarded == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOTTY) {
        return discarded as isize;
    }
    // SAFETY: takes numbers only.
    unsafe { libc::fallocate(fd, HOLE, offset as libc::off_t, length as libc::off_t) as isize }
}

/// Carries the request out; bytes moved or a negative error number.
fn perform(fd: RawFd, donor: Option<&Donor>, request: &Request) -> i32 {
    let (buffer, length, offset) = (request.buffer.cast(), request.length as usize, request.offset as libc::off_t);
    loop {
        // SAFETY: the buffer holds `length` bytes and belongs to the request until it has completed.
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

/// One request at a time, carried out by the thread that asks.
pub(crate) struct Inline {
    handle: OwnedFd,
    donor: Option<Donor>,
    pushed: VecDeque<Request>,
}

impl Inline {
    /// Works on `handle`, and may move extents of `donor` there.
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
struct Todo {
    requests: VecDeque<Request>,
    over: bool,
}

struct Shared {
    handle: OwnedFd,
    donor: Option<Donor>,
    todo: Mutex<Todo>,
    work: Condvar,
    done: Mutex<Vec<Reaped>>,
    news: Condvar,
}

/// A panic elsewhere is reported elsewhere; here the data are plain and stay whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn serve(&self) {
        loop {
            let mut todo = lock(&self.todo);
            let request = loop {
                if todo.over {
                    return;
                }
                match todo.requests.pop_front() {
                    Some(request) => break request,
                    None => todo = self.work.wait(todo).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(todo);
            let result = perform(self.handle.as_raw_fd(), self.donor.as_ref(), &request);
            lock(&self.done).push(Reaped { slot: request.slot, result });
            self.news.notify_one();
        }
    }
}

/// As many threads as requests may be outstanding.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    clocks: Vec<libc::clockid_t>,
    outstanding: u32,
}

impl Pool {
    /// `depth` threads on `handle`, which may move extents of `donor` there.
    pub(crate) fn new(handle: OwnedFd, donor: Option<Donor>, depth: u32) -> io::Result<Self> {
        const STACK: usize = 64 << 10;
        let shared = Arc::new(Shared {
            handle,
            donor,
            todo: Mutex::new(Todo { requests: VecDeque::with_capacity(depth as usize), over: false }),
            work: Condvar::new(),
            done: Mutex::new(Vec::with_capacity(depth as usize)),
            news: Condvar::new(),
        });
        let mut pool = Self { shared, threads: Vec::new(), clocks: Vec::new(), outstanding: 0 };
        for _ in 0..depth {
            let shared = Arc::clone(&pool.shared);
            let name = "load-call".to_string();
            let thread = std::thread::Builder::new().name(name).stack_size(STACK).spawn(move || shared.serve())?;
            let mut clock = 0;
            // SAFETY: the thread is not joined, so its handle is valid; `clock` is valid for writes.
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
        lock(&self.shared.todo).requests.push_back(request);
        self.shared.work.notify_one();
        Ok(true)
    }

    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        let mut done = lock(&self.shared.done);
        if done.is_empty() && patience > 0 {
            let waited = self.shared.news.wait_timeout(done, Duration::from_nanos(patience));
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
    /// Ends the threads; one that hangs in a call is left behind.
    fn drop(&mut self) {
        let mut todo = lock(&self.shared.todo);
        todo.over = true;
        todo.requests.clear();
        drop(todo);
        self.shared.work.notify_all();
        if self.outstanding == 0 {
            for thread in self.threads.drain(..) {
                // A thread of the pool runs no code that panics; if one did, its request would still be outstanding.
                let _ = thread.join();
            }
        }
    }
}
