//! Members of an array, and the parts under way at them.

use super::parts::{Owner, Part, Piece};
use super::rebuild::Stretch;
use crate::device::{Breakdown, DeviceCompletion, Model};
use crate::stack::slab::Slab;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Usage, Waits};

/// Bytes of a long command per turn of a die: one page of flash.
const PAGE_BYTES: u64 = 16 << 10;

/// Members of an array.
#[derive(Debug)]
pub(super) struct Members<D> {
    members: Vec<Member<D>>,
    parts: Slab<Part>,
    /// Earliest wake-up, and the member that it is of.
    next: (Nanos, usize),
    /// User commands so far.
    activity: u64,
    /// User commands outstanding at any member.
    busy: u32,
}

/// Member of an array.
#[derive(Debug)]
struct Member<D> {
    /// `None` once it has died.
    device: Option<D>,
    wake: Nanos,
    /// Valid bytes from its start; [`u64::MAX`] unless a rebuild is filling it.
    filled: u64,
    /// User commands outstanding.
    outstanding: u32,
    /// User commands so far that a command waited for.
    waited_for: u64,
    /// End of its last command.
    last_end: u64,
    /// True for a disk with an arm.
    has_arm: bool,
    /// Summed weight of the present commands of users and of rebuilds.
    asked: [u64; 2],
    /// The same, integrated over time up to `present_until`.
    present: [Nanos; 2],
    present_until: Nanos,
    /// Of the rebuild's last command: service time, and latency.
    served: (Nanos, Nanos),
    /// Nanojoules drawn by its predecessors; and nanojoules that the new device would have drawn
    /// before its time.
    drawn_before_nj: u64,
    not_drawn_nj: u64,
}

impl<D: Model> Member<D> {
    /// Return the integrated weight of commands up to `now`.
    #[inline]
    fn present_at(&mut self, now: Nanos) -> [Nanos; 2] {
        let passed = now - self.present_until;
        self.present_until = now;
        self.present[0] += passed * self.asked[0];
        // Rebuild data are programmed after their acknowledgement: on the member being filled a
        // rebuild is always present.
        self.present[1] += passed * self.asked[1].max(u64::from(self.filled < u64::MAX));
        self.present
    }

    /// Return the weight of a command. A disk spends one turn of its arm on any length; flash
    /// spends pages, for which other commands wait on dies, channels and the link.
    #[inline]
    fn weight(&self, bytes: u32) -> u64 {
        if self.has_arm { 1 } else { 1 + u64::from(bytes) / PAGE_BYTES }
    }

    /// Return the part of a command's `wait` for rebuilds. `present` are the integrated weights of
    /// other commands of users and of rebuilds meanwhile.
    ///
    /// It is the rebuilds' share of that weight; for a disk, at least the arm's service time for
    /// them.
    fn for_rebuilds(&self, wait: Nanos, present: [Nanos; 2]) -> Nanos {
        let [users, rebuilds] = present.map(u128::from);
        let (worked, of) = if self.has_arm { self.served } else { (0, 1) };
        let (wait, work) = (u128::from(wait), rebuilds * u128::from(worked) / u128::from(of));
        work.max(wait * rebuilds / (users + rebuilds)).min(wait) as Nanos
    }

    /// Return the nanojoules drawn by the member and its predecessors; `None` without a power
    /// profile.
    fn drawn_nj(&self, now: Nanos) -> Option<u64> {
        let own = self.device.as_ref().map_or(Some(0), |device| device.energy_nj(now))?;
        Some(self.drawn_before_nj + own.saturating_sub(self.not_drawn_nj))
    }
}

impl<D: Model> Members<D> {
    /// Build members, with an arm each or without.
    pub(super) fn new(devices: Vec<D>, has_arm: bool) -> Self {
        let member = |device| Member {
            device: Some(device),
            wake: Nanos::MAX,
            filled: u64::MAX,
            outstanding: 0,
            waited_for: 0,
            last_end: 0,
            has_arm,
            asked: [0; 2],
            present: [0; 2],
            present_until: 0,
            served: (1, 1),
            drawn_before_nj: 0,
            not_drawn_nj: 0,
        };
        let members = devices.into_iter().map(member).collect();
        Self { members, parts: Slab::default(), next: (Nanos::MAX, 0), activity: 0, busy: 0 }
    }

    pub(super) fn count(&self) -> u32 {
        self.members.len() as u32
    }

    /// Return the number of user commands so far.
    pub(super) fn activity(&self) -> u64 {
        self.activity
    }

    /// Return whether user commands are outstanding.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Return whether the member is alive.
    #[inline]
    pub(super) fn lives(&self, member: u32) -> bool {
        self.members[member as usize].device.is_some()
    }

    /// Return whether the member is alive and holds all bytes before `end`.
    #[inline]
    pub(super) fn holds(&self, member: u32, end: u64) -> bool {
        let member = &self.members[member as usize];
        member.device.is_some() && end <= member.filled
    }

    /// Count the members that are dead, not yet filled, or have lost their data.
    pub(super) fn gone(&self) -> u32 {
        let is_gone = |of: &&Member<D>| of.filled < u64::MAX || of.device.as_ref().is_none_or(Model::is_broken);
        self.members.iter().filter(is_gone).count() as u32
    }

    pub(super) fn outstanding(&self, member: u32) -> u32 {
        self.members[member as usize].outstanding
    }

    pub(super) fn last_end(&self, member: u32) -> u64 {
        self.members[member as usize].last_end
    }

    pub(super) fn device_mut(&mut self, member: u32) -> Option<&mut D> {
        self.members[member as usize].device.as_mut()
    }

    pub(super) fn device(&self, member: u32) -> Option<&D> {
        self.members[member as usize].device.as_ref()
    }

    /// Return the nanojoules drawn by all members; `None` unless each states power.
    pub(super) fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.members.iter().map(|member| member.drawn_nj(now)).sum()
    }

    /// Add the usage of all members. With `beside`, commands wait for members after the first only
    /// if they were not acknowledged without them.
    pub(super) fn usage(&self, now: Nanos, beside: bool, usage: &mut Usage) {
        for (member, of) in (0..).zip(&self.members) {
            let Some(device) = &of.device else { continue };
            if beside && member > 0 {
                let now_waits = |part: &Part| part.member == member && matches!(part.owner, Owner::Op(_));
                let is_waited_for = self.parts.iter().any(|(_, part)| now_waits(part));
                let waits = Waits { so_far: of.waited_for, now: is_waited_for };
                usage.aside(waits, |usage| device.usage(now, usage));
            } else {
                device.usage(now, usage);
            }
        }
    }

    /// Set the valid bytes of a member.
    pub(super) fn set_filled(&mut self, member: u32, bytes: u64) {
        self.members[member as usize].filled = bytes;
    }

    /// Return the earliest wake-up of all members.
    #[inline]
    pub(super) fn next_wake(&self) -> Nanos {
        self.next.0
    }

    #[inline]
    pub(super) fn look(&mut self, member: usize) {
        let of = &mut self.members[member];
        of.wake = of.device.as_ref().and_then(Model::next_wake).unwrap_or(Nanos::MAX);
        let wakes = (of.wake, member);
        if wakes <= self.next {
            self.next = wakes;
        } else if member == self.next.1 {
            self.next = self.first_to_wake();
        }
    }

    #[inline]
    fn first_to_wake(&self) -> (Nanos, usize) {
        let mut first = (Nanos::MAX, 0);
        for (place, member) in self.members.iter().enumerate() {
            if member.wake < first.0 {
                first = (member.wake, place);
            }
        }
        first
    }

    /// Submit a part of `of` to its live member; return the part's number.
    pub(super) fn submit(&mut self, now: Nanos, owner: Owner, piece: &Piece, of: &Command) -> u32 {
        let place = piece.member as usize;
        let member = &mut self.members[place];
        let (present_before, asked) = (member.present_at(now), member.weight(piece.length_bytes));
        let written = if piece.kind == CommandKind::Write { piece.length_bytes } else { 0 };
        let &Piece { member: of_member, offset_bytes, .. } = piece;
        let part = Part { owner, member: of_member, present_before, asked, offset_bytes, written };
        let part = self.parts.insert(part);
        if matches!(owner, Owner::Rebuild(_)) {
            member.asked[1] += asked;
        } else {
            member.asked[0] += asked;
            member.outstanding += 1;
            member.waited_for += u64::from(matches!(owner, Owner::Op(_)));
            self.busy += 1;
            self.activity += 1;
        }
        if piece.kind != CommandKind::Flush {
            member.last_end = piece.offset_bytes + u64::from(piece.length_bytes);
        }
        let command = Command {
            id: u64::from(part),
            kind: piece.kind,
            offset_bytes: piece.offset_bytes,
            length_bytes: piece.length_bytes,
            ..*of
        };
        member.device.as_mut().expect("a member that lives").submit(now, &command);
        self.look(place);
        part
    }

    /// Advance the member that wakes first; return its wake-up time.
    pub(super) fn advance(&mut self, done: &mut Vec<DeviceCompletion>) -> Nanos {
        let (now, place) = self.next;
        if let Some(device) = self.members[place].device.as_mut() {
            device.advance(now, done);
        }
        self.look(place);
        now
    }

    /// Complete a part; return it and its breakdown. `None` if it was forgotten at a power cut.
    ///
    /// Time that the member spent on rebuilds meanwhile moves from queueing to rebuild, up to all
    /// of the queueing.
    pub(super) fn complete(&mut self, done: &DeviceCompletion) -> Option<(Part, Breakdown)> {
        let part = self.parts.take(done.command.id as u32)?;
        let member = &mut self.members[part.member as usize];
        let mut breakdown = done.breakdown;
        let [users, rebuilds] = member.present_at(done.at);
        let stay = done.at - done.submitted;
        if matches!(part.owner, Owner::Rebuild(_)) {
            member.asked[1] -= part.asked;
            member.served = (stay - breakdown.queue, stay.max(1));
            return Some((part, breakdown));
        }
        member.asked[0] -= part.asked;
        member.outstanding -= 1;
        self.busy -= 1;
        let rebuilds = rebuilds - part.present_before[1];
        // Parts of a cancelled rebuild need no breakdown: they were not a user's throughout.
        if rebuilds > 0 && matches!(part.owner, Owner::Op(_)) {
            let users = users - part.present_before[0] - part.asked * stay;
            let waited = member.for_rebuilds(breakdown.queue, [users, rebuilds]);
            breakdown.queue -= waited;
            breakdown.rebuild += waited;
        }
        Some((part, breakdown))
    }

    /// Fail a member; append the owners of its parts. Returns its device.
    pub(super) fn fail(&mut self, member: u32, owners: &mut Vec<Owner>, now: Nanos) -> Option<D> {
        let lost: Vec<u32> =
            self.parts.iter().filter(|(_, part)| part.member == member).map(|(number, _)| number).collect();
        for number in lost {
            let owner = self.parts.remove(number).owner;
            self.busy -= u32::from(!matches!(owner, Owner::Rebuild(_)));
            owners.push(owner);
        }
        let dead = &mut self.members[member as usize];
        (dead.drawn_before_nj, dead.not_drawn_nj) = (dead.drawn_nj(now).unwrap_or(0), 0);
        let device = dead.device.take();
        (dead.outstanding, dead.asked) = (0, [0; 2]);
        self.look(member as usize);
        device
    }

    /// Exchange the first two members, with their parts.
    pub(super) fn exchange(&mut self) {
        self.members.swap(0, 1);
        let numbers: Vec<u32> = self.parts.iter().map(|(number, _)| number).collect();
        for number in numbers {
            let part = self.parts.get_mut(number);
            part.member = match part.member {
                0 => 1,
                1 => 0,
                other => other,
            };
        }
        self.next = self.first_to_wake();
    }

    /// Put a new device in a member's place; none of its bytes are valid.
    pub(super) fn replace(&mut self, member: u32, device: D, now: Nanos) {
        let place = member as usize;
        self.members[place].not_drawn_nj = device.energy_nj(now).unwrap_or(0);
        (self.members[place].device, self.members[place].filled) = (Some(device), 0);
        self.members[place].last_end = 0;
        self.look(place);
    }

    /// Writes under way at a member that complete without it: their stretches, and whether they
    /// were acknowledged.
    pub(super) fn copies(&self, member: u32) -> impl Iterator<Item = Stretch> {
        let written = self.parts.iter().filter(move |(_, part)| part.member == member && part.written > 0);
        written.filter_map(|(_, part)| {
            let is_acknowledged = match part.owner {
                Owner::Acknowledged => true,
                Owner::Unacknowledged(_) => false,
                Owner::Op(_) | Owner::Rebuild(_) | Owner::Abandoned => return None,
            };
            Some(Stretch { offset_bytes: part.offset_bytes, length_bytes: u64::from(part.written), is_acknowledged })
        })
    }

    /// Change the owner of a part.
    pub(super) fn pass_on(&mut self, part: u32, owner: Owner) {
        self.parts.get_mut(part).owner = owner;
    }

    /// Pass the parts of an owner to `heir`, who does not wait for them.
    pub(super) fn disown(&mut self, owner: Owner, heir: Owner, now: Nanos) {
        let of: Vec<u32> =
            self.parts.iter().filter(|(_, part)| part.owner == owner).map(|(number, _)| number).collect();
        for number in of {
            let part = self.parts.get_mut(number);
            if matches!(owner, Owner::Rebuild(_)) {
                let member = &mut self.members[part.member as usize];
                member.present_at(now);
                member.outstanding += 1;
                member.asked = [member.asked[0] + part.asked, member.asked[1] - part.asked];
                self.busy += 1;
            }
            part.owner = heir;
        }
    }

    /// Forget all parts.
    pub(super) fn forget(&mut self) {
        self.parts.clear();
        self.busy = 0;
        for place in 0..self.members.len() {
            (self.members[place].outstanding, self.members[place].asked) = (0, [0; 2]);
            self.look(place);
        }
    }
}
