//! The digest depends on the spec and the seed, and on nothing else.

use crate::support::*;
use tameshi_base::units::{Share, Size, Time};
use tameshi_spec::profile::{CleaningPolicy, FlashProfile, Power, ReadRetry, Simulated, Written};
use tameshi_spec::run::RunSpec;
use tameshi_workload::spec::SizeShare;
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
fn same_spec_and_seed_give_same_digest_and_record() {
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
fn interval_length_does_not_change_the_digest() {
    let digest = run(&mixed()).digest;
    for nanos in [SECOND / 7, 3 * SECOND, 1000 * SECOND] {
        assert_eq!(run(&RunSpec { interval: Time(nanos), ..mixed() }).digest, digest);
    }
}

#[test]
fn earlier_and_concurrent_runs_do_not_change_the_digest() {
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
fn digest_equals_that_of_every_machine() {
    // A change of a model on purpose changes this digest. If a machine changes it, arithmetic is
    // wrong.
    assert_eq!(run(&mixed()).digest, "6fdf951800f58bda1856426af60c4f8f");
}

/// Reads, writes and trims of several lengths at depth 100 on a drive with garbage collection, then
/// reads only.
fn flash_run(drive: FlashProfile, sync: Option<Sync>) -> RunSpec {
    let mix = [(4096, 400_000), (2048, 200_000), (16_384, 300_000), (6144, 100_000)];
    let mix = mix.map(|(bytes, share)| SizeShare { size: Size(bytes), share: Share(share) });
    let stream = StreamSpec {
        read: Share(600_000),
        trim: Share(50_000),
        block_size_mix: Some(mix.to_vec()),
        queue_depth: 20,
        jobs: 5,
        sync,
        ..StreamSpec::default()
    };
    let simulated = Simulated { written: Written::Steady, ..Simulated::default() };
    let device = flash(FlashProfile { simulated, ..drive });
    let mut spec = spec(device, stream.clone(), for_amount(500_000_000));
    let reads = StreamSpec { read: Share(1_000_000), trim: Share(0), sync: None, ..stream };
    spec.phases.push(phase("reads", reads, for_amount(100_000_000)));
    spec
}

/// Digest, and the sum of all series except those of flash, power, command slots and requests in
/// flight.
fn fingerprint(spec: &RunSpec) -> (String, u64) {
    let left = run(spec);
    let words = ["flash.", "power", "places", "in_flight"];
    let is_left_out = |metric: &str| words.iter().any(|word| metric.contains(word));
    let told = left.series.iter().filter(|(.., metric, _)| !is_left_out(metric));
    let values = told.fold(0u64, |all, (.., value)| all.wrapping_mul(0x0100_0000_01b3) ^ value);
    (left.digest, values)
}

#[test]
fn digests_of_flash_equal_those_of_every_machine() {
    // As above: optimisations of the simulator change nothing here.
    let small = || flash_drive(256 << 20);
    let mut hindered = unprotected(small());
    hindered.read_retry = Some(ReadRetry {
        at_end_of_life: sourced(Share(500_000)),
        retry_time: sourced(Time(30_000)),
        worn: sourced(Share(700_000)),
        extra_life: None,
    });
    hindered.power = Some(Power {
        idle_mw: sourced(4_000),
        limit_mw: Some(sourced(9_000)),
        read_nj: sourced(10_000),
        program_nj: sourced(60_000),
        erase_nj: sourced(200_000),
        thermal: None,
    });
    hindered.nand.suspend_time = None;
    hindered.cleaning.separate_relocated = sourced(false);
    hindered.cleaning.policy = sourced(CleaningPolicy::Choices { drawn: 3 });
    let every_third = Some(Sync::Fdatasync { every: 3 });
    let found = [(small(), None), (free_flash(small()), None), (hindered, every_third)]
        .map(|(drive, sync)| fingerprint(&flash_run(drive, sync)));
    let expected = [
        ("4549a83edc31f59f2ebba0eaacfd6625", 9_326_080_707_598_389_265),
        ("390672d6c73951546d5b099077f1485a", 7_155_904_472_721_036_929),
        ("e3d9910c240c9f3cd4f70c8358a0c648", 1_995_558_611_081_622_599),
    ];
    assert_eq!(found, expected.map(|(digest, values)| (digest.to_string(), values)));
}
