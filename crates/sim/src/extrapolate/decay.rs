//! Decline of page reads while a buffer pool fills.
//!
//! Popular pages are read soon, others ever more seldom. The read rate falls with a power of the
//! time that has passed. The power is near one if popularity is skewed: six whole simulations of
//! `mysql-disk-or-flash` with a large pool gave 1.0 to 1.3 for pages, and up to 1.6 for the time
//! that clients wait for them.

/// Prior of the power. It has the weight of two windows, whose rates may be chance or bursts.
const POWER: f64 = 1.0;
const MAX_POWER: f64 = 2.0;

/// Rate that declines after a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decay {
    power: f64,
    /// Begin and end of the window, in nanoseconds since the decline began.
    begin: f64,
    end: f64,
}

impl Decay {
    /// Decay from the sums of two windows of this length, one after the other.
    pub(super) fn of(sums: [f64; 2], length: f64, end: f64) -> Self {
        let begin = end - length;
        let middle = |from: f64, to: f64| (from.max(1.0) * to).sqrt();
        let (before, window) = (middle(begin - length, begin), middle(begin, end));
        let fitted = libm::log(sums[0] / sums[1]) / libm::log(window / before);
        let fitted = if fitted.is_finite() { fitted.clamp(0.0, MAX_POWER) } else { POWER };
        Self { power: (fitted + POWER) / 2.0, begin, end }
    }

    /// Return the mean rate over a time after the window, as a share of the window's rate.
    pub(super) fn factor(&self, time: f64) -> f64 {
        self.mean(self.end, self.end + time) / self.mean(self.begin, self.end)
    }

    fn mean(&self, from: f64, to: f64) -> f64 {
        let (from, left) = (from.max(1.0), 1.0 - self.power);
        if to <= from {
            return libm::pow(from, -self.power);
        }
        let sum =
            if left.abs() < 1e-9 { libm::log(to / from) } else { (libm::pow(to, left) - libm::pow(from, left)) / left };
        sum / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads between two times at a rate of `1000 / t`.
    fn sum(from: f64, to: f64) -> f64 {
        1000.0 * libm::log(to / from)
    }

    #[test]
    fn inverse_decay_predicts_its_rest() {
        let decay = Decay::of([sum(300.0, 400.0), sum(400.0, 500.0)], 100.0, 500.0);
        let rest = decay.factor(4500.0) * sum(400.0, 500.0) * 45.0;
        assert!((rest / sum(500.0, 5000.0) - 1.0).abs() < 0.01, "{rest}");
        assert!(decay.factor(1.0) > decay.factor(1000.0) && decay.factor(0.0) < 1.0);
    }

    #[test]
    fn fitted_power_is_averaged_with_prior() {
        let decay = Decay::of([500.0, 500.0], 100.0, 500.0);
        assert!((decay.power - 0.5).abs() < 1e-12, "level windows, and the prior");
        assert!((Decay::of([500.0, 1.0], 100.0, 500.0).power - 1.5).abs() < 1e-12);
        assert_eq!(Decay::of([0.0, 0.0], 100.0, 500.0).power, POWER);
    }
}
