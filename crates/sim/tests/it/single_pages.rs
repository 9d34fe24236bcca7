//! Single pages that clients flush, each through a slot of the doublewrite buffer (5.6 to 8.0).

use crate::database::{KEYS, Left, MYSQL_57, model, round_costs, run, spec};
use crate::support::{assert_close, for_time, sourced, uniform, volume};
use tameshi_base::units::{Rate, Time};
use tameshi_spec::profile::Device;

/// Time of each read, write and flush, at any depth.
const STORAGE: f64 = 100_000.0;
/// Time to copy a page before it is written.
const COPY: f64 = 8_000.0;
/// Time of a single page: its copy, and the write and sync of its slot and of its place.
const FLUSH: f64 = COPY + 4.0 * STORAGE;
/// Processor time of a transaction: a statement, two gets, a row, its change, and the commit.
const WORK: f64 = 50_000.0 + 2_000.0 + 2_000.0 + 5_000.0 + 10_000.0;
/// Frames of the pool, of which two hold roots; leaves have 36 rows.
const FRAMES: f64 = 384.0;
const LEAVES: f64 = 2.0 * 2778.0;

fn storage() -> Device {
    let mut device = volume();
    if let Device::Volume(volume) = &mut device {
        volume.parallel = sourced(256);
        for service in [&mut volume.read, &mut volume.write] {
            (service.latency, service.command_time) = (uniform(100, 100), sourced(Time(0)));
            service.transfer_rate = sourced(Rate(u64::MAX));
        }
        volume.flush = uniform(100, 100);
    }
    device
}

/// Transactions, page misses and pages written in the second second: then all pages are dirty, and
/// each page that comes in needs another one flushed.
fn in_a_second(clients: u32, slots: u32) -> [f64; 3] {
    let until = |seconds: u64| -> Left {
        let keys =
            KEYS.replace("rows = 20000", "rows = 200000").replace("clients = 4", &format!("clients = {clients}"));
        let mut spec = spec(MYSQL_57, storage(), "6 MiB", &keys, 0);
        spec.phases[0].until = for_time(seconds * 1_000_000_000);
        round_costs(&mut spec);
        let rules = model(&mut spec);
        rules.cpu.page_write = sourced(Time(COPY as u64));
        (rules.undo, rules.change_buffer, rules.read_ahead, rules.checkpoint_age) = (None, None, None, None);
        let flushing = &mut rules.flushing;
        (flushing.background, flushing.lru_scan_depth, flushing.latched_writes) = (None, None, None);
        flushing.single_slots = Some(sourced(slots));
        run(&spec)
    };
    let (one, two) = (until(1), until(2));
    ["transaction.count", "server.page_misses", "server.pages_written"].map(|metric| two.of(metric) - one.of(metric))
}

#[test]
fn single_page_flush_takes_its_writes_and_syncs() {
    let [transactions, misses, written] = in_a_second(1, 8);
    let missing = 1.0 - (FRAMES - 2.0) / LEAVES;
    assert_close(misses / transactions, missing, 0.02, "pages that come in for each transaction");
    assert_close(written, misses, 0.01, "pages flushed");
    let time = WORK + 2.0 * STORAGE + missing * (FLUSH + STORAGE);
    assert_close(transactions, 1e9 / time, 0.01, "transactions");
}

#[test]
fn single_page_flushes_wait_for_free_slots() {
    for slots in [3, 8] {
        let [_, misses, written] = in_a_second(48, slots);
        // Little's law: the mean number in flight is that of the slots, which are always taken.
        assert_close(written * FLUSH / 1e9, f64::from(slots), 0.01, "single pages under way");
        assert_close(written, misses, 0.02, "pages flushed");
    }
    // Clients that are fewer than the slots never wait for one.
    let [transactions, ..] = in_a_second(4, 8);
    let [as_many, ..] = in_a_second(4, 4);
    assert_close(as_many, transactions, 1e-9, "transactions with a slot for each thread");
}
