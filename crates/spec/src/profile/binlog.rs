//! Binary log of a server: how its commits share syncs, and its bytes.

use super::Sourced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::Size;

/// Binary log, which a study switches on (`use.binlog`, or the option `log_bin`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binlog {
    /// Order and grouping of the syncs of redo log and binary log at a commit.
    pub group: Sourced<BinlogGroup>,
    /// Groups of commits per sync; 0: the server never syncs it (sync_binlog).
    pub sync: Sourced<u32>,
    /// Bytes of a transaction's events besides its rows: its begin, its identifier and its commit.
    pub transaction: Sourced<Size>,
    /// Bytes of a statement's events besides the table's name, columns and rows: headers and
    /// checksums of the table map and of the rows.
    pub statement: Sourced<Size>,
    /// Bytes of the event with a statement's text, besides names and values; absent: no such event
    /// (binlog_annotate_row_events).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<Sourced<Size>>,
    /// Redo bytes of a transaction's prepared state.
    pub prepare: Sourced<Size>,
    /// Bytes that the file system's journal writes when a file that has grown is synced.
    pub journal: Sourced<Size>,
}

/// Order and grouping of the syncs of redo log and binary log at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BinlogGroup {
    /// Each transaction syncs the redo log, writes and syncs the binary log alone, one transaction
    /// after the other, and syncs the redo log again (MySQL 5.5).
    OneByOne,
    /// Each transaction syncs the redo log; then the first of a group writes and syncs the binary
    /// log for all of it (MariaDB).
    Leader,
    /// The first of a group syncs the redo log and writes the binary log for all of it; syncs of
    /// the binary log overlap with that of the next group (MySQL from 5.7 on).
    Stages,
}
