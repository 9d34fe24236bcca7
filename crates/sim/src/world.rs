//! What lasts from phase to phase: devices, host and engine, the digest, and what was used.

use crate::chance::Chance;
use crate::check;
use crate::database::Server;
use crate::device::{Device, DeviceCompletion};
use crate::digest::Digest;
use crate::error::SimError;
use crate::host::Host;
use crate::places::places;
use crate::seats::Seats;
use crate::stack;
use crate::staging::{Staging, befallen};
use tameshi_base::Nanos;
use tameshi_record::{Heat, RecordError, Resource, Share, Usage, Wear, Writer};
use tameshi_spec::run::{Node, RunSpec};

/// What a device, or the host, has done so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    usage: Usage,
    rebuilt_bytes: u64,
    /// Bytes that its replicas lack of what was acknowledged; `None` where nothing is acknowledged without them.
    behind_bytes: Option<u64>,
    /// Nanojoules that its drives have drawn; `None` where that is not known.
    energy_nj: Option<u64>,
    /// How warm its drives are; `None` where none of them says.
    heat: Option<Heat>,
    /// What its flash has gone through; `None` where there is none.
    wear: Option<Wear>,
    /// What a host's processors have done for a database server itself and in the kernel, in nanoseconds.
    server_ns: Option<[Nanos; 2]>,
}

impl Used {
    /// What will have been done when a share of what lies between `begin` and `end` has followed.
    pub(crate) fn after(&self, (begin, end): (&Self, &Self), share: Share) -> Self {
        let drawn = begin.energy_nj.zip(end.energy_nj).map(|(begin, end)| share.of(end.saturating_sub(begin)));
        let worked =
            begin.server_ns.zip(end.server_ns).map(|(begin, end)| gains(begin, end).map(|gain| share.of(gain)));
        Self {
            usage: self.usage.after((&begin.usage, &end.usage), share),
            rebuilt_bytes: self.rebuilt_bytes,
            behind_bytes: end.behind_bytes,
            energy_nj: self.energy_nj.zip(drawn).map(|(before, drawn)| before + drawn),
            heat: self.heat.zip(begin.heat.zip(end.heat)).map(|(heat, (begin, end))| heat.after((&begin, &end), share)),
            wear: self.wear.zip(begin.wear.zip(end.wear)).map(|(wear, (begin, end))| wear.after((&begin, &end), share)),
            server_ns: self.server_ns.zip(worked).map(|([user, system], more)| [user + more[0], system + more[1]]),
        }
    }

    /// Erased flash, where so much of it holds something that reclaiming will cost more than it does now.
    pub(crate) fn erased(&self) -> Option<u64> {
        self.wear.filter(|wear| wear.mapped_bytes > wear.physical_bytes / 2).map(|wear| wear.erased_bytes)
    }
}

/// By how much each is more.
fn gains(before: [Nanos; 2], after: [Nanos; 2]) -> [Nanos; 2] {
    [0, 1].map(|at| after[at].saturating_sub(before[at]))
}

/// What lasts from phase to phase.
pub(crate) struct World {
    /// The machine between jobs and devices, where it costs anything.
    pub(crate) host: Option<Host>,
    /// The database engine, where programs work on one.
    pub(crate) engine: Option<Box<Server>>,
    /// One device per storage, in the spec's order, but one for all storages that share it.
    pub(crate) devices: Vec<Device>,
    pub(crate) staging: Staging,
    /// The device of each storage, in the spec's order.
    places: Vec<usize>,
    /// The first storage of each device.
    pub(crate) names: Vec<String>,
    pub(crate) digest: Digest,
    /// Where jobs sit, from phase to phase.
    pub(crate) seats: Seats,
    /// Virtual time.
    pub(crate) now: Nanos,
    /// Something happened to a device: when one wakes first must be looked up again. Who has done so takes it back.
    pub(crate) touched: bool,
    /// Reused by each advance.
    pub(crate) completions: Vec<DeviceCompletion>,
    /// Each device as a subject of the record, by its first storage, and what it had done by the last boundary.
    used: Vec<(String, Used)>,
    used_at: Nanos,
}

impl World {
    pub(crate) fn new(spec: &RunSpec) -> Result<Self, SimError> {
        let missing = check::unsupported(spec);
        if !missing.is_empty() {
            return Err(SimError::Unsupported(missing));
        }
        let devices = devices(spec).map_err(|why| SimError::Unsupported(vec![why]))?;
        let host = spec.host.as_ref().map(|host| Host::new(host, spec));
        let engine = Server::new(spec, &places(spec)).map(Box::new);
        let places: Vec<usize> = places(spec).into_iter().map(|(device, _)| device).collect();
        let first = |device| places.iter().position(|&of| of == device).and_then(|at| spec.storage.get_index(at));
        let names: Vec<String> =
            (0..devices.len()).map(|device| first(device).map_or(String::new(), |(name, _)| name.clone())).collect();
        let mut used: Vec<(String, Used)> =
            names.iter().map(|name| (format!("storage.{name}"), Used::default())).collect();
        used.extend(host.iter().map(|_| ("host".to_string(), Used::default())));
        let (staging, completions) = (Staging::new(spec), Vec::with_capacity(1024));
        let (digest, seats) = (Digest::new(), Seats::default());
        Ok(Self {
            host,
            engine,
            devices,
            staging,
            places,
            names,
            digest,
            seats,
            now: 0,
            touched: true,
            completions,
            used,
            used_at: 0,
        })
    }

    /// An interval begins: what was used before it is none of its business.
    pub(crate) fn note_usage(&mut self) {
        self.used_at = self.now;
        for place in 0..self.used.len() {
            self.used[place].1 = self.usage(place);
        }
    }

    /// Other parts are there from now on: how busy those will have been is counted anew, while what was done goes on.
    pub(crate) fn note_parts(&mut self) {
        for place in 0..self.used.len() {
            self.used[place].1.usage = self.usage(place).usage;
        }
    }

    /// What that which stands at a place of `used` has done until now: a device, or behind them the host.
    fn usage(&self, place: usize) -> Used {
        let mut usage = Usage::default();
        match (self.devices.get(place), &self.host) {
            (Some(device), host) => {
                device.usage(self.now, &mut usage);
                if let Some(host) = host {
                    host.storage_usage(place, self.now, &mut usage);
                }
            }
            (None, Some(host)) => host.usage(self.now, &mut usage),
            (None, None) => {}
        }
        let device = self.devices.get(place);
        let host = self.host.as_ref().filter(|_| device.is_none() && self.engine.is_some());
        Used {
            usage,
            rebuilt_bytes: device.map_or(0, Device::rebuilt_bytes),
            behind_bytes: device.and_then(Device::behind_bytes),
            energy_nj: device.and_then(|device| device.energy_nj(self.now)),
            heat: device.and_then(|device| device.heat(self.now)),
            wear: device.and_then(Device::wear),
            server_ns: host.map(|host| host.user_and_system(self.now)),
        }
    }

    /// What is used from now on belongs to intervals whose first one begins at `at` in the record; what was used before.
    pub(crate) fn begin_record_at(&mut self, at: Nanos) -> Vec<Used> {
        self.used_at = at;
        self.used_now()
    }

    /// What devices and host have done until now.
    pub(crate) fn used_now(&self) -> Vec<Used> {
        (0..self.used.len()).map(|place| self.usage(place)).collect()
    }

    /// The same where the interval has not ended already, at an event of this instant.
    pub(crate) fn write_usage_up_to_now(&mut self, writer: &mut Writer) -> Result<(), RecordError> {
        if self.used_at < self.now { self.write_usage(writer) } else { Ok(()) }
    }

    /// An interval ends and the next one begins: what was used in it goes into the record.
    pub(crate) fn write_usage(&mut self, writer: &mut Writer) -> Result<(), RecordError> {
        let used = self.used_now();
        self.write_used(self.now, used, writer)
    }

    /// An interval ends at `now`, when so much was done.
    pub(crate) fn write_used(&mut self, now: Nanos, used: Vec<Used>, writer: &mut Writer) -> Result<(), RecordError> {
        let span = (self.used_at, now);
        for ((subject, before), after) in self.used.iter_mut().zip(used) {
            writer.usage(span, subject, &before.usage, &after.usage)?;
            if after.rebuilt_bytes > before.rebuilt_bytes {
                let rebuilt = after.rebuilt_bytes - before.rebuilt_bytes;
                writer.counters(span, subject, &[("rebuild.bytes", rebuilt)])?;
            }
            if let Some(behind) = after.behind_bytes {
                writer.counters(span, subject, &[("replica.behind_bytes", behind)])?;
            }
            if let Some((drawn, until)) = after.energy_nj.zip(before.energy_nj) {
                writer.counters(span, subject, &[("power.energy_nj", drawn.saturating_sub(until))])?;
            }
            if let Some(heat) = after.heat {
                let (drives, _) = after.usage.of(Resource::Thermal);
                writer.counters(span, subject, &heat.rows(&before.heat.unwrap_or_default(), drives))?;
            }
            if let Some((before, after)) = before.server_ns.zip(after.server_ns) {
                let [user, system] = gains(before, after);
                writer.counters(span, subject, &[("process.cpu_user_ns", user), ("process.cpu_system_ns", system)])?;
            }
            if let Some(wear) = after.wear {
                writer.counters(span, subject, &wear.rows(&before.wear.unwrap_or_default()))?;
            }
            *before = after;
        }
        self.used_at = now;
        Ok(())
    }

    /// When something next happens in the host.
    #[inline]
    pub(crate) fn host_wake(&self) -> Nanos {
        self.host.as_ref().map_or(Nanos::MAX, Host::next)
    }

    /// Whether a thread of the host stays on its processor until the end of this instant.
    #[inline]
    pub(crate) fn host_lingers(&self) -> bool {
        self.host.as_ref().is_some_and(Host::lingers)
    }

    /// When something next happens in the engine by itself.
    #[inline]
    pub(crate) fn engine_wake(&self) -> Nanos {
        self.engine.as_ref().map_or(Nanos::MAX, |engine| engine.next())
    }

    /// The next event befalls its storage.
    pub(crate) fn stage(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        let Some(storage) = self.staging.next_storage() else { return Ok(()) };
        let device = self.places[storage];
        self.touched = true;
        let blow = self.staging.happen(self.now, &mut self.devices[device], writer)?;
        if let (Some(engine), Some(blow)) = (self.engine.as_mut().filter(|engine| engine.device == device), blow) {
            engine.fault(self.now, blow);
        }
        Ok(())
    }

    /// Records what the engine has to tell besides its counters; an error where its storage is full.
    pub(crate) fn tell_engine(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        let news = self.engine.as_mut().map_or(Vec::new(), |engine| engine.take_events());
        news.into_iter().try_for_each(|news| writer.event(news.at, news.kind, news.fields))?;
        self.engine.as_ref().and_then(|engine| engine.no_space()).map_or(Ok(()), |why| Err(SimError::NoSpace(why)))
    }

    /// Records the rebuilds that have ended.
    #[inline]
    pub(crate) fn tell_rebuilt(&mut self, writer: &mut Writer) -> Result<(), SimError> {
        self.staging.tell_rebuilt(&mut self.devices, &self.names, writer)
    }

    /// The device that wakes first, and when; at [`Nanos::MAX`] when all are idle. Among equals the first storage.
    #[inline]
    pub(crate) fn first_wake(&self) -> (Nanos, usize) {
        let mut first = (Nanos::MAX, 0);
        for (index, device) in self.devices.iter().enumerate() {
            if let Some(at) = device.next_wake().filter(|&at| at < first.0) {
                first = (at, index);
            }
        }
        first
    }
}

/// The devices of a run, those that something befalls being watched.
fn devices(spec: &RunSpec) -> Result<Vec<Device>, String> {
    let places = places(spec);
    let befallen: Vec<usize> = spec
        .events
        .values()
        .filter_map(|event| spec.storage.get_index_of(befallen(event)?))
        .map(|storage| places[storage].0)
        .collect();
    let mut devices: Vec<Device> = Vec::new();
    for ((name, storage), (device, _)) in spec.storage.iter().zip(places) {
        let Some(node) = &storage.model else { continue };
        let chance = Chance::new(spec.seed, name);
        match (devices.get_mut(device), node) {
            (Some(shared), Node::Partition { function, .. }) => shared.grant(function),
            (Some(_), _) => {}
            (None, _) if befallen.contains(&device) => devices.push(stack::watched(node, &chance)?),
            (None, _) => devices.push(stack::placed(node, &chance)?),
        }
    }
    Ok(devices)
}
