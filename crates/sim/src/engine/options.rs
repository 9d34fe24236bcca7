//! The server's options that the model knows: what a study writes there, and what the servers themselves accept.

use tameshi_spec::profile::{FreePages, Innodb};
use tameshi_spec::study::Engine;

/// Options that are whole numbers, with their least and greatest by the manuals of MySQL and MariaDB.
const NUMBERS: [(&str, u32, u32); 11] = [
    ("innodb_io_capacity", 100, u32::MAX),
    ("innodb_io_capacity_max", 100, u32::MAX),
    (LRU_SCAN_DEPTH, 100, u32::MAX),
    ("innodb_flush_neighbors", 0, 2),
    (OLD_BLOCKS[0], 0, u32::MAX),
    (OLD_BLOCKS[1], 5, 95),
    ("innodb_read_ahead_threshold", 0, 64),
    // The servers take 99.99 and 99.999, too.
    ("innodb_max_dirty_pages_pct", 0, 99),
    ("innodb_change_buffer_max_size", 0, 50),
    ("innodb_read_io_threads", 1, 64),
    ("innodb_fast_shutdown", 0, 2),
];
const OLD_BLOCKS: [&str; 2] = ["innodb_old_blocks_time", "innodb_old_blocks_pct"];
const LRU_SCAN_DEPTH: &str = "innodb_lru_scan_depth";
const ADAPTIVE: &str = "innodb_adaptive_flushing";
/// Options about the list of pages that outlives a restart: this one a number, the others switches.
const DUMPED: (&str, u32, u32) = ("innodb_buffer_pool_dump_pct", 1, 100);
const DUMPS: [&str; 2] = ["innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup"];

pub(super) fn whole(engine: &Engine, key: &str) -> Option<u64> {
    engine.options.get(key)?.parse().ok()
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

/// Why an option can't have this value.
pub(super) fn trouble(option: &str, value: &str, model: &Innodb) -> Option<String> {
    if (option == DUMPED.0 || DUMPS.contains(&option)) && model.pool_dump.is_none() {
        return Some("this version keeps nothing of its pool over a restart".into());
    }
    let (pool, flushing) = (&model.pool, &model.flushing);
    if option == LRU_SCAN_DEPTH && flushing.free_pages.as_ref().is_some_and(|who| who.value == FreePages::UserBatches) {
        return Some("this version has no such option: user threads flush for free pages".into());
    }
    let missing = match option {
        LRU_SCAN_DEPTH if flushing.lru_scan_depth.is_none() => "flushing.lru_scan_depth",
        ADAPTIVE if flushing.adaptive.is_none() => "flushing.adaptive",
        option if OLD_BLOCKS.contains(&option) && pool.midpoint.is_none() => "pool.midpoint",
        _ => "",
    };
    if !missing.is_empty() {
        return Some(format!("nobody reads it, for the engine's profile has no `{missing}`"));
    }
    if let Some((_, least, most)) = NUMBERS.iter().chain([&DUMPED]).find(|(known, ..)| *known == option) {
        let fits = value.parse().is_ok_and(|number| (*least..=*most).contains(&number));
        return (!fits)
            .then(|| format!("`{value}` is not accepted by the server; a whole number from {least} to {most} is"));
    }
    if option == ADAPTIVE || DUMPS.contains(&option) {
        return switched(value).is_none().then(|| format!("`{value}` is neither ON nor OFF"));
    }
    let known: Vec<&str> =
        NUMBERS.iter().chain([&DUMPED]).map(|(known, ..)| *known).chain(DUMPS).chain([ADAPTIVE]).collect();
    Some(format!("the model does not know this option; it knows {}", known.join(", ")))
}
