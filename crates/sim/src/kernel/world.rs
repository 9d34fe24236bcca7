//! State of a run that lasts from phase to phase: devices, host, database server, record totals.

use super::clock::Sources;
use super::device_map::device_map;
use super::devices::Devices;
use super::digest::Digest;
use super::job_table::JobTable;
use super::usage::UsageTotals;
use super::validate;
use crate::basics::seed_path::SeedPath;
use crate::database::{FaultKind, Server};
use crate::device::DeviceCompletion;
use crate::error::SimError;
use crate::faults::event_queue::{EventQueue, target};
use crate::host::Host;
use crate::stack;
use crate::stack::Device;
use tameshi_base::Nanos;
use tameshi_record::{RecordError, Usage, Writer};
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{Node, RunSpec};

/// State of a run that lasts from phase to phase.
pub(crate) struct World {
    /// Host, unless its processors take no time.
    pub(crate) host: Option<Host>,
    /// Database server, if a program uses one.
    pub(crate) engine: Option<Box<Server>>,
    pub(super) devices: Devices,
    pub(super) events: EventQueue,
    /// Device of each storage, in the spec's order.
    device_of: Vec<usize>,
    /// Name of the first storage of each device.
    names: Vec<String>,
    pub(super) digest: Digest,
    /// Jobs, while no phase has them.
    pub(super) jobs: JobTable,
    /// Virtual time.
    pub(crate) now: Nanos,
    /// Buffer for the completions of one advance.
    pub(super) completions: Vec<DeviceCompletion>,
    /// Subject of the record for each device and the host, with its usage at `usage_from`.
    used: Vec<(String, UsageTotals)>,
    usage_from: Nanos,
}

impl World {
    pub(super) fn new(spec: &RunSpec) -> Result<Self, SimError> {
        let missing = validate::refusals(spec);
        if !missing.is_empty() {
            return Err(SimError::Unsupported(missing));
        }
        let devices =
            devices(spec).map_err(|why| SimError::Unsupported(vec![Refusal::new("stack", &["storage"], why)]))?;
        let map = device_map(spec);
        let host = spec.host.as_ref().map(|host| Host::new(host, spec));
        let engine = Server::new(spec, &map).map(Box::new);
        let device_of: Vec<usize> = map.into_iter().map(|(device, _)| device).collect();
        let first = |device| device_of.iter().position(|&of| of == device).and_then(|at| spec.storage.get_index(at));
        let names: Vec<String> =
            (0..devices.len()).map(|device| first(device).map_or(String::new(), |(name, _)| name.clone())).collect();
        let mut used: Vec<(String, UsageTotals)> =
            names.iter().map(|name| (format!("storage.{name}"), UsageTotals::default())).collect();
        used.extend(host.iter().map(|_| ("host".to_string(), UsageTotals::default())));
        Ok(Self {
            host,
            engine,
            devices: Devices::new(devices),
            events: EventQueue::new(spec),
            device_of,
            names,
            digest: Digest::new(),
            jobs: JobTable::default(),
            now: 0,
            completions: Vec::with_capacity(1024),
            used,
            usage_from: 0,
        })
    }

    /// Start a usage interval; earlier usage is excluded.
    pub(super) fn begin_usage(&mut self) {
        self.usage_from = self.now;
        for index in 0..self.used.len() {
            self.used[index].1 = self.totals(index);
        }
    }

    /// Restart utilisation after the parts of a device have changed; cumulative counters go on.
    pub(super) fn restart_utilization(&mut self) {
        for index in 0..self.used.len() {
            self.used[index].1.usage = self.totals(index).usage;
        }
    }

    /// Usage of one entry of `used` until now: a device, or after the devices the host.
    fn totals(&self, index: usize) -> UsageTotals {
        let mut usage = Usage::default();
        let device = self.devices.get(index);
        match (device, &self.host) {
            (Some(device), host) => {
                device.usage(self.now, &mut usage);
                if let Some(host) = host {
                    host.storage_usage(index, self.now, &mut usage);
                }
            }
            (None, Some(host)) => host.usage(self.now, &mut usage),
            (None, None) => {}
        }
        let host = self.host.as_ref().filter(|_| device.is_none() && self.engine.is_some());
        UsageTotals {
            usage,
            rebuilt_bytes: device.map_or(0, Device::rebuilt_bytes),
            behind_bytes: device.and_then(Device::behind_bytes),
            energy_nj: device.and_then(|device| device.energy_nj(self.now)),
            heat: device.and_then(|device| device.heat(self.now)),
            wear: device.and_then(Device::wear),
            server_ns: host.map(|host| host.user_and_system(self.now)),
        }
    }

    /// Start usage intervals at time `at` of the record; return the usage until now.
    pub(crate) fn begin_usage_at(&mut self, at: Nanos) -> Vec<UsageTotals> {
        self.usage_from = at;
        self.usage_totals()
    }

    /// Usage of each device and of the host until now.
    pub(crate) fn usage_totals(&self) -> Vec<UsageTotals> {
        (0..self.used.len()).map(|index| self.totals(index)).collect()
    }

    /// End the usage interval, unless an event of this instant has ended it.
    pub(super) fn write_open_usage(&mut self, writer: &mut Writer) -> Result<(), RecordError> {
        if self.usage_from < self.now { self.write_usage(writer) } else { Ok(()) }
    }

    /// End the usage interval now, write it, and begin the next one.
    pub(super) fn write_usage(&mut self, writer: &mut Writer) -> Result<(), RecordError> {
        let totals = self.usage_totals();
        self.write_usage_at(self.now, totals, writer)
    }

    /// End the usage interval at time `at` of the record, with these totals.
    pub(crate) fn write_usage_at(
        &mut self,
        at: Nanos,
        totals: Vec<UsageTotals>,
        writer: &mut Writer,
    ) -> Result<(), RecordError> {
        let span = (self.usage_from, at);
        for ((subject, before), after) in self.used.iter_mut().zip(totals) {
            before.write_interval(span, subject, &after, writer)?;
            *before = after;
        }
        self.usage_from = at;
        Ok(())
    }

    /// Return the next time of each source; events at or after `events_until` are left out.
    #[inline(always)]
    pub(crate) fn sources(&mut self, job: (Nanos, usize), boundary: Nanos, events_until: Nanos) -> Sources {
        let event = self.events.next();
        Sources {
            event: if event < events_until { event } else { Nanos::MAX },
            boundary,
            job,
            server: self.server_wake(),
            host: self.host.as_ref().map_or(Nanos::MAX, Host::next),
            device: self.devices.first_wake(),
        }
    }

    /// Return whether a thread of the host keeps its processor until the end of this instant.
    #[inline]
    pub(crate) fn host_lingers(&self) -> bool {
        self.host.as_ref().is_some_and(Host::lingers)
    }

    /// Return when the database server acts next by itself.
    #[inline]
    pub(crate) fn server_wake(&self) -> Nanos {
        self.engine.as_ref().map_or(Nanos::MAX, |engine| engine.next())
    }

    /// Return whether the next event waits for a write on its storage.
    pub(super) fn event_waits(&mut self) -> bool {
        let Some(storage) = self.events.next_storage() else { return false };
        let device = self.device_of[storage];
        self.devices.get(device).is_some_and(|device| self.events.waits(self.now, device))
    }

    /// Carry out the next event on its storage, and on the database server there.
    pub(super) fn carry_out_event(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        let Some(storage) = self.events.next_storage() else { return Ok(()) };
        let device = self.device_of[storage];
        let Some(mut fault) = self.events.carry_out(self.now, self.devices.change(device), writer)? else {
            return Ok(());
        };
        let Some(engine) = self.engine.as_mut().filter(|engine| engine.is_on(device)) else { return Ok(()) };
        if fault.kind == FaultKind::PowerCut {
            // The machine's power: each device of the server loses its own.
            let roles = [Some(engine.device), engine.log_device, engine.binlog_device];
            let mut losses = [Some(fault.loss), None, None];
            for at in 0..roles.len() {
                let Some(of_role) = roles[at] else { continue };
                let earlier = roles[..at].iter().position(|role| *role == Some(of_role));
                losses[at] = if of_role == device {
                    Some(fault.loss)
                } else if let Some(earlier) = earlier {
                    losses[earlier]
                } else {
                    let of = (fault.event.as_str(), Some(self.names[of_role].as_str()));
                    Some(self.events.cut_other_power(self.now, of, self.devices.change(of_role), writer)?)
                };
            }
            let [data, log, binlog] = losses;
            (fault.loss, fault.log_loss, fault.binlog_loss) = (data.unwrap_or(fault.loss), log, binlog);
        }
        engine.fault(self.now, fault);
        Ok(())
    }

    /// Record the events of the database server; fail if its storage is full.
    pub(super) fn record_server_events(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        let events = self.engine.as_mut().map_or(Vec::new(), |engine| engine.take_events());
        events.into_iter().try_for_each(|event| writer.event(event.at, event.kind, event.fields))?;
        self.engine.as_ref().and_then(|engine| engine.no_space()).map_or(Ok(()), |why| Err(SimError::NoSpace(why)))
    }

    /// Record the rebuilds that have ended.
    #[inline]
    pub(super) fn record_rebuilds(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        if self.events.is_rebuilding() {
            self.events.record_rebuilds(self.devices.iter_mut().zip(&self.names), writer)?;
        }
        Ok(())
    }
}

/// Build the devices of a run; those that are targets of events track what a fault would lose.
fn devices(spec: &RunSpec) -> Result<Vec<Device>, String> {
    let map = device_map(spec);
    let device_of = |storage: &str| spec.storage.get_index_of(storage).map(|storage| map[storage].0);
    let mut targets: Vec<usize> = spec.events.values().filter_map(|event| device_of(target(event)?)).collect();
    // A power cut of the server's machine hits its data and its logs.
    let roles = spec
        .database
        .iter()
        .flat_map(|database| [Some(&database.storage), database.log.as_ref(), database.binlog.as_ref()]);
    let roles: Vec<usize> = roles.flatten().filter_map(|storage| device_of(storage)).collect();
    if roles.iter().any(|device| targets.contains(device)) {
        targets.extend(roles);
    }
    let mut devices: Vec<Device> = Vec::new();
    for ((name, storage), (device, _)) in spec.storage.iter().zip(map) {
        let Some(node) = &storage.model else { continue };
        let seed = SeedPath::new(spec.seed, name);
        match (devices.get_mut(device), node) {
            (Some(shared), Node::Partition { function, .. }) => shared.grant(function),
            (Some(_), _) => {}
            (None, _) if targets.contains(&device) => devices.push(stack::watched(node, &seed)?),
            (None, _) => devices.push(stack::placed(node, &seed)?),
        }
    }
    Ok(devices)
}
