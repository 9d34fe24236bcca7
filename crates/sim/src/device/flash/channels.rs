//! Channels between controllers and dies.

use super::ftl::Divide;
use super::geometry::Geometry;
use super::link::carry;
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};

/// Channels of all controllers, each a bus.
#[derive(Debug)]
pub(super) struct Channels {
    /// End of all requested transfers, by channel.
    until: Vec<Nanos>,
    by_dies: Divide,
    busy_ns: Nanos,
}

impl Channels {
    pub(super) fn new(geometry: &Geometry, controllers: u32) -> Self {
        let count = (geometry.channels * controllers) as usize;
        Self { until: vec![0; count], by_dies: Divide::by(geometry.dies_per_channel), busy_ns: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.until.len()
    }

    /// Return the channel of a die, both counted over all controllers.
    #[inline]
    pub(super) fn of_die(&self, die: u32) -> usize {
        self.by_dies.quotient(die) as usize
    }

    /// Request a transfer at `now`; return when the channel has had time for it.
    #[inline]
    pub(super) fn request(&mut self, channel: usize, now: Nanos, time: Nanos) -> Nanos {
        let until = &mut self.until[channel];
        *until = now.max(*until) + time;
        self.busy_ns += time;
        *until
    }

    /// Request at `now` a transfer of data that arrive at `from`, `own` after the drive began with
    /// them; return its end.
    #[inline(always)]
    pub(super) fn carry(&mut self, channel: usize, time: Nanos, now: Nanos, (from, own): (Nanos, Nanos)) -> Nanos {
        self.busy_ns += time;
        carry(&mut self.until[channel], time, now, (from, own))
    }

    fn ahead(&self, now: Nanos) -> Nanos {
        self.until.iter().map(|until| until.saturating_sub(now)).sum()
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Channels, self.until.len() as u64, self.busy_ns - self.ahead(now));
    }

    #[cfg(test)]
    pub(super) fn busy_ns(&self) -> Nanos {
        self.busy_ns
    }

    /// Cancel all transfers after `now`.
    pub(super) fn stop(&mut self, now: Nanos) {
        self.busy_ns = self.busy_ns.saturating_sub(self.ahead(now));
        self.until.fill(now);
    }
}
