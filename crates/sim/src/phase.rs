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
mod instant;
mod judge;
mod sitting;
mod straight;
mod stretch;
mod sums;
mod trend;
mod under_way;
mod windows;

use crate::check;
use crate::error::SimError;
use crate::world::World;
use fast::Rest;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{EndedBy, Part, Writer};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::steady::{Round, State};

pub(crate) use under_way::Phase;

impl Phase<'_> {
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
            engine.record_clients(end, self.index, writer)?;
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
