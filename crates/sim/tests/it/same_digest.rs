//! The digest depends on the spec and the seed, and on nothing else.

use crate::support::*;
use tameshi_base::units::{Share, Time};
use tameshi_spec::run::RunSpec;
use tameshi_workload::{Pattern, StreamSpec, Sync};

fn mixed() -> RunSpec {
    let stream = StreamSpec {
        read: Share(700_000),
        queue_depth: 4,
        jobs: 3,
        sync: Some(Sync::Fdatasync { every: 2 }),
        ..StreamSpec::default()
    };
    let mut spec =
        spec(hdd(with_read_ahead(elevator(with_depth(disk(), 8)), 256 << 10)), stream.clone(), for_time(30 * SECOND));
    spec.phases[0].ramp = Time(7 * SECOND);
    let sequential = StreamSpec { pattern: Pattern::Sequential, ..stream };
    spec.phases.push(phase("again", sequential, for_amount(10_000_000)));
    spec
}

#[test]
fn the_same_spec_and_seed_give_the_same_digest_and_record() {
    let (one, other) = (run(&mixed()), run(&mixed()));
    assert_eq!(one.digest, other.digest);
    assert_eq!(one.digest.len(), 32);
    assert_eq!(one.series, other.series);
    assert_eq!(one.histograms, other.histograms);
    assert!(one.events.contains(&one.digest));
}

#[test]
fn another_seed_gives_another_digest() {
    assert_ne!(run(&mixed()).digest, run(&RunSpec { seed: 2, ..mixed() }).digest);
}

#[test]
fn the_length_of_intervals_does_not_change_the_digest() {
    let digest = run(&mixed()).digest;
    for nanos in [SECOND / 7, 3 * SECOND, 1000 * SECOND] {
        assert_eq!(run(&RunSpec { interval: Time(nanos), ..mixed() }).digest, digest);
    }
}

#[test]
fn runs_before_and_beside_a_run_do_not_change_its_digest() {
    let digest = run(&mixed()).digest;
    run(&RunSpec { seed: 9, ..mixed() });
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&mixed()).digest)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("a thread"), digest);
        }
    });
}

#[test]
fn the_digest_is_the_one_of_every_machine() {
    // When a model changes on purpose, this changes with it; when a machine changes it, arithmetic is at fault.
    assert_eq!(run(&mixed()).digest, "ef9c4d5640aae362d957d5eecc068f5d");
}
