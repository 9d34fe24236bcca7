//! Tests of power cuts and failovers of a replica.

use crate::basics::seed_path::SeedPath;
use crate::stack::{self, Device};
use tameshi_base::units::{Size, Time};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_spec::profile::{self, DeviceProfile};
use tameshi_spec::run::{Link, Node};
use tameshi_spec::study::Protocol;

/// Disk and its replica across a link that carries nothing in the time of the test, after ten
/// writes; how many were acknowledged by `now`.
fn replica(now: Nanos) -> (Device, u64) {
    let text = include_str!("../../../../../python/tameshi/data/profiles/devices/sas-15k-146gb.toml");
    let mut device = toml::from_str::<DeviceProfile>(text).expect("a profile").device;
    let profile::Device::Hdd(disk) = &mut device else { panic!("a disk") };
    disk.write_cache = None;
    let of = Box::new(Node::Device { profile: "test".into(), device });
    let link = Link { round_trip: Time(10_000), rate: Size(1000) };
    let node = Node::Replica { of, link, protocol: Protocol::Asynchronous };
    let (mut device, mut done) = (stack::placed(&node, &SeedPath::default()).expect("a device"), vec![]);
    for id in 0..10 {
        let (kind, offset_bytes) = (CommandKind::Write, id << 30);
        device.submit(0, &Command { id, kind, offset_bytes, length_bytes: 4096, fua: false, stream: 0 });
    }
    while let Some(at) = device.next_wake().filter(|&at| at <= now) {
        device.advance(at, &mut done);
    }
    (device, done.len() as u64)
}

#[test]
fn replica_lacks_and_loses_only_acknowledged_writes() {
    let mut counts = Vec::new();
    for now in [0, 6_000_000, 100_000_000] {
        let (mut device, acknowledged) = replica(now);
        let bytes = acknowledged * 4096;
        assert_eq!(device.behind_bytes(), Some(bytes));
        let loss = device.fail_over(now).expect("another side");
        assert_eq!((loss.outstanding, loss.lost_writes, loss.lost_bytes), (10 - acknowledged, acknowledged, bytes));

        let (mut device, _) = replica(now);
        assert_eq!(device.cut_power(now).lost_writes, 0, "the near side has it");
        assert_eq!(device.behind_bytes(), Some(bytes));
        device.fail(Some(0), now);
        assert_eq!(device.take_lost(), (acknowledged, bytes), "an unacknowledged write is sent again, and is no loss");
        counts.push(acknowledged);
    }
    assert!(counts[0] == 0 && (1..10).contains(&counts[1]) && counts[2] == 10, "{counts:?}");
}
