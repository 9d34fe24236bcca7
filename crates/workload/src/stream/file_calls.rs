//! Calls on files in place of reads and writes, and failures that a stream survives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File operation of a stream's requests instead of data transfer, by plain calls. `read` and
/// `trim` decide, as for any request, if one counts as a read, a write or a trim.
///
/// On a directory, the storage is files of `block_size` each, named by their number: a request
/// belongs to the file that would begin at its offset. Files that a run stats or deletes before it
/// creates them are written before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileCall {
    /// `fallocate`: a write gets its range room in the file, a read does and keeps the file's
    /// length, a trim gives it back.
    Allocate,
    /// `ftruncate`: a write cuts or extends the file to where the write would begin.
    Truncate,
    /// Exchanges a range of another file, the stream's `donor`, with the range here,
    /// whose data come along (`EXT4_IOC_MOVE_EXT`, of ext4 alone): a write of a file that others
    /// use, and that holds the same data afterwards.
    MoveExtents,
    /// Makes a file of a directory, or opens the one that is there, and closes it.
    Create,
    /// Asks for the status of a file of a directory.
    Stat,
    /// Deletes a file of a directory.
    Delete,
}

/// Requests whose failures a stream survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Failing {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Syncs.
    Sync,
}

/// Source of extents for a stream that moves extents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Donor {
    /// A storage that lies on the same file system and is at least as long.
    pub storage: String,
    /// True if the donor gets room for each request's range within the request, and loses it there;
    /// otherwise it gets room for all ranges before the run.
    #[serde(default)]
    pub in_place: bool,
}

impl FileCall {
    /// Return whether the storage is a directory.
    pub fn in_directory(self) -> bool {
        matches!(self, Self::Create | Self::Stat | Self::Delete)
    }
}
