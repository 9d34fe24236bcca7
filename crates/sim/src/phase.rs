//! One phase in virtual time: jobs against devices, from its begin to its end.
//!
//! At one instant jobs issue before devices go on, and an interval ends after both: what completes on a boundary belongs
//! to the interval that it ends. Among jobs, the one that became due first issues first; among devices, the first one.
//! Boundaries therefore change the order of nothing. At the phase's end its jobs issue nothing any more, and what is
//! outstanding completes while the next phase runs ([`crate::seats`]); behind the last one, and where a database engine
//! finishes its transactions, it drains.

mod ahead;
mod book;
mod course;
mod entries;
mod falling;
mod fast;
mod growth;
mod judge;
mod sitting;
mod straight;
mod stretch;
mod sums;
mod trend;
mod windows;

use crate::check;
use crate::device::{Device, DeviceCompletion};
use crate::digest::{Digest, Entry};
use crate::due::Due;
use crate::engine::{Engine, Request};
use crate::error::SimError;
use crate::host::Step;
use crate::seats::Seats;
use crate::world::World;
use ahead::look_ahead;
use entries::{TRANSACTION, engines, entry, serve, spent};
use fast::Rest;
use serde_json::json;
use sitting::sit_down;
use tameshi_base::{Command, Nanos};
use tameshi_record::ledger::depth_class;
use tameshi_record::{Clock, EndedBy, IntervalStats, Part, Rounds, Writer};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::steady::{Detector, Round, State};
use tameshi_workload::{Completion, Operation};

/// Completions between two looks at the switch that stops a run, a power of two.
const STOP_CHECK: u64 = 1 << 16;
/// So many issues at one instant, beyond the slots there are, and time stands still.
const STANDSTILL: u64 = 1 << 20;

/// A phase under way.
pub(crate) struct Phase<'a> {
    spec: &'a PhaseSpec,
    index: u32,
    seats: Seats,
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
    completed: u64,
    issued_at_once: u64,
    /// More issues at one instant, and time stands still.
    standstill: u64,
    /// Names of the streams and kinds of transactions, each with how many jobs; those of the engine come last.
    names: Vec<String>,
    interval_began: Nanos,
    /// It has ended: what the engine still does counts no more.
    over: bool,
}

impl<'a> Phase<'a> {
    /// Phase `index` of `spec`, which begins at `begin`; `round` is that of a phase that is repeated, `seats` are those of
    /// the phases before.
    pub(crate) fn new(spec: &'a RunSpec, index: usize, begin: Nanos, round: Option<u32>, mut seats: Seats) -> Self {
        let phase = &spec.phases[index];
        sit_down(spec, phase, begin, round, &mut seats);
        let mut due = Due::new(seats.len());
        seats.current().for_each(|(seat, _)| seats.set_due(seat, begin, &mut due));
        let rounds = round.map_or(phase.round().map_or(Rounds::None, Rounds::Each), Rounds::Within);
        let clock = Clock::new(begin, phase.ramp.0, spec.interval.0).in_rounds(rounds);
        let detector = |rule| Detector::new(rule, phase.subjects(index as u32));
        let mut names: Vec<String> = phase.streams.iter().map(|stream| stream.name.clone()).collect();
        names.extend(phase.programs.iter().flat_map(Engine::kinds));
        let slots: u64 =
            phase.streams.iter().map(|s| u64::from(s.stream.jobs) * u64::from(s.stream.most_outstanding())).sum();
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
            active: seats.current().filter(|(_, seat)| !seat.job.is_done()).count(),
            bounded: phase.is_bounded(),
            standstill: if phase.is_bounded() { u64::MAX } else { STANDSTILL + slots },
            seats,
            completed: 0,
            issued_at_once: 0,
            names,
            interval_began: begin,
            over: false,
        }
    }

    /// Runs to the end; tells why it ended, and of a phase that is part of a round what its streams did.
    pub(crate) fn run(
        &mut self,
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
            let seats: Vec<usize> = self.seats.current().map(|(seat, _)| seat).collect();
            host.begin(run, self.spec, &seats, (storage, &threads));
        }
        world.note_usage();
        self.serve_engine(world);
        let is_fast = self.is_fast(run, world);
        let ended_by = if is_fast {
            self.in_parts(run, world, writer)?
        } else {
            let ended_by = self.work(world, writer)?;
            self.write_rest(ended_by, world, writer)?;
            if world.engine.is_some() && !self.spec.programs.is_empty() {
                let length = world.now - self.begin;
                self.tell_simulated(run, (length, length, Rest::NONE), (world, writer))?;
            }
            ended_by
        };
        let end = world.now;
        for outage in world.engine.as_mut().map_or(Vec::new(), |engine| engine.outages(end)) {
            writer.event(outage.first_error_ns, "outage", json!({ "phase": self.index, "outage": outage }))?;
        }
        self.tell_drained(0, writer)?;
        if let (Some(engine), Some(_)) = (&world.engine, self.spec.programs.first()) {
            engine.tell_clients(end, self.index, writer)?;
        }
        writer.phase_end(end, self.index, ended_by)?;
        self.seats.leave(self.index, end);
        self.over = true;
        Ok((ended_by, std::mem::take(&mut self.round)))
    }

    /// The last interval ends now.
    fn write_rest(&mut self, ended_by: EndedBy, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let end = world.now;
        if matches!(ended_by, EndedBy::Amount | EndedBy::Stopped) {
            self.tally();
        }
        self.round.iter_mut().for_each(|round| round.length_ns = end.saturating_sub(self.clock.ramped()));
        for (number, stats) in self.stats.iter_mut().enumerate() {
            let of_stream = self.seats.current().filter(|(_, seat)| usize::from(seat.stream) == number);
            stats.unserved = of_stream.map(|(_, seat)| seat.job.unserved_before(end)).sum();
            stats.end = end;
            writer.interval(stats)?;
        }
        world.write_usage(writer)?;
        if let (Some(engine), Some(drives)) = (&world.engine, self.spec.programs.first()) {
            engine.write_unserved((self.interval_began, end), drives.word(), writer)?;
        }
        self.write_engine(world, writer)
    }

    /// The next phase begins at once; what is outstanding goes on.
    pub(crate) fn hand_over(mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        self.tell_drained(0, writer)?;
        world.seats = self.seats;
        Ok(())
    }

    /// Whether more is outstanding on a storage than the next phase may have there, so that it could start nothing yet.
    pub(crate) fn crowds(&self, run: &RunSpec, next: &PhaseSpec) -> bool {
        run.storage.keys().enumerate().any(|(storage, name)| {
            let streams = next.streams.iter().filter(|of| &of.storage == name).map(|of| &of.stream);
            let slots: u64 = streams.map(|of| u64::from(of.jobs) * u64::from(of.most_outstanding())).sum();
            slots > 0 && self.seats.lingering_on(storage) > slots
        })
    }

    /// Records the phases that have ended and of which nothing is outstanding any more, not before `from`.
    fn tell_drained(&mut self, from: Nanos, writer: &mut Writer) -> Result<(), SimError> {
        while let Some((phase, at)) = self.seats.drained() {
            writer.event(at.max(from), "phase_drained", json!({ "phase": phase }))?;
        }
        Ok(())
    }

    /// Everything up to the end; leaves the world's time there.
    fn work(&mut self, world: &mut World, writer: &mut Writer) -> Result<EndedBy, SimError> {
        let mut boundary = self.clock.boundary_after(self.begin).min(self.end);
        let plain = world.host.is_none() && world.engine.is_none() && world.devices.len() == 1;
        let (mut wake, mut device) = world.first_wake();
        loop {
            if plain && self.plain(world, boundary.min(world.staging.next()), writer)? {
                return Ok(EndedBy::Stopped);
            }
            if self.active == 0 && self.bounded {
                return Ok(EndedBy::Amount);
            }
            if plain || std::mem::take(&mut world.touched) {
                (wake, device) = world.first_wake();
            }
            let (host, engine) = (world.host_wake(), world.engine_wake());
            let (mut due, seat) = self.due.first();
            if due >= self.end {
                due = Nanos::MAX;
            }
            let event = world.staging.next();
            let first = wake.min(due).min(host).min(engine);
            if event <= first.min(boundary) && event < self.end {
                self.enter(world, event.max(world.now));
                // What dies or comes with the event is no part of how busy it was before, or after.
                world.write_usage_up_to_now(writer)?;
                world.stage(writer)?;
                world.note_parts();
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
                self.engine(world);
            } else if host <= wake {
                self.enter(world, host);
                if self.host(world) && writer.control().is_stopping() {
                    return Ok(EndedBy::Stopped);
                }
            } else {
                self.enter(world, wake);
                let look = self.complete(world, device);
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
                round.add(&Round::of(stats.transferred()));
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
        let (of, verdict) = (("phase", self.index), detector.verdict(state).map(|told| json!(told)));
        writer.round(now, of, detector.rounds(), json!(detector.values()), verdict)?;
        Ok(match state {
            State::Unsettled => None,
            State::Attained => Some(EndedBy::Steady),
            State::GivenUp => Some(EndedBy::Rounds),
        })
    }

    /// Time goes on to `now`.
    #[inline]
    fn enter(&mut self, world: &mut World, now: Nanos) {
        self.go_to(&mut world.now, now);
    }

    #[inline]
    fn go_to(&mut self, clock: &mut Nanos, now: Nanos) {
        assert!(now >= *clock, "virtual time goes back from {clock} to {now}");
        if now > *clock {
            self.issued_at_once = 0;
        }
        *clock = now;
    }

    /// The interval ends and the next one begins.
    fn rotate(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let now = world.now;
        for stats in &mut self.stats {
            stats.end = now;
            writer.interval(stats)?;
            stats.restart(self.index, self.clock.part(now), now);
        }
        self.tell_drained(0, writer)?;
        world.write_usage_up_to_now(writer)?;
        self.write_engine(world, writer)?;
        if now == self.clock.ramped() {
            writer.phase_ramped(now, self.index)?;
        }
        Ok(())
    }

    /// A job issues the command that is due.
    #[inline]
    fn issue(&mut self, world: &mut World, seat: usize) -> Result<(), SimError> {
        if self.seats.holds(seat) {
            self.due.set(seat, None);
            return Ok(());
        }
        let of = self.seats.get_mut(seat);
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
                world.touched = true;
                // Whoever is called by reference gets a copy: what nobody else sees need not lie in memory.
                match &mut world.host {
                    None => match &mut world.devices[of.device] {
                        Device::Flash(flash) => flash.submit_here(world.now, &command),
                        device => device.submit(world.now, &{ command }),
                    },
                    Some(host) => {
                        if let Step::Submit(command, device) = host.issue(world.now, &{ command }, of.device) {
                            world.devices[device].submit(world.now, &command);
                        }
                    }
                }
                self.seats.issued(seat);
            }
        } else if self.bounded && of.job.is_done() {
            self.active -= self.seats.ended(seat, self.spec, world.now, &mut self.due);
        }
        self.seats.set_due(seat, world.now, &mut self.due);
        let of = self.seats.get_mut(seat);
        if let Device::Flash(flash) = &world.devices[of.device] {
            look_ahead(flash, of);
        }
        self.issued_at_once += 1;
        if self.issued_at_once > self.standstill {
            let stream = &self.spec.streams[usize::from(self.seats.get(seat).stream)];
            return Err(SimError::NoProgress(check::no_end(&self.spec.name, &stream.name, &stream.storage)));
        }
        Ok(())
    }

    /// Takes what a device completes now; true when it is time to look at the switch.
    #[inline]
    fn complete(&mut self, world: &mut World, device: usize) -> bool {
        let before = self.completed;
        world.touched = true;
        world.devices[device].advance(world.now, &mut world.completions);
        for done in world.completions.drain(..) {
            match &mut world.host {
                None => self.finish((&mut world.digest, &mut world.engine), &done),
                Some(host) => {
                    if let Step::Done(done) = host.completed(&done) {
                        self.finish((&mut world.digest, &mut world.engine), &done);
                    }
                }
            }
        }
        self.serve_engine(world);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// The one thing that happens next in the host; true when it is time to look at the switch.
    fn host(&mut self, world: &mut World) -> bool {
        let before = self.completed;
        let step = world.host.as_mut().map_or(Step::Waiting, |host| host.advance(world.now));
        match step {
            Step::Waiting => {}
            Step::Submit(command, device) => {
                world.devices[device].submit(world.now, &command);
                world.touched = true;
            }
            Step::Worked(id) => {
                if let Some(engine) = &mut world.engine {
                    engine.computed(world.now, id);
                }
            }
            Step::Done(done) => self.finish((&mut world.digest, &mut world.engine), &done),
        }
        self.serve_engine(world);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// A command is complete: what waited for it goes on.
    #[inline]
    fn finish(&mut self, (digest, engine): (&mut Digest, &mut Option<Box<Engine>>), done: &DeviceCompletion) {
        let (seat, slot) = ((done.command.id >> 32) as usize, done.command.id as u32);
        if seat < self.seats.len() {
            if self.count(digest, done) {
                self.seats.set_due(seat, done.at, &mut self.due);
            }
            return;
        }
        self.completed += 1;
        digest.add(engines(done, seat, slot));
        if let Some(engine) = engine {
            engine.completed(done);
        }
    }

    /// A job's command is complete, or has failed: then it counts in nothing else. Whether it is one of the phase under way.
    #[inline]
    fn count(&mut self, digest: &mut Digest, done: &DeviceCompletion) -> bool {
        let (seat, slot) = ((done.command.id >> 32) as usize, done.command.id as u32);
        self.completed += 1;
        let of = self.seats.get_mut(seat);
        if done.failed {
            of.job.fails(slot);
        }
        let completion = of.job.complete(slot, done.at);
        digest.add(entry((done, done.at), of, slot, completion.latency));
        if self.seats.lingering() > 0 {
            self.seats.completed(seat, done.at, &mut self.due);
            if !self.seats.is_current(seat) {
                return false;
            }
        }
        let of = self.seats.get(seat);
        let stats = &mut self.stats[usize::from(of.stream)];
        if done.failed {
            stats.failed += 1;
        } else {
            let Completion { operation, bytes, latency, .. } = completion;
            serve(stats, operation, (bytes, latency), spent(&done.breakdown, latency), (done, done.at));
            stats.service_ns_sum += completion.service;
            if let Some(latency) = completion.commit {
                stats.record(Operation::Commit as usize, 0, latency);
            }
            of.job.commits().iter().for_each(|&latency| stats.record(Operation::Commit as usize, 0, latency));
        }
        if self.bounded && of.job.is_done() {
            self.active -= self.seats.ended(seat, self.spec, done.at, &mut self.due);
        }
        true
    }

    /// What happens in the engine by itself now.
    fn engine(&mut self, world: &mut World) {
        if let Some(engine) = &mut world.engine {
            engine.advance(world.now);
        }
        self.serve_engine(world);
    }

    /// Carries out what the engine asks for, and takes the transactions that have ended.
    #[inline(always)]
    fn serve_engine(&mut self, world: &mut World) {
        if world.engine.as_ref().is_some_and(|engine| engine.wants_something()) {
            self.serve(world);
        }
    }

    #[inline(never)]
    fn serve(&mut self, world: &mut World) {
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
                (Request::Command(command), None) => {
                    world.devices[engine.device].submit(now, &command);
                    world.touched = true;
                }
                (Request::Command(command), Some(host)) => {
                    world.devices[engine.device].expect(&command);
                    if let Step::Submit(command, device) = host.issue(now, &command, engine.device) {
                        world.devices[device].submit(now, &command);
                        world.touched = true;
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
            if !self.over {
                let stats = &mut self.stats[usize::from(stream)];
                stats.record(TRANSACTION, 0, latency);
                if let Some(late) = ended.late {
                    stats.late += u64::from(late > 0);
                    stats.started(late, 0);
                }
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
    pub(crate) fn drain(mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        self.come_to_rest(world, writer)?;
        world.seats = self.seats;
        Ok(())
    }

    /// Transactions come to their end, and what is outstanding completes.
    fn come_to_rest(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if let Some(engine) = &mut world.engine {
            engine.close(world.now);
        }
        loop {
            let ((wake, device), host, engine) = (world.first_wake(), world.host_wake(), world.engine_wake());
            let (event, first) = (world.staging.next(), wake.min(host).min(engine));
            let at_rest = host == Nanos::MAX && world.engine.as_ref().is_none_or(|engine| engine.is_at_rest());
            if at_rest && self.seats.lingering() == 0 {
                world.tell_engine(writer)?;
                return self.tell_drained(if world.engine.is_some() { world.now } else { 0 }, writer);
            }
            if event.min(first) == Nanos::MAX {
                let (phase, commands) = (self.spec.name.clone(), self.seats.lingering());
                return Err(SimError::Lost { phase, commands });
            }
            world.now = world.now.max(event.min(first));
            if world.engine.as_ref().is_some_and(|engine| engine.is_stuck()) {
                return Err(SimError::NoProgress(check::no_rest(&self.spec.name)));
            }
            if event <= first {
                world.stage(writer)?;
            } else if engine <= wake.min(host) {
                self.engine(world);
            } else if host <= wake {
                self.host(world);
            } else {
                self.complete(world, device);
                world.tell_rebuilt(writer)?;
            }
        }
    }
}
