//! Power that fails under an array, a near side that is gone, and what the far side lacks afterwards.

use crate::device::Device;
use crate::faults::loss::{ERROR_AFTER, Loss};
use crate::stack::nodes::Array;
use crate::stack::pieces::{Op, Owner};
use crate::stack::rebuild::{Rebuilding, Stretch};
use std::cmp::Reverse;
use tameshi_base::Nanos;

impl Array {
    /// Power fails under the array: what its members lose.
    pub(crate) fn lose_power(&mut self, now: Nanos) -> Loss {
        let mut loss = Loss::default();
        for member in 0..self.members.count() {
            if let Some(device) = self.members.device_mut(member) {
                loss.add(&device.lose_power(now));
            }
        }
        let owed = self.far_lacks();
        self.members.forget();
        self.order.clear();
        self.timed.clear();
        self.ops.clear();
        let unfinished = self.rebuilding.take().filter(|rebuilding| rebuilding.is_whole);
        self.waiting.extend(unfinished.map(|rebuilding| rebuilding.member));
        self.begin_rebuild(now);
        self.resync(owed, &mut loss, now);
        loss
    }

    /// Power fails, and whoever waits for a command is told that it failed.
    pub(crate) fn cut_power(&mut self, now: Nanos) -> Loss {
        let waiting: Vec<Op> = self.ops.iter().map(|(_, op)| *op).collect();
        let mut loss = self.lose_power(now);
        loss.outstanding = waiting.len() as u64;
        self.tell_failed(waiting, now);
        loss
    }

    /// The first member is gone with its machine; a machine beside the second one goes on with that alone.
    pub(crate) fn fail_over(&mut self, now: Nanos) -> Loss {
        let waiting: Vec<(u32, Op)> = self.ops.iter().map(|(number, op)| (number, *op)).collect();
        let (lost_writes, lost_bytes) = self.behind();
        for (number, op) in &waiting {
            self.members.disown(Owner::Op(*number), Owner::Nobody, now);
            op.copy.into_iter().for_each(|copy| self.members.pass_on(copy, Owner::Nobody));
        }
        self.rebuilding = None;
        self.members.fail(0, &mut Vec::new(), now);
        if let Some(Device::Linked(far)) = self.members.device_mut(1) {
            far.is_near(now);
        }
        self.members.look(1);
        (self.link, self.alone) = (None, true);
        self.order.clear();
        self.timed.clear();
        self.ops.clear();
        let loss = Loss { outstanding: waiting.len() as u64, lost_writes, lost_bytes, ..Loss::default() };
        self.tell_failed(waiting.into_iter().map(|(_, op)| op).collect(), now);
        loss
    }

    fn tell_failed(&mut self, waiting: Vec<Op>, now: Nanos) {
        for op in waiting {
            // Flushes need no place in the order any more: everything before them fails with them.
            let epoch = self.order.enter(op.command.kind);
            let mut failed = Op { epoch, failed: true, more: false, left: 1, copy: None, ..op };
            failed.path.queue += now - op.since;
            failed.since = now;
            let number = self.ops.insert(failed);
            self.sequence += 1;
            self.timed.push(Reverse((now + ERROR_AFTER, self.sequence, number)));
        }
    }

    /// What was under way to the far side without its being waited for, in the order of its places, as a bitmap has them.
    fn far_lacks(&self) -> Vec<Stretch> {
        if !self.first_suffices || !self.members.holds(1, u64::MAX) {
            return Vec::new();
        }
        let mut owed: Vec<_> = self.members.copies(1).chain(self.resyncing().flat_map(Rebuilding::left)).collect();
        owed.sort_unstable();
        owed
    }

    fn resyncing(&self) -> impl Iterator<Item = &Rebuilding> {
        self.rebuilding.iter().filter(|rebuilding| !rebuilding.is_whole)
    }

    /// Power is back: what the far side lacks is sent once more, if the near side still holds it.
    fn resync(&mut self, owed: Vec<Stretch>, loss: &mut Loss, now: Nanos) {
        if owed.is_empty() {
            return;
        }
        if !self.members.holds(0, u64::MAX) {
            let (writes, bytes) = acknowledged(owed.into_iter());
            (loss.lost_writes, loss.lost_bytes) = (loss.lost_writes + writes, loss.lost_bytes + bytes);
            return;
        }
        loss.resyncs += 1;
        let activity = self.members.activity;
        self.rebuilding = Some(Rebuilding::new(1, owed, false, self.settings, now, activity));
    }

    /// Writes and their bytes that were acknowledged and that the far side lacks.
    pub(super) fn behind(&self) -> (u64, u64) {
        acknowledged(self.members.copies(1).chain(self.resyncing().flat_map(Rebuilding::left)))
    }

    /// The near side is gone, and with it what was to be sent once more; what is on its way arrives.
    pub(super) fn owed_is_lost(&mut self, now: Nanos) {
        if self.resyncing().next().is_none() {
            return;
        }
        let (writes, bytes) = acknowledged(self.resyncing().flat_map(Rebuilding::unsent));
        self.lost = (self.lost.0 + writes, self.lost.1 + bytes);
        self.end_rebuild(now);
    }

    /// Writes and bytes that were lost with a near side since this was asked last, here or in the members.
    pub(crate) fn take_lost(&mut self) -> (u64, u64) {
        let mut lost = std::mem::take(&mut self.lost);
        for member in 0..self.members.count() {
            let of = self.members.device_mut(member).map_or((0, 0), Device::take_lost);
            lost = (lost.0 + of.0, lost.1 + of.1);
        }
        lost
    }
}

/// How many of some stretches were acknowledged, and their bytes.
fn acknowledged(stretches: impl Iterator<Item = Stretch>) -> (u64, u64) {
    let acknowledged = stretches.filter(|stretch| stretch.is_acknowledged);
    acknowledged.fold((0, 0), |(writes, bytes), stretch| (writes + 1, bytes + stretch.length_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::seed_path::SeedPath;
    use tameshi_base::units::{Size, Time};
    use tameshi_base::{Command, CommandKind};
    use tameshi_spec::profile::{self, DeviceProfile};
    use tameshi_spec::run::{Link, Node};
    use tameshi_spec::study::Acknowledge;

    /// A disk and its replica across a link that carries nothing in the time of the test, given ten writes; how many it has
    /// acknowledged at `now`.
    fn replica(now: Nanos) -> (Device, u64) {
        let text = include_str!("../../../../../python/tameshi/data/profiles/devices/sas-15k-146gb.toml");
        let mut device = toml::from_str::<DeviceProfile>(text).expect("a profile").device;
        let profile::Device::Hdd(disk) = &mut device else { panic!("a disk") };
        disk.write_cache = None;
        let of = Box::new(Node::Device { profile: "test".into(), device });
        let link = Link { round_trip: Time(10_000), rate: Size(1000) };
        let node = Node::Replica { of, link, acknowledge: Acknowledge::Local };
        let (mut device, mut done) = (crate::stack::placed(&node, &SeedPath::default()).expect("a device"), vec![]);
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
    fn only_what_was_acknowledged_is_behind_and_lost_with_the_near_side() {
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
            assert_eq!(device.take_lost(), (acknowledged, bytes), "what was not is sent once more, and nobody's loss");
            counts.push(acknowledged);
        }
        assert!(counts[0] == 0 && (1..10).contains(&counts[1]) && counts[2] == 10, "{counts:?}");
    }
}
