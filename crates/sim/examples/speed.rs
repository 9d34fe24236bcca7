//! Processor time per simulated I/O, with recording:
//! `cargo run --release -p tameshi-sim --example speed -- KIND=MILLIONS …`.
//!
//! Without arguments it runs all kinds below. The flash loads are those of
//! `bench/simulated_drive.py`, with 32 GiB of simulated flash; the peer's writes are on its own
//! drive of 2 GiB. Each kind prints a line of JSON: nanoseconds of the worker's processor time per
//! I/O, without preconditioning, and the run's digest. Optimisations must not change the digest.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use std::sync::Arc;
use std::time::Duration;
use tameshi_base::Size;
use tameshi_record::{Control, Writer};
use tameshi_spec::profile::{Device, DeviceProfile, FlashProfile, Written};
use tameshi_spec::run::{Node, RunSpec};

const DISK: &str = include_str!("../../../python/tameshi/data/profiles/devices/sas-15k-146gb.toml");
const FLASH: &str = include_str!("../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");
const NULL: &str = include_str!("../../../python/tameshi/data/profiles/devices/null.toml");
const SCALE: u32 = 128;

/// Load on a device.
struct Load {
    kind: &'static str,
    profile: &'static str,
    written: Written,
    peers: bool,
    read: &'static str,
    queue_depth: u32,
    jobs: u32,
    millions: u64,
}

const fn load(kind: &'static str, profile: &'static str, (queue_depth, jobs, millions): (u32, u32, u64)) -> Load {
    Load { kind, profile, written: Written::Once, peers: false, read: "100 %", queue_depth, jobs, millions }
}

const LOADS: [Load; 13] = [
    load("null", NULL, (256, 1, 20)),
    load("null-1", NULL, (1, 1, 20)),
    load("null-16x16", NULL, (16, 16, 20)),
    load("reads", FLASH, (256, 1, 20)),
    load("reads-16x16", FLASH, (16, 16, 20)),
    Load { written: Written::Never, read: "0 %", ..load("fresh-writes", FLASH, (256, 1, 7)) },
    Load { written: Written::Steady, read: "0 %", ..load("steady-writes", FLASH, (256, 1, 8)) },
    Load { written: Written::Steady, peers: true, read: "0 %", ..load("peers-writes", FLASH, (256, 1, 8)) },
    Load { written: Written::Steady, peers: true, read: "0 %", ..load("peers-writes-1", FLASH, (1, 1, 8)) },
    Load { written: Written::Steady, read: "70 %", ..load("steady-mix", FLASH, (256, 1, 12)) },
    load("disk-1", DISK, (1, 1, 2)),
    load("disk-32", DISK, (32, 1, 2)),
    load("disk-16x16", DISK, (16, 16, 2)),
];

/// Run that issues one I/O per slot, and then `ios` more.
fn spec(load: &Load, ios: u64) -> RunSpec {
    let slots = u64::from(load.queue_depth) * u64::from(load.jobs);
    let phase = |name: &str, ios: u64| {
        format!(
            r#"
            [[phases]]
            name = "{name}"
            levels = {{}}
            ramp = "0 ns"
            until = {{ amount = "{} B" }}
            [[phases.streams]]
            name = "load"
            storage = "disk"
            stream = {{ queue_depth = {}, jobs = {}, read = "{}" }}
            "#,
            ios * 4096,
            load.queue_depth,
            load.jobs,
            load.read
        )
    };
    let head = r#"
        schema_version = 1
        study = "speed"
        world = "simulated"
        cell = {}
        repetition = 0
        seed = 1
        start = "as-is"
        interval = "100 ms"
        [storage.disk]
        size = "100 GB"
    "#;
    let text = [head, &phase("before", slots), &phase("measured", ios)].concat();
    let mut spec: RunSpec = toml::from_str(&text).expect("a spec");
    let profile: DeviceProfile = toml::from_str(load.profile).expect("a profile");
    let mut device = profile.device;
    if let Device::Flash(flash) = &mut device {
        (flash.simulated.scale, flash.simulated.written) = (SCALE, load.written);
        if load.peers {
            give_peers_flash(flash);
            spec.interval.0 = 10_000_000_000;
        }
        spec.storage[0].size = flash.scaled_capacity();
    }
    spec.storage[0].model = Some(Node::Device { profile: "speed".into(), device });
    spec
}

/// Set eight channels of one die, 256 blocks of 256 pages of 4 KiB each, of which 28 % are spare.
fn give_peers_flash(flash: &mut FlashProfile) {
    flash.simulated.scale = 1;
    (flash.capacity.value, flash.over_provisioning.value.0) = (Size(1474 << 20), 389_000);
    (flash.nand.page.value, flash.nand.pages_per_block.value, flash.nand.planes.value) = (Size(4096), 256, 1);
    let controller = &mut flash.controller;
    (controller.data_channels.value, controller.parity_channels.value) = (8, 0);
    controller.dies_per_channel.value = 1;
}

/// Processor time of a thread of this process in nanoseconds.
fn processor_ns(thread: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{thread}/schedstat")).expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// Nanoseconds of processor time for an I/O, and the digest.
fn measure(load: &Load, ios: u64) -> (f64, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["series", "histograms"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let control = Arc::<Control>::default();
    let mut writer = Writer::open(folder.path(), Arc::clone(&control)).expect("a record");
    let spec = spec(load, ios);
    std::thread::scope(|scope| {
        let watched = std::fs::read_link("/proc/thread-self").expect("Linux tells it");
        let watcher = scope.spawn(move || {
            while control.progress().phase == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            processor_ns(&watched.to_string_lossy())
        });
        let (_, digest) = tameshi_sim::execute(&spec, &mut writer).expect("a run");
        let end = processor_ns("thread-self");
        ((end - watcher.join().expect("a number")) / ios as f64, digest)
    })
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<String> = LOADS.iter().map(|load| format!("{}={}", load.kind, load.millions)).collect();
    for argument in if asked.is_empty() { &all } else { &asked } {
        let (kind, millions) = argument.split_once('=').expect("a kind and millions of I/Os");
        let load = LOADS.iter().find(|load| load.kind == kind).expect("one of the kinds of this file");
        let ios = (millions.parse::<f64>().expect("a number") * 1e6) as u64;
        let (ns, digest) = measure(load, ios);
        println!("{{\"kind\": \"{kind}\", \"ns\": {ns:.1}, \"digest\": \"{digest}\"}}");
    }
}
