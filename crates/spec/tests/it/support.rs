//! Small studies and profiles for the tests.

use tameshi_base::InputError;
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, Request, plan};
use tameshi_spec::resolve::Profiles;
use tameshi_spec::run::World;

/// A profile that every test may name.
pub const NULL_PROFILE: &str = r#"
description = "nothing"
[device.null]
capacity = { value = "1 GiB", source = "test" }
"#;

/// The smallest study that plans.
pub const SMALL: &str = r#"
title = "t"
question = "q?"
[storage.disk]
device = "null"
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
until = { time = "1 s" }
"#;

pub fn profiles() -> Profiles {
    Profiles { devices: vec![("null".into(), "profiles/devices/null.toml".into(), NULL_PROFILE.into())] }
}

pub fn planned(text: &str) -> Result<Plan, InputError> {
    planned_in(text, World::Simulated, &profiles())
}

pub fn planned_in(text: &str, world: World, profiles: &Profiles) -> Result<Plan, InputError> {
    plan("t", Source { file: "t.toml", text }, &Request { world, quick: false }, profiles)
}
