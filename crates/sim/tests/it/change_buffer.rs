//! The change buffer's bitmaps: their reads, and the cost of a full buffer.

use crate::database::{KEYS, MYSQL_57, OLTP, drive, model, run, spec};
use crate::support::{null, sourced};
use tameshi_base::units::Share;
use tameshi_spec::profile::ChangeBuffer;
use tameshi_spec::run::RunSpec;

fn buffer(spec: &mut RunSpec) -> &mut ChangeBuffer {
    model(spec).change_buffer.as_mut().expect("a change buffer")
}

#[test]
fn large_pool_reads_each_bitmap_page_once() {
    let pages_read = |per_bitmap: Option<u32>| {
        let mut spec = spec(MYSQL_57, null(), "256 MiB", KEYS, 4000);
        (model(&mut spec).undo, model(&mut spec).read_ahead) = (None, None);
        buffer(&mut spec).bitmap = per_bitmap.map(sourced);
        let left = run(&spec);
        assert_eq!(left.of("server.page_misses"), left.of("server.pages_read"), "each miss is counted once");
        left.of("server.pages_read")
    };
    let data = pages_read(None);
    assert!(data > 400.0, "{data} pages of data");
    for per_bitmap in [64, 128, 16384] {
        let more = pages_read(Some(per_bitmap)) - data;
        // The last bitmap page of each of the two tables covers fewer leaves.
        let least = (data / f64::from(per_bitmap)).floor();
        assert!((least.max(2.0)..=least + 2.0).contains(&more), "{more} pages of bitmaps, {least} expected");
    }
}

#[test]
fn small_pool_gets_a_bitmap_page_per_leaf_read() {
    let of = |bitmap: Option<u32>| {
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", KEYS, 1000);
        model(&mut spec).undo = None;
        buffer(&mut spec).bitmap = bitmap.map(sourced);
        let left = run(&spec);
        let each = |metric| left.of(metric) / left.of("transaction.count");
        (each("server.page_requests"), each("server.page_misses"))
    };
    let ((gets, misses), (without, _)) = (of(Some(64)), of(None));
    let asked = (gets - without) / misses;
    // Roots and bitmaps miss, too.
    assert!((0.95..=1.0).contains(&asked), "{asked} times a bitmap asked for each page that was missed");
}

#[test]
fn full_change_buffer_merges_other_leaves_first() {
    let logged = |is_small: bool, bitmap: Option<u32>| {
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", OLTP, 10_000);
        // Room for two hundred changes or for ten thousand; the background merges next to none.
        let most = if is_small { 5_000 } else { 500_000 };
        (buffer(&mut spec).bitmap, buffer(&mut spec).most) = (bitmap.map(sourced), sourced(Share(most)));
        model(&mut spec).flushing.io_capacity = sourced(1);
        let left = run(&spec);
        left.of("server.log_bytes") / left.of("transaction.count")
    };
    // A buffered change is logged twice, into the buffer and out of it. One bitmap page covers all
    // pages of a table.
    let less = |bitmap| logged(false, bitmap) - logged(true, bitmap);
    let (direct, buffered) = (less(None), less(Some(1 << 20)));
    assert!(direct > 50.0, "{direct} bytes of log less in each transaction where a full buffer takes nothing");
    assert!(buffered.abs() < 20.0, "{buffered} bytes less where it is merged");
}

#[test]
fn change_waiting_for_its_bitmap_is_still_buffered() {
    let read = |is_buffered: bool| {
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", OLTP, 2_000);
        // Each leaf has a bitmap page of its own, and hardly any of them is in the pool; the
        // background merges next to none.
        let buffer = buffer(&mut spec);
        (buffer.bitmap, buffer.per_leaf) = (Some(sourced(1)), sourced(250));
        buffer.most = sourced(Share(if is_buffered { 500_000 } else { 0 }));
        model(&mut spec).flushing.io_capacity = sourced(1);
        let left = run(&spec);
        left.of("server.pages_read") / left.of("transaction.count")
    };
    // Three leaves change: of a new value, of a deleted row, of an inserted one. Pages of the tree
    // are read for them.
    let (direct, buffered) = (read(false), read(true));
    assert!((0.7..=3.0).contains(&(direct - buffered)), "{buffered} pages read in a transaction, {direct} without");
}
