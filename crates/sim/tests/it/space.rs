//! Databases that outgrow their storage: a real server finds no space left, so the run ends in
//! either mode.

use crate::database::{MYSQL_57, drive, model, spec};
use crate::support::sourced;
use std::path::Path;
use std::sync::Arc;
use tameshi_base::units::{Size, Time};
use tameshi_record::{Control, Writer};
use tameshi_spec::run::{Mode, RunSpec};

const INSERTS: &str = "{ oltp = { mix = \"insert\", clients = 4, tables = 1, rows = 20000 } }";
/// Inserts of rows of about 210 bytes, in leaves of which a sixteenth stays free.
const ROWS_A_PAGE: u64 = 73;

fn inserts(seconds: u64, interval_ms: u64) -> RunSpec {
    let mut spec = spec(MYSQL_57, drive(), "64 MiB", INSERTS, seconds * 1000);
    spec.interval = Time(interval_ms * 1_000_000);
    model(&mut spec).cpu.statement = sourced(Time(500_000));
    spec
}

/// Size of the loaded log and data set, from the refusal of a storage without room for them.
fn loaded(spec: &RunSpec) -> Size {
    let mut spec = spec.clone();
    spec.storage[0].size = Size(1 << 20);
    let said = crate::support::refused(&spec).remove(0);
    let (_, sizes) = said.split_once("less than the ").expect("too small");
    let (size, _) = sizes.split_once(" of log").expect("of log and data set");
    serde_json::from_value(size.into()).expect("a size")
}

/// Result of a run, and number of transactions in its record.
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
fn run_ends_when_inserts_find_no_space() {
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
fn extrapolated_growth_needs_space_too() {
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
