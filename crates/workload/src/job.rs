//! One job of a stream: its slots, its operations in flight, and the latency of each.

use crate::arrivals::Schedule;
use crate::lengths::Lengths;
use crate::offsets::Offsets;
use crate::spec::{Distribution, Duty, StreamSpec};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos, Random, Share};

/// What a latency belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Operation {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A sync alone.
    Sync,
    /// A write and the sync that makes it durable, as one.
    Commit,
}

/// Every operation, in the order of their discriminants.
pub const OPERATIONS: [Operation; 4] = [Operation::Read, Operation::Write, Operation::Sync, Operation::Commit];

impl Operation {
    /// The word used in metrics, tags and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Commit => "commit",
        }
    }
}

/// Where and when a job works: the part of the run that isn't in the stream's description.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The stream's index within its phase; returned in commands.
    pub stream: u16,
    /// The job's number, from zero.
    pub job: u32,
    /// Bytes of storage that the stream may use, from the storage's start.
    pub storage_bytes: u64,
    /// When the phase begins.
    pub begin: Nanos,
    /// Bytes that the job may move before it stops; `None`: no limit.
    pub budget_bytes: Option<u64>,
    /// Seed of the run.
    pub seed: u64,
    /// What sets this job's randomness apart: phase, stream.
    pub name: &'a str,
}

/// A command to submit now, and the slot to name when it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The slot; also the command's id.
    pub slot: u32,
    /// What to submit.
    pub command: Command,
    /// When it should have started: the schedule's instant in open loop, else now.
    pub intended: Nanos,
    /// When it could have started: its intended start had come and a slot was free. What passed since is the driver's.
    pub ready: Nanos,
    /// Whether its start was fixed by a schedule: the read or write of an open loop.
    pub scheduled: bool,
}

/// What a completion amounted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The operation that ended.
    pub operation: Operation,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from the intended start.
    pub latency: Nanos,
    /// Time from submission; in closed loop the same.
    pub service: Nanos,
    /// The commit that ended with it, by a sync or as a write that is durable itself: time from its write's intended
    /// start.
    pub commit: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    intended: Nanos,
    submitted: Nanos,
    write_intended: Nanos,
    length_bytes: u32,
    writes_since_sync: u32,
    kind: Option<CommandKind>,
}

/// Pauses between a completion and the next request.
#[derive(Debug)]
struct Think {
    mean: Nanos,
    distribution: Distribution,
    random: Random,
}

impl Think {
    #[inline]
    fn next(&mut self) -> Nanos {
        match (self.mean, self.distribution) {
            (0, _) => 0,
            (mean, Distribution::Fixed) => mean,
            (mean, Distribution::Exponential) => self.random.exponential(mean as f64) as Nanos,
            (mean, Distribution::Uniform) => self.random.below(mean.saturating_mul(2).saturating_add(1)),
        }
    }
}

/// One job of a stream. No call allocates; order depends on nothing but the calls.
#[derive(Debug)]
pub struct Job {
    stream: u16,
    read: Share,
    sync_every: Option<u32>,
    /// Each write is durable at its own completion.
    durable: bool,
    lengths: Lengths,
    think: Think,
    /// When the stream began, and its pauses.
    duty: Option<(Nanos, Duty)>,
    offsets: Offsets,
    mix: Random,
    schedule: Option<Schedule>,
    slots: Vec<Slot>,
    /// Free slots with the time from which they may issue, in that order.
    ready: VecDeque<(Nanos, u32)>,
    /// Slots whose write is complete and whose sync is due.
    to_sync: VecDeque<(Nanos, u32)>,
    budget_bytes: Option<u64>,
    /// From then on it issues nothing new.
    end: Nanos,
    outstanding: u32,
}

impl Job {
    /// Job `place.job` of `spec`.
    ///
    /// # Panics
    /// When the span holds no whole block or there is no queue depth; the resolver refuses such a study.
    pub fn new(spec: &StreamSpec, place: Placement<'_>) -> Self {
        let random = |what: &str| Random::named(place.seed, &format!("{}/{}/{what}", place.name, place.job));
        let begin_bytes = spec.offset.0;
        let rest = place.storage_bytes.saturating_sub(begin_bytes);
        let span_bytes = spec.span.map_or(rest, |span| span.0.min(rest));
        let depth = spec.queue_depth;
        let begin = place.begin.saturating_add(spec.delay.0);
        assert!(depth > 0, "a queue depth of zero issues nothing");
        Self {
            stream: place.stream,
            read: spec.read,
            sync_every: spec.sync.and_then(crate::spec::Sync::every),
            durable: spec.sync.is_some_and(crate::spec::Sync::with_each_write),
            lengths: Lengths::new(spec, random("lengths")),
            think: Think { mean: spec.think_time.0, distribution: spec.think_distribution, random: random("think") },
            duty: spec.duty.map(|duty| (begin, duty)),
            offsets: Offsets::new(
                spec,
                (begin_bytes, span_bytes),
                place.job,
                random("offsets"),
                Random::named(place.seed, "scatter"),
            ),
            mix: random("mix"),
            schedule: Schedule::new(&spec.arrivals, spec.duty, place.job, spec.jobs, begin, random("arrivals")),
            slots: vec![Slot::default(); depth as usize],
            ready: (0..depth).map(|slot| (begin, slot)).collect(),
            to_sync: VecDeque::with_capacity(depth as usize),
            budget_bytes: place.budget_bytes,
            end: spec.duration.map_or(Nanos::MAX, |duration| begin.saturating_add(duration.0)),
            outstanding: 0,
        }
    }

    /// The earliest time at which the job wants to submit; `None` while it waits for a completion or has nothing left.
    #[inline]
    pub fn next_due(&self) -> Option<Nanos> {
        if let Some(&(at, _)) = self.to_sync.front() {
            return Some(at);
        }
        if self.is_exhausted() {
            return None;
        }
        let &(free_from, _) = self.ready.front()?;
        let at = self.schedule.as_ref().map_or(free_from, |schedule| schedule.next().max(free_from));
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

    /// The next command, if one is due at `now`.
    #[inline]
    pub fn issue(&mut self, now: Nanos) -> Option<Issue> {
        if self.next_due()? > now {
            return None;
        }
        self.outstanding += 1;
        if let Some((intended, slot)) = self.to_sync.pop_front() {
            let command = self.submit(slot, CommandKind::Flush, (0, 0), (intended, now));
            return Some(Issue { slot, command, intended, ready: intended, scheduled: false });
        }
        let (free_from, slot) = self.ready.pop_front()?;
        let (intended, scheduled) = match &mut self.schedule {
            None => (now, false),
            Some(schedule) => {
                let intended = schedule.next();
                schedule.advance();
                (intended, true)
            }
        };
        let ready = self.at_work(if scheduled { intended.max(free_from) } else { free_from });
        let kind = if self.draws_read() { CommandKind::Read } else { CommandKind::Write };
        let length_bytes = self.lengths.next();
        let offset_bytes = self.offsets.next(length_bytes);
        if let Some(budget) = &mut self.budget_bytes {
            *budget = budget.saturating_sub(u64::from(length_bytes));
        }
        if kind == CommandKind::Write {
            let state = &mut self.slots[slot as usize];
            state.write_intended = intended;
            state.writes_since_sync += 1;
        }
        let command = self.submit(slot, kind, (offset_bytes, length_bytes), (intended, now));
        Some(Issue { slot, command, intended, ready, scheduled })
    }

    #[inline]
    fn draws_read(&mut self) -> bool {
        match self.read.0 {
            0 => false,
            1_000_000 => true,
            millionths => self.mix.below(1_000_000) < u64::from(millionths),
        }
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

    /// The command of `slot` completed at `now`.
    ///
    /// # Panics
    /// When the slot has nothing outstanding: a command completed twice.
    #[inline]
    pub fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        let state = &mut self.slots[slot as usize];
        let kind = state.kind.take().expect("a command completes once");
        self.outstanding -= 1;
        let latency = now.saturating_sub(state.intended);
        let service = now.saturating_sub(state.submitted);
        let bytes = u64::from(state.length_bytes);
        let sync_due = kind == CommandKind::Write && self.sync_every.is_some_and(|n| state.writes_since_sync >= n);
        let mut commit = (self.durable && kind == CommandKind::Write).then_some(latency);
        if kind == CommandKind::Flush {
            commit = Some(now.saturating_sub(state.write_intended));
            state.writes_since_sync = 0;
        }
        if sync_due {
            self.to_sync.push_back((now, slot));
        } else {
            let from = now + self.think.next();
            // Pauses that differ end in another order than they begin.
            let place = if self.ready.back().is_none_or(|&(last, _)| last <= from) {
                self.ready.len()
            } else {
                self.ready.partition_point(|&(other, _)| other <= from)
            };
            self.ready.insert(place, (from, slot));
        }
        let operation = match kind {
            CommandKind::Read => Operation::Read,
            CommandKind::Write | CommandKind::Trim => Operation::Write,
            CommandKind::Flush => Operation::Sync,
        };
        Completion { operation, bytes, latency, service, commit }
    }

    /// Commands issued and not completed.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// The job has moved all that it may; only syncs that are due remain.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.budget_bytes == Some(0) || self.is_over()
    }

    /// Whether its own time is over: what is free, or scheduled, next comes too late.
    fn is_over(&self) -> bool {
        let free_late = self.ready.front().is_some_and(|&(free_from, _)| free_from >= self.end);
        free_late || self.schedule.as_ref().is_some_and(|schedule| schedule.next() >= self.end)
    }

    /// Nothing outstanding, nothing to come.
    pub fn is_done(&self) -> bool {
        self.is_exhausted() && self.outstanding == 0 && self.to_sync.is_empty()
    }

    /// Open-loop requests that should have started before `end` and did not.
    pub fn unserved_before(&self, end: Nanos) -> u64 {
        if self.budget_bytes == Some(0) {
            return 0;
        }
        self.schedule.as_ref().map_or(0, |schedule| schedule.unserved_before(end.min(self.end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arrivals, Pattern, Sync};
    use tameshi_base::{Rate, Size};

    fn place() -> Placement<'static> {
        Placement { stream: 0, job: 0, storage_bytes: 1 << 20, begin: 0, budget_bytes: None, seed: 1, name: "t" }
    }

    #[test]
    fn a_closed_loop_never_has_more_outstanding_than_its_queue_depth() {
        let mut job = Job::new(&StreamSpec { queue_depth: 3, ..StreamSpec::default() }, place());
        let issued: Vec<u32> = std::iter::from_fn(|| job.issue(0)).map(|issue| issue.slot).collect();
        assert_eq!(issued, [0, 1, 2]);
        assert_eq!(job.next_due(), None);
        assert_eq!(job.complete(1, 70).latency, 70);
        assert_eq!(job.issue(70).map(|issue| issue.slot), Some(1));
    }

    #[test]
    fn one_stalled_request_does_not_delay_the_next_arrival() {
        let spec = StreamSpec {
            queue_depth: 8,
            arrivals: Arrivals::Constant { rate: Rate(1_000_000) },
            ..StreamSpec::default()
        };
        let mut job = Job::new(&spec, place());
        assert!(job.issue(0).is_some(), "the stalled one");
        for k in 1..8 {
            assert_eq!(job.next_due(), Some(k * 1_000_000));
            let issue = job.issue(k * 1_000_000).expect("due");
            job.complete(issue.slot, k * 1_000_000 + 100);
        }
    }

    #[test]
    fn open_loop_latency_runs_from_the_intended_start() {
        let spec = StreamSpec {
            queue_depth: 1,
            arrivals: Arrivals::Constant { rate: Rate(1_000_000) },
            ..StreamSpec::default()
        };
        let mut job = Job::new(&spec, place());
        let first = job.issue(0).expect("due");
        assert_eq!(job.complete(first.slot, 5_000_000).latency, 5_000_000);
        let late = job.issue(5_000_000).expect("overdue");
        assert_eq!(late.intended, 1_000_000);
        let done = job.complete(late.slot, 5_000_100);
        assert_eq!((done.latency, done.service), (4_000_100, 100));
        assert_eq!(job.unserved_before(5_000_000), 3, "due at 2, 3 and 4 ms");
    }

    #[test]
    fn a_commit_lasts_from_its_write_to_the_end_of_its_sync() {
        let spec = StreamSpec {
            pattern: Pattern::Sequential,
            read: Share(0),
            sync: Some(Sync::Fdatasync { every: 1 }),
            ..StreamSpec::default()
        };
        let mut job = Job::new(&spec, place());
        let write = job.issue(10).expect("due");
        assert_eq!(write.command.kind, CommandKind::Write);
        assert_eq!(job.complete(write.slot, 40).commit, None);
        let sync = job.issue(40).expect("due");
        assert_eq!(sync.command.kind, CommandKind::Flush);
        let done = job.complete(sync.slot, 100);
        assert_eq!((done.operation, done.latency, done.commit), (Operation::Sync, 60, Some(90)));
    }

    #[test]
    fn a_budget_ends_the_job_after_that_many_bytes_and_their_sync() {
        let spec = StreamSpec { read: Share(0), sync: Some(Sync::Fdatasync { every: 1 }), ..StreamSpec::default() };
        let mut job = Job::new(&spec, Placement { budget_bytes: Some(2 * 4096), ..place() });
        let (mut bytes, mut now) = (0, 0);
        while let Some(issue) = job.issue(now) {
            now += 10;
            bytes += job.complete(issue.slot, now).bytes;
        }
        assert!(job.is_done());
        assert_eq!(bytes, 2 * 4096);
    }

    #[test]
    fn a_stream_begins_after_its_delay_and_ends_after_its_duration() {
        let (delay, duration) = (tameshi_base::Time(100), Some(tameshi_base::Time(1000)));
        let closed = StreamSpec { queue_depth: 2, delay, duration, ..StreamSpec::default() };
        let mut job = Job::new(&closed, place());
        assert_eq!((job.next_due(), job.issue(99)), (Some(100), None));
        let (first, second) = (job.issue(100).expect("due"), job.issue(100).expect("due"));
        job.complete(first.slot, 1099);
        let last = job.issue(1099).expect("one more");
        job.complete(second.slot, 1100);
        assert_eq!((job.next_due(), job.is_done()), (None, false));
        job.complete(last.slot, 1500);
        assert!(job.is_done());

        let open = StreamSpec { arrivals: Arrivals::Constant { rate: Rate(1_000_000_000_000 / 300) }, ..closed };
        let mut job = Job::new(&open, place());
        let mut starts = vec![];
        while let Some(due) = job.next_due() {
            let issue = job.issue(due).expect("due");
            starts.push(issue.intended);
            job.complete(issue.slot, due + 1);
        }
        assert_eq!(starts, [100, 400, 700, 1000]);
        assert!(job.is_done());
        let unserved = Job::new(&open, place()).unserved_before(1_000_000);
        assert_eq!(unserved, 4, "what lies behind its own end was never asked for");
    }

    #[test]
    fn the_share_of_reads_is_met_and_seeded() {
        let spec = StreamSpec { read: Share(700_000), block_size: Size(512), ..StreamSpec::default() };
        let kinds = |seed| {
            let mut job = Job::new(&spec, Placement { seed, ..place() });
            (0..100_000u64)
                .map(|t| {
                    let issue = job.issue(t).expect("due");
                    job.complete(issue.slot, t);
                    issue.command.kind == CommandKind::Read
                })
                .collect::<Vec<_>>()
        };
        let reads = kinds(1).iter().filter(|&&read| read).count() as f64 / 100_000.0;
        assert!((reads - 0.7).abs() < 0.006, "{reads}");
        assert_eq!(kinds(1), kinds(1));
        assert_ne!(kinds(1), kinds(2));
    }

    #[test]
    fn a_durable_write_is_a_commit_by_itself() {
        for sync in [Sync::Dsync, Sync::Fua] {
            let spec = StreamSpec { read: Share(500_000), sync: Some(sync), ..StreamSpec::default() };
            let mut job = Job::new(&spec, place());
            let (mut reads, mut commits) = (0, 0);
            for now in 0..1000 {
                let issue = job.issue(now * 100).expect("no sync stands between");
                let write = issue.command.kind == CommandKind::Write;
                assert_eq!(issue.command.fua, write);
                let done = job.complete(issue.slot, now * 100 + 30);
                assert_eq!(done.commit, write.then_some(30));
                if write { commits += 1 } else { reads += 1 }
            }
            assert!(reads > 400 && commits > 400, "{reads} {commits}");
        }
    }

    #[test]
    fn a_budget_counts_the_bytes_that_a_mix_really_moves() {
        let mix = [(512, 500_000), (65_536, 500_000)];
        let mix = mix.map(|(size, share)| crate::spec::SizeShare { size: Size(size), share: Share(share) });
        let spec = StreamSpec { block_size_mix: Some(mix.to_vec()), ..StreamSpec::default() };
        let budget = 1_000_000;
        let mut job = Job::new(&spec, Placement { budget_bytes: Some(budget), ..place() });
        let mut moved = 0;
        while let Some(issue) = job.issue(moved) {
            assert!(moved < budget, "nothing is issued once the budget is spent");
            moved += job.complete(issue.slot, moved).bytes;
        }
        assert!((budget..budget + 65_536).contains(&moved), "{moved}");
    }

    #[test]
    fn a_request_is_ready_when_its_start_has_come_and_a_slot_is_free() {
        let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
        let mut job = Job::new(&StreamSpec { arrivals, ..StreamSpec::default() }, place());
        let first = job.issue(300).expect("due at zero");
        assert_eq!((first.intended, first.ready, first.scheduled), (0, 0, true));
        job.complete(first.slot, 5_000_000);
        let waited = job.issue(5_000_700).expect("due since 1 ms, a slot is free since 5 ms");
        assert_eq!((waited.intended, waited.ready), (1_000_000, 5_000_000));
    }

    #[test]
    fn think_times_have_their_mean_and_their_distribution() {
        let mean = 1_000_000.0;
        for (distribution, deviation) in
            [(Distribution::Fixed, 0.0), (Distribution::Exponential, 1.0), (Distribution::Uniform, 1.0 / 3f64.sqrt())]
        {
            let spec = StreamSpec {
                think_time: tameshi_base::Time(mean as u64),
                think_distribution: distribution,
                ..StreamSpec::default()
            };
            let mut job = Job::new(&spec, place());
            let (mut now, mut pauses) = (0, vec![]);
            for _ in 0..100_000 {
                let due = job.next_due().expect("a slot");
                pauses.push((due - now) as f64);
                let issue = job.issue(due).expect("due");
                now = due + 77;
                job.complete(issue.slot, now);
            }
            let pauses = &pauses[1..];
            let found = pauses.iter().sum::<f64>() / pauses.len() as f64;
            let variance = pauses.iter().map(|p| (p - found) * (p - found)).sum::<f64>() / pauses.len() as f64;
            assert!((found / mean - 1.0).abs() < 0.02, "{distribution:?}: {found}");
            assert!((variance.sqrt() / mean - deviation).abs() < 0.02, "{distribution:?}: {}", variance.sqrt());
        }
    }

    #[test]
    fn a_slot_with_a_shorter_pause_goes_first() {
        let spec = StreamSpec {
            queue_depth: 16,
            think_time: tameshi_base::Time(1_000_000),
            think_distribution: Distribution::Exponential,
            ..StreamSpec::default()
        };
        let mut job = Job::new(&spec, place());
        let mut last = 0;
        for _ in 0..10_000 {
            let due = job.next_due().expect("a slot");
            assert!(due >= last, "time does not go back");
            last = due;
            let issue = job.issue(due).expect("due");
            job.complete(issue.slot, due);
        }
    }

    #[test]
    fn a_closed_loop_starts_nothing_in_a_pause() {
        let duty = Duty { on: tameshi_base::Time(1000), off: tameshi_base::Time(9000) };
        let mut job = Job::new(&StreamSpec { duty: Some(duty), ..StreamSpec::default() }, place());
        let mut starts = vec![];
        while let Some(due) = job.next_due().filter(|&due| due < 40_000) {
            starts.push(due);
            let issue = job.issue(due).expect("due");
            assert_eq!(issue.ready, due, "a pause is not the driver's delay");
            job.complete(issue.slot, due + 300);
        }
        assert_eq!(starts.len(), 4 * 4);
        assert!(starts.iter().all(|at| at % 10_000 < 1000), "{starts:?}");
    }
}
