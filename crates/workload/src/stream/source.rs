//! State common to all kinds of jobs: free slots, start times, and requests.

use crate::stream::arrivals::Schedule;
use crate::stream::issue::{Placement, Start};
use crate::stream::lengths::Lengths;
use crate::stream::offsets::Offsets;
use crate::stream::queue::Queue;
use crate::stream::spec::{Distribution, Duty, StreamSpec};
use std::collections::VecDeque;
use tameshi_base::{CommandKind, Nanos, Random, Share};

/// Kind, offset and length of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Kind.
    pub kind: CommandKind,
    /// First byte, from the storage's start.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub length_bytes: u32,
}

impl Request {
    pub(crate) const NONE: Self = Self { kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 };
}

/// Source of a job's requests. No call allocates.
#[derive(Debug)]
pub(crate) struct Source {
    read: Share,
    trim: Share,
    lengths: Lengths,
    /// Those of writes where they are apart.
    write_lengths: Option<Lengths>,
    offsets: Offsets,
    mix: Random,
    think: Think,
    /// When the phase began, and its pauses.
    duty: Option<(Nanos, Duty)>,
    /// Scheduled requests in open loop.
    queue: Option<Queue>,
    /// Free slots with their earliest start times, in that order.
    free: VecDeque<(Nanos, u32)>,
    budget_bytes: Option<u64>,
    /// Time from which on no request starts.
    end: Nanos,
    /// True if a free slot may start at once: no schedule, no common pause and no end.
    unhindered: bool,
}

/// Pauses between a completion and the next request.
#[derive(Debug)]
struct Think {
    mean: Nanos,
    distribution: Distribution,
    random: Random,
    /// Requests between two pauses, and per member those since its last.
    every: u32,
    since: Vec<u32>,
}

impl Think {
    /// Return the pause of `who` after a request.
    #[inline]
    fn next(&mut self, who: u32) -> Nanos {
        if self.mean == 0 {
            return 0;
        }
        if self.every > 1 {
            let since = &mut self.since[who as usize];
            *since += 1;
            if *since < self.every {
                return 0;
            }
            *since = 0;
        }
        match self.distribution {
            Distribution::Fixed => self.mean,
            Distribution::Exponential => self.random.exponential(self.mean as f64) as Nanos,
            Distribution::Uniform => self.random.below(self.mean.saturating_mul(2).saturating_add(1)),
        }
    }
}

impl Source {
    /// For `members` that start; the first `reserved_bytes` of the stream's part of the storage are
    /// not touched.
    pub(crate) fn new(spec: &StreamSpec, place: Placement<'_>, members: u32, reserved_bytes: u64) -> Self {
        let random = |what: &str| Random::named(place.seed, &format!("{}/{}/{what}", place.name, place.job));
        let rest = place.storage_bytes.saturating_sub(spec.offset.0);
        let span_bytes = spec.span.map_or(rest, |span| span.0.min(rest)).saturating_sub(reserved_bytes);
        let begin = place.begin.saturating_add(spec.delay.0);
        let schedule = Schedule::new(&spec.arrivals, spec.duty, place.job, spec.jobs, begin, random("arrivals"));
        Self {
            unhindered: schedule.is_none() && spec.duty.is_none() && spec.duration.is_none(),
            read: spec.read,
            trim: spec.trim,
            lengths: Lengths::new(&spec.read_lengths(), random("lengths")),
            write_lengths: spec.write_block_size_mix.as_ref().map(|mix| Lengths::new(mix, random("write_lengths"))),
            offsets: Offsets::new(
                spec,
                (spec.offset.0 + reserved_bytes, span_bytes),
                place.job,
                random("offsets"),
                Random::named(place.seed, "scatter"),
            ),
            mix: random("mix"),
            think: Think {
                mean: spec.think_time.0,
                distribution: spec.think_distribution,
                random: random("think"),
                every: spec.think_every,
                since: vec![0; members as usize],
            },
            duty: spec.duty.map(|duty| (begin, duty)),
            queue: schedule.map(|schedule| Queue::new(schedule, place.begin)),
            free: (0..members).map(|who| (begin, who)).collect(),
            budget_bytes: place.budget_bytes,
            end: spec.duration.map_or(Nanos::MAX, |duration| begin.saturating_add(duration.0)),
        }
    }

    /// Return the time of the next start; `None` while no slot is free or no request is left.
    #[inline(always)]
    pub(crate) fn due(&self) -> Option<Nanos> {
        if self.unhindered {
            return self.free.front().filter(|_| !self.is_spent()).map(|&(free_from, _)| free_from);
        }
        self.hindered_due()
    }

    fn hindered_due(&self) -> Option<Nanos> {
        if self.is_exhausted() {
            return None;
        }
        let &(free_from, _) = self.free.front()?;
        let at = self.queue.as_ref().map_or(free_from, |queue| queue.next().max(free_from));
        let due = self.at_work(at);
        (due < self.end).then_some(due)
    }

    /// The first instant from `at` on that lies in no pause.
    #[inline]
    fn at_work(&self, at: Nanos) -> Nanos {
        match self.duty {
            None => at,
            Some((begin, duty)) => begin.saturating_add(duty.resumed(at.saturating_sub(begin))),
        }
    }

    /// Somebody starts at `now`; [`Self::due`] said so.
    #[inline(always)]
    pub(crate) fn start(&mut self, now: Nanos) -> Option<Start> {
        let (free_from, who) = self.free.pop_front()?;
        if self.unhindered {
            return Some(Start { who, intended: now, ready: free_from, scheduled: false });
        }
        let (intended, scheduled) = match &mut self.queue {
            None => (now, false),
            Some(queue) => (queue.start(now), true),
        };
        let ready = self.at_work(if scheduled { intended.max(free_from) } else { free_from });
        Some(Start { who, intended, ready, scheduled })
    }

    /// Free `who`, which starts again after its think time.
    #[inline(always)]
    pub(crate) fn finish(&mut self, who: u32, now: Nanos) {
        let from = now + self.think.next(who);
        // Pauses that differ end in another order than they begin.
        if self.free.back().is_none_or(|&(last, _)| last <= from) {
            return self.free.push_back((from, who));
        }
        self.insert(from, who);
    }

    #[cold]
    fn insert(&mut self, from: Nanos, who: u32) {
        let place = self.free.partition_point(|&(other, _)| other <= from);
        self.free.insert(place, (from, who));
    }

    /// Return whether a completed slot may start again at that instant: nothing hinders or
    /// delays it.
    pub(crate) fn goes_on_at_once(&self) -> bool {
        self.unhindered && self.think.mean == 0
    }

    /// Return whether no slot is free and requests are left.
    #[inline(always)]
    pub(crate) fn is_all_under_way(&self) -> bool {
        self.free.is_empty() && !self.is_spent()
    }

    /// Delay all starts to `at`.
    pub(crate) fn postpone(&mut self, at: Nanos) {
        self.free.iter_mut().take_while(|(free_from, _)| *free_from < at).for_each(|(free_from, _)| *free_from = at);
    }

    /// The next request.
    #[inline(always)]
    pub(crate) fn draw(&mut self) -> Request {
        let kind = self.kind();
        let length_bytes = self.length(kind);
        Request { kind, offset_bytes: self.offset(length_bytes), length_bytes }
    }

    /// The next requests, as [`Source::draw`] gives them; most streams know beforehand how long
    /// each is.
    #[inline(always)]
    pub(crate) fn draw_all(&mut self, requests: &mut [Request]) {
        let Some(length_bytes) = self.lengths.only().filter(|_| self.write_lengths.is_none()) else {
            return requests.iter_mut().for_each(|request| *request = self.draw());
        };
        let alike = Request { kind: self.only_kind().unwrap_or(CommandKind::Flush), offset_bytes: 0, length_bytes };
        requests.fill(alike);
        if self.only_kind().is_none() {
            requests.iter_mut().for_each(|request| request.kind = self.kind());
        }
        self.offsets.next_all(length_bytes, requests.iter_mut().map(|request| &mut request.offset_bytes));
    }

    /// Return the kind of the next request.
    #[inline]
    pub(crate) fn kind(&mut self) -> CommandKind {
        if self.draws(self.trim) {
            CommandKind::Trim
        } else if self.draws(self.read) {
            CommandKind::Read
        } else {
            CommandKind::Write
        }
    }

    /// Return the kind of every request, if all have the same.
    #[inline]
    fn only_kind(&self) -> Option<CommandKind> {
        match (self.trim, self.read) {
            (Share::WHOLE, _) => Some(CommandKind::Trim),
            (Share(0), Share::WHOLE) => Some(CommandKind::Read),
            (Share(0), Share(0)) => Some(CommandKind::Write),
            _ => None,
        }
    }

    #[inline]
    fn draws(&mut self, share: Share) -> bool {
        match share.0 {
            0 => false,
            1_000_000 => true,
            millionths => self.mix.below(1_000_000) < u64::from(millionths),
        }
    }

    /// The length in bytes of the next request, which does `kind`.
    #[inline]
    pub(crate) fn length(&mut self, kind: CommandKind) -> u32 {
        match &mut self.write_lengths {
            Some(lengths) if kind == CommandKind::Write => lengths.next(),
            _ => self.lengths.next(),
        }
    }

    /// Return the offset of the next request of that length.
    #[inline]
    pub(crate) fn offset(&mut self, length_bytes: u32) -> u64 {
        self.offsets.next(length_bytes)
    }

    /// Use up bytes of the budget.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: u64) {
        if let Some(budget) = &mut self.budget_bytes {
            *budget = budget.saturating_sub(bytes);
        }
    }

    /// Stop all starts.
    pub(crate) fn end(&mut self) {
        self.budget_bytes = Some(0);
    }

    /// Return whether the budget is used up, or the stream's own time has ended.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_spent() || (!self.unhindered && self.is_over())
    }

    /// All that may be moved has been asked for.
    #[inline]
    fn is_spent(&self) -> bool {
        self.budget_bytes == Some(0)
    }

    /// Return the end of an exhausted source: at once if its budget is spent, else when its
    /// time is over.
    pub(crate) fn over_at(&self) -> Nanos {
        if self.is_spent() { 0 } else { self.end }
    }

    /// Return whether its own time has ended: the next free or scheduled start is too late.
    fn is_over(&self) -> bool {
        if self.end == Nanos::MAX {
            return false;
        }
        let free_late = self.free.front().is_some_and(|&(free_from, _)| free_from >= self.end);
        free_late || self.queue.as_ref().is_some_and(|queue| queue.next() >= self.end)
    }

    /// Open-loop starts that should have been before `end` and were not.
    pub(crate) fn unserved_before(&self, end: Nanos) -> u64 {
        if self.is_spent() {
            return 0;
        }
        self.queue.as_ref().map_or(0, |queue| queue.unserved_before(end.min(self.end)))
    }

    /// Take the time that open-loop requests have waited for their start in the interval that ends
    /// at `end`. After the last request of the budget none waits.
    pub(crate) fn take_waited(&mut self, end: Nanos) -> u64 {
        let (until, is_spent) = (end.min(self.end), self.is_spent());
        match &mut self.queue {
            Some(queue) if is_spent => queue.take_started(until),
            Some(queue) => queue.take_waited(until),
            None => 0,
        }
    }
}
