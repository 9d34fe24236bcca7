//! A command under way at an array, and the pieces that its members are given of it.

use crate::device::completion::Breakdown;
use tameshi_base::{Command, CommandKind, Nanos};

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) command: Command,
    pub(super) submitted: Nanos,
    pub(super) epoch: u64,
    pub(super) stage: u8,
    /// Whether another stage follows.
    pub(super) more: bool,
    pub(super) failed: bool,
    /// Pieces of the stage that are not done.
    pub(super) left: u32,
    /// The part that it does not wait for, while that is under way.
    pub(super) copy: Option<u32>,
    /// Where the time went up to the begin of the stage.
    pub(super) path: Breakdown,
    pub(super) since: Nanos,
}

/// Whom a part of a command belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A command of the array's user, by number.
    Op(u32),
    /// A step of the rebuild, by its place.
    Rebuild(u8),
    /// A write, by number, that is acknowledged without it, and has not been.
    Unacknowledged(u32),
    /// Nobody any more: what it is a copy of was acknowledged without it.
    Acknowledged,
    /// Nobody any more: its command was planned anew.
    Nobody,
}

/// What one member is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) member: u32,
    pub(super) kind: CommandKind,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
}

/// A piece that a member has been given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) owner: Owner,
    pub(super) member: u32,
    /// What commands had asked of the member for how long when it was given, and what it asks itself, as a member has them.
    pub(super) present_before: [Nanos; 2],
    pub(super) asked: u64,
    /// Where it is written, and how many bytes.
    pub(super) offset_bytes: u64,
    pub(super) written: u32,
}
