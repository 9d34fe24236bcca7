//! What stretches of a phase amount to.

use super::segment::Segment;

/// What blocks amount to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) length: f64,
    pub(super) transactions: f64,
    pub(super) log_bytes: f64,
    /// Pages that were asked for, those that had to come in, and how long clients waited for that, as one client's share.
    pub(super) asked: f64,
    pub(super) read: f64,
    pub(super) waited: f64,
}

impl Sums {
    pub(super) fn of(blocks: &[Segment]) -> Self {
        blocks.iter().fold(Self::default(), |sums, block| {
            let length = block.length as f64;
            Self {
                length: sums.length + length,
                transactions: sums.transactions + block.transactions() as f64,
                log_bytes: sums.log_bytes + block.counted.log_bytes() as f64,
                asked: sums.asked + block.counted.asked() as f64,
                read: sums.read + block.counted.misses() as f64,
                waited: sums.waited + block.counted.waits_for_pages() * length,
            }
        })
    }

    pub(super) fn rate(&self) -> f64 {
        self.transactions / self.length
    }
}
