//! Processor time per I/O of a bare map-and-reclaim loop:
//! `cargo run -p tameshi-sim --example bare_flash -- DRIVE SCALE KIND=MILLIONS …`.
//!
//! The loop is the translation layer of a drive alone, without time or record: it draws a block and
//! looks it up, or writes it and reclaims. `bench/simulated_drive.py` compares the simulated drive
//! with it. Arguments: a device profile's file, its capacity scale, and kinds as below with
//! millions of I/Os. Each kind prints a line of JSON with nanoseconds of processor time per I/O,
//! without preconditioning.
//!
//! `timed-` before a kind adds a lower bound for time and record: 256 I/Os outstanding in the
//! simulator's calendar queue, each with a latency that depends on the place of its data, a
//! histogram of latencies, and the digest's hash.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stdout, reason = "it measures")]

use hdrhistogram::Histogram;
use tameshi_base::Random;
use tameshi_sim::CalendarQueue;
use tameshi_sim::device::flash::ftl::{Ftl, Shape};
use tameshi_spec::profile::{Device, DeviceProfile, FlashProfile, Written};
use xxhash_rust::xxh3::Xxh3;

/// I/Os outstanding in timed kinds, and drawn in advance.
const DEPTH: u32 = 256;
const AHEAD: usize = 16;
/// Name, percentage of reads, precondition.
const KINDS: [(&str, u64, Written); 4] = [
    ("reads", 100, Written::Once),
    ("fresh-writes", 0, Written::Never),
    ("steady-writes", 0, Written::Steady),
    ("steady-mix", 70, Written::Steady),
];

/// Processor time of this thread in nanoseconds.
fn processor_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// Translation layer over all flash of the drive.
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
        cache: None,
        idle_blocks: 0,
    };
    (Ftl::new(shape, Random::named(1, "victims")).expect("a layer"), logical)
}

/// Flash of a drive and its load.
struct Load {
    ftl: Ftl,
    logical: u64,
    random: Random,
    read_percent: u64,
    /// Units drawn in advance, and the index of the next one.
    ahead: [u32; AHEAD],
    place: usize,
}

impl Load {
    fn new(drive: &FlashProfile, read_percent: u64, written: Written) -> Self {
        let (mut ftl, logical) = layer(drive);
        let mut random = Random::named(1, "bare");
        if written != Written::Never {
            (0..logical).for_each(|unit| ftl.write_untimed(unit));
        }
        let logical = u64::from(logical);
        if written == Written::Steady {
            (0..3 * logical).for_each(|_| ftl.write_untimed(random.below(logical) as u32));
        }
        let ahead = [(); AHEAD].map(|()| random.below(logical) as u32);
        Self { ftl, logical, random, read_percent, ahead, place: 0 }
    }

    /// Carry out one I/O; return the unit and its place, which is zero after a write.
    fn next(&mut self) -> (u32, u32) {
        let unit = self.random.below(self.logical) as u32;
        self.access(unit)
    }

    /// Carry out one I/O of a unit whose map entry was prefetched.
    fn next_near(&mut self) -> (u32, u32) {
        let soon = self.random.below(self.logical) as u32;
        self.ftl.prefetch(soon);
        let unit = std::mem::replace(&mut self.ahead[self.place], soon);
        self.place = (self.place + 1) % AHEAD;
        self.access(unit)
    }

    fn access(&mut self, unit: u32) -> (u32, u32) {
        if self.read_percent == 100 || (self.read_percent > 0 && self.random.below(100) < self.read_percent) {
            return (unit, self.ftl.lookup(unit).unwrap_or(0));
        }
        self.ftl.write_untimed(unit);
        (unit, 0)
    }
}

/// Nanoseconds per I/O.
fn bare(mut load: Load, ios: u64) -> f64 {
    let mut found = 0u64;
    let begin = processor_ns();
    for _ in 0..ios {
        found += u64::from(load.next().1);
    }
    std::hint::black_box(found);
    (processor_ns() - begin) / ios as f64
}

/// Nanoseconds per timed and recorded I/O.
fn timed(mut load: Load, ios: u64) -> f64 {
    let mut agenda = CalendarQueue::new();
    let mut latencies = Histogram::<u64>::new(3).expect("three digits");
    let mut hash = Xxh3::new();
    let mut waiting = Vec::with_capacity(2000);
    let mut outstanding = [(0u64, 0u32); DEPTH as usize];
    let mut start = |now: u64, slot: u32, agenda: &mut CalendarQueue, outstanding: &mut [(u64, u32)]| {
        let (unit, found) = load.next_near();
        outstanding[slot as usize] = (now, unit);
        agenda.add(now + 60_000 + u64::from(found % 65_536), slot);
    };
    (0..DEPTH).for_each(|slot| start(0, slot, &mut agenda, &mut outstanding));
    let begin = processor_ns();
    for _ in 0..ios {
        let (now, slot) = agenda.take().expect("some are outstanding");
        let (began, unit) = outstanding[slot as usize];
        latencies.record(now - began).expect("it grows");
        for field in [now, u64::from(unit) << 12, now - began, u64::from(slot), 0] {
            waiting.extend_from_slice(&field.to_le_bytes());
        }
        if waiting.len() == 2000 {
            hash.update(&waiting);
            waiting.clear();
        }
        start(now, slot, &mut agenda, &mut outstanding);
    }
    let used = processor_ns() - begin;
    std::hint::black_box((latencies.len(), hash.digest128()));
    used / ios as f64
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
        let kind = name.strip_prefix("timed-").unwrap_or(name);
        let (_, read_percent, written) =
            *KINDS.iter().find(|of| of.0 == kind).expect("reads, fresh-writes, steady-writes or steady-mix");
        let ios = millions.parse::<u64>().expect("a number") * 1_000_000;
        let load = Load::new(&drive, read_percent, written);
        let ns = if kind == name { bare(load, ios) } else { timed(load, ios) };
        println!("{{\"kind\": \"{name}\", \"ns\": {ns:.2}}}");
    }
}
