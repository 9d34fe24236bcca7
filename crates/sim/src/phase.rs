//! One phase in virtual time: jobs against devices, from its begin to the drain after its end.
//!
//! At one instant jobs issue before devices go on, and an interval ends after both: what completes on a boundary belongs
//! to the interval that it ends. Among jobs, the one that became due first issues first; among devices, the first one.
//! Boundaries therefore change the order of nothing. At the phase's end nothing is issued any more.

use crate::check;
use crate::device::{Breakdown, Device, DeviceCompletion};
use crate::digest::{Digest, Entry};
use crate::due::Due;
use crate::engine::{Engine, Request};
use crate::host::Step;
use crate::run::{SimError, World, places};
use serde_json::json;
use tameshi_base::{Command, Nanos};
use tameshi_record::interval::PART_COUNT;
use tameshi_record::ledger::depth_class;
use tameshi_record::{Clock, EndedBy, IntervalStats, Part, Rounds, Slow, Writer};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::steady::{Detector, Round, State};
use tameshi_workload::{Job, Operation, Paces, Placement};

/// Place of a transaction among the operations of the record.
const TRANSACTION: usize = 5;
/// Completions between two looks at the switch that stops a run, a power of two.
const STOP_CHECK: u64 = 1 << 16;
/// So many issues at one instant, beyond the slots there are, and time stands still.
const STANDSTILL: u64 = 1 << 20;

/// So many requests before their time a flash drive's map is brought near to the processor, and then what it points to.
const LOOK_AHEAD: [usize; 2] = [16, 8];

/// A job, its stream, and the device it works on.
struct Seat {
    job: Job,
    number: u32,
    stream: u16,
    device: usize,
    /// Where the storage begins on the device.
    base_bytes: u64,
}

/// A phase under way.
pub(crate) struct Phase<'a> {
    spec: &'a PhaseSpec,
    index: u32,
    seats: Vec<Seat>,
    due: Due,
    /// Per stream.
    stats: Vec<IntervalStats>,
    clock: Clock,
    /// Of a phase in rounds of its own.
    detector: Option<Detector>,
    /// Per stream, what the round so far amounts to.
    round: Vec<Round>,
    begin: Nanos,
    /// When its time is over.
    end: Nanos,
    /// Jobs that still have something to do.
    active: usize,
    bounded: bool,
    slots: u64,
    completed: u64,
    issued_at_once: u64,
    /// Names of the streams and kinds of transactions, each with how many jobs; those of the engine come last.
    names: Vec<String>,
    interval_began: Nanos,
}

impl<'a> Phase<'a> {
    /// Phase `index` of `spec`, which begins at `begin`; `round` is that of a phase that is repeated.
    pub(crate) fn new(spec: &'a RunSpec, index: usize, begin: Nanos, round: Option<u32>) -> Self {
        let phase = &spec.phases[index];
        let (mut seats, places) = (Vec::new(), places(spec));
        let paces = Paces::new(phase.streams.iter().map(|stream| &stream.stream));
        for (number, stream) in phase.streams.iter().enumerate() {
            let storage = spec.storage.get_index_of(&stream.storage);
            let storage = storage.expect("the spec was checked: the storage is there");
            let (device, base_bytes) = places[storage];
            let name = phase.random_name(stream, round);
            let placement = |job| Placement {
                stream: number as u16,
                job,
                storage_bytes: spec.storage[storage].size.0,
                begin,
                budget_bytes: phase.budget_bytes_per_job(&stream.stream),
                seed: spec.seed,
                name: &name,
            };
            seats.extend((0..stream.stream.jobs).map(|job| {
                let place = placement(job);
                let started = Job::new(&stream.stream, place).paced(paces.of(number));
                Seat { job: started, number: job, stream: place.stream, device, base_bytes }
            }));
        }
        let mut due = Due::new(seats.len());
        seats.iter().enumerate().for_each(|(seat, of)| due.set(seat, of.job.next_due()));
        let rounds = round.map_or(phase.round().map_or(Rounds::None, Rounds::Each), Rounds::Within);
        let clock = Clock::new(begin, phase.ramp.0, spec.interval.0).in_rounds(rounds);
        let detector = |rule| Detector::new(rule, phase.subjects(index as u32));
        let mut names: Vec<String> = phase.streams.iter().map(|stream| stream.name.clone()).collect();
        names.extend(phase.programs.iter().flat_map(Engine::kinds));
        let interval = |stream| IntervalStats::new(index as u32, stream, clock.part(begin), begin);
        Self {
            spec: phase,
            index: index as u32,
            due,
            stats: (0..names.len() as u16).map(interval).collect(),
            clock,
            detector: phase.until.steady.map(detector),
            round: vec![Round::default(); phase.streams.len()],
            begin,
            end: phase.until.time.map_or(Nanos::MAX, |time| begin.saturating_add(time.0)),
            active: seats.iter().filter(|seat| !seat.job.is_done()).count(),
            bounded: phase.is_bounded(),
            slots: phase.streams.iter().map(|s| u64::from(s.stream.jobs) * u64::from(s.stream.queue_depth)).sum(),
            seats,
            completed: 0,
            issued_at_once: 0,
            names,
            interval_began: begin,
        }
    }

    /// Runs to the end, and drains; tells why it ended, and of a phase that is part of a round what its streams did.
    pub(crate) fn run(
        mut self,
        run: &RunSpec,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(EndedBy, Vec<Round>), SimError> {
        let streams: Vec<(&str, u32)> = self.names.iter().map(|name| (name.as_str(), 1)).collect();
        writer.phase_begin(self.begin, self.index, &streams)?;
        if self.spec.ramp.0 == 0 {
            writer.phase_ramped(self.begin, self.index)?;
        }
        world.staging.phase_begins(self.index, self.begin);
        let (mut threads, mut storage) = (Vec::new(), 0);
        if let Some(engine) = &mut world.engine {
            (threads, storage) = (engine.begin(self.begin, self.spec, self.seats.len()), engine.storage);
        }
        if let Some(host) = &mut world.host {
            host.begin(run, self.spec, (storage, &threads));
        }
        world.note_usage();
        self.serve_engine(world, true);
        let ended_by = self.work(world, writer)?;
        let end = world.now;
        if matches!(ended_by, EndedBy::Amount | EndedBy::Stopped) {
            self.tally();
        }
        self.round.iter_mut().for_each(|round| round.length_ns = end.saturating_sub(self.clock.ramped()));
        for (number, stats) in self.stats.iter_mut().enumerate() {
            let of_stream = self.seats.iter().filter(|seat| usize::from(seat.stream) == number);
            stats.unserved = of_stream.map(|seat| seat.job.unserved_before(end)).sum();
            stats.end = end;
            writer.interval(stats)?;
        }
        world.write_usage(writer)?;
        self.write_engine(world, writer)?;
        for outage in world.engine.as_mut().map_or(Vec::new(), |engine| engine.outages(end)) {
            writer.event(outage.first_error_ns, "outage", json!({ "phase": self.index, "outage": outage }))?;
        }
        writer.phase_end(end, self.index, ended_by)?;
        self.drain(world, writer)?;
        world.tell_engine(writer)?;
        writer.event(world.now, "phase_drained", json!({ "phase": self.index }))?;
        Ok((ended_by, self.round))
    }

    /// Everything up to the end; leaves the world's time there.
    fn work(&mut self, world: &mut World, writer: &mut Writer) -> Result<EndedBy, SimError> {
        let mut boundary = self.clock.boundary_after(self.begin).min(self.end);
        loop {
            if self.active == 0 && self.bounded {
                return Ok(EndedBy::Amount);
            }
            let (wake, device) = world.first_wake();
            let (host, engine) = (world.host_wake(), world.engine_wake());
            let (mut due, seat) = self.due.first();
            if due >= self.end {
                due = Nanos::MAX;
            }
            let event = world.staging.next();
            let first = wake.min(due).min(host).min(engine);
            if event <= first.min(boundary) && event < self.end {
                self.enter(world, event.max(world.now));
                world.stage(writer)?;
            } else if first > boundary {
                self.enter(world, boundary);
                self.tally();
                if let Some(ended_by) = self.round_over(boundary, writer)? {
                    return Ok(ended_by);
                }
                if boundary == self.end {
                    return Ok(EndedBy::Time);
                }
                if writer.control().is_stopping() {
                    return Ok(EndedBy::Stopped);
                }
                self.rotate(world, writer)?;
                boundary = self.clock.boundary_after(boundary).min(self.end);
            } else if due <= wake.min(host).min(engine) {
                self.enter(world, due);
                self.issue(world, seat)?;
            } else if engine <= wake.min(host) {
                self.enter(world, engine);
                self.engine(world, true);
            } else if host <= wake {
                self.enter(world, host);
                if self.host(world, true) && writer.control().is_stopping() {
                    return Ok(EndedBy::Stopped);
                }
            } else {
                self.enter(world, wake);
                let look = self.complete(world, device, true);
                world.tell_rebuilt(writer)?;
                if look && writer.control().is_stopping() {
                    return Ok(EndedBy::Stopped);
                }
            }
        }
    }

    /// Adds the interval that ends now to the round.
    fn tally(&mut self) {
        for (stats, round) in self.stats.iter().zip(&mut self.round) {
            if stats.part != Part::Ramp {
                round.add(&round_of(stats));
            }
        }
    }

    /// Judges the round that ends at `now`, if one does; why the phase is over then, if it is.
    fn round_over(&mut self, now: Nanos, writer: &mut Writer) -> Result<Option<EndedBy>, SimError> {
        let (Some(detector), Some(number)) = (&mut self.detector, self.clock.round_ending_at(now)) else {
            return Ok(None);
        };
        let length_ns = self.clock.end_of_round(number) - self.clock.end_of_round(number - 1);
        self.round.iter_mut().for_each(|round| round.length_ns = length_ns);
        let state = detector.add(&self.round);
        self.round.fill(Round::default());
        tell_round(writer, now, ("phase", self.index), detector, state)?;
        Ok(match state {
            State::Unsettled => None,
            State::Attained => Some(EndedBy::Steady),
            State::GivenUp => Some(EndedBy::Rounds),
        })
    }

    /// Time goes on to `now`.
    #[inline]
    fn enter(&mut self, world: &mut World, now: Nanos) {
        assert!(now >= world.now, "virtual time goes back from {} to {now}", world.now);
        if now > world.now {
            self.issued_at_once = 0;
        }
        world.now = now;
    }

    /// The interval ends and the next one begins.
    fn rotate(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let now = world.now;
        for stats in &mut self.stats {
            stats.end = now;
            writer.interval(stats)?;
            stats.restart(self.index, self.clock.part(now), now);
        }
        world.write_usage(writer)?;
        self.write_engine(world, writer)?;
        if now == self.clock.ramped() {
            writer.phase_ramped(now, self.index)?;
        }
        Ok(())
    }

    /// A job issues the command that is due.
    #[inline]
    fn issue(&mut self, world: &mut World, seat: usize) -> Result<(), SimError> {
        let of = &mut self.seats[seat];
        if let Some(issue) = of.job.issue(world.now) {
            let stats = &mut self.stats[usize::from(of.stream)];
            stats.ledger.depth[depth_class(of.job.outstanding())] += 1;
            if issue.scheduled {
                let (slip, lag) = (world.now - issue.intended, world.now - issue.ready);
                stats.late += u64::from(slip > 0);
                stats.started(slip, lag);
            }
            if let Some(command) = issue.command {
                let id = ((seat as u64) << 32) | u64::from(issue.slot);
                let command = Command { id, offset_bytes: command.offset_bytes + of.base_bytes, ..command };
                match &mut world.host {
                    None => world.devices[of.device].submit(world.now, &command),
                    Some(host) => {
                        if let Step::Submit(command, device) = host.issue(world.now, &command, of.device) {
                            world.devices[device].submit(world.now, &command);
                        }
                    }
                }
            }
        } else if self.bounded && of.job.is_done() {
            self.active -= 1;
        }
        self.due.set(seat, of.job.next_due());
        if let Device::Flash(flash) = &world.devices[of.device] {
            for (place, requests) in LOOK_AHEAD.into_iter().enumerate() {
                if let Some((kind, offset_bytes)) = of.job.look_ahead(requests) {
                    flash.prefetch(place, kind, offset_bytes + of.base_bytes);
                }
            }
        }
        self.issued_at_once += 1;
        if self.issued_at_once > STANDSTILL + self.slots && !self.bounded {
            let stream = &self.spec.streams[usize::from(of.stream)];
            return Err(SimError::NoProgress(check::no_end(&self.spec.name, &stream.name, &stream.storage)));
        }
        Ok(())
    }

    /// Takes what a device completes now, into the record if `recorded`; true when it is time to look at the switch.
    #[inline]
    fn complete(&mut self, world: &mut World, device: usize, recorded: bool) -> bool {
        let before = self.completed;
        world.devices[device].advance(world.now, &mut world.completions);
        for done in world.completions.drain(..) {
            match &mut world.host {
                None => self.finish((&mut world.digest, &mut world.engine), &done, recorded),
                Some(host) => {
                    if let Step::Done(done) = host.completed(&done) {
                        self.finish((&mut world.digest, &mut world.engine), &done, recorded);
                    }
                }
            }
        }
        self.serve_engine(world, recorded);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// The one thing that happens next in the host; true when it is time to look at the switch.
    fn host(&mut self, world: &mut World, recorded: bool) -> bool {
        let before = self.completed;
        let step = world.host.as_mut().map_or(Step::Waiting, |host| host.advance(world.now));
        match step {
            Step::Waiting => {}
            Step::Submit(command, device) => world.devices[device].submit(world.now, &command),
            Step::Worked(id) => {
                if let Some(engine) = &mut world.engine {
                    engine.computed(world.now, id);
                }
            }
            Step::Done(done) => self.finish((&mut world.digest, &mut world.engine), &done, recorded),
        }
        self.serve_engine(world, recorded);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// A job's command is complete, or has failed: then it counts in nothing else.
    #[inline]
    fn finish(
        &mut self,
        (digest, engine): (&mut Digest, &mut Option<Box<Engine>>),
        done: &DeviceCompletion,
        recorded: bool,
    ) {
        let (seat, slot) = ((done.command.id >> 32) as usize, done.command.id as u32);
        if seat >= self.seats.len() {
            digest.add(engines(done, seat, slot));
            self.completed += 1;
            if let Some(engine) = engine {
                engine.completed(done);
            }
            return;
        }
        let of = &mut self.seats[seat];
        let completion = of.job.complete(slot, done.at);
        digest.add(entry(done, of, slot, completion.latency));
        self.completed += 1;
        if !recorded {
            return;
        }
        self.due.set(seat, of.job.next_due());
        if self.bounded && of.job.is_done() {
            self.active -= 1;
        }
        let stats = &mut self.stats[usize::from(of.stream)];
        if done.failed {
            stats.failed += 1;
            return;
        }
        stats.record(completion.operation as usize, completion.bytes, completion.latency);
        stats.service_ns_sum += completion.service;
        spent(&mut stats.parts_ns, &done.breakdown, completion.latency);
        stats.ledger.slowest.see(Slow {
            latency: completion.latency,
            at: done.at,
            offset_bytes: done.command.offset_bytes,
            length_bytes: done.command.length_bytes,
            operation: completion.operation as u8,
        });
        for &latency in completion.commit.iter().chain(of.job.commits()) {
            stats.record(Operation::Commit as usize, 0, latency);
        }
    }

    /// What happens in the engine by itself now.
    fn engine(&mut self, world: &mut World, recorded: bool) {
        if let Some(engine) = &mut world.engine {
            engine.advance(world.now);
        }
        self.serve_engine(world, recorded);
    }

    /// Carries out what the engine asks for, and takes the transactions that have ended.
    fn serve_engine(&mut self, world: &mut World, recorded: bool) {
        let Some(engine) = &mut world.engine else { return };
        let now = world.now;
        while let Some(request) = engine.request() {
            match (request, &mut world.host) {
                (Request::Work { thread, time }, None) => engine.work_without_host(thread, time),
                (Request::Work { thread, time }, Some(host)) => {
                    let id = (self.seats.len() as u64 + u64::from(thread)) << 32;
                    if let Step::Worked(id) = host.work(now, id, time) {
                        engine.computed(now, id);
                    }
                }
                (Request::Command(command), None) => world.devices[engine.device].submit(now, &command),
                (Request::Command(command), Some(host)) => {
                    if let Step::Submit(command, device) = host.issue(now, &command, engine.device) {
                        world.devices[device].submit(now, &command);
                    }
                }
            }
        }
        for ended in engine.ended.drain(..) {
            let stream = (self.spec.streams.len() + ended.kind) as u16;
            let kind = tameshi_base::CommandKind::Read;
            let latency = ended.latency;
            let entry = Entry { at: now, stream, job: 0, slot: 0, kind, offset_bytes: 0, latency, failed: false };
            world.digest.add(entry);
            if recorded {
                self.stats[usize::from(stream)].record(TRANSACTION, 0, latency);
            }
        }
    }

    /// What the engine counted since the interval's begin goes into the record.
    fn write_engine(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let span = (self.interval_began, world.now);
        self.interval_began = world.now;
        if let (Some(engine), Some(drives)) = (&mut world.engine, self.spec.programs.first()) {
            engine.write(span, drives.word(), writer)?;
        }
        world.tell_engine(writer)
    }

    /// Lets what is outstanding complete, into the digest only; what the devices do for themselves goes on meanwhile.
    fn drain(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if let Some(engine) = &mut world.engine {
            engine.close(world.now);
        }
        loop {
            let ((wake, device), host, engine) = (world.first_wake(), world.host_wake(), world.engine_wake());
            let (event, first) = (world.staging.next(), wake.min(host).min(engine));
            let outstanding = self.seats.iter().any(|seat| seat.job.outstanding() > 0);
            if !outstanding && host == Nanos::MAX && world.engine.as_ref().is_none_or(|engine| engine.is_at_rest()) {
                return Ok(());
            }
            if event.min(first) == Nanos::MAX {
                let commands = self.seats.iter().map(|seat| u64::from(seat.job.outstanding())).sum();
                return Err(SimError::Lost { phase: self.spec.name.clone(), commands });
            }
            world.now = world.now.max(event.min(first));
            if event <= first {
                world.stage(writer)?;
            } else if engine <= wake.min(host) {
                self.engine(world, false);
            } else if host <= wake {
                self.host(world, false);
            } else {
                self.complete(world, device, false);
                world.tell_rebuilt(writer)?;
            }
        }
    }
}

/// Adds where a latency went, in the order of the record's `PART_WORDS`. What the device does not account for was
/// spent waiting as well: for a slot, where the loop is open.
#[inline]
fn spent(parts_ns: &mut [u64; PART_COUNT], part: &Breakdown, latency: Nanos) {
    let [queue, host, link, controller, media, gc, rebuild] = parts_ns;
    *host += part.host;
    *link += part.link;
    *controller += part.controller;
    *media += part.media;
    *gc += part.garbage_collection;
    *rebuild += part.rebuild;
    *queue += latency - (part.total() - part.queue);
}

/// What counts for steady state: reads and writes.
fn round_of(stats: &IntervalStats) -> Round {
    let [read, write] = [Operation::Read, Operation::Write].map(|operation| &stats.operations[operation as usize]);
    Round {
        operations: read.count + write.count,
        bytes: read.bytes + write.bytes,
        latency_ns_sum: read.latency_ns_sum + write.latency_ns_sum,
        length_ns: 0,
    }
}

/// Records a round's values, and the verdict that it brings; `of` is the key and number of what the rounds belong to.
pub(crate) fn tell_round(
    writer: &mut Writer,
    now: Nanos,
    of: (&str, u32),
    detector: &Detector,
    state: State,
) -> Result<(), SimError> {
    writer.event(now, "round", json!({ of.0: of.1, "round": detector.rounds(), "values": detector.values() }))?;
    if state != State::Unsettled {
        let told = json!({ of.0: of.1, "steady": detector.told(state == State::Attained) });
        writer.event(now, "steady", told)?;
    }
    Ok(())
}

/// A completion of the engine's.
fn engines(done: &DeviceCompletion, seat: usize, slot: u32) -> Entry {
    let command = &done.command;
    Entry {
        at: done.at,
        stream: u16::MAX,
        job: seat as u32,
        slot,
        kind: command.kind,
        offset_bytes: command.offset_bytes,
        latency: done.at - done.submitted,
        failed: done.failed,
    }
}

#[inline]
fn entry(done: &DeviceCompletion, seat: &Seat, slot: u32, latency: Nanos) -> Entry {
    Entry {
        at: done.at,
        stream: seat.stream,
        job: seat.number,
        slot,
        kind: done.command.kind,
        failed: done.failed,
        offset_bytes: done.command.offset_bytes,
        latency,
    }
}
