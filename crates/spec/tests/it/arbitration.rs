//! Queues by priority: which storages have them, and what is refused.

use crate::errors::FLASH;
use crate::golden::check_golden;
use crate::support::{SMALL, planned_in, profiles};
use tameshi_spec::plan::Plan;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::{Arbitration, Node, World};

const WEIGHTS: &str = "arbitration = { high = 8, medium = 4, low = 2 }";

fn drives() -> Profiles {
    let mut profiles = profiles();
    let shared = FLASH.replacen("queue_depth =", "functions = { value = 4, source = \"test\" }\nqueue_depth =", 1);
    profiles.devices.push(("flash".into(), "profiles/devices/flash.toml".into(), shared));
    profiles
}

/// The small study on a storage that says this, with a stream of this priority.
fn study(storage: &str, priority: &str) -> String {
    let text = SMALL.replacen("device = \"null\"", storage, 1);
    if priority.is_empty() {
        return text;
    }
    text.replacen("[workload.stream.s]", &format!("[workload.stream.s]\npriority = \"{priority}\""), 1)
}

fn model(plan: &Plan) -> Node {
    plan.runs[0].storage["disk"].model.clone().expect("a model")
}

#[test]
fn a_drive_and_a_function_of_one_get_queues_by_priority() {
    let drive = format!("device = \"flash\"\n{WEIGHTS}");
    let plan = planned_in(&study(&drive, "high"), World::Simulated, &drives()).expect("a plan");
    let Node::Partition { of, function } = model(&plan) else { panic!("queues stand before the drive") };
    assert!(matches!(*of, Node::Device { .. }));
    assert_eq!((function.functions, function.queue_depth), (1, 256), "as many commands as the profile says");
    assert_eq!(function.arbitration, Some(Arbitration { high: 8, medium: 4, low: 2, burst: 1 }));
    let part = "partition = { of = { device = \"flash\" }, functions = 4, queue_depth = 16 }\n\
                arbitration = { high = 256, medium = 1, low = 1, burst = 64 }";
    let plan = planned_in(&study(part, ""), World::Simulated, &drives()).expect("a plan");
    let Node::Partition { function, .. } = model(&plan) else { panic!("a function") };
    assert_eq!((function.functions, function.queue_depth), (4, 16));
    assert_eq!(function.arbitration, Some(Arbitration { high: 256, medium: 1, low: 1, burst: 64 }));
}

#[test]
fn arbitration_of_absent_queues_is_refused() {
    let drive = |arbitration: &str| format!("device = \"flash\"\narbitration = {{ {arbitration} }}");
    let partition = "partition = { of = { device = \"flash\" }, functions = 2 }";
    for (name, storage, priority) in [
        ("arbitration_with_a_weight_of_zero", drive("high = 8, medium = 4, low = 0"), ""),
        ("arbitration_with_a_weight_of_thousands", drive("high = 8000, medium = 4, low = 2"), ""),
        ("arbitration_with_a_burst_of_three", drive("high = 8, medium = 4, low = 2, burst = 3"), ""),
        ("arbitration_of_no_commands", drive("high = 8, medium = 4, low = 2, queue_depth = 0"), ""),
        ("arbitration_without_a_weight", drive("high = 8, medium = 4"), ""),
        (
            "arbitration_with_a_depth_beside_the_partitions",
            format!("{partition}\narbitration = {{ high = 8, medium = 4, low = 2, queue_depth = 8 }}"),
            "",
        ),
        ("arbitration_of_what_has_one_queue", format!("device = \"null\"\n{WEIGHTS}"), ""),
        ("arbitration_of_an_array", format!("raid0 = {{ members = 2, device = \"flash\" }}\n{WEIGHTS}"), ""),
        ("arbitration_of_a_part", format!("raid0 = {{ members = 2, of = {{ device = \"flash\", {WEIGHTS} }} }}"), ""),
        ("priority_where_there_is_one_queue", "device = \"flash\"".into(), "high"),
        ("priority_that_is_none", drive("high = 8, medium = 4, low = 2"), "highest"),
    ] {
        let error = planned_in(&study(&storage, priority), World::Simulated, &drives()).expect_err(name);
        check_golden(name, &error.to_string());
    }
}

#[test]
fn other_worlds_say_that_they_have_no_priorities() {
    let storage = format!("device = \"flash\"\nsize = \"1 GiB\"\n{WEIGHTS}");
    for (priority, told) in [("urgent", 1), ("", 0)] {
        let plan = planned_in(&study(&storage, priority), World::Measured, &drives()).expect("a plan");
        let keys: Vec<&str> = plan.refusals.iter().map(|refusal| refusal.key.as_str()).collect();
        assert_eq!(keys.len(), told, "{keys:?}");
        assert!(keys.iter().all(|&key| key == "workload.stream.s.priority"), "{keys:?}");
    }
}
