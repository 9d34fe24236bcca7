//! How warm drives are, and for how long that held them back.

use tameshi_base::Nanos;

/// The warmest of the drives behind one storage, and the time since a run's begin that they were throttled, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heat {
    /// Temperature of the warmest, in thousandths of a degree Celsius.
    pub millidegrees: u64,
    /// Time that drives were throttled.
    pub throttled_ns: Nanos,
}

impl Heat {
    /// Another drive of the same storage.
    pub fn add(&mut self, other: &Self) {
        self.millidegrees = self.millidegrees.max(other.millidegrees);
        self.throttled_ns += other.throttled_ns;
    }

    /// By metric the temperature at the end of an interval that began with `before`, how many `drives` get warm, and the time that
    /// all of them were throttled in it.
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
    fn drives_together_are_as_warm_as_the_warmest_and_their_times_add_up() {
        let mut heat = Heat { millidegrees: 41_500, throttled_ns: 7 };
        heat.add(&Heat { millidegrees: 70_250, throttled_ns: 30 });
        assert_eq!(heat, Heat { millidegrees: 70_250, throttled_ns: 37 });
        let before = Heat { millidegrees: 90_000, throttled_ns: 30 };
        let rows = [("thermal.millidegrees", 70_250), ("thermal.drives", 2), ("thermal.throttled_ns", 7)];
        assert_eq!(heat.rows(&before, 2), rows);
    }
}
