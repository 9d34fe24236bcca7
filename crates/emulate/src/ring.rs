//! Ring of the serving thread: entries of FUSE, and polls of descriptors. A door chooses tokens.

use io_uring::squeue::Entry128;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use std::io;
use std::os::fd::RawFd;
use tameshi_base::Nanos;

/// Ring with entries of 128 bytes.
pub(crate) struct Ring {
    ring: IoUring<Entry128, cqueue::Entry>,
}

impl Ring {
    /// Create a ring for `entries` commands under way.
    pub(crate) fn new(entries: u32) -> io::Result<Self> {
        let entries = entries.next_power_of_two();
        let deferred = IoUring::<Entry128, cqueue::Entry>::builder()
            .dontfork()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .build(entries);
        let ring = match deferred {
            Ok(ring) => ring,
            Err(_) => IoUring::<Entry128, cqueue::Entry>::builder()
                .dontfork()
                .setup_coop_taskrun()
                .setup_taskrun_flag()
                .build(entries)?,
        };
        if !ring.params().is_feature_ext_arg() {
            return Err(io::Error::other("this kernel's io_uring cannot wait with a timeout (Linux 5.11 or later)"));
        }
        Ok(Self { ring })
    }

    /// Queue a command.
    #[inline]
    pub(crate) fn push(&mut self, entry: &Entry128) -> io::Result<()> {
        // SAFETY: buffers of commands belong to the door, and live as long as the ring.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            entered(self.ring.submit())?;
        }
        Ok(())
    }

    /// Report once, by `token`, that a descriptor is ready for `events` of poll(2).
    pub(crate) fn poll(&mut self, fd: RawFd, events: libc::c_short, token: u64) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(fd), events as u32).build().user_data(token);
        self.push(&poll.into())
    }

    /// Let the kernel deliver what has arrived; enter it only if there is anything.
    #[inline]
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let queue = self.ring.submission();
        let is_idle = queue.is_empty() && !queue.taskrun() && !queue.cq_overflow();
        drop(queue);
        if is_idle { Ok(()) } else { self.enter(0, None) }
    }

    /// Start queued commands.
    #[inline]
    pub(crate) fn submit(&mut self) -> io::Result<()> {
        if self.ring.submission().is_empty() { Ok(()) } else { self.enter(0, None) }
    }

    /// Start queued commands, and wait for an event.
    pub(crate) fn wait(&mut self, patience: Option<Nanos>) -> io::Result<()> {
        self.enter(1, patience)
    }

    fn enter(&mut self, events: usize, patience: Option<Nanos>) -> io::Result<()> {
        let Some(patience) = patience else {
            return entered(self.ring.submit_and_wait(events));
        };
        let timeout = Timespec::new().sec(patience / 1_000_000_000).nsec((patience % 1_000_000_000) as u32);
        entered(self.ring.submitter().submit_with_args(events, &SubmitArgs::new().timespec(&timeout)))
    }

    /// Take the next event: its token and its result.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u64, i32)> {
        let done = self.ring.completion().next()?;
        Some((done.user_data(), done.result()))
    }
}

/// Accept an early return from the kernel: the next call continues.
#[inline]
fn entered(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}
