//! The buffer of a disk that goes on reading behind the last read: one segment, filled in the order of the bytes.
//!
//! After a mechanical read the head stays and the bytes behind it pass into the segment, until the segment holds its
//! size beyond what the host has taken, or until the arm is needed. Reads of what has passed cost no mechanics. What
//! lies further back than the segment's size is overwritten. When the host takes more after the segment was full,
//! reading goes on the next time that its end comes under the head.

use super::geometry::Geometry;
use tameshi_base::Nanos;

/// The bytes that one stretch of reading brings into the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    segment_bytes: u64,
    /// First byte that was read.
    low: u64,
    /// Reading stops there unless the host takes more.
    limit: u64,
    /// A place that the head passes (its bytes' end) …
    anchor: u64,
    /// … at this time.
    anchor_at: Nanos,
    /// When the read that began the stretch is over; before, there is nothing to take.
    readable_from: Nanos,
    /// When the arm was taken away.
    frozen_at: Nanos,
    /// What lies before it has been counted as work of the head.
    counted: u64,
}

impl ReadAhead {
    /// Reading goes on behind a mechanical read of `low .. end` that is over at `at`.
    pub(crate) fn behind(geometry: &Geometry, segment_bytes: u64, low: u64, end: u64, at: Nanos) -> Self {
        Self {
            segment_bytes,
            low,
            limit: end.saturating_add(segment_bytes).min(geometry.capacity_bytes()),
            anchor: end,
            anchor_at: at,
            readable_from: at,
            frozen_at: Nanos::MAX,
            counted: end,
        }
    }

    /// When the head has passed everything before `end`; `None` when it never will.
    fn passes(&self, geometry: &Geometry, end: u64) -> Option<Nanos> {
        if end <= self.anchor {
            return Some(self.readable_from);
        }
        if end > self.limit {
            return None;
        }
        let at = self.anchor_at + (geometry.end(end) - geometry.end(self.anchor));
        (at <= self.frozen_at).then_some(at)
    }

    /// Whether the bytes from `offset` on have not been overwritten at `now` by those a segment further on.
    fn keeps(&self, geometry: &Geometry, offset: u64, now: Nanos) -> bool {
        let overwriter = offset.saturating_add(self.segment_bytes);
        offset >= self.low && self.passes(geometry, overwriter.saturating_add(1)).is_none_or(|at| at > now)
    }

    /// Whether the segment holds all of `offset .. end` at `now`.
    pub(crate) fn holds(&self, geometry: &Geometry, offset: u64, end: u64, now: Nanos) -> bool {
        now >= self.readable_from
            && self.keeps(geometry, offset, now)
            && self.passes(geometry, end).is_some_and(|at| at <= now)
    }

    /// When all of `offset .. end` will have come, if the host begins to take it at `now` and nobody takes the arm away.
    /// What the host takes makes room, so that more than the segment holds streams through it.
    pub(crate) fn promises(&self, geometry: &Geometry, offset: u64, end: u64, now: Nanos) -> Option<Nanos> {
        if offset > self.limit || !self.keeps(geometry, offset, now) {
            return None;
        }
        let mut taken = *self;
        taken.take(geometry, end, now);
        Some(taken.passes(geometry, end)?.max(now))
    }

    /// The host takes what lies before `end`: there is room again.
    pub(crate) fn take(&mut self, geometry: &Geometry, end: u64, now: Nanos) {
        let limit = end.saturating_add(self.segment_bytes).min(geometry.capacity_bytes());
        if self.frozen_at <= now || limit <= self.limit {
            return;
        }
        let full_at = self.full_at(geometry);
        if now > full_at {
            self.anchor = self.limit;
            let missed = (now - full_at).checked_next_multiple_of(geometry.revolution());
            self.anchor_at = missed.map_or(now, |missed| full_at + missed);
        }
        self.limit = limit;
    }

    /// The host is served `offset .. end`: for how long the head has read what of it was not counted before. Each byte
    /// counts once, and none that nobody wanted.
    pub(crate) fn count(&mut self, geometry: &Geometry, offset: u64, end: u64) -> Nanos {
        let from = self.counted.max(offset);
        if end <= from {
            return 0;
        }
        self.counted = end;
        geometry.end(end) - geometry.end(from)
    }

    /// The arm is taken away.
    pub(crate) fn freeze(&mut self, now: Nanos) {
        self.frozen_at = self.frozen_at.min(now);
    }

    /// Whether any byte of `offset .. end` is held or may come to be.
    pub(crate) fn touches(&self, offset: u64, end: u64) -> bool {
        offset < self.limit && end > self.low
    }

    /// The cylinder under the head while the arm follows the stretch; `None` once it was taken away.
    pub(crate) fn head_cylinder(&self, geometry: &Geometry, now: Nanos) -> Option<u64> {
        if self.frozen_at != Nanos::MAX {
            return None;
        }
        let read_for = now.min(self.full_at(geometry)).saturating_sub(self.anchor_at);
        Some(geometry.cylinder_at(geometry.end(self.anchor) + read_for))
    }

    fn full_at(&self, geometry: &Geometry) -> Nanos {
        self.anchor_at + (geometry.end(self.limit) - geometry.end(self.anchor))
    }
}
