//! Data files through the host's page cache: its hits, the drive's requests, and its state after a
//! crash.

use crate::crashes::{kill, ledger, power_cut, with};
use crate::database::{KEYS, MARIADB, MYSQL_55, MYSQL_57, OLTP, TPCC, drive, model, run, spec};
use crate::support::{SECOND, assert_close, flash, flash_drive, null, sourced, unprotected};
use tameshi_base::units::{Size, Time};
use tameshi_spec::profile::HostProfile;
use tameshi_spec::run::{HostSpec, RunSpec};
use tameshi_spec::study::Doublewrite;

const FREE: &str = include_str!("../../../../python/tameshi/data/profiles/hosts/free.toml");

/// The same run on a host without costs, with this memory and flush method.
pub fn on(mut spec: RunSpec, method: &str, memory: u64) -> RunSpec {
    let host: HostProfile = toml::from_str(FREE).expect("a profile");
    let (profile, memory) = ("free".into(), Some(Size(memory)));
    spec.host = Some(HostSpec { profile, model: host.host, cores: None, memory, submission: None });
    spec.engines["mysql"].flush_method = Some(method.into());
    spec
}

#[test]
fn full_page_cache_answers_all_reads() {
    // About 9 MB of leaves, a pool of 5 MiB.
    let run_for = |millis| run(&on(spec(MYSQL_57, drive(), "5 MiB", KEYS, millis), "fsync", 1 << 30));
    let (half, whole) = (run_for(1500), run_for(3000));
    let gained = |metric: &str| whole.of(metric) - half.of(metric);
    let from_the_drive = gained("server.pages_read") - gained("server.page_cache_hits");
    assert!(gained("server.pages_read") > 1000.0, "the pool is too small");
    assert_eq!(from_the_drive, 0.0);
    assert!(half.of("server.pages_read") > half.of("server.page_cache_hits"), "at first all come from there");
}

#[test]
fn page_cache_without_memory_is_bypassed() {
    for profile in [MYSQL_55, MYSQL_57] {
        let base = spec(profile, drive(), "6 MiB", TPCC, 300);
        let direct = run(&on(base.clone(), "O_DIRECT", 6 << 20));
        let none = run(&on(base.clone(), "fsync", 6 << 20));
        assert_eq!(direct.digest, none.digest);
        assert_eq!(direct.digest, run(&on(base, "O_DIRECT", 1 << 30)).digest, "nor does memory matter past the cache");
    }
}

#[test]
fn free_page_cache_changes_only_the_source_of_pages() {
    let with = |method: &str| {
        let mut spec =
            on(spec(MYSQL_57, null(), "5 MiB", &KEYS.replace("clients = 4", "clients = 1"), 500), method, 1 << 30);
        model(&mut spec).cpu.page_copy = sourced(Time(0));
        run(&spec)
    };
    let (direct, cached) = (with("O_DIRECT"), with("fsync"));
    for metric in ["transaction.count", "server.pages_read", "server.page_misses", "server.log_bytes"] {
        assert_close(cached.of(metric), direct.of(metric), 0.01, metric);
    }
    assert!(cached.of("server.page_cache_hits") > 500.0);
    assert_eq!(direct.of("server.page_cache_hits"), 0.0);
}

#[test]
fn page_cache_conserves_pages_bytes_and_syncs() {
    let page = 16384.0;
    for (profile, program) in [(MYSQL_57, OLTP), (MYSQL_55, KEYS), (MYSQL_57, TPCC)] {
        for memory in [16 << 20, 1 << 30] {
            let left = run(&on(spec(profile, drive(), "5 MiB", program, 500), "fsync", memory));
            assert_close(left.of("server.read_bytes"), left.of("server.pages_read") * page, 1e-9, "bytes read");
            assert!(left.of("server.page_cache_hits") <= left.of("server.pages_read"));
            let pages = left.of("server.pages_written") + left.of("server.doublewrite_pages");
            let log = left.of("server.written_bytes") - pages * page;
            let (least, writes) = (left.of("server.log_bytes") / 496.0 * 512.0, left.of("server.log_writes"));
            assert!((least * 0.98 - 65_536.0..=least + writes * 1024.0).contains(&log), "{log} bytes of log");
            // Each batch and each single page syncs its doublewrite buffer, then its data files.
            let batches = (left.of("server.fsyncs") - left.of("server.log_fsyncs")) / 2.0;
            assert!(batches >= 1.0 && batches <= left.of("server.pages_written"), "{batches} batches");
        }
    }
}

#[test]
fn page_cache_copies_cost_their_time() {
    let with = |copy: u64| {
        let mut spec = on(spec(MYSQL_57, drive(), "64 MiB", KEYS, 1000), "fsync", 1 << 30);
        spec.engines["mysql"].redo_log = Some(Size(4 << 20));
        model(&mut spec).cpu.page_copy = sourced(Time(copy));
        run(&spec)
    };
    let (quick, slow) = (with(0), with(400_000));
    assert!(quick.of("transaction.count") > slow.of("transaction.count") * 1.1);
}

#[test]
fn page_cache_outlives_a_kill_but_no_power_cut() {
    let hits = |event| {
        let mut spec = with(on(spec(MYSQL_57, drive(), "64 MiB", KEYS, 3000), "fsync", 1 << 30), event);
        model(&mut spec).recovery.as_mut().expect("a recovery").start = sourced(Time(0));
        let left = run(&spec);
        let check = left.events("check")[0].clone();
        assert_eq!(check["ledger"]["lost"], 0);
        assert!(left.of("transaction.count") > 1000.0);
        (left.of("server.page_cache_hits"), left.events("crash")[0]["recovery_ns"].as_f64().expect("a time"))
    };
    let (killed, cut) = (hits(kill(SECOND, 0)), hits(power_cut(SECOND)));
    assert!(killed.0 > 300.0, "what the pool has lost comes from there: {killed:?}");
    assert!(cut.0 < killed.0 / 2.0, "nothing is left: {cut:?}");
    assert!(killed.1 < cut.1, "and recovery reads no drive: {killed:?} against {cut:?}");
}

#[test]
fn power_cut_loses_unsynced_writes() {
    let lost = |commit: &str| {
        let mut spec =
            on(spec(MYSQL_57, flash(unprotected(flash_drive(1 << 30))), "16 MiB", KEYS, 2500), "fsync", 1 << 30);
        spec.engines["mysql"].commit = Some(commit.into());
        let left = run(&with(spec, power_cut(SECOND + SECOND / 2)));
        let findings = left.events("finding").len();
        (left.events("check")[0]["ledger"]["lost"].as_f64().expect("a number"), findings)
    };
    assert_eq!(lost("1"), (0.0, 0), "all that was acknowledged was synced, and no page is lost");
    assert!(lost("2").0 > 50.0);
}

#[test]
fn o_dsync_log_writes_are_durable_without_a_sync() {
    let of = |method: &str, commit: &str| {
        let mut spec = on(spec(MYSQL_57, drive(), "64 MiB", KEYS, 1000), method, 1 << 30);
        spec.engines["mysql"].commit = Some(commit.into());
        run(&spec)
    };
    let (through, synced) = (of("O_DSYNC", "1"), of("fsync", "1"));
    for same in ["transaction.count", "server.log_writes", "server.page_cache_hits"] {
        assert_eq!(through.of(same), synced.of(same), "{same}");
    }
    assert!(synced.of("server.log_fsyncs") > 100.0);
    assert_eq!(through.of("server.fsyncs"), synced.of("server.fsyncs") - synced.of("server.log_fsyncs"));
    assert_eq!(through.of("server.log_fsyncs"), 0.0);
    // A write that the kernel takes is durable then.
    assert_eq!(of("O_DSYNC", "2").of("transaction.count"), through.of("transaction.count"));
}

#[test]
fn unsynced_log_is_handed_to_the_kernel_at_each_commit() {
    let mut spec = spec(MARIADB, drive(), "64 MiB", KEYS, 3000);
    spec.engines["mysql"].commit = Some("2".into());
    let left = run(&with(spec, power_cut(SECOND + SECOND / 2)));
    let per_update = |metric: &str| left.of(metric) / left.of("server.updates");
    assert_close(per_update("server.log_writes"), 1.0, 0.01, "calls that the kernel takes");
    let (syncs, lost) = (per_update("server.log_fsyncs"), ledger(&left)[1]);
    assert!(syncs < 0.01 && lost > 100.0, "{syncs} syncs, {lost} lost");
}

#[test]
fn page_cache_without_known_memory_is_refused() {
    let said = |spec: &RunSpec| crate::support::refused(spec);
    let base = spec(MYSQL_57, drive(), "64 MiB", KEYS, 100);
    assert_eq!(said(&on(base.clone(), "fsync", 65 << 20)), Vec::<String>::new());
    assert_eq!(said(&on(base.clone(), "fdatasync", 65 << 20)), Vec::<String>::new());
    let mut unknown = base.clone();
    unknown.engines["mysql"].flush_method = Some("fsync".into());
    assert!(said(&unknown)[0].contains("host.memory"), "{:?}", said(&unknown));
    unknown.engines["mysql"].flush_method = None;
    assert!(said(&unknown)[0].contains("this version's own"), "{:?}", said(&unknown));
    assert!(said(&on(base.clone(), "fsync", 63 << 20))[0].contains("does not fit"));
    assert_eq!(said(&on(base.clone(), "O_DSYNC", 65 << 20)), Vec::<String>::new());
    assert!(said(&on(base.clone(), "O_DSYNC", 63 << 20))[0].contains("does not fit"));
    assert!(said(&on(base.clone(), "nosync", 1 << 30))[0].contains("`nosync` is not simulated"));
    let mut atomic = on(base, "fsync", 1 << 30);
    atomic.engines["mysql"].doublewrite = Some(Doublewrite::Atomic);
    assert!(said(&atomic)[0].contains("page cache"), "{:?}", said(&atomic));
}
