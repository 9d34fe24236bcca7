//! Requests by io_uring: batched submission, registered file and buffers where the kernel takes them.

use crate::arena::{Arena, BLOCK};
use crate::backend::{Kind, Queue, Reaped, Request};
use crate::portable::HOLE;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, opcode};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use tameshi_base::Nanos;

/// Most bytes that the kernel takes as one registered buffer.
const MOST_REGISTERED: usize = 1 << 30;

/// So many requests are handed over in one call. The kernel holds a larger batch back until the whole of it is
/// prepared, so that the first request waits for the last: measured, that costs a drive up to a fifth of its throughput
/// at depth 32, and the requests' latencies would hold time that no drive spent.
const BATCH: u32 = 2;

/// What a record says of such a file.
const STRAIGHT: &str = "straight to the kernel's threads, for the file has no way without blocking";

/// Whether io_uring can do here what this crate needs of it.
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

/// A ring of one thread on one file.
pub(crate) struct Uring {
    ring: IoUring,
    file: Fd,
    file_flags: Flags,
    /// What reads and writes have besides.
    transfer_flags: Flags,
    registered_buffers: bool,
    /// Requests that the kernel has not seen yet.
    pushed: u32,
    /// Keeps the descriptor open as long as the ring.
    _handle: OwnedFd,
}

impl Uring {
    /// A ring for `depth` requests from `arena` on `handle`, and what it makes use of. Only the thread that calls this
    /// may use it.
    pub(crate) fn new(handle: OwnedFd, depth: u32, arena: &Arena) -> io::Result<(Self, Vec<String>)> {
        let (ring, mut features) = build(depth)?;
        let submitter = ring.submitter();
        let file = submitter.register_files(&[handle.as_raw_fd()]).is_ok();
        let (base, bytes) = arena.whole();
        let buffer = libc::iovec { iov_base: base.cast(), iov_len: bytes };
        // SAFETY: the arena outlives the ring, or is leaked with it.
        let blocking = takes_none_without_blocking(handle.as_raw_fd(), base);
        let buffers = bytes <= MOST_REGISTERED && unsafe { submitter.register_buffers(&[buffer]) }.is_ok();
        for (taken, feature) in [(file, "registered file"), (buffers, "registered buffers"), (blocking, STRAIGHT)] {
            if taken {
                features.push(feature.to_string());
            }
        }
        let queue = Self {
            ring,
            file: Fd(if file { 0 } else { handle.as_raw_fd() }),
            file_flags: if file { Flags::FIXED_FILE } else { Flags::empty() },
            transfer_flags: if blocking { Flags::ASYNC } else { Flags::empty() },
            registered_buffers: buffers,
            pushed: 0,
            _handle: handle,
        };
        Ok((queue, features))
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
        };
        let transfer = matches!(request.kind, Kind::Read | Kind::Write | Kind::WriteDurable);
        let flags = if transfer { self.file_flags | self.transfer_flags } else { self.file_flags };
        entry.flags(flags).user_data(u64::from(request.slot))
    }
}

/// Whether the file has no way to be read or written without blocking, as on tmpfs. The kernel would try each request so,
/// in vain, before it hands it to a thread of its own. Nothing is read: no file reaches to where this looks.
fn takes_none_without_blocking(fd: RawFd, buffer: *mut u8) -> bool {
    const NOWHERE: libc::off_t = 1 << 62;
    let part = libc::iovec { iov_base: buffer.cast(), iov_len: BLOCK };
    // SAFETY: the arena has a block at least, and nothing of it is in flight.
    let found = unsafe { libc::preadv2(fd, &part, 1, NOWHERE, libc::RWF_NOWAIT) };
    found < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EOPNOTSUPP)
}

/// The leanest ring that this kernel builds.
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
        if patience > 0 {
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

/// Entering the kernel may end early; what it left in the queue goes with the next call.
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
    fn a_file_in_memory_has_no_way_without_blocking_and_one_on_a_disk_has() {
        let mut block = [0u8; BLOCK];
        let mut of = |path: &str| {
            let file = tempfile::tempfile_in(path).expect("a file");
            takes_none_without_blocking(file.as_raw_fd(), block.as_mut_ptr())
        };
        assert!(of("/dev/shm"));
        assert!(!of(env!("CARGO_MANIFEST_DIR")));
        assert_eq!(block, [0; BLOCK]);
    }
}
