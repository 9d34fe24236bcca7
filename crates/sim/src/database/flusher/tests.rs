//! Known answers of flushing and read-ahead: neighbours of a dirty page, and areas read ahead.

use super::selection::{longest_dirty, with_neighbours};
use crate::database::storage_engine::StorageEngine;
use crate::database::store::Store;
use crate::database::{SECOND, Server};
use tameshi_base::Size;
use tameshi_spec::profile::{Device, EngineModel, EngineProfile, NullProfile, Sourced};
use tameshi_spec::run::{Node, RunSpec};

const MYSQL_55: &str = include_str!("../../../../../python/tameshi/data/profiles/engines/mysql-5.5.toml");
const MYSQL_57: &str = include_str!("../../../../../python/tameshi/data/profiles/engines/mysql-5.7.toml");
const MYSQL_80: &str = include_str!("../../../../../python/tameshi/data/profiles/engines/mysql-8.0.toml");
const MARIADB: &str = include_str!("../../../../../python/tameshi/data/profiles/engines/mariadb-10.11.toml");
const KEYS: &str = "{ key_update = { tables = 2, rows = 400000, row_size = \"400 B\", clients = 1 } }";

const OLTP: &str = "{ oltp = { mix = \"read_write\", tables = 2, rows = 4000000, clients = 1 } }";

fn spec(profile: &str, pool: &str, program: &str) -> RunSpec {
    let text = format!(
        r#"
        schema_version = 1
        study = "test"
        world = "simulated"
        cell = {{}}
        repetition = 0
        seed = 1
        start = "cold"
        interval = "100 ms"
        engines.mysql = {{ buffer_pool = "{pool}", flush_method = "O_DIRECT" }}
        database = {{ engine = "mysql", storage = "disk", seed = 1 }}
        storage.disk.size = "1 TiB"
        [[phases]]
        name = "steady"
        levels = {{}}
        streams = []
        programs = [{program}]
        ramp = "0 ns"
        until = {{ time = "100 ms" }}
        "#
    );
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    let capacity = Sourced { value: Size(1 << 40), source: "test".into(), fitted_on: None };
    let device = Device::Null(NullProfile { capacity });
    spec.storage[0].model = Some(Node::Device { profile: "test".into(), device });
    let engine: EngineProfile = toml::from_str(profile).expect("a profile");
    spec.database.as_mut().expect("a database").model = Some(engine.engine);
    spec
}

fn with_option(mut spec: RunSpec, option: &str, value: &str) -> RunSpec {
    spec.engines["mysql"].options.insert(option.into(), value.into());
    spec
}

fn engine(spec: &RunSpec) -> StorageEngine {
    Server::new(spec, &[(0, 0)]).expect("a server").engine
}

impl StorageEngine {
    /// Put a page into the pool: into the list's old part, or among the young pages.
    fn hold(&mut self, page: u32, is_old: bool) -> u32 {
        let frame = self.store.pool.take(1).expect("a frame is free");
        self.store.pool.put(frame, page, is_old, 0);
        self.store.pool.arrived(frame);
        frame
    }

    /// Make pages dirty, in this order.
    fn dirty(&mut self, pages: impl IntoIterator<Item = u32>, is_old: bool) {
        for page in pages {
            let (frame, at) = (self.hold(page, is_old), u64::from(self.store.pool.dirty()));
            self.store.pool.change(frame, at, at + 1);
        }
    }

    /// Return a dirty page and those flushed with it, in order, and the number of pages looked at.
    fn flushed_with(&mut self, page: u32, most: usize, old: bool) -> (Vec<u32>, u64) {
        let (frame, mut taken) = (self.store.pool.writable(page).expect("a dirty page"), Vec::new());
        let looked = with_neighbours(&mut self.store, frame, (most, old), &mut taken).expect("it can be written");
        let mut pages: Vec<u32> = taken.iter().map(|&(frame, _)| self.store.pool.page(frame)).collect();
        assert_eq!(pages[0], page, "the page itself comes first");
        pages.sort_unstable();
        (pages, looked)
    }
}

/// Pages of a read-ahead area, and those that may have been skipped.
fn areas(spec: &RunSpec) -> (u32, u32) {
    let ahead = engine(spec).store.settings.read_ahead;
    (ahead.area, ahead.skipped)
}

/// An engine with a list that is long enough to have an old part.
fn with_long_list(spec: &RunSpec) -> StorageEngine {
    let mut engine = engine(spec);
    for page in 6400..7000 {
        engine.hold(page, true);
    }
    engine
}

#[test]
fn dirty_pages_of_the_area_are_flushed_along() {
    for profile in [MYSQL_55, MYSQL_57] {
        let mut engine = with_long_list(&spec(profile, "64 MiB", KEYS));
        engine.hold(160, true);
        engine.dirty([127, 128, 131, 140, 150, 191, 192], true);
        assert_eq!(engine.flushed_with(140, 120, false), (vec![128, 131, 140, 150, 191], 64));
        assert!(engine.store.pool.writable(127).is_some() && engine.store.pool.writable(192).is_some());
    }
}

#[test]
fn small_pool_has_smaller_areas() {
    // 384 frames: areas of 24 pages, of which one begins with 120 (a server's are no larger than
    // those of read-ahead).
    let mut engine = engine(&spec(MYSQL_55, "6 MiB", KEYS));
    engine.dirty([119, 120, 130, 143, 144], true);
    assert_eq!(engine.flushed_with(130, 120, false), (vec![120, 130, 143], 24));
}

#[test]
fn lru_batch_flushes_only_old_neighbours_along() {
    let mut engine = with_long_list(&spec(MYSQL_55, "64 MiB", KEYS));
    engine.dirty([130, 150], false);
    engine.dirty([131, 140, 191], true);
    assert_eq!(engine.flushed_with(140, 120, true), (vec![131, 140, 191], 64));
    assert_eq!(engine.flushed_with(150, 120, false), (vec![130, 150], 64));
}

#[test]
fn full_batch_flushes_no_more_neighbours() {
    let mut engine = with_long_list(&spec(MYSQL_57, "64 MiB", KEYS));
    engine.dirty(128..192, true);
    assert_eq!(engine.flushed_with(160, 10, false).0, [128, 129, 130, 131, 132, 133, 134, 135, 136, 160]);
}

#[test]
fn mariadb_flushes_runs_of_dirty_neighbours() {
    let spec = spec(MARIADB, "64 MiB", KEYS);
    for (page, run) in [(131, 130..=133), (135, 135..=136), (190, 189..=191), (192, 192..=192)] {
        let mut engine = with_long_list(&spec);
        engine.dirty((130..=133).chain([135, 136]).chain(189..=192), true);
        assert_eq!(engine.flushed_with(page, 128, false).0, run.collect::<Vec<u32>>());
    }
    let mut short = engine(&spec);
    short.dirty(130..=133, true);
    assert_eq!(short.flushed_with(131, 128, false).0, [131]);
}

#[test]
fn page_is_flushed_alone_without_flush_neighbors() {
    let of_57 = spec(MYSQL_57, "64 MiB", KEYS);
    for spec in [with_option(of_57, "innodb_flush_neighbors", "0"), spec(MYSQL_80, "64 MiB", KEYS)] {
        let mut engine = with_long_list(&spec);
        engine.dirty(128..192, true);
        assert_eq!(engine.flushed_with(160, 120, false), (vec![160], 1));
    }
}

#[test]
fn batch_takes_areas_in_the_order_they_became_dirty() {
    // A page of each of a hundred areas became dirty, one area after the other, and then a second
    // and a third one of each.
    let offsets = [10, 20, 30];
    let taken = |spec: &RunSpec, quota: usize| {
        let mut engine = with_long_list(spec);
        engine.dirty(offsets.into_iter().flat_map(|offset| (0..100).map(move |area| area * 64 + offset)), true);
        let (most, mut pages) = (engine.store.settings.flushing.batch as usize, Vec::new());
        longest_dirty(&mut engine.store, most.min(quota), &mut pages);
        pages.into_iter().map(|(frame, _)| engine.store.pool.page(frame)).collect::<Vec<u32>>()
    };
    let whole = |areas: std::ops::Range<u32>| areas.flat_map(|area| offsets.map(|offset| area * 64 + offset));
    let spec = spec(MYSQL_57, "64 MiB", KEYS);
    // 120 pages are 40 areas; 50 are 16, and two pages of the next.
    assert_eq!(taken(&spec, 1000), whole(0..40).collect::<Vec<u32>>());
    assert_eq!(taken(&spec, 50), whole(0..16).chain([16 * 64 + 10, 16 * 64 + 20]).collect::<Vec<u32>>());
    let alone = with_option(spec, "innodb_flush_neighbors", "0");
    let in_order = (0..100).map(|area| area * 64 + 10).chain((0..20).map(|area| area * 64 + 20));
    assert_eq!(taken(&alone, 1000), in_order.collect::<Vec<u32>>());
}

#[test]
fn read_ahead_area_is_a_power_of_two_near_a_32nd_of_pool() {
    // Pools of 320 to 65536 pages, of which a 32nd is cut to a whole number; 8 pages of an area may
    // have been skipped.
    for (pool, area) in [
        ("5 MiB", 16),
        ("8 MiB", 16),
        ("8448 KiB", 16),
        ("9 MiB", 32),
        ("16 MiB", 32),
        ("16896 KiB", 64),
        ("1 GiB", 64),
    ] {
        assert_eq!(areas(&spec(MYSQL_57, pool, KEYS)), (area, 8), "{pool}");
    }
    let any = with_option(spec(MYSQL_57, "5 MiB", KEYS), "innodb_read_ahead_threshold", "0");
    assert_eq!(areas(&any), (16, 16));
}

#[test]
fn read_ahead_begins_at_the_last_page_of_a_used_area() {
    for (threshold, least) in [("0", 1), ("56", 56), ("64", 64)] {
        let spec = with_option(spec(MYSQL_57, "64 MiB", KEYS), "innodb_read_ahead_threshold", threshold);
        for used in [least - 1, least] {
            let mut engine = engine(&spec);
            for page in 128..192 {
                engine.hold(page, true);
            }
            // The last ones, in order.
            for page in 192 - used..192 {
                engine.store.pool.get(page, 0);
                let is_last = page == 191 && used >= least;
                assert_eq!(engine.area_ahead(page), if is_last { 192..256 } else { 0..0 }, "{page} of {used}");
            }
        }
    }
}

#[test]
fn margin_does_not_depend_on_read_ahead() {
    let margins = |pool: &str| {
        let with = spec(MYSQL_55, pool, KEYS);
        let mut without = with.clone();
        let Some(EngineModel::Innodb(model)) = &mut without.database.as_mut().expect("one").model else {
            panic!("InnoDB")
        };
        model.read_ahead = None;
        [with, without].map(|spec| engine(&spec).store.settings.flushing.margin)
    };
    assert_eq!(["5 MiB", "16 MiB", "1 GiB"].map(margins), [[21; 2], [37; 2], [69; 2]]);
}

#[test]
fn change_buffer_fits_its_leaves_and_its_share_of_the_pool() {
    let pages = |pool: &str| {
        let engine = engine(&spec(MYSQL_57, pool, OLTP));
        let leaves: u32 =
            engine.store.layout.tables.iter().flat_map(|table| &table.secondary).map(|tree| tree.leaves().1).sum();
        (engine.store.layout.change_buffer.1, leaves)
    };
    let (small, leaves) = pages("16 MiB");
    // A quarter of 1024 pages, and those by which it may be too large.
    assert_eq!(small, 256 + 10);
    assert_eq!(pages("64 GiB").0, (leaves * 20).div_ceil(200) + 10, "twenty changes a leaf, two hundred a page");
}

#[test]
fn mariadb_flushes_for_the_log_a_second_after_it_was_woken() {
    let mut engine = engine(&spec(MARIADB, "256 MiB", KEYS));
    engine.dirty(200..2200, true);
    let StorageEngine { store, flusher, .. } = &mut engine;
    // A third of the log, whose first change is the oldest.
    store.log.redo.append(32 << 20);
    let mut pages_at = |store: &mut Store, hurried: u64, millis: u64| {
        (store.port.now, flusher.cleaner.hurried) = (millis * SECOND / 1000, hurried * SECOND);
        flusher.cleaner.pages_for_this_second(store, 1e6)
    };
    assert_eq!(pages_at(store, 0, 10_000), 0, "it sleeps");
    assert_eq!(pages_at(store, 10, 10_500), 0, "it was woken within the second");
    // A third of the capacity of 200 pages, and a ninth of the 2000 pages that are old enough.
    assert_eq!(pages_at(store, 10, 11_500), (200 + 2000 / 3) / 3);
    store.log.redo.checkpoint(Some(30 << 20));
    assert_eq!(pages_at(store, 10, 12_500), 0, "the log is young again");
    store.log.redo.append(32 << 20);
    assert_eq!(pages_at(store, 10, 13_500), 0, "it sleeps again");
}

#[test]
fn mariadb_flushes_at_capacity_while_the_log_is_old() {
    let mut engine = engine(&spec(MARIADB, "256 MiB", KEYS));
    engine.dirty(200..2200, true);
    let StorageEngine { store, flusher, .. } = &mut engine;
    assert!(flusher.cleaner.wakes() && !flusher.cleaner.wakes(), "it slept");
    store.port.now = 10 * SECOND;
    store.log.redo.append(store.log.redo.hasty_age());
    assert!((1..2000).contains(&flusher.cleaner.pages_for_this_second(store, 1e6)), "by the log's growth");
    store.log.redo.append(1);
    assert_eq!(flusher.cleaner.pages_for_this_second(store, 1e6), 2000);
}
