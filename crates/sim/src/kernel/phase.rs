//! One phase in virtual time, from its begin to its end.
//!
//! [`super::clock`] gives the precedence at one instant. Among jobs, the one that became due first
//! issues first; among devices, the first one goes on. What completes at a boundary belongs to the
//! interval that ends there. At the phase's end its jobs stop issuing. Outstanding commands
//! complete during the next phase ([`super::job_table`]); the last phase drains, and so does a
//! phase with a database server.

use super::clock::Source;
use super::state::Phase;
use super::validate;
use super::world::World;
use crate::error::SimError;
use crate::extrapolate::fast_mode::Rest;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{EndedBy, Part, RecordError, Writer};
use tameshi_spec::run::{PhaseSpec, RunSpec};
use tameshi_workload::schedule::{Judgement, judge};
use tameshi_workload::steady::{Round, State};

/// Record the judgement of a round.
pub(super) fn record_judgement(
    writer: &mut Writer,
    at: Nanos,
    of: (&str, u32),
    judgement: &Judgement<'_>,
) -> Result<(), RecordError> {
    let verdict = judgement.verdict.as_ref().map(|verdict| json!(verdict));
    writer.round(at, of, judgement.round, json!(judgement.values), verdict)
}

impl Phase<'_> {
    /// Run the phase. Return the reason of its end, and the results of its streams in the round.
    pub(super) fn run(
        &mut self,
        run: &RunSpec,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(EndedBy, Vec<Round>), SimError> {
        self.start(run, world, writer)?;
        let ended_by = if self.is_fast(run, world) {
            self.run_fast(run, world, writer)?
        } else {
            let ended_by = self.run_to_end(world, writer)?;
            self.write_last_interval(ended_by, world, writer)?;
            if world.engine.is_some() && !self.spec.programs.is_empty() {
                let length = world.now - self.begin;
                self.record_simulated(run, (length, length, Rest::NONE), (world, writer))?;
            }
            ended_by
        };
        let end = world.now;
        for outage in world.engine.as_mut().map_or(Vec::new(), |engine| engine.outages(end)) {
            writer.event(outage.first_error_ns, "outage", json!({ "phase": self.index, "outage": outage }))?;
        }
        self.record_drained(0, writer)?;
        if let (Some(engine), Some(_)) = (&world.engine, self.spec.programs.first()) {
            engine.record_clients(end, self.index, writer)?;
        }
        writer.phase_end(end, self.index, ended_by)?;
        self.jobs.end_phase(self.index, end);
        self.is_over = true;
        Ok((ended_by, std::mem::take(&mut self.round)))
    }

    /// Record the phase's begin, and start events, server threads and host threads.
    fn start(&mut self, run: &RunSpec, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let streams: Vec<(&str, u32)> = self.names.iter().map(|name| (name.as_str(), 1)).collect();
        writer.phase_begin(self.begin, self.index, &streams)?;
        if self.spec.ramp.0 == 0 {
            writer.phase_ramped(self.begin, self.index)?;
        }
        world.events.begin_phase(self.index, self.begin);
        let (mut threads, mut storage) = (Vec::new(), 0);
        if let Some(engine) = &mut world.engine {
            (threads, storage) = (engine.begin(self.begin, self.spec, self.jobs.len()), engine.storage);
        }
        if let Some(host) = &mut world.host {
            let jobs: Vec<usize> = self.jobs.current().map(|(job, _)| job).collect();
            host.begin(run, self.spec, &jobs, (storage, &threads));
        }
        world.begin_usage();
        self.serve_requests(world);
        Ok(())
    }

    /// Simulate the phase up to its end.
    fn run_to_end(&mut self, world: &mut World, writer: &mut Writer) -> Result<EndedBy, SimError> {
        let mut boundary = self.clock.boundary_after(self.begin).min(self.end);
        let is_alone = world.host.is_none() && world.engine.is_none() && world.devices.len() == 1;
        loop {
            if is_alone && self.run_alone(world, boundary.min(world.events.next()), writer)? {
                return Ok(EndedBy::Stopped);
            }
            if self.active == 0 && self.bounded {
                return Ok(EndedBy::Amount);
            }
            let (due, job) = self.due.first();
            let due = if due < self.end { due } else { Nanos::MAX };
            let (at, source) = world.sources((due, job), boundary, self.end).next();
            match source {
                Source::Event => {
                    self.enter(world, at.max(world.now));
                    if world.event_waits() {
                        continue;
                    }
                    // The interval ends: parts that fail or join count from the event on only.
                    world.write_open_usage(writer)?;
                    world.carry_out_event(writer)?;
                    world.restart_utilization();
                }
                Source::Boundary => {
                    self.enter(world, boundary);
                    if let Some(ended_by) = self.end_interval(world, writer)? {
                        return Ok(ended_by);
                    }
                    boundary = self.clock.boundary_after(boundary).min(self.end);
                }
                _ => {
                    self.enter(world, at);
                    if self.dispatch(source, world, writer)? && writer.control().is_stopping() {
                        return Ok(EndedBy::Stopped);
                    }
                }
            }
        }
    }

    /// End the interval now; return why the phase ends with it, if it does.
    fn end_interval(&mut self, world: &mut World, writer: &mut Writer) -> Result<Option<EndedBy>, SimError> {
        self.add_to_round();
        if let Some(ended_by) = self.judge_round(world.now, writer)? {
            return Ok(Some(ended_by));
        }
        if world.now == self.end {
            return Ok(Some(EndedBy::Time));
        }
        if writer.control().is_stopping() {
            return Ok(Some(EndedBy::Stopped));
        }
        self.begin_next_interval(world, writer)?;
        Ok(None)
    }

    /// Add the interval that ends now to the round.
    fn add_to_round(&mut self) {
        for (stats, round) in self.stats.iter().zip(&mut self.round) {
            if stats.part != Part::Ramp {
                round.add(&Round::of(stats.transferred()));
            }
        }
    }

    /// Judge the round that ends at `now`, if one does; return why the phase ends, if it does.
    fn judge_round(&mut self, now: Nanos, writer: &mut Writer) -> Result<Option<EndedBy>, SimError> {
        let (Some(detector), Some(number)) = (&mut self.detector, self.clock.round_ending_at(now)) else {
            return Ok(None);
        };
        let length_ns = self.clock.end_of_round(number) - self.clock.end_of_round(number - 1);
        self.round.iter_mut().for_each(|round| round.length_ns = length_ns);
        let judgement = judge(detector, &self.round);
        self.round.fill(Round::default());
        record_judgement(writer, now, ("phase", self.index), &judgement)?;
        Ok(match judgement.state {
            State::Unsettled => None,
            State::Attained => Some(EndedBy::Steady),
            State::GivenUp => Some(EndedBy::Rounds),
        })
    }

    /// Write the interval that ends now, and begin the next one.
    fn begin_next_interval(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let now = world.now;
        self.jobs.count_queues(now, &mut self.stats);
        for stats in &mut self.stats {
            stats.end = now;
            writer.interval(stats)?;
            stats.restart(self.index, self.clock.part(now), now);
        }
        self.record_drained(0, writer)?;
        world.write_open_usage(writer)?;
        self.write_server_interval(world, writer)?;
        if now == self.clock.ramped() {
            writer.phase_ramped(now, self.index)?;
        }
        Ok(())
    }

    /// Write the last interval, which ends now.
    fn write_last_interval(
        &mut self,
        ended_by: EndedBy,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        let end = world.now;
        if matches!(ended_by, EndedBy::Amount | EndedBy::Stopped) {
            self.add_to_round();
        }
        self.round.iter_mut().for_each(|round| round.length_ns = end.saturating_sub(self.clock.ramped()));
        self.jobs.count_queues(end, &mut self.stats);
        for (number, stats) in self.stats.iter_mut().enumerate() {
            let of_stream = self.jobs.current().filter(|(_, slot)| usize::from(slot.stream) == number);
            stats.unserved = of_stream.map(|(_, slot)| slot.job.unserved_before(end)).sum();
            stats.end = end;
            writer.interval(stats)?;
        }
        world.write_usage(writer)?;
        if let (Some(engine), Some(drives)) = (&world.engine, self.spec.programs.first()) {
            engine.write_unserved((self.interval_begin, end), drives.word(), writer)?;
        }
        self.write_server_interval(world, writer)
    }

    /// Write the counters of the database server since the interval's begin, and its events.
    fn write_server_interval(&mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        let span = (self.interval_begin, world.now);
        self.interval_begin = world.now;
        if let (Some(engine), Some(drives)) = (&mut world.engine, self.spec.programs.first()) {
            engine.write(span, drives.word(), writer)?;
        }
        world.record_server_events(writer)
    }

    /// Record the earlier phases that have drained, at `from` or later.
    fn record_drained(&mut self, from: Nanos, writer: &mut Writer) -> Result<(), SimError> {
        while let Some((phase, at)) = self.jobs.next_drained() {
            writer.event(at.max(from), "phase_drained", json!({ "phase": phase }))?;
        }
        Ok(())
    }

    /// Return whether a storage has more outstanding than the next phase may have there. The next
    /// phase could then start nothing.
    pub(super) fn exceeds_depth_of(&self, next: &PhaseSpec, run: &RunSpec) -> bool {
        run.storage.keys().enumerate().any(|(storage, name)| {
            let streams = next.streams.iter().filter(|of| &of.storage == name).map(|of| &of.stream);
            let slots: u64 = streams.map(|of| u64::from(of.jobs) * u64::from(of.most_outstanding())).sum();
            slots > 0 && self.jobs.carried_over_on(storage) > slots
        })
    }

    /// Hand the jobs over to the next phase, which begins at once.
    pub(super) fn hand_over(mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        self.record_drained(0, writer)?;
        world.jobs = self.jobs;
        Ok(())
    }

    /// Let transactions end and outstanding commands complete, into the digest only.
    ///
    /// Devices go on with their own work meanwhile.
    pub(super) fn drain(mut self, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        if let Some(engine) = &mut world.engine {
            engine.close(world.now);
        }
        while !self.is_at_rest(world) {
            let (at, source) = world.sources((Nanos::MAX, 0), Nanos::MAX, Nanos::MAX).next();
            if at == Nanos::MAX {
                let (phase, commands) = (self.spec.name.clone(), self.jobs.carried_over());
                return Err(SimError::Lost { phase, commands });
            }
            self.enter(world, at.max(world.now));
            if world.engine.as_ref().is_some_and(|engine| engine.is_stuck()) {
                return Err(SimError::NoProgress(validate::stuck_transactions(&self.spec.name)));
            }
            if source == Source::Event {
                world.carry_out_event(writer)?;
            } else {
                self.dispatch(source, world, writer)?;
            }
        }
        world.record_server_events(writer)?;
        self.record_drained(if world.engine.is_some() { world.now } else { 0 }, writer)?;
        world.jobs = self.jobs;
        Ok(())
    }

    fn is_at_rest(&self, world: &World) -> bool {
        world.host.as_ref().is_none_or(|host| host.next() == Nanos::MAX)
            && world.engine.as_ref().is_none_or(|engine| engine.is_at_rest())
            && self.jobs.carried_over() == 0
    }
}
