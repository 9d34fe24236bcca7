//! How a phase in fast mode goes on after a stretch that was simulated.
//!
//! Stretches follow one another at times that grow in proportion: a state that still fills up is gone through transaction by
//! transaction without time, one that no longer changes is left as it is. docs/simulated-databases.md gives the rules.

use super::book::Stretch;
use tameshi_base::Nanos;

const SECOND: Nanos = 1_000_000_000;
/// A stretch has so many transactions at least while things change, and so many when they do not.
const LEAST: [u64; 2] = [1500, 3000];
const LEAST_TIME: Nanos = 2 * SECOND;
/// A gap's length at most, as a share of the time until it, and of the phase's.
const GROWTH: f64 = 0.35;
const LONGEST: f64 = 1.0 / 12.0;
/// Where nothing changes but for what comes back with each turn of the log, a gap is carried out for so much of a turn: golden,
/// so that stretches are spread evenly over turns.
const OF_A_TURN: f64 = 0.381_966;
/// A share of the time of clients that is no matter.
const NO_MATTER: f64 = 0.005;
/// So much of a limit is as good as the limit.
const THERE: f64 = 0.9;
/// How far rates of two stretches may be apart, besides what chance does.
const APART: f64 = 0.02;
/// A pool whose pages were all replaced so often, and a log that was written so often, is as it will be.
const TURNS: f64 = 2.0;
const LOG_TURNS: f64 = 1.25;

/// Stretches by which rates are found to go up and down, and by how much they may: standard deviation from the line through
/// their neighbours, relative. What goes up and down more is simulated to its end.
const LATEST: usize = 6;
const UNREST: f64 = 0.035;
/// So much more of the time may be taken by flushing for the log's sake in a gap than in the stretch before it.
const BURSTS: f64 = 0.05;

/// Where clients wait for a free page for more of their time, they wait for one another's flushes: how long a transaction takes
/// is then not the sum of what comes in, and nothing is left out.
const FREE_PAGES: f64 = 0.05;

/// What follows on a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It is simulated further.
    More,
    /// So much is left out.
    Gap {
        /// Its length.
        length: Nanos,
        /// For so much of it transactions are carried out without time.
        carried_out: Nanos,
    },
}

/// Remembers the stretch before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    begin: Nanos,
    end: Nanos,
    /// Transactions a nanosecond, how many they were, and the log's age at the end.
    before: Option<(f64, f64, f64)>,
    settled: bool,
    /// Transactions a nanosecond in the latest stretches, the last one first.
    latest: [f64; LATEST],
    restless: bool,
}

impl Judge {
    /// Of a phase from the end of its ramp to its end.
    pub(super) fn new(begin: Nanos, end: Nanos) -> Self {
        Self { begin, end, before: None, settled: false, latest: [0.0; LATEST], restless: false }
    }

    /// Whether a stretch is long enough to speak for others.
    pub(super) fn speaks_for_others(&self, length: Nanos, transactions: u64) -> bool {
        length >= LEAST_TIME && transactions >= LEAST[usize::from(self.settled)]
    }

    /// What follows on a stretch that ends at `now`.
    pub(super) fn next(&mut self, stretch: &Stretch, now: Nanos) -> Next {
        if !self.speaks_for_others(stretch.length, stretch.transactions()) || now <= self.begin {
            return Next::More;
        }
        let left = self.end.saturating_sub(now);
        self.latest.rotate_right(1);
        self.latest[0] = stretch.rate();
        self.restless |= self.unrest() > UNREST || stretch.counted.waits_for_free_pages() > FREE_PAGES;
        self.settled = self.is_settled(stretch, left as f64);
        self.before = Some((stretch.rate(), stretch.transactions() as f64, stretch.standing.1.age));
        let longest = ((self.end - self.begin) as f64 * LONGEST).max(2.0 * stretch.length as f64);
        let length = ((now - self.begin) as f64 * GROWTH).min(longest) as Nanos;
        // The last stretch ends with the phase.
        let last = left.saturating_sub(stretch.length.max(LEAST_TIME));
        let length = if length + 2 * stretch.length > left { last } else { length } / SECOND * SECOND;
        if length < stretch.length || self.restless || flash_fills_up(stretch, left as f64) {
            return Next::More;
        }
        let turn = if self.settled { turn_of_the_log(stretch) * OF_A_TURN } else { f64::INFINITY };
        Next::Gap { length, carried_out: length.min(turn as Nanos) }
    }

    /// A gap was carried out in which so many pages were flushed from the list of dirty ones: if that takes much longer than it
    /// did in the stretch before, the gap is not like it.
    pub(super) fn carried_out(&mut self, before: &Stretch, (length, flushed): (Nanos, u64)) {
        let usual = before.counted.listed() as f64 * length as f64 / before.length as f64;
        let more_seconds = (flushed as f64 - usual) / before.counted.flushed_per_second();
        self.restless |= more_seconds * SECOND as f64 > BURSTS * length as f64;
    }

    /// How much the latest rates go up and down; zero while there are too few.
    fn unrest(&self) -> f64 {
        if self.latest[LATEST - 1] == 0.0 {
            return 0.0;
        }
        let off = |of: &[f64]| of[1] - (of[0] + of[2]) / 2.0;
        let squares: f64 = self.latest.windows(3).map(|of| off(of) * off(of)).sum();
        let mean = self.latest.iter().sum::<f64>() / LATEST as f64;
        // One and a half times the variance, where stretches know nothing of one another.
        (squares / (LATEST - 2) as f64 / 1.5).sqrt() / mean
    }

    /// Whether nothing changes any more that would matter before the end.
    fn is_settled(&self, stretch: &Stretch, left: f64) -> bool {
        let Some((rate, transactions, age)) = self.before else { return false };
        let (begin, end) = stretch.standing;
        let chance = 2.0 * (1.0 / transactions + 1.0 / stretch.transactions() as f64).sqrt();
        let is_level = (stretch.rate() / rate - 1.0).abs() <= APART + chance;
        let is_warm = stretch.counted.waits_for_pages() < NO_MATTER || end.turned_over >= TURNS;
        let reaches = |from: f64, to: f64, limit: f64| {
            let gained = to - from;
            gained > 0.0 && to < limit * THERE && to + gained * left / stretch.length as f64 >= limit * THERE
        };
        let log_fills_up = end.age > age * 1.05 && reaches(begin.age, end.age, end.hasty_age);
        let log_goes_on = end.log_turned_over < LOG_TURNS && (log_fills_up || end.age > end.hasty_age * THERE);
        let dirt_fills_up = end.turned_over < TURNS && reaches(begin.dirty, end.dirty, end.most_dirty);
        is_level && is_warm && !log_goes_on && !dirt_fills_up
    }
}

/// Nanoseconds in which the log grows by as much as it holds; zero where it does not come to its limit.
fn turn_of_the_log(stretch: &Stretch) -> f64 {
    let (standing, bytes) = (stretch.standing.1, stretch.counted.log_bytes());
    if standing.log_turned_over < LOG_TURNS || bytes == 0 {
        return 0.0;
    }
    standing.hasty_age * stretch.length as f64 / bytes as f64
}

/// Whether a drive would have no erased flash any more before the end: what that does must be simulated.
fn flash_fills_up(stretch: &Stretch, left: f64) -> bool {
    stretch.used.0.iter().zip(&stretch.used.1).any(|(begin, end)| {
        let Some((before, after)) = begin.erased().zip(end.erased()) else { return false };
        let lost = before.saturating_sub(after) as f64;
        lost > 0.0 && lost * left / stretch.length as f64 >= after as f64 / 2.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unrest(rates: [f64; LATEST]) -> f64 {
        Judge { latest: rates, ..Judge::new(0, SECOND) }.unrest()
    }

    #[test]
    fn a_rate_that_grows_is_at_rest_and_one_that_goes_up_and_down_is_not() {
        assert!(unrest([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) < 1e-9);
        assert!(unrest([1.0, 0.99, 1.01, 1.0, 0.99, 1.0]) < UNREST);
        assert!(unrest([1.0, 1.0, 0.7, 1.0, 1.0, 1.0]) > UNREST);
        assert!(unrest([1.0, 0.5, 1.0, 0.5, 1.0, 0.0]) < f64::EPSILON, "five are too few");
    }
}
