//! Crashes of servers: lost commits, outages, and recovery. An event that never happens changes
//! nothing.

use crate::database::{KEYS, Left, MYSQL_57, TPCC, drive, model, run, spec, with_capacity};
use crate::support::{
    SECOND, assert_close, disk, flash_drive, sourced, volume, without_overhead, without_seeks, xpoint,
};
use tameshi_base::units::{Share, Size, Time};
use tameshi_spec::profile::{Device, PowerLossProtection};
use tameshi_spec::run::{Link, Node, RunSpec, Start};
use tameshi_spec::study::{Event, Failover, Failure, Kill, PowerCut, Protocol};

pub fn event(at: u64) -> Event {
    Event { at: Time(at), ..Event::default() }
}

pub fn kill(at: u64, down: u64) -> Event {
    Event { kill: Some(Kill { down: Time(down) }), ..event(at) }
}

pub fn power_cut(at: u64) -> Event {
    Event { power_cut: Some(PowerCut { storage: Some("disk".into()), ..PowerCut::default() }), ..event(at) }
}

pub fn with(mut spec: RunSpec, event: Event) -> RunSpec {
    spec.events.insert("crash".into(), event);
    spec
}

/// A disk of 1 GiB that takes 30 us for 4 KiB, one command at a time.
pub fn plain() -> Device {
    let mut profile = without_overhead(without_seeks(disk()));
    (profile.revolution.value.0, profile.capacity.value.0, profile.cylinders.value) = (0, 1 << 30, 1);
    Device::Hdd(profile)
}

/// A server that flushes no page early: recovery reads the log since the begin.
pub fn lazy(device: Device, millis: u64) -> RunSpec {
    let mut spec = spec(MYSQL_57, device, "64 MiB", KEYS, millis);
    spec.engines["mysql"].redo_log = Some(Size(256 << 20));
    with_capacity(&mut spec, 0);
    model(&mut spec).redo_extra = sourced(Share(0));
    spec
}

pub fn number(event: &serde_json::Value, key: &str) -> f64 {
    event[key].as_f64().unwrap_or_else(|| panic!("{key} in {event}"))
}

pub fn ledger(left: &Left) -> [f64; 3] {
    let checks = left.events("check");
    let [check] = checks[..] else { panic!("{checks:?}") };
    ["acknowledged", "lost", "ambiguous"].map(|key| number(&check["ledger"], key))
}

#[test]
fn recovery_time_is_log_plus_pages_at_their_bandwidths() {
    let mut spec = with(lazy(plain(), 4000), kill(2 * SECOND, SECOND));
    let recovery = model(&mut spec).recovery.as_mut().expect("a recovery");
    (recovery.start, recovery.apply) = (sourced(Time(700_000_000)), sourced(Time(10_000)));
    let left = run(&spec);
    let crashes = left.events("crash");
    let [crash] = crashes[..] else { panic!("{crashes:?}") };
    assert_eq!((crash["t_ns"].as_u64(), &crash["how"]), (Some(2 * SECOND), &"kill".into()));
    let (log, pages) = (number(crash, "log_bytes"), number(crash, "pages"));
    // Three records per transaction: the row's, and its rollback segment's in log and header. A
    // commit's record changes no page.
    let before = run(&{
        let mut short = lazy(plain(), 2000);
        short.phases[0].until.time = Some(Time(2 * SECOND));
        short
    });
    let logged = before.of("server.log_bytes");
    assert_close(log, logged / 496.0 * 512.0, 0.02, "all of the log since the begin");
    let changes = before.of("server.updates");
    let leaves: f64 = 20000.0 / (15240.0 / 420.0);
    assert_close(pages, leaves * (1.0 - (-changes / leaves).exp()) + 2.0 * 96.0, 0.05, "the pages that were changed");
    let seconds = log / 4096.0 * 30e-6 + pages * 120e-6 + 3.0 * changes * 10e-6 + 0.7;
    assert_close(number(crash, "recovery_ns") / 1e9, seconds, 0.03, "recovery");
    assert_close(number(crash, "away_ns") - number(crash, "recovery_ns"), 1e9, 0.001, "time down");
}

#[test]
fn recovery_reads_pages_at_the_allowed_depth() {
    let time = |reads: u32| {
        let mut spec = with(lazy(volume(), 1100), kill(SECOND, 0));
        let recovery = model(&mut spec).recovery.as_mut().expect("a recovery");
        (recovery.start, recovery.apply) = (sourced(Time(0)), sourced(Time(0)));
        (recovery.read, recovery.page_reads) = (sourced(Size(8 << 20)), sourced(reads));
        let left = run(&spec);
        (number(left.events("crash")[0], "recovery_ns"), number(left.events("crash")[0], "pages"))
    };
    let ((one, pages), (eight, _)) = (time(1), time(8));
    assert!(pages > 300.0, "{pages}");
    // 400 us per page on average, and its transfer; as many at once as are requested, until a few
    // are left.
    assert_close(one / 1e9, pages * 420e-6, 0.1, "one at a time");
    assert!(eight < one / 5.0, "one at a time {one}, eight {eight}");
}

#[test]
fn kill_and_power_cut_lose_what_never_reached_safety() {
    let lost = |commit: &str, event: Event| {
        let mut spec = with(lazy(drive(), 3000), event);
        spec.engines["mysql"].commit = Some(commit.into());
        let left = run(&spec);
        let [acknowledged, lost, _] = ledger(&left);
        assert!(acknowledged > 1000.0, "the server came back");
        let findings: Vec<String> =
            left.events("finding").iter().map(|found| found["reasons"][0].to_string()).collect();
        assert_eq!(!findings.is_empty(), lost > 0.0, "{findings:?}");
        lost
    };
    // In the middle of a second: writes once a second are half a second old.
    let (at, half) = (SECOND + SECOND / 2, 100.0);
    assert_eq!(lost("1", kill(at, 0)), 0.0);
    assert_eq!(lost("1", power_cut(at)), 0.0);
    assert_eq!(lost("2", kill(at, 0)), 0.0);
    assert!(lost("2", power_cut(at)) > half);
    assert!(lost("0", kill(at, 0)) > half);
    assert!(lost("0", power_cut(at)) > half);
}

#[test]
fn power_cut_after_a_kill_loses_the_unsynced_log() {
    let lost = |cut: u64| {
        let mut spec = with(lazy(drive(), 5000), kill(SECOND + SECOND / 2, 0));
        spec.engines["mysql"].commit = Some("2".into());
        spec.events.insert("later".into(), power_cut(cut));
        ledger(&run(&spec))[1]
    };
    // The commits of half a second, and then those since the last sync, of which there is one a
    // second.
    let (at_once, later) = (lost(SECOND + SECOND / 2 + 1000), lost(4 * SECOND));
    let alone = {
        let mut spec = with(lazy(drive(), 5000), power_cut(SECOND + SECOND / 2));
        spec.engines["mysql"].commit = Some("2".into());
        ledger(&run(&spec))[1]
    };
    assert_eq!(at_once, alone, "the kill between saves nothing");
    assert!(at_once > 100.0 && later < 4.0 * at_once, "{at_once} and {later}");
}

#[test]
fn failing_capacitor_loses_synced_commits() {
    let lost = |hold_up: Option<u64>| {
        let mut profile = flash_drive(1 << 30);
        profile.buffer.size = sourced(Size(4 << 20));
        profile.buffer.power_loss_protection = hold_up.map(|hold_up| PowerLossProtection {
            flush_time: sourced(Time(80_000_000)),
            hold_up: sourced(Time(hold_up)),
        });
        ledger(&run(&with(lazy(Device::Flash(profile), 2000), power_cut(SECOND))))[1]
    };
    assert_eq!(lost(None), 0.0, "a flush of a drive without protection keeps its promise");
    assert_eq!(lost(Some(80_000_000)), 0.0);
    assert!(lost(Some(0)) > 0.0);
}

#[test]
fn clients_come_back_and_the_outage_is_recorded() {
    for program in [KEYS, TPCC] {
        let spec = with(spec(MYSQL_57, drive(), "64 MiB", program, 8000), kill(2 * SECOND, SECOND));
        let (left, again) = (run(&spec), run(&spec));
        assert_eq!(left.digest, again.digest);
        let outages = left.events("outage");
        let [outage] = outages[..] else { panic!("{outages:?}") };
        let outage = &outage["outage"];
        assert_eq!(outage["first_error_ns"].as_u64(), Some(2 * SECOND));
        let away = number(left.events("crash")[0], "away_ns");
        let success = number(outage, "first_success_ns") - 2e9;
        assert!(away <= success && success < away + 0.2e9, "{program}: away {away}, first success after {success}");
        let recovered = number(outage, "recovered_ns");
        assert!(recovered >= number(outage, "first_success_ns"), "{program}");
        let clients = f64::from(spec.phases[0].programs[0].clients());
        let all: f64 = 8.0 * clients * SECOND as f64;
        assert_close(left.of("server.time_outage_ns"), clients * away, 0.01, program);
        assert!(left.of("server.time_outage_ns") < all);
    }
}

fn failover(at: u64, down: u64) -> Event {
    Event { failover: Some(Failover { storage: Some("disk".into()), down: Time(down), cause: None }), ..event(at) }
}

/// The same run on two drives across a link.
fn mirrored(mut spec: RunSpec, round_trip: u64, protocol: Protocol) -> RunSpec {
    let of = Box::new(spec.storage[0].model.take().expect("a drive"));
    let link = Link { round_trip: Time(round_trip), rate: Size(12 * SECOND) };
    spec.storage[0].model = Some(Node::Replica { of, link, protocol });
    spec
}

#[test]
fn commit_to_a_mirrored_pair_takes_a_round_trip_more() {
    let one = KEYS.replace("clients = 4", "clients = 1");
    let latency = |round_trip: Option<u64>| {
        let mut spec = spec(MYSQL_57, Device::XPoint(xpoint()), "64 MiB", &one, 500);
        spec.start = Start::Warm;
        let spec = match round_trip {
            Some(round_trip) => mirrored(spec, round_trip, Protocol::FarMedium),
            None => spec,
        };
        let left = run(&spec);
        left.of("transaction.latency_sum") / left.of("transaction.count")
    };
    let (single, near, far) = (latency(None), latency(Some(0)), latency(Some(100_000)));
    // The write of the log crosses the link. Its flush waits for the near side alone.
    assert!((near - single).abs() < 2_000.0, "equal drives: {single} and {near}");
    assert_close(far - near, 100_000.0, 0.03, "one round trip");
}

#[test]
fn failover_keeps_what_both_sides_had_and_starts_cold() {
    // Where writes wait for the far side, only unsynced commits are lost; else also those under way
    // to it. If commits waited for the link before, the old rate is back soon; else the cold pool
    // shows.
    for (protocol, commit, loses) in [
        (Protocol::FarMedium, "1", false),
        (Protocol::FarMemory, "1", false),
        (Protocol::Asynchronous, "1", true),
        (Protocol::FarMedium, "2", true),
    ] {
        let mut spec = spec(MYSQL_57, drive(), "64 MiB", KEYS, 7500);
        spec.start = Start::Warm;
        spec.engines["mysql"].commit = Some(commit.into());
        let spec = with(mirrored(spec, 2_000_000, protocol), failover(3 * SECOND + SECOND / 2, SECOND));
        let left = run(&spec);
        assert_eq!(ledger(&left)[1] > 0.0, loses, "{protocol:?}, {commit}");
        let crash = left.events("crash")[0];
        assert_eq!(crash["how"], "failover");
        assert_close(number(crash, "away_ns") - number(crash, "recovery_ns"), 1e9, 0.02, "time until noticed");
        assert!(left.of("server.pages_read") > 300.0, "where the pool was warm nothing was read");
        let outage = &left.events("outage")[0]["outage"];
        assert!(number(outage, "first_success_ns") >= 4.5e9);
        if protocol == Protocol::FarMedium && commit == "1" {
            assert!(number(outage, "recovered_ns") >= number(outage, "first_success_ns"));
        }
    }
}

#[test]
fn failover_works_at_any_instant() {
    for instant in 0..40 {
        let mut spec = spec(MYSQL_57, drive(), "8 MiB", KEYS, 3000);
        spec.start = Start::Warm;
        let at = SECOND + instant * 777_777;
        let left = run(&with(mirrored(spec, 2_000_000, Protocol::FarMedium), failover(at, SECOND / 10)));
        assert_eq!((left.events("crash").len(), ledger(&left)[1]), (1, 0.0), "at {at}");
        let outage = &left.events("outage")[0]["outage"];
        assert!(number(outage, "first_success_ns") > (at + SECOND / 10) as f64, "at {at}");
    }
}

#[test]
fn crash_that_never_happens_changes_nothing() {
    let plain = spec(MYSQL_57, drive(), "8 MiB", TPCC, 500);
    let clean = run(&plain);
    let late = run(&with(plain, kill(5 * SECOND, 0)));
    assert_eq!(late.digest, clean.digest);
    assert_eq!((late.events("missed").len(), late.events("check").len()), (1, 0));
}

#[test]
fn server_on_failed_storage_does_not_come_back() {
    let mut gone = spec(MYSQL_57, drive(), "8 MiB", KEYS, 1000);
    let second = gone.phases[0].clone();
    gone.phases.push(second);
    gone.phases[1].name = "after".into();
    let fail = Failure { storage: Some("disk".into()), member: None, channel: None };
    let left = run(&with(gone, Event { fail: Some(fail), ..event(SECOND / 2) }));
    let outages = left.events("outage");
    assert_eq!(outages.len(), 2, "in both phases");
    assert!(outages.iter().all(|outage| outage["outage"]["first_success_ns"].is_null()));
    assert_eq!(left.events("finding").len(), 1);
}

/// Time for which clients were without the server, in ns.
fn outage(left: &Left) -> f64 {
    let outages = left.events("outage");
    let [outage] = outages[..] else { panic!("{outages:?}") };
    number(&outage["outage"], "first_success_ns") - number(&outage["outage"], "first_error_ns")
}

#[test]
fn kill_of_a_down_server_is_missed() {
    let once = with(lazy(plain(), 8000), kill(2 * SECOND, 2 * SECOND));
    let mut twice = once.clone();
    twice.events.insert("again".into(), kill(3 * SECOND, 0));
    let (one, two) = (run(&once), run(&twice));
    assert!(outage(&one) > 2e9);
    assert_eq!(outage(&two), outage(&one));
    assert_eq!(two.events("crash"), one.events("crash"));
    assert_eq!((two.events("missed").len(), &two.events("missed")[0]["event"]), (1, &"again".into()));
}

#[test]
fn power_cut_of_a_down_server_starts_it_no_sooner() {
    let once = with(lazy(plain(), 8000), kill(2 * SECOND, 2 * SECOND));
    let mut twice = once.clone();
    twice.events.insert("cut".into(), power_cut(3 * SECOND));
    let (one, two) = (run(&once), run(&twice));
    assert_eq!(outage(&two), outage(&one));
    let crashes = two.events("crash");
    let values = |key: &str| crashes.iter().map(|crash| number(crash, key)).collect::<Vec<_>>();
    assert_eq!((values("away_ns")[0], values("recovery_ns")[0], values("log_bytes")[0]), (1e9, 0.0, 0.0));
    assert_eq!(values("recovery_ns")[1], number(one.events("crash")[0], "recovery_ns"));
    assert_eq!((&crashes[0]["back"], &crashes[1]["back"]), (&false.into(), &true.into()));
    assert_eq!(values("down_ns"), [1e9, 1e9], "what is left of the first one's time");
    assert!(two.events("missed").is_empty());
}

#[test]
fn kill_during_recovery_restarts_it() {
    let mut spec = with(lazy(plain(), 8000), kill(2 * SECOND, 0));
    model(&mut spec).recovery.as_mut().expect("a recovery").start = sourced(Time(SECOND));
    let one = run(&spec);
    spec.events.insert("again".into(), kill(2 * SECOND + SECOND / 2, SECOND));
    let two = run(&spec);
    let crashes = two.events("crash");
    assert_eq!((crashes.len(), two.events("missed").len()), (2, 0));
    assert_close(number(crashes[0], "recovery_ns"), 0.5e9, 0.02, "it was starting");
    assert_eq!((&crashes[0]["back"], &crashes[1]["back"]), (&false.into(), &true.into()));
    assert_close(outage(&two) - outage(&one), 1.5e9, 0.02, "half a start, and the time down");
}

#[test]
fn second_failover_is_missed() {
    let mut spec = spec(MYSQL_57, drive(), "64 MiB", KEYS, 8000);
    spec.start = Start::Warm;
    let once = with(mirrored(spec, 2_000_000, Protocol::FarMedium), failover(2 * SECOND, SECOND));
    let mut twice = once.clone();
    twice.events.insert("again".into(), failover(6 * SECOND, SECOND));
    let (one, two) = (run(&once), run(&twice));
    assert_eq!((two.events("failover").len(), two.events("crash").len()), (1, 1));
    assert_eq!((two.events("missed").len(), &two.events("missed")[0]["event"]), (1, &"again".into()));
    assert_eq!(outage(&two), outage(&one));
}
