//! What an I/O costs a bare map-and-reclaim loop: `cargo run -p tameshi-sim --example bare_flash -- DRIVE SCALE KIND=MILLIONS …`.
//!
//! The translation layer of a drive and nothing else: it draws a block and looks it up, or writes it and reclaims. No time, no
//! records. `bench/simulated_drive.py` sets the simulated drive beside it. Arguments: a device profile's file, its capacity
//! scale, kinds as below with millions of I/Os; what was written before is not counted. A line of JSON for each kind, with
//! nanoseconds of processor time for an I/O.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use tameshi_base::Random;
use tameshi_sim::device::flash::ftl::{Ftl, Shape};
use tameshi_spec::profile::{Device, DeviceProfile, FlashProfile, Written};

/// Name, share of reads in percent, what was written before.
const KINDS: [(&str, u64, Written); 4] = [
    ("reads", 100, Written::Once),
    ("fresh-writes", 0, Written::Never),
    ("steady-writes", 0, Written::Steady),
    ("steady-mix", 70, Written::Steady),
];

/// Nanoseconds of processor time that this thread has used.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// The drive's flash behind one translation layer.
fn layer(drive: &FlashProfile) -> (Ftl, u32) {
    let (nand, controller) = (&drive.nand, &drive.controller);
    assert_eq!(controller.count.value, 1, "the loop has one translation layer");
    let unit = drive.mapping_unit.value.0;
    let logical = (drive.scaled_capacity().0 / unit) as u32;
    let row = u64::from(controller.data_channels.value * controller.dies_per_channel.value * nand.planes.value);
    let pages = u64::from((nand.pages_per_block.value / drive.simulated.scale).max(1));
    let units_per_block = (pages * row * nand.page.value.0 / unit) as u32;
    let physical = u64::from(logical) * (1_000_000 + u64::from(drive.over_provisioning.value.0)) / 1_000_000;
    let shape = Shape {
        logical,
        blocks: physical.div_ceil(u64::from(units_per_block)) as u32,
        units_per_block,
        reserve_blocks: drive.cleaning.reserve_blocks.value,
        separate: drive.cleaning.separate_relocated.value,
        hot_within: None,
        policy: drive.cleaning.policy.value,
    };
    (Ftl::new(shape, Random::named(1, "victims")).expect("a layer"), logical)
}

/// Nanoseconds of an I/O.
fn bare(drive: &FlashProfile, read_percent: u64, written: Written, ios: u64) -> f64 {
    let (mut ftl, logical) = layer(drive);
    let mut random = Random::named(1, "bare");
    if written != Written::Never {
        (0..logical).for_each(|unit| ftl.write_untimed(unit));
    }
    if written == Written::Steady {
        (0..3 * u64::from(logical)).for_each(|_| ftl.write_untimed(random.below(u64::from(logical)) as u32));
    }
    let mut found = 0u64;
    let begin = processor_ns();
    for _ in 0..ios {
        let unit = random.below(u64::from(logical)) as u32;
        if read_percent == 100 || (read_percent > 0 && random.below(100) < read_percent) {
            found += u64::from(ftl.lookup(unit).unwrap_or(0));
        } else {
            ftl.write_untimed(unit);
        }
    }
    std::hint::black_box(found);
    (processor_ns() - begin) / ios as f64
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (file, scale) = (arguments.next().expect("a profile"), arguments.next().expect("a scale"));
    let profile: DeviceProfile =
        toml::from_str(&std::fs::read_to_string(file).expect("a profile")).expect("a device profile");
    let Device::Flash(mut drive) = profile.device else { panic!("no flash drive") };
    drive.simulated.scale = scale.parse().expect("a number");
    for argument in arguments {
        let (name, millions) = argument.split_once('=').expect("a kind and millions of I/Os");
        let (_, read_percent, written) =
            *KINDS.iter().find(|(kind, ..)| *kind == name).expect("reads, fresh-writes, steady-writes or steady-mix");
        let ios = millions.parse::<u64>().expect("a number") * 1_000_000;
        println!("{{\"kind\": \"{name}\", \"ns\": {:.2}}}", bare(&drive, read_percent, written, ios));
    }
}
