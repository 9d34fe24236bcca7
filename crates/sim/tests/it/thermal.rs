//! Temperature and throttling of drives: closed forms of one heat capacity behind one resistance.
//!
//! These drives warm a thousand times as fast as real ones: a second shows a quarter of an hour.

use crate::support::*;
use tameshi_base::CommandKind;
use tameshi_base::units::{Share, Size, Temperature, Time};
use tameshi_sim::Device;
use tameshi_spec::profile::{FlashProfile, Power, Simulated, Thermal, Written};
use tameshi_spec::run::Node;
use tameshi_spec::study::ReadBalance;
use tameshi_workload::StreamSpec;

const IDLE_W: f64 = 5.0;
const AMBIENT: f64 = 30.0;
/// Thermal resistance in K/W.
const RESISTANCE: f64 = 5.0;
const INTERVALS: u64 = 50;

fn degrees(degrees: f64) -> Temperature {
    Temperature((degrees * 1e3) as u32)
}

/// Drive of 55 °C at rest; 5 K per watt more, with a time constant of 0.1 s.
fn thermal(throttle: f64, release: f64, limit_mw: u32) -> Thermal {
    Thermal {
        ambient: sourced(degrees(AMBIENT)),
        resistance_mk_per_w: sourced(5_000),
        capacity_mj_per_k: sourced(20),
        throttle: sourced(degrees(throttle)),
        release: sourced(degrees(release)),
        limit_mw: sourced(limit_mw),
    }
}

/// Drive of 10 µJ per sense, 200 µJ per program, 500 µJ per erase: all dies at work draw some 4 W
/// beyond idling.
fn power(limit_mw: Option<u32>, thermal: Option<Thermal>) -> Option<Power> {
    Some(Power {
        idle_mw: sourced(5_000),
        limit_mw: limit_mw.map(sourced),
        read_nj: sourced(10_000),
        program_nj: sourced(200_000),
        erase_nj: sourced(500_000),
        thermal,
    })
}

fn drive(limit_mw: Option<u32>, thermal: Option<Thermal>) -> FlashProfile {
    let simulated = Simulated { written: Written::Steady, ..Simulated::default() };
    FlashProfile { simulated, power: power(limit_mw, thermal), ..flash_drive(256 << 20) }
}

/// Drive so small that a few programs throttle it and a few milliseconds cool it.
pub fn soon_too_warm(drive: FlashProfile) -> FlashProfile {
    let small = Thermal { capacity_mj_per_k: sourced(1), ..thermal(56.0, 55.5, 5_100) };
    FlashProfile { power: power(None, Some(small)), ..drive }
}

fn under(read: u32, drive: FlashProfile) -> Left {
    let stream = StreamSpec { read: Share(read * 10_000), queue_depth: 128, ..StreamSpec::default() };
    for_a_second(leaf(flash(drive)), stream)
}

fn for_a_second(node: Node, stream: StreamSpec) -> Left {
    let mut spec = spec_of(node, stream, for_time(SECOND));
    spec.interval = Time(SECOND / INTERVALS);
    run(&spec)
}

/// Return the values of a metric at the interval ends.
fn told(left: &Left, metric: &str) -> Vec<f64> {
    left.series.iter().filter(|row| row.3 == metric).map(|row| row.4 as f64).collect()
}

fn temperatures(left: &Left) -> Vec<f64> {
    told(left, "thermal.millidegrees").iter().map(|millidegrees| millidegrees / 1e3).collect()
}

/// Return the watts of the second half of the run.
fn late_watts(left: &Left) -> f64 {
    let energies = told(left, "power.energy_nj");
    energies[energies.len() / 2..].iter().sum::<f64>() / 1e9 * 2.0
}

#[test]
fn constant_load_warms_the_drive_exponentially() {
    let slow = Thermal { capacity_mj_per_k: sourced(60), ..thermal(100.0, 95.0, 6_000) };
    let left = under(0, drive(Some(7_000), Some(slow)));
    let found = temperatures(&left);
    assert_eq!(found.len() as u64, INTERVALS);
    for (interval, found) in (1..).zip(&found) {
        let time = f64::from(interval) / INTERVALS as f64;
        let expected = AMBIENT + RESISTANCE * (IDLE_W + 2.0 * (1.0 - (-time / 0.3).exp()));
        // Tasks that twenty dies begin at once warm it by 0.07 K before their power is drawn.
        assert!((found - expected).abs() < 0.08, "after {time} s: {found} for {expected}");
    }
    let last = found.last().expect("an interval");
    let short = RESISTANCE * 2.0 * (-1.0f64 / 0.3).exp();
    assert_close(*last + short, AMBIENT + RESISTANCE * late_watts(&left), 0.002, "ambient, power times resistance");
    assert_eq!(left.sum("thermal.throttled_ns"), 0);
}

#[test]
fn a_threshold_that_is_never_reached_changes_nothing() {
    for read in [0, 70, 100] {
        for limit_mw in [None, Some(7_000)] {
            let warm = under(read, drive(limit_mw, Some(thermal(100.0, 95.0, 6_000))));
            let plain = under(read, drive(limit_mw, None));
            assert_eq!(warm.digest, plain.digest, "{read} % reads, {limit_mw:?}");
            assert_eq!(warm.sum("power.energy_nj"), plain.sum("power.energy_nj"));
            assert_eq!(warm.sum("busy.thermal_ns"), 0);
            assert!(temperatures(&warm).len() as u64 == INTERVALS && temperatures(&plain).is_empty());
        }
    }
}

#[test]
fn drive_too_warm_stays_throttled_at_the_limit() {
    for limit_mw in [None, Some(8_000)] {
        let free = under(0, drive(limit_mw, None));
        // At 6 W it is at 60 °C, which is above its release.
        let left = under(0, drive(limit_mw, Some(thermal(62.0, 58.0, 6_000))));
        assert_close(late_watts(&left), 6.0, 0.005, "what is allowed while throttled");
        assert_close(*temperatures(&left).last().expect("an interval"), 60.0, 0.005, "and what that comes to");
        let half = INTERVALS as usize / 2;
        let since = told(&left, "thermal.throttled_ns")[half..].iter().sum::<f64>();
        assert_eq!(since, SECOND as f64 / 2.0, "it stays so");
        let busy = told(&left, "busy.thermal_ns")[half..].iter().sum::<f64>() / (SECOND as f64 / 2.0);
        assert!(busy > 0.98, "the thermal limit is busy throughout: {busy}");
        let rate = |left: &Left| told(left, "write.count")[half..].iter().sum::<f64>();
        let beyond = (late_watts(&free) - IDLE_W, late_watts(&left) - IDLE_W);
        assert_close(rate(&left) / rate(&free), beyond.1 / beyond.0, 0.03, "writes by the power that they have");
    }
}

#[test]
fn throttled_member_holds_back_its_stripe() {
    let member = || leaf(flash(drive(Some(8_000), Some(thermal(62.0, 58.0, 6_000)))));
    let chunk = Size(16 << 20);
    let stripe = Node::Raid0 { members: 2, of: Box::new(member()), chunk };
    // The first chunk, on the first member.
    let stream = StreamSpec { read: Share(0), queue_depth: 128, span: Some(chunk), ..StreamSpec::default() };
    let left = for_a_second(stripe, stream);
    let late = |metric: &str| told(&left, metric)[INTERVALS as usize / 2..].iter().sum::<f64>();
    let half = SECOND as f64 / 2.0;
    assert_eq!(late("thermal.throttled_ns"), half, "one of them is throttled all the time");
    assert_eq!(late("thermal.drives"), 2.0 * INTERVALS as f64 / 2.0, "of two");
    for (limit, expected) in [("power", 0.0), ("thermal", 1.0)] {
        let busy = late(&format!("busy.{limit}_ns")) / late(&format!("capacity.{limit}_ns"));
        assert!((busy - expected).abs() < 0.02, "{limit} of the throttled one alone: {busy}");
    }
}

#[test]
fn drive_cooling_while_throttled_oscillates_between_thresholds() {
    // At 5.4 W it would be at 57 °C, below its release.
    let left = under(0, drive(None, Some(thermal(65.0, 62.0, 5_400))));
    let found = temperatures(&left);
    let late = &found[found.len() / 2..];
    assert!(late.iter().all(|of| (61.9..=65.1).contains(of)), "{late:?}");
    let (least, most) = late.iter().fold((f64::MAX, 0.0f64), |(least, most), &of| (least.min(of), most.max(of)));
    assert!(most - least > 1.0, "to and fro: {late:?}");
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert_close(late_watts(&left), (mean - AMBIENT) / RESISTANCE, 0.02, "what keeps it so warm");
    let throttled = told(&left, "thermal.throttled_ns")[found.len() / 2..].iter().sum::<f64>() / 0.5e9;
    let free = late_watts(&under(0, drive(None, None)));
    assert_close(late_watts(&left), 5.4 * throttled + free * (1.0 - throttled), 0.02, "and what each state draws");
}

#[test]
fn reads_wait_too_while_a_drive_is_throttled() {
    let free = under(100, drive(None, None));
    let beyond = late_watts(&free) - IDLE_W;
    assert!(beyond > 0.8, "reads alone draw so much: {beyond}");
    let left = under(100, drive(None, Some(thermal(57.0, 55.5, 5_200))));
    assert_close(late_watts(&left), 5.2, 0.01, "what is allowed while throttled");
    assert!(left.sum("read.count") < free.sum("read.count") / 2);
    assert!(left.sum("time.queue_ns_sum") > left.sum("time.media_ns_sum"), "they wait for it");
}

#[test]
fn heat_takes_its_time_whatever_the_capacity_scale() {
    let at = |scale: u32| {
        let mut drive = drive(None, Some(thermal(65.0, 62.0, 5_400)));
        drive.simulated.scale = scale;
        let left = under(0, drive);
        (left.sum("thermal.throttled_ns") as f64 / 1e9, temperatures(&left))
    };
    let (whole, part) = (at(1), at(4));
    assert!((whole.0 - part.0).abs() < 0.05, "throttled for {} s and {} s", whole.0, part.0);
    let warming = whole.1.iter().zip(&part.1).take(4);
    warming.for_each(|(whole, part)| assert!((whole - part).abs() < 0.6, "{whole} and {part}"));
}

#[test]
fn an_array_is_as_warm_as_the_warmest_of_its_members() {
    let member = || {
        leaf(flash(FlashProfile { simulated: Simulated::default(), ..drive(None, Some(thermal(60.0, 56.0, 5_500))) }))
    };
    let mut device = watched(&raid1(2, member(), ReadBalance::ShortestQueue)).expect("a device");
    assert_eq!(device.heat(SECOND).map(|heat| (heat.millidegrees, heat.throttled_ns)), Some((55_000, 0)));
    let mut done = vec![];
    for unit in 0..4096 {
        device.submit(SECOND, &command(unit, CommandKind::Write, unit * 4096, 4096));
    }
    device.advance(SECOND + SECOND / 2, &mut done);
    assert_eq!(done.len(), 4096);
    let both = device.heat(SECOND + SECOND / 2).expect("they say").throttled_ns;
    assert!(both > 0 && both.is_multiple_of(2), "both were, alike: {both}");
    device.fail(Some(1), SECOND + SECOND / 2);
    device.fail(Some(0), SECOND + SECOND / 2);
    assert_eq!(device.heat(SECOND + SECOND / 2), None, "who is dead is not warm");
    let plain = Device::new(&flash(drive(None, None))).expect("a drive");
    assert_eq!(plain.heat(SECOND), None);
}
