//! Pages read in the background, and the threads that take them in.

use crate::database::{Left, MYSQL_57, model, round_costs, run, spec};
use crate::support::{MS, null, sourced};
use tameshi_base::units::Time;
use tameshi_spec::profile::ReadThreads;
use tameshi_spec::run::RunSpec;

/// Cost of a scan's statement.
pub const STATEMENT: u64 = 25 * MS;
/// Cost of taking in a page.
const PAGE: u64 = 10_000;

/// Full scans on storage without time, whose gets and rows cost nothing.
pub fn free_scan(threads: Option<(u32, u64)>) -> RunSpec {
    let mut spec = spec(MYSQL_57, null(), "256 MiB", "{ scan = { size = \"40 MB\" } }", 60);
    round_costs(&mut spec);
    let model = model(&mut spec);
    model.change_buffer = None;
    let nothing = || sourced(Time(0));
    let cpu = &mut model.cpu;
    (cpu.statement, cpu.commit, cpu.page_get) = (sourced(Time(STATEMENT)), nothing(), nothing());
    (cpu.row, cpu.scan_row) = (nothing(), None);
    cpu.clock.value.0 = 2_400_000_000_000;
    model.read_threads =
        threads.map(|(number, page)| ReadThreads { number: sourced(number), page: sourced(Time(page)) });
    spec
}

/// Time of the scans beyond their statements, and pages that the first one read ahead: the others
/// find them.
fn scanned(threads: Option<(u32, u64)>) -> (f64, f64) {
    let left: Left = run(&free_scan(threads));
    let ahead = left.of("server.page_read_aheads");
    assert!(ahead > 2000.0, "{ahead} pages");
    (left.of("transaction.latency_sum") - left.of("transaction.count") * STATEMENT as f64, ahead)
}

#[test]
fn scan_is_as_fast_as_read_threads_take_pages_in() {
    for number in [1, 4] {
        let (time, ahead) = scanned(Some((number, PAGE)));
        // The scan doesn't wait for pages read ahead beyond its end.
        let behind = ahead - time / PAGE as f64;
        assert!((0.0..64.0).contains(&behind), "{number} threads: {time} ns for {ahead} pages");
    }
}

#[test]
fn pages_without_read_threads_are_in_once_read() {
    assert_eq!(scanned(None).0, 0.0);
}
