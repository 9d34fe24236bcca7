//! Storages that a database outgrows: a real server finds no space left, and so the run ends, in either mode.

use crate::engine::{MYSQL_57, drive, model, spec};
use crate::support::sourced;
use std::path::Path;
use std::sync::Arc;
use tameshi_base::units::{Size, Time};
use tameshi_record::{Control, Writer};
use tameshi_spec::run::{Mode, RunSpec};

const INSERTS: &str = "{ oltp = { mix = \"insert\", clients = 4, tables = 1, rows = 20000 } }";
/// A sixteenth of 16 KiB stays free, and a row takes some 210 bytes.
const ROWS_A_PAGE: u64 = 73;

fn inserts(seconds: u64, interval_ms: u64) -> RunSpec {
    let mut spec = spec(MYSQL_57, drive(), "64 MiB", INSERTS, seconds * 1000);
    spec.interval = Time(interval_ms * 1_000_000);
    model(&mut spec).cpu.statement = sourced(Time(500_000));
    spec
}

/// What log and data set take when they are loaded, as a storage without room for them is told.
fn loaded(spec: &RunSpec) -> Size {
    let mut spec = spec.clone();
    spec.storage[0].size = Size(1 << 20);
    let said = crate::support::refused(&spec).remove(0);
    let (_, told) = said.split_once("less than the ").expect("too small");
    let (size, _) = told.split_once(" of log").expect("of log and data set");
    serde_json::from_value(size.into()).expect("a size")
}

/// How a run ends, and how many transactions its record has.
fn ended(spec: &RunSpec) -> (Result<(), String>, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    ["series", "histograms"].iter().for_each(|name| std::fs::create_dir(folder.path().join(name)).expect("a folder"));
    let result = {
        let mut writer = Writer::open(folder.path(), Arc::new(Control::default())).expect("a record");
        tameshi_sim::execute(spec, &mut writer).map(drop).map_err(|error| error.to_string())
    };
    (result, transactions(folder.path()))
}

fn transactions(folder: &Path) -> u64 {
    let series = std::fs::read_to_string(folder.join("series/load.csv")).expect("a series");
    let counts = series.lines().filter(|line| line.contains(",transaction.count,"));
    counts.filter_map(|line| line.rsplit(',').next()?.parse::<u64>().ok()).sum()
}

#[test]
fn a_run_ends_when_rows_that_are_put_in_find_no_room_on_the_storage() {
    let mut spec = inserts(60, 10);
    let loaded = loaded(&spec);
    let mut rows_with = |more: u64| {
        spec.storage[0].size = Size(loaded.0 + (more << 20));
        let (result, rows) = ended(&spec);
        let said = result.expect_err("no room");
        let grown = Size(loaded.0 + ((more + 1) << 20));
        assert!(
            said.starts_with(&format!("storage.disk.size: log and data set grow from {loaded} to {grown}, ")),
            "{said}"
        );
        rows
    };
    let (few, many) = (rows_with(2), rows_with(6));
    let pages = (many - few) as f64 / ROWS_A_PAGE as f64;
    assert!((pages - 256.0).abs() < 3.0, "{few} and {many} rows: {pages} pages between them");
}

#[test]
fn what_fast_mode_does_not_simulate_needs_room_too() {
    let mut spec = inserts(120, 1000);
    let loaded = loaded(&spec);
    let (result, rows) = ended(&spec);
    result.expect("room enough");
    spec.database.as_mut().expect("a database").mode = Some(Mode::Fast);
    for (part, has_room) in [(0.95, false), (1.05, true)] {
        let more = rows as f64 * part / ROWS_A_PAGE as f64 * 16384.0;
        spec.storage[0].size = Size(loaded.0 + more as u64);
        let (result, _) = ended(&spec);
        assert_eq!(result.is_ok(), has_room, "{part}: {result:?}");
    }
}
