//! One run in virtual time: its devices, its phases in order, its digest.

use crate::check;
use crate::device::{Device, DeviceCompletion};
use crate::digest::Digest;
use crate::host::Host;
use crate::phase::Phase;
use crate::stack;
use serde_json::json;
use tameshi_base::Nanos;
use tameshi_record::{RecordError, RunStatus, Usage, Writer};
use tameshi_spec::run::RunSpec;
use thiserror::Error;

/// Why a run could not be simulated.
#[derive(Debug, Error)]
pub enum SimError {
    /// The spec asks for what the simulated world can't do; a sentence each.
    #[error("{}", .0.join("\n"))]
    Unsupported(Vec<String>),
    /// Virtual time stands still.
    #[error("{0}")]
    NoProgress(String),
    /// A device model kept commands to itself: a fault of the model, never of the study.
    #[error("phase.{phase}: {commands} commands never completed; this is a fault of Tameshi's device model")]
    Lost {
        /// Name of the phase.
        phase: String,
        /// Commands outstanding with idle devices.
        commands: u64,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What lasts from phase to phase.
pub(crate) struct World {
    /// The machine between jobs and devices, where it costs anything.
    pub(crate) host: Option<Host>,
    /// One device per storage, in the spec's order.
    pub(crate) devices: Vec<Device>,
    pub(crate) digest: Digest,
    /// Virtual time.
    pub(crate) now: Nanos,
    /// Reused by each advance.
    pub(crate) completions: Vec<DeviceCompletion>,
    /// Each storage as a subject of the record, and how much it had worked at the last boundary.
    used: Vec<(String, Usage)>,
    used_at: Nanos,
}

impl World {
    fn new(spec: &RunSpec) -> Result<Self, SimError> {
        let missing = check::unsupported(spec);
        if !missing.is_empty() {
            return Err(SimError::Unsupported(missing));
        }
        let models = spec.storage.values().filter_map(|storage| storage.model.as_ref());
        let devices: Result<Vec<Device>, String> = models.map(stack::node).collect();
        let devices = devices.map_err(|why| SimError::Unsupported(vec![why]))?;
        let host = spec.host.as_ref().map(|host| Host::new(host, spec));
        let mut used: Vec<(String, Usage)> =
            spec.storage.keys().map(|name| (format!("storage.{name}"), Usage::default())).collect();
        used.extend(host.iter().map(|_| ("host".to_string(), Usage::default())));
        let completions = Vec::with_capacity(1024);
        Ok(Self { host, devices, digest: Digest::new(), now: 0, completions, used, used_at: 0 })
    }

    /// An interval begins: what was used before it is none of its business.
    pub(crate) fn note_usage(&mut self) {
        self.used_at = self.now;
        for place in 0..self.used.len() {
            self.used[place].1 = self.usage(place);
        }
    }

    /// How much what stands at a place of `used` has worked until now: a storage, or behind them the host.
    fn usage(&self, place: usize) -> Usage {
        let mut usage = Usage::default();
        match (self.devices.get(place), &self.host) {
            (Some(device), host) => {
                device.usage(self.now, &mut usage);
                if let Some(host) = host {
                    host.lock_usage(place, self.now, &mut usage);
                }
            }
            (None, Some(host)) => host.usage(self.now, &mut usage),
            (None, None) => {}
        }
        usage
    }

    /// An interval ends and the next one begins: what was used in it goes into the record.
    pub(crate) fn write_usage(&mut self, writer: &mut Writer) -> Result<(), RecordError> {
        for place in 0..self.used.len() {
            let after = self.usage(place);
            let (subject, before) = &mut self.used[place];
            writer.usage((self.used_at, self.now), subject, before, &after)?;
            *before = after;
        }
        self.used_at = self.now;
        Ok(())
    }

    /// When something next happens in the host.
    #[inline]
    pub(crate) fn host_wake(&self) -> Nanos {
        self.host.as_ref().map_or(Nanos::MAX, Host::next)
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

/// Carries out `spec` in virtual time from t0 = 0, writing its record; returns how it ended and its digest.
///
/// A phase begins when the one before it has ended and everything outstanding has drained; the drain belongs to no
/// window. The digest is XXH3-128, in hexadecimal digits, over every completion in order, the drain included.
///
/// # Errors
/// When the spec asks for what the simulated world can't do, when virtual time stands still, or when the record can't
/// be written.
pub fn execute(spec: &RunSpec, writer: &mut Writer) -> Result<(RunStatus, String), SimError> {
    let mut world = World::new(spec)?;
    writer.event(0, "run_begin", json!({}))?;
    let mut status = RunStatus::Complete;
    for index in 0..spec.phases.len() {
        if writer.control().is_stopping() {
            status = RunStatus::Partial;
            break;
        }
        status = Phase::new(spec, index, world.now).run(spec, &mut world, writer)?;
        if status == RunStatus::Partial {
            break;
        }
    }
    let digest = world.digest.hex();
    writer.event(world.now, "run_end", json!({ "status": status.word(), "digest": digest }))?;
    Ok((status, digest))
}
