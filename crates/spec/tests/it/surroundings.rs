//! What is around a drive: how warm that is, and what the drive does about it.

use crate::errors::{FLASH, check_golden};
use crate::support::{SMALL, planned_in, profiles};
use tameshi_base::units::Temperature;
use tameshi_spec::profile::{Device, FlashProfile};
use tameshi_spec::resolve::Profiles;
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
fn heat_that_no_drive_has_is_told_with_the_reason() {
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
fn an_ambient_that_changes_nothing_or_never_lets_the_drive_cool_is_refused() {
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
