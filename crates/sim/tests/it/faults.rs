//! Member failures, replacements and power cuts: durable data survive, and every command completes.

use crate::support::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tameshi_base::units::{Rate, Share};
use tameshi_base::{Command, CommandKind, Nanos, Random, Reason};
use tameshi_sim::faults::Rebuilt;
use tameshi_sim::{Breakdown, Device, DeviceCompletion};
use tameshi_spec::profile::{self, HostLink, Written};
use tameshi_spec::run::Node;
use tameshi_spec::study::{CacheKind, Protocol, ReadBalance, RebuildManner};

/// Disk of `bytes` on which a command takes its transfer at about 137 MB/s, and nothing else.
fn small(bytes: u64) -> Node {
    let mut profile = without_overhead(without_seeks(disk()));
    (profile.revolution.value.0, profile.capacity.value.0, profile.cylinders.value) = (0, bytes, 1);
    leaf(hdd(profile))
}

fn plain() -> Node {
    leaf(hdd(elevator(with_depth(disk(), 32))))
}

fn redundant() -> Vec<(&'static str, Node)> {
    vec![
        ("raid1", raid1(2, plain(), ReadBalance::ShortestQueue)),
        ("raid1 of three", raid1(3, plain(), ReadBalance::RoundRobin)),
        ("raid10", raid10(4, plain())),
        ("raid5", raid5(4, plain())),
        ("replica", replica(plain(), 20_000, 1_000_000_000, Protocol::FarMedium)),
        ("raid0 of raid5", raid0(2, raid5(3, plain()))),
        ("cache over raid1", cached(raid1(2, plain(), ReadBalance::Nearest), 16 << 20, CacheKind::BatteryBacked)),
        ("raid1 of flash drives", raid1(2, leaf(flash(flash_drive(1 << 30))), ReadBalance::ShortestQueue)),
        ("raid5 of flash drives", raid5(3, leaf(flash(flash_drive(1 << 30))))),
        ("raid5 of disks without costs", raid5(3, leaf(hdd(free(disk()))))),
    ]
}

fn mixed(count: u64, seed: u64) -> Vec<Command> {
    let mut random = Random::named(seed, "mix");
    let kinds = [CommandKind::Read, CommandKind::Read, CommandKind::Write, CommandKind::Write, CommandKind::Write];
    (0..count)
        .map(|id| {
            let kind = if id % 40 == 39 { CommandKind::Flush } else { kinds[random.below(5) as usize] };
            command(id, kind, random.below(200_000) * 4096, 4096 * (1 + random.below(100)) as u32)
        })
        .collect()
}

/// Keep 256 commands outstanding; call `happens` on the device after `after` completions.
fn with_fault(
    node: &Node,
    commands: &[Command],
    after: usize,
    happens: impl Fn(&mut Device, Nanos),
) -> Vec<DeviceCompletion> {
    with_fault_on(&mut watched(node).expect("a device"), commands, (256, after), happens)
}

/// Keep `depth` commands outstanding on a device with a past.
fn with_fault_on(
    device: &mut Device,
    commands: &[Command],
    (depth, after): (usize, usize),
    happens: impl Fn(&mut Device, Nanos),
) -> Vec<DeviceCompletion> {
    let (mut done, mut issued, mut now, mut has_happened) = (vec![], 0, 0, false);
    loop {
        while issued < commands.len() && issued - done.len() < depth {
            device.submit(now, &commands[issued]);
            issued += 1;
        }
        if done.len() >= after && !has_happened {
            has_happened = true;
            happens(device, now);
            continue;
        }
        if done.len() == commands.len() {
            return done;
        }
        now = device.next_wake().expect("commands are outstanding");
        device.advance(now, &mut done);
    }
}

fn conserved(name: &str, commands: &[Command], done: &[DeviceCompletion]) {
    let places: BTreeMap<u64, usize> = done.iter().enumerate().map(|(place, d)| (d.command.id, place)).collect();
    assert_eq!((done.len(), places.len()), (commands.len(), commands.len()), "{name}: each completes once");
    assert!(done.is_sorted_by_key(|d| d.at), "{name}");
    for d in done {
        assert_eq!(d.breakdown.total(), d.at - d.submitted, "{name}: {d:?}");
    }
}

#[test]
fn member_death_at_depth_256_fails_no_command() {
    for (name, node) in redundant() {
        for (after, drive) in [(0, 0), (300, 1), (777, 0)] {
            let commands = mixed(1500, after as u64);
            let done = with_fault(&node, &commands, after, |device, now| {
                device.fail(Some(drive), now);
            });
            conserved(name, &commands, &done);
            assert!(done.iter().all(|d| !d.failed), "{name}: it bears the loss of one");
        }
    }
}

#[test]
fn too_many_deaths_fail_commands_and_each_completes_once() {
    for (name, node) in redundant().into_iter().chain([("raid0", raid0(3, plain())), ("disk", plain())]) {
        let commands = mixed(1000, 5);
        let done = with_fault(&node, &commands, 300, |device, now| {
            device.fail(None, now);
        });
        conserved(name, &commands, &done);
        assert!(done.iter().filter(|d| d.failed).count() > 500, "{name}");
        assert!(done[..300].iter().all(|d| !d.failed), "{name}");
    }
}

#[test]
fn second_death_during_rebuild_breaks_single_redundancy() {
    let commands = mixed(600, 6);
    let done = with_fault(&raid5(4, plain()), &commands, 100, |device, now| {
        device.fail(Some(1), now);
        device.replace(1, now).expect("it is dead");
        device.fail(Some(2), now);
    });
    conserved("raid5", &commands, &done);
    assert!(done.iter().any(|d| d.failed));
    let done = with_fault(&raid1(3, plain(), ReadBalance::Nearest), &commands, 100, |device, now| {
        device.fail(Some(0), now);
        device.replace(0, now).expect("it is dead");
        device.fail(Some(1), now);
    });
    conserved("raid1 of three", &commands, &done);
    assert!(done.iter().all(|d| !d.failed));
}

#[test]
fn cancelled_rebuild_conserves_commands_at_any_moment() {
    let flash = || leaf(flash(flash_drive(1 << 30)));
    let nodes = [
        ("raid1", raid1(2, flash(), ReadBalance::ShortestQueue)),
        ("raid10", raid10(4, flash())),
        ("raid5", raid5(4, flash())),
        ("raid5 of disks", raid5(4, plain())),
    ];
    let commands = mixed(400, 7);
    for (name, node) in nodes {
        let node = with_rebuild(node, 2_000_000_000, 1_000_000_000, RebuildManner::Competing);
        for after in 1..60 {
            let mut device = watched(&node).expect("a device");
            device.fail(Some(0), 0);
            device.replace(0, 0).expect("it is dead");
            let done = with_fault_on(&mut device, &commands, (2, after), |device, now| {
                device.fail(Some(1), now);
            });
            conserved(name, &commands, &done);
            assert!(done[after..].iter().any(|d| d.failed), "{name}");
        }
    }
}

#[test]
fn flush_fails_only_if_earlier_data_are_lost() {
    let mirror = || raid1(2, plain(), ReadBalance::default());
    for (name, node, dead, fails) in [
        ("stripe", raid0(3, plain()), &[1][..], true),
        ("stripe in a partition", partition(raid0(2, plain()), 1, 64), &[1], true),
        ("mirror", mirror(), &[0], false),
        ("mirror", mirror(), &[0, 1], true),
        ("stripe of mirrors", raid10(4, plain()), &[0, 3], false),
        ("stripe of mirrors", raid10(4, plain()), &[2, 3], true),
        ("parity", raid5(3, plain()), &[2], false),
        ("parity", raid5(3, plain()), &[0, 2], true),
    ] {
        let mut device = watched(&node).expect("a device");
        dead.iter().for_each(|&drive| {
            device.fail(Some(drive), 0);
        });
        device.submit(0, &command(0, CommandKind::Flush, 0, 0));
        let mut done = vec![];
        while let Some(at) = device.next_wake() {
            device.advance(at, &mut done);
        }
        assert_eq!(done.iter().map(|done| done.failed).collect::<Vec<_>>(), [fails], "{name} without {dead:?}");
    }
}

#[test]
fn broken_stripe_still_serves_its_live_members_anywhere() {
    let stripe = || raid0(2, plain());
    for (name, node) in [("alone", stripe()), ("partition", partition(stripe(), 1, 64)), ("stripe", raid0(2, stripe()))]
    {
        let mut random = Random::named(9, "places");
        let read = |id| command(id, CommandKind::Read, random.below(200_000) * 4096, 4096);
        let commands: Vec<Command> = (0..1000).map(read).collect();
        let done = with_fault(&node, &commands, 0, |device, now| {
            device.fail(Some(0), now);
        });
        let failed = done.iter().filter(|d| d.failed).count() as f64 / done.len() as f64;
        let dead = if name == "stripe" { 0.25 } else { 0.5 };
        assert!((failed - dead).abs() < 0.1, "{name}: {failed}");
    }
}

/// Return the duration of a member's rebuild, and the completions of `load`, one at a time,
/// meanwhile.
fn rebuild(node: &Node, load: bool) -> (Nanos, Vec<DeviceCompletion>) {
    let mut device = watched(node).expect("a device");
    device.fail(Some(1), 0);
    device.replace(1, 0).expect("it is dead");
    let (mut done, mut next) = (vec![], 0);
    loop {
        if load && next == done.len() {
            let at = device.next_wake().unwrap_or(0).min(done.last().map_or(0, |d: &DeviceCompletion| d.at));
            device.submit(at, &command(next as u64, CommandKind::Read, (next as u64 * 7919) % 4000 * 4096, 4096));
            next += 1;
        }
        let now = device.next_wake().expect("the rebuild goes on");
        device.advance(now, &mut done);
        if let Some(Rebuilt { at, drive, .. }) = device.take_rebuilt() {
            assert_eq!((at, drive), (now, 1));
            assert!(!device.is_broken());
            return (at, done);
        }
    }
}

#[test]
fn a_rebuild_takes_the_bytes_over_its_rate() {
    let bytes = 400u64 << 20;
    for node in [raid1(2, small(bytes), ReadBalance::Nearest), raid5(4, small(bytes)), raid10(4, small(bytes))] {
        for rate in [10_000_000, 50_000_000] {
            let (at, _) = rebuild(&with_rebuild(node.clone(), rate, 1_000_000, RebuildManner::Competing), false);
            assert_close(at as f64, bytes as f64 / rate as f64 * 1e9, 0.01, "bytes over rate");
        }
        // It is never faster than its disks.
        let (at, _) = rebuild(&with_rebuild(node, 1_000_000_000, 1_000_000, RebuildManner::Competing), false);
        assert_close(at as f64, bytes as f64 / (4096.0 / 30e-6) * 1e9, 0.02, "bytes over the medium's rate");
    }
}

/// Disk of 400 MB with seeks, rotation and read-ahead.
fn streaming() -> Node {
    let mut profile = with_read_ahead(elevator(with_depth(disk(), 32)), 512 << 10);
    (profile.capacity.value.0, profile.cylinders.value) = (400_000_000, 140);
    leaf(hdd(profile))
}

#[test]
fn the_rebuild_of_a_disk_writes_it_in_a_stream() {
    let far = replica(streaming(), 20_000, 1_250_000_000, Protocol::FarMedium);
    for node in [raid1(2, streaming(), ReadBalance::Nearest), raid5(4, streaming()), raid10(4, streaming()), far] {
        let (at, _) = rebuild(&with_rebuild(node, 2_000_000_000, 1_000_000, RebuildManner::Competing), false);
        let share = 400_000_000.0 / (at as f64 / 1e9) / (4096.0 / 30e-6);
        assert!((0.95..=1.0).contains(&share), "{share} of the medium's rate");
    }
}

#[test]
fn yielding_rebuild_crawls_under_load_and_competing_does_not() {
    let node = raid1(2, small(16 << 20), ReadBalance::ShortestQueue);
    let (crawl, _) = rebuild(&with_rebuild(node.clone(), 200_000_000, 2_000_000, RebuildManner::Yielding), true);
    assert_close(crawl as f64 / 1e9, f64::from(16 << 20) / 2e6, 0.25, "bytes over the least rate");
    let (competing, done) = rebuild(&with_rebuild(node, 200_000_000, 2_000_000, RebuildManner::Competing), true);
    assert!(competing < crawl / 10, "{competing} against {crawl}");
    let waited: Nanos = done.iter().map(|d| d.breakdown.rebuild).sum();
    assert!(waited > 0, "reads wait for the rebuild, and say so");
    assert!(done.iter().all(|d| d.breakdown.total() == d.at - d.submitted));
}

#[test]
fn a_yielding_rebuild_makes_up_for_what_its_sleeps_lack() {
    // Twenty mark intervals, twice as long as the marks reach back.
    let (bytes, least) = (1_800_000_000, 30_000_000);
    let node = raid1(2, small(bytes), ReadBalance::ShortestQueue);
    let (at, _) = rebuild(&with_rebuild(node, 200_000_000, least, RebuildManner::Yielding), true);
    assert_close(at as f64 / 1e9, bytes as f64 / least as f64, 0.03, "bytes over the least rate");
}

#[test]
fn only_what_died_can_be_replaced() {
    let mut device = watched(&raid1(2, plain(), ReadBalance::Nearest)).expect("a device");
    assert!(device.replace(0, 0).is_err());
    assert!(watched(&plain()).expect("a device").replace(0, 0).is_err());
}

#[test]
fn mirror_of_stripes_rebuilds_an_untouched_dead_half() {
    let striped = || raid0(2, small(8 << 20));
    for (name, node) in [
        ("raid1", raid1(2, striped(), ReadBalance::Nearest)),
        ("replica", replica(striped(), 20_000, 1_000_000_000, Protocol::FarMedium)),
    ] {
        let mut device = watched(&with_rebuild(node, 50_000_000, 1_000_000, RebuildManner::Competing)).expect("one");
        assert!(device.fail(Some(3), 0));
        assert_eq!(device.replace(3, 10), Ok(()), "{name}: the other half holds all of it");
        let mut done = vec![];
        let rebuilt = loop {
            let now = device.next_wake().expect("the rebuild goes on");
            device.advance(now, &mut done);
            if let Some(rebuilt) = device.take_rebuilt() {
                break rebuilt;
            }
        };
        assert_eq!(rebuilt.bytes, 16 << 20, "{name}");
        assert!(device.fail(Some(0), rebuilt.at) && !device.is_broken(), "{name}: what was rebuilt serves alone");
    }
}

#[test]
fn replacement_in_a_broken_stripe_names_the_member() {
    let mut device = watched(&raid0(2, raid1(2, plain(), ReadBalance::Nearest))).expect("a device");
    assert!(device.fail(Some(2), 0) && device.fail(Some(3), 0));
    let why = device.replace(3, 1).expect_err("nothing holds it");
    assert_eq!(why, Reason::new("data_lost").with("member", 3_u32));
}

#[test]
fn nothing_is_rebuilt_in_an_array_that_has_lost_its_data() {
    let mut device = watched(&raid1(2, plain(), ReadBalance::Nearest)).expect("a device");
    device.fail(Some(0), 0);
    device.fail(Some(1), 0);
    let why = device.replace(0, 0).expect_err("no member is left that holds anything");
    assert_eq!(why.code, "data_lost");
}

#[test]
fn a_power_cut_fails_what_is_under_way_and_the_storage_goes_on() {
    let cached = |kind| cached(plain(), 16 << 20, kind);
    for (name, node) in redundant().into_iter().chain([
        ("disk", plain()),
        ("volatile cache", cached(CacheKind::Volatile)),
        ("partition", partition(plain(), 4, 16)),
        ("disk with a write cache", leaf(profile::Device::Hdd(with_write_cache(disk(), 4 << 20)))),
    ]) {
        let commands = mixed(1000, 7);
        let done = with_fault(&node, &commands, 400, |device, now| {
            assert_eq!(device.cut_power(now).outstanding, 256, "{name}");
        });
        conserved(name, &commands, &done);
        assert_eq!(done.iter().filter(|d| d.failed).count(), 256, "{name}");
    }
}

#[test]
fn after_a_power_cut_a_link_is_free_of_what_was_to_cross_it() {
    // 64 MiB over 10 MB/s: six seconds of cancelled transfers.
    let node = replica(plain(), 20_000, 10_000_000, Protocol::FarMedium);
    let mut device = watched(&node).expect("a device");
    (0..64).for_each(|id| device.submit(0, &command(id, CommandKind::Write, id << 20, 1 << 20)));
    device.cut_power(SECOND / 2);
    let (mut done, now) = (vec![], SECOND);
    while let Some(at) = device.next_wake().filter(|&at| at < now) {
        device.advance(at, &mut done);
    }
    device.submit(now, &command(64, CommandKind::Write, 0, 4096));
    while done.iter().all(|done: &DeviceCompletion| done.command.id != 64) {
        device.advance(device.next_wake().expect("it completes"), &mut done);
    }
    let latency = done.last().expect("one").at - now;
    assert!(latency < SECOND / 20, "{latency} ns");
}

/// Write blocks at a distance, flush after the first `flushed`, and cut power; return the loss.
fn lost(node: &Node, flushed: u64, after: u64) -> (u64, u64) {
    let mut device = watched(node).expect("a device");
    let (mut done, mut id) = (vec![], 0);
    let mut one = |device: &mut Device, kind, block: u64| {
        let now = done.last().map_or(0, |d: &DeviceCompletion| d.at);
        device.submit(now, &command(id, kind, block * 1_000_003 % 30_000_000 * 4096, 4096));
        id += 1;
        while done.len() < id as usize {
            device.advance(device.next_wake().expect("it completes"), &mut done);
        }
    };
    (0..flushed).for_each(|block| one(&mut device, CommandKind::Write, block));
    one(&mut device, CommandKind::Flush, 0);
    (flushed..flushed + after).for_each(|block| one(&mut device, CommandKind::Write, block));
    let loss = device.cut_power(done.last().map_or(0, |d| d.at));
    assert_eq!(loss.outstanding, 0);
    (loss.lost_writes, loss.lost_bytes)
}

#[test]
fn power_cut_keeps_flushed_data_and_counts_volatile_loss() {
    let volatile = cached(plain(), 16 << 20, CacheKind::Volatile);
    let (writes, bytes) = lost(&volatile, 200, 50);
    assert!((1..=50).contains(&writes), "{writes}");
    assert_eq!(bytes, writes * 4096);
    assert_eq!(lost(&volatile, 200, 0), (0, 0), "a flush covers all before it");
    assert_eq!(lost(&cached(plain(), 16 << 20, CacheKind::BatteryBacked), 10, 500), (0, 0));
    assert_eq!(lost(&plain(), 10, 50), (0, 0), "a disk without a cache");
    let disk = leaf(profile::Device::Hdd(with_write_cache(disk(), 4 << 20)));
    assert!(lost(&disk, 100, 50).0 > 0, "a disk's own cache is volatile");
    assert!(lost(&raid1(2, disk, ReadBalance::Nearest), 100, 50).0 > 0, "and so it is under a mirror");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn array_faults_at_any_moment_conserve_commands(
        seed in any::<u64>(), faults in proptest::collection::vec((0usize..600, 0u32..4, 0u8..3), 1..5),
    ) {
        for (name, node) in redundant() {
            let commands = mixed(600, seed);
            let mut device = watched(&node).expect("a device");
            let (mut done, mut issued, mut now, mut left) = (vec![], 0, 0, faults.clone());
            left.sort_unstable();
            while done.len() < commands.len() {
                while issued < commands.len() && issued - done.len() < 64 {
                    device.submit(now, &commands[issued]);
                    issued += 1;
                }
                if left.first().is_some_and(|(after, ..)| done.len() >= *after) {
                    match left.remove(0) {
                        (_, drive, 0) => {
device.fail(Some(drive % 2), now);
}
                        (_, drive, 1) => drop(device.replace(drive % 2, now)),
                        _ => drop(device.cut_power(now)),
                    }
                    continue;
                }
                now = device.next_wake().expect("commands are outstanding");
                device.advance(now, &mut done);
            }
            conserved(name, &commands, &done);
        }
    }
}

#[test]
fn degraded_parity_read_takes_all_other_members() {
    let node = raid5(4, small(1 << 30));
    let load = || StreamLoad { depth: 64, read: Share::WHOLE };
    let healthy = load().rate(&node, false);
    let degraded = load().rate(&node, true);
    // Of four members, three do the work: a quarter of the reads take three commands.
    let expected = 3.0 / (0.75 + 0.25 * 3.0) / 4.0;
    assert_close(degraded / healthy, expected, 0.05, "degraded against healthy reads");
}

struct StreamLoad {
    depth: u64,
    read: Share,
}

impl StreamLoad {
    /// Return commands per second at random offsets of one gigabyte.
    fn rate(&self, node: &Node, degraded: bool) -> f64 {
        let mut device = watched(node).expect("a device");
        if degraded {
            device.fail(Some(1), 0);
        }
        let mut random = Random::named(2, "places");
        let kind = if self.read == Share::WHOLE { CommandKind::Read } else { CommandKind::Write };
        let done =
            closed_loop_on(device, self.depth, 40_000, |id| command(id, kind, random.below(1 << 18) * 4096, 4096));
        done.len() as f64 / done.last().expect("some").at as f64 * 1e9
    }
}

/// Mirror of two flash drives with data, behind half-duplex links; the rebuild does not yield.
fn flash_mirror() -> Node {
    let mut drive = flash_drive(256 << 20);
    drive.link = HostLink { read_rate: sourced(Rate(530 * SECOND)), half_duplex: sourced(true), ..drive.link };
    drive.simulated.written = Written::Once;
    let node = raid1(2, leaf(profile::Device::Flash(drive)), ReadBalance::Nearest);
    with_rebuild(node, 200_000_000, 2_000_000, RebuildManner::Competing)
}

#[test]
fn flash_mirror_read_at_depth_1_waits_only_for_the_rebuild() {
    let (_, done) = rebuild(&flash_mirror(), true);
    let sum = |part: fn(&Breakdown) -> Nanos| done.iter().map(|d| part(&d.breakdown)).sum::<Nanos>();
    let (queue, rebuild) = (sum(|of| of.queue), sum(|of| of.rebuild));
    assert!(rebuild > 0 && queue * 50 < rebuild, "{queue} ns for others, {rebuild} ns for the rebuild");
}

/// Return the added latency of a mirror's commands during a rebuild, at a constant depth, and the
/// added parts of their breakdowns, in ns.
fn added_and_told(node: &Node, kind: CommandKind, depth: u64) -> (f64, f64) {
    let [without, with] = [false, true].map(|rebuilds| {
        let mut device = watched(node).expect("a device");
        device.fail(Some(1), 0);
        if rebuilds {
            device.replace(1, 0).expect("it is dead");
        }
        let mut random = Random::named(1, "commands");
        let units = node.capacity().0 / 4096;
        let mut next = |id| command(id, kind, random.below(units) * 4096, 4096);
        let mut done = Vec::new();
        (0..depth).for_each(|id| device.submit(0, &next(id)));
        while done.len() < 10_000 && device.take_rebuilt().is_none() {
            let (now, before) = (device.next_wake().expect("commands are outstanding"), done.len());
            device.advance(now, &mut done);
            (before..done.len()).for_each(|number| device.submit(now, &next(depth + number as u64)));
        }
        let mean = |of: fn(&DeviceCompletion) -> Nanos| done.iter().map(of).sum::<Nanos>() as f64 / done.len() as f64;
        (mean(|d| d.at - d.submitted), mean(|d| d.breakdown.rebuild))
    });
    assert!(with.0 > 1.02 * without.0 && without.1 == 0.0, "{depth}: {with:?} {without:?}");
    (with.0 - without.0, with.1)
}

#[test]
fn flash_mirror_rebuild_wait_equals_its_added_latency() {
    let node = flash_mirror();
    for depth in [1, 4, 16] {
        let (added, told) = added_and_told(&node, CommandKind::Read, depth);
        assert_close(told, added, 0.2, &format!("of the latency at {depth}"));
    }
}

#[test]
fn rebuild_wait_equals_added_latency_with_many_dies() {
    const PROFILE: &str = include_str!("../../../../python/tameshi/data/profiles/devices/nvme-tlc-3.84tb.toml");
    let profile: profile::DeviceProfile = toml::from_str(PROFILE).expect("a profile");
    let profile::Device::Flash(mut drive) = profile.device else { panic!("a flash drive") };
    (drive.simulated.written, drive.simulated.scale) = (Written::Once, 256);
    // Two members would wait for the greater of two jitters, which no rebuild causes.
    drive.jitter = None;
    let node = raid1(2, leaf(profile::Device::Flash(drive)), ReadBalance::Nearest);
    let node = with_rebuild(node, 1_000_000_000, 2_000_000, RebuildManner::Competing);
    for (kind, depths) in [(CommandKind::Read, &[1, 4, 16, 64][..]), (CommandKind::Write, &[1, 4, 8])] {
        for &depth in depths {
            let (added, told) = added_and_told(&node, kind, depth);
            assert_close(told, added, 0.2, &format!("of {kind:?}s' latency at {depth}"));
        }
    }
}
