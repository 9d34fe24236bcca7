//! Command processors of the controllers.

use super::link::{READ, WRITE};
use crate::device::pace::Pace;
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::FlashProfile;

/// Processors, one per controller: each accepts one command per turn, and adds an overhead to it.
#[derive(Debug)]
pub(super) struct Processors {
    /// Time at which each accepts its next command.
    next_turn: Vec<Nanos>,
    /// Duration of a turn, for reads and writes.
    turn: [Nanos; 2],
    /// Overhead, for reads and writes.
    overhead: [Nanos; 2],
    busy_ns: Nanos,
}

impl Processors {
    pub(super) fn new(profile: &FlashProfile) -> Self {
        let controller = &profile.controller;
        Self {
            next_turn: vec![0; controller.count.value as usize],
            turn: [&controller.read_rate, &controller.write_rate].map(|rate| Pace::per_second(rate.value).time(1)),
            overhead: [controller.read_overhead.value.0, controller.write_overhead.value.0],
            busy_ns: 0,
        }
    }

    #[inline(always)]
    pub(super) fn read_overhead(&self) -> Nanos {
        self.overhead[READ]
    }

    #[inline(always)]
    pub(super) fn write_overhead(&self) -> Nanos {
        self.overhead[WRITE]
    }

    /// Take the turn of a command that wants to begin at `now`; return its begin.
    #[inline]
    pub(super) fn take_turn(&mut self, number: usize, direction: usize, now: Nanos) -> Nanos {
        let (next, time) = (&mut self.next_turn[number], self.turn[direction]);
        let turn = now.max(*next);
        *next = turn + time;
        self.busy_ns += time;
        turn
    }

    fn ahead(&self, now: Nanos) -> Nanos {
        self.next_turn.iter().map(|turn| turn.saturating_sub(now)).sum()
    }

    pub(super) fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Controller, self.next_turn.len() as u64, self.busy_ns - self.ahead(now));
    }

    /// Cancel all turns after `now`.
    pub(super) fn stop(&mut self, now: Nanos) {
        self.busy_ns = self.busy_ns.saturating_sub(self.ahead(now));
        self.next_turn.fill(now);
    }
}
