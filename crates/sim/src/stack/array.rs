//! Arrays: a command becomes pieces for the members, in one stage or in two, and completes with the last of them.
//!
//! Its breakdown is that of the piece which came last in each stage, so that it still adds up. When a member dies, what
//! waited for it is planned anew with the members that are left; time lost by that counts as waiting.

mod power;

use super::layout::Planned;
use super::nodes::{Array, Layout, Linked, Members};
use super::order::{Next, ORDERED, Order};
use super::pieces::{Op, Owner, Piece};
use super::rebuild::{Rebuilding, Spares, Step, Stretch};
use super::slab::Slab;
use crate::device::{Breakdown, Device, DeviceCompletion};
use crate::faults::loss::{ERROR_AFTER, Rebuilt};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, CommandKind, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::profile;
use tameshi_spec::run::{Function, Link, Rebuild};
use tameshi_workload::Priority;

impl Array {
    /// An array of `devices`, each of which is what its spares are.
    pub(super) fn new(layout: Layout, devices: Vec<Device>, spares: Spares, settings: Rebuild) -> Self {
        Self {
            layout,
            members: Members::new(devices, matches!(spares.member.drive().1, profile::Device::Hdd(_))),
            ops: Slab::default(),
            order: Order::default(),
            timed: BinaryHeap::new(),
            sequence: 0,
            member_bytes: spares.member.capacity().0,
            drives: spares.member.drives(),
            spares,
            settings,
            first_suffices: false,
            link: None,
            alone: false,
            rebuilding: None,
            waiting: VecDeque::new(),
            rebuilt: None,
            lost: (0, 0),
            rebuilt_bytes: 0,
            pieces: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The same with its second member across a link; whether a write counts as done when the first member has it.
    pub(super) fn across(mut self, link: Link, first_suffices: bool) -> Self {
        (self.link, self.first_suffices) = (Some(link), first_suffices);
        self
    }

    pub(crate) fn submit(&mut self, now: Nanos, command: &Command) {
        let flush = command.kind == CommandKind::Flush;
        let epoch = if flush { ORDERED } else { self.order.enter(command.kind) };
        let path = Breakdown::default();
        let op = Op {
            command: *command,
            submitted: now,
            epoch,
            stage: 0,
            more: false,
            failed: false,
            left: 0,
            copy: None,
            path,
            since: now,
        };
        let op = self.ops.insert(op);
        if flush {
            // Writes that are still to be planned must have reached the members before these are told.
            let staged = matches!(self.layout, Layout::Parity { .. }) && self.ops.iter().any(|(_, op)| op.more);
            self.order.flush(op, !staged);
            if staged {
                return;
            }
        }
        self.start(op, now);
    }

    /// A command will come.
    pub(crate) fn expect(&self, command: &Command) {
        let (member, offset_bytes) = self.layout.place(command.offset_bytes, self.members.count());
        if let Some(device) = self.members.device(member) {
            device.expect(&Command { offset_bytes, ..*command });
        }
    }

    /// Gives the members what the present stage of a command asks of them.
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
            self.sequence += 1;
            self.timed.push(Reverse((at, self.sequence, number)));
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

    #[inline]
    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        let timed = self.timed.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at);
        let rebuild = self.rebuilding.as_ref().map_or(Nanos::MAX, Rebuilding::next_wake);
        let next = self.members.next_wake().min(timed).min(rebuild);
        (next < Nanos::MAX).then_some(next)
    }

    pub(crate) fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            self.step(at, completions);
        }
    }

    /// One thing that happens at `now`.
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
            self.rebuild_on(now);
        }
    }

    fn parts_done(&mut self, completions: &mut Vec<DeviceCompletion>) {
        let mut done = std::mem::take(&mut self.done);
        for part in &done {
            if !self.part_done(part, completions) {
                break; // What else its member brought has been planned anew.
            }
        }
        done.clear();
        self.done = done;
    }

    /// Takes what a member has completed; false when it shows that the member has died inside.
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
            Owner::Rebuild(place) => self.step_done(place, done.at),
            Owner::Unacknowledged(number) => self.ops.get_mut(number).copy = None,
            Owner::Acknowledged | Owner::Nobody => {}
        }
        true
    }

    /// A piece of a command is done; with the last one the stage ends.
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
            self.order.done(number);
        } else {
            let epoch = op.epoch;
            self.complete(number, now, completions);
            self.order.leave(epoch);
        }
        self.flushes(now, completions);
    }

    fn flushes(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        while let Some(next) = self.order.next() {
            match next {
                Next::Tell(number) => {
                    let op = self.ops.get_mut(number);
                    op.path.queue += now - op.since;
                    self.start(number, now);
                }
                Next::Complete(number) => self.complete(number, now, completions),
            }
        }
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
}

/// Members that die and are replaced.
impl Array {
    /// A drive dies, or with `None` everything does; whether it was alive.
    pub(crate) fn fail(&mut self, drive: Option<u32>, now: Nanos) -> bool {
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

    /// A channel of a drive dies; whether the drive lives on.
    ///
    /// # Errors
    /// The drive or the channel is dead already.
    pub(crate) fn fail_channel(&mut self, drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason> {
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

    /// Some of a member has died, and with it perhaps all that the near side of a replica was to send once more.
    fn drive_failed(&mut self, member: u32, now: Nanos) {
        self.members.look(member as usize);
        if member == 0 && self.members.device(0).is_some_and(Device::is_broken) {
            self.owed_is_lost(now);
        }
    }

    /// A member dies, and with it what `owner` waited for; whether it was alive.
    fn fail_member(&mut self, member: u32, owner: Option<Owner>, now: Nanos) -> bool {
        if !self.members.lives(member) {
            return false;
        }
        let mut owners: Vec<Owner> = owner.into_iter().collect();
        if member == 0 {
            self.owed_is_lost(now);
        }
        self.members.fail(member, &mut owners, now);
        if self.rebuilding.as_ref().is_some_and(|rebuilding| rebuilding.member == member) {
            self.end_rebuild(now);
        }
        self.waiting.retain(|&waiting| waiting != member);
        if matches!(self.layout, Layout::Parity { .. }) {
            // What was read for a write may not be enough any more.
            owners.extend(self.ops.iter().filter(|(_, op)| op.more).map(|(number, _)| Owner::Op(number)));
        }
        let mut seen = Vec::new();
        for owner in owners {
            if !seen.contains(&owner) {
                seen.push(owner);
                self.plan_anew(owner, now);
            }
        }
        true
    }

    /// What a command waits for is not to be had: it is planned anew.
    fn plan_anew(&mut self, owner: Owner, now: Nanos) {
        match owner {
            Owner::Acknowledged | Owner::Nobody => {}
            Owner::Unacknowledged(number) => self.ops.get_mut(number).copy = None,
            Owner::Rebuild(_) => {
                // Too much is gone to go on.
                if self.rebuilding.is_some() {
                    self.end_rebuild(now);
                }
            }
            Owner::Op(number) => {
                self.members.disown(owner, Owner::Nobody, now);
                let op = self.ops.get_mut(number);
                if let Some(copy) = op.copy.take() {
                    self.members.pass_on(copy, Owner::Nobody);
                }
                op.path.queue += now - op.since;
                (op.since, op.stage, op.more) = (now, 0, false);
                if op.epoch == ORDERED {
                    self.order.untold(number);
                    // Told again at once if nothing is before it; else by the last command before it.
                    if let Some(Next::Tell(front)) = self.order.next() {
                        let op = self.ops.get_mut(front);
                        op.path.queue += now - op.since;
                        self.start(front, now);
                    }
                } else {
                    self.start(number, now);
                }
            }
        }
    }

    /// A new drive takes a dead one's place.
    ///
    /// # Errors
    /// Nothing died there, or nothing holds its data.
    pub(crate) fn replace(&mut self, drive: u32, now: Nanos) -> Result<(), Reason> {
        let member = drive / self.drives;
        if self.alone && member == 0 {
            return Err(Reason::new("member_gone").with("member", drive));
        }
        match self.members.device_mut(member) {
            // It has lost its data, and no command has found out yet.
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
        let (link, new) = (self.link.filter(|_| member > 0), self.spares.take());
        let new = super::placed(&new.0, &new.1).expect("a drive of this profile was made at the beginning");
        let device = match link {
            Some(link) => Linked::over(&link, new).expect("this link was made at the beginning"),
            None => new,
        };
        self.members.replace(member, device, now);
        self.waiting.push_back(member);
        if self.rebuilding.is_none() {
            self.begin_rebuild(now);
        }
        Ok(())
    }

    fn begin_rebuild(&mut self, now: Nanos) {
        let Some(member) = self.waiting.pop_front() else { return };
        self.members.set_filled(member, 0);
        let activity = self.members.activity;
        let whole = vec![Stretch { offset_bytes: 0, length_bytes: self.member_bytes, is_acknowledged: true }];
        self.rebuilding = Some(Rebuilding::new(member, whole, true, self.settings, now, activity));
    }

    /// The rebuild is given up or over: the next one begins.
    fn end_rebuild(&mut self, now: Nanos) {
        if let Some(rebuilding) = self.rebuilding.take() {
            for (place, step) in (0..).zip(&rebuilding.steps) {
                // What is sent once more, and is on its way, was acknowledged without the far side.
                let is_copy = !rebuilding.is_whole && step.is_some_and(|step| step.is_acknowledged);
                let heir = if is_copy { Owner::Acknowledged } else { Owner::Nobody };
                self.members.disown(Owner::Rebuild(place), heir, now);
            }
        }
        self.begin_rebuild(now);
    }

    /// The rebuild starts a step if it may.
    fn rebuild_on(&mut self, now: Nanos) {
        let (activity, busy) = (self.members.activity, self.members.busy > 0);
        let Some(rebuilding) = self.rebuilding.as_mut() else { return };
        let Some((place, step)) = rebuilding.start(now, activity, busy) else { return };
        let member = rebuilding.member;
        let end = step.offset_bytes + u64::from(step.length_bytes);
        let others = (0..self.members.count()).filter(|&other| other != member && self.members.holds(other, end));
        let mirror = matches!(self.layout, Layout::Mirror { .. });
        let sources: Vec<u32> = if mirror { others.take(1).collect() } else { others.collect() };
        if sources.len() < if mirror { 1 } else { self.members.count() as usize - 1 } {
            self.end_rebuild(now);
            return;
        }
        self.step_to(place, step, CommandKind::Read, &sources, now);
    }

    fn step_to(&mut self, place: u8, step: Step, kind: CommandKind, members: &[u32], now: Nanos) {
        let Step { offset_bytes, length_bytes, .. } = step;
        let of = Command { id: 0, kind, offset_bytes, length_bytes, fua: false, stream: Command::OF_STORAGE };
        if let Some(rebuilding) = &mut self.rebuilding {
            let writes = kind == CommandKind::Write;
            rebuilding.steps[usize::from(place)] = Some(Step { left: members.len() as u32, writes, ..step });
        }
        for &member in members {
            self.members.submit(now, Owner::Rebuild(place), &Piece { member, kind, offset_bytes, length_bytes }, &of);
        }
    }

    /// A piece of a step is done: what was read is written, what was written is filled.
    fn step_done(&mut self, place: u8, now: Nanos) {
        let Some(rebuilding) = self.rebuilding.as_mut() else { return };
        let member = rebuilding.member;
        let Some(step) = rebuilding.steps[usize::from(place)].as_mut() else { return };
        step.left -= 1;
        if step.left > 0 {
            return;
        }
        let step = *step;
        if !step.writes {
            self.step_to(place, step, CommandKind::Write, &[member], now);
            return;
        }
        let filled = rebuilding.finish(place, now);
        let (since, is_whole, bytes) = (rebuilding.since, rebuilding.is_whole, rebuilding.copied);
        self.rebuilt_bytes += u64::from(step.length_bytes);
        if is_whole {
            self.members.set_filled(member, filled);
        }
        if filled == u64::MAX {
            let drive = member * self.drives;
            self.rebuilt = Some(Rebuilt { at: now, since, drive, channel: None, is_resync: !is_whole, bytes });
            self.end_rebuild(now);
        }
    }

    /// A rebuild that has ended, once.
    pub(crate) fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.rebuilt.take().or_else(|| {
            (0..self.members.count()).find_map(|member| {
                let rebuilt = self.members.device_mut(member)?.take_rebuilt()?;
                Some(Rebuilt { drive: member * self.drives + rebuilt.drive, ..rebuilt })
            })
        })
    }

    /// Bytes that its own rebuilds and those of its members have written.
    pub(crate) fn rebuilt_bytes(&self) -> u64 {
        let members = (0..self.members.count()).filter_map(|member| self.members.device(member));
        self.rebuilt_bytes + members.map(Device::rebuilt_bytes).sum::<u64>()
    }

    /// Whether more is gone than the array bears.
    pub(crate) fn is_broken(&self) -> bool {
        self.layout.is_broken(&self.members)
    }

    /// A function of a shared drive, which is the only member, gets its weight.
    pub(crate) fn grant(&mut self, function: &Function) {
        if let Some(device) = self.members.device_mut(0) {
            device.grant(function);
        }
    }

    /// Streams have these priorities in the queues of a shared drive, which is the only member.
    pub(crate) fn prioritize(&mut self, priorities: &[Priority]) {
        if let Some(device) = self.members.device_mut(0) {
            device.prioritize(priorities);
        }
    }

    /// What the members use.
    pub(crate) fn usage(&self, now: Nanos, usage: &mut Usage) {
        self.members.usage(now, self.link.is_some() && self.first_suffices, usage);
    }

    /// Nanojoules that the members, those included that have died, have drawn from time zero to `now`.
    pub(crate) fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.members.energy_nj(now)
    }

    /// Bytes that the far side lacks of what was acknowledged without it; `None` where nothing is.
    pub(crate) fn behind_bytes(&self) -> Option<u64> {
        if self.link.is_some() && self.first_suffices {
            return Some(self.behind().1);
        }
        let devices = (0..self.members.count()).filter_map(|member| self.members.device(member)?.behind_bytes());
        devices.reduce(|all, more| all + more)
    }

    /// How warm the members are; those that have died are not.
    pub(crate) fn heat(&self, now: Nanos) -> Option<Heat> {
        let devices = (0..self.members.count()).filter_map(|member| self.members.device(member)?.heat(now));
        devices.reduce(|mut all, heat| {
            all.add(&heat);
            all
        })
    }

    /// What the members' flash has gone through.
    pub(crate) fn add_wear(&self, wear: &mut Wear) {
        let devices = (0..self.members.count()).filter_map(|member| self.members.device(member));
        devices.for_each(|device| device.add_wear(wear));
    }
}
