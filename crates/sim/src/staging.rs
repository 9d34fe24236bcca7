//! Events of a run: what befalls its storages, when, and what is recorded of it.

use crate::database::{FaultKind, ServerFault};
use crate::device::Device;
use crate::error::SimError;
use crate::fault::Loss;
use serde_json::{Value, json};
use tameshi_base::{Nanos, Reason};
use tameshi_record::Writer;
use tameshi_spec::run::RunSpec;
use tameshi_spec::study::Event;

/// An event that has not happened.
#[derive(Debug)]
struct Waiting {
    name: String,
    /// The storage that it befalls, its place in the spec.
    storage: usize,
    /// The first phase of its name; absent: the run.
    phase: Option<u32>,
    /// When it happens; never while its phase has not begun.
    at: Nanos,
    event: Event,
}

/// Events in the order of the study.
#[derive(Debug)]
pub(crate) struct Staging {
    waiting: Vec<Waiting>,
    next: Nanos,
    /// Rebuilds that may be under way.
    rebuilding: u32,
}

impl Staging {
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let waiting = spec.events.iter().filter_map(|(name, event)| {
            let of_server = event.kill.is_some() || event.restart.is_some();
            let server = spec.database.as_ref().filter(|_| of_server);
            let storage = befallen(event).or(server.map(|database| database.storage.as_str()))?;
            let storage = spec.storage.get_index_of(storage)?;
            let number = |phase: &String| spec.phases.iter().position(|other| other.name == *phase);
            let phase = event.phase.as_ref().and_then(number).map(|number| number as u32);
            let at = if event.phase.is_none() { event.at.0 } else { Nanos::MAX };
            Some(Waiting { name: name.clone(), storage, phase, at, event: event.clone() })
        });
        let mut staging = Self { waiting: waiting.collect(), next: Nanos::MAX, rebuilding: 0 };
        staging.look();
        staging
    }

    fn look(&mut self) {
        self.next = self.waiting.iter().map(|waiting| waiting.at).min().unwrap_or(Nanos::MAX);
    }

    /// A phase begins at `now`, and with it the time of its events.
    pub(crate) fn phase_begins(&mut self, phase: u32, now: Nanos) {
        let of_phase = |waiting: &&mut Waiting| waiting.phase == Some(phase) && waiting.at == Nanos::MAX;
        for waiting in self.waiting.iter_mut().filter(of_phase) {
            waiting.at = now.saturating_add(waiting.event.at.0);
        }
        self.look();
    }

    /// When the next event happens.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        self.next
    }

    /// The storage that the next event befalls, by its place in the spec.
    pub(crate) fn next_storage(&self) -> Option<usize> {
        self.waiting.iter().find(|waiting| waiting.at == self.next).map(|waiting| waiting.storage)
    }

    /// Lets the next event befall the device of its storage; what that means for a database there.
    pub(crate) fn happen(
        &mut self,
        now: Nanos,
        device: &mut Device,
        writer: &mut Writer,
    ) -> Result<Option<ServerFault>, SimError> {
        let Some(place) = self.waiting.iter().position(|waiting| waiting.at == self.next) else { return Ok(None) };
        let Waiting { name, event, .. } = self.waiting.remove(place);
        self.look();
        if let Some(kill) = &event.kill {
            return Ok(Some(ServerFault {
                event: name,
                kind: FaultKind::Kill,
                down: kill.down.0,
                loss: Loss::default(),
            }));
        }
        if let Some(restart) = &event.restart {
            return Ok(Some(ServerFault {
                event: name,
                kind: FaultKind::Shutdown,
                down: restart.down.0,
                loss: Loss::default(),
            }));
        }
        let storage = befallen(&event);
        let mut blow = None;
        let (kind, fields) = if let Some((channel, of)) = event.fail.as_ref().and_then(|of| Some((of.channel?, of))) {
            match device.fail_channel(of.member.unwrap_or(0), channel, now) {
                Ok(lives) => {
                    self.rebuilding += u32::from(lives);
                    let fields = json!({
                        "event": name, "storage": storage, "member": of.member, "channel": channel, "survived": lives,
                    });
                    ("fail", fields)
                }
                Err(why) => ("missed", json!({ "event": name, "storage": storage, "why": why })),
            }
        } else if let Some(of) = &event.fail {
            if device.fail(of.member, now) {
                ("fail", json!({ "event": name, "storage": storage, "member": of.member }))
            } else {
                ("missed", json!({ "event": name, "storage": storage, "why": is_dead(of.member) }))
            }
        } else if let Some(member) = event.replace.as_ref().and_then(|of| of.member) {
            match device.replace(member, now) {
                Ok(()) => {
                    self.rebuilding += 1;
                    ("replace", json!({ "event": name, "storage": storage, "member": member }))
                }
                Err(why) => ("missed", json!({ "event": name, "storage": storage, "why": why })),
            }
        } else if let Some(of) = &event.failover {
            match device.fail_over(now) {
                Ok(loss) => {
                    let fields = json!({
                        "event": name, "storage": storage, "outstanding": loss.outstanding,
                        "lost_writes": loss.lost_writes, "lost_bytes": loss.lost_bytes,
                    });
                    blow = Some(ServerFault { event: name, kind: FaultKind::Failover, down: of.down.0, loss });
                    ("failover", fields)
                }
                Err(why) => ("missed", json!({ "event": name, "storage": storage, "why": why })),
            }
        } else {
            let loss = device.cut_power(now);
            self.rebuilding += loss.resyncs;
            let fields = json!({
                "event": name, "storage": storage, "outstanding": loss.outstanding,
                "lost_writes": loss.lost_writes, "lost_bytes": loss.lost_bytes, "torn_writes": loss.torn_writes,
                "flush_ns": loss.flush_ns, "hold_up_ns": loss.hold_up_ns,
            });
            blow = Some(ServerFault { event: name, kind: FaultKind::PowerCut, down: 0, loss });
            ("power_cut", fields)
        };
        writer.event(now, kind, with_lost(fields, device))?;
        Ok(blow)
    }

    /// Records rebuilds that have ended; `names` are the devices' storages.
    #[inline]
    pub(crate) fn tell_rebuilt(
        &mut self,
        devices: &mut [Device],
        names: &[String],
        writer: &mut Writer,
    ) -> Result<(), SimError> {
        if self.rebuilding == 0 {
            return Ok(());
        }
        for (device, name) in devices.iter_mut().zip(names) {
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

    /// The last phase has ended: nothing happens any more while what is outstanding completes.
    pub(crate) fn close(&mut self) {
        self.next = Nanos::MAX;
    }

    /// Records what never came to happen.
    pub(crate) fn end(&self, now: Nanos, writer: &mut Writer) -> Result<(), SimError> {
        for waiting in &self.waiting {
            let why = Reason::new("ended_before");
            let fields = json!({ "event": waiting.name, "storage": befallen(&waiting.event), "why": why });
            writer.event(now, "missed", fields)?;
        }
        Ok(())
    }
}

/// Why a member, or all of a storage, can't fail.
fn is_dead(member: Option<u32>) -> Reason {
    match member {
        Some(member) => Reason::new("member_dead").with("member", member),
        None => Reason::new("everything_dead"),
    }
}

/// The fields of an event, and what was lost by it with the near side of a replica, if anything.
fn with_lost(mut fields: Value, device: &mut Device) -> Value {
    let (writes, bytes) = device.take_lost();
    if writes > 0 {
        (fields["lost_writes"], fields["lost_bytes"]) = (writes.into(), bytes.into());
    }
    fields
}

/// The storage that an event befalls; `None` where the simulated world does not stage it.
pub(crate) fn befallen(event: &Event) -> Option<&str> {
    let failed = event.fail.as_ref().map(|of| &of.storage);
    let others = [&event.replace, &event.power_cut].map(|of| of.as_ref().map(|of| &of.storage));
    let failover = event.failover.as_ref().map(|of| &of.storage);
    failed.or(others[0]).or(others[1]).or(failover)?.as_deref()
}
