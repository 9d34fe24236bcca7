//! The simulated database end to end: known answers, conserved quantities, and effects of settings.

use crate::support::{SECOND, assert_close, flash, flash_drive, null, sourced, xpoint};
use std::collections::BTreeMap;
use std::sync::Arc;
use tameshi_base::units::{Share, Size, Time};
use tameshi_record::{Control, RunStatus, Writer};
use tameshi_spec::profile::{Device, EngineModel, EngineProfile, Innodb};
use tameshi_spec::run::{Node, RunSpec, Start};
use tameshi_spec::study::Doublewrite;

pub const MYSQL_55: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-5.5.toml");
pub const MYSQL_57: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-5.7.toml");
pub const MYSQL_80: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-8.0.toml");
pub const MARIADB: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mariadb-10.11.toml");
pub const KEYS: &str = "{ key_update = { tables = 2, rows = 20000, row_size = \"400 B\", clients = 4 } }";
pub const OLTP: &str =
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
    // Counts of two runs can then be compared.
    model(&mut spec).cpu.variation = sourced(Share(0));
    spec
}

pub fn model(spec: &mut RunSpec) -> &mut Innodb {
    match &mut spec.database.as_mut().expect("a database").model {
        Some(EngineModel::Innodb(model)) => model,
        None => panic!("a model"),
    }
}

/// Background capacity below the least that a server accepts, in pages per second.
pub fn with_capacity(spec: &mut RunSpec, pages: u32) {
    let flushing = &mut model(spec).flushing;
    (flushing.io_capacity, flushing.io_capacity_max) = (sourced(pages), sourced(pages));
}

pub struct Left {
    pub digest: String,
    /// Sums over all intervals, by metric, and by metric and subject (`SUBJECT METRIC`); last
    /// values of gauges.
    sums: BTreeMap<String, f64>,
    events: Vec<serde_json::Value>,
    /// End of each interval of the load, and its statements.
    pub intervals: Vec<(u64, f64)>,
    /// Every metric of each interval of the load: its end, `SUBJECT METRIC`, and the value.
    pub load: Vec<(u64, String, f64)>,
}

impl Left {
    pub fn of(&self, metric: &str) -> f64 {
        self.sums.get(metric).copied().unwrap_or(0.0)
    }

    /// Events of a kind.
    pub fn events(&self, kind: &str) -> Vec<&serde_json::Value> {
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
        let is_gauge = ["server.checkpoint_age_bytes", "server.dirty_bytes"].contains(&fields[3]);
        *sum = if is_gauge { value } else { *sum + value };
        *sums.entry(format!("{} {}", fields[2], fields[3])).or_default() += value;
    }
    let events = file("events.jsonl").lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let value = fields[4].parse().ok()?; // The first line names the fields.
        Some((fields[0].parse().expect("a time"), format!("{} {}", fields[2], fields[3]), value))
    };
    let load: Vec<(u64, String, f64)> = file("series/load.csv").lines().filter_map(parse).collect();
    let of_statements = load.iter().filter(|(_, name, _)| name.ends_with(" statement.count"));
    let intervals = of_statements.map(|(end, _, value)| (*end, *value)).collect();
    Left { digest, sums, events, intervals, load }
}

pub fn drive() -> Device {
    flash(flash_drive(1 << 30))
}

/// A drive that writes pages of 16 KiB atomically.
fn whole_pages() -> Device {
    let mut drive = flash_drive(1 << 30);
    drive.atomic_write = Some(sourced(Size(16384)));
    flash(drive)
}

/// Processor times in round figures.
pub fn round_costs(spec: &mut RunSpec) {
    let model = model(spec);
    let cost = |nanos| sourced(Time(nanos));
    let cpu = &mut model.cpu;
    (cpu.statement, cpu.commit, cpu.page_get) = (cost(50_000), cost(10_000), cost(1_000));
    (cpu.row, cpu.change, cpu.page_read) = (cost(2_000), cost(5_000), cost(0));
}

#[test]
fn client_without_storage_time_has_its_costs_throughput() {
    let mut spec = spec(MYSQL_57, null(), "256 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1000);
    round_costs(&mut spec);
    // Pages that come in read no bitmap then.
    model(&mut spec).change_buffer = None;
    let left = run(&spec);
    // Gets: the root, the leaf, and log and header of a rollback segment; one row, one change; one
    // commit.
    assert_close(left.of("transaction.count"), 1e9 / (50_000.0 + 4_000.0 + 7_000.0 + 10_000.0), 0.001, "transactions");
    assert_close(left.of("server.page_requests"), 4.0 * left.of("transaction.count"), 0.001, "gets");
}

#[test]
fn pages_and_log_bytes_are_conserved() {
    for (profile, program) in [(MYSQL_57, OLTP), (MYSQL_55, KEYS), (MARIADB, OLTP), (MYSQL_57, TPCC)] {
        let mut spec = spec(profile, drive(), "5 MiB", program, 500);
        let left = run(&spec);
        let page = 16384.0;
        assert!(left.of("server.page_misses") > 100.0, "a small pool misses");
        assert_close(left.of("server.read_bytes"), left.of("server.pages_read") * page, 1e-9, "bytes read");
        let pages = left.of("server.pages_written") + left.of("server.doublewrite_pages");
        let log = left.of("server.written_bytes") - pages * page;
        // Whole blocks of 512 bytes, 16 of them overhead; a block is written again as it fills.
        let least = left.of("server.log_bytes") / 496.0 * 512.0;
        let most = least + left.of("server.log_writes") * 1024.0;
        // Log in the buffer at the end of the run is not written yet.
        assert!((least * 0.98 - 65_536.0..=most).contains(&log), "{log} bytes of log, expected {least} to {most}");
        // Each page is written twice; those in the doublewrite buffer at the end, two batches and
        // eight single pages, once.
        let once = left.of("server.doublewrite_pages") - left.of("server.pages_written");
        let batch = f64::from(model(&mut spec).flushing.batch.value);
        assert!((0.0..=2.0 * batch + 8.0).contains(&once), "{once} pages were written once");
        let dirty = left.of("server.dirty_bytes") / page;
        assert!(dirty > 0.0 && dirty.fract() == 0.0 && dirty <= 320.0, "{dirty} pages of a pool of 320");
        // The last requested pages may not have come, or no client may have waited for them.
        let asked = left.of("server.page_misses") + left.of("server.page_read_aheads");
        assert!((left.of("server.pages_read") - asked).abs() <= 8.0, "{asked} pages asked for");
    }
}

#[test]
fn every_program_and_version_repeats_its_digest() {
    let ycsb = "{ ycsb = { mix = \"A\", records = 20000, clients = 4 } }";
    let scan = "{ scan = { size = \"2 MB\" } }";
    let spec_tpcc = "{ tpcc = { warehouses = 1, clients = 4 } }";
    for profile in [MYSQL_55, MYSQL_57, MYSQL_80, MARIADB] {
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
fn committing_clients_form_two_groups() {
    // A transaction works for less time than a flush of the log takes. Clients that work during a
    // flush share the next one. So each transaction takes two flushes: the one it comes too late
    // for, and its own. Half of the clients share each. The rows are so few that a client soon
    // waits for one, which breaks the step in which all clients begin.
    let cost = |nanos| sourced(Time(nanos));
    let with = |device: Device, clients: u32| {
        let program = KEYS.replace("clients = 4", &format!("clients = {clients}"));
        let mut spec =
            spec(MYSQL_57, device, "256 MiB", &program.replace("20000", "500").replace("400 B", "100 B"), 500);
        spec.start = Start::Warm;
        let cpu = &mut model(&mut spec).cpu;
        (cpu.statement, cpu.commit, cpu.page_get) = (cost(1_000), cost(200), cost(100));
        (cpu.row, cpu.change, cpu.page_read) = (cost(100), cost(200), cost(0));
        run(&spec)
    };
    let work = 0.5e9 / with(null(), 1).of("transaction.count");
    let flush = 0.5e9 / with(Device::XPoint(xpoint()), 1).of("transaction.count") - work;
    assert!(work < flush, "a transaction of {work} ns, a flush of {flush} ns");
    for clients in [2u32, 4, 16] {
        let left = with(Device::XPoint(xpoint()), clients);
        let (transactions, flushes) = (left.of("transaction.count"), left.of("server.log_fsyncs"));
        assert_close(transactions / flushes, f64::from(clients) / 2.0, 0.02, "transactions for each flush");
        // One flush follows the other; with more clients each flush writes more and takes longer.
        assert!(flushes <= 0.5e9 / flush * 1.02, "{flushes} flushes");
        if clients == 2 {
            assert_close(transactions, 0.5e9 / flush, 0.02, "transactions");
        }
    }
}

#[test]
fn open_loop_client_waits_as_in_the_m_d_1_queue() {
    for load in [0.3, 0.7] {
        let service = 71_000.0;
        let rate = load * 1e9 / service;
        let program = KEYS.replace("clients = 4", &format!("clients = 1, rate = \"{rate:.0} /s\""));
        let mut spec = spec(MYSQL_57, null(), "256 MiB", &program, 20_000);
        spec.interval = Time(5 * SECOND);
        round_costs(&mut spec);
        // Else a client that changes a page being written would wait.
        model(&mut spec).flushing.latched_writes = None;
        let left = run(&spec);
        let (count, latency) = (left.of("transaction.count"), left.of("transaction.latency_sum"));
        assert_close(count, rate * 20.0, 0.01, "arrivals");
        assert!(left.of("load.started") - count <= 1.0 && left.of("load.unserved") <= 1.0);
        let wait = load * service / (2.0 * (1.0 - load));
        assert_close(latency / count, service + wait, 0.03, "latency from the arrival");
        assert_close(left.of("load.slip_ns_sum") / count, wait, 0.05, "wait");
        // The queue is counted, and meets Little's law.
        assert_close(left.of("load.waiting_ns") / count, wait, 0.05, "queue");
        assert_close(left.of("load.in_flight_ns") / count, service, 0.01, "transactions under way");
    }
}

#[test]
fn overloaded_program_counts_its_queue_and_its_clients() {
    let program = KEYS.replace("clients = 4", "clients = 4, rate = \"100000 /s\"");
    let mut spec = spec(MYSQL_57, null(), "256 MiB", &program, 4_000);
    spec.interval = Time(4 * SECOND);
    round_costs(&mut spec);
    let left = run(&spec);
    assert_close(left.of("load.in_flight_ns"), 4.0 * 4.0 * SECOND as f64, 0.001, "every client is busy");
    let (arrived, served) = (left.of("load.started") + left.of("load.unserved"), left.of("transaction.count"));
    let mean = left.of("load.waiting_ns") / (4.0 * SECOND as f64);
    assert_close(mean, (arrived - served) / 2.0, 0.01, "mean queue");
}

#[test]
fn thinking_clients_follow_the_response_time_law() {
    // Enough processors that no client waits for one: X = N / (Z + R).
    let (clients, thinking, service) = (4.0, 2e6, 71_000.0);
    let program = KEYS.replace("clients = 4", "clients = 4, think_time = \"2 ms\"");
    let mut spec = spec(MYSQL_57, null(), "256 MiB", &program, 20_000);
    spec.interval = Time(5 * SECOND);
    round_costs(&mut spec);
    model(&mut spec).flushing.latched_writes = None;
    let left = run(&spec);
    let (count, latency) = (left.of("transaction.count"), left.of("transaction.latency_sum"));
    let response = latency / count;
    assert!(response >= service && response < 1.1 * service, "{response} ns: little but the service");
    assert_close(count / 20.0, clients * 1e9 / (thinking + response), 0.02, "transactions a second");
}

#[test]
fn excess_arrivals_are_counted_and_latency_grows() {
    let program = KEYS.replace("clients = 4", "clients = 2, rate = \"1000000 /s\"");
    let left = run(&spec(MYSQL_57, drive(), "64 MiB", &program, 300));
    let (served, unserved) = (left.of("transaction.count"), left.of("load.unserved"));
    assert_close(served + unserved, 300_000.0, 0.02, "arrivals");
    assert_eq!(run(&spec(MYSQL_57, drive(), "64 MiB", &program, 300)).digest, left.digest);
    assert!(unserved > served, "{unserved} were not served, {served} were");
    assert!(left.of("transaction.latency_sum") / served > 0.1 * SECOND as f64, "those at the end have waited for long");
}

#[test]
fn unserved_arrivals_belong_to_the_program_not_its_kinds() {
    let program = TPCC.replace("clients = 8", "clients = 2, rate = \"1000000 /s\"");
    let left = run(&spec(MYSQL_57, drive(), "64 MiB", &program, 300));
    let (served, unserved) = (left.of("transaction.count"), left.of("tpcc load.unserved"));
    assert_close(served + unserved, 300_000.0, 0.02, "arrivals");
    assert_eq!(left.of("tpcc.new_order load.unserved"), 0.0);
}

#[test]
fn atomic_doublewrite_needs_drives_with_atomic_pages() {
    let said = |device: Device, wrap: fn(Box<Node>) -> Node| {
        let mut spec = spec(MYSQL_57, device.clone(), "5 MiB", KEYS, 100);
        spec.engines["mysql"].doublewrite = Some(Doublewrite::Atomic);
        spec.storage[0].model = Some(wrap(Box::new(Node::Device { profile: "test".into(), device })));
        crate::support::refused(&spec)
    };
    let alone: fn(Box<Node>) -> Node = |node| *node;
    let stripe: fn(Box<Node>) -> Node = |of| Node::Raid0 { members: 2, of, chunk: Size(16384) };
    let thin: fn(Box<Node>) -> Node = |of| Node::Raid0 { members: 2, of, chunk: Size(4096) };
    let parity: fn(Box<Node>) -> Node =
        |of| Node::Raid5 { members: 3, of, chunk: Size(65536), rebuild: tameshi_spec::run::Rebuild::default() };
    for whole in [alone, stripe] {
        assert_eq!(said(whole_pages(), whole), Vec::<String>::new());
    }
    let of_the_drive = "engine.mysql.doublewrite: `atomic` needs a storage that writes pages of 16 KiB whole, and drive `test` \
                        writes 4 KiB so (`flash.atomic_write`); say `on`";
    assert_eq!(said(drive(), stripe), [of_the_drive]);
    for (wrap, why) in [(thin, "its chunks are of 4 KiB"), (parity, "an array with parity")] {
        let sentences = said(whole_pages(), wrap);
        assert!(sentences.len() == 1 && sentences[0].contains(why), "{sentences:?}");
    }
    assert!(said(Device::XPoint(xpoint()), alone)[0].contains("drive `test` does not say that it does"));
}

#[test]
fn page_is_written_once_between_two_checkpoints() {
    // Two tables of 20000 rows, 36 per leaf, changed evenly. The log is small, the pool holds
    // everything, and no other page is changed. Each small batch takes only the oldest pages.
    let until = |millis: u64| {
        let mut small = spec(MYSQL_57, drive(), "64 MiB", KEYS, millis);
        small.engines["mysql"].redo_log = Some(Size(8 << 20));
        with_capacity(&mut small, 1);
        let rules = model(&mut small);
        (rules.undo, rules.flushing.batch, rules.flushing.neighbours) = (None, sourced(4), sourced(false));
        run(&small)
    };
    // The count begins when the log is full and wraps for the fifth time.
    let (before, left) = (until(1000), until(4000));
    let of = |metric: &str| left.of(metric) - before.of(metric);
    let transactions = of("transaction.count");
    let redo = of("server.log_bytes") / transactions;
    // Changes wait at 15/16 of nine tenths of the log's use (nine tenths less 48 pages), and the
    // oldest pages are flushed until its age is 7/8: a page has been dirty for the mean of both
    // when it is written. Then it is clean until its next change, which comes on average after as
    // many transactions as there are leaves.
    let used = 8388608.0 * 0.9 - 48.0 * 16384.0;
    let dirty = used * 0.9 * (15.0 / 16.0 + 7.0 / 8.0) / 2.0 / redo;
    let leaves = 2.0 * (10000.0_f64 / 36.0).ceil();
    let found = of("server.pages_written") / transactions;
    assert_close(found, leaves / (leaves + dirty), 0.03, "pages written for each transaction");
}

#[test]
fn batch_syncs_each_file_that_it_wrote() {
    // The pool holds everything, and the log is small: pages are written in batches only, evenly
    // from all tables. A sync takes no time, so nothing else differs.
    let keys = KEYS.replace("tables = 2", "tables = 6");
    let mut each = spec(MYSQL_57, null(), "64 MiB", &keys, 2000);
    each.engines["mysql"].redo_log = Some(Size(8 << 20));
    model(&mut each).flushing.neighbours = sourced(false);
    let mut once = each.clone();
    model(&mut once).flushing.sync_each_file = None;
    let (each, once) = (run(&each), run(&once));
    for same in ["transaction.count", "server.pages_written", "server.log_fsyncs"] {
        assert_eq!(each.of(same), once.of(same), "{same}");
    }
    // One sync for the doublewrite buffer and one for the data files; the system's file is written
    // now and then.
    let data_fsyncs = |left: &Left| left.of("server.fsyncs") - left.of("server.log_fsyncs");
    let batches = data_fsyncs(&once) / 2.0;
    let files = data_fsyncs(&each) / batches - 1.0;
    assert!(batches > 20.0 && (5.5..=7.0).contains(&files), "{files} files of each of {batches} batches");
}

#[test]
fn change_waits_for_doublewrite_or_only_for_its_write() {
    // All pages are in the pool and flushed for a small log again and again: clients wait for
    // latches, not for free pages.
    let waits = |doublewrite: Doublewrite, latched: bool| {
        let mut spec = spec(MYSQL_57, whole_pages(), "64 MiB", KEYS, 2000);
        let engine = &mut spec.engines["mysql"];
        // They don't wait for the log either.
        (engine.redo_log, engine.commit) = (Some(Size(4 << 20)), Some("0".into()));
        (engine.doublewrite, spec.start) = (Some(doublewrite), Start::Warm);
        model(&mut spec).flushing.latched_writes = latched.then(|| sourced(true));
        let left = run(&spec);
        left.of("server.time_page_latches_ns") / left.of("server.pages_written")
    };
    assert_eq!([Doublewrite::On, Doublewrite::Atomic].map(|mode| waits(mode, false)), [0.0; 2]);
    let [twice, once] = [Doublewrite::On, Doublewrite::Atomic].map(|mode| waits(mode, true));
    assert!(once > 0.0 && twice > 3.0 * once, "{twice} ns a page with a doublewrite, {once} without");
}

#[test]
fn atomic_writes_and_commit_settings_change_writes() {
    let twice = spec(MYSQL_57, whole_pages(), "5 MiB", OLTP, 300);
    let mut once = twice.clone();
    once.engines["mysql"].doublewrite = Some(Doublewrite::Atomic);
    let (twice, once) = (run(&twice), run(&once));
    assert_eq!(once.of("server.doublewrite_pages"), 0.0);
    assert!(once.of("transaction.count") > twice.of("transaction.count"));
    // A log so large that no page is flushed for it, which would flush the log first.
    let mut lazy = spec(MYSQL_57, drive(), "64 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1500);
    lazy.engines["mysql"].commit = Some("2".into());
    lazy.engines["mysql"].redo_log = Some(Size(700 << 20));
    let lazy = run(&lazy);
    // Once in the one second that ends within the run, at most a log buffer of 8 MiB at a time.
    assert!((1.0..=4.0).contains(&lazy.of("server.log_fsyncs")), "{} fsyncs", lazy.of("server.log_fsyncs"));
}

#[test]
fn all_time_of_clients_is_accounted_for() {
    for program in [KEYS, TPCC, OLTP] {
        let spec = spec(MYSQL_57, drive(), "6 MiB", program, 500);
        let clients = f64::from(spec.phases[0].programs[0].clients());
        let left = run(&spec);
        let all: f64 = left.sums.iter().filter(|(name, _)| name.starts_with("server.time_")).map(|(_, ns)| ns).sum();
        assert_close(all, clients * 0.5 * SECOND as f64, 1e-9, program);
    }
}

#[test]
fn clients_of_5_5_wait_for_the_flushing_thread() {
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
fn log_flush_of_5_5_locks_clients_out_of_the_pool() {
    let with = |look: Option<u64>, mebibytes: u64| {
        let mut spec = spec(MYSQL_55, drive(), "200 MiB", TPCC, 1500);
        (spec.start, spec.engines["mysql"].redo_log) = (Start::Warm, Some(Size(mebibytes << 20)));
        model(&mut spec).pool.look = look.map(|nanos| sourced(Time(nanos)));
        let left = run(&spec);
        (left.of("transaction.count"), left.of("server.time_pool_mutex_ns") / left.of("server.time_processor_ns"))
    };
    let [free, costly, large] = [with(None, 4), with(Some(50_000), 4), with(Some(50_000), 256)];
    assert_eq!(free.1, 0.0, "clients that look at pages in no time lock none out");
    assert!(costly.0 < free.0 * 0.95 && costly.1 > 0.05, "{costly:?} against {free:?}");
    assert!(large.1 < costly.1 / 2.0, "{large:?} against {costly:?}");
}

#[test]
fn unsupported_settings_are_refused_before_the_run() {
    let mut odd = spec(MYSQL_57, drive(), "6 MiB", KEYS, 100);
    odd.engines["mysql"].flush_method = None;
    odd.engines["mysql"].options.insert("innodb_page_size".into(), "4096".into());
    let sentences = crate::support::refused(&odd);
    assert!(sentences.iter().any(|said| said.starts_with("engine.mysql.flush_method:")), "{sentences:?}");
    assert!(sentences.iter().any(|said| said.starts_with("engine.mysql.options.innodb_page_size:")), "{sentences:?}");
    let documents = "{ document = { documents = 1000, size = \"1 KiB\", clients = 2 } }";
    let sentences = crate::support::refused(&spec(MYSQL_57, drive(), "6 MiB", documents, 100));
    assert!(sentences.iter().any(|said| said.starts_with("workload.document")), "{sentences:?}");
}

#[test]
fn scanned_start_has_read_everything_and_nothing_else() {
    let misses = |start: Start, pool: &str| {
        let mut spec = spec(MARIADB, drive(), pool, TPCC, 300);
        spec.start = start;
        let left = run(&spec);
        (left.of("server.page_misses") / left.of("server.page_requests"), left.digest)
    };
    let [warm, scanned, cold] = [Start::Warm, Start::Scanned, Start::Cold].map(|start| misses(start, "40 MiB"));
    assert_ne!(warm.1, scanned.1, "the workload follows only a warm start");
    assert!(warm.0 < cold.0 && scanned.0 < cold.0, "{warm:?}, {scanned:?}, {cold:?}");
    let all = "512 MiB";
    assert_eq!(misses(Start::Warm, all).0, misses(Start::Scanned, all).0);
}

#[test]
fn warm_start_misses_as_a_long_run_does() {
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
fn programs_of_different_tables_share_one_server() {
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
    assert!(crate::support::refused(&two).is_empty());
    let (one, again) = (run(&two), run(&two));
    assert_eq!(one.digest, again.digest);
    assert!(one.of("transaction.count") > alone, "both have worked");
}
