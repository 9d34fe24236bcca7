//! Array as a device: commands, faults, and what is reported.

use super::parts::{Op, Owner};
use super::rebuild::Stretch;
use super::{Array, Gone};
use crate::device::loss::{Loss, Rebuilt};
use crate::device::{DeviceCompletion, Model, NoDevice};
use crate::stack::member::Member;
use std::cmp::Reverse;
use tameshi_base::{Command, CommandKind, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

impl<D: Member> Model for Array<D> {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        let op = self.ops.insert(Op::new(command, now));
        if self.layout.writes_part_of_row(command, self.members.count()) {
            self.ops.get_mut(op).waits = true;
            self.joining.wait(op, now);
            return;
        }
        self.start(op, now);
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        let timed = self.timed.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at);
        let next = self.members.next_wake().min(timed).min(self.joining.next_wake()).min(self.rebuilds.next_wake());
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
        let owed = if self.link.is_some() { self.rebuilds.owed(&self.members) } else { Vec::new() };
        for member in 0..self.members.count() {
            if let Some(device) = self.members.device_mut(member) {
                loss.add(&device.lose_power(now));
            }
        }
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

    fn is_writing(&self, bytes: u64) -> bool {
        let mut commands = self.ops.iter().map(|(_, op)| &op.command);
        commands.any(|command| command.kind == CommandKind::Write && u64::from(command.length_bytes) == bytes)
    }

    fn fail_over(&mut self, now: Nanos) -> Result<Loss, Reason> {
        if self.gone.is_some() {
            return Err(Reason::new("no_other_side"));
        }
        let waiting: Vec<(u32, Op)> = self.ops.iter().map(|(number, op)| (number, *op)).collect();
        let (lost_writes, lost_bytes) = self.rebuilds.behind(&self.members);
        for (number, op) in &waiting {
            self.members.disown(Owner::Op(*number), Owner::Abandoned, now);
            op.copy.into_iter().for_each(|copy| self.members.pass_on(copy, Owner::Abandoned));
        }
        self.rebuilds.cancel();
        let mut device = self.members.fail(0, &mut Vec::new(), now);
        device.iter_mut().for_each(|device| _ = device.lose_power(now));
        self.gone = Some(Gone { device, link: self.link.take() });
        if let Some(far) = self.members.device_mut(1) {
            far.remove_link(now);
        }
        self.members.look(1);
        self.clear_ops();
        let loss = Loss { outstanding: waiting.len() as u64, lost_writes, lost_bytes, ..Loss::default() };
        self.fail_ops(waiting.into_iter().map(|(_, op)| op).collect(), now);
        Ok(loss)
    }

    fn take_back(&mut self, lacks: &[(u64, u64)], now: Nanos) -> Result<(), Reason> {
        let whole = |gone: &mut Gone<D>| gone.device.is_some() && gone.link.is_some();
        let Some(Gone { device: Some(device), link: Some((link, protocol)) }) = self.gone.take_if(whole) else {
            return Err(Reason::new("no_lost_side"));
        };
        self.members.exchange();
        let far = D::behind_link(&link, protocol, device).expect("this link was made at the beginning");
        self.members.replace(1, far, now);
        self.members.set_filled(1, u64::MAX);
        self.link = Some((link, protocol));
        let stretch = |&(offset_bytes, length_bytes)| Stretch { offset_bytes, length_bytes, is_acknowledged: true };
        self.rebuilds.resync(lacks.iter().map(stretch).collect(), &self.members, &mut Loss::default(), now);
        Ok(())
    }

    fn unsent(&self) -> Option<u64> {
        self.link?;
        self.members.device(1)?.unsent()
    }

    fn change_link(&mut self, is_up: bool, now: Nanos) -> bool {
        let far = self.link.and_then(|_| self.members.device_mut(1));
        let Some(far) = far else { return false };
        let has_link = far.change_link(is_up, now);
        self.members.look(1);
        has_link
    }

    /// The far side of a replica keeps its power when the near side loses it.
    fn volatile_ranges(&self, ranges: &mut Vec<(u64, u64)>) {
        if let Some(near) = self.members.device(0).filter(|_| self.link.is_some()) {
            near.volatile_ranges(ranges);
        }
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
        if self.gone.is_some() && member == 0 {
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
