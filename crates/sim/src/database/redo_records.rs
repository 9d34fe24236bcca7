//! Bytes of redo of each kind of change, beyond the old and new values.

use tameshi_spec::profile::Innodb;

/// Bytes of redo by kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RedoRecords {
    /// Change of a record.
    pub(super) update: u64,
    /// New record.
    pub(super) insert: u64,
    /// Delete mark.
    pub(super) mark: u64,
    /// Undo record of a change or a mark, logged with it.
    pub(super) note: u64,
    /// Entry of a secondary index.
    pub(super) entry: u64,
    /// Undo record on its page.
    pub(super) undo: u64,
    /// Header of a rollback segment that gets one more undo log.
    pub(super) history: u64,
    /// Page that is reorganized for a row that has no room; 0: as MySQL logs it, without its rows.
    pub(super) reorganized: u64,
    /// Commit: the transaction's state in its rollback segment.
    pub(super) commit: u64,
}

impl Default for RedoRecords {
    /// Records of MySQL, estimated from their fields.
    fn default() -> Self {
        Self {
            update: 90,
            insert: 90,
            mark: 50,
            note: 60,
            entry: 30,
            undo: 60,
            history: 40,
            reorganized: 0,
            commit: 80,
        }
    }
}

impl RedoRecords {
    /// Records of a version.
    pub(super) fn new(model: &Innodb) -> Self {
        model.redo_records.as_ref().map_or_else(Self::default, |sizes| {
            let [transaction, row, mark, entry] =
                [&sizes.transaction, &sizes.row, &sizes.mark, &sizes.entry].map(|size| size.value.0);
            // What was measured is a sum over pages: half of it is taken to be the undo log's.
            let (undo, history) = (row / 2, transaction / 2);
            Self {
                update: row - undo,
                insert: row - undo,
                mark: mark.saturating_sub(undo),
                note: 0,
                entry,
                undo,
                history,
                reorganized: sizes.reorganized.value.0,
                commit: transaction - history,
            }
        })
    }
}
