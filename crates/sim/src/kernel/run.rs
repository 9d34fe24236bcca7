//! One run in virtual time: its phases in order, its digest.

use crate::error::SimError;
use crate::host::Host;
use crate::kernel::state::Phase;
use crate::kernel::world::World;
use serde_json::json;
use tameshi_record::{EndedBy, RunStatus, Writer};
use tameshi_spec::course::Step;
use tameshi_spec::run::RunSpec;
use tameshi_workload::Priority;
use tameshi_workload::steady::{Detector, Round, State};

/// Runs the phases in their order, those that are repeated judged round by round; false when it was stopped.
fn all_phases(spec: &RunSpec, world: &mut World, writer: &mut Writer) -> Result<bool, SimError> {
    let (mut detector, mut tracked): (Option<Detector>, Vec<Round>) = (None, Vec::new());
    let mut next = spec.first_step();
    if writer.control().is_stopping() {
        return Ok(next.is_none());
    }
    while let Some(step) = next {
        if let (Some((place, rounds)), Some(number)) = (spec.round_beginning_with(step), step.number()) {
            writer.event(world.now, "round_begin", json!({ "rounds": place, "round": number }))?;
            tracked.clear();
            if number == 1 {
                detector = rounds.steady.map(|rule| Detector::new(rule, rounds.subjects(&spec.phases)));
            }
        }
        let mut phase = begin(spec, step, world);
        let (ended_by, done) = phase.run(spec, world, writer)?;
        if ended_by == EndedBy::Stopped {
            world.staging.close();
            phase.drain(world, writer)?;
            return Ok(false);
        }
        if step.round.is_some_and(|(place, _)| spec.rounds[place].tracked.contains(&(step.phase as u32))) {
            tracked.extend(done);
        }
        let mut settled = false;
        if let (Some((place, _)), Some(detector)) = (spec.round_ending_with(step), &mut detector) {
            let state = detector.add(&tracked);
            let (of, verdict) = (("rounds", place as u32), detector.verdict(state).map(|told| json!(told)));
            writer.round(world.now, of, detector.rounds(), json!(detector.values()), verdict)?;
            settled = state != State::Unsettled;
        }
        next = spec.step_after(step, settled);
        let stopped = next.is_some() && writer.control().is_stopping();
        let goes_on = next.is_some_and(|step| !phase.crowds(spec, &spec.phases[step.phase]));
        if goes_on && !stopped && world.engine.is_none() {
            phase.hand_over(world, writer)?;
            continue;
        }
        if stopped || next.is_none() {
            world.staging.close();
        }
        // Transactions under way come to their end before others begin, and a long queue before a short one.
        phase.drain(world, writer)?;
        if stopped {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The phase of a step, which begins now.
fn begin<'a>(spec: &'a RunSpec, step: Step, world: &mut World) -> Phase<'a> {
    let mut seats = std::mem::take(&mut world.seats);
    if world.engine.is_some() {
        // Its threads come behind the jobs of the phase alone.
        seats.clear();
        world.host.iter_mut().for_each(Host::clear);
    }
    let priorities: Vec<Priority> =
        spec.phases[step.phase].streams.iter().map(|stream| stream.stream.priority.unwrap_or_default()).collect();
    world.devices.iter_mut().for_each(|device| device.prioritize(&priorities));
    Phase::new(spec, step.phase, world.now, step.number(), seats)
}

/// Carries out `spec` in virtual time from t0 = 0, writing its record; returns how it ended and its digest.
///
/// A phase begins at the end of the one before. What is outstanding then completes meanwhile and belongs to no window;
/// with a database engine, or where the next phase may have less outstanding, that one waits for it. The digest is XXH3-128, in hexadecimal digits, over every
/// completion in order, those included.
///
/// # Errors
/// When the spec asks for what the simulated world can't do, when virtual time stands still, or when the record can't
/// be written.
pub fn execute(spec: &RunSpec, writer: &mut Writer) -> Result<(RunStatus, String), SimError> {
    let mut world = World::new(spec)?;
    writer.event(0, "run_begin", json!({}))?;
    let status = if all_phases(spec, &mut world, writer)? { RunStatus::Complete } else { RunStatus::Partial };
    world.staging.end(world.now, writer)?;
    if let Some(engine) = &mut world.engine {
        engine.end(world.now);
    }
    world.tell_engine(writer)?;
    if let Some(verdict) = world.engine.as_ref().and_then(|engine| engine.verdict()) {
        writer.event(world.now, "check", verdict)?;
    }
    let digest = world.digest.hex();
    writer.event(world.now, "run_end", json!({ "status": status.word(), "digest": digest }))?;
    Ok((status, digest))
}
