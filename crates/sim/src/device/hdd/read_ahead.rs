//! Read-ahead buffer of a disk: one segment, filled in the order of the bytes.
//!
//! After a mechanical read the head stays, and the following bytes pass into the segment. This ends
//! when the segment holds its size beyond the data that the host has taken, or when the arm is
//! needed. Reads of data in the segment need no mechanics. Data farther back than the segment's
//! size are overwritten. If the host takes data of a full segment, reading continues the next time
//! that the segment's end is under the head.

use super::geometry::Geometry;
use tameshi_base::Nanos;

/// Stretch of bytes read into the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    segment_bytes: u64,
    /// First byte read.
    low: u64,
    /// Offset at which reading stops unless the host takes more.
    limit: u64,
    /// Offset that the head passes …
    anchor: u64,
    /// … and the time.
    anchor_at: Nanos,
    /// End of the read that began the stretch; no data are available before.
    readable_from: Nanos,
    /// Time at which the arm left.
    frozen_at: Nanos,
    /// Offset up to which the bytes have been counted as head work.
    counted: u64,
}

impl ReadAhead {
    /// Begin a stretch after a mechanical read of `low .. end` that ended at `at`.
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

    /// Return when the head has passed all bytes before `end`; `None` for never.
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

    /// Return whether the bytes from `offset` on have not been overwritten at `now` by bytes one
    /// segment later.
    fn keeps(&self, geometry: &Geometry, offset: u64, now: Nanos) -> bool {
        let overwriter = offset.saturating_add(self.segment_bytes);
        offset >= self.low && self.passes(geometry, overwriter.saturating_add(1)).is_none_or(|at| at > now)
    }

    /// Return whether the segment holds all of `offset .. end` at `now`.
    pub(crate) fn holds(&self, geometry: &Geometry, offset: u64, end: u64, now: Nanos) -> bool {
        now >= self.readable_from
            && self.keeps(geometry, offset, now)
            && self.passes(geometry, end).is_some_and(|at| at <= now)
    }

    /// Return when all of `offset .. end` will have arrived, if the host begins to take it at `now`
    /// and the arm stays. The host's progress makes room, so more data than the segment holds can
    /// stream through it.
    pub(crate) fn promises(&self, geometry: &Geometry, offset: u64, end: u64, now: Nanos) -> Option<Nanos> {
        if offset > self.limit || !self.keeps(geometry, offset, now) {
            return None;
        }
        let mut taken = *self;
        taken.take(geometry, end, now);
        Some(taken.passes(geometry, end)?.max(now))
    }

    /// Make room: the host takes all bytes before `end`.
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

    /// Return the read-ahead time of `offset .. end` that was not counted before, as the host is
    /// served. Each byte counts once; bytes that the host never takes do not count.
    pub(crate) fn count(&mut self, geometry: &Geometry, offset: u64, end: u64) -> Nanos {
        let from = self.counted.max(offset);
        if end <= from {
            return 0;
        }
        self.counted = end;
        geometry.end(end) - geometry.end(from)
    }

    /// Note that the arm leaves.
    pub(crate) fn freeze(&mut self, now: Nanos) {
        self.frozen_at = self.frozen_at.min(now);
    }

    /// Return whether any byte of `offset .. end` is held or will be.
    pub(crate) fn touches(&self, offset: u64, end: u64) -> bool {
        offset < self.limit && end > self.low
    }

    /// Return the cylinder under the head while the arm follows the stretch; `None` after it has
    /// left.
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
