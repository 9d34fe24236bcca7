//! Hard disk: one arm, one spindle, a command queue, and an optional read-ahead buffer.
//!
//! A command waits in the host while the disk is full. Its overhead passes in the controller, which
//! overlaps any number of commands with the mechanics. Then it waits for the arm. Its mechanical
//! service is the seek from the head's position, the rotation to its first byte, and the transfer.
//! After a share of the seeks the head settles too late, and a revolution passes first.
//! Each disk has its own angle and speed of rotation, within its tolerance.
//! Writes and reads take the same time. A trim ends after its overhead.
//!
//! **Durability.** A completed write is on the medium. A volatile write cache of the profile is a
//! [`Cache`](crate::stack) in front of the disk.

mod geometry;
mod misses;
mod queue;
mod read_ahead;
mod spindle;

use super::barrier::Barrier;
use super::completion::{Breakdown, DeviceCompletion};
use super::model::{Model, NoDevice};
use super::queue_full::QueueFull;
use crate::basics::seed_path::SeedPath;
use crate::device::loss::Loss;
use crate::device::power_draw::Drawing;
use geometry::Geometry;
use misses::Misses;
use queue::{Arm, Queue, Queued};
use read_ahead::ReadAhead;
use spindle::Spindle;
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::HddProfile;

/// Hard disk.
#[derive(Debug)]
pub struct Hdd {
    geometry: Geometry,
    overhead: Nanos,
    /// Commands held at once.
    depth: usize,
    /// Commands held now.
    held: usize,
    /// Commands that wait in the host: command, submission, epoch.
    host: VecDeque<(Command, Nanos, u64)>,
    queue_full: QueueFull,
    queue: Queue,
    /// Time at which the free arm next chooses a command.
    choice_at: Option<Nanos>,
    /// Command in service, its begin and end.
    service: Option<(Queued, Nanos, Nanos)>,
    /// Service time of the arm up to the end of the present service, and read-ahead time of data
    /// served.
    busy_ns: Nanos,
    drawing: Option<Drawing>,
    head_cylinder: u64,
    misses: Misses,
    segment_bytes: Option<u64>,
    read_ahead: Option<ReadAhead>,
    barrier: Barrier,
}

impl Hdd {
    /// Build a disk at rest over its first cylinder, in its place in a run.
    ///
    /// # Errors
    /// A sentence that names the value no disk can have.
    pub fn placed(profile: &HddProfile, seeds: &SeedPath) -> Result<Self, String> {
        let spindle = Spindle::placed(profile, seeds);
        let depth = profile.queue_depth.value as usize;
        let age_limit = profile.age_limit.as_ref().map_or(queue::AGE_LIMIT, |limit| limit.value.0);
        if depth == 0 {
            return Err("a hard disk's queue_depth must not be zero".into());
        }
        let geometry = Geometry::new(profile, spindle)?;
        Ok(Self {
            queue: Queue::new(profile.scheduling.value, depth, age_limit, geometry.revolution()),
            geometry,
            overhead: profile.command_overhead.value.0,
            depth,
            held: 0,
            host: VecDeque::new(),
            queue_full: QueueFull::default(),
            choice_at: None,
            service: None,
            busy_ns: 0,
            drawing: profile.power.as_ref().map(Drawing::new),
            head_cylinder: 0,
            misses: Misses::placed(profile, seeds),
            segment_bytes: profile.read_ahead.as_ref().map(|size| size.value.0),
            read_ahead: None,
            barrier: if profile.write_cache.is_some() { Barrier::default() } else { Barrier::free() },
        })
    }

    /// Return when a command next ends or leaves the controller.
    #[inline]
    fn next_event(&self) -> Nanos {
        let ready = self.queue.next_ready().unwrap_or(Nanos::MAX);
        let service = self.service.map_or(Nanos::MAX, |(_, _, end)| end);
        let flush = self.barrier.next().unwrap_or(Nanos::MAX);
        ready.min(service).min(flush)
    }

    /// Return when the arm next chooses.
    #[inline]
    fn next_choice(&self) -> Nanos {
        if self.service.is_none() { self.choice_at.unwrap_or(Nanos::MAX) } else { Nanos::MAX }
    }

    /// Process one event at `now`: the end of service first, then the controller, then a flush.
    fn step(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        if let Some((queued, start, _)) = self.service.take_if(|(_, _, end)| *end <= now) {
            self.choice_at = Some(now);
            self.complete(&queued, start, now, completions);
        } else if self.queue.next_ready().is_some_and(|at| at <= now) {
            self.ready(now, completions);
        } else if let Some(flush) = self.barrier.pop(now) {
            let latency = now - flush.submitted;
            let controller = self.overhead.min(latency);
            let breakdown = Breakdown { queue: latency - controller, controller, ..Breakdown::default() };
            completions.push(DeviceCompletion {
                command: flush.command,
                submitted: flush.submitted,
                at: now,
                breakdown,
                failed: false,
            });
        }
    }

    /// Accept a command from the host.
    fn admit(&mut self, command: Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.held += 1;
        let cylinder = self.geometry.cylinder(command.offset_bytes);
        let queued = Queued { command, submitted, entered: now, ready_at: now + self.overhead, epoch, cylinder };
        if command.kind == CommandKind::Write {
            self.read_ahead.take_if(|held| held.touches(command.offset_bytes, queued.end_bytes()));
        }
        self.queue.push(queued);
    }

    /// Move a command from the controller to the arm, or complete it.
    fn ready(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let (geometry, read_ahead, busy_ns) = (&self.geometry, &mut self.read_ahead, &mut self.busy_ns);
        let ended = self.queue.ready(now, |queued| match (queued.command.kind, read_ahead) {
            (CommandKind::Read, Some(read_ahead)) => {
                let end = queued.end_bytes();
                let holds = read_ahead.holds(geometry, queued.command.offset_bytes, end, now);
                if holds {
                    read_ahead.take(geometry, end, now);
                    *busy_ns += read_ahead.count(geometry, queued.command.offset_bytes, end);
                }
                holds
            }
            (kind, _) => kind == CommandKind::Trim,
        });
        // The arm may have waited for this command, whether it needs the arm or ends here.
        self.choice_at = Some(now);
        if let Some(queued) = ended {
            self.complete(&queued, now, now, completions);
        }
    }

    /// Complete a command whose mechanical service began at `start`; admit the next one.
    fn complete(&mut self, queued: &Queued, start: Nanos, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let breakdown = Breakdown {
            queue: (queued.entered - queued.submitted) + (start - queued.ready_at),
            controller: queued.ready_at - queued.entered,
            media: now - start,
            ..Breakdown::default()
        };
        let (command, submitted) = (queued.command, queued.submitted);
        completions.push(DeviceCompletion { command, submitted, at: now, breakdown, failed: false });
        self.barrier.leave(queued.epoch, now);
        self.held -= 1;
        if let Some((command, submitted, epoch)) = self.host.pop_front() {
            self.admit(command, submitted, epoch, now);
            self.queue_full.set(!self.host.is_empty(), now);
        }
    }

    /// Serve the scheduler's choice.
    fn serve_next(&mut self, now: Nanos) {
        if let Some(head) = self.read_ahead.as_ref().and_then(|held| held.head_cylinder(&self.geometry, now)) {
            self.head_cylinder = head;
        }
        let arm =
            Arm { geometry: &self.geometry, read_ahead: self.read_ahead.as_ref(), cylinder: self.head_cylinder, now };
        let Some(queued) = self.queue.choose(arm) else { return };
        let (offset, end) = (queued.command.offset_bytes, queued.end_bytes());
        let begin = self.geometry.begin(offset);
        let distance = queued.cylinder.abs_diff(self.head_cylinder);
        let arrival = now + self.geometry.seek(distance);
        let missed = if self.misses.next(distance, self.held) { self.geometry.revolution() } else { 0 };
        let over_head = arrival + self.geometry.rotation(arrival, begin) + missed;
        let done = over_head + self.geometry.end(end).saturating_sub(begin);
        let reads = queued.command.kind == CommandKind::Read;
        if let (true, Some(read_ahead)) = (reads, &mut self.read_ahead) {
            // Data about to pass are waited for, unless a seek reaches them sooner.
            let promised = read_ahead.promises(&self.geometry, offset, end, now).filter(|&at| at <= done);
            if let Some(at) = promised {
                read_ahead.take(&self.geometry, end, now);
                // Data that pass from now on count as service.
                self.busy_ns += read_ahead.count(&self.geometry, offset, end).saturating_sub(at - now);
                self.serve(queued, now, at);
                return;
            }
        }
        self.head_cylinder = self.geometry.cylinder(end.saturating_sub(1));
        match self.segment_bytes {
            Some(segment) if reads => {
                let low = offset.max(end.saturating_sub(segment));
                self.read_ahead = Some(ReadAhead::behind(&self.geometry, segment, low, end, done));
            }
            _ => {
                if let Some(read_ahead) = &mut self.read_ahead {
                    read_ahead.freeze(now);
                }
            }
        }
        self.serve(queued, now, done);
    }

    fn serve(&mut self, queued: Queued, now: Nanos, until: Nanos) {
        self.busy_ns += until - now;
        self.service = Some((queued, now, until));
    }
}

impl Model for Hdd {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        if command.kind == CommandKind::Flush {
            self.barrier.flush(command, now, now + self.overhead);
            return;
        }
        let epoch = self.barrier.enter(command.kind);
        if self.held < self.depth {
            self.admit(*command, now, epoch, now);
        } else {
            self.host.push_back((*command, now, epoch));
            self.queue_full.set(true, now);
        }
    }

    #[inline(never)]
    fn next_wake(&self) -> Option<Nanos> {
        let next = self.next_event().min(self.next_choice());
        (next < Nanos::MAX).then_some(next)
    }

    /// The arm chooses at the end of an instant, so it sees commands that the host submits in
    /// answer to a completion.
    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        loop {
            let (event, choice) = (self.next_event(), self.next_choice());
            if event.min(choice) > now {
                return;
            }
            if event <= choice {
                self.step(event, completions);
            } else if choice == now && completions.len() > before {
                return;
            } else {
                self.choice_at = None;
                self.serve_next(choice);
            }
        }
    }

    /// A write under way is not done; read-ahead data are lost.
    fn lose_power(&mut self, now: Nanos) -> Loss {
        if let Some((_, _, end)) = self.service.take() {
            self.busy_ns -= end.saturating_sub(now);
        }
        self.host.clear();
        self.queue_full.set(false, now);
        self.queue.clear();
        self.barrier.clear();
        (self.held, self.choice_at, self.read_ahead) = (0, None, None);
        Loss::default()
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        let ahead = self.service.as_ref().map_or(0, |(_, _, end)| end.saturating_sub(now));
        usage.add(Resource::Media, 1, self.busy_ns - ahead);
        self.queue_full.usage(self.depth as u64, now, usage);
    }

    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        let mut usage = Usage::default();
        self.usage(now, &mut usage);
        Some(self.drawing?.energy_nj(now, &usage))
    }
}
