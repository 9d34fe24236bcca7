//! Comparison of two windows of equal length, one after the other, and the pace that follows them.

use super::growth::Growth;
use super::segment::Segment;
use super::sums::Sums;
use super::trend::{mean_inverse, mean_inverses, slope, slope_of};
use crate::database::Snapshot;
use tameshi_base::Nanos;

/// Largest relative difference of a window's rate from the expected one.
pub(super) const TOLERANCE: f64 = 0.02;
/// Share of buffered leaf changes below which missing leaves do not affect the pace.
const FEW_BUFFERED: f64 = 0.01;
/// Largest share of the pool that the change buffer may still take from other pages.
const ROOM: f64 = 0.05;
/// Largest share of the pool by which the change buffer's growth may overshoot its limit: a buffer
/// that reaches its limit changes the pace.
const OVERSHOOT: f64 = 0.05;
/// Share of its limit at which the change buffer is full.
pub(super) const FULL: f64 = 0.97;

/// Quantity that a pace changes with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Driver {
    /// Inverse of the time since the judge's begin, in nanoseconds, of which `passed` has passed.
    Inverse { passed: f64 },
    /// Share of leaf changes that are buffered: the fewer leaves a pool lacks, the more of its
    /// pages become dirty. `sum` is the growth of the share's integral over time, in nanoseconds.
    Share { sum: Growth },
    /// Growth of the change buffer in bytes, at most `most`.
    Buffered { growth: Growth, most: f64 },
}

impl Driver {
    /// Return the mean over the first `time` of the rest.
    fn mean(&self, time: f64) -> f64 {
        match self {
            Self::Inverse { passed } => mean_inverse(*passed, passed + time),
            Self::Share { sum } if time > 0.0 => sum.gain_after(time) / time,
            Self::Buffered { growth, most } if time > 0.0 => growth.mean_gain(time).min(*most),
            Self::Share { .. } | Self::Buffered { .. } => 0.0,
        }
    }

    /// Return the share of the trend that goes on, and the largest change of the pace that is
    /// predicted from it.
    ///
    /// A decline with 1/t levels off at some time that no window shows. Of the last leaves that
    /// come in, many become dirty with neighbours that are dirty already. The shares are from six
    /// whole simulations of `mysql-disk-or-flash` with a large pool.
    fn trust(&self) -> (f64, f64) {
        match self {
            Self::Inverse { .. } => (0.5, 0.025),
            Self::Share { .. } => (0.7, 0.06),
            Self::Buffered { .. } => (1.0, 0.025),
        }
    }
}

/// Pace of the rest of a phase, relative to that of its latest blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SteadyPace {
    /// Number of the latest blocks that the rest follows.
    pub(super) blocks: usize,
    /// Relative change of the pace per unit of the driver.
    drift: f64,
    driver: Driver,
    /// Mean of the driver in the blocks.
    at: f64,
    /// Driver in each of the blocks, and of as many before them.
    drivers: Vec<f64>,
}

impl SteadyPace {
    /// Return the time in the blocks in which the work of the first `time` of the rest was done.
    pub(super) fn equivalent(&self, time: Nanos) -> Nanos {
        (time as f64 * self.pace(time as f64)).round() as Nanos
    }

    /// Return the mean pace over the first `time` of the rest, as a share of that of the blocks.
    pub(super) fn pace(&self, time: f64) -> f64 {
        self.factor(self.drift, time)
    }

    /// Return the relative change of a quantity per unit of the driver; `pair` are the blocks and
    /// as many before them.
    pub(super) fn drift_of(&self, of: impl Fn(&Segment) -> f64, pair: &[Segment]) -> f64 {
        let mean = pair[self.blocks..].iter().map(&of).sum::<f64>() / self.blocks as f64;
        let slope = slope_of(&self.drivers, pair.iter().map(of));
        if mean > 0.0 { self.driver.trust().0 * slope / mean } else { 0.0 }
    }

    /// Return the mean of a quantity with this drift over the first `time` of the rest, as a
    /// multiple of its mean in the blocks.
    pub(super) fn factor(&self, drift: f64, time: f64) -> f64 {
        1.0 + drift * (self.driver.mean(time) - self.at)
    }

    /// Return whether the pace of the first `left` of the rest is near enough to that of the
    /// blocks.
    fn is_predictable(&self, left: f64) -> bool {
        (self.pace(left) - 1.0).abs() <= self.driver.trust().1
    }
}

/// Consecutive windows of equal length, the last of which ends now.
pub(super) struct Windows<'a> {
    /// Blocks of the last two windows, and of up to one window before them.
    blocks: &'a [Segment],
    /// Driver in each block.
    drivers: Vec<f64>,
    /// Blocks per window.
    length: usize,
    driver: Driver,
}

impl<'a> Windows<'a> {
    /// Windows of `length` blocks that end with the last of all blocks.
    pub(super) fn latest(all: &'a [Segment], length: usize) -> Option<Self> {
        let more = all.len().checked_sub(2 * length)?.min(length);
        let (earlier, blocks) = all.split_at(all.len() - 2 * length - more);
        let (drivers, driver) = driver_of(Sums::of(earlier).length, blocks, length);
        Some(Self { blocks, drivers, length, driver })
    }

    /// The last two windows.
    pub(super) fn both(&self) -> (&'a [Segment], &'a [Segment]) {
        pair(self.blocks, self.length)
    }

    /// Return whether the last window's rate is that of the window before, changed by its trend.
    pub(super) fn is_as_expected(&self) -> bool {
        let (before, window) = self.both();
        let (earlier, now) = self.drivers.split_at(self.drivers.len() - self.length);
        let slope = slope(&self.blocks[..earlier.len()], earlier);
        let change = mean(window, now) - mean(before, &earlier[earlier.len() - self.length..]);
        (Sums::of(window).rate() / (Sums::of(before).rate() + slope * change) - 1.0).abs() <= TOLERANCE
    }

    /// Return whether the rate is as expected, and the pace of the first `left` of the rest
    /// predictable.
    pub(super) fn are_steady(&self, left: f64) -> bool {
        self.is_as_expected() && self.steady_pace().is_predictable(left)
    }

    /// Return whether the change buffer changes the pace of the first `left` of the rest: it takes
    /// much of the pool from other pages, or reaches its limit while it grows fast.
    pub(super) fn buffer_displaces_pages(&self, left: f64) -> bool {
        let whole = snapshot(self.blocks).whole;
        let (growth, most) = growth(self.both());
        let gain = growth.gain_after(left);
        gain.min(most) > ROOM * whole || gain - most > OVERSHOOT * whole
    }

    /// Return the pace of the rest.
    pub(super) fn steady_pace(&self) -> SteadyPace {
        let (_, window) = self.both();
        let both = self.blocks.len() - 2 * self.length;
        let drivers = self.drivers[both..].to_vec();
        let slope = slope(&self.blocks[both..], &drivers) / Sums::of(window).rate();
        let at = mean(window, &drivers[self.length..]);
        SteadyPace { blocks: self.length, drift: self.driver.trust().0 * slope, driver: self.driver, at, drivers }
    }
}

/// Return the driver of the blocks' rate: its value in each block, and its course after the last
/// two windows of `length` blocks. `passed` is the time before the blocks.
fn driver_of(passed: f64, blocks: &[Segment], length: usize) -> (Vec<f64>, Driver) {
    let (before, window) = pair(blocks, length);
    let Snapshot { turned_over, buffered, leaf_changes, .. } = *snapshot(blocks);
    // Once all pages of the pool have been replaced, reads decline no more. A drive may still
    // settle.
    if turned_over >= 1.0 && leaf_changes.0 > 0 {
        let gained = blocks.iter().map(|block| block.snapshot.1.buffered - buffered).collect();
        let (growth, most) = growth((before, window));
        return (gained, Driver::Buffered { growth, most });
    }
    let shares: Vec<f64> = blocks.iter().map(Segment::buffered_share).collect();
    let (earlier, now) = shares.split_at(shares.len() - length);
    let share = mean(window, now);
    if share < FEW_BUFFERED {
        let driver = Driver::Inverse { passed: passed + Sums::of(blocks).length };
        return (mean_inverses(blocks, passed.max(1.0)), driver);
    }
    let lengths = [before, window].map(|blocks| Sums::of(blocks).length);
    let first = mean(before, &earlier[earlier.len() - length..]) * lengths[0];
    let sum = Growth::of([0.0, first, first + share * lengths[1]], lengths);
    (shares, Driver::Share { sum })
}

/// The last two windows of `length` blocks.
fn pair(blocks: &[Segment], length: usize) -> (&[Segment], &[Segment]) {
    blocks[blocks.len() - 2 * length..].split_at(length)
}

/// State of the server at the end of blocks.
fn snapshot(blocks: &[Segment]) -> &Snapshot {
    &blocks[blocks.len() - 1].snapshot.1
}

/// Mean over time of a quantity given per block.
fn mean(blocks: &[Segment], of: &[f64]) -> f64 {
    let sum: f64 = blocks.iter().zip(of).map(|(block, of)| of * block.length as f64).sum();
    sum / Sums::of(blocks).length
}

/// Growth of the change buffer after two windows, and its room up to its limit.
fn growth((before, window): (&[Segment], &[Segment])) -> (Growth, f64) {
    let Snapshot { buffered, buffer_mark, .. } = snapshot(window);
    (Growth::in_windows(before, window, |snapshot| snapshot.buffered), (buffer_mark - buffered).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extrapolate::segment::tests::block;

    /// Blocks whose rate declines with 1/t towards 10^5 per block; `share` is the excess at the
    /// begin.
    fn slowing(count: u64, share: f64) -> Vec<Segment> {
        let mean = |n: f64| mean_inverse(n.max(0.01), n + 1.0);
        (0..count).map(|n| block(1_000_000, (1e5 * (1.0 + share * mean(n as f64))).round() as u64)).collect()
    }

    #[test]
    fn rest_of_filling_pool_follows_buffered_share() {
        let share = |number: f64| 0.5 * libm::exp(-number / 40.0);
        let of = |number: u64| {
            let share = (share(number as f64) + share(number as f64 + 1.0)) / 2.0;
            let mut block = block(1_000_000, (1e5 * (1.0 + 0.2 * share)).round() as u64);
            let (begin, end) = &mut block.snapshot;
            (begin.leaf_changes, end.leaf_changes) = ((7, 3), (1_000_007, (1e6 * share).round() as u64 + 3));
            block
        };
        let blocks: Vec<Segment> = (0..400).map(of).collect();
        let windows = Windows::latest(&blocks[..40], 10).expect("two windows and some");
        assert!(windows.is_as_expected() && windows.are_steady(360e6));
        let (like, exact) = (Sums::of(&blocks[30..40]).rate(), Sums::of(&blocks[40..]).rate());
        let (level, pace) = (like / exact - 1.0, windows.steady_pace().pace(360e6));
        assert!(level > 0.02, "without its trend it would be off");
        assert!((like * pace / exact - 1.0 - 0.3 * level).abs() < 0.001, "{pace}");
    }

    #[test]
    fn rest_slows_down_half_as_much_as_blocks() {
        let blocks = slowing(40, 2.0);
        let windows = Windows::latest(&blocks, 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let (pace, whole) = (windows.steady_pace(), slowing(200, 2.0));
        let exact = Sums::of(&whole[40..]).transactions;
        let like = Sums::of(&blocks[30..]).transactions / 10.0;
        let rest = pace.equivalent(160_000_000) as f64 / 1e6 * like;
        let level = like * 160.0 / exact - 1.0;
        assert!(level > 0.02, "without its trend it would be off");
        assert!((rest / exact - 1.0 - level / 2.0).abs() < 0.002, "{rest} {exact}");
        let halves = [0, 80_000_000, 160_000_000].map(|time| pace.equivalent(time));
        assert!(halves[0] == 0 && halves[1] > halves[2] - halves[1], "{halves:?}");
    }

    #[test]
    fn rest_of_full_pool_follows_change_buffer_growth() {
        let size = |number: f64| 1e6 * (1.0 - libm::exp(-number / 40.0));
        let blocks: Vec<Segment> = (0..200)
            .map(|number| {
                let buffered = size(f64::from(number) + 1.0);
                let mut block = block(1_000_000, (1e5 - buffered / 100.0).round() as u64);
                let (begin, end) = &mut block.snapshot;
                (begin.buffered, end.buffered) = (size(f64::from(number)), buffered);
                (end.turned_over, end.buffer_mark, end.leaf_changes) = (5.0, 1e9, (1_000_000, 500_000));
                block
            })
            .collect();
        let windows = Windows::latest(&blocks[..40], 10).expect("two windows and some");
        assert!(windows.is_as_expected());
        let like = Sums::of(&blocks[30..40]).transactions / 10.0;
        let rest = windows.steady_pace().equivalent(160_000_000) as f64 / 1e6 * like;
        let exact = Sums::of(&blocks[40..]).transactions;
        assert!(like * 160.0 / exact > 1.01, "without its trend it would be off");
        assert!((rest / exact - 1.0).abs() < 0.001, "{rest} {exact}");
    }

    #[test]
    fn rate_that_turns_is_not_as_expected() {
        let turning = |n: u64| block(1_000_000, if n < 20 { 90_000 + 1000 * n } else { 110_000 - 800 * (n - 20) });
        let blocks: Vec<Segment> = (0..40).map(turning).collect();
        assert!(!Windows::latest(&blocks, 10).expect("windows").is_as_expected());
        let level: Vec<Segment> = (0..40).map(|n| block(1_000_000, 100_000 + 300 * (n % 3))).collect();
        let windows = Windows::latest(&level, 10).expect("windows");
        assert!(windows.is_as_expected());
        assert_eq!(windows.steady_pace().equivalent(160_000_000), 160_000_000, "a level pace stays");
    }
}
