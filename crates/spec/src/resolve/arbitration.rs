//! Arbitration between the queues of one drive, and errors of settings without effect.

use crate::errors::bad_value;
use crate::run::RunSpec;
use crate::run::node::{self, Function, Node};
use crate::study::{Arbitration, Study};
use crate::toml::document::{Source, Table};
use tameshi_base::{InputError, InputErrorKind, Share};

/// Limits of NVMe: weights of eight bits, bursts of powers of two.
const MOST_WEIGHT: u32 = 256;
const MOST_BURST: u32 = 64;
const MOST_DEPTH: u32 = 65_536;

/// Gives the storage's drive, or the function of it that the storage is, queues by priority.
pub(crate) fn arbitrate(
    source: Source<'_>,
    table: &Table<'_>,
    name: &str,
    model: Node,
    written: &Arbitration,
) -> Result<Node, InputError> {
    let conflict = |key: &[&str], message: &str| {
        let path: Vec<&str> = ["storage", name, "arbitration"].iter().chain(key).copied().collect();
        Err(source.error_at(table, &path, InputErrorKind::Conflict, message))
    };
    let burst = written.burst.unwrap_or(1);
    let weight = |of: u32| (1..=MOST_WEIGHT).contains(&of);
    for (key, holds, message, accepted) in [
        ("high", weight(written.high), "this is no weight of a class", format!("1 to {MOST_WEIGHT}")),
        ("medium", weight(written.medium), "this is no weight of a class", format!("1 to {MOST_WEIGHT}")),
        ("low", weight(written.low), "this is no weight of a class", format!("1 to {MOST_WEIGHT}")),
        (
            "burst",
            burst.is_power_of_two() && burst <= MOST_BURST,
            "this is no burst of commands",
            format!("a power of two from 1 to {MOST_BURST}"),
        ),
        (
            "queue_depth",
            written.queue_depth.is_none_or(|depth| (1..=MOST_DEPTH).contains(&depth)),
            "a drive holds from one command to 65,536 at once",
            format!("1 to {MOST_DEPTH}"),
        ),
    ] {
        if !holds {
            return Err(bad_value(source, table, &["storage", name, "arbitration", key], message, &accepted));
        }
    }
    let arbitration = Some(node::Arbitration { high: written.high, medium: written.medium, low: written.low, burst });
    match model {
        Node::Partition { .. } if written.queue_depth.is_some() => conflict(
            &["queue_depth"],
            "the drive holds what `partition.queue_depth` says, of all its functions together",
        ),
        Node::Partition { of, function } => Ok(Node::Partition { of, function: Function { arbitration, ..function } }),
        Node::Device { ref device, .. } => {
            let Some(depth) = device.queue_depth() else {
                return conflict(&[], "only flash and 3D XPoint drives have queues of several priorities");
            };
            let queue_depth = written.queue_depth.unwrap_or(depth);
            let function =
                Function { drive: None, index: 0, functions: 1, weight: Share::WHOLE, queue_depth, arbitration };
            Ok(Node::Partition { of: Box::new(model), function })
        }
        _ => conflict(&[], "priorities are those of one drive: the storage must be a `device` or a `partition`"),
    }
}

/// Streams with a priority work on storages whose queues it counts in.
pub(crate) fn priorities(
    source: Source<'_>,
    table: &Table<'_>,
    study: &Study,
    run: &RunSpec,
) -> Result<(), InputError> {
    for stream in run.phases.iter().flat_map(|phase| &phase.streams) {
        let counts = study.storage.get(&stream.storage).is_some_and(|stack| stack.arbitration.is_some());
        if stream.stream.priority.is_some() && !counts {
            let path = ["workload", "stream", &stream.name, "priority"];
            let message = format!("storage `{}` has one queue for all its streams", stream.storage);
            let mut error = source.error_at(table, &path, InputErrorKind::Conflict, message);
            error.accepted = vec!["arbitration = { high = 8, medium = 4, low = 2 } beside its model".into()];
            return Err(error);
        }
    }
    Ok(())
}
