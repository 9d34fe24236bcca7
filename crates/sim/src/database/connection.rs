//! A connection: its client's program, the plan of its statement, and its stage.

use super::counters::WaitReason;
use super::durability::CommitPositions;
use super::plan::{Plan, Visit};
use super::pool::NONE;
use super::pool_mutex::Burst;
use super::port::Alarm;
use super::store::Store;
use super::tpcc::Undo;
use super::undo_log::UndoSlot;
use tameshi_base::{Nanos, Random};
use tameshi_workload::Queue;
use tameshi_workload::program::{Client, Reply, Statement, Transaction};

/// Stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Ready for the next step of its transaction.
    Next,
    /// Inside its statement's plan.
    Planned,
    /// On a processor; then comes this.
    Working(After),
    /// Done with work that the pool's mutex delayed: the delay is still to be served.
    HeldUp(After),
    /// Waits for a page, a frame or a lock; then resumes its plan.
    Waiting,
    /// Waits for room in the log before its statement.
    LogSpace,
    /// Waits for a durable log.
    Log,
    /// Prepared for the binary log: waits for a durable redo log.
    Prepare,
    /// Prepared: waits for its group in the binary log.
    Group,
    /// Flushes one page to have a free frame: the frame, and the log position of its last change.
    Flushing(u32, u64),
    /// An answer or a statement is on its way.
    RoundTrip,
    /// Keying time before a transaction.
    Keying,
    /// Without a transaction: none has arrived yet.
    Idle,
    /// Think time after a transaction.
    Thinking,
    /// Refused by a server that shuts down.
    Refused,
    /// The phase is over for it.
    Ended,
}

/// Continuation after work on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The statement has its reply.
    Statement,
    /// The commit goes to the log.
    Commit,
    /// The plan continues.
    Plan,
    /// The copy of a single page that is flushed is ready.
    Flush,
    /// The page cache's copy of a page is in this frame.
    Copied(u32),
}

impl Stage {
    /// Return whether the client's user delays the connection.
    pub(super) fn is_users(self) -> bool {
        matches!(self, Self::Thinking | Self::Keying | Self::Idle)
    }

    /// Return whether a commit waits for a log.
    pub(super) fn is_committing(self) -> bool {
        matches!(self, Self::Log | Self::Prepare | Self::Group)
    }

    /// Return whether the server does nothing for the connection.
    pub(super) fn is_outside(self) -> bool {
        self.is_users() || matches!(self, Self::Refused | Self::Ended)
    }
}

/// Progress of a change of a leaf through the change buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafChange {
    Undecided,
    /// The buffer is full: read the page of its tree that holds the changes of this other leaf.
    LookUp(u32),
    /// Then merge those changes.
    Merge(u32),
    Buffer,
    Leaf,
}

/// Progress through a plan.
#[derive(Debug)]
pub(super) struct Cursor {
    /// Next operation.
    pub(super) at: usize,
    /// Next page of a scan.
    pub(super) scan: u32,
    pub(super) gets: u64,
    /// Processor time due with the statement, beyond the plan's.
    pub(super) cpu: Nanos,
    /// Attempts to find a free frame.
    pub(super) tries: u32,
    /// The statement has waited since it was planned.
    pub(super) waited: bool,
    pub(super) has_locks: bool,
    pub(super) leaf_change: LeafChange,
    /// Leaf whose bitmap has been read.
    pub(super) bitmap_of: u32,
}

impl Cursor {
    const START: Self = Self {
        at: 0,
        scan: NONE,
        gets: 0,
        cpu: 0,
        tries: 0,
        waited: false,
        has_locks: false,
        leaf_change: LeafChange::Undecided,
        bitmap_of: NONE,
    };
}

/// Changes of a transaction that is not committed.
#[derive(Debug)]
pub(super) struct Changes {
    /// It has changed something.
    pub(super) wrote: bool,
    /// Log positions of its last change and of its commit.
    pub(super) positions: CommitPositions,
    /// Bytes of its rows in the binary log.
    pub(super) event_bytes: u64,
    pub(super) undo: Vec<Undo>,
    pub(super) undo_slot: UndoSlot,
    /// Pages on the way to the rows it changed, for purging.
    pub(super) visits: Vec<Visit>,
}

/// A connection of a client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) statement: Statement,
    pub(super) reply: Reply,
    pub(super) plan: Plan,
    pub(super) cursor: Cursor,
    pub(super) stage: Stage,
    pub(super) why: WaitReason,
    /// Begin of the stage.
    pub(super) since: Nanos,
    pub(super) transaction: Transaction,
    pub(super) began: Nanos,
    /// Arrivals in open loop.
    pub(super) queue: Option<Queue>,
    /// Arrival of the transaction under way.
    pub(super) arrived: Option<Nanos>,
    pub(super) changes: Changes,
    burst: Burst,
    /// Variation of its work.
    random: Random,
}

impl Connection {
    pub(super) fn new(client: Client, now: Nanos, random: Random) -> Self {
        Self {
            client,
            statement: Statement::default(),
            reply: Reply::default(),
            plan: Plan::default(),
            cursor: Cursor::START,
            stage: Stage::Next,
            why: WaitReason::Processor,
            since: now,
            transaction: Transaction::default(),
            began: now,
            queue: None,
            arrived: None,
            changes: Changes {
                wrote: false,
                positions: CommitPositions::default(),
                event_bytes: 0,
                undo: Vec::new(),
                undo_slot: UndoSlot::NONE,
                visits: Vec::new(),
            },
            burst: Burst::default(),
            random,
        }
    }

    /// Pauses of its user around a transaction.
    pub(super) fn pause(&self) -> Nanos {
        self.transaction.keying + self.transaction.thinking
    }

    /// Frame of the page that it flushes, and the log position of the page's last change.
    pub(super) fn flushes(&self) -> Option<(u32, u64)> {
        if let Stage::Flushing(frame, lsn) = self.stage { Some((frame, lsn)) } else { None }
    }

    /// Abandon the transaction, without its undo records.
    pub(super) fn abandon(&mut self) {
        let cursor = &mut self.cursor;
        (self.changes.wrote, cursor.waited, cursor.tries, cursor.gets, cursor.scan) = (false, false, 0, 0, NONE);
        cursor.cpu = 0;
        (cursor.leaf_change, cursor.bitmap_of) = (LeafChange::Undecided, NONE);
        (self.changes.undo_slot, self.changes.event_bytes) = (UndoSlot::NONE, 0);
        self.changes.visits.clear();
    }

    /// Enter a stage, and account for the time in the one before.
    pub(super) fn enter(&mut self, stage: Stage, why: WaitReason, store: &mut Store) {
        let now = store.port.now;
        self.account(now, store);
        (self.stage, self.why, self.since) = (stage, why, now);
    }

    /// Account for the time up to `end`.
    pub(super) fn account(&mut self, end: Nanos, store: &mut Store) {
        store.counters.spent(self.why, self.transaction.kind, end.saturating_sub(self.since));
    }

    /// Begin work on a processor that takes `time` on average.
    pub(super) fn begin_work(&mut self, number: u32, time: Nanos, after: After, store: &mut Store) {
        let varying = time * store.settings.cpu.variation / 1_000_000;
        let time = time - varying + self.random.exponential(varying as f64) as Nanos;
        self.begin_burst(number, time, (after, WaitReason::Processor), store);
    }

    fn begin_burst(&mut self, number: u32, time: Nanos, (after, why): (After, WaitReason), store: &mut Store) {
        self.enter(Stage::Working(after), why, store);
        self.burst = store.mutex.begin(store.port.now, time);
        store.port.work(number, time);
    }

    /// Finish work on a processor. Return whether the pool's mutex delays the continuation: the
    /// part of the work that fell into times in which others held it is done again.
    pub(super) fn is_delayed(&mut self, number: u32, after: After, store: &mut Store) -> bool {
        self.burst = store.mutex.delayed(store.port.now, self.burst, store.settings.cpu.sibling_penalty);
        self.waits_for_mutex(number, after, store)
    }

    /// Wait for the pool's mutex, or serve the delay it has caused. Return whether either is due.
    pub(super) fn waits_for_mutex(&mut self, number: u32, after: After, store: &mut Store) -> bool {
        if let Some(free) = store.mutex.free_after(store.port.now) {
            self.enter(Stage::HeldUp(after), WaitReason::PoolMutex, store);
            store.port.alarm(free, Alarm::Client(number));
            return true;
        }
        let time = self.burst.time();
        if time > 0 {
            self.begin_burst(number, time, (after, WaitReason::PoolMutex), store);
        }
        time > 0
    }
}
