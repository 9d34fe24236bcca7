//! What a statement does to pages, as a list of steps; nothing is allocated once the list has grown to what is needed.

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// The page is needed.
    Get(u32),
    /// The page is needed, and changed with so many bytes of redo.
    Change(u32, u16),
    /// A new page, changed with so many bytes of redo.
    Create(u32, u16),
    /// An entry goes into or out of a leaf of a secondary index; if the leaf isn't in the pool it may be buffered.
    Secondary(u32, u16),
    /// The row's lock, to the end of the transaction.
    Lock(u64),
    /// The lock of a table's tree, and giving it back.
    Enter(u8),
    Leave(u8),
    /// Leaves from the first to before the second, one after the other, so many rows on each.
    Scan(u32, u32, u16),
}

/// A page that purging is to look at, and whether a row on it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) page: u32,
    pub(super) changes: bool,
}

/// The steps of a statement, and what it costs besides.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) ops: Vec<Op>,
    /// Pages that the client's next statements are going to need.
    pub(super) soon: Vec<u32>,
    /// Rows read or changed.
    pub(super) rows: u64,
    /// Rows changed: each leaves an undo record.
    pub(super) changed: u64,
    /// Whether trees have locks, and of growing rows, how many in a million find no room; what of that has gathered since the
    /// last one.
    pub(super) trees: (bool, u64),
    gathered: u64,
    /// Nobody notes what rows were before they are changed.
    pub(super) unnoted: bool,
}

/// Redo of a change of a record besides the bytes that change: record header fields.
const REDO_UPDATE: u64 = 90;
/// Redo of a new record besides its bytes.
const REDO_INSERT: u64 = 90;
/// Redo of marking a record deleted.
const REDO_DELETE: u64 = 50;
/// Redo of an undo record besides the old values, beside that of a change or a mark.
const REDO_NOTE: u64 = 60;
/// Redo of an entry of a secondary index besides its bytes.
pub(super) const REDO_ENTRY: u64 = 30;

impl Plan {
    /// Empties it.
    pub(super) fn clear(&mut self) {
        self.ops.clear();
        (self.rows, self.changed) = (0, 0);
    }

    /// The page is needed.
    #[inline]
    pub(super) fn get(&mut self, page: u32) {
        self.ops.push(Op::Get(page));
    }

    /// The row's lock.
    #[inline]
    pub(super) fn lock(&mut self, table: usize, row: u64) {
        self.ops.push(Op::Lock(lock_of(table, row)));
    }

    /// A record on a page that was got changes by so many bytes, old values and new ones.
    #[inline]
    pub(super) fn update(&mut self, page: u32, bytes: u64) {
        self.rows += 1;
        self.changed += 1;
        let noted = if self.unnoted { bytes / 2 } else { REDO_NOTE + bytes };
        self.ops.push(Op::Change(page, (REDO_UPDATE + noted).min(60_000) as u16));
    }

    /// A record on a page that was got grows by so many bytes: in place or, where there is no room for it, under the lock
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
        self.update(page, bytes);
        self.ops.push(Op::Leave(table as u8));
    }

    /// A record is marked deleted.
    #[inline]
    pub(super) fn delete(&mut self, page: u32) {
        self.rows += 1;
        self.changed += 1;
        let noted = if self.unnoted { 0 } else { REDO_NOTE };
        self.ops.push(Op::Change(page, (REDO_DELETE + noted) as u16));
    }

    /// A record comes into a page.
    #[inline]
    pub(super) fn insert(&mut self, page: u32, is_new: bool, bytes: u64) {
        self.rows += 1;
        self.changed += 1;
        let redo = (REDO_INSERT + bytes).min(60_000) as u16;
        self.ops.push(if is_new { Op::Create(page, redo) } else { Op::Change(page, redo) });
    }

    /// A record finds no room on the last page of its group, and a new one comes behind that, under the lock of its table's
    /// tree and with both neighbours of the page that splits (btr_cur_pessimistic_insert).
    pub(super) fn split(&mut self, table: usize, (full, new): (u32, u32), bytes: u64) {
        let locked = self.trees.0;
        self.ops.extend(locked.then_some(Op::Enter(table as u8)));
        (full - 1..=full + 1).for_each(|page| self.get(page));
        self.insert(new, true, bytes);
        self.ops.extend(locked.then_some(Op::Leave(table as u8)));
    }
}

/// The name of a row's lock.
#[inline]
pub(super) fn lock_of(table: usize, row: u64) -> u64 {
    ((table as u64) << 48) | row
}
