//! How a change buffer goes on growing: towards what it comes to, by the same share less from window to window.

use super::stretch::Stretch;
use super::sums::Sums;
use crate::database::Snapshot;
use libm::{exp, log};

/// A window's growth as a share of that of the one before, at least and at most. Less may be chance, and with the most it goes
/// on as it is for as long as anybody looks ahead.
const SHARES: (f64, f64) = (0.7, 0.999);

/// What something that grows will gain, in its own unit, and in what time all but a third (`e^-1`) of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    gain: f64,
    time: f64,
}

impl Growth {
    /// Of something that stands so and so in two windows behind one another.
    pub(super) fn in_windows(before: &[Stretch], window: &[Stretch], of: impl Fn(&Snapshot) -> f64) -> Self {
        let end = &window[window.len() - 1].standing.1;
        let sizes = [&before[0].standing.0, &window[0].standing.0, end].map(of);
        Self::of(sizes, [before, window].map(|blocks| Sums::of(blocks).length))
    }

    /// Of what was `sizes` at the begin of a window, at its end and at the end of the next, which lasted so long.
    pub(super) fn of(sizes: [f64; 3], lengths: [f64; 2]) -> Self {
        let rates = [0, 1].map(|window| (sizes[window + 1] - sizes[window]) / lengths[window]);
        let share = if rates[0] > 0.0 { (rates[1] / rates[0]).clamp(SHARES.0, SHARES.1) } else { SHARES.1 };
        Self {
            gain: (rates[1] * lengths[1] * share / (1.0 - share)).max(0.0),
            time: -(lengths[0] + lengths[1]) / 2.0 / log(share),
        }
    }

    /// What it gains in a time.
    pub(super) fn after(&self, time: f64) -> f64 {
        self.gain * (1.0 - exp(-time / self.time))
    }

    /// The mean, over a time, of what it has gained.
    pub(super) fn mean(&self, time: f64) -> f64 {
        self.gain - self.after(time) * self.time / time
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
    fn what_comes_to_rest_is_foreseen() {
        let growth = Growth::of([10.0, 20.0, 30.0].map(size), [10.0, 10.0]);
        for time in [1.0, 10.0, 100.0] {
            assert!((growth.after(time) - (size(30.0 + time) - size(30.0))).abs() < 1e-9);
        }
        let steps = 10_000;
        let sum: f64 = (0..steps).map(|step| growth.after((f64::from(step) + 0.5) * 100.0 / f64::from(steps))).sum();
        assert!((growth.mean(100.0) - sum / f64::from(steps)).abs() < 1e-6);
    }

    #[test]
    fn what_grows_as_fast_as_before_goes_on_and_what_shrinks_gains_nothing() {
        let growth = Growth::of([0.0, 10.0, 20.0], [10.0, 10.0]);
        assert!((growth.after(100.0) / 100.0 - 1.0).abs() < 0.01, "{}", growth.after(100.0));
        let shrinking = Growth::of([20.0, 10.0, 5.0], [10.0, 10.0]);
        assert_eq!((shrinking.after(100.0), shrinking.mean(100.0)), (0.0, 0.0));
    }

    #[test]
    fn that_growth_ends_at_once_is_not_believed() {
        let growth = Growth::of([0.0, 10.0, 10.1], [10.0, 10.0]);
        assert!((growth.after(1e9) - 0.1 * 0.7 / 0.3).abs() < 1e-9);
    }
}
