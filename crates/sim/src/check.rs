//! What of a run the simulated world can't do, said before it starts.

use crate::device::Flash;
use tameshi_spec::profile;
use tameshi_spec::run::{Node, PhaseSpec, PhaseStream, RunSpec, StorageSpec};
use tameshi_workload::Arrivals;
use tameshi_workload::spec::{Access, Verify};

/// What of `spec` the simulated world can't do yet: a sentence each that begins with the key; empty when it can be run.
///
/// `start` matters to databases only: a device here has no cache that survives between runs. So are `compressible`
/// and `duplicate`: a device here stores data as they are, and what they hold changes nothing.
pub fn unsupported(spec: &RunSpec) -> Vec<String> {
    let mut sentences = spec.unsupported.clone();
    if spec.database.is_none() {
        sentences.extend(spec.engines.keys().map(|name| format!("engine.{name}: no phase runs a program on it")));
    }
    for (name, storage) in &spec.storage {
        match &storage.model {
            None => sentences.push(format!("storage.{name}: no device model stands behind this storage")),
            Some(node) => sentences.extend(storage_trouble(name, node, storage.size.0)),
        }
    }
    sentences.extend(shared_otherwise(spec));
    sentences.extend(dead_channels(spec));
    sentences.extend(crate::database::unsupported(spec));
    for phase in &spec.phases {
        let name = &phase.name;
        if phase.until.time_at_most(phase.ramp).is_none() && phase.until.amount.is_none() {
            sentences.push(format!("phase.{name}.until: neither a time, an amount nor steady state ends this phase"));
        }
        phase.streams.iter().for_each(|stream| stream_trouble(spec, phase, stream, &mut sentences));
    }
    // A stream that runs in several phases would say the same thing each time.
    let mut seen = std::collections::BTreeSet::new();
    sentences.retain(|sentence| seen.insert(sentence.clone()));
    sentences
}

/// Storages that share a drive, and differ in what can only be the drive's.
fn shared_otherwise(spec: &RunSpec) -> Vec<String> {
    let drive = |storage: &StorageSpec| match &storage.model {
        Some(Node::Partition { function, of }) => Some((function.drive.clone()?, of.clone())),
        _ => None,
    };
    let mut first = std::collections::BTreeMap::new();
    let mut sentences = Vec::new();
    for (name, storage) in &spec.storage {
        let Some((drive, of)) = drive(storage) else { continue };
        let (other, known) = first.entry(drive.clone()).or_insert_with(|| (name.clone(), of.clone()));
        if *known != of {
            sentences.push(format!(
                "storage.{name}.partition.drive: drive `{drive}` is another one in storage `{other}`; give both the same \
                 `size`, `scale`, `written` and `aged`"
            ));
        }
    }
    sentences
}

/// Channels that die during the run and leave their drive without room for its data.
fn dead_channels(spec: &RunSpec) -> Vec<String> {
    let mut dead = std::collections::BTreeMap::<_, std::collections::BTreeSet<u32>>::new();
    let mut sentences = Vec::new();
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
        sentences.extend(why.map(|why| format!("event.{name}.fail.channel: {why}")));
    }
    sentences
}

fn storage_trouble(name: &str, node: &Node, size_bytes: u64) -> Option<String> {
    let capacity = node.capacity();
    if size_bytes > capacity.0 {
        return Some(format!("storage.{name}.size: {size_bytes} bytes are more than the storage's {capacity}"));
    }
    let why = crate::stack::node(node).err()?;
    Some(format!("storage.{name}: {why}"))
}

fn stream_trouble(spec: &RunSpec, phase: &PhaseSpec, stream: &PhaseStream, sentences: &mut Vec<String>) {
    let (name, what) = (&stream.name, &stream.stream);
    let mut refuse = |condition: bool, key: &str, why: &str| {
        if condition {
            sentences.push(format!("workload.stream.{name}.{key}: {why}"));
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
    refuse(what.queue_depth == 0, "queue_depth", "nothing is ever outstanding");
    refuse(what.jobs == 0, "jobs", "there is nobody to do it");
    for objection in what.objection().into_iter().chain(what.span_objection(span_bytes)) {
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
        sentences.push(no_end(&phase.name, name, &stream.storage));
    }
}

/// What is wrong with a closed loop on a device that takes no time.
pub(crate) fn no_end(phase: &str, stream: &str, storage: &str) -> String {
    format!(
        "phase.{phase}.until: stream `{stream}` keeps storage `{storage}` busy without virtual time going on, for the \
         storage completes at once; give the phase an `amount`, or the stream an open-loop rate or a think time"
    )
}

/// What is wrong where transactions that were under way at a phase's end don't come to theirs.
pub(crate) fn no_rest(phase: &str) -> String {
    format!(
        "phase.{phase}: transactions under way at its end wait for what the engine's profile makes nobody do, as for free \
         pages where nobody flushes any; look at its section `flushing`"
    )
}
