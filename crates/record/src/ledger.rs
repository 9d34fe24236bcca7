//! Data recorded once per phase and stream: slowest operations, queue occupancy, and resource usage
//! of the generator's threads.

use crate::operation::OPERATION_WORDS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tameshi_base::Nanos;

/// Number of slowest operations kept per stream.
pub const KEPT: usize = 10;
/// Number of classes of [`Ledger::depth`] and of batches; see [`depth_class`] and [`batch_class`].
pub const CLASSES: usize = 7;

/// Kinds of commands with separate submission times: `tameshi_base::CommandKind` in that order.
pub const SUBMITTED_KINDS: usize = 4;
/// Names of these kinds.
pub const SUBMITTED_WORDS: [&str; SUBMITTED_KINDS] = ["read", "write", "sync", "trim"];

/// Slow operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slow {
    /// Latency, from its intended start.
    pub latency: Nanos,
    /// Time at which its completion was seen, from t0.
    pub at: Nanos,
    /// First byte, from the storage's start; zero for a sync.
    pub offset_bytes: u64,
    /// Length; zero for a sync.
    pub length_bytes: u32,
    /// Discriminant of the operation.
    pub operation: u8,
}

impl Slow {
    /// JSON of events and progress.
    pub fn as_json(&self) -> Value {
        json!({
            "t_ns": self.at, "operation": OPERATION_WORDS[usize::from(self.operation)], "offset": self.offset_bytes,
            "bytes": self.length_bytes, "latency_ns": self.latency,
        })
    }
}

/// Slowest operations, the slowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowest {
    kept: [Slow; KEPT],
    count: usize,
    /// Latency that an operation must exceed to be included.
    floor: Nanos,
}

impl Slowest {
    /// Note an operation; only a comparison, except for the slowest.
    #[inline]
    pub fn see(&mut self, slow: Slow) {
        if slow.latency > self.floor {
            self.keep(slow);
        }
    }

    #[cold]
    fn keep(&mut self, slow: Slow) {
        let place = self.kept[..self.count].partition_point(|kept| kept.latency >= slow.latency);
        self.count = (self.count + 1).min(KEPT);
        self.kept[place..self.count].rotate_right(1);
        self.kept[place] = slow;
        if self.count == KEPT {
            self.floor = self.kept[KEPT - 1].latency;
        }
    }

    /// List of the operations, the slowest first.
    pub fn list(&self) -> &[Slow] {
        &self.kept[..self.count]
    }

    fn merge(&mut self, other: &Self) {
        other.list().iter().for_each(|&slow| self.see(slow));
    }
}

/// System resources that threads used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Processor time outside the kernel.
    pub user_ns: u64,
    /// Processor time in the kernel.
    pub system_ns: u64,
    /// Context switches, voluntary or not.
    pub switches: u64,
    /// Page faults that required a disk read.
    pub major_faults: u64,
    /// Page faults that required no read.
    pub minor_faults: u64,
}

impl ThreadUsage {
    /// Usage since `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            switches: self.switches.saturating_sub(before.switches),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

/// Submission time of requests: from their start to the end of a call that only submits, or to the
/// start of one that also waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Submission {
    /// Number of requests.
    pub count: u64,
    /// Shortest submission in ns.
    pub ns_min: Nanos,
    /// Longest submission in ns.
    pub ns_max: Nanos,
    /// Sum over the requests in ns.
    pub ns_sum: u64,
    /// Sum of the squares, in ns².
    pub ns_squares: f64,
}

impl Submission {
    /// Add `requests` requests submitted together in `length`.
    #[inline]
    pub fn add(&mut self, requests: u32, length: Nanos) {
        let requests = u64::from(requests);
        let squares = length as f64 * length as f64 * requests as f64;
        self.merge(&Self {
            count: requests,
            ns_min: length,
            ns_max: length,
            ns_sum: length * requests,
            ns_squares: squares,
        });
    }

    fn as_json(&self) -> Value {
        json!({
            "count": self.count, "ns_min": self.ns_min, "ns_max": self.ns_max, "ns_sum": self.ns_sum,
            "ns_squares": self.ns_squares,
        })
    }

    fn merge(&mut self, other: &Self) {
        self.ns_min = match (self.count, other.count) {
            (_, 0) => self.ns_min,
            (0, _) => other.ns_min,
            _ => self.ns_min.min(other.ns_min),
        };
        self.ns_max = self.ns_max.max(other.ns_max);
        self.count += other.count;
        self.ns_sum += other.ns_sum;
        self.ns_squares += other.ns_squares;
    }
}

/// Per-phase data of a job in an interval, or of a stream in a part of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Slowest operations.
    pub slowest: Slowest,
    /// Requests by the number outstanding when they were issued.
    pub depth: [u64; CLASSES],
    /// Submissions by their number of requests.
    pub submitted: [u64; CLASSES],
    /// Submission times by kind of command, in the order of [`SUBMITTED_WORDS`].
    pub submission: [Submission; SUBMITTED_KINDS],
    /// Waits by their number of completions.
    pub completed: [u64; CLASSES],
    /// Resource usage of the threads.
    pub usage: ThreadUsage,
    /// Tolerated failures of requests by the operation's discriminant and the system's error
    /// number.
    pub failures: BTreeMap<(u8, i32), u64>,
}

impl Ledger {
    /// Add the data of another job or interval.
    pub fn merge(&mut self, other: &Self) {
        self.slowest.merge(&other.slowest);
        self.usage.merge(&other.usage);
        self.submission.iter_mut().zip(&other.submission).for_each(|(mine, theirs)| mine.merge(theirs));
        other.failures.iter().for_each(|(of, count)| *self.failures.entry(*of).or_default() += count);
        let pairs = [
            (&mut self.depth, &other.depth),
            (&mut self.submitted, &other.submitted),
            (&mut self.completed, &other.completed),
        ];
        for (mine, theirs) in pairs {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// JSON of the event `stream_end`, without phase, stream and part.
    pub(crate) fn as_json(&self) -> Value {
        let slowest: Vec<Value> = self.slowest.list().iter().map(Slow::as_json).collect();
        let usage = self.usage;
        let used = SUBMITTED_WORDS.iter().zip(&self.submission).filter(|(_, submission)| submission.count > 0);
        let submission: BTreeMap<&str, Value> = used.map(|(word, submission)| (*word, submission.as_json())).collect();
        let failures = self.failures.iter().map(|(&(operation, error), count)| {
            json!({ "operation": OPERATION_WORDS[usize::from(operation)], "error": error, "count": count })
        });
        let failures: Vec<Value> = failures.collect();
        json!({
            "slowest": slowest, "failures": failures, "depth": self.depth, "submitted": self.submitted, "completed": self.completed,
            "submission": submission,
            "usage": {
                "user_ns": usage.user_ns, "system_ns": usage.system_ns, "switches": usage.switches,
                "major_faults": usage.major_faults, "minor_faults": usage.minor_faults,
            },
        })
    }
}

/// Class of a number of outstanding requests: 1, 2, 4, 8, 16, 32, 64 and more; each class ends
/// where the next begins.
#[inline]
pub fn depth_class(outstanding: u32) -> usize {
    (outstanding.max(1).ilog2() as usize).min(CLASSES - 1)
}

/// Class of a batch: none, 1 to 4, to 8, to 16, to 32, to 64, more.
#[inline]
pub fn batch_class(requests: u32) -> usize {
    match requests {
        0 => 0,
        1..=4 => 1,
        more => ((more - 1).ilog2() as usize).min(CLASSES - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowest_operations_are_kept_in_order() {
        let mut slowest = Slowest::default();
        for latency in (1..=1000).map(|k| k * 7919 % 1009) {
            slowest.see(Slow { latency, at: latency, ..Slow::default() });
        }
        let mut all: Vec<Nanos> = (1..=1000).map(|k| k * 7919 % 1009).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(slowest.list().iter().map(|slow| slow.latency).collect::<Vec<_>>(), all[..KEPT]);
        let mut two = Slowest::default();
        two.see(Slow { latency: 5000, ..Slow::default() });
        two.merge(&slowest);
        assert_eq!(two.list()[0].latency, 5000);
        assert_eq!(two.list()[1..], slowest.list()[..KEPT - 1]);
    }

    #[test]
    fn submissions_add_up_per_request() {
        let mut submission = Submission::default();
        submission.merge(&Submission::default());
        submission.add(2, 100);
        submission.add(1, 700);
        let mut other = Submission::default();
        other.add(4, 50);
        submission.merge(&other);
        let squares = 2.0 * 100.0 * 100.0 + 700.0 * 700.0 + 4.0 * 50.0 * 50.0;
        let expected = Submission { count: 7, ns_min: 50, ns_max: 700, ns_sum: 1100, ns_squares: squares };
        assert_eq!(submission, expected);
    }

    #[test]
    fn classes_begin_at_their_bounds() {
        let depths: Vec<usize> = [1, 2, 3, 4, 7, 8, 16, 32, 63, 64, 4096].into_iter().map(depth_class).collect();
        assert_eq!(depths, [0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6]);
        let batches: Vec<usize> = [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65].into_iter().map(batch_class).collect();
        assert_eq!(batches, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]);
    }
}
