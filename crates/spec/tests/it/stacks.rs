//! Stacks of devices: what they resolve to, how much they hold, and what is refused.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{LINK_PROFILE, SMALL, planned, planned_in, profiles};
use tameshi_base::{InputErrorKind, Size};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::{Link, Node, World};

fn with(storage: &str) -> String {
    SMALL.replacen("device = \"null\"", storage, 1)
}

fn node(storage: &str) -> Node {
    let plan = planned(&with(storage)).unwrap_or_else(|error| panic!("{storage}: {error}"));
    plan.runs[0].storage["disk"].model.clone().expect("a model")
}

#[test]
fn stack_capacity_matches_arithmetic() {
    let (gib, mib) = (1u64 << 30, 1u64 << 20);
    for (storage, bytes) in [
        ("raid0 = { members = 3, device = \"null\" }", 3 * gib),
        ("raid0 = { members = 1, device = \"null\" }", gib),
        ("raid1 = { members = 3, device = \"null\" }", gib),
        ("raid10 = { members = 6, device = \"null\" }", 3 * gib),
        ("raid5 = { members = 5, device = \"null\", chunk = \"64 KiB\" }", 4 * gib),
        ("raid0 = { members = 2, of = { raid5 = { members = 3, device = \"null\" } } }", 4 * gib),
        ("replica = { of = { raid0 = { members = 2, device = \"null\" } }, link = \"near\" }", 2 * gib),
        ("partition = { of = { device = \"null\" }, functions = 4 }", gib / 4),
        ("over_provisioned = { of = { device = \"null\" }, visible = \"80 %\" }", gib / 10 * 8 / 4096 * 4096),
        (
            "cache = { of = { raid1 = { members = 2, device = \"null\" } }, memory = \"64 MiB\", kind = \"volatile\" }",
            gib,
        ),
        (
            "raid0 = { members = 2, chunk = \"16 MiB\", of = { over_provisioned = { of = { device = \"null\" }, visible = \"99 %\" } } }",
            2 * 63 * 16 * mib,
        ),
    ] {
        assert_eq!(node(storage).capacity().0, bytes, "{storage}");
        let sized = format!("size = \"1 MiB\"\n{storage}");
        assert_eq!(planned(&with(&sized)).expect("plans").runs[0].storage["disk"].size, Size(mib));
        let error = planned(&with(&format!("size = \"5 GiB\"\n{storage}"))).expect_err("too large");
        assert_eq!((error.kind, error.key.as_str()), (InputErrorKind::BadValue, "storage.disk.size"));
    }
}

#[test]
fn link_is_a_profile_figures_or_a_changed_profile() {
    let of = |link: &str| format!("replica = {{ of = {{ device = \"null\" }}, link = \"{link}\" }}");
    let link = |storage: &str| match node(storage) {
        Node::Replica { link, .. } => (link.round_trip.0, link.rate.0),
        other => panic!("{other:?}"),
    };
    assert_eq!(link(&of("near")), (10_000, 1_000_000_000));
    let written = format!("{}\n[link.far]\nprofile = \"near\"\nround_trip = \"1 ms\"", of("far"));
    assert_eq!(link(&written), (1_000_000, 1_000_000_000));
    let written = format!("{}\n[link.far]\nrate = \"5 MB\"\nround_trip = \"1 ms\"", of("far"));
    assert_eq!(link(&written), (1_000_000, 5_000_000));
    let Node::Replica { link: Link { .. }, of, .. } = node(&of("near")) else { panic!("a replica") };
    assert_eq!(of.drive().0, "null");
}

#[test]
fn storages_of_one_drive_are_its_functions_in_order() {
    let function = |weight: &str| {
        format!("partition = {{ of = {{ device = \"null\" }}, functions = 2, drive = \"card\"{weight} }}")
    };
    let text = with(&format!("{}\n[storage.other]\n{}", function(", weight = \"20 %\""), function("")));
    let text =
        text.replacen("[workload.stream.s]", "[use]\nstorage = \"disk\"\nlog = \"other\"\n[workload.stream.s]", 1);
    let plan = planned(&text).expect("plans");
    let functions: Vec<(u32, u32)> = plan.runs[0]
        .storage
        .values()
        .map(|storage| match &storage.model {
            Some(Node::Partition { function, .. }) => (function.index, function.weight.0),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(functions, [(0, 200_000), (1, 500_000)]);
}

/// A drive of one function, one of four, and a link that is far and slow.
fn with_functions() -> Profiles {
    let mut profiles = profiles();
    let four =
        FLASH.replace("[device.flash.buffer]", "functions = { value = 4, source = \"test\" }\n[device.flash.buffer]");
    for (name, text) in [("flash", FLASH.to_string()), ("shared", four)] {
        profiles.devices.push((name.into(), format!("profiles/devices/{name}.toml"), text));
    }
    let far = LINK_PROFILE.replace("10 us", "20 ms").replace("1 GB", "200 MB");
    profiles.links.push(("far".into(), "profiles/links/far.toml".into(), far));
    profiles
}

#[test]
fn as_many_functions_as_the_drive_has_can_be_given() {
    let storage = "partition = { of = { device = \"shared\" }, functions = 4 }";
    let plan =
        planned_in(&with(storage), World::Simulated, &with_functions()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.runs.len(), 1);
}

#[test]
fn invalid_stack_is_refused_at_its_place() {
    use InputErrorKind::{BadValue, Conflict, MissingKey, UnknownKey, UnknownName};
    let shared = "partition = { of = { device = \"null\" }, functions = 2, drive = \"card\", weight = \"60 %\" }";
    let twice = format!("{shared}\n[storage.other]\n{shared}\n[use]\nstorage = \"disk\"\nlog = \"other\"");
    for (name, storage, kind) in [
        ("mirror_of_one", "raid1 = { members = 1, device = \"null\" }", BadValue),
        ("raid10_of_five", "raid10 = { members = 5, device = \"null\" }", BadValue),
        ("odd_chunk", "raid0 = { members = 2, device = \"null\", chunk = \"100 KiB\" }", BadValue),
        (
            "chunk_larger_than_a_member",
            "raid5 = { members = 3, of = { over_provisioned = { of = { device = \"null\" }, visible = \"1 %\" } }, chunk = \"16 MiB\" }",
            BadValue,
        ),
        ("array_without_members", "raid0 = { members = 2 }", MissingKey),
        (
            "array_of_device_and_stack",
            "raid0 = { members = 2, device = \"null\", of = { device = \"null\" } }",
            Conflict,
        ),
        ("stripe_with_a_rebuild", "raid0 = { members = 2, device = \"null\", rebuild_rate = \"1 MB\" }", Conflict),
        ("part_without_a_model", "replica = { of = { size = \"1 GiB\" }, link = \"near\" }", MissingKey),
        ("part_with_a_size", "raid0 = { members = 2, of = { device = \"null\", size = \"1 MiB\" } }", Conflict),
        (
            "unknown_profile_in_a_part",
            "raid0 = { members = 2, of = { raid1 = { members = 2, device = \"nul\" } } }",
            UnknownName,
        ),
        ("unknown_link", "replica = { of = { device = \"null\" }, link = \"nera\" }", UnknownName),
        (
            "former_acknowledge",
            "replica = { of = { device = \"null\" }, link = \"near\", acknowledge = \"local\" }",
            UnknownKey,
        ),
        (
            "link_without_a_rate",
            "replica = { of = { device = \"null\" }, link = \"x\" }\n[link.x]\nround_trip = \"1 ms\"",
            MissingKey,
        ),
        (
            "round_trip_in_the_wrong_unit",
            "replica = { of = { device = \"null\" }, link = \"x\" }\n[link.x]\nround_trip = \"12 ms\"\nrate = \"3 GB\"",
            BadValue,
        ),
        ("functions_granted_too_much", &twice, Conflict),
        ("nothing_visible", "over_provisioned = { of = { device = \"null\" }, visible = \"0 %\" }", BadValue),
        (
            "cache_without_room",
            "cache = { of = { device = \"null\" }, memory = \"4 KiB\", kind = \"volatile\" }",
            BadValue,
        ),
        (
            "cache_rate_of_a_byte",
            "cache = { of = { device = \"null\" }, memory = \"1 GiB\", kind = \"volatile\", rate = \"1 B\" }",
            BadValue,
        ),
    ] {
        let text = with(storage);
        let error = planned(&text).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}

#[test]
fn link_figures_off_by_a_thousand_are_refused() {
    let of = |figures: &str| {
        planned(&with(&format!("replica = {{ of = {{ device = \"null\" }}, link = \"x\" }}\n[link.x]\n{figures}")))
    };
    for (round_trip, rate) in [("13 us", "3 GB"), ("0 us", "12 GB"), ("300 us", "12 MB"), ("100 ms", "5 MB")] {
        of(&format!("round_trip = \"{round_trip}\"\nrate = \"{rate}\"")).unwrap_or_else(|error| panic!("{error}"));
    }
    for (round_trip, rate, key) in [
        ("13 ns", "3 GB", "link.x.round_trip"),
        ("13 ms", "3 GB", "link.x.round_trip"),
        ("13 us", "3 MB", "link.x.rate"),
        ("13 us", "3 KB", "link.x.rate"),
        ("13 us", "3 TB", "link.x.rate"),
        ("1 ms", "5 KB", "link.x.rate"),
        ("1 ms", "0 B", "link.x.rate"),
    ] {
        let error = of(&format!("round_trip = \"{round_trip}\"\nrate = \"{rate}\"")).expect_err(rate);
        assert_eq!((error.kind, error.key.as_str()), (InputErrorKind::BadValue, key), "{error}");
    }
}

#[test]
fn stack_settings_beyond_the_profile_are_refused() {
    for (name, storage) in [
        (
            "rate_beyond_a_round_trip",
            "replica = { of = { device = \"null\" }, link = \"x\" }\n[link.x]\nprofile = \"far\"\nrate = \"3 GB\"",
        ),
        (
            "link_rate_in_the_wrong_unit",
            "replica = { of = { device = \"null\" }, link = \"x\" }\n[link.x]\nround_trip = \"13 us\"\nrate = \"3 MB\"",
        ),
        (
            "round_trip_shorter_than_any",
            "replica = { of = { device = \"null\" }, link = \"x\" }\n[link.x]\nprofile = \"near\"\nround_trip = \"13 ns\"",
        ),
        ("rebuild_in_the_wrong_unit", "raid1 = { members = 2, device = \"null\", rebuild_rate = \"200 KB\" }"),
        ("functions_beyond_a_drive_without", "partition = { of = { device = \"flash\" }, functions = 2 }"),
        ("functions_beyond_those_of_the_drive", "partition = { of = { device = \"shared\" }, functions = 5 }"),
    ] {
        let error = planned_in(&with(storage), World::Simulated, &with_functions()).expect_err(name);
        assert_eq!(error.kind, InputErrorKind::BadValue, "{name}: {error}");
        check_golden(name, &error.to_string());
    }
}
