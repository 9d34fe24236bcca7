//! From when on a phase goes on as it has for a while, so that its rest need not be simulated.
//!
//! Two windows of equal length end now, one behind the other: what they have in common lasts, if neither pool, log, dirty
//! pages nor erased flash come to a limit before the phase's end. See docs/models/database-fast-mode.md.

use super::growth::Growth;
use super::stretch::Stretch;
use super::sums::Sums;
use super::windows::{APART, FULL, Lasting, Windows};
use crate::engine::Standing;
use tameshi_base::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// A block lasts a two-hundredth of the phase.
const BLOCKS: Nanos = 200;
/// So much of a phase is simulated at least, or so many transactions and gets of pages: where these take long, simulating them
/// is cheap.
const LEAST_SHARE: f64 = 0.3;
const LEAST_TRANSACTIONS: f64 = 130_000.0;
const LEAST_GETS: f64 = 20e6;
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
/// Less than this share of a phase is not worth leaving out.
const LITTLE: f64 = 0.05;

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

    /// How long a block lasts.
    pub(super) fn block(&self) -> Nanos {
        ((self.end - self.begin) / BLOCKS).max(1)
    }

    /// What the rest of the phase is like; none while that is not known. The blocks follow one another from the ramp's end on.
    pub(super) fn lasting(&self, blocks: &[Stretch]) -> Option<Lasting> {
        let all = (self.end - self.begin) as f64;
        let simulated = Sums::of(blocks);
        let (passed, left) = (simulated.length, all - simulated.length);
        let is_much = simulated.transactions >= LEAST_TRANSACTIONS && simulated.asked >= LEAST_GETS;
        let is_enough = passed >= LEAST_SHARE * all || is_much;
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
        let (before, window) = windows.both();
        let goes_on = windows.are_steady(left) && is_enough_to_tell(before, window) && !fills_up(before, window);
        (goes_on && !comes_to_a_limit(before, window, left) && !windows.buffer_takes_room(left))
            .then(|| windows.lasting())
    }
}

/// The blocks since the change buffer is full, where all pages were replaced: a window astride that moment is of two rates.
fn since_full(blocks: &[Stretch]) -> Option<&[Stretch]> {
    let (last, earlier) = blocks.split_last()?;
    let is_full = |standing: &Standing| standing.buffered >= FULL * standing.buffer_mark;
    let before = earlier.iter().rposition(|block| !is_full(&block.standing.1))?;
    (is_full(&last.standing.1) && last.standing.1.turned_over >= TURNS).then(|| &blocks[before + 1..])
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

/// Whether something fills up before the end that is not full yet, or grows by much, at the pace of the window; a pool as its
/// growth becomes less.
fn comes_to_a_limit(before: &[Stretch], window: &[Stretch], left: f64) -> bool {
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
    let growth = Growth::in_windows(before, window, |standing| standing.pool);
    let pool_fills_up = !is_turned_over && end.pool + growth.after(left) >= end.whole && end.pool < end.whole;
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
    use crate::phase::stretch::tests::block;

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
                (end.whole, end.buffer_mark) = (1e9, most);
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
        let judge = Judge { begin: 0, end: 950 * SECOND };
        let since = |full: u32| {
            let size = |number: u32| 1e6 * f64::from(number.min(50));
            let made = (0..50 + full).map(|number| {
                let mut block = block(5 * SECOND, if number < 50 { 2000 } else { 1800 });
                let (begin, end) = &mut block.standing;
                (begin.buffered, end.buffered) = (size(number), size(number + 1));
                (end.whole, end.buffer_mark, end.turned_over) = (1e9, 50e6, 5.0);
                block
            });
            let blocks: Vec<Stretch> = made.collect();
            judge.lasting(&blocks).map(|lasting| (lasting.blocks, lasting.pace(1e9)))
        };
        assert_eq!([1, 3].map(since), [None; 2], "nothing tells yet what comes");
        assert_eq!(since(8), Some((3, 1.0)));
    }
}
