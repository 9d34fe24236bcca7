//! 3D XPoint drive: written in place, without erases or relocations.
//!
//! A command waits in the host while the drive is full, then for the controller's next turn. Its
//! access units go to adjacent channels, each of which serves one access at a time in the order of
//! the requests. Then the data cross the link.
//!
//! **Durability.** A completed write is on the medium.

use super::barrier::Barrier;
use super::busy_time::BusyTime;
use super::completion::{Breakdown, DeviceCompletion};
use super::model::{Model, NoDevice};
use super::pace::Pace;
use super::queue_full::QueueFull;
use crate::basics::calendar_queue::CalendarQueue;
use crate::device::loss::Loss;
use crate::device::power_draw::Drawing;
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::XPointProfile;

/// Command under way.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Completion to be, as far as it is known.
    done: DeviceCompletion,
    epoch: u64,
    /// True for a read whose data are not yet on the link, and for a write whose data are not yet
    /// on the medium. The second half begins in the order of readiness.
    is_half: bool,
}

/// Link to the host: one way per direction, or one for both.
#[derive(Debug)]
struct Link {
    pace: [Pace; 2],
    /// One way for both directions: of the link, or of the medium behind it.
    is_shared: bool,
    /// End of all requested transfers, by way.
    until: [Nanos; 2],
    busy: [BusyTime; 2],
}

impl Link {
    fn new(profile: &XPointProfile) -> Self {
        Self {
            pace: [profile.link.read_rate.value, profile.link.write_rate.value].map(Pace::per_second),
            is_shared: profile.link.half_duplex.value
                || profile.shared_medium.as_ref().is_some_and(|shared| shared.value),
            until: [0; 2],
            busy: Default::default(),
        }
    }

    /// Transfer data after all earlier ones, from `from` on; return the end.
    fn cross(
        &mut self,
        direction: usize,
        command: &Command,
        (now, from): (Nanos, Nanos),
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let time = self.pace[direction].time(u64::from(command.length_bytes));
        let way = if self.is_shared { 0 } else { direction };
        let at = from.max(self.until[way]) + time;
        self.until[way] = at;
        self.busy[way].pass(now);
        self.busy[way].add(at - time, at);
        breakdown.link += time;
        breakdown.queue += at - from - time;
        at
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        let ways = if self.is_shared { 1 } else { 2 };
        self.busy.iter().take(ways).for_each(|way| usage.add(Resource::Link, 1, way.until(now)));
    }
}

/// 3D XPoint drive.
#[derive(Debug)]
pub struct XPoint {
    unit_bytes: u64,
    access: [Nanos; 2],
    overhead: [Nanos; 2],
    turn: Nanos,
    depth: u32,
    /// End of all requested accesses, by channel.
    channels: Vec<Nanos>,
    link: Link,
    next_turn: Nanos,
    held: u32,
    host: VecDeque<(Command, Nanos, u64)>,
    queue_full: QueueFull,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// Ends of the first half and of the command, by slot.
    events: CalendarQueue,
    barrier: Barrier,
    /// Busy time of each channel, and of the controller.
    accesses: Vec<BusyTime>,
    turns: BusyTime,
    drawing: Option<Drawing>,
}

impl XPoint {
    /// Build a drive at rest.
    pub fn new(profile: &XPointProfile) -> Self {
        Self {
            unit_bytes: profile.access_unit.value.0,
            access: [profile.read_time.value.0, profile.write_time.value.0],
            overhead: [profile.read_overhead.value.0, profile.write_overhead.value.0],
            turn: Pace::per_second(profile.command_rate.value).time(1),
            depth: profile.queue_depth.value,
            channels: vec![0; profile.channels.value as usize],
            link: Link::new(profile),
            next_turn: 0,
            held: 0,
            host: VecDeque::new(),
            queue_full: QueueFull::default(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            events: CalendarQueue::new(),
            barrier: Barrier::unneeded(),
            accesses: vec![BusyTime::default(); profile.channels.value as usize],
            turns: BusyTime::default(),
            drawing: profile.power.as_ref().map(Drawing::new),
        }
    }

    /// Accept a command from the host.
    fn begin(&mut self, command: Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.held += 1;
        let turn = now.max(self.next_turn);
        self.next_turn = turn + self.turn;
        self.turns.pass(now);
        self.turns.add(turn, self.next_turn);
        let mut breakdown = Breakdown { queue: turn - submitted, ..Breakdown::default() };
        let at = match command.kind {
            CommandKind::Read => {
                breakdown.controller = self.overhead[0];
                self.access(0, &command, (now, turn + self.overhead[0]), &mut breakdown)
            }
            CommandKind::Write => {
                breakdown.controller = self.overhead[1];
                self.link.cross(1, &command, (now, turn + self.overhead[1]), &mut breakdown)
            }
            CommandKind::Trim | CommandKind::Flush => {
                breakdown.controller = self.overhead[1];
                turn + self.overhead[1]
            }
        };
        let done = DeviceCompletion { command, submitted, at, breakdown, failed: false };
        let slot = Slot { done, epoch, is_half: matches!(command.kind, CommandKind::Read | CommandKind::Write) };
        let number = match self.free_slots.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.events.add(at, number);
    }

    /// Begin the second half of a command: the link for a read, the medium for a write.
    fn enter_second_half(&mut self, number: u32, now: Nanos) {
        let DeviceCompletion { command, mut breakdown, .. } = self.slots[number as usize].done;
        let at = match command.kind {
            CommandKind::Read => self.link.cross(0, &command, (now, now), &mut breakdown),
            _ => self.access(1, &command, (now, now), &mut breakdown),
        };
        let done = &mut self.slots[number as usize].done;
        (done.at, done.breakdown) = (at, breakdown);
        self.events.add(at, number);
    }

    /// Access the medium from `ready` on; return the end of the last access.
    fn access(
        &mut self,
        kind: usize,
        command: &Command,
        (now, ready): (Nanos, Nanos),
        breakdown: &mut Breakdown,
    ) -> Nanos {
        let time = self.access[kind];
        let first = command.offset_bytes / self.unit_bytes;
        let end = (command.offset_bytes + u64::from(command.length_bytes)).div_ceil(self.unit_bytes);
        let count = self.channels.len() as u64;
        let mut last = ready;
        let mut own = 0;
        for unit in first..end {
            let number = (unit % count) as usize;
            let (channel, work) = (&mut self.channels[number], &mut self.accesses[number]);
            *channel = ready.max(*channel) + time;
            work.pass(now);
            work.add(*channel - time, *channel);
            (last, own) = (last.max(*channel), time);
        }
        breakdown.media += own;
        breakdown.queue += last - ready - own;
        last
    }
}

impl Model for XPoint {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        if command.kind == CommandKind::Flush {
            self.barrier.flush(command, now, now + self.overhead[1]);
            return;
        }
        let epoch = self.barrier.enter(command.kind);
        if self.held < self.depth {
            self.begin(*command, now, epoch, now);
        } else {
            self.host.push_back((*command, now, epoch));
            self.queue_full.set(true, now);
        }
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        let event = self.events.next();
        let wake = self.barrier.next().map_or(event, |flush| event.min(flush));
        (wake < Nanos::MAX).then_some(wake)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if self.barrier.next().is_some_and(|flush| flush <= at) {
                let Some(flush) = self.barrier.pop(at) else { return };
                let latency = at - flush.submitted;
                let controller = self.overhead[1].min(latency);
                let breakdown = Breakdown { queue: latency - controller, controller, ..Breakdown::default() };
                let (command, submitted) = (flush.command, flush.submitted);
                completions.push(DeviceCompletion { command, submitted, at, breakdown, failed: false });
                continue;
            }
            let Some((_, number)) = self.events.take() else { return };
            if std::mem::take(&mut self.slots[number as usize].is_half) {
                self.enter_second_half(number, at);
                continue;
            }
            let Slot { done: completion, epoch, .. } = self.slots[number as usize];
            completions.push(completion);
            self.free_slots.push(number);
            self.barrier.leave(epoch, at);
            self.held -= 1;
            if let Some((command, submitted, epoch)) = self.host.pop_front() {
                self.begin(command, submitted, epoch, at);
                self.queue_full.set(!self.host.is_empty(), at);
            }
        }
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        let media = self.accesses.iter().map(|work| work.until(now)).sum();
        usage.add(Resource::Media, self.channels.len() as u64, media);
        self.link.usage(now, usage);
        usage.add(Resource::Controller, 1, self.turns.until(now));
        self.queue_full.usage(u64::from(self.depth), now, usage);
    }

    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        let mut usage = Usage::default();
        self.usage(now, &mut usage);
        Some(self.drawing?.energy_nj(now, &usage))
    }

    /// Commands in the drive finish unseen: a completed write is on the medium.
    fn lose_power(&mut self, _now: Nanos) -> Loss {
        Loss::default()
    }
}
