//! Requests through a served drive: latencies of the model, refusals, trims.

use crate::support::*;
use tameshi_base::{Command, CommandKind};
use tameshi_sim::Device;

#[test]
fn served_drive_answers_when_the_model_does() {
    let drives = [
        ("sas-15k-146gb", 3_000_000),
        ("nvme-tlc-1tb-consumer", 50_000),
        ("optane-p4800x-375g", 5_000),
        ("cloud-volume-1tb", 50_000),
    ];
    for (name, pause) in drives {
        let spec = spec(profile(name));
        let mut bench = Bench::new(&spec);
        let (mut twin, mut done) = (spec.build().expect("a drive").0, vec![]);
        for number in 0..200_u64 {
            let kind = [CommandKind::Write, CommandKind::Read, CommandKind::Flush][number as usize % 3];
            let offset = if kind == CommandKind::Flush { 0 } else { number * 7919 % 100_000 * 4096 };
            bench.submit(kind, offset, &mut [3; 4096]);
            submit(&mut twin, number, kind, offset, bench.now);
            bench.pass(pause);
            while let Some(at) = twin.next_wake().filter(|&at| at <= bench.now) {
                twin.advance(at, &mut done);
            }
        }
        let mut expected: Vec<(u32, u64)> = done.iter().map(|done| (done.command.id as u32, done.at)).collect();
        let mut met: Vec<(u32, u64)> =
            bench.answers.iter().map(|answer| (answer.tag, answer.due.expect("a time by the model"))).collect();
        expected.sort_unstable();
        met.sort_unstable();
        assert!(met.len() > 20, "{name}: {} answers", met.len());
        assert_eq!(met, expected, "{name}");
    }
}

fn submit(device: &mut Device, id: u64, kind: CommandKind, offset_bytes: u64, now: u64) {
    let length_bytes = if kind == CommandKind::Flush { 0 } else { 4096 };
    while let Some(at) = device.next_wake().filter(|&at| at < now) {
        device.advance(at, &mut vec![]);
    }
    device.submit(now, &Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 });
}

#[test]
fn bad_requests_are_refused_without_the_model() {
    let mut bench = Bench::new(&spec(profile("optane-p4800x-375g")));
    let capacity = bench.drive.store().capacity_bytes();
    let cases = [
        (100, 4096, libc::EINVAL),
        (0, 100, libc::EINVAL),
        (0, 0, libc::EINVAL),
        (capacity, 512, libc::ENOSPC),
        (u64::MAX - 511, 4096, libc::EINVAL),
    ];
    for (offset, length, error) in cases {
        let tag = bench.request(CommandKind::Write, offset, length, &mut [1; 4096]);
        assert_eq!(bench.results()[&tag], Err(error), "{length} bytes at {offset}");
    }
    assert_eq!(bench.drive.store().used_bytes(), 0);
}

#[test]
fn full_drive_refuses_writes_and_keeps_its_data() {
    let spec = tameshi_emulate::ServeSpec { limit_bytes: 8 * 4096, ..spec(profile("optane-p4800x-375g")) };
    let mut bench = Bench::new(&spec);
    for page in 0..8 {
        assert_eq!(bench.finish(CommandKind::Write, page * 4096, &mut [5; 4096]), Ok(4096));
    }
    assert_eq!(bench.finish(CommandKind::Write, 1 << 20, &mut [6; 4096]), Err(libc::ENOSPC));
    assert_eq!(bench.drive.refused_writes(), 1);
    assert_eq!(bench.bytes(0, 8 * 4096), vec![5; 8 * 4096]);
}

#[test]
fn large_trim_is_answered_once_and_clears_all() {
    let device = profile("nvme-tlc-1tb-consumer");
    let mut bench = Bench::new(&sized(device, 8 << 30));
    assert_eq!(bench.finish(CommandKind::Write, 5 << 30, &mut [9; 8192]), Ok(8192));
    let capacity = bench.drive.store().capacity_bytes();
    let tag = bench.request(CommandKind::Trim, 0, capacity, &mut []);
    bench.pass(10_000_000_000);
    assert_eq!(bench.answers.iter().filter(|answer| answer.tag == tag).count(), 1);
    assert_eq!(bench.results()[&tag], Ok(0));
    assert_eq!(bench.bytes(5 << 30, 8192), vec![0; 8192]);
    assert_eq!(bench.drive.under_way(), 0);
}
