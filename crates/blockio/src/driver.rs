//! The loop of one job: issue what is due, wait for the first completion, take all that completed.

use crate::arena::{Arena, Content};
use crate::clock::Clock;
use crate::error::BlockError;
use crate::files::FileOperation;
use crate::message::Ending;
use crate::recorder::{Batch, Recorder, Used};
use crate::relay::{Handover, Next};
use crate::request::{Kind, Queue, Reaped, Request};
use crate::target::Payload;
use crate::verify::Verifier;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::EndedBy;
use tameshi_workload::{Completion, Failing, FileCall, Job, StreamSpec, Sync};

/// In open loop, a thread that waits for an arrival sleeps until this long before it and then polls: a sleep ends too
/// late by up to some tens of microseconds. Closed loop never polls.
pub const SPIN_NS: Nanos = 50_000;
/// Longest sleep: how soon a stop is seen.
const SLICE: Nanos = 50_000_000;
/// Longest sleep between two phases: how soon the next one's begin is seen where nothing completes meanwhile.
const BRIDGE_SLICE: Nanos = 100_000;
/// While draining, so long without a completion is given up on.
pub(crate) const DRAIN_LIMIT: Nanos = 30_000_000_000;

/// The facts of a job that its loop needs.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The storage's name, for errors.
    pub(crate) storage: String,
    pub(crate) payload: Payload,
    /// Requests that may be outstanding.
    pub(crate) depth: u32,
    pub(crate) open_loop: bool,
    /// The kind of sync that the stream asks for.
    pub(crate) sync: Kind,
    /// When the phase ends by time.
    pub(crate) end: Option<Nanos>,
    /// Whether it has ended otherwise.
    pub(crate) over: Arc<Over>,
    /// The jobs that end with this one, each by its stream's word.
    pub(crate) ends: Vec<Arc<Over>>,
    /// What it does to files in place of moving data.
    pub(crate) call: Option<FileCall>,
    /// Requests whose failures it goes on after.
    pub(crate) tolerates: Vec<Failing>,
    /// The phase's end, and what follows.
    pub(crate) handover: Arc<Handover>,
}

/// Tells the jobs of a stream that they are over, and why.
#[derive(Debug, Default)]
pub(crate) struct Over(AtomicU8);

impl Over {
    /// They are over: the phase by `Steady` or `Rounds`, or the stream that they end with by `Amount`.
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

impl Frame {
    /// What a flush of the stream is.
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
struct Flight {
    request: Request,
    /// The job's own slot.
    slot: u32,
    /// The phase's number among those that the thread has worked in.
    turn: u32,
}

/// One thread's jobs in motion, one after the other.
pub(crate) struct Driver<'a, Q, C> {
    frame: Frame,
    job: Job,
    queue: Q,
    arena: Arena,
    recorder: Recorder,
    verifier: Option<Verifier>,
    clock: &'a C,
    halt: &'a AtomicBool,
    /// Per slot of the queue what is in flight, and the slots where nothing is. What has been free for longest is taken
    /// first: the work goes through all buffers, as where each request has its own, and not through one that the cache holds.
    in_flight: Vec<Option<Flight>>,
    free: VecDeque<u32>,
    outstanding: u32,
    /// Phases before the current one, and how many requests of theirs are in flight still.
    turn: u32,
    lingering: u32,
    /// When a completion was last seen.
    seen: Nanos,
    /// So many phases have nothing in flight any more, and since when; told once.
    drained: Option<(u32, Nanos)>,
    reaped: Vec<Reaped>,
    /// The last wait brought completions.
    handled: bool,
    issued: u64,
    /// Requests that the queue has taken and not started.
    unstarted: u32,
    /// The same by the kind of their command.
    batch: Batch,
}

impl<'a, Q: Queue, C: Clock> Driver<'a, Q, C> {
    /// Everything a job needs.
    pub(crate) fn new(
        frame: Frame,
        job: Job,
        queue: Q,
        arena: Arena,
        recorder: Recorder,
        clock: &'a C,
        halt: &'a AtomicBool,
    ) -> Self {
        let slots = arena.slots();
        Self {
            frame,
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
            turn: 0,
            lingering: 0,
            seen: 0,
            drained: None,
            reaped: Vec::with_capacity(slots as usize),
            handled: false,
            issued: 0,
            unstarted: 0,
            batch: Batch::default(),
        }
    }

    /// From now on what is written is stamped, and what is read is checked.
    pub(crate) fn verify(&mut self, verifier: Verifier) {
        self.verifier = Some(verifier);
    }

    /// The next phase's job takes over. What is in flight goes on and is recorded nowhere; in closed loop a request of
    /// the new job takes the place of each, so that never more are outstanding than the larger depth.
    ///
    /// # Errors
    /// Where what is in flight must complete first, for its data are of another kind or verified, and does not.
    pub(crate) fn take_over(
        &mut self,
        frame: Frame,
        job: Job,
        content: Content,
        verified: bool,
    ) -> Result<(), BlockError> {
        if verified || self.verifier.is_some() || !self.arena.holds(content) {
            self.drain()?;
            self.arena.prepare(content);
            self.verifier = None;
        }
        self.pass_over(self.clock.now())?;
        (self.frame, self.job, self.handled) = (frame, job, false);
        (self.turn, self.lingering) = (self.turn + 1, self.outstanding);
        self.drained = (self.lingering == 0).then_some((self.turn, self.seen));
        Ok(())
    }

    /// How many of the phases so far have nothing in flight any more, and since when; once.
    pub(crate) fn drained(&mut self) -> Option<(u32, Nanos)> {
        self.drained.take()
    }

    /// Requests that there is room for.
    pub(crate) fn slots(&self) -> u32 {
        self.arena.slots()
    }

    /// What an interval is filled in.
    pub(crate) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Runs the job from `begin` to its end; requests may be outstanding then.
    pub(crate) fn run(&mut self, begin: Nanos) -> Result<Ending, BlockError> {
        let end = self.frame.end.unwrap_or(Nanos::MAX);
        let mut starting = true;
        let mut now = begin.max(self.clock.now());
        while now < end {
            if self.halt.load(Ordering::Relaxed) {
                return Ok(self.close(now, EndedBy::Stopped));
            }
            if let Some(by) = self.frame.over.get() {
                return Ok(self.close(now, by));
            }
            now = self.attend(now, end)?;
            if starting && self.job.is_exhausted() {
                starting = false;
                self.frame.handover.all_started();
            }
            let patience = self.patience(now, end);
            self.wait(patience)?;
            now = self.clock.now();
            let boundary = self.recorder.boundary();
            if now >= boundary {
                self.recorder.rotate(now.min(end - 1), self.used());
            }
            if now < end {
                self.take(now)?;
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

    /// Goes on with the job of a phase that is over and records none of it, until the next phase begins, as `next` tells,
    /// or until nothing is left to go on with.
    pub(crate) fn bridge(&mut self, mut next: impl FnMut() -> Next) -> Result<(), BlockError> {
        while !self.halt.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.pass_over(now)?;
            let begin = match next() {
                Next::Unknown => Nanos::MAX,
                Next::Begins(at) if at > now => at,
                Next::Begins(_) | Next::Nothing => return Ok(()),
            };
            self.issue_due(now, begin)?;
            if self.outstanding == 0 && self.job.is_done() {
                return Ok(());
            }
            let patience = self.patience(self.clock.now(), begin).min(BRIDGE_SLICE);
            self.wait(patience)?;
        }
        Ok(())
    }

    /// Takes all that was reaped and records none of it.
    fn pass_over(&mut self, now: Nanos) -> Result<(), BlockError> {
        for index in 0..self.reaped.len() {
            if let Err(error) = self.finish(self.reaped[index], now) {
                self.reaped.drain(..=index);
                return Err(error);
            }
        }
        self.reaped.clear();
        Ok(())
    }

    /// Waits for what is outstanding and records none of it. Whatever happens, nothing but what [`Self::outstanding`]
    /// then says is still in flight.
    pub(crate) fn drain(&mut self) -> Result<(), BlockError> {
        let mut result = Ok(());
        let mut last = self.clock.now();
        loop {
            for reaped in std::mem::take(&mut self.reaped) {
                if let (Err(error), Ok(_)) = (self.settle(reaped), &result) {
                    result = Err(error);
                }
                last = self.clock.now();
                self.seen = last;
            }
            if self.outstanding == 0 {
                (self.lingering, self.drained) = (0, Some((self.turn + 1, self.seen)));
                return result;
            }
            let waited = self.clock.now() - last;
            if waited > DRAIN_LIMIT {
                let target = format!("storage `{}`", self.frame.storage);
                return Err(BlockError::Stuck { target, outstanding: self.outstanding, waited });
            }
            self.wait(SLICE)?;
        }
    }

    /// Requests in flight.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// From the end of a wait to the next one: what came is handled already, what is due is issued. Where there was any
    /// of both, the time that passed since the wait ended is recorded: what completed in it is seen that much late.
    #[inline]
    fn attend(&mut self, woken: Nanos, end: Nanos) -> Result<Nanos, BlockError> {
        let before = self.issued;
        let issued = self.issue_due(woken, end)?;
        if !std::mem::take(&mut self.handled) && self.issued == before {
            return Ok(issued);
        }
        let now = self.clock.now();
        self.recorder.away(now - woken);
        if self.unstarted > 0 {
            // They go to the system with the wait that begins now.
            self.recorder.handed_over(&std::mem::take(&mut self.batch), now - issued);
        }
        Ok(now)
    }

    /// Issues all that is due. The clock goes on as requests start, so that none counts the time that others before it
    /// took to be submitted.
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
            self.in_flight[slot as usize] = Some(Flight { request, slot: issue.slot, turn: self.turn });
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

    /// Whether another request may start, which is in doubt only as long as some of a phase before are in flight.
    #[inline]
    fn has_room(&self) -> bool {
        self.lingering == 0 || (!self.free.is_empty() && (self.frame.open_loop || self.outstanding < self.frame.depth))
    }

    /// Binds a command to the target and to memory.
    #[inline]
    fn place(&mut self, slot: u32, command: &Command) -> Result<Request, BlockError> {
        let length = command.length_bytes;
        let kind = match (command.kind, self.frame.call) {
            (CommandKind::Flush, _) => self.frame.sync,
            (kind, Some(call)) => Kind::File(FileOperation::of(call, kind)),
            (CommandKind::Read, None) => Kind::Read,
            (CommandKind::Write, None) if command.fua => Kind::WriteDurable,
            (CommandKind::Write, None) => Kind::Write,
            (CommandKind::Trim, None) => Kind::Trim,
        };
        let offset = self.frame.payload.place(command.offset_bytes, u64::from(length));
        let offset = offset.ok_or_else(|| BlockError::OutOfBounds {
            request: self.sentence(kind, command.offset_bytes, length),
            payload_bytes: self.frame.payload.bytes(),
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

    /// How long to wait for a completion: until the next arrival, the interval's end, or the phase's.
    #[inline]
    fn patience(&self, now: Nanos, end: Nanos) -> Nanos {
        let wake = self.recorder.boundary().min(end).min(now + SLICE);
        let wake = match self.job.next_due() {
            None => wake,
            Some(_) if !self.has_room() => wake,
            Some(due) if !self.frame.open_loop => wake.min(due),
            Some(due) if due <= now + SPIN_NS => now,
            Some(due) => wake.min(due - SPIN_NS),
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
            .wait(patience, &mut self.reaped)
            .map_err(|error| BlockError::system("waiting for completions", error))
    }

    /// Takes all that was reaped, as completed at `now`.
    #[inline]
    fn take(&mut self, now: Nanos) -> Result<(), BlockError> {
        self.handled = !self.reaped.is_empty();
        if self.handled {
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

    /// A request has completed at `now`: of the phase's own what it amounts to, and its offset in the payload.
    #[inline]
    fn finish(&mut self, reaped: Reaped, now: Nanos) -> Result<Option<(Completion, u64)>, BlockError> {
        let (flight, failure) = self.settle(reaped)?;
        self.seen = now;
        if flight.turn == self.turn {
            let offset = self.frame.payload.within(flight.request.offset);
            if failure.is_some() {
                self.job.fails(flight.slot);
            }
            let completion = self.job.complete(flight.slot, now);
            let Some(error) = failure else { return Ok(Some((completion, offset))) };
            self.recorder.failed(completion.operation, error);
            return Ok(None);
        }
        self.lingering -= 1;
        if self.lingering == 0 {
            self.drained = Some((self.turn, now));
        }
        Ok(None)
    }

    /// The request is no longer in flight; did it do what it should, or fail as it may, and with what error?
    #[inline]
    fn settle(&mut self, reaped: Reaped) -> Result<(Flight, Option<i32>), BlockError> {
        let flight = self.in_flight[reaped.slot as usize].take().expect("a request completes once");
        let request = flight.request;
        self.free.push_back(reaped.slot);
        self.outstanding -= 1;
        let moves_nothing = matches!(request.kind, Kind::Trim | Kind::SyncData | Kind::SyncAll | Kind::File(_));
        if reaped.result == request.length as i32 || (moves_nothing && reaped.result >= 0) {
            return self.check(&request).map(|()| (flight, None));
        }
        if let Some(error) = self.tolerated(&request, reaped.result) {
            return Ok((flight, Some(error)));
        }
        let offset = self.frame.payload.within(request.offset);
        let text = self.sentence(request.kind, offset, request.length);
        Err(match reaped.result {
            moved @ 0.. => BlockError::Short { request: text, moved: moved as u64 },
            error => BlockError::Io { request: text, error: std::io::Error::from_raw_os_error(-error) },
        })
    }

    /// The system's number of the error with which a request has failed, where the stream goes on after such failures.
    #[cold]
    fn tolerated(&mut self, request: &Request, result: i32) -> Option<i32> {
        let (kind, short) = match request.kind {
            Kind::Read => (Failing::Read, libc::EIO),
            Kind::Write | Kind::WriteDurable => (Failing::Write, libc::ENOSPC),
            Kind::Trim => (Failing::Trim, libc::EIO),
            Kind::SyncData | Kind::SyncAll => (Failing::Sync, libc::EIO),
            // A call counts as what its stream says.
            Kind::File(_) if self.frame.tolerates.is_empty() => return None,
            Kind::File(_) => (self.frame.tolerates[0], libc::EIO),
        };
        if !self.frame.tolerates.contains(&kind) {
            return None;
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.fail(request);
        }
        Some(if result < 0 { -result } else { short })
    }

    /// What a request that did what it should means for the data.
    #[inline]
    fn check(&mut self, request: &Request) -> Result<(), BlockError> {
        let Some(verifier) = &mut self.verifier else { return Ok(()) };
        let offset = self.frame.payload.within(request.offset);
        verifier.end(request, offset).map_err(|(at, why)| {
            let request = self.sentence(request.kind, offset, request.length);
            BlockError::Wrong { request, offset: at, why }
        })
    }

    fn sentence(&self, kind: Kind, offset: u64, length: u32) -> String {
        let (word, storage) = (kind.word(), &self.frame.storage);
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
            self.frame.ends.iter().for_each(|over| over.set(by));
        }
        let unserved = self.job.unserved_before(at);
        self.recorder.close(at, unserved, self.used());
        Ending { at, by }
    }

    /// What the thread has used so far.
    pub(crate) fn used(&self) -> Used {
        Used { cpu: self.clock.cpu() + self.queue.helpers_cpu(), thread: self.clock.usage() }
    }
}
