//! Channel failures: no data are lost, and after the rebuild the drive behaves as if the channel
//! had died before the run.

use crate::flash::mix;
use crate::support::*;
use serde_json::json;
use std::collections::BTreeMap;
use tameshi_base::units::{Share, Time};
use tameshi_base::{CommandKind, Nanos, Reason};
use tameshi_sim::faults::Rebuilt;
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::profile::{CleaningPolicy, FlashProfile, Simulated, Written};
use tameshi_spec::run::RunSpec;
use tameshi_spec::study::{Event, ReadBalance};
use tameshi_workload::StreamSpec;

const BYTES: u64 = 128 << 20;
const SPARE: u32 = 400_000;

/// Drive of two controllers with 8 + 1 channels, in the steady state.
fn drive(over_provisioning: u32) -> FlashProfile {
    let mut drive = flash_drive(BYTES);
    drive.controller.data_channels = sourced(8);
    (drive.over_provisioning, drive.nand.pages_per_block) = (sourced(Share(over_provisioning)), sourced(4));
    drive.simulated = Simulated { written: Written::Steady, ..Simulated::default() };
    drive
}

/// Keep 256 commands of a mix outstanding, then let the device run dry. `happens` is called after
/// each completion with the number of completions.
fn to_the_end(
    device: &mut Device,
    seed: u64,
    count: u64,
    mut happens: impl FnMut(&mut Device, u64, Nanos),
) -> Vec<DeviceCompletion> {
    let (mut next, mut done, mut issued, mut now) = (mix(BYTES, seed), Vec::new(), 0, 0);
    loop {
        while issued < count && issued - (done.len() as u64) < 256 {
            device.submit(now, &next(issued));
            issued += 1;
        }
        let Some(wake) = device.next_wake() else { return done };
        now = wake;
        device.advance(now, &mut done);
        happens(device, done.len() as u64, now);
    }
}

fn each_once(name: &str, done: &[DeviceCompletion], count: u64) {
    let mut times: BTreeMap<u64, u32> = BTreeMap::new();
    done.iter().for_each(|completion| *times.entry(completion.command.id).or_default() += 1);
    assert_eq!(times.len() as u64, count, "{name}: none is lost");
    assert!(times.values().all(|&times| times == 1), "{name}: none completes twice");
    done.iter().for_each(|d| assert_eq!(d.breakdown.total(), d.at - d.submitted, "{name}: {d:?}"));
}

fn cleaned(policy: CleaningPolicy, how: impl Fn(&mut FlashProfile)) -> FlashProfile {
    // Two of eight channels may die.
    let mut drive = drive(600_000);
    drive.cleaning.policy = sourced(policy);
    how(&mut drive);
    drive
}

fn variants() -> Vec<(&'static str, FlashProfile)> {
    let hot = |drive: &mut FlashProfile| drive.cleaning.separate_hot = Some(sourced(Share(250_000)));
    let together = |drive: &mut FlashProfile| drive.cleaning.separate_relocated = sourced(false);
    let in_order = |drive: &mut FlashProfile| drive.simulated.written = Written::Once;
    vec![
        ("greedy", cleaned(CleaningPolicy::Greedy, |_| {})),
        ("written in order", cleaned(CleaningPolicy::Greedy, in_order)),
        ("without protection", unprotected(cleaned(CleaningPolicy::Greedy, |_| {}))),
        ("its map written", with_map_writes(cleaned(CleaningPolicy::Greedy, |_| {}), 300_000)),
        ("relocated among the host's", unprotected(cleaned(CleaningPolicy::Greedy, together))),
        ("hot apart", cleaned(CleaningPolicy::CostBenefit, hot)),
        ("first come", cleaned(CleaningPolicy::Fifo, |_| {})),
        ("first come, written in order", cleaned(CleaningPolicy::Fifo, in_order)),
        ("at random", cleaned(CleaningPolicy::Random, |_| {})),
        ("the best of four", cleaned(CleaningPolicy::Choices { drawn: 4 }, |_| {})),
    ]
}

#[test]
fn channel_deaths_at_depth_256_lose_no_command_and_no_data() {
    for (seed, (name, profile)) in (0..36).zip(variants().into_iter().cycle()) {
        let (mut device, count) = (Device::new(&flash(profile)).expect("a drive"), 6000);
        let (mut died, mut rebuilt) = (Vec::new(), Vec::<Rebuilt>::new());
        let done = to_the_end(&mut device, seed, count, |device, done, now| {
            rebuilt.extend(device.take_rebuilt());
            // The second channel of a controller dies after the rebuild; that of another controller
            // at any time.
            let due = [(0, done >= 1000), (10, done >= 1200), (4, rebuilt.iter().any(|of| of.channel == Some(0)))];
            for (channel, _) in due.into_iter().filter(|&(_, due)| due) {
                if !died.contains(&channel) {
                    died.push(channel);
                    assert_eq!(device.fail_channel(0, channel, now), Ok(true), "{name}: {channel}");
                }
            }
        });
        each_once(name, &done, count);
        assert!(done.iter().all(|d| !d.failed), "{name}");
        assert_eq!((died.len(), rebuilt.len()), (3, 3), "{name}: {died:?} {rebuilt:?}");
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        flash.check();
        let waited = done.iter().map(|d| d.breakdown.rebuild).sum::<Nanos>();
        assert!(waited > 0 && rebuilt.iter().all(|of| of.bytes > 1 << 20), "{name}: {waited} {rebuilt:?}");
    }
}

#[test]
fn dead_channel_shrinks_flash_and_spare_and_keeps_all_mapped() {
    let mut device = Device::new(&flash(drive(SPARE))).expect("a drive");
    device.submit(0, &command(0, CommandKind::Read, 0, 4096));
    let fills = |device: &Device| match device {
        Device::Flash(flash) => flash.fills().collect::<Vec<_>>(),
        _ => panic!("a flash drive"),
    };
    let before = fills(&device);
    assert_eq!(device.fail_channel(0, 2, 0), Ok(true));
    while let Some(now) = device.next_wake() {
        device.advance(now, &mut vec![]);
    }
    let after = fills(&device);
    assert_eq!(after[0].physical * 8, before[0].physical * 7, "seven of eight data channels are left");
    assert_eq!(after[0].mapped, before[0].mapped);
    assert_eq!(after[1], before[1], "the other controller's are as they were");
    let Device::Flash(flash) = &device else { panic!("a flash drive") };
    flash.check();
    let rebuilt = device.take_rebuilt().expect("a finished rebuild");
    assert_eq!((rebuilt.since, rebuilt.channel), (0, Some(2)));
    assert!(rebuilt.bytes <= before[0].mapped * 4096, "nothing is moved twice: {rebuilt:?}");
    assert_close(rebuilt.bytes as f64, before[0].mapped as f64 * 4096.0, 0.1, "all of it but what reclaiming moved");
}

#[test]
fn rebuilt_drive_amplifies_like_one_without_the_channel() {
    let amplification = |mut profile: FlashProfile, dies: bool| {
        profile.controller.count = sourced(1);
        profile.cleaning.policy = sourced(CleaningPolicy::Fifo);
        profile.simulated.dead_channels = u32::from(!dies);
        let mut device = Device::new(&flash(profile)).expect("a drive");
        // The data are there at the first command.
        device.submit(0, &command(0, CommandKind::Read, 0, 4096));
        if dies {
            assert_eq!(device.fail_channel(0, 5, 0), Ok(true));
            while let Some(now) = device.next_wake() {
                device.advance(now, &mut vec![]);
            }
        }
        let Device::Flash(flash) = &mut device else { panic!("a flash drive") };
        flash.precondition(BYTES, 3);
        let before = flash.work();
        flash.precondition(BYTES, 6);
        flash.work().since(&before).write_amplification()
    };
    let (during, before) = (amplification(drive(SPARE), true), amplification(drive(SPARE), false));
    assert_close(during, before, 0.02, "write amplification");
}

#[test]
fn second_channel_death_during_rebuild_kills_the_drive() {
    let mut device = watched(&leaf(flash(drive(SPARE)))).expect("a device");
    let mut fates = Vec::new();
    let done = to_the_end(&mut device, 3, 3000, |device, done, now| {
        if done >= 1000 && fates.len() < 3 {
            fates.push(device.fail_channel(0, [1, 1, 3][fates.len()], now));
        }
    });
    assert_eq!(fates[..2], [Ok(true), Err(Reason::new("channel_dead").with("channel", 1_u32))]);
    assert_eq!(fates[2], Ok(false));
    each_once("dead", &done, 3000);
    let failed = done.iter().filter(|d| d.failed).count();
    assert!((1500..2100).contains(&failed), "{failed} find no drive");
    assert!(device.is_broken());
}

#[test]
fn a_mirror_goes_on_when_a_member_dies_of_its_channels() {
    let node = raid1(2, leaf(flash(drive(SPARE))), ReadBalance::ShortestQueue);
    let mut device = watched(&node).expect("a device");
    let mut fates = Vec::new();
    let done = to_the_end(&mut device, 3, 3000, |device, done, now| {
        if done >= 1000 && fates.len() < 3 {
            fates.push(device.fail_channel(1, [0, 1, 2][fates.len()], now).is_ok());
        }
    });
    assert_eq!(fates, [true, true, false], "the third finds no member");
    each_once("mirror", &done, 3000);
    assert!(done.iter().all(|d| !d.failed) && !device.is_broken());
}

#[test]
fn a_power_cut_interrupts_a_rebuild_and_does_not_end_it() {
    let mut device = watched(&leaf(flash(drive(SPARE)))).expect("a device");
    let (mut step, mut rebuilt) = (0, None);
    to_the_end(&mut device, 3, 4000, |device, done, now| {
        rebuilt = rebuilt.or_else(|| device.take_rebuilt());
        if step == 0 && done >= 1000 {
            assert_eq!(device.fail_channel(0, 3, now), Ok(true));
            step = 1;
        } else if step == 1 && done >= 1050 {
            device.cut_power(now);
            step = 2;
        }
    });
    let rebuilt: Rebuilt = rebuilt.expect("it goes on");
    assert_eq!((rebuilt.drive, rebuilt.channel), (0, Some(3)));
}

fn dies(at: &str, channel: u32) -> Event {
    let fail = json!({ "storage": "disk", "member": 0, "channel": channel });
    serde_json::from_value(json!({ "at": at, "fail": fail })).expect("an event")
}

/// Fail two channels in turn under a load that lasts until the drive is rebuilt.
pub fn with_a_dying_channel() -> RunSpec {
    let stream = StreamSpec { read: Share(700_000), queue_depth: 16, ..StreamSpec::default() };
    let mut spec = spec(flash(drive(SPARE)), stream, for_time(5 * SECOND));
    spec.interval = Time(SECOND / 10);
    spec.events.insert("one".into(), dies("100 ms", 8));
    spec.events.insert("again".into(), dies("200 ms", 8));
    spec
}

#[test]
fn what_dies_and_what_is_rebuilt_are_recorded() {
    let left = run(&with_a_dying_channel());
    assert_eq!(left.events("fail"), [SECOND / 10]);
    assert_eq!(left.events("missed"), [SECOND / 5]);
    let (rebuilt, bytes) = (left.events("rebuilt"), left.sum("rebuild.bytes"));
    assert!(rebuilt.len() == 1, "{rebuilt:?}");
    assert!(left.events.contains("\"channel\":8") && left.events.contains("\"survived\":true"));
    assert!(left.events.contains(&format!("\"bytes\":{bytes}")), "{bytes}: {}", left.events);
    assert_eq!(left.sum("load.failed"), 0);
    assert!(left.sum("time.rebuild_ns_sum") > 0);
    let first = left.series.iter().filter(|row| row.3 == "rebuild.bytes").map(|row| row.0).min();
    assert_eq!(first, Some(SECOND / 5), "nothing is rebuilt in the interval that ends with the death");
}

#[test]
fn channel_death_without_room_is_refused_before_the_run() {
    let mut spec = spec(flash(drive(180_000)), StreamSpec::default(), for_time(SECOND));
    spec.events.insert("dies".into(), dies("1 ms", 1));
    let why = try_run(&spec, Default::default()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(why.contains("event.dies.fail.channel:") && why.contains("can't hold"), "{why}");
}
