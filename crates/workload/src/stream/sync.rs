//! Durability of a stream's writes: syncs, group commit, page flush, LSM tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::units::{Size, Time};

/// Durability of writes: kind and frequency of syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sync {
    /// `fdatasync` after a number of writes of a slot.
    Fdatasync {
        /// Writes per sync.
        every: u32,
    },
    /// `fsync` after a number of writes of a slot.
    Fsync {
        /// Writes per sync.
        every: u32,
    },
    /// Each write durable at its own completion (as O_DSYNC).
    Dsync,
    /// Each write with force unit access; past the page cache, a system's way to ask for it is that
    /// of `dsync`.
    Fua,
    /// Many committers append to one log: waiting records go out in one write, and one
    /// `fdatasync` ends their commits together. For a sequential stream of writes; `block_size` or
    /// its mix is a committer's record.
    GroupCommit {
        /// Committers per job; each has one commit at a time.
        committers: u32,
        /// Longest wait of the first committer of a group for more; a complete group does not wait.
        #[serde(default)]
        delay: Time,
    },
}

impl Sync {
    /// Writes per separate sync command, if the kind has any.
    pub fn every(self) -> Option<u32> {
        match self {
            Self::Fdatasync { every } | Self::Fsync { every } => Some(every),
            Self::Dsync | Self::Fua | Self::GroupCommit { .. } => None,
        }
    }

    /// Return whether each write is durable at its own completion.
    pub fn with_each_write(self) -> bool {
        matches!(self, Self::Dsync | Self::Fua)
    }
}

/// Batches of pages: written, then made durable by one `fdatasync`. What `arrivals` asks for is
/// batches, and a commit is a whole batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageFlush {
    /// Pages of `block_size` in a batch.
    pub batch: u32,
    /// Length of a doublewrite area at the begin of the stream's part of the storage: each batch is
    /// written there first, as a whole, and made durable before any page goes to its place. Absent:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doublewrite: Option<Size>,
}

/// A log-structured merge tree with a journal. Each job has a tree of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LsmTree {
    /// Bytes of records that memory gathers before they are written as one run; a second part of
    /// memory takes new records meanwhile.
    pub memtable: Size,
    /// Length of the journal of all jobs, at the begin of the stream's part of the storage; the
    /// runs lie behind it.
    pub journal: Size,
    /// Runs of a level that are merged into one of the next.
    pub fan_out: u32,
    /// Levels of runs; those of the last are not merged.
    pub levels: u32,
    /// Length of each read and write of a run.
    pub block_size: Size,
    /// Blocks outstanding per job, of a run that is written from memory and of a merge each.
    pub queue_depth: u32,
    /// Runs in the first level from which on committers wait for merges; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_runs: Option<u32>,
}
