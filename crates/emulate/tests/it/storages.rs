//! Storages of a run: state at the start, data that are not kept, failed members of arrays.

use crate::support::*;
use tameshi_base::CommandKind;
use tameshi_emulate::{Power, ServeSpec};
use tameshi_spec::run::{Node, Rebuild};
use tameshi_spec::study::ReadBalance;

/// Return the settings of a run's storage.
fn storage(name: &str) -> ServeSpec {
    ServeSpec { storage: Some("drive".into()), ..spec(profile(name)) }
}

/// Return the settings of a mirror of two of these drives.
fn mirror(name: &str) -> ServeSpec {
    let of = Box::new(Node::Device { profile: name.into(), device: profile(name) });
    let node = Node::Raid1 { members: 2, of, read: ReadBalance::default(), rebuild: Rebuild::default() };
    ServeSpec { node, ..storage(name) }
}

/// Return the modelled time of a read of one page.
fn read_time(bench: &mut Bench, offset: u64) -> u64 {
    let begin = bench.now;
    assert_eq!(bench.finish(CommandKind::Read, offset, &mut [0; 4096]), Ok(4096));
    bench.now - begin
}

#[test]
fn flash_learns_what_was_stored_without_it() {
    let mut spec = storage("nvme-tlc-1tb-consumer");
    if let tameshi_spec::profile::Device::Flash(flash) = spec.node.drive_mut() {
        flash.simulated.scale = 256;
    }
    assert!(spec.is_taught());
    let mut bench = Bench::new(&spec);
    bench.drive.switch(Power::Bypass);
    for page in 0..64 {
        bench.submit(CommandKind::Write, (1 << 29) + page * 4096, &mut [3; 4096]);
    }
    bench.drive.switch(Power::On);
    let unknown = read_time(&mut bench, 1 << 29);
    bench.now = bench.drive.learn().max(bench.now);
    bench.pass(1_000_000_000);
    let (known, hole) = (read_time(&mut bench, 1 << 29), read_time(&mut bench, 0));
    assert!(known > 2 * unknown, "{known} ns after {unknown} ns");
    assert!(hole < known, "a page that holds nothing: {hole} ns");
    assert_eq!(bench.bytes(1 << 29, 4096), vec![3; 4096]);
}

#[test]
fn forgetful_drive_takes_no_memory_and_reads_zeros() {
    let mut bench = Bench::new(&storage("optane-p4800x-375g"));
    bench.drive.forget_writes();
    assert_eq!(bench.finish(CommandKind::Write, 4096, &mut [7; 4096]), Ok(4096));
    assert_eq!(bench.bytes(4096, 4096), vec![0; 4096]);
    assert_eq!(bench.drive.store().used_bytes(), 0);
}

#[test]
fn failed_drive_fails_what_is_under_way_and_later() {
    let mut bench = Bench::new(&ServeSpec { fails: true, ..storage("sas-15k-146gb") });
    let under_way = bench.submit(CommandKind::Read, 1 << 20, &mut [0; 4096]);
    assert!(bench.drive.fail(None, bench.now, &mut bench.answers));
    assert_eq!(bench.finish(CommandKind::Read, 0, &mut [0; 4096]), Err(libc::EIO));
    bench.pass(1_000_000_000);
    assert_eq!(bench.results()[&under_way], Err(libc::EIO));
    assert_eq!(bench.drive.under_way(), 0);
}

#[test]
fn mirror_serves_without_a_member_and_rebuilds_it() {
    let mut bench = Bench::new(&mirror("sas-15k-146gb"));
    assert!(bench.drive.fail(Some(1), bench.now, &mut bench.answers));
    assert_eq!(bench.finish(CommandKind::Write, 0, &mut [1; 4096]), Ok(4096));
    assert_eq!(bench.finish(CommandKind::Read, 0, &mut [0; 4096]), Ok(4096));
    assert!(bench.drive.replace(0, bench.now, &mut bench.answers).is_err(), "member 0 is alive");
    bench.drive.replace(1, bench.now, &mut bench.answers).expect("a rebuild");
    // Virtual time of some hours: a whole disk is copied.
    for _ in 0..200 {
        bench.pass(60_000_000_000);
    }
    let rebuilt = bench.drive.take_rebuilt().expect("the rebuild has ended");
    assert!(rebuilt.drive == 1 && rebuilt.bytes > 145_000_000_000, "{rebuilt:?}");
}

#[test]
fn idle_latencies_are_those_of_the_drive() {
    let of = |name: &str| {
        let node = Node::Device { profile: name.into(), device: profile(name) };
        tameshi_emulate::idle_latencies(&node).expect("a drive")
    };
    let ([disk, ..], [flash, ..]) = (of("sas-15k-146gb"), of("nvme-tlc-1tb-consumer"));
    assert!((1_000_000..20_000_000).contains(&disk), "{disk} ns");
    assert!(flash < 200_000, "{flash} ns");
    let [read, ..] = of("optane-p4800x-375g");
    assert!(read < 15_000, "{read} ns");
}

#[test]
fn whole_disk_is_served_to_its_last_sector() {
    let spec = ServeSpec { size_bytes: u64::MAX, ..storage("sas-15k-146gb") };
    let (_, bytes, _) = spec.build().expect("a drive");
    assert_eq!(bytes, spec.node.capacity().0);
    assert!(!bytes.is_multiple_of(4096), "a disk of whole pages would not show it");
}
