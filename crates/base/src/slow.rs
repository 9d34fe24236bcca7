//! Slow motion: a run's own time next to wall time.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Most that a run can be slowed down.
const MOST: f64 = 1000.0;
/// Binary places of the two ratios.
const PLACES: u32 = 63;
const WALL_PLACES: u32 = 32;

/// Ratio of wall time to a run's own time; 1 leaves every time as it is. In JSON it is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Slow {
    thousandths: u32,
    /// Own time per wall time, times 2^63.
    own: u64,
    /// Wall time per own time, times 2^32.
    wall: u64,
}

impl Slow {
    /// Own time is wall time.
    pub const NONE: Self = Self::of_thousandths(1000);

    /// Return the ratio of a factor from 1 to 1000, to three decimals.
    ///
    /// # Errors
    /// A sentence with the accepted factors.
    pub fn new(factor: f64) -> Result<Self, String> {
        if (1.0..=MOST).contains(&factor) {
            Ok(Self::of_thousandths((factor * 1000.0 + 0.5) as u64))
        } else {
            Err(format!("slow motion of {factor}: expected 1 to {MOST}"))
        }
    }

    const fn of_thousandths(thousandths: u64) -> Self {
        let own = (1000_u128 << PLACES) / thousandths as u128;
        let wall = ((thousandths as u128) << WALL_PLACES) / 1000;
        Self { thousandths: thousandths as u32, own: own as u64, wall: wall as u64 }
    }

    /// Return the own time of a wall time, a reading of a clock or a span.
    #[inline]
    #[must_use]
    pub fn own_time(self, wall: Nanos) -> Nanos {
        ((u128::from(wall) * u128::from(self.own)) >> PLACES) as Nanos
    }

    /// Return the wall time of a span of own time.
    #[inline]
    #[must_use]
    pub fn wall_time(self, own: Nanos) -> Nanos {
        let wall = (u128::from(own) * u128::from(self.wall)) >> WALL_PLACES;
        Nanos::try_from(wall).unwrap_or(Nanos::MAX)
    }
}

impl TryFrom<f64> for Slow {
    type Error = String;

    fn try_from(factor: f64) -> Result<Self, String> {
        Self::new(factor)
    }
}

impl From<Slow> for f64 {
    fn from(slow: Slow) -> Self {
        Self::from(slow.thousandths) / 1000.0
    }
}

impl Default for Slow {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factor_of_one_changes_no_time() {
        for time in [0, 1, 999, 1 << 40, u64::MAX] {
            assert_eq!((Slow::NONE.own_time(time), Slow::NONE.wall_time(time)), (time, time));
        }
    }

    #[test]
    fn own_time_is_wall_time_by_the_factor() {
        // A clock of three years: a ratio in floating point would be off by microseconds.
        let wall = 94_608_000_123_456_789;
        for (factor, thousandths) in [(4.0, 4000), (1.5, 1500), (20.0, 20_000), (999.999, 999_999)] {
            let slow = Slow::new(factor).expect("a factor in range");
            let exact = u128::from(wall) * 1000 / thousandths;
            assert!(exact - u128::from(slow.own_time(wall)) <= 1, "{factor}");
            let span = slow.wall_time(1_000_000_000);
            assert!(u128::from(span).abs_diff(thousandths * 1_000_000) <= 1, "{factor}: {span}");
        }
    }

    #[test]
    fn factor_survives_its_number() {
        for factor in [1.0, 1.5, 20.0] {
            assert_eq!(Slow::try_from(factor).map(f64::from), Ok(factor));
        }
    }

    #[test]
    fn wall_time_of_the_longest_span_saturates() {
        assert_eq!(Slow::new(4.0).expect("a factor in range").wall_time(u64::MAX), u64::MAX);
    }

    #[test]
    fn factors_out_of_range_are_refused() {
        for factor in [0.999, 0.0, -4.0, 1000.1, f64::NAN, f64::INFINITY] {
            assert!(Slow::new(factor).is_err(), "{factor}");
        }
    }
}
