//! Laws of queueing theory: those of any device, and known waits.

use crate::support::*;
use tameshi_base::units::{Rate, Time};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::profile::{self, FlashProfile, HostLink, Simulated, Written};
use tameshi_workload::spec::{Gaps, RatePoint, Shape};
use tameshi_workload::{Arrivals, StreamSpec};

/// Poisson arrivals of random reads on the whole disk.
fn open_loop(profile: &profile::Device, per_second: f64, count: u64) -> Vec<DeviceCompletion> {
    open_loop_within(u64::MAX, profile, per_second, count)
}

/// Poisson arrivals of random reads below an offset.
fn open_loop_within(span: u64, profile: &profile::Device, per_second: f64, count: u64) -> Vec<DeviceCompletion> {
    let mut device = Device::new(profile).expect("a device");
    let (mut next, mut gaps) = (random_4k("open loop"), Random::named(5, "gaps"));
    let (mut now, mut done) = (0.0, vec![]);
    for id in 0..count {
        now += gaps.exponential(1e9 / per_second);
        device.advance(now as Nanos, &mut done);
        let drawn = next(id);
        device.submit(now as Nanos, &Command { offset_bytes: drawn.offset_bytes % span, ..drawn });
    }
    device.advance(u64::MAX / 4, &mut done);
    done
}

#[test]
fn wait_of_random_reads_meets_pollaczek_khinchine() {
    for utilisation in [0.1, 0.3, 0.5] {
        let profile = hdd(disk());
        let alone = closed_loop(&profile, 1, 200_000, random_4k("moments"));
        let service: Vec<f64> = alone.iter().map(|d| d.breakdown.media as f64).collect();
        let n = service.len() as f64;
        let first = service.iter().sum::<f64>() / n;
        let second = service.iter().map(|s| s * s).sum::<f64>() / n;
        let rate = utilisation / first;
        let expected = rate * second / (2.0 * (1.0 - utilisation));
        let found = mean(open_loop(&profile, rate * 1e9, 1_000_000).iter().map(|d| d.breakdown.queue));
        assert_close(found, expected, 0.02, &format!("mean wait at {utilisation}"));
    }
}

#[test]
fn constant_service_waits_half_as_long_as_exponential() {
    // Without seeks and rotation a read takes its constant transfer time: M/D/1.
    let mut profile = without_overhead(without_seeks(disk()));
    profile.revolution.value.0 = 0;
    for utilisation in [0.3, 0.6, 0.8] {
        let service = 30_000.0;
        let done = open_loop(&hdd(profile.clone()), utilisation / service * 1e9, 2_000_000);
        let expected = utilisation * service / (2.0 * (1.0 - utilisation));
        assert_close(mean(done.iter().map(|d| d.breakdown.queue)), expected, 0.02, &format!("at {utilisation}"));
    }
}

/// Drives whose only bottleneck is the link: 4 KiB take 10.24 us on it.
fn behind_slow_links() -> [(&'static str, profile::Device); 2] {
    let link = HostLink { read_rate: sourced(Rate(400 * SECOND)), ..flash_drive(1 << 30).link };
    let mut xpoint = profile::XPointProfile { link: link.clone(), ..xpoint() };
    (xpoint.channels.value, xpoint.read_time.value.0, xpoint.queue_depth.value) = (1024, 30_000, 4096);
    let mut flash = FlashProfile {
        link,
        simulated: Simulated { written: Written::Once, ..Simulated::default() },
        ..flash_drive(32 << 30)
    };
    flash.nand.read_time = sourced(vec![Time(40_000)]);
    flash.nand.program_time = sourced(vec![Time(500_000)]);
    flash.controller.dies_per_channel = sourced(64);
    (flash.controller.channel_rate.value, flash.controller.queue_depth.value) = (Rate(1 << 60), 4096);
    [("3D XPoint", profile::Device::XPoint(xpoint)), ("flash", profile::Device::Flash(flash))]
}

// slow: 1.5 million requests per point
#[test]
fn link_transfers_wait_as_m_d_1() {
    for (name, profile) in behind_slow_links() {
        for utilisation in [0.5, 0.7, 0.85] {
            let service = 10_240.0;
            let done = open_loop_within(32 << 30, &profile, utilisation / service * 1e9, 1_500_000);
            let expected = utilisation * service / (2.0 * (1.0 - utilisation));
            let found = mean(done.iter().map(|d| d.breakdown.queue));
            assert_close(found, expected, 0.02, &format!("{name} at {utilisation}"));
        }
    }
}

#[test]
fn simultaneous_reads_leave_at_the_rate_of_the_link() {
    let mut device = Device::new(&profile::Device::XPoint(xpoint())).expect("a drive");
    let mut done = vec![];
    (0..5).for_each(|id| device.submit(0, &command(id, CommandKind::Read, id * 4096, 4096)));
    device.advance(SECOND, &mut done);
    // They leave the medium after 7 us; each takes 1.707 us on the link.
    for (place, read) in done.iter().enumerate() {
        let expected = 7_000.0 + 4096.0 / 2.4 * (place + 1) as f64;
        assert!((read.at as f64 - expected).abs() < 10.0, "{place}: {} where {expected}", read.at);
    }
}

#[test]
fn mean_outstanding_meets_littles_law() {
    let done = open_loop(&hdd(elevator(disk())), 150.0, 100_000);
    let mut steps: Vec<(Nanos, i64)> = done.iter().flat_map(|d| [(d.submitted, 1), (d.at, -1)]).collect();
    steps.sort_unstable();
    let (mut area, mut outstanding, mut last) = (0i64, 0i64, 0);
    for (at, step) in steps {
        area += outstanding * (at - last) as i64;
        (outstanding, last) = (outstanding + step, at);
    }
    assert_eq!(outstanding, 0);
    assert_eq!(area, done.iter().map(|d| (d.at - d.submitted) as i64).sum::<i64>());
}

#[test]
fn consecutive_requests_fill_the_time_exactly() {
    let left = run(&spec(hdd(disk()), StreamSpec::default(), for_amount(20_000 * 4096)));
    assert_eq!(left.sum("read.count"), 20_000);
    assert_eq!(left.events("phase_end"), [left.sum("read.latency_sum")]);
}

#[test]
fn closed_loop_meets_littles_law() {
    for (jobs, queue_depth) in [(1, 16), (16, 1), (8, 8)] {
        let stream = StreamSpec { jobs, queue_depth, ..StreamSpec::default() };
        let left = run(&spec(hdd(elevator(disk())), stream, for_time(1000 * SECOND)));
        let inside = left.sum("read.latency_sum") as f64 / (1000.0 * SECOND as f64);
        assert_close(inside, f64::from(jobs * queue_depth), 0.001, "requests in the loop");
        assert_eq!(left.sum("load.in_flight_ns"), u64::from(jobs * queue_depth) * 1000 * SECOND, "counted");
    }
}

#[test]
fn counted_queue_is_that_of_latencies_after_it_has_emptied() {
    let arrivals = Arrivals::Ramp {
        points: vec![
            RatePoint { at: Time(0), rate: Rate(400_000) },
            RatePoint { at: Time(10 * SECOND), rate: Rate(0) },
        ],
        shape: Shape::Steps,
        gaps: Gaps::Poisson,
    };
    let stream = StreamSpec { queue_depth: 4, arrivals, ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), stream, for_time(60 * SECOND)));
    assert_eq!(left.sum("load.unserved"), 0);
    let (latency, service) = (left.sum("read.latency_sum"), left.sum("load.service_ns_sum"));
    assert_eq!(left.sum("load.in_flight_ns"), service);
    assert_eq!(left.sum("load.waiting_ns"), latency - service);
    assert!(latency > 10 * service, "an overloaded disk");
}

#[test]
fn think_time_belongs_to_the_loop_and_not_to_latency() {
    let stream = StreamSpec { queue_depth: 8, think_time: Time(50 * MS), ..StreamSpec::default() };
    let left = run(&spec(hdd(elevator(disk())), stream, for_time(1000 * SECOND)));
    let (count, sum) = (left.sum("read.count") as f64, left.sum("read.latency_sum") as f64);
    let cycle = sum / count + 50e6;
    assert_close(count * cycle / (1000.0 * SECOND as f64), 8.0, 0.001, "requests in the loop");
}

#[test]
fn overloaded_open_loop_records_unserved_requests() {
    let arrivals = Arrivals::Constant { rate: Rate(1_000_000) };
    let stream = StreamSpec { queue_depth: 4, arrivals, ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), stream, for_time(10 * SECOND)));
    let (served, unserved) = (left.sum("read.count"), left.sum("load.unserved"));
    assert!((9_990..=10_000).contains(&(served + unserved + 4)), "{served} served, {unserved} not");
    assert!(left.sum("load.late") > 1_500, "{}", left.sum("load.late"));
    // The queue grows by arrivals without service: half of the last number on average.
    let mean = left.sum("load.waiting_ns") as f64 / (10.0 * SECOND as f64);
    assert_close(mean, unserved as f64 / 2.0, 0.01, "mean queue");
    // The four slots are taken at 0, 1, 2 and 3 ms.
    assert_eq!(left.sum("load.in_flight_ns"), 4 * 10 * SECOND - 6 * MS);
    assert!(left.sum("read.latency_sum") / served > SECOND, "latency runs from the intended start");
}
