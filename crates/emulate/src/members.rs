//! Members of a served stack that have failed, and their rebuilds.

use crate::clock::DriveTime;
use crate::drive::Drive;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tameshi_sim::faults::Rebuilt;

/// Failures and rebuilds since the start.
#[derive(Debug, Default)]
pub(crate) struct Members {
    failed: BTreeSet<u32>,
    rebuilding: BTreeSet<u32>,
    /// Bytes that ended rebuilds had written when the first of those under way began.
    written_before: u64,
    ended: Vec<Value>,
}

impl Members {
    /// Note the failure of a member.
    pub(crate) fn failed(&mut self, member: Option<u32>) {
        if let Some(member) = member {
            self.rebuilding.remove(&member);
            self.failed.insert(member);
        }
    }

    /// Note the beginning of a rebuild.
    pub(crate) fn replaced(&mut self, member: u32, drive: &Drive) {
        if self.rebuilding.is_empty() {
            self.written_before = drive.rebuilt_bytes();
        }
        self.failed.remove(&member);
        self.rebuilding.insert(member);
    }

    /// Take ended rebuilds from the drive; `time`: its clock.
    pub(crate) fn look(&mut self, drive: &mut Drive, time: DriveTime) {
        while let Some(rebuilt) = drive.take_rebuilt() {
            let Rebuilt { at, since, drive: member, bytes, .. } = rebuilt;
            self.rebuilding.remove(&member);
            self.ended
                .push(json!({ "at_ns": time.on_clock(at), "for_ns": at - since, "member": member, "bytes": bytes }));
        }
    }

    /// Return the members that have failed, the rebuilds under way with the bytes that they have
    /// written, and the rebuilds that have ended.
    pub(crate) fn as_json(&mut self, drive: &mut Drive, time: DriveTime) -> Value {
        self.look(drive, time);
        let written = if self.rebuilding.is_empty() { 0 } else { drive.rebuilt_bytes() - self.written_before };
        json!({
            "failed": self.failed, "rebuilding": self.rebuilding, "written_bytes": written, "rebuilt": self.ended,
            "is_broken": drive.is_broken(),
        })
    }
}
