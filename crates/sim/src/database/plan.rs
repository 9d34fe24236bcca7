//! Plan of a statement: its operations on pages. Nothing is allocated once the list has grown.

use super::redo_records::RedoRecords;

/// Operation of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Get a page.
    Get(u32),
    /// Get a page and change it, with these bytes of redo.
    Change(u32, u16),
    /// Create a page and change it, with these bytes of redo.
    Create(u32, u16),
    /// Change an entry of a secondary index's leaf. If the leaf isn't in the pool, the change may
    /// be buffered.
    Secondary(u32, u16),
    /// Lock a row to the end of the transaction.
    Lock(u64),
    /// Lock a table's tree.
    Enter(u8),
    /// Unlock a table's tree.
    Leave(u8),
    /// Scan the leaves from the first to before the second, with this many rows on each.
    Scan(u32, u32, u16),
}

/// Page that purging visits, and the redo of its change there; 0: it changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) page: u32,
    pub(super) redo: u16,
}

/// Operations of a statement, and its further costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) ops: Vec<Op>,
    /// Pages that the client's next statements need.
    pub(super) soon: Vec<u32>,
    /// Rows read or changed.
    pub(super) rows: u64,
    /// Rows changed: each leaves an undo record.
    pub(super) changed: u64,
    /// Flag of tree locks, and the growing rows per million that find no room.
    pub(super) trees: (bool, u64),
    /// Millionths of a row without room, since the last such row.
    gathered: u64,
    /// Changes write no undo records.
    pub(super) without_undo: bool,
    /// Redo of each kind of change.
    pub(super) records: RedoRecords,
}

impl Plan {
    /// Empty the plan.
    pub(super) fn clear(&mut self) {
        self.ops.clear();
        (self.rows, self.changed) = (0, 0);
    }

    #[inline]
    pub(super) fn get(&mut self, page: u32) {
        self.ops.push(Op::Get(page));
    }

    #[inline]
    pub(super) fn lock(&mut self, table: usize, row: u64) {
        self.ops.push(Op::Lock(lock_of(table, row)));
    }

    /// Change a record on a page that was got: `bytes` of old values and new ones.
    #[inline]
    pub(super) fn update(&mut self, page: u32, bytes: u64) {
        self.rows += 1;
        self.changed += 1;
        let noted = if self.without_undo { bytes / 2 } else { self.records.note + bytes };
        self.ops.push(Op::Change(page, (self.records.update + noted).min(60_000) as u16));
    }

    /// Grow a record on a page that was got: in place or, if the page has no room, under the lock
    /// of its table's tree, with both neighbours of the page (btr_cur_pessimistic_update).
    pub(super) fn grow(&mut self, table: usize, page: u32, bytes: u64) {
        self.gathered += self.trees.1;
        if self.gathered < 1_000_000 {
            return self.update(page, bytes);
        }
        self.gathered -= 1_000_000;
        self.ops.push(Op::Enter(table as u8));
        self.get(page - 1);
        self.get(page + 1);
        self.update(page, bytes + self.records.reorganized);
        self.ops.push(Op::Leave(table as u8));
    }

    /// Mark a record deleted.
    #[inline]
    pub(super) fn delete(&mut self, page: u32) {
        self.rows += 1;
        self.changed += 1;
        let noted = if self.without_undo { 0 } else { self.records.note };
        self.ops.push(Op::Change(page, (self.records.mark + noted) as u16));
    }

    /// Insert a record into a page.
    #[inline]
    pub(super) fn insert(&mut self, page: u32, is_new: bool, bytes: u64) {
        self.rows += 1;
        self.changed += 1;
        let redo = (self.records.insert + bytes).min(60_000) as u16;
        self.ops.push(if is_new { Op::Create(page, redo) } else { Op::Change(page, redo) });
    }

    /// Insert a record on a new page after the full one of its group, under the lock of its table's
    /// tree and with both neighbours of the full page (btr_cur_pessimistic_insert).
    pub(super) fn split(&mut self, table: usize, (full, new): (u32, u32), bytes: u64) {
        let locked = self.trees.0;
        self.ops.extend(locked.then_some(Op::Enter(table as u8)));
        (full - 1..=full + 1).for_each(|page| self.get(page));
        self.insert(new, true, bytes);
        self.ops.extend(locked.then_some(Op::Leave(table as u8)));
    }
}

/// Number of a row's lock.
#[inline]
pub(super) fn lock_of(table: usize, row: u64) -> u64 {
    ((table as u64) << 48) | row
}
