//! Extrapolation of a phase's rest: work, counters and server state of each piece.
//!
//! Counters follow the work. A counter that changed with the driver of the pace, by more than
//! chance, goes on changing with it. While a buffer pool fills, page reads decline, and so does the
//! time that waits for them.

use super::decay::Decay;
use super::segment::Segment;
use super::sums::Sums;
use super::windows::SteadyPace;
use crate::database::{Snapshot, Totals, WAIT_REASONS};
use tameshi_base::Nanos;
use tameshi_record::Share;

/// Elasticity of clients' processor time, relative to that of their waits, when the parts of their
/// time are balanced.
const WORK_ELASTICITY: f64 = 0.1;

/// Shares of the window that a piece of the rest repeats.
pub(super) struct Shares {
    /// Share of the window's work.
    pub(super) work: Share,
    /// Share of the window's time.
    pub(super) time: Share,
    /// Per counter, if it does not follow the work.
    counters: Vec<Share>,
    /// Per kind of transaction, the share of its time, if it does not follow the time.
    kinds: Vec<Share>,
}

impl Shares {
    /// Shares of a simulated segment: all of it.
    pub(super) const ALL: Self = Self { work: Share::ALL, time: Share::ALL, counters: Vec::new(), kinds: Vec::new() };

    /// Share of a counter, if it does not follow the work.
    pub(super) fn counter(&self, place: usize) -> Option<Share> {
        self.counters.get(place).copied()
    }

    /// Share of the time of a kind of transaction.
    pub(super) fn time_of(&self, kind: usize) -> Share {
        self.kinds.get(kind).copied().unwrap_or(self.time)
    }
}

/// Trend of a counter over the rest.
#[derive(Clone, Copy)]
enum Trend {
    /// Change per unit of the pace's driver.
    Drift(f64),
    /// Decline with the page reads of a filling pool.
    Decays(Decay),
}

/// Progress of a counter over the rest, as time of the window.
struct Counter {
    trend: Trend,
    /// Sum in the window.
    sum: u64,
    at: Nanos,
}

impl Counter {
    fn new(sum: u64, trend: Trend) -> Self {
        Self { trend, sum, at: 0 }
    }

    /// Return the progress when `passed` of the rest has passed; without trend it were `time` in
    /// all.
    fn gain(&self, pace: &SteadyPace, passed: Nanos, time: Nanos) -> f64 {
        let (passed, time) = (passed as f64, time as f64);
        let all = match self.trend {
            Trend::Drift(drift) => time * pace.factor(drift, passed),
            Trend::Decays(decay) => passed * decay.factor(passed),
        };
        (all - self.at as f64).max(0.0)
    }
}

/// Progress of the time of a kind of transaction, which changes as its waits do.
struct KindTime {
    /// Time per reason to wait, in the window.
    spent: [Nanos; WAIT_REASONS],
    /// Decline of the kind's own page reads, if they decline.
    reads: Option<Decay>,
    sum: u64,
    at: Nanos,
}

impl KindTime {
    fn new(spent: [Nanos; WAIT_REASONS], reads: Option<Decay>) -> Self {
        Self { sum: spent.iter().sum(), spent, reads, at: 0 }
    }

    /// Return the progress in a piece, given that of the clients' waits.
    fn gain(&self, (from, to): (f64, f64), waits: &[Gain]) -> Gain {
        let reads = self.reads.map(|reads| to * reads.factor(to) - from * reads.factor(from));
        let of = |why: usize| match reads {
            Some(time) if why == Totals::READING => Gain { time, elasticity: 0.0 },
            _ => waits[why],
        };
        let shares = self.spent.iter().map(|spent| *spent as f64 / self.sum.max(1) as f64);
        shares.zip((0..).map(of)).fold(Gain { time: 0.0, elasticity: 0.0 }, |sum, (share, of)| Gain {
            time: sum.time + share * of.time,
            elasticity: sum.elasticity + share * of.elasticity,
        })
    }
}

/// Progress in a piece, as time of the window, and its weight when parts are balanced.
#[derive(Clone, Copy)]
struct Gain {
    time: f64,
    elasticity: f64,
}

/// Rest of a phase after a window of simulated blocks.
pub(super) struct Extrapolation {
    pace: SteadyPace,
    /// The window's blocks as one segment.
    pub(super) window: Segment,
    counters: Vec<Counter>,
    kinds: Vec<KindTime>,
    snapshot: Snapshot,
    /// Change of dirty pages per unit of the pace's driver.
    dirty: f64,
    /// Bytes of pages that the window's transactions made: the pool's growth without reads.
    made: f64,
    /// Begin and end of the current piece, since the begin of the rest.
    piece: (Nanos, Nanos),
}

impl Extrapolation {
    /// Extrapolation of the latest blocks; `blocks` has at least as many before them.
    pub(super) fn new(pace: SteadyPace, blocks: &[Segment]) -> Self {
        let pair = &blocks[blocks.len() - 2 * pace.blocks..];
        let (before, window) = pair.split_at(pace.blocks);
        let (first, later) = window.split_first().expect("a block");
        let mut whole = first.clone();
        later.iter().for_each(|block| whole.append(block));
        let is_filling = reads_decline(before, window);
        let passed = Sums::of(blocks).length;
        let decay = |of: &dyn Fn(&Segment) -> u64| {
            let sums = [before, window].map(|blocks| sum(blocks, |block| of(block) as f64));
            Decay::of(sums, whole.length as f64, passed)
        };
        let counter = |place: usize| {
            let per = |block: &Segment| {
                let of = if Totals::WAITING.contains(&place) { block.length } else { block.transactions().max(1) };
                block.counted.drifts_with(place) as f64 / of as f64
            };
            let comes_in = is_filling && Totals::COME_IN.contains(&place);
            let trend = if comes_in {
                Trend::Decays(decay(&|block| block.counted.value(place)))
            } else {
                Trend::Drift(pace.drift_of(per, pair))
            };
            Counter::new(whole.counted.value(place), trend)
        };
        let kind = |place: usize| {
            let reading = |block: &Segment| block.counted.spent_by(place)[Totals::READING];
            let reads = is_filling.then(|| decay(&reading));
            KindTime::new(whole.counted.spent_by(place), reads)
        };
        let snapshots: Vec<Snapshot> = window.iter().map(|block| block.snapshot.1).collect();
        let grown = snapshots[snapshots.len() - 1].pool - window[0].snapshot.0.pool;
        Self {
            counters: Totals::PLACES.map(counter).collect(),
            kinds: (0..whole.kinds.len()).map(kind).collect(),
            snapshot: Snapshot::mean(&snapshots).expect("a block"),
            dirty: pace.drift_of(|block| block.snapshot.1.dirty, pair),
            made: (grown - whole.counted.read_bytes()).max(0.0),
            window: whole,
            pace,
            piece: (0, 0),
        }
    }

    /// Move to the next piece, which ends when `passed` of the rest has passed.
    pub(super) fn next_piece(&mut self, passed: Nanos) -> Shares {
        let (pace, whole) = (&self.pace, self.window.length);
        self.piece = (self.piece.1, passed);
        let (from, to) = self.piece;
        let piece = (from, to, whole);
        let span = |of: &dyn Fn(Nanos) -> Nanos| Share { from: of(from), to: of(to), whole };
        let (work, time) = (span(&|at| pace.equivalent(at)), span(&|at| at));
        let (counts, clients) = self.counters.split_at_mut(Totals::IS_TIME.start);
        let counted = counts.iter_mut().map(|counter| {
            let gain = counter.gain(pace, passed, work.to);
            advance(&mut counter.at, gain, whole)
        });
        let gain = |(why, counter): (usize, &Counter)| {
            let time = counter.gain(pace, to, if why == Totals::WORKING { work.to } else { to });
            let elasticity = match counter.trend {
                Trend::Decays(_) => 0.0,
                Trend::Drift(_) if why == Totals::WORKING => WORK_ELASTICITY * time,
                Trend::Drift(_) => time,
            };
            Gain { time, elasticity }
        };
        let gains = clients.iter().enumerate().map(gain).collect();
        let clients = clients.iter_mut().map(|counter| (counter.sum, &mut counter.at));
        let (waits, times): (Vec<Gain>, Vec<Share>) = balance(clients, gains, piece).unzip();
        let counters = counted.chain(times).collect();
        let gains = self.kinds.iter().map(|kind| kind.gain((from as f64, to as f64), &waits)).collect();
        let kinds = self.kinds.iter_mut().map(|kind| (kind.sum, &mut kind.at));
        let kinds = balance(kinds, gains, piece).map(|(_, share)| share).collect();
        Shares { work, time, counters, kinds }
    }

    /// State of the server in the current piece: the mean of what fluctuates, the end of the rest.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.snapshot;
        let [from, to] = [self.piece.0, self.piece.1].map(|time| time as f64);
        let sum = |time: f64| time * self.pace.factor(self.dirty, time);
        snapshot.dirty = (snapshot.dirty * (sum(to) - sum(from)) / (to - from)).clamp(0.0, snapshot.whole);
        // Pages that were read or made stay in the pool until it is full.
        let whole = self.window.length as f64;
        let read = self.window.counted.read_bytes() * self.counters[Totals::PAGES_READ].at as f64 / whole;
        let made = self.made * self.pace.equivalent(self.piece.1) as f64 / whole;
        snapshot.pool = (snapshot.pool + read + made).min(snapshot.whole);
        snapshot
    }
}

fn sum(blocks: &[Segment], of: impl Fn(&Segment) -> f64) -> f64 {
    blocks.iter().map(of).sum()
}

/// Return whether page reads decline because the buffer pool fills.
///
/// Most pages that were read stayed in the pool, and the second window read fewer by more than
/// chance.
fn reads_decline(before: &[Segment], window: &[Segment]) -> bool {
    let [earlier, now] = [before, window].map(|blocks| sum(blocks, |block| block.counted.misses() as f64));
    let grown = window[window.len() - 1].snapshot.1.pool - window[0].snapshot.0.pool;
    let fills = grown > sum(window, |block| block.counted.read_bytes()) / 2.0;
    fills && earlier - now > 2.0 * (earlier + now).sqrt()
}

/// Balance the parts of a time, so that together they fill a piece (from, to, length of the
/// window).
///
/// Each part has its sum in the window and its progress, which advances. Return, per part, its
/// balanced progress in the piece and its share.
fn balance<'a>(
    parts: impl Iterator<Item = (u64, &'a mut Nanos)>,
    gains: Vec<Gain>,
    (from, to, whole): (Nanos, Nanos, Nanos),
) -> impl Iterator<Item = (Gain, Share)> {
    let parts: Vec<((u64, &mut Nanos), Gain)> = parts.zip(gains).collect();
    let sum = |of: fn(&Gain) -> f64| parts.iter().map(|((sum, _), gain)| *sum as f64 * of(gain)).sum::<f64>();
    let (left, elasticity) = (sum(|_| 1.0) * (to - from) as f64 - sum(|gain| gain.time), sum(|gain| gain.elasticity));
    let more = if elasticity > 0.0 { (left / elasticity).max(-1.0) } else { 0.0 };
    parts.into_iter().map(move |((_, at), gain)| {
        let time = gain.time + more * gain.elasticity;
        (Gain { time, ..gain }, advance(at, time, whole))
    })
}

/// Advance a progress, and return the share of the window that it passes.
fn advance(at: &mut Nanos, gain: f64, whole: Nanos) -> Share {
    let from = *at;
    *at += gain.round() as Nanos;
    Share { from, to: *at, whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extrapolate::segment::tests::block;
    use crate::extrapolate::trend::mean_inverse;
    use crate::extrapolate::windows::Windows;
    use libm::exp;
    use tameshi_record::OpStats;

    const LENGTH: Nanos = 1_000_000;

    /// Blocks of a filling pool: the buffered share of leaf changes declines, dirty pages increase.
    /// Reads and the waits for them decline with 1/t. Transactions make pages as well.
    fn filling(count: u32) -> Vec<Segment> {
        let mut pool = 0.0;
        let of = |number: u32| {
            let share = 0.5 * exp(-(f64::from(number) + 0.5) / 40.0);
            let mut block = block(LENGTH, 100_000);
            let seldom = mean_inverse(f64::from(number).max(0.01), f64::from(number) + 1.0);
            let (reading, pages) = ((4e5 * seldom).round() as Nanos, (1e6 * seldom).round() as u64);
            block.counted = Totals::of_pages(pages, (reading, 2 * LENGTH - reading));
            let (begin, end) = &mut block.snapshot;
            begin.pool = pool;
            pool += block.counted.read_bytes() + 1e6;
            end.pool = pool;
            (begin.leaf_changes, end.leaf_changes) = ((7, 3), (1_000_007, (1e6 * share).round() as u64 + 3));
            (end.dirty, end.whole) = (1e9 * (1.0 - share), 1e12);
            block
        };
        (0..count).map(of).collect()
    }

    /// Extrapolation after 40 blocks, at its last piece, and the totals of the rest.
    fn rest(blocks: &[Segment], pieces: u64) -> (Extrapolation, Totals) {
        let pace = Windows::latest(&blocks[..40], 10).expect("two windows and some").steady_pace();
        let mut extrapolation = Extrapolation::new(pace, &blocks[..40]);
        let mut counted = Totals::nothing(0);
        for piece in 1..=pieces {
            let shares = extrapolation.next_piece(piece * 10 * LENGTH);
            counted.add(&extrapolation.window.counted, (shares.work, shares.time), |place| shares.counter(place));
        }
        (extrapolation, counted)
    }

    #[test]
    fn reads_decline_in_rest_of_filling_pool() {
        let blocks = filling(400);
        let (extrapolation, counted) = rest(&blocks, 36);
        let sum = |blocks: &[Segment]| blocks.iter().map(|block| block.counted.misses() as f64).sum::<f64>();
        let (level, exact) = (sum(&blocks[30..40]) * 36.0, sum(&blocks[40..]));
        assert!(level > 4.0 * exact, "the window's rate would be far too high");
        assert!((counted.misses() as f64 / exact - 1.0).abs() < 0.02, "{} {exact}", counted.misses());
        let pool = blocks[39].snapshot.1.pool + counted.read_bytes() + 360.0 * 1e6;
        assert!((extrapolation.snapshot().pool / pool - 1.0).abs() < 1e-6, "every page read or made stays");
        let dirty = extrapolation.snapshot().dirty;
        assert!(dirty > 1.03 * blocks[39].snapshot.1.dirty && dirty < 1e9, "{dirty}");
    }

    #[test]
    fn reads_of_full_pool_go_on_in_rest() {
        let mut blocks = filling(40);
        for block in &mut blocks {
            block.snapshot.0.pool = 1e12;
            block.snapshot.1.pool = 1e12;
            block.snapshot.1.turned_over = 3.0;
        }
        let (extrapolation, counted) = rest(&blocks, 36);
        let window: u64 = blocks[30..].iter().map(|block| block.counted.misses()).sum();
        assert_eq!(counted.misses(), 36 * window);
        assert_eq!(extrapolation.snapshot().pool, 1e12);
    }

    /// The same blocks with three kinds of transactions: two wait for reads in part, one never
    /// does.
    fn of_kinds(count: u32) -> Vec<Segment> {
        let mut blocks = filling(count);
        for (block, number) in blocks.iter_mut().zip(0u32..) {
            let seldom = mean_inverse(f64::from(number).max(0.01), f64::from(number) + 1.0);
            let waits = [6e7, 1.5e7].map(|of| (of * seldom) as Nanos);
            let kinds =
                [(waits[0], 2_000_000), (waits[1], 1_500_000), (0, 1_000_000_000 - 3_500_000 - waits[0] - waits[1])];
            block.kinds = kinds
                .map(|kind| OpStats { count: 30_000, latency_ns_sum: kind.0 + kind.1, ..OpStats::default() })
                .to_vec();
            block.counted = block.counted.clone().by_kinds(&kinds);
        }
        blocks
    }

    #[test]
    fn time_of_each_kind_declines_with_its_reads() {
        let blocks = of_kinds(400);
        let (extrapolation, _) = rest(&blocks, 36);
        for (kind, too_long) in [(0, 1.4), (1, 1.2), (2, 1.0)] {
            let sum =
                |blocks: &[Segment]| blocks.iter().map(|block| block.kinds[kind].latency_ns_sum as f64).sum::<f64>();
            let (level, exact) = (sum(&blocks[30..40]) * 36.0, sum(&blocks[40..]));
            let took = sum(&blocks[30..40]) * extrapolation.kinds[kind].at as f64 / (10 * LENGTH) as f64;
            assert!(level > (too_long - 0.01) * exact, "at the window's rate: {}", level / exact);
            assert!((took / exact - 1.0).abs() < 0.05, "{kind}: {took} {exact} {level}");
        }
    }

    #[test]
    fn time_of_clients_adds_up() {
        let (_, counted) = rest(&filling(400), 36);
        let all: u64 = Totals::IS_TIME.map(|place| counted.value(place)).sum();
        assert!(all.abs_diff(2 * 360 * LENGTH) < 1000, "two clients during the rest: {all}");
    }

    #[test]
    fn fluctuating_state_is_at_its_mean() {
        let mut blocks: Vec<Segment> = (0..40).map(|_| block(LENGTH, 100_000)).collect();
        for (block, number) in blocks.iter_mut().zip(0u32..) {
            (block.snapshot.1.age, block.snapshot.1.dirty) = (f64::from(number % 5), 6.0 + f64::from(number % 2));
            block.snapshot.1.whole = 10.0;
        }
        let (extrapolation, counted) = rest(&blocks, 3);
        let snapshot = extrapolation.snapshot();
        assert_eq!((snapshot.age, snapshot.dirty), (2.0, 6.5));
        assert_eq!(counted.misses(), 0);
    }
}
