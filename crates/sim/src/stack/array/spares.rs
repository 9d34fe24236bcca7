//! New members of an array.

use crate::basics::seed_path::SeedPath;
use tameshi_spec::profile::{self, Written};
use tameshi_spec::run::Node;

/// Source of new members.
#[derive(Debug)]
pub(in crate::stack) struct Spares {
    member: Node,
    seeds: SeedPath,
    taken: u32,
}

impl Spares {
    pub(in crate::stack) fn new(member: &Node, seeds: &SeedPath) -> Self {
        Self { member: member.clone(), seeds: seeds.within("spare"), taken: 0 }
    }

    pub(super) fn member(&self) -> &Node {
        &self.member
    }

    /// Take the next spare: its node, and a seed path of its own.
    pub(super) fn take(&mut self) -> (Node, SeedPath) {
        self.taken += 1;
        (unwritten(&self.member), self.seeds.within(self.taken))
    }
}

/// Return a member that was never written.
fn unwritten(member: &Node) -> Node {
    let mut member = member.clone();
    if let profile::Device::Flash(flash) = member.drive_mut() {
        (flash.simulated.written, flash.simulated.dead_channels) = (Written::Never, 0);
        flash.simulated.worn_percent = None;
    }
    member
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{Device, placed};
    use tameshi_base::{Command, CommandKind, Nanos};

    #[test]
    fn spares_draw_independently_of_old_and_other_members() {
        let profile = include_str!("../../../../../python/tameshi/data/profiles/devices/cloud-volume-1tb.toml");
        let device = toml::from_str::<profile::DeviceProfile>(profile).expect("a profile").device;
        let (node, seeds) = (Node::Device { profile: "test".into(), device }, SeedPath::new(1, "disk"));
        let latency = |mut device: Device| {
            let (mut done, kind) = (vec![], CommandKind::Read);
            device.submit(0, &Command { id: 0, kind, offset_bytes: 0, length_bytes: 4096, fua: false, stream: 0 });
            device.advance(Nanos::MAX / 2, &mut done);
            done[0].at
        };
        let old = latency(placed(&node, &seeds.within(0)).expect("a device"));
        let mut spares = Spares::new(&node, &seeds);
        let [first, second] = [(); 2].map(|()| {
            let (node, seeds) = spares.take();
            latency(placed(&node, &seeds).expect("a device"))
        });
        assert!(old != first && old != second && first != second, "{old}, {first}, {second}");
    }
}
