//! Validation of a run for the simulated world, before it starts.

use crate::device::Flash;
use tameshi_spec::profile;
use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{Node, PhaseSpec, PhaseStream, RunSpec, StorageSpec};
use tameshi_workload::Arrivals;
use tameshi_workload::spec::{Access, Verify};

/// Refusals of the simulated world for `spec`; empty if it can be run.
///
/// `start` matters to databases only: no device cache survives a run. `compressible` and
/// `duplicate` change nothing: a simulated device stores data as they are.
pub fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if spec.database.is_none() {
        let unused = |name: &String| Refusal::new("unused_engine", &["engine", name], "no phase runs a program on it");
        refusals.extend(spec.engines.keys().map(unused));
    }
    for (name, storage) in &spec.storage {
        match &storage.model {
            None => refusals.push(Refusal::new("no_model", &["storage", name], "this storage has no device model")),
            Some(node) => refusals.extend(refused_storage(name, node, storage.size.0)),
        }
    }
    refusals.extend(shared_otherwise(spec));
    refusals.extend(dead_channels(spec));
    refusals.extend(crate::database::refusals(spec));
    for phase in &spec.phases {
        let name = &phase.name;
        if phase.until.time_at_most(phase.ramp).is_none() && phase.until.amount.is_none() {
            let message = "neither a time, an amount nor steady state ends this phase";
            refusals.push(Refusal::new("endless_phase", &["phase", name, "until"], message));
        }
        phase.streams.iter().for_each(|stream| refused_stream(spec, phase, stream, &mut refusals));
    }
    // A stream in several phases has the same refusals in each.
    let mut seen = std::collections::BTreeSet::new();
    refusals.retain(|refusal| seen.insert(refusal.clone()));
    refusals
}

/// Storages that share a drive and differ in properties of the drive.
fn shared_otherwise(spec: &RunSpec) -> Vec<Refusal> {
    let drive = |storage: &StorageSpec| match &storage.model {
        Some(Node::Partition { function, of }) => Some((function.drive.clone()?, of.clone())),
        _ => None,
    };
    let mut first = std::collections::BTreeMap::new();
    let mut refusals = Vec::new();
    for (name, storage) in &spec.storage {
        let Some((drive, of)) = drive(storage) else { continue };
        let (other, known) = first.entry(drive.clone()).or_insert_with(|| (name.clone(), of.clone()));
        if *known != of {
            let message = format!(
                "drive `{drive}` is another one in storage `{other}`; give both the same `size`, `scale`, `written` and \
                 `aged`"
            );
            refusals.push(Refusal::new("unequal_drive", &["storage", name, "partition", "drive"], message));
        }
    }
    refusals
}

/// Channels that fail during the run and leave their drive without room for its data.
fn dead_channels(spec: &RunSpec) -> Vec<Refusal> {
    let mut dead = std::collections::BTreeMap::<_, std::collections::BTreeSet<u32>>::new();
    let mut refusals = Vec::new();
    for (name, event) in &spec.events {
        let Some((of, channel)) = event.fail.as_ref().and_then(|of| Some((of, of.channel?))) else { continue };
        let model = of.storage.as_ref().and_then(|storage| spec.storage.get(storage)?.model.as_ref());
        let Some(profile::Device::Flash(flash)) = model.map(|node| node.drive().1) else { continue };
        let (controller, before) = (&flash.controller, flash.simulated.dead_channels);
        let each = controller.data_channels.value + controller.parity_channels.value - before;
        let of_controller = dead.entry((&of.storage, of.member, channel / each)).or_default();
        of_controller.insert(channel);
        let mut degraded = flash.clone();
        degraded.simulated.dead_channels = before + of_controller.len() as u32;
        let left = controller.data_channels.value.saturating_sub(degraded.simulated.dead_channels);
        let why = if left == 0 { Some("no channel is left".into()) } else { Flash::new(&degraded).err() };
        refusals.extend(why.map(|why| Refusal::new("dead_channels", &["event", name, "fail", "channel"], why)));
    }
    refusals
}

fn refused_storage(name: &str, node: &Node, size_bytes: u64) -> Option<Refusal> {
    let capacity = node.capacity();
    if size_bytes > capacity.0 {
        let message = format!("{size_bytes} bytes are more than the storage's {capacity}");
        return Some(Refusal::new("beyond_capacity", &["storage", name, "size"], message));
    }
    let why = crate::stack::node(node).err()?;
    Some(Refusal::new("stack", &["storage", name], why))
}

fn refused_stream(spec: &RunSpec, phase: &PhaseSpec, stream: &PhaseStream, refusals: &mut Vec<Refusal>) {
    let (name, what) = (&stream.name, &stream.stream);
    let mut refuse = |condition: bool, key: &'static str, why: &str| {
        if condition {
            refusals.push(Refusal::of_stream(name, key, why));
        }
    };
    let storage = spec.storage.get(&stream.storage);
    let rest = storage.map_or(0, |storage| storage.size.0.saturating_sub(what.offset.0));
    let span_bytes = what.span.map_or(rest, |span| span.0.min(rest));
    let impossible = |size: tameshi_base::Size| size.0 == 0 || size.0 > u64::from(u32::MAX);
    let key = if what.is_mixed() { "block_size_mix" } else { "block_size" };
    refuse(storage.is_none(), "storage", "the run has no storage of this name");
    refuse(what.lengths().iter().any(|length| impossible(length.size)), key, "must be from 1 B to 4 GiB");
    refuse(storage.is_some() && span_bytes < what.least_span().0, "span", "holds no whole block");
    refuse(
        what.access == Access::Buffered,
        "access",
        "the simulated world has no page cache; use `direct`, or measure this stream",
    );
    refuse(
        what.verify != Verify::Off,
        "verify",
        "a simulated drive holds no data that could be checked; measure this stream, or leave `verify` out",
    );
    refuse(what.call.is_some(), "call", "a simulated drive has no files; measure this stream");
    refuse(what.queue_depth == 0, "queue_depth", "expected 1 or more, got 0");
    refuse(what.jobs == 0, "jobs", "expected 1 or more jobs, got 0");
    for objection in what.error().into_iter().chain(what.span_error(span_bytes)) {
        refuse(true, objection.key, &objection.message);
    }
    let model = storage.and_then(|storage| storage.model.as_ref());
    if let Some(Err(why)) = spec.host.as_ref().map(|host| host.model.chosen(host.submission, what.most_outstanding())) {
        refuse(true, "queue_depth", &why);
    }
    let free = spec.host.as_ref().is_none_or(|host| host.is_free())
        && matches!(model, Some(Node::Device { device: profile::Device::Null(_), .. }));
    let closed = matches!(what.arrivals, Arrivals::Closed) && what.think_time.0 == 0;
    if free && closed && phase.until.amount.is_none() {
        let message = endless_loop(name, &stream.storage);
        refusals.push(Refusal::new("no_virtual_time", &["phase", &phase.name, "until"], message));
    }
}

/// Error of a closed loop on a device without latency.
pub(crate) fn endless_loop(stream: &str, storage: &str) -> String {
    format!(
        "stream `{stream}` keeps storage `{storage}` busy at one instant of virtual time: the \
         storage has no latency; give the phase an `amount`, or the stream an open-loop rate or a think time"
    )
}

/// Error of transactions that can't end after their phase.
pub(crate) fn stuck_transactions(phase: &str) -> String {
    format!(
        "phase.{phase}: transactions in flight at its end can't finish: they wait for work that the engine's profile \
         leaves out, such as flushing for free pages; look at its section `flushing`"
    )
}
