//! A simulated database whose redo log has a storage of its own.

use crate::crashes::{kill, lazy, ledger, number, plain, with};
use crate::database::{KEYS, MYSQL_57, OLTP, TPCC, model, run, spec, with_capacity};
use crate::support::{
    SECOND, assert_close, disk, elevator, flash, flash_drive, hdd, null, refused, sourced, without_overhead,
    without_seeks, xpoint,
};
use tameshi_base::units::{Size, Time};
use tameshi_spec::profile::Device;
use tameshi_spec::run::{Node, RunSpec, StorageSpec};
use tameshi_spec::study::{Event, Failover, Failure, PowerCut};

/// The run with its log on `device`, a storage `log`.
pub fn with_log_on(mut spec: RunSpec, device: Device) -> RunSpec {
    let size = device.capacity();
    let model = Some(Node::Device { profile: "test".into(), device });
    spec.storage.insert("log".into(), StorageSpec { size, scale: 1, sparse: false, ignores_flush: false, model });
    spec.database.as_mut().expect("a database").log = Some("log".into());
    spec
}

pub fn fails(storage: &str, at: u64) -> Event {
    Event {
        at: Time(at),
        fail: Some(Failure { storage: Some(storage.into()), ..Failure::default() }),
        ..Event::default()
    }
}

fn power_cut_of(storage: &str, at: u64) -> Event {
    let cut = PowerCut { storage: Some(storage.into()), ..PowerCut::default() };
    Event { at: Time(at), power_cut: Some(cut), ..Event::default() }
}

#[test]
fn log_writes_go_to_the_logs_device() {
    // The data's disk would turn for each flush; a log device without any cost makes them free.
    let mut base = spec(MYSQL_57, hdd(elevator(disk())), "256 MiB", KEYS, 2000);
    with_capacity(&mut base, 0);
    let (shared, own) = (run(&base), run(&with_log_on(base, null())));
    assert!(shared.of("server.log_fsyncs") <= 2.0 / 0.004, "one turn each");
    assert!(own.of("transaction.count") > 5.0 * shared.of("transaction.count"));
}

#[test]
fn log_on_an_equal_device_is_never_slower_when_steady() {
    // In steady state: half of the log is full before the counted part begins.
    for (name, program) in [("keys", KEYS), ("oltp", OLTP), ("tpcc", TPCC)] {
        for device in [hdd(elevator(disk())), flash(flash_drive(4 << 30)), Device::XPoint(xpoint())] {
            let rate = |own: bool| {
                let mut base = spec(MYSQL_57, device.clone(), "64 MiB", program, 6000);
                base.engines["mysql"].redo_log = Some(Size(16 << 20));
                base.phases[0].ramp = Time(2 * SECOND);
                let left = run(&if own { with_log_on(base, device.clone()) } else { base });
                left.of("transaction.count")
            };
            let (shared, own) = (rate(false), rate(true));
            assert!(own > shared * 0.98, "{name}: {own} with a log on its own, {shared} with it beside the data");
        }
    }
}

#[test]
fn failed_log_storage_ends_the_server() {
    for storage in ["log", "disk"] {
        let base = spec(MYSQL_57, plain(), "5 MiB", KEYS, 2000);
        let left = run(&with(with_log_on(base, plain()), fails(storage, SECOND)));
        let reasons: Vec<String> = left.events("finding").iter().map(|event| event["reasons"].to_string()).collect();
        assert!(reasons.iter().any(|reason| reason.contains("storage_failed")), "{storage}: {reasons:?}");
        let outages = left.events("outage");
        assert_eq!(outages.len(), 1, "{storage}");
        assert!(outages[0]["outage"]["first_success_ns"].is_null(), "{storage}: it does not come back");
    }
}

#[test]
fn power_cut_hits_data_and_log_whichever_is_named() {
    let cut = |storage: &str| run(&with(with_log_on(lazy(plain(), 3000), plain()), power_cut_of(storage, SECOND)));
    let (of_data, of_log) = (cut("disk"), cut("log"));
    for left in [&of_data, &of_log] {
        let mut cuts: Vec<String> = left.events("power_cut").iter().map(|event| event["storage"].to_string()).collect();
        cuts.sort();
        assert_eq!(cuts, ["\"disk\"", "\"log\""]);
        let [acknowledged, lost, _] = ledger(left);
        assert!(acknowledged > 100.0 && lost == 0.0, "{acknowledged} {lost}");
    }
    assert_eq!(of_data.digest, of_log.digest);
}

#[test]
fn volatile_log_device_loses_commits_at_a_power_cut() {
    // Its capacitor promises durability and holds too short a time.
    let mut broken = flash_drive(1 << 30);
    let protection = broken.buffer.power_loss_protection.as_mut().expect("a capacitor");
    (protection.flush_time.value, protection.hold_up.value) = (Time(SECOND), Time(1));
    let lost = |data: Device, log: Device| {
        let left = run(&with(with_log_on(lazy(data, 2000), log), power_cut_of("disk", SECOND)));
        ledger(&left)[1]
    };
    assert!(lost(plain(), flash(broken.clone())) > 0.0, "the log's device decides");
    assert_eq!(lost(flash(broken), plain()), 0.0, "the data's device does not");
}

#[test]
fn killed_server_reads_its_log_from_the_logs_device() {
    // 4 KiB take 30 us from the data's disk, 300 us from the log's.
    let mut slow = without_overhead(without_seeks(disk()));
    (slow.revolution.value.0, slow.capacity.value.0, slow.cylinders.value) = (0, 1 << 30, 1);
    slow.media_rate.value.0 /= 10;
    let mut spec = with(with_log_on(lazy(plain(), 4000), hdd(slow)), kill(2 * SECOND, 0));
    let recovery = model(&mut spec).recovery.as_mut().expect("a recovery");
    (recovery.start, recovery.apply) = (sourced(Time(0)), sourced(Time(0)));
    let left = run(&spec);
    let crashes = left.events("crash");
    let [log, pages, took] = ["log_bytes", "pages", "recovery_ns"].map(|key| number(crashes[0], key));
    assert_close(took, log / 4096.0 * 300e3 + pages * 120e3, 0.05, "recovery");
    assert!(log / 4096.0 * 300e3 > 2.0 * pages * 120e3, "mostly of the log");
}

#[test]
fn roles_that_are_not_simulated_are_refused() {
    let small = |mut spec: RunSpec| {
        spec.storage.get_mut("log").expect("a log").size = Size(1 << 20);
        refused(&spec)
    };
    let found = small(with_log_on(lazy(plain(), 100), plain()));
    assert!(found.iter().any(|text| text.contains("storage.log.size: the redo log of 256 MiB")), "{found:?}");
    let mut spec = with_log_on(lazy(plain(), 100), plain());
    spec.database.as_mut().expect("a database").temp = Some("log".into());
    let found = refused(&spec);
    assert!(found.iter().any(|text| text.contains("use.temp: the simulated server has no temporary")), "{found:?}");
    let over = Failover { storage: Some("disk".into()), down: Time(0), cause: None };
    let event = Event { at: Time(SECOND), failover: Some(over), ..Event::default() };
    let found = refused(&with(with_log_on(lazy(plain(), 100), plain()), event));
    assert!(found.iter().any(|text| text.contains("put the log on the mirrored storage")), "{found:?}");
}
