//! Verification on real files: right data pass, and wrong blocks are found and named by offset.

use crate::bench::*;
use tameshi_base::{Share, Size, Time};
use tameshi_blockio::{Backend, Examined, Verdict, examine};
use tameshi_record::journal::Journal;
use tameshi_workload::spec::{PageFlush, SizeShare, Verify};
use tameshi_workload::{Pattern, StreamSpec, Sync};

const PAYLOAD: u64 = 1 << 20;
const BLOCKS: u64 = PAYLOAD / BLOCK;

fn writes(pattern: Pattern) -> StreamSpec {
    StreamSpec { pattern, read: Share(0), queue_depth: 4, verify: Verify::Checksum, ..StreamSpec::default() }
}

fn reads() -> StreamSpec {
    StreamSpec { pattern: Pattern::Sequential, read: Share::WHOLE, ..writes(Pattern::Random) }
}

fn examined(bench: &Bench) -> Examined {
    let journal = Journal::open(&bench.path("disk.journal")).expect("a journal");
    examine(&journal, &bench.buffered()).expect("a target that can be read")
}

#[test]
fn verified_data_are_right_for_every_writer_and_backend() {
    let mix = [(4096, 500_000), (16_384, 500_000)];
    let mix = mix.map(|(size, share)| SizeShare { size: Size(size), share: Share(share) }).to_vec();
    let group = Some(Sync::GroupCommit { committers: 8, delay: Time(0) });
    let flush = Some(PageFlush { batch: 8, doublewrite: Some(Size(128 << 10)) });
    let every = Some(Sync::Fdatasync { every: 3 });
    for backend in backends() {
        for stream in [
            StreamSpec { jobs: 2, read: Share(500_000), block_size_mix: Some(mix.clone()), ..writes(Pattern::Random) },
            StreamSpec { jobs: 3, read: Share(300_000), span: Some(Size(2 * BLOCK)), ..writes(Pattern::Random) },
            StreamSpec { sync: every, read: Share(300_000), ..writes(Pattern::Zipf { theta_permille: 900 }) },
            StreamSpec { sync: group, queue_depth: 1, ..writes(Pattern::Sequential) },
            StreamSpec { page_flush: flush, ..writes(Pattern::Random) },
            StreamSpec { sync: Some(Sync::Dsync), compressible: Share(500_000), ..writes(Pattern::Sequential) },
        ] {
            let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
            let phases = vec![
                phase(by_amount(2 << 20), vec![("writer", stream.clone())]),
                phase(by_amount(PAYLOAD), vec![("reader", reads())]),
            ];
            bench.run(phases, backend).unwrap_or_else(|error| panic!("{stream:?}: {error}"));
            let told: Vec<_> = bench.events().into_iter().filter(|event| event["kind"] == "verified").collect();
            assert_eq!(told.len(), 2);
            let count = |key: &str| told[1][key].as_u64().expect("a count");
            assert_eq!(count("right") + count("unwritten"), BLOCKS);
            assert_eq!(count("unsettled"), 0);
            assert!(count("right") >= stream.span.map_or(BLOCKS / 4, |span| span.0 / BLOCK), "{stream:?}");
            let examined = examined(&bench);
            assert!(examined.findings.is_empty(), "{:?}", examined.findings);
            assert_eq!((examined.right, examined.written), (count("right"), count("right")));
        }
    }
}

#[test]
fn damage_after_a_run_is_found_by_offset() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let stream = StreamSpec { sync: Some(Sync::Fdatasync { every: 1 }), ..writes(Pattern::Sequential) };
    bench.run(vec![phase(by_amount(3 * PAYLOAD), vec![("writer", stream)])], Backend::Auto).expect("a run");
    let whole = bench.payload();
    let block = |number: u64| &whole[(number * BLOCK) as usize..((number + 1) * BLOCK) as usize];
    let mut flipped = block(3).to_vec();
    flipped[1234] ^= 4;
    bench.damage(3 * BLOCK, &flipped);
    bench.damage(7 * BLOCK, block(8));
    bench.damage(8 * BLOCK, block(7));
    bench.damage(11 * BLOCK, &[0; BLOCK as usize]);
    let examined = examined(&bench);
    let found = examined.findings.iter().map(|one| (one.offset_bytes / BLOCK, one.verdict, one.belongs_bytes));
    let (seven, eight) = (Some(7 * BLOCK), Some(8 * BLOCK));
    let expected = [
        (3, Verdict::Corrupt, None),
        (7, Verdict::Misplaced, eight),
        (8, Verdict::Misplaced, seven),
        (11, Verdict::Lost, None),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!((examined.written, examined.right), (BLOCKS, BLOCKS - 4));
}

#[test]
fn block_written_to_an_unwritten_offset_is_found() {
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let stream = StreamSpec { span: Some(Size(PAYLOAD / 2)), ..writes(Pattern::Sequential) };
    bench.run(vec![phase(by_amount(PAYLOAD / 2), vec![("writer", stream)])], Backend::Auto).expect("a run");
    assert_eq!((examined(&bench).written, examined(&bench).findings), (BLOCKS / 2, vec![]));
    let stray = bench.payload()[..BLOCK as usize].to_vec();
    bench.damage(PAYLOAD - BLOCK, &stray);
    let findings = examined(&bench).findings;
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].offset_bytes, findings[0].verdict), (PAYLOAD - BLOCK, Verdict::Misplaced));
}

#[test]
fn reverted_block_is_lost_if_synced_else_unsynced() {
    for (sync, expected) in [(Some(Sync::Dsync), Verdict::Lost), (None, Verdict::Unsynced)] {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let stream = StreamSpec { sync, queue_depth: 1, span: Some(Size(BLOCK)), ..writes(Pattern::Sequential) };
        let first = phase(by_amount(BLOCK), vec![("writer", stream.clone())]);
        let pause = phase(by_time(1500), vec![]);
        let second = phase(by_amount(BLOCK), vec![("writer", stream)]);
        let old = std::thread::scope(|scope| {
            let keeper = scope.spawn(|| {
                bench.await_phases(1);
                bench.payload()[..BLOCK as usize].to_vec()
            });
            bench.run(vec![first, pause, second], Backend::Auto).expect("a run");
            keeper.join().expect("kept")
        });
        assert!(examined(&bench).findings.is_empty());
        bench.damage(0, &old);
        let findings = examined(&bench).findings;
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].verdict, findings[0].found, findings[0].acknowledged), (expected, Some(1), 2));
    }
}

#[test]
fn damage_during_a_run_fails_it_and_names_the_block() {
    for backend in backends() {
        let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
        let phases = vec![
            phase(by_amount(PAYLOAD), vec![("writer", writes(Pattern::Sequential))]),
            phase(by_time(1500), vec![]),
            phase(by_amount(PAYLOAD), vec![("reader", StreamSpec { block_size: Size(16_384), ..reads() })]),
        ];
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                bench.await_phases(1);
                bench.damage(33 * BLOCK + 100, b"damaged");
            });
            bench.run(phases, backend).expect_err("a damaged block")
        });
        let text = error.to_string();
        let expected = "read of 16384 bytes at offset 131072 of storage `disk` returned wrong data: the block at offset 135168 \
                        is corrupt or torn: its checksum does not match";
        assert_eq!(text, expected);
        assert_eq!(bench.events().pop().expect("an event")["message"], text);
    }
}

#[test]
fn unstamped_writers_over_verified_parts_are_refused() {
    let of = |streams| crate::bench::refused(&spec(vec![phase(by_time(10), streams)], vec![("disk".into(), PAYLOAD)]));
    let plain = StreamSpec { read: Share(0), ..StreamSpec::default() };
    let half = |offset| StreamSpec { offset: Size(offset), span: Some(Size(PAYLOAD / 2)), ..writes(Pattern::Random) };
    assert!(of(vec![("a", half(0)), ("b", half(PAYLOAD / 2)), ("c", reads())]).is_empty());
    assert_eq!(
        of(vec![("a", half(0)), ("b", plain)]),
        [
            "storage.disk: stream `a` verifies a part that stream `b` changes without stamps; give both of them `verify`, \
          or parts of their own by `offset` and `span`"
        ]
    );
    assert!(of(vec![("a", half(0)), ("b", half(0))]).is_empty(), "two that stamp may share");
    let bench = Bench::new(&std::env::temp_dir(), PAYLOAD);
    let phases = vec![phase(by_time(10), vec![("a", half(0))])];
    let error = bench.run(phases, Backend::Null).expect_err("nothing is written");
    assert_eq!(error.to_string(), "stream `a`: nothing is read or written, so nothing can be verified");
}
