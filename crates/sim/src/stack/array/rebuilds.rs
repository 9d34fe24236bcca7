//! Rebuilds of an array, one at a time: new members, and replicas that lack writes after a power
//! cut.

use super::layout::Layout;
use super::members::Members;
use super::parts::{Owner, Piece};
use super::rebuild::{Rebuilding, Step, Stretch};
use crate::device::Model;
use crate::device::loss::{Loss, Rebuilt};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_spec::run::Rebuild;

/// The rebuild under way, and those that wait.
#[derive(Debug)]
pub(super) struct Rebuilds {
    settings: Rebuild,
    member_bytes: u64,
    current: Option<Rebuilding>,
    /// Replaced members whose rebuild has not begun.
    waiting: VecDeque<u32>,
    finished: Option<Rebuilt>,
    written_bytes: u64,
}

impl Rebuilds {
    pub(super) fn new(settings: Rebuild, member_bytes: u64) -> Self {
        let waiting = VecDeque::new();
        Self { settings, member_bytes, current: None, waiting, finished: None, written_bytes: 0 }
    }

    /// Return when the rebuild wants to start a step; [`Nanos::MAX`] for never.
    #[inline]
    pub(super) fn next_wake(&self) -> Nanos {
        self.current.as_ref().map_or(Nanos::MAX, Rebuilding::next_wake)
    }

    /// Queue the rebuild of a new member; begin it if no other is under way.
    pub(super) fn request<D: Model>(&mut self, member: u32, members: &mut Members<D>, now: Nanos) {
        self.waiting.push_back(member);
        if self.current.is_none() {
            self.begin(members, now);
        }
    }

    fn begin<D: Model>(&mut self, members: &mut Members<D>, now: Nanos) {
        let Some(member) = self.waiting.pop_front() else { return };
        members.set_filled(member, 0);
        let whole = vec![Stretch { offset_bytes: 0, length_bytes: self.member_bytes, is_acknowledged: true }];
        self.current = Some(Rebuilding::new(member, whole, true, self.settings, now, members.activity()));
    }

    /// End the rebuild under way, finished or not, and begin the next one.
    pub(super) fn stop<D: Model>(&mut self, members: &mut Members<D>, now: Nanos) {
        let Some(rebuilding) = self.current.take() else { return };
        for (place, step) in (0..).zip(&rebuilding.steps) {
            // A resent write under way was acknowledged without the far side.
            let is_copy = !rebuilding.is_whole && step.is_some_and(|step| step.is_acknowledged);
            let heir = if is_copy { Owner::Acknowledged } else { Owner::Abandoned };
            members.disown(Owner::Rebuild(place), heir, now);
        }
        self.begin(members, now);
    }

    /// Stop rebuilding a member that has failed.
    pub(super) fn member_failed<D: Model>(&mut self, member: u32, members: &mut Members<D>, now: Nanos) {
        if self.current.as_ref().is_some_and(|rebuilding| rebuilding.member == member) {
            self.stop(members, now);
        }
        self.waiting.retain(|&waiting| waiting != member);
    }

    /// Cancel the rebuild under way without a successor.
    pub(super) fn cancel(&mut self) {
        self.current = None;
    }

    /// Queue an unfinished rebuild again after a power cut, and begin the first one.
    pub(super) fn restart<D: Model>(&mut self, members: &mut Members<D>, now: Nanos) {
        let unfinished = self.current.take().filter(|rebuilding| rebuilding.is_whole);
        self.waiting.extend(unfinished.map(|rebuilding| rebuilding.member));
        self.begin(members, now);
    }

    /// Start a step: read what the other members hold, if the pacing allows.
    pub(super) fn start_step<D: Model>(&mut self, layout: &Layout, members: &mut Members<D>, now: Nanos) {
        let (activity, busy) = (members.activity(), members.is_busy());
        let Some(rebuilding) = self.current.as_mut() else { return };
        let Some((place, step)) = rebuilding.start(now, activity, busy) else { return };
        let member = rebuilding.member;
        let end = step.offset_bytes + u64::from(step.length_bytes);
        let others = (0..members.count()).filter(|&other| other != member && members.holds(other, end));
        let mirror = matches!(layout, Layout::Mirror { .. });
        let sources: Vec<u32> = if mirror { others.take(1).collect() } else { others.collect() };
        if sources.len() < if mirror { 1 } else { members.count() as usize - 1 } {
            self.stop(members, now);
            return;
        }
        self.submit_step((place, step), CommandKind::Read, &sources, members, now);
    }

    fn submit_step<D: Model>(
        &mut self,
        (place, step): (u8, Step),
        kind: CommandKind,
        to: &[u32],
        members: &mut Members<D>,
        now: Nanos,
    ) {
        let Step { offset_bytes, length_bytes, .. } = step;
        let of = Command { id: 0, kind, offset_bytes, length_bytes, fua: false, stream: Command::OF_STORAGE };
        if let Some(rebuilding) = &mut self.current {
            let writes = kind == CommandKind::Write;
            rebuilding.steps[usize::from(place)] = Some(Step { left: to.len() as u32, writes, ..step });
        }
        for &member in to {
            members.submit(now, Owner::Rebuild(place), &Piece { member, kind, offset_bytes, length_bytes }, &of);
        }
    }

    /// Count a finished part of a step: data read are written next, data written are filled.
    pub(super) fn step_done<D: Model>(&mut self, place: u8, drives: u32, members: &mut Members<D>, now: Nanos) {
        let Some(rebuilding) = self.current.as_mut() else { return };
        let member = rebuilding.member;
        let Some(step) = rebuilding.steps[usize::from(place)].as_mut() else { return };
        step.left -= 1;
        if step.left > 0 {
            return;
        }
        let step = *step;
        if !step.writes {
            self.submit_step((place, step), CommandKind::Write, &[member], members, now);
            return;
        }
        let filled = rebuilding.finish(place, now);
        let (since, is_whole, bytes) = (rebuilding.since, rebuilding.is_whole, rebuilding.copied);
        self.written_bytes += u64::from(step.length_bytes);
        if is_whole {
            members.set_filled(member, filled);
        }
        if filled == u64::MAX {
            let drive = member * drives;
            self.finished = Some(Rebuilt { at: now, since, drive, channel: None, is_resync: !is_whole, bytes });
            self.stop(members, now);
        }
    }

    pub(super) fn take_finished(&mut self) -> Option<Rebuilt> {
        self.finished.take()
    }

    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    fn resyncing(&self) -> impl Iterator<Item = &Rebuilding> {
        self.current.iter().filter(|rebuilding| !rebuilding.is_whole)
    }

    /// Return the stretches that the far side of a replica has not done and that no write waited
    /// for: under way, or in the far host's memory. In the order of their offsets, as a bitmap
    /// holds them.
    pub(super) fn owed<D: Model>(&self, members: &Members<D>) -> Vec<Stretch> {
        if !members.holds(1, u64::MAX) {
            return Vec::new();
        }
        let mut owed: Vec<_> = members.copies(1).chain(self.resyncing().flat_map(Rebuilding::left)).collect();
        let mut received = Vec::new();
        members.device(1).into_iter().for_each(|far| far.unwritten(&mut received));
        owed.extend(received.into_iter().map(|(offset_bytes, length_bytes)| Stretch {
            offset_bytes,
            length_bytes,
            is_acknowledged: true,
        }));
        owed.sort_unstable();
        owed
    }

    /// Resend what the far side lacks after a power cut, if the near side still holds it.
    pub(super) fn resync<D: Model>(&mut self, owed: Vec<Stretch>, members: &Members<D>, loss: &mut Loss, now: Nanos) {
        if owed.is_empty() {
            return;
        }
        if !members.holds(0, u64::MAX) {
            let (writes, bytes) = acknowledged(owed.into_iter());
            (loss.lost_writes, loss.lost_bytes) = (loss.lost_writes + writes, loss.lost_bytes + bytes);
            return;
        }
        loss.resyncs += 1;
        self.current = Some(Rebuilding::new(1, owed, false, self.settings, now, members.activity()));
    }

    /// Return the acknowledged writes and bytes that the far side lacks.
    pub(super) fn behind<D: Model>(&self, members: &Members<D>) -> (u64, u64) {
        acknowledged(members.copies(1).chain(self.resyncing().flat_map(Rebuilding::left)))
    }

    /// Stop a resync whose near side is gone; return the writes and bytes lost by that.
    pub(super) fn give_up_resync<D: Model>(&mut self, members: &mut Members<D>, now: Nanos) -> (u64, u64) {
        if self.resyncing().next().is_none() {
            return (0, 0);
        }
        let lost = acknowledged(self.resyncing().flat_map(Rebuilding::unsent));
        self.stop(members, now);
        lost
    }
}

/// Return the number of acknowledged stretches, and their bytes.
fn acknowledged(stretches: impl Iterator<Item = Stretch>) -> (u64, u64) {
    let acknowledged = stretches.filter(|stretch| stretch.is_acknowledged);
    acknowledged.fold((0, 0), |(writes, bytes), stretch| (writes + 1, bytes + stretch.length_bytes))
}
