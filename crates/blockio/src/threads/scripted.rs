//! Tests of the driver in scripted time: a queue whose completions come at the times, and in the
//! order, that a test sets.

use crate::arena::{Arena, Content};
use crate::clock::Clock;
use crate::error::BlockError;
use crate::io::{Kind, Queue, Reaped, Request};
use crate::target::Payload;
use crate::threads::driver::{Driver, EndSignal, JobContext};
use crate::threads::handover::{Handover, Next};
use crate::threads::message::{Ending, Message};
use crate::threads::recorder::{Recorder, Used};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use tameshi_base::{Nanos, Rate, Share, Time};
use tameshi_record::{Clock as Boundaries, EndedBy, IntervalStats, ThreadUsage};
use tameshi_workload::{Arrivals, Job, Placement, StreamSpec};

const US: Nanos = 1_000;
const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000_000_000;
/// Cost of one poll of the queue.
const POLL: Nanos = US / 2;

/// Clock that advances only while the queue waits.
struct ScriptedClock(Rc<Cell<Nanos>>);

impl Clock for ScriptedClock {
    fn now(&self) -> Nanos {
        self.0.get()
    }

    fn cpu(&self) -> Nanos {
        0
    }

    fn usage(&self) -> ThreadUsage {
        ThreadUsage::default()
    }
}

/// Fate of a request.
#[derive(Clone, Copy, Debug)]
struct Seen {
    started: Nanos,
    kind: Kind,
}

type Outcome = (Nanos, i32);

/// Queue that completes the n-th request after the time and with the result that `script` returns.
struct Scripted<F> {
    now: Rc<Cell<Nanos>>,
    /// Cost of submitting a request.
    submission: Nanos,
    seen: Rc<RefCell<Vec<Seen>>>,
    script: F,
    in_flight: Vec<(Nanos, Reaped)>,
    most: Rc<Cell<usize>>,
}

impl<F: FnMut(usize, &Request) -> Outcome> Queue for Scripted<F> {
    fn push(&mut self, request: Request) -> io::Result<bool> {
        let number = self.seen.borrow().len();
        self.seen.borrow_mut().push(Seen { started: self.now.get(), kind: request.kind });
        self.now.set(self.now.get() + self.submission);
        let (after, result) = (self.script)(number, &request);
        self.in_flight.push((self.now.get().saturating_add(after), Reaped { slot: request.slot, result }));
        self.most.set(self.most.get().max(self.in_flight.len()));
        Ok(true)
    }

    fn wait(&mut self, patience: Nanos, reaped: &mut Vec<Reaped>) -> io::Result<()> {
        let now = self.now.get();
        let first = self.in_flight.iter().map(|(at, _)| *at).min().unwrap_or(Nanos::MAX);
        self.now.set(if patience == 0 { now + POLL } else { first.clamp(now, now + patience) });
        let now = self.now.get();
        self.in_flight.retain(|(at, done)| {
            if *at <= now {
                reaped.push(*done);
            }
            *at > now
        });
        Ok(())
    }
}

struct Outcomes {
    ending: Result<Ending, BlockError>,
    drained: Result<(), BlockError>,
    intervals: Vec<IntervalStats>,
    seen: Vec<Seen>,
    most: usize,
    outstanding: u32,
    /// Requests started after the end of a job that had moved all its bytes.
    bridged: usize,
}

impl Outcomes {
    fn count(&self, operation: usize) -> u64 {
        self.intervals.iter().map(|stats| stats.operations[operation].count).sum()
    }

    fn latency(&self, operation: usize) -> hdr::Latency {
        hdr::sum(self.intervals.iter().map(|stats| &stats.operations[operation]))
    }
}

/// Sum over all intervals.
fn sum(run: &Outcomes, of: impl Fn(&IntervalStats) -> u64) -> u64 {
    run.intervals.iter().map(of).sum()
}

mod hdr {
    use tameshi_record::OpStats;

    /// Latencies of all intervals.
    pub(super) struct Latency {
        pub(super) p50: u64,
        pub(super) p999: u64,
        pub(super) max: u64,
    }

    pub(super) fn sum<'a>(mut parts: impl Iterator<Item = &'a OpStats>) -> Latency {
        let mut all = parts.next().expect("an interval").latency.clone();
        parts.for_each(|part| all.add(&part.latency));
        let all = all.histogram();
        Latency { p50: all.value_at_quantile(0.5), p999: all.value_at_quantile(0.999), max: all.max() }
    }
}

/// Bytes of the scripted storage.
const STORAGE: u64 = 1 << 20;

/// Settings of a scripted run that a test may change.
struct Scenario {
    /// Length of the target's payload, whatever the spec says.
    payload_bytes: u64,
    time: Option<Nanos>,
    budget_bytes: Option<u64>,
    halt: bool,
    /// Cost of submitting a request.
    submission: Nanos,
}

impl Default for Scenario {
    fn default() -> Self {
        Self { payload_bytes: STORAGE, time: Some(SECOND), budget_bytes: None, halt: false, submission: 0 }
    }
}

/// Run one job whose phase lasts `time`, or until `budget_bytes` were moved, on the scripted queue.
fn drive(
    spec: &StreamSpec,
    time: Option<Nanos>,
    budget_bytes: Option<u64>,
    halt: bool,
    script: impl FnMut(usize, &Request) -> Outcome,
) -> Outcomes {
    drive_on(Scenario { time, budget_bytes, halt, ..Scenario::default() }, spec, script)
}

fn drive_on(scenario: Scenario, spec: &StreamSpec, script: impl FnMut(usize, &Request) -> Outcome) -> Outcomes {
    let Scenario { payload_bytes, time, budget_bytes, halt, submission } = scenario;
    let (now, seen, most) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
    let queue = Scripted {
        now: now.clone(),
        submission,
        seen: seen.clone(),
        script,
        in_flight: Vec::new(),
        most: most.clone(),
    };
    let (sender, messages) = channel();
    let (_keep, returned) = channel();
    let place =
        Placement { stream: 0, job: 0, storage_bytes: STORAGE, begin: 0, budget_bytes, seed: 1, name: "scripted" };
    let context = JobContext {
        storage: "disk".into(),
        payload: Payload::of(4096, payload_bytes),
        depth: spec.most_outstanding(),
        open_loop: spec.arrivals != Arrivals::Closed,
        sync: JobContext::sync_kind(spec),
        end: time,
        end_signal: Arc::new(EndSignal::default()),
        linked_ends: Vec::new(),
        call: None,
        tolerates: Vec::new(),
        handover: Arc::new(Handover::of(1)),
    };
    let mut recorder = Recorder::new(0, std::iter::once(spec), sender, returned);
    recorder.begin(0, 0, 0, Boundaries::new(0, 0, 100 * MS), Used::default());
    let arena = Arena::new(spec.most_outstanding(), spec.longest_command().0, 1, 0, 0).expect("memory");
    let (clock, halt) = (ScriptedClock(now), AtomicBool::new(halt));
    let mut driver = Driver::new(context, Job::new(spec, place), queue, arena, recorder, &clock, &halt);
    let ending = driver.run(0);
    let before = seen.borrow().len();
    if ending.as_ref().is_ok_and(|ending| ending.by == EndedBy::Amount) {
        driver.continue_until_next(|| Next::Unknown).expect("no error");
    }
    let bridged = seen.borrow().len() - before;
    let drained = driver.drain();
    let outstanding = driver.outstanding();
    drop(driver);
    let intervals = messages.iter().filter_map(|message| match message {
        Message::Interval { stats, .. } => Some(*stats),
        _ => None,
    });
    let seen = seen.borrow().clone();
    Outcomes { ending, drained, intervals: intervals.collect(), seen, most: most.get(), outstanding, bridged }
}

fn constant(rate_per_second: u64, queue_depth: u32) -> StreamSpec {
    StreamSpec {
        arrivals: Arrivals::Constant { rate: Rate(rate_per_second * 1000) },
        queue_depth,
        ..StreamSpec::default()
    }
}

fn whole(request: &Request) -> i32 {
    request.length as i32
}

#[test]
fn stalled_request_delays_no_other_arrival() {
    let stalled = |number, request: &Request| (if number == 100 { 300 * MS } else { 80 * US }, whole(request));
    let run = drive(&constant(1000, 8), Some(SECOND), None, false, stalled);
    assert_eq!(*run.ending.as_ref().expect("no error"), Ending { at: SECOND, by: EndedBy::Time });
    assert_eq!(run.count(0), 1000);
    let latency = run.latency(0);
    assert!((79 * US..81 * US).contains(&latency.p50), "median {}", latency.p50);
    assert!(latency.max >= 300 * MS, "max {}", latency.max);
    for (number, seen) in run.seen.iter().enumerate() {
        let lateness = seen.started - number as u64 * MS;
        assert!(lateness <= POLL, "request {number} started {lateness} ns late");
    }
    assert!(run.intervals.iter().all(|stats| stats.late == 0 && stats.unserved == 0));

    let often =
        |number: usize, request: &Request| (if number % 500 == 100 { 300 * MS } else { 80 * US }, whole(request));
    assert!(drive(&constant(1000, 8), Some(SECOND), None, false, often).latency(0).p999 >= 300 * MS);
}

#[test]
fn arrivals_during_a_full_stall_count_from_intended_start() {
    let stalled = |number, request: &Request| (if number == 100 { 300 * MS } else { 80 * US }, whole(request));
    let run = drive(&constant(1000, 1), Some(SECOND), None, false, stalled);
    let late: u64 = run.intervals.iter().map(|stats| stats.late).sum();
    assert!((300..330).contains(&late), "{late} late");
    assert_eq!(run.count(0), 1000, "the backlog is worked off within the second");
    let latency = run.latency(0);
    assert!(latency.p999 > 290 * MS && latency.p50 < 100 * US, "{} {}", latency.p50, latency.p999);
}

#[test]
fn latencies_beyond_17_s_keep_their_percentiles() {
    let spec = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let stalled = |number: usize, request: &Request| (if number == 0 { 20 } else { 94 } * SECOND, whole(request));
    let latency = drive(&spec, Some(1000 * SECOND), None, false, stalled).latency(0);
    for found in [latency.p50, latency.p999, latency.max] {
        assert!(found.abs_diff(94 * SECOND) < SECOND / 5, "{found}");
    }
}

#[test]
fn arrivals_without_a_free_slot_are_counted_as_unserved() {
    let run = drive(&constant(1000, 1), Some(SECOND), None, false, |_, request| (10 * MS, whole(request)));
    let unserved: u64 = run.intervals.iter().map(|stats| stats.unserved).sum();
    assert_eq!(run.seen.len() as u64 + unserved, 1000);
    assert_eq!(run.intervals.last().map(|stats| stats.unserved), Some(unserved));
    assert_eq!(run.outstanding, 0);
}

#[test]
fn completions_out_of_order_complete_each_request_once() {
    let spec = StreamSpec { queue_depth: 16, ..StreamSpec::default() };
    let shuffled = |number: usize, request: &Request| ((number as u64 * 7919 % 97 + 1) * US, whole(request));
    let run = drive(&spec, None, Some(1000 * 4096), false, shuffled);
    assert_eq!(run.ending.as_ref().expect("no error").by, EndedBy::Amount);
    assert_eq!((run.seen.len(), run.count(0), run.outstanding), (1000, 1000, 0));
    assert_eq!(run.most, 16);
}

#[test]
fn completion_is_taken_before_the_queue_is_full() {
    let spec = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let slow_sibling = |number, request: &Request| (if number == 0 { 50 * MS } else { 100 * US }, whole(request));
    let run = drive(&spec, Some(40 * MS), None, false, slow_sibling);
    assert_eq!(run.count(0), 3 * 400 - 3, "three slots go on every 100 µs; those that end with the phase don't count");
    assert_eq!(run.latency(0).max / US, 100);
    assert_eq!(run.outstanding, 0, "the slow one was drained");
}

#[test]
fn intervals_tile_the_phase_even_during_a_stall() {
    let spec = StreamSpec { think_time: Time(MS), ..StreamSpec::default() };
    let stalled = |number, request: &Request| (if number == 9 { 430 * MS } else { 100 * US }, whole(request));
    let run = drive(&spec, Some(950 * MS), None, false, stalled);
    let bounds: Vec<_> = run.intervals.iter().map(|stats| (stats.begin / MS, stats.end / MS)).collect();
    let expected: Vec<_> = (0..10).map(|k| (k * 100, (k * 100 + 100).min(950))).collect();
    assert_eq!(bounds, expected);
}

#[test]
fn commits_are_counted_per_write_without_polling() {
    let sync = Some(tameshi_workload::Sync::Fsync { every: 1 });
    let spec = StreamSpec { read: Share(0), sync, ..StreamSpec::default() };
    let run = drive(&spec, None, Some(10 * 4096), false, |_, request| (200 * US, whole(request)));
    assert_eq!([1, 2, 3].map(|operation| run.count(operation)), [10, 10, 10]);
    assert!(run.latency(3).max.abs_diff(400 * US) < US);
    assert!(run.seen.iter().skip(1).step_by(2).all(|seen| seen.kind == Kind::SyncAll));
}

#[test]
fn error_ends_the_job_and_drains_its_requests() {
    let spec = StreamSpec { queue_depth: 4, read: Share(0), ..StreamSpec::default() };
    let full = |number, request: &Request| (100 * US, if number == 5 { -libc::ENOSPC } else { whole(request) });
    let run = drive(&spec, Some(SECOND), None, false, full);
    let text = run.ending.expect_err("the device is full").to_string();
    assert!(text.starts_with("write of 4096 bytes at offset "), "{text}");
    assert!(text.ends_with("of storage `disk` failed: No space left on device (os error 28)"), "{text}");
    assert_eq!(run.outstanding, 0);
    assert!(run.drained.is_ok());

    let short = |number, request: &Request| (100 * US, if number == 5 { 512 } else { whole(request) });
    let text = drive(&spec, Some(SECOND), None, false, short).ending.expect_err("a short write").to_string();
    assert!(text.contains("moved only 512 bytes"), "{text}");
}

#[test]
fn request_without_completion_is_given_up_after_30_s() {
    let spec = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let lost = |number, request: &Request| (if number % 2 == 0 { Nanos::MAX } else { 100 * US }, whole(request));
    let run = drive(&spec, Some(SECOND), None, false, lost);
    assert_eq!(run.ending.expect("the phase ends on time").at, SECOND);
    let text = run.drained.expect_err("requests are lost").to_string();
    assert_eq!(text, "4 requests to storage `disk` are outstanding and none completed for 30 s");
    assert_eq!(run.outstanding, 4);
}

#[test]
fn halted_job_issues_nothing() {
    let run = drive(&constant(1000, 4), Some(SECOND), None, true, |_, request| (US, whole(request)));
    assert_eq!(run.ending.expect("no error").by, EndedBy::Stopped);
    assert!(run.seen.is_empty());
}

#[test]
fn request_outside_the_payload_is_not_submitted() {
    let mut furthest = 0;
    let half = Scenario { payload_bytes: STORAGE / 2, ..Scenario::default() };
    let run = drive_on(half, &StreamSpec::default(), |_, request| {
        furthest = furthest.max(request.offset + u64::from(request.length));
        (US, whole(request))
    });
    let text = run.ending.expect_err("the storage is larger than the target").to_string();
    assert!(text.starts_with("read of 4096 bytes at offset "), "{text}");
    assert!(text.ends_with("lies outside the payload of 524288 bytes and was not submitted"), "{text}");
    assert!(furthest <= 4096 + STORAGE / 2);
}

#[test]
fn slow_device_delays_starts_while_the_generator_waits() {
    let run = drive(&constant(1000, 1), Some(SECOND), None, false, |_, request| (10 * MS, whole(request)));
    let started = sum(&run, |stats| stats.slip.spent.count);
    assert_eq!(started, run.seen.len() as u64);
    assert!(sum(&run, |stats| stats.slip.spent.ns_sum) / started > 400 * MS, "half a second on average");
    assert_eq!(sum(&run, |stats| stats.lag.spent.ns_sum), 0, "each starts as soon as the slot is free");
    assert_eq!(sum(&run, |stats| stats.reap.ns_sum), 0, "submitting takes no time here");
    assert_eq!(sum(&run, |stats| stats.in_flight_ns), SECOND, "one request all the time");
    // One a millisecond arrives, one in ten starts.
    let mean = sum(&run, |stats| stats.waiting_ns) as f64 / SECOND as f64;
    assert!((mean - 449.5).abs() < 1.0, "{mean}");
}

#[test]
fn saturated_generator_lags_and_never_waits() {
    let busy = Scenario { submission: 20 * US, ..Scenario::default() };
    let run = drive_on(busy, &constant(100_000, 64), |_, request| (30 * US, whole(request)));
    let served = run.seen.len() as u64;
    assert!((49_000..=50_000).contains(&served), "{served}: one each 20 µs");
    assert!(sum(&run, |stats| stats.unserved) >= 49_000);
    let away = sum(&run, |stats| stats.reap.ns_sum);
    assert!(away > SECOND * 95 / 100, "{away} ns of the second were spent on submitting");
    let longest = run.intervals.iter().map(|stats| stats.lag.spent.ns_max).max();
    assert!(longest.is_some_and(|longest| longest > MS), "up to 64 are submitted before the first is looked for");
    let kept =
        drive_on(Scenario { submission: 2 * US, ..Scenario::default() }, &constant(100_000, 64), |_, request| {
            (30 * US, whole(request))
        });
    assert_eq!(sum(&kept, |stats| stats.unserved), 0);
    let away = sum(&kept, |stats| stats.reap.ns_sum);
    assert!((SECOND / 6..SECOND / 4).contains(&away), "{away}: 2 µs of each 10");
    assert!(kept.intervals.iter().all(|stats| stats.lag.spent.ns_max < 5 * US));
}

#[test]
fn closed_loop_has_no_start_delay() {
    let spec = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let busy = Scenario { submission: 5 * US, ..Scenario::default() };
    let run = drive_on(busy, &spec, |_, request| (100 * US, whole(request)));
    assert_eq!(sum(&run, |stats| stats.slip.spent.count + stats.lag.spent.count + stats.late), 0);
    let reaps = run.intervals.iter().map(|stats| stats.reap.ns_max).max();
    assert_eq!(reaps, Some(20 * US), "all four at the begin, before the first wait");
}

#[test]
fn late_sync_is_no_late_start() {
    let spec =
        StreamSpec { read: Share(0), sync: Some(tameshi_workload::Sync::Fdatasync { every: 1 }), ..constant(100, 1) };
    let busy = Scenario { submission: MS, ..Scenario::default() };
    let run = drive_on(busy, &spec, |_, request| (2 * MS, whole(request)));
    assert_eq!((sum(&run, |stats| stats.slip.spent.count), sum(&run, |stats| stats.late)), (100, 0));
}

#[test]
fn durable_write_carries_the_flag_in_the_request() {
    let spec = StreamSpec { read: Share(0), sync: Some(tameshi_workload::Sync::Dsync), ..StreamSpec::default() };
    let run = drive(&spec, None, Some(10 * 4096), false, |_, request| (200 * US, whole(request)));
    assert!(run.seen.iter().all(|seen| seen.kind == Kind::WriteDurable));
    assert_eq!([1, 2, 3].map(|operation| run.count(operation)), [10, 0, 10]);
    assert!(run.latency(3).max.abs_diff(200 * US) < US);
}

/// Result of two phases, one after the other on the same thread.
struct Passed {
    /// When each request started.
    starts: Vec<Nanos>,
    /// Requests recorded in each phase.
    counts: [u64; 2],
    /// Start of the second phase.
    begin: Nanos,
    /// Time at which the first phase had nothing in flight any more.
    drained: Option<(u32, Nanos)>,
    most: usize,
}

/// Run two phases of 10 ms. The start of the second is known `verdict` after the end of the first.
/// `script` gives each request's duration.
fn pass(specs: [&StreamSpec; 2], verdict: Nanos, slots: u32, script: impl FnMut(usize, &Request) -> Outcome) -> Passed {
    let (now, seen, most) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
    let queue = Scripted {
        now: now.clone(),
        submission: 0,
        seen: seen.clone(),
        script,
        in_flight: Vec::new(),
        most: most.clone(),
    };
    let (sender, messages) = channel();
    let (_keep, returned) = channel();
    let place =
        |begin, name| Placement { stream: 0, job: 0, storage_bytes: STORAGE, begin, budget_bytes: None, seed: 1, name };
    let context = |spec: &StreamSpec, end| JobContext {
        storage: "disk".into(),
        payload: Payload::of(4096, STORAGE),
        depth: spec.most_outstanding(),
        open_loop: spec.arrivals != Arrivals::Closed,
        sync: JobContext::sync_kind(spec),
        end: Some(end),
        end_signal: Arc::new(EndSignal::default()),
        linked_ends: Vec::new(),
        call: None,
        tolerates: Vec::new(),
        handover: Arc::new(Handover::of(1)),
    };
    let bounds = |begin| Boundaries::new(begin, 0, 100 * MS);
    let recorder = Recorder::new(0, specs.into_iter(), sender, returned);
    let arena = Arena::new(slots, 65_536, 1, 0, 0).expect("memory");
    let (clock, halt) = (ScriptedClock(now.clone()), AtomicBool::new(false));
    let job = Job::new(specs[0], place(0, "first"));
    let mut driver = Driver::new(context(specs[0], 10 * MS), job, queue, arena, recorder, &clock, &halt);
    driver.recorder().begin(0, 0, 0, bounds(0), Used::default());
    let end = driver.run(0).expect("no error").at;
    assert_eq!(end, 10 * MS);
    let begin = end + verdict;
    driver
        .continue_until_next(|| if now.get() < begin { Next::Unknown } else { Next::Begins(begin) })
        .expect("no error");
    let job = Job::new(specs[1], place(begin, "second"));
    driver.take_over(context(specs[1], begin + 10 * MS), job, Content::of(specs[1]), false).expect("no error");
    driver.recorder().begin(1, 0, begin, bounds(begin), Used::default());
    driver.run(begin).expect("no error");
    let drained = driver.drained();
    driver.drain().expect("no error");
    drop(driver);
    let mut counts = [0; 2];
    for message in messages.iter() {
        if let Message::Interval { stats, .. } = message {
            counts[stats.phase as usize] += stats.operations.iter().map(|op| op.count).sum::<u64>();
        }
    }
    let starts = seen.borrow().iter().map(|seen| seen.started).collect();
    Passed { starts, counts, begin, drained, most: most.get() }
}

/// Longest time between two starts of requests.
fn longest_pause(starts: &[Nanos]) -> Nanos {
    starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(Nanos::MAX)
}

#[test]
fn next_phase_starts_without_pause_and_counts_once() {
    let deep = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    // Durations that never bring the requests of four slots into step.
    let uneven = |number: usize, request: &Request| (100 * US + (number as u64 * 7919 % 13) * US, whole(request));
    for verdict in [0, 3 * MS] {
        let passed = pass([&deep, &deep], verdict, 4, uneven);
        assert!(longest_pause(&passed.starts) <= 112 * US, "no more than one request's time");
        assert_eq!(passed.most, 4, "one of the new phase for each that completes");
        let unrecorded = passed.starts.len() as u64 - passed.counts[0] - passed.counts[1];
        let between = passed.starts.iter().filter(|at| (10 * MS..passed.begin).contains(at)).count() as u64;
        assert!((between + 4..=between + 12).contains(&unrecorded), "{unrecorded} are of no phase, {between} between");
        for (count, expected) in passed.counts.iter().zip([4 * 94, 4 * 94]) {
            assert!(count.abs_diff(expected) < 16, "{count}");
        }
        let (phases, drained) = passed.drained.expect("the first phase is over");
        assert!(phases == 1 && (passed.begin..passed.begin + 113 * US).contains(&drained), "{drained}");
    }
}

#[test]
fn stalled_request_of_the_last_phase_keeps_one_slot() {
    let deep = StreamSpec { queue_depth: 4, ..StreamSpec::default() };
    let mut stalled = false;
    let script = |_: usize, request: &Request| {
        let stalls = !std::mem::replace(&mut stalled, true);
        (if stalls { 15 * MS } else { 100 * US }, whole(request))
    };
    let passed = pass([&deep, &deep], 0, 4, script);
    assert!(longest_pause(&passed.starts) <= 100 * US);
    assert_eq!(passed.counts[0], 3 * 100 - 3, "three slots go on; those that end with the phase don't count");
    let second = 3 * 50 + 4 * 50;
    assert!(passed.counts[1].abs_diff(second) <= 8, "{}", passed.counts[1]);
    assert_eq!(passed.drained, Some((1, 15 * MS)));
}

#[test]
fn open_loop_arrivals_do_not_wait_for_the_last_phase() {
    let deep = StreamSpec { queue_depth: 8, ..StreamSpec::default() };
    let slow_first = |number: usize, request: &Request| (if number < 500 { 4 * MS } else { 50 * US }, whole(request));
    let passed = pass([&deep, &constant(1000, 8)], 0, 16, slow_first);
    let late: Vec<Nanos> = passed.starts.iter().copied().filter(|at| *at >= passed.begin).collect();
    assert_eq!(late.len(), 10);
    for (number, at) in late.iter().enumerate() {
        assert!(at - passed.begin - number as u64 * MS <= POLL, "request {number} starts at {at}");
    }
}

#[test]
fn amount_is_not_exceeded_between_phases() {
    let run = drive(&StreamSpec::default(), None, Some(10 * 4096), false, |_, request| (100 * US, whole(request)));
    assert_eq!(run.seen.len(), 10);
    assert_eq!(run.bridged, 0, "nothing is left to go on with");
}
