//! Construction of devices from profiles and nodes of a run.

use super::array::{Array, Layout, ReadPolicy, Spares};
use super::cache::{BLOCK_BYTES, Cache, Settings};
use super::device::Device;
use super::member::Member;
use super::replica::Replica;
use super::shared::Shared;
use crate::basics::seed_path::SeedPath;
use crate::device::{Flash, Hdd, Volume, XPoint};
use tameshi_spec::profile::{self, HddProfile};
use tameshi_spec::run::{Link, Node, Rebuild};
use tameshi_spec::study::{CacheKind, Protocol};

impl Device {
    /// Build the device that a profile describes, at rest at time zero.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    pub fn new(profile: &profile::Device) -> Result<Self, String> {
        Self::placed(profile, &SeedPath::default())
    }

    /// Build it with the seed path of its place in a run.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    pub fn placed(profile: &profile::Device, seeds: &SeedPath) -> Result<Self, String> {
        Ok(match profile {
            profile::Device::Null(_) => Self::Null(Box::default()),
            profile::Device::Hdd(profile) => {
                let disk = Self::Hdd(Box::new(Hdd::placed(profile, seeds)?));
                match disk_cache(profile) {
                    Some(settings) => Self::Cache(Box::new(Cache::new(settings, disk))),
                    None => disk,
                }
            }
            profile::Device::Flash(profile) => Self::Flash(Box::new(Flash::placed(profile, seeds)?)),
            profile::Device::XPoint(profile) => Self::XPoint(Box::new(XPoint::new(profile))),
            profile::Device::Volume(profile) => Self::Volume(Box::new(Volume::new(profile, seeds))),
        })
    }
}

impl Member for Device {
    fn build(node: &Node, seeds: &SeedPath) -> Result<Self, String> {
        placed(node, seeds)
    }

    fn behind_link(link: &Link, protocol: Protocol, device: Self) -> Result<Self, String> {
        Ok(Self::Replica(Box::new(Replica::new(link, protocol, device)?)))
    }
}

/// Build the device that a node describes, at rest at time zero.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn node(node: &Node) -> Result<Device, String> {
    placed(node, &SeedPath::default())
}

/// Build the device that a node describes with the seed path of its place in a run.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn placed(node: &Node, seeds: &SeedPath) -> Result<Device, String> {
    let array = |layout, members: u32, of: &Node, rebuild: Rebuild| -> Result<Device, String> {
        let devices = (0..members).map(|member| placed(of, &seeds.within(member))).collect::<Result<Vec<_>, _>>()?;
        Ok(Device::Array(Box::new(Array::new(layout, devices, Spares::new(of, seeds), rebuild))))
    };
    match node {
        Node::Device { device, .. } => Device::placed(device, seeds),
        Node::Raid0 { members, of, chunk } => {
            array(Layout::Stripe { chunk: chunk.0 }, *members, of, Rebuild::default())
        }
        Node::Raid1 { members, of, read, rebuild } => {
            array(Layout::Mirror { read: ReadPolicy::balanced(*read) }, *members, of, *rebuild)
        }
        Node::Raid10 { members, of, chunk, read, rebuild } => {
            let mirror = Node::Raid1 { members: 2, of: of.clone(), read: *read, rebuild: *rebuild };
            array(Layout::Stripe { chunk: chunk.0 }, members / 2, &mirror, *rebuild)
        }
        Node::Raid5 { members, of, chunk, rebuild } => array(Layout::Parity { chunk: chunk.0 }, *members, of, *rebuild),
        Node::Replica { of, link, protocol } => {
            let [near, far] = [0, 1].map(|side| placed(of, &seeds.within(side)));
            let (layout, sides) =
                (Layout::Mirror { read: ReadPolicy::First }, vec![near?, Device::behind_link(link, *protocol, far?)?]);
            let array = Array::new(layout, sides, Spares::new(of, seeds), Rebuild::default());
            Ok(Device::Array(Box::new(array.across(*link, *protocol))))
        }
        Node::Partition { of, function } => {
            let shared = Shared::new(placed(of, seeds)?, function, node.capacity().0);
            Ok(Device::Shared(Box::new(shared)))
        }
        Node::OverProvisioned { of, .. } => placed(of, seeds),
        Node::Cache { of, cache } => {
            let settings = Settings {
                memory_bytes: cache.memory.0,
                dirty_bytes: (u128::from(cache.memory.0) * u128::from(cache.dirty.0) / 1_000_000) as u64,
                kind: cache.kind,
                latency: cache.latency.0,
                miss_latency: cache.latency.0,
                bytes_per_second: cache.rate.map(|rate| rate.0),
                capacity_bytes: of.capacity().0,
                row_bytes: row_bytes(of),
            };
            Ok(Device::Cache(Box::new(Cache::new(settings, placed(of, seeds)?))))
        }
    }
}

/// Return the bytes of a row of data in front of parity: a write of whole rows reads nothing.
///
/// `None` without parity, behind a stripe that cuts rows, and behind a cache that collects them.
fn row_bytes(node: &Node) -> Option<u64> {
    match node {
        Node::Raid5 { members, chunk, .. } => Some((u64::from(*members) - 1) * chunk.0),
        Node::Raid0 { of, chunk, .. } => row_bytes(of).filter(|&row| chunk.0.is_multiple_of(row)),
        Node::Raid1 { of, .. }
        | Node::Replica { of, .. }
        | Node::Partition { of, .. }
        | Node::OverProvisioned { of, .. } => row_bytes(of),
        Node::Device { .. } | Node::Raid10 { .. } | Node::Cache { .. } => None,
    }
    .filter(|row| row.is_multiple_of(BLOCK_BYTES))
}

/// Build a device that completes its outstanding commands as failed at a power cut.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn watched(of: &Node, seeds: &SeedPath) -> Result<Device, String> {
    let device = placed(of, seeds)?;
    if matches!(device, Device::Array(_)) {
        return Ok(device);
    }
    let whole = Layout::Stripe { chunk: 1 << 62 };
    Ok(Device::Array(Box::new(Array::new(whole, vec![device], Spares::new(of, seeds), Rebuild::default()))))
}

/// Settings of a hard disk's volatile write cache, if its profile has one.
///
/// Half of it may be dirty. A write or a hit takes the disk's command overhead; a miss has it from
/// the disk itself.
fn disk_cache(profile: &HddProfile) -> Option<Settings> {
    let memory = profile.write_cache.as_ref()?.value.0;
    Some(Settings {
        memory_bytes: memory,
        dirty_bytes: memory / 2,
        kind: CacheKind::Volatile,
        latency: profile.command_overhead.value.0,
        miss_latency: 0,
        bytes_per_second: None,
        capacity_bytes: profile.capacity.value.0,
        row_bytes: None,
    })
}
