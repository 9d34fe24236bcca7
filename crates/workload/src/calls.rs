//! Calls on files that a stream makes where others read and write, and failures that it goes on after.

use crate::spec::{StreamSpec, Submission, Sync, Verify};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::Share;

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

impl StreamSpec {
    /// What no call on files can be asked for; each a sentence with what is accepted.
    pub(crate) fn call_trouble(&self) -> Option<(&'static str, &'static str)> {
        let call = self.call?;
        let durable = self.sync.is_some_and(Sync::with_each_write);
        let batched = self.page_flush.is_some() || matches!(self.sync, Some(Sync::GroupCommit { .. }));
        if self.verify != Verify::Off || self.trim_first || durable || batched {
            return Some((
                "calls on files move no data",
                "no `verify`, `trim_first`, `page_flush`, nor a `sync` of each write",
            ));
        }
        if matches!(self.submission, Submission::IoUring | Submission::IoUringPolled) {
            return Some(("these are plain calls", "`submission` left out"));
        }
        let writes = matches!(call, FileCall::Truncate | FileCall::MoveExtents);
        if writes && (self.read > Share(0) || self.trim > Share(0)) {
            return Some(("such a call is a write", "read = \"0 %\" and no trims"));
        }
        if (call == FileCall::MoveExtents) != self.donor.is_some() {
            return Some(("extents are moved from a storage, and nothing else is", "`donor` beside `move_extents`"));
        }
        (call.in_directory() && self.is_mixed())
            .then_some(("files of a directory are of one length", "`block_size` instead of a mix"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::PageFlush;

    #[test]
    fn a_call_on_files_is_objected_to_where_it_could_not_mean_what_the_stream_says() {
        let of = |call, spec: StreamSpec| StreamSpec { call: Some(call), ..spec }.objection().map(|found| found.key);
        let plain = StreamSpec::default;
        for call in [FileCall::Allocate, FileCall::Create, FileCall::Stat, FileCall::Delete] {
            assert_eq!(of(call, plain()), None);
        }
        assert_eq!(of(FileCall::Truncate, plain()), Some("call"), "it reads");
        assert_eq!(of(FileCall::Truncate, StreamSpec { read: Share(0), ..plain() }), None);
        let flush = Some(PageFlush { batch: 4, doublewrite: None });
        for spec in [
            StreamSpec { verify: Verify::Checksum, ..plain() },
            StreamSpec { sync: Some(Sync::Dsync), read: Share(0), ..plain() },
            StreamSpec { page_flush: flush, read: Share(0), ..plain() },
            StreamSpec { submission: Submission::IoUring, ..plain() },
        ] {
            assert_eq!(of(FileCall::Allocate, spec), Some("call"));
        }
    }
}
