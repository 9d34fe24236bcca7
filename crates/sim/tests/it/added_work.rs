//! Signs of differences: in steady state a database with more work, a slower storage or a smaller
//! pool is never faster.

use crate::database::{KEYS, Left, MARIADB, MYSQL_57, MYSQL_80, OLTP, drive, model, run, spec};
use crate::support::{flash, flash_drive, grid, raid1, replica, sourced, xpoint};
use tameshi_base::units::{Share, Size, Time};
use tameshi_spec::profile::{Device, Simulated, Written};
use tameshi_spec::run::{Node, RunSpec, Start};
use tameshi_spec::study::{Doublewrite, Protocol, ReadBalance};

/// Tolerated gain by chance.
const CHANCE: f64 = 1.02;

/// Change that adds work or time, and nothing else.
type Burden = (&'static str, fn(&mut RunSpec));

const BURDENS: [Burden; 6] = [
    ("pages written twice", |spec| spec.engines["mysql"].doublewrite = Some(Doublewrite::On)),
    ("a mirror member", |spec| around(spec, |of| raid1(2, of, ReadBalance::default()))),
    ("a replica across a link", |spec| around(spec, |of| replica(of, 50_000, 1_250_000_000, Protocol::default()))),
    ("a slower device", |spec| match device(spec) {
        Device::Flash(drive) => {
            drive.controller.write_overhead = sourced(Time(20_000));
            drive.nand.program_time = sourced(vec![Time(1_000_000), Time(2_600_000)]);
        }
        Device::XPoint(drive) => drive.write_time = sourced(Time(30_000)),
        other => panic!("{other:?}"),
    }),
    ("longer statements", |spec| model(spec).cpu.statement = sourced(Time(90_000))),
    ("a pool smaller than the data", |spec| spec.engines["mysql"].buffer_pool = Some(Size(12 << 20))),
];

fn around(spec: &mut RunSpec, stack: impl FnOnce(Node) -> Node) {
    let model = spec.storage[0].model.take().expect("a storage");
    spec.storage[0].model = Some(stack(model));
}

fn device(spec: &mut RunSpec) -> &mut Device {
    match &mut spec.storage[0].model {
        Some(Node::Device { device, .. }) => device,
        other => panic!("{other:?}"),
    }
}

/// A run in steady state without reads: all pages are in the pool, and the log is so small that
/// checkpoints never end.
fn steady(profile: &str, device: Device, program: &str, clients: u32) -> RunSpec {
    let program = program.replace("clients = 4", &format!("clients = {clients}"));
    let mut spec = spec(profile, device, "64 MiB", &program, 4_000);
    model(&mut spec).cpu.variation = sourced(Share(200_000));
    (spec.start, spec.phases[0].ramp) = (Start::Warm, Time(1_000_000_000));
    let engine = &mut spec.engines["mysql"];
    (engine.redo_log, engine.doublewrite) = (Some(Size(8 << 20)), Some(Doublewrite::Off));
    spec
}

/// Transactions after the ramp.
fn transactions(left: &Left) -> f64 {
    let counted = left.load.iter().filter(|(end, name, _)| *end > 1_000_000_000 && name.ends_with("transaction.count"));
    counted.map(|(.., count)| count).sum()
}

#[test]
fn added_work_never_gains_in_steady_state() {
    let drives: [fn() -> Device; 2] = [drive, || Device::XPoint(xpoint())];
    let points: Vec<_> = [MYSQL_57, MYSQL_80, MARIADB]
        .into_iter()
        .flat_map(|profile| drives.map(|drive| (profile, drive)))
        .flat_map(|(profile, drive)| [KEYS, OLTP].map(|program| (profile, drive, program)))
        .flat_map(|(profile, drive, program)| [4, 8, 16, 32].map(|clients| (profile, drive(), program, clients)))
        .collect();
    let mut gains = Vec::new();
    for (profile, drive, program, clients) in grid(&points) {
        let plain = steady(profile, drive, program, clients);
        let rate = transactions(&run(&plain));
        assert!(rate > 1_000.0, "{rate} transactions");
        for (name, add) in BURDENS {
            let mut burdened = plain.clone();
            add(&mut burdened);
            let gain = transactions(&run(&burdened)) / rate;
            if gain > CHANCE {
                gains.push(format!("{name}: {gain:.3} x with {program}, {clients} clients"));
            }
        }
    }
    assert!(gains.is_empty(), "{}", gains.join("\n"));
}

#[test]
fn spare_flash_never_loses_in_steady_state() {
    let with_spare = |share| {
        let mut drive = flash_drive(256 << 20);
        drive.over_provisioning = sourced(Share(share));
        drive.simulated = Simulated { written: Written::Steady, ..Simulated::default() };
        let mut spec = steady(MYSQL_57, flash(drive), KEYS, 16);
        spec.storage[0].size = Size(256 << 20);
        transactions(&run(&spec))
    };
    let (little, more) = (with_spare(250_000), with_spare(600_000));
    assert!(more > little / CHANCE, "{little} transactions with little spare, {more} with more");
}
