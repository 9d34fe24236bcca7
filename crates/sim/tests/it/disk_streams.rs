//! Sequential streams on one hard disk, with each other and with random readers.

use crate::support::*;
use tameshi_base::{CommandKind, Nanos};
use tameshi_sim::Device;
use tameshi_spec::profile::HddProfile;

/// Return the bytes per second of each of `readers` readers at equal distances, and the longest
/// wait.
fn shares(profile: HddProfile, readers: u64, depth: u64, block: u32) -> (Vec<f64>, Nanos) {
    const TIME: Nanos = 20 * SECOND;
    const MIB: u64 = 1 << 20;
    let apart = profile.capacity.value.0 / readers / MIB * MIB;
    let mut device = Device::new(&hdd(profile)).expect("a device");
    let mut bytes = vec![0; readers as usize];
    let mut next: Vec<u64> = (0..readers).map(|reader| reader * apart).collect();
    let mut read = |reader: u16| {
        let offset = &mut next[usize::from(reader)];
        *offset += u64::from(block);
        let command = command(*offset, CommandKind::Read, *offset - u64::from(block), block);
        tameshi_base::Command { stream: reader, ..command }
    };
    for _ in 0..depth {
        (0..readers as u16).for_each(|reader| device.submit(0, &read(reader)));
    }
    let (mut done, mut longest) = (vec![], 0);
    while let Some(now) = device.next_wake().filter(|&at| at < TIME) {
        device.advance(now, &mut done);
        for one in done.drain(..) {
            bytes[usize::from(one.command.stream)] += u64::from(block);
            longest = longest.max(one.at - one.submitted);
            device.submit(now, &read(one.command.stream));
        }
    }
    (bytes.iter().map(|&bytes| bytes as f64 / (TIME / SECOND) as f64).collect(), longest)
}

#[test]
fn sequential_readers_share_a_disk_in_turns_of_a_revolution() {
    for scheduling in [elevator as fn(HddProfile) -> HddProfile, |disk| shortest_positioning(disk, SECOND / 2)] {
        for depth in [1, 8] {
            let profile = scheduling(with_depth(with_read_ahead(disk(), 512 << 10), 32));
            let what = format!("{:?} at depth {depth}", profile.scheduling.value);
            let (rates, longest) = shares(profile, 4, depth, 64 << 10);
            // Seeks of 3.2, 3.2, 3.2 and 5.4 ms, half a revolution and 0.5 ms for the first 64 KiB;
            // then a revolution, and what is left of the last one: some 620 kB in 10.5 ms.
            let all: f64 = rates.iter().sum();
            assert!((56e6..62e6).contains(&all), "{what}: {all} bytes a second");
            assert!(rates.iter().all(|rate| (rate / all - 0.25).abs() < 0.005), "{what}: {rates:?}");
            assert!(longest < 60 * MS, "{what}: {} ms", longest / MS);
        }
    }
}
