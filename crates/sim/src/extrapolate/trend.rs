//! Trend of a phase's pace.
//!
//! While a buffer pool fills, reads become ever more seldom: rates that depend on them change with
//! 1/t, the inverse of the time that has passed. In a full pool they change with the room that
//! other pages take.

use super::segment::Segment;

/// Multiple of a slope's squared standard error that is taken for chance.
const CHANCE: f64 = 4.0;

/// Return the mean of 1/t between two times.
pub(super) fn mean_inverse(from: f64, to: f64) -> f64 {
    if to > from { libm::log(to / from) / (to - from) } else { 1.0 / from }
}

/// Return the change of the blocks' rate, in transactions, per unit of a driver.
pub(super) fn slope(blocks: &[Segment], drivers: &[f64]) -> f64 {
    slope_of(drivers, blocks.iter().map(Segment::rate))
}

/// Return the change of values per unit of a driver: least squares, shrunk by what chance explains.
pub(super) fn slope_of(drivers: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    let points: Vec<(f64, f64)> = drivers.iter().copied().zip(values).collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let squares = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(|point| of(point) * of(point)).sum::<f64>();
    let spread = squares(&|point| point.0 - x);
    if points.len() < 3 || spread == 0.0 {
        return 0.0;
    }
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
    let error = squares(&|point| point.1 - y - slope * (point.0 - x)) / (count - 2.0) / spread;
    if slope == 0.0 { 0.0 } else { slope * (1.0 - CHANCE * error / (slope * slope)).max(0.0) }
}

/// Return the mean of 1/t in each of consecutive blocks, the first of which begins at `from`.
pub(super) fn mean_inverses(blocks: &[Segment], from: f64) -> Vec<f64> {
    let mut to = from;
    let each = |block: &Segment| {
        let from = to;
        to += block.length as f64;
        mean_inverse(from, to)
    };
    blocks.iter().map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extrapolate::segment::tests::block;

    const LENGTH: f64 = 1000.0;

    /// Blocks number `skipped` on, with transactions by number and mean of `1 / t`.
    fn blocks(skipped: u64, count: u64, transactions: impl Fn(u64, f64) -> f64) -> Vec<Segment> {
        let made = (skipped..skipped + count).map(|n| {
            let from = n as f64 * LENGTH;
            block(LENGTH as u64, transactions(n, mean_inverse(from, from + LENGTH)).round() as u64)
        });
        made.collect()
    }

    fn of_inverse(blocks: &[Segment], from: f64) -> f64 {
        slope(blocks, &mean_inverses(blocks, from))
    }

    #[test]
    fn mean_inverse_equals_its_integral() {
        assert!((mean_inverse(2.0, 6.0) - libm::log(3.0) / 4.0).abs() < 1e-15);
        assert_eq!(mean_inverse(4.0, 4.0), 0.25);
    }

    #[test]
    fn rate_linear_in_inverse_time_has_its_slope() {
        for slope_each in [1e9, -1e9] {
            let found = of_inverse(&blocks(10, 40, |_, x| 5e6 + slope_each * x), 10.0 * LENGTH);
            assert!((found * LENGTH / slope_each - 1.0).abs() < 0.01, "{found}");
        }
    }

    #[test]
    fn slope_within_chance_is_zero() {
        let up_and_down = |n: u64, _| if n.is_multiple_of(2) { 5.1e6 } else { 4.9e6 };
        assert_eq!(of_inverse(&blocks(10, 41, up_and_down), 10.0 * LENGTH), 0.0);
        assert_eq!(of_inverse(&blocks(10, 40, |_, _| 5e6), 10.0 * LENGTH), 0.0);
        assert_eq!(of_inverse(&blocks(10, 2, |n, _| n as f64), 10.0 * LENGTH), 0.0, "two blocks give no error");
    }
}
