//! I/O loop of one job: issue due requests, wait for the first completion, take all completions.

use crate::arena::{Arena, Content};
use crate::clock::Clock;
use crate::error::BlockError;
use crate::files::FileOperation;
use crate::io::{Kind, Queue, Reaped, Request};
use crate::target::Payload;
use crate::threads::handover::{Handover, Next};
use crate::threads::message::Ending;
use crate::threads::recorder::{Batch, Recorder, Used};
use crate::verify::Verifier;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::EndedBy;
use tameshi_workload::{Completion, Failing, FileCall, Job, StreamSpec, Sync};

/// Spin time before an arrival in open loop. A sleep ends up to some tens of microseconds late, so
/// the thread wakes this long before the arrival and polls. Closed loop never polls.
pub const SPIN_NS: Nanos = 50_000;
/// Longest sleep; bounds the delay until a stop is seen.
const SLICE: Nanos = 50_000_000;
/// Longest sleep between two phases; bounds the delay until the next phase's start is seen if
/// nothing completes.
const BRIDGE_SLICE: Nanos = 100_000;
/// Longest time without a completion while draining, before the job gives up.
pub(crate) const DRAIN_LIMIT: Nanos = 30_000_000_000;

/// Facts about a job that its loop needs.
#[derive(Clone, Debug)]
pub(crate) struct JobContext {
    /// Name of the storage, for errors.
    pub(crate) storage: String,
    pub(crate) payload: Payload,
    /// Queue depth: most requests outstanding.
    pub(crate) depth: u32,
    pub(crate) open_loop: bool,
    /// Kind of sync that the stream asks for.
    pub(crate) sync: Kind,
    /// End of the phase, if time ends it.
    pub(crate) end: Option<Nanos>,
    /// Signal that the phase has ended otherwise.
    pub(crate) end_signal: Arc<EndSignal>,
    /// Signals of the streams that end with this job's stream.
    pub(crate) linked_ends: Vec<Arc<EndSignal>>,
    /// Call on files that the job makes in place of moving data.
    pub(crate) call: Option<FileCall>,
    /// Requests whose failures do not end the job.
    pub(crate) tolerates: Vec<Failing>,
    /// Handover to the next phase.
    pub(crate) handover: Arc<Handover>,
}

/// Signal to the jobs of a stream that they have ended, and why.
#[derive(Debug, Default)]
pub(crate) struct EndSignal(AtomicU8);

impl EndSignal {
    /// End the jobs: the phase ended by `Steady` or `Rounds`, or the linked stream by `Amount`.
    pub(crate) fn set(&self, by: EndedBy) {
        let word = match by {
            EndedBy::Steady => 1,
            EndedBy::Amount => 3,
            _ => 2,
        };
        self.0.store(word, Ordering::Relaxed);
    }

    #[inline]
    fn get(&self) -> Option<EndedBy> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(EndedBy::Steady),
            3 => Some(EndedBy::Amount),
            _ => Some(EndedBy::Rounds),
        }
    }
}

impl JobContext {
    /// Kind of request that the stream's flushes are.
    pub(crate) fn sync_kind(stream: &StreamSpec) -> Kind {
        match stream.sync {
            Some(Sync::Fdatasync { .. } | Sync::GroupCommit { .. }) => Kind::SyncData,
            None if stream.page_flush.is_some() => Kind::SyncData,
            None | Some(Sync::Fsync { .. } | Sync::Dsync | Sync::Fua) => Kind::SyncAll,
        }
    }
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    request: Request,
    /// Slot of the job, as opposed to the queue's slot.
    slot: u32,
    /// Number of the phase among those that the thread has worked in.
    phase_number: u32,
}

/// I/O loop of one thread, which runs one job after another.
pub(crate) struct Driver<'a, Q, C> {
    context: JobContext,
    job: Job,
    queue: Q,
    arena: Arena,
    recorder: Recorder,
    verifier: Option<Verifier>,
    clock: &'a C,
    halt: &'a AtomicBool,
    /// In-flight request per slot of the queue, and the free slots. The slot that has been free
    /// longest is taken first: requests then use all buffers, as if each had its own, not only one
    /// that stays in the processor's cache.
    in_flight: Vec<Option<InFlight>>,
    free: VecDeque<u32>,
    outstanding: u32,
    /// Number of earlier phases, and of their requests still in flight.
    phase_number: u32,
    earlier_outstanding: u32,
    /// Time of the last completion.
    last_completion: Nanos,
    /// Number of phases that have nothing in flight any more, and since when; reported once.
    drained: Option<(u32, Nanos)>,
    reaped: Vec<Reaped>,
    /// True if the last wait brought completions.
    had_completions: bool,
    issued: u64,
    /// Requests that the queue has taken and not started.
    unstarted: u32,
    /// The same per kind of command.
    batch: Batch,
}

impl<'a, Q: Queue, C: Clock> Driver<'a, Q, C> {
    pub(crate) fn new(
        context: JobContext,
        job: Job,
        queue: Q,
        arena: Arena,
        recorder: Recorder,
        clock: &'a C,
        halt: &'a AtomicBool,
    ) -> Self {
        let slots = arena.slots();
        Self {
            context,
            job,
            queue,
            arena,
            recorder,
            verifier: None,
            clock,
            halt,
            in_flight: vec![None; slots as usize],
            free: (0..slots).collect(),
            outstanding: 0,
            phase_number: 0,
            earlier_outstanding: 0,
            last_completion: 0,
            drained: None,
            reaped: Vec::with_capacity(slots as usize),
            had_completions: false,
            issued: 0,
            unstarted: 0,
            batch: Batch::default(),
        }
    }

    /// Stamp later writes and check later reads.
    pub(crate) fn verify(&mut self, verifier: Verifier) {
        self.verifier = Some(verifier);
    }

    /// Switch to the next phase's job. Requests in flight continue and are not recorded. In closed
    /// loop, each makes room for a request of the new job when it completes, so that outstanding
    /// requests never exceed the larger depth.
    ///
    /// # Errors
    /// Requests in flight must complete first, because the content changes or is verified, and they
    /// do not.
    pub(crate) fn take_over(
        &mut self,
        context: JobContext,
        job: Job,
        content: Content,
        verified: bool,
    ) -> Result<(), BlockError> {
        if verified || self.verifier.is_some() || !self.arena.holds(content) {
            self.drain()?;
            self.arena.prepare(content);
            self.verifier = None;
        }
        self.discard_reaped(self.clock.now())?;
        (self.context, self.job, self.had_completions) = (context, job, false);
        (self.phase_number, self.earlier_outstanding) = (self.phase_number + 1, self.outstanding);
        self.drained = (self.earlier_outstanding == 0).then_some((self.phase_number, self.last_completion));
        Ok(())
    }

    /// Number of phases that have nothing in flight any more, and since when; reported once.
    pub(crate) fn drained(&mut self) -> Option<(u32, Nanos)> {
        self.drained.take()
    }

    /// Number of requests that fit.
    pub(crate) fn slots(&self) -> u32 {
        self.arena.slots()
    }

    /// Recorder of the current interval.
    pub(crate) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Run the job from `begin` to its end; requests may be outstanding then.
    pub(crate) fn run(&mut self, begin: Nanos) -> Result<Ending, BlockError> {
        let end = self.context.end.unwrap_or(Nanos::MAX);
        let mut starting = true;
        let mut now = begin.max(self.clock.now());
        while now < end {
            if self.halt.load(Ordering::Relaxed) {
                return Ok(self.close(now, EndedBy::Stopped));
            }
            if let Some(by) = self.context.end_signal.get() {
                return Ok(self.close(now, by));
            }
            now = self.work(now, end)?;
            if starting && self.job.is_exhausted() {
                starting = false;
                self.context.handover.all_started();
            }
            let patience = self.patience(now, end);
            self.wait(patience)?;
            now = self.clock.now();
            let boundary = self.recorder.boundary();
            if now >= boundary {
                let used = self.used();
                self.recorder.rotate(now.min(end - 1), used, &mut self.job);
            }
            if now < end {
                self.record_completions(now)?;
                if self.job.is_done() {
                    return Ok(self.close(now, EndedBy::Amount));
                }
                if now >= boundary {
                    now = self.clock.now();
                }
            }
        }
        Ok(self.close(end, EndedBy::Time))
    }

    /// Continue the ended phase's job without recording until the next phase begins, or until
    /// nothing is left to issue.
    pub(crate) fn continue_until_next(&mut self, mut next: impl FnMut() -> Next) -> Result<(), BlockError> {
        while !self.halt.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.discard_reaped(now)?;
            let begin = match next() {
                Next::Unknown => Nanos::MAX,
                Next::Begins(at) if at > now => at,
                Next::Begins(_) | Next::Nothing => return Ok(()),
            };
            self.issue_due(now, begin)?;
            if self.outstanding == 0 && self.job.is_done() {
                return Ok(());
            }
            let patience = self.patience(self.clock.now(), begin).min(self.clock.own_time(BRIDGE_SLICE));
            self.wait(patience)?;
        }
        Ok(())
    }

    /// Take all completions without recording them.
    fn discard_reaped(&mut self, now: Nanos) -> Result<(), BlockError> {
        for index in 0..self.reaped.len() {
            if let Err(error) = self.finish(self.reaped[index], now) {
                self.reaped.drain(..=index);
                return Err(error);
            }
        }
        self.reaped.clear();
        Ok(())
    }

    /// Wait for outstanding requests without recording them. Afterwards only [`Self::outstanding`]
    /// requests are in flight, whatever happens.
    pub(crate) fn drain(&mut self) -> Result<(), BlockError> {
        let mut result = Ok(());
        let mut last = self.clock.now();
        loop {
            for reaped in std::mem::take(&mut self.reaped) {
                if let (Err(error), Ok(_)) = (self.release(reaped), &result) {
                    result = Err(error);
                }
                last = self.clock.now();
                self.last_completion = last;
            }
            if self.outstanding == 0 {
                (self.earlier_outstanding, self.drained) = (0, Some((self.phase_number + 1, self.last_completion)));
                return result;
            }
            let waited = self.clock.now() - last;
            if waited > DRAIN_LIMIT {
                let target = format!("storage `{}`", self.context.storage);
                return Err(BlockError::Stuck { target, outstanding: self.outstanding, waited });
            }
            self.wait(self.clock.own_time(SLICE))?;
        }
    }

    /// Number of requests in flight.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Work between two waits: issue due requests after the completions were recorded. If there was
    /// any work, record the time since the wait ended: completions in that time are seen late by up
    /// to as much.
    #[inline]
    fn work(&mut self, woken: Nanos, end: Nanos) -> Result<Nanos, BlockError> {
        let before = self.issued;
        let issued = self.issue_due(woken, end)?;
        if !std::mem::take(&mut self.had_completions) && self.issued == before {
            return Ok(issued);
        }
        let now = self.clock.now();
        self.recorder.worked(now - woken);
        if self.unstarted > 0 {
            // The wait that begins now submits them.
            self.recorder.handed_over(&std::mem::take(&mut self.batch), now - issued);
        }
        Ok(now)
    }

    /// Issue all due requests. The clock advances as requests start, so that none counts the
    /// submission time of others before it.
    #[inline]
    fn issue_due(&mut self, mut now: Nanos, end: Nanos) -> Result<Nanos, BlockError> {
        while now < end
            && self.has_room()
            && let Some(issue) = self.job.issue(now)
        {
            if issue.scheduled {
                self.recorder.started(now, &issue);
            }
            self.issued += 1;
            let Some(command) = issue.command else { continue };
            let slot = self.free.pop_front().expect("there is room");
            let request = self.place(slot, &command)?;
            self.in_flight[slot as usize] =
                Some(InFlight { request, slot: issue.slot, phase_number: self.phase_number });
            self.outstanding += 1;
            self.recorder.issued(self.outstanding);
            self.unstarted += 1;
            self.batch[command.kind as usize] += 1;
            let pushed = self.queue.push(request);
            if pushed.map_err(|error| BlockError::system("submitting a request", error))? {
                let (handed_over, before) = (std::mem::take(&mut self.unstarted), now);
                now = self.clock.now();
                self.recorder.submitted(handed_over);
                self.recorder.handed_over(&std::mem::take(&mut self.batch), now.saturating_sub(before));
            }
        }
        Ok(now)
    }

    /// Return whether another request may start. Only requests of an earlier phase can prevent it.
    #[inline]
    fn has_room(&self) -> bool {
        self.earlier_outstanding == 0
            || (!self.free.is_empty() && (self.context.open_loop || self.outstanding < self.context.depth))
    }

    /// Bind a command to the target and to memory.
    #[inline]
    fn place(&mut self, slot: u32, command: &Command) -> Result<Request, BlockError> {
        let length = command.length_bytes;
        let kind = match (command.kind, self.context.call) {
            (CommandKind::Flush, _) => self.context.sync,
            (kind, Some(call)) => Kind::File(FileOperation::of(call, kind)),
            (CommandKind::Read, None) => Kind::Read,
            (CommandKind::Write, None) if command.fua => Kind::WriteDurable,
            (CommandKind::Write, None) => Kind::Write,
            (CommandKind::Trim, None) => Kind::Trim,
        };
        let offset = self.context.payload.place(command.offset_bytes, u64::from(length));
        let offset = offset.ok_or_else(|| BlockError::OutOfBounds {
            request: self.describe(kind, command.offset_bytes, length),
            payload_bytes: self.context.payload.bytes(),
        })?;
        let buffer = match kind {
            Kind::Read => self.arena.read_buffer(slot),
            Kind::Write | Kind::WriteDurable => self.arena.write_buffer(slot, length),
            Kind::Trim | Kind::SyncData | Kind::SyncAll | Kind::File(_) => std::ptr::null_mut(),
        };
        let request = Request { slot, kind, length, offset, buffer };
        if let Some(verifier) = &mut self.verifier {
            verifier.begin(&request, command.offset_bytes);
        }
        Ok(request)
    }

    /// Longest time to wait for a completion: until the next arrival, the interval's end or the
    /// phase's.
    #[inline]
    fn patience(&self, now: Nanos, end: Nanos) -> Nanos {
        let wake = self.recorder.boundary().min(end).min(now + self.clock.own_time(SLICE));
        let wake = match self.job.next_due() {
            None => wake,
            Some(_) if !self.has_room() => wake,
            Some(due) if !self.context.open_loop => wake.min(due),
            Some(due) => match due.saturating_sub(self.clock.own_time(SPIN_NS)) {
                spin if spin <= now => now,
                spin => wake.min(spin),
            },
        };
        wake.saturating_sub(now)
    }

    #[inline]
    fn wait(&mut self, patience: Nanos) -> Result<(), BlockError> {
        if self.unstarted > 0 {
            self.recorder.submitted(std::mem::take(&mut self.unstarted));
            self.batch = Batch::default();
        }
        self.queue
            .wait(self.clock.wall_time(patience), &mut self.reaped)
            .map_err(|error| BlockError::system("waiting for completions", error))
    }

    /// Record all completions as seen at `now`.
    #[inline]
    fn record_completions(&mut self, now: Nanos) -> Result<(), BlockError> {
        self.had_completions = !self.reaped.is_empty();
        if self.had_completions {
            self.recorder.completed(self.reaped.len());
        }
        for index in 0..self.reaped.len() {
            match self.finish(self.reaped[index], now) {
                Ok(Some((completion, offset))) => {
                    self.recorder.record(completion, self.job.commits(), now, offset);
                }
                Ok(None) => {}
                Err(error) => {
                    self.reaped.drain(..=index);
                    return Err(error);
                }
            }
        }
        self.reaped.clear();
        Ok(())
    }

    /// Complete a request at `now`. Return its result and its offset in the payload if it belongs
    /// to the current phase.
    #[inline]
    fn finish(&mut self, reaped: Reaped, now: Nanos) -> Result<Option<(Completion, u64)>, BlockError> {
        let (finished, failure) = self.release(reaped)?;
        self.last_completion = now;
        if finished.phase_number == self.phase_number {
            let offset = self.context.payload.within(finished.request.offset);
            if failure.is_some() {
                self.job.fails(finished.slot);
            }
            let completion = self.job.complete(finished.slot, now);
            let Some(error) = failure else { return Ok(Some((completion, offset))) };
            self.recorder.failed(completion.operation, error);
            return Ok(None);
        }
        self.earlier_outstanding -= 1;
        if self.earlier_outstanding == 0 {
            self.drained = Some((self.phase_number, now));
        }
        Ok(None)
    }

    /// Release the slot of a request and check its result. Return the error number if it failed as
    /// it may.
    #[inline]
    fn release(&mut self, reaped: Reaped) -> Result<(InFlight, Option<i32>), BlockError> {
        let finished = self.in_flight[reaped.slot as usize].take().expect("a request completes once");
        let request = finished.request;
        self.free.push_back(reaped.slot);
        self.outstanding -= 1;
        let moves_nothing = matches!(request.kind, Kind::Trim | Kind::SyncData | Kind::SyncAll | Kind::File(_));
        if reaped.result == request.length as i32 || (moves_nothing && reaped.result >= 0) {
            return self.check(&request).map(|()| (finished, None));
        }
        if let Some(error) = self.tolerated(&request, reaped.result) {
            return Ok((finished, Some(error)));
        }
        let offset = self.context.payload.within(request.offset);
        let text = self.describe(request.kind, offset, request.length);
        Err(match reaped.result {
            moved @ 0.. => BlockError::Short { request: text, moved: moved as u64 },
            error => BlockError::Io { request: text, error: std::io::Error::from_raw_os_error(-error) },
        })
    }

    /// Error number of a failed request, if the stream tolerates such failures.
    #[cold]
    fn tolerated(&mut self, request: &Request, result: i32) -> Option<i32> {
        let (kind, short) = match request.kind {
            Kind::Read => (Failing::Read, libc::EIO),
            Kind::Write | Kind::WriteDurable => (Failing::Write, libc::ENOSPC),
            Kind::Trim => (Failing::Trim, libc::EIO),
            Kind::SyncData | Kind::SyncAll => (Failing::Sync, libc::EIO),
            // A call counts as the kind of failure that its stream tolerates.
            Kind::File(_) if self.context.tolerates.is_empty() => return None,
            Kind::File(_) => (self.context.tolerates[0], libc::EIO),
        };
        if !self.context.tolerates.contains(&kind) {
            return None;
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.fail(request);
        }
        Some(if result < 0 { -result } else { short })
    }

    /// Verify the data of a successful request.
    #[inline]
    fn check(&mut self, request: &Request) -> Result<(), BlockError> {
        let Some(verifier) = &mut self.verifier else { return Ok(()) };
        let offset = self.context.payload.within(request.offset);
        verifier.end(request, offset).map_err(|(at, why)| {
            let request = self.describe(request.kind, offset, request.length);
            BlockError::Wrong { request, offset: at, why }
        })
    }

    fn describe(&self, kind: Kind, offset: u64, length: u32) -> String {
        let (word, storage) = (kind.word(), &self.context.storage);
        match kind {
            Kind::File(operation) if operation.in_directory() => {
                let number = offset / u64::from(length.max(1));
                format!("{word} of file {number} of storage `{storage}`")
            }
            Kind::Read | Kind::Write | Kind::WriteDurable | Kind::Trim | Kind::File(_) => {
                format!("{word} of {length} bytes at offset {offset} of storage `{storage}`")
            }
            Kind::SyncData | Kind::SyncAll => format!("{word} of storage `{storage}`"),
        }
    }

    fn close(&mut self, at: Nanos, by: EndedBy) -> Ending {
        if by == EndedBy::Amount {
            self.context.linked_ends.iter().for_each(|end_signal| end_signal.set(by));
        }
        let used = self.used();
        self.recorder.close(at, used, &mut self.job);
        Ending { at, by }
    }

    /// Resources that the thread has used so far.
    pub(crate) fn used(&self) -> Used {
        Used { cpu: self.clock.cpu() + self.clock.own_time(self.queue.helpers_cpu()), thread: self.clock.usage() }
    }
}
