//! Bounds of a study, and settings without effect: refused before a run is made.

use crate::golden::check_golden;
use crate::support::{NULL_PROFILE, SMALL, planned, planned_in, profiles};
use tameshi_base::InputErrorKind::{self, BadValue, Conflict, UnknownName};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

fn refused(name: &str, more: &str, kind: InputErrorKind) {
    let error = planned(&format!("{SMALL}{more}\n")).expect_err(name);
    assert_eq!(error.kind, kind, "{name}: {error}");
    assert!(!error.accepted.is_empty() && error.line > 1, "{name}: {error}");
    check_golden(name, &error.to_string());
}

const LEVELS: &str = "levels = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]";

#[test]
fn too_many_runs_are_refused_before_expansion() {
    refused("repetitions_beyond_number", "[run]\nrepetitions = 1000000000", BadValue);
    let axis = |name: &str, key: &str| format!("[axis.{name}]\nset = \"workload.stream.s.{key}\"\n{LEVELS}\n");
    let axes = axis("a", "queue_depth") + &axis("b", "jobs");
    refused("runs_beyond_number", &format!("{axes}[run]\nrepetitions = 26"), BadValue);
    let more = axis("c", "run_length") + &axis("d", "think_every");
    refused("cells_beyond_number", &(axes + &more), BadValue);
}

#[test]
fn an_interval_that_is_too_short_to_be_kept_is_refused() {
    refused("interval_of_a_nanosecond", "[run]\ninterval = \"1 ns\"", BadValue);
    let long = SMALL.replace("\"1 s\"", "\"2 h\"") + "[run]\ninterval = \"1 us\"\n";
    let error = planned(&long).expect_err("billions of intervals");
    check_golden("intervals_beyond_number", &error.to_string());
}

#[test]
fn a_window_in_which_nothing_lies_is_refused() {
    refused("window_shorter_than_an_interval", "[window.w]\nfrom = \"200 ms\"\nto = \"500 ms\"", Conflict);
    let finer = "[window.w]\nfrom = \"200 ms\"\nto = \"500 ms\"\n[run]\ninterval = \"100 ms\"\n";
    planned(&format!("{SMALL}{finer}")).expect("three intervals");
    refused("window_that_ends_before_it_begins", "[window.w]\nfrom = \"500 ms\"\nto = \"200 ms\"", Conflict);
    refused("window_after_its_phase", "[window.w]\nphase = \"p\"\nfrom = \"1 s\"", Conflict);
    refused("window_after_every_phase", "[window.w]\nfrom = \"9 s\"", Conflict);
    planned(&format!("{SMALL}[window.w]\nfrom = \"999 ms\"\nto = \"9 s\"\n")).expect("a millisecond of it is there");
}

#[test]
fn axis_without_effect_is_refused() {
    let set = |key: &str, levels: &str| format!("[axis.x]\nset = \"{key}\"\nlevels = {levels}");
    refused("axis_of_a_stream_that_is_not_there", &set("workload.stream.t.queue_depth", "[1, 2]"), UnknownName);
    let other = "[workload.stream.other]\n".to_string() + &set("workload.stream.other.queue_depth", "[1, 2]");
    refused("axis_of_a_stream_that_no_phase_uses", &other, UnknownName);
    let program =
        "[workload.tpcc]\nwarehouses = 1\nclients = 1\n".to_string() + &set("workload.tpcc.clients", "[1, 2]");
    refused("axis_of_a_program_that_no_phase_uses", &program, UnknownName);
    refused("axis_of_a_storage_that_is_not_there", &set("storage.dsk.size", "[\"1 MiB\"]"), UnknownName);
    refused("axis_of_a_phase_that_is_not_there", &set("phase.q.until.time", "[\"1 s\"]"), UnknownName);
    let level = "[axis.x]\na = { workload.stream.t.queue_depth = 2 }\nb = {}";
    refused("level_of_a_stream_that_no_phase_uses", level, UnknownName);
}

#[test]
fn keys_of_axis_levels_alone_are_accepted_if_used() {
    let text = SMALL.replace("[storage.disk]\ndevice = \"null\"\n", "").replace("[workload.stream.s]\n", "");
    let axes = "[axis.d]\nset = \"storage.disk.device\"\nlevels = [\"null\"]\n\
                [axis.q]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n\
                [axis.w]\none = { workload.stream.t.queue_depth = 2, phase.p.workload = [\"stream.t\"] }\nother = {}\n";
    assert_eq!(planned(&(text + axes)).expect("plans").runs.len(), 4);
}

#[test]
fn quick_part_with_absent_names_is_always_refused() {
    refused("quick_part_of_a_phase_that_is_not_there", "[quick]\nphase.pp.until.time = \"1 ms\"", UnknownName);
    let whole = "[quick]\nphase.short = { workload = [\"stream.s\"], until.time = \"1 ms\" }\n";
    planned(&format!("{SMALL}{whole}")).expect("a phase of its own");
}

#[test]
fn seed_above_the_limit_is_refused() {
    refused("seed_beyond_number", "[run]\nseed = 18446744073709551616", BadValue);
}

#[test]
fn a_model_that_does_not_exist_is_named_beside_one_that_does() {
    let text = format!("{NULL_PROFILE}[device.flsh]\n");
    let devices = vec![("null".into(), "profiles/devices/x.toml".into(), text)];
    let error = planned_in(SMALL, World::Simulated, &Profiles { devices, ..Profiles::default() }).expect_err("flsh");
    check_golden("model_that_does_not_exist", &error.to_string());
}

#[test]
fn visible_share_without_a_block_is_refused() {
    let mut profiles = profiles();
    let flash = crate::errors::FLASH.to_string();
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), flash));
    let stack = "scale = 256\nover_provisioned = { of.device = \"flash\", visible = \"0.0001 %\" }";
    let error = planned_in(&SMALL.replacen("device = \"null\"", stack, 1), World::Simulated, &profiles);
    check_golden("share_that_shows_no_block", &error.expect_err("no block").to_string());
}

#[test]
fn a_think_time_in_open_loop_is_refused_where_it_stands() {
    let plan = |keys: &str| planned(&SMALL.replace("[workload.stream.s]", &format!("[workload.stream.s]\n{keys}")));
    for (name, pause) in [("think_time", "think_time = \"1 s\""), ("think_every", "think_every = 4")] {
        for (number, arrivals) in
            ["constant = { rate = \"100 /s\" }", "poisson = { rate = \"100 /s\" }"].iter().enumerate()
        {
            let error = plan(&format!("arrivals = {{ {arrivals} }}\n{pause}")).expect_err("no arrival waits");
            if number == 0 {
                check_golden(&format!("{name}_in_open_loop"), &error.to_string());
            }
        }
        plan(pause).expect("in closed loop it can be");
    }
}

#[test]
fn a_job_that_submits_synchronously_has_one_request_outstanding() {
    let profile = |name: &str, text: &str| (name.to_string(), format!("profiles/hosts/{name}.toml"), text.to_string());
    let hosts =
        vec![profile("t4", include_str!("../../../../python/tameshi/data/profiles/hosts/1x-64-core-io-uring.toml"))];
    let with = Profiles { hosts, ..profiles() };
    let plan = |keys: &str, world| {
        let study = SMALL.replace("device = \"null\"", "device = \"null\"\nsize = \"1 MiB\"");
        let study = study.replace("[workload.stream.s]", &format!("[workload.stream.s]\n{keys}"));
        planned_in(&format!("{study}[host]\nprofile = \"t4\"\nsubmission = \"synchronous\"\n"), world, &with)
    };
    let error = plan("queue_depth = 4", World::Simulated).expect_err("a synchronous job has one request outstanding");
    check_golden("depth_of_a_synchronous_job", &error.to_string());
    plan("jobs = 4", World::Simulated).expect("four jobs have four requests");
    plan("queue_depth = 4", World::Measured).expect("a real host is no model's");
}
