//! The simulated database, driven end to end: answers that are known, what must be conserved, what a setting must change.

use crate::support::{SECOND, assert_close, flash, flash_drive, null, sourced, xpoint};
use std::collections::BTreeMap;
use std::sync::Arc;
use tameshi_base::units::{Size, Time};
use tameshi_record::{Control, RunStatus, Writer};
use tameshi_spec::profile::{Device, EngineModel, EngineProfile, Innodb};
use tameshi_spec::run::{Node, RunSpec, Start};
use tameshi_spec::study::Doublewrite;

const MYSQL_55: &str = include_str!("../../../../profiles/engines/mysql-5.5.toml");
pub const MYSQL_57: &str = include_str!("../../../../profiles/engines/mysql-5.7.toml");
const MARIADB: &str = include_str!("../../../../profiles/engines/mariadb-10.11.toml");
pub const KEYS: &str = "{ key_update = { tables = 2, rows = 20000, row_size = \"400 B\", clients = 4 } }";
const OLTP: &str =
    "{ oltp = { mix = \"read_write\", clients = 4, tables = 2, rows = 50000, popularity = \"uniform\" } }";
pub const TPCC: &str = "{ tpcc = { warehouses = 1, clients = 8, manner = \"tpcc-mysql\" } }";

pub fn spec(profile: &str, device: Device, pool: &str, program: &str, millis: u64) -> RunSpec {
    let text = format!(
        r#"
        schema_version = 1
        study = "test"
        world = "simulated"
        cell = {{}}
        repetition = 0
        seed = 1
        start = "cold"
        interval = "100 ms"
        unsupported = []
        engines.mysql = {{ buffer_pool = "{pool}", redo_log = "64 MiB", flush_method = "O_DIRECT" }}
        database = {{ engine = "mysql", storage = "disk", seed = 1 }}
        [storage.disk]
        size = "1 GB"
        [[phases]]
        name = "steady"
        levels = {{}}
        streams = []
        programs = [{program}]
        ramp = "0 ns"
        until = {{ time = "{millis} ms" }}
        "#
    );
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    spec.storage[0].size = device.capacity();
    spec.storage[0].model = Some(Node::Device { profile: "test".into(), device });
    let engine: EngineProfile = toml::from_str(profile).expect("a profile");
    spec.database.as_mut().expect("a database").model = Some(engine.engine);
    spec
}

pub fn model(spec: &mut RunSpec) -> &mut Innodb {
    match &mut spec.database.as_mut().expect("a database").model {
        Some(EngineModel::Innodb(model)) => model,
        None => panic!("a model"),
    }
}

pub struct Left {
    pub digest: String,
    /// Sums over all intervals, by metric; of gauges the last.
    sums: BTreeMap<String, f64>,
    events: Vec<serde_json::Value>,
}

impl Left {
    pub fn of(&self, metric: &str) -> f64 {
        self.sums.get(metric).copied().unwrap_or(0.0)
    }

    /// The events of a kind.
    pub fn told(&self, kind: &str) -> Vec<&serde_json::Value> {
        self.events.iter().filter(|event| event["kind"] == kind).collect()
    }
}

pub fn run(spec: &RunSpec) -> Left {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["series", "histograms"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let mut writer = Writer::open(folder.path(), Arc::new(Control::default())).expect("a record");
    let (status, digest) = tameshi_sim::execute(spec, &mut writer).expect("a run");
    assert_eq!(status, RunStatus::Complete);
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("series");
    let mut sums = BTreeMap::new();
    for line in (file("series/load.csv") + &file("series/server.csv")).lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let Ok(value) = fields[4].parse::<f64>() else { continue };
        let sum: &mut f64 = sums.entry(fields[3].to_string()).or_default();
        *sum = if fields[3].ends_with("_bytes") && fields[3].contains("age") { value } else { *sum + value };
    }
    let events = file("events.jsonl").lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    Left { digest, sums, events }
}

pub fn drive() -> Device {
    flash(flash_drive(1 << 30))
}

#[test]
fn a_client_on_storage_without_time_has_the_throughput_of_its_costs() {
    let mut spec = spec(MYSQL_57, null(), "256 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1000);
    let model = model(&mut spec);
    let cost = |nanos| sourced(Time(nanos));
    let cpu = &mut model.cpu;
    (cpu.statement, cpu.commit, cpu.page_get) = (cost(50_000), cost(10_000), cost(1_000));
    (cpu.row, cpu.change, cpu.page_read) = (cost(2_000), cost(5_000), cost(0));
    let left = run(&spec);
    // Gets: the root, the leaf, and the undo page; one row, one change; one commit.
    assert_close(left.of("transaction.count"), 1e9 / (50_000.0 + 3_000.0 + 7_000.0 + 10_000.0), 0.001, "transactions");
    assert_close(left.of("server.page_requests"), 3.0 * left.of("transaction.count"), 0.001, "gets");
}

#[test]
fn pages_and_log_bytes_are_conserved() {
    for (profile, program) in [(MYSQL_57, OLTP), (MYSQL_55, KEYS), (MARIADB, OLTP), (MYSQL_57, TPCC)] {
        let left = run(&spec(profile, drive(), "5 MiB", program, 500));
        let page = 16384.0;
        assert!(left.of("server.page_misses") > 100.0, "a small pool misses");
        assert_close(left.of("server.read_bytes"), left.of("server.pages_read") * page, 1e-9, "bytes read");
        let pages = left.of("server.pages_written") + left.of("server.doublewrite_pages");
        let log = left.of("server.written_bytes") - pages * page;
        // Whole blocks of 512 bytes, each with 16 bytes of its own; a block is written anew as it fills.
        let least = left.of("server.log_bytes") / 496.0 * 512.0;
        let most = least + left.of("server.log_writes") * 1024.0;
        // What is buffered at the end of the run is not written yet.
        assert!((least * 0.98 - 65_536.0..=most).contains(&log), "{log} bytes of log, expected {least} to {most}");
        assert!(left.of("server.doublewrite_pages") >= left.of("server.pages_written"), "twice each");
        assert!(left.of("server.dirty_bytes") >= 0.0);
    }
}

#[test]
fn every_program_runs_in_every_version_and_gives_the_same_digest_again() {
    let ycsb = "{ ycsb = { mix = \"A\", records = 20000, clients = 4 } }";
    let scan = "{ scan = { size = \"2 MB\" } }";
    let spec_tpcc = "{ tpcc = { warehouses = 1, clients = 4 } }";
    for profile in [MYSQL_55, MYSQL_57, MARIADB] {
        for program in [KEYS, OLTP, TPCC, spec_tpcc, ycsb, scan] {
            let spec = spec(profile, drive(), "6 MiB", program, 200);
            let (one, two) = (run(&spec), run(&spec));
            assert!(one.of("transaction.count") > 0.0, "{program}");
            assert_eq!(one.digest, two.digest, "{program}");
        }
    }
}

#[test]
fn commits_share_flushes_of_the_log() {
    let one =
        run(&spec(MYSQL_57, Device::XPoint(xpoint()), "256 MiB", &KEYS.replace("clients = 4", "clients = 1"), 300));
    assert_close(one.of("server.log_fsyncs"), one.of("transaction.count"), 0.05, "one client flushes for each commit");
    let many =
        run(&spec(MYSQL_57, Device::XPoint(xpoint()), "256 MiB", &KEYS.replace("clients = 4", "clients = 64"), 300));
    assert!(many.of("server.log_fsyncs") * 4.0 < many.of("transaction.count"), "64 clients share");
}

#[test]
fn a_page_is_written_once_for_all_changes_between_two_checkpoints() {
    // 20000 rows of 400 bytes on some 550 leaves, changed evenly; the log is small, the pool holds everything.
    let mut small = spec(MYSQL_57, drive(), "64 MiB", KEYS, 4000);
    let engine = &mut small.engines["mysql"];
    engine.redo_log = Some(Size(8 << 20));
    engine.options.insert("innodb_io_capacity".into(), "1".into());
    engine.options.insert("innodb_io_capacity_max".into(), "1".into());
    model(&mut small).flushing.neighbours = sourced(false);
    let left = run(&small);
    let transactions = left.of("transaction.count");
    let redo = left.of("server.log_bytes") / transactions;
    // Flushed at 7/8 of nine tenths of the log: the age then is that of the oldest change.
    let between = 8388608.0 * 0.9 * 0.875 / redo;
    let leaves = 20000.0 / (15240.0 / 420.0);
    let expected = leaves / between * (1.0 - (-between / leaves).exp());
    let found = left.of("server.pages_written") / transactions;
    assert_close(found, expected, 0.2, "pages written for each transaction");
}

#[test]
fn atomic_writes_halve_what_is_written_and_settings_of_the_commit_count() {
    let twice = spec(MYSQL_57, drive(), "5 MiB", OLTP, 300);
    let mut once = twice.clone();
    once.engines["mysql"].doublewrite = Some(Doublewrite::Atomic);
    let (twice, once) = (run(&twice), run(&once));
    assert_eq!(once.of("server.doublewrite_pages"), 0.0);
    assert!(once.of("transaction.count") > twice.of("transaction.count"));
    // So large a log that no page is flushed for its sake, which would flush the log before.
    let mut lazy = spec(MYSQL_57, drive(), "64 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1500);
    lazy.engines["mysql"].commit = Some("2".into());
    lazy.engines["mysql"].redo_log = Some(Size(700 << 20));
    let lazy = run(&lazy);
    // Once in the one second that ends within the run, at most a log buffer of 8 MiB at a time.
    assert!((1.0..=4.0).contains(&lazy.of("server.log_fsyncs")), "{} fsyncs", lazy.of("server.log_fsyncs"));
}

#[test]
fn the_time_of_all_clients_is_accounted_for() {
    for program in [KEYS, TPCC, OLTP] {
        let spec = spec(MYSQL_57, drive(), "6 MiB", program, 500);
        let clients = f64::from(spec.phases[0].programs[0].clients());
        let left = run(&spec);
        let all: f64 = left.sums.iter().filter(|(name, _)| name.starts_with("server.time_")).map(|(_, ns)| ns).sum();
        assert_close(all, clients * 0.5 * SECOND as f64, 1e-9, program);
    }
}

#[test]
fn in_5_5_all_wait_for_the_thread_that_flushes_and_longer_if_looking_for_pages_costs_more() {
    let with = |look: Option<u64>| {
        let mut spec = spec(MYSQL_55, drive(), "9 MiB", TPCC, 1500);
        model(&mut spec).pool.look = look.map(|nanos| sourced(Time(nanos)));
        let left = run(&spec);
        let all: f64 = left.sums.iter().filter(|(name, _)| name.starts_with("server.time_")).map(|(_, ns)| ns).sum();
        (left.of("transaction.count"), left.of("server.time_free_pages_ns") / all)
    };
    let (free, costly) = (with(None), with(Some(3000)));
    assert!(free.1 > 0.05, "a share of {} for free pages", free.1);
    assert!(costly.0 < free.0 * 0.8 && costly.1 > free.1, "{costly:?} against {free:?}");
}

#[test]
fn what_is_not_simulated_is_said_before_anything_runs() {
    let mut odd = spec(MYSQL_57, drive(), "6 MiB", KEYS, 100);
    odd.engines["mysql"].flush_method = None;
    odd.engines["mysql"].options.insert("innodb_page_size".into(), "4096".into());
    let sentences = tameshi_sim::unsupported(&odd);
    assert!(sentences.iter().any(|said| said.starts_with("engine.mysql.flush_method:")), "{sentences:?}");
    assert!(sentences.iter().any(|said| said.starts_with("engine.mysql.options.innodb_page_size:")), "{sentences:?}");
    let deferred = "{ tpcc = { warehouses = 1, clients = 2, delivery = \"deferred\", rate = \"5 /s\" } }";
    let sentences = tameshi_sim::unsupported(&spec(MYSQL_57, drive(), "6 MiB", deferred, 100));
    assert_eq!(sentences.len(), 2, "{sentences:?}");
}

#[test]
fn a_warm_start_misses_nothing_that_fits_and_else_as_much_as_a_run_that_has_gone_on_for_long() {
    let mut fits = spec(MYSQL_57, drive(), "64 MiB", KEYS, 200);
    assert!(run(&fits).of("server.page_misses") > 100.0, "a cold start misses");
    fits.start = Start::Warm;
    let left = run(&fits);
    assert!(left.of("transaction.count") > 0.0);
    assert_eq!(left.of("server.page_misses"), 0.0);
    for program in [TPCC, KEYS] {
        let ratio = |left: &Left, before: Option<&Left>| {
            let gained = |metric: &str| left.of(metric) - before.map_or(0.0, |before| before.of(metric));
            gained("server.page_misses") / gained("server.page_requests")
        };
        let mut spec = spec(MYSQL_57, drive(), "6 MiB", program, 3000);
        let half = run(&spec);
        spec.phases[0].until.time = Some(Time(6 * SECOND));
        let late = ratio(&run(&spec), Some(&half));
        spec.phases[0].until.time = Some(Time(SECOND));
        spec.start = Start::Warm;
        assert_close(ratio(&run(&spec), None), late, 0.1, program);
    }
}

#[test]
fn programs_of_different_tables_follow_one_another_on_one_server() {
    let mut two = spec(MYSQL_57, drive(), "8 MiB", "{ scan = { size = \"4 MB\" } }", 300);
    let mut second = two.phases[0].clone();
    second.name = "tpcc".into();
    second.programs = spec(MYSQL_57, drive(), "8 MiB", TPCC, 300).phases[0].programs.clone();
    let alone = {
        let mut alone = two.clone();
        alone.phases = vec![second.clone()];
        run(&alone).of("transaction.count")
    };
    two.phases.push(second);
    assert!(tameshi_sim::unsupported(&two).is_empty());
    let (one, again) = (run(&two), run(&two));
    assert_eq!(one.digest, again.digest);
    assert!(one.of("transaction.count") > alone, "both have worked");
}
