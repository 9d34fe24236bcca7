//! Where a client is in its transaction, and what comes next.

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It may go on with the next step of its transaction.
    Next,
    /// It goes through its statement's plan.
    Planned,
    /// It works on a processor; then comes this.
    Working(After),
    /// It has worked, and stood still meanwhile: that is still before it; then comes this.
    HeldUp(After),
    /// It waits for a page, a frame, a lock or room in the log; then it goes on with the plan.
    Waiting,
    /// It waits for room in the log before its statement.
    Space,
    /// It waits for the log to be durable.
    Log,
    /// It flushes one page to have a free frame.
    Single(u32, u64),
    /// Its answer is on the way, or its next statement.
    Away,
    /// Its user types, and then the transaction begins.
    Typing,
    /// In open loop: its next transaction has not arrived.
    Idle,
    /// Its user thinks, and then types.
    Thinking,
    /// The server, which is on its way down, takes nothing from it.
    Outside,
    /// The phase is over.
    Ended,
}

/// What comes after work on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The statement has its reply.
    Statement,
    /// The commit goes to the log.
    Commit,
    /// The plan goes on.
    Plan,
    /// The copy of a page that is flushed alone is ready.
    Single,
    /// The page cache's copy of a page is in this frame.
    Copied(u32),
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Commit,
    RollBack,
    /// It has written nothing.
    Done,
}

impl Stage {
    /// Whether its user keeps it, and not the server.
    pub(super) fn is_users(self) -> bool {
        matches!(self, Self::Thinking | Self::Typing | Self::Idle)
    }

    /// Whether nothing of it is in the server.
    pub(super) fn is_outside(self) -> bool {
        self.is_users() || matches!(self, Self::Outside | Self::Ended)
    }
}
