//! What a run makes of an engine's profile: the study's settings in numbers of pages and bytes.

use super::DOUBLEWRITE_BYTES;
use super::layout::{PAGE, leaves_of};
use super::options::{self, switch, whole};
use super::pool::Midpoint;
use super::read_threads::IntakeCosts;
use tameshi_base::{Nanos, Size, Time};
use tameshi_spec::profile::{
    Adaptive, Device, DumpedShare, EngineCosts, EngineModel, FlushMethod, FreePages, Innodb, PoolRules,
};
use tameshi_spec::run::{DatabaseSpec, HostSpec, Node, RunSpec};
use tameshi_spec::study::{Doublewrite, Engine, Event, Member};
use tameshi_workload::program::{Oltp, Program, ProgramSpec, PsMode};

/// The smallest pool that InnoDB accepts: a size of zero becomes this.
const LEAST_POOL: u64 = 5 << 20;

/// How commits treat the log (innodb_flush_log_at_trx_commit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commit {
    /// Durable before the answer.
    Durable,
    /// Handed to the kernel before the answer, made durable once a second.
    Handed,
    /// Written and made durable once a second.
    EachSecond,
}

/// An engine's settings.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Frames of the pool.
    pub(super) frames: u32,
    /// Pages that the host's page cache has room for; zero where files don't go through it.
    pub(super) cached: u32,
    /// Bytes of the redo log.
    pub(super) log: u64,
    pub(super) commit: Commit,
    /// Pages go to the doublewrite buffer first.
    pub(super) doublewrite: bool,
    /// Writes of the log are durable by themselves, without a sync.
    pub(super) log_through: bool,
    /// Data files are synced after each batch.
    pub(super) fsync: bool,
    /// Each file that a batch wrote by itself, not all at once.
    pub(super) sync_each_file: bool,
    /// Who changes a page that is being written waits.
    pub(super) latched_writes: bool,
    /// None: who needs one waits for the list of dirty pages.
    pub(super) free_pages: Option<FreePages>,
    /// How many pages are flushed in a second for the sake of the log; none: no more than there are too many of.
    pub(super) adaptive: Option<Adaptive>,
    pub(super) io_capacity: u64,
    pub(super) io_capacity_max: u64,
    /// Zero: the page cleaner doesn't look at the LRU list's end.
    pub(super) lru_scan_depth: u32,
    /// Places for single pages in the doublewrite buffer; zero: user threads flush none.
    pub(super) single_slots: u32,
    pub(super) neighbours: bool,
    /// Share of dirty pages from which they are flushed at the capacity, in millionths.
    pub(super) most_dirty: u64,
    pub(super) midpoint: Option<Midpoint>,
    /// Pages of a read-ahead area, and how many of them may have been skipped; zero: no read-ahead.
    pub(super) area: (u32, u32),
    /// Pages that user threads keep free or replaceable: an area's, and some, with read-ahead or without.
    pub(super) margin: u32,
    /// Most changes that the change buffer holds, and on one leaf; zero: there is none.
    pub(super) buffered: (u64, u32),
    /// Pages of which one of a bitmap tells whether changes are buffered for them; 0: none are asked.
    pub(super) bitmap: u32,
    /// Trees have locks; of the updates that make a row grow so many in a million need theirs.
    pub(super) trees: (bool, u64),
    /// Threads that change rows again after the commit, and the log of each of these changes.
    pub(super) purge: (u32, u16),
    pub(super) intake: IntakeCosts,
    pub(super) cpu: Costs,
    pub(super) comeback: Comeback,
    pub(super) shutdown: Shutdown,
    pub(super) dump: Dump,
    pub(super) model: Innodb,
}

/// What a server does before it ends in good order (innodb_fast_shutdown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// Buffered changes are merged, pages and log written (0).
    Slow,
    /// Pages and log are written (1).
    Fast,
    /// The log is written (2).
    LogOnly,
}

/// What a server keeps of its pool over a restart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dump {
    pub(super) at_shutdown: bool,
    pub(super) at_startup: bool,
    /// Share of the pages that are listed, in millionths: of those held, or of all that there is room for.
    share: u64,
    of_pool: bool,
    /// The older list stays where not all of its pages were read back.
    pub(super) finished_only: bool,
    /// Pages that are read back at once.
    pub(super) page_reads: u32,
}

impl Dump {
    fn new(engine: &Engine, model: &Innodb) -> Self {
        model.pool_dump.as_ref().map_or(Self::default(), |dump| Self {
            at_shutdown: switch(engine, "innodb_buffer_pool_dump_at_shutdown").unwrap_or(dump.at_shutdown.value),
            at_startup: switch(engine, "innodb_buffer_pool_load_at_startup").unwrap_or(dump.at_startup.value),
            share: whole(engine, "innodb_buffer_pool_dump_pct")
                .map_or(u64::from(dump.share.value.0), |percent| percent.clamp(1, 100) * 10_000),
            of_pool: dump.of.value == DumpedShare::Pool,
            finished_only: dump.finished_only.value,
            page_reads: dump.page_reads.value.clamp(1, super::AHEAD),
        })
    }

    /// How many pages are listed, where the pool holds so many of those it has room for.
    pub(super) fn pages(&self, held: u32, room: u32) -> u32 {
        let share = |pages: u32| (u64::from(pages) * self.share / 1_000_000).max(1) as u32;
        share(if self.of_pool { room } else { held }).min(held)
    }
}

/// How the server comes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comeback {
    pub(super) start: Nanos,
    /// Bytes of log that are read at once.
    pub(super) read: u64,
    /// Processor time of a log record.
    pub(super) apply: Nanos,
    /// Pages that are read at once.
    pub(super) page_reads: u32,
}

impl Comeback {
    fn new(model: &Innodb, host: Option<&HostSpec>) -> Self {
        model.recovery.as_ref().map_or(Self { start: 0, read: 1 << 16, apply: 0, page_reads: 1 }, |recovery| Self {
            start: recovery.start.value.0,
            read: recovery.read.value.0.max(512),
            apply: Costs::here(&model.cpu, host, recovery.apply.value),
            page_reads: recovery.page_reads.value.clamp(1, super::AHEAD),
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
    /// To or from the host's page cache, where there is one.
    pub(super) page_copy: Nanos,
    /// Looking at a page of the LRU list.
    pub(super) pool_look: Nanos,
    /// How much longer work takes while the other thread of a core works, in millionths.
    pub(super) sibling_penalty: u64,
    /// No processor's time.
    pub(super) round_trip: Nanos,
}

impl Costs {
    /// A time at the profile's clock as it is on the run's host.
    fn here(costs: &EngineCosts, host: Option<&HostSpec>, time: Time) -> Nanos {
        let clock = host.map_or(costs.clock.value.0, |host| host.model.clock.value.0);
        (u128::from(time.0) * u128::from(costs.clock.value.0) / u128::from(clock.max(1))) as Nanos
    }

    fn intake(engine: &Engine, model: &Innodb, host: Option<&HostSpec>) -> IntakeCosts {
        let number = whole(engine, "innodb_read_io_threads");
        model.read_threads.as_ref().map_or_else(IntakeCosts::default, |threads| IntakeCosts {
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
            round_trip: costs.round_trip.value.0,
            sibling_penalty: host
                .and_then(|host| host.model.sibling_penalty.as_ref())
                .map_or(0, |share| share.value.0.into()),
        }
    }
}

/// Most pages of an area.
const MOST_AREA: u64 = 64;
/// Leaves of a data set at most: pages and frames are numbered with 31 bits, and there are others, too.
const MOST_LEAVES: u32 = 1 << 30;

/// The engine's model, as the run's database names it.
fn named(spec: &RunSpec) -> Option<(&DatabaseSpec, &Engine, &Innodb)> {
    let database = spec.database.as_ref()?;
    let EngineModel::Innodb(model) = database.model.as_ref()?;
    Some((database, spec.engines.get(&database.engine)?, model))
}

/// Pages of which one of a bitmap tells; 0: none are asked.
fn per_bitmap(model: &Innodb) -> u32 {
    let bitmap = model.change_buffer.as_ref().and_then(|buffer| buffer.bitmap.as_ref());
    bitmap.map_or(0, |pages| pages.value)
}

impl Settings {
    /// Where in the storage a page lies: behind the log and the doublewrite buffer.
    pub(super) fn page_offset(&self, page: u32) -> u64 {
        self.bytes_up_to(u64::from(page))
    }

    /// Bytes of the storage that lie before so many pages' end: log, doublewrite buffer, and pages.
    pub(super) fn bytes_up_to(&self, pages: u64) -> u64 {
        self.log.next_multiple_of(1 << 20) + DOUBLEWRITE_BYTES + pages * PAGE
    }

    /// How many pages a storage has room for.
    pub(super) fn room(&self, size: Size) -> u32 {
        (size.0.saturating_sub(self.bytes_up_to(0)) / PAGE).try_into().unwrap_or(u32::MAX)
    }

    /// The settings of a run with a simulated database.
    pub(super) fn new(spec: &RunSpec) -> Option<Self> {
        let (_, engine, model) = named(spec)?;
        let (pool, flushing) = (&model.pool, &model.flushing);
        let bytes = pool_bytes(engine, model);
        let (pages, method) = (bytes / PAGE, flush_method(engine, model).ok()?);
        let memory = spec.host.as_ref().and_then(HostSpec::memory).filter(|_| is_cached(method));
        let cached = memory.map_or(0, |memory| (memory.0.saturating_sub(bytes) / PAGE) as u32);
        // So small a pool is nearly all pages: descriptors and locks come out of the server's other memory.
        let usable = if pages < 1024 { 1_000_000 } else { u64::from(pool.usable.value.0) };
        let frames = (pages * usable / 1_000_000) as u32;
        let (io_capacity, io_capacity_max) = options::io_capacity(engine, model);
        let commit = match engine.commit.as_deref() {
            None | Some("1" | "3") => Commit::Durable,
            // What is handed to the kernel is durable then.
            Some("2") if method == FlushMethod::Dsync => Commit::Durable,
            Some("2") => Commit::Handed,
            Some(_) => Commit::EachSecond,
        };
        Some(Self {
            frames,
            cached,
            log: engine.redo_log.unwrap_or(model.redo_log.value).0.max(1 << 20),
            commit,
            doublewrite: engine.doublewrite.map_or(flushing.doublewrite.value, |mode| mode == Doublewrite::On),
            log_through: method == FlushMethod::Dsync,
            fsync: method != FlushMethod::DirectNoFsync,
            sync_each_file: flushing.sync_each_file.as_ref().is_some_and(|each| each.value),
            latched_writes: flushing.latched_writes.as_ref().is_some_and(|latched| latched.value),
            free_pages: flushing.free_pages.as_ref().map(|who| who.value).filter(|&who| {
                // A page cleaner that doesn't look at the list's end makes none.
                who != FreePages::PageCleaner || flushing.lru_scan_depth.is_some()
            }),
            adaptive: flushing
                .adaptive
                .as_ref()
                .map(|how| how.value)
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
            midpoint: midpoint(engine, pool),
            area: area(engine, model, pages),
            margin: 5 + Some(area(engine, model, pages).0).filter(|area| *area > 0).unwrap_or(area_of(pages)),
            buffered: buffered(engine, model, pages),
            bitmap: per_bitmap(model),
            trees: model.tree_lock.as_ref().map_or((false, 0), |lock| (true, u64::from(lock.growing.value.0))),
            purge: model.purge.as_ref().map_or((0, 0), |of| (of.threads.value, of.redo.value.0 as u16)),
            intake: Costs::intake(engine, model, spec.host.as_ref()),
            cpu: Costs::new(model, spec.host.as_ref(), cached),
            comeback: Comeback::new(model, spec.host.as_ref()),
            // 1 is the default of every version.
            shutdown: match whole(engine, "innodb_fast_shutdown") {
                Some(0) => Shutdown::Slow,
                Some(2) => Shutdown::LogOnly,
                _ => Shutdown::Fast,
            },
            dump: Dump::new(engine, model),
            model: model.clone(),
        })
    }
}

/// Pages that belong together in a pool of so many (BUF_READ_AHEAD_AREA).
fn area_of(pages: u64) -> u32 {
    ((pages / 32).clamp(1, MOST_AREA) as u32).next_power_of_two()
}

/// Pages of a read-ahead area, and how many of them may have been skipped.
fn area(engine: &Engine, model: &Innodb, pages: u64) -> (u32, u32) {
    let threshold = whole(engine, "innodb_read_ahead_threshold");
    model.read_ahead.as_ref().map_or((0, 0), |ahead| {
        let area = area_of(pages).min(ahead.area.value);
        let threshold = threshold.map_or(ahead.threshold.value, |threshold| threshold as u32);
        (area, ahead.area.value.saturating_sub(threshold).min(area))
    })
}

/// Most changes that the change buffer holds, and on one leaf.
fn buffered(engine: &Engine, model: &Innodb, pages: u64) -> (u64, u32) {
    model.change_buffer.as_ref().map_or((0, 0), |buffer| {
        let percent = whole(engine, "innodb_change_buffer_max_size");
        let share = percent.map_or(u64::from(buffer.most.value.0), |percent| percent * 10_000);
        // Some two hundred entries on a page of its tree.
        (pages * share / 1_000_000 * 200, buffer.per_leaf.value)
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

/// Bytes of the pool.
fn pool_bytes(engine: &Engine, model: &Innodb) -> u64 {
    engine.buffer_pool.unwrap_or(model.pool.size.value).0.max(LEAST_POOL)
}

/// How data files are written: as the study says, else as the version does; else the study's word for something unknown.
fn flush_method<'a>(engine: &'a Engine, model: &Innodb) -> Result<FlushMethod, &'a str> {
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

/// Whether data files go through the host's page cache.
fn is_cached(method: FlushMethod) -> bool {
    matches!(method, FlushMethod::Fsync | FlushMethod::Dsync)
}

/// Why a run's server has not the memory for its pool.
fn pool_trouble(spec: &RunSpec, engine: &Engine, model: &Innodb) -> Option<String> {
    let (memory, pool) = (spec.host.as_ref().and_then(HostSpec::memory)?, Size(pool_bytes(engine, model)));
    (memory < pool).then(|| format!("a buffer pool of {pool} does not fit into the host's memory of {memory}"))
}

/// Why a run's data files can't be written as they should.
fn method_trouble(spec: &RunSpec, engine: &Engine, model: &Innodb) -> Option<String> {
    let whose = if engine.flush_method.is_none() { "this version's own, " } else { "" };
    match flush_method(engine, model) {
        Err(other) => {
            Some(format!("`{other}` is not simulated; say `fsync`, `O_DSYNC`, `O_DIRECT` or `O_DIRECT_NO_FSYNC`"))
        }
        Ok(method) if is_cached(method) => match spec.host.as_ref().and_then(HostSpec::memory) {
            None => Some(format!(
                "{whose}`{}`, goes through the page cache, and how much memory the host has is not known; say `host.memory`, or `O_DIRECT`",
                if method == FlushMethod::Dsync { "O_DSYNC" } else { "fsync" }
            )),
            Some(_) => None,
        },
        Ok(_) => None,
    }
}

/// What of a run's database can't be simulated: a sentence each.
pub(crate) fn unsupported(spec: &RunSpec) -> Vec<String> {
    let mut sentences = Vec::new();
    let Some(database) = &spec.database else { return sentences };
    let name = &database.engine;
    let Some((_, engine, model)) = named(spec) else {
        sentences.push(format!("engine.{name}: this product is not simulated yet; `mysql` and `mariadb` are"));
        return sentences;
    };
    sentences.extend(method_trouble(spec, engine, model).map(|why| format!("engine.{name}.flush_method: {why}")));
    sentences.extend(pool_trouble(spec, engine, model).map(|why| format!("engine.{name}.buffer_pool: {why}")));
    if engine.doublewrite == Some(Doublewrite::Atomic) {
        if flush_method(engine, model).is_ok_and(is_cached) {
            sentences.push(format!(
                "engine.{name}.doublewrite: `atomic` needs pages that are written as they are, and `fsync` and `O_DSYNC` leave them to the page cache; say `flush_method = \"O_DIRECT\"`"
            ));
        }
        let model = spec.storage.get(&database.storage).and_then(|storage| storage.model.as_ref());
        sentences.extend(model.and_then(tears_pages).map(|why| {
            format!("engine.{name}.doublewrite: `atomic` needs a storage that writes pages of {} whole, and {why}; say `on`", Size(PAGE))
        }));
    }
    let (commits, accepted): (&[&str], _) = match options::is_mariadb(model) {
        true => (&["0", "1", "2", "3"], "0, 1, 2 or 3"),
        false => (&["0", "1", "2"], "0, 1 or 2"),
    };
    if let Some(found) = engine.commit.as_deref().filter(|commit| !commits.contains(commit)) {
        sentences.push(format!("engine.{name}.commit: `{found}` is not accepted by the server; {accepted} is"));
    }
    let options = engine.options.iter();
    sentences.extend(options.filter_map(|(option, value)| {
        let why = options::trouble(option, value, model)?;
        Some(format!("engine.{name}.options.{option}: {why}"))
    }));
    for phase in &spec.phases {
        phase.programs.iter().for_each(|program| program_trouble(program, &mut sentences));
        if phase.programs.len() > 1 {
            sentences.push(format!("phase.{}.workload: one program runs at a time", phase.name));
        }
    }
    let crashes = spec.events.iter().filter(|(_, event)| ends_the_server(spec, event));
    sentences.extend(crashes.filter(|_| model.recovery.is_none()).map(|(event, _)| {
        format!("event.{event}: the profile of engine.{name} does not say how it comes back (`engine.innodb.recovery`)")
    }));
    sentences
}

/// Why a storage may leave a part of a page after a power cut; absent where it writes each page whole or not at all.
fn tears_pages(node: &Node) -> Option<String> {
    match node {
        Node::Device { profile, device: Device::Flash(flash) } => {
            let atomic = flash.atomic_write.as_ref().unwrap_or(&flash.mapping_unit).value;
            (atomic.0 < PAGE).then(|| format!("drive `{profile}` writes {atomic} so (`flash.atomic_write`)"))
        }
        Node::Device { profile, .. } => Some(format!("drive `{profile}` does not say that it does")),
        Node::Raid0 { of, chunk, .. } | Node::Raid10 { of, chunk, .. } if chunk.0.is_multiple_of(PAGE) => {
            tears_pages(of)
        }
        Node::Raid0 { chunk, .. } | Node::Raid10 { chunk, .. } => Some(format!("its chunks are of {chunk}")),
        Node::Raid5 { .. } => Some("an array with parity writes a page and its parity one after the other".into()),
        Node::Raid1 { of, .. }
        | Node::Replica { of, .. }
        | Node::Partition { of, .. }
        | Node::OverProvisioned { of, .. }
        | Node::Cache { of, .. } => tears_pages(of),
    }
}

/// Whether an event ends the server of the run's database.
fn ends_the_server(spec: &RunSpec, event: &Event) -> bool {
    let Some(database) = &spec.database else { return false };
    let of_storage = |member: &Option<Member>| {
        member.as_ref().is_some_and(|failure| failure.storage.as_deref().is_none_or(|name| name == database.storage))
    };
    let failover = event.failover.as_ref().and_then(|failover| failover.storage.as_deref());
    event.kill.is_some()
        || event.restart.is_some()
        || of_storage(&event.power_cut)
        || failover == Some(database.storage.as_str())
}

/// Whether something befalls the server of the run's database, or the storage that it lies on.
pub(super) fn watched(spec: &RunSpec) -> bool {
    let Some(database) = &spec.database else { return false };
    let fails = |event: &Event| {
        let failing = event.fail.as_ref().and_then(|failure| failure.storage.as_deref());
        failing.is_some_and(|name| name == database.storage)
    };
    spec.events.values().any(|event| ends_the_server(spec, event) || fails(event))
}

/// Whether two programs work on the same tables.
pub(super) fn same_data(one: &ProgramSpec, other: &ProgramSpec) -> bool {
    match (one, other) {
        (ProgramSpec::Tpcc(one), ProgramSpec::Tpcc(other)) => {
            (one.warehouses, one.manner) == (other.warehouses, other.manner)
        }
        (ProgramSpec::Oltp(one), ProgramSpec::Oltp(other)) => {
            let data = |of: &Oltp| (of.tables, of.rows, of.create_secondary);
            data(one) == data(other)
        }
        (ProgramSpec::KeyUpdate(one), ProgramSpec::KeyUpdate(other)) => {
            (one.tables, one.rows, one.row_size) == (other.tables, other.rows, other.row_size)
        }
        (ProgramSpec::Scan(one), ProgramSpec::Scan(other)) => one.size == other.size,
        (ProgramSpec::Ycsb(one), ProgramSpec::Ycsb(other)) => one.records == other.records,
        _ => false,
    }
}

fn program_trouble(program: &ProgramSpec, sentences: &mut Vec<String>) {
    let word = program.word();
    let mut refuse = |condition: bool, key: &str, why: &str| {
        if condition {
            sentences.push(format!("workload.{word}{key}: {why}"));
        }
    };
    refuse(matches!(program, ProgramSpec::Document(_)), "", "a document database is not simulated yet");
    refuse(matches!(program, ProgramSpec::Pgbench(_)), "", "pgbench's transactions are not simulated yet");
    let (leaves, most) =
        (leaves_of(&Program::new(program, 0).catalogue().tables).0, Size(u64::from(MOST_LEAVES) * PAGE));
    let size = Size(leaves.saturating_mul(PAGE));
    refuse(
        leaves > MOST_LEAVES.into(),
        "",
        &format!("a data set of {size} is more than the {most} that are simulated"),
    );
    if let ProgramSpec::Oltp(of) = program {
        let unlike = |key: &str| format!("{key} is not simulated yet");
        refuse(of.secondary, ".secondary", &unlike("a table without a primary key"));
        refuse(of.reconnect > 0, ".reconnect", &unlike("the making of connections"));
        refuse(of.db_ps_mode == PsMode::Disable, ".db_ps_mode", &unlike("the cost of statements as text"));
        refuse(of.loaded_rows() == 0, ".auto_inc", &unlike("a table that begins empty"));
        let other = !of.mysql_storage_engine.eq_ignore_ascii_case("innodb");
        refuse(other, ".mysql_storage_engine", "only InnoDB is simulated");
    }
    let wide = matches!(program, ProgramSpec::KeyUpdate(of) if of.row_size > Size(8000));
    refuse(wide, ".row_size", "a row of more than half a page is not simulated yet");
}
