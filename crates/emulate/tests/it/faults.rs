//! Slowed drives, and corrupt content.

use crate::support::*;
use proptest::prelude::*;
use tameshi_base::{CommandKind, Nanos, Slow};
use tameshi_emulate::{Corruption, Departure, Power, Refused, ServeSpec};

fn slow(factor: f64) -> Slow {
    Slow::new(factor).expect("a factor in range")
}

/// Return the answers to requests at given pauses, of a drive that is slowed down or not.
fn answers(spec: &ServeSpec, requests: &[(u64, u8, u64)], slowdown: Option<(Slow, Option<Nanos>)>) -> Vec<Departure> {
    let mut bench = Bench::new(spec);
    if let Some((factor, time)) = slowdown {
        bench.drive.slow_down(factor, time, bench.now, &mut bench.answers);
    }
    for &(pause, kind, page) in requests {
        bench.pass(pause);
        let kind = [CommandKind::Write, CommandKind::Read, CommandKind::Flush][usize::from(kind)];
        bench.submit(kind, page * 4096, &mut [3; 4096]);
    }
    bench.pass(1_000_000_000_000);
    assert_eq!(bench.drive.under_way(), 0);
    let mut answers = std::mem::take(&mut bench.answers);
    assert!(answers.windows(2).all(|pair| pair[0].due <= pair[1].due), "answers leave in the order of their times");
    answers.sort_unstable_by_key(|answer| answer.tag);
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn slowed_drive_answers_later_by_the_factor(
        requests in proptest::collection::vec((0..2_000_000_u64, 0..3_u8, 0..1000_u64), 1..60),
        thousandths in 1000..100_000_u32,
        end in 0..60_000_000_u64,
    ) {
        let factor = f64::from(thousandths) / 1000.0;
        for name in ["sas-15k-146gb", "nvme-tlc-1tb-consumer"] {
            let spec = spec(profile(name));
            let plain = answers(&spec, &requests, None);
            let slowed = answers(&spec, &requests, Some((slow(factor), Some(end))));
            prop_assert_eq!(plain.len(), slowed.len());
            for (plain, slowed) in plain.iter().zip(&slowed) {
                let took = |answer: &Departure| answer.due.expect("a time by the model") - answer.arrived;
                prop_assert_eq!((plain.tag, plain.arrived), (slowed.tag, slowed.arrived));
                let applied = if plain.arrived < end { u64::from(thousandths) } else { 1000 };
                prop_assert!(took(slowed).abs_diff(took(plain) * applied / 1000) <= 1, "{plain:?} {slowed:?}");
            }
        }
    }
}

#[test]
fn cut_fails_answers_that_a_slowdown_holds() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    bench.drive.slow_down(slow(1000.0), None, 0, &mut bench.answers);
    let tag = bench.submit(CommandKind::Write, 0, &mut [1; 4096]);
    bench.pass(1_000_000);
    assert!(bench.answers.is_empty(), "the model has finished it, and it is held");
    bench.drive.cut(bench.now, &mut bench.answers);
    assert_eq!(bench.results()[&tag], Err(libc::EIO));
    bench.drive.switch(Power::On);
    bench.pass(100_000_000_000);
    assert_eq!((bench.answers.len(), bench.drive.under_way()), (1, 0));
}

#[test]
fn drive_is_writing_while_a_write_of_that_size_is_under_way() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    let writing = |bench: &Bench| [4096, 16_384, 32_768].map(|bytes| bench.drive.is_writing(bytes));
    bench.submit(CommandKind::Read, 0, &mut [0; 16_384]);
    assert_eq!(writing(&bench), [false; 3]);
    bench.submit(CommandKind::Write, 0, &mut [1; 16_384]);
    assert_eq!(writing(&bench), [false, true, false]);
    bench.pass(1_000_000_000);
    assert_eq!(writing(&bench), [false; 3], "it is answered");
}

#[test]
fn slowdown_of_one_ends_it_for_later_requests() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    bench.drive.slow_down(slow(500.0), None, 0, &mut bench.answers);
    let first = bench.submit(CommandKind::Read, 0, &mut [0; 4096]);
    assert_eq!(bench.drive.slowdown(0)["factor"], 500.0);
    bench.drive.slow_down(Slow::NONE, None, bench.now, &mut bench.answers);
    assert_eq!(bench.finish(CommandKind::Read, 4096, &mut [0; 4096]), Ok(4096));
    assert!(!bench.results().contains_key(&first), "it keeps the factor of its arrival");
    bench.pass(1_000_000_000);
    assert_eq!(bench.results()[&first], Ok(4096));
}

fn corrupt(bench: &mut Bench, kind: Corruption, offset: u64, length: u64) -> Result<(), Refused> {
    bench.drive.corrupt(kind, (offset, length), bench.now, &mut bench.answers)
}

#[test]
fn unreadable_range_fails_reads_until_it_is_written_or_trimmed() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    let read = |bench: &mut Bench, page: u64| bench.finish(CommandKind::Read, page * 4096, &mut [0; 4096]);
    assert_eq!(bench.finish(CommandKind::Write, 0, &mut [1; 4 * 4096]), Ok(4 * 4096));
    corrupt(&mut bench, Corruption::Error, 4096, 2 * 4096).expect("a range of the drive");
    let found: Vec<_> = (0..4).map(|page| read(&mut bench, page)).collect();
    assert_eq!(found, [Ok(4096), Err(libc::EIO), Err(libc::EIO), Ok(4096)]);
    assert_eq!(bench.finish(CommandKind::Read, 0, &mut [0; 4 * 4096]), Err(libc::EIO), "it touches the range");
    let failed = bench.answers.last().expect("an answer");
    assert!(failed.due.expect("a time by the model") > failed.arrived, "a failed read takes its time");
    assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [2; 4096]), Ok(4096));
    assert_eq!((read(&mut bench, 1), read(&mut bench, 2)), (Ok(4096), Err(libc::EIO)));
    let tag = bench.request(CommandKind::Trim, 2 * 4096, 4096, &mut []);
    bench.pass(1_000_000_000);
    assert_eq!((bench.results()[&tag], read(&mut bench, 2)), (Ok(0), Ok(4096)));
    let figures = bench.drive.corruption();
    assert_eq!((&figures["unreadable_bytes"], &figures["failed_reads"]), (&0.into(), &4.into()));
}

#[test]
fn flip_changes_one_bit_of_each_sector_by_the_seed() {
    let flipped = |seed: u64| {
        let mut bench = Bench::new(&ServeSpec { seed, ..spec(profile("sata-ssd-480gb")) });
        assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [7; 4096]), Ok(4096));
        corrupt(&mut bench, Corruption::Flip, 4096, 2 * 4096).expect("a range of the drive");
        let (bytes, figures) = (bench.bytes(0, 4 * 4096), bench.drive.corruption());
        assert_eq!(figures["flipped_bits"], 16);
        for (number, sector) in bytes.chunks(512).enumerate() {
            let before = if (8..16).contains(&number) { 7 } else { 0 };
            let bits: u32 = sector.iter().map(|byte| (byte ^ before).count_ones()).sum();
            assert_eq!(bits, u32::from((8..24).contains(&number)), "sector {number}");
        }
        bytes
    };
    assert_eq!(flipped(1), flipped(1));
    assert_ne!(flipped(1), flipped(2));
}

#[test]
fn flip_of_a_range_twice_draws_other_bits() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    for bits in [64, 128] {
        corrupt(&mut bench, Corruption::Flip, 0, 64 * 512).expect("a range of the drive");
        let found: u32 = bench.bytes(0, 64 * 512).iter().map(|byte| byte.count_ones()).sum();
        assert!(found > bits - 3 && found <= bits, "{found} bits");
    }
}

#[test]
fn misdirected_write_leaves_its_place_and_hits_its_neighbour() {
    let mut bench = Bench::new(&spec(profile("sata-ssd-480gb")));
    for page in 0..4_u8 {
        assert_eq!(bench.finish(CommandKind::Write, u64::from(page) * 4096, &mut [page + 1; 4096]), Ok(4096));
    }
    corrupt(&mut bench, Corruption::Misdirect, 4096, 512).expect("a range of the drive");
    assert_eq!(bench.finish(CommandKind::Write, 0, &mut [8; 4096]), Ok(4096), "it does not touch the range");
    assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [9; 4096]), Ok(4096), "silently");
    let first = |bench: &Bench| [0, 1, 2, 3].map(|page| bench.bytes(page * 4096, 1)[0]);
    assert_eq!(first(&bench), [8, 2, 9, 4]);
    assert_eq!(bench.drive.corruption()["misdirected"], serde_json::json!([[4096, 8192, 4096]]));
    assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [5; 4096]), Ok(4096), "only the next write");
    assert_eq!(first(&bench), [8, 5, 9, 4]);
}

#[test]
fn ranges_beyond_the_drive_or_its_room_are_refused() {
    let mut bench = Bench::new(&ServeSpec { limit_bytes: 8 * 4096, ..spec(profile("optane-p4800x-375g")) });
    let capacity = bench.drive.store().capacity_bytes();
    let cases = [
        (Corruption::Error, 100, 512, Refused::Unaligned),
        (Corruption::Error, 0, 0, Refused::Unaligned),
        (Corruption::Misdirect, 512, 4095, Refused::Unaligned),
        (Corruption::Error, capacity - 512, 1024, Refused::Beyond),
        (Corruption::Flip, u64::MAX - 511, 512, Refused::Beyond),
        (Corruption::Flip, 0, 9 * 4096, Refused::Full),
    ];
    for (kind, offset, length, refused) in cases {
        assert_eq!(corrupt(&mut bench, kind, offset, length), Err(refused), "{kind:?} {offset} {length}");
    }
    assert_eq!(bench.drive.store().used_bytes(), 0);
    assert_eq!(corrupt(&mut bench, Corruption::Flip, capacity - 8 * 4096, 8 * 4096), Ok(()));
}
