//! How the rest of a phase goes on in each interval: its work, what is counted beside it, and how things stand.
//!
//! What is counted goes on with the work, but for what the blocks show to change with the same thing as their pace, by more than
//! chance; while a pool fills, pages come in ever more seldom, and what waits for them takes less.

use super::falling::Falling;
use super::stretch::Stretch;
use super::sums::Sums;
use super::windows::Lasting;
use crate::database::{Snapshot, Totals, WAIT_REASONS};
use tameshi_base::Nanos;
use tameshi_record::Share;

/// What clients do on a processor takes what it takes; what they wait for gives more readily where their time must add up.
const STIFF: f64 = 0.1;

/// Which shares of a stretch fall into a piece of time.
pub(super) struct Shares {
    /// Of its work.
    pub(super) work: Share,
    /// Of its time.
    pub(super) time: Share,
    /// Of each counter, where that is told.
    counters: Vec<Share>,
    /// Of the time of each kind of transaction, where that is told.
    kinds: Vec<Share>,
}

impl Shares {
    /// The stretch itself.
    pub(super) const ALL: Self = Self { work: Share::ALL, time: Share::ALL, counters: Vec::new(), kinds: Vec::new() };

    /// Of a counter's value, where it is not like that of others.
    pub(super) fn counter(&self, place: usize) -> Option<Share> {
        self.counters.get(place).copied()
    }

    /// Of the time that a kind's transactions took.
    pub(super) fn time_of(&self, kind: usize) -> Share {
        self.kinds.get(kind).copied().unwrap_or(self.time)
    }
}

/// How something goes on.
#[derive(Clone, Copy)]
enum Trend {
    /// By so much it changes with what the pace does.
    Drift(f64),
    /// It comes with pages that come in.
    Falls(Falling),
}

/// How far the rest has come with something, as time of the blocks.
struct Line {
    trend: Trend,
    /// Its sum in the blocks.
    sum: u64,
    at: Nanos,
}

impl Line {
    fn new(sum: u64, trend: Trend) -> Self {
        Self { trend, sum, at: 0 }
    }

    /// How much more of the blocks' time it is worth when so much of the rest has passed, which amounts to `time` but for what
    /// changes.
    fn gain(&self, lasting: &Lasting, passed: Nanos, time: Nanos) -> f64 {
        let (passed, time) = (passed as f64, time as f64);
        let worth = match self.trend {
            Trend::Drift(drift) => time * lasting.times(drift, passed),
            Trend::Falls(falling) => passed * falling.times(passed),
        };
        (worth - self.at as f64).max(0.0)
    }
}

/// How far the rest has come with the time of a kind of transaction, as time of the blocks: it goes on as what it waits for does.
struct Kind {
    /// In the blocks, its time with waiting for each.
    spent: [Nanos; WAIT_REASONS],
    /// How its own pages come in, where that changes.
    own: Option<Falling>,
    sum: u64,
    at: Nanos,
}

impl Kind {
    fn new(spent: [Nanos; WAIT_REASONS], own: Option<Falling>) -> Self {
        Self { sum: spent.iter().sum(), spent, own, at: 0 }
    }

    /// What a piece adds to its time, where it adds so much to what clients wait for.
    fn gain(&self, (from, to): (f64, f64), waits: &[Gain]) -> Gain {
        let own = self.own.map(|own| to * own.times(to) - from * own.times(from));
        let of = |why: usize| match own {
            Some(own) if why == Totals::READING => Gain { is: own, give: 0.0 },
            _ => waits[why],
        };
        let shares = self.spent.iter().map(|spent| *spent as f64 / self.sum.max(1) as f64);
        shares.zip((0..).map(of)).fold(Gain { is: 0.0, give: 0.0 }, |sum, (share, of)| Gain {
            is: sum.is + share * of.is,
            give: sum.give + share * of.give,
        })
    }
}

/// How much of the blocks' time something gains, and how readily it takes more or less.
#[derive(Clone, Copy)]
struct Gain {
    is: f64,
    give: f64,
}

/// The rest behind a window of blocks.
pub(super) struct Course {
    lasting: Lasting,
    /// The window as one.
    pub(super) like: Stretch,
    counters: Vec<Line>,
    kinds: Vec<Kind>,
    standing: Snapshot,
    /// By how much dirty pages change with what the pace does.
    dirty: f64,
    /// Pages that the window's transactions made, as bytes: what the pool gained there and nobody read.
    made: f64,
    piece: (Nanos, Nanos),
}

impl Course {
    /// Behind the latest blocks, as many before which are there too.
    pub(super) fn new(lasting: Lasting, blocks: &[Stretch]) -> Self {
        let pair = &blocks[blocks.len() - 2 * lasting.blocks..];
        let (before, window) = pair.split_at(lasting.blocks);
        let (first, later) = window.split_first().expect("a block");
        let mut like = first.clone();
        later.iter().for_each(|block| like.append(block));
        let is_filling = pages_come_in_more_seldom(before, window);
        let passed = Sums::of(blocks).length;
        let falling = |of: &dyn Fn(&Stretch) -> u64| {
            let sums = [before, window].map(|blocks| sum(blocks, |block| of(block) as f64));
            Falling::of(sums, like.length as f64, passed)
        };
        let counter = |place: usize| {
            let per = |block: &Stretch| {
                let of = if Totals::WAITING.contains(&place) { block.length } else { block.transactions().max(1) };
                block.counted.drifts_with(place) as f64 / of as f64
            };
            let comes_in = is_filling && Totals::COME_IN.contains(&place);
            let trend = if comes_in {
                Trend::Falls(falling(&|block| block.counted.value(place)))
            } else {
                Trend::Drift(lasting.drift_of(per, pair))
            };
            Line::new(like.counted.value(place), trend)
        };
        let kind = |place: usize| {
            let reading = |block: &Stretch| block.counted.spent_by(place)[Totals::READING];
            let own = is_filling.then(|| falling(&reading));
            Kind::new(like.counted.spent_by(place), own)
        };
        let stood: Vec<Snapshot> = window.iter().map(|block| block.standing.1).collect();
        Self {
            counters: Totals::PLACES.map(counter).collect(),
            kinds: (0..like.kinds.len()).map(kind).collect(),
            standing: Snapshot::mean(&stood).expect("a block"),
            dirty: lasting.drift_of(|block| block.standing.1.dirty, pair),
            made: (stood[stood.len() - 1].pool - window[0].standing.0.pool - like.counted.read_bytes()).max(0.0),
            like,
            lasting,
            piece: (0, 0),
        }
    }

    /// What the next piece has, until so much of the rest has passed.
    pub(super) fn next(&mut self, passed: Nanos) -> Shares {
        let (lasting, whole) = (&self.lasting, self.like.length);
        self.piece = (self.piece.1, passed);
        let (from, to) = self.piece;
        let piece = (from, to, whole);
        let span = |of: &dyn Fn(Nanos) -> Nanos| Share { from: of(from), to: of(to), whole };
        let (work, time) = (span(&|at| lasting.worth(at)), span(&|at| at));
        let (counts, clients) = self.counters.split_at_mut(Totals::IS_TIME.start);
        let counted = counts.iter_mut().map(|line| {
            let gain = line.gain(lasting, passed, work.to);
            go_on(&mut line.at, gain, whole)
        });
        let gain = |(why, line): (usize, &Line)| {
            let is = line.gain(lasting, to, if why == Totals::WORKING { work.to } else { to });
            let give = match line.trend {
                Trend::Falls(_) => 0.0,
                Trend::Drift(_) if why == Totals::WORKING => STIFF * is,
                Trend::Drift(_) => is,
            };
            Gain { is, give }
        };
        let gains = clients.iter().enumerate().map(gain).collect();
        let clients = clients.iter_mut().map(|line| (line.sum, &mut line.at));
        let (waits, times): (Vec<Gain>, Vec<Share>) = shared_out(clients, gains, piece).unzip();
        let counters = counted.chain(times).collect();
        let gains = self.kinds.iter().map(|kind| kind.gain((from as f64, to as f64), &waits)).collect();
        let kinds = self.kinds.iter_mut().map(|kind| (kind.sum, &mut kind.at));
        let kinds = shared_out(kinds, gains, piece).map(|(_, share)| share).collect();
        Shares { work, time, counters, kinds }
    }

    /// How things stand in that piece: what goes up and down at its mean, the rest at its end.
    pub(super) fn standing(&self) -> Snapshot {
        let mut standing = self.standing;
        let [from, to] = [self.piece.0, self.piece.1].map(|time| time as f64);
        let sum = |time: f64| time * self.lasting.times(self.dirty, time);
        standing.dirty = (standing.dirty * (sum(to) - sum(from)) / (to - from)).clamp(0.0, standing.whole);
        // Until a pool is full, pages stay that were read or made.
        let whole = self.like.length as f64;
        let read = self.like.counted.read_bytes() * self.counters[Totals::PAGES_READ].at as f64 / whole;
        let made = self.made * self.lasting.worth(self.piece.1) as f64 / whole;
        standing.pool = (standing.pool + read + made).min(standing.whole);
        standing
    }
}

fn sum(blocks: &[Stretch], of: impl Fn(&Stretch) -> f64) -> f64 {
    blocks.iter().map(of).sum()
}

/// Whether a pool fills, so that most pages which came in stayed there, and fewer of them came in the second window by more than
/// chance.
fn pages_come_in_more_seldom(before: &[Stretch], window: &[Stretch]) -> bool {
    let [earlier, now] = [before, window].map(|blocks| sum(blocks, |block| block.counted.misses() as f64));
    let gained = window[window.len() - 1].standing.1.pool - window[0].standing.0.pool;
    let fills = gained > sum(window, |block| block.counted.read_bytes()) / 2.0;
    fills && earlier - now > 2.0 * (earlier + now).sqrt()
}

/// Of each line, of which there is so much in the blocks and which has come so far, what a piece adds to it (from, to, and what a
/// whole is), and which share that is. All of them together fill it.
fn shared_out<'a>(
    lines: impl Iterator<Item = (u64, &'a mut Nanos)>,
    gains: Vec<Gain>,
    (from, to, whole): (Nanos, Nanos, Nanos),
) -> impl Iterator<Item = (Gain, Share)> {
    let lines: Vec<((u64, &mut Nanos), Gain)> = lines.zip(gains).collect();
    let sum = |of: fn(&Gain) -> f64| lines.iter().map(|((sum, _), gain)| *sum as f64 * of(gain)).sum::<f64>();
    let (left, give) = (sum(|_| 1.0) * (to - from) as f64 - sum(|gain| gain.is), sum(|gain| gain.give));
    let more = if give > 0.0 { (left / give).max(-1.0) } else { 0.0 };
    lines.into_iter().map(move |((_, at), gain)| {
        let is = gain.is + more * gain.give;
        (Gain { is, ..gain }, go_on(at, is, whole))
    })
}

/// The share of a piece that brings a line so much further.
fn go_on(at: &mut Nanos, gain: f64, whole: Nanos) -> Share {
    let from = *at;
    *at += gain.round() as Nanos;
    Share { from, to: *at, whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::stretch::tests::block;
    use crate::phase::trend::inverse;
    use crate::phase::windows::Windows;
    use libm::exp;
    use tameshi_record::OpStats;

    const LENGTH: Nanos = 1_000_000;

    /// Blocks of a pool that fills: of the changes of leaves ever fewer are buffered, and dirty pages are more; pages come in and
    /// are waited for as the inverse of time. Transactions make pages as well.
    fn filling(count: u32) -> Vec<Stretch> {
        let mut pool = 0.0;
        let of = |number: u32| {
            let share = 0.5 * exp(-(f64::from(number) + 0.5) / 40.0);
            let mut block = block(LENGTH, 100_000);
            let seldom = inverse(f64::from(number).max(0.01), f64::from(number) + 1.0);
            let (reading, pages) = ((4e5 * seldom).round() as Nanos, (1e6 * seldom).round() as u64);
            block.counted = Totals::of_pages(pages, (reading, 2 * LENGTH - reading));
            let (begin, end) = &mut block.standing;
            begin.pool = pool;
            pool += block.counted.read_bytes() + 1e6;
            end.pool = pool;
            (begin.leaf_changes, end.leaf_changes) = ((7, 3), (1_000_007, (1e6 * share).round() as u64 + 3));
            (end.dirty, end.whole) = (1e9 * (1.0 - share), 1e12);
            block
        };
        (0..count).map(of).collect()
    }

    /// What is counted in the rest behind forty blocks, its last piece and how things stand there.
    fn rest(blocks: &[Stretch], pieces: u64) -> (Course, Totals) {
        let lasting = Windows::ending_now(&blocks[..40], 10).expect("two windows and some").lasting();
        let mut course = Course::new(lasting, &blocks[..40]);
        let mut counted = Totals::nothing(0);
        for piece in 1..=pieces {
            let shares = course.next(piece * 10 * LENGTH);
            counted.add(&course.like.counted, (shares.work, shares.time), |place| shares.counter(place));
        }
        (course, counted)
    }

    #[test]
    fn pages_come_in_ever_less_in_the_rest_of_a_pool_that_fills() {
        let blocks = filling(400);
        let (course, counted) = rest(&blocks, 36);
        let sum = |blocks: &[Stretch]| blocks.iter().map(|block| block.counted.misses() as f64).sum::<f64>();
        let (level, exact) = (sum(&blocks[30..40]) * 36.0, sum(&blocks[40..]));
        assert!(level > 4.0 * exact, "as in the window they would be far too many");
        assert!((counted.misses() as f64 / exact - 1.0).abs() < 0.02, "{} {exact}", counted.misses());
        let pool = blocks[39].standing.1.pool + counted.read_bytes() + 360.0 * 1e6;
        assert!((course.standing().pool / pool - 1.0).abs() < 1e-6, "every page stays that was read or made");
        let dirty = course.standing().dirty;
        assert!(dirty > 1.03 * blocks[39].standing.1.dirty && dirty < 1e9, "{dirty}");
    }

    #[test]
    fn pages_of_a_full_pool_come_in_as_often_in_the_rest() {
        let mut blocks = filling(40);
        for block in &mut blocks {
            block.standing.0.pool = 1e12;
            block.standing.1.pool = 1e12;
            block.standing.1.turned_over = 3.0;
        }
        let (course, counted) = rest(&blocks, 36);
        let window: u64 = blocks[30..].iter().map(|block| block.counted.misses()).sum();
        assert_eq!(counted.misses(), 36 * window);
        assert_eq!(course.standing().pool, 1e12);
    }

    /// The same blocks, of two kinds of transactions that wait for pages in part, and a third that never does.
    fn of_kinds(count: u32) -> Vec<Stretch> {
        let mut blocks = filling(count);
        for (block, number) in blocks.iter_mut().zip(0u32..) {
            let seldom = inverse(f64::from(number).max(0.01), f64::from(number) + 1.0);
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
    fn each_kind_takes_less_in_the_rest_as_far_as_it_waits_for_pages() {
        let blocks = of_kinds(400);
        let (course, _) = rest(&blocks, 36);
        for (kind, too_long) in [(0, 1.4), (1, 1.2), (2, 1.0)] {
            let sum =
                |blocks: &[Stretch]| blocks.iter().map(|block| block.kinds[kind].latency_ns_sum as f64).sum::<f64>();
            let (level, exact) = (sum(&blocks[30..40]) * 36.0, sum(&blocks[40..]));
            let took = sum(&blocks[30..40]) * course.kinds[kind].at as f64 / (10 * LENGTH) as f64;
            assert!(level > (too_long - 0.01) * exact, "as in the window: {}", level / exact);
            assert!((took / exact - 1.0).abs() < 0.05, "{kind}: {took} {exact} {level}");
        }
    }

    #[test]
    fn the_time_of_clients_adds_up_whatever_changes() {
        let (_, counted) = rest(&filling(400), 36);
        let all: u64 = Totals::IS_TIME.map(|place| counted.value(place)).sum();
        assert!(all.abs_diff(2 * 360 * LENGTH) < 1000, "two clients for the time of the rest: {all}");
    }

    #[test]
    fn what_goes_up_and_down_stands_at_its_mean() {
        let mut blocks: Vec<Stretch> = (0..40).map(|_| block(LENGTH, 100_000)).collect();
        for (block, number) in blocks.iter_mut().zip(0u32..) {
            (block.standing.1.age, block.standing.1.dirty) = (f64::from(number % 5), 6.0 + f64::from(number % 2));
            block.standing.1.whole = 10.0;
        }
        let (course, counted) = rest(&blocks, 3);
        let standing = course.standing();
        assert_eq!((standing.age, standing.dirty), (2.0, 6.5));
        assert_eq!(counted.misses(), 0);
    }
}
