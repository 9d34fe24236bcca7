//! Streams in virtual time: patterns, arrivals, pauses, and dependencies between streams.

use crate::support::*;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_spec::run::PhaseStream;
use tameshi_workload::spec::{Duty, Gaps, LsmTree, Pace, PageFlush, RatePoint, Shape, Zone};
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

fn zoned() -> Pattern {
    let zone = |accesses, span| Zone { accesses: Share(accesses), span: Share(span) };
    Pattern::Zoned(vec![zone(500_000, 50_000), zone(300_000, 150_000), zone(200_000, 800_000)])
}

fn ramp(points: &[(u64, u64)], gaps: Gaps) -> Arrivals {
    let point = |&(second, rate): &(u64, u64)| RatePoint { at: Time(second * SECOND), rate: Rate(rate * 1000) };
    Arrivals::Ramp { points: points.iter().map(point).collect(), shape: Shape::Lines, gaps }
}

#[test]
fn every_pattern_has_its_own_reproducible_digest() {
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
        assert!(crate::support::refused(&spec).is_empty());
        let digest = run(&spec).digest;
        assert_eq!(digest, run(&spec).digest);
        digests.insert(digest);
    }
    assert_eq!(digests.len(), 8);
}

#[test]
fn hot_part_and_sequential_runs_shorten_seeks() {
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
fn rate_ramp_issues_its_integral_and_bursts_queue() {
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
fn intervals_in_a_pause_are_empty() {
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
fn impossible_job_keys_are_refused_by_name() {
    let far = Pattern::HotCold { hot: Share(1), accesses: Share(500_000) };
    let stream = StreamSpec { pattern: far, span: Some(Size(1 << 20)), run_length: 0, ..StreamSpec::default() };
    let sentences = crate::support::refused(&spec(hdd(disk()), stream, for_time(SECOND)));
    assert_eq!(
        sentences,
        [
            "workload.stream.load.run_length: a run needs at least one request",
            "workload.stream.load.pattern.hot_cold: a part of the 256 blocks is accessed but too small to hold one",
        ]
    );
}

fn log(committers: u32, delay: u64) -> StreamSpec {
    StreamSpec {
        pattern: Pattern::Sequential,
        read: Share(0),
        sync: Some(Sync::GroupCommit { committers, delay: Time(delay) }),
        ..StreamSpec::default()
    }
}

#[test]
fn group_commit_shares_one_flush_among_committers() {
    let of = |committers| {
        let left = run(&spec(hdd(disk()), log(committers, 0), for_time(20 * SECOND)));
        let count = |metric: &str| left.sum(metric);
        assert_eq!(count("write.bytes"), count("write.count") * u64::from(committers) * 4096);
        assert!(count("write.count") - count("sync.count") <= 1);
        assert_eq!(count("commit.count"), count("sync.count") * u64::from(committers));
        assert!(left.histograms.contains("/load/commit"));
        (count("commit.count") as f64, count("commit.latency_sum") as f64)
    };
    let (alone, together) = (of(1), of(16));
    // A write takes a revolution either way, and sixteen records some 0.4 ms of transfer more.
    assert_close(together.0, 16.0 * alone.0, 0.15, "commits");
    assert_close(together.1 / together.0, alone.1 / alone.0, 0.15, "mean commit latency");
}

#[test]
fn commit_delay_trades_latency_for_fewer_flushes() {
    let of = |delay| {
        let arrivals = Arrivals::Poisson { rate: Rate(100_000) };
        let stream = StreamSpec { arrivals, ..log(64, delay) };
        let left = run(&spec(hdd(disk()), stream, for_time(50 * SECOND)));
        let commits = left.sum("commit.count") as f64;
        assert_close(commits, 5000.0, 0.05, "all are served");
        (left.sum("sync.count") as f64, left.sum("commit.latency_sum") as f64 / commits)
    };
    let (at_once, delayed) = (of(0), of(50 * MS));
    assert!(delayed.0 < 0.5 * at_once.0, "{delayed:?} {at_once:?}");
    assert!(delayed.1 > at_once.1);
}

#[test]
fn doublewrite_adds_a_write_and_a_flush_per_batch() {
    let of = |doublewrite: Option<u64>| {
        let stream = StreamSpec {
            read: Share(0),
            block_size: Size(16_384),
            queue_depth: 8,
            page_flush: Some(PageFlush { batch: 32, doublewrite: doublewrite.map(Size) }),
            ..StreamSpec::default()
        };
        let left =
            run(&spec(hdd(elevator(disk())), stream, for_amount(if doublewrite.is_some() { 64 } else { 32 } << 20)));
        let count = |metric: &str| left.sum(metric);
        (count("commit.count"), count("write.count"), count("sync.count"), count("commit.latency_sum"))
    };
    let (plain, double) = (of(None), of(Some(4 << 20)));
    assert_eq!((plain.0, plain.1, plain.2), (64, 64 * 32, 64));
    assert_eq!((double.0, double.1, double.2), (64, 64 * 33, 2 * 64));
    assert!(double.3 > plain.3 && double.3 < 2 * plain.3, "{plain:?} {double:?}");
}

#[test]
fn lsm_store_rewrites_bytes_per_level_and_waits_for_slow_disk() {
    let tree = LsmTree {
        memtable: Size(4 << 20),
        journal: Size(64 << 20),
        fan_out: 4,
        levels: 2,
        block_size: Size(256 << 10),
        queue_depth: 4,
        most_runs: Some(8),
    };
    let stream = StreamSpec {
        pattern: Pattern::Sequential,
        read: Share(0),
        block_size: Size(16_384),
        sync: Some(Sync::GroupCommit { committers: 16, delay: Time(0) }),
        lsm: Some(tree),
        arrivals: Arrivals::Poisson { rate: Rate(2_000_000) },
        ..StreamSpec::default()
    };
    let of = |device| run(&spec(device, stream.clone(), for_time(8 * SECOND)));
    let quick = of(flash(flash_drive(1 << 30)));
    let (commits, written) = (quick.sum("commit.count") as f64, quick.sum("write.bytes") as f64);
    let journal = commits * 16_384.0;
    // To the journal, to a run, and by a merge. Bytes still in memory or in a merge at the end are
    // missing.
    assert!((written / journal - 3.0).abs() < 0.1, "{written} bytes for {journal}");
    assert!((quick.sum("read.bytes") as f64 / journal - 1.0).abs() < 0.1);
    assert!((commits / 16_000.0 - 1.0).abs() < 0.04, "{commits} of 2000 a second");
    // A disk is slower than the commits: committers wait for runs and merges.
    let slow = of(hdd(elevator(disk())));
    assert!((slow.sum("commit.count") as f64) < 0.7 * commits);
    assert!(slow.sum("load.unserved") > 4000);
}

#[test]
fn trims_are_counted_separately() {
    let arrivals = Arrivals::Constant { rate: Rate(10_000_000) };
    let stream = StreamSpec { trim: Share(300_000), read: Share(500_000), arrivals, ..StreamSpec::default() };
    let left = run(&spec(null(), stream, for_time(SECOND)));
    assert_close(left.sum("trim.count") as f64, 3000.0, 0.1, "trims");
    assert_close(left.sum("read.count") as f64, 3500.0, 0.1, "reads");
    assert_eq!(left.sum("trim.bytes"), left.sum("trim.count") * 4096);
    assert!(left.histograms.contains("/load/trim"));
}

#[test]
fn concurrent_streams_keep_their_own_rates_and_histograms() {
    let rates = [10, 20, 25, 40, 50, 80, 100];
    let mut spec = spec(null(), StreamSpec::default(), for_time(10 * SECOND));
    spec.phases[0].streams = rates
        .iter()
        .map(|&rate| PhaseStream {
            name: format!("s{rate}"),
            storage: "disk".into(),
            stream: StreamSpec { arrivals: Arrivals::Constant { rate: Rate(rate * 1000) }, ..StreamSpec::default() },
        })
        .collect();
    let left = run(&spec);
    for rate in rates {
        let subject = format!("s{rate}");
        let rows = left.series.iter().filter(|row| row.2 == subject && row.3 == "read.count");
        assert_eq!(rows.map(|row| row.4).sum::<u64>(), rate * 10);
        assert!(left.histograms.contains(&format!("0/steady/{subject}/read")));
    }
}

#[test]
fn stream_ends_with_one_sync_before_its_phase() {
    let stream = StreamSpec { read: Share(0), sync_at_end: true, queue_depth: 4, ..StreamSpec::default() };
    let left = run(&spec(hdd(disk()), stream, for_amount(100 * 4096)));
    assert_eq!([left.sum("write.count"), left.sum("sync.count"), left.sum("commit.count")], [100, 1, 0]);
}

#[test]
fn streams_keep_pace_until_one_of_them_ends() {
    let paced = |weight| StreamSpec { pace: Some(Pace { group: "g".into(), weight }), ..StreamSpec::default() };
    let quick = StreamSpec { pattern: Pattern::Sequential, queue_depth: 4, ..paced(1) };
    let beside = |amount| {
        let mut spec = spec(hdd(disk()), quick.clone(), for_time(20 * SECOND));
        let first = spec.phases[0].streams[0].clone();
        let slow = StreamSpec { amount, ..paced(4) };
        spec.phases[0].streams.push(PhaseStream { name: "slow".into(), stream: slow, ..first });
        let left = run(&spec);
        let reads = |of: &str| -> u64 {
            let rows = left.series.iter().filter(|row| row.2 == of && row.3 == "read.count");
            rows.map(|row| row.4).sum()
        };
        assert_eq!(left.digest, run(&spec).digest);
        (reads("load"), reads("slow"))
    };
    let (quick, slow) = beside(None);
    assert!(slow.abs_diff(4 * quick) <= 20 && slow > 1000, "{quick} {slow}");
    let (quick, slow) = beside(Some(Size(40 * 4096)));
    assert!(slow == 40 && quick > 1000, "{quick} {slow}");
}

#[test]
fn strided_ranges_keep_the_arm_moving_forwards() {
    let rate = |pattern| {
        let stream = StreamSpec { pattern, block_size: Size(65_536), ..StreamSpec::default() };
        run(&spec(hdd(disk()), stream, for_time(20 * SECOND))).sum("read.count") as f64
    };
    let strided = |backwards| Pattern::Strided { run: Size(65_536), skip: Size(1 << 20), backwards };
    let random = rate(Pattern::Random);
    assert!(rate(strided(false)) > 1.2 * random && rate(strided(true)) > 1.2 * random, "no long seeks");
}

#[test]
fn stream_ends_with_first_finished_job_of_its_leader() {
    let short = StreamSpec { amount: Some(Size(100 * 4096)), ..StreamSpec::default() };
    let mut spec = spec(hdd(disk()), short, for_amount(1 << 50));
    let mut add = |name: &str, stream: StreamSpec| {
        let stream = StreamSpec { ends_with: vec!["load".into()], ..stream };
        spec.phases[0].streams.push(PhaseStream { name: name.into(), storage: "disk".into(), stream });
    };
    add("beside", StreamSpec { queue_depth: 2, jobs: 3, ..StreamSpec::default() });
    let rare = Arrivals::Constant { rate: Rate(1) };
    add("rare", StreamSpec { arrivals: rare, ..StreamSpec::default() });
    add("chained", StreamSpec { ends_with: vec!["beside".into()], think_time: Time(SECOND), ..StreamSpec::default() });
    let left = run(&spec);
    assert_eq!(left.status, tameshi_record::RunStatus::Complete);
    let of = |subject: &str| {
        let rows = left.series.iter().filter(|row| row.2 == subject && row.3 == "read.count");
        rows.map(|row| row.4).sum::<u64>()
    };
    assert_eq!(of("load"), 100);
    assert!(of("beside") > 100 && of("rare") == 1, "{} {}", of("beside"), of("rare"));
    assert!(left.events("phase_end")[0] < 100 * SECOND);
    assert!(left.events.contains("\"ended_by\":\"amount\""));
}
