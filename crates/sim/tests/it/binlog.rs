//! The binary log of a simulated server: syncs, bytes, places, and commits lost without it.

use crate::crashes::{kill, lazy, ledger, power_cut, with};
use crate::database::{
    KEYS, Left, MARIADB, MYSQL_55, MYSQL_57, MYSQL_80, OLTP, TPCC, drive, model, run, spec, with_capacity,
};
use crate::own_log::{fails, with_log_on};
use crate::support::{SECOND, assert_close, disk, elevator, hdd, null, refused, sourced, xpoint};
use tameshi_base::units::Size;
use tameshi_spec::profile::Device;
use tameshi_spec::run::{Node, RunSpec, StorageSpec};

/// The run with a binary log on the storage of the data, of files of 16 MiB.
pub fn logging(mut spec: RunSpec, sync: &str) -> RunSpec {
    let options = [("log_bin", "ON"), ("sync_binlog", sync), ("max_binlog_size", "16777216")];
    let options = options.map(|(option, value)| (option.to_string(), value.to_string()));
    spec.engines["mysql"].options.extend(options);
    spec
}

/// The run with its binary log on `device`, a storage `events`.
fn with_binlog_on(mut spec: RunSpec, device: Device) -> RunSpec {
    let size = device.capacity();
    let model = Some(Node::Device { profile: "test".into(), device });
    spec.storage.insert("events".into(), StorageSpec { size, scale: 1, sparse: false, ignores_flush: false, model });
    spec.database.as_mut().expect("a database").binlog = Some("events".into());
    spec
}

/// Updates by a number of clients, in a pool that holds all pages.
fn updates(profile: &str, clients: u32) -> RunSpec {
    let keys = KEYS.replace("clients = 4", &format!("clients = {clients}"));
    spec(profile, Device::XPoint(xpoint()), "256 MiB", &keys, 400)
}

/// Syncs of redo log and binary log per commit.
fn syncs(left: &Left) -> [f64; 2] {
    let commits = left.of("server.updates");
    ["server.log_fsyncs", "server.binlog_fsyncs"].map(|metric| left.of(metric) / commits)
}

#[test]
fn one_client_syncs_each_log_as_its_version_does() {
    for (profile, redo) in [(MYSQL_55, 2.0), (MYSQL_57, 1.0), (MYSQL_80, 1.0), (MARIADB, 1.0)] {
        let left = run(&logging(updates(profile, 1), "1"));
        let [of_redo, of_binlog] = syncs(&left);
        assert_close(of_redo, redo, 0.02, "redo log");
        assert_close(of_binlog, 1.0, 0.02, "binary log");
        let all = left.of("server.log_fsyncs") + left.of("server.binlog_fsyncs");
        assert!(left.of("server.fsyncs") >= all, "all of them are counted");
        // The pages that hold a transaction's events, and the journal's block.
        assert_close(left.of("server.binlog_writes"), 2.0 * left.of("server.updates"), 0.02, "writes");
    }
}

#[test]
fn many_clients_share_syncs_except_in_5_5() {
    for (profile, shares) in [(MYSQL_55, false), (MYSQL_57, true), (MYSQL_80, true), (MARIADB, true)] {
        let left = run(&logging(updates(profile, 64), "1"));
        let [of_redo, of_binlog] = syncs(&left);
        assert!(left.of("server.updates") > 500.0);
        if shares {
            assert!(of_redo < 0.15 && of_binlog < 0.15, "{of_redo} {of_binlog}");
        } else {
            assert_close(of_binlog, 1.0, 0.1, "one transaction after the other");
            assert!(of_redo < 2.0, "before and after that they share: {of_redo}");
        }
    }
}

#[test]
fn one_by_one_is_far_slower_than_groups() {
    // The same profile with the other rules.
    let rate = |group| {
        let mut spec = logging(updates(MYSQL_57, 64), "1");
        model(&mut spec).binlog.as_mut().expect("a binary log").group.value = group;
        run(&spec).of("server.updates")
    };
    use tameshi_spec::profile::BinlogGroup::{Leader, OneByOne, Stages};
    let [one, leader, stages] = [OneByOne, Leader, Stages].map(rate);
    assert!(one < 0.5 * leader && one < 0.5 * stages, "{one} {leader} {stages}");
}

#[test]
fn sync_binlog_counts_groups() {
    for profile in [MYSQL_55, MYSQL_57, MARIADB] {
        let none = run(&logging(updates(profile, 4), "0"));
        assert_eq!((none.of("server.binlog_fsyncs"), none.of("server.binlog_writes")), (0.0, 0.0));
        assert!(none.of("server.binlog_bytes") > 0.0);
        let tenth = run(&logging(updates(profile, 4), "10"));
        assert_close(tenth.of("server.binlog_fsyncs") * 10.0, tenth.of("server.binlog_groups"), 0.02, "each tenth");
        let each = run(&logging(updates(profile, 4), "1"));
        let [each, tenth, none] = [&each, &tenth, &none].map(|left| left.of("server.updates"));
        assert!(each < tenth && tenth < none, "{each} {tenth} {none}");
    }
}

#[test]
fn unset_sync_binlog_is_the_versions_own() {
    for (profile, own) in [(MYSQL_55, "0"), (MYSQL_57, "1"), (MYSQL_80, "1"), (MARIADB, "0")] {
        let mut unset = logging(updates(profile, 4), "1");
        unset.engines["mysql"].options.shift_remove("sync_binlog");
        assert_eq!(run(&unset).digest, run(&logging(updates(profile, 4), own)).digest);
    }
}

#[test]
fn mariadb_commit_3_syncs_the_commit_too() {
    let mut spec = logging(updates(MARIADB, 1), "1");
    spec.engines["mysql"].commit = Some("3".into());
    assert_close(syncs(&run(&spec))[0], 2.0, 0.02, "redo log");
}

#[test]
fn lazy_commits_sync_only_the_binary_log() {
    for commit in ["0", "2"] {
        for profile in [MYSQL_55, MYSQL_57, MARIADB] {
            let mut spec = logging(updates(profile, 4), "1");
            spec.engines["mysql"].commit = Some(commit.into());
            let left = run(&spec);
            assert!(left.of("server.log_fsyncs") < 5.0, "once a second");
            assert_close(left.of("server.binlog_fsyncs"), left.of("server.binlog_groups"), 0.01, "each group");
        }
    }
}

#[test]
fn transaction_bytes_are_events_headers_and_two_images() {
    // Two keys of 4 bytes and a payload, and their lengths: as in binlog_events.rs.
    let left = run(&logging(updates(MYSQL_57, 1), "1"));
    let each = left.of("server.binlog_bytes") / left.of("server.updates");
    assert_close(each, 171.0 + 64.0 + 30.0 + 2.0 * 400.0, 0.03, "bytes of a transaction");
}

#[test]
fn binary_log_of_each_program_repeats_bit_by_bit() {
    for program in [KEYS, OLTP, TPCC] {
        for profile in [MYSQL_55, MYSQL_57, MARIADB] {
            let spec = logging(spec(profile, drive(), "16 MiB", program, 300), "1");
            let (one, other) = (run(&spec), run(&spec));
            assert_eq!(one.digest, other.digest);
            assert!(one.of("server.binlog_bytes") > 0.0);
        }
    }
}

#[test]
fn own_storage_takes_the_binary_logs_writes() {
    // The data's disk turns for each flush; another device has none of these costs.
    let on_disk = || {
        let mut spec = spec(MYSQL_57, hdd(elevator(disk())), "256 MiB", KEYS, 2000);
        with_capacity(&mut spec, 0);
        spec
    };
    let base = || logging_elsewhere(on_disk());
    let own = run(&with_binlog_on(base(), null()));
    let beside = run(&logging(on_disk(), "1"));
    assert!(own.of("server.binlog_fsyncs") > 50.0);
    let [of_own, of_beside] = [&own, &beside].map(|left| left.of("server.updates"));
    assert!(of_own > 1.5 * of_beside, "{of_own} {of_beside}");
    // Next to the redo log, on its storage.
    let mut both = with_log_on(base(), null());
    both.database.as_mut().expect("a database").binlog = Some("log".into());
    assert!(run(&both).of("server.updates") > 5.0 * of_beside);
    // Named as the data's storage: as with the option.
    let mut named = base();
    named.database.as_mut().expect("a database").binlog = Some("disk".into());
    assert_eq!(run(&named).digest, beside.digest);
}

#[test]
fn failed_storage_of_the_binary_log_ends_the_server() {
    let mut spec = with_binlog_on(updates(MYSQL_57, 4), null());
    spec.phases[0].until.time = Some(tameshi_base::units::Time(2 * SECOND));
    let left = run(&with(spec, fails("events", SECOND)));
    let found: Vec<String> = left.events("finding").iter().map(|event| event["reasons"].to_string()).collect();
    assert!(found.iter().any(|reason| reason.contains("storage_failed")), "{found:?}");
}

#[test]
fn commits_need_both_logs_to_survive() {
    let lost = |commit: &str, sync: &str, event| {
        let mut spec = logging(lazy(drive(), 3000), sync);
        spec.engines["mysql"].commit = Some(commit.into());
        let [acknowledged, lost, _] = ledger(&run(&with(spec, event)));
        assert!(acknowledged > 500.0, "the server came back");
        lost
    };
    let (at, half) = (SECOND + SECOND / 2, 100.0);
    assert_eq!(lost("1", "1", kill(at, 0)), 0.0);
    assert_eq!(lost("1", "1", power_cut(at)), 0.0);
    assert_eq!(lost("1", "0", kill(at, 0)), 0.0, "the kernel has the binary log");
    // The redo log of the next group has the commits of the ones before.
    let last = lost("1", "0", power_cut(at));
    assert!(last > 0.0 && last <= 4.0, "{last}");
    assert!(lost("2", "1", power_cut(at)) > half, "the binary log alone restores nothing");
    assert!(lost("2", "0", power_cut(at)) > half);
    assert_eq!(lost("2", "1", kill(at, 0)), 0.0);
}

#[test]
fn volatile_binlog_device_loses_no_commit_that_redo_has() {
    let base = || with_binlog_on(logging_elsewhere(lazy(drive(), 2000)), drive());
    let [acknowledged, lost, _] = ledger(&run(&with(base(), power_cut(SECOND))));
    assert!(acknowledged > 100.0 && lost == 0.0, "{acknowledged} {lost}");
    let left = run(&with(base(), power_cut(SECOND)));
    let cuts: Vec<String> = left.events("power_cut").iter().map(|event| event["storage"].to_string()).collect();
    assert_eq!(cuts.len(), 2, "data and binary log: {cuts:?}");
}

fn logging_elsewhere(spec: RunSpec) -> RunSpec {
    let mut spec = logging(spec, "1");
    spec.engines["mysql"].options.shift_remove("log_bin");
    spec
}

#[test]
fn options_without_effect_and_bad_values_are_refused() {
    let said = |profile: &str, options: &[(&str, &str)]| {
        let mut spec = updates(profile, 1);
        spec.engines["mysql"].options.extend(options.iter().map(|(key, value)| (key.to_string(), value.to_string())));
        refused(&spec)
    };
    for bad in ["-1", "4294967296", "often", ""] {
        let found = said(MYSQL_57, &[("log_bin", "ON"), ("sync_binlog", bad)]);
        assert_eq!(
            found,
            [format!(
                "engine.mysql.options.sync_binlog: `{bad}` is not accepted by the server; a whole number from 0 to 4294967295 is"
            )]
        );
    }
    let found = said(MYSQL_80, &[("sync_binlog", "1")]);
    assert!(found[0].contains("the binary log is off; say `log_bin = \"ON\"`"), "{found:?}");
    let found = said(MYSQL_80, &[("log_bin", "sometimes")]);
    assert!(found[0].contains("neither ON nor OFF"), "{found:?}");
    assert_eq!(said(MYSQL_55, &[("log_bin", "ON"), ("binlog_format", "row")]), Vec::<String>::new());
    let found = said(MARIADB, &[("log_bin", "ON"), ("binlog_format", "MIXED")]);
    assert!(found[0].contains("`MIXED` is not simulated; the binary log has ROW"), "{found:?}");
    let mut spec = logging(updates(MYSQL_57, 1), "1");
    model(&mut spec).binlog = None;
    assert!(refused(&spec).iter().any(|text| text.contains("no `binlog`")));
}

#[test]
fn binary_log_without_room_is_refused() {
    let mut small = with_binlog_on(updates(MYSQL_57, 1), null());
    small.storage.get_mut("events").expect("a storage").size = Size(1 << 20);
    let found = refused(&small);
    assert!(
        found.iter().any(|text| text.contains("storage.events.size: a file of the binary log of 1 GiB")),
        "{found:?}"
    );
    // With the data: a file of 1 GiB in a drive of 1 GiB.
    let mut full = logging(spec(MYSQL_57, drive(), "64 MiB", KEYS, 100), "1");
    full.engines["mysql"].options.shift_remove("max_binlog_size");
    let found = refused(&full);
    assert!(found.iter().any(|text| text.contains("of logs and data set")), "{found:?}");
}

#[test]
fn kernel_writes_an_unsynced_binary_log_after_thirty_seconds() {
    let keys = KEYS.replace("clients = 4", "clients = 1, rate = \"20 /s\"");
    let written = |seconds: u64| {
        let spec = logging(spec(MYSQL_57, drive(), "64 MiB", &keys, seconds * 1000), "0");
        run(&spec).of("server.binlog_writes")
    };
    assert_eq!(written(29), 0.0);
    assert_eq!(written(35), 2.0, "600 transactions of 1 KB, in requests of at most 512 KiB");
}

#[test]
fn prepared_redo_and_its_journal_are_the_profiles() {
    let bytes = |prepare: u64| {
        let mut spec = logging(updates(MYSQL_57, 1), "1");
        model(&mut spec).binlog.as_mut().expect("a binary log").prepare = sourced(Size(prepare));
        let left = run(&spec);
        left.of("server.log_bytes") / left.of("server.updates")
    };
    assert_close(bytes(500) - bytes(0), 500.0, 0.01, "redo of the prepared state");
}
