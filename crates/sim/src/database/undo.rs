//! Undo logs: pages of rollback segments that transactions note in what they have changed.
//!
//! A transaction that changes something takes the next rollback segment in turn (trx0trx.cc), and keeps it to its end. A segment's
//! newest pages are used again by its next transaction (trx0undo.cc: `trx_undo_reuse_cached`), so that each segment has one for rows
//! that were put in and one for those that were changed or deleted; MariaDB has one for both. Its header tells of the
//! latter (trx0purge.cc: `trx_purge_add_update_undo_to_history`).
//!
//! Without rollback segments nothing is noted: no page of theirs is changed, and the redo of rows has neither what they were nor the
//! records that tell of it ([`super::plan`]). What is rolled back is taken back all the same.
//!
//! Simplified: the header is changed with the first such change, not at the commit, and a page that is full is used on.

use super::plan::Op;
use super::{Engine, NONE};
use tameshi_spec::profile;
use tameshi_workload::program::Shape;

/// Redo of an undo record.
const RECORD: u16 = 60;
/// Redo of a header that tells of an undo log more.
const HISTORY: u16 = 40;

/// Rollback segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    count: u32,
    /// One page for both kinds of changes.
    merged: bool,
    next: u32,
}

/// Where a transaction notes what it changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted {
    segment: u32,
    has_history: bool,
}

impl Noted {
    pub(super) const NOWHERE: Self = Self { segment: NONE, has_history: false };
}

impl Segments {
    /// A profile's, which may have none.
    pub(super) fn new(profile: Option<&profile::Undo>) -> Self {
        let (count, merged) =
            profile.map_or((0, true), |undo| (undo.segments.value, undo.one_log.as_ref().is_some_and(|one| one.value)));
        Self { count, merged, next: 0 }
    }

    /// Pages of all segments: their headers, then their undo logs.
    pub(super) fn pages(&self) -> u32 {
        3 * self.count
    }

    fn take(&mut self) -> u32 {
        let taken = self.next;
        self.next = (taken + 1) % self.count;
        taken
    }

    /// A segment's page of undo records, counted from the first header.
    fn log(&self, segment: u32, inserts: bool) -> u32 {
        self.count + 2 * segment + u32::from(inserts && !self.merged)
    }
}

impl Engine {
    /// A statement that changes rows notes what they were.
    pub(super) fn plan_undo(&mut self, client: u32) {
        if self.segments.count == 0 {
            return;
        }
        let seat = &mut self.clients[client as usize];
        let shape = &self.catalogue.shapes[seat.statement.shape as usize];
        let inserts = matches!(shape, Shape::Insert { .. });
        if seat.noted.segment == NONE {
            seat.noted.segment = self.segments.take();
        }
        let first = self.layout.undo.0;
        let page = first + self.segments.log(seat.noted.segment, inserts);
        seat.plan.ops.push(Op::Change(page, RECORD));
        if !seat.noted.has_history && (self.segments.merged || !inserts) {
            seat.noted.has_history = true;
            seat.plan.ops.push(Op::Change(first + seat.noted.segment, HISTORY));
        }
    }

    /// The page that tells those who purge what a client's transaction has changed.
    pub(super) fn undo_page(&self, client: u32) -> u32 {
        self.layout.undo.0 + self.segments.log(self.clients[client as usize].noted.segment, false)
    }
}
