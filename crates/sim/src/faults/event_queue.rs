//! Events of a run: their times, their targets, and their records.

use crate::database::{FaultKind, ServerFault};
use crate::device::loss::Loss;
use crate::error::SimError;
use crate::stack::Device;
use serde_json::{Value, json};
use tameshi_base::{Nanos, Reason};
use tameshi_record::Writer;
use tameshi_spec::run::RunSpec;
use tameshi_spec::study::{Event, Failover, Failure, PowerCut};

/// Time in ns between two looks of a power cut that waits for a write.
const WAITING_STEP: Nanos = 10_000;

/// An event that has not happened.
#[derive(Debug)]
struct Pending {
    name: String,
    /// Index of the target storage in the spec.
    storage: usize,
    /// Index of the event's phase; `None` if its time counts from the run's begin.
    phase: Option<u32>,
    /// Time of the event; [`Nanos::MAX`] before its phase has begun.
    at: Nanos,
    /// Time until which a power cut waits for a write, from its own time on.
    waits_until: Option<Nanos>,
    event: Event,
}

/// Kind and fields of an event's record, and its effect on a database server.
struct Outcome {
    kind: &'static str,
    fields: Value,
    server_fault: Option<ServerFault>,
}

impl Outcome {
    fn new(kind: &'static str, fields: Value) -> Self {
        Self { kind, fields, server_fault: None }
    }

    fn missed(name: &str, storage: Option<&str>, why: &Reason) -> Self {
        Self::new("missed", json!({ "event": name, "storage": storage, "why": why }))
    }
}

/// Pending events, in the order of the study.
#[derive(Debug)]
pub(crate) struct EventQueue {
    pending: Vec<Pending>,
    next: Nanos,
    /// Rebuilds that may be under way.
    rebuilding: u32,
}

impl EventQueue {
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let pending = spec.events.iter().filter_map(|(name, event)| {
            let hits_server = event.kill.is_some() || event.restart.is_some();
            let server = spec.database.as_ref().filter(|_| hits_server);
            let storage = target(event).or(server.map(|database| database.storage.as_str()))?;
            let storage = spec.storage.get_index_of(storage)?;
            let number = |phase: &String| spec.phases.iter().position(|other| other.name == *phase);
            let phase = event.phase.as_ref().and_then(number).map(|number| number as u32);
            let at = if event.phase.is_none() { event.at.0 } else { Nanos::MAX };
            Some(Pending { name: name.clone(), storage, phase, at, waits_until: None, event: event.clone() })
        });
        let mut queue = Self { pending: pending.collect(), next: Nanos::MAX, rebuilding: 0 };
        queue.find_next();
        queue
    }

    fn find_next(&mut self) {
        self.next = self.pending.iter().map(|pending| pending.at).min().unwrap_or(Nanos::MAX);
    }

    /// Set the times of a phase's events: it begins at `now`.
    pub(crate) fn begin_phase(&mut self, phase: u32, now: Nanos) {
        let of_phase = |pending: &&mut Pending| pending.phase == Some(phase) && pending.at == Nanos::MAX;
        for pending in self.pending.iter_mut().filter(of_phase) {
            pending.at = now.saturating_add(pending.event.at.0);
        }
        self.find_next();
    }

    /// Return the time of the next event.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.next
    }

    /// Return the index of the next event's storage in the spec.
    pub(crate) fn next_storage(&self) -> Option<usize> {
        self.pending.iter().find(|pending| pending.at == self.next).map(|pending| pending.storage)
    }

    /// Return whether the next event, a power cut, waits for a write; look again after a step.
    pub(crate) fn waits(&mut self, now: Nanos, device: &Device) -> bool {
        let Some(pending) = self.pending.iter_mut().find(|pending| pending.at == self.next) else { return false };
        let Some(size) = pending.event.power_cut.as_ref().and_then(|cut| cut.during_write) else { return false };
        let until = *pending.waits_until.get_or_insert(now.saturating_add(PowerCut::LONGEST_WAIT_NS));
        if now >= until || device.is_writing(size.0) {
            return false;
        }
        pending.at = now + WAITING_STEP;
        self.find_next();
        true
    }

    /// Carry out the next event on the device of its storage, and record it. Return its effect on a
    /// database server there.
    pub(crate) fn carry_out(
        &mut self,
        now: Nanos,
        device: &mut Device,
        writer: &mut Writer,
    ) -> Result<Option<ServerFault>, SimError> {
        let Some(index) = self.pending.iter().position(|pending| pending.at == self.next) else { return Ok(None) };
        let Pending { name, event, .. } = self.pending.remove(index);
        self.find_next();
        if let Some(kill) = &event.kill {
            return Ok(Some(ServerFault::new(name, FaultKind::Kill, kill.down.0)));
        }
        if let Some(restart) = &event.restart {
            return Ok(Some(ServerFault::new(name, FaultKind::Shutdown, restart.down.0)));
        }
        let outcome = if let Some(fail) = &event.fail {
            self.fail((&name, target(&event)), fail, now, device)
        } else if let Some(member) = event.replace.as_ref().and_then(|of| of.member) {
            self.replace((&name, target(&event)), member, now, device)
        } else if let Some(failover) = &event.failover {
            fail_over((&name, target(&event)), failover, now, device)
        } else {
            self.cut_power((&name, target(&event)), now, device)
        };
        writer.event(now, outcome.kind, with_replica_loss(outcome.fields, device))?;
        Ok(outcome.server_fault)
    }

    fn fail(
        &mut self,
        (name, storage): (&str, Option<&str>),
        fail: &Failure,
        now: Nanos,
        device: &mut Device,
    ) -> Outcome {
        let member = fail.member;
        let Some(channel) = fail.channel else {
            if !device.fail(member, now) {
                return Outcome::missed(name, storage, &everything_dead(member));
            }
            return Outcome::new("fail", json!({ "event": name, "storage": storage, "member": member }));
        };
        match device.fail_channel(member.unwrap_or(0), channel, now) {
            Ok(survived) => {
                self.rebuilding += u32::from(survived);
                let fields = json!({
                    "event": name, "storage": storage, "member": member, "channel": channel, "survived": survived,
                });
                Outcome::new("fail", fields)
            }
            Err(why) => Outcome::missed(name, storage, &why),
        }
    }

    fn replace(
        &mut self,
        (name, storage): (&str, Option<&str>),
        member: u32,
        now: Nanos,
        device: &mut Device,
    ) -> Outcome {
        match device.replace(member, now) {
            Ok(()) => {
                self.rebuilding += 1;
                Outcome::new("replace", json!({ "event": name, "storage": storage, "member": member }))
            }
            Err(why) => Outcome::missed(name, storage, &why),
        }
    }

    fn cut_power(&mut self, (name, storage): (&str, Option<&str>), now: Nanos, device: &mut Device) -> Outcome {
        let loss = self.lose_power(now, device);
        let fault = ServerFault { loss, ..ServerFault::new(name.to_string(), FaultKind::PowerCut, 0) };
        Outcome { server_fault: Some(fault), ..Outcome::new("power_cut", of_cut((name, storage), &loss)) }
    }

    fn lose_power(&mut self, now: Nanos, device: &mut Device) -> Loss {
        let loss = device.cut_power(now);
        self.rebuilding += loss.resyncs;
        loss
    }

    /// Cut the power of the server's other storage as well, and record it: a power cut is one of
    /// the machine. Return the loss.
    pub(crate) fn cut_other_power(
        &mut self,
        now: Nanos,
        of: (&str, Option<&str>),
        device: &mut Device,
        writer: &mut Writer,
    ) -> Result<Loss, SimError> {
        let loss = self.lose_power(now, device);
        writer.event(now, "power_cut", with_replica_loss(of_cut(of, &loss), device))?;
        Ok(loss)
    }

    /// Return whether a rebuild may be under way.
    #[inline]
    pub(crate) fn is_rebuilding(&self) -> bool {
        self.rebuilding > 0
    }

    /// Record the rebuilds that have ended on `devices`, each with the name of its storage.
    pub(crate) fn record_rebuilds<'a>(
        &mut self,
        devices: impl Iterator<Item = (&'a mut Device, &'a String)>,
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        for (device, name) in devices {
            while let Some(rebuilt) = device.take_rebuilt() {
                self.rebuilding = self.rebuilding.saturating_sub(1);
                let mut fields = json!({
                    "storage": name, "member": rebuilt.drive, "bytes": rebuilt.bytes, "for_ns": rebuilt.at - rebuilt.since,
                });
                if let Some(channel) = rebuilt.channel {
                    fields["channel"] = channel.into();
                }
                if rebuilt.is_resync {
                    fields["resync"] = true.into();
                }
                writer.event(rebuilt.at, "rebuilt", fields)?;
            }
        }
        Ok(())
    }

    /// Stop all events: the last phase has ended, and only outstanding commands complete.
    pub(crate) fn close(&mut self) {
        self.next = Nanos::MAX;
    }

    /// Record the events that did not happen before the run ended.
    pub(crate) fn record_missed(&self, now: Nanos, writer: &mut Writer) -> Result<(), SimError> {
        for pending in &self.pending {
            let missed = Outcome::missed(&pending.name, target(&pending.event), &Reason::new("ended_before"));
            writer.event(now, missed.kind, missed.fields)?;
        }
        Ok(())
    }
}

fn fail_over((name, storage): (&str, Option<&str>), failover: &Failover, now: Nanos, device: &mut Device) -> Outcome {
    match device.fail_over(now) {
        Ok(loss) => {
            let fields = json!({
                "event": name, "storage": storage, "outstanding": loss.outstanding,
                "lost_writes": loss.lost_writes, "lost_bytes": loss.lost_bytes,
            });
            let fault = ServerFault::new(name.to_string(), FaultKind::Failover, failover.down.0);
            let fault = ServerFault { loss, ..fault };
            Outcome { server_fault: Some(fault), ..Outcome::new("failover", fields) }
        }
        Err(why) => Outcome::missed(name, storage, &why),
    }
}

/// Fields of a power cut's record.
fn of_cut((name, storage): (&str, Option<&str>), loss: &Loss) -> Value {
    json!({
        "event": name, "storage": storage, "outstanding": loss.outstanding,
        "lost_writes": loss.lost_writes, "lost_bytes": loss.lost_bytes, "torn_writes": loss.torn_writes,
        "flush_ns": loss.flush_ns, "hold_up_ns": loss.hold_up_ns,
    })
}

/// Reason why a member, or a whole storage, can't fail.
fn everything_dead(member: Option<u32>) -> Reason {
    match member {
        Some(member) => Reason::new("member_dead").with("member", member),
        None => Reason::new("everything_dead"),
    }
}

/// Add to an event's fields what was lost with the near side of a replica, if anything.
fn with_replica_loss(mut fields: Value, device: &mut Device) -> Value {
    let (writes, bytes) = device.take_lost();
    if writes > 0 {
        (fields["lost_writes"], fields["lost_bytes"]) = (writes.into(), bytes.into());
    }
    fields
}

/// Return the storage that an event targets; `None` if the simulated world does not carry it out.
pub(crate) fn target(event: &Event) -> Option<&str> {
    let failed = event.fail.as_ref().map(|of| &of.storage);
    let replaced = event.replace.as_ref().map(|of| &of.storage);
    let cut = event.power_cut.as_ref().map(|of| &of.storage);
    let failover = event.failover.as_ref().map(|of| &of.storage);
    failed.or(replaced).or(cut).or(failover)?.as_deref()
}
