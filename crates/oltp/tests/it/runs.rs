//! Whole runs: their records, the ledger, the conditions, and detection of faults by the check.

use crate::support::{loaded, spec, tpcc};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tameshi_base::{Rate, Time};
use tameshi_oltp::{OltpSpec, Phase, Plan, Power, Session, check_program, execute_program, load_program};
use tameshi_record::{Control, RunStatus, Writer};
use tameshi_workload::program::{
    Delivery, KeyUpdate, Manner, Oltp, OltpMix, Program, ProgramSpec, Tpcc, Ycsb, YcsbMix,
};

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn writer(folder: &Path, control: &Arc<Control>) -> Writer {
    ["series", "histograms"].iter().for_each(|name| fs::create_dir_all(folder.join(name)).expect("a folder"));
    Writer::open(folder, Arc::clone(control)).expect("a record")
}

fn run(spec: &OltpSpec, program: &Program, folder: &Path) -> tameshi_oltp::RunOutcome {
    execute_program(spec, program.clone(), now(), &mut writer(folder, &Arc::default()), &Power::default())
        .expect("a run")
}

/// Sum of a metric over all rows of the series whose subject starts with `subject`.
fn total(folder: &Path, subject: &str, metric: &str) -> u64 {
    let series = fs::read_to_string(folder.join("series/load.csv")).expect("a series");
    let rows = series.lines().map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[2].starts_with(subject) && row[3] == metric)
        .filter_map(|row| row[4].parse::<u64>().ok())
        .sum()
}

fn sql(spec: &OltpSpec, program: &Program, text: &str) {
    let mut session = Session::open(&spec.target, &Plan::new(spec, program)).expect("a connection");
    session.plain(text).expect("carried out");
}

#[test]
fn tpcc_run_leaves_record_by_kind_and_consistent_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Tpcc(tpcc(3, Manner::Specification, Delivery::AtOnce)), 1500);
    let program = loaded(&spec);
    let before = check_program(&spec, &program, true).expect("checked");
    assert!(before.holds, "{before:?}");
    assert_eq!(
        before.conditions.iter().map(|condition| condition.number).collect::<Vec<_>>(),
        (1..=12).collect::<Vec<_>>()
    );
    let done = run(&spec, &program, folder.path());
    assert_eq!(done.status, RunStatus::Complete);
    assert!(done.completed > 50, "{done:?}");
    assert_eq!(total(folder.path(), "tpcc.", "transaction.count"), done.completed);
    assert!(total(folder.path(), "tpcc", "statement.count") > 10 * done.completed);
    assert!(total(folder.path(), "tpcc", "load.cpu_ns") > 0);
    let kinds = ["reads", "writes", "others"].map(|kind| total(folder.path(), "tpcc", &format!("statement.{kind}")));
    assert_eq!(kinds.iter().sum::<u64>(), total(folder.path(), "tpcc", "statement.count"));
    assert!(kinds.iter().all(|kind| *kind > 0), "{kinds:?}");
    assert!(total(folder.path(), "tpcc", "statement.ended") >= done.completed);
    let histograms = fs::read_to_string(folder.path().join("histograms/load.hlog")).expect("histograms");
    let latencies = tameshi_record::histograms::summarise(&histograms, &Default::default()).expect("readable");
    let counted: u64 = latencies.values().map(|latencies| latencies.count).sum();
    assert_eq!(counted, done.completed, "every response time is in a histogram");
    assert!(latencies.contains_key("0/steady/tpcc.new_order/transaction"), "{:?}", latencies.keys());
    let events = fs::read_to_string(folder.path().join("events.jsonl")).expect("events");
    assert!(events.contains("\"mix_audit\"") && events.contains("\"phase_ramped\"") && !events.contains("\"outage\""));
    let after = check_program(&spec, &program, false).expect("checked");
    let ledger = after.ledger.clone().expect("a ledger");
    assert!(after.holds && ledger.acknowledged > 20 && ledger.ambiguous == 0, "{after:?}");
    assert_eq!(after.conditions.len(), 12, "the eleventh too, although orders were delivered");
}

#[test]
fn lost_and_doubled_commits_and_violations_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Tpcc(tpcc(2, Manner::TpccMysql, Delivery::AtOnce)), 600);
    let program = loaded(&spec);
    run(&spec, &program, folder.path());
    assert!(check_program(&spec, &program, false).expect("checked").holds);
    sql(&spec, &program, "DELETE FROM tameshi_ledger WHERE client = 0 AND number = 2");
    sql(&spec, &program, "INSERT INTO tameshi_ledger SELECT * FROM tameshi_ledger WHERE client = 1 AND number = 1");
    sql(
        &spec,
        &program,
        "INSERT INTO tameshi_ledger SELECT run, client, 1000000 FROM tameshi_ledger WHERE client = 1 AND number = 3",
    );
    sql(&spec, &program, "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_o_id = 1 AND ol_number = 1");
    let found = check_program(&spec, &program, false).expect("checked");
    let ledger = found.ledger.clone().expect("a ledger");
    assert_eq!((ledger.lost, ledger.twice, ledger.phantom), (1, 1, 1), "{ledger:?}");
    assert_eq!((ledger.lost_first[0].1, ledger.lost_first[0].2), (0, 2));
    let broken: Vec<u32> = found.conditions.iter().filter(|c| c.broken > 0).map(|c| c.number).collect();
    assert_eq!(broken, [4, 6], "a line is missing");
    assert!(!found.holds);
}

#[test]
fn partial_delivery_or_missing_order_violates_condition_11() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Tpcc(tpcc(2, Manner::Specification, Delivery::AtOnce)), 900);
    let program = loaded(&spec);
    run(&spec, &program, folder.path());
    let broken = |spec: &OltpSpec| {
        let found = check_program(spec, &program, false).expect("checked");
        found.conditions.iter().filter(|c| c.broken > 0).map(|c| (c.number, c.broken)).collect::<Vec<_>>()
    };
    assert_eq!(broken(&spec), []);
    sql(&spec, &program, "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = 2 AND c_id = 3");
    assert_eq!(broken(&spec), [(11, 10)], "in ten districts");
    sql(&spec, &program, "UPDATE customer SET c_delivery_cnt = c_delivery_cnt - 1 WHERE c_w_id = 2 AND c_id = 3");
    for table in ["orders WHERE o_id = 1", "order_line WHERE ol_o_id = 1"] {
        sql(&spec, &program, &format!("DELETE FROM {table}"));
    }
    assert!(broken(&spec).contains(&(11, 20)), "{:?}", broken(&spec));
}

#[test]
fn phases_of_one_program_continue_its_new_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = Ycsb { mix: YcsbMix::D, records: 200, clients: 2, rate: None, think_time: Time(0) };
    let mut spec = spec(folder.path(), ProgramSpec::Ycsb(of), 300);
    spec.phases.push(Phase { name: "again".into(), ..spec.phases[0].clone() });
    let program = loaded(&spec);
    let done = run(&spec, &program, folder.path());
    assert!(total(folder.path(), "ycsb.insert", "transaction.count") > 1, "{done:?}");
    assert_eq!(done.errors.keys().filter(|code| code.contains("Constraint")).count(), 0, "{:?}", done.errors);
}

#[test]
fn outcomes_are_counted_by_kind_and_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spec = spec(folder.path(), ProgramSpec::Tpcc(tpcc(4, Manner::Specification, Delivery::AtOnce)), 1000);
    spec.phases[0].ramp = tameshi_base::Time(0);
    let program = loaded(&spec);
    // New orders need the table stock; payments do not.
    sql(&spec, &program, "DROP TABLE stock");
    let done = run(&spec, &program, folder.path());
    assert!(total(folder.path(), "tpcc.new_order", "transaction.failed") > 0, "{done:?}");
    assert_eq!(total(folder.path(), "tpcc.payment", "transaction.failed"), 0);
    assert!(total(folder.path(), "tpcc.payment", "transaction.count") > 0);
    let events = fs::read_to_string(folder.path().join("events.jsonl")).expect("events");
    let clients = events.lines().find(|line| line.contains("\"kind\":\"clients\"")).expect("an event");
    let clients: serde_json::Value = serde_json::from_str(clients).expect("an event");
    let of = |key: &str| clients[key].as_array().expect("a list").iter().filter_map(|n| n.as_u64()).collect::<Vec<_>>();
    assert_eq!((of("completed").len(), of("completed").iter().sum::<u64>()), (4, done.completed));
    // On a busy machine one client may complete nothing in a second; a client that completed
    // something took time for it.
    let worked: Vec<bool> = of("completed").iter().zip(of("busy_ns")).map(|(&done, ns)| done == 0 || ns > 0).collect();
    assert!(done.completed > 0 && worked == [true; 4], "{clients}");
}

#[test]
fn deferred_deliveries_run_in_background_and_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Tpcc(tpcc(2, Manner::Specification, Delivery::Deferred)), 1500);
    let program = loaded(&spec);
    let whole = run(&spec, &program, folder.path());
    let of = |kind: &str, metric: &str| total(folder.path(), &format!("tpcc.{kind}"), &format!("transaction.{metric}"));
    let kinds = ["new_order", "payment", "order_status", "delivery", "stock_level"].map(|kind| of(kind, "count"));
    assert_eq!((kinds.iter().sum::<u64>(), of("", "count")), (whole.completed, whole.completed));
    let (done, left) = (kinds[3], total(folder.path(), "tpcc.delivery", "load.unserved"));
    // Each of two terminals has a delivery and ten orders in its deck, and may be anywhere in it.
    assert!(done > 0 && (done + left).abs_diff(kinds[0] / 10) <= 3, "{done} and {left}: {kinds:?}");
    assert!(of("delivery", "latency_sum") / done > of("payment", "latency_sum") / kinds[1], "none takes no time");
    assert!(check_program(&spec, &program, false).expect("checked").holds);
}

#[test]
fn open_loop_serves_its_rate_or_counts_unserved() {
    let folder = tempfile::tempdir().expect("a folder");
    let rate = Some(Rate(400_000));
    let of = Oltp { rate, ..Oltp::of(OltpMix::PointSelect, 2, 1, 200) };
    let spec = spec(folder.path(), ProgramSpec::Oltp(of), 1500);
    let program = loaded(&spec);
    run(&spec, &program, folder.path());
    let (served, unserved) =
        (total(folder.path(), "oltp", "transaction.count"), total(folder.path(), "oltp", "load.unserved"));
    // Poisson with a mean of 600: five standard deviations, at any machine load.
    assert!((478..=722).contains(&(served + unserved)), "{served} served, {unserved} not");
    assert_eq!(total(folder.path(), "oltp", "load.started"), served);
}

/// Run with a million arrivals per second, of which a database serves few.
fn flooded(folder: &Path, milliseconds: u64) -> (OltpSpec, Program) {
    let rate = Some(Rate(1_000_000_000));
    let of = Tpcc { rate, ..tpcc(2, Manner::Specification, Delivery::AtOnce) };
    let spec = spec(folder, ProgramSpec::Tpcc(of), milliseconds);
    let program = loaded(&spec);
    (spec, program)
}

#[test]
fn unbegun_arrivals_count_for_the_program_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spec, program) = flooded(folder.path(), 500);
    run(&spec, &program, folder.path());
    let of = |subject: &str, metric: &str| total(folder.path(), subject, metric);
    let (served, unserved) = (of("tpcc.", "transaction.count"), of("tpcc", "load.unserved"));
    assert!((served + unserved).abs_diff(500_000) < 3600, "five standard deviations: {served} served, {unserved} not");
    assert_eq!(of("tpcc.", "load.unserved"), 0);
}

#[test]
fn no_arrivals_after_the_end_of_a_phase() {
    let folder = tempfile::tempdir().expect("a folder");
    let (spec, program) = flooded(folder.path(), 300);
    let mut other = Session::open(&spec.target, &Plan::new(&spec, &program)).expect("a connection");
    std::thread::scope(|scope| {
        other.plain("BEGIN IMMEDIATE").expect("no other writer");
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(1500));
            other.plain("COMMIT").expect("let go");
        });
        run(&spec, &program, folder.path());
    });
    let of = |subject: &str, metric: &str| total(folder.path(), subject, metric);
    let (served, unserved) = (of("tpcc.", "transaction.count"), of("tpcc", "load.unserved"));
    assert!((served + unserved).abs_diff(300_000) < 2800, "five standard deviations: {served} served, {unserved} not");
}

#[test]
fn think_time_bounds_the_request_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let think_time = Time(20_000_000);
    let of = Oltp { think_time, ..Oltp::of(OltpMix::PointSelect, 2, 1, 200) };
    let spec = spec(folder.path(), ProgramSpec::Oltp(of), 1500);
    let program = loaded(&spec);
    run(&spec, &program, folder.path());
    let served = total(folder.path(), "oltp", "transaction.count");
    // Two users, a mean of 20 ms, 1.5 s: at most 150 and the two first ones, and five standard
    // deviations.
    assert!((20..=152 + 62).contains(&served), "{served}");
}

#[test]
fn single_statements_get_a_ledger_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = KeyUpdate {
        tables: 2,
        rows: 200,
        row_size: tameshi_base::Size(200),
        clients: 2,
        rate: None,
        think_time: Time(0),
    };
    let spec = spec(folder.path(), ProgramSpec::KeyUpdate(of), 400);
    let program = loaded(&spec);
    let done = run(&spec, &program, folder.path());
    let found = check_program(&spec, &program, false).expect("checked");
    let ledger = found.ledger.clone().expect("a ledger");
    assert!(found.holds && ledger.acknowledged > 0 && ledger.acknowledged <= done.completed, "{found:?}");
    // One update each as without a ledger; BEGIN, INSERT and COMMIT are the ledger's.
    let of = |metric| total(folder.path(), "key_update", metric);
    assert_eq!(of("statement.others"), 0);
    assert!((of("statement.count")..=of("statement.count") + 4).contains(&(of("statement.ledger") / 3)));
}

#[test]
fn clients_reconnect_after_n_transactions() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = Oltp { reconnect: 5, ..Oltp::of(OltpMix::PointSelect, 2, 1, 200) };
    let spec = spec(folder.path(), ProgramSpec::Oltp(of), 300);
    let program = loaded(&spec);
    let done = run(&spec, &program, folder.path());
    let connected = total(folder.path(), "oltp", "load.reconnects");
    assert!(connected > 0 && connected <= done.completed / 5 && connected + 2 >= done.completed / 5, "{done:?}");
    let events = fs::read_to_string(folder.path().join("events.jsonl")).expect("events");
    assert!(!events.contains("\"outage\""), "it is no outage");
}

#[test]
fn rows_numbered_by_clients_are_unique_in_all_phases() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = Oltp { auto_inc: false, ..Oltp::of(OltpMix::Insert, 2, 2, 200) };
    let mut spec = spec(folder.path(), ProgramSpec::Oltp(of), 200);
    spec.phases.push(Phase { name: "again".into(), ..spec.phases[0].clone() });
    let program = spec.program();
    assert_eq!(load_program(&spec, &program, 0, &AtomicU64::new(0)).expect("loaded"), 0);
    let done = run(&spec, &program, folder.path());
    assert!(done.completed > 10 && done.errors.keys().all(|code| !code.contains("Constraint")), "{done:?}");
}

#[test]
fn loading_over_existing_tables_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Oltp(Oltp::of(OltpMix::ReadOnly, 1, 1, 100)), 100);
    loaded(&spec);
    let refused = load_program(&spec, &spec.program(), 0, &AtomicU64::new(0)).expect_err("the table is there");
    assert!(refused.to_string().starts_with("making table sbtest1 failed"), "{refused}");
    let mut session = Session::open(&spec.target, &Plan::new(&spec, &spec.program())).expect("a connection");
    let rows = session.query("SELECT COUNT(*) FROM sbtest1").expect("counted");
    assert_eq!(rows, [[Some("100".to_string())]]);
}

#[test]
fn phase_without_success_is_an_error_with_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Oltp(Oltp::of(OltpMix::PointSelect, 1, 1, 100)), 300);
    let program = loaded(&spec);
    sql(&spec, &program, "DROP TABLE sbtest1");
    let failed = execute_program(&spec, program, now(), &mut writer(folder.path(), &Arc::default()), &Power::default());
    let said = failed.expect_err("nothing can succeed").to_string();
    assert!(said.contains("no such table: sbtest1"), "{said}");
    let events = fs::read_to_string(folder.path().join("events.jsonl")).expect("events");
    assert!(events.contains("\"errors\"") && events.contains("\"kind\":\"error\""), "{events}");
}

#[test]
fn stopped_database_run_leaves_a_partial_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = spec(folder.path(), ProgramSpec::Oltp(Oltp::of(OltpMix::PointSelect, 2, 1, 100)), 60_000);
    let program = loaded(&spec);
    let control: Arc<Control> = Arc::default();
    let mut writer = writer(folder.path(), &control);
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        control.stop();
    });
    let done = execute_program(&spec, program, now(), &mut writer, &Power::default()).expect("a run");
    stopper.join().expect("stopped");
    assert_eq!(done.status, RunStatus::Partial);
    assert!(done.completed > 0);
}

#[test]
fn answers_after_power_cut_do_not_count_and_clients_return() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = KeyUpdate {
        tables: 1,
        rows: 200,
        row_size: tameshi_base::Size(200),
        clients: 2,
        rate: None,
        think_time: Time(0),
    };
    let spec = spec(folder.path(), ProgramSpec::KeyUpdate(of), 1500);
    let program = loaded(&spec);
    let power = Power::default();
    let cut = power.clone();
    let switch = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        cut.fail();
        std::thread::sleep(std::time::Duration::from_millis(400));
        cut.restore();
    });
    let mut writer = writer(folder.path(), &Arc::default());
    let done = execute_program(&spec, program.clone(), now(), &mut writer, &power).expect("a run");
    switch.join().expect("cut");
    assert_eq!(done.status, RunStatus::Complete);
    let found = check_program(&spec, &program, false).expect("checked");
    let ledger = found.ledger.clone().expect("a ledger");
    assert!(found.holds && (1..=2).contains(&ledger.ambiguous), "one commit of each client at most: {ledger:?}");
    assert_eq!(ledger.ambiguous_present, ledger.ambiguous, "nothing was cut in truth");
    let events = fs::read_to_string(folder.path().join("events.jsonl")).expect("events");
    assert_eq!(events.matches("\"outage\"").count(), 2, "kind and fields of one: {events}");
}
