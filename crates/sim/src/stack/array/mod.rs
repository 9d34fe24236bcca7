//! Array of devices: stripes, mirrors, parity, replicas.
//!
//! A command becomes parts for the members, in one or two stages, and completes with the last part.
//! Its breakdown sums the last part of each stage, so it adds up to the latency. When a member
//! dies, commands that waited for it are planned again with the surviving members; the time lost
//! counts as waiting.
//!
//! **Replica.** A mirror of two sides, the second across a link. With local acknowledgement a write
//! completes when the near side has it. After a power cut the array resends writes that were under
//! way to the far side.

mod layout;
mod members;
mod parts;
mod rebuild;
mod rebuilds;
mod spares;

pub(super) use layout::{Layout, ReadPolicy};
pub(super) use spares::Spares;

use super::member::Member;
use super::order::{Next, ORDERED, Order};
use super::slab::Slab;
use crate::device::loss::{ERROR_AFTER, Loss, Rebuilt};
use crate::device::{Breakdown, DeviceCompletion, Model, NoDevice};
use layout::Planned;
use members::Members;
use parts::{Op, Owner, Piece};
use rebuilds::Rebuilds;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tameshi_base::{Command, CommandKind, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::profile;
use tameshi_spec::run::{Function, Link, Rebuild};
use tameshi_workload::Priority;

/// Device made of members.
#[derive(Debug)]
pub struct Array<D> {
    layout: Layout,
    members: Members<D>,
    ops: Slab<Op>,
    order: Order,
    /// Operations that end without a member: time, order, number.
    timed: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    sequence: u64,
    spares: Spares,
    /// Drives of a member.
    drives: u32,
    rebuilds: Rebuilds,
    /// True if a write completes when the first member has it.
    first_suffices: bool,
    /// Link in front of each member but the first.
    link: Option<Link>,
    /// True if the far side serves alone because the near side's machine is gone.
    alone: bool,
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
            order: Order::default(),
            timed: BinaryHeap::new(),
            sequence: 0,
            drives: spares.member().drives(),
            rebuilds: Rebuilds::new(settings, spares.member().capacity().0),
            spares,
            first_suffices: false,
            link: None,
            alone: false,
            lost: (0, 0),
            pieces: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Note the link in front of the second member, and whether a write completes when the first
    /// member has it.
    pub(super) fn across(mut self, link: Link, first_suffices: bool) -> Self {
        (self.link, self.first_suffices) = (Some(link), first_suffices);
        self
    }

    /// Submit the parts of a command's present stage to the members.
    fn start(&mut self, number: u32, now: Nanos) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let op = self.ops.get_mut(number);
        let planned = self.layout.plan(&op.command, op.stage, &self.members, &mut pieces);
        (op.since, op.more, op.failed) = (now, planned == Planned::More, planned == Planned::Broken);
        let write = matches!(op.command.kind, CommandKind::Write | CommandKind::Trim);
        if op.failed || pieces.is_empty() {
            op.left = 1;
            let at = if op.failed { now + ERROR_AFTER } else { now };
            self.end_at(number, at);
        } else {
            let only_first = self.first_suffices && write && pieces[0].member == 0;
            op.left = if only_first { 1 } else { pieces.len() as u32 };
            let command = op.command;
            for (index, piece) in pieces.iter().enumerate() {
                if only_first && index > 0 {
                    let copy = self.members.submit(now, Owner::Unacknowledged(number), piece, &command);
                    self.ops.get_mut(number).copy = Some(copy);
                } else {
                    self.members.submit(now, Owner::Op(number), piece, &command);
                }
            }
        }
        self.pieces = pieces;
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
        } else {
            self.rebuilds.start_step(&self.layout, &mut self.members, now);
        }
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
        if op.epoch == ORDERED {
            self.order.members_done(number);
        } else {
            let epoch = op.epoch;
            self.complete(number, now, completions);
            self.order.leave(epoch);
        }
        self.advance_flushes(now, completions);
    }

    fn advance_flushes(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        while let Some(next) = self.order.next() {
            match next {
                Next::Send(number) => self.start_waiting(number, now),
                Next::Complete(number) => self.complete(number, now, completions),
            }
        }
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
        self.members.fail(member, &mut owners, now);
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
                if op.epoch == ORDERED {
                    self.order.resend(number);
                    // Sent again at once if no command precedes it; else by the last command before
                    // it.
                    if let Some(Next::Send(front)) = self.order.next() {
                        self.start_waiting(front, now);
                    }
                } else {
                    self.start(number, now);
                }
            }
        }
    }

    /// Build a new device for a member.
    fn new_member(&mut self, member: u32) -> D {
        let (link, (node, seeds)) = (self.link.filter(|_| member > 0), self.spares.take());
        let device = D::build(&node, &seeds).expect("a drive of this profile was made at the beginning");
        match link {
            Some(link) => D::behind_link(&link, device).expect("this link was made at the beginning"),
            None => device,
        }
    }

    /// Complete commands as failed after [`ERROR_AFTER`].
    fn fail_ops(&mut self, waiting: Vec<Op>, now: Nanos) {
        for op in waiting {
            // Flushes need no place in the order any more: all commands before them fail with them.
            let epoch = self.order.enter(op.command.kind);
            let mut failed = Op { epoch, failed: true, more: false, left: 1, copy: None, ..op };
            failed.path.queue += now - op.since;
            failed.since = now;
            let number = self.ops.insert(failed);
            self.end_at(number, now + ERROR_AFTER);
        }
    }

    /// Forget all commands under way.
    fn clear_ops(&mut self) {
        self.order.clear();
        self.timed.clear();
        self.ops.clear();
    }

    fn devices(&self) -> impl Iterator<Item = &D> {
        (0..self.members.count()).filter_map(|member| self.members.device(member))
    }

    /// Return whether the far side of a replica acknowledges no writes.
    fn is_asynchronous(&self) -> bool {
        self.link.is_some() && self.first_suffices
    }
}

impl<D: Member> Model for Array<D> {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        let flush = command.kind == CommandKind::Flush;
        let epoch = if flush { ORDERED } else { self.order.enter(command.kind) };
        let op = self.ops.insert(Op::new(command, epoch, now));
        if flush {
            // Writes with a second stage to plan must reach the members before the flush does.
            let staged = matches!(self.layout, Layout::Parity { .. }) && self.ops.iter().any(|(_, op)| op.more);
            self.order.flush(op, !staged);
            if staged {
                return;
            }
        }
        self.start(op, now);
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        let timed = self.timed.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at);
        let next = self.members.next_wake().min(timed).min(self.rebuilds.next_wake());
        (next < Nanos::MAX).then_some(next)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            self.step(at, completions);
        }
    }

    fn lose_power(&mut self, now: Nanos) -> Loss {
        let mut loss = Loss::default();
        for member in 0..self.members.count() {
            if let Some(device) = self.members.device_mut(member) {
                loss.add(&device.lose_power(now));
            }
        }
        let owed = if self.first_suffices { self.rebuilds.owed(&self.members) } else { Vec::new() };
        self.members.forget();
        self.clear_ops();
        self.rebuilds.restart(&mut self.members, now);
        self.rebuilds.resync(owed, &self.members, &mut loss, now);
        loss
    }

    fn cut_power(&mut self, now: Nanos) -> Loss {
        let waiting: Vec<Op> = self.ops.iter().map(|(_, op)| *op).collect();
        let mut loss = self.lose_power(now);
        loss.outstanding = waiting.len() as u64;
        self.fail_ops(waiting, now);
        loss
    }

    fn fail_over(&mut self, now: Nanos) -> Result<Loss, Reason> {
        if self.alone {
            return Err(Reason::new("no_other_side"));
        }
        let waiting: Vec<(u32, Op)> = self.ops.iter().map(|(number, op)| (number, *op)).collect();
        let (lost_writes, lost_bytes) = self.rebuilds.behind(&self.members);
        for (number, op) in &waiting {
            self.members.disown(Owner::Op(*number), Owner::Abandoned, now);
            op.copy.into_iter().for_each(|copy| self.members.pass_on(copy, Owner::Abandoned));
        }
        self.rebuilds.cancel();
        self.members.fail(0, &mut Vec::new(), now);
        if let Some(far) = self.members.device_mut(1) {
            far.remove_link(now);
        }
        self.members.look(1);
        (self.link, self.alone) = (None, true);
        self.clear_ops();
        let loss = Loss { outstanding: waiting.len() as u64, lost_writes, lost_bytes, ..Loss::default() };
        self.fail_ops(waiting.into_iter().map(|(_, op)| op).collect(), now);
        Ok(loss)
    }

    fn prefetch(&self, command: &Command) {
        let (member, offset_bytes) = self.layout.place(command.offset_bytes, self.members.count());
        if let Some(device) = self.members.device(member) {
            device.prefetch(&Command { offset_bytes, ..*command });
        }
    }

    fn is_composite(&self) -> bool {
        true
    }

    fn is_broken(&self) -> bool {
        self.layout.is_broken(&self.members)
    }

    fn fail(&mut self, drive: Option<u32>, now: Nanos) -> bool {
        let Some(drive) = drive else {
            return (0..self.members.count()).filter(|&member| self.fail_member(member, None, now)).count() > 0;
        };
        let member = drive / self.drives;
        let Some(device) = self.members.device_mut(member).filter(|device| device.is_composite()) else {
            return self.fail_member(member, None, now);
        };
        let lived = device.fail(Some(drive % self.drives), now);
        self.drive_failed(member, now);
        lived
    }

    fn fail_channel(&mut self, drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason> {
        let member = drive / self.drives;
        let Some(device) = self.members.device_mut(member) else {
            return Err(Reason::new("member_dead").with("member", drive));
        };
        let whole = !device.is_composite();
        let lives = device.fail_channel(drive % self.drives, channel, now)?;
        self.drive_failed(member, now);
        if whole && !lives {
            self.fail_member(member, None, now);
        }
        Ok(lives)
    }

    fn replace(&mut self, drive: u32, now: Nanos) -> Result<(), Reason> {
        let member = drive / self.drives;
        if self.alone && member == 0 {
            return Err(Reason::new("member_gone").with("member", drive));
        }
        match self.members.device_mut(member) {
            // Its data are lost, and no command has found out yet.
            Some(device) if device.is_composite() && device.is_broken() => _ = self.fail_member(member, None, now),
            Some(device) if device.is_composite() => {
                let replaced = device.replace(drive % self.drives, now);
                self.members.look(member as usize);
                return replaced;
            }
            Some(_) => return Err(Reason::new("member_alive").with("member", drive)),
            None => {}
        }
        if self.is_broken() {
            return Err(Reason::new("data_lost").with("member", drive));
        }
        let device = self.new_member(member);
        self.members.replace(member, device, now);
        self.rebuilds.request(member, &mut self.members, now);
        Ok(())
    }

    fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.rebuilds.take_finished().or_else(|| {
            (0..self.members.count()).find_map(|member| {
                let rebuilt = self.members.device_mut(member)?.take_rebuilt()?;
                Some(Rebuilt { drive: member * self.drives + rebuilt.drive, ..rebuilt })
            })
        })
    }

    fn rebuilt_bytes(&self) -> u64 {
        self.rebuilds.written_bytes() + self.devices().map(Model::rebuilt_bytes).sum::<u64>()
    }

    fn behind_bytes(&self) -> Option<u64> {
        if self.is_asynchronous() {
            return Some(self.rebuilds.behind(&self.members).1);
        }
        self.devices().filter_map(Model::behind_bytes).reduce(|all, more| all + more)
    }

    fn take_lost(&mut self) -> (u64, u64) {
        let mut lost = std::mem::take(&mut self.lost);
        for member in 0..self.members.count() {
            let of = self.members.device_mut(member).map_or((0, 0), Model::take_lost);
            lost = (lost.0 + of.0, lost.1 + of.1);
        }
        lost
    }

    /// Set the weight of a function of a shared drive, which is the only member.
    fn grant(&mut self, function: &Function) {
        if let Some(device) = self.members.device_mut(0) {
            device.grant(function);
        }
    }

    /// Set the priorities of streams in a shared drive, which is the only member.
    fn prioritize(&mut self, priorities: &[Priority]) {
        if let Some(device) = self.members.device_mut(0) {
            device.prioritize(priorities);
        }
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        self.members.usage(now, self.is_asynchronous(), usage);
    }

    /// Dead members count with the energy that they drew.
    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.members.energy_nj(now)
    }

    /// Dead members have no temperature.
    fn heat(&self, now: Nanos) -> Option<Heat> {
        let devices = self.devices().filter_map(|device| device.heat(now));
        devices.reduce(|mut all, heat| {
            all.add(&heat);
            all
        })
    }

    fn add_wear(&self, wear: &mut Wear) {
        self.devices().for_each(|device| device.add_wear(wear));
    }
}

#[cfg(test)]
mod tests;
