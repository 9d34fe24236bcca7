//! File calls, linked ends of streams, and tolerated failures.

use crate::bench::*;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tameshi_base::{Share, Size};
use tameshi_blockio::{Backend, Target, lay_out_files};
use tameshi_record::RunStatus;
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::spec::Access;
use tameshi_workload::{Failing, FileCall, Pattern, StreamSpec};

const FILES: u64 = 24;

fn on_files(call: FileCall, read: u32) -> StreamSpec {
    let (read, pattern) = (Share(read), Pattern::Sequential);
    StreamSpec { call: Some(call), read, pattern, access: Access::Buffered, ..StreamSpec::default() }
}

fn directory(path: &Path) -> Target {
    let fd = File::open(path).expect("a directory").into();
    Target { fd, data_offset: 0, data_bytes: FILES * BLOCK, direct: false, buffered: None }
}

fn names(path: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(path).expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name().into_string();
    let mut names: Vec<u64> = entries.map(|entry| name(entry).expect("UTF-8").parse().expect("a number")).collect();
    names.sort_unstable();
    names
}

fn all() -> tameshi_spec::run::Until {
    by_amount(FILES * BLOCK)
}

#[test]
fn directory_files_are_created_queried_and_deleted_once() {
    let (bench, folder) = (Bench::new(&places()[0], BLOCK), tempfile::tempdir().expect("a folder"));
    let run = |phases: Vec<PhaseSpec>| {
        let targets = vec![("disk".to_string(), directory(folder.path()))];
        bench.run_on(phases, Backend::Auto, targets, now()).expect("a run")
    };
    let of = |call, jobs| phase(all(), vec![("files", StreamSpec { jobs, ..on_files(call, 1_000_000) })]);
    run(vec![of(FileCall::Create, 1), of(FileCall::Stat, 3)]);
    assert_eq!(names(folder.path()), (0..FILES).collect::<Vec<_>>());
    assert_eq!(bench.sums()["read.count"], 2 * FILES, "each call counts as its stream says");
    run(vec![of(FileCall::Delete, 1)]);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn files_queried_before_creation_are_laid_out() {
    let (bench, folder) = (Bench::new(&places()[0], BLOCK), tempfile::tempdir().expect("a folder"));
    let half = Some(Size(FILES / 2 * BLOCK));
    let made = StreamSpec { span: half, ..on_files(FileCall::Create, 0) };
    let looked_at = on_files(FileCall::Stat, 1_000_000);
    let phases = vec![phase(all(), vec![("made", made)]), phase(all(), vec![("looked-at", looked_at)])];
    let spec = spec(phases, vec![("disk".into(), FILES * BLOCK)]);
    let target = directory(folder.path());
    let done = lay_out_files(&spec, "disk", &target, &bench.control).expect("laid out");
    assert_eq!(done, RunStatus::Complete);
    assert_eq!(names(folder.path()), (FILES / 2..FILES).collect::<Vec<_>>());
    let length = |number: u64| std::fs::metadata(folder.path().join(number.to_string())).expect("a file").size();
    assert!((FILES / 2..FILES).all(|number| length(number) == BLOCK));
    bench.run_on(spec.phases, Backend::Auto, vec![("disk".to_string(), target)], now()).expect("all are there");
}

#[test]
fn deleting_a_missing_file_ends_the_run_with_its_number() {
    let (bench, folder) = (Bench::new(&places()[0], BLOCK), tempfile::tempdir().expect("a folder"));
    let phases = vec![phase(all(), vec![("gone", on_files(FileCall::Delete, 1_000_000))])];
    let targets = vec![("disk".to_string(), directory(folder.path()))];
    let text = bench.run_on(phases, Backend::Auto, targets, now()).expect_err("nothing is there").to_string();
    assert!(text.starts_with("deletion of file ") && text.contains("of storage `disk` failed: No such file"), "{text}");
}

#[test]
fn directory_and_file_targets_are_not_exchangeable() {
    let bench = Bench::new(&places()[0], FILES * BLOCK);
    let phases = vec![phase(all(), vec![("files", on_files(FileCall::Create, 0))])];
    let text = bench.run(phases.clone(), Backend::Auto).expect_err("a file").to_string();
    assert!(text.contains("ask for a directory of files where there is none"), "{text}");
    let mut mixed = spec(phases, vec![("disk".into(), FILES * BLOCK)]);
    let reads = phase(all(), vec![("reads", StreamSpec::default())]).streams.remove(0);
    mixed.phases[0].streams.push(reads);
    let found = crate::bench::refused(&mixed);
    assert_eq!(
        found,
        ["storage.disk: it is a directory to stream `files`, and stream `reads` reads and writes one file"]
    );
}

#[test]
fn allocate_deallocate_and_truncate_stay_in_the_payload() {
    let bench = Bench::new(&places()[0], 64 * BLOCK);
    let status = || std::fs::metadata(bench.path("target")).expect("a target");
    let of = |call, read, trim| {
        let stream = StreamSpec { trim: Share(trim), ..on_files(call, read) };
        vec![phase(by_amount(64 * BLOCK), vec![("calls", StreamSpec { access: Access::Direct, ..stream })])]
    };
    bench.run(of(FileCall::Allocate, 0, 1_000_000), Backend::Auto).expect("a run");
    let (length, without) = (status().size(), status().blocks());
    assert!(without <= 2 * 2 * HEADER / 512, "the payload's room is given back: {without}");
    bench.run(of(FileCall::Allocate, 0, 0), Backend::Auto).expect("a run");
    assert!(status().blocks() * 512 >= 64 * BLOCK && status().size() == length);
    assert!(bench.payload().iter().all(|&byte| byte == 0), "no data are moved");
    let done = bench.run(of(FileCall::Truncate, 0, 0), Backend::Auto).expect("a run");
    assert_eq!(done.status, RunStatus::Complete);
    assert!((HEADER..HEADER + 64 * BLOCK).contains(&status().size()));
    assert_eq!(bench.sums()["write.count"], 128);
    assert_eq!(bench.sums()["trim.count"], 64);
}

#[test]
fn linked_stream_ends_with_the_first_finished_job() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], 64 * BLOCK);
        let short = StreamSpec { amount: Some(Size(16 * BLOCK)), ..StreamSpec::default() };
        let long = StreamSpec { ends_with: vec!["short".into()], jobs: 2, ..StreamSpec::default() };
        let phases = vec![phase(by_amount(1 << 50), vec![("short", short), ("long", long)])];
        assert_eq!(bench.run(phases, backend).expect("it ends").status, RunStatus::Complete);
        assert!(bench.events().iter().any(|event| event["ended_by"] == "amount"));
        let own = StreamSpec { ends_with: vec!["long".into()], jobs: 2, ..StreamSpec::default() };
        let first = StreamSpec { duration: Some(tameshi_base::Time(20_000_000)), ..own };
        bench.run(vec![phase(by_amount(1 << 50), vec![("long", first)])], backend).expect("it ends");
    }
}

#[test]
fn tolerated_failures_are_counted_by_error() {
    for backend in backends() {
        let bench = Bench::new(&places()[0], 64 * BLOCK);
        // Open for reading only: every write fails.
        let target = || Target { fd: bench.file(false, true), ..bench.target() };
        let tolerates = vec![Failing::Write];
        let mixed = StreamSpec { read: Share(500_000), queue_depth: 4, tolerates, ..StreamSpec::default() };
        let phases = vec![phase(by_amount(200 * BLOCK), vec![("mixed", mixed)])];
        bench.run_on(phases, backend, vec![("disk".to_string(), target())], now()).expect("it goes on");
        let sums = bench.sums();
        assert_eq!(sums["read.count"] + sums["load.failed"], 200);
        assert!(!sums.contains_key("write.count") && sums["load.failed"] > 50);
        let event = bench.events().into_iter().find(|event| event["kind"] == "stream_end").expect("an end");
        let failures = event["failures"].as_array().expect("a list").clone();
        assert_eq!((failures.len(), &failures[0]["operation"]), (1, &"write".into()));
        assert_eq!((&failures[0]["error"], &failures[0]["count"]), (&libc::EBADF.into(), &sums["load.failed"].into()));
    }
}
