//! What happens in a phase at an instant: a job issues, a device, the host or the engine goes on.

use super::ahead::look_ahead;
use super::entries::{TRANSACTION, engines, entry, serve, spent};
use super::under_way::Phase;
use crate::check;
use crate::database::{Request, Server};
use crate::device::{Device, DeviceCompletion};
use crate::digest::{Digest, Entry};
use crate::error::SimError;
use crate::host::Step;
use crate::world::World;
use tameshi_base::Command;
use tameshi_record::ledger::depth_class;
use tameshi_workload::{Completion, Operation};

/// Completions between two looks at the switch that stops a run, a power of two.
pub(super) const STOP_CHECK: u64 = 1 << 16;

impl Phase<'_> {
    /// A job issues the command that is due.
    #[inline]
    pub(super) fn issue(&mut self, world: &mut World, seat: usize) -> Result<(), SimError> {
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
    pub(super) fn complete(&mut self, world: &mut World, device: usize) -> bool {
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
    pub(super) fn host(&mut self, world: &mut World) -> bool {
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
    fn finish(&mut self, (digest, engine): (&mut Digest, &mut Option<Box<Server>>), done: &DeviceCompletion) {
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
    pub(super) fn count(&mut self, digest: &mut Digest, done: &DeviceCompletion) -> bool {
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
    pub(super) fn engine(&mut self, world: &mut World) {
        if let Some(engine) = &mut world.engine {
            engine.advance(world.now);
        }
        self.serve_engine(world);
    }

    /// Carries out what the engine asks for, and takes the transactions that have ended.
    #[inline(always)]
    pub(super) fn serve_engine(&mut self, world: &mut World) {
        if world.engine.as_ref().is_some_and(|engine| engine.has_output()) {
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
        for ended in engine.drain_ended() {
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
}
