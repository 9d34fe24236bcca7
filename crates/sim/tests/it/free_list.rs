//! Rules of MariaDB's page cleaner: its target of free pages, latches of pages being written, and
//! pages flushed for the log.

use crate::database::{KEYS, Left, MARIADB, OLTP, drive, model, run, spec};
use crate::support::{assert_close, null, sourced, try_run};
use tameshi_base::units::{Size, Time};
use tameshi_spec::profile::Adaptive;
use tameshi_spec::run::RunSpec;

/// Pages in the pool, on average over a second of intervals of 100 ms.
fn held(pool: &str) -> f64 {
    let rows = OLTP.replace("rows = 50000", "rows = 200000");
    let left = run(&spec(MARIADB, null(), pool, &rows, 1000));
    assert!(left.of("server.pages_read") > 10_000.0, "the pool was filled many times over");
    left.of("server.pool_bytes") / 10.0 / 16384.0
}

#[test]
fn free_page_target_is_as_large_in_a_small_pool() {
    // Up to half of the 1536 free pages go before the target is met again. Six of 512 pages are no
    // frames.
    for (pool, pages) in [("32 MiB", 2048.0), ("64 MiB", 4096.0)] {
        let frames = pages * 0.988;
        let (held, least, most) = (held(pool), frames - 1536.0, frames - 768.0);
        assert!(least < held && held < most, "{pool}: {held} pages, {least} to {most}");
    }
    // All frames together are less than half of the target: then a twentieth stays, up to 256
    // pages.
    let held = held("16 MiB");
    assert!((50.0..=256.0).contains(&held), "{held} pages");
}

// slow: a run that waits until its limit
#[test]
fn run_without_a_source_of_free_pages_ends_with_an_error() {
    let mut spec = spec(MARIADB, drive(), "6 MiB", OLTP, 400);
    model(&mut spec).flushing.lru_scan_depth = Some(sourced(0));
    let said = try_run(&spec, std::sync::Arc::default()).err().expect("no thread frees a page").to_string();
    assert!(said.starts_with("phase.steady: transactions in flight at its end can't finish"), "{said}");
}

#[test]
fn change_of_a_page_being_written_waits() {
    // Few pages, all of them hot, on a slow drive; each second all are flushed.
    let keys = KEYS.replace("tables = 2, rows = 20000", "tables = 1, rows = 200");
    let mut waits = spec(MARIADB, drive(), "64 MiB", &keys, 4000);
    waits.engines["mysql"].options.insert("innodb_max_dirty_pages_pct".into(), "0".into());
    let mut passes = waits.clone();
    model(&mut passes).flushing.latched_writes = None;
    let (waits, passes) = (run(&waits), run(&passes));
    assert!(waits.of("server.pages_written") > 10.0);
    // No client needs a free page.
    assert_eq!((passes.of("server.time_free_pages_ns"), waits.of("server.time_free_pages_ns")), (0.0, 0.0));
    assert_eq!(passes.of("server.time_page_latches_ns"), 0.0);
    assert!(waits.of("server.time_page_latches_ns") > 0.0);
}

/// A pool that holds everything, and a log of these MiB that grows for four seconds.
fn growing_log(mebibytes: u64, rule: Adaptive) -> Left {
    let keys = KEYS.replace("tables = 2, rows = 20000", "tables = 2, rows = 200000");
    let mut spec = spec(MARIADB, null(), "256 MiB", &keys, 4000);
    spec.engines["mysql"].redo_log = Some(Size(mebibytes << 20));
    let rules = model(&mut spec);
    rules.cpu.statement = sourced(Time(1_000_000));
    (rules.flushing.adaptive, rules.flushing.neighbours) = (Some(sourced(rule)), sourced(false));
    run(&spec)
}

#[test]
fn page_cleaner_sleeps_until_the_log_is_near_its_end() {
    // The log grows to a third of its size: MySQL flushes for its age, MariaDB does not.
    let [growth, age] = [Adaptive::Growth, Adaptive::Age].map(|rule| growing_log(32, rule));
    let filled = growth.of("server.checkpoint_age_bytes") / f64::from(32 << 20);
    assert!((0.15..0.7).contains(&filled), "{filled} of the log");
    assert_eq!((growth.of("server.pages_written"), growth.of("server.time_log_space_ns")), (0.0, 0.0));
    assert!(age.of("server.pages_written") > 0.0);
}

#[test]
fn clients_wait_until_an_eighth_of_the_log_is_free() {
    let left = growing_log(8, Adaptive::Growth);
    // Nine tenths of the log less 48 pages, and nine tenths of that.
    let (age, most) = (left.of("server.checkpoint_age_bytes"), (f64::from(8 << 20) * 0.9 - 48.0 * 16384.0) * 0.9);
    assert!((most * 7.0 / 8.0 - 1e4..most + 1e4).contains(&age), "{age} of {most}");
    assert!(left.of("server.time_log_space_ns") > 0.0 && left.of("server.pages_written") > 0.0);
}

/// Figures of a run for each transaction, with purge less those without.
fn of_purge<const N: usize>(spec: &RunSpec, metrics: [&str; N]) -> [f64; N] {
    let mut kept = spec.clone();
    model(&mut kept).purge = None;
    let (purged, kept) = (run(spec), run(&kept));
    let each = |left: &Left, metric| left.of(metric) / left.of("transaction.count");
    metrics.map(|metric| each(&purged, metric) - each(&kept, metric))
}

#[test]
fn purge_of_changed_rows_leaves_their_pages_alone() {
    // All pages are in the pool: each statement is a transaction, whose undo page and segment's
    // header are visited.
    let spec = spec(MARIADB, null(), "64 MiB", KEYS, 3000);
    let [gets, bytes] = of_purge(&spec, ["server.page_requests", "server.log_bytes"]);
    // The commits of the last of the three seconds are not purged.
    assert_close(gets, 2.0 * 2.0 / 3.0, 0.06, "gets of purge");
    assert_close(bytes, 31.0 * 2.0 / 3.0, 0.06, "bytes of log of purge");
}

#[test]
fn redo_of_an_update_is_as_much_as_the_server_logs() {
    // MariaDB 10.11.19, 20,181 updates a second of rows of 300 B: 15.85 MB of log.
    let keys = KEYS.replace("400 B", "300 B");
    let left = run(&spec(MARIADB, null(), "64 MiB", &keys, 3000));
    assert_close(left.of("server.log_bytes") / left.of("transaction.count"), 785.6, 0.03, "bytes of log");
}

#[test]
fn purge_reads_pages_of_deleted_rows_again() {
    let rows = OLTP.replace("rows = 50000", "rows = 200000");
    let [pages] = of_purge(&spec(MARIADB, null(), "16 MiB", &rows, 3000), ["server.pages_read"]);
    // A transaction deletes a row, on a leaf that hardly any other one requests, and two entries of
    // an index.
    assert!((0.5..4.0).contains(&pages), "{pages} pages read for purge");
}
