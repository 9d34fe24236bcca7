//! The change buffer's bitmaps: who asks them, and what finding the buffer full costs.

use crate::engine::{KEYS, MYSQL_57, OLTP, drive, model, run, spec};
use crate::support::{null, sourced};
use tameshi_base::units::Share;
use tameshi_spec::profile::ChangeBuffer;
use tameshi_spec::run::RunSpec;

fn buffer(spec: &mut RunSpec) -> &mut ChangeBuffer {
    model(spec).change_buffer.as_mut().expect("a change buffer")
}

#[test]
fn a_pool_that_holds_all_reads_one_page_of_a_bitmap_for_all_leaves_that_it_tells_of() {
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
        // The last bitmap of each of both tables tells of fewer.
        let least = (data / f64::from(per_bitmap)).floor();
        assert!((least.max(2.0)..=least + 2.0).contains(&more), "{more} pages of bitmaps, {least} expected");
    }
}

#[test]
fn a_small_pool_asks_a_bitmap_for_each_leaf_that_it_reads() {
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
    // Roots and bitmaps are missed, too.
    assert!((0.95..=1.0).contains(&asked), "{asked} times a bitmap asked for each page that was missed");
}

#[test]
fn who_finds_the_buffer_full_merges_leaves_of_others_and_buffers_its_own_change() {
    let logged = |is_small: bool, bitmap: Option<u32>| {
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", OLTP, 10_000);
        // Room for two hundred changes or for ten thousands, and next to nothing is merged in the background.
        let most = if is_small { 5_000 } else { 500_000 };
        (buffer(&mut spec).bitmap, buffer(&mut spec).most) = (bitmap.map(sourced), sourced(Share(most)));
        model(&mut spec).flushing.io_capacity = sourced(1);
        let left = run(&spec);
        left.of("server.log_bytes") / left.of("transaction.count")
    };
    // What is buffered is logged twice, into the buffer and out of it. One bitmap tells of all pages of a table.
    let less = |bitmap| logged(false, bitmap) - logged(true, bitmap);
    let (direct, buffered) = (less(None), less(Some(1 << 20)));
    assert!(direct > 50.0, "{direct} bytes of log less in each transaction where a full buffer takes nothing");
    assert!(buffered.abs() < 20.0, "{buffered} bytes less where it is merged");
}

#[test]
fn a_change_whose_bitmap_has_to_be_read_first_is_buffered_and_its_leaf_stays_where_it_is() {
    let read = |is_buffered: bool| {
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", OLTP, 2_000);
        // Each leaf has a bitmap of its own, next to none of which is in the pool; hardly anything is merged.
        let buffer = buffer(&mut spec);
        (buffer.bitmap, buffer.per_leaf) = (Some(sourced(1)), sourced(250));
        buffer.most = sourced(Share(if is_buffered { 500_000 } else { 0 }));
        model(&mut spec).flushing.io_capacity = sourced(1);
        let left = run(&spec);
        left.of("server.pages_read") / left.of("transaction.count")
    };
    // Three leaves change, of a new value, of a row that goes, of one that comes; pages of the tree are read for them.
    let (direct, buffered) = (read(false), read(true));
    assert!((0.7..=3.0).contains(&(direct - buffered)), "{buffered} pages read in a transaction, {direct} without");
}
