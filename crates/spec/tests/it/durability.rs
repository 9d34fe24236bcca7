//! Broken promises about power cuts: drives that ignore flushes, and flash without its capacitor.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_spec::profile::Device;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

fn drives() -> Profiles {
    let mut profiles = profiles();
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), FLASH.into()));
    profiles
}

fn study(storage: &str) -> String {
    SMALL.replacen("device = \"null\"", &format!("{storage}\nsize = \"1 GiB\""), 1)
}

#[test]
fn removed_capacitor_makes_a_flash_drive_volatile() {
    for (storage, is_volatile) in [
        ("device = \"flash\"", false),
        ("device = \"flash\"\nwithout_capacitor = true", true),
        ("device = \"flash\"\naged = { hold_up = \"80 ms\" }", false),
        ("device = \"flash\"\naged = { hold_up = \"79 ms\" }", true),
        ("raid1 = { members = 2, device = \"flash\" }\nwithout_capacitor = true", true),
        ("cache = { of = { device = \"flash\" }, memory = \"64 MiB\", kind = \"volatile\" }", true),
        ("cache = { of = { device = \"flash\" }, memory = \"64 MiB\", kind = \"battery_backed\" }", false),
        ("device = \"null\"", false),
    ] {
        for world in [World::Simulated, World::Emulated] {
            let plan = planned_in(&study(storage), world, &drives()).expect(storage);
            assert!(plan.refusals.is_empty(), "{storage}");
            let model = plan.runs[0].storage["disk"].model.as_ref().expect("a model");
            assert_eq!(model.is_volatile(), is_volatile, "{storage}");
            let Device::Flash(flash) = model.drive().1 else { continue };
            let capacitor = flash.buffer.power_loss_protection.is_some();
            assert_eq!(capacitor, !storage.contains("without_capacitor"), "{storage}");
        }
    }
}

#[test]
fn removed_atomic_write_leaves_whole_mapping_units() {
    let whole = FLASH.replacen(
        "[device.flash]\n",
        "[device.flash]\natomic_write = { value = \"16 KiB\", source = \"test\" }\n",
        1,
    );
    assert_ne!(whole, FLASH, "the profile has this table");
    let mut profiles = profiles();
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), whole));
    for (key, is_atomic) in [("", true), ("without_atomic_write = true", false)] {
        let text = study(&format!("device = \"flash\"\n{key}"));
        let plan = planned_in(&text, World::Simulated, &profiles).expect("plans");
        let model = plan.runs[0].storage["disk"].model.as_ref().expect("a model");
        let Device::Flash(flash) = model.drive().1 else { panic!("a flash drive") };
        assert_eq!(flash.atomic_write.is_some(), is_atomic);
    }
}

#[test]
fn ignored_flushes_are_of_the_emulated_world_alone() {
    let text = study("device = \"flash\"\nwithout_capacitor = true\nignores_flush = true");
    let plan = |world| planned_in(&text, world, &drives()).expect("plans");
    let emulated = plan(World::Emulated);
    assert!(emulated.refusals.is_empty() && emulated.runs[0].storage["disk"].ignores_flush);
    for (world, name) in
        [(World::Simulated, "ignored_flushes_simulated"), (World::Measured, "ignored_flushes_measured")]
    {
        let refused = plan(world).refusals;
        assert_eq!(refused.len(), 1);
        check_golden(name, &refused[0].text);
    }
}

#[test]
fn broken_promises_without_effect_are_refused() {
    for (name, storage) in [
        ("no_capacitor_of_a_drive_that_has_none", "device = \"null\"\nwithout_capacitor = true"),
        ("no_atomic_write_of_a_drive_that_has_none", "device = \"flash\"\nwithout_atomic_write = true"),
        (
            "hold_up_of_a_removed_capacitor",
            "device = \"flash\"\nwithout_capacitor = true\naged = { hold_up = \"1 ms\" }",
        ),
        ("ignored_flushes_of_a_drive_with_a_capacitor", "device = \"flash\"\nignores_flush = true"),
        ("ignored_flushes_of_a_member", "raid1 = { members = 2, of = { device = \"flash\", ignores_flush = true } }"),
    ] {
        let error = planned_in(&study(storage), World::Emulated, &drives()).expect_err(name);
        check_golden(name, &error.to_string());
    }
}
