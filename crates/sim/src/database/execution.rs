//! Execution of transactions: statements, commits and rollbacks of the server's connections.

use super::Server;
use super::access::{Access, Progress};
use super::connection::{After, Stage};
use super::connections::Admission;
use super::counters::{ClientCount, Count, WaitReason};
use super::durability::CommitPositions;
use super::plan::Plan;
use super::port::Alarm;
use super::prefetch;
use super::undo_log::UndoSlot;
use tameshi_base::Nanos;
use tameshi_workload::program::{Outcome, Shape, Step};

impl Server {
    /// Return whether the server refuses new statements, because it shuts down.
    #[inline]
    pub(super) fn is_shutting_down(&self) -> bool {
        self.connections.admission == Admission::Closing
    }

    /// Resume a connection whose alarm has come.
    pub(super) fn wake(&mut self, number: u32) {
        let Self { engine, connections, statements, .. } = self;
        let store = &mut engine.store;
        match connections.get(number).stage {
            Stage::Thinking => connections.begin_transaction(number, store, statements),
            Stage::Idle => connections.draw(number, store, statements),
            Stage::Keying => connections.start(number, store, statements),
            Stage::RoundTrip => connections.make_next(number, store),
            Stage::Waiting => connections.make_ready(number, store),
            Stage::LogSpace => connections.plan_statement(number),
            Stage::HeldUp(after) => {
                let waits = connections.get(number).waits_for_mutex(number, after, store);
                if !waits {
                    self.continue_after(number, after);
                }
            }
            _ => {}
        }
    }

    /// Let a ready connection proceed.
    pub(super) fn proceed(&mut self, number: u32) {
        match self.connections.stage(number) {
            Stage::Next => self.next_step(number),
            Stage::Planned => self.go_through(number),
            Stage::LogSpace if self.is_shutting_down() => self.refuse(number),
            Stage::LogSpace => self.plan(number),
            _ => {}
        }
    }

    /// Take the next step of a connection's transaction.
    fn next_step(&mut self, number: u32) {
        loop {
            let connection = self.connections.get(number);
            let step = connection.client.next(&connection.reply, &mut connection.statement);
            let ends = matches!(step, Step::Done(_)) && !connection.changes.wrote;
            if !ends && self.is_shutting_down() {
                return self.refuse(number);
            }
            match step {
                Step::Begin { .. } => {}
                Step::Run => return self.plan(number),
                // Servers count the statement; an automatic commit is none.
                Step::Commit => {
                    self.engine.store.counters.one(Count::Statements);
                    self.engine.store.counters.one(Count::Commits);
                    self.connections.count(ClientCount::Others);
                    return self.begin_commit(number);
                }
                Step::Rollback => {
                    self.engine.store.counters.one(Count::Statements);
                    self.connections.count(ClientCount::Others);
                    self.connections.count(ClientCount::RolledBack);
                    return self.roll_back(number);
                }
                Step::Done(outcome) => {
                    debug_assert!(!matches!(outcome, Outcome::Missing(_)), "{outcome:?}");
                    return if ends { self.finish(number) } else { self.begin_commit(number) };
                }
            }
        }
    }

    fn finish(&mut self, number: u32) {
        let store = &mut self.engine.store;
        if let Some(outages) = &mut self.outages {
            let is_restarted = outages.shutdown.is_none();
            outages.tracker.complete(store.port.now, is_restarted);
        }
        self.connections.finish(number, store, &self.statements);
    }

    /// Plan a connection's statement, and go through the plan.
    fn plan(&mut self, number: u32) {
        let Self { engine, connections, statements, .. } = self;
        let store = &mut engine.store;
        let connection = connections.get(number);
        let shape = statements.shape(connection);
        if shape.writes() && store.log.is_full() {
            connection.enter(Stage::LogSpace, WaitReason::LogSpace, store);
            store.log.await_room(number);
            return engine.flusher.flush_for_log(store);
        }
        if shape.writes() && store.log.is_old() {
            engine.flusher.flush_ahead(store);
        }
        let count = match shape {
            Shape::Insert { .. } => Count::Inserts,
            Shape::Update { .. } => Count::Updates,
            Shape::Delete { .. } => Count::Deletes,
            _ => Count::Selects,
        };
        store.counters.one(Count::Statements);
        store.counters.one(count);
        let seen = if shape.writes() { ClientCount::Writes } else { ClientCount::Reads };
        connection.enter(Stage::Planned, WaitReason::Processor, store);
        statements.plan(connection, &mut store.layout);
        prefetch::for_plan(&store.pool, &engine.change_buffer, &mut connection.plan);
        store.grow();
        connections.count(seen);
        self.go_through(number);
    }

    /// Go through a connection's plan as far as possible.
    fn go_through(&mut self, number: u32) {
        let Self { engine, connections, locks, .. } = self;
        let connection = &mut connections.list[number as usize];
        let progress = Access { engine, connection, number }.go_through(locks);
        connections.apply_effects(&mut engine.store);
        match progress {
            Progress::Finished => self.finish_plan(number),
            Progress::Waits => {}
            Progress::Deadlock => self.resolve_deadlock(number),
        }
    }

    /// Spend a statement's processor time: all pages were there, and all locks granted.
    fn finish_plan(&mut self, number: u32) {
        let Self { engine, connections, statements, purge, .. } = self;
        let store = &mut engine.store;
        let connection = connections.get(number);
        if connection.cursor.waited && connection.cursor.has_locks {
            statements.answer_again(connection, &mut store.layout);
        }
        let Plan { rows, changed, .. } = connection.plan;
        let (cpu, cursor) = (&store.settings.cpu, &mut connection.cursor);
        let time = cpu.statement
            + cursor.gets * cpu.page_get
            + rows * cpu.row
            + changed * cpu.change
            + std::mem::take(&mut cursor.cpu);
        if changed > 0 {
            connection.changes.wrote = true;
            connection.changes.event_bytes += statements.event_bytes(connection.statement.shape, changed);
            let (first, pages) = store.layout.undo;
            purge.note(connection, statements.shape(connection), first..first + pages);
        }
        connection.begin_work(number, time, After::Statement, store);
    }

    fn begin_work(&mut self, number: u32, time: Nanos, after: After) {
        self.connections.get(number).begin_work(number, time, after, &mut self.engine.store);
    }

    /// Continue a connection whose work on a processor is done.
    pub(super) fn connection_worked(&mut self, number: u32) {
        let connection = self.connections.get(number);
        match connection.stage {
            Stage::Working(after) => {
                let is_delayed = connection.is_delayed(number, after, &mut self.engine.store);
                if !is_delayed {
                    self.continue_after(number, after);
                }
            }
            Stage::Flushing(..) => self.continue_after(number, After::Flush),
            _ => {}
        }
    }

    fn continue_after(&mut self, number: u32, after: After) {
        let Self { engine, connections, .. } = self;
        let store = &mut engine.store;
        match after {
            After::Statement => {
                let round_trip = store.settings.cpu.round_trip;
                if round_trip == 0 {
                    connections.get(number).stage = Stage::Next;
                    connections.ready.push_back(number);
                } else {
                    connections.get(number).enter(Stage::RoundTrip, WaitReason::Thinking, store);
                    store.port.alarm(store.port.now + round_trip, Alarm::Client(number));
                }
            }
            After::Commit if store.binlog.is_some() && connections.get(number).changes.wrote => {
                self.prepare(number);
                self.commit_groups();
            }
            After::Commit => self.commit_in_memory(number),
            After::Plan if connections.admission == Admission::Closing => self.refuse(number),
            After::Plan => {
                connections.get(number).stage = Stage::Planned;
                connections.ready.push_back(number);
            }
            After::Flush => {
                if let Stage::Flushing(frame, _) = connections.get(number).stage {
                    engine.flusher.single_copied(store, number, frame);
                }
            }
            After::Copied(frame) => {
                engine.page_arrived(frame, number);
                connections.apply_effects(&mut engine.store);
            }
        }
    }

    /// Commit a connection's transaction: the processor's part first.
    fn begin_commit(&mut self, number: u32) {
        let (connection, store) = (self.connections.get(number), &mut self.engine.store);
        if connection.changes.wrote {
            let bytes = store.binlog.as_ref().map_or(store.log.commit_bytes(), |binlog| binlog.settings.prepare);
            connection.changes.positions =
                CommitPositions { lsn: store.append_log(bytes), ..CommitPositions::default() };
        }
        let time = store.settings.cpu.commit;
        self.begin_work(number, time, After::Commit);
    }

    /// Release the locks of a transaction that is committed in memory, and request its log.
    fn commit_in_memory(&mut self, number: u32) {
        self.release_locks(number);
        let Self { engine, connections, statements, purge, .. } = self;
        let store = &mut engine.store;
        let connection = connections.get(number);
        let changes = &mut connection.changes;
        changes.undo.clear();
        if let Some(pages) = statements.segments.purged_pages(changes.undo_slot) {
            purge.queue(&mut changes.visits, pages, store.port.now);
        }
        changes.undo_slot = UndoSlot::NONE;
        let lsn = changes.positions.lsn;
        if !std::mem::take(&mut changes.wrote) {
            return connections.make_next(number, store);
        }
        let syncs = store.binlog.as_ref().is_none_or(|binlog| binlog.settings.syncs_commit);
        if !store.log.commits_wait() || !syncs {
            store.hand_log();
            return self.answer(number);
        }
        connection.enter(Stage::Log, WaitReason::Log, store);
        if store.want_log_for_commit(lsn, number) {
            self.log_is_durable(number);
        }
    }

    /// Commit the transactions of all groups that are through the binary log, in order.
    pub(super) fn commit_groups(&mut self) {
        while let Some(group) = self.next_group() {
            for &number in &group {
                let store = &mut self.engine.store;
                let bytes = store.log.commit_bytes();
                self.connections.get(number).changes.positions.lsn = store.append_log(bytes);
                self.commit_in_memory(number);
            }
            self.give_back_group(group);
        }
    }

    /// Answer a commit.
    fn answer(&mut self, number: u32) {
        let (connection, store) = (self.connections.get(number), &mut self.engine.store);
        let binlog = store.binlog.as_ref().map_or(0, |binlog| binlog.durable());
        store.log.answer(connection.changes.positions, binlog);
        self.connections.make_next(number, store);
    }

    /// Answer a commit whose log is durable, continue a prepared one, or flush a client's single
    /// page.
    pub(super) fn log_is_durable(&mut self, number: u32) {
        let Self { engine, connections, .. } = self;
        let (connection, store) = (connections.get(number), &mut engine.store);
        match connection.stage {
            Stage::Flushing(..) => engine.flusher.single_logged(store, number),
            Stage::Prepare => {
                self.redo_is_durable(number);
                self.commit_groups();
            }
            _ => self.answer(number),
        }
    }

    /// Undo what a transaction has changed.
    fn roll_back(&mut self, number: u32) {
        let Self { engine, connections, statements, .. } = self;
        let (connection, store) = (connections.get(number), &mut engine.store);
        store.counters.one(Count::Rollbacks);
        let changes = &mut connection.changes;
        let undone = changes.undo.len() as u64;
        statements.roll_back(&mut changes.undo);
        (changes.wrote, changes.undo_slot, changes.event_bytes) = (false, UndoSlot::NONE, 0);
        changes.visits.clear();
        let time = store.settings.cpu.commit + undone * store.settings.cpu.change;
        self.release_locks(number);
        self.begin_work(number, time, After::Statement);
    }

    /// Roll a transaction back that would close a cycle of waiting, and try it again with the same
    /// input.
    fn resolve_deadlock(&mut self, number: u32) {
        self.engine.store.counters.one(Count::Deadlocks);
        self.connections.count(ClientCount::Retries);
        self.connections.get(number).client.again();
        self.roll_back(number);
    }

    fn release_locks(&mut self, number: u32) {
        let Self { engine, connections, locks, unlocked, .. } = self;
        let store = &mut engine.store;
        locks.release(number, unlocked);
        for next in unlocked.drain(..) {
            let waited = store.port.now - connections.get(next).since;
            store.counters.add(Count::LockWaitNs, waited);
            connections.make_ready(next, store);
        }
    }

    /// Refuse a connection's next step, because the server shuts down: undo what its transaction
    /// has changed.
    fn refuse(&mut self, number: u32) {
        let connection = self.connections.get(number);
        connection.client.again();
        if connection.changes.wrote {
            // The connection's next step leads here again.
            return self.roll_back(number);
        }
        self.release_locks(number);
        self.connections.get(number).abandon();
        self.connections.count(ClientCount::Retries);
        self.connections.get(number).enter(Stage::Refused, WaitReason::Outage, &mut self.engine.store);
    }
}
