//! Division by a constant as a multiplication.

/// Division by a number that does not change.
#[derive(Clone, Copy, Debug)]
pub(in crate::device::flash) struct Divide {
    multiplier: u64,
}

impl Divide {
    /// Exact for dividends below 2^31 (Granlund and Montgomery 1994, theorem 4.2 with 63 fractional
    /// bits).
    pub(in crate::device::flash) fn by(divisor: u32) -> Self {
        Self { multiplier: (1u64 << 63) / u64::from(divisor) + 1 }
    }

    #[inline]
    pub(in crate::device::flash) fn quotient(self, dividend: u32) -> u32 {
        ((u128::from(self.multiplier) * u128::from(dividend)) >> 63) as u32
    }

    /// Return quotient and remainder; `divisor` must be that of [`Divide::by`].
    #[inline]
    pub(in crate::device::flash) fn parts(self, dividend: u32, divisor: u32) -> (u32, u32) {
        let quotient = self.quotient(dividend);
        // The product never exceeds the dividend.
        (quotient, dividend.wrapping_sub(quotient.wrapping_mul(divisor)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_a_constant_is_division() {
        for divisor in [1, 2, 3, 64, 1000, 65_537, 1 << 20, (1 << 31) - 1] {
            let divide = Divide::by(divisor);
            for dividend in [0, 1, divisor - 1, divisor, divisor.saturating_mul(7) / 3, (1 << 31) - 1] {
                let dividend = dividend.min((1 << 31) - 1);
                assert_eq!(divide.quotient(dividend), dividend / divisor, "{dividend} / {divisor}");
            }
        }
    }
}
