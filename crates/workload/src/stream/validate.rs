//! Values of a stream's description that no job can carry out.

use crate::stream::file_calls::FileCall;
use crate::stream::spec::{Access, Arrivals, Pattern, StreamSpec, Submission, Sync, VERIFIED, Verify};
use tameshi_base::{Rate, Share, Size};

/// A value that can't be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// The key within the stream, dotted.
    pub key: &'static str,
    /// Message for users, as a clause.
    pub message: String,
    /// Accepted values.
    pub accepted: &'static str,
}

/// One request a nanosecond.
const MOST_RATE: Rate = Rate(1_000_000_000_000);
/// Longest command.
const MOST_COMMAND: u64 = 1 << 30;
/// Steepest popularity: beyond it nearly all accesses go to one block.
const MOST_THETA_PERMILLE: u32 = 10_000;

impl StreamSpec {
    /// The first thing of this description that no job can carry out, wherever it works.
    pub fn error(&self) -> Option<StreamError> {
        let trims = || self.trim_error().or_else(|| self.call_error());
        let batches = || self.group_error().or_else(|| self.page_error()).or_else(|| self.lsm_error());
        let writes = || batches().or_else(|| self.verify_error());
        let times = || self.arrivals_error().or_else(|| self.pauses_error());
        let ends = || self.end_error().or_else(|| self.pace_error()).or_else(|| self.system_error());
        self.pattern_error().or_else(times).or_else(trims).or_else(writes).or_else(ends)
    }

    /// The same of the part of the storage that it works on, `span_bytes` long.
    pub fn span_error(&self, span_bytes: u64) -> Option<StreamError> {
        let blocks = span_bytes.checked_div(self.shortest().0).unwrap_or(0);
        if self.pattern == Pattern::Shuffled && blocks < u64::from(self.jobs) {
            let message = format!("{blocks} blocks can't be divided among {} jobs", self.jobs);
            return Some(StreamError { key: "jobs", message, accepted: "a larger span, or fewer jobs" });
        }
        let key = if matches!(self.pattern, Pattern::Zoned(_)) { "pattern.zoned" } else { "pattern.hot_cold" };
        (!self.pattern.fits(blocks)).then(|| StreamError {
            key,
            message: format!("a part of the {blocks} blocks is accessed but too small to hold one"),
            accepted: "larger parts, or a larger span",
        })
    }

    fn pattern_error(&self) -> Option<StreamError> {
        let whole = |shares: &[Share]| shares.iter().map(|share| u64::from(share.0)).sum::<u64>() == 1_000_000;
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        if self.run_length == 0 {
            return error("run_length", "a run needs at least one request", "1 or more");
        }
        match &self.pattern {
            Pattern::Shuffled if self.is_mixed() || self.run_length > 1 => error(
                "pattern",
                "`shuffled` visits blocks of one length, one by one",
                "no mix of lengths, no `run_length`",
            ),
            Pattern::Strided { run, skip, .. } if *run < self.longest() || run.0.checked_add(skip.0).is_none() => {
                error("pattern.strided.run", "a stretch must hold a request, and end", "the longest request or more")
            }
            Pattern::Shuffled | Pattern::Sequential | Pattern::Strided { .. } if self.align.is_some() => {
                error("align", "this pattern draws no offsets", "a pattern that draws")
            }
            _ if self.align == Some(Size(0)) => {
                error("align", "alignment must be greater than zero", "a size above zero")
            }
            Pattern::Zipf { theta_permille } if !(1..=MOST_THETA_PERMILLE).contains(theta_permille) => {
                error("pattern.zipf.theta_permille", "the exponent is out of range", "1 to 10000")
            }
            Pattern::Pareto { hot } if hot.0 == 0 || hot.0 >= Share::WHOLE.0 / 2 => {
                error("pattern.pareto.hot", "the hot share is out of range", "above 0 %, below 50 %")
            }
            Pattern::HotCold { hot, accesses } if *hot > Share::WHOLE || *accesses > Share::WHOLE => {
                error("pattern.hot_cold", "a share is above 100 %", "at most 100 %")
            }
            Pattern::Zoned(zones) => {
                let accesses: Vec<Share> = zones.iter().map(|zone| zone.accesses).collect();
                let spans: Vec<Share> = zones.iter().map(|zone| zone.span).collect();
                if whole(&accesses) && whole(&spans) {
                    return None;
                }
                let message = "the zones' accesses or spans don't add up to 100 %";
                error("pattern.zoned", message, "accesses that add up to 100 %, and spans too")
            }
            _ => None,
        }
    }

    fn arrivals_error(&self) -> Option<StreamError> {
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        match &self.arrivals {
            Arrivals::Ramp { points, .. } => {
                let key = "arrivals.ramp.points";
                if points.is_empty() || points.iter().all(|point| point.rate.0 == 0) {
                    error(key, "no request ever arrives", "at least one point with a rate above zero")
                } else if !points.is_sorted_by_key(|point| point.at) {
                    error(key, "the points go back in time", "points in the order of their times")
                } else if points.iter().any(|point| point.rate > MOST_RATE) {
                    error(key, "the rate is too high", "at most \"1000000000 /s\"")
                } else {
                    None
                }
            }
            Arrivals::Bursts { requests: 0, .. } => {
                error("arrivals.bursts.requests", "a burst needs at least one request", "1 or more")
            }
            Arrivals::Bursts { every, .. } if every.0 == 0 => {
                error("arrivals.bursts.every", "the interval must be greater than zero", "a time above zero")
            }
            _ => None,
        }
    }

    fn group_error(&self) -> Option<StreamError> {
        let Some(Sync::GroupCommit { committers, .. }) = self.sync else { return None };
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        if committers == 0 {
            error("sync.group_commit.committers", "a group needs at least one committer", "1 or more")
        } else if self.longest().0.saturating_mul(u64::from(committers)) > MOST_COMMAND {
            error("sync.group_commit.committers", "the records of a group exceed one write", "records of 1 GiB in all")
        } else if self.pattern != Pattern::Sequential {
            error("sync", "the records of a group are sequential", "pattern = \"sequential\"")
        } else if self.read.0 > 0 || self.trim.0 > 0 {
            error("sync", "committers only write", "read = \"0 %\" and no trims")
        } else if self.queue_depth != 1 {
            error("queue_depth", "a log has one write at a time; `committers` says how many wait", "1")
        } else {
            None
        }
    }

    fn page_error(&self) -> Option<StreamError> {
        let flush = self.page_flush?;
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        let batch_bytes = u64::from(flush.batch).saturating_mul(self.block_size.0);
        if flush.batch == 0 {
            error("page_flush.batch", "a batch needs at least one page", "1 or more")
        } else if batch_bytes > MOST_COMMAND {
            error("page_flush.batch", "the batch is too long", "pages of 1 GiB in all")
        } else if flush
            .doublewrite
            .is_some_and(|area| area.0 < batch_bytes || !area.0.is_multiple_of(self.block_size.0))
        {
            error(
                "page_flush.doublewrite",
                "a batch must fit into the area",
                "a multiple of the page, no less than a batch",
            )
        } else if self.is_mixed() {
            error("page_flush", "pages are of one length", "`block_size` instead of a mix")
        } else if self.read.0 > 0 || self.trim.0 > 0 {
            error("page_flush", "page flushing only writes", "read = \"0 %\" and no trims")
        } else if self.sync.is_some() {
            error("page_flush", "a batch brings its own sync", "no `sync`")
        } else {
            None
        }
    }

    fn lsm_error(&self) -> Option<StreamError> {
        let tree = self.lsm?;
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        if !matches!(self.sync, Some(Sync::GroupCommit { .. })) {
            error("lsm", "an LSM tree needs a journal", "add `sync = { group_commit = { committers = 16 } }`")
        } else if self.verify != Verify::Off {
            error("lsm", "merged runs are not stamped", "no `verify`")
        } else if tree.block_size.0 < 512 || tree.block_size.0 > MOST_COMMAND || !tree.block_size.0.is_multiple_of(512)
        {
            error("lsm.block_size", "the block size of runs is out of range", "512 B to 1 GiB, in whole 512 B")
        } else if tree.memtable < tree.block_size || !tree.memtable.0.is_multiple_of(tree.block_size.0) {
            error("lsm.memtable", "a run consists of whole blocks", "a multiple of `lsm.block_size`")
        } else if !(2..=64).contains(&tree.fan_out) {
            error("lsm.fan_out", "the fan-out is out of range", "2 to 64")
        } else if !(1..=16).contains(&tree.levels) {
            error("lsm.levels", "the number of levels is out of range", "1 to 16")
        } else if !(1..=1024).contains(&tree.queue_depth) {
            error("lsm.queue_depth", "the queue depth is out of range", "1 to 1024")
        } else if tree.most_runs.is_some_and(|most| most <= tree.fan_out) {
            error("lsm.most_runs", "committers would wait for a merge that never begins", "more than `lsm.fan_out`")
        } else {
            None
        }
    }

    /// Return the error of a setting that calls on files don't have, with the accepted value.
    fn call_conflict(&self) -> Option<(&'static str, &'static str)> {
        let call = self.call?;
        let durable = self.sync.is_some_and(Sync::with_each_write);
        let batched = self.page_flush.is_some() || matches!(self.sync, Some(Sync::GroupCommit { .. }));
        if self.verify != Verify::Off || self.trim_first || durable || batched {
            return Some((
                "calls on files move no data",
                "no `verify`, `trim_first`, `page_flush`, nor a `sync` of each write",
            ));
        }
        if matches!(self.submission, Submission::IoUring | Submission::IoUringPolled) {
            return Some(("file calls are plain calls", "`submission` left out"));
        }
        let writes = matches!(call, FileCall::Truncate | FileCall::MoveExtents);
        if writes && (self.read > Share(0) || self.trim > Share(0)) {
            return Some(("this call is a write", "read = \"0 %\" and no trims"));
        }
        if (call == FileCall::MoveExtents) != self.donor.is_some() {
            return Some(("`donor` belongs to `move_extents`", "`move_extents` with a `donor`"));
        }
        (call.in_directory() && self.is_mixed())
            .then_some(("files of a directory are of one length", "`block_size` instead of a mix"))
    }

    fn call_error(&self) -> Option<StreamError> {
        let (message, accepted) = self.call_conflict()?;
        Some(StreamError { key: "call", message: message.to_string(), accepted })
    }

    fn trim_error(&self) -> Option<StreamError> {
        if self.write_block_size_mix.is_some() && self.trim > Share(0) {
            return Some(StreamError {
                key: "write_block_size_mix",
                message: "trims have no lengths of their own".to_string(),
                accepted: "no `trim`, or one mix",
            });
        }
        (self.trim_first && self.is_batched()).then(|| StreamError {
            key: "trim_first",
            message: "a log's groups and batches of pages are written without trims".to_string(),
            accepted: "single writes",
        })
    }

    fn verify_error(&self) -> Option<StreamError> {
        if self.verify == Verify::Off {
            return None;
        }
        let whole = |size: Size| size.0.is_multiple_of(VERIFIED.0);
        let message = if !whole(self.offset) || !self.lengths().iter().all(|length| whole(length.size)) {
            "a block that is verified has 4 KiB, and this stream's requests lie across such blocks"
        } else if self.trims() {
            "the content of a trimmed block is undefined"
        } else {
            return None;
        };
        let accepted = "lengths and offset that are multiples of 4 KiB, and no trims";
        Some(StreamError { key: "verify", message: message.to_string(), accepted })
    }

    /// Return whether it is carried out in groups or batches, which have syncs of their own.
    fn is_batched(&self) -> bool {
        self.page_flush.is_some() || matches!(self.sync, Some(Sync::GroupCommit { .. }))
    }

    fn end_error(&self) -> Option<StreamError> {
        if !self.sync_at_end {
            return None;
        }
        let message = if self.is_batched() {
            "a log's groups and batches of pages are durable when the stream ends"
        } else if self.written() == Share(0) {
            "a stream without writes has nothing to sync"
        } else {
            return None;
        };
        let accepted = "single writes";
        Some(StreamError { key: "sync_at_end", message: message.to_string(), accepted })
    }

    fn pace_error(&self) -> Option<StreamError> {
        let pace = self.pace.as_ref()?;
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        if pace.weight == 0 {
            error("pace.weight", "the weight must be greater than zero", "1 or more")
        } else if self.is_batched() {
            error("pace", "group commit and page flush can't keep step", "single requests")
        } else {
            None
        }
    }

    /// Return the error of a setting that the operating system can't carry out.
    fn system_error(&self) -> Option<StreamError> {
        let error = |key, message: &str, accepted| Some(StreamError { key, message: message.to_string(), accepted });
        if self.processors.as_ref().is_some_and(Vec::is_empty) {
            return error("processors", "a thread needs a processor", "at least one processor, or no such key");
        }
        if self.submission != Submission::IoUringPolled {
            return None;
        }
        let other = self.is_batched() || self.sync_at_end || self.sync.and_then(Sync::every).is_some() || self.trims();
        if other || self.access == Access::Buffered {
            let message = "a polled queue takes reads and writes past the page cache, and no syncs or trims";
            return error("submission", message, "`access = \"direct\"`, and no sync but `dsync` and `fua`");
        }
        None
    }

    fn pauses_error(&self) -> Option<StreamError> {
        if self.think_every == 0 {
            let message = "a pause needs at least one request before it".to_string();
            return Some(StreamError { key: "think_every", message, accepted: "1 or more" });
        }
        let stuck = self.duty.is_some_and(|duty| duty.on.0 == 0);
        let endless = self.duty.is_some_and(|duty| duty.on.0.checked_add(duty.off.0).is_none());
        (stuck || endless).then(|| StreamError {
            key: "duty",
            message: "a stream needs active time".to_string(),
            accepted: "`on` above zero",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::spec::{Duty, Gaps, LsmTree, Pace, PageFlush, RatePoint, Shape, Zone};
    use tameshi_base::Time;

    fn key(spec: StreamSpec) -> Option<&'static str> {
        spec.error().map(|error| error.key)
    }

    fn pattern(pattern: Pattern) -> Option<&'static str> {
        key(StreamSpec { pattern, ..StreamSpec::default() })
    }

    fn arrivals(arrivals: Arrivals) -> Option<&'static str> {
        key(StreamSpec { arrivals, ..StreamSpec::default() })
    }

    #[test]
    fn shuffled_jobs_need_a_block_each() {
        let of = |jobs| StreamSpec { pattern: Pattern::Shuffled, jobs, ..StreamSpec::default() };
        assert_eq!(of(4).span_error(4 * 4096), None);
        assert_eq!(of(5).span_error(4 * 4096).map(|error| error.key), Some("jobs"));
    }

    #[test]
    fn a_shuffled_stream_has_one_length_and_no_runs() {
        assert_eq!(pattern(Pattern::Shuffled), None);
        let runs = StreamSpec { pattern: Pattern::Shuffled, run_length: 2, ..StreamSpec::default() };
        assert_eq!(key(runs), Some("pattern"));
    }

    #[test]
    fn invalid_streams_are_refused_by_key_and_valid_ones_accepted() {
        assert_eq!(key(StreamSpec::default()), None);
        assert_eq!(key(StreamSpec { run_length: 0, ..StreamSpec::default() }), Some("run_length"));
        for (theta_permille, expected) in [(0, true), (1, false), (10_000, false), (10_001, true)] {
            let found = pattern(Pattern::Zipf { theta_permille });
            assert_eq!(found, expected.then_some("pattern.zipf.theta_permille"), "{theta_permille}");
        }
        for (hot, expected) in [(0, true), (1, false), (499_999, false), (500_000, true)] {
            assert_eq!(pattern(Pattern::Pareto { hot: Share(hot) }), expected.then_some("pattern.pareto.hot"));
        }
        let zone = |accesses, span| Zone { accesses: Share(accesses), span: Share(span) };
        assert_eq!(pattern(Pattern::Zoned(vec![zone(1_000_000, 1_000_000)])), None);
        assert_eq!(pattern(Pattern::Zoned(vec![zone(1_000_000, 900_000)])), Some("pattern.zoned"));
        assert_eq!(pattern(Pattern::Zoned(vec![])), Some("pattern.zoned"));
    }

    #[test]
    fn stretches_hold_a_request_and_only_drawn_offsets_are_aligned() {
        let strided = |run| Pattern::Strided { run: Size(run), skip: Size(512), backwards: false };
        assert_eq!([pattern(strided(4096)), pattern(strided(4095))], [None, Some("pattern.strided.run")]);
        assert_eq!(pattern(strided(u64::MAX)), Some("pattern.strided.run"));
        let aligned = |pattern, align| key(StreamSpec { pattern, align: Some(Size(align)), ..StreamSpec::default() });
        assert_eq!([aligned(Pattern::Random, 4096), aligned(Pattern::Random, 0)], [None, Some("align")]);
        assert_eq!([aligned(Pattern::Sequential, 4096), aligned(strided(4096), 4096)], [Some("align"); 2]);
    }

    #[test]
    fn a_stream_ends_with_a_sync_where_it_writes_by_itself() {
        let ending = StreamSpec { sync_at_end: true, read: Share(0), ..StreamSpec::default() };
        assert_eq!(key(ending.clone()), None);
        assert_eq!(key(StreamSpec { read: Share::WHOLE, ..ending.clone() }), Some("sync_at_end"));
        let flush = PageFlush { batch: 4, doublewrite: None };
        assert_eq!(key(StreamSpec { page_flush: Some(flush), ..ending }), Some("sync_at_end"));
    }

    #[test]
    fn pauses_paces_and_processors_are_some() {
        assert_eq!(key(StreamSpec { think_every: 0, ..StreamSpec::default() }), Some("think_every"));
        let pace = |weight| Some(Pace { group: "g".into(), weight });
        assert_eq!(key(StreamSpec { pace: pace(1), ..StreamSpec::default() }), None);
        assert_eq!(key(StreamSpec { pace: pace(0), ..StreamSpec::default() }), Some("pace.weight"));
        assert_eq!(key(StreamSpec { processors: Some(vec![]), ..StreamSpec::default() }), Some("processors"));
    }

    #[test]
    fn a_polled_queue_takes_transfers_past_the_page_cache_only() {
        let polled = StreamSpec { submission: Submission::IoUringPolled, ..StreamSpec::default() };
        assert_eq!(key(polled.clone()), None);
        let durable = Some(Sync::Dsync);
        assert_eq!(key(StreamSpec { read: Share(0), sync: durable, ..polled.clone() }), None);
        let synced = Some(Sync::Fdatasync { every: 1 });
        assert_eq!(key(StreamSpec { read: Share(0), sync: synced, ..polled.clone() }), Some("submission"));
        assert_eq!(key(StreamSpec { access: Access::Buffered, ..polled.clone() }), Some("submission"));
        assert_eq!(key(StreamSpec { trim: Share(1), ..polled }), Some("submission"));
    }

    #[test]
    fn verified_streams_use_whole_blocks_and_no_trims() {
        let stream = StreamSpec { verify: Verify::Checksum, ..StreamSpec::default() };
        assert_eq!(key(stream.clone()), None);
        assert_eq!(key(StreamSpec { block_size: Size(2300), ..stream.clone() }), Some("verify"));
        assert_eq!(key(StreamSpec { offset: Size(512), ..stream.clone() }), Some("verify"));
        assert_eq!(key(StreamSpec { trim: Share(1), ..stream.clone() }), Some("verify"));
        assert_eq!(key(StreamSpec { trim_first: true, ..stream.clone() }), None, "it only reads");
        assert_eq!(key(StreamSpec { trim_first: true, read: Share(0), ..stream }), Some("verify"));
    }

    #[test]
    fn lsm_tree_follows_its_journal_with_runs_of_whole_blocks() {
        let sync = Some(Sync::GroupCommit { committers: 8, delay: Time(0) });
        let tree = LsmTree {
            memtable: Size(1 << 20),
            journal: Size(1 << 30),
            fan_out: 4,
            levels: 3,
            block_size: Size(1 << 18),
            queue_depth: 8,
            most_runs: Some(12),
        };
        let with = |tree| StreamSpec {
            pattern: Pattern::Sequential,
            read: Share(0),
            sync,
            lsm: Some(tree),
            ..StreamSpec::default()
        };
        assert_eq!(key(with(tree)), None);
        assert_eq!(key(StreamSpec { sync: Some(Sync::Dsync), ..with(tree) }), Some("lsm"));
        assert_eq!(key(StreamSpec { verify: Verify::Checksum, ..with(tree) }), Some("lsm"));
        for (tree, expected) in [
            (LsmTree { block_size: Size(513), ..tree }, "lsm.block_size"),
            (LsmTree { block_size: Size(1 << 31), memtable: Size(1 << 31), ..tree }, "lsm.block_size"),
            (LsmTree { memtable: Size((1 << 18) - 512), ..tree }, "lsm.memtable"),
            (LsmTree { fan_out: 1, ..tree }, "lsm.fan_out"),
            (LsmTree { levels: 0, ..tree }, "lsm.levels"),
            (LsmTree { queue_depth: 0, ..tree }, "lsm.queue_depth"),
            (LsmTree { most_runs: Some(4), ..tree }, "lsm.most_runs"),
        ] {
            assert_eq!(key(with(tree)), Some(expected));
        }
        // Four runs of 1, 4 and 16 MiB each, and one of 16 that is being written, behind the
        // journal.
        assert_eq!(with(tree).least_span(), Size((1 << 30) + ((4 + 16 + 64 + 16) << 20)));
    }

    #[test]
    fn arrivals_that_never_come_or_go_back_in_time_are_refused() {
        let point = |at, rate| RatePoint { at: Time(at), rate: Rate(rate) };
        let ramp = |points| Arrivals::Ramp { points, shape: Shape::Lines, gaps: Gaps::Even };
        assert_eq!(arrivals(ramp(vec![point(0, 0), point(5, 1), point(5, 2)])), None);
        for points in [vec![], vec![point(0, 0)], vec![point(5, 1), point(4, 1)], vec![point(0, MOST_RATE.0 + 1)]] {
            assert_eq!(arrivals(ramp(points)), Some("arrivals.ramp.points"));
        }
        let bursts = |requests, every| arrivals(Arrivals::Bursts { requests, every: Time(every) });
        assert_eq!(
            [bursts(1, 1), bursts(0, 1), bursts(1, 0)],
            [None, Some("arrivals.bursts.requests"), Some("arrivals.bursts.every")]
        );
        for (on, off, expected) in [(1, 0, None), (0, 1, Some("duty")), (u64::MAX, 1, Some("duty"))] {
            let duty = Some(Duty { on: Time(on), off: Time(off) });
            assert_eq!(key(StreamSpec { duty, ..StreamSpec::default() }), expected);
        }
    }

    #[test]
    fn a_group_appends_and_pages_come_in_batches_that_fit() {
        let sync = |committers| Some(Sync::GroupCommit { committers, delay: Time(0) });
        let log = StreamSpec { pattern: Pattern::Sequential, read: Share(0), sync: sync(8), ..StreamSpec::default() };
        assert_eq!(key(log.clone()), None);
        assert_eq!(key(StreamSpec { sync: sync(0), ..log.clone() }), Some("sync.group_commit.committers"));
        assert_eq!(key(StreamSpec { sync: sync(1 << 20), ..log.clone() }), Some("sync.group_commit.committers"));
        assert_eq!(key(StreamSpec { read: Share(1), ..log.clone() }), Some("sync"));
        assert_eq!(key(StreamSpec { pattern: Pattern::Random, ..log.clone() }), Some("sync"));
        assert_eq!(key(StreamSpec { queue_depth: 2, ..log }), Some("queue_depth"));
        let flush = |batch, area: Option<u64>| StreamSpec {
            read: Share(0),
            page_flush: Some(PageFlush { batch, doublewrite: area.map(Size) }),
            ..StreamSpec::default()
        };
        assert_eq!([key(flush(64, None)), key(flush(64, Some(64 * 4096)))], [None, None]);
        assert_eq!(key(flush(0, None)), Some("page_flush.batch"));
        assert_eq!(key(flush(64, Some(63 * 4096))), Some("page_flush.doublewrite"));
        assert_eq!(key(StreamSpec { read: Share(1), ..flush(1, None) }), Some("page_flush"));
        assert_eq!(key(StreamSpec { sync: Some(Sync::Dsync), ..flush(1, None) }), Some("page_flush"));
    }

    #[test]
    fn file_calls_with_conflicting_settings_are_refused() {
        let of = |call, spec: StreamSpec| StreamSpec { call: Some(call), ..spec }.error().map(|found| found.key);
        let plain = StreamSpec::default;
        for call in [FileCall::Allocate, FileCall::Create, FileCall::Stat, FileCall::Delete] {
            assert_eq!(of(call, plain()), None);
        }
        assert_eq!(of(FileCall::Truncate, plain()), Some("call"), "it reads");
        assert_eq!(of(FileCall::Truncate, StreamSpec { read: Share(0), ..plain() }), None);
        let flush = Some(PageFlush { batch: 4, doublewrite: None });
        for spec in [
            StreamSpec { verify: Verify::Checksum, ..plain() },
            StreamSpec { sync: Some(Sync::Dsync), read: Share(0), ..plain() },
            StreamSpec { page_flush: flush, read: Share(0), ..plain() },
            StreamSpec { submission: Submission::IoUring, ..plain() },
        ] {
            assert_eq!(of(FileCall::Allocate, spec), Some("call"));
        }
    }
}
