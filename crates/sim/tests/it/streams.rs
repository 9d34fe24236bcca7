//! What streams may ask for, carried out in virtual time: patterns, arrivals, pauses.

use crate::support::*;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_sim::unsupported;
use tameshi_workload::spec::{Duty, Gaps, RatePoint, Shape, Zone};
use tameshi_workload::{Arrivals, Pattern, StreamSpec};

fn zoned() -> Pattern {
    let zone = |accesses, span| Zone { accesses: Share(accesses), span: Share(span) };
    Pattern::Zoned(vec![zone(500_000, 50_000), zone(300_000, 150_000), zone(200_000, 800_000)])
}

fn ramp(points: &[(u64, u64)], gaps: Gaps) -> Arrivals {
    let point = |&(second, rate): &(u64, u64)| RatePoint { at: Time(second * SECOND), rate: Rate(rate * 1000) };
    Arrivals::Ramp { points: points.iter().map(point).collect(), shape: Shape::Lines, gaps }
}

#[test]
fn every_pattern_runs_and_gives_a_digest_of_its_own_each_time_the_same() {
    let patterns = [
        (Pattern::Random, 1),
        (Pattern::Random, 16),
        (Pattern::Sequential, 1),
        (Pattern::Zipf { theta_permille: 990 }, 1),
        (Pattern::Zipf { theta_permille: 1200 }, 1),
        (Pattern::Pareto { hot: Share(200_000) }, 1),
        (Pattern::HotCold { hot: Share(100_000), accesses: Share(900_000) }, 1),
        (zoned(), 1),
    ];
    let mut digests = std::collections::BTreeSet::new();
    for (pattern, run_length) in patterns {
        let stream = StreamSpec { pattern, run_length, queue_depth: 4, ..StreamSpec::default() };
        let spec = spec(hdd(disk()), stream, for_amount(500 * 4096));
        assert!(unsupported(&spec).is_empty());
        let digest = run(&spec).digest;
        assert_eq!(digest, run(&spec).digest);
        digests.insert(digest);
    }
    assert_eq!(digests.len(), 8);
}

#[test]
fn a_hot_part_keeps_the_arm_near_and_runs_keep_it_in_place() {
    let rate = |pattern, run_length| {
        let stream = StreamSpec { pattern, run_length, ..StreamSpec::default() };
        run(&spec(hdd(disk()), stream, for_time(20 * SECOND))).sum("read.count") as f64
    };
    let random = rate(Pattern::Random, 1);
    let near = rate(Pattern::HotCold { hot: Share(10_000), accesses: Share(990_000) }, 1);
    assert!(near > 1.2 * random, "{near} against {random}");
    let runs = rate(Pattern::Random, 8);
    assert!(runs > 1.2 * random, "seven of eight need no seek: {runs} against {random}");
}

#[test]
fn a_ramp_asks_for_its_integral_and_bursts_queue() {
    for gaps in [Gaps::Even, Gaps::Poisson] {
        let stream =
            StreamSpec { arrivals: ramp(&[(0, 0), (10, 2000)], gaps), queue_depth: 8, ..StreamSpec::default() };
        let left = run(&spec(null(), stream, for_time(10 * SECOND)));
        assert_close(left.sum("read.count") as f64, 10_000.0, 0.05, "half of ten seconds at 2000");
    }
    let arrivals = Arrivals::Bursts { requests: 64, every: Time(2 * SECOND) };
    let stream = StreamSpec { arrivals, queue_depth: 256, ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), stream, for_time(10 * SECOND)));
    assert_eq!(left.sum("read.count"), 5 * 64);
    let mean = left.sum("read.latency_sum") / (5 * 64);
    assert!(mean > 20 * 5 * MS, "half of the burst is before the mean request: {mean}");
    assert_eq!(left.sum("load.late"), 0);
}

#[test]
fn in_a_pause_no_interval_counts_anything() {
    let duty = Some(Duty { on: Time(2 * SECOND), off: Time(3 * SECOND) });
    let closed = StreamSpec { duty, block_size: Size(4096), ..StreamSpec::default() };
    let open = StreamSpec { arrivals: Arrivals::Poisson { rate: Rate(50_000) }, queue_depth: 4, ..closed.clone() };
    for stream in [closed, open] {
        let left = run(&spec(hdd(disk()), stream, for_time(20 * SECOND)));
        let busy: Vec<u64> =
            left.series.iter().filter(|row| row.3 == "read.count" && row.4 > 10).map(|row| row.0 / SECOND).collect();
        assert_eq!(busy, [1, 2, 6, 7, 11, 12, 16, 17]);
        assert!(left.sum("read.count") > 0 && left.sum("load.unserved") == 0);
    }
}

#[test]
fn what_no_job_can_do_is_refused_by_its_key() {
    let far = Pattern::HotCold { hot: Share(1), accesses: Share(500_000) };
    let stream = StreamSpec { pattern: far, span: Some(Size(1 << 20)), run_length: 0, ..StreamSpec::default() };
    let sentences = unsupported(&spec(hdd(disk()), stream, for_time(SECOND)));
    assert_eq!(
        sentences,
        [
            "workload.stream.load.run_length: a run of no requests never begins",
            "workload.stream.load.pattern.hot_cold: a part of the 256 blocks is accessed but too small to hold one",
        ]
    );
}
