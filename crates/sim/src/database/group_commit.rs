//! Commits through the binary log: prepare, flush, sync, commit.
//!
//! MySQL from 5.7 on has three stages (binlog.cc: `MYSQL_BIN_LOG::ordered_commit`). The first
//! transaction of the flush stage makes the redo log durable for its group and writes the group's
//! events. In the sync stage, groups that have gathered share a sync. Then each transaction of the
//! group commits in order, without a sync. In MariaDB (log.cc: `trx_group_commit_leader`) each
//! transaction syncs the redo log before it joins a group, and the next group waits for the sync.
//! In 5.5 (ha_innodb.cc: `prepare_commit_mutex`) a group is one transaction, whose commit syncs
//! the redo log once more. A transaction holds its row locks until its commit.

use super::Server;
use super::binlog::SyncCommand;
use super::connection::Stage;
use super::counters::{Count, WaitReason};
use super::port::{FIRST_ASYNC, Purpose, REQUEST, Requester};
use super::store::Store;
use tameshi_base::CommandKind;
use tameshi_spec::profile::BinlogGroup;

impl Server {
    /// Let a transaction with changes, whose prepared state is logged, join a group.
    pub(super) fn prepare(&mut self, number: u32) {
        let (connection, store) = (self.connections.get(number), &mut self.engine.store);
        let positions = &mut connection.changes.positions;
        positions.prepared = positions.lsn;
        let lsn = positions.lsn;
        let in_stages = store.binlog.as_ref().is_some_and(|log| log.settings.group == BinlogGroup::Stages);
        if in_stages || !store.log.commits_wait() {
            return self.join_group(number);
        }
        connection.enter(Stage::Prepare, WaitReason::Log, store);
        if store.want_log_for_commit(lsn, number) {
            self.join_group(number);
        }
    }

    /// The redo log is durable for a prepared transaction: it joins a group, or it leads one,
    /// which is written now.
    pub(super) fn redo_is_durable(&mut self, number: u32) {
        let leads = self.engine.store.binlog.as_ref().is_some_and(|log| log.flushing.first() == Some(&number));
        if leads {
            self.write_group();
        } else {
            self.join_group(number);
        }
    }

    fn join_group(&mut self, number: u32) {
        let store = &mut self.engine.store;
        self.connections.get(number).enter(Stage::Group, WaitReason::Log, store);
        if let Some(binlog) = &mut store.binlog {
            binlog.queue.push(number);
        }
    }

    /// Advance groups until each waits for the storage, or the transactions of one can commit.
    /// Return them; [`Self::give_back_group`] takes the list back.
    pub(super) fn next_group(&mut self) -> Option<Vec<u32>> {
        loop {
            let done = &mut self.engine.store.binlog.as_mut()?.done;
            if !done.is_empty() {
                return Some(std::mem::take(done));
            }
            if !self.begin_flush() && !self.begin_sync() {
                return None;
            }
        }
    }

    /// Take back the list of a group that has committed.
    pub(super) fn give_back_group(&mut self, mut group: Vec<u32>) {
        group.clear();
        if let Some(binlog) = &mut self.engine.store.binlog {
            binlog.done = group;
        }
    }

    /// Begin the next group's flush. Return whether there is one.
    fn begin_flush(&mut self) -> bool {
        let Self { engine, connections, .. } = self;
        let store = &mut engine.store;
        let Some(binlog) = &mut store.binlog else { return false };
        let Some(leader) = binlog.take_group() else { return false };
        if binlog.settings.group == BinlogGroup::Stages && store.log.commits_wait() {
            let prepared = |&number: &u32| connections.list[number as usize].changes.positions.prepared;
            let lsn = binlog.flushing.iter().map(prepared).max().unwrap_or(0);
            connections.get(leader).enter(Stage::Prepare, WaitReason::Log, store);
            if !store.want_log_for_commit(lsn, leader) {
                return true;
            }
        }
        self.write_group();
        true
    }

    /// Give the kernel the events of the group, which then waits for a sync.
    fn write_group(&mut self) {
        let Self { engine, connections, .. } = self;
        let Store { binlog: Some(binlog), log, counters, port, .. } = &mut engine.store else { return };
        for at in 0..binlog.flushing.len() {
            let changes = &mut connections.get(binlog.flushing[at]).changes;
            let bytes = binlog.settings.sizes.transaction + std::mem::take(&mut changes.event_bytes);
            counters.add(Count::BinlogBytes, bytes);
            changes.positions.binlog = binlog.append(bytes, port.now);
        }
        if let Some(durability) = &mut log.durability {
            durability.binlog.hand(binlog.end());
        }
        binlog.written.append(&mut binlog.flushing);
    }

    /// Begin the sync of the written groups, if none is under way. Return whether there are any.
    fn begin_sync(&mut self) -> bool {
        let Store { binlog: Some(binlog), counters, .. } = &mut self.engine.store else { return false };
        if binlog.take_written().is_none() {
            return false;
        }
        counters.one(Count::BinlogGroups);
        if binlog.begin_sync() {
            self.engine.store.next_of_sync();
        } else {
            binlog.end_group();
        }
        true
    }

    /// Take the next step of the sync under way, a command of which has completed. Return whether
    /// the sync is done.
    pub(super) fn is_binlog_synced(&mut self) -> bool {
        if self.engine.store.next_of_sync() {
            return false;
        }
        if let Some(binlog) = &mut self.engine.store.binlog {
            binlog.synced();
            binlog.end_group();
        }
        true
    }
}

impl Store {
    /// Send the next command of the binary log's sync. Return whether there is one.
    fn next_of_sync(&mut self) -> bool {
        let Some(binlog) = &mut self.binlog else { return false };
        let Some(&leader) = binlog.syncing.first() else { return false };
        let requester = Requester::Client(leader);
        match binlog.next_command() {
            Some(SyncCommand::Write(offset, bytes)) => {
                self.counters.one(Count::BinlogWrites);
                let place = (offset, bytes);
                self.command(leader, REQUEST, CommandKind::Write, place, Purpose::BinlogWrite(requester));
            }
            Some(SyncCommand::Journal(bytes)) => {
                self.counters.one(Count::BinlogWrites);
                let place = (0, bytes);
                self.command(leader, REQUEST, CommandKind::Write, place, Purpose::BinlogJournal(requester));
            }
            Some(SyncCommand::Flush) => {
                self.counters.one(Count::BinlogFsyncs);
                self.sync(requester, Purpose::BinlogSync(requester));
            }
            None => return false,
        }
        true
    }

    /// Let the kernel write old pages of the binary log: the first of them, or the next ones.
    pub(super) fn write_back_binlog(&mut self, first: bool) {
        let (thread, now) = (self.port.threads.of(Requester::LogThread), self.port.now);
        let Some(binlog) = &mut self.binlog else { return };
        let next = if first { binlog.begin_write_back(now) } else { binlog.next_write_back() };
        if let Some(place) = next {
            self.counters.one(Count::BinlogWrites);
            self.command(thread, FIRST_ASYNC, CommandKind::Write, place, Purpose::BinlogWriteBack);
        }
    }
}
