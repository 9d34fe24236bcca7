//! What an I/O costs in the simulated world, recording on: `cargo run -p tameshi-sim --example speed`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use std::sync::Arc;
use tameshi_record::{Control, Writer};
use tameshi_spec::run::RunSpec;

const DISK: &str = include_str!("../../../profiles/devices/sas-15k-146gb.toml");
const FLASH: &str = include_str!("../../../profiles/devices/nvme-tlc-3.84tb.toml");
const NULL: &str = include_str!("../../../profiles/devices/null.toml");

/// A run of one stream that reads so many blocks of 4 KiB at random.
fn spec(profile: &str, queue_depth: u32, jobs: u32, blocks: u64) -> RunSpec {
    let text = format!(
        r#"
        schema_version = 1
        study = "speed"
        world = "simulated"
        cell = {{}}
        repetition = 0
        seed = 1
        start = "as-is"
        interval = "1 s"
        unsupported = []
        [storage.disk]
        size = "100 GB"
        [[phases]]
        name = "steady"
        levels = {{}}
        ramp = "0 ns"
        until = {{ amount = "{} B" }}
        [[phases.streams]]
        name = "load"
        storage = "disk"
        stream = {{ queue_depth = {queue_depth}, jobs = {jobs} }}
        "#,
        blocks * 4096
    );
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    let profile: tameshi_spec::profile::DeviceProfile = toml::from_str(profile).expect("a profile");
    let mut device = profile.device;
    if let tameshi_spec::profile::Device::Flash(flash) = &mut device {
        (flash.simulated.scale, flash.simulated.written) = (128, tameshi_spec::profile::Written::Once);
        spec.storage[0].size = flash.scaled_capacity();
    }
    spec.storage[0].model = Some(tameshi_spec::run::Node::Device { profile: "speed".into(), device });
    spec
}

/// Nanoseconds of processor time that this thread has used.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

fn main() {
    for (name, profile, queue_depth, jobs, blocks) in [
        ("null", NULL, 1, 1, 20_000_000u64),
        ("null", NULL, 32, 1, 20_000_000),
        ("null", NULL, 16, 16, 20_000_000),
        ("flash", FLASH, 256, 1, 20_000_000),
        ("flash", FLASH, 16, 16, 20_000_000),
        ("disk", DISK, 1, 1, 2_000_000),
        ("disk", DISK, 8, 1, 2_000_000),
        ("disk", DISK, 32, 1, 2_000_000),
        ("disk", DISK, 16, 16, 2_000_000),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["series", "histograms"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let mut writer = Writer::open(folder.path(), Arc::new(Control::default())).expect("a record");
        let spec = spec(profile, queue_depth, jobs, blocks);
        let begin = processor_ns();
        tameshi_sim::execute(&spec, &mut writer).expect("a run");
        let ns = (processor_ns() - begin) / blocks as f64;
        println!("{name} with {jobs} jobs at depth {queue_depth}: {ns:.0} ns of processor time for a read");
    }
}
