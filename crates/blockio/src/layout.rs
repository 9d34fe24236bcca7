//! Initial write of a whole payload, so that no read meets a hole.

use crate::arena::Arena;
use crate::clock::{Clock, Monotonic};
use crate::error::BlockError;
use crate::io::backend::{Backend, SelectedBackend};
use crate::io::portable::Pool;
use crate::io::uring::{Serving, Uring};
use crate::io::{Kind, Queue, Reaped, Request};
use crate::target::Target;
use crate::threads::driver::DRAIN_LIMIT;
use tameshi_base::Nanos;
use tameshi_record::{Control, Progress, RunStatus};

const BLOCK_BYTES: u64 = 1 << 20;
const DEPTH: u32 = 8;
/// Owner of the arena: a number that no job has.
const OWNER: u16 = u16::MAX;
const SLICE: Nanos = 100_000_000;

/// Write the payload of `target` once, from start to end, with data that neither compress nor
/// repeat, and make them durable. Shows progress in `control` (bytes written, time taken), and
/// stops if asked.
///
/// # Errors
/// A target that does not match its description, a failed write, or writes that do not complete.
pub fn lay_out(target: &Target, seed: u64, backend: Backend, control: &Control) -> Result<RunStatus, BlockError> {
    let objections = target.objections("lay out");
    if !objections.is_empty() {
        return Err(BlockError::Refused(objections));
    }
    let clock = Monotonic::from_now();
    let arena = Arena::new(DEPTH, BLOCK_BYTES, seed, OWNER, clock.t0())?;
    match backend.choose()?.0 {
        SelectedBackend::Uring { in_place } => {
            let queue = Uring::new(target.handle(false)?, DEPTH, &arena, Serving { in_place, polled: false });
            let (queue, _) = queue.map_err(|error| BlockError::system("setting up io_uring", error))?;
            LayOut::new(target, queue, arena, control, clock).run()
        }
        SelectedBackend::Portable | SelectedBackend::Null => {
            let queue = Pool::new(target.handle(false)?, None, DEPTH);
            let queue = queue.map_err(|error| BlockError::system("starting threads to write", error))?;
            LayOut::new(target, queue, arena, control, clock).run()
        }
    }
}

struct LayOut<'a, Q> {
    target: &'a Target,
    queue: Q,
    arena: Arena,
    control: &'a Control,
    clock: Monotonic,
    free: Vec<u32>,
    in_flight: [Option<Request>; DEPTH as usize],
    /// Bytes of the payload submitted and written so far.
    submitted: u64,
    written: u64,
    reaped: Vec<Reaped>,
}

impl<'a, Q: Queue> LayOut<'a, Q> {
    fn new(target: &'a Target, queue: Q, arena: Arena, control: &'a Control, clock: Monotonic) -> Self {
        Self {
            target,
            queue,
            arena,
            control,
            clock,
            free: (0..DEPTH).collect(),
            in_flight: [None; DEPTH as usize],
            submitted: 0,
            written: 0,
            reaped: Vec::with_capacity(DEPTH as usize),
        }
    }

    fn run(mut self) -> Result<RunStatus, BlockError> {
        let mut result = self.write_all();
        while self.free.len() < DEPTH as usize {
            match self.reap(true) {
                Err(error @ (BlockError::Stuck { .. } | BlockError::System { .. })) => {
                    // Requests in flight still use the memory.
                    std::mem::forget(self);
                    return Err(error);
                }
                Err(error) => result = result.and(Err(error)),
                Ok(()) => {}
            }
        }
        let status = result?;
        self.submit(Request { slot: 0, kind: Kind::SyncData, length: 0, offset: 0, buffer: std::ptr::null_mut() })?;
        while self.free.len() < DEPTH as usize {
            self.reap(false)?;
        }
        Ok(status)
    }

    fn write_all(&mut self) -> Result<RunStatus, BlockError> {
        while self.written < self.target.data_bytes {
            if self.control.is_stopping() {
                return Ok(RunStatus::Partial);
            }
            while self.submitted < self.target.data_bytes && !self.free.is_empty() {
                let slot = self.free[self.free.len() - 1];
                let length = BLOCK_BYTES.min(self.target.data_bytes - self.submitted) as u32;
                let offset = self.target.data_offset + self.submitted;
                let buffer = self.arena.write_buffer(slot, length);
                self.submitted += u64::from(length);
                self.submit(Request { slot, kind: Kind::Write, length, offset, buffer })?;
            }
            self.reap(false)?;
            let elapsed_ns = self.clock.now();
            let shown = self.control.progress();
            self.control.show(Progress { elapsed_ns, bytes_written: self.written, ..shown });
        }
        Ok(RunStatus::Complete)
    }

    fn submit(&mut self, request: Request) -> Result<(), BlockError> {
        self.free.retain(|&slot| slot != request.slot);
        self.in_flight[request.slot as usize] = Some(request);
        let pushed = self.queue.push(request);
        pushed.map(drop).map_err(|error| BlockError::system("submitting a request", error))
    }

    /// Wait for completions; at most for a limited time when `draining` or when asked to stop.
    fn reap(&mut self, draining: bool) -> Result<(), BlockError> {
        let since = self.clock.now();
        while self.reaped.is_empty() {
            let waited = self.clock.now() - since;
            if waited > DRAIN_LIMIT && (draining || self.control.is_stopping()) {
                let (target, outstanding) = ("the target".to_string(), DEPTH - self.free.len() as u32);
                return Err(BlockError::Stuck { target, outstanding, waited });
            }
            let waiting = self.queue.wait(SLICE, &mut self.reaped);
            waiting.map_err(|error| BlockError::system("waiting for completions", error))?;
        }
        let mut result = Ok(());
        for reaped in std::mem::take(&mut self.reaped) {
            let request = self.in_flight[reaped.slot as usize].take().expect("a request completes once");
            self.free.push(reaped.slot);
            let length = request.length;
            let request = match request.kind {
                Kind::Write => {
                    let offset = request.offset - self.target.data_offset;
                    format!("write of {length} bytes at offset {offset} while laying out")
                }
                kind => format!("{} after laying out", kind.word()),
            };
            if reaped.result == length as i32 {
                self.written += u64::from(length);
            } else if let Ok(moved) = u64::try_from(reaped.result) {
                result = result.and(Err(BlockError::Short { request, moved }));
            } else {
                let error = std::io::Error::from_raw_os_error(-reaped.result);
                result = result.and(Err(BlockError::Io { request, error }));
            }
        }
        result
    }
}
