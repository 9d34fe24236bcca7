//! Small studies and profiles for the tests.

use tameshi_base::InputError;
use tameshi_spec::document::Source;
use tameshi_spec::plan::{Plan, Request, plan};
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::World;

/// A profile that every test may name.
pub const NULL_PROFILE: &str = r#"
description = "nothing"
[device.null]
capacity = { value = "1 GiB", source = "test" }
"#;

/// A link that every test may name.
pub const LINK_PROFILE: &str = r#"
description = "a link"
[link]
round_trip = { value = "10 us", source = "test" }
rate = { value = "1 GB", source = "test" }
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
    let file = |name: &str, folder: &str, text: &str| {
        (name.to_string(), format!("profiles/{folder}/{name}.toml"), text.to_string())
    };
    let devices = vec![file("null", "devices", NULL_PROFILE)];
    Profiles { devices, links: vec![file("near", "links", LINK_PROFILE)], ..Profiles::default() }
}

pub fn planned(text: &str) -> Result<Plan, InputError> {
    planned_in(text, World::Simulated, &profiles())
}

pub fn planned_in(text: &str, world: World, profiles: &Profiles) -> Result<Plan, InputError> {
    plan("t", Source { file: "t.toml", text }, &Request::new(world), profiles, &|_| Vec::new())
}

pub fn planned_quick(text: &str) -> Result<Plan, InputError> {
    let request = Request { quick: true, ..Request::new(World::Simulated) };
    plan("t", Source { file: "t.toml", text }, &request, &profiles(), &|_| Vec::new())
}
