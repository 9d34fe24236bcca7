//! Stream options on real files: patterns, arrivals, pauses.

use crate::bench::*;
use tameshi_base::{Rate, Share, Size, Time};
use tameshi_workload::spec::{Duty, Gaps, LsmTree, Pace, PageFlush, RatePoint, Shape, Submission, Zone};
use tameshi_workload::{Arrivals, Pattern, StreamSpec, Sync};

const PAYLOAD: u64 = 4 << 20;

fn writes(pattern: Pattern) -> StreamSpec {
    StreamSpec { pattern, read: Share(0), queue_depth: 8, ..StreamSpec::default() }
}

/// Blocks that `count` writes of the stream touch.
fn touched(stream: StreamSpec, count: u64, backend: tameshi_blockio::Backend) -> Vec<usize> {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let phases = vec![phase(by_amount(count * BLOCK), vec![("load", stream)])];
    assert!(crate::bench::refused(&spec(phases.clone(), vec![])).is_empty());
    bench.run(phases, backend).expect("a run");
    assert_eq!(bench.sums()["write.count"], count);
    bench.touched()
}

#[test]
fn skewed_patterns_touch_expected_blocks_on_every_backend() {
    let blocks = (PAYLOAD / BLOCK) as usize;
    let zone = |accesses, span| Zone { accesses: Share(accesses), span: Share(span) };
    let never_in_the_middle = vec![zone(500_000, 250_000), zone(0, 500_000), zone(500_000, 250_000)];
    let mut by_backend = vec![];
    for backend in backends() {
        let zoned = touched(writes(Pattern::Zoned(never_in_the_middle.clone())), 2000, backend);
        assert!(zoned.iter().all(|block| !(blocks / 4..blocks * 3 / 4).contains(block)));
        let hot = touched(writes(Pattern::HotCold { hot: Share(100_000), accesses: Share(1_000_000) }), 2000, backend);
        assert!(hot.iter().all(|&block| block < blocks / 10), "{hot:?}");
        let zipf = touched(writes(Pattern::Zipf { theta_permille: 1500 }), 2000, backend);
        assert!(zipf.len() < 400, "{} blocks take 2000 writes", zipf.len());
        let pareto = touched(writes(Pattern::Pareto { hot: Share(50_000) }), 2000, backend);
        assert!(pareto.len() < 600, "{}", pareto.len());
        assert!(zipf.iter().any(|&block| block > blocks / 2), "popular blocks are scattered");
        let runs = touched(StreamSpec { run_length: 64, ..writes(Pattern::Random) }, 64, backend);
        let follow = runs.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(follow >= runs.len() - 2, "{runs:?}");
        by_backend.push((zoned, hot, zipf, pareto, runs));
    }
    assert!(by_backend.windows(2).all(|pair| pair[0] == pair[1]), "the same blocks whatever carries them");
}

#[test]
fn ramps_bursts_and_pauses_start_expected_requests() {
    let reads = |arrivals, duty| StreamSpec { arrivals, duty, queue_depth: 64, ..StreamSpec::default() };
    let ms = |ms: u64| Time(ms * 1_000_000);
    let point = |at, rate: u64| RatePoint { at: ms(at), rate: Rate(rate * 1000) };
    let ramp = Arrivals::Ramp { points: vec![point(0, 0), point(400, 2000)], shape: Shape::Lines, gaps: Gaps::Even };
    let bursts = Arrivals::Bursts { requests: 32, every: ms(100) };
    let steady = Arrivals::Constant { rate: Rate(1_000_000) };
    let duty = Some(Duty { on: ms(50), off: ms(150) });
    for (stream, expected) in [(reads(ramp, None), 400), (reads(bursts, None), 4 * 32), (reads(steady, duty), 100)] {
        let bench = Bench::new(places().last().expect("a place"), PAYLOAD);
        let stream = StreamSpec { block_size: Size(BLOCK), ..stream };
        bench.run(vec![phase(by_time(400), vec![("load", stream)])], tameshi_blockio::Backend::Auto).expect("a run");
        let sums = bench.sums();
        // Arrivals too many for a busy machine count as unserved. Completions after the phase are
        // not counted.
        let (started, unserved) = (sums["load.started"], sums["load.unserved"]);
        assert_eq!(started + unserved, expected);
    }
}

#[test]
fn group_commit_shares_flushes_on_every_backend() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let log = StreamSpec {
            block_size: Size(512),
            sync: Some(Sync::GroupCommit { committers: 24, delay: Time(0) }),
            queue_depth: 1,
            jobs: 2,
            ..writes(Pattern::Sequential)
        };
        bench.run(vec![phase(by_amount(2 * 240 * 512), vec![("log", log)])], backend).expect("a run");
        let sums = bench.sums();
        assert_eq!([sums["commit.count"], sums["write.bytes"]], [2 * 240, 2 * 240 * 512]);
        assert_eq!([sums["write.count"], sums["sync.count"]], [2 * 10; 2]);
        assert!(sums["commit.latency_sum"] > 24 * sums["sync.latency_sum"], "each commit holds its flush");
        assert!(bench.histograms().contains("0/steady/log/commit"));
    }
}

#[test]
fn page_flush_writes_doublewrite_area_then_pages() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let (page, batch, area) = (16_384, 8, 256 << 10);
        let flusher = StreamSpec {
            block_size: Size(page),
            page_flush: Some(PageFlush { batch, doublewrite: Some(Size(area)) }),
            ..writes(Pattern::Random)
        };
        let amount = 2 * area;
        bench.run(vec![phase(by_amount(amount), vec![("flusher", flusher)])], backend).expect("a run");
        let sums = bench.sums();
        let batches = area / (u64::from(batch) * page);
        assert_eq!(sums["commit.count"], batches);
        assert_eq!([sums["write.count"], sums["sync.count"]], [batches * (u64::from(batch) + 1), 2 * batches]);
        let in_area = bench.touched().iter().filter(|&&block| (block as u64) < area / BLOCK).count() as u64;
        assert_eq!(in_area, area / BLOCK, "as long as all batches together");
        assert!(bench.touched().len() as u64 > in_area);
    }
}

#[test]
fn lsm_store_writes_journal_then_runs() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let (record, journal, memtable) = (4096, 256 << 10, 64 << 10);
        let tree = LsmTree {
            memtable: Size(memtable),
            journal: Size(journal),
            fan_out: 2,
            levels: 2,
            block_size: Size(16_384),
            queue_depth: 2,
            most_runs: None,
        };
        let sync = Some(Sync::GroupCommit { committers: 4, delay: Time(0) });
        let store = StreamSpec {
            block_size: Size(record),
            queue_depth: 1,
            sync,
            lsm: Some(tree),
            ..writes(Pattern::Sequential)
        };
        let amount = 16 * memtable;
        bench.run(vec![phase(by_amount(amount), vec![("store", store)])], backend).expect("a run");
        let sums = bench.sums();
        assert_eq!(sums["commit.count"], amount / record);
        // Sixteen runs, merged in pairs.
        assert_eq!((sums["write.bytes"], sums["read.bytes"]), (3 * amount, amount));
        let behind = bench.touched().iter().filter(|&&block| (block as u64) >= journal / BLOCK).count() as u64;
        assert!(behind >= 2 * memtable / BLOCK, "{behind} blocks of runs");
    }
}

#[test]
fn trim_frees_only_its_own_blocks() {
    for place in places() {
        for backend in backends() {
            let bench = Bench::new(&place, PAYLOAD);
            bench.lay_out(backend).expect("laid out");
            let (begin, length) = (PAYLOAD / 4, PAYLOAD / 2);
            let trims = StreamSpec {
                trim: Share::WHOLE,
                block_size: Size(65_536),
                offset: Size(begin),
                span: Some(Size(length)),
                ..writes(Pattern::Sequential)
            };
            bench.run(vec![phase(by_amount(length), vec![("trim", trims)])], backend).expect("a run");
            let sums = bench.sums();
            assert_eq!([sums["trim.count"], sums["trim.bytes"]], [length / 65_536, length]);
            assert!(!sums.contains_key("write.count"));
            let left = bench.touched();
            let outside = (0..PAYLOAD / BLOCK).filter(|block| !(begin..begin + length).contains(&(block * BLOCK)));
            assert_eq!(left, outside.map(|block| block as usize).collect::<Vec<_>>(), "{place:?} {backend:?}");
        }
    }
}

#[test]
fn concurrent_streams_keep_their_own_submission() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let plain = StreamSpec { submission: Submission::PlainCalls, ..writes(Pattern::Random) };
    let streams = vec![("a", writes(Pattern::Random)), ("b", plain), ("c", writes(Pattern::Sequential))];
    let done = bench.run(vec![phase(by_amount(300 * BLOCK), streams)], backends()[backends().len() - 1]);
    let done = done.expect("a run");
    assert_eq!(bench.sums()["write.count"], 300);
    if done.backend == "io_uring" {
        assert!(
            done.features.iter().any(|feature| feature.starts_with("stream b: plain calls")),
            "{:?}",
            done.features
        );
    }
    let ring = StreamSpec { submission: Submission::IoUring, ..writes(Pattern::Random) };
    let phases = vec![phase(by_amount(BLOCK), vec![("r", ring)])];
    let refused = bench.run(phases, tameshi_blockio::Backend::Portable).expect_err("plain calls are no io_uring");
    assert!(refused.to_string().starts_with("stream `r`: `submission` asks for io_uring, but"), "{refused}");
}

#[test]
fn zones_are_touched_and_gaps_are_not() {
    for backend in backends() {
        for backwards in [false, true] {
            let pattern = Pattern::Strided { run: Size(2 * BLOCK), skip: Size(6 * BLOCK), backwards };
            let blocks = (PAYLOAD / BLOCK) as usize;
            let expected = (0..blocks).map(|block| if backwards { blocks - 1 - block } else { block });
            let mut expected: Vec<usize> = expected.enumerate().filter(|(at, _)| at % 8 < 2).map(|(_, b)| b).collect();
            expected.sort_unstable();
            let found =
                touched(StreamSpec { block_size: Size(BLOCK), ..writes(pattern) }, PAYLOAD / BLOCK / 4, backend);
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn stream_with_sync_at_end_syncs_once() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let ending = StreamSpec { sync_at_end: true, jobs: 2, ..writes(Pattern::Random) };
        bench.run(vec![phase(by_amount(64 * BLOCK), vec![("load", ending)])], backend).expect("a run");
        let sums = bench.sums();
        assert_eq!([sums["write.count"], sums["sync.count"]], [64, 2], "one of each job");
        assert!(!sums.contains_key("commit.count"));
    }
}

#[test]
fn paced_streams_follow_their_weights() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let paced = |weight| StreamSpec { pace: Some(Pace { group: "g".into(), weight }), ..StreamSpec::default() };
        let quick = StreamSpec { queue_depth: 8, ..paced(1) };
        bench.lay_out(backend).expect("laid out");
        let streams = vec![("quick", quick), ("slow", paced(3))];
        bench.run(vec![phase(by_time(200), streams)], backend).expect("a run");
        let reads = |of: &str| -> u64 {
            let rows = bench.rows();
            rows.iter().filter(|row| row.2 == of && row.3 == "read.count").map(|row| row.4).sum()
        };
        let (quick, slow) = (reads("quick"), reads("slow"));
        assert!(quick > 0 && slow.abs_diff(3 * quick) <= 3 * 9 + 2, "{quick} {slow}: but for what is in flight");
    }
}

#[test]
fn threads_run_on_their_processors_or_run_is_refused() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let on = |processors| StreamSpec { processors: Some(processors), ..writes(Pattern::Random) };
    let absent = vec![phase(by_amount(BLOCK), vec![("far", on(vec![0, 1023]))])];
    let sentences = crate::bench::refused(&spec(absent, vec![]));
    assert_eq!(sentences.len(), 1);
    assert!(sentences[0].starts_with("workload.stream.far.processors: it names 1023, and"), "{sentences:?}");
    let here = (0..1023).find(|&number| {
        crate::bench::refused(&spec(vec![phase(by_amount(BLOCK), vec![("a", on(vec![number]))])], vec![])).is_empty()
    });
    let here = on(vec![here.expect("this test runs somewhere")]);
    let phases = vec![phase(by_amount(8 * BLOCK), vec![("near", here)])];
    bench.run(phases, tameshi_blockio::Backend::Auto).expect("a run");
    assert_eq!(bench.sums()["write.count"], 8);
}

/// Few devices have polled queues. With one, all requests are read; otherwise the first request
/// fails with an error.
#[test]
fn polled_completions_work_or_name_what_is_missing() {
    for place in places() {
        let bench = Bench::new(&place, PAYLOAD);
        bench.lay_out(tameshi_blockio::Backend::Auto).expect("laid out");
        let polled = StreamSpec { submission: Submission::IoUringPolled, queue_depth: 4, ..StreamSpec::default() };
        let phases = vec![phase(by_amount(256 * BLOCK), vec![("polled", polled)])];
        match bench.run(phases, tameshi_blockio::Backend::Auto) {
            Ok(_) => assert_eq!(bench.sums()["read.count"], 256),
            Err(error) => {
                let told = error.to_string();
                let known = ["not supported", "asks for io_uring, but", "Invalid argument"];
                assert!(known.iter().any(|words| told.contains(words)), "{told}");
            }
        }
    }
}
