//! How long a drive was full while commands waited in the host: its `queue_depth` as what holds them back.

use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};

/// Time in which all places were taken and somebody waited for one. A drive that is just as full as who asks wants it holds nobody back.
#[derive(Debug, Default)]
pub(super) struct Full {
    all: Nanos,
    since: Option<Nanos>,
}

impl Full {
    /// From `now` on commands wait for a place, or none does.
    pub(super) fn holds_back(&mut self, is_so: bool, now: Nanos) {
        match self.since {
            None if is_so => self.since = Some(now),
            Some(since) if !is_so => {
                self.all += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Adds how long the `places` were taken then, up to `now`.
    pub(super) fn usage(&self, places: u64, now: Nanos, usage: &mut Usage) {
        let so_far = self.since.map_or(0, |since| now.saturating_sub(since));
        usage.add(Resource::Places, places, places.saturating_mul(self.all + so_far));
    }
}
