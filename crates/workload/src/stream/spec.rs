//! A storage stream as written in a study: `[workload.stream.NAME]`.

use crate::stream::file_calls::{Donor, Failing, FileCall};
use crate::stream::priority::Priority;
pub use crate::stream::sync::{LsmTree, PageFlush, Sync};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Nanos, Rate, Share, Size, Time};

/// A stream of storage requests: which, how large, how many at once, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamSpec {
    /// The storage the stream works on; without it, the one that `use.storage` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// Order in which offsets are visited.
    pub pattern: Pattern,
    /// Requests in a row from each drawn offset on, each where the one before it ended; 1: every
    /// offset is drawn.
    pub run_length: u32,
    /// Share of reads among reads and writes.
    pub read: Share,
    /// Length of each request; without meaning where there is a mix.
    pub block_size: Size,
    /// A mix of lengths instead of one: share of requests by length. Each request begins at a
    /// multiple of its own length (sequential: where the one before it ended).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size_mix: Option<Vec<SizeShare>>,
    /// The lengths of writes where they differ from those of reads, which then have `block_size` or
    /// `block_size_mix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_block_size_mix: Option<Vec<SizeShare>>,
    /// Alignment of drawn offsets, from the begin of the stream's part on; absent: the request's
    /// own length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Size>,
    /// Drive queue of the stream's requests, if its storage has `arbitration` (simulated world);
    /// absent: `medium`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Requests outstanding per job; in open loop the most that may be outstanding.
    pub queue_depth: u32,
    /// Jobs, each with a thread and a queue of its own.
    pub jobs: u32,
    /// When requests start.
    pub arrivals: Arrivals,
    /// When the stream pauses; absent: never. Neither loop starts anything in a pause, and time
    /// stands still in it for `arrivals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duty: Option<Duty>,
    /// Mean pause between a completion and the next request of the same slot (closed loop; refused
    /// in open loop).
    pub think_time: Time,
    /// Distribution of the pauses.
    pub think_distribution: Distribution,
    /// Requests of a slot between two pauses (closed loop; refused in open loop).
    #[serde(skip_serializing_if = "is_one")]
    pub think_every: u32,
    /// Keeping step with other streams of the phase; absent: each for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// Making writes durable; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<Sync>,
    /// True if the stream ends with one more sync, once all it may move is moved or its time is
    /// over: the kind that `sync` has, else an `fsync`. A phase that ends before it leaves it out.
    #[serde(skip_serializing_if = "is_no")]
    pub sync_at_end: bool,
    /// Writes come in batches of pages, each batch durable before the next; absent: each write for
    /// itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_flush: Option<PageFlush>,
    /// The log is the journal of a log-structured merge tree, whose runs are written and merged
    /// behind it; absent: a log alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lsm: Option<LsmTree>,
    /// Offset of the stream's part of the storage.
    pub offset: Size,
    /// Length of the stream's part of the storage; absent: all that follows `offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Size>,
    /// Bytes that the stream moves in a phase, split evenly over its jobs; after them it is done. A
    /// stream with an amount or a duration of its own takes no part in the phase's amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Size>,
    /// Delay of the stream after the phase's begin.
    #[serde(skip_serializing_if = "is_none")]
    pub delay: Time,
    /// Time for which it issues requests, from its own begin; absent: to the phase's end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Streams of the phase at whose end this one ends too: as soon as one of their jobs has moved
    /// its amount or its time has ended. It may name itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends_with: Vec<String>,
    /// Calls on files in place of reading and writing (measured world); absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<FileCall>,
    /// Source of extents for `call = "move_extents"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub donor: Option<Donor>,
    /// Kinds of requests that may fail: they count in `load.failed` only, and the
    /// stream continues. Absent: the first request that fails ends a measured run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerates: Vec<Failing>,
    /// Past the page cache (O_DIRECT) or through it.
    pub access: Access,
    /// Way in which requests reach the system (measured world).
    pub submission: Submission,
    /// Processors, by their numbers, that the stream's threads run on (measured world); absent:
    /// any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<Vec<u32>>,
    /// Compressibility of written data: the share of each 4 KiB that is one byte repeated.
    pub compressible: Share,
    /// Duplication of written data: the share of writes whose content is one of sixteen.
    pub duplicate: Share,
    /// Share of requests that are trims.
    pub trim: Share,
    /// True if each write waits for a trim of its range.
    #[serde(skip_serializing_if = "is_no")]
    pub trim_first: bool,
    /// True if written blocks carry a checksum that reads check.
    pub verify: Verify,
}

fn is_no(flag: &bool) -> bool {
    !flag
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_none(time: &Time) -> bool {
    time.0 == 0
}

impl Default for StreamSpec {
    fn default() -> Self {
        Self {
            storage: None,
            pattern: Pattern::Random,
            run_length: 1,
            read: Share::WHOLE,
            block_size: Size(4096),
            block_size_mix: None,
            write_block_size_mix: None,
            align: None,
            priority: None,
            queue_depth: 1,
            jobs: 1,
            arrivals: Arrivals::Closed,
            duty: None,
            think_time: Time(0),
            think_distribution: Distribution::Fixed,
            think_every: 1,
            pace: None,
            sync: None,
            sync_at_end: false,
            page_flush: None,
            lsm: None,
            offset: Size(0),
            span: None,
            amount: None,
            delay: Time(0),
            duration: None,
            ends_with: Vec::new(),
            call: None,
            donor: None,
            tolerates: Vec::new(),
            access: Access::Direct,
            submission: Submission::Auto,
            processors: None,
            compressible: Share(0),
            duplicate: Share(0),
            trim: Share(0),
            trim_first: false,
            verify: Verify::Off,
        }
    }
}

/// Order in which offsets are visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Uniformly at random, in whole blocks.
    Random,
    /// In random order, each block once before any comes again; several jobs divide the blocks
    /// among themselves. Needs one length of requests.
    Shuffled,
    /// One block after the other, from the start again at the end.
    Sequential,
    /// Stretches of the span in order, with parts between them that are never touched, from the
    /// start again at the end.
    Strided {
        /// Length of a stretch; within it each request begins where the one before it ended.
        run: Size,
        /// Omitted part after each.
        #[serde(default)]
        skip: Size,
        /// From the span's end to its begin, each request lying before the one that came first.
        #[serde(default)]
        backwards: bool,
    },
    /// Zipf-distributed popularity: the k-th most popular block gets a share in proportion to k to
    /// the power of −θ. The blocks are scattered over the span, for every stream and phase of a run
    /// alike.
    Zipf {
        /// Exponent θ in thousandths, 1 to 10000; 1200 is θ = 1.2.
        theta_permille: u32,
    },
    /// Self-similar popularity, as in 80/20: the share `hot` of the blocks takes the opposite share
    /// of the accesses, within it again, and so on. Scattered as with `zipf`.
    Pareto {
        /// Share of the blocks, above 0 % and below 50 %; "20 %" is 80/20.
        hot: Share,
    },
    /// A hot part at the span's begin and a cold part, uniform within each.
    HotCold {
        /// Share of the span that is hot.
        hot: Share,
        /// Share of the accesses that go there.
        accesses: Share,
    },
    /// Parts of the span with shares of the accesses, in order.
    Zoned(Vec<Zone>),
}

/// Streams of a phase that keep step, each request of one making room for those of the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Those that name the same group keep step.
    pub group: String,
    /// The stream's share of the group's requests is its weight's share of all weights.
    pub weight: u32,
}

/// One part of a zoned pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the accesses.
    pub accesses: Share,
    /// Share of the span.
    pub span: Share,
}

/// One length in a mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Length of the request.
    pub size: Size,
    /// Share of the requests.
    pub share: Share,
}

/// When requests start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// Closed loop: a slot's next request follows its last completion. Latency runs from
    /// submission.
    Closed,
    /// Open loop at even gaps, over all jobs together. Latency runs from the intended start.
    Constant {
        /// Requests per second of the whole stream.
        rate: Rate,
    },
    /// Open loop, exponentially distributed gaps. Latency runs from the intended start.
    Poisson {
        /// Mean requests per second of the whole stream.
        rate: Rate,
    },
    /// Open loop whose rate changes; before the first point it is the first's, after the last the
    /// last's.
    Ramp {
        /// The rate at given times of the phase, in order; two at one time are a step.
        points: Vec<RatePoint>,
        /// Shape of the rate between points.
        #[serde(default)]
        shape: Shape,
        /// Spacing of requests at that rate.
        #[serde(default)]
        gaps: Gaps,
    },
    /// Open loop: bursts of requests due at once, again and again from the phase's begin on.
    Bursts {
        /// Requests of the whole stream in a burst.
        requests: u32,
        /// From the begin of one burst to that of the next.
        every: Time,
    },
}

/// Shape of a changing rate between points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Along straight lines.
    #[default]
    Lines,
    /// In steps: each rate holds until the next point.
    Steps,
}

/// Spacing of requests at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Evenly.
    #[default]
    Even,
    /// As a Poisson process.
    Poisson,
}

/// Distribution of pauses around their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All alike.
    #[default]
    Fixed,
    /// Exponentially.
    Exponential,
    /// Uniformly between zero and twice the mean.
    Uniform,
}

/// Work and pause in turn, from the phase's begin on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Duty {
    /// Time at work.
    pub on: Time,
    /// Pause after it.
    pub off: Time,
}

impl Duty {
    /// Return the time of the phase at which that much active time has passed: the first instant at
    /// work from there on.
    pub fn stretched(self, worked: Nanos) -> Nanos {
        let whole = (worked / self.on.0).saturating_mul(self.on.0 + self.off.0);
        whole.saturating_add(worked % self.on.0)
    }

    /// The first time of the phase from `passed` on that lies in no pause.
    pub fn resumed(self, passed: Nanos) -> Nanos {
        let cycle = self.on.0 + self.off.0;
        let within = passed % cycle;
        if within < self.on.0 { passed } else { (passed - within).saturating_add(cycle) }
    }

    /// Time at work before the time `passed` of the phase.
    pub fn worked(self, passed: Nanos) -> Nanos {
        let cycle = self.on.0 + self.off.0;
        passed / cycle * self.on.0 + (passed % cycle).min(self.on.0)
    }
}

/// A rate at a time of the phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RatePoint {
    /// Time from the phase's begin.
    pub at: Time,
    /// Requests per second from there.
    pub rate: Rate,
}

/// Past the page cache or through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// O_DIRECT.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// Way in which requests reach the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "StreamSubmission")]
pub enum Submission {
    /// By io_uring, or by plain calls where that is refused, or where trims go to a block device.
    #[default]
    Auto,
    /// By io_uring, or not at all.
    IoUring,
    /// By io_uring with completions that are polled for, which only some devices' queues have.
    IoUringPolled,
    /// By plain calls (pread, pwrite, fdatasync …), from a thread for each request that may be
    /// outstanding.
    PlainCalls,
}

/// True if data is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Not checked.
    Off,
    /// Each 4 KiB carries its offset, the number of its write, the run's own mark and a checksum;
    /// reads check them, and a journal records acknowledged writes.
    Checksum,
}

/// Unit of verification: lengths and offsets of a verifying stream are multiples of it.
pub const VERIFIED: Size = Size(4096);

/// The mean of `lengths` in bytes, rounded up.
fn mean_bytes(lengths: &[SizeShare]) -> u64 {
    let weighed = lengths.iter().map(|length| u128::from(length.size.0) * u128::from(length.share.0)).sum::<u128>();
    weighed.div_ceil(u128::from(Share::WHOLE.0)) as u64
}

impl StreamSpec {
    /// The lengths of reads with the share of each among reads; of writes and trims, too, where
    /// theirs are not apart.
    pub fn read_lengths(&self) -> Vec<SizeShare> {
        let one = || vec![SizeShare { size: self.block_size, share: Share::WHOLE }];
        self.block_size_mix.clone().filter(|mix| !mix.is_empty()).unwrap_or_else(one)
    }

    /// The lengths of writes with the share of each among writes.
    pub fn write_lengths(&self) -> Vec<SizeShare> {
        self.write_block_size_mix.clone().filter(|mix| !mix.is_empty()).unwrap_or_else(|| self.read_lengths())
    }

    /// The lengths of requests with the share of each. Reads' and writes' own are weighed by their
    /// shares, a millionth up.
    pub fn lengths(&self) -> Vec<SizeShare> {
        match (&self.write_block_size_mix, self.read) {
            (None, _) => self.read_lengths(),
            (Some(_), Share(0)) => self.write_lengths(),
            (Some(_), Share::WHOLE) => self.read_lengths(),
            (Some(_), read) => {
                let weighed = |of: u32| {
                    move |length: SizeShare| {
                        let share = u64::from(length.share.0) * u64::from(of);
                        SizeShare { share: Share(share.div_ceil(u64::from(Share::WHOLE.0)) as u32), ..length }
                    }
                };
                let reads = self.read_lengths().into_iter().map(weighed(read.0));
                let writes = self.write_lengths().into_iter().map(weighed(Share::WHOLE.0.saturating_sub(read.0)));
                reads.chain(writes).collect()
            }
        }
    }

    /// Return whether its requests are of several lengths.
    pub fn is_mixed(&self) -> bool {
        self.block_size_mix.is_some() || self.write_block_size_mix.is_some()
    }

    /// The longest request.
    pub fn longest(&self) -> Size {
        self.lengths().iter().map(|length| length.size).max().unwrap_or_default()
    }

    /// The shortest request.
    pub fn shortest(&self) -> Size {
        self.lengths().iter().map(|length| length.size).min().unwrap_or_default()
    }

    /// The mean length of a request in bytes, rounded up.
    pub fn mean_bytes(&self) -> u64 {
        mean_bytes(&self.lengths())
    }

    /// The longest command that a job issues.
    pub fn longest_command(&self) -> Size {
        let parts = match (self.sync, self.page_flush) {
            (Some(Sync::GroupCommit { committers, .. }), _) => committers,
            (_, Some(PageFlush { batch, doublewrite: Some(_) })) => batch,
            _ => 1,
        };
        let block_bytes = self.lsm.map_or(0, |tree| tree.block_size.0);
        Size(self.longest().0.saturating_mul(u64::from(parts)).max(block_bytes))
    }

    /// The shortest part of a storage that the stream can work on.
    pub fn least_span(&self) -> Size {
        if let Some(tree) = self.lsm {
            let of_all = u64::from(self.jobs).saturating_mul(tree.least_span().0);
            return Size(of_all.saturating_add(tree.journal.0.max(self.longest_command().0)));
        }
        match self.page_flush.and_then(|flush| flush.doublewrite) {
            Some(area) => Size(area.0.saturating_add(self.longest().0)),
            None => self.longest_command(),
        }
    }

    /// Commands that a job may have outstanding.
    pub fn most_outstanding(&self) -> u32 {
        let blocks = self.lsm.map_or(0, |tree| 2 * tree.queue_depth);
        blocks + if matches!(self.sync, Some(Sync::GroupCommit { .. })) { 1 } else { self.queue_depth }
    }

    /// Bytes that one start writes, in the mean and rounded up, where it writes.
    pub fn mean_start_bytes(&self) -> u64 {
        match self.page_flush {
            Some(flush) => {
                let times = if flush.doublewrite.is_some() { 2 } else { 1 };
                times * u64::from(flush.batch) * self.block_size.0
            }
            // With a tree: to the journal, to a run, and once more for each level that merges make.
            None => mean_bytes(&self.write_lengths()) * self.lsm.map_or(1, |tree| 1 + u64::from(tree.levels)),
        }
    }

    /// Share of the starts that write.
    pub fn written(&self) -> Share {
        let rest = |share: Share| u64::from(Share::WHOLE.0.saturating_sub(share.0));
        Share((rest(self.read) * rest(self.trim)).div_ceil(u64::from(Share::WHOLE.0)) as u32)
    }

    /// Return whether it trims anything.
    pub fn trims(&self) -> bool {
        self.trim > Share(0) || (self.trim_first && self.written() > Share(0))
    }

    /// Return whether it syncs, in whatever way.
    pub fn syncs(&self) -> bool {
        self.sync.is_some() || self.page_flush.is_some() || self.sync_at_end
    }

    /// Return the part of a storage that it works on, given the storage's bytes: begin to end.
    pub fn part(&self, storage_bytes: u64) -> std::ops::Range<u64> {
        let end = self.span.map_or(storage_bytes, |span| storage_bytes.min(self.offset.0.saturating_add(span.0)));
        self.offset.0..end
    }
}
