//! io_uring backend: batched submission, with registered file and buffers if the kernel accepts
//! them.

use crate::arena::{Arena, BLOCK};
use crate::clock;
use crate::files::HOLE;
use crate::io::{Kind, Queue, Reaped, Request};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use tameshi_base::Nanos;

/// Largest registered buffer that the kernel accepts, in bytes.
const MOST_REGISTERED: usize = 1 << 30;

/// Requests per submission call. The kernel holds a larger batch back until the whole of it is
/// prepared, so that the first request waits for the last. Measured, that costs a drive up to a
/// fifth of its throughput at depth 32, and latencies would include time that no drive spent.
const BATCH: u32 = 2;

/// Feature text for a file in memory that the kernel reads and writes at submission.
const IN_PLACE: &str = "in place, for the file is in memory";

/// Check that io_uring here has all that this crate needs.
pub(crate) fn probe() -> io::Result<()> {
    let ring = IoUring::new(8)?;
    let missing = |what: &str| Err(io::Error::other(format!("this kernel's io_uring has no {what}")));
    if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_nodrop() {
        return missing("wait with a timeout");
    }
    let mut known = Probe::new();
    ring.submitter().register_probe(&mut known)?;
    let needed = [opcode::Read::CODE, opcode::Write::CODE, opcode::Fsync::CODE, opcode::Fallocate::CODE];
    if needed.iter().any(|&code| !known.is_supported(code)) {
        return missing("read, write, fsync and fallocate");
    }
    Ok(())
}

/// Service of a ring's requests.
#[derive(Clone, Copy)]
pub(crate) struct Serving {
    /// Serve requests at submission if the file is in memory; a polled ring never does.
    pub(crate) in_place: bool,
    /// Poll for completions in place of interrupts.
    pub(crate) polled: bool,
}

/// Ring of one thread on one file.
pub(crate) struct Uring {
    ring: IoUring,
    file: Fd,
    file_flags: Flags,
    registered_buffers: bool,
    /// Requests that were not submitted yet.
    pushed: u32,
    /// True if completions are polled for.
    polled: bool,
    /// Keeps the descriptor open as long as the ring.
    _handle: OwnedFd,
}

impl Uring {
    /// Create a ring for `depth` requests from `arena` on `handle`, and list the features that it
    /// uses. Only the calling thread may use it. A polled ring serves transfers only.
    pub(crate) fn new(handle: OwnedFd, depth: u32, arena: &Arena, serving: Serving) -> io::Result<(Self, Vec<String>)> {
        let Serving { in_place, polled } = serving;
        let (mut ring, mut features) = if polled { build_polled(depth)? } else { build(depth)? };
        let (base, bytes) = arena.whole();
        // Before the file is registered: the ring keeps the flags that it then sees.
        let in_place = in_place && !polled && served_in_place(&mut ring, handle.as_raw_fd(), base)?;
        let submitter = ring.submitter();
        let file = submitter.register_files(&[handle.as_raw_fd()]).is_ok();
        let buffer = libc::iovec { iov_base: base.cast(), iov_len: bytes };
        // SAFETY: the arena outlives the ring, or is leaked with it.
        let buffers = bytes <= MOST_REGISTERED && unsafe { submitter.register_buffers(&[buffer]) }.is_ok();
        for (taken, feature) in [(file, "registered file"), (buffers, "registered buffers"), (in_place, IN_PLACE)] {
            if taken {
                features.push(feature.to_string());
            }
        }
        let queue = Self {
            ring,
            file: Fd(if file { 0 } else { handle.as_raw_fd() }),
            file_flags: if file { Flags::FIXED_FILE } else { Flags::empty() },
            registered_buffers: buffers,
            pushed: 0,
            polled,
            _handle: handle,
        };
        Ok((queue, features))
    }

    /// Start pushed requests and poll for completions until there is one, or `patience` has passed.
    fn poll(&mut self, patience: Nanos) -> io::Result<()> {
        let begin = clock::read(libc::CLOCK_MONOTONIC);
        loop {
            entered(self.ring.submit())?;
            let over = clock::read(libc::CLOCK_MONOTONIC).saturating_sub(begin) >= patience;
            if over || !self.ring.completion().is_empty() {
                return Ok(());
            }
        }
    }

    fn entry(&self, request: &Request) -> Entry {
        let &Request { buffer, length, offset, .. } = request;
        let durable = if request.kind == Kind::WriteDurable { libc::RWF_DSYNC } else { 0 };
        let entry = match (request.kind, self.registered_buffers) {
            (Kind::Read, true) => opcode::ReadFixed::new(self.file, buffer, length, 0).offset(offset).build(),
            (Kind::Read, false) => opcode::Read::new(self.file, buffer, length).offset(offset).build(),
            (Kind::Write | Kind::WriteDurable, true) => {
                opcode::WriteFixed::new(self.file, buffer, length, 0).offset(offset).rw_flags(durable).build()
            }
            (Kind::Write | Kind::WriteDurable, false) => {
                opcode::Write::new(self.file, buffer, length).offset(offset).rw_flags(durable).build()
            }
            (Kind::Trim, _) => opcode::Fallocate::new(self.file, u64::from(length)).offset(offset).mode(HOLE).build(),
            (Kind::SyncData, _) => opcode::Fsync::new(self.file).flags(FsyncFlags::DATASYNC).build(),
            (Kind::SyncAll, _) => opcode::Fsync::new(self.file).build(),
            (Kind::File(_), _) => unreachable!("streams of calls on files go by plain calls"),
        };
        entry.flags(self.file_flags).user_data(u64::from(request.slot))
    }
}

/// Make the kernel serve a file in memory at submission; return whether it does.
///
/// By default it gives each request to a worker thread, since such a file does not promise
/// non-blocking I/O. That costs about three times as much as copying a page. A descriptor with
/// O_NONBLOCK is served at once. The probe reads nothing: its offset is beyond the end of any file.
fn served_in_place(ring: &mut IoUring, fd: RawFd, buffer: *mut u8) -> io::Result<bool> {
    const NOWHERE: u64 = 1 << 62;
    if !in_memory(fd) {
        return Ok(false);
    }
    waiting(fd, false)?;
    let entry = opcode::Read::new(Fd(fd), buffer, BLOCK as u32).offset(NOWHERE).build();
    // SAFETY: the arena has a block at least, and the request ends before this function does.
    unsafe { ring.submission().push(&entry) }.map_err(|_| io::Error::other("io_uring's submission queue is full"))?;
    let result = loop {
        if let Some(done) = ring.completion().next() {
            break done.result();
        }
        entered(ring.submit_and_wait(1))?;
    };
    let served = result != -libc::EAGAIN;
    if !served {
        waiting(fd, true)?;
    }
    Ok(served)
}

/// Return whether the data of a file or directory are only in memory.
///
/// The node of a block device is in memory as well, in devtmpfs. Its data are not.
fn in_memory(fd: RawFd) -> bool {
    const RAMFS_MAGIC: libc::c_long = 0x8584_58f6;
    // SAFETY: plain numbers, for which zero is a value.
    let (mut system, mut node): (libc::statfs, libc::stat) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: the pointers are to structures of this function.
    let known = unsafe { libc::fstatfs(fd, &mut system) == 0 && libc::fstat(fd, &mut node) == 0 };
    let is_device = [libc::S_IFBLK, libc::S_IFCHR].contains(&(node.st_mode & libc::S_IFMT));
    known && !is_device && [libc::TMPFS_MAGIC, RAMFS_MAGIC].contains(&system.f_type)
}

/// Set or clear O_NONBLOCK, which files ignore and io_uring does not.
fn waiting(fd: RawFd, waits: bool) -> io::Result<()> {
    // SAFETY: only flags of an open descriptor are read and set.
    let done = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        let others = flags & !libc::O_NONBLOCK;
        libc::fcntl(fd, libc::F_SETFL, if waits { others } else { others | libc::O_NONBLOCK })
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Build the ring with the least overhead that this kernel supports.
fn build(depth: u32) -> io::Result<(IoUring, Vec<String>)> {
    let entries = depth.next_power_of_two();
    let named = |features: &[&str]| features.iter().map(|&feature| feature.to_string()).collect();
    let deferred =
        IoUring::builder().dontfork().setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().build(entries);
    if let Ok(ring) = deferred {
        return Ok((ring, named(&["single issuer", "deferred task run"])));
    }
    let cooperative = IoUring::builder().dontfork().setup_coop_taskrun().setup_taskrun_flag().build(entries);
    if let Ok(ring) = cooperative {
        return Ok((ring, named(&["cooperative task run"])));
    }
    Ok((IoUring::builder().dontfork().build(entries)?, Vec::new()))
}

/// Build a ring that polls for completions.
fn build_polled(depth: u32) -> io::Result<(IoUring, Vec<String>)> {
    let ring = IoUring::builder().dontfork().setup_iopoll().build(depth.next_power_of_two())?;
    Ok((ring, vec!["polled completions".to_string()]))
}

impl Queue for Uring {
    #[inline]
    fn push(&mut self, request: Request) -> io::Result<bool> {
        let entry = self.entry(&request);
        // SAFETY: the buffer and the file stay until the request has completed, or are leaked.
        unsafe { self.ring.submission().push(&entry) }
            .map_err(|_| io::Error::other("io_uring's submission queue is full"))?;
        self.pushed += 1;
        if self.pushed < BATCH {
            return Ok(false);
        }
        self.pushed = 0;
        entered(self.ring.submit()).map(|()| true)
    }

    #[inline]
    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        self.pushed = 0;
        if self.polled {
            self.poll(patience)?;
        } else if patience > 0 {
            let timeout = Timespec::new().sec(patience / 1_000_000_000).nsec((patience % 1_000_000_000) as u32);
            entered(self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)))?;
        } else {
            let queue = self.ring.submission();
            let idle = queue.is_empty() && !queue.taskrun() && !queue.cq_overflow();
            drop(queue);
            if !idle {
                entered(self.ring.submit())?;
            }
        }
        let completed = self.ring.completion();
        reaped.extend(completed.map(|entry| Reaped { slot: entry.user_data() as u32, result: entry.result() }));
        Ok(())
    }
}

/// Accept an early return from entering the kernel: the next call submits the rest of the queue.
#[inline]
fn entered(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_memory_are_served_at_submission() {
        let arena = Arena::new(1, BLOCK as u64, 1, 0, 0).expect("memory");
        let of = |path: &str, in_place: bool| {
            let file = tempfile::tempfile_in(path).expect("a file");
            let (_, features) =
                Uring::new(file.into(), 1, &arena, Serving { in_place, polled: false }).expect("a ring");
            features.contains(&IN_PLACE.to_string())
        };
        assert!(of("/dev/shm", true));
        assert!(!of("/dev/shm", false));
        assert!(!of(env!("CARGO_MANIFEST_DIR"), true));
    }
}
