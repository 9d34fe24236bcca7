//! Number of requests, integrated over time.

use tameshi_base::Nanos;

/// Number of requests at a place, and its integral over time in request-nanoseconds.
///
/// The mean number over an interval is the integral over the interval's length. A number that is
/// counted in parts may be negative in one of them. Sums wrap: only the result must fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    number: i64,
    since: Nanos,
    integral_ns: i64,
}

impl Occupancy {
    /// No request, from `now` on.
    pub fn from(now: Nanos) -> Self {
        Self { number: 0, since: now, integral_ns: 0 }
    }

    /// Set the number from `now` on.
    #[inline(always)]
    pub fn set(&mut self, number: i64, now: Nanos) {
        let passed = now.wrapping_sub(self.since) as i64;
        self.integral_ns = self.integral_ns.wrapping_add(self.number.wrapping_mul(passed));
        (self.number, self.since) = (number, now);
    }

    /// Change the number from `now` on.
    #[inline(always)]
    pub fn change(&mut self, by: i64, now: Nanos) {
        self.set(self.number + by, now);
    }

    /// Take the integral up to `end`, from which on the next one counts. Changes that were reported
    /// with a later time keep the sum of both right.
    pub fn take(&mut self, end: Nanos) -> i64 {
        self.set(self.number, end);
        std::mem::take(&mut self.integral_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_is_number_times_time() {
        let mut occupancy = Occupancy::from(100);
        occupancy.change(2, 110);
        occupancy.change(-1, 150);
        assert_eq!(occupancy.take(200), 2 * 40 + 50);
        assert_eq!(occupancy.take(200), 0);
        occupancy.set(0, 230);
        assert_eq!(occupancy.take(1000), 30);
    }

    #[test]
    fn change_beyond_the_end_keeps_the_sum() {
        let mut occupancy = Occupancy::from(0);
        occupancy.change(1, 60);
        occupancy.change(1, 110);
        let (first, second) = (occupancy.take(100), occupancy.take(200));
        assert_eq!(first + second, 140 + 90);
    }
}
