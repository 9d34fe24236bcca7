//! Fast mode: simulate a phase until it is steady, and extrapolate the record of its rest.
//!
//! The simulated part equals exact mode. Then the record's time goes on to the phase's end while
//! virtual time stands still. Clients, buffer pool, log, drives and host are not affected.

use super::extrapolation::Extrapolation;
use super::interval_writer::IntervalWriter;
use super::judge::Judge;
use super::segment::Segment;
use crate::error::SimError;
use crate::kernel::accounting::TRANSACTION;
use crate::kernel::clock::Source;
use crate::kernel::state::Phase;
use crate::kernel::world::World;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{Clock, EndedBy, Writer};
use tameshi_spec::run::{Mode, RunSpec};

/// Return whether a run may be extrapolated: it has no events, and each phase is of one program
/// with a time limit.
fn is_eligible(run: &RunSpec) -> bool {
    let is_fast = run.database.as_ref().is_some_and(|database| database.mode == Some(Mode::Fast));
    let is_program = run.phases.iter().all(|phase| {
        phase.streams.is_empty()
            && phase.programs.len() == 1
            && phase.until.time.is_some()
            && phase.until.steady.is_none()
    });
    is_fast && is_program && run.events.is_empty() && run.rounds.is_empty()
}

/// Extrapolated rest of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Length of the simulated time that the rest follows; zero if all was simulated.
    like: Nanos,
    /// Mean pace of the rest, as a share of that time's.
    pace: f64,
}

impl Rest {
    /// No rest: all was simulated.
    pub(crate) const NONE: Self = Self { like: 0, pace: 1.0 };
}

/// Progress of a phase in fast mode.
struct Progress {
    intervals: IntervalWriter,
    judge: Judge,
    /// End of the phase in the record's time.
    end: Nanos,
    rest: Rest,
}

impl Phase<'_> {
    /// Return whether this phase may be extrapolated.
    pub(crate) fn is_fast(&self, run: &RunSpec, world: &World) -> bool {
        !self.bounded
            && is_eligible(run)
            && world.engine.as_ref().is_some_and(|engine| engine.is_unpaced() && !engine.is_cached())
    }

    /// Run the phase and write its record.
    ///
    /// Virtual time is behind the record's time afterwards, by the writer's shift.
    pub(crate) fn run_fast(
        &mut self,
        run: &RunSpec,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<EndedBy, SimError> {
        let begin = self.begin.saturating_add_signed(writer.shift_ns());
        writer.set_shift(0);
        let mut progress = self.progress(begin, run, world);
        let ended_by = self.simulate_until_steady(&mut progress, world, writer);
        progress.intervals.write(world, writer)?;
        writer.set_shift(progress.intervals.at.cast_signed() - world.now.cast_signed());
        if let Some(engine) = &mut world.engine {
            engine.set_done(progress.intervals.since_begin());
        }
        let whole = progress.intervals.at - begin;
        self.record_simulated(run, (world.now - self.begin, whole, progress.rest), (world, writer))?;
        ended_by
    }

    fn progress(&mut self, begin: Nanos, run: &RunSpec, world: &mut World) -> Progress {
        let end = begin + (self.end - self.begin);
        let clock = Clock::new(begin, self.spec.ramp.0, run.interval.0);
        let mut stats = self.stats.clone();
        stats.iter_mut().for_each(|stats| stats.restart(self.index, clock.part(begin), begin));
        let word = self.spec.programs.first().map_or("", |drives| drives.word());
        let used = world.begin_usage_at(begin);
        let clients = self.spec.programs.iter().map(|drives| drives.clients() as usize).sum();
        Progress {
            intervals: IntervalWriter::new(clock, (self.index, word), (begin, stats), (clients, used)),
            judge: Judge::new(clock.ramped(), end),
            end,
            rest: Rest::NONE,
        }
    }

    /// Simulate block after block until the phase ends, or until the latest blocks predict its
    /// rest.
    fn simulate_until_steady(
        &mut self,
        progress: &mut Progress,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<EndedBy, SimError> {
        let mut blocks = Vec::new();
        while progress.intervals.at < progress.end {
            let began = progress.intervals.at;
            let block = self.simulate_block(progress, world, writer)?;
            if writer.control().is_stopping() {
                return Ok(EndedBy::Stopped);
            }
            if began >= progress.judge.begin {
                blocks.push(block);
            }
            if let Some(steady) = progress.judge.steady_pace(&blocks) {
                let pace = steady.pace((progress.end - progress.intervals.at) as f64);
                let mut extrapolation = Extrapolation::new(steady, &blocks);
                progress.rest = Rest { like: extrapolation.window.length, pace };
                progress.intervals.extrapolate(progress.end, &mut extrapolation, world, writer)?;
            }
        }
        Ok(EndedBy::Time)
    }

    /// Simulate one block, interval by interval.
    fn simulate_block(
        &mut self,
        progress: &mut Progress,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<Segment, SimError> {
        let ramp = Some(progress.judge.begin).filter(|ramped| *ramped > progress.intervals.at);
        let longest = progress.intervals.at + progress.judge.block();
        let end = ramp.unwrap_or(progress.end).min(progress.end).min(longest);
        let mut block = None::<Segment>;
        loop {
            let to = progress.intervals.boundary_after(progress.intervals.at).min(end);
            let segment = self.simulate_segment(to - progress.intervals.at, world, writer)?;
            progress.intervals.simulated(&segment, world, writer)?;
            match &mut block {
                Some(block) => block.append(&segment),
                none => *none = Some(segment),
            }
            if let Some(block) = block.take_if(|_| to == end || writer.control().is_stopping()) {
                return Ok(block);
            }
        }
    }

    /// Simulate for a length of time, within one interval.
    fn simulate_segment(&mut self, length: Nanos, world: &mut World, writer: &mut Writer) -> Result<Segment, SimError> {
        let snapshot = world.engine.as_ref().map(|engine| engine.snapshot()).unwrap_or_default();
        let used = world.usage_totals();
        self.simulate_until(world.now + length, world, writer)?;
        let kinds = self.stats.iter_mut().map(|stats| std::mem::take(&mut stats.operations[TRANSACTION])).collect();
        let engine = world.engine.as_mut().expect("a program works on an engine");
        Ok(Segment {
            length,
            kinds,
            counted: engine.take_totals(world.now),
            snapshot: (snapshot, engine.snapshot()),
            used: (used, world.usage_totals()),
        })
    }

    /// Simulate up to and including `until`.
    fn simulate_until(&mut self, until: Nanos, world: &mut World, writer: &mut Writer) -> Result<(), SimError> {
        loop {
            let (at, source) = world.sources((Nanos::MAX, 0), until, 0).next();
            self.enter(world, at);
            if source == Source::Boundary {
                return Ok(());
            }
            self.dispatch(source, world, writer)?;
            if source == Source::Host {
                while world.host_lingers() && world.server_wake() > at {
                    self.advance_host(world);
                }
            }
        }
    }

    /// Record how much of a program's phase was simulated, and what the rest follows.
    pub(crate) fn record_simulated(
        &self,
        run: &RunSpec,
        (simulated, whole, rest): (Nanos, Nanos, Rest),
        (world, writer): (&World, &mut Writer),
    ) -> Result<(), SimError> {
        let Some(mode) = run.database.as_ref().and_then(|database| database.mode) else { return Ok(()) };
        let fields = json!({
            "phase": self.index,
            "mode": mode,
            "simulated_ns": simulated,
            "whole_ns": whole,
            "like_last_ns": rest.like,
            "pace": rest.pace,
        });
        Ok(writer.event(world.now, "simulated", fields)?)
    }
}
