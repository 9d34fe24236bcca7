//! Volume: a disk of a virtual machine or a cloud, known by its behaviour only.
//!
//! A command waits until fewer than `parallel` are in service and the limits admit it. One
//! processor serves it for its time and its bytes; its latency overlaps that of others. With
//! `rounds`, all waiting commands, including flushes, form a round: one latency, then their
//! services one after the other. Commands that arrive meanwhile form the next round. During a stall
//! the processor stands still.
//!
//! **Durability.** A completed write is durable.

use super::barrier::Barrier;
use super::busy_time::BusyTime;
use super::completion::{Breakdown, DeviceCompletion};
use super::draws::Draws;
use super::model::{Model, NoDevice};
use super::pace::Pace;
use super::queue_full::QueueFull;
use crate::basics::seed_path::SeedPath;
use crate::device::loss::Loss;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::{self, VolumeLimit, VolumeProfile, VolumeService};

/// Times of reads or of writes.
#[derive(Debug)]
struct Service {
    latency: Draws,
    command: Nanos,
    bytes: Pace,
    alone: Nanos,
}

impl Service {
    fn new(profile: &VolumeService) -> Self {
        Self {
            latency: Draws::new(&profile.latency.value),
            command: profile.command_time.value.0,
            bytes: Pace::per_second(profile.transfer_rate.value),
            alone: profile.alone.as_ref().map_or(0, |time| time.value.0),
        }
    }
}

/// Backlog that a limit may catch up while the other limit binds. QEMU, behind many providers'
/// volumes, admits as much at once without a configured burst (`util/throttle.c`: a tenth of a
/// second).
const CATCH_UP: Nanos = 100_000_000;

/// Limits on commands and bytes, shared by all commands. Each has a clock. A command advances both
/// clocks by its use of the rates, and is admitted when neither is ahead of the time.
///
/// Mixed lengths reach the rate that binds in the long run. Over any interval, neither rate is
/// exceeded by more than `CATCH_UP` of it. An idle volume accumulates no credit.
#[derive(Debug)]
struct Limit {
    command: Nanos,
    bytes: Pace,
    free: [Nanos; 2],
    /// Time in which a new command would have to wait, by the busier limit.
    used: BusyTime,
}

impl Limit {
    fn new(profile: &VolumeLimit) -> Self {
        Self {
            command: Pace::per_second(profile.command_rate.value).time(1),
            bytes: Pace::per_second(profile.byte_rate.value),
            free: [0; 2],
            used: BusyTime::default(),
        }
    }

    /// Return when a command of `bytes` that could begin at `now` is admitted.
    fn admit(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let [commands, carried] = self.free;
        let last = commands.max(carried);
        let at = now.max(last);
        // No command waited from `last` to `at`: advance both clocks.
        let rested = |free: Nanos| (free + (at - last)).max(at.saturating_sub(CATCH_UP));
        self.free = [rested(commands) + self.command, rested(carried) + self.bytes.time(bytes)];
        self.used.add(at, self.free[0].max(self.free[1]));
        at
    }

    /// Cancel admissions after `now`; they use nothing of the rates.
    fn forget(&mut self, now: Nanos) {
        self.free = self.free.map(|free| free.min(now));
        self.used.end(now);
    }
}

/// Stalls: times in which the processor stands still.
#[derive(Debug)]
struct Standstill {
    every: f64,
    lasting: Draws,
    next: Nanos,
    random: Random,
}

impl Standstill {
    fn new(profile: &profile::Stalls, mut random: Random) -> Self {
        let (every, lasting) = (profile.every.value.0 as f64, Draws::new(&profile.lasting.value));
        Self { next: random.exponential(every) as Nanos, every, lasting, random }
    }

    /// Return the end, with stalls, of work from `from` to `end`.
    fn delayed(&mut self, from: Nanos, mut end: Nanos) -> Nanos {
        while self.next < end {
            let over = self.next + self.lasting.draw(&mut self.random);
            end += over.saturating_sub(self.next.max(from));
            self.next = over + self.random.exponential(self.every) as Nanos;
        }
        end
    }
}

/// Volume.
#[derive(Debug)]
pub struct Volume {
    services: [Service; 2],
    flush: Draws,
    after_flush: Nanos,
    /// True if no write was served since the last flush.
    flushed: bool,
    parallel: u32,
    rounds: bool,
    limit: Option<Limit>,
    stalls: Option<Standstill>,
    random: Random,
    /// Waiting commands: command, submission, epoch among flushes.
    waiting: VecDeque<(Command, Nanos, u64)>,
    queue_full: QueueFull,
    held: u32,
    /// Begin of the next round, if a command waits for it.
    round_at: Option<Nanos>,
    processor: Nanos,
    slots: Vec<(DeviceCompletion, u64)>,
    free_slots: Vec<u32>,
    /// Completions to come: time, order, slot.
    events: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    scheduled: u64,
    barrier: Barrier,
    /// Busy time of the processor, including stalls.
    work: BusyTime,
}

impl Volume {
    /// Build a volume at rest.
    pub fn new(profile: &VolumeProfile, seeds: &SeedPath) -> Self {
        Self {
            services: [&profile.read, &profile.write].map(Service::new),
            flush: Draws::new(&profile.flush.value),
            after_flush: profile.after_flush.as_ref().map_or(0, |time| time.value.0),
            flushed: false,
            parallel: profile.parallel.value,
            rounds: profile.rounds.as_ref().is_some_and(|rounds| rounds.value),
            limit: profile.limit.as_ref().map(Limit::new),
            stalls: profile.stalls.as_ref().map(|stalls| Standstill::new(stalls, seeds.stream("stalls"))),
            random: seeds.stream("latencies"),
            waiting: VecDeque::new(),
            queue_full: QueueFull::default(),
            held: 0,
            round_at: None,
            processor: 0,
            slots: Vec::new(),
            free_slots: Vec::new(),
            events: BinaryHeap::with_capacity(1024),
            scheduled: 0,
            barrier: Barrier::default(),
            work: BusyTime::default(),
        }
    }

    fn complete(&mut self, completions: &mut Vec<DeviceCompletion>) {
        let Some(Reverse((at, _, number))) = self.events.pop() else { return };
        let (completion, epoch) = self.slots[number as usize];
        completions.push(completion);
        self.free_slots.push(number);
        self.barrier.leave(epoch, at);
        self.held -= 1;
        if self.rounds {
            if self.held == 0 && !self.waiting.is_empty() {
                self.round_at = Some(at);
            }
        } else if let Some((command, submitted, epoch)) = self.waiting.pop_front() {
            self.begin(command, submitted, epoch, at);
            self.queue_full.set(!self.waiting.is_empty(), at);
        }
    }

    #[inline]
    fn pass(&mut self, now: Nanos) {
        self.work.pass(now);
        if let Some(limit) = &mut self.limit {
            limit.used.pass(now);
        }
    }

    /// Serve a command: its turn on the processor, then its latency.
    fn begin(&mut self, command: Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.pass(now);
        let kind = usize::from(command.kind != CommandKind::Read);
        let latency = self.services[kind].latency.draw(&mut self.random);
        let mut breakdown = Breakdown { media: latency, ..Breakdown::default() };
        let at = self.serve(&command, now, &mut breakdown) + latency + self.harden(&command, &mut breakdown);
        self.schedule(command, submitted, epoch, at, breakdown);
    }

    /// Begin a round of all waiting commands: one latency (a longer one for a single command), then
    /// one service after the other. Flushes of a round overlap.
    fn begin_round(&mut self, now: Nanos) {
        self.round_at = None;
        self.pass(now);
        let Some((first, ..)) = self.waiting.front() else { return };
        let kind = usize::from(first.kind != CommandKind::Read);
        let alone = if self.waiting.len() == 1 || self.parallel == 1 { self.services[kind].alone } else { 0 };
        let media = self.services[kind].latency.draw(&mut self.random) + alone;
        let begun = self.worked(now, now + media);
        let mut latest = begun;
        for _ in 0..self.parallel {
            let Some((command, submitted, epoch)) = self.waiting.pop_front() else { break };
            let mut breakdown = Breakdown { media, ..Breakdown::default() };
            let mut at = self.serve(&command, begun, &mut breakdown) + self.harden(&command, &mut breakdown);
            if command.kind == CommandKind::Flush {
                at = at.max(latest);
            }
            latest = latest.max(at);
            self.schedule(command, submitted, epoch, at, breakdown);
        }
        // Commands that arrived during the last round wait for its end. Only commands without a
        // place in this round count as held back.
        self.queue_full.set(!self.waiting.is_empty(), now);
    }

    /// Return the end of a command's turn on the processor, not before `now` and within the limits.
    fn serve(&mut self, command: &Command, now: Nanos, breakdown: &mut Breakdown) -> Nanos {
        let bytes = if command.kind == CommandKind::Trim { 0 } else { u64::from(command.length_bytes) };
        let service = &self.services[usize::from(command.kind != CommandKind::Read)];
        (breakdown.controller, breakdown.link) = (service.command, service.bytes.time(bytes));
        breakdown.controller += self.after_flush(command.kind);
        let mut ready = now;
        if let Some(limit) = self.limit.as_mut().filter(|_| command.kind != CommandKind::Flush) {
            ready = limit.admit(now, bytes);
        }
        let turn = ready.max(self.processor);
        self.worked(turn, turn + breakdown.controller + breakdown.link)
    }

    /// Return the extra time of a command after a flush, with only reads between.
    #[inline]
    fn after_flush(&mut self, kind: CommandKind) -> Nanos {
        match kind {
            CommandKind::Flush => self.flushed = true,
            CommandKind::Write if self.flushed => {
                self.flushed = false;
                return self.after_flush;
            }
            _ => {}
        }
        0
    }

    /// Return the end of the processor's work, with stalls.
    fn worked(&mut self, from: Nanos, to: Nanos) -> Nanos {
        let end = self.stalls.as_mut().map_or(to, |stalls| stalls.delayed(from, to));
        self.work.add(from, end);
        self.processor = end;
        end
    }

    /// Draw the time of a flush, or of a write with force unit access.
    fn harden(&mut self, command: &Command, breakdown: &mut Breakdown) -> Nanos {
        if !command.fua && command.kind != CommandKind::Flush {
            return 0;
        }
        let flush = self.flush.draw(&mut self.random);
        breakdown.media += flush;
        flush
    }

    fn schedule(&mut self, command: Command, submitted: Nanos, epoch: u64, at: Nanos, mut breakdown: Breakdown) {
        self.held += 1;
        breakdown.queue = at - submitted - breakdown.media - breakdown.controller - breakdown.link;
        let completion = DeviceCompletion { command, submitted, at, breakdown, failed: false };
        let number = self.free_slots.pop().unwrap_or(self.slots.len() as u32);
        if number as usize == self.slots.len() {
            self.slots.push((completion, epoch));
        } else {
            self.slots[number as usize] = (completion, epoch);
        }
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, number)));
    }
}

impl Model for Volume {
    type Inner = NoDevice;

    fn submit(&mut self, now: Nanos, command: &Command) {
        if command.kind == CommandKind::Flush && !self.rounds {
            self.flushed = true;
            let ready = now + self.flush.draw(&mut self.random);
            self.barrier.flush(command, now, ready);
            return;
        }
        let epoch = self.barrier.enter(command.kind);
        if !self.rounds && self.held < self.parallel {
            self.begin(*command, now, epoch, now);
            return;
        }
        self.waiting.push_back((*command, now, epoch));
        if !self.rounds {
            self.queue_full.set(true, now);
        } else if self.held == 0 {
            self.round_at.get_or_insert(now);
        }
    }

    #[inline(never)]
    fn next_wake(&self) -> Option<Nanos> {
        let event = self.events.peek().map(|Reverse((at, ..))| *at);
        [event, self.barrier.next(), self.round_at].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if self.barrier.next().is_some_and(|flush| flush <= at) {
                let Some(flush) = self.barrier.pop(at) else { return };
                let breakdown = Breakdown { media: at - flush.submitted, ..Breakdown::default() };
                let (command, submitted) = (flush.command, flush.submitted);
                completions.push(DeviceCompletion { command, submitted, at, breakdown, failed: false });
            } else if self.round_at == Some(at) {
                // Commands submitted in answer to a completion of this instant belong to the round.
                if completions[before..].last().is_some_and(|last| last.at == now) {
                    return;
                }
                self.begin_round(at);
            } else {
                self.complete(completions);
            }
        }
    }

    /// Commands under way are forgotten.
    fn lose_power(&mut self, now: Nanos) -> Loss {
        self.waiting.clear();
        self.queue_full.set(false, now);
        self.events.clear();
        self.slots.clear();
        self.free_slots.clear();
        self.barrier = Barrier::default();
        (self.held, self.round_at, self.processor) = (0, None, now);
        self.work.end(now);
        if let Some(limit) = &mut self.limit {
            limit.forget(now);
        }
        Loss::default()
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Controller, 1, self.work.until(now));
        if let Some(limit) = &self.limit {
            usage.add(Resource::Allowance, 1, limit.used.until(now));
        }
        self.queue_full.usage(u64::from(self.parallel), now, usage);
    }
}
