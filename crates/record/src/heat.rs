//! Temperature of drives, and their throttled time.

use tameshi_base::Nanos;

/// Highest temperature of the drives of one storage, and their total throttled time since the run's
/// start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    /// Highest temperature, in thousandths of a degree Celsius.
    pub millidegrees: u64,
    /// Throttled time of all drives.
    pub throttled_ns: Nanos,
}

impl Heat {
    /// Add another drive of the same storage.
    pub fn add(&mut self, other: &Self) {
        self.millidegrees = self.millidegrees.max(other.millidegrees);
        self.throttled_ns += other.throttled_ns;
    }

    /// Rows by metric: the temperature at the end of an interval that began with `before`, the
    /// number of `drives` with a temperature, and their throttled time in it.
    pub fn rows(&self, before: &Self, drives: u64) -> [(&'static str, u64); 3] {
        [
            ("thermal.millidegrees", self.millidegrees),
            ("thermal.drives", drives),
            ("thermal.throttled_ns", self.throttled_ns.saturating_sub(before.throttled_ns)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_of_drives_is_the_maximum_and_times_add_up() {
        let mut heat = Heat { millidegrees: 41_500, throttled_ns: 7 };
        heat.add(&Heat { millidegrees: 70_250, throttled_ns: 30 });
        assert_eq!(heat, Heat { millidegrees: 70_250, throttled_ns: 37 });
        let before = Heat { millidegrees: 90_000, throttled_ns: 30 };
        let rows = [("thermal.millidegrees", 70_250), ("thermal.drives", 2), ("thermal.throttled_ns", 7)];
        assert_eq!(heat.rows(&before, 2), rows);
    }
}
