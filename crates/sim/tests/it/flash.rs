//! Flash drives: data written before the run, dead channels, endurance, garbage collection waits.

use crate::support::{
    SECOND, assert_close, closed_loop_on, command, flash, flash_drive, for_amount, leaf, raid1, raid5, run, sourced,
    spec, unprotected, watched, with_map_writes,
};
use std::collections::BTreeMap;
use tameshi_base::units::{Size, Time};
use tameshi_base::{Command, CommandKind, Random, Share};
use tameshi_sim::{Device, DeviceCompletion};
use tameshi_spec::profile::{self, CleaningPolicy, FlashProfile, Power, ReadRetry, Simulated, Written};
use tameshi_spec::run::Node;
use tameshi_spec::study::ReadBalance;
use tameshi_workload::StreamSpec;

#[test]
fn data_written_before_the_run_are_present_and_not_counted() {
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

/// Drive of one controller with 16 + 1 channels, some of them dead.
fn raid_inside(dead_channels: u32, over_provisioning: u32) -> FlashProfile {
    let mut drive = flash_drive(1 << 30);
    (drive.controller.count.value, drive.controller.data_channels.value) = (1, 16);
    (drive.over_provisioning.value, drive.nand.pages_per_block.value) = (Share(over_provisioning), 8);
    drive.cleaning.policy.value = profile::CleaningPolicy::Fifo;
    drive.simulated.dead_channels = dead_channels;
    drive
}

#[test]
fn dead_channels_take_their_share_of_flash_and_bandwidth() {
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
    // Programs are the limit: as many stripes as before, each with less data.
    assert_close(bandwidths[1] / bandwidths[0], 15.0 / 16.0, 0.02, "15+1");
    assert_close(bandwidths[2] / bandwidths[0], 14.0 / 16.0, 0.02, "14+1");
}

#[test]
fn dead_channels_amplify_writes_by_the_remaining_spare() {
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
fn drive_without_room_after_a_channel_death_is_refused() {
    let why = Device::new(&profile::Device::Flash(raid_inside(2, 130_000))).expect_err("1.13 times 14/16 is below 1");
    assert!(why.contains("can't hold"), "{why}");
}

#[test]
fn a_limit_of_power_holds_programs_back_to_what_it_carries() {
    let rate = |limit_mw: u32| -> f64 {
        let mut drive = flash_drive(256 << 20);
        let (idle_mw, read_nj) = (sourced(5_000), sourced(1));
        let (program_nj, erase_nj) = (sourced(200_000), sourced(1));
        drive.power =
            Some(Power { idle_mw, limit_mw: Some(sourced(limit_mw)), read_nj, program_nj, erase_nj, thermal: None });
        let device = Device::new(&profile::Device::Flash(drive)).expect("a drive");
        let done = closed_loop_on(device, 256, 40_000, |id| command(id, CommandKind::Write, id * 4096, 4096));
        let (first, last) = (&done[10_000], &done[39_999]);
        29_999.0 * 1e9 / (last.at - first.at) as f64
    };
    // A program holds 4 units of 4 KiB, with one program of parity for four: 0.25 mJ carry 4 units.
    for watts in [1u32, 2] {
        let expected = f64::from(watts) / 0.25e-3 * 4.0;
        assert_close(rate(5_000 + watts * 1000), expected, 0.03, &format!("writes at {watts} W beyond idling"));
    }
    assert!(rate(500_000) > 2.0 * 2.0 / 0.25e-3 * 4.0, "and no limit that is high");
}

#[test]
fn the_record_tells_what_the_flash_went_through() {
    let drive = flash_drive(256 << 20);
    let simulated = Simulated { scale: 4, written: Written::Steady, ..Simulated::default() };
    let device = flash(FlashProfile { simulated, ..drive.clone() });
    let written = 100_000_000 / 4096 * 4096;
    let stream = StreamSpec { read: Share(0), queue_depth: 64, ..StreamSpec::default() };
    let mut of = spec(device, stream, for_amount(written));
    of.storage[0].size = Size(60 << 20);
    of.interval = Time(SECOND / 100);
    let left = run(&of);
    let all = |metric: &str| -> Vec<u64> {
        let rows = left.series.iter().filter(|(_, _, subject, name, _)| subject == "storage.disk" && name == metric);
        rows.map(|(.., value)| *value).collect()
    };
    let sum = |metric: &str| all(metric).iter().sum::<u64>();
    let last = |metric: &str| *all(metric).last().expect("a row");
    assert_eq!(sum("flash.host_bytes"), written, "what was written before the run counts for nothing");
    assert!(sum("flash.moved_bytes") > written / 10 && sum("flash.padded_bytes") == 0);
    let physical = last("flash.physical_bytes");
    assert!(last("flash.mapped_bytes") + last("flash.erased_bytes") < physical);
    let cycles = last("flash.cycles_mean_permille") as f64 / 1000.0;
    assert!(last("flash.cycles_max") as f64 >= cycles && cycles > 3.0, "{cycles}");
    // 3,000 cycles of four times as much flash, less those before the run; each interval uses what
    // it programs.
    let life = all("flash.life_bytes");
    assert_close(life[0] as f64, (3000.0 - cycles) * physical as f64 * 4.0, 0.002, "what the cells still take");
    let programmed = |row: usize| all("flash.host_bytes")[row] + all("flash.moved_bytes")[row];
    let spent: u64 = (1..life.len()).map(programmed).sum();
    assert_eq!(life[0] - life[life.len() - 1], spent);
}

#[test]
fn relocation_waits_count_as_gc_with_and_without_separation() {
    let share = |separate| {
        let simulated = Simulated { scale: 4, written: Written::Steady, ..Simulated::default() };
        let mut drive = FlashProfile { simulated, ..flash_drive(256 << 20) };
        drive.cleaning.separate_relocated = sourced(separate);
        let stream = StreamSpec { read: Share(0), queue_depth: 64, ..StreamSpec::default() };
        let mut of = spec(flash(drive), stream, for_amount(100_000_000 / 4096 * 4096));
        of.storage[0].size = Size(60 << 20);
        let left = run(&of);
        let [waited, reclaimed] = ["queue", "gc"].map(|part| left.sum(&format!("time.{part}_ns_sum")) as f64);
        let [host, moved] = ["host", "moved"].map(|of| left.sum(&format!("flash.{of}_bytes")) as f64);
        (reclaimed / (waited + reclaimed), moved / (host + moved))
    };
    let (apart, mixed) = (share(true), share(false));
    assert_close(apart.1, mixed.1, 0.1, "as much is moved");
    assert_close(mixed.0, apart.0, 0.1, "of the wait");
    assert!(mixed.0 > 0.8 * mixed.1, "{mixed:?}: most of what dies do is to move");
}

#[test]
fn read_retry_adds_the_profiles_cycles_to_worn_out_flash() {
    let life = |extra: Option<u32>, worn_percent: u32| {
        let mut drive = flash_drive(256 << 20);
        let (at_end_of_life, retry_time) = (sourced(Share(100_000)), sourced(Time(100_000)));
        let extra_life = extra.map(|share| sourced(Share(share)));
        drive.read_retry = Some(ReadRetry { at_end_of_life, retry_time, worn: sourced(Share(0)), extra_life });
        drive.simulated.worn_percent = Some(worn_percent);
        let wear = Device::new(&flash(drive)).expect("a drive").wear().expect("flash");
        let cycles = |bytes: u64| (bytes / wear.physical_bytes, bytes % wear.physical_bytes);
        (cycles(wear.life_bytes), cycles(wear.retry_life_bytes))
    };
    assert_eq!(life(None, 0), ((3000, 0), (0, 0)));
    assert_eq!(life(Some(640_000), 0), ((3000, 0), (1920, 0)));
    assert_eq!(life(Some(640_000), 50), ((1500, 0), (1920, 0)));
    assert_eq!(life(Some(640_000), 150), ((0, 0), (420, 0)));
    assert_eq!(life(Some(640_000), 200), ((0, 0), (0, 0)));
}

/// Mix of writes and reads of 2 to 64 KiB, with trims, flushes and force unit access.
pub(crate) fn mix(bytes: u64, seed: u64) -> impl FnMut(u64) -> Command {
    let mut random = Random::named(seed, "mix");
    move |id| {
        let kind = match random.below(100) {
            0..50 => CommandKind::Write,
            50..98 => CommandKind::Read,
            98 => CommandKind::Trim,
            _ => CommandKind::Flush,
        };
        let length = [2048, 4096, 8192, 65_536][random.below(4) as usize];
        let offset = random.below(bytes / u64::from(length)) * u64::from(length);
        Command { fua: kind == CommandKind::Write && random.below(50) == 0, ..command(id, kind, offset, length) }
    }
}

/// Keep 256 commands of a mix outstanding until `count` have completed; call `happens` after a
/// third of them.
fn to_the_end(
    device: &mut Device,
    bytes: u64,
    count: u64,
    happens: impl Fn(&mut Device, u64),
) -> Vec<DeviceCompletion> {
    let (mut next, mut done, mut issued, mut now, mut has_happened) = (mix(bytes, 9), vec![], 0, 0, false);
    while done.len() < count as usize {
        while issued < count && issued - (done.len() as u64) < 256 {
            device.submit(now, &next(issued));
            issued += 1;
        }
        if !has_happened && done.len() as u64 >= count / 3 {
            has_happened = true;
            happens(device, now);
        }
        now = device.next_wake().expect("commands are outstanding");
        device.advance(now, &mut done);
    }
    done
}

fn each_once(name: &str, done: &[DeviceCompletion], count: u64) {
    let mut times: BTreeMap<u64, u32> = BTreeMap::new();
    done.iter().for_each(|completion| *times.entry(completion.command.id).or_default() += 1);
    assert_eq!(times.len() as u64, count, "{name}: none is lost");
    assert!(times.values().all(|&times| times == 1), "{name}: none completes twice");
    for d in done {
        assert!(!d.failed && d.breakdown.total() == d.at - d.submitted, "{name}: {d:?}");
    }
}

/// Drive in its steady state, with the least spare beyond the reserve.
fn in_steady_state(mut drive: FlashProfile) -> FlashProfile {
    drive.nand.pages_per_block = sourced(16);
    drive.simulated = Simulated { written: Written::Steady, ..Simulated::default() };
    drive
}

fn cleaned_by(policy: CleaningPolicy) -> FlashProfile {
    let mut drive = in_steady_state(flash_drive(256 << 20));
    drive.cleaning.policy = sourced(policy);
    drive
}

fn hot_apart(mut drive: FlashProfile) -> FlashProfile {
    drive.cleaning.separate_hot = Some(sourced(Share(250_000)));
    drive
}

#[test]
fn mix_during_gc_at_depth_256_completes_each_command_once() {
    let mut together = cleaned_by(CleaningPolicy::Greedy);
    together.cleaning.separate_relocated = sourced(false);
    for (name, drive) in [
        ("greedy", cleaned_by(CleaningPolicy::Greedy)),
        ("without protection", unprotected(cleaned_by(CleaningPolicy::Greedy))),
        ("its map written", with_map_writes(cleaned_by(CleaningPolicy::Greedy), 300_000)),
        ("relocated data among the host's", unprotected(together)),
        ("hot data apart", hot_apart(cleaned_by(CleaningPolicy::CostBenefit))),
        ("hot data apart without protection", hot_apart(unprotected(cleaned_by(CleaningPolicy::Greedy)))),
        ("first come", cleaned_by(CleaningPolicy::Fifo)),
        ("at random", cleaned_by(CleaningPolicy::Random)),
        ("the best of four", cleaned_by(CleaningPolicy::Choices { drawn: 4 })),
    ] {
        let (mut device, count) = (Device::new(&flash(drive)).expect("a drive"), 30_000);
        let done = to_the_end(&mut device, 256 << 20, count, |_, _| {});
        each_once(name, &done, count);
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        let work = flash.work_since_begin();
        assert!(work.moved_units > work.host_units / 4 && work.erases > 10, "{name}: it has to reclaim: {work:?}");
        flash.check();
    }
}

#[test]
fn member_death_during_gc_at_depth_256_loses_no_command() {
    let member = || leaf(flash(hot_apart(unprotected(cleaned_by(CleaningPolicy::CostBenefit)))));
    let arrays: [(&str, Node); 2] =
        [("raid1", raid1(2, member(), ReadBalance::ShortestQueue)), ("raid5", raid5(3, member()))];
    for (name, node) in arrays {
        let (mut device, count) = (watched(&node).expect("a device"), 12_000);
        let done = to_the_end(&mut device, node.capacity().0, count, |device, now| {
            device.fail(Some(1), now);
            device.replace(1, now).expect("it is dead");
        });
        each_once(name, &done, count);
        let moved = device.wear().expect("flash drives").moved_bytes;
        assert!(moved > 10 << 20, "{name}: {moved} bytes were moved");
    }
}
