//! The commands that a disk holds, and which of them the arm serves next.

use super::geometry::Geometry;
use std::collections::VecDeque;
use tameshi_base::{Command, Nanos};
use tameshi_spec::profile::Scheduling;

/// After so long in the disk a command is served whatever the schedule says, unless the profile says otherwise. A sweep
/// that follows a sequential stream would otherwise keep what lies behind it waiting for as long as the stream lasts,
/// and the shortest positioning first what lies aside. The bound is the one that ublk-disksim found necessary.
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

/// What is in the disk and not served, in the order in which it came.
///
/// The arm chooses among all of them, for the disk knows a command's place as soon as it has the command; but it waits
/// for the chosen one until the controller is done with it, unless something better comes meanwhile.
#[derive(Debug)]
pub(crate) struct Queue {
    held: VecDeque<Queued>,
    /// How many at the back are still in the controller.
    in_controller: usize,
    scheduling: Scheduling,
    age_limit: Nanos,
    /// Direction of the sweep.
    upward: bool,
}

impl Queue {
    pub(crate) fn new(scheduling: Scheduling, depth: usize, age_limit: Nanos) -> Self {
        Self { held: VecDeque::with_capacity(depth), in_controller: 0, scheduling, age_limit, upward: true }
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
    pub(crate) fn ready(&mut self, ends: impl FnOnce(&Queued) -> bool) -> Option<Queued> {
        let place = self.held.len() - self.in_controller;
        self.in_controller -= 1;
        if ends(&self.held[place]) { self.held.remove(place) } else { None }
    }

    /// Takes what is served next with the head over cylinder `head`; `None` while there is nothing, or the chosen one
    /// is still in the controller.
    pub(crate) fn choose(&mut self, geometry: &Geometry, head: u64, now: Nanos) -> Option<Queued> {
        let oldest = self.held.front()?;
        let in_order =
            self.scheduling == Scheduling::Fcfs || self.held.len() == 1 || now - oldest.entered > self.age_limit;
        let place = match self.scheduling {
            _ if in_order => 0,
            Scheduling::ShortestPositioning => self.nearest_in_time(geometry, head, now),
            Scheduling::Elevator | Scheduling::Fcfs => self.next_of_sweep(geometry, head, now),
        };
        if place >= self.held.len() - self.in_controller {
            return None;
        }
        let chosen = self.held.remove(place)?;
        if chosen.cylinder != head {
            self.upward = chosen.cylinder > head;
        }
        Some(chosen)
    }

    /// SPTF: what comes first under the head, seek and rotation together; among equals what came first.
    fn nearest_in_time(&self, geometry: &Geometry, head: u64, now: Nanos) -> usize {
        let mut best = (Nanos::MAX, 0);
        for (place, queued) in self.held.iter().enumerate() {
            let arrival = now.max(queued.ready_at) + geometry.seek(queued.cylinder.abs_diff(head));
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
