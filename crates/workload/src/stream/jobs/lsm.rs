//! A log-structured merge tree with a journal, as in a document store, or any engine that writes
//! sorted runs, asks of its storage.
//!
//! Committers append records to the journal, in groups, and to memory. What fills memory goes to
//! the storage as one sorted run, in blocks, made durable at its end, while a second part of memory
//! takes new records; once that is full as well, committers wait. When a level has as many runs as
//! its fan-out, all of them are read, and written as one run of the next level. Committers also
//! wait while the first level has too many. Runs of the last level stay; the oldest of them goes
//! when there is no place for more than its fan-out.
//!
//! In the long run each byte is thus written once to the journal, once to a run and once by the
//! merge of each level but the last, and read as often as merged.

use crate::stream::issue::{Completion, Issue, Operation, Placement};
use crate::stream::jobs::group_commit::Group;
use crate::stream::source::Source;
use crate::stream::spec::{LsmTree, StreamSpec};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos, Random, Size};

/// Slot of the journal's command; those of blocks follow.
const JOURNAL: u32 = 0;

/// A journal and its tree.
#[derive(Debug)]
pub(crate) struct Lsm {
    journal: Group,
    tree: Tree,
}

/// Compaction or flush of runs.
#[derive(Debug, Default)]
struct Task {
    /// Offsets of the runs that are read; they consist of blocks of the level below.
    inputs: Vec<u64>,
    input_bytes: u64,
    /// Offset of the run that is written, and the level that it joins.
    output: u64,
    level: usize,
    bytes: u64,
    /// Bytes asked for and there, read and written; nothing is read for a run from memory.
    read: [u64; 2],
    written: [u64; 2],
    /// The flush at the end is asked for.
    flushing: bool,
}

/// A block that is on its way.
#[derive(Clone, Copy, Debug)]
struct Block {
    submitted: Nanos,
    kind: CommandKind,
    length_bytes: u32,
    merges: bool,
}

/// Runs, and the tasks on them.
#[derive(Debug)]
struct Tree {
    spec: LsmTree,
    stream: u16,
    begin_bytes: u64,
    length_bytes: u64,
    /// Offset of the next run within the tree's part.
    cursor: u64,
    /// Bytes in memory that no run holds yet, but for those of the run being written.
    gathered: u64,
    /// Offsets of the runs of each level, the oldest first.
    levels: Vec<VecDeque<u64>>,
    /// The run being written from memory, and the merge.
    tasks: [Option<Task>; 2],
    free_slots: Vec<u32>,
    blocks: Vec<Block>,
    outstanding: u32,
    /// Since when the next block could start.
    since: Nanos,
}

impl Lsm {
    /// Job `place.job` of a stream, with its share of the journal and of the runs' part.
    pub(crate) fn new(spec: &StreamSpec, place: Placement<'_>, committers: u32, delay: Nanos, tree: LsmTree) -> Self {
        let journal = StreamSpec { span: Some(tree.journal), ..spec.clone() };
        Self { journal: Group::new(&journal, place, committers, delay), tree: Tree::new(spec, place, tree) }
    }

    pub(crate) fn source(&self) -> &Source {
        self.journal.source()
    }

    pub(crate) fn source_mut(&mut self) -> &mut Source {
        self.journal.source_mut()
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        match (self.journal.next_due(), self.tree.next_due()) {
            (Some(journal), Some(block)) => Some(journal.min(block)),
            (journal, block) => journal.or(block),
        }
    }

    #[inline]
    pub(crate) fn issue(&mut self, now: Nanos) -> Option<Issue> {
        if self.journal.next_due().is_some_and(|due| due <= now) {
            let issue = self.journal.issue(now);
            if let Some(bytes) = self.journal.take_joined() {
                self.tree.gather(bytes, now);
                self.hold(now);
            }
            return issue;
        }
        self.tree.issue(now)
    }

    #[inline]
    pub(crate) fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        if slot == JOURNAL {
            return self.journal.complete(now);
        }
        self.journal.forget_commits();
        let completion = self.tree.complete(slot, now);
        self.hold(now);
        completion
    }

    pub(crate) fn fails(&mut self, slot: u32) {
        if slot == JOURNAL {
            self.journal.fails();
        }
    }

    /// Committers wait while memory has no room, or too many runs are to be merged.
    fn hold(&mut self, now: Nanos) {
        self.journal.hold(self.tree.is_behind(), now);
    }

    pub(crate) fn commits(&self) -> &[Nanos] {
        self.journal.commits()
    }

    pub(crate) fn outstanding(&self) -> u32 {
        self.journal.outstanding() + self.tree.outstanding
    }

    /// Stop all starts; begun runs are completed and merged.
    pub(crate) fn end(&mut self) {
        self.journal.end();
    }

    pub(crate) fn is_done(&self) -> bool {
        self.journal.is_done() && self.tree.tasks.iter().all(Option::is_none)
    }
}

impl Tree {
    /// A tree as it is in the middle of its life: each level but the first has as many runs as
    /// chance gives it, fewer than would be merged.
    fn new(spec: &StreamSpec, place: Placement<'_>, tree: LsmTree) -> Self {
        let end = spec.span.map_or(place.storage_bytes, |span| place.storage_bytes.min(spec.offset.0 + span.0));
        let begin = spec.offset.0 + tree.journal.0;
        let share = end.saturating_sub(begin) / u64::from(spec.jobs) / tree.block_size.0 * tree.block_size.0;
        let mut random = Random::named(place.seed, &format!("{}/{}/runs", place.name, place.job));
        let mut this = Self {
            spec: tree,
            stream: place.stream,
            begin_bytes: begin + share * u64::from(place.job),
            length_bytes: share,
            cursor: 0,
            gathered: 0,
            levels: vec![VecDeque::new(); tree.levels as usize],
            tasks: [None, None],
            free_slots: (1..=2 * tree.queue_depth).rev().collect(),
            blocks: vec![
                Block { submitted: 0, kind: CommandKind::Flush, length_bytes: 0, merges: false };
                2 * tree.queue_depth as usize + 1
            ],
            outstanding: 0,
            since: place.begin,
        };
        for level in (1..tree.levels as usize).rev() {
            for _ in 0..random.below(u64::from(tree.fan_out)) {
                let begin = this.place(this.spec.run_bytes(level as u32));
                this.levels[level].push_back(begin);
            }
        }
        this
    }

    /// Return the offset for a run: after the last one, or at the begin if the end is too near.
    fn place(&mut self, bytes: u64) -> u64 {
        let begin = if self.cursor + bytes > self.length_bytes { 0 } else { self.cursor };
        self.cursor = begin + bytes;
        begin
    }

    /// Add bytes of committers to memory.
    fn gather(&mut self, bytes: u64, now: Nanos) {
        self.gathered += bytes;
        self.write_run(now);
    }

    /// Write the content of memory as a run, after the previous run is written.
    fn write_run(&mut self, now: Nanos) {
        let bytes = self.spec.memtable.0;
        if self.gathered >= bytes && self.tasks[0].is_none() {
            self.gathered -= bytes;
            let output = self.place(bytes);
            self.tasks[0] = Some(Task { output, bytes, ..Task::default() });
            self.since = now;
        }
    }

    /// Merge the first level with enough runs, if no merge is running.
    fn merge(&mut self, now: Nanos) {
        let fan_out = self.spec.fan_out as usize;
        let merged = self.levels.len() - 1;
        let Some(level) = self.levels[..merged].iter().position(|runs| runs.len() >= fan_out) else { return };
        if self.tasks[1].is_some() {
            return;
        }
        let inputs: Vec<u64> = self.levels[level].iter().copied().take(fan_out).collect();
        let bytes = self.spec.run_bytes(level as u32 + 1);
        let output = self.place(bytes);
        let input_bytes = self.spec.run_bytes(level as u32);
        self.tasks[1] = Some(Task { inputs, input_bytes, output, level: level + 1, bytes, ..Task::default() });
        self.since = now;
    }

    fn is_behind(&self) -> bool {
        let is_full = self.gathered >= self.spec.memtable.0 && self.tasks[0].is_some();
        is_full || self.spec.most_runs.is_some_and(|most| self.levels[0].len() >= most as usize)
    }

    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        (!self.free_slots.is_empty() && (0..2).any(|task| self.next_block(task).is_some())).then_some(self.since)
    }

    /// Return the next request of a task: kind, offset and length.
    fn next_block(&self, task: usize) -> Option<(CommandKind, u64, u32)> {
        let of = self.tasks[task].as_ref()?;
        let block = self.spec.block_size.0;
        let under_way = of.read[0] - of.read[1] + of.written[0] - of.written[1];
        if of.flushing || under_way >= block * u64::from(self.spec.queue_depth) {
            return None;
        }
        let length = |left: u64| left.min(block);
        let may_be_written = if of.inputs.is_empty() { of.bytes } else { of.read[1] };
        if of.written[0] < of.bytes && may_be_written >= of.written[0] + length(of.bytes - of.written[0]) {
            let length = length(of.bytes - of.written[0]);
            return Some((CommandKind::Write, of.output + of.written[0], length as u32));
        }
        if !of.inputs.is_empty() && of.read[0] < of.bytes {
            let (run, within) = (of.read[0] / of.input_bytes, of.read[0] % of.input_bytes);
            return Some((CommandKind::Read, of.inputs[run as usize] + within, length(of.input_bytes - within) as u32));
        }
        (of.written[1] == of.bytes).then_some((CommandKind::Flush, 0, 0))
    }

    fn issue(&mut self, now: Nanos) -> Option<Issue> {
        let (task, (kind, offset, length_bytes)) = (0..2).find_map(|task| Some((task, self.next_block(task)?)))?;
        let slot = self.free_slots.pop()?;
        let of = self.tasks[task].as_mut().expect("it has a next block");
        match kind {
            CommandKind::Read => of.read[0] += u64::from(length_bytes),
            CommandKind::Write => of.written[0] += u64::from(length_bytes),
            CommandKind::Flush | CommandKind::Trim => of.flushing = true,
        }
        self.blocks[slot as usize] = Block { submitted: now, kind, length_bytes, merges: task == 1 };
        self.outstanding += 1;
        let offset_bytes = if kind == CommandKind::Flush { 0 } else { self.begin_bytes + offset };
        let stream = self.stream;
        let command = Command { id: u64::from(slot), kind, offset_bytes, length_bytes, fua: false, stream };
        let since = self.since.min(now);
        Some(Issue { slot, command: Some(command), intended: since, ready: since, scheduled: false })
    }

    fn complete(&mut self, slot: u32, now: Nanos) -> Completion {
        assert!(!self.free_slots.contains(&slot), "a command completes once");
        let Block { submitted, kind, length_bytes, merges } = self.blocks[slot as usize];
        self.free_slots.push(slot);
        self.outstanding -= 1;
        self.since = now;
        let task = usize::from(merges);
        let of = self.tasks[task].as_mut().expect("its block was under way");
        match kind {
            CommandKind::Read => of.read[1] += u64::from(length_bytes),
            CommandKind::Write => of.written[1] += u64::from(length_bytes),
            CommandKind::Flush | CommandKind::Trim => self.finish(task, now),
        }
        let latency = now.saturating_sub(submitted);
        let bytes = u64::from(length_bytes);
        Completion { operation: Operation::of(kind), bytes, latency, service: latency, commit: None }
    }

    /// Replace the inputs of a durable run by the run.
    fn finish(&mut self, task: usize, now: Nanos) {
        let Some(Task { inputs, output, level, .. }) = self.tasks[task].take() else { return };
        if level > 0 {
            self.levels[level - 1].drain(..inputs.len());
        }
        self.levels[level].push_back(output);
        let last = self.levels.len() - 1;
        if self.levels[last].len() > self.spec.fan_out as usize {
            self.levels[last].pop_front();
        }
        self.write_run(now);
        self.merge(now);
    }
}

impl LsmTree {
    /// Length of a run of a level, counted from zero.
    pub(crate) fn run_bytes(&self, level: u32) -> u64 {
        u64::from(self.fan_out)
            .checked_pow(level)
            .and_then(|times| times.checked_mul(self.memtable.0))
            .unwrap_or(u64::MAX)
    }

    /// Room that all runs of a job need at once, the largest that is being written included.
    pub fn least_span(&self) -> Size {
        let fan_out = u64::from(self.fan_out);
        let live = (0..self.levels).map(|level| self.run_bytes(level).saturating_mul(fan_out));
        let largest = self.run_bytes(self.levels.saturating_sub(1));
        Size(live.fold(largest, u64::saturating_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::stream::spec::{Arrivals, Pattern, Sync};
    use std::collections::BinaryHeap;
    use tameshi_base::{Rate, Share, Time};

    const RECORD: u64 = 4096;
    const MEMTABLE: u64 = 16 * RECORD;

    fn tree(fan_out: u32, levels: u32) -> LsmTree {
        LsmTree {
            memtable: Size(MEMTABLE),
            journal: Size(1 << 20),
            fan_out,
            levels,
            block_size: Size(2 * RECORD),
            queue_depth: 3,
            most_runs: None,
        }
    }

    fn store(tree: LsmTree, arrivals: Arrivals) -> StreamSpec {
        StreamSpec {
            pattern: Pattern::Sequential,
            read: Share(0),
            sync: Some(Sync::GroupCommit { committers: 4, delay: Time(0) }),
            lsm: Some(tree),
            arrivals,
            ..StreamSpec::default()
        }
    }

    /// Work of a job: bytes to the journal, bytes of runs written and read, latencies of commits,
    /// and each command with its times.
    #[derive(Default)]
    struct Did {
        journal: u64,
        written: u64,
        read: u64,
        commits: Vec<Nanos>,
        commands: Vec<(Nanos, Nanos, Command)>,
    }

    /// Carries a job out on a storage whose journal answers in 1000 ns and whose runs take `block`
    /// ns each, for a number of records.
    fn run(spec: &StreamSpec, records: u64, block: Nanos) -> Did {
        let place = Placement {
            stream: 0,
            job: 0,
            storage_bytes: spec.least_span().0,
            begin: 0,
            budget_bytes: Some(records * RECORD),
            seed: 1,
            name: "store",
        };
        let (mut job, mut did, mut now) = (Job::new(spec, place), Did::default(), 0);
        let mut under_way = BinaryHeap::new();
        while !job.is_done() {
            let due = job.next_due().map_or(Nanos::MAX, |due| due.max(now));
            let next = under_way.peek().map_or(Nanos::MAX, |&std::cmp::Reverse((at, _))| at);
            now = due.min(next);
            assert!(now < Nanos::MAX, "the job waits for nothing");
            if next <= due {
                let Some(std::cmp::Reverse((_, slot))) = under_way.pop() else { panic!("it was there") };
                let done = job.complete(slot, now);
                let to = match (slot, done.operation) {
                    (JOURNAL, _) => &mut did.journal,
                    (_, Operation::Read) => &mut did.read,
                    _ => &mut did.written,
                };
                *to += done.bytes;
                did.commits.extend(job.commits());
            } else if let Some(Issue { slot, command: Some(command), .. }) = job.issue(now) {
                let end = now + if slot == JOURNAL { 1000 } else { block };
                did.commands.push((now, end, command));
                under_way.push(std::cmp::Reverse((end, slot)));
            }
        }
        did
    }

    #[test]
    fn lsm_writes_each_byte_once_per_level() {
        for (fan_out, levels) in [(4, 1), (4, 2), (4, 3), (2, 5), (10, 2)] {
            let did = run(&store(tree(fan_out, levels), Arrivals::Closed), 200_000, 100);
            let times = |bytes: u64| bytes as f64 / did.journal as f64;
            assert_eq!((did.journal, did.commits.len()), (200_000 * RECORD, 200_000));
            let (written, read) = (f64::from(levels), f64::from(levels) - 1.0);
            assert!((times(did.written) / written - 1.0).abs() < 0.02, "{fan_out} {levels}: {}", times(did.written));
            assert!((times(did.read) - read).abs() <= 0.02 * read, "{fan_out} {levels}: {}", times(did.read));
        }
    }

    #[test]
    fn lsm_run_is_flushed_before_the_next() {
        let spec = store(tree(4, 2), Arrivals::Closed);
        let did = run(&spec, 4000, 700);
        let of_runs = |kind| did.commands.iter().filter(move |(.., command)| command.id != 0 && command.kind == kind);
        let flushes = of_runs(CommandKind::Flush).count() as u64;
        let merges = did.read / (4 * MEMTABLE);
        assert_eq!(flushes, 4000 * RECORD / MEMTABLE + merges, "one for each run and each merge");
        assert_eq!(did.read % (4 * MEMTABLE), 0, "what is merged is merged to its end");
        let begin = spec.lsm.map_or(0, |tree| tree.journal.0);
        let inside = |command: &Command| {
            command.offset_bytes >= begin
                && command.offset_bytes + u64::from(command.length_bytes) <= spec.least_span().0
        };
        assert!(of_runs(CommandKind::Read).chain(of_runs(CommandKind::Write)).all(|(.., command)| inside(command)));
        let most = did.commands.iter().map(|&(at, ..)| {
            did.commands.iter().filter(|&&(begin, end, command)| command.id != 0 && begin <= at && at < end).count()
        });
        assert!(most.max() <= Some(6), "three blocks of a run and three of a merge");
    }

    #[test]
    fn lsm_committers_wait_while_memory_is_full() {
        // A record each 2 us, of which a run takes eight blocks, three at a time: a run each 32 us.
        let spec = store(tree(4, 1), Arrivals::Constant { rate: Rate(500_000_000) });
        let slowest = |block| run(&spec, 3000, block).commits.into_iter().max();
        assert!(slowest(8_000) <= Some(6_000), "the storage keeps step");
        let (records, block) = (3000, 20_000);
        let did = run(&spec, records, block);
        let end = did.commands.last().map_or(0, |&(_, end, _)| end);
        // Three rounds of blocks and the flush, for each run.
        let needed = records * RECORD / MEMTABLE * 4 * block;
        assert!(end.abs_diff(needed) < 8 * block, "{end} ns, the storage needs {needed}");
        assert!(
            did.commits.into_iter().max() > Some(needed - records * 2_000 - 8 * block),
            "who comes last waits for all of it"
        );
    }

    #[test]
    fn lsm_committers_wait_for_merges_of_a_full_level() {
        let with = |most_runs| {
            let tree = LsmTree { most_runs, ..tree(4, 3) };
            let did = run(&store(tree, Arrivals::Closed), 20_000, 3_000);
            did.commands.last().map_or(0, |&(_, end, _)| end)
        };
        let (free, bound) = (with(None), with(Some(5)));
        assert!(bound > free, "{bound} {free}");
    }
}
