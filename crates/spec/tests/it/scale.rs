//! Capacity scale of flash drives: what goes with it, and what does not.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_base::units::{Size, Time};
use tameshi_spec::profile::{Device, Written};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::{RunSpec, World};

const PHASE: &str = "[phase.p]\nworkload = [\"stream.s\"]\nuntil = { time = \"1 s\" }";
const BOUNDED: &str = "[phase.p]\nworkload = [\"stream.s\"]\nuntil = { time = \"90 s\", amount = \"64 GiB\" }";

const STEADY: &str = "device = \"flash\"\nwritten = \"steady\"";

fn with_flash() -> Profiles {
    let flash = |name: &str| (name.to_string(), format!("profiles/devices/{name}.toml"), FLASH.to_string());
    let mut profiles = profiles();
    profiles.devices.push(flash("flash"));
    profiles
}

fn run(storage: &str, stream: &str) -> RunSpec {
    let study = SMALL.replacen("device = \"null\"", storage, 1).replacen(PHASE, BOUNDED, 1);
    let study = study.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{stream}"), 1);
    let plan = planned_in(&study, World::Simulated, &with_flash()).unwrap_or_else(|error| panic!("{error}"));
    plan.runs[0].clone()
}

fn flash_of(run: &RunSpec) -> tameshi_spec::profile::Simulated {
    match run.storage["disk"].model.as_ref().map(|model| model.drive().1) {
        Some(Device::Flash(flash)) => flash.simulated,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_go_with_the_scale_and_times_and_requests_stay() {
    let run = run("device = \"flash\"\nscale = 32", "offset = \"32 GiB\"\nspan = \"320 GiB\"\nblock_size = \"64 KiB\"");
    let (storage, phase) = (&run.storage["disk"], &run.phases[0]);
    assert_eq!((storage.scale, storage.size), (32, Size(800_000_000_000 / 32 / 8192 * 8192)));
    let stream = &phase.streams[0].stream;
    assert_eq!((stream.offset, stream.span), (Size(1 << 30), Some(Size(10 << 30))));
    assert_eq!((phase.until.amount, phase.until.time), (Some(Size(2 << 30)), Some(Time(90_000_000_000))));
    assert_eq!(stream.block_size, Size(65_536));
    assert_eq!((flash_of(&run).scale, flash_of(&run).used.0, flash_of(&run).written), (32, 1_000_000, Written::Once));
}

#[test]
fn span_ends_at_the_end_of_the_unscaled_drive() {
    let stream = |span| format!("offset = \"300 GB\"\nspan = \"{span} GB\"\nblock_size = \"1 MiB\"");
    for scale in [7, 32, 64] {
        let storage = format!("raid0 = {{ members = 3, of.device = \"flash\" }}\nscale = {scale}");
        assert_eq!(run(&storage, &stream(2_100)).storage["disk"].scale, scale);
        let study = SMALL.replacen("device = \"null\"", &storage, 1);
        let study = study.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{}", stream(2_200)), 1);
        let error = planned_in(&study, World::Simulated, &with_flash()).expect_err("it ends too late");
        assert_eq!(error.key, "workload.stream.s.span", "{error}");
    }
}

#[test]
fn default_scale_keeps_blocks_and_drives_large_enough() {
    assert_eq!(run(STEADY, "").storage["disk"].scale, 64, "four pages of 256 are left");
    assert_eq!(run(&format!("{STEADY}\nsize = \"20 GiB\""), "").storage["disk"].scale, 16, "1 GiB is left");
    assert_eq!(run("device = \"flash\"\nscale = 1", "").storage["disk"].scale, 1);
    assert_eq!(run("device = \"null\"", "").storage["disk"].scale, 1);
}

/// The default scale of a drive with some state, in a study whose stream and phase end are these.
fn default_scale(profile: &str, state: &str, stream: &str, until: &str, more: &str) -> u32 {
    let mut profiles = with_flash();
    profiles.devices.last_mut().expect("flash").2 = profile.to_string();
    let study = SMALL.replacen("device = \"null\"", &format!("device = \"flash\"\n{state}"), 1);
    let study = study.replacen("until = { time = \"1 s\" }", until, 1);
    let study = study.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{stream}"), 1);
    let plan = planned_in(&format!("{study}\n{more}"), World::Simulated, &profiles);
    plan.unwrap_or_else(|error| panic!("{error}")).runs[0].storage["disk"].scale
}

#[test]
fn drive_in_undeclared_state_is_whole() {
    assert_eq!(default_scale(FLASH, "", "read = \"70 %\"", "until = { time = \"1 s\" }", ""), 1);
    assert_eq!(default_scale(FLASH, "", "read = \"0 %\"", "until = { amount = \"1 GiB\" }", ""), 1);
    assert_eq!(default_scale(FLASH, "", "", "until = { time = \"1 s\" }", ""), 64, "reads change nothing");
}

#[test]
fn flash_that_is_read_is_written_once_by_default() {
    for (state, stream, expected) in [
        ("", "", Written::Once),
        ("", "read = \"1 %\"", Written::Once),
        ("", "read = \"0 %\"", Written::Never),
        ("\nwritten = \"never\"", "", Written::Never),
        ("\nwritten = \"steady\"", "", Written::Steady),
    ] {
        let run = run(&format!("device = \"flash\"{state}"), stream);
        assert_eq!(flash_of(&run).written, expected, "{state} {stream}");
    }
}

#[test]
fn flash_under_a_database_is_written_once_by_default() {
    const ENGINE: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-5.7.toml");
    let mut profiles = with_flash();
    profiles.engines = vec![("mysql-5.7".into(), "profiles/engines/mysql-5.7.toml".into(), ENGINE.into())];
    let study = SMALL.replacen("device = \"null\"", "device = \"flash\"\n[engine.mysql]\nversion = \"5.7\"", 1);
    let program = "[workload.key_update]\ntables = 1\nrows = 9\nrow_size = \"200 B\"\nclients = 1";
    let study = study.replacen("[workload.stream.s]", program, 1).replacen("stream.s", "key_update", 1);
    let plan = planned_in(&study, World::Simulated, &profiles).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(flash_of(&plan.runs[0]).written, Written::Once);
}

#[test]
fn written_drive_is_scaled_unless_it_is_written_for_a_time() {
    let (time, amount) = ("until = { time = \"1 s\" }", "until = { amount = \"64 GiB\" }");
    for state in ["written = \"once\"", "written = \"never\""] {
        assert_eq!(default_scale(FLASH, state, "read = \"70 %\"", time, ""), 1);
        assert_eq!(default_scale(FLASH, state, "read = \"70 %\"", amount, ""), 64);
        assert_eq!(default_scale(FLASH, state, "read = \"100 %\"", time, ""), 64);
    }
    assert_eq!(default_scale(FLASH, "written = \"steady\"", "read = \"70 %\"", time, ""), 64);
}

#[test]
fn drive_that_changes_with_time_is_whole() {
    let until = "until = { time = \"1 s\" }";
    let steady = "written = \"steady\"";
    let cached = include_str!("../../../../python/tameshi/data/profiles/devices/nvme-tlc-1tb-consumer.toml");
    let warm = include_str!("../../../../python/tameshi/data/profiles/devices/nvme-qlc-15.36tb.toml");
    assert_eq!(default_scale(cached, steady, "read = \"70 %\"", until, ""), 1, "an SLC cache, idle work and heat");
    assert_eq!(default_scale(warm, steady, "", until, ""), 1, "heat");
}

#[test]
fn array_that_is_rebuilt_is_whole() {
    let until = "until = { time = \"1 s\" }";
    let events = "[event.dead]\nat = \"100 ms\"\nfail = { member = 1 }\n\
                  [event.new]\nat = \"200 ms\"\nreplace = { member = 1 }";
    let study = |events: &str| {
        let storage = "raid1 = { members = 2, of.device = \"flash\" }\nwritten = \"steady\"";
        let study = SMALL.replacen("device = \"null\"", storage, 1).replacen("until = { time = \"1 s\" }", until, 1);
        let plan = planned_in(&format!("{study}\n{events}"), World::Simulated, &with_flash());
        plan.unwrap_or_else(|error| panic!("{error}")).runs[0].storage["disk"].scale
    };
    assert_eq!((study(""), study(events)), (64, 1));
}

#[test]
fn a_small_part_that_is_worked_on_at_random_keeps_its_dies() {
    let scale = |stream: &str| run(STEADY, stream).storage["disk"].scale;
    // Eight program units of 16 KiB on each of 2 x 17 x 4 dies are 17 MiB; 800 GB at 64 GiB are 11.
    assert_eq!(scale("span = \"100 GiB\""), 64);
    assert_eq!(scale("span = \"512 MiB\""), 16);
    assert_eq!(scale("span = \"64 MiB\""), 8, "more would take its time");
    assert_eq!(scale("span = \"64 MiB\"\npattern = \"sequential\""), 64);
    assert_eq!(run("device = \"flash\"\nscale = 64", "span = \"64 MiB\"").storage["disk"].scale, 64);
}

/// A store whose journal and trees need 26,880 MiB.
const STORE: &str = "pattern = \"sequential\"\nread = \"0 %\"\nsync = { group_commit = { committers = 4 } }\nlsm = { memtable = \"64 MiB\", journal = \"1 GiB\", fan_out = 4, levels = 4, block_size = \"256 KiB\", queue_depth = 8 }";

#[test]
fn default_scale_leaves_room_for_each_stream() {
    assert_eq!(run(STEADY, STORE).storage["disk"].scale, 16, "a 32nd of 800 GB are 25 GB");
    let hot = |span| format!("span = \"{span}\"\npattern.hot_cold = {{ accesses = \"90 %\", hot = \"1 %\" }}");
    let scale = |stream: &str| run(&format!("{STEADY}\nsize = \"40 GiB\""), stream).storage["disk"].scale;
    assert_eq!((scale(&hot("2 GiB")), scale(&hot("2 MiB"))), (32, 1), "a hundredth of 2 MiB are five blocks");
}

#[test]
fn given_scale_that_leaves_too_little_is_refused() {
    let zones = "span = \"4 MiB\"\npattern.zoned = [{ accesses = \"90 %\", span = \"1 %\" }, { accesses = \"10 %\", span = \"99 %\" }]";
    for (name, stream) in [
        ("scale_that_leaves_a_tree_no_room", STORE),
        (
            "scale_that_leaves_a_hot_part_no_block",
            "span = \"4 MiB\"\npattern.hot_cold = { accesses = \"90 %\", hot = \"1 %\" }",
        ),
        ("scale_that_leaves_a_zone_no_block", zones),
        ("scale_that_leaves_a_job_no_block", "span = \"1 MiB\"\npattern = \"shuffled\"\njobs = 64"),
    ] {
        let study = SMALL.replacen("device = \"null\"", "device = \"flash\"\nscale = 32", 1);
        let study = study.replacen("[workload.stream.s]", &format!("[workload.stream.s]\n{stream}"), 1);
        check_golden(name, &planned_in(&study, World::Simulated, &with_flash()).expect_err(name).to_string());
    }
}

#[test]
fn no_scale_is_chosen_by_itself_that_results_were_not_shown_at() {
    let mut profiles = profiles();
    let text =
        FLASH.replace("pages_per_block = { value = 256", "pages_per_block = { value = 2304").replace("800 GB", "15 TB");
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), text));
    let study = SMALL.replacen("device = \"null\"", STEADY, 1);
    let plan = planned_in(&study, World::Simulated, &profiles).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.runs[0].storage["disk"].scale, 256, "576 would leave four pages");
}

#[test]
fn flash_stack_is_scaled_with_its_visible_size() {
    let storage = "written = \"steady\"\nraid0 = { members = 2, of = { over_provisioned = { of = { device = \"flash\" }, visible = \"80 %\" } } }";
    let run = run(storage, "");
    let simulated = flash_of(&run);
    assert_eq!((simulated.scale, simulated.written, simulated.used.0), (64, Written::Steady, 800_000));
    let bytes = run.storage["disk"].size.0 as f64 * 64.0;
    assert!((bytes / 1.28e12 - 1.0).abs() < 0.001, "{bytes}");
}

#[test]
fn scale_without_a_page_or_without_flash_is_refused() {
    for (name, storage) in [
        ("scale_of_zero", "device = \"flash\"\nscale = 0"),
        ("scale_that_leaves_no_page", "device = \"flash\"\nscale = 300"),
        ("scale_of_what_is_no_flash", "device = \"null\"\nscale = 2"),
        (
            "scale_at_a_level_that_is_no_flash",
            "scale = 2\n[axis.drive]\nflash = { storage.disk.device = \"flash\" }\ndisk = { storage.disk.device = \"null\" }",
        ),
        ("scale_of_a_part", "raid0 = { members = 2, of = { device = \"flash\", scale = 2 } }"),
    ] {
        let study = SMALL.replacen("device = \"null\"", storage, 1);
        check_golden(name, &planned_in(&study, World::Simulated, &with_flash()).expect_err(name).to_string());
    }
}

#[test]
fn an_age_that_the_drive_can_t_have_is_refused_with_the_reason() {
    for (name, storage) in [
        ("worn_a_thousand_times", "device = \"flash\"\naged = { worn_percent = 100000 }"),
        ("held_up_for_longer_than_when_new", "device = \"flash\"\naged = { hold_up = \"80 s\" }"),
        ("too_many_dead_channels", "device = \"flash\"\naged = { dead_channels = 99 }"),
        ("age_of_what_is_no_flash", "device = \"null\"\naged = { dead_channels = 1 }"),
    ] {
        let study = SMALL.replacen("device = \"null\"", storage, 1);
        check_golden(name, &planned_in(&study, World::Simulated, &with_flash()).expect_err(name).to_string());
    }
}
