//! Rates as exact times.

use tameshi_base::Nanos;

/// Rate as the time of one unit, in 2⁻¹⁶ ns so that fractions add up.
#[derive(Clone, Copy, Debug)]
pub struct Pace(u64);

impl Pace {
    /// Pace of a rate in thousandths per second.
    pub fn per_second(rate: tameshi_base::Rate) -> Self {
        Self(((1_000_000_000_000u128 << 16) / u128::from(rate.0.max(1))) as u64)
    }

    /// Return the time of `count` units.
    #[inline]
    pub fn time(self, count: u64) -> Nanos {
        ((u128::from(self.0) * u128::from(count)) >> 16) as Nanos
    }
}

/// Return the time of `bytes` at a rate, rounded up.
pub(crate) fn transfer_time(bytes: u64, bytes_per_second: u64) -> Nanos {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second.max(1))) as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_rate_add_up() {
        let pace = Pace::per_second(tameshi_base::Rate(3_200_000_000_000));
        assert_eq!(pace.time(4096), 1280, "4 KiB at 3.2 GB/s take 1.28 microseconds");
        assert_eq!(pace.time(3_200_000_000), 1_000_000_000);
    }
}
