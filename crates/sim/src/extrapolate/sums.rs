//! Sums over simulated blocks.

use super::segment::Segment;

/// Sums over simulated blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Time in nanoseconds.
    pub(super) length: f64,
    pub(super) transactions: f64,
    pub(super) log_bytes: f64,
    /// Page requests.
    pub(super) asked: f64,
    /// Page requests that read storage.
    pub(super) read: f64,
    /// Time that clients waited for reads, as that of one client.
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

    /// Transactions per nanosecond.
    pub(super) fn rate(&self) -> f64 {
        self.transactions / self.length
    }
}
