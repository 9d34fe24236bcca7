//! The binary log: groups of commits, its bytes, and the part of it that the storage has.
//!
//! Files of `max_binlog_size` follow one another in one place. The server writes events to the
//! kernel. A sync writes the pages that have grown since the last write, a block of the file
//! system's journal, and flushes the drive. What no sync writes the kernel does, as old data.

use super::binlog_events::EventSizes;
use super::options::{switch, whole};
use tameshi_base::Nanos;
use tameshi_spec::profile::{BinlogGroup, Innodb};
use tameshi_spec::run::DatabaseSpec;
use tameshi_spec::study::Engine;

/// Largest file (max_binlog_size).
const MOST_FILE: u64 = 1 << 30;
/// Bytes of a page of the kernel's.
const BLOCK: u64 = 4096;
/// Bytes per request of the kernel at most.
const MOST_WRITE: u64 = 512 << 10;
/// Age at which the kernel writes data by itself (dirty_expire_centisecs).
const EXPIRES: Nanos = 30_000_000_000;

/// Settings of the binary log.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinlogSettings {
    pub(super) group: BinlogGroup,
    /// Groups per sync; 0: none.
    pub(super) sync: u64,
    /// Bytes of a file, which are its place.
    pub(super) file_bytes: u64,
    /// The log is on the storage of the data.
    pub(super) with_data: bool,
    /// Bytes of the file system's journal per sync.
    pub(super) journal: u64,
    /// Redo of a prepared transaction.
    pub(super) prepare: u64,
    /// The commit's own redo is synced, too.
    pub(super) syncs_commit: bool,
    pub(super) sizes: EventSizes,
}

/// Return whether a study switches the binary log on.
pub(super) fn is_on(database: &DatabaseSpec, engine: &Engine) -> bool {
    switch(engine, "log_bin").unwrap_or(database.binlog.is_some())
}

/// Bytes of a file of the binary log.
pub(super) fn file_bytes(engine: &Engine) -> u64 {
    whole(engine, "max_binlog_size").map_or(MOST_FILE, |bytes| bytes / BLOCK * BLOCK).clamp(BLOCK, MOST_FILE)
}

impl BinlogSettings {
    /// Settings of a run; `None`: the binary log is off.
    pub(super) fn new(database: &DatabaseSpec, engine: &Engine, model: &Innodb) -> Option<Self> {
        let rules = model.binlog.as_ref().filter(|_| is_on(database, engine))?;
        let group = rules.group.value;
        Some(Self {
            group,
            sync: whole(engine, "sync_binlog").unwrap_or(rules.sync.value.into()),
            file_bytes: file_bytes(engine),
            with_data: database.binlog.as_ref().is_none_or(|name| *name == database.storage),
            journal: rules.journal.value.0,
            prepare: rules.prepare.value.0,
            syncs_commit: group == BinlogGroup::OneByOne || engine.commit.as_deref() == Some("3"),
            sizes: EventSizes::new(rules),
        })
    }

    /// Bytes of its place on the storage of the data.
    pub(super) fn bytes_with_data(&self) -> u64 {
        if self.with_data { self.file_bytes.next_multiple_of(1 << 20) } else { 0 }
    }
}

/// Progress of the sync under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SyncStep {
    Pages,
    Journal,
    Flush,
}

/// Next command of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyncCommand {
    Write(u64, u32),
    /// Of the file system's journal, next to the file.
    Journal(u32),
    Flush,
}

/// The binary log with the commits that go through it.
#[derive(Debug)]
pub(super) struct Binlog {
    pub(super) settings: BinlogSettings,
    /// Commits that no group has taken, in their order.
    pub(super) queue: Vec<u32>,
    /// Group that makes the redo log durable and is written next.
    pub(super) flushing: Vec<u32>,
    /// Written groups that wait for a sync.
    pub(super) written: Vec<u32>,
    /// Group that is synced.
    pub(super) syncing: Vec<u32>,
    /// Group whose transactions commit next.
    pub(super) done: Vec<u32>,
    /// End of the events that the kernel has.
    end: u64,
    /// End of the events that the storage has or gets.
    stored: u64,
    /// End of the durable events.
    durable: u64,
    /// End that the sync under way reaches.
    reaches: u64,
    step: SyncStep,
    /// Groups since the last sync.
    groups: u64,
    /// Time since which the kernel has data that the storage lacks.
    dirty_since: Option<Nanos>,
    /// End that the kernel's own write under way reaches.
    expired: Option<u64>,
}

impl Binlog {
    pub(super) fn new(settings: BinlogSettings) -> Self {
        Self {
            settings,
            queue: Vec::new(),
            flushing: Vec::new(),
            written: Vec::new(),
            syncing: Vec::new(),
            done: Vec::new(),
            end: 0,
            stored: 0,
            durable: 0,
            reaches: 0,
            step: SyncStep::Flush,
            groups: 0,
            dirty_since: None,
            expired: None,
        }
    }

    /// Drop all commits under way: the server has ended.
    pub(super) fn forget(&mut self) {
        let groups = [&mut self.queue, &mut self.flushing, &mut self.written, &mut self.syncing, &mut self.done];
        groups.into_iter().for_each(Vec::clear);
        self.expired = None;
    }

    /// Begin a new file after a fault: what the kernel had is written or lost.
    pub(super) fn begin_file(&mut self) {
        (self.stored, self.durable, self.dirty_since) = (self.end, self.end, None);
    }

    /// Give the kernel a transaction's events. Return their end.
    pub(super) fn append(&mut self, bytes: u64, now: Nanos) -> u64 {
        self.dirty_since.get_or_insert(now);
        self.end += bytes;
        self.end
    }

    /// End of the events that the kernel has.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// End of the events that the storage has or gets.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// End of the durable events.
    pub(super) fn durable(&self) -> u64 {
        self.durable
    }

    /// Return whether a group is under way that the next one must wait for before its flush.
    pub(super) fn is_busy(&self) -> bool {
        let in_turn = self.settings.group != BinlogGroup::Stages;
        !self.flushing.is_empty() || in_turn && !(self.written.is_empty() && self.syncing.is_empty())
    }

    /// Take the next group from the queue. Return its leader.
    pub(super) fn take_group(&mut self) -> Option<u32> {
        if self.is_busy() || self.queue.is_empty() {
            return None;
        }
        if self.settings.group == BinlogGroup::OneByOne {
            self.flushing.push(self.queue.remove(0));
        } else {
            std::mem::swap(&mut self.flushing, &mut self.queue);
        }
        self.flushing.first().copied()
    }

    /// Let the written groups be synced, unless a sync is under way. Return their leader.
    pub(super) fn take_written(&mut self) -> Option<u32> {
        if self.syncing.is_empty() {
            std::mem::swap(&mut self.syncing, &mut self.written);
            return self.syncing.first().copied();
        }
        None
    }

    /// Count the group. Return whether it is due for a sync, which begins.
    pub(super) fn begin_sync(&mut self) -> bool {
        self.groups += 1;
        let is_due = self.settings.sync > 0 && self.groups >= self.settings.sync;
        if is_due {
            (self.groups, self.reaches, self.step) = (0, self.end, SyncStep::Pages);
        }
        is_due
    }

    /// Return the next command of the sync under way; `None` after the last one.
    pub(super) fn next_command(&mut self) -> Option<SyncCommand> {
        if self.step == SyncStep::Pages {
            if let Some((offset, bytes)) = self.write_up_to(self.reaches) {
                return Some(SyncCommand::Write(offset, bytes));
            }
            self.step = SyncStep::Journal;
            if self.settings.journal > 0 {
                return Some(SyncCommand::Journal(self.settings.journal as u32));
            }
        }
        if self.step == SyncStep::Journal {
            self.step = SyncStep::Flush;
            return Some(SyncCommand::Flush);
        }
        None
    }

    /// End the turn of the group that is synced, or that needs no sync.
    pub(super) fn end_group(&mut self) {
        self.done.append(&mut self.syncing);
    }

    /// Finish the sync under way.
    pub(super) fn synced(&mut self) {
        self.durable = self.durable.max(self.reaches);
        if self.stored >= self.end {
            self.dirty_since = None;
        }
    }

    /// Next write of pages that end before `end` or contain it: offset and bytes.
    fn write_up_to(&mut self, end: u64) -> Option<(u64, u32)> {
        if self.stored >= end {
            return None;
        }
        let first = self.stored / BLOCK * BLOCK;
        let to = end.min(first + MOST_WRITE);
        let bytes = (to.next_multiple_of(BLOCK) - first).min(self.settings.file_bytes);
        self.stored = to;
        let offset = first % self.settings.file_bytes;
        // A write that would cross the file's end is made at the next one's begin.
        let offset = if offset + bytes > self.settings.file_bytes { 0 } else { offset };
        Some((offset, bytes as u32))
    }

    /// Begin the kernel's own write, if there is data old enough.
    pub(super) fn begin_write_back(&mut self, now: Nanos) -> Option<(u64, u32)> {
        let since = self.dirty_since.filter(|since| now - since >= EXPIRES)?;
        if self.expired.is_some() {
            return None;
        }
        debug_assert!(since <= now, "data of the past");
        (self.dirty_since, self.expired) = (None, Some(self.end));
        self.next_write_back()
    }

    /// Next write of the kernel's own, if there is one left.
    pub(super) fn next_write_back(&mut self) -> Option<(u64, u32)> {
        let next = self.write_up_to(self.expired?);
        if next.is_none() {
            self.expired = None;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(group: BinlogGroup, sync: u64, file_bytes: u64) -> Binlog {
        Binlog::new(BinlogSettings {
            group,
            sync,
            file_bytes,
            with_data: true,
            journal: 4096,
            prepare: 0,
            syncs_commit: false,
            sizes: EventSizes::default(),
        })
    }

    fn commands(log: &mut Binlog) -> Vec<SyncCommand> {
        assert!(log.begin_sync());
        let all = std::iter::from_fn(|| log.next_command()).collect();
        log.synced();
        all
    }

    #[test]
    fn sync_writes_grown_pages_journal_and_flush() {
        let mut log = log(BinlogGroup::Stages, 1, 1 << 20);
        log.append(5000, 0);
        let [journal, flush] = [SyncCommand::Journal(4096), SyncCommand::Flush];
        assert_eq!(commands(&mut log), [SyncCommand::Write(0, 8192), journal, flush]);
        assert_eq!(log.durable(), 5000);
        log.append(100, 1);
        assert_eq!(commands(&mut log), [SyncCommand::Write(4096, 4096), journal, flush], "the last page again");
        log.append(1 << 20, 2);
        let pages: Vec<SyncCommand> = commands(&mut log);
        assert_eq!(pages.len(), 5, "three requests of at most 512 KiB: {pages:?}");
        let inside = |command: &SyncCommand| match command {
            SyncCommand::Write(offset, bytes) => offset + u64::from(*bytes) <= 1 << 20,
            SyncCommand::Journal(_) | SyncCommand::Flush => true,
        };
        assert!(pages.iter().all(inside), "{pages:?}");
    }

    #[test]
    fn sync_n_is_due_at_each_nth_group() {
        let due = |sync| {
            let mut log = log(BinlogGroup::Leader, sync, 1 << 20);
            (0..12).filter(|_| log.begin_sync()).count()
        };
        assert_eq!([due(0), due(1), due(5)], [0, 12, 2]);
    }

    #[test]
    fn kernel_writes_data_after_thirty_seconds() {
        let mut log = log(BinlogGroup::Leader, 0, 1 << 20);
        log.append(600 << 10, 7);
        assert_eq!(log.begin_write_back(EXPIRES), None);
        assert_eq!(log.begin_write_back(EXPIRES + 7), Some((0, 512 << 10)));
        assert_eq!(log.begin_write_back(EXPIRES + 8), None, "one at a time");
        assert_eq!(log.next_write_back(), Some((512 << 10, 88 << 10)));
        assert_eq!((log.next_write_back(), log.durable()), (None, 0), "written, not synced");
    }

    #[test]
    fn groups_overlap_only_in_stages() {
        for (group, size, overlaps) in
            [(BinlogGroup::OneByOne, 1, false), (BinlogGroup::Leader, 3, false), (BinlogGroup::Stages, 3, true)]
        {
            let mut log = log(group, 1, 1 << 20);
            log.queue.extend([4, 5, 6]);
            assert_eq!((log.take_group(), log.flushing.len()), (Some(4), size), "{group:?}");
            log.written.append(&mut log.flushing);
            assert_eq!(log.is_busy(), !overlaps, "{group:?}: written, not synced");
            assert_eq!(log.take_written(), Some(4));
            log.queue.push(7);
            assert_eq!(log.take_group().is_some(), overlaps, "{group:?}");
        }
    }
}
