//! Dispatch of one step: a job issues, or the database server, the host or a device goes on.

use super::accounting::{Served, TRANSACTION, count_served, job_entry, latency_parts, server_entry};
use super::clock::Source;
use super::digest::{Digest, Entry};
use super::look_ahead::look_ahead;
use super::state::Phase;
use super::validate;
use super::world::World;
use crate::basics::command_id::CommandId;
use crate::database::{Request, Server};
use crate::device::DeviceCompletion;
use crate::error::SimError;
use crate::host::Action;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::Writer;
use tameshi_record::ledger::depth_class;
use tameshi_workload::{Completion, Operation};

/// Completions between two checks of the stop switch; a power of two.
pub(super) const STOP_CHECK: u64 = 1 << 16;

impl Phase<'_> {
    /// Carry out the next step of a job, the database server, the host or a device.
    ///
    /// Return whether the stop switch is to be checked.
    #[inline(always)]
    pub(crate) fn dispatch(
        &mut self,
        source: Source,
        world: &mut World,
        writer: &mut Writer,
    ) -> Result<bool, SimError> {
        match source {
            Source::Job(job) => self.issue(world, job).map(|()| false),
            Source::Server => {
                self.advance_server(world);
                Ok(false)
            }
            Source::Host => Ok(self.advance_host(world)),
            Source::Device(device) => {
                let look = self.advance_device(world, device);
                world.record_rebuilds(writer)?;
                Ok(look)
            }
            Source::Event | Source::Boundary => Ok(false),
        }
    }

    /// Issue the command of a job that is due.
    #[inline]
    pub(super) fn issue(&mut self, world: &mut World, job: usize) -> Result<(), SimError> {
        if self.jobs.must_wait(job) {
            self.due.set(job, None);
            return Ok(());
        }
        let slot = self.jobs.get_mut(job);
        let device = slot.device;
        if let Some(issue) = slot.job.issue(world.now) {
            let stats = &mut self.stats[usize::from(slot.stream)];
            stats.ledger.depth[depth_class(slot.job.outstanding())] += 1;
            if issue.scheduled {
                let (slip, lag) = (world.now - issue.intended, world.now - issue.ready);
                stats.late += u64::from(slip > 0);
                stats.started(slip, lag);
            }
            if let Some(command) = issue.command {
                let id = CommandId::new(job, issue.slot).into();
                let command = Command { id, offset_bytes: command.offset_bytes + slot.base_bytes, ..command };
                match &mut world.host {
                    None => world.devices.change(device).submit_inline(world.now, command),
                    Some(host) => {
                        if let Action::Submit(command, device) = host.issue(world.now, &{ command }, device) {
                            world.devices.change(device).submit(world.now, &command);
                        }
                    }
                }
                self.jobs.issued(job);
            }
        } else if self.bounded && slot.job.is_done() {
            self.active -= self.jobs.job_ended(job, self.spec, world.now, &mut self.due);
        }
        self.jobs.set_due(job, world.now, &mut self.due);
        if let Some(device) = world.devices.get(device).and_then(|device| device.prefetching()) {
            look_ahead(device, self.jobs.get_mut(job));
        }
        self.issued_at_once += 1;
        if self.issued_at_once > self.standstill {
            let stream = &self.spec.streams[usize::from(self.jobs.get(job).stream)];
            let why = validate::endless_loop(&stream.name, &stream.storage);
            return Err(SimError::NoProgress(format!("phase.{}.until: {why}", self.spec.name)));
        }
        Ok(())
    }

    /// Take the completions of a device; return whether the stop switch is to be checked.
    #[inline]
    pub(super) fn advance_device(&mut self, world: &mut World, device: usize) -> bool {
        let before = self.completed;
        world.devices.change(device).advance(world.now, &mut world.completions);
        for done in world.completions.drain(..) {
            match &mut world.host {
                None => self.finish(&mut world.digest, world.engine.as_deref_mut(), &done),
                Some(host) => {
                    if let Action::Done(done) = host.completed(&done) {
                        self.finish(&mut world.digest, world.engine.as_deref_mut(), &done);
                    }
                }
            }
        }
        self.serve_requests(world);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// Carry out the next step of the host; return whether the stop switch is to be checked.
    pub(crate) fn advance_host(&mut self, world: &mut World) -> bool {
        let before = self.completed;
        let step = world.host.as_mut().map_or(Action::Waiting, |host| host.advance(world.now));
        match step {
            Action::Waiting => {}
            Action::Submit(command, device) => world.devices.change(device).submit(world.now, &command),
            Action::Worked(id) => {
                if let Some(engine) = &mut world.engine {
                    engine.computed(world.now, id);
                }
            }
            Action::Done(done) => self.finish(&mut world.digest, world.engine.as_deref_mut(), &done),
        }
        self.serve_requests(world);
        before / STOP_CHECK != self.completed / STOP_CHECK
    }

    /// Hand a completion to the job or the server thread that waits for it.
    #[inline]
    fn finish(&mut self, digest: &mut Digest, engine: Option<&mut Server>, done: &DeviceCompletion) {
        let job = CommandId::from(done.command.id).thread();
        if job < self.jobs.len() {
            if self.complete(digest, done) {
                self.jobs.set_due(job, done.at, &mut self.due);
            }
            return;
        }
        self.completed += 1;
        digest.add(server_entry(done));
        if let Some(engine) = engine {
            engine.completed(done);
        }
    }

    /// Complete a job's command; one that has failed counts as a failure only.
    ///
    /// Return whether the job belongs to the current phase.
    #[inline]
    pub(super) fn complete(&mut self, digest: &mut Digest, done: &DeviceCompletion) -> bool {
        let id = CommandId::from(done.command.id);
        let (job, number) = (id.thread(), id.slot());
        self.completed += 1;
        let slot = self.jobs.get_mut(job);
        if done.failed {
            slot.job.fails(number);
        }
        let completion = slot.job.complete(number, done.at);
        digest.add(job_entry((done, done.at), slot, number, completion.latency));
        if self.jobs.carried_over() > 0 {
            self.jobs.completed(job, done.at, &mut self.due);
            if !self.jobs.is_current(job) {
                return false;
            }
        }
        let slot = self.jobs.get(job);
        let stats = &mut self.stats[usize::from(slot.stream)];
        if done.failed {
            stats.failed += 1;
        } else {
            let Completion { operation, bytes, latency, .. } = completion;
            let served = Served { operation, bytes, latency, parts: latency_parts(&done.breakdown, latency) };
            count_served(stats, served, done, done.at);
            stats.service_ns_sum += completion.service;
            if let Some(latency) = completion.commit {
                stats.record(Operation::Commit as usize, 0, latency);
            }
            slot.job.commits().iter().for_each(|&latency| stats.record(Operation::Commit as usize, 0, latency));
        }
        if self.bounded && slot.job.is_done() {
            self.active -= self.jobs.job_ended(job, self.spec, done.at, &mut self.due);
        }
        true
    }

    /// Let the database server do what is due by itself.
    fn advance_server(&mut self, world: &mut World) {
        if let Some(engine) = &mut world.engine {
            engine.advance(world.now);
        }
        self.serve_requests(world);
    }

    /// Carry out the requests of the database server, and count the transactions that have ended.
    #[inline(always)]
    pub(super) fn serve_requests(&mut self, world: &mut World) {
        if world.engine.as_ref().is_some_and(|engine| engine.has_output()) {
            self.serve_all_requests(world);
        }
    }

    #[inline(never)]
    fn serve_all_requests(&mut self, world: &mut World) {
        let Some(engine) = &mut world.engine else { return };
        let now = world.now;
        while let Some(request) = engine.request() {
            match (request, &mut world.host) {
                (Request::Work { thread, time }, None) => engine.work_without_host(thread, time),
                (Request::Work { thread, time }, Some(host)) => {
                    let id = CommandId::new(self.jobs.len() + thread as usize, 0).into();
                    if let Action::Worked(id) = host.work(now, id, time) {
                        engine.computed(now, id);
                    }
                }
                (Request::Command(command, device), None) => world.devices.change(device).submit(now, &command),
                (Request::Command(command, device), Some(host)) => {
                    if let Some(device) = world.devices.get(device) {
                        device.prefetch(&command);
                    }
                    if let Action::Submit(command, device) = host.issue(now, &command, device) {
                        world.devices.change(device).submit(now, &command);
                    }
                }
            }
        }
        for ended in engine.drain_ended() {
            let stream = (self.spec.streams.len() + ended.kind) as u16;
            world.digest.add(transaction_entry(now, stream, ended.latency));
            if !self.is_over {
                let stats = &mut self.stats[usize::from(stream)];
                stats.record(TRANSACTION, 0, ended.latency);
                if let Some(late) = ended.late {
                    stats.late += u64::from(late > 0);
                    stats.started(late, 0);
                }
            }
        }
    }
}

/// Digest entry of a transaction.
fn transaction_entry(at: Nanos, stream: u16, latency: Nanos) -> Entry {
    let kind = CommandKind::Read;
    Entry { at, stream, job: 0, slot: 0, kind, offset_bytes: 0, latency, failed: false }
}
