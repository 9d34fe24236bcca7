//! Known answers of power, and of power limits.

use crate::support::*;
use tameshi_base::units::{Share, Size, Time};
use tameshi_base::{CommandKind, Nanos};
use tameshi_sim::Device;
use tameshi_spec::profile::{self, Drawn, FlashProfile, Power, Simulated, Written};
use tameshi_spec::run::Node;
use tameshi_spec::study::ReadBalance;
use tameshi_workload::StreamSpec;

/// Drive of 5 W idle power and a limit; 10 µJ per sense, 200 µJ per program, 500 µJ per erase.
fn powered(limit_mw: u32) -> FlashProfile {
    let mut drive = flash_drive(64 << 20);
    drive.nand.pages_per_block = sourced(4);
    drive.power = Some(Power {
        idle_mw: sourced(5_000),
        limit_mw: Some(sourced(limit_mw)),
        read_nj: sourced(10_000),
        program_nj: sourced(200_000),
        erase_nj: sourced(500_000),
        thermal: None,
    });
    drive
}

#[test]
fn a_drive_without_a_limit_draws_as_much_and_nothing_waits() {
    let at_limit = |limit_mw: Option<u32>| {
        let mut drive = powered(1_000_000);
        drive.power.as_mut().expect("it draws").limit_mw = limit_mw.map(sourced);
        let mut device = Device::new(&flash(drive)).expect("a drive");
        for unit in 0..64 {
            device.submit(0, &command(unit, CommandKind::Write, unit * 4096, 4096));
        }
        let mut done = vec![];
        device.advance(SECOND, &mut done);
        (device.energy_nj(SECOND).expect("it says"), done.last().expect("all").at)
    };
    // Sixteen program units and the parity of four stripes.
    let (limited, free, whole) = (at_limit(Some(6_000)), at_limit(None), 5_000_000_000 + 20 * 200_000);
    assert_eq!(free.0, whole);
    assert!(limited.0.abs_diff(whole) < whole / 1000, "{limited:?}");
    assert!(free.1 <= limited.1);
}

fn disk_of(idle_mw: u32, active_mw: u32) -> profile::HddProfile {
    let power = Some(Drawn { idle_mw: sourced(idle_mw), active_mw: sourced(active_mw) });
    profile::HddProfile { power, ..disk() }
}

/// Return the mean watts of each interval of a run.
fn watts(left: &Left) -> Vec<f64> {
    let rows = left.series.iter().filter(|row| row.3 == "power.energy_nj");
    rows.map(|row| row.4 as f64 / row.1 as f64).collect()
}

fn run_of(node: Node, stream: StreamSpec) -> Left {
    let mut spec = spec_of(node, stream, for_time(SECOND));
    spec.interval = Time(SECOND / 50);
    run(&spec)
}

#[test]
fn drive_draws_idle_power_plus_task_energies() {
    let mut device = Device::new(&flash(powered(25_000))).expect("a drive");
    let beyond_idling = |device: &Device, at: Nanos| device.energy_nj(at).expect("it says") as f64 - 5.0 * at as f64;
    assert_eq!(device.energy_nj(SECOND), Some(5_000_000_000));
    // A program unit of four mapping units on either controller.
    for unit in 0..8 {
        device.submit(0, &command(unit, CommandKind::Write, unit * 4096, 4096));
    }
    let mut done = vec![];
    device.advance(SECOND, &mut done);
    assert_eq!(done.len(), 8);
    assert_close(beyond_idling(&device, SECOND), 2.0 * 200_000.0, 0.001, "two programs");
    for unit in 0..8 {
        device.submit(SECOND, &command(unit, CommandKind::Read, unit * 4096, 4096));
    }
    device.advance(2 * SECOND, &mut done);
    // One sense also reads the neighbours written together.
    assert_close(beyond_idling(&device, 2 * SECOND), 2.0 * 210_000.0, 0.001, "and two senses");
}

#[test]
fn writes_never_exceed_the_power_limit_and_saturate_it() {
    for limit_mw in [6_000, 8_000] {
        let simulated = Simulated { written: Written::Steady, ..Simulated::default() };
        let drive = FlashProfile { simulated, ..powered(limit_mw) };
        let stream = StreamSpec { read: Share(0), queue_depth: 256, ..StreamSpec::default() };
        let left = run_of(leaf(flash(drive)), stream);
        let (told, limit) = (watts(&left), f64::from(limit_mw) / 1000.0);
        assert!(told.len() == 50 && told.iter().all(|&watts| watts <= limit * 1.0001), "{limit}: {told:?}");
        let mean = told.iter().sum::<f64>() / 50.0;
        assert_close(mean, limit, 0.01, "the limit is drawn");
        let share = left.sum("busy.power_ns") as f64 / left.sum("capacity.power_ns") as f64;
        assert!(share > 0.95, "and told as busy: {share}");
    }
}

#[test]
fn a_disk_lies_between_idling_and_working_as_its_arm_does() {
    let stream = |think_time| StreamSpec { think_time, ..StreamSpec::default() };
    for (think_time, least) in [(0, 14.9), (5_500_000, 11.0)] {
        let left = run_of(leaf(hdd(disk_of(9_000, 15_000))), stream(Time(think_time)));
        let share = left.sum("busy.media_ns") as f64 / left.sum("capacity.media_ns") as f64;
        let mean = watts(&left).iter().sum::<f64>() / 50.0;
        assert_close(mean, 9.0 + 6.0 * share, 1e-6, "by the share of its time");
        assert!((least..15.0).contains(&mean), "{mean}");
    }
    let mut drive = xpoint();
    drive.power = Some(Drawn { idle_mw: sourced(5_000), active_mw: sourced(14_000) });
    let optane = run_of(leaf(profile::Device::XPoint(drive)), StreamSpec { queue_depth: 64, ..StreamSpec::default() });
    let mean = watts(&optane).iter().sum::<f64>() / 50.0;
    let share = optane.sum("busy.media_ns") as f64 / optane.sum("capacity.media_ns") as f64;
    assert_close(mean, 5.0 + 9.0 * share, 1e-4, "a 3D XPoint drive");
}

#[test]
fn array_draws_the_power_of_its_live_members() {
    let mirror = || raid1(2, leaf(hdd(disk_of(9_000, 15_000))), ReadBalance::ShortestQueue);
    let mut device = watched(&mirror()).expect("a device");
    let joules = |device: &Device, at: Nanos| device.energy_nj(at).expect("disks say it") as f64 / 1e9;
    assert_eq!(joules(&device, SECOND), 18.0);
    device.fail(Some(1), SECOND);
    assert_eq!(joules(&device, 3 * SECOND), 18.0 + 2.0 * 9.0);
    device.replace(1, 3 * SECOND).expect("it is dead");
    assert!(joules(&device, 3 * SECOND) >= 36.0, "what was drawn stays drawn");
    let idle = raid0(3, leaf(flash(FlashProfile { capacity: sourced(Size(64 << 20)), ..powered(9_000) })));
    assert_eq!(joules(&watched(&idle).expect("a device"), SECOND), 15.0);
}

#[test]
fn what_does_not_say_draws_nothing_that_is_told() {
    let left = run_of(raid0(2, leaf(hdd(disk()))), StreamSpec::default());
    assert!(watts(&left).is_empty());
    assert_eq!(left.sum("capacity.power_ns"), 0);
}
