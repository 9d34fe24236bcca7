//! Time in which a full queue held commands back: `queue_depth` as the limit.

use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};

/// Time in which all places of a drive were taken and a command waited for one.
///
/// A full drive without a waiting command holds nothing back.
#[derive(Debug, Default)]
pub(super) struct QueueFull {
    all: Nanos,
    since: Option<Nanos>,
}

impl QueueFull {
    /// Note that from `now` on commands wait for a place, or none does.
    pub(super) fn set(&mut self, waits: bool, now: Nanos) {
        match self.since {
            None if waits => self.since = Some(now),
            Some(since) if !waits => {
                self.all += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Add the time up to `now`, for each of `places`.
    pub(super) fn usage(&self, places: u64, now: Nanos, usage: &mut Usage) {
        let so_far = self.since.map_or(0, |since| now.saturating_sub(since));
        usage.add(Resource::Places, places, places.saturating_mul(self.all + so_far));
    }
}
