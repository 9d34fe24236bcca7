//! Standby of a database: what each world makes of it, and what is refused.

use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_spec::run::{Node, RunSpec, World};
use tameshi_spec::study::{Cause, Protocol, Replication};

/// A study of updates by key on MariaDB with a standby.
fn study(replication: &str, more: &str) -> String {
    let program = "[workload.key_update]\ntables = 1\nrows = 10\nrow_size = \"200 B\"\nclients = 1";
    let text = SMALL.replace("[workload.stream.s]", program).replace("stream.s", "key_update");
    let text = text.replacen("device = \"null\"", "size = \"8 MiB\"\ndevice = \"null\"", 1);
    format!("{text}[engine.mariadb]\n[standby]\nreplication = \"{replication}\"\nlink = \"near\"\n{more}")
}

fn run_of(text: &str, world: World) -> RunSpec {
    let plan = planned_in(text, world, &profiles()).expect("plans");
    assert_eq!(plan.refusals, []);
    plan.runs[0].clone()
}

#[test]
fn emulated_run_has_a_standby_and_its_own_storage() {
    let failover = "[event.gone]\nat = \"100 ms\"\nfailover = { cause = \"link_cut\" }\n";
    let run = run_of(&study("semi_synchronous", failover), World::Emulated);
    let standby = run.database.expect("a database").standby.expect("a standby");
    assert_eq!(standby.replication, Replication::SemiSynchronous);
    assert_eq!(standby.link.round_trip.0, 10_000);
    assert!(matches!(run.storage["disk"].model, Some(Node::Device { .. })));
    assert!(run.engines["mariadb"].options.is_empty());
    let failover = run.events["gone"].failover.as_ref().expect("a failover");
    assert_eq!((failover.storage.as_deref(), failover.cause), (Some("disk"), Some(Cause::LinkCut)));
}

#[test]
fn simulated_standby_is_a_mirror_with_a_binary_log() {
    for (replication, expected) in [("asynchronous", Protocol::Asynchronous), ("semi_synchronous", Protocol::FarMemory)]
    {
        let run = run_of(&study(replication, ""), World::Simulated);
        let Some(Node::Replica { protocol, .. }) = run.storage["disk"].model else { panic!("no mirror") };
        assert_eq!(protocol, expected);
        let options = &run.engines["mariadb"].options;
        assert_eq!(options["log_bin"], "ON");
        assert_eq!(options["sync_binlog"], "1");
    }
}

#[test]
fn simulated_standby_keeps_the_users_own_options() {
    let text =
        study("asynchronous", "").replace("[engine.mariadb]", "[engine.mariadb]\noptions = { sync_binlog = \"0\" }");
    let options = run_of(&text, World::Simulated).engines["mariadb"].options.clone();
    assert_eq!(options["sync_binlog"], "0");
}

#[test]
fn impossible_standby_is_refused() {
    let kill = "[event.gone]\nat = \"100 ms\"\nkill = {}\n";
    let failover = |name: &str| format!("[event.{name}]\nat = \"100 ms\"\nfailover = {{}}\n");
    let mirrored =
        study("asynchronous", "").replace("device = \"null\"", "replica = { of.device = \"null\", link = \"near\" }");
    let alone = study("asynchronous", "[event.gone]\nat = \"1 ms\"\nfailover = { cause = \"kill\" }\n")
        .replace("[standby]\nreplication = \"asynchronous\"\nlink = \"near\"\n", "")
        .replace("device = \"null\"", "replica = { of.device = \"null\", link = \"near\" }");
    for (name, text) in [
        ("standby_of_another_product", study("remote_write", "")),
        ("standby_of_sqlite", study("asynchronous", "").replace("[engine.mariadb]", "[engine.sqlite]")),
        ("standby_without_a_link", study("asynchronous", "").replace("link = \"near\"\n", "")),
        ("standby_of_a_mirror", mirrored),
        (
            "standby_and_a_log_elsewhere",
            study(
                "asynchronous",
                "[use]\nstorage = \"disk\"\nlog = \"log\"\n[storage.log]\nsize = \"1 MiB\"\ndevice = \"null\"\n",
            ),
        ),
        ("kill_of_a_server_with_a_standby", study("asynchronous", kill)),
        ("second_failover_to_a_standby", study("asynchronous", &(failover("first") + &failover("second")))),
        ("cause_of_a_mirrors_failover", alone),
    ] {
        let error = planned_in(&text, World::Emulated, &profiles()).expect_err(name);
        check_golden(name, &error.to_string());
    }
}

#[test]
fn standby_that_a_world_has_not_is_refused() {
    let cold = study("asynchronous", "[run]\nstart = \"cold\"\n");
    for (world, text, code) in
        [(World::Measured, study("asynchronous", ""), "standby"), (World::Emulated, cold, "cold_with_standby")]
    {
        let plan = planned_in(&text, world, &profiles()).expect("plans");
        assert!(plan.refusals.iter().any(|each| each.code == code), "{world:?}: {:?}", plan.refusals);
    }
}
