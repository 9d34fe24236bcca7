//! Published figures that set parameters of flash profiles, within 5 %: burst, steady state, reads,
//! bandwidth, latency.
//!
//! Each drive is simulated at a scale, with 256 outstanding unless the figure is a latency. Figures
//! that a profile cannot meet together are listed with the value reached.

use crate::support::{assert_close, command, device_of_profile, mean};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_sim::device::Flash;
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::profile::{self, FlashProfile, Simulated};

const SCALE: u32 = 128;

fn drive(name: &str) -> FlashProfile {
    let profile::Device::Flash(flash) = device_of_profile(name) else { panic!("{name} is no flash drive") };
    FlashProfile { simulated: Simulated { scale: SCALE, ..Simulated::default() }, ..flash }
}

/// Drive written once in order and then at random, or not at all.
fn written(profile: &FlashProfile, random_passes: Option<u32>) -> (Device, u64) {
    let bytes = profile.scaled_capacity().0 >> 20 << 20;
    let mut flash = Flash::new(profile).expect("a drive");
    if let Some(passes) = random_passes {
        flash.precondition(bytes, passes);
    }
    (Device::Flash(Box::new(flash)), bytes)
}

/// Keep `depth` outstanding; return the completions after the first `skip`.
fn measure(
    device: &mut Device,
    depth: u64,
    (skip, count): (usize, usize),
    mut next: impl FnMut(u64) -> Command,
) -> Vec<DeviceCompletion> {
    let (mut done, mut issued) = (Vec::with_capacity(skip + count + depth as usize), 0);
    while issued < depth {
        device.submit(0, &next(issued));
        issued += 1;
    }
    while done.len() < skip + count {
        let now = device.next_wake().expect("commands are outstanding");
        let before = done.len();
        device.advance(now, &mut done);
        for _ in before..done.len() {
            device.submit(now, &next(issued));
            issued += 1;
        }
    }
    done.split_off(skip)
}

fn rate(done: &[DeviceCompletion]) -> f64 {
    let time: Nanos = done[done.len() - 1].at - done[0].at;
    (done.len() - 1) as f64 * 1e9 / time as f64
}

fn random_4k(kind: CommandKind, bytes: u64) -> impl FnMut(u64) -> Command {
    let mut random = Random::named(3, "calibration");
    move |id| command(id, kind, random.below(bytes / 4096) * 4096, 4096)
}

fn sequential(kind: CommandKind, bytes: u64) -> impl FnMut(u64) -> Command {
    move |id| command(id, kind, (id << 20) % bytes, 1 << 20)
}

fn burst(name: &str) -> f64 {
    let (mut device, bytes) = written(&drive(name), None);
    rate(&measure(&mut device, 256, (20_000, 100_000), random_4k(CommandKind::Write, bytes)))
}

fn steady(name: &str) -> f64 {
    let (mut device, bytes) = written(&drive(name), Some(3));
    rate(&measure(&mut device, 256, (100_000, 300_000), random_4k(CommandKind::Write, bytes)))
}

fn reads(name: &str) -> f64 {
    let (mut device, bytes) = written(&drive(name), Some(0));
    rate(&measure(&mut device, 256, (20_000, 200_000), random_4k(CommandKind::Read, bytes)))
}

fn in_order(name: &str) -> f64 {
    let (mut device, bytes) = written(&drive(name), Some(0));
    let next = move |id| command(id, CommandKind::Read, (id << 12) % bytes, 4096);
    rate(&measure(&mut device, 256, (20_000, 200_000), next))
}

fn bandwidth(name: &str, kind: CommandKind) -> f64 {
    let (mut device, bytes) = written(&drive(name), (kind == CommandKind::Read).then_some(0));
    rate(&measure(&mut device, 16, (200, 2000), sequential(kind, bytes))) * f64::from(1 << 20) / 1e9
}

fn latency(name: &str, kind: CommandKind) -> f64 {
    let (mut device, bytes) = written(&drive(name), (kind == CommandKind::Read).then_some(0));
    let done = measure(&mut device, 1, (100, 5000), random_4k(kind, bytes));
    mean(done.iter().map(|d| d.at - d.submitted)) / 1e3
}

/// Published figures of a card, by measurement.
struct Card {
    name: &'static str,
    /// Writes of 4 KiB while fresh, and in the steady state.
    burst: &'static [(&'static str, f64)],
    steady: &'static [(&'static str, f64)],
    /// Reads of 4 KiB.
    reads: &'static [(&'static str, f64)],
    /// Sequential reads of 4 KiB.
    sequential: &'static [(&'static str, f64)],
    /// GB/s of reads and writes of 1 MiB.
    bandwidth: [&'static [(&'static str, f64)]; 2],
    /// Microseconds of a read and a write of 4 KiB, one outstanding.
    latency: [&'static [(&'static str, f64)]; 2],
}

const NOTHING: Card =
    Card { name: "", burst: &[], steady: &[], reads: &[], sequential: &[], bandwidth: [&[], &[]], latency: [&[], &[]] };

const CARDS: [Card; 6] = [
    Card {
        name: "es3000-800g",
        burst: &[("S1-0033", 330_000.0)],
        steady: &[("S1-0034", 120_000.0)],
        reads: &[("S1-0029", 600_000.0), ("S1-0030", 570_000.0)],
        bandwidth: [&[("S1-0028", 2.2)], &[("S1-0032", 1.2)]],
        latency: [&[("S1-0031", 49.0)], &[("S1-0035", 8.0)]],
        ..NOTHING
    },
    Card {
        name: "es3000-1.2t",
        burst: &[("S1-0045", 480_000.0), ("S1-0143", 481_000.0), ("S1-0218", 483_000.0)],
        steady: &[
            ("S1-0046", 180_000.0),
            ("S1-0144", 171_000.0),
            ("S1-0173", 176_000.0),
            ("S1-0219", 179_000.0),
            ("S1-0239", 177_000.0),
        ],
        reads: &[("S1-0041", 770_000.0), ("S1-0042", 760_000.0)],
        bandwidth: [&[("S1-0040", 3.2)], &[("S1-0044", 1.8)]],
        latency: [&[("S1-0043", 49.0)], &[("S1-0047", 8.0)]],
        ..NOTHING
    },
    Card {
        name: "es3000-2.4t",
        burst: &[("S1-0057", 630_000.0), ("S1-0147", 640_000.0)],
        steady: &[("S1-0058", 240_000.0), ("S1-0152", 230_000.0), ("S1-0176", 222_610.0), ("S1-0224", 225_000.0)],
        reads: &[("S1-0053", 770_000.0), ("S1-0054", 760_000.0)],
        bandwidth: [&[("S1-0052", 3.2), ("S1-0005", 3.2)], &[("S1-0056", 2.8), ("S1-0006", 2.8)]],
        latency: [&[("S1-0055", 49.0), ("S1-0007", 49.0)], &[("S1-0059", 8.0), ("S1-0008", 8.0)]],
        ..NOTHING
    },
    Card {
        name: "es3600p-v3-3.2t",
        reads: &[("S0-0005", 800_000.0)],
        bandwidth: [&[("S0-0009", 3.1)], &[]],
        ..NOTHING
    },
    Card {
        name: "xs1715-800g",
        burst: &[("S4-0020", 350_000.0)],
        reads: &[("S4-0017", 700_000.0), ("S4-0019", 700_000.0)],
        sequential: &[("S4-0018", 740_000.0)],
        ..NOTHING
    },
    Card { name: "sata-ssd-480gb", reads: &[("S0-0007", 75_000.0)], bandwidth: [&[("S0-0011", 0.5)], &[]], ..NOTHING },
];

/// Figures that contradict another of the same card, and the profile's deviation. The 800 GB card's
/// 600,000 reads of 4 KiB are 2.46 GB/s, its 330,000 writes 1.35 GB/s: both exceed its own
/// bandwidth by 12 %.
const NOT_MET: [(&str, f64); 2] = [("S1-0029", 0.07), ("S1-0032", 0.10)];

#[allow(clippy::print_stdout, reason = "scripts/validation.py keeps it")]
fn off(id: &str, published: f64, found: f64) -> Option<String> {
    println!("calibration\t{id}\t{published}\t{found:.6}");
    let limit = NOT_MET.iter().find(|(of, _)| *of == id).map_or(0.05, |(_, limit)| *limit);
    let deviation = found / published - 1.0;
    (deviation.abs() > limit)
        .then(|| format!("{id}: published {published}, found {found:.2} ({:+.1} %)", deviation * 100.0))
}

// slow: every card becomes steady
#[test]
fn published_figures_are_met() {
    let mut wrong = vec![];
    for card in &CARDS {
        let mut hold = |figures: &[(&str, f64)], measured: &dyn Fn() -> f64| {
            if !figures.is_empty() {
                let found = measured();
                wrong.extend(figures.iter().filter_map(|&(id, published)| off(id, published, found)));
            }
        };
        hold(card.burst, &|| burst(card.name));
        hold(card.steady, &|| steady(card.name));
        hold(card.reads, &|| reads(card.name));
        hold(card.sequential, &|| in_order(card.name));
        for (number, kind) in [CommandKind::Read, CommandKind::Write].into_iter().enumerate() {
            hold(card.bandwidth[number], &|| bandwidth(card.name, kind));
            hold(card.latency[number], &|| latency(card.name, kind));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Return the rates of each quarter of the capacity written at random, and the last completion.
fn quarters(device: &mut Device, bytes: u64, count: usize) -> (Vec<f64>, DeviceCompletion) {
    let mut next = random_4k(CommandKind::Write, bytes);
    let (mut done, mut rates, mut issued, mut completed, mut begin) = (vec![], vec![], 256, 0, 0);
    (0..256).for_each(|id| device.submit(0, &next(id)));
    loop {
        let now = device.next_wake().expect("commands are outstanding");
        device.advance(now, &mut done);
        for last in done.drain(..) {
            device.submit(now, &next(issued));
            issued += 1;
            completed += 1;
            if completed == bytes / 4096 / 4 {
                rates.push(completed as f64 * 1e9 / (now - begin) as f64);
                (completed, begin) = (0, now);
            }
            if rates.len() == count {
                return (rates, last);
            }
        }
    }
}

// slow: a drive is written six times
#[test]
fn a_drive_goes_from_fresh_to_steady_and_stays_there() {
    let profile = FlashProfile { simulated: Simulated { scale: 256, ..Simulated::default() }, ..drive("es3000-1.2t") };
    let (mut device, bytes) = written(&profile, Some(0));
    let (rates, last) = quarters(&mut device, bytes, 24);
    assert!(rates[0] > 440_000.0, "the spare takes the first quarter: {rates:?}");
    let end = rates[23];
    assert!(rates[16..].iter().all(|rate| (rate / end - 1.0).abs() < 0.02), "until it is steady: {rates:?}");
    assert!(last.breakdown.garbage_collection > last.breakdown.controller, "{last:?}");
    let (mut device, bytes) = written(&profile, Some(3));
    let (prepared, _) = quarters(&mut device, bytes, 3);
    assert!((end / prepared[2] - 1.0).abs() < 0.02, "the same as preconditioned: {end} and {prepared:?}");
}

/// Return steady writes and the mean latency of reads next to them, at a scale.
fn at_scale(scale: u32) -> [f64; 3] {
    let profile = FlashProfile { simulated: Simulated { scale, ..Simulated::default() }, ..drive("es3000-1.2t") };
    let (mut device, bytes) = written(&profile, Some(3));
    let writes = rate(&measure(&mut device, 256, (400_000, 800_000), random_4k(CommandKind::Write, bytes)));
    let (mut device, bytes) = written(&profile, Some(3));
    let mut random = Random::named(4, "mix");
    let mixed = measure(&mut device, 64, (400_000, 800_000), move |id| {
        let kind = if random.below(10) < 7 { CommandKind::Read } else { CommandKind::Write };
        command(id, kind, random.below(bytes / 8192) * 8192, 8192)
    });
    let reads = mixed.iter().filter(|d| d.command.kind == CommandKind::Read).map(|d| d.at - d.submitted);
    [writes, rate(&mixed), mean(reads)]
}

#[test]
#[ignore = "minutes: steady states of a drive at many scales"]
#[allow(clippy::print_stdout, reason = "the numbers stand in docs/validation/flash-model.md")]
fn from_a_scale_of_128_on_results_no_longer_change() {
    let reference = at_scale(8);
    for scale in [16, 32, 64, 128, 256, 512, 1024] {
        let found = at_scale(scale);
        let changes: Vec<f64> = found.iter().zip(reference).map(|(found, of)| found / of - 1.0).collect();
        println!("scale {scale}: {found:.0?} against {reference:.0?} at 8, {changes:.4?}");
        assert!(scale > 128 || changes.iter().all(|change| change.abs() < 0.02), "scale {scale}: {changes:?}");
    }
}

/// Percentiles of latencies at depth 1, in microseconds: mean, 50 %, 99 %, 99.9 %.
fn at_depth_one(name: &str, kind: CommandKind) -> [f64; 4] {
    let (mut device, bytes) = written(&drive(name), Some(0));
    let mut random = Random::named(5, "latencies");
    let next = move |id| command(id, kind, random.below(bytes / 4096) * 4096, 4096);
    let done = measure(&mut device, 1, (100, 100_000), next);
    let mut found: Vec<Nanos> = done.iter().map(|done| done.at - done.submitted).collect();
    found.sort_unstable();
    let at = |permille: usize| found[found.len() * permille / 1000] as f64 / 1e3;
    [mean(found.iter().copied()) / 1e3, at(500), at(990), at(999)]
}

#[test]
fn latencies_at_depth_one_have_the_published_spread() {
    let read = CommandKind::Read;
    // Published of drives of the class (round 2): mean and 99 % of reads. The class's drives
    // differ: one profile lies within 25 % of each.
    for (name, published) in [
        ("sata-ssd-480gb", [(125.4, 146.0), (153.7, 204.0)].as_slice()),
        ("nvme-tlc-1tb-consumer", &[(70.2, 79.4)]),
        ("nvme-tlc-3.84tb", &[(70.2, 79.4)]),
    ] {
        let [mean, half, high, highest] = at_depth_one(name, read);
        for &(of_mean, of_high) in published {
            assert_close(mean, of_mean, 0.25, &format!("{name}: mean of reads at depth 1"));
            assert_close(half, of_mean, 0.25, &format!("{name}: half of reads at depth 1, beside a mean"));
            assert_close(high, of_high, 0.25, &format!("{name}: 99 % of reads at depth 1"));
        }
        assert!(high > 1.1 * half && highest > 1.2 * high, "{name}: {half} {high} {highest}");
    }
    let [_, half, high, highest] = at_depth_one("sata-ssd-480gb", CommandKind::Write);
    assert_close(high, 93.0, 0.25, "sata-ssd-480gb: 99 % of writes at depth 1, of the slower drive");
    assert!(high > 1.1 * half && highest > 1.2 * high);
}
