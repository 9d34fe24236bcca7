//! A volume: a disk known by its behaviour only, as a virtual machine or a cloud shows it.
//!
//! A command waits until the volume works on fewer than `parallel` and until the limits let it through; then the one
//! processor serves it for its time and its bytes, and its latency passes beside that of others. With `rounds`, all that
//! wait are taken together, flushes too: one latency, then their services one after the other; what comes meanwhile
//! forms the next round. During a stall the processor stands still.
//!
//! **Durability.** A completed write is durable.

use super::barrier::Barrier;
use super::busy_time::BusyTime;
use super::completion::{Breakdown, DeviceCompletion};
use super::model::{Model, NoDevice};
use super::pace::Pace;
use super::queue_full::QueueFull;
use crate::chance::Chance;
use crate::fault::Loss;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::{self, LatencyPoint, VolumeLimit, VolumeProfile, VolumeService};

/// A distribution of times by points of its cumulative function.
#[derive(Debug)]
struct Draws(Vec<(u64, Nanos)>);

impl Draws {
    fn new(points: &[LatencyPoint]) -> Self {
        Self(points.iter().map(|point| (u64::from(point.share.0), point.time.0)).collect())
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> Nanos {
        let share = random.below(1_000_000);
        let above = self.0.partition_point(|&(reached, _)| reached <= share);
        let (Some(&(from, least)), Some(&(to, most))) = (self.0.get(above.wrapping_sub(1)), self.0.get(above)) else {
            return self.0.last().map_or(0, |&(_, time)| time);
        };
        least + (u128::from(most - least) * u128::from(share - from) / u128::from(to - from)) as Nanos
    }
}

/// What reads or writes take.
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

/// How much of its rate the limit that the other one holds back can make up for later. QEMU, which stands behind many a
/// provider's volumes, lets through as much at once where no burst is set (`util/throttle.c`: a tenth of a second's).
const CATCH_UP: Nanos = 100_000_000;

/// Rates that all commands share, those of commands and of bytes: each has a clock, which a command puts forward by what it
/// takes of that rate, and goes through when no clock is ahead of the time.
///
/// So mixed lengths come to the rate that binds in the long run, and over any time to no more of either than its rate gives
/// and `CATCH_UP` of it. Nothing is saved up while nobody waits: a volume at rest has no credit.
#[derive(Debug)]
struct Limit {
    command: Nanos,
    bytes: Pace,
    free: [Nanos; 2],
    /// While a command that came would have to wait: as long as the busier limit takes.
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

    /// When a command of so many bytes that could begin at `now` may.
    fn admit(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let [commands, carried] = self.free;
        let last = commands.max(carried);
        let at = now.max(last);
        // From `last` to `at` nobody waited: that puts both clocks forward.
        let rested = |free: Nanos| (free + (at - last)).max(at.saturating_sub(CATCH_UP));
        self.free = [rested(commands) + self.command, rested(carried) + self.bytes.time(bytes)];
        self.used.add(at, self.free[0].max(self.free[1]));
        at
    }

    /// What was let through after `now` is forgotten, and takes nothing of the rates.
    fn forget(&mut self, now: Nanos) {
        self.free = self.free.map(|free| free.min(now));
        self.used.end(now);
    }
}

/// Times in which nothing moves.
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

    /// When work from `from` that would end at `end` does.
    fn delayed(&mut self, from: Nanos, mut end: Nanos) -> Nanos {
        while self.next < end {
            let over = self.next + self.lasting.draw(&mut self.random);
            end += over.saturating_sub(self.next.max(from));
            self.next = over + self.random.exponential(self.every) as Nanos;
        }
        end
    }
}

/// A volume and what it works on.
#[derive(Debug)]
pub struct Volume {
    services: [Service; 2],
    flush: Draws,
    after_flush: Nanos,
    /// Whether no write was served since the last flush.
    flushed: bool,
    parallel: u32,
    rounds: bool,
    limit: Option<Limit>,
    stalls: Option<Standstill>,
    random: Random,
    /// What waits, since when, and its epoch among flushes.
    waiting: VecDeque<(Command, Nanos, u64)>,
    queue_full: QueueFull,
    held: u32,
    /// When the next round begins, if something waits for it.
    round_at: Option<Nanos>,
    processor: Nanos,
    slots: Vec<(DeviceCompletion, u64)>,
    free_slots: Vec<u32>,
    /// Time, order and slot of what completes next.
    events: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    scheduled: u64,
    barrier: Barrier,
    /// What the processor works, stalls included.
    work: BusyTime,
}

impl Volume {
    /// A volume at rest.
    pub fn new(profile: &VolumeProfile, chance: &Chance) -> Self {
        Self {
            services: [&profile.read, &profile.write].map(Service::new),
            flush: Draws::new(&profile.flush.value),
            after_flush: profile.after_flush.as_ref().map_or(0, |time| time.value.0),
            flushed: false,
            parallel: profile.parallel.value,
            rounds: profile.rounds.as_ref().is_some_and(|rounds| rounds.value),
            limit: profile.limit.as_ref().map(Limit::new),
            stalls: profile.stalls.as_ref().map(|stalls| Standstill::new(stalls, chance.of("stalls"))),
            random: chance.of("latencies"),
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

    /// Takes a command: its turn on the processor, then its latency.
    fn begin(&mut self, command: Command, submitted: Nanos, epoch: u64, now: Nanos) {
        self.pass(now);
        let kind = usize::from(command.kind != CommandKind::Read);
        let latency = self.services[kind].latency.draw(&mut self.random);
        let mut breakdown = Breakdown { media: latency, ..Breakdown::default() };
        let at = self.serve(&command, now, &mut breakdown) + latency + self.harden(&command, &mut breakdown);
        self.schedule(command, submitted, epoch, at, breakdown);
    }

    /// Takes all that wait: one latency (a longer one for a command alone), then one after the other. Flushes of a round
    /// pass beside one another.
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
        // What came while the last round went on waits for its end; only what this one has no place for is held back by that.
        self.queue_full.set(!self.waiting.is_empty(), now);
    }

    /// A command's turn on the processor, not before `now` and as the limits permit: when it ends.
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

    /// What a command takes longer because a flush was the last before it that was no read.
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

    /// The processor works from one time to another, stalls not counted: when it has done so.
    fn worked(&mut self, from: Nanos, to: Nanos) -> Nanos {
        let end = self.stalls.as_mut().map_or(to, |stalls| stalls.delayed(from, to));
        self.work.add(from, end);
        self.processor = end;
        end
    }

    /// Time that a flush takes, or a write that is durable at once.
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
                // What is submitted in answer to a completion of this instant belongs to the round.
                if completions[before..].last().is_some_and(|last| last.at == now) {
                    return;
                }
                self.begin_round(at);
            } else {
                self.complete(completions);
            }
        }
    }

    /// Power fails: what is under way is forgotten.
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
