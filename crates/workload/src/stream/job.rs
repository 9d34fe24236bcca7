//! One job of a stream: its commands, its operations in flight, and the latency of each.

use crate::occupancy::Occupancy;
use crate::stream::issue::{Completion, Issue, Placement, Turn};
use crate::stream::jobs::group_commit::Group;
use crate::stream::jobs::lsm::Lsm;
use crate::stream::jobs::page_flush::Pages;
use crate::stream::jobs::plain::Plain;
use crate::stream::pace::Pacer;
use crate::stream::queue::QueueTime;
use crate::stream::source::{Request, Source};
use crate::stream::spec::{StreamSpec, Sync};
use tameshi_base::Nanos;

/// One job of a stream. No call allocates; the order depends on the calls alone.
#[derive(Debug)]
pub struct Job {
    kind: Kind,
    in_flight: Occupancy,
}

#[derive(Debug)]
enum Kind {
    Plain(Plain),
    Group(Group),
    Pages(Pages),
    Lsm(Box<Lsm>),
}

impl Job {
    /// Job `place.job` of `spec`.
    ///
    /// # Panics
    /// When the span holds no whole block or there is no queue depth; the resolver refuses such a
    /// study.
    pub fn new(spec: &StreamSpec, place: Placement<'_>) -> Self {
        let kind = match (spec.sync, spec.page_flush) {
            (Some(Sync::GroupCommit { committers, delay }), _) if spec.lsm.is_some() => {
                let tree = spec.lsm.expect("it was just looked at");
                Kind::Lsm(Box::new(Lsm::new(spec, place, committers, delay.0, tree)))
            }
            (Some(Sync::GroupCommit { committers, delay }), _) => {
                Kind::Group(Group::new(spec, place, committers, delay.0))
            }
            (_, Some(flush)) => Kind::Pages(Pages::new(spec, place, flush)),
            _ => Kind::Plain(Plain::new(spec, place)),
        };
        Self { kind, in_flight: Occupancy::from(place.begin) }
    }

    /// The job, held back by `pacer` where its stream keeps step with others. Groups and batches do
    /// not.
    #[must_use]
    pub fn paced(mut self, pacer: Option<Pacer>) -> Self {
        if let Kind::Plain(plain) = &mut self.kind {
            plain.pace(pacer);
        }
        self
    }

    /// The earliest time at which the job wants to issue; `None` while it waits for a completion or
    /// has nothing left.
    #[inline(always)]
    pub fn next_due(&self) -> Option<Nanos> {
        match &self.kind {
            Kind::Plain(plain) => plain.next_due(),
            Kind::Group(group) => group.next_due(),
            Kind::Pages(pages) => pages.next_due(),
            Kind::Lsm(lsm) => lsm.next_due(),
        }
    }

    /// Return the next command, if one is due at `now`.
    #[inline]
    pub fn issue(&mut self, now: Nanos) -> Option<Issue> {
        let issue = match &mut self.kind {
            Kind::Plain(plain) => plain.issue(now),
            Kind::Group(group) => group.issue(now),
            Kind::Pages(pages) => pages.issue(now),
            Kind::Lsm(lsm) => lsm.issue(now),
        };
        self.in_flight.change(i64::from(issue.is_some_and(|issue| issue.command.is_some())), now);
        issue
    }

    /// Return the job's next reads, writes or trims, if it still issues that many; none if they
    /// depend on later events. The call changes no issued command.
    #[inline(always)]
    pub fn look_ahead(&mut self, requests: usize) -> &[Request] {
        match &mut self.kind {
            Kind::Plain(plain) => plain.look_ahead(requests),
            Kind::Group(_) | Kind::Pages(_) | Kind::Lsm(_) => &[],
        }
    }

    /// Return the number of requests fixed by [`Job::look_ahead`]; the maximum if it never returns
    /// any.
    #[inline]
    pub fn looked_ahead(&self) -> usize {
        match &self.kind {
            Kind::Plain(plain) => plain.looked_ahead(),
            Kind::Group(_) | Kind::Pages(_) | Kind::Lsm(_) => usize::MAX,
        }
    }

    /// The command of `slot` completed at `now`.
    ///
    /// # Panics
    /// If the slot has no command outstanding: a command completed twice.
    #[inline]
    pub fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        self.in_flight.change(-1, now);
        match &mut self.kind {
            Kind::Plain(plain) => plain.complete(slot, now),
            Kind::Group(group) => group.complete(now),
            Kind::Pages(pages) => pages.complete(slot, now),
            Kind::Lsm(lsm) => lsm.complete(slot, now),
        }
    }

    /// The command of `slot`, about to complete, has failed: what it was to make durable is no
    /// commit.
    pub fn fails(&mut self, slot: u32) {
        match &mut self.kind {
            Kind::Plain(plain) => plain.fails(slot),
            Kind::Group(group) => group.fails(),
            Kind::Pages(pages) => pages.fails(),
            Kind::Lsm(lsm) => lsm.fails(slot),
        }
    }

    /// The command of `slot` completed at `now`, and the slot goes on: what [`Job::complete`] and
    /// [`Job::issue`] do one after the other, for a closed loop in which nothing else follows from
    /// a completion. `None`, and nothing has happened, where it may.
    ///
    /// # Panics
    /// If the slot has no command outstanding: a command completed twice.
    #[inline(always)]
    pub fn turn(&mut self, slot: u32, now: Nanos) -> Option<Turn> {
        match &mut self.kind {
            Kind::Plain(plain) => plain.turn(slot, now),
            Kind::Group(_) | Kind::Pages(_) | Kind::Lsm(_) => None,
        }
    }

    /// The commits of a group that ended with the last completion, each from its own intended
    /// start.
    #[inline]
    pub fn commits(&self) -> &[Nanos] {
        match &self.kind {
            Kind::Group(group) => group.commits(),
            Kind::Lsm(lsm) => lsm.commits(),
            Kind::Plain(_) | Kind::Pages(_) => &[],
        }
    }

    /// Commands issued and not completed.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        match &self.kind {
            Kind::Plain(plain) => plain.outstanding(),
            Kind::Group(group) => group.outstanding(),
            Kind::Pages(pages) => pages.outstanding(),
            Kind::Lsm(lsm) => lsm.outstanding(),
        }
    }

    /// Return whether the job has issued its whole budget, so that only syncs remain.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.source().is_exhausted()
    }

    /// The job starts nothing any more; what it has begun, and the sync at its end, it brings to an
    /// end.
    pub fn end(&mut self) {
        match &mut self.kind {
            Kind::Plain(plain) => plain.end(),
            Kind::Group(group) => group.end(),
            Kind::Pages(pages) => pages.end(),
            Kind::Lsm(lsm) => lsm.end(),
        }
    }

    /// Return whether no command is outstanding and none will come.
    #[inline]
    pub fn is_done(&self) -> bool {
        match &self.kind {
            Kind::Plain(plain) => plain.is_done(),
            Kind::Group(group) => group.is_done(),
            Kind::Pages(pages) => pages.is_done(),
            Kind::Lsm(lsm) => lsm.is_done(),
        }
    }

    /// Open-loop requests that should have started before `end` and did not.
    pub fn unserved_before(&self, end: Nanos) -> u64 {
        self.source().unserved_before(end)
    }

    /// Take the integrals of the interval that ends at `end`.
    pub fn take_queue_time(&mut self, end: Nanos) -> QueueTime {
        let source = match &mut self.kind {
            Kind::Plain(plain) => plain.source_mut(),
            Kind::Group(group) => group.source_mut(),
            Kind::Pages(pages) => pages.source_mut(),
            Kind::Lsm(lsm) => lsm.source_mut(),
        };
        let in_flight_ns = self.in_flight.take(end).max(0) as u64;
        QueueTime { in_flight_ns, waiting_ns: source.take_waited(end) }
    }

    #[inline]
    fn source(&self) -> &Source {
        match &self.kind {
            Kind::Plain(plain) => plain.source(),
            Kind::Group(group) => group.source(),
            Kind::Pages(pages) => pages.source(),
            Kind::Lsm(lsm) => lsm.source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::issue::Operation;
    use crate::stream::spec::{Arrivals, Distribution, Duty, Pattern};
    use tameshi_base::{CommandKind, Rate, Share, Size};

    fn place() -> Placement<'static> {
        Placement { stream: 0, job: 0, storage_bytes: 1 << 20, begin: 0, budget_bytes: None, seed: 1, name: "t" }
    }

    fn kind(issue: &Issue) -> CommandKind {
        issue.command.expect("no committer joins here").kind
    }

    #[test]
    fn closed_loop_stays_within_its_queue_depth() {
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
        assert_eq!(kind(&write), CommandKind::Write);
        assert_eq!(job.complete(write.slot, 40).commit, None);
        let sync = job.issue(40).expect("due");
        assert_eq!(kind(&sync), CommandKind::Flush);
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
    fn final_sync_comes_once_and_is_no_commit() {
        for (budget_bytes, duration) in [(Some(5 * 4096), None), (None, Some(tameshi_base::Time(70)))] {
            let spec =
                StreamSpec { read: Share(0), queue_depth: 3, sync_at_end: true, duration, ..StreamSpec::default() };
            let mut job = Job::new(&spec, Placement { budget_bytes, ..place() });
            let (mut now, mut done) = (0, vec![]);
            while let Some(due) = job.next_due() {
                assert!(!job.is_done());
                now = due.max(now);
                let slots: Vec<u32> = std::iter::from_fn(|| job.issue(now)).map(|issue| issue.slot).collect();
                now += 30;
                done.extend(slots.into_iter().map(|slot| job.complete(slot, now)));
            }
            assert!(job.is_done());
            let (last, before) = done.split_last().expect("it did something");
            assert_eq!((last.operation, last.latency, last.commit), (Operation::Sync, 30, None));
            assert!(before.len() >= 5 && before.iter().all(|done| done.operation == Operation::Write));
        }
    }

    #[test]
    fn think_pause_follows_every_nth_request_of_a_slot() {
        let spec = StreamSpec { think_time: tameshi_base::Time(1000), think_every: 3, ..StreamSpec::default() };
        let (mut job, mut now, mut starts) = (Job::new(&spec, place()), 0, vec![]);
        for _ in 0..7 {
            now = job.next_due().expect("a slot").max(now);
            starts.push(now);
            let issue = job.issue(now).expect("due");
            now += 10;
            job.complete(issue.slot, now);
        }
        assert_eq!(starts, [0, 10, 20, 1030, 1040, 1050, 2060]);
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
    fn look_ahead_predicts_requests_without_effect() {
        let spec = StreamSpec { read: Share(500_000), trim: Share(100_000), ..StreamSpec::default() };
        let of = |issue: Issue| issue.command.map(|command| (command.kind, command.offset_bytes, command.length_bytes));
        let (mut plain, mut seen) = (Job::new(&spec, place()), Job::new(&spec, place()));
        let mut told = std::collections::VecDeque::new();
        for now in 0..1000u64 {
            let ahead = 1 + (now as usize * 7) % 20;
            let Request { kind, offset_bytes, length_bytes } = seen.look_ahead(ahead)[ahead - 1];
            let request = (kind, offset_bytes, length_bytes);
            told.resize(told.len().max(ahead), None);
            assert!(told[ahead - 1].is_none_or(|before| before == request), "it does not change its mind");
            assert!(seen.looked_ahead() >= ahead && plain.looked_ahead() == 0);
            told[ahead - 1] = Some(request);
            let issues = [&mut plain, &mut seen].map(|job| job.issue(now).expect("due"));
            assert_eq!(of(issues[0]), of(issues[1]));
            if let Some(told) = told.pop_front().flatten() {
                assert_eq!(Some(told), of(issues[1]));
            }
            plain.complete(issues[0].slot, now);
            seen.complete(issues[1].slot, now);
        }
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
                    kind(&issue) == CommandKind::Read
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
                let write = kind(&issue) == CommandKind::Write;
                assert_eq!(issue.command.is_some_and(|command| command.fua), write);
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
        let mix = mix.map(|(size, share)| crate::stream::spec::SizeShare { size: Size(size), share: Share(share) });
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
    fn reads_and_writes_with_lengths_apart_have_each_their_own() {
        let part = |size, share| crate::stream::spec::SizeShare { size: Size(size), share: Share(share) };
        let spec = StreamSpec {
            read: Share(700_000),
            block_size: Size(8192),
            write_block_size_mix: Some(vec![part(4096, 900_000), part(65_536, 100_000)]),
            ..StreamSpec::default()
        };
        let (mut job, mut counts) = (Job::new(&spec, place()), std::collections::BTreeMap::new());
        for now in 0..100_000 {
            let issue = job.issue(now).expect("closed loop");
            let command = issue.command.expect("each is a command");
            *counts.entry((command.kind == CommandKind::Write, command.length_bytes)).or_insert(0u32) += 1;
            assert_eq!(command.offset_bytes % u64::from(command.length_bytes), 0);
            job.complete(issue.slot, now);
        }
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [(false, 8192), (true, 4096), (true, 65_536)]);
        for (what, share) in [((false, 8192), 0.7), ((true, 4096), 0.27), ((true, 65_536), 0.03)] {
            let limit = 4.0 * (1e5 * share * (1.0_f64 - share)).sqrt();
            assert!((f64::from(counts[&what]) - 1e5 * share).abs() < limit, "{counts:?}");
        }
    }

    #[test]
    fn request_is_ready_at_its_start_with_a_free_slot() {
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

    #[test]
    fn write_after_a_trim_goes_to_the_trimmed_range() {
        let sync = Some(Sync::Fdatasync { every: 2 });
        let spec = StreamSpec { trim_first: true, read: Share(300_000), queue_depth: 3, sync, ..StreamSpec::default() };
        let mut job = Job::new(&spec, Placement { budget_bytes: Some(600 * 4096), ..place() });
        let (mut now, mut trimmed, mut counts) = (0, [None; 3], [0u64; 5]);
        while let Some(due) = job.next_due() {
            now = due.max(now);
            let mut slots = vec![];
            while let Some(issue) = job.issue(now) {
                let command = issue.command.expect("a command");
                let range = (command.offset_bytes, command.length_bytes);
                let last = &mut trimmed[issue.slot as usize];
                match command.kind {
                    CommandKind::Trim => assert_eq!(last.replace(range), None, "a write follows each trim"),
                    CommandKind::Write => assert_eq!(last.take(), Some(range), "a trim comes before each write"),
                    CommandKind::Read | CommandKind::Flush => assert_eq!(*last, None, "nothing comes between"),
                }
                slots.push(issue.slot);
            }
            now += 10;
            for slot in slots {
                counts[job.complete(slot, now).operation as usize] += 1;
            }
        }
        assert!(job.is_done());
        let [read, write, sync, _, trim] = counts;
        assert_eq!((write, read + write), (trim, 600), "a budget counts what is written");
        assert!(sync.abs_diff(write / 2) <= 3 && read > 100, "{counts:?}");
    }

    #[test]
    fn trims_have_their_share_of_all_and_reads_theirs_of_the_rest() {
        let spec = StreamSpec { trim: Share(200_000), read: Share(500_000), ..StreamSpec::default() };
        let mut job = Job::new(&spec, place());
        let mut counts = [0; 5];
        for now in 0..100_000 {
            let issue = job.issue(now).expect("due");
            let done = job.complete(issue.slot, now);
            assert_eq!(done.operation == Operation::Trim, kind(&issue) == CommandKind::Trim);
            counts[done.operation as usize] += 1;
        }
        for (operation, expected) in [(Operation::Trim, 20_000), (Operation::Read, 40_000), (Operation::Write, 40_000)]
        {
            let found: i32 = counts[operation as usize];
            assert!(found.abs_diff(expected) < 700, "{operation:?}: {found}");
        }
    }
}
