//! Record as written and read back.

use std::sync::Arc;
use tameshi_record::histograms::{Windows, summarise};
use tameshi_record::{Control, EndedBy, IntervalStats, Part, Slow, Writer};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["series", "histograms"] {
        std::fs::create_dir(folder.path().join(name)).expect("an empty folder");
    }
    folder
}

fn interval(part: Part, begin: u64, latencies: &[u64]) -> IntervalStats {
    let mut stats = IntervalStats::new(0, 0, part, begin);
    latencies.iter().for_each(|&latency| stats.record(0, 4096, latency));
    stats.end = begin + 1_000_000_000;
    stats
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).expect("the file is there")
}

#[test]
fn record_reads_back_per_part_and_operation() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 1)]).expect("writes");
    writer.interval(&interval(Part::Ramp, 0, &[5])).expect("writes");
    writer.interval(&interval(Part::Steady, 1_000_000_000, &[100, 200])).expect("writes");
    writer.interval(&interval(Part::Steady, 2_000_000_000, &[300])).expect("writes");
    writer.phase_end(3_000_000_000, 0, EndedBy::Time).expect("writes");
    let summary = summarise(&read(&folder, "histograms/load.hlog"), &Windows::new()).expect("reads back");
    assert_eq!(summary.keys().collect::<Vec<_>>(), ["0/ramp/small/read", "0/steady/small/read"]);
    let steady = &summary["0/steady/small/read"];
    assert_eq!((steady.count, steady.min, steady.max), (3, 100, 300));
    assert!((steady.mean - 200.0).abs() < 0.5);
    let series = read(&folder, "series/load.csv");
    assert!(series.contains("2000000000,1000000000,small,read.latency_sum,300\n"), "{series}");
    assert!(series.contains("2000000000,1000000000,small,read.bytes,8192\n"), "{series}");
}

#[test]
fn phase_in_rounds_counts_its_window_only() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 1)]).expect("writes");
    for round in 1..=4u32 {
        let begin = u64::from(round) * 1_000_000_000;
        writer.interval(&interval(Part::Round(round), begin, &[u64::from(round) * 100])).expect("writes");
    }
    let log = read(&folder, "histograms/load.hlog");
    let windows = Windows::from([(0, (2, 3))]);
    let summary = summarise(&log, &windows).expect("reads back");
    assert_eq!(summary.keys().collect::<Vec<_>>(), ["0/steady/small/read"]);
    let window = &summary["0/steady/small/read"];
    assert_eq!((window.count, window.min, window.max), (2, 200, 300));
    assert_eq!(window.intervals["0.5"].counts, [1, 1]);
    assert!(summarise(&log, &Windows::new()).expect("reads back").is_empty(), "no window, no steady part");
}

#[test]
fn slowest_operation_of_the_run_is_shown() {
    let (folder, control) = (folder(), Arc::new(Control::default()));
    let mut writer = Writer::open(folder.path(), Arc::clone(&control)).expect("opens");
    let mut phase = |number: u32, names: &[(&str, u32)], latency: u64| {
        writer.phase_begin(u64::from(number), number, names).expect("writes");
        let mut stats = interval(Part::Steady, u64::from(number), &[latency]);
        let (at, offset_bytes) = (u64::from(number) + 5, 4096 * u64::from(number));
        stats.ledger.slowest.see(Slow { latency, at, offset_bytes, length_bytes: 4096, operation: 0 });
        writer.interval(&stats).expect("writes");
        writer.phase_end(u64::from(number) + 9, number, EndedBy::Time).expect("writes");
        control.stream_progress().swap_remove(0).slowest
    };
    assert_eq!(phase(1, &[("fill", 1)], 700).map(|slow| slow.latency), Some(700));
    assert_eq!(phase(2, &[("small", 1)], 300).map(|slow| slow.latency), Some(300), "its own");
    let again = phase(3, &[("fill", 1)], 200).expect("something was done");
    assert_eq!((again.latency, again.at, again.offset_bytes), (700, 6, 4096), "that of the first phase");
    assert_eq!(control.slowest().map(|(stream, slow)| (stream, slow.latency)), Some(("fill".to_string(), 700)));
    assert_eq!(phase(4, &[("small", 1)], 900).map(|slow| slow.latency), Some(900));
    assert_eq!(control.slowest().map(|(stream, slow)| (stream, slow.at)), Some(("small".to_string(), 9)));
}

#[test]
fn jobs_merge_into_one_interval_in_any_order() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 2)]).expect("writes");
    writer.interval(&interval(Part::Steady, 1_000_000_000, &[7])).expect("writes");
    writer.interval(&interval(Part::Steady, 0, &[1])).expect("writes");
    writer.interval(&interval(Part::Steady, 0, &[2])).expect("writes");
    assert!(read(&folder, "series/load.csv").contains("1000000000,1000000000,small,read.count,2\n"));
    writer.phase_end(2_000_000_000, 0, EndedBy::Amount).expect("writes");
    assert!(
        read(&folder, "series/load.csv").contains("2000000000,1000000000,small,read.count,1\n"),
        "a job that ended early"
    );
}

#[test]
fn jobs_weigh_by_operations_in_a_stream_latency() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 2)]).expect("writes");
    writer.interval(&interval(Part::Steady, 0, &[100; 99])).expect("writes");
    writer.interval(&interval(Part::Steady, 0, &[10_100])).expect("writes");
    writer.phase_end(1_000_000_000, 0, EndedBy::Time).expect("writes");
    let summary = summarise(&read(&folder, "histograms/load.hlog"), &Windows::new()).expect("reads back");
    let steady = &summary["0/steady/small/read"];
    assert_eq!((steady.count, steady.min), (100, 100));
    assert!((steady.mean - 200.0).abs() < 0.5, "not the mean of two means: {}", steady.mean);
}

#[test]
fn torn_log_reads_up_to_its_last_whole_line() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 1)]).expect("writes");
    for k in 0..3 {
        writer.interval(&interval(Part::Steady, k * 1_000_000_000, &[100 + k])).expect("writes");
    }
    let log = read(&folder, "histograms/load.hlog");
    for length in 0..log.len() {
        let count =
            summarise(&log[..length], &Windows::new()).expect("reads back").values().map(|all| all.count).sum::<u64>();
        assert_eq!(
            count as usize,
            log[..length].lines().filter(|l| l.starts_with("Tag")).count()
                - usize::from(
                    !log[..length].ends_with('\n')
                        && log[..length].lines().last().is_some_and(|l| l.starts_with("Tag"))
                )
        );
    }
}

#[test]
fn progress_shows_the_last_interval() {
    let folder = folder();
    let control = Arc::new(Control::default());
    let mut writer = Writer::open(folder.path(), control.clone()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 1)]).expect("writes");
    writer.interval(&interval(Part::Steady, 0, &[100, 300])).expect("writes");
    let progress = control.progress();
    assert_eq!(
        (progress.elapsed_ns, progress.operations_per_second, progress.latency_ns_mean),
        (1_000_000_000, 2, 200)
    );
}

#[test]
fn lateness_and_work_time_are_recorded_only_if_present() {
    let folder = folder();
    let mut writer = Writer::open(folder.path(), Arc::default()).expect("opens");
    writer.phase_begin(0, 0, &[("small", 2)]).expect("writes");
    for (slip, lag, reap) in [(900, 100, 30), (50, 50, 70)] {
        let mut stats = interval(Part::Steady, 0, &[1]);
        stats.started(slip, lag);
        stats.reap.add(reap);
        writer.interval(&stats).expect("writes");
    }
    let series = read(&folder, "series/load.csv");
    let expected = [
        ("started", 2),
        ("slip_ns_sum", 950),
        ("slip_ns_max", 900),
        ("lag_ns_sum", 150),
        ("lag_ns_max", 100),
        ("reaps", 2),
        ("reap_ns_sum", 100),
        ("reap_ns_max", 70),
    ];
    for (metric, value) in expected {
        let row = format!("1000000000,1000000000,small,load.{metric},{value}\n");
        assert_eq!(series.matches(&row).count(), 1, "{row}{series}");
    }
    let names: Vec<&str> = tameshi_base::metrics::METRICS.iter().map(|metric| metric.name).collect();
    assert!(expected.iter().all(|(metric, _)| names.contains(&format!("load.{metric}").as_str())));
    let summary = summarise(&read(&folder, "histograms/load.hlog"), &Windows::new()).expect("reads back");
    assert_eq!((summary["0/steady/small/slip"].max, summary["0/steady/small/lag"].count), (900, 2));
    writer.interval(&interval(Part::Steady, 1_000_000_000, &[1])).expect("writes");
    writer.phase_end(2_000_000_000, 0, EndedBy::Time).expect("writes");
    assert!(!read(&folder, "series/load.csv").contains("2000000000,1000000000,small,load.started"));
}
