//! Parts of every latency, and utilisation of every resource.

use crate::support::*;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_spec::profile;
use tameshi_spec::run::{Node, RunSpec};
use tameshi_spec::study::{CacheKind, Protocol};
use tameshi_workload::{Arrivals, StreamSpec, Sync};

const PARTS: [&str; 7] = ["queue", "host", "link", "controller", "media", "gc", "rebuild"];

fn parts(left: &Left) -> u64 {
    PARTS.iter().map(|part| left.sum(&format!("time.{part}_ns_sum"))).sum()
}

fn latencies(left: &Left) -> u64 {
    ["read", "write", "sync", "trim"].iter().map(|operation| left.sum(&format!("{operation}.latency_sum"))).sum()
}

#[test]
fn parts_of_all_latencies_add_up_exactly() {
    let poisson = Arrivals::Poisson { rate: Rate(150_000) };
    let constant = Arrivals::Constant { rate: Rate(1_000_000) };
    for (arrivals, queue_depth) in [(Arrivals::Closed, 1), (Arrivals::Closed, 16), (poisson, 64), (constant, 4)] {
        let sync = Some(Sync::Fdatasync { every: 2 });
        let stream = StreamSpec { arrivals, queue_depth, sync, read: Share(500_000), ..StreamSpec::default() };
        let left = run(&spec(hdd(elevator(with_depth(disk(), 8))), stream, for_time(20 * SECOND)));
        assert!(left.sum("time.media_ns_sum") > 0);
        assert_eq!(parts(&left), latencies(&left), "{queue_depth}");
    }
    for trim in [300_000, 1_000_000] {
        let stream = StreamSpec { queue_depth: 16, trim: Share(trim), read: Share(0), ..StreamSpec::default() };
        let left = run(&spec(flash(flash_drive(256 << 20)), stream, for_time(SECOND / 20)));
        assert!(left.sum("trim.count") > 100);
        assert_eq!(parts(&left), latencies(&left), "{trim} millionths are trims");
    }
}

#[test]
fn lone_request_never_waits_and_late_start_is_queueing() {
    let alone = run(&spec(hdd(disk()), StreamSpec::default(), for_time(5 * SECOND)));
    assert_eq!(alone.sum("time.queue_ns_sum"), 0);
    let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
    let late = run(&spec(hdd(disk()), StreamSpec { arrivals, ..StreamSpec::default() }, for_time(5 * SECOND)));
    assert!(late.sum("time.queue_ns_sum") > late.sum("load.slip_ns_sum") / 2, "slip is part of it");
}

#[test]
fn split_read_waits_only_with_concurrent_reads() {
    let waits = |drive: &profile::FlashProfile, block: u64, queue_depth| {
        let mut drive = drive.clone();
        drive.simulated.written = profile::Written::Once;
        let stream = StreamSpec { block_size: Size(block), queue_depth, ..StreamSpec::default() };
        let left = run(&spec(flash(drive), stream, for_time(SECOND / 20)));
        assert!(left.sum("time.media_ns_sum") > 0);
        assert_eq!(parts(&left), latencies(&left));
        left.sum("time.queue_ns_sum")
    };
    let drive = flash_drive(256 << 20);
    let mut slow_inside = drive.clone();
    slow_inside.controller.transfer_rate = Some(sourced(Rate(1000 * SECOND)));
    for drive in [drive, slow_inside] {
        for block in [4 << 10, 16 << 10, 256 << 10, 1 << 20] {
            assert_eq!(waits(&drive, block, 1), 0, "{block} bytes");
            assert!(waits(&drive, block, 8) > 0, "{block} bytes beside others");
        }
    }
}

#[test]
fn disk_utilization_is_its_service_time() {
    let stream = StreamSpec { think_time: Time(3 * MS), ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), stream, for_time(7 * SECOND));
    spec.interval = Time(SECOND / 3);
    let left = run(&spec);
    let busy = |left: &Left| left.sum("busy.media_ns") as f64 / left.sum("capacity.media_ns") as f64;
    assert_eq!(left.sum("capacity.media_ns"), 7 * SECOND);
    // One read may be in flight at the end.
    assert_close(left.sum("busy.media_ns") as f64, left.sum("time.media_ns_sum") as f64, 0.003, "busy time");
    assert!((0.4..0.8).contains(&busy(&left)), "{}", busy(&left));
    let mut full = RunSpec { interval: Time(SECOND), ..spec };
    full.phases[0].streams[0].stream = StreamSpec { queue_depth: 8, ..StreamSpec::default() };
    let full = run(&full);
    assert_close(busy(&full), 1.0, 0.001, "a full queue keeps the arm busy");
    assert!(full.series.iter().all(|row| row.3 != "busy.media_ns" || row.4 <= row.1), "never busier than time is long");
}

#[test]
fn intervals_shorter_than_a_command_have_utilization() {
    let mut spec = spec(profile::Device::XPoint(xpoint()), StreamSpec::default(), for_time(100_000));
    spec.interval = Time(1000);
    let left = run(&spec);
    assert_eq!(left.sum("capacity.link_ns"), 100_000);
    assert!(left.sum("busy.media_ns") > 0 && left.sum("read.count") > 0);
}

#[test]
fn cache_port_is_busy_while_bytes_cross_it() {
    // All reads hit after the first pass through 1 MiB: 4 KiB at 40.96 MB/s take 100 µs, the
    // controller 50 µs concurrently with others.
    let with = |queue_depth, rate: Option<u64>| {
        let mut node = cached(leaf(null()), 16 << 20, CacheKind::BatteryBacked);
        if let Node::Cache { cache, .. } = &mut node {
            cache.rate = rate.map(Size);
        }
        let stream = StreamSpec { queue_depth, span: Some(Size(1 << 20)), ..StreamSpec::default() };
        run(&spec_of(node, stream, for_time(SECOND)))
    };
    for (queue_depth, expected) in [(8, 1.0), (1, 2.0 / 3.0)] {
        let left = with(queue_depth, Some(40_960_000));
        assert_eq!(left.sum("capacity.port_ns"), SECOND);
        assert_close(left.sum("busy.port_ns") as f64 / SECOND as f64, expected, 0.02, "of its time");
    }
    assert_eq!(with(8, None).sum("capacity.port_ns"), 0, "what has no rate is no resource");
}

#[test]
fn provider_limit_is_a_resource_apart_from_the_link() {
    let stream = StreamSpec { queue_depth: 64, ..StreamSpec::default() };
    let left = run(&spec(with_limit(volume(), 2_000, 400_000_000), stream, for_time(2 * SECOND)));
    assert_eq!((left.sum("capacity.link_ns"), left.sum("capacity.allowance_ns")), (0, 2 * SECOND));
    assert_close(left.sum("busy.allowance_ns") as f64, 2e9, 0.01, "of its time");
}

#[test]
fn shared_drive_slots_are_busy_while_commands_are_in_it() {
    let with = |queue_depth| {
        let stream = StreamSpec { queue_depth, ..StreamSpec::default() };
        run(&spec_of(partition(leaf(volume()), 2, 4), stream, for_time(2 * SECOND)))
    };
    for (queue_depth, expected) in [(64, 1.0), (3, 0.75), (1, 0.25)] {
        let left = with(queue_depth);
        assert_eq!(left.sum("capacity.places_ns"), 8 * SECOND);
        assert_close(left.sum("busy.places_ns") as f64 / 8e9, expected, 0.01, "of all places");
    }
}

#[test]
fn full_drive_with_waiting_commands_saturates_its_slots() {
    let (mut flash_of_4, mut xpoint_of_4, mut volume_of_4) = (flash_drive(256 << 20), xpoint(), volume());
    flash_of_4.controller.queue_depth = sourced(4);
    xpoint_of_4.queue_depth = sourced(4);
    if let profile::Device::Volume(volume) = &mut volume_of_4 {
        volume.parallel = sourced(4);
    }
    let drives = [hdd(with_depth(disk(), 4)), flash(flash_of_4), profile::Device::XPoint(xpoint_of_4), volume_of_4];
    for drive in drives {
        let with = |queue_depth| {
            let left =
                run(&spec(drive.clone(), StreamSpec { queue_depth, ..StreamSpec::default() }, for_time(SECOND / 2)));
            assert_eq!(left.sum("capacity.places_ns"), 2 * SECOND, "{drive:?}");
            left.sum("busy.places_ns")
        };
        assert_eq!(with(5), 2 * SECOND, "one waits all the time: {drive:?}");
        assert_eq!(with(4), 0, "it delays no other command: {drive:?}");
    }
}

#[test]
fn volume_in_rounds_is_full_when_a_round_leaves_commands() {
    let mut drive = volume();
    if let profile::Device::Volume(volume) = &mut drive {
        (volume.parallel, volume.rounds) = (sourced(4), Some(sourced(true)));
    }
    let with = |queue_depth| {
        let left = run(&spec(drive.clone(), StreamSpec { queue_depth, ..StreamSpec::default() }, for_time(SECOND)));
        left.sum("busy.places_ns")
    };
    assert_eq!(with(4), 0);
    assert!(with(9) > 39 * SECOND / 10);
}

#[test]
fn link_without_waiting_requests_is_no_limit() {
    let share = |protocol, sync| {
        let node = replica(leaf(profile::Device::XPoint(xpoint())), 10_000, 50_000_000, protocol);
        let stream = StreamSpec { queue_depth: 4, read: Share(0), sync, ..StreamSpec::default() };
        let left = run(&spec_of(node, stream, for_time(SECOND / 10)));
        left.sum("busy.link_ns") as f64 / left.sum("capacity.link_ns") as f64
    };
    assert!(share(Protocol::Asynchronous, None) < 0.9, "only the near side is recorded");
    assert!(share(Protocol::FarMedium, None) > 0.95);
    let sync = Some(Sync::Fdatasync { every: 100 });
    assert!(share(Protocol::Asynchronous, sync) < 0.9, "nor does a sync wait for what has not crossed yet");
}

/// Running sums of a metric of the storage, per interval.
fn so_far(left: &Left, metric: &str) -> Vec<u64> {
    let rows = left.series.iter().filter(|row| row.3 == metric);
    rows.scan(0, |all, row| {
        *all += row.4;
        Some(*all)
    })
    .collect()
}

#[test]
fn totals_do_not_depend_on_interval_length() {
    // At half load and less, channels, link and port idle between transfers.
    let arrivals = |rate| Arrivals::Poisson { rate: Rate(rate) };
    let mut node = cached(leaf(null()), 16 << 20, CacheKind::BatteryBacked);
    if let Node::Cache { cache, .. } = &mut node {
        cache.rate = Some(Size(40_960_000));
    }
    let stream = |rate| StreamSpec {
        arrivals: arrivals(rate),
        queue_depth: 64,
        span: Some(Size(1 << 20)),
        read: Share(500_000),
        ..StreamSpec::default()
    };
    let of_xpoint = spec(profile::Device::XPoint(xpoint()), stream(200_000_000), for_time(2 * MS));
    let of_cache = spec_of(node, stream(5_000_000), for_time(20 * MS));
    let resources = ["media", "link", "controller"].map(|resource| (&of_xpoint, resource, 1000));
    for (spec, resource, short) in resources.into_iter().chain([(&of_cache, "port", 10_000)]) {
        let metric = format!("busy.{resource}_ns");
        let with = |interval| so_far(&run(&RunSpec { interval: Time(interval), ..spec.clone() }), &metric);
        let (fine, coarse) = (with(short), with(10 * short));
        let every_tenth: Vec<u64> = fine.iter().skip(9).step_by(10).copied().collect();
        if resource == "link" {
            // Of two directions, each interval has the busier one.
            assert!(every_tenth.iter().zip(&coarse).all(|(fine, coarse)| fine >= coarse));
        } else {
            assert_eq!(every_tenth, coarse, "{resource}");
        }
        assert!(coarse.last().is_some_and(|&all| all > 0));
    }
}
