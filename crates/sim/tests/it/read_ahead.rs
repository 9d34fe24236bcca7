//! Linear read-ahead: pages that a scan reads itself, and pages that are there when it needs them.

use crate::database::{Left, MYSQL_57, model, run, spec};
use crate::support::null;
use tameshi_spec::run::RunSpec;

/// The table's first page: those before it are headers of the tablespace.
const FIRST: u32 = 8;

fn scan(pool: &str, size: &str, threshold: &str) -> RunSpec {
    let mut spec = spec(MYSQL_57, null(), pool, &format!("{{ scan = {{ size = \"{size}\" }} }}"), 400);
    spec.engines["mysql"].options.insert("innodb_read_ahead_threshold".into(), threshold.into());
    // Who reads a leaf asks its bitmap.
    let rules = model(&mut spec);
    (rules.change_buffer, rules.read_threads) = (None, None);
    spec
}

#[test]
fn scan_after_a_full_area_finds_all_pages_read_ahead_once() {
    // The way to the first leaf is two pages after the leaves in a large table, the root in a small
    // one. The scan may pass over 64 pages of an area less the threshold.
    let (large, small): (&[u32], &[u32]) = (&[0, 4], &[0]);
    for (pool, area, size, way, threshold, passed) in [
        ("256 MiB", 64, "40 MB", large, "56", 8),
        ("256 MiB", 64, "40 MB", large, "57", 7),
        ("256 MiB", 64, "40 MB", large, "0", 64),
        ("16 MiB", 32, "8 MB", small, "56", 8),
        ("16 MiB", 32, "8 MB", small, "64", 0),
    ] {
        let mut alone = scan(pool, size, threshold);
        model(&mut alone).read_ahead = None;
        let count = |left: &Left, metric: &str| left.of(metric) as u32;
        let leaves = count(&run(&alone), "server.page_misses") - way.len() as u32;
        // An area counts as used once at most `passed` of its pages precede the table.
        let full = FIRST.saturating_sub(passed).next_multiple_of(area);
        let (from, end) = (full + area, (FIRST + leaves).next_multiple_of(area));
        let there = way.iter().filter(|&offset| FIRST + leaves + offset < end).count() as u32;
        let left = run(&scan(pool, size, threshold));
        assert!(from + 5 * area < end && left.of("transaction.count") > 1.0, "it is scanned again, without a read");
        assert_eq!(count(&left, "server.page_misses"), from - FIRST + way.len() as u32, "{pool}, {threshold}");
        assert_eq!(count(&left, "server.page_read_aheads"), end - from - there, "{pool}, {threshold}");
        assert_eq!(count(&left, "server.pages_read"), end - FIRST - there + way.len() as u32, "{pool}, {threshold}");
    }
}
