//! Settings of programs that can't be.

use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_spec::run::World;

#[test]
fn rate_with_think_time_is_refused() {
    let keys = "tables = 1\nrows = 9\nrow_size = \"200 B\"";
    let tpcc = ("tpcc", "warehouses = 1", "waits", "specification");
    for (word, keys, pauses, time) in [("key_update", keys, "think_time", "5 ms"), tpcc] {
        let plan = |more: &str| {
            let program = format!("[workload.{word}]\n{keys}\nclients = 1\n{more}{pauses} = \"{time}\"\n");
            let study = SMALL.replace("device = \"null\"", "size = \"1 GiB\"") + "\n[engine.sqlite]\n";
            let study = study.replace("[workload.stream.s]", &program).replace("stream.s", word);
            planned_in(&study, World::Measured, &profiles())
        };
        let error = plan("rate = \"10 /s\"\n").expect_err("think time has no effect with a rate").to_string();
        check_golden(&format!("rate_and_{pauses}"), &error);
        plan("").expect("alone they can be");
    }
}

#[test]
fn programs_of_nothing_are_refused() {
    let nothing =
        "point_selects = 0\nrange_selects = false\nindex_updates = 0\nnon_index_updates = 0\ndelete_inserts = 0";
    let deferred = "warehouses = 1\nmanner = \"tpcc-mysql\"\ndelivery = \"deferred\"";
    for (name, word, keys) in [
        ("no_warehouses", "tpcc", "warehouses = 0"),
        ("no_clients", "scan", "size = \"1 GiB\"\nclients = 0"),
        ("deferred_by_tpcc_mysql", "tpcc", deferred),
        ("no_tables", "oltp", "mix = \"read_only\"\ntables = 0\nrows = 9"),
        ("no_statements", "oltp", &format!("mix = \"read_write\"\ntables = 1\nrows = 9\n{nothing}")),
        ("no_rows", "key_update", "tables = 1\nrows = 0\nrow_size = \"200 B\""),
        ("few_rows", "key_update", "tables = 4\nrows = 3\nrow_size = \"200 B\""),
        ("no_size", "scan", "size = \"0 B\""),
        ("no_records", "ycsb", "mix = \"D\"\nrecords = 0"),
    ] {
        let clients = if keys.contains("clients") { "" } else { "clients = 1\n" };
        let program = format!("[workload.{word}]\n{keys}\n{clients}");
        let study = SMALL.replace("device = \"null\"", "size = \"1 GiB\"") + "\n[engine.sqlite]\n";
        let study = study.replace("[workload.stream.s]", &program).replace("stream.s", word);
        let error = planned_in(&study, World::Measured, &profiles()).expect_err(name).to_string();
        check_golden(&format!("program_{name}"), &error);
    }
}

#[test]
fn files_have_a_storage_of_their_own_only_if_it_is_another() {
    let program = "[workload.key_update]\ntables = 1\nrows = 9\nrow_size = \"200 B\"\nclients = 1\n";
    let study = |uses: &str| {
        let study = SMALL.replace("device = \"null\"", "size = \"1 GiB\"") + "\n[engine.mariadb]\n";
        let study = study.replace("[workload.stream.s]", program).replace("stream.s", "key_update");
        let study = format!("{study}[storage.fast]\nsize = \"1 GiB\"\n[use]\nstorage = \"disk\"\n{uses}");
        planned_in(&study, World::Measured, &profiles())
    };
    let roles = |uses: &str| {
        let plan = study(uses).expect("plans");
        let database = plan.runs[0].database.clone().expect("a database");
        let storages: Vec<String> = plan.runs[0].storage.keys().cloned().collect();
        (database.log, database.binlog, database.temp, storages.join(" "))
    };
    let some = |name: &str| Some(name.to_string());
    assert_eq!(roles("log = \"fast\"\n"), (some("fast"), None, None, "disk fast".into()));
    assert_eq!(roles("log = \"disk\"\ntemp = \"disk\"\n"), (None, None, None, "disk".into()));
    assert_eq!(roles("binlog = \"disk\"\n"), (None, some("disk"), None, "disk".into()));
    let error = study("log = \"fsat\"\n").expect_err("no such storage").to_string();
    check_golden("log_on_an_unknown_storage", &error);
}

#[test]
fn study_on_a_running_server_needs_no_storage() {
    let study = |engine: &str, more: &str| {
        let program = "[workload.key_update]\ntables = 1\nrows = 9\nrow_size = \"200 B\"\nclients = 1\n";
        let study = SMALL.replace("[storage.disk]\ndevice = \"null\"\n", "").replace("[workload.stream.s]", program);
        format!("{}\n[engine.mariadb]\n{engine}{more}", study.replace("stream.s", "key_update"))
    };
    let plan = |world, text: &str| planned_in(text, world, &profiles());
    let dsn = "dsn = \"mariadb://ann@db.example/scratch\"\n";
    let found = plan(World::Measured, &study(dsn, "")).expect("plans");
    assert_eq!(found.runs[0].database.as_ref().expect("a database").storage, "server");
    assert_eq!(found.storage_bytes["server"], 0);
    let missing = "the study defines several storages (or none); say which is used";
    for (world, text) in [
        (World::Measured, study("", "")),
        (World::Simulated, study(dsn, "")),
        (World::Measured, study(dsn, "[engine.postgresql]\n[use]\nengine = \"postgresql\"\n")),
    ] {
        assert_eq!(plan(world, &text).expect_err("no storage").message, missing);
    }
}
