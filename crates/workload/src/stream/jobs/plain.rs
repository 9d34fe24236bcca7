//! Requests in slots of their own, each write followed by a sync where the stream asks for one.

use crate::stream::issue::{Completion, Issue, Operation, Placement, Turn};
use crate::stream::pace::{LOOK_AGAIN, Pacer};
use crate::stream::source::{Request, Source};
use crate::stream::spec::{StreamSpec, Sync};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    intended: Nanos,
    submitted: Nanos,
    length_bytes: u32,
    kind: Option<CommandKind>,
}

/// State of a slot whose commands follow from one another.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    write_intended: Nanos,
    /// Offset of the write that waits for this trim.
    write_offset: Option<u64>,
    writes_since_sync: u32,
    /// True if a command since the last sync has failed.
    failed: bool,
}

/// Number of requests that can be drawn before their time.
const MOST_AHEAD: usize = 32;

/// Requests drawn before their time.
#[derive(Debug)]
struct Ahead {
    requests: [Request; MOST_AHEAD],
    /// Those that are left.
    first: usize,
    end: usize,
}

impl Ahead {
    fn new() -> Self {
        Self { requests: [Request::NONE; MOST_AHEAD], first: 0, end: 0 }
    }

    #[inline]
    fn count(&self) -> usize {
        self.end - self.first
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<Request> {
        let request = *self.requests[..self.end].get(self.first)?;
        self.first += 1;
        Some(request)
    }

    /// Fill up to `count` requests, the new ones by `draw`.
    #[inline(always)]
    fn fill(&mut self, count: usize, draw: impl FnOnce(&mut [Request])) {
        assert!(count <= MOST_AHEAD, "beyond the look-ahead limit");
        if self.first + count > MOST_AHEAD {
            self.requests.copy_within(self.first..self.end, 0);
            (self.first, self.end) = (0, self.count());
        }
        let end = self.first + count;
        if end > self.end {
            draw(&mut self.requests[self.end..end]);
            self.end = end;
        }
    }
}

/// A job whose slots don't know of one another.
#[derive(Debug)]
pub(crate) struct Plain {
    stream: u16,
    source: Source,
    /// Requests drawn before their time, for look-ahead.
    ahead: Ahead,
    sync_every: Option<u32>,
    /// Each write is durable at its own completion.
    durable: bool,
    slots: Vec<Slot>,
    /// By slot, where writes wait for trims, or syncs for writes.
    chains: Vec<Chain>,
    /// Each write waits for a trim of its range.
    trim_first: bool,
    /// Slots whose trim is complete and whose write is due, or whose write is and whose sync is
    /// due.
    to_follow: VecDeque<(Nanos, u32)>,
    outstanding: u32,
    /// Pacer, if the stream keeps step with others.
    pacer: Option<Pacer>,
    end: End,
    /// When a command last completed.
    completed: Nanos,
    /// Each slot starts its next request at the instant at which its last one completes, and
    /// nothing else follows from that.
    goes_on_at_once: bool,
}

/// The sync that ends a stream which asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// No sync at the end, or it has ended.
    None,
    /// At the end.
    ToCome,
    /// In flight.
    UnderWay,
}

impl Plain {
    pub(crate) fn new(spec: &StreamSpec, place: Placement<'_>) -> Self {
        let depth = spec.queue_depth;
        assert!(depth > 0, "a queue depth of zero issues nothing");
        let sync_every = spec.sync.and_then(Sync::every);
        let chains = if sync_every.is_some() || spec.trim_first { depth } else { 0 };
        let source = Source::new(spec, place, depth, 0);
        Self {
            goes_on_at_once: source.goes_on_at_once() && spec.sync.is_none() && !spec.trim_first && !spec.sync_at_end,
            stream: place.stream,
            source,
            ahead: Ahead::new(),
            sync_every,
            durable: spec.sync.is_some_and(Sync::with_each_write),
            slots: vec![Slot::default(); depth as usize],
            chains: vec![Chain::default(); chains as usize],
            trim_first: spec.trim_first,
            to_follow: VecDeque::with_capacity(depth as usize),
            outstanding: 0,
            pacer: None,
            end: if spec.sync_at_end { End::ToCome } else { End::None },
            completed: place.begin,
        }
    }

    /// Keeps step from now on.
    pub(crate) fn pace(&mut self, pacer: Option<Pacer>) {
        self.goes_on_at_once &= pacer.is_none();
        self.pacer = pacer;
    }

    #[inline]
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    #[inline(always)]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        match self.to_follow.front() {
            Some(&(at, _)) => Some(at),
            None if self.ends() => Some(self.completed),
            None => self.source.due(),
        }
    }

    /// Return whether all that is left is the sync at the end.
    #[inline]
    fn ends(&self) -> bool {
        self.end == End::ToCome && self.outstanding == 0 && self.source.is_exhausted()
    }

    #[inline]
    pub(crate) fn issue(&mut self, now: Nanos) -> Option<Issue> {
        if self.next_due()? > now {
            return None;
        }
        if let Some((intended, slot)) = self.to_follow.pop_front() {
            self.outstanding += 1;
            let command = self.follow(slot, (intended, now));
            return Some(Issue { slot, command: Some(command), intended, ready: intended, scheduled: false });
        }
        if self.ends() {
            (self.end, self.outstanding) = (End::UnderWay, 1);
            let since = self.completed;
            let command = self.submit(0, CommandKind::Flush, (0, 0), (since, now));
            return Some(Issue { slot: 0, command: Some(command), intended: since, ready: since, scheduled: false });
        }
        if self.pacer.as_ref().is_some_and(|pacer| !pacer.starts(now)) {
            self.source.postpone(now + LOOK_AGAIN);
            self.leave_if_exhausted();
            return None;
        }
        let start = self.source.start(now)?;
        self.outstanding += 1;
        let Request { mut kind, offset_bytes, length_bytes } = self.next_request();
        self.source.spend(u64::from(length_bytes));
        if kind == CommandKind::Write
            && let Some(chain) = self.chains.get_mut(start.who as usize)
        {
            chain.write_intended = start.intended;
            chain.writes_since_sync += 1;
            if self.trim_first {
                chain.write_offset = Some(offset_bytes);
                kind = CommandKind::Trim;
            }
        }
        self.leave_if_exhausted();
        let command = self.submit(start.who, kind, (offset_bytes, length_bytes), (start.intended, now));
        Some(Issue::started(start.who, Some(command), start))
    }

    /// A slot that starts no more requests holds no other back.
    #[inline]
    fn leave_if_exhausted(&mut self) {
        if let Some(pacer) = &mut self.pacer
            && self.source.is_exhausted()
        {
            pacer.leave(self.source.over_at());
        }
    }

    /// Return the command after a trim or a write that completed.
    fn follow(&mut self, slot: u32, times: (Nanos, Nanos)) -> Command {
        let length_bytes = self.slots[slot as usize].length_bytes;
        match self.chains[slot as usize].write_offset.take() {
            Some(offset_bytes) => self.submit(slot, CommandKind::Write, (offset_bytes, length_bytes), times),
            None => self.submit(slot, CommandKind::Flush, (0, 0), times),
        }
    }

    /// Return the next request, which no later event changes.
    #[inline(always)]
    fn next_request(&mut self) -> Request {
        match self.ahead.pop() {
            Some(request) => request,
            None => self.source.draw(),
        }
    }

    #[inline]
    pub(crate) fn looked_ahead(&self) -> usize {
        self.ahead.count()
    }

    #[inline(always)]
    pub(crate) fn look_ahead(&mut self, requests: usize) -> &[Request] {
        self.ahead.fill(requests, |new| self.source.draw_all(new));
        &self.ahead.requests[self.ahead.first..self.ahead.end]
    }

    #[inline]
    fn submit(
        &mut self,
        slot: u32,
        kind: CommandKind,
        (offset_bytes, length_bytes): (u64, u32),
        (intended, submitted): (Nanos, Nanos),
    ) -> Command {
        let state = &mut self.slots[slot as usize];
        (state.intended, state.submitted) = (intended, submitted);
        state.kind = Some(kind);
        state.length_bytes = length_bytes;
        let fua = self.durable && kind == CommandKind::Write;
        Command { id: u64::from(slot), kind, offset_bytes, length_bytes, fua, stream: self.stream }
    }

    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        let state = &mut self.slots[slot as usize];
        let kind = state.kind.take().expect("a command completes once");
        self.outstanding -= 1;
        self.completed = now;
        let latency = now.saturating_sub(state.intended);
        let service = now.saturating_sub(state.submitted);
        let bytes = u64::from(state.length_bytes);
        let mut commit = (self.durable && kind == CommandKind::Write).then_some(latency);
        if self.end == End::UnderWay {
            self.end = End::None;
            return Completion { operation: Operation::Sync, bytes: 0, latency, service, commit: None };
        }
        let mut follows = false;
        if let Some(chain) = self.chains.get_mut(slot as usize) {
            let sync_due = kind == CommandKind::Write && self.sync_every.is_some_and(|n| chain.writes_since_sync >= n);
            follows = sync_due || (kind == CommandKind::Trim && chain.write_offset.is_some());
            if kind == CommandKind::Flush {
                let failed = std::mem::take(&mut chain.failed);
                commit = (!failed).then(|| now.saturating_sub(chain.write_intended));
                chain.writes_since_sync = 0;
            }
        }
        if follows {
            self.to_follow.push_back((now, slot));
        } else {
            self.source.finish(slot, now);
            self.leave_if_exhausted();
        }
        Completion { operation: Operation::of(kind), bytes, latency, service, commit }
    }

    pub(crate) fn fails(&mut self, slot: u32) {
        if let Some(chain) = self.chains.get_mut(slot as usize) {
            chain.failed = true;
        }
    }

    /// [`Plain::complete`] and [`Plain::issue`] in one, where the second is all that follows from
    /// the first.
    #[inline(always)]
    pub(crate) fn turn(&mut self, slot: u32, now: Nanos) -> Option<Turn> {
        if !self.goes_on_at_once || !self.source.is_all_under_way() {
            return None;
        }
        let Request { kind, offset_bytes, length_bytes } = self.next_request();
        self.source.spend(u64::from(length_bytes));
        let state = &mut self.slots[slot as usize];
        let done = state.kind.replace(kind).expect("a command completes once");
        let bytes = u64::from(std::mem::replace(&mut state.length_bytes, length_bytes));
        let latency = now.saturating_sub(state.intended);
        (state.intended, state.submitted, self.completed) = (now, now, now);
        Some(Turn { operation: Operation::of(done), bytes, latency, kind, offset_bytes, length_bytes })
    }

    #[inline]
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Nothing starts any more.
    pub(crate) fn end(&mut self) {
        self.source.end();
        self.leave_if_exhausted();
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.outstanding == 0 && self.to_follow.is_empty() && self.end == End::None && self.source.is_exhausted()
    }
}
