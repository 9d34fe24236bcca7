//! Flash drives beyond the suite: what was written before a run, and channels that died.

use crate::support::{assert_close, closed_loop_on, command, flash_drive};
use tameshi_base::{CommandKind, Share};
use tameshi_sim::Device;
use tameshi_spec::profile::{self, FlashProfile, Simulated, Written};

#[test]
fn what_was_written_before_is_there_when_the_first_command_comes_and_counts_for_nothing() {
    for (written, senses) in [(Written::Never, false), (Written::Once, true), (Written::Steady, true)] {
        let simulated = Simulated { scale: 4, written, ..Simulated::default() };
        let drive = FlashProfile { simulated, ..flash_drive(1 << 30) };
        let mut device = Device::new(&profile::Device::Flash(drive)).expect("a drive");
        device.submit(7, &command(0, CommandKind::Read, 1 << 20, 4096));
        let mut done = vec![];
        device.advance(1_000_000, &mut done);
        assert_eq!((done.len(), done[0].submitted), (1, 7));
        assert_eq!(done[0].breakdown.media > 0, senses, "{written:?}: {:?}", done[0]);
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        assert_eq!(flash.work_since_begin().host_units, 0, "{written:?}");
        let over_provisioning = flash.fills().map(|fill| fill.mapped as f64 / fill.logical as f64);
        over_provisioning.for_each(|used| assert_eq!(used, if senses { 1.0 } else { 0.0 }, "{written:?}"));
    }
}

/// A drive of one controller with 16 + 1 channels of which some have died.
fn raid_inside(dead_channels: u32, over_provisioning: u32) -> FlashProfile {
    let mut drive = flash_drive(1 << 30);
    (drive.controller.count.value, drive.controller.data_channels.value) = (1, 16);
    (drive.over_provisioning.value, drive.nand.pages_per_block.value) = (Share(over_provisioning), 8);
    drive.cleaning.policy.value = profile::CleaningPolicy::Fifo;
    drive.simulated.dead_channels = dead_channels;
    drive
}

#[test]
fn dead_channels_take_their_share_of_the_flash_and_of_the_bandwidth() {
    let mut bandwidths = vec![];
    for dead in 0..3u32 {
        let drive = raid_inside(dead, 500_000);
        let device = Device::new(&profile::Device::Flash(drive)).expect("a drive");
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        let physical = flash.fills().map(|fill| fill.physical).sum::<u64>() as f64;
        assert_close(physical, 1.5 * f64::from(1 << 18) * f64::from(16 - dead) / 16.0, 0.01, "units of flash");
        let sequential = |id: u64| command(id, CommandKind::Write, (id << 18) % (1 << 30), 1 << 18);
        let done = closed_loop_on(device, 16, 2000, sequential);
        bandwidths.push(2000.0 / done.last().expect("some").at as f64);
    }
    // Programs limit it: of as many stripes as before, each holds that much less.
    assert_close(bandwidths[1] / bandwidths[0], 15.0 / 16.0, 0.02, "15+1");
    assert_close(bandwidths[2] / bandwidths[0], 14.0 / 16.0, 0.02, "14+1");
}

#[test]
fn dead_channels_amplify_writes_as_the_over_provisioning_that_they_leave() {
    let amplification = |drive: FlashProfile| {
        let Device::Flash(mut flash) = Device::new(&profile::Device::Flash(drive)).expect("a drive") else {
            panic!("a flash drive")
        };
        flash.precondition(1 << 30, 4);
        flash.work().write_amplification()
    };
    for (dead, left) in [(1, 1.3 * 15.0 / 16.0 - 1.0), (2, 1.3 * 14.0 / 16.0 - 1.0)] {
        let found = amplification(raid_inside(dead, 300_000));
        let equal = amplification(raid_inside(0, (left * 1e6) as u32));
        assert_close(found, equal, 0.02, &format!("{dead} dead"));
    }
    assert!(amplification(raid_inside(2, 300_000)) > 1.4 * amplification(raid_inside(0, 300_000)));
}

#[test]
fn a_drive_without_room_for_its_data_after_a_channel_died_is_refused() {
    let why = Device::new(&profile::Device::Flash(raid_inside(2, 130_000))).expect_err("1.13 times 14/16 is below 1");
    assert!(why.contains("can't hold"), "{why}");
}
