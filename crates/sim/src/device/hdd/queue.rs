//! The commands that a disk holds, and which of them the arm serves next.

use super::geometry::Geometry;
use super::read_ahead::ReadAhead;
use std::collections::VecDeque;
use std::ops::Range;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_spec::profile::Scheduling;

/// After so long in the disk a command is served whatever the schedule says, unless the profile says otherwise. The
/// bound is the one that ublk-disksim found necessary.
pub(crate) const AGE_LIMIT: Nanos = 500_000_000;

/// A command in the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) command: Command,
    pub(crate) submitted: Nanos,
    /// When the disk took it from the host.
    pub(crate) entered: Nanos,
    /// When the controller is done with it and the mechanics may begin.
    pub(crate) ready_at: Nanos,
    /// For the barrier.
    pub(crate) epoch: u64,
    pub(crate) cylinder: u64,
}

impl Queued {
    /// One past the last byte.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.command.offset_bytes.saturating_add(u64::from(self.command.length_bytes))
    }
}

/// Where the arm is when it chooses.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) read_ahead: Option<&'a ReadAhead>,
    pub(crate) cylinder: u64,
    pub(crate) now: Nanos,
}

impl Arm<'_> {
    /// When the first byte that the host lacks comes under the head, by reading on or after a seek; an answer no sooner
    /// than `before` may be too early.
    fn reaches(&self, queued: &Queued, before: Nanos) -> Nanos {
        let ready = self.now.max(queued.ready_at);
        let reading_on = self.reads_on_to(queued, ready).unwrap_or(Nanos::MAX);
        let arrival = ready + self.geometry.seek(queued.cylinder.abs_diff(self.cylinder));
        if arrival >= before.min(reading_on) {
            return arrival.min(reading_on);
        }
        reading_on.min(arrival + self.geometry.rotation(arrival, self.geometry.begin(queued.command.offset_bytes)))
    }

    /// The same by reading on, for a read whose first byte comes or has come so.
    fn reads_on_to(&self, queued: &Queued, ready: Nanos) -> Option<Nanos> {
        let (offset, end) = (queued.command.offset_bytes, queued.end_bytes());
        let read_ahead = self.read_ahead.filter(|held| held.touches(offset, end))?;
        if queued.command.kind != CommandKind::Read {
            return None;
        }
        let ends = read_ahead.promises(self.geometry, offset, end, ready)?;
        Some(ready.max(ends.saturating_sub(self.geometry.end(end) - self.geometry.begin(offset))))
    }

    /// The cylinder where a command needs the arm: the one where it is, if it has only to read on.
    #[inline]
    fn target(&self, queued: &Queued) -> u64 {
        if !self.read_ahead.is_some_and(|held| held.touches(queued.command.offset_bytes, queued.end_bytes())) {
            return queued.cylinder;
        }
        let reads_on = self.reads_on_to(queued, self.now).is_some_and(|at| at <= self.reaches(queued, Nanos::MAX));
        if reads_on { self.cylinder } else { queued.cylinder }
    }
}

/// What is in the disk and not served, in the order in which it came.
///
/// The arm chooses among all of them, for the disk knows a command's place as soon as it has the command; but it waits
/// for the chosen one until the controller is done with it, unless something better comes meanwhile.
///
/// What adjoins the last command is nearest, so that a stream would keep all others waiting until they are too old. It
/// goes on for a revolution, in which about a track passes; then what waits longest is served.
///
/// What lies right behind another one is not chosen before it: if a stream's later part went first, because the earlier
/// one has just passed, the stream would lose a revolution there and in most turns to come.
#[derive(Debug)]
pub(crate) struct Queue {
    held: VecDeque<Queued>,
    /// How many at the back are still in the controller.
    in_controller: usize,
    scheduling: Scheduling,
    age_limit: Nanos,
    /// Direction of the sweep.
    upward: bool,
    turn: Turn,
    /// How long commands that adjoin may keep the arm from others.
    longest_turn: Nanos,
}

/// Commands that are served one after another and adjoin.
#[derive(Debug)]
struct Turn {
    bytes: Range<u64>,
    /// When it has lasted long enough; far away until a second command is served.
    over_at: Nanos,
}

impl Turn {
    fn of(queued: &Queued) -> Self {
        Self { bytes: queued.command.offset_bytes..queued.end_bytes(), over_at: Nanos::MAX }
    }

    fn adjoins(&self, queued: &Queued) -> bool {
        queued.command.offset_bytes == self.bytes.end || queued.end_bytes() == self.bytes.start
    }

    /// It goes on at `now` with one that adjoins, the second or a later one.
    fn go_on(&mut self, queued: &Queued, now: Nanos, longest: Nanos) {
        self.bytes.start = self.bytes.start.min(queued.command.offset_bytes);
        self.bytes.end = self.bytes.end.max(queued.end_bytes());
        self.over_at = self.over_at.min(now + longest);
    }
}

impl Queue {
    pub(crate) fn new(scheduling: Scheduling, depth: usize, age_limit: Nanos, longest_turn: Nanos) -> Self {
        Self {
            held: VecDeque::with_capacity(depth),
            in_controller: 0,
            scheduling,
            age_limit,
            upward: true,
            turn: Turn { bytes: 0..0, over_at: Nanos::MAX },
            longest_turn,
        }
    }

    /// Everything is forgotten.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.in_controller = 0;
    }

    /// A command enters the disk's controller.
    pub(crate) fn push(&mut self, queued: Queued) {
        self.held.push_back(queued);
        self.in_controller += 1;
    }

    /// When the controller is done with the next command.
    #[inline]
    pub(crate) fn next_ready(&self) -> Option<Nanos> {
        if self.in_controller == 0 {
            return None;
        }
        Some(self.held[self.held.len() - self.in_controller].ready_at)
    }

    /// The controller is done with the next command, which stays here unless `ends` says that it needs no arm.
    pub(crate) fn ready(&mut self, now: Nanos, ends: impl FnOnce(&Queued) -> bool) -> Option<Queued> {
        let place = self.held.len() - self.in_controller;
        self.in_controller -= 1;
        let ended = if ends(&self.held[place]) { self.held.remove(place) } else { None }?;
        if self.turn.adjoins(&ended) {
            self.turn.go_on(&ended, now, self.longest_turn);
        }
        Some(ended)
    }

    /// Takes what is served next; `None` while there is nothing, or the chosen one is still in the controller.
    pub(crate) fn choose(&mut self, arm: Arm) -> Option<Queued> {
        let oldest = self.held.front()?;
        let in_order =
            self.scheduling == Scheduling::Fcfs || self.held.len() == 1 || arm.now - oldest.entered > self.age_limit;
        let nearest = match self.scheduling {
            _ if in_order => 0,
            Scheduling::ShortestPositioning => self.nearest_in_time(arm),
            Scheduling::Elevator | Scheduling::Fcfs => self.next_of_sweep(arm),
        };
        let adjoins = self.turn.adjoins(&self.held[nearest]);
        let goes_on = adjoins && arm.now < self.turn.over_at;
        let place = if adjoins && !goes_on { 0 } else { nearest };
        if place >= self.held.len() - self.in_controller {
            return None;
        }
        let chosen = self.held.remove(place)?;
        let target = arm.target(&chosen);
        if target != arm.cylinder {
            self.upward = target > arm.cylinder;
        }
        if goes_on {
            self.turn.go_on(&chosen, arm.now, self.longest_turn);
        } else {
            self.turn = Turn::of(&chosen);
        }
        Some(chosen)
    }

    /// Whether what lies right before it came before it and needs the arm too.
    fn follows_another(&self, place: usize) -> bool {
        let begin = self.held[place].command.offset_bytes;
        let before = self.held.range(..place);
        before.rev().any(|other| other.end_bytes() == begin && other.command.kind != CommandKind::Trim)
    }

    /// SPTF: what comes first under the head, seek and rotation together, or is read ahead before; among equals what
    /// came first.
    fn nearest_in_time(&self, arm: Arm) -> usize {
        // Few follow another, and to know it costs a look at all: only what would be chosen is asked.
        let first = self.soonest(arm, |_| true);
        if self.follows_another(first) { self.soonest(arm, |place| !self.follows_another(place)) } else { first }
    }

    fn soonest(&self, arm: Arm, may_go: impl Fn(usize) -> bool) -> usize {
        let mut best = (Nanos::MAX, 0);
        for (place, queued) in self.held.iter().enumerate() {
            let at = arm.reaches(queued, best.0);
            if at < best.0 && may_go(place) {
                best = (at, place);
            }
        }
        best.1
    }

    /// LOOK: the nearest cylinder ahead, or if there is none, the nearest one behind. Within a cylinder, what comes
    /// first under the head, and of that what came first.
    fn next_of_sweep(&self, arm: Arm) -> usize {
        let nearest = self.nearest(arm, |_| true);
        if nearest.ties == 1 && !self.follows_another(nearest.place) {
            return nearest.place;
        }
        let first = self.first_at(arm, nearest);
        let first = first.or_else(|| self.first_at(arm, self.nearest(arm, |place| !self.follows_another(place))));
        first.unwrap_or(nearest.place)
    }

    /// What comes first under the head of those that need a cylinder and follow no other.
    fn first_at(&self, arm: Arm, nearest: Nearest) -> Option<usize> {
        let cylinder = arm.target(&self.held[nearest.place]);
        let tied = self.held.iter().enumerate().filter(|(_, queued)| arm.target(queued) == cylinder);
        let first = tied
            .filter(|&(place, _)| !self.follows_another(place))
            .min_by_key(|(_, queued)| arm.reaches(queued, Nanos::MAX));
        first.map(|(place, _)| place)
    }

    /// The nearest cylinder ahead of the head or under it, behind it where none is ahead.
    fn nearest(&self, arm: Arm, may_go: impl Fn(usize) -> bool) -> Nearest {
        let mut nearest = Nearest { distance: u64::MAX, place: 0, ties: 0 };
        for (place, queued) in self.held.iter().enumerate() {
            let (target, head) = (arm.target(queued), arm.cylinder);
            let ahead = if self.upward { target.checked_sub(head) } else { head.checked_sub(target) };
            let distance = ahead.unwrap_or_else(|| BEHIND + target.abs_diff(head));
            if distance > nearest.distance || !may_go(place) {
                continue;
            }
            nearest = if distance < nearest.distance {
                Nearest { distance, place, ties: 1 }
            } else {
                Nearest { ties: nearest.ties + 1, ..nearest }
            };
        }
        nearest
    }
}

/// Farther than anything ahead.
const BEHIND: u64 = 1 << 32;

/// The nearest cylinder found so far, and how many commands need it.
#[derive(Clone, Copy)]
struct Nearest {
    distance: u64,
    place: usize,
    ties: u32,
}
