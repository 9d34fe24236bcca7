//! Clean restarts of servers: no log is left to apply, no commit is lost, and the pool's pages come
//! back.

use crate::crashes::{event, kill, lazy, ledger, number, plain, power_cut, with};
use crate::database::{KEYS, Left, MARIADB, MYSQL_55, MYSQL_57, OLTP, TPCC, drive, model, run, spec};
use crate::modes::{in_mode, simulated};
use crate::page_cache::on;
use crate::support::{SECOND, assert_close, sourced};
use serde_json::Value;
use tameshi_base::Random;
use tameshi_base::units::{Size, Time};
use tameshi_spec::run::{Mode, RunSpec, Start};
use tameshi_spec::study::{Doublewrite, Event, Failure, Restart};

/// Users that think, and transactions that arrive in open loop.
const SLOW: &str = "{ tpcc = { warehouses = 1, clients = 200, waits = \"specification\" } }";
const OPEN: &str =
    "{ key_update = { tables = 2, rows = 20000, row_size = \"400 B\", clients = 4, rate = \"500 /s\" } }";
const DEFERRED: &str = "{ tpcc = { warehouses = 1, clients = 8, delivery = \"deferred\" } }";

fn restart(at: u64, down: u64) -> Event {
    Event { restart: Some(Restart { down: Time(down) }), ..event(at) }
}

/// The one event of a kind.
fn only<'a>(left: &'a Left, kind: &str) -> &'a Value {
    let events = left.events(kind);
    let [event] = events[..] else { panic!("{kind}: {events:?}") };
    event
}

fn option(spec: &mut RunSpec, key: &str, value: &str) {
    spec.engines["mysql"].options.insert(key.into(), value.into());
}

fn started_in(nanos: u64, mut spec: RunSpec) -> RunSpec {
    model(&mut spec).recovery.as_mut().expect("a recovery").start = sourced(Time(nanos));
    spec
}

fn at_once(spec: RunSpec) -> RunSpec {
    started_in(0, spec)
}

/// Pages that a number of updates change: leaves of the table of [`KEYS`], and logs and headers of
/// 96 rollback segments.
fn changed_by(updates: f64) -> f64 {
    let leaves: f64 = 20000.0 / (15240.0 / 420.0);
    leaves * (1.0 - (-updates / leaves).exp()) + 2.0 * updates.min(96.0)
}

#[test]
fn shutdown_writes_all_pages_at_the_storages_speed() {
    // 120 us per 16 KiB, one after the other.
    for (doublewrite, writes) in [(Doublewrite::On, 2.0), (Doublewrite::Off, 1.0)] {
        let mut of = at_once(lazy(plain(), 3000));
        of.engines["mysql"].doublewrite = Some(doublewrite);
        let before = run(&{
            let mut short = of.clone();
            short.phases[0].until.time = Some(Time(SECOND));
            short
        });
        let left = run(&with(of, restart(SECOND, SECOND)));
        let restart = only(&left, "restart");
        assert_eq!((restart["t_ns"].as_u64(), &restart["back"]), (Some(SECOND), &true.into()));
        assert_eq!((number(restart, "log_bytes"), number(restart, "pages")), (0.0, 0.0));
        let pages = number(restart, "pages_flushed");
        assert_close(pages, changed_by(before.of("server.updates")), 0.05, "the pages that were changed");
        let shutdown = number(restart, "shutdown_ns");
        assert_close(shutdown / 1e9, pages * writes * 120e-6, 0.1, "the time of their writes");
        let away = number(restart, "away_ns");
        assert_close(away, shutdown + SECOND as f64, 0.001, "time down");
    }
}

#[test]
fn shutdown_with_few_dirty_pages_is_faster() {
    let shut_down = |at: u64| {
        let left = run(&with(lazy(drive(), 1700), restart(at, 0)));
        let restart = only(&left, "restart");
        (number(restart, "pages_flushed"), number(restart, "shutdown_ns"))
    };
    let (few, many) = (shut_down(SECOND / 250), shut_down(SECOND));
    assert!(few.0 < many.0 / 2.0 && few.1 < many.1 / 1.5, "{few:?} and {many:?}");
}

#[test]
fn restart_keeps_all_acknowledged_commits() {
    for (profile, program, commit) in [
        (MYSQL_55, TPCC, "1"),
        (MYSQL_57, KEYS, "0"),
        (MYSQL_57, OLTP, "2"),
        (MYSQL_57, TPCC, "0"),
        (MARIADB, TPCC, "1"),
    ] {
        let mut of = with(spec(profile, drive(), "6 MiB", program, 1500), restart(SECOND / 2, 0));
        of = started_in(SECOND / 5, of);
        of.engines["mysql"].commit = Some(commit.into());
        let left = run(&of);
        assert_eq!(left.digest, run(&of).digest, "{program}");
        let [acknowledged, lost, ambiguous] = ledger(&left);
        assert!(acknowledged > 100.0, "{program}: {acknowledged}");
        assert_eq!((lost, ambiguous), (0.0, 0.0), "{program}, {commit}");
        assert_eq!((only(&left, "check")["holds"].as_bool(), left.events("finding").len()), (Some(true), 0));
        assert_eq!(number(only(&left, "restart"), "pages"), 0.0);
        let outage = &only(&left, "outage")["outage"];
        let away = number(only(&left, "restart"), "away_ns");
        let success = number(outage, "first_success_ns") - number(outage, "first_error_ns");
        assert_eq!(outage["first_error_ns"].as_u64(), Some(SECOND / 2));
        assert!(away <= success && success < away + 0.3e9, "{program}: away {away}, first success after {success}");
        // A client that commits when the shutdown begins is outside a little later.
        let clients = f64::from(of.phases[0].programs[0].clients());
        let outside = left.of("server.time_outage_ns");
        assert!(outside > 0.9 * clients * away && outside <= clients * away, "{program}: {outside} of {away}");
    }
}

/// A pool that holds all pages, and a server that restarts quickly.
fn warm(profile: &str, millis: u64) -> RunSpec {
    let mut spec = at_once(spec(profile, drive(), "64 MiB", KEYS, millis));
    spec.start = Start::Warm;
    spec
}

#[test]
fn dumped_share_of_the_pool_comes_back() {
    let listed = |profile: &str, percent: Option<&str>| {
        let mut of = with(warm(profile, 1500), restart(SECOND / 2, 0));
        if let Some(percent) = percent {
            option(&mut of, "innodb_buffer_pool_dump_pct", percent);
        }
        option(&mut of, "innodb_io_capacity", "10000");
        let left = run(&of);
        let loaded = only(&left, "pool_loaded");
        assert_eq!((&loaded["whole"], &loaded["event"]), (&true.into(), &"crash".into()));
        assert_eq!(loaded["listed"], only(&left, "restart")["pages_listed"]);
        assert!(number(loaded, "pages") <= number(loaded, "listed"), "what a client has read is there already");
        number(loaded, "listed")
    };
    let all = listed(MYSQL_57, Some("100"));
    assert!(all > 500.0, "{all}");
    assert_eq!(listed(MYSQL_57, Some("40")), (all * 0.4).floor());
    assert_eq!(listed(MYSQL_57, None), (all * 0.25).floor());
    // A share of all frames: 98.8 % of 64 MiB.
    let room = (4096.0_f64 * 0.988).floor();
    assert_eq!(listed(MARIADB, Some("3")), (room * 0.03).floor());
    assert_eq!(listed(MARIADB, None), listed(MARIADB, Some("100")), "a quarter of the room is more than there is");
}

#[test]
fn reloaded_pool_misses_fewer_pages() {
    let misses = |load: &str| {
        let mut of = with(warm(MYSQL_57, 1200), restart(SECOND / 10, 0));
        option(&mut of, "innodb_buffer_pool_load_at_startup", load);
        option(&mut of, "innodb_buffer_pool_dump_pct", "100");
        option(&mut of, "innodb_io_capacity", "100000");
        // Pages of rollback segments are requested in turn, sooner than they come back.
        model(&mut of).undo = None;
        let left = run(&of);
        assert_eq!(left.events("pool_loaded").len(), usize::from(load == "ON"));
        left.of("server.page_misses")
    };
    let (without, with) = (misses("OFF"), misses("ON"));
    assert!(without > 400.0 && with < without * 0.6, "{without} without, {with} with");
    let mut of = with_dump_off(warm(MYSQL_57, 300));
    of.events.insert("crash".into(), restart(SECOND / 10, 0));
    let left = run(&of);
    assert_eq!((left.events("pool_loaded").len(), number(only(&left, "restart"), "pages_listed")), (0, 0.0));
}

fn with_dump_off(mut spec: RunSpec) -> RunSpec {
    option(&mut spec, "innodb_buffer_pool_dump_at_shutdown", "0");
    spec
}

#[test]
fn reload_keeps_to_io_capacity_while_clients_work() {
    let mut of = with(warm(MYSQL_57, 4000), restart(SECOND / 2, 0));
    option(&mut of, "innodb_buffer_pool_dump_pct", "100");
    option(&mut of, "innodb_io_capacity", "200");
    let loaded = run(&of);
    let loaded = only(&loaded, "pool_loaded");
    // The first two hundred pages come at once, and so do those after the last check.
    let seconds = (number(loaded, "listed") / 200.0).floor() - 1.0;
    assert_close(number(loaded, "for_ns") / 1e9, seconds, 0.1, "a second for each two hundred");
}

#[test]
fn only_mariadb_keeps_an_unfinished_pool_list() {
    let listed = |profile: &str| {
        let mut of = with(warm(profile, 1600), restart(SECOND / 2, 0));
        of.events.insert("again".into(), restart(SECOND, 0));
        option(&mut of, "innodb_buffer_pool_dump_pct", if profile == MARIADB { "10" } else { "75" });
        model(&mut of).flushing.io_capacity = sourced(20);
        let left = run(&of);
        let whole: Vec<&Value> = left.events("pool_loaded").iter().map(|loaded| &loaded["whole"]).collect();
        assert_eq!(whole, [false, false]);
        let restarts = left.events("restart");
        [0, 1].map(|place| number(restarts[place], "pages_listed"))
    };
    let [first, second] = listed(MARIADB);
    assert_eq!(first, second);
    let [first, second] = listed(MYSQL_57);
    assert!(second < first, "a share of a share: {first}, {second}");
}

#[test]
fn fast_shutdown_modes_change_recovery_and_duration() {
    let restarted = |mode: &str| {
        let mut of = at_once(with(spec(MYSQL_57, drive(), "6 MiB", OLTP, 2000), restart(SECOND, 0)));
        option(&mut of, "innodb_fast_shutdown", mode);
        let left = run(&of);
        assert_eq!(ledger(&left)[1], 0.0);
        only(&left, "restart").clone()
    };
    let [slow, fast, log_only] = ["0", "1", "2"].map(restarted);
    assert!(number(&slow, "pages_flushed") > number(&fast, "pages_flushed") + 20.0, "leaves with buffered changes");
    assert!(number(&slow, "shutdown_ns") > number(&fast, "shutdown_ns"));
    assert!(number(&log_only, "shutdown_ns") < number(&fast, "shutdown_ns"));
    assert!(number(&log_only, "log_bytes") > 0.0 && number(&log_only, "pages") > 0.0);
    assert_eq!((number(&slow, "pages"), number(&log_only, "pages_listed")), (0.0, 0.0));
}

#[test]
fn fault_during_shutdown_is_a_crash() {
    // The shutdown takes some tenths of a second.
    for after in [1_000, 20_000_000, 100_000_000] {
        let mut of = at_once(with(lazy(plain(), 4000), restart(SECOND, 0)));
        of.events.insert("killed".into(), kill(SECOND + after, SECOND / 10));
        let left = run(&of);
        let (restart, crash) = (only(&left, "restart"), only(&left, "crash"));
        assert_eq!((number(restart, "shutdown_ns"), &restart["back"]), (after as f64, &false.into()));
        assert!(number(crash, "log_bytes") > 0.0, "what was not written yet is applied");
        let [acknowledged, lost, _] = ledger(&left);
        assert!(acknowledged > 1000.0 && lost == 0.0);
        let outage = &only(&left, "outage")["outage"];
        assert_eq!(outage["first_error_ns"].as_u64(), Some(SECOND), "one outage");
        assert!(outage["first_success_ns"].as_u64() > Some(SECOND + after));
    }
}

#[test]
fn storage_failure_during_shutdown_is_final() {
    let mut of = with(lazy(plain(), 2000), restart(SECOND, 0));
    let fail = Failure { storage: Some("disk".into()), member: None, channel: None };
    of.events.insert("dead".into(), Event { fail: Some(fail), ..event(SECOND + 20_000_000) });
    let left = run(&of);
    assert_eq!(only(&left, "restart")["back"], false);
    assert!(only(&left, "outage")["outage"]["first_success_ns"].is_null());
    assert_eq!(left.events("finding").len(), 1);
}

#[test]
fn down_server_is_not_shut_down() {
    for first in [restart(SECOND, SECOND), kill(SECOND, SECOND)] {
        let mut of = with(lazy(plain(), 3500), first);
        of.events.insert("again".into(), restart(SECOND + 10_000_000, 0));
        let left = run(&of);
        assert_eq!(only(&left, "missed")["event"], "again");
        assert_eq!(left.events("restart").len() + left.events("crash").len(), 1);
        assert!(!only(&left, "outage")["outage"]["first_success_ns"].is_null());
    }
}

#[test]
fn faults_at_any_time_lose_no_acknowledged_commit() {
    let mut random = Random::named(1, "restarts");
    for run_of in 0..25 {
        let of = |random: &mut Random, many: &[&'static str]| many[random.below(many.len() as u64) as usize];
        let profile = of(&mut random, &[MYSQL_55, MYSQL_57, MARIADB]);
        let program = of(&mut random, &[KEYS, OLTP, TPCC, SLOW, OPEN, DEFERRED]);
        let mut spec = started_in(random.below(100_000_000), spec(profile, drive(), "6 MiB", program, 700));
        if random.below(3) == 0 {
            spec = on(spec, "fsync", 16 << 20);
        }
        option(&mut spec, "innodb_fast_shutdown", of(&mut random, &["0", "1", "2"]));
        for name in ["first", "second", "third", "fourth"] {
            let (at, down) = (random.below(700_000_000), random.below(50_000_000));
            let event = match random.below(5) {
                0 => kill(at, down),
                1 => power_cut(at),
                _ => restart(at, down),
            };
            spec.events.insert(name.into(), event);
        }
        let mut second = spec.phases[0].clone();
        second.name = "after".into();
        spec.phases.push(second);
        let left = run(&spec);
        let ended = ["restart", "crash", "missed"].map(|kind| left.events(kind).len()).iter().sum::<usize>();
        assert_eq!(ended, 4, "run {run_of}");
        assert_eq!((ledger(&left)[1], left.events("finding").len()), (0.0, 0), "run {run_of}");
        assert_eq!(left.digest, run(&spec).digest);
    }
}

#[test]
fn phase_end_waits_for_a_restart_and_reload_goes_on() {
    let mut of = with(warm(MYSQL_57, 510), restart(SECOND / 2, SECOND));
    option(&mut of, "innodb_buffer_pool_dump_pct", "100");
    model(&mut of).undo = None;
    let mut second = of.phases[0].clone();
    (second.name, second.until.time) = ("after".into(), Some(Time(3 * SECOND)));
    of.phases.push(second);
    let left = run(&of);
    let ends = left.events("phase_end");
    assert!(ends[0]["t_ns"].as_u64() < Some(SECOND), "the record of the first phase ends in time");
    assert_eq!(only(&left, "restart")["back"], true);
    let loaded = only(&left, "pool_loaded");
    assert_eq!((&loaded["whole"], left.events("outage").len()), (&true.into(), 1));
    assert!(number(loaded, "pages") > 100.0);
}

#[test]
fn page_cache_answers_a_reload_after_restart() {
    let mut of = on(warm(MYSQL_57, 1000), "fsync", 1 << 30);
    option(&mut of, "innodb_buffer_pool_dump_pct", "100");
    option(&mut of, "innodb_io_capacity", "100000");
    of.events.insert("crash".into(), restart(SECOND / 2, 0));
    let left = run(&of);
    let loaded = only(&left, "pool_loaded");
    assert!(left.of("server.page_cache_hits") >= number(loaded, "pages") && number(loaded, "pages") > 200.0);
    let copy = (model(&mut of).cpu.page_copy.value.0 + model(&mut of).cpu.page_read.value.0) as f64;
    assert!(number(loaded, "for_ns") >= number(loaded, "pages") * copy, "each page takes its time on a processor");
}

#[test]
fn run_with_a_restart_is_simulated_in_full() {
    let mut of = spec(MYSQL_57, drive(), "64 MiB", KEYS, 120_000);
    (of.interval, of.engines["mysql"].redo_log) = (Time(2 * SECOND), Some(Size(1 << 20)));
    model(&mut of).cpu.statement = sourced(Time(5_000_000));
    assert!(simulated(&in_mode(&of, Mode::Fast)) < 0.9);
    assert_eq!(simulated(&in_mode(&with(of.clone(), restart(60 * SECOND, 0)), Mode::Fast)), 1.0);
    of.phases[0].until.time = Some(Time(SECOND / 2));
    let late = run(&with(of.clone(), restart(5 * SECOND, 0)));
    assert_eq!(late.digest, run(&of).digest);
    assert_eq!((late.events("missed").len(), late.events("check").len()), (1, 0));
}

#[test]
fn restart_options_unknown_to_a_version_are_refused() {
    let said = |profile: &str, key: &str, value: &str| {
        let mut of = spec(profile, drive(), "64 MiB", KEYS, 100);
        option(&mut of, key, value);
        crate::support::refused(&of).join("; ")
    };
    for (key, value) in [
        ("innodb_buffer_pool_dump_at_shutdown", "off"),
        ("innodb_buffer_pool_load_at_startup", "1"),
        ("innodb_buffer_pool_dump_pct", "100"),
        ("innodb_fast_shutdown", "2"),
    ] {
        assert_eq!(said(MYSQL_57, key, value), "", "{key}");
        assert_eq!(said(MYSQL_55, key, value).is_empty(), key == "innodb_fast_shutdown", "{key}");
    }
    assert!(said(MYSQL_57, "innodb_buffer_pool_dump_at_shutdown", "yes").contains("neither ON nor OFF"));
    assert!(said(MYSQL_57, "innodb_buffer_pool_dump_pct", "0").contains("1 to 100"));
    assert!(said(MYSQL_57, "innodb_fast_shutdown", "3").contains("from 0 to 2"));
    let mut silent = with(spec(MYSQL_57, drive(), "64 MiB", KEYS, 100), restart(0, 0));
    model(&mut silent).recovery = None;
    assert!(crate::support::refused(&silent)[0].contains("how it comes back"));
}
