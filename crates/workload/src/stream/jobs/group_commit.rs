//! Group commit: many committers append to one log, and share its writes and flushes.
//!
//! A committer that is due leaves its record in the forming group. While no write is in flight,
//! and once the group is whole or has waited long enough, one write takes all its records, one
//! flush makes them durable, and each committer's commit ends with it. Who comes meanwhile forms
//! the next group.

use crate::stream::issue::{Completion, Issue, Operation, Placement};
use crate::stream::source::Source;
use crate::stream::spec::StreamSpec;
use tameshi_base::{Command, CommandKind, Nanos};

/// Progress of the group in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// There is none.
    Idle,
    /// The bytes are being written.
    Writing(u32),
    /// Written then; the flush is due.
    Written(Nanos),
    /// Being flushed.
    Flushing,
}

/// A log writer with its committers. No call allocates.
#[derive(Debug)]
pub(crate) struct Group {
    stream: u16,
    source: Source,
    committers: usize,
    /// Longest wait of the first committer of a group for others.
    delay: Nanos,
    /// Per committer, when its commit should have begun.
    intended: Vec<Nanos>,
    /// Committers of the forming group; the length of their records, and the first and last
    /// arrival.
    forming: Vec<u32>,
    forming_bytes: u32,
    joined: (Nanos, Nanos),
    /// Committers whose records are in flight.
    carried: Vec<u32>,
    step: Step,
    /// True if the write or the flush in flight has failed.
    failed: bool,
    /// When the last flush ended.
    idle_since: Nanos,
    submitted: Nanos,
    /// Commits that ended with the last completion.
    commits: Vec<Nanos>,
    /// Committers are held back; and the time of the last change.
    held: bool,
    held_until: Nanos,
    /// Bytes of the last record.
    joined_bytes: Option<u64>,
}

impl Group {
    pub(crate) fn new(spec: &StreamSpec, place: Placement<'_>, committers: u32, delay: Nanos) -> Self {
        assert!(committers > 0, "a group needs at least one committer");
        let count = committers as usize;
        Self {
            stream: place.stream,
            source: Source::new(spec, place, committers, 0),
            committers: count,
            delay,
            intended: vec![0; count],
            forming: Vec::with_capacity(count),
            forming_bytes: 0,
            joined: (0, 0),
            carried: Vec::with_capacity(count),
            step: Step::Idle,
            failed: false,
            idle_since: place.begin,
            submitted: 0,
            commits: Vec::with_capacity(count),
            held: false,
            held_until: 0,
            joined_bytes: None,
        }
    }

    /// Make committers wait from `now` on, or let them go.
    pub(crate) fn hold(&mut self, held: bool, now: Nanos) {
        if self.held && !held {
            self.held_until = now;
        }
        self.held = held;
    }

    /// Bytes of the record that a committer has left since this was asked last.
    #[inline]
    pub(crate) fn take_joined(&mut self) -> Option<u64> {
        self.joined_bytes.take()
    }

    /// When the next committer joins; `None` while all must wait.
    #[inline]
    fn join_due(&self) -> Option<Nanos> {
        self.source.due().filter(|_| !self.held).map(|due| due.max(self.held_until))
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn source_mut(&mut self) -> &mut Source {
        &mut self.source
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        match self.step {
            Step::Written(at) => Some(at),
            Step::Idle => match (self.join_due(), self.group_due()) {
                (Some(join), Some(group)) => Some(join.min(group)),
                (join, group) => join.or(group),
            },
            Step::Writing(_) | Step::Flushing => self.join_due(),
        }
    }

    /// Return the time at which the forming group is written, if no other write is in flight.
    #[inline]
    fn group_due(&self) -> Option<Nanos> {
        let whole = self.forming.len() == self.committers || self.source.is_exhausted();
        let (first, last) = self.joined;
        (!self.forming.is_empty()).then(|| if whole { last } else { first + self.delay }.max(self.idle_since))
    }

    #[inline]
    pub(crate) fn issue(&mut self, now: Nanos) -> Option<Issue> {
        if let Step::Written(at) = self.step {
            (self.step, self.submitted) = (Step::Flushing, now);
            return Some(self.issued(CommandKind::Flush, (0, 0), at));
        }
        if self.join_due().is_some_and(|due| due <= now) {
            return self.join(now);
        }
        let due = self.group_due().filter(|&due| self.step == Step::Idle && due <= now)?;
        let length = std::mem::take(&mut self.forming_bytes);
        std::mem::swap(&mut self.forming, &mut self.carried);
        (self.step, self.submitted) = (Step::Writing(length), now);
        let offset = self.source.offset(length);
        Some(self.issued(CommandKind::Write, (offset, length), due))
    }

    /// A committer leaves its record in the group that forms.
    #[inline]
    fn join(&mut self, now: Nanos) -> Option<Issue> {
        let mut start = self.source.start(now)?;
        start.ready = start.ready.max(self.held_until);
        let length = self.source.length(CommandKind::Write);
        self.source.spend(u64::from(length));
        self.intended[start.who as usize] = start.intended;
        self.joined = if self.forming.is_empty() { (now, now) } else { (self.joined.0, now) };
        self.forming.push(start.who);
        self.forming_bytes += length;
        self.joined_bytes = Some(u64::from(length));
        Some(Issue::started(0, None, start))
    }

    #[inline]
    fn issued(&self, kind: CommandKind, (offset_bytes, length_bytes): (u64, u32), since: Nanos) -> Issue {
        let command = Command { id: 0, kind, offset_bytes, length_bytes, fua: false, stream: self.stream };
        Issue { slot: 0, command: Some(command), intended: since, ready: since, scheduled: false }
    }

    #[inline]
    pub(crate) fn complete(&mut self, now: Nanos) -> Completion {
        self.commits.clear();
        let latency = now.saturating_sub(self.submitted);
        let (operation, bytes) = match self.step {
            Step::Writing(bytes) => {
                self.step = Step::Written(now);
                (Operation::Write, u64::from(bytes))
            }
            Step::Flushing => {
                (self.step, self.idle_since) = (Step::Idle, now);
                let failed = std::mem::take(&mut self.failed);
                for who in self.carried.drain(..) {
                    if !failed {
                        self.commits.push(now.saturating_sub(self.intended[who as usize]));
                    }
                    self.source.finish(who, now);
                }
                (Operation::Sync, 0)
            }
            Step::Idle | Step::Written(_) => panic!("a command completes once"),
        };
        Completion { operation, bytes, latency, service: latency, commit: None }
    }

    pub(crate) fn fails(&mut self) {
        self.failed = true;
    }

    /// Forget the commits of the last completion.
    pub(crate) fn forget_commits(&mut self) {
        self.commits.clear();
    }

    pub(crate) fn commits(&self) -> &[Nanos] {
        &self.commits
    }

    pub(crate) fn outstanding(&self) -> u32 {
        u32::from(matches!(self.step, Step::Writing(_) | Step::Flushing))
    }

    /// Stop all starts.
    pub(crate) fn end(&mut self) {
        self.source.end();
    }

    pub(crate) fn is_done(&self) -> bool {
        self.source.is_exhausted() && self.step == Step::Idle && self.forming.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use crate::stream::spec::{Arrivals, Pattern, SizeShare, StreamSpec, Sync};
    use crate::{Issue, Job, Operation, Placement};
    use tameshi_base::{CommandKind, Nanos, Rate, Share, Size, Time};

    fn place() -> Placement<'static> {
        Placement { stream: 3, job: 0, storage_bytes: 1 << 20, begin: 0, budget_bytes: None, seed: 1, name: "log" }
    }

    fn log(committers: u32, delay: Nanos) -> StreamSpec {
        StreamSpec {
            pattern: Pattern::Sequential,
            read: Share(0),
            block_size: Size(512),
            sync: Some(Sync::GroupCommit { committers, delay: Time(delay) }),
            ..StreamSpec::default()
        }
    }

    /// Issues all that is due at `now`; the commands among it.
    fn issue_all(job: &mut Job, now: Nanos) -> Vec<(CommandKind, u64, u32)> {
        let issues: Vec<Issue> = std::iter::from_fn(|| job.issue(now)).collect();
        let commands = issues.iter().filter_map(|issue| issue.command);
        commands.map(|command| (command.kind, command.offset_bytes, command.length_bytes)).collect()
    }

    #[test]
    fn committers_share_one_write_and_one_flush() {
        let mut job = Job::new(&log(4, 0), place());
        let [(CommandKind::Write, first, 2048)] = issue_all(&mut job, 0)[..] else { panic!("one write of four") };
        assert_eq!(job.outstanding(), 1);
        let written = job.complete(0, 100);
        assert_eq!((written.operation, written.bytes, written.latency), (Operation::Write, 2048, 100));
        assert!(job.commits().is_empty());
        assert_eq!(issue_all(&mut job, 100), [(CommandKind::Flush, 0, 0)]);
        let flushed = job.complete(0, 400);
        assert_eq!((flushed.operation, flushed.latency, flushed.commit), (Operation::Sync, 300, None));
        assert_eq!(job.commits(), [400; 4]);
        let [(CommandKind::Write, second, 2048)] = issue_all(&mut job, 400)[..] else { panic!("the next group") };
        assert_eq!(second, (first + 2048) % (1 << 20), "records follow one another");
    }

    #[test]
    fn committers_during_a_write_form_the_next_group() {
        let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
        let mut job = Job::new(&StreamSpec { arrivals, ..log(64, 0) }, place());
        let ms = 1_000_000;
        assert_eq!(issue_all(&mut job, 0).len(), 1, "the first writes at once");
        for k in 1..=5 {
            assert_eq!(job.next_due(), Some(k * ms));
            assert_eq!(issue_all(&mut job, k * ms), [], "the others wait");
        }
        job.complete(0, 5 * ms);
        assert_eq!(issue_all(&mut job, 5 * ms), [(CommandKind::Flush, 0, 0)]);
        job.complete(0, 5 * ms + 10);
        assert_eq!(job.commits(), [5 * ms + 10], "the first, from its intended start");
        assert_eq!(job.next_due(), Some(5 * ms + 10), "never before what has completed");
        let [(CommandKind::Write, _, 2560)] = issue_all(&mut job, 5 * ms + 10)[..] else { panic!("five together") };
        job.complete(0, 5 * ms + 20);
        issue_all(&mut job, 5 * ms + 20);
        job.complete(0, 6 * ms - 10);
        assert_eq!(job.commits(), [1, 2, 3, 4, 5].map(|k| (6 - k) * ms - 10));
        assert_eq!(job.unserved_before(8 * ms), 2, "due at 6 and 7 ms");
    }

    #[test]
    fn delay_gathers_committers_and_a_full_group_starts_at_once() {
        let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
        let mut job = Job::new(&StreamSpec { arrivals, ..log(3, 1_500_000) }, place());
        assert_eq!(issue_all(&mut job, 0), []);
        assert_eq!(issue_all(&mut job, 1_000_000), []);
        assert_eq!(job.next_due(), Some(1_500_000), "the delay is over before the third comes");
        assert_eq!(issue_all(&mut job, 1_500_000).len(), 1);
        let closed = Job::new(&log(3, 1_500_000), place());
        let mut closed = closed;
        assert_eq!(issue_all(&mut closed, 7).len(), 1, "all three are there");
    }

    #[test]
    fn a_budget_ends_the_log_after_its_last_group_is_durable() {
        let mix = [(512, 500_000), (4096, 500_000)];
        let mix = mix.map(|(size, share)| SizeShare { size: Size(size), share: Share(share) }).to_vec();
        let spec = StreamSpec { block_size_mix: Some(mix), ..log(5, 0) };
        let budget = 100_000;
        let mut job = Job::new(&spec, Placement { budget_bytes: Some(budget), ..place() });
        let (mut now, mut bytes, mut commits, mut joins) = (0, 0, 0, 0);
        while let Some(due) = job.next_due() {
            now = due.max(now);
            let issue = job.issue(now).expect("due");
            joins += u64::from(issue.command.is_none());
            if issue.command.is_some() {
                now += 10;
                bytes += job.complete(issue.slot, now).bytes;
                commits += job.commits().len() as u64;
            }
        }
        assert!(job.is_done());
        assert_eq!(commits, joins);
        assert!((budget..budget + 4096).contains(&bytes), "{bytes}");
    }

    #[test]
    fn the_region_is_filled_to_its_end_and_begun_again() {
        let spec = StreamSpec { span: Some(Size(10 * 512)), ..log(3, 0) };
        let mut job = Job::new(&spec, place());
        let mut offsets = vec![];
        for now in 0..40 {
            for (kind, offset, length) in issue_all(&mut job, now) {
                assert!(offset + u64::from(length) <= 10 * 512);
                offsets.extend((kind == CommandKind::Write).then_some(offset));
            }
            job.complete(0, now);
        }
        let wraps = offsets.windows(2).filter(|pair| pair[1] == 0).count();
        assert!(wraps >= 5, "{offsets:?}");
        assert!(offsets.windows(2).all(|pair| pair[1] == pair[0] + 1536 || pair[1] == 0), "{offsets:?}");
    }
}
