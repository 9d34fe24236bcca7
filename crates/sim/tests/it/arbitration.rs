//! Priority queues of one drive: shares under saturation, urgent commands first, no reserved
//! capacity, no lost command.

use crate::stacks::constant;
use crate::support::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use tameshi_base::units::Share;
use tameshi_base::{Command, CommandKind};
use tameshi_sim::stack;
use tameshi_spec::run::{Arbitration, Function, Node, PhaseStream, RunSpec};
use tameshi_workload::Priority;
use tameshi_workload::StreamSpec;

/// One command at a time, 30 µs each: 33,333 commands per second.
const SERVICE: u64 = 30_000;

pub fn arbitrated(of: Node, queue_depth: u32, [high, medium, low]: [u32; 3], burst: u32) -> Node {
    let Node::Partition { of, function } = partition(of, 1, queue_depth) else { panic!("a partition") };
    let arbitration = Some(Arbitration { high, medium, low, burst });
    Node::Partition { of, function: Function { arbitration, ..function } }
}

/// Run of streams with a queue depth each, for one second on one storage.
fn beside(node: Node, streams: &[(&str, Option<Priority>, u32)]) -> RunSpec {
    let stream = |priority, queue_depth| StreamSpec { priority, queue_depth, ..StreamSpec::default() };
    let mut spec = spec_of(node, StreamSpec::default(), for_time(SECOND));
    let first = spec.phases[0].streams.remove(0);
    let all = streams.iter().map(|&(name, priority, depth)| PhaseStream {
        name: name.into(),
        stream: stream(priority, depth),
        ..first.clone()
    });
    spec.phases[0].streams.extend(all);
    spec
}

fn of(left: &Left, stream: &str, metric: &str) -> f64 {
    left.series.iter().filter(|row| row.3 == metric && row.2 == stream).map(|row| row.4 as f64).sum()
}

#[test]
fn saturated_classes_share_all_throughput_by_weight() {
    for (weights, burst) in [([8, 4, 2], 1), ([8, 4, 2], 16), ([1, 1, 1], 4), ([200, 20, 2], 1)] {
        let streams = [("h", Some(Priority::High), 64), ("m", None, 64), ("l", Some(Priority::Low), 64)];
        let left = run(&beside(arbitrated(constant(), 4, weights, burst), &streams));
        let (all, sum) = (left.sum("read.count") as f64, f64::from(weights.iter().sum::<u32>()));
        assert_close(all, SECOND as f64 / SERVICE as f64, 0.01, "all");
        for (stream, weight) in ["h", "m", "l"].into_iter().zip(weights) {
            let expected = f64::from(weight) / sum;
            let share = of(&left, stream, "read.count") / all;
            // Tolerance: commands admitted before the queues filled, and a round cut short.
            assert!((share - expected).abs() < 0.01 * expected + 0.002, "{stream} of {weights:?}: {share}");
        }
    }
}

#[test]
fn lone_class_gets_everything_and_streams_share_it_equally() {
    let all = SECOND as f64 / SERVICE as f64;
    let arbitrated = |burst| arbitrated(constant(), 4, [8, 4, 2], burst);
    for priority in [Priority::Urgent, Priority::High, Priority::Medium, Priority::Low] {
        let left = run(&beside(arbitrated(1), &[("s", Some(priority), 64)]));
        assert_close(left.sum("read.count") as f64, all, 0.001, "one class");
    }
    for burst in [1, 8] {
        // A deep queue gets no more of its class than a shallow one that is never empty.
        let low = Some(Priority::Low);
        let left = run(&beside(arbitrated(burst), &[("a", low, 256), ("b", low, 32), ("c", low, 32)]));
        for stream in ["a", "b", "c"] {
            assert_close(of(&left, stream, "read.count"), all / 3.0, 0.02, stream);
        }
    }
}

#[test]
fn urgent_command_waits_for_one_slot_and_held_commands() {
    let of_mean = |priority| {
        let streams = [("careful", priority, 1), ("a", Some(Priority::High), 256), ("b", Some(Priority::Low), 256)];
        let left = run(&beside(arbitrated(constant(), 4, [8, 4, 1], 1), &streams));
        of(&left, "careful", "read.latency_sum") / of(&left, "careful", "read.count")
    };
    let service = SERVICE as f64;
    // It takes the slot that the next completion frees, after three others.
    assert_close(of_mean(Some(Priority::Urgent)), 5.0 * service, 0.01, "urgent");
    // The only command of a class with weight 4 of 13 waits for its class's turn as well.
    let medium = of_mean(None);
    assert!((6.0 * service..9.0 * service).contains(&medium), "{medium}");
    // The 256 commands of its class go first, and the other class's turns.
    let low = of_mean(Some(Priority::Low));
    assert!(low > 10.0 * service, "{low}");
}

#[test]
fn streams_of_one_class_equal_one_queue() {
    let card = || leaf(flash(flash_drive(256 << 20)));
    let depth = flash_drive(256 << 20).controller.queue_depth.value;
    let digest = |node| {
        let mut spec = beside(node, &[("s", None, 400)]);
        spec.phases[0].streams[0].stream.read = Share(700_000);
        spec.phases[0].until = for_time(SECOND / 10);
        run(&spec).digest
    };
    assert_eq!(digest(arbitrated(card(), depth, [8, 4, 2], 4)), digest(card()));
}

#[test]
fn each_function_of_a_drive_arbitrates_separately() {
    let function = |index, arbitration| {
        let Node::Partition { of, function } = partition(constant(), 2, 4) else { panic!("a partition") };
        Node::Partition { of, function: Function { drive: Some("card".into()), index, arbitration, ..function } }
    };
    let weights = Arbitration { high: 3, medium: 1, low: 1, burst: 1 };
    let streams = [("h", Some(Priority::High), 64), ("l", Some(Priority::Low), 64)];
    let mut spec = beside(function(0, Some(weights)), &streams);
    let other = tameshi_spec::run::StorageSpec { model: Some(function(1, None)), ..spec.storage[0].clone() };
    spec.storage.insert("other".into(), other);
    for name in ["x", "y"] {
        let mut stream = spec.phases[0].streams[1].clone();
        (stream.name, stream.storage) = (name.into(), "other".into());
        spec.phases[0].streams.push(stream);
    }
    let left = run(&spec);
    let all = left.sum("read.count") as f64;
    for (stream, share) in [("h", 3.0 / 8.0), ("l", 1.0 / 8.0), ("x", 0.25), ("y", 0.25)] {
        assert_close(of(&left, stream, "read.count") / all, share, 0.01, stream);
    }
}

proptest! {
    #[test]
    fn every_command_of_every_class_completes_once(
        depth in 1..6u32, burst in 0..4u32, arrivals in prop::collection::vec((0..40_000u64, 0..7u16), 1..400),
    ) {
        let node = arbitrated(constant(), depth, [7, 3, 1], 1 << burst);
        let mut device = stack::node(&node).expect("a device");
        device.prioritize(&[Priority::Urgent, Priority::High, Priority::High, Priority::Medium, Priority::Low]);
        let (mut now, mut done) = (0, vec![]);
        for (id, (gap, stream)) in (0..).zip(&arrivals) {
            now += gap;
            device.advance(now, &mut done);
            device.submit(now, &Command { stream: *stream, ..command(id, CommandKind::Read, id * 4096, 4096) });
        }
        while let Some(at) = device.next_wake() {
            device.advance(at, &mut done);
        }
        let ids: BTreeSet<u64> = done.iter().map(|done| done.command.id).collect();
        prop_assert_eq!((done.len(), ids.len()), (arrivals.len(), arrivals.len()));
        for completed in &done {
            prop_assert_eq!(completed.breakdown.total(), completed.at - completed.submitted);
        }
        // Commands of one stream complete in order.
        for stream in 0..7 {
            let of: Vec<u64> = done.iter().filter(|d| d.command.stream == stream).map(|d| d.command.id).collect();
            prop_assert!(of.is_sorted());
        }
    }
}
