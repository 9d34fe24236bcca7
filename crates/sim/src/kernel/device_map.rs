//! Placement of storages on devices.

use tameshi_spec::run::{Node, RunSpec};

/// Return, per storage, the index of its device and its offset there.
///
/// Partitions of one drive share a device; any other storage has a device of its own.
pub(crate) fn device_map(spec: &RunSpec) -> Vec<(usize, u64)> {
    let (mut map, mut drives, mut devices) = (Vec::new(), Vec::<(&str, usize)>::new(), 0);
    for storage in spec.storage.values() {
        let shared = match &storage.model {
            Some(node @ Node::Partition { function, .. }) => function.drive.as_deref().zip(Some((node, function))),
            _ => None,
        };
        let known = shared.and_then(|(drive, _)| drives.iter().find(|(name, _)| *name == drive));
        let device = known.map_or(devices, |(_, device)| *device);
        if device == devices {
            devices += 1;
            drives.extend(shared.map(|(drive, _)| (drive, device)));
        }
        let base = shared.map_or(0, |(_, (node, function))| u64::from(function.index) * node.capacity().0);
        map.push((device, base));
    }
    map
}
