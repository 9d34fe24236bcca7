//! The end of transactions: commits, the log that they wait for, and what is taken back.

use super::counters::{Count, Told, Why};
use super::redo::Need;
use super::settings::Commit;
use super::stage::{After, End, Stage};
use super::undo::Noted;
use super::{Engine, Logic, Purpose, REQUEST, Who};
use tameshi_base::CommandKind;

/// Redo of a commit: the transaction's state in its undo segment.
pub(super) const REDO_COMMIT: u64 = 80;

impl Engine {
    /// Ends a client's transaction.
    pub(super) fn end_transaction(&mut self, client: u32, end: End) {
        match end {
            End::Commit => self.begin_commit(client),
            End::RollBack => self.roll_back(client),
            End::Done => self.finish(client),
        }
    }

    /// Commits a client's transaction: first the processor's part.
    pub(super) fn begin_commit(&mut self, client: u32) {
        let seat = &mut self.clients[client as usize];
        if seat.wrote {
            let (_, lsn) = self.redo.append(REDO_COMMIT);
            self.counters.add(Count::LogBytes, REDO_COMMIT);
            seat.lsn = lsn;
        }
        let time = self.settings.cpu.commit;
        self.begin_work(client, time, After::Commit);
    }

    /// The transaction is committed in memory: others may have its rows, and the log must be durable.
    pub(super) fn commit_logged(&mut self, client: u32) {
        self.release_locks(client);
        self.clients[client as usize].undo.clear();
        self.hand_to_purge(client);
        self.clients[client as usize].noted = Noted::NOWHERE;
        let wrote = std::mem::take(&mut self.clients[client as usize].wrote);
        if !wrote {
            return self.committed(client);
        }
        if self.settings.commit != Commit::Durable {
            return self.committed_early(client);
        }
        self.turns(client, Stage::Log, Why::Log);
        let lsn = self.clients[client as usize].lsn;
        if self.redo.is_shared() {
            self.want_log(lsn, Who::Client(client));
        } else {
            self.want_log_alone(lsn, client);
        }
    }

    /// The client has its answer before the log is durable.
    fn committed_early(&mut self, client: u32) {
        let (handed, lsn) = (self.redo.lsn(), self.clients[client as usize].lsn);
        if let Some(watch) = &mut self.watch {
            if self.settings.commit == Commit::Handed {
                watch.hand(handed);
            }
            watch.answer(lsn, self.redo.durable());
        }
        self.committed(client);
    }

    /// The log is durable as far as the client needs it.
    pub(super) fn committed(&mut self, client: u32) {
        self.turns(client, Stage::Next, Why::Processor);
        self.ready.push_back(client);
    }

    /// Somebody needs the log durable: goes on at once, waits, or leads a flush.
    pub(super) fn want_log(&mut self, lsn: u64, who: Who) {
        match self.redo.need(lsn) {
            Need::Durable => self.log_is_durable(who),
            Need::Wait => self.log_waiters.push((lsn, who)),
            Need::Lead { offset, bytes } => {
                self.log_waiters.push((lsn, who));
                self.write_log(who, (offset, bytes));
            }
        }
    }

    /// A commit flushes the log for itself, or waits until it is its turn.
    fn want_log_alone(&mut self, lsn: u64, client: u32) {
        self.log_waiters.push((lsn, Who::Client(client)));
        if let Need::Lead { offset, bytes } = self.redo.need_alone(lsn) {
            self.write_log(Who::Client(client), (offset, bytes));
        }
    }

    /// Whether somebody commits, and does not only need the log for pages.
    fn commits(&self, who: Who) -> bool {
        matches!(who, Who::Client(client) if self.clients[client as usize].stage == Stage::Log)
    }

    fn write_log(&mut self, who: Who, (offset, bytes): (u64, u32)) {
        self.counters.one(Count::LogWrites);
        self.caches(offset, bytes.into());
        let thread = self.thread_of(who);
        self.command(thread, REQUEST, CommandKind::Write, (offset, bytes), Purpose::LogWrite(who));
    }

    /// The log is written: a sync of its file follows, or has come with the write.
    pub(super) fn sync_log(&mut self, who: Who) {
        if self.settings.log_through {
            let thread = self.thread_of(who);
            return self.command(thread, REQUEST, CommandKind::Flush, (0, 0), Purpose::LogSync(who));
        }
        self.counters.one(Count::LogFsyncs);
        self.flush_command(who, Purpose::LogSync(who));
    }

    /// The flush that somebody has led is done.
    pub(super) fn log_flushed(&mut self, leader: Who) {
        self.redo.flushed();
        if let Some(watch) = &mut self.watch {
            watch.log_synced();
        }
        let (mut at, shared) = (0, self.redo.is_shared());
        let mut next = None;
        while at < self.log_waiters.len() {
            let (lsn, who) = self.log_waiters[at];
            if self.redo.is_durable(lsn) && (shared || who == leader || !self.commits(who)) {
                self.log_waiters.remove(at);
                self.log_is_durable(who);
            } else {
                next = next.or(Some(at));
                at += 1;
            }
        }
        // The first of those who came meanwhile leads the next flush, unless somebody has begun it.
        if let Some(&(lsn, who)) = self.log_waiters.first()
            && next.is_some()
        {
            let need = if shared || !self.commits(who) { self.redo.need(lsn) } else { self.redo.need_alone(lsn) };
            if let Need::Lead { offset, bytes } = need {
                self.write_log(who, (offset, bytes));
            }
        }
    }

    fn log_is_durable(&mut self, who: Who) {
        match who {
            Who::Client(client) => match self.clients[client as usize].stage {
                Stage::Single(..) => self.single_logged(client),
                _ => {
                    if let Some(watch) = &mut self.watch {
                        watch.answer(self.clients[client as usize].lsn, self.redo.durable());
                    }
                    self.committed(client);
                }
            },
            Who::Batch(batch) => self.batch_logged(batch),
            Who::LogThread => {}
        }
    }

    /// Takes back what a transaction has changed.
    pub(super) fn roll_back(&mut self, client: u32) {
        self.counters.one(Count::Rollbacks);
        let seat = &mut self.clients[client as usize];
        let undone = seat.undo.len() as u64;
        if let Logic::Tpcc(state) = &mut self.logic {
            state.roll_back(&mut seat.undo);
        }
        (seat.wrote, seat.noted) = (false, Noted::NOWHERE);
        seat.changed.clear();
        let cpu = &self.settings.cpu;
        let time = cpu.commit + undone * cpu.change;
        self.release_locks(client);
        self.begin_work(client, time, After::Statement);
    }

    /// The circle of waiting is broken here: the transaction is taken back and tried again with the same input.
    pub(super) fn deadlock(&mut self, client: u32) {
        self.counters.one(Count::Deadlocks);
        self.told[Told::Retries as usize] += 1;
        self.clients[client as usize].client.again();
        self.roll_back(client);
    }

    pub(super) fn release_locks(&mut self, client: u32) {
        let mut woken = std::mem::take(&mut self.woken);
        self.locks.release(client, &mut woken);
        for next in woken.drain(..) {
            let waited = self.now - self.clients[next as usize].since;
            self.counters.add(Count::LockWaitNs, waited);
            self.make_ready(next);
        }
        self.woken = woken;
    }
}
