//! How fast databases are simulated, recording on: `cargo run --release -p tameshi-sim --example database_speed`,
//! of all cases or those whose name contains the first argument, as many times as long as the second says, and in the mode that
//! is the third.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use tameshi_record::{Control, Writer};
use tameshi_spec::profile::{DeviceProfile, EngineProfile, HostProfile};
use tameshi_spec::run::{Node, RunSpec};

const FLASH: &str = include_str!("../../../profiles/devices/es3000-1.2t.toml");
const DISK: &str = include_str!("../../../profiles/devices/sas-15k-146gb.toml");
const HOST: &str = include_str!("../../../profiles/hosts/2x-xeon-e5620-rhel5.toml");
const MYSQL_55: &str = include_str!("../../../profiles/engines/mysql-5.5.toml");
const MYSQL_57: &str = include_str!("../../../profiles/engines/mysql-5.7.toml");
const MARIADB: &str = include_str!("../../../profiles/engines/mariadb-10.11.toml");

fn spec(engine: &str, device: &str, pool: &str, program: &str, seconds: u64, mode: &str) -> RunSpec {
    let text = format!(
        r#"
        schema_version = 1
        study = "speed"
        world = "simulated"
        cell = {{}}
        repetition = 0
        seed = 1
        start = "cold"
        interval = "10 s"
        unsupported = []
        engines.mysql = {{ buffer_pool = "{pool}", redo_log = "1 GiB", flush_method = "O_DIRECT" }}
        database = {{ engine = "mysql", storage = "disk", seed = 1, mode = "{mode}" }}
        [storage.disk]
        size = "80 GB"
        [[phases]]
        name = "steady"
        levels = {{}}
        streams = []
        programs = [{program}]
        ramp = "0 ns"
        until = {{ time = "{seconds} s" }}
        "#
    );
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    let profile: DeviceProfile = toml::from_str(device).expect("a profile");
    spec.storage[0].model = Some(Node::Device { profile: "speed".into(), device: profile.device });
    let engine: EngineProfile = toml::from_str(engine).expect("a profile");
    if let Some(database) = &mut spec.database {
        database.model = Some(engine.engine);
    }
    let host: HostProfile = toml::from_str(HOST).expect("a profile");
    spec.host = Some(tameshi_spec::run::HostSpec {
        profile: "host".into(),
        model: host.host,
        cores: None,
        memory: None,
        submission: None,
    });
    spec
}

fn main() {
    let tpcc = |w: u32, n: u32| format!("{{ tpcc = {{ warehouses = {w}, clients = {n}, manner = \"tpcc-mysql\" }} }}");
    let oltp =
        "{ oltp = { mix = \"read_write\", clients = 16, tables = 4, rows = 1000000, popularity = \"uniform\" } }";
    let keys = "{ key_update = { tables = 10, rows = 5000000, row_size = \"4800 B\", clients = 20 } }";
    let scan = "{ scan = { size = \"4 GB\" } }";
    let cases = [
        ("tpcc 90, flash, 40 GiB", MYSQL_55, FLASH, "40 GiB", tpcc(90, 20), 60),
        ("tpcc 270, flash, 40 GiB", MYSQL_55, FLASH, "40 GiB", tpcc(270, 20), 60),
        ("tpcc 90, flash, 256 MiB", MYSQL_55, FLASH, "256 MiB", tpcc(90, 20), 60),
        ("tpcc 90, disk, 256 MiB", MYSQL_55, DISK, "256 MiB", tpcc(90, 20), 120),
        ("tpcc 500, flash, 5 MiB, 5.7", MYSQL_57, FLASH, "5 MiB", tpcc(500, 50), 20),
        ("tpcc 90, flash, 256 MiB, MariaDB", MARIADB, FLASH, "256 MiB", tpcc(90, 20), 20),
        ("oltp, flash, 512 MiB, 5.7", MYSQL_57, FLASH, "512 MiB", oltp.to_string(), 20),
        ("key_update, flash, 256 MiB, 5.7", MYSQL_57, FLASH, "256 MiB", keys.to_string(), 20),
        ("scan, flash, 5 MiB, 5.7", MYSQL_57, FLASH, "5 MiB", scan.to_string(), 20),
    ];
    let only = std::env::args().nth(1).unwrap_or_default();
    let times: u64 = std::env::args().nth(2).map_or(1, |times| times.parse().expect("a number"));
    let mode = std::env::args().nth(3).unwrap_or("exact".into());
    for (name, engine, device, pool, program, seconds) in cases.into_iter().filter(|(name, ..)| name.contains(&only)) {
        let seconds = seconds * times;
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["series", "histograms"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let mut writer = Writer::open(folder.path(), Arc::new(Control::default())).expect("a record");
        let spec = spec(engine, device, pool, &program, seconds, &mode);
        let begin = Instant::now();
        let (_, digest) = tameshi_sim::execute(&spec, &mut writer).expect("a run");
        let took = begin.elapsed().as_secs_f64();
        let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("series");
        let series = file("series/load.csv") + &file("series/server.csv");
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for line in series.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            *sums.entry(fields[3].to_string()).or_default() += fields[4].parse::<f64>().unwrap_or(0.0);
        }
        let rate = |metric: &str| sums.get(metric).copied().unwrap_or(0.0) / seconds as f64;
        println!(
            "{name}: {:.0} statements/s, {:.0} transactions/s, {:.0} gets/s, {:.0} misses/s, {:.0} pages written/s, \
             log {:.2} MB/s; took {took:.1} s, {:.2} million gets/s; {digest}",
            rate("server.statements"),
            rate("transaction.count"),
            rate("server.page_requests"),
            rate("server.page_misses"),
            rate("server.pages_written"),
            rate("server.log_bytes") / 1e6,
            rate("server.page_requests") * seconds as f64 / 1e6 / took,
        );
        let all: f64 = sums.iter().filter(|(name, _)| name.starts_with("server.time_")).map(|(_, ns)| ns).sum();
        for (name, ns) in sums.iter().filter(|(name, ns)| name.starts_with("server.time_") && **ns > 0.0) {
            print!("  {} {:.1} %", name.trim_start_matches("server.time_"), ns / all * 100.0);
        }
        println!();
    }
}
