//! Array of devices: stripes, mirrors, parity, replicas.
//!
//! Writes of less than a row with parity are joined first. A command becomes parts for the members,
//! in one or two stages, and completes with the last part. Its breakdown sums the last part of each
//! stage, so it adds up to the latency. When a member dies, commands that waited for it are planned
//! again with the surviving members; the time lost counts as waiting.
//!
//! **Flush.** It goes to all members at once. As in the kernel's arrays it covers the writes that
//! have completed, and waits for no others; a member may do so by itself.
//!
//! **Replica.** A mirror of two sides, the second across a link. By the asynchronous protocol a
//! write completes when the near side has it. By any protocol a flush waits for the near side
//! alone: the far side has what it acknowledged. After a power cut the array resends writes that
//! the far side had not done.

mod device;
mod joining;
mod layout;
mod members;
mod parts;
mod rebuild;
mod rebuilds;
mod spares;

pub(super) use layout::{Layout, ReadPolicy};
pub(super) use spares::Spares;

use super::member::Member;
use super::slab::Slab;
use crate::device::loss::ERROR_AFTER;
use crate::device::{Breakdown, DeviceCompletion, Model};
use joining::Joining;
use layout::Planned;
use members::Members;
use parts::{ALONE, Op, Owner, Piece};
use rebuilds::Rebuilds;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_spec::profile;
use tameshi_spec::run::{Link, Rebuild};
use tameshi_spec::study::Protocol;

/// Lost side of a replica: its device, unless that was dead, and the link to it.
#[derive(Debug)]
struct Gone<D> {
    device: Option<D>,
    link: Option<(Link, Protocol)>,
}

/// Device made of members.
#[derive(Debug)]
pub struct Array<D> {
    layout: Layout,
    members: Members<D>,
    ops: Slab<Op>,
    /// Writes of less than a row, if there is parity.
    joining: Joining,
    /// Operations that end without a member: time, order, number.
    timed: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    sequence: u64,
    spares: Spares,
    /// Drives of a member.
    drives: u32,
    rebuilds: Rebuilds,
    /// Link in front of each member but the first, and the protocol across it.
    link: Option<(Link, Protocol)>,
    /// Side that is gone with its machine, while the far side serves alone.
    gone: Option<Gone<D>>,
    /// Writes and bytes lost with a dead near side and not yet reported.
    lost: (u64, u64),
    /// Buffers reused by each plan and each advance.
    pieces: Vec<Piece>,
    done: Vec<DeviceCompletion>,
}

impl<D: Member> Array<D> {
    /// Build an array of `devices` whose spares are alike.
    pub(super) fn new(layout: Layout, devices: Vec<D>, spares: Spares, settings: Rebuild) -> Self {
        Self {
            layout,
            members: Members::new(devices, matches!(spares.member().drive().1, profile::Device::Hdd(_))),
            ops: Slab::default(),
            joining: Joining::default(),
            timed: BinaryHeap::new(),
            sequence: 0,
            drives: spares.member().drives(),
            rebuilds: Rebuilds::new(settings, spares.member().capacity().0),
            spares,
            link: None,
            gone: None,
            lost: (0, 0),
            pieces: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Note the link in front of the second member, and the protocol across it.
    pub(super) fn across(mut self, link: Link, protocol: Protocol) -> Self {
        self.link = Some((link, protocol));
        self
    }

    /// Submit the parts of a command's present stage to the members.
    fn start(&mut self, number: u32, now: Nanos) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let near_suffices = self.near_suffices(self.ops.get(number).command.kind);
        let op = self.ops.get_mut(number);
        let (offset_bytes, length_bytes) = op.whole;
        let command = Command { offset_bytes, length_bytes, ..op.command };
        let planned = self.layout.plan(&command, op.stage, &self.members, &mut pieces);
        (op.since, op.more, op.failed) = (now, planned == Planned::More, planned == Planned::Broken);
        if op.stage == 0 && command.kind == CommandKind::Write && matches!(self.layout, Layout::Parity { .. }) {
            self.joining.begin(number, op);
        }
        if op.failed || pieces.is_empty() {
            op.left = 1;
            let at = if op.failed { now + ERROR_AFTER } else { now };
            self.end_at(number, at);
        } else {
            let only_first = near_suffices && pieces[0].member == 0;
            op.left = if only_first { 1 } else { pieces.len() as u32 };
            for (index, piece) in pieces.iter().enumerate() {
                if !only_first || index == 0 {
                    self.members.submit(now, Owner::Op(number), piece, &command);
                } else if command.kind == CommandKind::Flush {
                    self.members.submit(now, Owner::Abandoned, piece, &command);
                } else {
                    let copy = self.members.submit(now, Owner::Unacknowledged(number), piece, &command);
                    self.ops.get_mut(number).copy = Some(copy);
                }
            }
        }
        self.pieces = pieces;
    }

    /// Return whether a replica's command completes when the near side has done it.
    fn near_suffices(&self, kind: CommandKind) -> bool {
        match kind {
            CommandKind::Flush => self.link.is_some(),
            CommandKind::Write | CommandKind::Trim => self.is_asynchronous(),
            CommandKind::Read => false,
        }
    }

    /// End an operation at a time that no member decides.
    fn end_at(&mut self, number: u32, at: Nanos) {
        self.sequence += 1;
        self.timed.push(Reverse((at, self.sequence, number)));
    }

    /// Process one event at `now`.
    fn step(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        if let Some(&Reverse((at, _, number))) = self.timed.peek()
            && at <= now
        {
            self.timed.pop();
            let waited = Breakdown { queue: now - self.ops.get(number).since, ..Breakdown::default() };
            self.piece_done(number, now, waited, completions);
        } else if self.members.next_wake() <= now {
            self.members.advance(&mut self.done);
            if !self.done.is_empty() {
                self.parts_done(completions);
            }
        } else if self.joining.next_wake() <= now {
            self.start_joined(now);
        } else {
            self.rebuilds.start_step(&self.layout, &mut self.members, now);
        }
    }

    /// Start waiting writes, contiguous ones as one.
    fn start_joined(&mut self, now: Nanos) {
        let Some(row_bytes) = self.layout.row_bytes(self.members.count()) else { return };
        let ready = self.joining.join(&mut self.ops, row_bytes);
        ready.iter().for_each(|&number| self.start_waiting(number, now));
        self.joining.reuse(ready);
    }

    fn parts_done(&mut self, completions: &mut Vec<DeviceCompletion>) {
        let mut done = std::mem::take(&mut self.done);
        for part in &done {
            if !self.part_done(part, completions) {
                break; // The dead member's other completions have been planned again.
            }
        }
        done.clear();
        self.done = done;
    }

    /// Process a member's completion. Returns false if it shows that the member has died inside.
    fn part_done(&mut self, done: &DeviceCompletion, completions: &mut Vec<DeviceCompletion>) -> bool {
        let Some((part, breakdown)) = self.members.complete(done) else { return true };
        let bears_none = self.layout.redundancy(self.members.count()) == 0;
        if done.failed && !bears_none {
            self.fail_member(part.member, Some(part.owner), done.at);
            return false;
        }
        match part.owner {
            Owner::Op(number) => {
                self.ops.get_mut(number).failed |= done.failed;
                self.piece_done(number, done.at, breakdown, completions);
            }
            Owner::Rebuild(place) => self.rebuilds.step_done(place, self.drives, &mut self.members, done.at),
            Owner::Unacknowledged(number) => self.ops.get_mut(number).copy = None,
            Owner::Acknowledged | Owner::Abandoned => {}
        }
        true
    }

    /// Count a finished part of a command; the last one ends the stage.
    fn piece_done(&mut self, number: u32, now: Nanos, path: Breakdown, completions: &mut Vec<DeviceCompletion>) {
        let op = self.ops.get_mut(number);
        op.left -= 1;
        if op.left > 0 {
            return;
        }
        op.path.add(&path);
        op.since = now;
        if op.more {
            op.stage += 1;
            self.start(number, now);
            return;
        }
        self.complete_joined(number, now, completions);
    }

    /// Start a command that has waited since its last stage.
    fn start_waiting(&mut self, number: u32, now: Nanos) {
        let op = self.ops.get_mut(number);
        op.path.queue += now - op.since;
        self.start(number, now);
    }

    fn complete(&mut self, number: u32, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let &Op { command, submitted, failed, copy, path, since, .. } = self.ops.get(number);
        if let Some(copy) = copy {
            self.members.pass_on(copy, Owner::Acknowledged);
        }
        let breakdown = Breakdown { queue: path.queue + (now - since), ..path };
        completions.push(DeviceCompletion { command, submitted, at: now, breakdown, failed });
        self.ops.free(number);
    }

    /// Complete a command and those joined with it, which took the same way after their wait.
    fn complete_joined(&mut self, number: u32, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        self.joining.end(number, now);
        let first = *self.ops.get(number);
        let mut number = number;
        while number != ALONE {
            let op = self.ops.get_mut(number);
            let (next, before) = (op.joined, first.path.queue + first.submitted);
            op.path = Breakdown { queue: before - op.submitted, ..first.path };
            (op.since, op.failed) = (first.since, first.failed);
            self.complete(number, now, completions);
            number = next;
        }
    }

    /// Handle the failure of a drive inside a member. If it broke the near side of a replica,
    /// pending resends are lost.
    fn drive_failed(&mut self, member: u32, now: Nanos) {
        self.members.look(member as usize);
        if member == 0 && self.members.device(0).is_some_and(Model::is_broken) {
            self.lose_resync(now);
        }
    }

    /// Give up the resync of a replica whose near side is gone. Parts under way still arrive.
    fn lose_resync(&mut self, now: Nanos) {
        let (writes, bytes) = self.rebuilds.give_up_resync(&mut self.members, now);
        self.lost = (self.lost.0 + writes, self.lost.1 + bytes);
    }

    /// Fail a member; `owner` waited for it. Returns whether it was alive.
    fn fail_member(&mut self, member: u32, owner: Option<Owner>, now: Nanos) -> bool {
        if !self.members.lives(member) {
            return false;
        }
        let mut owners: Vec<Owner> = owner.into_iter().collect();
        if member == 0 {
            self.lose_resync(now);
        }
        _ = self.members.fail(member, &mut owners, now);
        self.rebuilds.member_failed(member, &mut self.members, now);
        if matches!(self.layout, Layout::Parity { .. }) {
            // Data read for a write may not suffice any more.
            owners.extend(self.ops.iter().filter(|(_, op)| op.more).map(|(number, _)| Owner::Op(number)));
        }
        let mut seen = Vec::new();
        for owner in owners {
            if !seen.contains(&owner) {
                seen.push(owner);
                self.plan_again(owner, now);
            }
        }
        true
    }

    /// Plan a command again whose parts were lost with a member.
    fn plan_again(&mut self, owner: Owner, now: Nanos) {
        match owner {
            Owner::Acknowledged | Owner::Abandoned => {}
            Owner::Unacknowledged(number) => self.ops.get_mut(number).copy = None,
            // Too many members are gone to continue.
            Owner::Rebuild(_) => self.rebuilds.stop(&mut self.members, now),
            Owner::Op(number) => {
                self.members.disown(owner, Owner::Abandoned, now);
                let op = self.ops.get_mut(number);
                if let Some(copy) = op.copy.take() {
                    self.members.pass_on(copy, Owner::Abandoned);
                }
                op.path.queue += now - op.since;
                (op.since, op.stage, op.more) = (now, 0, false);
                self.joining.end(number, now);
                self.start(number, now);
            }
        }
    }

    /// Build a new device for a member.
    fn new_member(&mut self, member: u32) -> D {
        let (link, (node, seeds)) = (self.link.filter(|_| member > 0), self.spares.take());
        let device = D::build(&node, &seeds).expect("a drive of this profile was made at the beginning");
        match link {
            Some((link, protocol)) => {
                D::behind_link(&link, protocol, device).expect("this link was made at the beginning")
            }
            None => device,
        }
    }

    /// Complete commands as failed after [`ERROR_AFTER`].
    fn fail_ops(&mut self, waiting: Vec<Op>, now: Nanos) {
        for op in waiting {
            let mut failed = Op { failed: true, more: false, left: 1, copy: None, joined: ALONE, ..op };
            failed.path.queue += now - op.since;
            failed.since = now;
            let number = self.ops.insert(failed);
            self.end_at(number, now + ERROR_AFTER);
        }
    }

    /// Forget all commands under way.
    fn clear_ops(&mut self) {
        self.timed.clear();
        self.joining.clear();
        self.ops.clear();
    }

    fn devices(&self) -> impl Iterator<Item = &D> {
        (0..self.members.count()).filter_map(|member| self.members.device(member))
    }

    /// Return whether the far side of a replica acknowledges no writes.
    fn is_asynchronous(&self) -> bool {
        self.link.is_some_and(|(_, protocol)| protocol == Protocol::Asynchronous)
    }
}

#[cfg(test)]
mod tests;
