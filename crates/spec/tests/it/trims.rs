//! Streams that trim, and drives that refuse it.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_base::InputError;
use tameshi_spec::plan::Plan;
use tameshi_spec::run::World;

const DISK: &str = include_str!("../../../../python/tameshi/data/profiles/devices/sas-15k-300gb.toml");

/// The small study's stream says so much, and its only storage is this.
fn trimming(stream: &str, storage: &str, world: World) -> Result<Plan, InputError> {
    let mut profiles = profiles();
    for (name, text) in [("disk", DISK), ("flash", FLASH)] {
        profiles.devices.push((name.into(), format!("profiles/devices/{name}.toml"), text.into()));
    }
    let stream = format!("[workload.stream.s]\nread = \"50 %\"\n{stream}");
    let study = SMALL.replacen("device = \"null\"", storage, 1).replacen("[workload.stream.s]", &stream, 1);
    planned_in(&study, world, &profiles)
}

#[test]
fn hard_disks_refuse_trims_alone_and_in_arrays() {
    let (disk, stripe) = ("device = \"disk\"", "raid0 = { members = 2, device = \"disk\" }");
    for (name, stream, storage) in [
        ("trims_of_a_hard_disk", "trim = \"10 %\"", disk),
        ("trims_before_writes_to_a_hard_disk", "trim_first = true", disk),
        ("trims_of_an_array_of_hard_disks", "trim = \"10 %\"", stripe),
    ] {
        check_golden(name, &trimming(stream, storage, World::Simulated).expect_err(name).to_string());
    }
    let measured = trimming("trim = \"10 %\"", "size = \"1 GiB\"", World::Measured);
    for taken in [
        trimming("", disk, World::Simulated),
        trimming("trim = \"0 %\"", stripe, World::Simulated),
        trimming("trim = \"10 %\"", "device = \"flash\"", World::Simulated),
        trimming("trim_first = true", "raid0 = { members = 2, device = \"flash\" }", World::Simulated),
        measured,
    ] {
        assert!(taken.is_ok(), "{:?}", taken.err());
    }
}
