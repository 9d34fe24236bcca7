//! Judge of a phase's steadiness: the time from which its rest need not be simulated.
//!
//! Two windows of equal length end now, one after the other. Their common pace lasts if neither
//! pool, log, dirty pages nor erased flash reaches a limit before the phase's end.
//! docs/models/database-fast-mode.md gives the rules.

use super::growth::Growth;
use super::segment::Segment;
use super::sums::Sums;
use super::windows::{FULL, SteadyPace, TOLERANCE, Windows};
use crate::database::Snapshot;
use tameshi_base::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// Blocks per phase.
const BLOCKS: Nanos = 200;
/// Least simulated share of a phase, or least numbers of transactions and page requests. Where
/// these take long, they are cheap to simulate.
const LEAST_SHARE: f64 = 0.3;
const LEAST_TRANSACTIONS: f64 = 130_000.0;
const LEAST_GETS: f64 = 20e6;
/// Least simulated time: flushing follows the load of earlier seconds, and settles after some.
const LEAST_TIME: Nanos = 30 * SECOND;
/// Number of transactions below which a phase is simulated whole: that takes seconds, and a part
/// has too few of each kind for their mean times.
const FEW_TRANSACTIONS: f64 = 50_000.0;
/// Least share of the simulated time in a window, and its least time, blocks and transactions.
const WINDOW: f64 = 0.25;
const WINDOW_TIME: Nanos = 2 * SECOND;
const WINDOW_BLOCKS: usize = 3;
const WINDOW_TRANSACTIONS: u64 = 3000;
/// Largest standard error of a window's rate, from its blocks. With more, a window lasts whole
/// turns of the log, because flushing for the log comes in bursts. Before the log's first turn the
/// window lasts as long as chance needs.
const ERROR: f64 = 0.007;
/// Relative standard deviation of the blocks' rates, without that of counting, from which there are
/// strong bursts. A window then lasts two turns of the log, and half of the phase is simulated.
const BURSTS: f64 = 0.03;
const BURSTY_SHARE: f64 = 0.5;
const BURSTY_TURNS: f64 = 2.0;
/// Share of a limit that counts as the limit.
const NEAR_LIMIT: f64 = 0.9;
/// Turnovers of the pool's pages, and of the log, after which they stay as they are.
const TURNS: f64 = 2.0;
const LOG_TURNS: f64 = 1.25;
/// Ratio from window to window from which dirty pages or the log still grow.
const GROWTH: f64 = 1.1;
/// Share of a phase that is not worth extrapolating.
const LITTLE: f64 = 0.05;

/// Judge of a phase, from the end of its ramp to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub(super) begin: Nanos,
    end: Nanos,
}

impl Judge {
    pub(super) fn new(begin: Nanos, end: Nanos) -> Self {
        Self { begin, end }
    }

    /// Length of a block.
    pub(super) fn block(&self) -> Nanos {
        ((self.end - self.begin) / BLOCKS).max(1)
    }

    /// Return the pace of the phase's rest, if it is steady. The blocks follow from the ramp's end
    /// on.
    pub(super) fn steady_pace(&self, blocks: &[Segment]) -> Option<SteadyPace> {
        let all = (self.end - self.begin) as f64;
        let simulated = Sums::of(blocks);
        let (passed, left) = (simulated.length, all - simulated.length);
        let is_much = simulated.transactions >= LEAST_TRANSACTIONS && simulated.asked >= LEAST_GETS;
        let is_enough = passed >= LEAST_SHARE * all || is_much;
        let are_few = simulated.transactions * all < FEW_TRANSACTIONS * passed;
        if !is_enough || passed < LEAST_TIME as f64 || are_few || left < LITTLE * all {
            return None;
        }
        self.steady_pace_in(blocks, left).or_else(|| self.steady_pace_in(since_full(blocks)?, left))
    }

    /// Return the pace of the rest, of length `left`, from windows of these blocks.
    fn steady_pace_in(&self, blocks: &[Segment], left: f64) -> Option<SteadyPace> {
        let all = (self.end - self.begin) as f64;
        let least = (WINDOW * Sums::of(blocks).length).max(WINDOW_TIME as f64);
        let turn = log_turn(latest_blocks(blocks, least)?);
        let mut window = latest_blocks(blocks, least.max(turn))?;
        let variation = variation(window);
        let is_bursty = has_bursts(window);
        if is_bursty && all - left < BURSTY_SHARE * all {
            return None;
        }
        if is_bursty || variation > ERROR * (window.len() as f64).sqrt() {
            window = if turn > 0.0 {
                whole_turns(blocks, least, turn, if is_bursty { BURSTY_TURNS } else { 1.0 })?
            } else if is_bursty {
                return None;
            } else {
                let enough = (variation * variation / (ERROR * ERROR)).ceil() as usize;
                &blocks[blocks.len().checked_sub(enough)?..]
            };
        }
        let windows = Windows::latest(blocks, window.len())?;
        let (before, window) = windows.both();
        let is_steady = windows.are_steady(left) && is_conclusive(before, window) && !still_grows(before, window);
        (is_steady && !reaches_limit(before, window, left) && !windows.buffer_displaces_pages(left))
            .then(|| windows.steady_pace())
    }
}

/// Return the blocks since the change buffer is full, if all pages have been replaced. A window
/// across that time would have two rates.
fn since_full(blocks: &[Segment]) -> Option<&[Segment]> {
    let (last, earlier) = blocks.split_last()?;
    let is_full = |snapshot: &Snapshot| snapshot.buffered >= FULL * snapshot.buffer_mark;
    let before = earlier.iter().rposition(|block| !is_full(&block.snapshot.1))?;
    (is_full(&last.snapshot.1) && last.snapshot.1.turned_over >= TURNS).then(|| &blocks[before + 1..])
}

/// Return the latest blocks that last at least `length` together.
fn latest_blocks(blocks: &[Segment], length: f64) -> Option<&[Segment]> {
    let mut sum = 0.0;
    let enough = blocks.iter().rposition(|block| {
        sum += block.length as f64;
        sum >= length
    })?;
    blocks.get(enough.min(blocks.len().checked_sub(WINDOW_BLOCKS)?)..)
}

/// Return the latest blocks that last about as long as the whole turns in `least`, and at least
/// `turns`. Bursts come once per turn, and a part of a burst would count as a whole one.
fn whole_turns(blocks: &[Segment], least: f64, turn: f64, turns: f64) -> Option<&[Segment]> {
    let length = turn * (least / turn).floor().max(turns);
    let window = latest_blocks(blocks, length)?;
    let excess: f64 = window.iter().map(|block| block.length as f64).sum::<f64>() - length;
    let is_nearer_without = excess * 2.0 > window[0].length as f64 && window.len() > WINDOW_BLOCKS;
    Some(if is_nearer_without { &window[1..] } else { window })
}

/// Return the nanoseconds in which the log grows by its capacity; zero if it has not been full yet.
fn log_turn(window: &[Segment]) -> f64 {
    let (sums, snapshot) = (Sums::of(window), window[window.len() - 1].snapshot.1);
    if snapshot.log_turned_over < LOG_TURNS || sums.log_bytes == 0.0 {
        return 0.0;
    }
    snapshot.hasty_age * sums.length / sums.log_bytes
}

/// Relative standard deviation of the blocks' rates.
fn variation(blocks: &[Segment]) -> f64 {
    deviation(&blocks.iter().map(Segment::rate).collect::<Vec<f64>>())
}

/// Relative variance of the blocks' rates that counting makes if each transaction comes by chance.
fn chance(blocks: &[Segment]) -> f64 {
    blocks.len() as f64 / Sums::of(blocks).transactions
}

/// Return whether the rates vary more than by chance and by a calm server.
fn has_bursts(blocks: &[Segment]) -> bool {
    let variation = variation(blocks);
    variation * variation - chance(blocks) > BURSTS * BURSTS
}

fn deviation(rates: &[f64]) -> f64 {
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    (squares / (rates.len() - 1) as f64).sqrt() / mean
}

/// Return whether both windows have enough transactions, and reads would not change the rate by
/// much.
fn is_conclusive(before: &[Segment], window: &[Segment]) -> bool {
    let (before, now) = (Sums::of(before), Sums::of(window));
    let is_enough = now.transactions.min(before.transactions) >= WINDOW_TRANSACTIONS as f64;
    let share = |sums: &Sums| sums.read / sums.asked;
    let change = if before.read > 0.0 { share(&now) / share(&before) - 1.0 } else { 0.0 };
    is_enough && change.abs() * now.waited / now.length <= TOLERANCE
}

/// Return whether dirty pages or the log still grow: flushing may begin at any of a version's
/// marks.
fn still_grows(before: &[Segment], window: &[Segment]) -> bool {
    let sum = |blocks: &[Segment], of: fn(&Segment) -> f64| blocks.iter().map(of).sum::<f64>() / blocks.len() as f64;
    let grows = |of: fn(&Segment) -> f64| sum(window, of) > sum(before, of) * GROWTH;
    grows(|block| block.snapshot.1.dirty) || grows(|block| block.snapshot.1.age)
}

/// Return whether something fills up in the rest, or grows by much, at the pace of the window. The
/// pool's growth slows down meanwhile.
fn reaches_limit(before: &[Segment], window: &[Segment], left: f64) -> bool {
    let (first, last) = (&window[0], &window[window.len() - 1]);
    let (begin, end) = (first.snapshot.0, last.snapshot.1);
    let ahead = left / Sums::of(window).length;
    let reaches = |from: f64, to: f64, limit: f64| {
        let gained = to - from;
        gained > 0.0 && to < limit * NEAR_LIMIT && to + gained * ahead >= limit * NEAR_LIMIT
    };
    let log_grows = end.log_turned_over < LOG_TURNS
        && (reaches(begin.age, end.age, end.hasty_age) || end.age > end.hasty_age * NEAR_LIMIT);
    let is_turned_over = end.turned_over >= TURNS;
    let dirt_fills_up = !is_turned_over && reaches(begin.dirty, end.dirty, end.most_dirty);
    // A full pool evicts pages that are still used: that must have been simulated.
    let growth = Growth::in_windows(before, window, |snapshot| snapshot.pool);
    let pool_fills_up = !is_turned_over && end.pool + growth.gain_after(left) >= end.whole && end.pool < end.whole;
    log_grows || dirt_fills_up || pool_fills_up || flash_fills_up(first, last, ahead)
}

/// Return whether a drive would run out of erased flash in the rest: that must be simulated.
fn flash_fills_up(first: &Segment, last: &Segment, ahead: f64) -> bool {
    first.used.0.iter().zip(&last.used.1).any(|(begin, end)| {
        let Some((before, after)) = begin.erased_bytes().zip(end.erased_bytes()) else { return false };
        let lost = before.saturating_sub(after) as f64;
        lost > 0.0 && lost * ahead >= after as f64 / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extrapolate::segment::tests::block;

    fn short(transactions: u64) -> Segment {
        block(10, transactions)
    }

    #[test]
    fn window_lasts_given_time_or_whole_turns_with_3_blocks() {
        let blocks = vec![short(0); 6];
        let count = |length: f64| latest_blocks(&blocks, length).map(<[Segment]>::len);
        assert_eq!([0.0, 10.0, 40.0, 41.0, 60.0].map(count), [3, 3, 4, 5, 6].map(Some));
        assert_eq!((count(61.0), latest_blocks(&blocks[..2], 10.0).is_none()), (None, true));
        let turns = |least: f64, turn: f64| whole_turns(&blocks, least, turn, 2.0).map(<[Segment]>::len);
        assert_eq!(
            [(0.0, 22.0), (0.0, 23.0), (60.0, 17.0), (35.0, 12.0)].map(|of| turns(of.0, of.1)),
            [4, 5, 5, 3].map(Some)
        );
        assert_eq!(turns(0.0, 31.0), None, "two turns are more than there is");
        assert_eq!(whole_turns(&blocks, 0.0, 31.0, 1.0).map(<[Segment]>::len), Some(3));
    }

    #[test]
    fn counting_noise_of_few_transactions_is_no_burst() {
        let bursts = |counts: [u64; 4]| has_bursts(&counts.map(short));
        assert!(!bursts([100, 108, 94, 98]), "a hundred may be off by a tenth");
        assert!(bursts([100, 140, 60, 100]));
        assert!(bursts([100_000, 108_000, 94_000, 98_000]));
    }

    #[test]
    fn large_deviation_of_rates_means_bursts() {
        assert!(deviation(&[1.0, 1.01, 0.99, 1.0]) < BURSTS);
        assert!(deviation(&[1.0, 1.0, 0.7, 1.0]) > BURSTS);
        assert!((deviation(&[1.0, 3.0]) - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn phase_of_few_transactions_is_simulated_whole() {
        let judge = Judge { begin: 0, end: 1000 * SECOND };
        let pace = |each: u64| judge.steady_pace(&vec![block(5 * SECOND, each); 60]);
        assert_eq!([100, 249].map(|each| pace(each).is_some()), [false; 2], "fewer than 50,000 in all");
        assert_eq!([250, 1000].map(|each| pace(each).is_some()), [true; 2]);
    }

    #[test]
    fn growing_change_buffer_is_simulated_until_it_stops() {
        let judge = Judge { begin: 0, end: 1000 * SECOND };
        let with = |most: f64, buffered: fn(u32) -> f64| {
            let mut blocks = vec![block(5 * SECOND, 1000); 60];
            for (block, number) in blocks.iter_mut().zip(0u32..) {
                let (begin, end) = &mut block.snapshot;
                (begin.buffered, end.buffered) = (buffered(number), buffered(number + 1));
                (end.whole, end.buffer_mark) = (1e9, most);
            }
            judge.steady_pace(&blocks).is_some()
        };
        assert!(!with(5e8, |number| 5e6 * f64::from(number)), "0.5 % of the pool in 5 s");
        assert!(with(5e8, |number| 5e6 * f64::from(number.min(10))));
        assert!(!with(32e6, |number| 5e5 * f64::from(number)), "full in twenty seconds");
        assert!(with(20.5e6, |number| 5e5 * f64::from(number.min(40))), "full for a while");
        assert!(with(5e8, |number| 1e4 * f64::from(number)), "too little to matter");
    }

    #[test]
    fn blocks_before_full_change_buffer_are_ignored() {
        let judge = Judge { begin: 0, end: 950 * SECOND };
        let since = |full: u32| {
            let size = |number: u32| 1e6 * f64::from(number.min(50));
            let made = (0..50 + full).map(|number| {
                let mut block = block(5 * SECOND, if number < 50 { 2000 } else { 1800 });
                let (begin, end) = &mut block.snapshot;
                (begin.buffered, end.buffered) = (size(number), size(number + 1));
                (end.whole, end.buffer_mark, end.turned_over) = (1e9, 50e6, 5.0);
                block
            });
            let blocks: Vec<Segment> = made.collect();
            judge.steady_pace(&blocks).map(|pace| (pace.blocks, pace.pace(1e9)))
        };
        assert_eq!([1, 3].map(since), [None; 2], "too few blocks since then");
        assert_eq!(since(8), Some((3, 1.0)));
    }
}
