//! Refusals of a run, before anything is served: what the emulated world cannot do yet.

use tameshi_spec::refusal::Refusal;
use tameshi_spec::run::{Node, RunSpec};

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
    for (name, event) in &spec.events {
        let member = event.fail.as_ref();
        if member.is_some_and(|member| member.channel.is_some()) {
            let message = "channels of a served drive do not fail yet; simulate it, or let a member fail";
            refusals.push(Refusal::new("not_served", &["event", name, "fail", "channel"], message));
        }
    }
    refusals
}

/// Return the part of a stack that is not served yet, by its key, with the remedy.
fn unserved(node: &Node) -> Option<(&'static str, &'static str)> {
    match node {
        Node::Device { .. } => None,
        Node::Replica { .. } => {
            Some(("replica", "a storage with a standby is not served yet; simulate it, or use one side"))
        }
        Node::Partition { .. } => {
            Some(("partition", "functions of a shared drive are not served yet; simulate it, or use whole drives"))
        }
        Node::Raid0 { of, .. }
        | Node::Raid1 { of, .. }
        | Node::Raid10 { of, .. }
        | Node::Raid5 { of, .. }
        | Node::OverProvisioned { of, .. }
        | Node::Cache { of, .. } => unserved(of),
    }
}
