//! Page flushing: batches of scattered pages, each made durable before the next begins, and with a
//! doublewrite area written there as a whole and flushed before any page goes to its place.

use crate::stream::issue::{Completion, Issue, Operation, Placement, Start};
use crate::stream::source::Source;
use crate::stream::spec::{PageFlush, StreamSpec};
use tameshi_base::{Command, CommandKind, Nanos};

/// Stage of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Between two batches.
    Idle,
    /// The batch as a whole to the doublewrite area.
    Area,
    /// The flush of that.
    AreaFlush,
    /// Each page to its place.
    Pages,
    /// The flush of those.
    Flush,
}

/// The doublewrite region, to which batches are written first, one after the other.
#[derive(Clone, Copy, Debug)]
struct Area {
    begin_bytes: u64,
    length_bytes: u64,
    cursor: u64,
}

/// A page flusher. No call allocates.
#[derive(Debug)]
pub(crate) struct Pages {
    stream: u16,
    source: Source,
    batch: u32,
    page_bytes: u32,
    area: Option<Area>,
    step: Step,
    /// True if a command of the batch has failed.
    failed: bool,
    /// Since when the next command of this step could start.
    since: Nanos,
    /// Commands of this step that are not issued yet, and those in flight.
    left: u32,
    in_flight: u32,
    /// When the batch should have begun.
    intended: Nanos,
    free_slots: Vec<u32>,
    /// Per slot: submission time, kind and length.
    slots: Vec<(Nanos, CommandKind, u32)>,
}

impl Pages {
    pub(crate) fn new(spec: &StreamSpec, place: Placement<'_>, flush: PageFlush) -> Self {
        assert!(flush.batch > 0 && spec.queue_depth > 0, "a batch needs pages and a queue");
        let area_bytes = flush.doublewrite.map_or(0, |area| area.0);
        let area = Area { begin_bytes: spec.offset.0, length_bytes: area_bytes, cursor: 0 };
        Self {
            stream: place.stream,
            source: Source::new(spec, place, 1, area_bytes),
            batch: flush.batch,
            page_bytes: spec.block_size.0 as u32,
            area: flush.doublewrite.map(|_| area),
            step: Step::Idle,
            failed: false,
            since: place.begin,
            left: 0,
            in_flight: 0,
            intended: place.begin,
            free_slots: (0..spec.queue_depth).rev().collect(),
            slots: vec![(0, CommandKind::Write, 0); spec.queue_depth as usize],
        }
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
            Step::Idle => self.source.due(),
            _ => (self.left > 0 && !self.free_slots.is_empty()).then_some(self.since),
        }
    }

    #[inline]
    pub(crate) fn issue(&mut self, now: Nanos) -> Option<Issue> {
        if self.next_due()? > now {
            return None;
        }
        let mut start = None;
        if self.step == Step::Idle {
            let begun = self.source.start(now)?;
            let bytes = u64::from(self.batch) * u64::from(self.page_bytes);
            self.source.spend(if self.area.is_some() { 2 * bytes } else { bytes });
            self.intended = begun.intended;
            self.enter(if self.area.is_some() { Step::Area } else { Step::Pages }, begun.ready);
            start = Some(begun);
        }
        let slot = self.free_slots.pop()?;
        let (kind, offset_bytes, length_bytes) = self.next_command();
        self.left -= 1;
        self.in_flight += 1;
        self.slots[slot as usize] = (now, kind, length_bytes);
        let command =
            Command { id: u64::from(slot), kind, offset_bytes, length_bytes, fua: false, stream: self.stream };
        let start = start.unwrap_or(Start { who: 0, intended: self.since, ready: self.since, scheduled: false });
        Some(Issue::started(slot, Some(command), start))
    }

    fn enter(&mut self, step: Step, since: Nanos) {
        self.left = if step == Step::Pages { self.batch } else { 1 };
        (self.step, self.since) = (step, since);
    }

    fn next_command(&mut self) -> (CommandKind, u64, u32) {
        match (self.step, &mut self.area) {
            (Step::Area, Some(area)) => {
                let length = self.batch * self.page_bytes;
                let fits = area.cursor + u64::from(length) <= area.length_bytes;
                let offset = if fits { area.cursor } else { 0 };
                area.cursor = offset + u64::from(length);
                (CommandKind::Write, area.begin_bytes + offset, length)
            }
            (Step::AreaFlush | Step::Flush, _) => (CommandKind::Flush, 0, 0),
            _ => (CommandKind::Write, self.source.offset(self.page_bytes), self.page_bytes),
        }
    }

    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        assert!(!self.free_slots.contains(&slot), "a command completes once");
        let (submitted, kind, length_bytes) = self.slots[slot as usize];
        self.free_slots.push(slot);
        self.in_flight -= 1;
        self.since = now;
        let mut commit = None;
        if self.left == 0 && self.in_flight == 0 {
            match self.step {
                Step::Area => self.enter(Step::AreaFlush, now),
                Step::AreaFlush => self.enter(Step::Pages, now),
                Step::Pages => self.enter(Step::Flush, now),
                Step::Flush | Step::Idle => {
                    self.step = Step::Idle;
                    self.source.finish(0, now);
                    let failed = std::mem::take(&mut self.failed);
                    commit = (!failed).then(|| now.saturating_sub(self.intended));
                }
            }
        }
        let latency = now.saturating_sub(submitted);
        let bytes = u64::from(length_bytes);
        Completion { operation: Operation::of(kind), bytes, latency, service: latency, commit }
    }

    pub(crate) fn fails(&mut self) {
        self.failed = true;
    }

    pub(crate) fn outstanding(&self) -> u32 {
        self.in_flight
    }

    /// Stop all starts.
    pub(crate) fn end(&mut self) {
        self.source.end();
    }

    pub(crate) fn is_done(&self) -> bool {
        self.source.is_exhausted() && self.step == Step::Idle
    }
}

#[cfg(test)]
mod tests {
    use crate::stream::spec::{Arrivals, PageFlush, StreamSpec};
    use crate::{Job, Placement};
    use tameshi_base::{CommandKind, Nanos, Share, Size, Time};

    const PAGE: u64 = 16_384;

    fn flusher(batch: u32, doublewrite: Option<u64>) -> StreamSpec {
        let page_flush = Some(PageFlush { batch, doublewrite: doublewrite.map(Size) });
        StreamSpec { read: Share(0), block_size: Size(PAGE), queue_depth: 4, page_flush, ..StreamSpec::default() }
    }

    fn place() -> Placement<'static> {
        Placement { stream: 0, job: 0, storage_bytes: 4 << 20, begin: 0, budget_bytes: None, seed: 1, name: "pages" }
    }

    type Commands = Vec<(CommandKind, u64, u32)>;

    /// Runs the job for a while, each command taking 10; commands in order, and the commits with
    /// their times.
    fn run(mut job: Job, until: Nanos) -> (Commands, Vec<(Nanos, Nanos)>) {
        let (mut now, mut commands, mut commits) = (0, vec![], vec![]);
        while now < until {
            let Some(due) = job.next_due() else { break };
            now = now.max(due);
            let mut slots = vec![];
            while let Some(issue) = job.issue(now) {
                let command = issue.command.expect("each start is a command");
                commands.push((command.kind, command.offset_bytes, command.length_bytes));
                slots.push(issue.slot);
            }
            assert!(slots.len() <= 4);
            now += 10;
            for slot in slots {
                commits.extend(job.complete(slot, now).commit.map(|latency| (now, latency)));
            }
        }
        (commands, commits)
    }

    #[test]
    fn without_doublewrite_a_batch_is_its_pages_and_a_flush() {
        let (commands, commits) = run(Job::new(&flusher(6, None), place()), 300);
        let kinds: Vec<CommandKind> = commands.iter().map(|command| command.0).collect();
        assert!(kinds.chunks(7).all(|batch| batch[..6].iter().all(|&kind| kind == CommandKind::Write)));
        assert!(kinds.chunks(7).all(|batch| batch[6] == CommandKind::Flush));
        assert_eq!(commits[0], (30, 30), "four pages at once, two more, the flush");
        assert_eq!(commits[1].1, 30);
    }

    #[test]
    fn doublewrite_flushes_each_batch_before_its_pages() {
        let area = 40 * PAGE;
        let (commands, commits) = run(Job::new(&flusher(6, Some(area)), place()), 500);
        let mut next_in_area = 0;
        for batch in commands.chunks_exact(9) {
            assert_eq!(batch[0], (CommandKind::Write, next_in_area, 6 * PAGE as u32));
            next_in_area = if next_in_area + 12 * PAGE > area { 0 } else { next_in_area + 6 * PAGE };
            assert_eq!((batch[1].0, batch[8].0), (CommandKind::Flush, CommandKind::Flush));
            let pages = &batch[2..8];
            assert!(pages.iter().all(|&(kind, offset, length)| kind == CommandKind::Write
                && offset >= area
                && u64::from(length) == PAGE));
        }
        assert_eq!(commits[0], (50, 50), "the area, its flush, two rounds of pages, their flush");
    }

    #[test]
    fn batches_begin_when_due_and_a_budget_ends_on_a_batch() {
        let arrivals = Arrivals::Bursts { requests: 2, every: Time(1000) };
        let spec = StreamSpec { arrivals, ..flusher(4, Some(8 * PAGE)) };
        let (_, commits) = run(Job::new(&spec, place()), 1500);
        assert_eq!(commits, [(40, 40), (80, 80), (1040, 40), (1080, 80)]);
        let budget = Placement { budget_bytes: Some(8 * PAGE + 1), ..place() };
        let (commands, commits) = run(Job::new(&flusher(4, Some(8 * PAGE)), budget), 10_000);
        assert_eq!(commits.len(), 2);
        assert_eq!(commands.iter().map(|command| u64::from(command.2)).sum::<u64>(), 16 * PAGE);
    }
}
