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

    /// When its first byte will have been read ahead, if all of it will.
    fn begins_in(&self, read_ahead: &ReadAhead, geometry: &Geometry, ready: Nanos) -> Option<Nanos> {
        let (offset, end) = (self.command.offset_bytes, self.end_bytes());
        if self.command.kind != CommandKind::Read || !read_ahead.touches(offset, end) {
            return None;
        }
        let ends = read_ahead.promises(geometry, offset, end, ready)?;
        Some(ready.max(ends.saturating_sub(geometry.end(end) - geometry.begin(offset))))
    }
}

/// What is in the disk and not served, in the order in which it came.
///
/// The arm chooses among all of them, for the disk knows a command's place as soon as it has the command; but it waits
/// for the chosen one until the controller is done with it, unless something better comes meanwhile.
///
/// What adjoins the last command is nearest, so that a stream would keep all others waiting until they are too old. It
/// goes on for a revolution, in which about a track passes; then what waits longest is served.
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

    /// Takes what is served next with the head over cylinder `head`; `None` while there is nothing, or the chosen one
    /// is still in the controller.
    pub(crate) fn choose(
        &mut self,
        geometry: &Geometry,
        head: u64,
        read_ahead: Option<&ReadAhead>,
        now: Nanos,
    ) -> Option<Queued> {
        let oldest = self.held.front()?;
        let in_order =
            self.scheduling == Scheduling::Fcfs || self.held.len() == 1 || now - oldest.entered > self.age_limit;
        let nearest = match self.scheduling {
            _ if in_order => 0,
            Scheduling::ShortestPositioning => self.nearest_in_time(geometry, head, read_ahead, now),
            Scheduling::Elevator | Scheduling::Fcfs => self.next_of_sweep(geometry, head, now),
        };
        let adjoins = self.turn.adjoins(&self.held[nearest]);
        let goes_on = adjoins && now < self.turn.over_at;
        let place = if adjoins && !goes_on { 0 } else { nearest };
        if place >= self.held.len() - self.in_controller {
            return None;
        }
        let chosen = self.held.remove(place)?;
        if chosen.cylinder != head {
            self.upward = chosen.cylinder > head;
        }
        if goes_on {
            self.turn.go_on(&chosen, now, self.longest_turn);
        } else {
            self.turn = Turn::of(&chosen);
        }
        Some(chosen)
    }

    /// SPTF: what comes first under the head, seek and rotation together, or is read ahead before; among equals what
    /// came first.
    fn nearest_in_time(&self, geometry: &Geometry, head: u64, read_ahead: Option<&ReadAhead>, now: Nanos) -> usize {
        let mut best = (Nanos::MAX, 0);
        for (place, queued) in self.held.iter().enumerate() {
            let ready = now.max(queued.ready_at);
            if let Some(at) = read_ahead.and_then(|held| queued.begins_in(held, geometry, ready)) {
                best = best.min((at, place));
                continue;
            }
            let arrival = ready + geometry.seek(queued.cylinder.abs_diff(head));
            if arrival >= best.0 {
                continue;
            }
            let at = arrival + geometry.rotation(arrival, geometry.begin(queued.command.offset_bytes));
            if at < best.0 {
                best = (at, place);
            }
        }
        best.1
    }

    /// LOOK: the nearest cylinder ahead, or if there is none, the nearest one behind. Within a cylinder, what comes
    /// first under the head, and of that what came first.
    fn next_of_sweep(&self, geometry: &Geometry, head: u64, now: Nanos) -> usize {
        let mut nearest = self.nearest(head, self.upward);
        if nearest.ties == 0 {
            nearest = self.nearest(head, !self.upward);
        }
        if nearest.ties == 1 {
            return nearest.place;
        }
        let cylinder = self.held[nearest.place].cylinder;
        let tied = self.held.iter().enumerate().filter(|(_, queued)| queued.cylinder == cylinder);
        let first = tied.min_by_key(|(_, queued)| {
            let arrival = now.max(queued.ready_at) + geometry.seek(nearest.distance);
            arrival + geometry.rotation(arrival, geometry.begin(queued.command.offset_bytes))
        });
        first.map_or(nearest.place, |(place, _)| place)
    }

    /// The nearest cylinder on one side of the head, or under it.
    fn nearest(&self, head: u64, upward: bool) -> Nearest {
        let mut nearest = Nearest { distance: u64::MAX, place: 0, ties: 0 };
        for (place, queued) in self.held.iter().enumerate() {
            let ahead = if upward { queued.cylinder.checked_sub(head) } else { head.checked_sub(queued.cylinder) };
            match ahead {
                Some(distance) if distance < nearest.distance => nearest = Nearest { distance, place, ties: 1 },
                Some(distance) if distance == nearest.distance => nearest.ties += 1,
                _ => {}
            }
        }
        nearest
    }
}

/// The nearest cylinder found so far on one side.
#[derive(Clone, Copy)]
struct Nearest {
    distance: u64,
    place: usize,
    ties: u32,
}
