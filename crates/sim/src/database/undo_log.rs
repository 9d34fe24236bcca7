//! Undo logs: pages of rollback segments that record what transactions change.
//!
//! A transaction that changes something takes the next rollback segment in turn (trx0trx.cc) and
//! keeps it to its end. The next transaction of a segment reuses its newest pages (trx0undo.cc:
//! `trx_undo_reuse_cached`). So each segment has one page for inserted rows and one for changed
//! or deleted ones; MariaDB has one for both. The segment's header records the latter
//! (trx0purge.cc: `trx_purge_add_update_undo_to_history`).
//!
//! Without rollback segments no undo page is changed, and the redo of rows has neither their old
//! values nor undo records ([`super::plan`]). Rollback works all the same.
//!
//! Simplified: the header is changed with the first such change, not at the commit, and a full
//! page is used on.

use super::plan::{Op, Plan};
use super::pool::NONE;
use tameshi_spec::profile;

/// Rollback segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    count: u32,
    /// One page for both kinds of changes.
    merged: bool,
    next: u32,
    /// Page of the first header.
    first: u32,
}

/// Rollback segment of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct UndoSlot {
    segment: u32,
    has_history: bool,
}

impl UndoSlot {
    pub(super) const NONE: Self = Self { segment: NONE, has_history: false };
}

impl Segments {
    /// Segments of a profile, which may have none.
    pub(super) fn new(profile: Option<&profile::Undo>) -> Self {
        let (count, merged) =
            profile.map_or((0, true), |undo| (undo.segments.value, undo.one_log.as_ref().is_some_and(|one| one.value)));
        Self { count, merged, next: 0, first: 0 }
    }

    /// Place the segments from a page on.
    pub(super) fn placed_at(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Number of pages: headers, then undo logs.
    pub(super) fn pages(&self) -> u32 {
        3 * self.count
    }

    fn take(&mut self) -> u32 {
        let taken = self.next;
        self.next = (taken + 1) % self.count;
        taken
    }

    /// A segment's page of undo records.
    fn log(&self, segment: u32, inserts: bool) -> u32 {
        self.first + self.count + 2 * segment + u32::from(inserts && !self.merged)
    }

    /// Plan the undo records of a statement that changes rows.
    pub(super) fn plan(&mut self, slot: &mut UndoSlot, inserts: bool, plan: &mut Plan) {
        if self.count == 0 {
            return;
        }
        if slot.segment == NONE {
            slot.segment = self.take();
        }
        plan.ops.push(Op::Change(self.log(slot.segment, inserts), plan.records.undo as u16));
        if !slot.has_history && (self.merged || !inserts) {
            slot.has_history = true;
            plan.ops.push(Op::Change(self.header(*slot), plan.records.history as u16));
        }
    }

    /// Page of the segment's header.
    pub(super) fn header(&self, slot: UndoSlot) -> u32 {
        self.first + slot.segment
    }

    /// Pages that purging visits: the undo records, and the segment's header. `None`: the
    /// transaction has changed nothing.
    pub(super) fn purged_pages(&self, slot: UndoSlot) -> Option<(u32, u32)> {
        (slot.segment != NONE).then(|| (self.log(slot.segment, false), self.header(slot)))
    }
}
