//! Ambient temperature of a drive, and its slot.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_base::units::{Rate, Temperature};
use tameshi_spec::profile::{Device, FlashProfile, Pcie};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

const POWER: &str = r#"
[device.flash.power]
idle_mw = { value = 2000, source = "test" }
limit_mw = { value = 9000, source = "test" }
read_nj = { value = 4000, source = "test" }
program_nj = { value = 120000, source = "test" }
erase_nj = { value = 300000, source = "test" }
"#;
const THERMAL: &str = r#"
[device.flash.power.thermal]
ambient = { value = "35 degC", source = "test" }
resistance_mk_per_w = { value = 6000, source = "test" }
capacity_mj_per_k = { value = 9000, source = "test" }
throttle = { value = "80 degC", source = "test" }
release = { value = "75 degC", source = "test" }
limit_mw = { value = 4000, source = "test" }
"#;

/// The small study's only storage is this drive, and says so much of it.
fn study(more: &str) -> String {
    SMALL.replacen("device = \"null\"", &format!("device = \"flash\"\n{more}"), 1)
}

fn with(drive: String) -> Profiles {
    let mut profiles = profiles();
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), drive));
    profiles
}

fn planned_drive(more: &str, drive: String) -> FlashProfile {
    let plan = planned_in(&study(more), World::Simulated, &with(drive)).expect("a plan");
    let model = plan.runs[0].storage["disk"].model.clone().expect("a model");
    match model.drive() {
        (_, Device::Flash(flash)) => flash.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_study_says_how_warm_it_is_around_the_drive() {
    let ambient = |more: &str| {
        let power = planned_drive(more, format!("{FLASH}{POWER}{THERMAL}")).power.expect("it draws");
        power.thermal.expect("it gets warm").ambient.value
    };
    assert_eq!(ambient(""), Temperature(35_000));
    assert_eq!(ambient("ambient = \"22.5 °C\""), Temperature(22_500));
}

#[test]
fn invalid_thermal_values_are_refused_with_the_reason() {
    for (name, from, to) in [
        ("thermal_below_zero", "\"35 degC\"", "\"-3 degC\""),
        ("thermal_in_kelvin", "\"80 degC\"", "\"353 K\""),
        ("thermal_resistance_in_the_wrong_unit", "value = 6000,", "value = 6,"),
        ("thermal_release_above_the_throttle", "\"75 degC\"", "\"82 degC\""),
        ("thermal_release_that_idling_never_reaches", "\"75 degC\"", "\"46.9 degC\""),
        ("thermal_limit_below_idling", "limit_mw = { value = 4000", "limit_mw = { value = 1500"),
        ("thermal_limit_above_the_drives", "limit_mw = { value = 4000", "limit_mw = { value = 9000"),
    ] {
        assert!(THERMAL.contains(from), "{name}: the profile holds no `{from}`");
        let drive = format!("{FLASH}{POWER}{}", THERMAL.replacen(from, to, 1));
        check_golden(name, &planned_in(&study(""), World::Simulated, &with(drive)).expect_err(name).to_string());
    }
}

#[test]
fn ambient_without_effect_or_without_release_is_refused() {
    for (name, more, drive) in [
        ("ambient_of_a_drive_that_does_not_get_warm", "ambient = \"40 degC\"", format!("{FLASH}{POWER}")),
        ("ambient_as_warm_as_the_release", "ambient = \"70 degC\"", format!("{FLASH}{POWER}{THERMAL}")),
    ] {
        let error = planned_in(&study(more), World::Simulated, &with(drive)).expect_err(name);
        check_golden(name, &error.to_string());
    }
    let of_a_part = SMALL.replacen(
        "device = \"null\"",
        "raid0 = { members = 2, of = { device = \"flash\", ambient = \"40 degC\" } }",
        1,
    );
    let drive = with(format!("{FLASH}{POWER}{THERMAL}"));
    let error = planned_in(&of_a_part, World::Simulated, &drive).expect_err("a part of a stack");
    check_golden("ambient_of_a_part", &error.to_string());
}

/// The flash drive on a link of this width.
fn on_lanes(generation: u32, lanes: u32) -> String {
    let half_duplex = "half_duplex = { value = false, source = \"test\" }";
    let pcie = format!("pcie = {{ value = {{ generation = {generation}, lanes = {lanes} }}, source = \"test\" }}");
    assert!(FLASH.contains(half_duplex));
    FLASH.replacen(half_duplex, &format!("{half_duplex}\n{pcie}"), 1)
}

#[test]
fn slower_slot_bounds_the_link_both_ways() {
    let link = |slot: &str| planned_drive(slot, on_lanes(3, 4)).link;
    let rates = |slot: &str| {
        let link = link(slot);
        (link.read_rate.value, link.write_rate.value)
    };
    let own = (Rate(3_200_000_000_000), Rate(3_200_000_000_000));
    assert_eq!(rates(""), own);
    for same in ["slot = { generation = 3, lanes = 4 }", "slot = { generation = 5, lanes = 16 }"] {
        assert_eq!(rates(same), own, "{same}");
    }
    for (slot, trained) in [
        ("slot = { generation = 3, lanes = 2 }", Pcie { generation: 3, lanes: 2 }),
        ("slot = { generation = 2, lanes = 8 }", Pcie { generation: 2, lanes: 4 }),
        ("slot = { generation = 1, lanes = 1 }", Pcie { generation: 1, lanes: 1 }),
    ] {
        assert_eq!(rates(slot), (trained.carries(), trained.carries()), "{slot}");
        assert_eq!(link(slot).pcie.expect("it is in one").value, trained);
    }
}

#[test]
fn pcie_without_the_lanes_or_the_rate_is_refused() {
    for (name, drive) in [
        ("pcie_of_three_lanes", on_lanes(3, 3)),
        ("pcie_without_lanes", on_lanes(3, 0)),
        ("pcie_of_the_ninth_generation", on_lanes(9, 4)),
        ("pcie_that_does_not_carry_the_drives_rate", on_lanes(2, 4)),
        (
            "pcie_one_way_at_a_time",
            on_lanes(3, 4).replacen("half_duplex = { value = false", "half_duplex = { value = true", 1),
        ),
    ] {
        check_golden(name, &planned_in(&study(""), World::Simulated, &with(drive)).expect_err(name).to_string());
    }
    let optane = include_str!("../../../../python/tameshi/data/profiles/devices/optane-p4800x-375g.toml");
    let narrow = optane.replacen("lanes = 4", "lanes = 2", 1);
    let error = planned_in(&study(""), World::Simulated, &with(narrow)).expect_err("x2 carries less");
    check_golden("pcie_that_does_not_carry_the_xpoint_drives_rate", &error.to_string());
}

#[test]
fn a_slot_that_is_none_or_that_the_drive_is_not_in_is_refused() {
    for (name, slot, drive) in [
        ("slot_of_three_lanes", "slot = { generation = 3, lanes = 3 }", on_lanes(3, 4)),
        ("slot_of_no_generation", "slot = { generation = 0, lanes = 4 }", on_lanes(3, 4)),
        ("slot_of_a_drive_that_is_in_none", "slot = { generation = 3, lanes = 4 }", FLASH.to_string()),
    ] {
        check_golden(name, &planned_in(&study(slot), World::Simulated, &with(drive)).expect_err(name).to_string());
    }
    let null = SMALL.replacen("device = \"null\"", "device = \"null\"\nslot = { generation = 3, lanes = 4 }", 1);
    let error = planned_in(&null, World::Simulated, &profiles()).expect_err("nothing is in a slot");
    check_golden("slot_of_what_is_no_drive", &error.to_string());
}
