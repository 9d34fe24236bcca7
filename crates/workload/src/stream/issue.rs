//! Interface between a job and its driver: placement, issued commands and completions.

use tameshi_base::{Command, CommandKind, Nanos};

/// Operation that a latency belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Operation {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A sync alone.
    Sync,
    /// A write and the sync that makes it durable, as one.
    Commit,
    /// A trim.
    Trim,
}

/// Every operation, in the order of their discriminants.
pub const OPERATIONS: [Operation; 5] =
    [Operation::Read, Operation::Write, Operation::Sync, Operation::Commit, Operation::Trim];

impl Operation {
    /// The word used in metrics, tags and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Commit => "commit",
            Self::Trim => "trim",
        }
    }

    /// Return the operation of a command's completion by itself.
    #[inline]
    pub(crate) fn of(kind: CommandKind) -> Self {
        match kind {
            CommandKind::Read => Self::Read,
            CommandKind::Write => Self::Write,
            CommandKind::Flush => Self::Sync,
            CommandKind::Trim => Self::Trim,
        }
    }
}

/// Placement of a job: the part of the run that isn't in the stream's description.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The stream's index within its phase; returned in commands.
    pub stream: u16,
    /// The job's number, from zero.
    pub job: u32,
    /// Bytes of storage that the stream may use, from the storage's start.
    pub storage_bytes: u64,
    /// When the phase begins.
    pub begin: Nanos,
    /// Bytes that the job may move before it stops; `None`: no limit.
    pub budget_bytes: Option<u64>,
    /// Seed of the run.
    pub seed: u64,
    /// Name that seeds this job: phase, stream.
    pub name: &'a str,
}

/// Somebody starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// Requester: a slot, a committer.
    pub(crate) who: u32,
    /// When it should have been: the schedule's instant in open loop, else now.
    pub(crate) intended: Nanos,
    /// When it could have been.
    pub(crate) ready: Nanos,
    /// True if a schedule fixed the start.
    pub(crate) scheduled: bool,
}

/// Something that starts now: a command to submit, and the slot to name when it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The slot; also the command's id.
    pub slot: u32,
    /// Command to submit; `None` if a committer joins a group, whose records a later command
    /// carries.
    pub command: Option<Command>,
    /// When it should have started: the schedule's instant in open loop, else now.
    pub intended: Nanos,
    /// When it could have started: its intended start had come and a slot was free. What passed
    /// since is the driver's.
    pub ready: Nanos,
    /// True if a schedule fixed its start: the read or write of an open loop.
    pub scheduled: bool,
}

impl Issue {
    #[inline]
    pub(crate) fn started(slot: u32, command: Option<Command>, start: Start) -> Self {
        let Start { intended, ready, scheduled, .. } = start;
        Self { slot, command, intended, ready, scheduled }
    }
}

/// Result of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The operation that ended.
    pub operation: Operation,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from the intended start.
    pub latency: Nanos,
    /// Time from submission; in closed loop the same.
    pub service: Nanos,
    /// The commit that ended with it, by a sync or as a write that is durable itself: time from its
    /// write's intended start. Those that share a flush are [`Job::commits`](crate::Job::commits).
    pub commit: Option<Nanos>,
}

/// A completion and the command that its slot starts at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The operation that ended.
    pub operation: Operation,
    /// Bytes moved.
    pub bytes: u64,
    /// Time from its start.
    pub latency: Nanos,
    /// Kind, offset and length of the command.
    pub kind: CommandKind,
    /// First byte, from the storage's start.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub length_bytes: u32,
}
