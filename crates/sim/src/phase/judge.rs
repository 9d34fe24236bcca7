//! From when on a phase goes on as it has for a while, so that its rest need not be simulated.
//!
//! Two windows of equal length end now, one behind the other: what they have in common lasts, if neither pool, log, dirty
//! pages nor erased flash come to a limit before the phase's end. docs/simulated-databases.md gives the rules.

use super::book::Stretch;
use super::growth::Growth;
use super::trend::{inverse, inverses, slope};
use crate::engine::Standing;
use tameshi_base::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// A block lasts a two-hundredth of the phase, and twice that where intervals are long.
const BLOCKS: Nanos = 200;
/// So much of a phase is simulated at least, or so many transactions: where these take long, simulating them is cheap.
const LEAST_SHARE: f64 = 0.2;
const LEAST_TRANSACTIONS: u64 = 130_000;
/// And so long in any case: what a server flushes follows the seconds before, and comes to rest after some of them.
const LEAST_TIME: Nanos = 30 * SECOND;
/// A phase of fewer transactions is simulated whole: that is done in seconds, and a part of it has too few of each kind to tell
/// what they take.
const FEW_TRANSACTIONS: f64 = 50_000.0;
/// A window lasts so much of what is simulated, so long, so many blocks and transactions, at least.
const WINDOW: f64 = 0.25;
const WINDOW_TIME: Nanos = 2 * SECOND;
const WINDOW_BLOCKS: usize = 3;
const WINDOW_TRANSACTIONS: u64 = 3000;
/// How far the rate of a window may be from what the ones before it let expect, and what a change of the pages that come in
/// would do to it.
const APART: f64 = 0.02;
/// By how much at most the rest may be slower or faster than the window, as its pace goes on changing.
const DRIFT: f64 = 0.025;
/// So much of a trend with `1 / t` goes on: what comes to rest goes on level at some time, and nothing tells when.
const BELIEVED: f64 = 0.5;
/// Standard error of a window's rate, as its blocks tell it; with more the window lasts whole turns of the log, for flushing for
/// its sake comes in bursts. Until that has turned once it lasts as long as chance needs.
const ERROR: f64 = 0.007;
/// Blocks whose rates differ by more, as their standard deviation tells less that of counting their transactions, are of strong
/// bursts: of two turns at least, and half of the phase is simulated.
const UNREST: f64 = 0.03;
const RESTLESS_SHARE: f64 = 0.5;
const RESTLESS_TURNS: f64 = 2.0;
/// So much of a limit is as good as the limit.
const THERE: f64 = 0.9;
/// A pool whose pages were all replaced so often, and a log that was written so often, is as it will be.
const TURNS: f64 = 2.0;
const LOG_TURNS: f64 = 1.25;
/// Dirty pages and log that are more by this from window to window still grow.
const GROWTH: f64 = 1.1;
/// A change buffer that takes this share of the pool more before the end leaves other pages less room; one that would take so much
/// beyond what it may has just come to its end.
const ROOM: f64 = 0.05;
const LOST: f64 = 0.04;
/// One that is as large as it may be, but for so much of it, is full; one that comes to that in less than this share of what is
/// left will make another rest of it.
const FULL: f64 = 0.97;
const SOON: f64 = 0.5;
/// Less than this share of a phase is not worth leaving out.
const LITTLE: f64 = 0.05;

/// What a pace goes on changing with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    /// The inverse of the time since the judge's begin, in nanoseconds: of that, so much has passed.
    Inverse { passed: f64 },
    /// What the change buffer has gained, in bytes: it grows so, by so much at most.
    Buffered { growth: Growth, most: f64 },
}

impl With {
    /// Its mean until so much of the rest has passed.
    fn mean(&self, time: f64) -> f64 {
        match self {
            Self::Inverse { passed } => inverse(*passed, passed + time),
            Self::Buffered { growth, most } if time > 0.0 => growth.mean(time).min(*most),
            Self::Buffered { .. } => 0.0,
        }
    }
}

/// What the rest of a phase is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lasting {
    /// So many of the latest blocks.
    pub(super) blocks: usize,
    /// By how much their pace changes with something, and what that was in them.
    drift: f64,
    with: With,
    at: f64,
}

impl Lasting {
    /// How much of the blocks' time the work of so much of the rest takes.
    pub(super) fn worth(&self, time: Nanos) -> Nanos {
        (time as f64 * self.pace(time as f64)).round() as Nanos
    }

    /// The mean pace until so much of the rest has passed, as a share of that of the blocks.
    pub(super) fn pace(&self, time: f64) -> f64 {
        1.0 + self.drift * (self.with.mean(time) - self.at)
    }
}

/// Judges a phase from the end of its ramp to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub(super) begin: Nanos,
    end: Nanos,
}

impl Judge {
    pub(super) fn new(begin: Nanos, end: Nanos) -> Self {
        Self { begin, end }
    }

    /// How long a block lasts, at least and at most.
    pub(super) fn block(&self) -> (Nanos, Nanos) {
        let least = ((self.end - self.begin) / BLOCKS).max(1);
        (least, 2 * least)
    }

    /// What the rest of the phase is like; none while that is not known. The blocks follow one another from the ramp's end on.
    pub(super) fn lasting(&self, blocks: &[Stretch]) -> Option<Lasting> {
        let all = (self.end - self.begin) as f64;
        let simulated = Sums::of(blocks);
        let (passed, left) = (simulated.length, all - simulated.length);
        let is_enough = passed >= LEAST_SHARE * all || simulated.transactions >= LEAST_TRANSACTIONS as f64;
        let are_few = simulated.transactions * all < FEW_TRANSACTIONS * passed;
        if !is_enough || passed < LEAST_TIME as f64 || are_few || left < LITTLE * all {
            return None;
        }
        self.lasting_as(blocks, left).or_else(|| self.lasting_as(since_full(blocks)?, left))
    }

    /// The same, as windows among these blocks tell it.
    fn lasting_as(&self, blocks: &[Stretch], left: f64) -> Option<Lasting> {
        let all = (self.end - self.begin) as f64;
        let least = (WINDOW * Sums::of(blocks).length).max(WINDOW_TIME as f64);
        let turn = turn_of_the_log(latest(blocks, least)?);
        let mut window = latest(blocks, least.max(turn))?;
        let unrest = unrest(window);
        let is_restless = has_bursts(window);
        if is_restless && all - left < RESTLESS_SHARE * all {
            return None;
        }
        if is_restless || unrest > ERROR * (window.len() as f64).sqrt() {
            window = if turn > 0.0 {
                whole_turns(blocks, least, turn, if is_restless { RESTLESS_TURNS } else { 1.0 })?
            } else if is_restless {
                return None;
            } else {
                let enough = (unrest * unrest / (ERROR * ERROR)).ceil() as usize;
                &blocks[blocks.len().checked_sub(enough)?..]
            };
        }
        let windows = Windows::ending_now(blocks, window.len())?;
        let (before, lasting) = (windows.before, windows.lasting());
        let is_steady = windows.is_as_expected() && (lasting.pace(left) - 1.0).abs() <= DRIFT;
        let goes_on = is_steady && is_enough_to_tell(before, window) && !fills_up(before, window);
        (goes_on && !comes_to_a_limit(window, left) && !windows.buffer_takes_room(left)).then_some(lasting)
    }
}

/// The blocks since the change buffer is full, where all pages were replaced: a window astride that moment is of two rates.
fn since_full(blocks: &[Stretch]) -> Option<&[Stretch]> {
    let (last, earlier) = blocks.split_last()?;
    let is_full = |standing: &Standing| standing.buffered >= FULL * standing.most_buffered;
    let before = earlier.iter().rposition(|block| !is_full(&block.standing.1))?;
    (is_full(&last.standing.1) && last.standing.1.turned_over >= TURNS).then(|| &blocks[before + 1..])
}

/// Windows of equal length behind one another, the last one of which ends now.
struct Windows<'a> {
    /// As many blocks as there are of one before the two.
    earlier: usize,
    before: &'a [Stretch],
    window: &'a [Stretch],
    all: &'a [Stretch],
}

impl<'a> Windows<'a> {
    fn ending_now(all: &'a [Stretch], length: usize) -> Option<Self> {
        let rest = &all[..all.len() - length];
        let before = rest.len().checked_sub(length)?;
        Some(Self { earlier: length.min(before), before: &rest[before..], window: &all[rest.len()..], all })
    }

    /// When the last so many blocks began.
    fn began(&self, blocks: usize) -> f64 {
        self.all[..self.all.len() - blocks].iter().map(|block| block.length as f64).sum::<f64>().max(1.0)
    }

    /// How things stand at the end.
    fn standing(&self) -> &Standing {
        &self.window[self.window.len() - 1].standing.1
    }

    /// Whether pages come in ever more seldom: not where all in the pool have been replaced.
    fn is_filling(&self) -> bool {
        self.standing().turned_over < 1.0
    }

    /// What the pace may change with, of each of the last so many blocks but for so many, and its mean over them.
    fn others(&self, blocks: usize, but: usize) -> (Vec<f64>, f64) {
        let of = &self.all[self.all.len() - blocks..self.all.len() - but];
        let (from, to) = (self.began(blocks), self.began(but));
        if self.is_filling() {
            return (inverses(of, from), inverse(from, to));
        }
        let gained: Vec<f64> = of.iter().map(|block| block.standing.1.buffered - self.standing().buffered).collect();
        let sum: f64 = gained.iter().zip(of).map(|(gained, block)| gained * block.length as f64).sum();
        (gained, sum / (to - from))
    }

    /// By how much the rates of the last so many blocks, but for so many, change with it.
    fn slope(&self, blocks: usize, but: usize) -> f64 {
        slope(&self.all[self.all.len() - blocks..self.all.len() - but], &self.others(blocks, but).0)
    }

    /// Whether the last one's rate is that of the one before, or goes on from there as it had changed until then.
    fn is_as_expected(&self) -> bool {
        let length = self.window.len();
        let slope = self.slope(2 * length + self.earlier, length);
        let [before, now] = [(2 * length, length), (length, 0)].map(|(blocks, but)| self.others(blocks, but).1);
        let expected = Sums::of(self.before).rate() + slope * (now - before);
        (Sums::of(self.window).rate() / expected - 1.0).abs() <= APART
    }

    /// How the change buffer goes on growing, and by how much it may.
    fn growth(&self) -> (Growth, f64) {
        let (Standing { buffered, most_buffered, .. }, length) = (self.standing(), self.window.len());
        let sizes = [self.before[0].standing.0.buffered, self.window[0].standing.0.buffered, *buffered];
        let (before, now) = (self.began(2 * length), self.began(length));
        (Growth::of(sizes, [now - before, self.began(0) - now]), (most_buffered - buffered).max(0.0))
    }

    /// Whether a change buffer takes so much of the pool before the end, or is full so long before it, that the rest is not
    /// like the window.
    fn buffer_takes_room(&self, left: f64) -> bool {
        let (Standing { buffered, most_buffered, whole, .. }, (growth, most)) = (self.standing(), self.growth());
        let fills_up = *buffered < FULL * most_buffered && growth.until(most) < SOON * left;
        let gain = growth.after(left);
        fills_up || gain.min(most) > ROOM * whole || gain - most > LOST * whole
    }

    fn lasting(&self) -> Lasting {
        let blocks = self.window.len();
        let slope = self.slope(2 * blocks, 0) / Sums::of(self.window).rate();
        let (drift, with) = if self.is_filling() {
            (BELIEVED * slope, With::Inverse { passed: self.began(0) })
        } else {
            let (growth, most) = self.growth();
            (slope, With::Buffered { growth, most })
        };
        Lasting { blocks, drift, with, at: self.others(blocks, 0).1 }
    }
}

/// The latest blocks that last so long together.
fn latest(blocks: &[Stretch], length: f64) -> Option<&[Stretch]> {
    let mut sum = 0.0;
    let enough = blocks.iter().rposition(|block| {
        sum += block.length as f64;
        sum >= length
    })?;
    blocks.get(enough.min(blocks.len().checked_sub(WINDOW_BLOCKS)?)..)
}

/// The latest blocks that last nearly as long as the turns within a time, so many at least: bursts come once a turn, and part
/// of one would count for a whole.
fn whole_turns(blocks: &[Stretch], least: f64, turn: f64, turns: f64) -> Option<&[Stretch]> {
    let length = turn * (least / turn).floor().max(turns);
    let window = latest(blocks, length)?;
    let over: f64 = window.iter().map(|block| block.length as f64).sum::<f64>() - length;
    let is_nearer_without = over * 2.0 > window[0].length as f64 && window.len() > WINDOW_BLOCKS;
    Some(if is_nearer_without { &window[1..] } else { window })
}

/// What blocks amount to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    length: f64,
    transactions: f64,
    log_bytes: f64,
    /// Pages that were asked for, those that had to come in, and how long clients waited for that, as one client's share.
    asked: f64,
    read: f64,
    waited: f64,
}

impl Sums {
    fn of(blocks: &[Stretch]) -> Self {
        blocks.iter().fold(Self::default(), |sums, block| {
            let length = block.length as f64;
            Self {
                length: sums.length + length,
                transactions: sums.transactions + block.transactions() as f64,
                log_bytes: sums.log_bytes + block.counted.log_bytes() as f64,
                asked: sums.asked + block.counted.asked() as f64,
                read: sums.read + block.counted.misses() as f64,
                waited: sums.waited + block.counted.waits_for_pages() * length,
            }
        })
    }

    fn rate(&self) -> f64 {
        self.transactions / self.length
    }
}

/// Nanoseconds in which the log grows by as much as it holds; zero where it has not been full yet.
fn turn_of_the_log(window: &[Stretch]) -> f64 {
    let (sums, standing) = (Sums::of(window), window[window.len() - 1].standing.1);
    if standing.log_turned_over < LOG_TURNS || sums.log_bytes == 0.0 {
        return 0.0;
    }
    standing.hasty_age * sums.length / sums.log_bytes
}

/// Standard deviation of the rates of blocks from one another, relative.
fn unrest(blocks: &[Stretch]) -> f64 {
    deviation(&blocks.iter().map(Stretch::rate).collect::<Vec<f64>>())
}

/// Variance of the rates of blocks, relative, that counting transactions makes where each comes by chance.
fn chance(blocks: &[Stretch]) -> f64 {
    blocks.len() as f64 / Sums::of(blocks).transactions
}

/// Whether rates are so far apart that neither chance nor a calm server explains it.
fn has_bursts(blocks: &[Stretch]) -> bool {
    let unrest = unrest(blocks);
    unrest * unrest - chance(blocks) > UNREST * UNREST
}

fn deviation(rates: &[f64]) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    (squares / (rates.len() - 1) as f64).sqrt() / mean
}

/// Whether enough was done in two windows, and the pages that come in would not change their rates by much.
fn is_enough_to_tell(before: &[Stretch], window: &[Stretch]) -> bool {
    let (before, now) = (Sums::of(before), Sums::of(window));
    let is_enough = now.transactions.min(before.transactions) >= WINDOW_TRANSACTIONS as f64;
    let share = |sums: &Sums| sums.read / sums.asked;
    let change = if before.read > 0.0 { share(&now) / share(&before) - 1.0 } else { 0.0 };
    is_enough && change.abs() * now.waited / now.length <= APART
}

/// Whether dirty pages or the log still grow: flushing may begin at any of a version's marks.
fn fills_up(before: &[Stretch], window: &[Stretch]) -> bool {
    let sum = |blocks: &[Stretch], of: fn(&Stretch) -> f64| blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
    let grows = |of: fn(&Stretch) -> f64| sum(window, of) > sum(before, of) * GROWTH;
    grows(|block| block.standing.1.dirty) || grows(|block| block.standing.1.age)
}

/// Whether something fills up before the end that is not full yet, or grows by much, at the pace of the window.
fn comes_to_a_limit(window: &[Stretch], left: f64) -> bool {
    let (first, last) = (&window[0], &window[window.len() - 1]);
    let (begin, end) = (first.standing.0, last.standing.1);
    let ahead = left / Sums::of(window).length;
    let reaches = |from: f64, to: f64, limit: f64| {
        let gained = to - from;
        gained > 0.0 && to < limit * THERE && to + gained * ahead >= limit * THERE
    };
    let log_goes_on = end.log_turned_over < LOG_TURNS
        && (reaches(begin.age, end.age, end.hasty_age) || end.age > end.hasty_age * THERE);
    let is_turned_over = end.turned_over >= TURNS;
    let dirt_fills_up = !is_turned_over && reaches(begin.dirty, end.dirty, end.most_dirty);
    // Once it is full, pages go out that were asked for: the pool must have been through that.
    let pool_fills_up =
        !is_turned_over && end.pool + (end.pool - begin.pool).max(0.0) * ahead >= end.whole && end.pool < end.whole;
    log_goes_on || dirt_fills_up || pool_fills_up || flash_fills_up(first, last, ahead)
}

/// Whether a drive would have no erased flash any more before the end: what that does must be simulated.
fn flash_fills_up(first: &Stretch, last: &Stretch, ahead: f64) -> bool {
    first.used.0.iter().zip(&last.used.1).any(|(begin, end)| {
        let Some((before, after)) = begin.erased().zip(end.erased()) else { return false };
        let lost = before.saturating_sub(after) as f64;
        lost > 0.0 && lost * ahead >= after as f64 / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::book::tests::block;

    fn short(transactions: u64) -> Stretch {
        block(10, transactions)
    }

    #[test]
    fn the_latest_blocks_last_as_long_as_asked_for_or_whole_turns_and_are_three_at_least() {
        let blocks = vec![short(0); 6];
        let count = |length: f64| latest(&blocks, length).map(<[Stretch]>::len);
        assert_eq!([0.0, 10.0, 40.0, 41.0, 60.0].map(count), [3, 3, 4, 5, 6].map(Some));
        assert_eq!((count(61.0), latest(&blocks[..2], 10.0).is_none()), (None, true));
        let turns = |least: f64, turn: f64| whole_turns(&blocks, least, turn, 2.0).map(<[Stretch]>::len);
        assert_eq!(
            [(0.0, 22.0), (0.0, 23.0), (60.0, 17.0), (35.0, 12.0)].map(|of| turns(of.0, of.1)),
            [4, 5, 5, 3].map(Some)
        );
        assert_eq!(turns(0.0, 31.0), None, "two turns are more than there is");
        assert_eq!(whole_turns(&blocks, 0.0, 31.0, 1.0).map(<[Stretch]>::len), Some(3));
    }

    #[test]
    fn what_counting_few_transactions_makes_is_no_burst() {
        let bursts = |counts: [u64; 4]| has_bursts(&counts.map(short));
        assert!(!bursts([100, 108, 94, 98]), "a hundred may be off by a tenth");
        assert!(bursts([100, 140, 60, 100]));
        assert!(bursts([100_000, 108_000, 94_000, 98_000]));
    }

    #[test]
    fn bursts_are_known_by_how_far_rates_are_apart() {
        assert!(deviation(&[1.0, 1.01, 0.99, 1.0]) < UNREST);
        assert!(deviation(&[1.0, 1.0, 0.7, 1.0]) > UNREST);
        assert!((deviation(&[1.0, 3.0]) - 0.5f64.sqrt()).abs() < 1e-12);
    }

    /// Blocks whose rate goes down towards a thousand a block with the inverse of time, faster at the begin by a share.
    fn slowing(count: u64, share: f64) -> Vec<Stretch> {
        let mean = |n: f64| inverse(n.max(0.01), n + 1.0);
        (0..count).map(|n| block(1_000_000, (1e5 * (1.0 + share * mean(n as f64))).round() as u64)).collect()
    }

    #[test]
    fn a_phase_of_few_transactions_is_simulated_whole() {
        let judge = Judge { begin: 0, end: 1000 * SECOND };
        let lasting = |each: u64| judge.lasting(&vec![block(5 * SECOND, each); 60]);
        assert_eq!([100, 249].map(|each| lasting(each).is_some()), [false; 2], "fewer than 50 000 in all");
        assert_eq!([250, 1000].map(|each| lasting(each).is_some()), [true; 2]);
    }

    #[test]
    fn a_change_buffer_that_takes_ever_more_of_the_pool_is_simulated_until_it_stops() {
        let judge = Judge { begin: 0, end: 1000 * SECOND };
        let with = |most: f64, buffered: fn(u32) -> f64| {
            let mut blocks = vec![block(5 * SECOND, 1000); 60];
            for (block, number) in blocks.iter_mut().zip(0u32..) {
                let (begin, end) = &mut block.standing;
                (begin.buffered, end.buffered) = (buffered(number), buffered(number + 1));
                (end.whole, end.most_buffered) = (1e9, most);
            }
            judge.lasting(&blocks).is_some()
        };
        assert!(!with(5e8, |number| 5e6 * f64::from(number)), "half a per cent of the pool each five seconds");
        assert!(with(5e8, |number| 5e6 * f64::from(number.min(10))));
        assert!(!with(32e6, |number| 5e5 * f64::from(number)), "full in twenty seconds");
        assert!(with(20.5e6, |number| 5e5 * f64::from(number.min(40))), "full for a while");
        assert!(with(5e8, |number| 1e4 * f64::from(number)), "too little to matter");
    }

    #[test]
    fn what_was_before_the_change_buffer_became_full_says_nothing_of_the_rest() {
        let judge = Judge { begin: 0, end: 1000 * SECOND };
        let since = |full: u32| {
            let size = |number: u32| 1e6 * f64::from(number.min(50));
            let made = (0..50 + full).map(|number| {
                let mut block = block(5 * SECOND, if number < 50 { 2000 } else { 1800 });
                let (begin, end) = &mut block.standing;
                (begin.buffered, end.buffered) = (size(number), size(number + 1));
                (end.whole, end.most_buffered, end.turned_over) = (1e9, 50e6, 5.0);
                block
            });
            let blocks: Vec<Stretch> = made.collect();
            judge.lasting(&blocks).map(|lasting| (lasting.blocks, lasting.pace(1e9)))
        };
        assert_eq!([1, 3].map(since), [None; 2], "nothing tells yet what comes");
        assert_eq!(since(8), Some((3, 1.0)));
    }

    #[test]
    fn the_rest_goes_on_slowing_down_half_as_much_as_the_blocks_did() {
        let blocks = slowing(40, 2.0);
        let windows = Windows::ending_now(&blocks, 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let (lasting, whole) = (windows.lasting(), slowing(200, 2.0));
        let exact = Sums::of(&whole[40..]).transactions;
        let like = Sums::of(&blocks[30..]).transactions / 10.0;
        let rest = lasting.worth(160_000_000) as f64 / 1e6 * like;
        let level = like * 160.0 / exact - 1.0;
        assert!(level > 0.02, "without its trend it would be off");
        assert!((rest / exact - 1.0 - level / 2.0).abs() < 0.002, "{rest} {exact}");
        let halves = [0, 80_000_000, 160_000_000].map(|time| lasting.worth(time));
        assert!(halves[0] == 0 && halves[1] > halves[2] - halves[1], "{halves:?}");
    }

    #[test]
    fn the_rest_of_a_full_pool_slows_down_as_the_change_buffer_grows_towards_its_end() {
        let size = |number: f64| 1e6 * (1.0 - libm::exp(-number / 40.0));
        let blocks: Vec<Stretch> = (0..200)
            .map(|number| {
                let buffered = size(f64::from(number) + 1.0);
                let mut block = block(1_000_000, (1e5 - buffered / 100.0).round() as u64);
                let (begin, end) = &mut block.standing;
                (begin.buffered, end.buffered) = (size(f64::from(number)), buffered);
                (end.turned_over, end.most_buffered) = (5.0, 1e9);
                block
            })
            .collect();
        let windows = Windows::ending_now(&blocks[..40], 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let like = Sums::of(&blocks[30..40]).transactions / 10.0;
        let rest = windows.lasting().worth(160_000_000) as f64 / 1e6 * like;
        let exact = Sums::of(&blocks[40..]).transactions;
        assert!(like * 160.0 / exact > 1.01, "without its trend it would be off");
        assert!((rest / exact - 1.0).abs() < 0.001, "{rest} {exact}");
    }

    #[test]
    fn a_rate_that_turns_is_not_as_expected() {
        let turning = |n: u64| block(1_000_000, if n < 20 { 90_000 + 1000 * n } else { 110_000 - 800 * (n - 20) });
        let blocks: Vec<Stretch> = (0..40).map(turning).collect();
        assert!(!Windows::ending_now(&blocks, 10).expect("windows").is_as_expected());
        let level: Vec<Stretch> = (0..40).map(|n| block(1_000_000, 100_000 + 300 * (n % 3))).collect();
        let windows = Windows::ending_now(&level, 10).expect("windows");
        assert!(windows.is_as_expected());
        assert_eq!(windows.lasting().worth(160_000_000), 160_000_000, "what is level goes on as it is");
    }
}
