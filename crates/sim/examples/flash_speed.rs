//! How fast a simulated flash drive is beside a bare map-and-reclaim loop: `cargo run -p tameshi-sim --example flash_speed`.
//!
//! Both do the same to the same number of flash units at the same over-provisioning, in turns within one run. The loop draws a
//! block and looks it up, or writes it and reclaims: no time, no records. The drive has 256 commands outstanding, and all of its
//! record (parts of every latency, histograms, series) is written. Arguments: GiB of simulated flash, millions of I/Os.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use std::sync::Arc;
use tameshi_base::{Random, Size};
use tameshi_record::{Control, Writer};
use tameshi_sim::device::flash::ftl::{Ftl, Shape};
use tameshi_spec::profile::{CleaningPolicy, Device, DeviceProfile, FlashProfile, Written};
use tameshi_spec::run::{Node, RunSpec};

const PROFILE: &str = include_str!("../../../profiles/devices/nvme-tlc-3.84tb.toml");
const KINDS: [(&str, u32, Written); 4] = [
    ("reads", 100, Written::Once),
    ("fresh writes", 0, Written::Never),
    ("steady random writes", 0, Written::Steady),
    ("70/30", 70, Written::Steady),
];

/// The drive with so much flash.
fn drive(flash_gib: u64) -> FlashProfile {
    let profile: DeviceProfile = toml::from_str(PROFILE).expect("a profile");
    let Device::Flash(mut drive) = profile.device else { panic!("no flash drive") };
    let spare = f64::from(drive.over_provisioning.value.0) / 1e6;
    drive.capacity.value = Size((flash_gib as f64 * f64::from(1 << 30) / (1.0 + spare)) as u64 >> 20 << 20);
    // As many blocks as the whole drive has.
    drive.nand.pages_per_block.value = (flash_gib as u32 * 1152 / 4096).max(3) / 3 * 3;
    drive
}

fn spec(drive: &FlashProfile, read_percent: u32, written: Written, blocks: u64) -> RunSpec {
    let text = format!(
        r#"
        schema_version = 1
        study = "speed"
        world = "simulated"
        cell = {{}}
        repetition = 0
        seed = 1
        start = "as-is"
        interval = "100 ms"
        unsupported = []
        [storage.disk]
        size = "{} B"
        [[phases]]
        name = "steady"
        levels = {{}}
        ramp = "0 ns"
        until = {{ amount = "{} B" }}
        [[phases.streams]]
        name = "load"
        storage = "disk"
        stream = {{ queue_depth = 256, jobs = 1, read = "{read_percent} %" }}
        "#,
        drive.capacity.value.0,
        blocks * 4096
    );
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    let mut drive = drive.clone();
    drive.simulated.written = written;
    spec.storage[0].model = Some(Node::Device { profile: "speed".into(), device: Device::Flash(drive) });
    spec
}

/// Nanoseconds of processor time that this thread has used.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// Processor time of an I/O of the drive, preconditioning left out.
fn simulated(drive: &FlashProfile, read_percent: u32, written: Written, blocks: u64) -> f64 {
    let nanos = |blocks| {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["series", "histograms"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let mut writer = Writer::open(folder.path(), Arc::new(Control::default())).expect("a record");
        let spec = spec(drive, read_percent, written, blocks);
        let begin = processor_ns();
        tameshi_sim::execute(&spec, &mut writer).expect("a run");
        processor_ns() - begin
    };
    let preparing = nanos(256);
    (nanos(blocks) - preparing) / blocks as f64
}

/// Processor time of an I/O of the bare loop.
fn bare(drive: &FlashProfile, read_percent: u64, written: Written, blocks: u64) -> f64 {
    let logical = (drive.capacity.value.0 / 4096) as u32;
    let units_per_block = drive.nand.pages_per_block.value * 15 * 4 * 16;
    let physical = u64::from(logical) * (1_000_000 + u64::from(drive.over_provisioning.value.0)) / 1_000_000;
    let shape = Shape {
        logical,
        blocks: physical.div_ceil(u64::from(units_per_block)) as u32,
        units_per_block,
        reserve_blocks: drive.cleaning.reserve_blocks.value,
        separate: true,
        policy: CleaningPolicy::Greedy,
    };
    let mut ftl = Ftl::new(shape, Random::named(1, "victims")).expect("a layer");
    let mut random = Random::named(1, "bare");
    if written != Written::Never {
        (0..logical).for_each(|unit| ftl.write_untimed(unit));
    }
    if written == Written::Steady {
        (0..2 * u64::from(logical)).for_each(|_| ftl.write_untimed(random.below(u64::from(logical)) as u32));
    }
    let mut found = 0u64;
    let begin = processor_ns();
    for _ in 0..blocks {
        let unit = random.below(u64::from(logical)) as u32;
        if read_percent == 100 || (read_percent > 0 && random.below(100) < read_percent) {
            found += u64::from(ftl.lookup(unit).unwrap_or(0));
        } else {
            ftl.write_untimed(unit);
        }
    }
    std::hint::black_box(found);
    (processor_ns() - begin) / blocks as f64
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|of| of.parse().expect("a number")).collect();
    let gib = arguments.first().copied().unwrap_or(32);
    let blocks = arguments.get(1).copied().unwrap_or(4) * 1_000_000;
    let drive = drive(gib);
    let only = arguments.get(2).map(|&kind| kind as usize);
    for (_, (name, read_percent, written)) in
        KINDS.iter().enumerate().filter(|(at, _)| only.is_none_or(|kind| kind == *at))
    {
        let loops = bare(&drive, u64::from(*read_percent), *written, blocks);
        let drives = simulated(&drive, *read_percent, *written, blocks);
        println!("{{\"what\": \"{name}\", \"flash_gib\": {gib}, \"bare_ns\": {loops:.1}, \"drive_ns\": {drives:.1}}}");
    }
}
