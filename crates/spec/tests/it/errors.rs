//! Every kind of error, as the user sees it: file:line:column, key, found, accepted, did you mean.

use crate::golden::check_golden;
use crate::support::{NULL_PROFILE, SMALL, planned, planned_in, profiles};
use std::collections::BTreeSet;
use tameshi_base::InputErrorKind;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

/// Name of the golden text, what is replaced in the small study by what, and the error's kind.
pub type Case = (&'static str, &'static str, &'static str, InputErrorKind);

const CASES: &[Case] = &[
    ("no_toml", "title = \"t\"", "title = ", InputErrorKind::Syntax),
    ("misspelled_key", "[workload.stream.s]", "[workload.stream.s]\nqueue_dept = 4", InputErrorKind::UnknownKey),
    ("unknown_stack", "device = \"null\"", "raid7 = { members = 3 }", InputErrorKind::UnknownKey),
    (
        "unknown_pattern",
        "[workload.stream.s]",
        "[workload.stream.s]\npattern = \"sequental\"",
        InputErrorKind::UnknownVariant,
    ),
    (
        "tree_without_room",
        "[workload.stream.s]",
        "[workload.stream.s]\npattern = \"sequential\"\nread = \"0 %\"\nsync = { group_commit = { committers = 4 } }\nlsm = { memtable = \"1 GiB\", journal = \"1 GiB\", fan_out = 4, levels = 2, block_size = \"1 MiB\", queue_depth = 4 }",
        InputErrorKind::BadValue,
    ),
    ("missing_title", "title = \"t\"\n", "", InputErrorKind::MissingKey),
    ("endless_phase", "until = { time = \"1 s\" }", "until = {}", InputErrorKind::MissingKey),
    ("number_without_unit", "\"1 s\"", "5", InputErrorKind::WrongType),
    ("wrong_unit", "\"1 s\"", "\"5 parsecs\"", InputErrorKind::BadValue),
    ("zero_depth", "[workload.stream.s]", "[workload.stream.s]\nqueue_depth = 0", InputErrorKind::BadValue),
    ("odd_block", "[workload.stream.s]", "[workload.stream.s]\nblock_size = \"1000 B\"", InputErrorKind::BadValue),
    (
        "mix_that_is_no_whole",
        "[workload.stream.s]",
        "[workload.stream.s]\nblock_size_mix = [{ size = \"4 KiB\", share = \"60 %\" }, { size = \"64 KiB\", share = \"30 %\" }]",
        InputErrorKind::BadValue,
    ),
    (
        "odd_length_in_a_mix",
        "[workload.stream.s]",
        "[workload.stream.s]\nblock_size_mix = [{ size = \"4 KiB\", share = \"60 %\" }, { size = \"1000 B\", share = \"40 %\" }]",
        InputErrorKind::BadValue,
    ),
    (
        "mix_of_writes_that_is_no_whole",
        "[workload.stream.s]",
        "[workload.stream.s]\nread = \"50 %\"\nwrite_block_size_mix = [{ size = \"4 KiB\", share = \"60 %\" }]",
        InputErrorKind::BadValue,
    ),
    (
        "trims_beside_lengths_of_writes",
        "[workload.stream.s]",
        "[workload.stream.s]\nread = \"50 %\"\ntrim = \"10 %\"\nwrite_block_size_mix = [{ size = \"4 KiB\", share = \"100 %\" }]",
        InputErrorKind::BadValue,
    ),
    (
        "length_and_mix",
        "[workload.stream.s]",
        "[workload.stream.s]\nblock_size = \"8 KiB\"\nblock_size_mix = [{ size = \"4 KiB\", share = \"100 %\" }]",
        InputErrorKind::Conflict,
    ),
    (
        "force_unit_access_through_the_page_cache",
        "[workload.stream.s]",
        "[workload.stream.s]\naccess = \"buffered\"\nsync = \"fua\"",
        InputErrorKind::Conflict,
    ),
    (
        "rate_faster_than_a_nanosecond",
        "[workload.stream.s]",
        "[workload.stream.s]\narrivals = { poisson = { rate = \"2_000_000_000 /s\" } }",
        InputErrorKind::BadValue,
    ),
    (
        "zones_that_are_no_whole",
        "[workload.stream.s]",
        "[workload.stream.s]\npattern.zoned = [{ accesses = \"50 %\", span = \"5 %\" }, { accesses = \"30 %\", span = \"95 %\" }]",
        InputErrorKind::BadValue,
    ),
    (
        "hot_part_without_a_block",
        "[workload.stream.s]",
        "[workload.stream.s]\nspan = \"1 MiB\"\npattern.hot_cold = { hot = \"0.1 %\", accesses = \"90 %\" }",
        InputErrorKind::BadValue,
    ),
    (
        "rates_that_go_back_in_time",
        "[workload.stream.s]",
        "[workload.stream.s]\narrivals.ramp.points = [{ at = \"2 s\", rate = \"5 /s\" }, { at = \"1 s\", rate = \"9 /s\" }]",
        InputErrorKind::BadValue,
    ),
    ("size_above_capacity", "device = \"null\"", "device = \"null\"\nsize = \"2 TiB\"", InputErrorKind::BadValue),
    ("size_of_nothing", "device = \"null\"", "device = \"null\"\nsize = \"0 B\"", InputErrorKind::BadValue),
    ("unknown_profile", "device = \"null\"", "device = \"nul\"", InputErrorKind::UnknownName),
    ("unknown_workload", "[\"stream.s\"]", "[\"stream.t\"]", InputErrorKind::UnknownName),
    (
        "two_kinds_at_once",
        "device = \"null\"",
        "device = \"null\"\nraid0 = { members = 2, device = \"null\" }",
        InputErrorKind::Conflict,
    ),
    ("ramp_as_long_as_the_phase", "until", "ramp = \"1 s\"\nuntil", InputErrorKind::Conflict),
    (
        "misspelled_key_in_a_level",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depht\"\nlevels = [1, 2]\n[workload.stream.s]",
        InputErrorKind::UnknownKey,
    ),
    ("steady_state_without_rounds", "{ time = \"1 s\" }", "{ steady = {} }", InputErrorKind::MissingKey),
    (
        "window_of_more_rounds_than_there_are",
        "{ time = \"1 s\" }",
        "{ steady = { round = \"1 s\", rounds = 5, max_rounds = 3 } }",
        InputErrorKind::BadValue,
    ),
    (
        "search_of_a_stream_that_does_not_exist",
        "[workload.stream.s]",
        "[search]\nstream = \"t\"\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "stream_that_ends_with_one_that_does_not_exist",
        "[workload.stream.s]",
        "[workload.stream.s]\nends_with = [\"t\"]",
        InputErrorKind::UnknownName,
    ),
    (
        "donor_that_does_not_exist",
        "[workload.stream.s]",
        "[workload.stream.s]\nread = \"0 %\"\ncall = \"move_extents\"\ndonor.storage = \"spare\"",
        InputErrorKind::UnknownName,
    ),
    ("call_that_reads", "[workload.stream.s]", "[workload.stream.s]\ncall = \"truncate\"", InputErrorKind::BadValue),
    (
        "absolute_limit_of_three_variables",
        "{ time = \"1 s\" }",
        "{ steady = { round = \"1 s\", absolute.range = 100 } }",
        InputErrorKind::BadValue,
    ),
    (
        "search_for_what_is_no_latency",
        "[workload.stream.s]",
        "[search]\nstream = \"s\"\nlimit = { metric = \"read.iops\", below = \"1 ms\" }\n[workload.stream.s]",
        InputErrorKind::BadValue,
    ),
    (
        "rounds_without_an_end",
        "[workload.stream.s]",
        "[rounds.r]\nphases = [\"p\"]\n[workload.stream.s]",
        InputErrorKind::MissingKey,
    ),
    (
        "rounds_of_a_phase_that_does_not_exist",
        "[workload.stream.s]",
        "[rounds.r]\nphases = [\"q\"]\ntimes = 3\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "tracked_level_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nvaries = \"within\"\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[rounds.r]\nphases = [\"p\"]\nsteady = {}\ntracked = [{ phase = \"p\", levels = { d = 3 } }]\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
    (
        "published_level_that_does_not_exist",
        "[workload.stream.s]",
        "[axis.d]\nset = \"workload.stream.s.queue_depth\"\nlevels = [1, 2]\n[[published]]\nid = \"S1\"\ncell = { d = 3 }\nmetric = \"read.iops\"\n[workload.stream.s]",
        InputErrorKind::UnknownName,
    ),
];

#[test]
fn errors_have_place_key_found_and_accepted() {
    check(CASES);
}

/// Check each case's kind and words.
#[track_caller]
pub fn check(cases: &[Case]) {
    for (name, from, to, kind) in cases {
        assert!(SMALL.contains(from), "{name}: the small study holds no `{from}`");
        let error = planned(&SMALL.replacen(from, to, 1)).expect_err(name);
        assert_eq!(error.kind, *kind, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn every_kind_of_error_has_a_golden_text() {
    let mut shown: BTreeSet<InputErrorKind> = CASES.iter().map(|(.., kind)| *kind).collect();
    shown.extend(crate::refusals::REFUSED.iter().map(|_| InputErrorKind::Unsupported));
    let all: BTreeSet<InputErrorKind> = InputErrorKind::ALL.into_iter().collect();
    assert_eq!(shown, all);
}

#[test]
fn profile_error_has_its_place_in_the_profile_file() {
    let hdd = r#"
description = "a disk whose revolution is in the wrong unit"
[device.hdd]
capacity = { value = "146 GB", source = "test" }
revolution = { value = "4 us", source = "test" }
seek_min = { value = "200 us", source = "test" }
seek_average = { value = "3.4 ms", source = "test" }
cylinders = { value = 50000, source = "test" }
command_overhead = { value = "50 us", source = "test" }
media_rate = { value = "150000000 /s", source = "test" }
scheduling = { value = "elevator", source = "test" }
queue_depth = { value = 32, source = "test" }
"#;
    const POWER: &str = "[device.hdd.power]\nidle_mw = { value = 9000, source = \"test\" }\n\
        active_mw = { value = 900, source = \"test\" }\n";
    let of_disk = |from: &str, to: &str| hdd.replacen(from, to, 1);
    for (name, text) in [
        ("profile_in_the_wrong_unit", hdd.to_string()),
        ("disk_that_seeks_in_microseconds", of_disk("\"4 us\"", "\"4 ms\"").replace("\"3.4 ms\"", "\"3.4 us\"")),
        ("disk_of_kilobytes_a_second", of_disk("\"4 us\"", "\"4 ms\"").replace("\"150000000 /s\"", "\"150000 /s\"")),
        (
            "disk_whose_electronics_take_longer_than_its_arm",
            of_disk("\"4 us\"", "\"4 ms\"").replace("\"50 us\"", "\"50 ms\""),
        ),
        ("disk_that_draws_more_idling", of_disk("\"4 us\"", "\"4 ms\"") + POWER),
        ("profile_without_a_source", hdd.replace("{ value = 50000, source = \"test\" }", "{ value = 50000 }")),
        ("profile_with_a_misspelled_key", NULL_PROFILE.replace("capacity", "capasity")),
    ] {
        let devices = vec![("null".into(), "profiles/devices/x.toml".into(), text)];
        let profiles = Profiles { devices, ..Profiles::default() };
        let error = planned_in(SMALL, World::Simulated, &profiles).expect_err(name);
        assert_eq!(error.file, "profiles/devices/x.toml");
        check_golden(name, &error.to_string());
    }
}

/// A flash drive that can be; each case replaces something in it.
pub const FLASH: &str = r#"
description = "a flash drive"
[device.flash]
capacity = { value = "800 GB", source = "test" }
over_provisioning = { value = "25 %", source = "test" }
mapping_unit = { value = "4 KiB", source = "test" }
[device.flash.nand]
cell = { value = "mlc", source = "test" }
page = { value = "8 KiB", source = "test" }
pages_per_block = { value = 256, source = "test" }
planes = { value = 2, source = "test" }
read_time = { value = ["40 us", "60 us"], source = "test" }
program_time = { value = ["500 us", "1300 us"], source = "test" }
erase_time = { value = "3 ms", source = "test" }
endurance_cycles = { value = 3000, source = "test" }
[device.flash.controller]
count = { value = 2, source = "test" }
interleave = { value = "4 KiB", source = "test" }
data_channels = { value = 16, source = "test" }
parity_channels = { value = 1, source = "test" }
dies_per_channel = { value = 4, source = "test" }
channel_rate = { value = "200000000 /s", source = "test" }
read_rate = { value = "300000 /s", source = "test" }
write_rate = { value = "300000 /s", source = "test" }
read_overhead = { value = "5 us", source = "test" }
write_overhead = { value = "5 us", source = "test" }
queue_depth = { value = 256, source = "test" }
[device.flash.buffer]
size = { value = "16 MiB", source = "test" }
[device.flash.buffer.power_loss_protection]
flush_time = { value = "80 ms", source = "test" }
hold_up = { value = "400 ms", source = "test" }
[device.flash.link]
read_rate = { value = "3200000000 /s", source = "test" }
write_rate = { value = "3200000000 /s", source = "test" }
half_duplex = { value = false, source = "test" }
[device.flash.cleaning]
policy = { value = "greedy", source = "test" }
reserve_blocks = { value = 8, source = "test" }
separate_relocated = { value = true, source = "test" }
"#;

/// A volume that can be; each case replaces something in it.
pub const VOLUME: &str = r#"
description = "a volume"
[device.volume]
capacity = { value = "100 GB", source = "test" }
parallel = { value = 64, source = "test" }
flush = { value = [{ share = "0 %", time = "1 ms" }, { share = "100 %", time = "2 ms" }], source = "test" }
after_flush = { value = "30 us", source = "test" }
[device.volume.read]
latency = { value = [{ share = "0 %", time = "300 us" }, { share = "99 %", time = "700 us" }, { share = "100 %", time = "9 ms" }], source = "test" }
command_time = { value = "5 us", source = "test" }
transfer_rate = { value = "1000000000 /s", source = "test" }
[device.volume.write]
latency = { value = [{ share = "0 %", time = "400 us" }, { share = "100 %", time = "9 ms" }], source = "test" }
command_time = { value = "5 us", source = "test" }
transfer_rate = { value = "1000000000 /s", source = "test" }
[device.volume.limit]
command_rate = { value = "3000 /s", source = "test" }
byte_rate = { value = "125000000 /s", source = "test" }
"#;

#[test]
fn invalid_volume_is_refused_with_the_reason() {
    for (name, from, to) in [
        ("volume_that_serves_nothing", "parallel = { value = 64", "parallel = { value = 0"),
        (
            "volume_whose_latencies_have_no_end",
            "{ share = \"100 %\", time = \"9 ms\" }], source",
            "{ share = \"99.9 %\", time = \"9 ms\" }], source",
        ),
        ("volume_whose_latencies_fall", "\"700 us\"", "\"70 us\""),
        (
            "volume_with_latencies_in_the_wrong_unit",
            "\"400 us\" }, { share = \"100 %\", time = \"9 ms\"",
            "\"400 ms\" }, { share = \"100 %\", time = \"9 s\"",
        ),
        (
            "volume_that_moves_far_less_than_its_limit",
            "transfer_rate = { value = \"1000000000 /s\"",
            "transfer_rate = { value = \"1000000 /s\"",
        ),
        ("volume_with_a_limit_of_millions", "\"3000 /s\"", "\"3000000 /s\""),
        (
            "volume_with_latencies_in_nanoseconds",
            "\"300 us\" }, { share = \"99 %\", time = \"700 us\"",
            "\"300 ns\" }, { share = \"99 %\", time = \"700 ns\"",
        ),
        ("volume_with_megabytes_for_bytes", "\"125000000 /s\"", "\"125 /s\""),
        (
            "volume_that_takes_seconds_after_a_flush",
            "after_flush = { value = \"30 us\"",
            "after_flush = { value = \"30 s\"",
        ),
        (
            "volume_with_a_command_alone_without_rounds",
            "[device.volume.read]\n",
            "[device.volume.read]\nalone = { value = \"3 us\", source = \"test\" }\n",
        ),
        (
            "volume_that_takes_seconds_to_be_woken",
            "[device.volume.read]\n",
            "rounds = { value = true, source = \"test\" }\n[device.volume.read]\nalone = { value = \"3 s\", source = \"test\" }\n",
        ),
    ] {
        assert!(VOLUME.contains(from), "{name}: the profile holds no `{from}`");
        let text = VOLUME.replacen(from, to, 1);
        let devices = vec![("null".into(), "profiles/devices/x.toml".into(), text)];
        let profiles = Profiles { devices, ..Profiles::default() };
        let error = planned_in(SMALL, World::Simulated, &profiles).expect_err(name);
        check_golden(name, &error.to_string());
    }
    let profiles = Profiles { devices: vec![("null".into(), "x.toml".into(), VOLUME.into())], ..Profiles::default() };
    planned_in(&SMALL.replace("1 TiB", "1 GiB"), World::Simulated, &profiles).expect("the profile can be");
}

#[test]
fn invalid_flash_drive_is_refused_with_the_reason() {
    for (name, from, to) in [
        ("flash_without_channels", "data_channels = { value = 16,", "data_channels = { value = 0,"),
        ("flash_with_negative_spare", "\"25 %\"", "\"-7 %\""),
        ("flash_with_more_spare_than_space", "\"25 %\"", "\"120 %\""),
        ("flash_read_in_milliseconds", "\"60 us\"", "\"60 ms\""),
        ("flash_erased_in_microseconds", "\"3 ms\"", "\"3 us\""),
        ("flash_with_too_few_times", "[\"40 us\", \"60 us\"]", "[\"50 us\"]"),
        ("flash_with_an_odd_mapping_unit", "mapping_unit = { value = \"4 KiB\"", "mapping_unit = { value = \"3 KiB\""),
        ("flash_with_a_misspelled_cell", "\"mlc\"", "\"mcl\""),
        (
            "flash_with_electronics_in_nanoseconds",
            "read_overhead = { value = \"5 us\"",
            "read_overhead = { value = \"5 ns\"",
        ),
        ("flash_with_a_parity_for_each_channel", "parity_channels = { value = 1,", "parity_channels = { value = 16,"),
        ("flash_that_says_how_it_is_simulated", "[device.flash]\n", "[device.flash]\nsimulated = {}\n"),
        ("flash_with_dies_of_terabytes", "\"800 GB\"", "\"800 TB\""),
        ("flash_that_draws_a_million_blocks", "value = \"greedy\"", "value = { choices = { drawn = 1000000 } }"),
        ("flash_that_draws_no_block", "value = \"greedy\"", "value = { choices = { drawn = 0 } }"),
        ("flash_with_a_key_misspelled", "over_provisioning =", "overprovisioning ="),
        (
            "flash_with_a_value_without_a_source",
            "queue_depth = { value = 256, source = \"test\" }",
            "queue_depth = { value = 256 }",
        ),
        ("flash_with_megabytes_on_its_channels", "\"200000000 /s\"", "\"200 /s\""),
        ("flash_with_a_rate_of_thousands", "read_rate = { value = \"300000 /s\"", "read_rate = { value = \"300 /s\""),
        ("flash_that_empties_its_buffer_in_microseconds", "\"80 ms\"", "\"80 us\""),
        ("flash_that_empties_its_buffer_in_minutes", "\"80 ms\"", "\"80 s\""),
        ("flash_whose_capacitor_holds_for_minutes", "hold_up = { value = \"400 ms\"", "hold_up = { value = \"400 s\""),
        ("flash_with_commands_in_thousands", "write_rate = { value = \"300", "write_rate = { value = \"300000"),
        ("flash_that_lasts_for_ever", "endurance_cycles = { value = 3000,", "endurance_cycles = { value = 3000000,"),
        ("flash_that_lasts_a_day", "endurance_cycles = { value = 3000,", "endurance_cycles = { value = 3,"),
        ("slc_flash_that_lasts_as_short_as_no_other", "cell = { value = \"mlc\"", "cell = { value = \"slc\""),
        (
            "flash_with_functions_in_thousands",
            "read_over",
            "functions = { value = 16000, source = \"test\" }\nread_over",
        ),
        ("flash_without_an_erase_time", "erase_time = { value = \"3 ms\", source = \"test\" }\n", ""),
    ] {
        assert!(FLASH.contains(from), "{name}: the profile holds no `{from}`");
        let text = FLASH.replacen(from, to, 1);
        let devices = vec![("null".into(), "profiles/devices/x.toml".into(), text)];
        let profiles = Profiles { devices, ..Profiles::default() };
        let error = planned_in(SMALL, World::Simulated, &profiles).expect_err(name);
        check_golden(name, &error.to_string());
    }
    let full =
        FLASH.replacen("\"16 MiB\"", "\"64 KiB\"", 1).replacen("count = { value = 2,", "count = { value = 8,", 1);
    let profiles = Profiles { devices: vec![("null".into(), "x.toml".into(), full)], ..Profiles::default() };
    let error = planned_in(SMALL, World::Simulated, &profiles).expect_err("eight program units of 16 KiB");
    check_golden("flash_with_a_buffer_that_fills_for_ever", &error.to_string());
    let profiles = Profiles { devices: vec![("null".into(), "x.toml".into(), FLASH.into())], ..Profiles::default() };
    planned_in(SMALL, World::Simulated, &profiles).expect("the profile can be");
}

#[test]
fn profile_without_sources_or_with_two_models_is_refused() {
    for (name, from, to) in [
        (
            "flash_with_an_empty_source",
            "queue_depth = { value = 256, source = \"test\" }",
            "queue_depth = { value = 256, source = \" \" }",
        ),
        (
            "flash_fitted_on_nothing",
            "queue_depth = { value = 256, source = \"test\" }",
            "queue_depth = { value = 256, source = \"test\", fitted_on = \"\" }",
        ),
        (
            "profile_of_two_models",
            "description = \"a flash drive\"",
            "description = \"two\"\n[device.null]\ncapacity = { value = \"1 GiB\", source = \"test\" }",
        ),
    ] {
        let devices = vec![("null".into(), "profiles/devices/x.toml".into(), FLASH.replacen(from, to, 1))];
        let profiles = Profiles { devices, ..Profiles::default() };
        let error = planned_in(SMALL, World::Simulated, &profiles).expect_err(name);
        check_golden(name, &error.to_string());
    }
}

#[test]
fn invalid_xpoint_drive_is_refused_with_the_reason() {
    let drive = include_str!("../../../../python/tameshi/data/profiles/devices/optane-p4800x-375g.toml");
    for (name, from, to) in [
        ("xpoint_read_in_milliseconds", "\"5 us\"", "\"5 ms\""),
        ("xpoint_of_megabytes", "\"375 GB\"", "\"1500 MB\""),
        ("xpoint_with_less_than_its_channels_have", "\"375 GB\"", "\"20 GB\""),
        ("xpoint_with_commands_in_thousands", "\"1000000 /s\"", "\"1000 /s\""),
        ("xpoint_with_megabytes_on_its_link", "\"2400000000 /s\"", "\"2400 /s\""),
    ] {
        assert!(drive.contains(from), "{name}: the profile holds no `{from}`");
        let devices = vec![("null".into(), "profiles/devices/x.toml".into(), drive.replacen(from, to, 1))];
        let profiles = Profiles { devices, ..Profiles::default() };
        let error = planned_in(SMALL, World::Simulated, &profiles).expect_err(name);
        check_golden(name, &error.to_string());
    }
}

#[test]
fn a_measured_study_must_say_how_much_it_uses() {
    let error = planned_in(SMALL, World::Measured, &profiles()).expect_err("no size");
    check_golden("measured_without_size", &error.to_string());
}

/// Drivers of flash cards, the second of which takes milliseconds for a write.
const DRIVERS: &str = r#"
[host.driver.iodrive]
read = { value = "3 us", source = "test" }
write = { value = "5 us", source = "test" }
[host.driver.es3000]
read = { value = "3 us", source = "test" }
write = { value = "5 ms", source = "test" }
"#;

/// A host that can be; each case replaces something in it.
const HOST: &str = r#"
description = "a host"
[host]
sockets = { value = 1, source = "test" }
cores_per_socket = { value = 4, source = "test" }
threads_per_core = { value = 1, source = "test" }
clock = { value = "2000000000 /s", source = "test" }
context_switch = { value = "2 us", source = "test" }
wake_up = { value = "2 us", source = "test" }
time_slice = { value = "4 ms", source = "test" }
interrupt = { cost = { value = "2 us", source = "test" }, placement = { value = "spread", source = "test" } }
[host.libaio]
read = { value = "3 us", source = "test" }
write = { value = "4 us", source = "test" }
complete = { value = "1 us", source = "test" }
"#;

#[test]
fn invalid_host_is_refused_at_its_place() {
    let study = |host: &str| format!("{SMALL}\n[host]\n{host}\n");
    let with =
        |text: String| Profiles { hosts: vec![("h".into(), "profiles/hosts/h.toml".into(), text)], ..profiles() };
    let plain = r#"profile = "h""#;
    let with_key = |key: &str, time: &str| {
        let line = format!("{key} = {{ value = \"{time}\", source = \"test\" }}\ncontext_switch");
        HOST.replace("context_switch", &line)
    };
    for (name, host, text) in [
        ("host_cost_in_the_wrong_unit", plain, HOST.replace("\"3 us\"", "\"3 ms\"")),
        ("host_without_a_way_to_submit", plain, HOST.split("[host.libaio]").next().unwrap_or_default().to_string()),
        ("host_array_flush_in_the_wrong_unit", plain, with_key("array_flush", "95 ms")),
        ("host_array_flush_in_nanoseconds", plain, with_key("array_flush", "95 ns")),
        ("host_cold_caches_in_the_wrong_unit", plain, with_key("cold_caches", "6 ms")),
        ("host_clock_in_the_wrong_unit", plain, HOST.replace("2000000000", "2000")),
        ("host_driver_in_the_wrong_unit", plain, format!("{HOST}{DRIVERS}")),
        ("host_with_a_misspelled_key", plain, HOST.replace("wake_up", "wakeup")),
        ("host_without_a_profile", "cores = 4", HOST.to_string()),
        ("unknown_host", r#"profile = "hh""#, HOST.to_string()),
        ("host_without_such_a_way", "profile = \"h\"\nsubmission = \"io_uring\"", HOST.to_string()),
        ("host_without_cores", "profile = \"h\"\ncores = 0", HOST.to_string()),
    ] {
        let error = planned_in(&study(host), World::Simulated, &with(text)).expect_err(name);
        check_golden(name, &error.to_string());
    }
    let plan = planned_in(&study(plain), World::Simulated, &with(HOST.into())).expect("the host can be");
    let host = plan.runs[0].host.as_ref().expect("a host");
    assert_eq!((host.profile.as_str(), host.cores()), ("h", 4));
    let measured = SMALL.replace("device = \"null\"", "size = \"1 GiB\"") + "[host]\nprofile = \"elsewhere\"\n";
    let plan = planned_in(&measured, World::Measured, &profiles()).expect("a real host needs no profile");
    assert!(plan.runs[0].host.is_none());
}

#[test]
fn invalid_engine_is_refused_at_its_place() {
    const ENGINE: &str = include_str!("../../../../python/tameshi/data/profiles/engines/mysql-5.7.toml");
    let study = format!(
        "{}\n[engine.mysql]\n",
        SMALL
            .replace(
                "[workload.stream.s]",
                "[workload.key_update]\ntables = 1\nrows = 1000\nrow_size = \"400 B\"\nclients = 1"
            )
            .replace("[\"stream.s\"]", "[\"key_update\"]")
    );
    let with = |text: String| Profiles {
        engines: vec![("mysql-5.7".into(), "profiles/engines/mysql-5.7.toml".into(), text)],
        ..profiles()
    };
    for (name, key, line) in [
        ("engine_cost_in_the_wrong_unit", "statement", r#"statement = { value = "50 ms", source = "a test" }"#),
        ("engine_read_threads_without_any", "number", r#"number = { value = 0, source = "a test" }"#),
        ("engine_read_threads_page_in_the_wrong_unit", "page", r#"page = { value = "3.6 ms", source = "a test" }"#),
        ("engine_old_part_that_the_server_refuses", "old", r#"old = { value = "96 %", source = "a test" }"#),
        ("engine_checkpoint_age_without_room", "hasty_part", r#"hasty_part = { value = 1, source = "a test" }"#),
        (
            "engine_scan_depth_that_nobody_reads",
            "free_pages",
            r#"free_pages = { value = "user_batches", source = "a test" }"#,
        ),
        ("engine_read_threads_with_a_misspelled_key", "page", r#"pages = { value = "3.6 us", source = "a test" }"#),
    ] {
        let is_its = |line: &&str| line.split_once('=').is_some_and(|(found, _)| found.trim_end() == key);
        let old = ENGINE.lines().find(is_its).unwrap_or_else(|| panic!("{name}: the profile has no `{key}`"));
        let profile = with(ENGINE.replacen(old, line, 1));
        let error = planned_in(&study, World::Simulated, &profile).expect_err(name);
        check_golden(name, &error.to_string());
    }
    let undo = ENGINE.lines().find(|line| line.starts_with("segments")).expect("it has undo logs");
    let purge = "threads = { value = 4, source = \"a test\" }\nredo = { value = \"20 B\", source = \"a test\" }\nhistory = { value = \"31 B\", source = \"a test\" }";
    let alone = ENGINE.replacen("[engine.innodb.undo]", "[engine.innodb.purge]", 1).replacen(undo, purge, 1);
    let error = planned_in(&study, World::Simulated, &with(alone)).expect_err("purge without undo");
    check_golden("engine_purge_without_undo", &error.to_string());
    planned_in(&study, World::Simulated, &with(ENGINE.into())).expect("the engine can be");
}
