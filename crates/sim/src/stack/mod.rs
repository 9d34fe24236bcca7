//! Devices made of devices: arrays, mirrors across a link, shared drives, caches. See
//! `docs/models/arrays.md`.
//!
//! Every node is a [`Device`] like those it is made of: commands go in at one instant, complete at another, and their
//! breakdowns add up. Nothing is allocated per command once the queues have grown to what the load needs.

mod array;
mod cache;
mod errands;
mod layout;
mod linked;
mod members;
pub(crate) mod nodes;
mod order;
mod pieces;
mod queues;
mod rebuild;
mod shared;
mod slab;
mod turns;

pub use nodes::{Array, Cache, Linked, Shared};

use crate::chance::Chance;
use crate::device::{Device, Flash, Hdd, Volume, XPoint};
use errands::Settings;
use nodes::{Choice, Layout};
use rebuild::Spares;
use tameshi_spec::profile::{self, HddProfile};
use tameshi_spec::run::{Node, Rebuild};
use tameshi_spec::study::{Acknowledge, CacheKind};

impl Device {
    /// The device that a profile describes, at rest at time zero.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    pub fn new(profile: &profile::Device) -> Result<Self, String> {
        Self::placed(profile, &Chance::default())
    }

    /// The same with the chance of its place in a run.
    ///
    /// # Errors
    /// A sentence that names the value no such device can have.
    pub fn placed(profile: &profile::Device, chance: &Chance) -> Result<Self, String> {
        Ok(match profile {
            profile::Device::Null(_) => Self::Null(Box::default()),
            profile::Device::Hdd(profile) => {
                let disk = Self::Hdd(Box::new(Hdd::new(profile)?));
                match disk_cache(profile) {
                    Some(settings) => Self::Cache(Box::new(Cache::new(settings, disk))),
                    None => disk,
                }
            }
            profile::Device::Flash(profile) => Self::Flash(Box::new(Flash::new(profile)?)),
            profile::Device::XPoint(profile) => Self::XPoint(Box::new(XPoint::new(profile))),
            profile::Device::Volume(profile) => Self::Volume(Box::new(Volume::new(profile, chance))),
        })
    }
}

/// The device that a node describes, at rest at time zero.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn node(node: &Node) -> Result<Device, String> {
    placed(node, &Chance::default())
}

/// The same with the chance of its place in a run.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn placed(node: &Node, chance: &Chance) -> Result<Device, String> {
    let array = |layout, members: u32, of: &Node, rebuild: Rebuild| -> Result<Device, String> {
        let devices = (0..members).map(|member| placed(of, &chance.within(member))).collect::<Result<Vec<_>, _>>()?;
        Ok(Device::Array(Box::new(Array::new(layout, devices, Spares::new(of, chance), rebuild))))
    };
    match node {
        Node::Device { device, .. } => Device::placed(device, chance),
        Node::Raid0 { members, of, chunk } => {
            array(Layout::Stripe { chunk: chunk.0 }, *members, of, Rebuild::default())
        }
        Node::Raid1 { members, of, read, rebuild } => {
            array(Layout::Mirror { read: Choice::balanced(*read) }, *members, of, *rebuild)
        }
        Node::Raid10 { members, of, chunk, read, rebuild } => {
            let mirror = Node::Raid1 { members: 2, of: of.clone(), read: *read, rebuild: *rebuild };
            array(Layout::Stripe { chunk: chunk.0 }, members / 2, &mirror, *rebuild)
        }
        Node::Raid5 { members, of, chunk, rebuild } => array(Layout::Parity { chunk: chunk.0 }, *members, of, *rebuild),
        Node::Replica { of, link, acknowledge } => {
            let [near, far] = [0, 1].map(|side| placed(of, &chance.within(side)));
            let (layout, sides) = (Layout::Mirror { read: Choice::First }, vec![near?, Linked::over(link, far?)?]);
            let array = Array::new(layout, sides, Spares::new(of, chance), Rebuild::default());
            Ok(Device::Array(Box::new(array.across(*link, *acknowledge == Acknowledge::Local))))
        }
        Node::Partition { of, function } => {
            let shared = Shared::new(placed(of, chance)?, function, node.capacity().0);
            Ok(Device::Shared(Box::new(shared)))
        }
        Node::OverProvisioned { of, .. } => placed(of, chance),
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
            Ok(Device::Cache(Box::new(Cache::new(settings, placed(of, chance)?))))
        }
    }
}

/// Bytes of a row of data, where the node has parity: a write of whole rows reads nothing. `None` where rows mean
/// nothing to whoever writes: without parity, behind a stripe that cuts rows to pieces, behind a cache that collects them.
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
    .filter(|row| row.is_multiple_of(cache::BLOCK_BYTES))
}

/// The same, so that it remembers who waits for what when a fault befalls it.
///
/// # Errors
/// A sentence that names the value no such device can have.
pub fn watched(of: &Node, chance: &Chance) -> Result<Device, String> {
    let device = placed(of, chance)?;
    if matches!(device, Device::Array(_)) {
        return Ok(device);
    }
    let whole = Layout::Stripe { chunk: 1 << 62 };
    Ok(Device::Array(Box::new(Array::new(whole, vec![device], Spares::new(of, chance), Rebuild::default()))))
}

/// The volatile write cache of a hard disk, if its profile has one: half of it may hold what is not on the medium. A
/// write, or a read of what it holds, takes the disk's command overhead; a miss has it from the disk itself.
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
