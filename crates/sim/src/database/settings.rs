//! Settings of a run's server: the profile with the study's overrides, in pages, bytes and
//! nanoseconds.

use super::binlog::BinlogSettings;
use super::layout::PAGE;
use super::options::{self, PURGE_THREADS, switch, whole};
use super::pool::Midpoint;
use super::port::BACKGROUND_READS;
use super::redo_records::RedoRecords;
use tameshi_base::{Nanos, Size, Time};
use tameshi_spec::profile::{
    Adaptive, DumpedShare, EngineCosts, EngineModel, FlushMethod, FreePages, Innodb, PoolRules,
};
use tameshi_spec::run::{DatabaseSpec, HostSpec, RunSpec};
use tameshi_spec::study::{Doublewrite, Engine};

/// Bytes of the doublewrite buffer, which lies before the first page.
pub(super) const DOUBLEWRITE_BYTES: u64 = 4 << 20;
/// Bytes of the smallest pool that InnoDB accepts: a size of zero becomes this.
const LEAST_POOL: u64 = 5 << 20;

/// Durability of commits (innodb_flush_log_at_trx_commit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitMode {
    /// Durable before the answer.
    Durable,
    /// Handed to the kernel before the answer, made durable once a second.
    Handed,
    /// Written and made durable once a second.
    EachSecond,
}

/// Settings of a server, by part.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) pool: PoolSettings,
    pub(super) log: LogSettings,
    /// `None`: the binary log is off.
    pub(super) binlog: Option<BinlogSettings>,
    pub(super) flushing: FlushSettings,
    pub(super) change_buffer: ChangeBufferSettings,
    pub(super) read_ahead: ReadAhead,
    /// Trees have locks, and updates per million growing rows that need theirs.
    pub(super) trees: (bool, u64),
    pub(super) purge: PurgeSettings,
    pub(super) read_threads: ReadThreadSettings,
    pub(super) cpu: Costs,
    pub(super) recovery: RecoverySettings,
    pub(super) shutdown: ShutdownMode,
    pub(super) dump: PoolDump,
    /// The profile's rules.
    pub(super) model: Innodb,
}

/// Settings of the buffer pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolSettings {
    pub(super) frames: u32,
    pub(super) midpoint: Option<Midpoint>,
    /// Frames at the LRU list's end that a search for a clean one looks at.
    pub(super) search_depth: u32,
    /// Pages of the host's page cache; 0 if files bypass it.
    pub(super) cached: u32,
}

/// Settings of the redo log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogSettings {
    pub(super) bytes: u64,
    pub(super) commit: CommitMode,
    /// Log writes are durable without a sync.
    pub(super) through: bool,
    /// Redo beyond the model's own count, in millionths.
    pub(super) extra: u64,
    pub(super) records: RedoRecords,
}

/// Settings of flushing.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlushSettings {
    /// Pages of a batch at most.
    pub(super) batch: u32,
    /// Pages go to the doublewrite buffer first.
    pub(super) doublewrite: bool,
    /// Data files are synced after each batch.
    pub(super) fsync: bool,
    /// A batch syncs each file that it wrote by itself.
    pub(super) sync_each_file: bool,
    /// A client that changes a page being written waits.
    pub(super) latched_writes: bool,
    /// Rule that makes free pages; `None`: clients wait for batches of the list of dirty pages.
    pub(super) free_pages: Option<FreePages>,
    /// The page cleaner flushes from the list of dirty pages.
    pub(super) background: bool,
    /// Rule for pages flushed per second for the log; `None`: only an excess of dirty pages.
    pub(super) adaptive: Option<Adaptive>,
    pub(super) io_capacity: u64,
    pub(super) io_capacity_max: u64,
    /// 0: the page cleaner ignores the LRU list's end.
    pub(super) lru_scan_depth: u32,
    /// Single pages in the doublewrite buffer; 0: clients flush none.
    pub(super) single_slots: u32,
    pub(super) neighbours: bool,
    /// Share of dirty pages from which they are flushed at the capacity, in millionths.
    pub(super) most_dirty: u64,
    /// Pages that clients of MySQL 5.5 keep free or replaceable: a read-ahead area's and a few,
    /// with read-ahead or without.
    pub(super) margin: u32,
    /// Sleep of a client that finds no free frame, in ns.
    pub(super) retry: Nanos,
}

/// Settings of the change buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeBufferSettings {
    /// Most buffered changes; 0: there is no change buffer.
    pub(super) most: u64,
    /// Most buffered changes per leaf.
    pub(super) per_leaf: u32,
    /// Pages per page of a bitmap; 0: there are no bitmaps.
    pub(super) bitmap: u32,
}

/// Settings of linear read-ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAhead {
    /// Pages of an area; 0: no read-ahead.
    pub(super) area: u32,
    /// Pages of an area that may have been skipped.
    pub(super) skipped: u32,
}

/// Settings of purging.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PurgeSettings {
    /// Threads that remove history and deleted rows after the commit; 0: purging costs nothing.
    pub(super) threads: u32,
    /// Redo bytes of a removed row or entry.
    pub(super) redo: u16,
    /// Redo bytes of a transaction whose history is removed.
    pub(super) history: u16,
}

/// Settings of the threads that take in pages read in the background.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadThreadSettings {
    /// 0: pages are in at once.
    pub(super) threads: u32,
    /// Processor time per page.
    pub(super) page: Nanos,
}

/// Work of a clean shutdown (innodb_fast_shutdown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShutdownMode {
    /// Merge buffered changes, write pages and log (0).
    Slow,
    /// Write pages and log (1).
    Fast,
    /// Write the log (2).
    LogOnly,
}

/// List of the pool's pages that outlives a restart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PoolDump {
    pub(super) at_shutdown: bool,
    pub(super) at_startup: bool,
    /// Share of the pages that are listed, in millionths.
    share: u64,
    /// The share is of the pool's frames, not of the pages held.
    of_pool: bool,
    /// Keep the older list if the server has not reloaded all of its pages.
    pub(super) finished_only: bool,
    /// Reads in flight during a reload.
    pub(super) page_reads: u32,
}

impl PoolDump {
    fn new(engine: &Engine, model: &Innodb) -> Self {
        model.pool_dump.as_ref().map_or(Self::default(), |dump| Self {
            at_shutdown: switch(engine, "innodb_buffer_pool_dump_at_shutdown").unwrap_or(dump.at_shutdown.value),
            at_startup: switch(engine, "innodb_buffer_pool_load_at_startup").unwrap_or(dump.at_startup.value),
            share: whole(engine, "innodb_buffer_pool_dump_pct")
                .map_or(u64::from(dump.share.value.0), |percent| percent.clamp(1, 100) * 10_000),
            of_pool: dump.of.value == DumpedShare::Pool,
            finished_only: dump.finished_only.value,
            page_reads: dump.page_reads.value.clamp(1, BACKGROUND_READS),
        })
    }

    /// Return the number of pages to list, of `held` ones in a pool of `frames`.
    pub(super) fn pages(&self, held: u32, frames: u32) -> u32 {
        let share = |pages: u32| (u64::from(pages) * self.share / 1_000_000).max(1) as u32;
        share(if self.of_pool { frames } else { held }).min(held)
    }
}

/// Settings of a start after a fault or a shutdown.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecoverySettings {
    /// Time until the server begins to read its log.
    pub(super) start: Nanos,
    /// Bytes per read of the log.
    pub(super) read: u64,
    /// Processor time per log record.
    pub(super) apply: Nanos,
    /// Page reads in flight.
    pub(super) page_reads: u32,
}

impl RecoverySettings {
    fn new(model: &Innodb, host: Option<&HostSpec>) -> Self {
        model.recovery.as_ref().map_or(Self { start: 0, read: 1 << 16, apply: 0, page_reads: 1 }, |recovery| Self {
            start: recovery.start.value.0,
            read: recovery.read.value.0.max(512),
            apply: Costs::here(&model.cpu, host, recovery.apply.value),
            page_reads: recovery.page_reads.value.clamp(1, BACKGROUND_READS),
        })
    }
}

/// Processor time on the run's host, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) statement: Nanos,
    pub(super) commit: Nanos,
    pub(super) page_get: Nanos,
    pub(super) row: Nanos,
    pub(super) scan_row: Nanos,
    pub(super) change: Nanos,
    pub(super) page_read: Nanos,
    pub(super) page_write: Nanos,
    /// Copy to or from the host's page cache; 0 without one.
    pub(super) page_copy: Nanos,
    /// Look at a page of the LRU list.
    pub(super) pool_look: Nanos,
    /// Random share of clients' work, in millionths.
    pub(super) variation: u64,
    /// Slowdown while the other thread of a core works, in millionths.
    pub(super) sibling_penalty: u64,
    /// Round trip between client and server; no processor time.
    pub(super) round_trip: Nanos,
}

impl Costs {
    /// Convert a time at the profile's clock to the run's host.
    fn here(costs: &EngineCosts, host: Option<&HostSpec>, time: Time) -> Nanos {
        let clock = host.map_or(costs.clock.value.0, |host| host.model.clock.value.0);
        (u128::from(time.0) * u128::from(costs.clock.value.0) / u128::from(clock.max(1))) as Nanos
    }

    fn read_threads(engine: &Engine, model: &Innodb, host: Option<&HostSpec>) -> ReadThreadSettings {
        let number = whole(engine, "innodb_read_io_threads");
        model.read_threads.as_ref().map_or_else(ReadThreadSettings::default, |threads| ReadThreadSettings {
            threads: number.map_or(threads.number.value, |number| number.clamp(1, 64) as u32),
            page: Self::here(&model.cpu, host, threads.page.value),
        })
    }

    fn new(Innodb { cpu: costs, pool, .. }: &Innodb, host: Option<&HostSpec>, cached: u32) -> Self {
        let here = |time: Time| Self::here(costs, host, time);
        Self {
            statement: here(costs.statement.value),
            commit: here(costs.commit.value),
            page_get: here(costs.page_get.value),
            row: here(costs.row.value),
            scan_row: here(costs.scan_row.as_ref().unwrap_or(&costs.row).value),
            change: here(costs.change.value),
            page_read: here(costs.page_read.value),
            page_write: here(costs.page_write.value),
            page_copy: if cached > 0 { here(costs.page_copy.value) } else { 0 },
            pool_look: pool.look.as_ref().map_or(0, |look| here(look.value)),
            variation: costs.variation.value.0.into(),
            round_trip: costs.round_trip.value.0,
            sibling_penalty: host
                .and_then(|host| host.model.sibling_penalty.as_ref())
                .map_or(0, |share| share.value.0.into()),
        }
    }
}

/// Most pages of an area.
const MOST_AREA: u64 = 64;
/// The run's database, its engine's settings, and the engine's model.
pub(super) fn named(spec: &RunSpec) -> Option<(&DatabaseSpec, &Engine, &Innodb)> {
    let database = spec.database.as_ref()?;
    let EngineModel::Innodb(model) = database.model.as_ref()?;
    Some((database, spec.engines.get(&database.engine)?, model))
}

impl Settings {
    /// Offset of a page in the storage: after the logs and the doublewrite buffer.
    pub(super) fn page_offset(&self, page: u32) -> u64 {
        self.bytes_up_to(u64::from(page))
    }

    /// Bytes of the log's place, which precedes all others.
    pub(super) fn log_bytes(&self) -> u64 {
        self.log.bytes.next_multiple_of(1 << 20)
    }

    /// Bytes of the binary log's place after the log's.
    fn binlog_bytes(&self) -> u64 {
        self.binlog.map_or(0, |binlog| binlog.bytes_with_data())
    }

    /// Bytes of logs, doublewrite buffer, and a number of pages.
    pub(super) fn bytes_up_to(&self, pages: u64) -> u64 {
        self.log_bytes() + self.binlog_bytes() + DOUBLEWRITE_BYTES + pages * PAGE
    }

    /// Number of pages that a storage has room for.
    pub(super) fn room(&self, size: Size) -> u32 {
        (size.0.saturating_sub(self.bytes_up_to(0)) / PAGE).try_into().unwrap_or(u32::MAX)
    }

    /// Settings of a run with a simulated database.
    pub(super) fn new(spec: &RunSpec) -> Option<Self> {
        let (database, engine, model) = named(spec)?;
        let bytes = pool_bytes(engine, model);
        let (pages, method) = (bytes / PAGE, flush_method(engine, model).ok()?);
        let memory = spec.host.as_ref().and_then(HostSpec::memory).filter(|_| is_cached(method));
        let cached = memory.map_or(0, |memory| (memory.0.saturating_sub(bytes) / PAGE) as u32);
        // A pool this small is nearly all pages: descriptors and locks come out of the server's
        // other memory.
        let usable = if pages < 1024 { 1_000_000 } else { u64::from(model.pool.usable.value.0) };
        Some(Self {
            pool: PoolSettings {
                frames: (pages * usable / 1_000_000) as u32,
                midpoint: midpoint(engine, &model.pool),
                search_depth: model.pool.search_depth.value,
                cached,
            },
            log: LogSettings::new(engine, model, method),
            binlog: BinlogSettings::new(database, engine, model),
            flushing: FlushSettings::new(engine, model, method, pages),
            change_buffer: ChangeBufferSettings::new(engine, model, pages),
            read_ahead: read_ahead(engine, model, pages),
            trees: model.tree_lock.as_ref().map_or((false, 0), |lock| (true, u64::from(lock.growing.value.0))),
            purge: model.purge.as_ref().map_or_else(PurgeSettings::default, |purge| PurgeSettings {
                threads: whole(engine, PURGE_THREADS).map_or(purge.threads.value, |number| number.clamp(1, 32) as u32),
                redo: purge.redo.value.0 as u16,
                history: purge.history.value.0 as u16,
            }),
            read_threads: Costs::read_threads(engine, model, spec.host.as_ref()),
            cpu: Costs::new(model, spec.host.as_ref(), cached),
            recovery: RecoverySettings::new(model, spec.host.as_ref()),
            // 1 is the default of every version.
            shutdown: match whole(engine, "innodb_fast_shutdown") {
                Some(0) => ShutdownMode::Slow,
                Some(2) => ShutdownMode::LogOnly,
                _ => ShutdownMode::Fast,
            },
            dump: PoolDump::new(engine, model),
            model: model.clone(),
        })
    }
}

impl LogSettings {
    fn new(engine: &Engine, model: &Innodb, method: FlushMethod) -> Self {
        Self {
            bytes: log_bytes(engine, model),
            commit: match engine.commit.as_deref() {
                None | Some("1" | "3") => CommitMode::Durable,
                // A write that the kernel takes is durable.
                Some("2") if method == FlushMethod::Dsync => CommitMode::Durable,
                Some("2") => CommitMode::Handed,
                Some(_) => CommitMode::EachSecond,
            },
            through: method == FlushMethod::Dsync,
            extra: u64::from(model.redo_extra.value.0),
            records: RedoRecords::new(model),
        }
    }
}

impl FlushSettings {
    fn new(engine: &Engine, model: &Innodb, method: FlushMethod, pages: u64) -> Self {
        let flushing = &model.flushing;
        let (io_capacity, io_capacity_max) = options::io_capacity(engine, model);
        let area = read_ahead(engine, model, pages).area;
        Self {
            batch: flushing.batch.value,
            doublewrite: engine.doublewrite.map_or(flushing.doublewrite.value, |mode| mode == Doublewrite::On),
            fsync: method != FlushMethod::DirectNoFsync,
            sync_each_file: flushing.sync_each_file.as_ref().is_some_and(|each| each.value),
            latched_writes: flushing.latched_writes.as_ref().is_some_and(|latched| latched.value),
            free_pages: flushing.free_pages.as_ref().map(|rule| rule.value).filter(|&rule| {
                // A page cleaner that ignores the list's end makes none.
                rule != FreePages::PageCleaner || flushing.lru_scan_depth.is_some()
            }),
            background: flushing.background.is_some(),
            adaptive: flushing
                .adaptive
                .as_ref()
                .map(|rule| rule.value)
                .filter(|_| switch(engine, "innodb_adaptive_flushing").unwrap_or(true)),
            io_capacity,
            io_capacity_max,
            lru_scan_depth: whole(engine, "innodb_lru_scan_depth")
                .or_else(|| Some(flushing.lru_scan_depth.as_ref()?.value.into()))
                .map_or(0, |depth| depth.min(u32::MAX.into()) as u32),
            single_slots: flushing.single_slots.as_ref().map_or(0, |slots| slots.value),
            neighbours: whole(engine, "innodb_flush_neighbors")
                .map_or(flushing.neighbours.value, |neighbours| neighbours > 0),
            most_dirty: options::most_dirty(engine, model),
            margin: 5 + if area > 0 { area } else { area_of(pages) },
            retry: flushing.retry.value.0,
        }
    }
}

impl ChangeBufferSettings {
    fn new(engine: &Engine, model: &Innodb, pages: u64) -> Self {
        let Some(buffer) = &model.change_buffer else { return Self { most: 0, per_leaf: 0, bitmap: 0 } };
        let percent = whole(engine, "innodb_change_buffer_max_size");
        let share = percent.map_or(u64::from(buffer.most.value.0), |percent| percent * 10_000);
        Self {
            // About two hundred entries per page of its tree.
            most: pages * share / 1_000_000 * 200,
            per_leaf: buffer.per_leaf.value,
            bitmap: buffer.bitmap.as_ref().map_or(0, |pages| pages.value),
        }
    }
}

/// Pages of an area in a pool of `pages` (BUF_READ_AHEAD_AREA).
fn area_of(pages: u64) -> u32 {
    ((pages / 32).clamp(1, MOST_AREA) as u32).next_power_of_two()
}

/// Linear read-ahead in a pool of `pages`.
fn read_ahead(engine: &Engine, model: &Innodb, pages: u64) -> ReadAhead {
    let threshold = whole(engine, "innodb_read_ahead_threshold");
    model.read_ahead.as_ref().map_or(ReadAhead { area: 0, skipped: 0 }, |ahead| {
        let area = area_of(pages).min(ahead.area.value);
        let threshold = threshold.map_or(ahead.threshold.value, |threshold| threshold as u32);
        ReadAhead { area, skipped: ahead.area.value.saturating_sub(threshold).min(area) }
    })
}

/// The old part of the LRU list.
fn midpoint(engine: &Engine, pool: &PoolRules) -> Option<Midpoint> {
    let rules = pool.midpoint.as_ref()?;
    let share = whole(engine, "innodb_old_blocks_pct").map_or(rules.old.value.0.into(), |percent| percent * 10_000);
    let profile = rules.old_blocks_time.as_ref().map_or(0, |time| time.value.0 / 1_000_000);
    let old_ms = whole(engine, "innodb_old_blocks_time").unwrap_or(profile);
    Some(Midpoint { share: (share * 1024 / 1_000_000) as u32, least: rules.least.value, old_ms: old_ms as u32 })
}

/// Bytes of the redo log.
pub(super) fn log_bytes(engine: &Engine, model: &Innodb) -> u64 {
    engine.redo_log.unwrap_or(model.redo_log.value).0.max(1 << 20)
}

/// Bytes of the pool.
pub(super) fn pool_bytes(engine: &Engine, model: &Innodb) -> u64 {
    engine.buffer_pool.unwrap_or(model.pool.size.value).0.max(LEAST_POOL)
}

/// Method of writing data files: the study's, else the version's. An unknown method is the error.
pub(super) fn flush_method<'a>(engine: &'a Engine, model: &Innodb) -> Result<FlushMethod, &'a str> {
    match engine.flush_method.as_deref() {
        None => Ok(model.flushing.method.value),
        // MySQL 5.5 calls it by its older name.
        Some("fsync" | "fdatasync") => Ok(FlushMethod::Fsync),
        Some("O_DSYNC") => Ok(FlushMethod::Dsync),
        Some("O_DIRECT") => Ok(FlushMethod::Direct),
        Some("O_DIRECT_NO_FSYNC") => Ok(FlushMethod::DirectNoFsync),
        Some(other) => Err(other),
    }
}

/// Return whether data files go through the host's page cache.
pub(super) fn is_cached(method: FlushMethod) -> bool {
    matches!(method, FlushMethod::Fsync | FlushMethod::Dsync)
}
