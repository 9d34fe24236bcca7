//! Refusals of a run, before anything is served: what the emulated world cannot do yet.

use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{Node, RunSpec};
use tameshi_spec::study::Event;

/// Return the refusals of `spec`; empty if its storages can be served.
pub fn refusals(spec: &RunSpec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (name, storage) in &spec.storage {
        let Some(node) = &storage.model else {
            refusals.push(Refusal::new("no_model", &["storage", name], "this storage has no device model"));
            continue;
        };
        if let Some((key, message)) = unserved(node) {
            refusals.push(Refusal::new("not_served", &["storage", name, key], message));
        }
    }
    refusals.extend(unnamed_losses(spec));
    for (name, event) in &spec.events {
        let member = event.fail.as_ref();
        let replaced = event.replace.as_ref().and_then(|of| of.storage.as_ref());
        let of = member.and_then(|of| of.storage.as_ref()).or(replaced);
        if of.and_then(|of| spec.storage[of].model.as_ref()).is_some_and(|node| matches!(node, Node::Replica { .. })) {
            let key = if member.is_some() { "fail" } else { "replace" };
            let message =
                "drives of a served block mirror do not fail yet; simulate it, or use an array without a mirror";
            refusals.push(Refusal::new("not_served", &["event", name, key], message));
        }
        if member.is_some_and(|member| member.channel.is_some()) {
            let message = "channels of a served drive do not fail yet; simulate it, or let a member fail";
            refusals.push(Refusal::new("not_served", &["event", name, "fail", "channel"], message));
        }
    }
    refusals
}

/// Refuse power cuts under a storage whose lost ranges the model does not name: members of an array
/// with volatile buffers, or a volatile drive that fails.
fn unnamed_losses(spec: &RunSpec) -> Vec<Refusal> {
    let fails = |name: &str| {
        let of = |event: &Event| event.fail.as_ref().and_then(|of| of.storage.clone());
        spec.events.values().any(|event| of(event).as_deref() == Some(name))
    };
    let is_unnamed = |name: &str, node: &Node| {
        let is_array = node.drives() > 1 || fails(name);
        is_array && node.drive().1.is_volatile()
    };
    let unnamed = |name: &String| spec.storage[name].model.as_ref().is_some_and(|node| is_unnamed(name, node));
    let cuts = spec.events.iter().filter(|(_, event)| event.power_cut.is_some());
    let pairs =
        cuts.flat_map(|(event, _)| spec.storage.keys().filter(|name| unnamed(name)).map(move |name| (event, name)));
    let refused = pairs.map(|(event, name)| {
        let message = format!(
            "the drives of storage `{name}` have volatile buffers, and what an array of them loses is not known yet; use \
             drives with power-loss protection, or one drive"
        );
        Refusal::new("not_served", &["event", event, "power_cut"], message)
    });
    refused.collect()
}

/// Return the part of a stack that is not served yet, by its key, with the remedy.
///
/// A block mirror is served as a whole storage: below another layer, commands are not those of the
/// host, and what the far side has of them is unknown.
pub fn unserved(node: &Node) -> Option<(&'static str, &'static str)> {
    match node {
        Node::Replica { of, .. } => without_mirror(of),
        of => without_mirror(of),
    }
}

fn without_mirror(node: &Node) -> Option<(&'static str, &'static str)> {
    match node {
        Node::Device { .. } => None,
        Node::Replica { .. } => {
            Some(("replica", "a standby inside a stack is not served yet; simulate it, or mirror the whole storage"))
        }
        Node::Partition { .. } => {
            Some(("partition", "functions of a shared drive are not served yet; simulate it, or use whole drives"))
        }
        Node::Raid0 { of, .. }
        | Node::Raid1 { of, .. }
        | Node::Raid10 { of, .. }
        | Node::Raid5 { of, .. }
        | Node::OverProvisioned { of, .. }
        | Node::Cache { of, .. } => without_mirror(of),
    }
}
