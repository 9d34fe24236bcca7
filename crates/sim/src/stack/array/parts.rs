//! Commands under way at an array, and their parts at the members.

use crate::device::Breakdown;
use tameshi_base::{Command, CommandKind, Nanos};

/// No other command.
pub(super) const ALONE: u32 = u32::MAX;

/// Command under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) command: Command,
    pub(super) submitted: Nanos,
    pub(super) stage: u8,
    /// True if another stage follows.
    pub(super) more: bool,
    pub(super) failed: bool,
    /// True if it waits for others to be joined with.
    pub(super) waits: bool,
    /// Bytes that it does for itself and all commands joined with it: offset and length.
    pub(super) whole: (u64, u32),
    /// Next command that is joined with it and ends with it; [`ALONE`] if there is none.
    pub(super) joined: u32,
    /// Unfinished parts of the stage.
    pub(super) left: u32,
    /// Part that the command does not wait for, while that part is under way.
    pub(super) copy: Option<u32>,
    /// Breakdown up to the begin of the stage.
    pub(super) path: Breakdown,
    pub(super) since: Nanos,
}

impl Op {
    pub(super) fn new(command: &Command, now: Nanos) -> Self {
        Self {
            command: *command,
            submitted: now,
            stage: 0,
            more: false,
            failed: false,
            waits: false,
            whole: (command.offset_bytes, command.length_bytes),
            joined: ALONE,
            left: 0,
            copy: None,
            path: Breakdown::default(),
            since: now,
        }
    }
}

/// Owner of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Command of the array's user, by number.
    Op(u32),
    /// Step of the rebuild, by its place.
    Rebuild(u8),
    /// Write, by number, that completes without this part and has not completed.
    Unacknowledged(u32),
    /// No owner: a copy whose write has completed without it.
    Acknowledged,
    /// No owner: the command was planned again, or does not wait for this part.
    Abandoned,
}

/// Planned part of a command for one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) member: u32,
    pub(super) kind: CommandKind,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
}

/// Part submitted to a member.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) owner: Owner,
    pub(super) member: u32,
    /// Weighted presence of commands at the member at submission, of users and of rebuilds.
    pub(super) present_before: [Nanos; 2],
    /// Weight of the part itself.
    pub(super) asked: u64,
    pub(super) offset_bytes: u64,
    /// Bytes written; zero for other kinds.
    pub(super) written: u32,
}
