//! Redo log of a server: commits that share a flush, bounds of its age, and bytes of its records.

use super::Sourced;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::Size;

/// Commits that share a flush of the log: a commit that arrives during a flush waits, and all that
/// wait share the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupCommit {
    /// Log that one flush takes at most: the log buffer.
    pub most: Sourced<Size>,
}

/// Bounds of the log's age: of what changed pages still need of it. Both are of 81 % of the log
/// (less 691 KiB), less a fraction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointAge {
    /// Pages are flushed as fast as they can be when less than one such part of it is left.
    pub hasty_part: Sourced<u32>,
    /// Changes wait when less than one such part of it is left; absent: when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_part: Option<Sourced<u32>>,
}

/// Bytes of redo, undo records included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedoRecords {
    /// Transaction with changes: its undo log's header and its commit.
    pub transaction: Sourced<Size>,
    /// Inserted or changed row, beyond its new bytes and the old ones.
    pub row: Sourced<Size>,
    /// Row that is marked deleted.
    pub mark: Sourced<Size>,
    /// Entry of a secondary index, beyond its bytes.
    pub entry: Sourced<Size>,
    /// Page that is reorganized for a growing row that has no room.
    pub reorganized: Sourced<Size>,
}
