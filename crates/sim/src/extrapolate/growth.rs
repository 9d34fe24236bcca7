//! Growth of a change buffer towards a limit, slower by the same share from window to window.

use super::segment::Segment;
use super::sums::Sums;
use crate::database::Snapshot;
use libm::{exp, log};

/// Smallest and largest ratio of a window's growth to that of the window before.
///
/// A smaller ratio may be chance. With the largest, growth goes on unchanged for any practical
/// time.
const RATIOS: (f64, f64) = (0.7, 0.999);

/// Exponential growth towards a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// Gain in infinite time, in the quantity's own unit.
    gain: f64,
    /// Time in which all but a share of 1/e of it is gained.
    time: f64,
}

impl Growth {
    /// Growth of a quantity of the server's state over two windows, one after the other.
    pub(super) fn in_windows(before: &[Segment], window: &[Segment], of: impl Fn(&Snapshot) -> f64) -> Self {
        let end = &window[window.len() - 1].snapshot.1;
        let sizes = [&before[0].snapshot.0, &window[0].snapshot.0, end].map(of);
        Self::of(sizes, [before, window].map(|blocks| Sums::of(blocks).length))
    }

    /// Growth from the sizes at the bounds of two windows with these lengths.
    pub(super) fn of(sizes: [f64; 3], lengths: [f64; 2]) -> Self {
        let rates = [0, 1].map(|window| (sizes[window + 1] - sizes[window]) / lengths[window]);
        let ratio = if rates[0] > 0.0 { (rates[1] / rates[0]).clamp(RATIOS.0, RATIOS.1) } else { RATIOS.1 };
        Self {
            gain: (rates[1] * lengths[1] * ratio / (1.0 - ratio)).max(0.0),
            time: -(lengths[0] + lengths[1]) / 2.0 / log(ratio),
        }
    }

    /// Return the gain after a time.
    pub(super) fn gain_after(&self, time: f64) -> f64 {
        self.gain * (1.0 - exp(-time / self.time))
    }

    /// Return the mean over a time of the gain so far.
    pub(super) fn mean_gain(&self, time: f64) -> f64 {
        self.gain - self.gain_after(time) * self.time / time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Towards 100, of which a time of 50 leaves a third.
    fn size(time: f64) -> f64 {
        100.0 * (1.0 - exp(-time / 50.0))
    }

    #[test]
    fn exponential_growth_predicts_its_rest() {
        let growth = Growth::of([10.0, 20.0, 30.0].map(size), [10.0, 10.0]);
        for time in [1.0, 10.0, 100.0] {
            assert!((growth.gain_after(time) - (size(30.0 + time) - size(30.0))).abs() < 1e-9);
        }
        let steps = 10_000;
        let sum: f64 =
            (0..steps).map(|step| growth.gain_after((f64::from(step) + 0.5) * 100.0 / f64::from(steps))).sum();
        assert!((growth.mean_gain(100.0) - sum / f64::from(steps)).abs() < 1e-6);
    }

    #[test]
    fn linear_growth_goes_on_and_shrinking_gains_nothing() {
        let growth = Growth::of([0.0, 10.0, 20.0], [10.0, 10.0]);
        assert!((growth.gain_after(100.0) / 100.0 - 1.0).abs() < 0.01, "{}", growth.gain_after(100.0));
        let shrinking = Growth::of([20.0, 10.0, 5.0], [10.0, 10.0]);
        assert_eq!((shrinking.gain_after(100.0), shrinking.mean_gain(100.0)), (0.0, 0.0));
    }

    #[test]
    fn sudden_end_of_growth_is_limited_by_least_ratio() {
        let growth = Growth::of([0.0, 10.0, 10.1], [10.0, 10.0]);
        assert!((growth.gain_after(1e9) - 0.1 * 0.7 / 0.3).abs() < 1e-9);
    }
}
