//! Values of an engine profile that no server can have; a time in the wrong unit, off by a factor of a thousand, lies outside.

use super::engine::{EngineModel, FreePages, Innodb};
use super::limit::Impossible;
use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Share, Size, Time};

/// A value, its place, its least and greatest, and how it is spelled.
type Limit = (u64, [&'static str; 2], u64, u64, Spell);

/// How a value is spelled.
type Spell = fn(u64) -> String;

const TIME: Spell = |nanos| Time(nanos).to_string();
const SIZE: Spell = |bytes| Size(bytes).to_string();
const SHARE: Spell = |millionths| Share(millionths as u32).to_string();
const COUNT: Spell = |count| count.to_string();
const RATE: Spell = |rate| Rate(rate).to_string();

/// The first thing in an engine profile that can't be.
pub(crate) fn impossible_engine(engine: &EngineModel) -> Option<Impossible<'static>> {
    let EngineModel::Innodb(innodb) = engine;
    if let Some(unread) = unread(innodb) {
        return Some(unread);
    }
    let found = limits(innodb).into_iter().find(|(value, _, least, most, _)| !(least..=most).contains(&value));
    let (_, [section, key], least, most, spell) = found?;
    let path = place(section, key);
    let message = format!("no engine has this for its {}", key.replace('_', " "));
    let accepted = format!("{} to {}", spell(least), spell(most));
    Some(Impossible { path, kind: InputErrorKind::BadValue, message, accepted })
}

/// Where a value stands in the file.
fn place(section: &'static str, key: &'static str) -> Vec<&'static str> {
    let parts = ["innodb"].into_iter().chain(section.split('.')).chain([key, "value"]);
    parts.filter(|part| !part.is_empty()).collect()
}

/// A key that nobody reads: another one says that there is nobody to.
fn unread(innodb: &Innodb) -> Option<Impossible<'static>> {
    if innodb.purge.is_some() && innodb.undo.is_none() {
        return Some(Impossible {
            path: place("purge", "threads"),
            kind: InputErrorKind::BadValue,
            message: "nobody writes the undo logs that these threads go through".into(),
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
    let message = format!("nobody reads the {} of this engine", key.replace('_', " "));
    let accepted = format!("no such key, or {readers} for `free_pages`");
    Some(Impossible { path: place("flushing", key), kind: InputErrorKind::BadValue, message, accepted })
}

fn limits(innodb: &Innodb) -> Vec<Limit> {
    let (cpu, pool, flushing) = (&innodb.cpu, &innodb.pool, &innodb.flushing);
    let whole = u64::from(Share::WHOLE.0);
    // Each at most some hundred times what a server has been seen to take, so that no thousandfold passes.
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
    limits.extend(of_sections(innodb));
    limits
}

/// Values of what may be absent.
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
    if let Some(group) = &innodb.group_commit {
        limits.push((group.most.value.0, ["group_commit", "most"], 64 << 10, 4 << 30, SIZE));
    }
    if let Some(age) = &innodb.checkpoint_age {
        limits.push((u64::from(age.hasty_part.value), ["checkpoint_age", "hasty_part"], 2, 64, COUNT));
        limits.push((u64::from(age.waiting_part.value), ["checkpoint_age", "waiting_part"], 2, 64, COUNT));
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
        limits.push((purge.redo.value.0, ["purge", "redo"], 0, 16 << 10, SIZE));
    }
    if let Some(dump) = &innodb.pool_dump {
        limits.push((u64::from(dump.share.value.0), ["pool_dump", "share"], whole / 100, whole, SHARE));
        limits.push((u64::from(dump.page_reads.value), ["pool_dump", "page_reads"], 1, 256, COUNT));
    }
    limits
}
