//! Suite that every device passes.

use crate::arbitration::arbitrated;
use crate::support::*;
use crate::thermal::soon_too_warm;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tameshi_base::units::Share;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_sim::{DeviceCompletion, stack};
use tameshi_spec::profile::{self, FlashProfile};
use tameshi_spec::run::Node;
use tameshi_spec::study::{CacheKind, Protocol, ReadBalance};

fn every_kind() -> Vec<(&'static str, Node)> {
    let plain = || leaf(hdd(elevator(with_depth(disk(), 8))));
    let drives = [
        ("null", null()),
        ("fcfs disk", hdd(disk())),
        ("disk that holds one command", hdd(with_depth(disk(), 1))),
        ("elevator disk", hdd(elevator(disk()))),
        ("disk that serves what comes first under the head", hdd(shortest_positioning(disk(), 500 * MS))),
        ("disk with zones", hdd(with_zones(elevator(disk()), 16, 171_000_000, 112_000_000))),
        ("disk with a write cache", hdd(with_write_cache(elevator(disk()), 1 << 20))),
        ("elevator disk with read-ahead", hdd(with_read_ahead(elevator(with_depth(disk(), 8)), 256 << 10))),
        ("fcfs disk with a small read-ahead", hdd(with_read_ahead(disk(), 10_000))),
        ("disk without costs", hdd(free(disk()))),
        ("disk without costs, with read-ahead", hdd(with_read_ahead(elevator(free(disk())), 64 << 10))),
        ("flash drive", flash(flash_drive(1 << 30))),
        ("flash drive without power-loss protection", flash(unprotected(flash_drive(1 << 30)))),
        ("flash drive that writes its map for flushes", flash(with_map_writes(flash_drive(1 << 30), 300_000))),
        ("flash drive whose flushes must be alone", flash(flushed_alone(flash_drive(1 << 30)))),
        ("flash drive that holds one command", flash(one_at_a_time(flash_drive(1 << 30)))),
        ("flash drive that is throttled and cools", flash(soon_too_warm(flash_drive(1 << 30)))),
        ("flash drive with an SLC cache", flash(with_slc_cache(flash_drive(1 << 30), 32 << 20))),
        ("flash drive without costs", flash(free_flash(flash_drive(1 << 30)))),
        ("3D XPoint drive", profile::Device::XPoint(xpoint())),
        ("3D XPoint drive without costs", profile::Device::XPoint(free_xpoint())),
        ("volume", volume()),
        ("volume that works in rounds", in_rounds(volume(), 16)),
        ("volume with limits", with_limit(volume(), 20_000, 400_000_000)),
        (
            "volume in rounds with limits and stalls",
            with_stalls(with_limit(in_rounds(volume(), 3), 20_000, 400_000_000)),
        ),
        ("volume without costs", free_volume(volume())),
        ("volume without costs, in rounds", free_volume(in_rounds(volume(), 2))),
    ];
    let stacks = [
        ("raid0", raid0(3, plain())),
        ("raid0 of devices without costs", raid0(2, leaf(null()))),
        ("raid1", raid1(2, plain(), ReadBalance::ShortestQueue)),
        ("raid1 of three, in turn", raid1(3, plain(), ReadBalance::RoundRobin)),
        ("raid10", raid10(4, plain())),
        ("raid5", raid5(4, plain())),
        ("raid5 of flash drives", raid5(3, leaf(flash(flash_drive(1 << 28))))),
        (
            "raid1 of flash drives without protection",
            raid1(2, leaf(flash(unprotected(flash_drive(1 << 28)))), ReadBalance::ShortestQueue),
        ),
        ("raid5 of devices without costs", raid5(3, leaf(null()))),
        ("replica", replica(plain(), 20_000, 100_000_000, Protocol::FarMedium)),
        ("replica that runs behind", replica(plain(), 20_000, 100_000_000, Protocol::Asynchronous)),
        ("partition", partition(plain(), 1, 4)),
        ("drive with queues by priority", arbitrated(leaf(flash(flash_drive(1 << 28))), 8, [4, 2, 1], 2)),
        ("over-provisioned", Node::OverProvisioned { of: Box::new(plain()), visible: Share(999_000) }),
        ("battery-backed cache", cached(plain(), 1 << 20, CacheKind::BatteryBacked)),
        ("volatile cache over raid5", cached(raid5(3, plain()), 4 << 20, CacheKind::Volatile)),
        (
            "raid0 of raid1 across caches",
            raid0(2, cached(raid1(2, plain(), ReadBalance::Nearest), 1 << 20, CacheKind::Volatile)),
        ),
    ];
    drives.into_iter().map(|(name, device)| (name, leaf(device))).chain(stacks).collect()
}

/// Nodes of every kind; a new kind must be added here.
fn kind(node: &Node) -> &'static str {
    match node {
        Node::Device { device, .. } => match device {
            profile::Device::Null(_) => "null",
            profile::Device::Hdd(_) => "hdd",
            profile::Device::Flash(_) => "flash",
            profile::Device::XPoint(_) => "xpoint",
            profile::Device::Volume(_) => "volume",
        },
        Node::Raid0 { .. } => "raid0",
        Node::Raid1 { .. } => "raid1",
        Node::Raid10 { .. } => "raid10",
        Node::Raid5 { .. } => "raid5",
        Node::Replica { .. } => "replica",
        Node::Partition { .. } => "partition",
        Node::OverProvisioned { .. } => "over_provisioned",
        Node::Cache { .. } => "cache",
    }
}

const KINDS: [&str; 13] = [
    "cache",
    "flash",
    "hdd",
    "null",
    "over_provisioned",
    "partition",
    "raid0",
    "raid1",
    "raid10",
    "raid5",
    "replica",
    "volume",
    "xpoint",
];

#[test]
fn every_kind_of_node_is_in_the_suite() {
    let kinds: BTreeSet<&str> = every_kind().iter().map(|(_, node)| kind(node)).collect();
    assert!(kinds.into_iter().eq(KINDS));
}

/// Every profile of the repository; flash at the smallest scale at which each block keeps pages.
fn every_profile() -> Vec<(String, Node)> {
    let devices = crate::profiles::texts("devices").into_iter().map(|(path, text)| {
        let mut profile: profile::DeviceProfile = toml::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
        if let profile::Device::Flash(flash) = &mut profile.device {
            flash.simulated.scale = 256;
        }
        (path, leaf(profile.device))
    });
    devices.collect()
}

/// Drive with a small buffer, one command at a time, reads that wait for programs, and relocated
/// data among the host's.
fn one_at_a_time(mut drive: FlashProfile) -> FlashProfile {
    drive.controller.queue_depth.value = 1;
    drive.buffer.size.value.0 = 64 << 10;
    drive.nand.suspend_time = None;
    drive.cleaning.separate_relocated.value = false;
    drive
}

/// Commands within a device's capacity.
fn within(node: &Node, commands: &[(Nanos, Command)]) -> Vec<(Nanos, Command)> {
    let room = node.capacity().0 - (256 * 4096);
    let moved = commands.iter().map(|&(gap, of)| (gap, Command { offset_bytes: of.offset_bytes % room, ..of }));
    moved.collect()
}

/// Commands and pauses before them: bursts and pauses, near and far offsets.
fn commands(most: usize) -> impl Strategy<Value = Vec<(Nanos, Command)>> {
    let gap = prop_oneof![3 => Just(0), 2 => 0..200_000u64, 1 => 0..30_000_000u64];
    let kind = prop_oneof![
        8 => Just(CommandKind::Read),
        6 => Just(CommandKind::Write),
        1 => Just(CommandKind::Flush),
        1 => Just(CommandKind::Trim),
    ];
    let block = prop_oneof![2 => 0..40u64, 1 => 0..(146_000_000_000u64 / 4096 - 300)];
    proptest::collection::vec((gap, kind, block, 1..256u32), 1..most).prop_map(|drawn| {
        let numbered = drawn.into_iter().zip(0..);
        numbered.map(|((gap, kind, block, blocks), id)| (gap, command(id, kind, block * 4096, blocks * 4096))).collect()
    })
}

/// Submit each command after its pause, and let the device run dry. Returns completions in their
/// order.
fn drive(node: &Node, commands: &[(Nanos, Command)]) -> (Vec<Nanos>, Vec<DeviceCompletion>) {
    let mut device = stack::node(node).expect("a device");
    let (mut now, mut submitted, mut done) = (0, vec![], vec![]);
    for (gap, command) in commands {
        now += gap;
        while let Some(wake) = device.next_wake().filter(|&wake| wake < now) {
            device.advance(wake, &mut done);
        }
        device.submit(now, command);
        submitted.push(now);
    }
    while let Some(wake) = device.next_wake() {
        device.advance(wake, &mut done);
    }
    (submitted, done)
}

/// Return whether a flush waits for the writes before it: in drives with a volatile cache, and in
/// volatile caches. Arrays pass it on while writes are on their way.
fn orders_flushes(node: &Node) -> bool {
    let is_array = matches!(node, Node::Raid0 { .. } | Node::Raid1 { .. } | Node::Raid10 { .. } | Node::Raid5 { .. });
    let passes = is_array || matches!(node, Node::Replica { .. });
    !passes && drive(node, &[(0, command(0, CommandKind::Flush, 0, 0))]).1[0].at > 0
}

fn check(name: &str, node: &Node, commands: &[(Nanos, Command)]) -> Result<(), TestCaseError> {
    let commands = &within(node, commands);
    let (submitted, done) = drive(node, commands);
    let places: BTreeMap<u64, usize> = done.iter().enumerate().map(|(place, d)| (d.command.id, place)).collect();
    prop_assert_eq!(done.len(), commands.len(), "{}: issued and completed", name);
    prop_assert_eq!(places.len(), commands.len(), "{}: each completes once", name);
    prop_assert!(done.is_sorted_by_key(|d| d.at), "{}: completions come in the order of their times", name);
    for d in &done {
        let id = d.command.id as usize;
        prop_assert_eq!(&d.command, &commands[id].1, "{}", name);
        prop_assert_eq!(d.submitted, submitted[id], "{}", name);
        prop_assert!(d.at >= d.submitted, "{}: {:?}", name, d);
        prop_assert_eq!(d.breakdown.total(), d.at - d.submitted, "{}: {:?}", name, d);
    }
    for flush in done.iter().filter(|d| d.command.kind == CommandKind::Flush && orders_flushes(node)) {
        let own = places[&flush.command.id];
        for before in (0..flush.command.id).filter(|&id| commands[id as usize].1.kind != CommandKind::Read) {
            prop_assert!(places[&before] < own, "{}: {} before the flush {}", name, before, flush.command.id);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn every_profile_of_the_repository_passes(commands in commands(60)) {
        for (path, node) in every_profile() {
            check(&path, &node, &commands)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn commands_complete_once_after_submission_and_flushes_order(commands in commands(60)) {
        for (name, node) in every_kind() {
            check(name, &node, &commands)?;
        }
    }

    // slow: every kind of device in every case
    #[test]
    fn hundreds_outstanding_are_conserved(mut commands in commands(700)) {
        commands.iter_mut().for_each(|(gap, _)| *gap = 0);
        for (name, node) in every_kind() {
            check(name, &node, &commands)?;
        }
    }

    #[test]
    fn a_device_without_costs_equals_null(commands in commands(100)) {
        let ends = |device| {
            let node = leaf(device);
            let mut ends: Vec<_> = drive(&node, &within(&node, &commands)).1.iter().map(|d| (d.command.id, d.at)).collect();
            ends.sort_unstable();
            ends
        };
        let expected = ends(null());
        prop_assert_eq!(&ends(hdd(free(disk()))), &expected);
        prop_assert_eq!(&ends(hdd(free(elevator(with_depth(disk(), 2))))), &expected);
        prop_assert_eq!(&ends(hdd(with_read_ahead(free(disk()), 64 << 10))), &expected);
        prop_assert_eq!(&ends(flash(free_flash(flash_drive(1 << 30)))), &expected);
        prop_assert_eq!(&ends(flash(free_flash(unprotected(flash_drive(1 << 30))))), &expected);
        prop_assert_eq!(&ends(profile::Device::XPoint(free_xpoint())), &expected);
        prop_assert_eq!(&ends(free_volume(volume())), &expected);
        prop_assert_eq!(&ends(free_volume(in_rounds(volume(), 2))), &expected);
    }

    #[test]
    fn it_does_not_matter_how_often_a_device_is_looked_at(commands in commands(60), glances in 1..5u64) {
        for (name, node) in every_kind() {
            let commands = within(&node, &commands);
            let expected = drive(&node, &commands).1;
            let mut device = stack::node(&node).expect("a device");
            let (mut now, mut done) = (0, vec![]);
            for (gap, command) in &commands {
                for glance in 1..=glances {
                    let at = now + gap * glance / (glances + 1);
                    if at < now + gap {
                        device.advance(at, &mut done);
                    }
                }
                now += gap;
                // A wake-up at the instant of a completion is left for an answer; none is given
                // here.
                while device.next_wake().is_some_and(|wake| wake < now) {
                    device.advance(now - 1, &mut done);
                }
                device.submit(now, command);
            }
            device.advance(u64::MAX / 4, &mut done);
            prop_assert_eq!(&done, &expected, "{}", name);
        }
    }
}
