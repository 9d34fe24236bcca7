//! How pages come in while a pool fills: those asked for often are there soon, others ever more seldom come in. The rate falls
//! with a power of the time that has passed, which is near one where popularity is skewed (six cells of `mysql-disk-or-flash`
//! with a large pool, simulated whole: 1.0 to 1.3 for pages, up to 1.6 for the time that is waited for them).

/// A power of one is trusted as much as what two windows tell, which may be chance and of bursts.
const POWER: f64 = 1.0;
const MOST: f64 = 2.0;

/// A rate that falls behind a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decay {
    power: f64,
    /// The window's begin and end, in nanoseconds since the rate began to fall.
    begin: f64,
    end: f64,
}

impl Decay {
    /// Of sums in two windows of equal length behind one another.
    pub(super) fn of(sums: [f64; 2], length: f64, end: f64) -> Self {
        let begin = end - length;
        let middle = |from: f64, to: f64| (from.max(1.0) * to).sqrt();
        let (before, window) = (middle(begin - length, begin), middle(begin, end));
        let fell = libm::log(sums[0] / sums[1]) / libm::log(window / before);
        let told = if fell.is_finite() { fell.clamp(0.0, MOST) } else { POWER };
        Self { power: (told + POWER) / 2.0, begin, end }
    }

    /// The rate's mean until so much has passed behind the window, as a share of that in it.
    pub(super) fn times(&self, time: f64) -> f64 {
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

    /// What comes in between two times at a rate of `1000 / t`.
    fn sum(from: f64, to: f64) -> f64 {
        1000.0 * libm::log(to / from)
    }

    #[test]
    fn what_falls_with_the_inverse_of_time_is_foreseen() {
        let falling = Decay::of([sum(300.0, 400.0), sum(400.0, 500.0)], 100.0, 500.0);
        let rest = falling.times(4500.0) * sum(400.0, 500.0) * 45.0;
        assert!((rest / sum(500.0, 5000.0) - 1.0).abs() < 0.01, "{rest}");
        assert!(falling.times(1.0) > falling.times(1000.0) && falling.times(0.0) < 1.0);
    }

    #[test]
    fn half_of_what_two_windows_tell_counts() {
        let falling = Decay::of([500.0, 500.0], 100.0, 500.0);
        assert!((falling.power - 0.5).abs() < 1e-12, "level but for the half that is known");
        assert!((Decay::of([500.0, 1.0], 100.0, 500.0).power - 1.5).abs() < 1e-12);
        assert_eq!(Decay::of([0.0, 0.0], 100.0, 500.0).power, POWER);
    }
}
