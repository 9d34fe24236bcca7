//! Rules of MariaDB's page cleaner: its target of free pages, latches of pages being written, and
//! pages flushed for the log.

use crate::database::{KEYS, Left, MARIADB, OLTP, drive, model, run, spec};
use crate::support::{assert_close, null, sourced, try_run};
use tameshi_base::units::Time;
use tameshi_spec::profile::Adaptive;

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
    // Few pages, all of them hot, on a slow drive; each second all are flushed for the log.
    let keys = KEYS.replace("tables = 2, rows = 20000", "tables = 1, rows = 200");
    let waits = spec(MARIADB, drive(), "64 MiB", &keys, 4000);
    let mut passes = waits.clone();
    model(&mut passes).flushing.latched_writes = None;
    let (waits, passes) = (run(&waits), run(&passes));
    assert!(waits.of("server.pages_written") > 10.0);
    // No client needs a free page.
    assert_eq!((passes.of("server.time_free_pages_ns"), waits.of("server.time_free_pages_ns")), (0.0, 0.0));
    assert_eq!(passes.of("server.time_page_latches_ns"), 0.0);
    assert!(waits.of("server.time_page_latches_ns") > 0.0);
}

#[test]
fn pages_flushed_for_log_growth_match_the_changes() {
    // The pool holds everything; the log grows to a third of its size, where its age alone would
    // flush many pages.
    let keys = KEYS.replace("tables = 2, rows = 20000", "tables = 2, rows = 200000");
    let mut growth = spec(MARIADB, null(), "256 MiB", &keys, 4000);
    model(&mut growth).cpu.statement = sourced(Time(1_000_000));
    let mut age = growth.clone();
    model(&mut age).flushing.adaptive = Some(sourced(Adaptive::Age));
    let [growth, age] = [growth, age].map(|mut spec| {
        model(&mut spec).flushing.neighbours = sourced(false);
        let left = run(&spec);
        assert_eq!(left.of("server.time_log_space_ns"), 0.0, "no client waits for room");
        let age = left.of("server.checkpoint_age_bytes") / f64::from(64 << 20);
        assert!((0.1..0.6).contains(&age), "{age} of the log");
        left.of("server.pages_written")
    });
    assert!(growth > 0.0 && growth < age, "{growth} pages, {age} by the log's age");
}

#[test]
fn purge_changes_each_changed_row_again() {
    // All pages are in the pool: root, leaf and undo page of each statement, which is a
    // transaction.
    let purged = spec(MARIADB, null(), "64 MiB", KEYS, 3000);
    let mut kept = purged.clone();
    model(&mut kept).purge = None;
    let (purged, kept) = (run(&purged), run(&kept));
    let each = |left: &Left, metric| left.of(metric) / left.of("transaction.count");
    let [gets, bytes] =
        ["server.page_requests", "server.log_bytes"].map(|metric| each(&purged, metric) - each(&kept, metric));
    // The commits of the last of the three seconds are not purged.
    assert_close(gets, 3.0 * 2.0 / 3.0, 0.06, "gets of purge");
    assert_close(bytes, 20.0 * 2.0 / 3.0, 0.06, "bytes of log of purge");
}

#[test]
fn purge_reads_replaced_pages_again() {
    let rows = OLTP.replace("rows = 50000", "rows = 200000");
    let purged = spec(MARIADB, null(), "16 MiB", &rows, 3000);
    let mut kept = purged.clone();
    model(&mut kept).purge = None;
    let [purged, kept] = [purged, kept].map(|spec| {
        let left = run(&spec);
        left.of("server.pages_read") / left.of("transaction.count")
    });
    // A transaction changes three rows, on leaves that hardly any other one requests, and entries
    // of an index.
    assert!((2.0..8.0).contains(&(purged - kept)), "{purged} pages read, {kept} without purge");
}
