//! One run in virtual time: its phases in order, and its digest.

use super::phase::record_judgement;
use super::state::Phase;
use super::world::World;
use crate::error::SimError;
use crate::host::Host;
use serde_json::json;
use tameshi_record::{EndedBy, RunStatus, Writer};
use tameshi_spec::run::RunSpec;
use tameshi_workload::Priority;
use tameshi_workload::schedule::{Cursor, Step};

/// Run the phases in order; return false if the run was stopped.
fn all_phases(spec: &RunSpec, world: &mut World, writer: &mut Writer) -> Result<bool, SimError> {
    let Some(mut cursor) = Cursor::new(spec.schedule()) else { return Ok(true) };
    if writer.control().is_stopping() {
        return Ok(false);
    }
    loop {
        let step = cursor.step();
        if let Some((place, number)) = cursor.begin() {
            writer.event(world.now, "round_begin", json!({ "rounds": place, "round": number }))?;
        }
        let mut phase = begin(spec, step, world);
        let (ended_by, results) = phase.run(spec, world, writer)?;
        if ended_by == EndedBy::Stopped {
            world.events.close();
            phase.drain(world, writer)?;
            return Ok(false);
        }
        if let Some((place, judgement)) = cursor.end(results) {
            record_judgement(writer, world.now, ("rounds", place as u32), &judgement)?;
        }
        let next = cursor.advance();
        let stopped = next.is_some() && writer.control().is_stopping();
        let overlaps = next.is_some_and(|step| !phase.exceeds_depth_of(&spec.phases[step.phase], spec));
        if overlaps && !stopped && world.engine.is_none() {
            phase.hand_over(world, writer)?;
            continue;
        }
        if stopped || next.is_none() {
            world.events.close();
        }
        phase.drain(world, writer)?;
        if stopped || next.is_none() {
            return Ok(!stopped);
        }
    }
}

/// Begin the phase of a step now.
fn begin<'a>(spec: &'a RunSpec, step: Step, world: &mut World) -> Phase<'a> {
    let mut jobs = std::mem::take(&mut world.jobs);
    if world.engine.is_some() {
        // Server threads are numbered after the jobs of this phase alone.
        jobs.clear();
        world.host.iter_mut().for_each(Host::clear);
    }
    let priorities: Vec<Priority> =
        spec.phases[step.phase].streams.iter().map(|stream| stream.stream.priority.unwrap_or_default()).collect();
    world.devices.iter_mut().for_each(|device| device.prioritize(&priorities));
    Phase::new(spec, step.phase, world.now, step.number(), jobs)
}

/// Simulate `spec` from virtual time zero and write its record; return its status and digest.
///
/// A phase begins at the end of the one before. Outstanding commands then complete during the next
/// phase and belong to no interval. With a database server, or if the next phase has a smaller
/// queue depth, the earlier phase drains first. The digest is the XXH3-128 of every completion in
/// order, in hexadecimal.
///
/// # Errors
/// The spec needs something that the simulated world does not support, virtual time stands still,
/// a database outgrows its storage, or the record can't be written.
pub fn execute(spec: &RunSpec, writer: &mut Writer) -> Result<(RunStatus, String), SimError> {
    let mut world = World::new(spec)?;
    writer.event(0, "run_begin", json!({}))?;
    let status = if all_phases(spec, &mut world, writer)? { RunStatus::Complete } else { RunStatus::Partial };
    world.events.record_missed(world.now, writer)?;
    if let Some(engine) = &mut world.engine {
        engine.end(world.now);
    }
    world.record_server_events(writer)?;
    if let Some(verdict) = world.engine.as_ref().and_then(|engine| engine.verdict()) {
        writer.event(world.now, "check", verdict)?;
    }
    let digest = world.digest.hex();
    writer.event(world.now, "run_end", json!({ "status": status.word(), "digest": digest }))?;
    Ok((status, digest))
}
