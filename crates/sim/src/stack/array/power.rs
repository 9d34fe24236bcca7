//! Power that fails under an array, a near side that is gone, and what the far side lacks afterwards.

use super::{Array, Op};
use crate::device::Device;
use crate::fault::{ERROR_AFTER, Loss};
use crate::stack::members::Owner;
use crate::stack::rebuild::Rebuilding;
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
        let ((writes, bytes), (owed_writes, owed_bytes)) = (self.members.behind(1), self.owed());
        let (lost_writes, lost_bytes) = (writes + owed_writes, bytes + owed_bytes);
        waiting.iter().for_each(|(number, _)| self.members.disown(Owner::Op(*number), now));
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
            let mut failed = Op { epoch, failed: true, more: false, left: 1, ..op };
            failed.path.queue += now - op.since;
            failed.since = now;
            let number = self.ops.insert(failed);
            self.sequence += 1;
            self.timed.push(Reverse((now + ERROR_AFTER, self.sequence, number)));
        }
    }

    /// Where the far side lacks what was acknowledged without it, in the order of its places, as a bitmap has them.
    fn far_lacks(&self) -> Vec<(u64, u64)> {
        if !self.first_suffices || !self.members.holds(1, u64::MAX) {
            return Vec::new();
        }
        let mut owed: Vec<_> =
            self.members.under_way_behind(1).chain(self.resyncing().flat_map(Rebuilding::left)).collect();
        owed.sort_unstable();
        owed
    }

    fn resyncing(&self) -> impl Iterator<Item = &Rebuilding> {
        self.rebuilding.iter().filter(|rebuilding| !rebuilding.is_whole)
    }

    /// Power is back: what the far side lacks is sent once more, if the near side still holds it.
    fn resync(&mut self, owed: Vec<(u64, u64)>, loss: &mut Loss, now: Nanos) {
        if owed.is_empty() {
            return;
        }
        if !self.members.holds(0, u64::MAX) {
            loss.lost_writes += owed.len() as u64;
            loss.lost_bytes += owed.iter().map(|(_, length)| length).sum::<u64>();
            return;
        }
        let activity = self.members.activity;
        self.rebuilding = Some(Rebuilding::new(1, owed, false, self.settings, now, activity));
    }

    /// Writes and their bytes that are still to be sent once more.
    pub(super) fn owed(&self) -> (u64, u64) {
        let left = self.resyncing().flat_map(Rebuilding::left);
        left.fold((0, 0), |(writes, bytes), (_, length)| (writes + 1, bytes + length))
    }

    /// The near side is gone, and with it what was to be sent once more; what is on its way arrives.
    pub(super) fn owed_is_lost(&mut self, now: Nanos) {
        let (writes, bytes) = self.owed();
        if writes == 0 {
            return;
        }
        let sent = self.resyncing().flat_map(|of| of.steps.iter().flatten()).filter(|step| step.writes);
        let (sent, sent_bytes) =
            sent.fold((0, 0), |(writes, bytes), step| (writes + 1, bytes + u64::from(step.length_bytes)));
        self.lost = (self.lost.0 + writes - sent, self.lost.1 + bytes - sent_bytes);
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
