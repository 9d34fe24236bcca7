//! Database engines: processor costs of a product's version, and its page management.

use super::Sourced;
use super::binlog::Binlog;
use super::range::ProfileError;
use super::redo::{CheckpointAge, GroupCommit, RedoRecords};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Share, Size, Time};

/// An engine profile file: description and parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineProfile {
    /// Product and version in one sentence.
    pub description: String,
    /// The engine and its parameters.
    pub engine: EngineModel,
}

/// An engine model and its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EngineModel {
    /// InnoDB under MySQL or MariaDB.
    Innodb(Box<Innodb>),
}

/// InnoDB in one version, with the server around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Innodb {
    /// Processor time of its work.
    pub cpu: EngineCosts,
    /// The buffer pool.
    pub pool: PoolRules,
    /// Page flushing.
    pub flushing: Flushing,
    /// The redo log's size where a study doesn't say.
    pub redo_log: Sourced<Size>,
    /// Redo besides the model's own count of bytes, as a share of a change's first KiB: page
    /// splits, space management, undo pages.
    pub redo_extra: Sourced<Share>,
    /// Redo of each kind of change; absent: as MySQL's records have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_records: Option<RedoRecords>,
    /// Commits that share a flush of the log; absent: each writes and syncs the log for itself, one
    /// after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_commit: Option<GroupCommit>,
    /// The binary log; absent: it cannot be switched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binlog: Option<Binlog>,
    /// Fill levels of the log at which pages are flushed at full speed and changes wait; absent:
    /// the log never fills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_age: Option<CheckpointAge>,
    /// Time for which row locks are held; absent: no transaction waits for a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_locks: Option<Sourced<RowLocks>>,
    /// Rollback segments and their undo logs; absent: nothing notes what rows were, neither on
    /// pages nor in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    /// Linear read-ahead; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<ReadAhead>,
    /// Threads that take in pages read ahead; absent: a page read ahead is there as soon as the
    /// storage has read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_threads: Option<ReadThreads>,
    /// The buffer of changes to secondary indexes; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_buffer: Option<ChangeBuffer>,
    /// The lock of a tree, under which pages are split and a row grows that has no room in its
    /// page; absent: trees have none, and growing rows always have room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_lock: Option<TreeLock>,
    /// Purge threads, which remove history and deleted rows after the commit; absent: no purge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<Purge>,
    /// Recovery after a crash or a restart; absent: neither can be simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<EngineRecovery>,
    /// Part of the pool kept over a restart; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_dump: Option<PoolDump>,
}

/// Processor time of an engine's work. A host of another clock takes longer or shorter in
/// proportion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineCosts {
    /// Cycles per second at which the times hold.
    pub clock: Sourced<Rate>,
    /// A statement besides its pages and rows: protocol, parsing, locks of tables, and the client
    /// on the same host.
    pub statement: Sourced<Time>,
    /// A commit besides its writes.
    pub commit: Sourced<Time>,
    /// Finding and latching a page in the buffer pool, and searching it.
    pub page_get: Sourced<Time>,
    /// Reading a row or changing it.
    pub row: Sourced<Time>,
    /// Reading the next row of a scan; absent: as any row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan_row: Option<Sourced<Time>>,
    /// Additional time to change a row: undo, redo, its lock.
    pub change: Sourced<Time>,
    /// Taking a page in: checksum, freeing a frame, the lists.
    pub page_read: Sourced<Time>,
    /// Writing a page: checksum, copy to the doublewrite buffer, the lists.
    pub page_write: Sourced<Time>,
    /// Copying a page to or from the host's page cache, with the call.
    pub page_copy: Sourced<Time>,
    /// Share of a statement's and a commit's processor time that varies at random, exponentially
    /// distributed about its mean. Without variation, clients commit in step.
    pub variation: Sourced<Share>,
    /// From an answer's end to the next statement of the same client, without any processor here:
    /// network and the client's own machine.
    pub round_trip: Sourced<Time>,
}

/// Rules of the buffer pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolRules {
    /// Its size where a study doesn't say.
    pub size: Sourced<Size>,
    /// Share of it that holds the data set's pages: the rest are descriptors, locks, the hash
    /// index, system pages.
    pub usable: Sourced<Share>,
    /// The old part of the LRU list, where pages come in; absent: they come in at its head, and go
    /// there with each use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub midpoint: Option<Midpoint>,
    /// Pages at the end of the LRU list among which a clean one is looked for.
    pub search_depth: Sourced<u32>,
    /// Looking at one page of the LRU list under the pool's one mutex, when a page to replace is
    /// looked for; absent: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look: Option<Sourced<Time>>,
}

/// The old part of the LRU list: what is read comes to its head, and to the list's head when it is
/// used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Midpoint {
    /// The old part's share of the list (innodb_old_blocks_pct).
    pub old: Sourced<Share>,
    /// Number of pages from which on the list has an old part.
    pub least: Sourced<u32>,
    /// Time for which a page stays in the old part after its first use; absent: to its next use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_blocks_time: Option<Sourced<Time>>,
}

/// Time for which row locks are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowLocks {
    /// Exclusive, to the end of the transaction; deadlocks are found.
    ToTheEnd,
}

/// Background flushing from the list of dirty pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Once a second, as many as `adaptive` and `most_dirty` say.
    EachSecond,
}

/// Page flushing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flushing {
    /// Thread that makes free pages if there are none; absent: no thread flushes for free pages,
    /// and a requester waits until pages are flushed from the list of dirty pages, the oldest
    /// first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_pages: Option<Sourced<FreePages>>,
    /// Pages that the page cleaner keeps the end of the LRU list clean or free for; absent: it does
    /// not look there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lru_scan_depth: Option<Sourced<u32>>,
    /// When pages are flushed from the list of dirty ones; absent: only when the log is nearly
    /// full, or somebody needs them clean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Sourced<Background>>,
    /// Pages per second in the background (innodb_io_capacity).
    pub io_capacity: Sourced<u32>,
    /// Most pages per second in the background (innodb_io_capacity_max).
    pub io_capacity_max: Sourced<u32>,
    /// Pages flushed per second to advance the log's checkpoint; absent: none
    /// (innodb_adaptive_flushing = OFF).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Sourced<Adaptive>>,
    /// Share of dirty pages from which they are flushed at the capacity.
    pub most_dirty: Sourced<Share>,
    /// Dirty pages of the same 64 are flushed along.
    pub neighbours: Sourced<bool>,
    /// Pages written twice unless a study says otherwise.
    pub doublewrite: Sourced<bool>,
    /// Pages of a batch in the doublewrite buffer.
    pub batch: Sourced<u32>,
    /// Pages that flushes of single pages by user threads have place for in the doublewrite buffer;
    /// absent: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_slots: Option<Sourced<u32>>,
    /// Sleep of a user thread that found no free page, from its second try on.
    pub retry: Sourced<Time>,
    /// True if a batch ends with a sync of each file that it wrote, one after the other; absent:
    /// with one sync for all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_each_file: Option<Sourced<bool>>,
    /// True if a change of a page that is being written waits for the write; absent: the page is
    /// changed at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latched_writes: Option<Sourced<bool>>,
    /// Default method to write data files.
    pub method: Sourced<FlushMethod>,
}

/// Method to read and write data files (innodb_flush_method). The log goes through the page cache
/// in each method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FlushMethod {
    /// Through the host's page cache, and synced.
    #[serde(rename = "fsync")]
    Fsync,
    /// Through the host's page cache, and synced; each write of the log is durable when it is done.
    #[serde(rename = "O_DSYNC")]
    Dsync,
    /// Past the page cache, and synced.
    #[serde(rename = "O_DIRECT")]
    Direct,
    /// Past the page cache, without a sync.
    #[serde(rename = "O_DIRECT_NO_FSYNC")]
    DirectNoFsync,
}

/// Thread that makes free pages if there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreePages {
    /// User threads flush a batch from the LRU list's end, one of them at a time (5.5).
    UserBatches,
    /// The page cleaner; a user thread that finds none flushes a single page itself, where there
    /// are `single_slots` (5.6 to 8.0).
    SinglePages,
    /// The page cleaner alone; user threads wait for it (MariaDB from 10.5 on).
    PageCleaner,
}

/// Pages flushed per second to advance the log's checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Adaptive {
    /// As many as the log's growth makes necessary, at most the capacity (5.5).
    RedoRate,
    /// By the log's age and growth and the pages of late, at most the larger capacity (from 5.6
    /// on).
    Age,
    /// By the log's growth and the pages of late, after the page cleaner was woken for free pages
    /// or for room in the log; clients wait until the checkpoint has moved (MariaDB from 10.5 on).
    Growth,
}

/// Rollback segments, which transactions that change something take in turn, and their undo logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Number of rollback segments (innodb_rollback_segments), in all tablespaces.
    pub segments: Sourced<u32>,
    /// True if inserts and updates share one undo log; absent: each kind has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_log: Option<Sourced<bool>>,
}

/// Linear read-ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadAhead {
    /// Pages of an area at most; a small pool has smaller ones: the power of two from a 32nd of its
    /// pages.
    pub area: Sourced<u32>,
    /// Pages of an area that must have been used in order (innodb_read_ahead_threshold).
    pub threshold: Sourced<u32>,
}

/// Threads that wait for reads in the background, each for those of its own areas, and take in what
/// has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadThreads {
    /// Number of read threads (innodb_read_io_threads).
    pub number: Sourced<u32>,
    /// Taking a page in: its checksum, its latch and the lists.
    pub page: Sourced<Time>,
}

/// The lock of a tree, which one at a time holds while the page of a row and both its neighbours
/// are brought in and changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeLock {
    /// Share of the updates that make a row grow which find too little room in its page and need
    /// the lock.
    pub growing: Sourced<Share>,
}

/// Purge threads: they process the changes of committed transactions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Purge {
    /// Number of purge threads (innodb_purge_threads).
    pub threads: Sourced<u32>,
    /// Log of a deleted row or index entry that is removed.
    pub redo: Sourced<Size>,
    /// Log of a transaction that is taken off its rollback segment's history.
    pub history: Sourced<Size>,
}

/// Recovery of an engine after a crash or a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EngineRecovery {
    /// From the start of its process to the first read of the log.
    pub start: Sourced<Time>,
    /// Bytes of log that are read at once.
    pub read: Sourced<Size>,
    /// Processor time of a log record: parsing it, and applying it to its page.
    pub apply: Sourced<Time>,
    /// Pages that are read at once.
    pub page_reads: Sourced<u32>,
}

/// Pool dump over a clean restart: the names of the most recently used pages, which the engine
/// reads back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolDump {
    /// Pages are listed at shutdown (innodb_buffer_pool_dump_at_shutdown).
    pub at_shutdown: Sourced<bool>,
    /// They are read back after the start (innodb_buffer_pool_load_at_startup).
    pub at_startup: Sourced<bool>,
    /// Share of pages listed (innodb_buffer_pool_dump_pct).
    pub share: Sourced<Share>,
    /// Base of the share.
    pub of: Sourced<DumpedShare>,
    /// A server that is shut down before it has read all pages back keeps the older list.
    pub finished_only: Sourced<bool>,
    /// Pages that are read back at once.
    pub page_reads: Sourced<u32>,
}

/// Base of the share of pages that are listed at shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DumpedShare {
    /// The pages that it holds (MySQL).
    Held,
    /// All that it has room for (MariaDB).
    Pool,
}

/// The change buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeBuffer {
    /// Its largest share of the pool.
    pub most: Sourced<Share>,
    /// Changes that one leaf takes before it must be read.
    pub per_leaf: Sourced<u32>,
    /// Pages of which one page of a bitmap tells whether changes are buffered for them. Each leaf
    /// that comes in needs it, what is buffered is marked in it, and who finds the buffer full
    /// merges some of it; absent: none of that is modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<Sourced<u32>>,
}

/// A value, its place, its least and greatest, and how it is spelled.
type Limit = (u64, [&'static str; 2], u64, u64, Spell);

/// Formatter of a value.
type Spell = fn(u64) -> String;

const TIME: Spell = |nanos| Time(nanos).to_string();
const SIZE: Spell = |bytes| Size(bytes).to_string();
const SHARE: Spell = |millionths| Share(millionths as u32).to_string();
const COUNT: Spell = |count| count.to_string();
const RATE: Spell = |rate| Rate(rate).to_string();

/// The first thing in an engine profile that can't be.
pub(crate) fn engine_error(engine: &EngineModel) -> Option<ProfileError<'static>> {
    let EngineModel::Innodb(innodb) = engine;
    if let Some(unread) = unread(innodb) {
        return Some(unread);
    }
    let found = limits(innodb).into_iter().find(|(value, _, least, most, _)| !(least..=most).contains(&value));
    let (_, [section, key], least, most, spell) = found?;
    let path = place(section, key);
    let message = format!("{}: outside the range of any engine", key.replace('_', " "));
    let accepted = format!("{} to {}", spell(least), spell(most));
    Some(ProfileError { path, kind: InputErrorKind::BadValue, message, accepted })
}

/// Path of a value in the file.
fn place(section: &'static str, key: &'static str) -> Vec<&'static str> {
    let parts = ["innodb"].into_iter().chain(section.split('.')).chain([key, "value"]);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Error of a key without effect, because another key is absent.
fn unread(innodb: &Innodb) -> Option<ProfileError<'static>> {
    if innodb.purge.is_some() && innodb.undo.is_none() {
        return Some(ProfileError {
            path: place("purge", "threads"),
            kind: InputErrorKind::BadValue,
            message: "purge threads have no work without `undo`".into(),
            accepted: "no `purge`, or `undo` beside it".into(),
        });
    }
    let flushing = &innodb.flushing;
    let makers = flushing.free_pages.as_ref().map(|who| who.value);
    let cleans = matches!(makers, Some(FreePages::SinglePages | FreePages::PageCleaner));
    let (key, readers) = match (&flushing.lru_scan_depth, &flushing.single_slots) {
        (Some(_), _) if !cleans => ("lru_scan_depth", "`single_pages` and `page_cleaner`"),
        (_, Some(_)) if makers != Some(FreePages::SinglePages) => ("single_slots", "`single_pages`"),
        _ => return None,
    };
    let message = format!("{} has no effect in this engine", key.replace('_', " "));
    let accepted = format!("no such key, or {readers} for `free_pages`");
    Some(ProfileError { path: place("flushing", key), kind: InputErrorKind::BadValue, message, accepted })
}

fn limits(innodb: &Innodb) -> Vec<Limit> {
    let (cpu, pool, flushing) = (&innodb.cpu, &innodb.pool, &innodb.flushing);
    let whole = u64::from(Share::WHOLE.0);
    // Each at most some hundred times what a server has been seen to take, so that no thousandfold
    // passes.
    let (short, middle, long) = (100_000, 1_000_000, 10_000_000);
    let costs = [
        (cpu.statement.value, "statement", long),
        (cpu.commit.value, "commit", long),
        (cpu.page_get.value, "page_get", short),
        (cpu.row.value, "row", short),
        (cpu.change.value, "change", middle),
        (cpu.page_read.value, "page_read", long),
        (cpu.page_write.value, "page_write", middle),
        (cpu.page_copy.value, "page_copy", middle),
    ];
    let mut limits: Vec<Limit> =
        costs.into_iter().map(|(cost, key, most)| (cost.0, ["cpu", key], 0, most, TIME)).collect();
    limits.extend([
        (cpu.clock.value.0, ["cpu", "clock"], 100_000_000_000, 10_000_000_000_000, RATE),
        (cpu.round_trip.value.0, ["cpu", "round_trip"], 0, 1_000_000_000, TIME),
        (pool.size.value.0, ["pool", "size"], 5 << 20, 1 << 44, SIZE),
        (u64::from(pool.usable.value.0), ["pool", "usable"], whole / 2, whole, SHARE),
        (u64::from(pool.search_depth.value), ["pool", "search_depth"], 1, 100_000, COUNT),
        (u64::from(flushing.io_capacity.value), ["flushing", "io_capacity"], 1, 1 << 30, COUNT),
        (u64::from(flushing.io_capacity_max.value), ["flushing", "io_capacity_max"], 1, 1 << 30, COUNT),
        (u64::from(flushing.most_dirty.value.0), ["flushing", "most_dirty"], 0, whole, SHARE),
        // The doublewrite buffer's place holds 256 pages: a batch and the single ones.
        (u64::from(flushing.batch.value), ["flushing", "batch"], 1, 240, COUNT),
        (flushing.retry.value.0, ["flushing", "retry"], 1_000, 10_000_000_000, TIME),
        (innodb.redo_log.value.0, ["", "redo_log"], 1 << 20, 1 << 44, SIZE),
        (u64::from(innodb.redo_extra.value.0), ["", "redo_extra"], 0, whole, SHARE),
    ]);
    limits.extend(of_logs(innodb));
    limits.extend(of_sections(innodb));
    limits
}

/// Limits of the logs' sections.
fn of_logs(innodb: &Innodb) -> Vec<Limit> {
    let mut limits: Vec<Limit> = Vec::new();
    if let Some(group) = &innodb.group_commit {
        limits.push((group.most.value.0, ["group_commit", "most"], 64 << 10, 4 << 30, SIZE));
    }
    if let Some(binlog) = &innodb.binlog {
        let sizes = [
            (&binlog.transaction, "transaction"),
            (&binlog.statement, "statement"),
            (&binlog.prepare, "prepare"),
            (&binlog.journal, "journal"),
        ];
        limits.extend(sizes.map(|(size, key)| (size.value.0, ["binlog", key], 0, 64 << 10, SIZE)));
    }
    if let Some(age) = &innodb.checkpoint_age {
        limits.push((u64::from(age.hasty_part.value), ["checkpoint_age", "hasty_part"], 2, 64, COUNT));
        if let Some(part) = &age.waiting_part {
            limits.push((u64::from(part.value), ["checkpoint_age", "waiting_part"], 2, 64, COUNT));
        }
    }
    if let Some(sizes) = &innodb.redo_records {
        let sizes = [
            (&sizes.transaction, "transaction"),
            (&sizes.row, "row"),
            (&sizes.mark, "mark"),
            (&sizes.entry, "entry"),
            (&sizes.reorganized, "reorganized"),
        ];
        limits.extend(sizes.map(|(size, key)| (size.value.0, ["redo_records", key], 1, 16 << 10, SIZE)));
    }
    limits
}

/// Limits of optional sections.
fn of_sections(innodb: &Innodb) -> Vec<Limit> {
    let (cpu, pool, flushing) = (&innodb.cpu, &innodb.pool, &innodb.flushing);
    let (short, middle, whole) = (100_000, 1_000_000, u64::from(Share::WHOLE.0));
    let mut limits: Vec<Limit> = Vec::new();
    if let Some(midpoint) = &pool.midpoint {
        let section = "pool.midpoint";
        limits.push((u64::from(midpoint.old.value.0), [section, "old"], whole / 20, whole / 20 * 19, SHARE));
        limits.push((u64::from(midpoint.least.value), [section, "least"], 64, 1 << 20, COUNT));
        let old_time = midpoint.old_blocks_time.iter().map(|time| time.value.0);
        limits.extend(old_time.map(|nanos| (nanos, [section, "old_blocks_time"], 0, 3_600_000_000_000, TIME)));
    }
    if let Some(depth) = &flushing.lru_scan_depth {
        limits.push((u64::from(depth.value), ["flushing", "lru_scan_depth"], 1, 1 << 20, COUNT));
    }
    if let Some(slots) = &flushing.single_slots {
        limits.push((u64::from(slots.value), ["flushing", "single_slots"], 1, 8, COUNT));
    }
    if let Some(row) = &cpu.scan_row {
        limits.push((row.value.0, ["cpu", "scan_row"], 0, short, TIME));
    }
    if let Some(look) = &pool.look {
        limits.push((look.value.0, ["pool", "look"], 0, short, TIME));
    }
    if let Some(ahead) = &innodb.read_ahead {
        limits.push((u64::from(ahead.area.value), ["read_ahead", "area"], 1, 64, COUNT));
        limits.push((u64::from(ahead.threshold.value), ["read_ahead", "threshold"], 0, 64, COUNT));
    }
    if let Some(threads) = &innodb.read_threads {
        limits.push((u64::from(threads.number.value), ["read_threads", "number"], 1, 64, COUNT));
        limits.push((threads.page.value.0, ["read_threads", "page"], 0, middle, TIME));
    }
    if let Some(buffer) = &innodb.change_buffer {
        limits.push((u64::from(buffer.most.value.0), ["change_buffer", "most"], 0, whole / 2, SHARE));
        limits.push((u64::from(buffer.per_leaf.value), ["change_buffer", "per_leaf"], 1, 250, COUNT));
        let bitmap = buffer.bitmap.iter().map(|pages| u64::from(pages.value));
        limits.extend(bitmap.map(|pages| (pages, ["change_buffer", "bitmap"], 64, 1 << 20, COUNT)));
    }
    if let Some(undo) = &innodb.undo {
        limits.push((u64::from(undo.segments.value), ["undo", "segments"], 1, 127 * 128, COUNT));
    }
    if let Some(lock) = &innodb.tree_lock {
        limits.push((u64::from(lock.growing.value.0), ["tree_lock", "growing"], 0, whole, SHARE));
    }
    if let Some(purge) = &innodb.purge {
        limits.push((u64::from(purge.threads.value), ["purge", "threads"], 1, 32, COUNT));
        let sizes = [(&purge.redo, "redo"), (&purge.history, "history")];
        limits.extend(sizes.map(|(size, key)| (size.value.0, ["purge", key], 0, 16 << 10, SIZE)));
    }
    if let Some(dump) = &innodb.pool_dump {
        limits.push((u64::from(dump.share.value.0), ["pool_dump", "share"], whole / 100, whole, SHARE));
        limits.push((u64::from(dump.page_reads.value), ["pool_dump", "page_reads"], 1, 256, COUNT));
    }
    limits
}
