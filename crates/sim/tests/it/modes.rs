//! Fast mode against exact mode: equal where both simulate, and close in the extrapolated rest.

use crate::database::{KEYS, Left, MYSQL_55, MYSQL_57, OLTP, TPCC, drive, model, run, spec};
use crate::support::{SECOND, assert_close, sourced};
use tameshi_base::units::{Size, Time};
use tameshi_spec::run::{Mode, RunSpec};

/// Cell of a study in a mode.
pub fn in_mode(spec: &RunSpec, mode: Mode) -> Left {
    let mut spec = spec.clone();
    spec.database.as_mut().expect("a database").mode = Some(mode);
    run(&spec)
}

/// Simulated share of a run's only phase.
pub fn simulated(left: &Left) -> f64 {
    let simulated = left.events("simulated");
    let of = |key: &str| simulated[0][key].as_f64().expect("a number");
    of("simulated_ns") / of("whole_ns")
}

// slow: twelve seeds in both modes
#[test]
fn fast_mode_is_within_two_hundredths_of_exact_mode() {
    // Pools that are too small, in two versions, and one that fills up together with its log. The
    // first has too few transactions to extrapolate, and so few that chance alone is off by some
    // hundredths in each of a dozen runs.
    let cells = [
        ((MYSQL_55, TPCC, 20), ("6 MiB", 8), (1.0..=1.0, 12, 0.01)),
        ((MYSQL_57, OLTP, 160), ("6 MiB", 64), (0.2..=0.8, 1, 0.02)),
        ((MYSQL_57, KEYS, 120), ("64 MiB", 32), (0.1..=0.8, 1, 0.02)),
    ];
    for ((profile, program, seconds), (pool, log), (share, seeds, within)) in cells {
        const METRICS: [&str; 3] = ["transaction.count", "server.statements", "server.page_requests"];
        let mut sums = [[0.0; 3]; 2];
        for seed in 1..=seeds {
            let mut spec = spec(profile, drive(), pool, program, seconds * 1000);
            (spec.seed, spec.interval) = (seed, Time(2 * SECOND));
            spec.engines["mysql"].redo_log = Some(Size(log << 20));
            model(&mut spec).cpu.statement = sourced(Time(500_000));
            let (exact, fast) = (in_mode(&spec, Mode::Exact), in_mode(&spec, Mode::Fast));
            if program == KEYS {
                let again = in_mode(&spec, Mode::Fast);
                assert_eq!((&fast.digest, &fast.intervals), (&again.digest, &again.intervals));
            }
            assert_eq!(simulated(&exact), 1.0);
            let part = simulated(&fast);
            assert!(share.contains(&part), "{program}: {part}");
            let ends = |left: &Left| left.intervals.iter().map(|(end, _)| *end).collect::<Vec<u64>>();
            assert_eq!(ends(&fast), ends(&exact), "{program}: every interval is there");
            let whole = (part * fast.intervals.len() as f64) as usize;
            assert_eq!(fast.intervals[..whole], exact.intervals[..whole], "{program}: what is simulated");
            for (sums, left) in sums.iter_mut().zip([&exact, &fast]) {
                sums.iter_mut().zip(METRICS).for_each(|(sum, metric)| *sum += left.of(metric));
            }
        }
        let [exact, fast] = sums;
        for (at, of) in METRICS.into_iter().enumerate() {
            assert_close(fast[at], exact[at], within, &format!("{program}: {of}"));
        }
    }
}

// slow: an exact run of 160 s
#[test]
fn fast_mode_keeps_the_mix_of_transactions() {
    let mut spec = spec(MYSQL_57, drive(), "12 MiB", TPCC, 160_000);
    spec.interval = Time(2 * SECOND);
    let (exact, fast) = (in_mode(&spec, Mode::Exact), in_mode(&spec, Mode::Fast));
    let part = simulated(&fast);
    assert!(part < 0.7, "{part}");
    let simulated = (part * 160.0) as u64 * SECOND;
    let of = |left: &Left, name: &str| -> Vec<f64> {
        let behind = left.load.iter().filter(|(end, of, _)| of == name && *end > simulated + 2 * SECOND);
        behind.map(|(_, _, value)| *value).collect()
    };
    let kinds = ["new_order", "payment", "order_status", "delivery", "stock_level"];
    let mut busy = 0.0;
    for kind in kinds {
        let [count, time] =
            ["transaction.count", "transaction.latency_sum"].map(|metric| format!("tpcc.{kind} {metric}"));
        let [there, here] = [&exact, &fast].map(|left| of(left, &count));
        assert_eq!(here.len(), there.len(), "{kind}: every interval is there");
        let mean = here.iter().sum::<f64>() / here.len() as f64;
        let most = here.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        assert!(most <= 3.0 + 0.05 * mean, "{kind}: {mean} an interval, one is off by {most}");
        assert_close(mean, there.iter().sum::<f64>() / there.len() as f64, 0.05, kind);
        let [there, here] = [(&exact, there), (&fast, here)]
            .map(|(left, counts)| of(left, &time).iter().sum::<f64>() / counts.iter().sum::<f64>());
        assert_close(here, there, 0.12, &format!("{kind}: mean latency"));
        busy += of(&fast, &time).iter().sum::<f64>();
    }
    let spans = of(&fast, "tpcc.payment transaction.count").len() as f64 * 2.0 * SECOND as f64;
    assert_close(busy / spans, 8.0, 0.02, "every client is always in a transaction");
}

#[test]
fn phase_without_steady_part_is_equal_in_both_modes() {
    for program in [TPCC, OLTP, KEYS] {
        let spec = spec(MYSQL_57, drive(), "6 MiB", program, 8000);
        let [exact, fast] = [Mode::Exact, Mode::Fast].map(|mode| in_mode(&spec, mode));
        assert_eq!(simulated(&fast), 1.0, "{program}");
        assert_eq!((fast.digest, fast.intervals), (exact.digest, exact.intervals), "{program}");
    }
}
