//! Interval statistics of one job, sent to the thread that writes the record.

use crate::threads::message::Message;
use std::sync::mpsc::{Receiver, Sender};
use tameshi_base::Nanos;
use tameshi_record::ledger::{SUBMITTED_KINDS, batch_class, depth_class};
use tameshi_record::operation::OPERATION_COUNT;
use tameshi_record::{Clock as Boundaries, IntervalStats, Part, Slow, ThreadUsage};
use tameshi_workload::{Arrivals, Completion, Issue, Job, OPERATIONS, Operation, QueueTime, StreamSpec};

/// Lateness threshold: an open-loop request issued later than this after its intended start counts
/// as late.
pub const LATE_NS: Nanos = 50_000;
/// Latency up to which histograms allocate in advance.
const EXPECTED_LATENCY: Nanos = 1_000_000_000;
/// Statistics per job: one being filled, one at the writer, one spare.
const SPARES: usize = 3;

/// Requests of one submission per kind of command.
pub(crate) type Batch = [u32; SUBMITTED_KINDS];

/// Resources that a job's threads have used since they began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// Processor time, including helper threads.
    pub(crate) cpu: Nanos,
    /// Usage of the job's own thread.
    pub(crate) thread: ThreadUsage,
}

/// Current interval's statistics; exchanges full ones for empty ones.
pub(crate) struct Recorder {
    worker: usize,
    phase: u32,
    sender: Sender<Message>,
    returned: Receiver<Box<IntervalStats>>,
    #[expect(clippy::vec_box, reason = "boxes travel to the writer and come back")]
    spares: Vec<Box<IntervalStats>>,
    stats: Box<IntervalStats>,
    boundaries: Boundaries,
    boundary: Nanos,
    used: Used,
}

impl Recorder {
    /// Allocate statistics for jobs of `streams`; call [`Self::begin`] before anything else.
    pub(crate) fn new<'a>(
        worker: usize,
        streams: impl Iterator<Item = &'a StreamSpec> + Clone,
        sender: Sender<Message>,
        returned: Receiver<Box<IntervalStats>>,
    ) -> Self {
        let empty = || {
            let mut stats = Box::new(IntervalStats::new(0, 0, Part::Ramp, 0));
            let expected = |&operation: &usize| streams.clone().any(|spec| is_expected(operation, spec));
            (0..OPERATION_COUNT).filter(expected).for_each(|operation| {
                stats.expect(Some(operation), EXPECTED_LATENCY);
            });
            if streams.clone().any(|spec| spec.arrivals != Arrivals::Closed) {
                stats.expect(None, EXPECTED_LATENCY);
            }
            stats
        };
        Self {
            worker,
            phase: 0,
            sender,
            returned,
            spares: (1..SPARES).map(|_| empty()).collect(),
            stats: empty(),
            boundaries: Boundaries::new(0, 0, 1),
            boundary: 0,
            used: Used::default(),
        }
    }

    /// Begin a phase at `begin`; `used`, and counts since the last phase, are not part of it.
    pub(crate) fn begin(&mut self, phase: u32, stream: u16, begin: Nanos, boundaries: Boundaries, used: Used) {
        (self.phase, self.boundaries, self.used) = (phase, boundaries, used);
        self.boundary = self.boundaries.boundary_after(begin);
        self.stats.stream = stream;
        self.stats.restart(phase, self.boundaries.part(begin), begin);
    }

    /// End of the current interval.
    #[inline]
    pub(crate) fn boundary(&self) -> Nanos {
        self.boundary
    }

    /// Count an operation whose completion was seen at `now`, and the commits of a group that ended
    /// with it.
    #[inline]
    pub(crate) fn record(&mut self, completion: Completion, commits: &[Nanos], now: Nanos, offset_bytes: u64) {
        self.stats.record(completion.operation as usize, completion.bytes, completion.latency);
        self.stats.service_ns_sum += completion.service;
        self.stats.ledger.slowest.see(Slow {
            latency: completion.latency,
            at: now,
            offset_bytes,
            length_bytes: completion.bytes as u32,
            operation: completion.operation as u8,
        });
        for &latency in completion.commit.iter().chain(commits) {
            self.stats.record(Operation::Commit as usize, 0, latency);
        }
    }

    /// Count a failed request that ends nothing, by the system's error number.
    #[cold]
    pub(crate) fn failed(&mut self, operation: Operation, error: i32) {
        self.stats.failed += 1;
        *self.stats.ledger.failures.entry((operation as u8, error)).or_default() += 1;
    }

    /// Count a scheduled request that starts at `now`.
    #[inline]
    pub(crate) fn started(&mut self, now: Nanos, issue: &Issue) {
        let slip = now.saturating_sub(issue.intended);
        self.stats.late += u64::from(slip > LATE_NS);
        self.stats.started(slip, now.saturating_sub(issue.ready));
    }

    /// Count a request issued with `outstanding` requests in flight, itself included.
    #[inline]
    pub(crate) fn issued(&mut self, outstanding: u32) {
        self.stats.ledger.depth[depth_class(outstanding)] += 1;
    }

    /// Count a submission of `requests` requests to the system.
    #[inline]
    pub(crate) fn submitted(&mut self, requests: u32) {
        self.stats.ledger.submitted[batch_class(requests)] += 1;
    }

    /// Count a submission of `requests` per kind that took `length`.
    #[inline]
    pub(crate) fn handed_over(&mut self, requests: &Batch, length: Nanos) {
        for (submission, &requests) in self.stats.ledger.submission.iter_mut().zip(requests) {
            if requests > 0 {
                submission.add(requests, length);
            }
        }
    }

    /// Count a wait that returned `completions` completions.
    #[inline]
    pub(crate) fn completed(&mut self, completions: usize) {
        self.stats.ledger.completed[batch_class(completions as u32)] += 1;
    }

    /// Count a period of work between two waits.
    #[inline]
    pub(crate) fn worked(&mut self, length: Nanos) {
        self.stats.reap.add(length);
    }

    /// Send every interval that has ended by `now`; `used` is the usage so far.
    pub(crate) fn rotate(&mut self, now: Nanos, used: Used, job: &mut Job) {
        while now >= self.boundary {
            let (boundary, stream) = (self.boundary, self.stats.stream);
            self.send(boundary, used, job);
            self.stats.stream = stream;
            self.stats.restart(self.phase, self.boundaries.part(boundary), boundary);
            self.boundary = self.boundaries.boundary_after(boundary);
        }
    }

    /// Send the last interval at the job's end.
    pub(crate) fn close(&mut self, end: Nanos, used: Used, job: &mut Job) {
        while end > self.boundary {
            self.rotate(self.boundary, used, job);
        }
        let unserved = job.unserved_before(end);
        self.stats.unserved = unserved;
        let empty = end <= self.stats.begin && unserved == 0 && self.stats.operations.iter().all(|op| op.count == 0);
        if !empty {
            self.send(end, used, job);
        }
    }

    fn send(&mut self, end: Nanos, used: Used, job: &mut Job) {
        self.spares.extend(self.returned.try_iter());
        let fresh = || Box::new(IntervalStats::new(self.phase, self.stats.stream, Part::Ramp, end));
        let spare = self.spares.pop().unwrap_or_else(fresh);
        let mut stats = std::mem::replace(&mut self.stats, spare);
        stats.end = end;
        let QueueTime { in_flight_ns, waiting_ns } = job.take_queue_time(end);
        (stats.in_flight_ns, stats.waiting_ns) = (in_flight_ns, waiting_ns);
        stats.generator_cpu_ns = used.cpu.saturating_sub(self.used.cpu);
        stats.ledger.usage = used.thread.since(&self.used.thread);
        self.used = used;
        // After a failed run the receiver is gone.
        let _ = self.sender.send(Message::Interval { worker: self.worker, stats });
    }
}

/// Return whether the stream will record the operation.
fn is_expected(operation: usize, spec: &StreamSpec) -> bool {
    let (reads, trims, writes) = (spec.read.0 > 0 || spec.lsm.is_some(), spec.trims(), spec.written().0 > 0);
    let flushed = spec.page_flush.is_some() || spec.sync.is_some_and(|sync| !sync.with_each_write());
    match OPERATIONS.get(operation) {
        Some(Operation::Read) => reads,
        Some(Operation::Write) => writes,
        Some(Operation::Sync) => writes && (flushed || spec.sync_at_end),
        Some(Operation::Commit) => writes && (flushed || spec.sync.is_some()),
        Some(Operation::Trim) => trims,
        None => false,
    }
}
