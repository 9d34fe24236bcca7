//! Filling a new member from the others, at the rates and with the manners of Linux's md; or what one lacks since power failed.
//!
//! A rebuild goes from the member's first byte to its last in steps: read what the others hold, write the new member.
//! It starts steps no faster than its greatest rate. While nobody else asks for anything, three steps are under
//! way at once. Beside other work, a rebuild that is faster than its least rate lets its step end before it starts the next
//! (`competing`), or sleeps for half a second at a time (`yielding`).

use crate::kernel::seed_path::SeedPath;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::profile::{self, Written};
use tameshi_spec::run::{Node, Rebuild};
use tameshi_spec::study::RebuildManner;

/// Bytes of a step: what md keeps outstanding while it resyncs is of this order.
pub(super) const STEP_BYTES: u64 = 1 << 20;
/// Steps under way at most. md's many small ones keep the new member's queue filled; of such long ones that takes one that is
/// read, one that is written and one that waits to be, or a disk turns once more before each second write.
pub(super) const STEPS: usize = 3;
/// How long a yielding rebuild sleeps (md of Linux before 4.x).
const SLEEP: Nanos = 500_000_000;
/// Its present rate is taken from a mark so many steps of such a time ago (`SYNC_MARKS` and `SYNC_MARK_STEP` of md): what a sleep
/// lacks is caught up unless a mark is set right after it, and is then little beside what is copied between such marks.
const MARKS: usize = 10;
const MARK: Nanos = 3_000_000_000;

/// A stretch of a member that is to be copied there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stretch {
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
    /// Whether what is to be there was acknowledged.
    pub(super) is_acknowledged: bool,
}

/// A part of a stretch that is being copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
    pub(super) is_acknowledged: bool,
    /// Pieces of its present part that are not done.
    pub(super) left: u32,
    /// Whether it is being written.
    pub(super) writes: bool,
}

impl Step {
    pub(super) fn stretch(&self) -> Stretch {
        let &Self { offset_bytes, length_bytes, is_acknowledged, .. } = self;
        Stretch { offset_bytes, length_bytes: u64::from(length_bytes), is_acknowledged }
    }
}

/// A rebuild under way.
#[derive(Debug)]
pub(super) struct Rebuilding {
    pub(super) member: u32,
    /// When it began.
    pub(super) since: Nanos,
    /// Whether it fills the member from its first byte on; else the member lacks no more than what is left.
    pub(super) is_whole: bool,
    /// What no step has begun with.
    rest: VecDeque<Stretch>,
    /// Bytes that steps have begun with.
    pub(super) copied: u64,
    pub(super) steps: [Option<Step>; STEPS],
    settings: Rebuild,
    /// When the next step may start, as far as time is concerned.
    start_at: Nanos,
    /// When how much was copied: first where the present rate is taken from, then the later marks in their order.
    marks: [(Nanos, u64); MARKS + 1],
    /// The members' count of commands when the last step started.
    activity: u64,
}

impl Rebuilding {
    pub(super) fn new(
        member: u32,
        stretches: Vec<Stretch>,
        is_whole: bool,
        settings: Rebuild,
        now: Nanos,
        activity: u64,
    ) -> Self {
        let rest = stretches.into();
        let (steps, marks) = ([None; STEPS], [(now, 0); MARKS + 1]);
        Self { member, since: now, is_whole, rest, copied: 0, steps, settings, start_at: now, marks, activity }
    }

    /// What it has not copied.
    pub(super) fn left(&self) -> impl Iterator<Item = Stretch> {
        self.steps.iter().flatten().map(Step::stretch).chain(self.rest.iter().copied())
    }

    /// What of that it has not sent to the member.
    pub(super) fn unsent(&self) -> impl Iterator<Item = Stretch> {
        let unsent = self.steps.iter().flatten().filter(|step| !step.writes);
        unsent.map(Step::stretch).chain(self.rest.iter().copied())
    }

    /// When the rebuild wants to start a step; never while it has no room for one.
    #[inline]
    pub(super) fn next_wake(&self) -> Nanos {
        let room = !self.rest.is_empty() && self.steps.iter().any(Option::is_none);
        if room { self.start_at } else { Nanos::MAX }
    }

    /// A step that starts now, and its place; `None` when the rebuild makes room for others first.
    pub(super) fn start(&mut self, now: Nanos, activity: u64, busy: bool) -> Option<(u8, Step)> {
        if now - self.marks[MARKS].0 >= MARK {
            self.marks.rotate_left(1);
            self.marks[MARKS] = (now, self.copied);
        }
        let others = busy || activity != self.activity;
        self.activity = activity;
        if others && self.is_faster_than_least(now) {
            match self.settings.manner {
                RebuildManner::Yielding => {
                    self.start_at = now + SLEEP;
                    return None;
                }
                RebuildManner::Competing if self.steps.iter().any(Option::is_some) => {
                    // The end of the step that is under way wakes it.
                    self.start_at = Nanos::MAX;
                    return None;
                }
                RebuildManner::Competing => {}
            }
        }
        let place = self.steps.iter().position(Option::is_none)?;
        let Stretch { offset_bytes, length_bytes, is_acknowledged } = self.rest.front_mut()?;
        let length = STEP_BYTES.min(*length_bytes);
        let (offset, is_acknowledged) = (*offset_bytes, *is_acknowledged);
        let step = Step { offset_bytes: offset, length_bytes: length as u32, is_acknowledged, left: 0, writes: false };
        (*offset_bytes, *length_bytes) = (offset + length, *length_bytes - length);
        self.rest.pop_front_if(|stretch| stretch.length_bytes == 0);
        self.steps[place] = Some(step);
        self.copied += length;
        self.start_at = now + time_of(length, self.settings.rate.0);
        Some((place as u8, step))
    }

    /// Whether the rebuild has gone faster than it must since the mark.
    fn is_faster_than_least(&self, now: Nanos) -> bool {
        let (since, before) = self.marks[0];
        let copied = u128::from(self.copied - before) * 1_000_000_000;
        copied > u128::from(self.settings.rate_min.0) * u128::from((now - since).max(1))
    }

    /// A step is over; returns where what is left begins, all of it being done at [`u64::MAX`].
    pub(super) fn finish(&mut self, place: u8, now: Nanos) -> u64 {
        self.steps[usize::from(place)] = None;
        // Time that passed without room for a step is not made up for.
        self.start_at = if self.start_at == Nanos::MAX { now } else { self.start_at.max(now) };
        self.left().map(|stretch| stretch.offset_bytes).min().unwrap_or(u64::MAX)
    }
}

/// Time that so many bytes take at a rate, rounded up.
pub(super) fn time_of(bytes: u64, bytes_per_second: u64) -> Nanos {
    (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second.max(1))) as Nanos
}

/// New members for an array.
#[derive(Debug)]
pub(super) struct Spares {
    /// What each member is.
    pub(super) member: Node,
    chance: SeedPath,
    taken: u32,
}

impl Spares {
    pub(super) fn new(member: &Node, chance: &SeedPath) -> Self {
        Self { member: member.clone(), chance: chance.within("spare"), taken: 0 }
    }

    /// What the next one is, and its chance: it draws as none before it.
    pub(super) fn take(&mut self) -> (Node, SeedPath) {
        self.taken += 1;
        (as_new(&self.member), self.chance.within(self.taken))
    }
}

/// A member as it comes from the shop: nothing was ever written to it.
fn as_new(member: &Node) -> Node {
    let mut member = member.clone();
    if let profile::Device::Flash(flash) = member.drive_mut() {
        (flash.simulated.written, flash.simulated.dead_channels) = (Written::Never, 0);
        flash.simulated.worn_percent = None;
    }
    member
}

#[cfg(test)]
mod tests {
    use super::super::placed;
    use super::*;
    use crate::device::Device;
    use tameshi_base::{Command, CommandKind};

    #[test]
    fn a_new_member_draws_neither_as_the_old_one_nor_as_another_new_one() {
        let profile = include_str!("../../../../python/tameshi/data/profiles/devices/cloud-volume-1tb.toml");
        let device = toml::from_str::<profile::DeviceProfile>(profile).expect("a profile").device;
        let (node, chance) = (Node::Device { profile: "test".into(), device }, SeedPath::new(1, "disk"));
        let latency = |mut device: Device| {
            let (mut done, kind) = (vec![], CommandKind::Read);
            device.submit(0, &Command { id: 0, kind, offset_bytes: 0, length_bytes: 4096, fua: false, stream: 0 });
            device.advance(Nanos::MAX / 2, &mut done);
            done[0].at
        };
        let old = latency(placed(&node, &chance.within(0)).expect("a device"));
        let mut spares = Spares::new(&node, &chance);
        let [first, second] = [(); 2].map(|()| {
            let (node, chance) = spares.take();
            latency(placed(&node, &chance).expect("a device"))
        });
        assert!(old != first && old != second && first != second, "{old}, {first}, {second}");
    }
}
