//! Array profiles: a name stands for the stack of its profile, which the study may change; errors
//! have their place.

use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use std::path::Path;
use tameshi_base::{InputError, InputErrorKind};
use tameshi_spec::plan::Plan;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::{Node, World};

const MIRRORS: &str = r#"
description = "striped mirrors behind a cache"
[array.cache]
memory = { value = "64 MiB", source = "test" }
kind = { value = "battery_backed", source = "test" }
[array.cache.of.raid10]
members = { value = 6, source = "test" }
device = { value = "null", source = "test" }
chunk = { value = "64 KiB", source = "test" }
rebuild_rate = { value = "50 MB", source = "test" }
rebuild_rate_min = { value = "20 MB", source = "test" }
"#;

const WRITTEN_OUT: &str = "cache = { memory = \"64 MiB\", kind = \"battery_backed\", of.raid10 = { members = 6, device = \"null\", \
                           chunk = \"64 KiB\", rebuild_rate = \"50 MB\", rebuild_rate_min = \"20 MB\" } }";

fn with_arrays(text: &str) -> Profiles {
    let arrays = [
        ("mirrors", text),
        (
            "pair",
            "description = \"a pair\"\n[array.raid1]\nmembers = { value = 2, source = \"test\" }\ndevice = { value = \"null\", source = \"test\" }\n",
        ),
    ];
    let arrays = arrays.map(|(name, text)| (name.into(), format!("profiles/arrays/{name}.toml"), text.into()));
    Profiles { arrays: arrays.into(), ..profiles() }
}

fn planned(storage: &str, profile: &str) -> Result<Plan, InputError> {
    let text = SMALL.replacen("device = \"null\"", storage, 1);
    planned_in(&text, World::Simulated, &with_arrays(profile))
}

fn plan(storage: &str) -> Plan {
    planned(storage, MIRRORS).unwrap_or_else(|error| panic!("{storage}: {error}"))
}

#[test]
fn a_named_array_and_its_stack_written_out_are_the_same_run() {
    for (named, written) in [
        ("array = \"mirrors\"".to_string(), WRITTEN_OUT.to_string()),
        (
            "replica = { of.array = \"mirrors\", link = \"near\" }".into(),
            format!("replica = {{ of = {{ {WRITTEN_OUT} }}, link = \"near\" }}"),
        ),
        (
            "over_provisioned = { of = { array = \"mirrors\" }, visible = \"80 %\" }".into(),
            format!("over_provisioned = {{ of = {{ {WRITTEN_OUT} }}, visible = \"80 %\" }}"),
        ),
        (
            "raid0 = { members = 2, of.raid5 = { members = 3, of.array = \"mirrors\" } }".into(),
            format!("raid0 = {{ members = 2, of.raid5 = {{ members = 3, of = {{ {WRITTEN_OUT} }} }} }}"),
        ),
        (
            "size = \"1 GiB\"\narray = \"pair\"".into(),
            "size = \"1 GiB\"\nraid1 = { members = 2, device = \"null\" }".into(),
        ),
    ] {
        assert_eq!(plan(&named).runs, plan(&written).runs, "{named}");
    }
}

#[test]
fn study_overrides_parts_of_an_array_profile() {
    let changed =
        "array = \"mirrors\"\ncache.memory = \"32 MiB\"\ncache.of.raid10 = { members = 4, chunk = \"128 KiB\" }";
    let written =
        WRITTEN_OUT.replace("64 MiB", "32 MiB").replace("members = 6", "members = 4").replace("64 KiB", "128 KiB");
    assert_eq!(plan(changed).runs, plan(&written).runs);
    let axis = "array = \"pair\"\n[axis.members]\nset = \"storage.disk.raid1.members\"\nlevels = [2, 3]\n\
                [axis.kind]\nmirrors = { storage.disk = { array = \"pair\" } }\n";
    let found: Vec<u32> =
        plan(axis).runs.iter().map(|run| run.storage["disk"].model.as_ref().expect("a model").drives()).collect();
    assert_eq!(found, [2, 3]);
    let levels = "size = \"1 GiB\"\n[axis.kind]\npair = { storage.disk.array = \"pair\" }\nmirrors = { storage.disk.array = \"mirrors\" }\n";
    let found: Vec<u32> =
        plan(levels).runs.iter().map(|run| run.storage["disk"].model.as_ref().expect("a model").drives()).collect();
    assert_eq!(found, [2, 6]);
}

#[test]
fn invalid_array_is_refused_at_its_place() {
    use InputErrorKind::{BadValue, Conflict, UnknownName, WrongType};
    for (name, storage, kind) in [
        ("unknown_array", "array = \"mirors\"", UnknownName),
        ("unknown_array_in_a_part", "replica = { of = { array = \"pairs\" }, link = \"near\" }", UnknownName),
        ("array_that_is_a_device", "array = \"null\"", UnknownName),
        ("device_that_is_an_array", "device = \"pair\"", UnknownName),
        ("member_that_is_an_array", "raid0 = { members = 2, device = \"pair\" }", UnknownName),
        ("array_that_is_a_number", "array = 24", WrongType),
        ("array_beside_a_device", "array = \"mirrors\"\ndevice = \"null\"", Conflict),
        (
            "array_of_another_kind_within",
            "array = \"mirrors\"\ncache.of.raid0 = { members = 2, device = \"null\" }",
            Conflict,
        ),
        ("array_with_an_odd_number_of_members", "array = \"mirrors\"\ncache.of.raid10.members = 5", BadValue),
        ("array_slower_than_any_controller", "array = \"mirrors\"\ncache.latency = \"50 s\"", BadValue),
        (
            "array_whose_rebuild_is_slower_than_its_least",
            "array = \"mirrors\"\ncache.of.raid10.rebuild_rate = \"10 MB\"",
            Conflict,
        ),
    ] {
        let error = planned(storage, MIRRORS).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn invalid_array_profile_is_refused_in_its_file() {
    for (name, from, to) in [
        ("array_profile_with_a_value_without_a_source", "{ value = 6, source = \"test\" }", "6"),
        ("array_profile_with_an_empty_source", "{ value = 6, source = \"test\" }", "{ value = 6, source = \"\" }"),
        ("array_profile_with_a_misspelled_key", "chunk =", "chunck ="),
        ("array_profile_with_a_misspelled_kind", "battery_backed", "battery_baked"),
        ("array_profile_without_members", "members = { value = 6, source = \"test\" }\n", ""),
        ("array_profile_of_an_unknown_device", "\"null\"", "\"nul\""),
        ("array_profile_with_an_odd_chunk", "\"64 KiB\"", "\"64 KB\""),
        ("array_profile_with_a_chunk_of_mebibytes", "\"64 KiB\"", "\"64 MiB\""),
        (
            "array_profile_with_milliseconds_for_microseconds",
            "[array.cache.of.raid10]",
            "latency = { value = \"100 ms\", source = \"test\" }\n[array.cache.of.raid10]",
        ),
        ("array_profile_of_too_few", "value = 6", "value = 2"),
        (
            "array_profile_that_says_its_size",
            "[array.cache]\n",
            "[array]\nsize = { value = \"1 GiB\", source = \"test\" }\n[array.cache]\n",
        ),
        (
            "array_profile_of_two_kinds",
            "[array.cache]\n",
            "[array.raid1]\nmembers = { value = 2, source = \"test\" }\ndevice = { value = \"null\", source = \"test\" }\n[array.cache]\n",
        ),
    ] {
        assert!(MIRRORS.contains(from), "{name}: the profile holds no `{from}`");
        let error = planned("array = \"mirrors\"", &MIRRORS.replacen(from, to, 1)).expect_err(name);
        assert_eq!(error.file, "profiles/arrays/mirrors.toml", "{name}: {error}");
        check_golden(name, &error.to_string());
    }
    let error = planned("array = \"mirrors\"", "description = \"nothing\"\n[array]\n").expect_err("nothing");
    check_golden("array_profile_of_nothing", &error.to_string());
    let error = planned("array = \"mirrors\"", "description = \"a list\"\narray = []\n").expect_err("no table");
    check_golden("array_profile_that_is_a_list", &error.to_string());
}

fn texts(kind: &str) -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles").join(kind);
    let paths = std::fs::read_dir(folder).expect("profiles").map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a profile");
            (path.file_stem().expect("a name").display().to_string(), path.display().to_string(), text)
        })
        .collect()
}

#[test]
fn array_profiles_resolve_to_the_reference_stacks() {
    let real =
        Profiles { devices: texts("devices"), arrays: texts("arrays"), links: texts("links"), ..Profiles::default() };
    let names = real.array_names();
    assert!(names.len() >= 7, "{names:?}");
    for name in &names {
        let (profile, node) = real.array(name).expect("it is there").unwrap_or_else(|error| panic!("{error}"));
        assert!(!profile.description.is_empty() && node.drives() > 1, "{name}");
    }
    let of = |storage: &str| -> Node {
        let text = SMALL.replacen("device = \"null\"", storage, 1);
        let plan = planned_in(&text, World::Simulated, &real).unwrap_or_else(|error| panic!("{error}"));
        plan.runs[0].storage["disk"].model.clone().expect("a model")
    };
    let written = "cache = { memory = \"1 GiB\", kind = \"battery_backed\", latency = \"100 us\", rate = \"1500 MB\", \
                   of.raid10 = { members = 24, device = \"sas-15k-300gb\", chunk = \"64 KiB\" } }";
    assert_eq!(of("array = \"fc-24x15k\""), of(written));
}

/// A line's value as it would be in the units beside its own.
fn in_wrong_units(line: &str) -> Vec<String> {
    let units = ["ns", "us", "ms", "s", "", "KB", "MB", "GB", "TB", "", "B", "KiB", "MiB", "GiB"];
    let Some((before, rest)) = line.split_once("{ value = \"") else { return vec![] };
    let Some((number, unit, after)) = rest.split_once('"').and_then(|(value, after)| {
        let (number, unit) = value.split_once(' ')?;
        Some((number, unit, after))
    }) else {
        return vec![];
    };
    let Some(own) = units.iter().position(|other| *other == unit) else { return vec![] };
    let beside = [own.checked_sub(1), Some(own + 1)].into_iter().flatten().filter_map(|at| units.get(at));
    let wrong = beside.filter(|unit| !unit.is_empty());
    wrong.map(|unit| format!("{before}{{ value = \"{number} {unit}\"{after}")).collect()
}

#[test]
fn array_values_off_by_a_thousand_are_refused() {
    let (devices, links, mut refused) = (texts("devices"), texts("links"), 0);
    for (name, file, text) in texts("arrays") {
        // A cache's memory may be anything from 1 MiB to 256 GiB: it is no physical constant.
        for line in text.lines().filter(|line| !line.starts_with("memory")) {
            for wrong in in_wrong_units(line) {
                let arrays = vec![(name.clone(), file.clone(), text.replacen(line, &wrong, 1))];
                let off = Profiles { devices: devices.clone(), links: links.clone(), arrays, ..Profiles::default() };
                let error = off.array(&name).expect("it is there").expect_err(&wrong);
                assert_eq!((error.kind, &error.file), (InputErrorKind::BadValue, &file), "{error}");
                assert!(!error.accepted.is_empty() && wrong.contains(&error.found), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused >= 14, "{refused}");
}
