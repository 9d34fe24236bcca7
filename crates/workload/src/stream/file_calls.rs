//! Calls on files that a stream makes where others read and write, and failures that it goes on after.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a stream's requests do to files in place of moving data, by plain calls. Whether one counts as a read, a write or a
/// trim, `read` and `trim` say, as of any request.
///
/// On a directory, the storage is files of `block_size` each that are called by their number: the request at an offset is of
/// the file that would begin there. Those that a run looks at or deletes before it makes them are written before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileCall {
    /// `fallocate`: a write gets its range room in the file, a read does and keeps the file's length, a trim gives it back.
    Allocate,
    /// `ftruncate`: a write cuts or extends the file to where the write would begin.
    Truncate,
    /// Moves a range of another file, the stream's `donor`, here in exchange for what is here, whose data come along
    /// (`EXT4_IOC_MOVE_EXT`, of ext4 alone): a write of a file that others use, and that holds the same data afterwards.
    MoveExtents,
    /// Makes a file of a directory, or opens the one that is there, and closes it.
    Create,
    /// Asks for the status of a file of a directory.
    Stat,
    /// Deletes a file of a directory.
    Delete,
}

/// Requests whose failures a stream goes on after.
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

/// Where a stream that moves extents gets them from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Donor {
    /// A storage that lies on the same file system and is at least as long.
    pub storage: String,
    /// Whether the donor gets room for each request's range within the request, and gives it back there; otherwise for all
    /// ranges before the run.
    #[serde(default)]
    pub in_place: bool,
}

impl FileCall {
    /// Whether the storage is a directory.
    pub fn in_directory(self) -> bool {
        matches!(self, Self::Create | Self::Stat | Self::Delete)
    }
}
