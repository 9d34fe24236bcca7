//! Command queue of a disk, and its scheduling.

use super::geometry::Geometry;
use super::read_ahead::ReadAhead;
use std::collections::VecDeque;
use std::ops::Range;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_spec::profile::Scheduling;

/// Age at which a command is served before all others, unless the profile states one. ublk-disksim
/// found this bound necessary.
pub(crate) const AGE_LIMIT: Nanos = 500_000_000;

/// Command in the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) command: Command,
    pub(crate) submitted: Nanos,
    /// Time of admission.
    pub(crate) entered: Nanos,
    /// Time at which the controller is done and the mechanics may begin.
    pub(crate) ready_at: Nanos,
    /// Epoch among flushes.
    pub(crate) epoch: u64,
    pub(crate) cylinder: u64,
}

impl Queued {
    /// Return the offset after the last byte.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.command.offset_bytes.saturating_add(u64::from(self.command.length_bytes))
    }
}

/// Position of the arm at a choice.
#[derive(Clone, Copy)]
pub(crate) struct Arm<'a> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) read_ahead: Option<&'a ReadAhead>,
    pub(crate) cylinder: u64,
    pub(crate) now: Nanos,
}

impl Arm<'_> {
    /// Return when the first byte that the host lacks is under the head, by reading on or after a
    /// seek. A result of `before` or later may be too early.
    fn reaches(&self, queued: &Queued, before: Nanos) -> Nanos {
        let ready = self.now.max(queued.ready_at);
        let reading_on = self.reads_on_to(queued, ready).unwrap_or(Nanos::MAX);
        let arrival = ready + self.geometry.seek(queued.cylinder.abs_diff(self.cylinder));
        if arrival >= before.min(reading_on) {
            return arrival.min(reading_on);
        }
        reading_on.min(arrival + self.geometry.rotation(arrival, self.geometry.begin(queued.command.offset_bytes)))
    }

    /// Return the same by reading on; `None` if reading on does not reach the read's first byte.
    fn reads_on_to(&self, queued: &Queued, ready: Nanos) -> Option<Nanos> {
        let (offset, end) = (queued.command.offset_bytes, queued.end_bytes());
        let read_ahead = self.read_ahead.filter(|held| held.touches(offset, end))?;
        if queued.command.kind != CommandKind::Read {
            return None;
        }
        let ends = read_ahead.promises(self.geometry, offset, end, ready)?;
        Some(ready.max(ends.saturating_sub(self.geometry.end(end) - self.geometry.begin(offset))))
    }

    /// Return the cylinder at which a command needs the arm: the present one if it only reads on.
    #[inline]
    fn target(&self, queued: &Queued) -> u64 {
        if !self.read_ahead.is_some_and(|held| held.touches(queued.command.offset_bytes, queued.end_bytes())) {
            return queued.cylinder;
        }
        let reads_on = self.reads_on_to(queued, self.now).is_some_and(|at| at <= self.reaches(queued, Nanos::MAX));
        if reads_on { self.cylinder } else { queued.cylinder }
    }
}

/// Commands not yet served, in the order of arrival.
///
/// The arm chooses among all of them, including those still in the controller. It waits for a
/// chosen command there, unless a better one arrives meanwhile.
///
/// A command adjacent to the last one is nearest, so a stream would starve all others. A run of
/// adjacent commands may last one revolution, about a track; then the oldest command is served.
///
/// A command directly after another queued one is not chosen before it. Otherwise a stream whose
/// earlier part has just passed would lose a revolution now, and in most later turns.
#[derive(Debug)]
pub(crate) struct Queue {
    held: VecDeque<Queued>,
    /// Commands at the back that are still in the controller.
    in_controller: usize,
    scheduling: Scheduling,
    age_limit: Nanos,
    /// Direction of the LOOK sweep.
    upward: bool,
    turn: Turn,
    /// Maximum duration of a run.
    longest_turn: Nanos,
}

/// Run of adjacent commands served one after another.
#[derive(Debug)]
struct Turn {
    bytes: Range<u64>,
    /// Time at which the run must end; far in the future until a second command is served.
    over_at: Nanos,
}

impl Turn {
    fn of(queued: &Queued) -> Self {
        Self { bytes: queued.command.offset_bytes..queued.end_bytes(), over_at: Nanos::MAX }
    }

    fn adjoins(&self, queued: &Queued) -> bool {
        queued.command.offset_bytes == self.bytes.end || queued.end_bytes() == self.bytes.start
    }

    /// Continue the run at `now` with its second or a later command.
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

    /// Forget all commands.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.in_controller = 0;
    }

    /// Add a command, which enters the controller.
    pub(crate) fn push(&mut self, queued: Queued) {
        self.held.push_back(queued);
        self.in_controller += 1;
    }

    /// Return when the controller is done with the next command.
    #[inline]
    pub(crate) fn next_ready(&self) -> Option<Nanos> {
        if self.in_controller == 0 {
            return None;
        }
        Some(self.held[self.held.len() - self.in_controller].ready_at)
    }

    /// Take the next command out of the controller. It stays in the queue unless `ends` says that
    /// it needs no arm.
    pub(crate) fn ready(&mut self, now: Nanos, ends: impl FnOnce(&Queued) -> bool) -> Option<Queued> {
        let place = self.held.len() - self.in_controller;
        self.in_controller -= 1;
        let ended = if ends(&self.held[place]) { self.held.remove(place) } else { None }?;
        if self.turn.adjoins(&ended) {
            self.turn.go_on(&ended, now, self.longest_turn);
        }
        Some(ended)
    }

    /// Take the command served next; `None` without one, or while the chosen one is in the
    /// controller.
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

    /// Return whether the command directly before it is older and needs the arm too.
    fn follows_another(&self, place: usize) -> bool {
        let begin = self.held[place].command.offset_bytes;
        let before = self.held.range(..place);
        before.rev().any(|other| other.end_bytes() == begin && other.command.kind != CommandKind::Trim)
    }

    /// SPTF: the command whose data are first under the head, seek and rotation together, or read
    /// ahead before; the oldest among equals.
    fn nearest_in_time(&self, arm: Arm) -> usize {
        // Few commands follow another, and the test scans the queue: only test the candidate.
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

    /// LOOK: the nearest cylinder ahead, or else the nearest one in the other direction. Within a
    /// cylinder, the command first under the head; the oldest among equals.
    fn next_of_sweep(&self, arm: Arm) -> usize {
        let nearest = self.nearest(arm, |_| true);
        if nearest.ties == 1 && !self.follows_another(nearest.place) {
            return nearest.place;
        }
        let first = self.first_at(arm, nearest);
        let first = first.or_else(|| self.first_at(arm, self.nearest(arm, |place| !self.follows_another(place))));
        first.unwrap_or(nearest.place)
    }

    /// Return the command first under the head among those at a cylinder that follow no other.
    fn first_at(&self, arm: Arm, nearest: Nearest) -> Option<usize> {
        let cylinder = arm.target(&self.held[nearest.place]);
        let tied = self.held.iter().enumerate().filter(|(_, queued)| arm.target(queued) == cylinder);
        let first = tied
            .filter(|&(place, _)| !self.follows_another(place))
            .min_by_key(|(_, queued)| arm.reaches(queued, Nanos::MAX));
        first.map(|(place, _)| place)
    }

    /// Return the nearest cylinder ahead of the head or under it; else the nearest in the other
    /// direction.
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

/// Distance beyond all cylinders ahead.
const BEHIND: u64 = 1 << 32;

/// Nearest cylinder found so far, and the number of commands that need it.
#[derive(Clone, Copy)]
struct Nearest {
    distance: u64,
    place: usize,
    ties: u32,
}
