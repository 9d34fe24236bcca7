//! Server options that the model knows, and the values that each version accepts.
//!
//! Bounds are those of ha_innodb.cc in MySQL 5.5.59, 5.7.37 and 8.0.25, and of MariaDB's system
//! variables for 10.11, on 64-bit machines. The rule for free pages identifies the version: only
//! 5.5 has user threads make them, and only MariaDB the page cleaner alone.

use tameshi_spec::profile::{FreePages, Innodb};
use tameshi_spec::study::Engine;

/// Options that are whole numbers, with their least and greatest.
const NUMBERS: [(&str, u64, u64); 14] = [
    ("innodb_io_capacity", 100, u64::MAX),
    (IO_CAPACITY_MAX, 100, u64::MAX),
    (LRU_SCAN_DEPTH, 100, u64::MAX),
    ("innodb_flush_neighbors", 0, 2),
    (OLD_BLOCKS[0], 0, u32::MAX as u64),
    (OLD_BLOCKS[1], 5, 95),
    ("innodb_read_ahead_threshold", 0, 64),
    (MOST_DIRTY, 0, 99),
    ("innodb_change_buffer_max_size", 0, 50),
    ("innodb_read_io_threads", 1, 64),
    (PURGE_THREADS, 1, 32),
    (FAST_SHUTDOWN, 0, 2),
    (BINLOG[0], 0, u32::MAX as u64),
    (BINLOG[1], 4096, 1 << 30),
];
/// Options of the binary log.
const BINLOG: [&str; 2] = ["sync_binlog", "max_binlog_size"];
/// Format of the binary log.
const BINLOG_FORMAT: &str = "binlog_format";
/// Switch of the binary log.
const LOG_BIN: &str = "log_bin";
const OLD_BLOCKS: [&str; 2] = ["innodb_old_blocks_time", "innodb_old_blocks_pct"];
const IO_CAPACITY_MAX: &str = "innodb_io_capacity_max";
const LRU_SCAN_DEPTH: &str = "innodb_lru_scan_depth";
const MOST_DIRTY: &str = "innodb_max_dirty_pages_pct";
pub(super) const PURGE_THREADS: &str = "innodb_purge_threads";
const FAST_SHUTDOWN: &str = "innodb_fast_shutdown";
/// Reason for which there is no binary log.
pub(super) const NO_BINLOG: &str = "the engine's profile has no `binlog`, so no part of the model writes one";
const ADAPTIVE: &str = "innodb_adaptive_flushing";
/// Options that 5.5 does not have, and its behaviour instead.
const SINCE_5_6: [(&str, &str); 4] = [
    (IO_CAPACITY_MAX, "pages are flushed up to `innodb_io_capacity`"),
    (LRU_SCAN_DEPTH, "user threads flush for free pages"),
    ("innodb_flush_neighbors", "neighbours are always flushed along"),
    ("innodb_change_buffer_max_size", "the change buffer takes up to half of the pool"),
];
/// Most dirty pages in percent, from 5.6 on, which accepts fractions.
const MOST_DIRTY_PERCENT: f64 = 99.999;
/// Option on the list of pages that outlives a restart: a number.
const DUMPED: (&str, u64, u64) = ("innodb_buffer_pool_dump_pct", 1, 100);
/// Options on that list: switches.
const DUMPS: [&str; 2] = ["innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"];

pub(super) fn whole(engine: &Engine, key: &str) -> Option<u64> {
    engine.options.get(key)?.parse().ok()
}

/// Return the background capacity and the greatest one: the study's, else the profile's. If a study
/// sets only the first, the second follows it; the first never exceeds the second.
pub(super) fn io_capacity(engine: &Engine, model: &Innodb) -> (u64, u64) {
    let profile = (model.flushing.io_capacity.value.into(), model.flushing.io_capacity_max.value.into());
    // No pool has more than 2^32 pages.
    let pages = |key: &str| whole(engine, key).map(|pages| pages.min(u32::MAX.into()));
    match (pages("innodb_io_capacity"), pages(IO_CAPACITY_MAX)) {
        (None, None) => profile,
        (Some(capacity), None) if is_5_5(model) => (capacity, capacity),
        (Some(capacity), None) => (capacity, (capacity * 2).max(2000)),
        (capacity, Some(most)) => (capacity.unwrap_or(profile.0).min(most), most),
    }
}

/// Share of dirty pages from which they are flushed, in millionths.
pub(super) fn most_dirty(engine: &Engine, model: &Innodb) -> u64 {
    let percent: Option<f64> = engine.options.get(MOST_DIRTY).and_then(|percent| percent.parse().ok());
    percent.map_or(u64::from(model.flushing.most_dirty.value.0), |percent| (percent * 10_000.0).round() as u64)
}

/// A switch, as the servers spell them.
pub(super) fn switch(engine: &Engine, key: &str) -> Option<bool> {
    switched(engine.options.get(key)?)
}

fn switched(value: &str) -> Option<bool> {
    match value {
        "1" => Some(true),
        "0" => Some(false),
        word if word.eq_ignore_ascii_case("on") => Some(true),
        word if word.eq_ignore_ascii_case("off") => Some(false),
        _ => None,
    }
}

fn frees(model: &Innodb, rule: FreePages) -> bool {
    model.flushing.free_pages.as_ref().is_some_and(|of| of.value == rule)
}

/// Return whether the model is MariaDB's.
pub(super) fn is_mariadb(model: &Innodb) -> bool {
    frees(model, FreePages::PageCleaner)
}

fn is_5_5(model: &Innodb) -> bool {
    frees(model, FreePages::UserBatches)
}

/// Reason for which an option of the binary log has no effect; `has_place`: the study has a storage
/// for it.
pub(super) fn binlog_refusal(option: &str, engine: &Engine, model: &Innodb, has_place: bool) -> Option<String> {
    let logs = switch(engine, LOG_BIN);
    match option {
        LOG_BIN if logs == Some(true) && model.binlog.is_none() => Some(NO_BINLOG.into()),
        LOG_BIN if logs == Some(false) && has_place => {
            Some("`use.binlog` has a storage for the binary log; leave one of them out".into())
        }
        option if (BINLOG.contains(&option) || option == BINLOG_FORMAT) && !logs.unwrap_or(has_place) => {
            Some("the binary log is off; say `log_bin = \"ON\"`, or give it a storage with `use.binlog`".into())
        }
        _ => None,
    }
}

/// Reason for which an option can't have this value.
pub(super) fn refusal(option: &str, value: &str, model: &Innodb) -> Option<String> {
    if (option == DUMPED.0 || DUMPS.contains(&option)) && model.pool_dump.is_none() {
        return Some("this version keeps nothing of its pool over a restart".into());
    }
    let later = SINCE_5_6.iter().find(|(known, _)| *known == option && is_5_5(model));
    if let Some((_, instead)) = later {
        return Some(format!("this version has no such option: {instead}"));
    }
    let (pool, flushing) = (&model.pool, &model.flushing);
    let missing = match option {
        LRU_SCAN_DEPTH if flushing.lru_scan_depth.is_none() => "flushing.lru_scan_depth",
        ADAPTIVE if flushing.adaptive.is_none() => "flushing.adaptive",
        PURGE_THREADS if model.purge.is_none() => "purge",
        option if OLD_BLOCKS.contains(&option) && pool.midpoint.is_none() => "pool.midpoint",
        _ => "",
    };
    if !missing.is_empty() {
        return Some(format!("the engine's profile has no `{missing}`, so no part of the model reads it"));
    }
    if option == FAST_SHUTDOWN && value == "3" && is_mariadb(model) {
        return Some(
            "`3`, which leaves transactions to be taken back after the next start, is not simulated; 0, 1 and 2 are"
                .into(),
        );
    }
    if option == MOST_DIRTY && !is_5_5(model) {
        let fits = value.parse().is_ok_and(|percent: f64| (0.0..=MOST_DIRTY_PERCENT).contains(&percent));
        return (!fits)
            .then(|| format!("`{value}` is not accepted by the server; a number from 0 to {MOST_DIRTY_PERCENT} is"));
    }
    if let Some((_, least, most)) = NUMBERS.iter().chain([&DUMPED]).find(|(known, ..)| *known == option) {
        let fits = value.parse().is_ok_and(|number| (*least..=*most).contains(&number));
        return (!fits)
            .then(|| format!("`{value}` is not accepted by the server; a whole number from {least} to {most} is"));
    }
    if option == BINLOG_FORMAT {
        let is_row = value.eq_ignore_ascii_case("ROW");
        return (!is_row).then(|| format!("`{value}` is not simulated; the binary log has ROW"));
    }
    if option == ADAPTIVE || option == LOG_BIN || DUMPS.contains(&option) {
        return switched(value).is_none().then(|| format!("`{value}` is neither ON nor OFF"));
    }
    let known: Vec<&str> = NUMBERS
        .iter()
        .chain([&DUMPED])
        .map(|(known, ..)| *known)
        .chain(DUMPS)
        .chain([ADAPTIVE, LOG_BIN, BINLOG_FORMAT])
        .collect();
    Some(format!("the model does not know this option; it knows {}", known.join(", ")))
}
