//! Support of the tests: profiles, specs, a driver for a single device, and a reader of records.

use indexmap::IndexMap;
use std::sync::Arc;
use tameshi_base::units::{Rate, Share, Size, Time};
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Control, RunStatus, Writer};
use tameshi_sim::{Device, DeviceCompletion, SeedPath, SimError, execute, stack};
use tameshi_spec::profile::{
    self, Buffer, Cell, Cleaning, CleaningPolicy, Controller, FlashProfile, HddProfile, HostLink, Idle, LatencyPoint,
    Nand, NullProfile, PowerLossProtection, Scheduling, SlcCache, Sourced, Stalls, VolumeLimit, VolumeProfile,
    VolumeService, XPointProfile, Zones,
};
use tameshi_spec::run::{
    Cache, Function, Link, Node, PhaseSpec, PhaseStream, RUN_SPEC_VERSION, Rebuild, RunSpec, Start, StorageSpec, Until,
    World,
};
use tameshi_spec::study::{CacheKind, Protocol, ReadBalance, RebuildManner};
use tameshi_workload::StreamSpec;

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1_000_000_000;

/// Points of a grid: the ends and the middle, or all with `TAMESHI_GRID=full`.
///
/// # Panics
/// If `TAMESHI_GRID` is neither `small` nor `full`.
pub fn grid<T: Clone>(points: &[T]) -> Vec<T> {
    match std::env::var("TAMESHI_GRID").as_deref() {
        Ok("full") => points.to_vec(),
        Ok("small") | Err(_) => {
            let mut places = vec![0, points.len() / 2, points.len() - 1];
            places.dedup();
            places.into_iter().map(|place| points[place].clone()).collect()
        }
        Ok(other) => panic!("TAMESHI_GRID: expected small or full, got {other}"),
    }
}

pub fn sourced<T>(value: T) -> Sourced<T> {
    Sourced { value, source: "test".into(), fitted_on: None }
}

/// Disk of the reference table: 4 KiB transfer in 0.03 ms.
pub fn disk() -> HddProfile {
    HddProfile {
        capacity: sourced(Size(146_000_000_000)),
        revolution: sourced(Time(4 * MS)),
        speed_tolerance: None,
        seek_min: sourced(Time(MS / 5)),
        seek_average: sourced(Time(34 * MS / 10)),
        missed_revolutions: None,
        cylinders: sourced(50_000),
        command_overhead: sourced(Time(MS / 20)),
        media_rate: sourced(Rate(4096 * SECOND * 1000 / 30_000)),
        scheduling: sourced(Scheduling::Fcfs),
        queue_depth: sourced(64),
        read_ahead: None,
        zones: None,
        age_limit: None,
        write_cache: None,
        power: None,
    }
}

pub fn elevator(mut disk: HddProfile) -> HddProfile {
    disk.scheduling = sourced(Scheduling::Elevator);
    disk
}

pub fn with_read_ahead(mut disk: HddProfile, bytes: u64) -> HddProfile {
    disk.read_ahead = Some(sourced(Size(bytes)));
    disk
}

pub fn with_depth(mut disk: HddProfile, depth: u32) -> HddProfile {
    disk.queue_depth = sourced(depth);
    disk
}

pub fn without_overhead(mut disk: HddProfile) -> HddProfile {
    disk.command_overhead = sourced(Time(0));
    disk
}

pub fn without_seeks(mut disk: HddProfile) -> HddProfile {
    (disk.seek_min, disk.seek_average) = (sourced(Time(0)), sourced(Time(0)));
    disk
}

/// Disk without any cost.
pub fn free(disk: HddProfile) -> HddProfile {
    let mut disk = without_overhead(without_seeks(disk));
    (disk.revolution, disk.media_rate) = (sourced(Time(0)), sourced(Rate(u64::MAX)));
    disk
}

/// Flash drive of at most 146 GB: two controllers of 4 + 1 channels with two dies each.
pub fn flash_drive(capacity_bytes: u64) -> FlashProfile {
    let us = |micros: u64| Time(micros * 1000);
    let mb = |megabytes: u64| sourced(Rate(megabytes * SECOND));
    FlashProfile {
        capacity: sourced(Size(capacity_bytes)),
        over_provisioning: sourced(Share(250_000)),
        mapping_unit: sourced(Size(4096)),
        atomic_write: None,
        nand: Nand {
            cell: sourced(Cell::Mlc),
            page: sourced(Size(8192)),
            pages_per_block: sourced(32),
            planes: sourced(2),
            read_time: sourced(vec![us(40), us(60)]),
            program_time: sourced(vec![us(500), us(1300)]),
            erase_time: sourced(us(3000)),
            suspend_time: Some(sourced(us(5))),
            endurance_cycles: sourced(3000),
        },
        controller: Controller {
            count: sourced(2),
            interleave: sourced(Size(4096)),
            data_channels: sourced(4),
            parity_channels: sourced(1),
            dies_per_channel: sourced(2),
            channel_rate: mb(200),
            read_rate: sourced(Rate(300_000_000)),
            write_rate: sourced(Rate(300_000_000)),
            read_overhead: sourced(us(5)),
            write_overhead: sourced(us(5)),
            transfer_rate: None,
            shared_path: None,
            queue_depth: sourced(256),
            flush_alone: None,
            functions: None,
        },
        buffer: Buffer {
            size: sourced(Size(4 << 20)),
            power_loss_protection: Some(PowerLossProtection {
                flush_time: sourced(us(80_000)),
                hold_up: sourced(us(500_000)),
            }),
            map_write_time: None,
        },
        link: HostLink { read_rate: mb(3200), write_rate: mb(3200), half_duplex: sourced(false), pcie: None },
        cleaning: Cleaning {
            policy: sourced(CleaningPolicy::Greedy),
            reserve_blocks: sourced(4),
            separate_relocated: sourced(true),
            separate_hot: None,
        },
        slc_cache: None,
        idle: None,
        read_retry: None,
        jitter: None,
        power: None,
        simulated: profile::Simulated::default(),
    }
}

/// Let an idle device work until before `until`.
pub fn idle_until(device: &mut Device, until: Nanos) {
    let mut done = Vec::new();
    while device.next_wake().is_some_and(|wake| wake < until) {
        device.advance(until - 1, &mut done);
    }
    assert!(done.is_empty(), "{done:?}");
}

/// The same without power-loss protection.
pub fn unprotected(mut drive: FlashProfile) -> FlashProfile {
    drive.buffer.power_loss_protection = None;
    drive
}

/// The same, with flushes that also wait until the map is written, which takes the given time.
pub fn with_map_writes(drive: FlashProfile, time: Nanos) -> FlashProfile {
    let mut drive = unprotected(drive);
    drive.buffer.map_write_time = Some(sourced(Time(time)));
    drive
}

/// The same with an interface that can't queue flushes.
pub fn flushed_alone(mut drive: FlashProfile) -> FlashProfile {
    drive.controller.flush_alone = Some(sourced(true));
    drive
}

/// The same with an SLC cache of `bytes`. The drive idles after 0.1 s, and then erases as much
/// flash.
pub fn with_slc_cache(mut drive: FlashProfile, bytes: u64) -> FlashProfile {
    drive.slc_cache = Some(SlcCache {
        size: sourced(Size(bytes)),
        read_time: sourced(Time(25_000)),
        program_time: sourced(Time(200_000)),
    });
    drive.idle = Some(Idle { after: sourced(Time(100 * MS)), erased: Some(sourced(Size(bytes))) });
    drive
}

/// Flash drive without any cost.
pub fn free_flash(mut drive: FlashProfile) -> FlashProfile {
    let nand = &mut drive.nand;
    (nand.read_time, nand.program_time) = (sourced(vec![Time(0); 2]), sourced(vec![Time(0); 2]));
    (nand.erase_time, nand.suspend_time) = (sourced(Time(0)), None);
    let (controller, link, most) = (&mut drive.controller, &mut drive.link, sourced(Rate(u64::MAX)));
    (controller.channel_rate, controller.read_rate, controller.write_rate) = (most.clone(), most.clone(), most.clone());
    (controller.read_overhead, controller.write_overhead) = (sourced(Time(0)), sourced(Time(0)));
    (link.read_rate, link.write_rate) = (most.clone(), most);
    drive
}

pub fn flash(profile: FlashProfile) -> profile::Device {
    profile::Device::Flash(profile)
}

/// 3D XPoint drive with seven channels.
pub fn xpoint() -> XPointProfile {
    XPointProfile {
        shared_medium: None,
        capacity: sourced(Size(146_000_000_000)),
        access_unit: sourced(Size(4096)),
        channels: sourced(7),
        read_time: sourced(Time(5_000)),
        write_time: sourced(Time(6_000)),
        read_overhead: sourced(Time(2_000)),
        write_overhead: sourced(Time(2_000)),
        command_rate: sourced(Rate(1_000_000_000)),
        link: HostLink {
            read_rate: sourced(Rate(2_400 * SECOND)),
            write_rate: sourced(Rate(2_000 * SECOND)),
            half_duplex: sourced(false),
            pcie: None,
        },
        queue_depth: sourced(128),
        functions: None,
        power: None,
    }
}

/// 3D XPoint drive without any cost.
pub fn free_xpoint() -> XPointProfile {
    let most = sourced(Rate(u64::MAX));
    let link = HostLink { read_rate: most.clone(), write_rate: most.clone(), half_duplex: sourced(true), pcie: None };
    let none = sourced(Time(0));
    XPointProfile {
        read_time: none.clone(),
        write_time: none.clone(),
        read_overhead: none.clone(),
        write_overhead: none,
        command_rate: most,
        link,
        ..xpoint()
    }
}

/// Uniform distribution between two times in microseconds.
pub fn uniform(least: u64, most: u64) -> Sourced<Vec<LatencyPoint>> {
    let point = |share, us: u64| LatencyPoint { share: Share(share), time: Time(us * 1_000) };
    sourced(vec![point(0, least), point(1_000_000, most)])
}

/// Volume with 64 concurrent commands: 5 us and 1 GB/s each in turn, 300 to 500 us concurrently.
pub fn volume() -> profile::Device {
    let service = || VolumeService {
        latency: uniform(300, 500),
        command_time: sourced(Time(5_000)),
        transfer_rate: sourced(Rate(1_000 * SECOND)),
        alone: None,
    };
    profile::Device::Volume(VolumeProfile {
        capacity: sourced(Size(146_000_000_000)),
        parallel: sourced(64),
        rounds: None,
        read: service(),
        write: service(),
        flush: uniform(1_000, 2_000),
        after_flush: None,
        limit: None,
        stalls: None,
    })
}

fn change(mut device: profile::Device, how: impl Fn(&mut VolumeProfile)) -> profile::Device {
    if let profile::Device::Volume(volume) = &mut device {
        how(volume);
    }
    device
}

pub fn in_rounds(device: profile::Device, parallel: u32) -> profile::Device {
    change(device, |volume| (volume.rounds, volume.parallel) = (Some(sourced(true)), sourced(parallel)))
}

pub fn with_limit(device: profile::Device, commands: u64, bytes: u64) -> profile::Device {
    let (command_rate, byte_rate) = (sourced(Rate(commands * 1_000)), sourced(Rate(bytes * 1_000)));
    change(device, |volume| {
        volume.limit = Some(VolumeLimit { command_rate: command_rate.clone(), byte_rate: byte_rate.clone() });
    })
}

/// Stalls of 2 to 4 ms, one per 27 ms.
pub fn with_stalls(device: profile::Device) -> profile::Device {
    change(device, |volume| {
        volume.stalls = Some(Stalls { every: sourced(Time(27 * MS)), lasting: uniform(2_000, 4_000) });
    })
}

/// Volume without any cost.
pub fn free_volume(device: profile::Device) -> profile::Device {
    change(device, |volume| {
        for service in [&mut volume.read, &mut volume.write] {
            (service.latency, service.command_time) = (uniform(0, 0), sourced(Time(0)));
            service.transfer_rate = sourced(Rate(u64::MAX));
        }
        volume.flush = uniform(0, 0);
    })
}

pub fn hdd(profile: HddProfile) -> profile::Device {
    profile::Device::Hdd(profile)
}

pub fn null() -> profile::Device {
    profile::Device::Null(NullProfile { capacity: sourced(Size(1 << 40)) })
}

pub fn command(id: u64, kind: CommandKind, offset_bytes: u64, length_bytes: u32) -> Command {
    let (offset_bytes, length_bytes) = if kind == CommandKind::Flush { (0, 0) } else { (offset_bytes, length_bytes) };
    Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 }
}

/// Keep `depth` commands outstanding until `count` have completed; `next` draws each.
pub fn closed_loop(
    profile: &profile::Device,
    depth: u64,
    count: usize,
    next: impl FnMut(u64) -> Command,
) -> Vec<DeviceCompletion> {
    closed_loop_on(Device::new(profile).expect("a device"), depth, count, next)
}

/// The same on an existing device.
pub fn closed_loop_on(
    mut device: Device,
    depth: u64,
    count: usize,
    mut next: impl FnMut(u64) -> Command,
) -> Vec<DeviceCompletion> {
    let (mut done, mut issued) = (Vec::with_capacity(count + depth as usize), 0);
    while issued < depth {
        device.submit(0, &next(issued));
        issued += 1;
    }
    while done.len() < count {
        let now = device.next_wake().expect("commands are outstanding");
        let before = done.len();
        device.advance(now, &mut done);
        for _ in before..done.len() {
            device.submit(now, &next(issued));
            issued += 1;
        }
    }
    done
}

/// Commands of 4 KiB at uniformly random offsets of the whole reference disk.
pub fn random_4k(name: &str) -> impl FnMut(u64) -> Command {
    let mut random = Random::named(11, name);
    move |id| command(id, CommandKind::Read, random.below(146_000_000_000 / 4096) * 4096, 4096)
}

pub fn mean(values: impl Iterator<Item = Nanos>) -> f64 {
    let (count, sum) = values.fold((0u64, 0u64), |(count, sum), value| (count + 1, sum + value));
    sum as f64 / count as f64
}

#[allow(clippy::print_stdout, reason = "scripts/validation.py keeps it")]
pub fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    println!("known answer\t{test}\t{what}\t{expected}\t{found}\t{tolerance}");
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: found {found}, expected {expected}");
}

/// Run of one phase with one stream on one storage.
pub fn spec(device: profile::Device, stream: StreamSpec, until: Until) -> RunSpec {
    let size = device.capacity();
    let model = Some(Node::Device { profile: "test".into(), device });
    RunSpec {
        schema_version: RUN_SPEC_VERSION,
        study: "test".into(),
        world: World::Simulated,
        cell: IndexMap::new(),
        unknown: IndexMap::new(),
        repetition: 0,
        seed: 1,
        start: Start::AsIs,
        interval: Time(SECOND),
        storage: IndexMap::from([(
            "disk".to_string(),
            StorageSpec { size, scale: 1, sparse: false, ignores_flush: false, model },
        )]),
        host: None,
        phases: vec![phase("steady", stream, until)],
        engines: Default::default(),
        database: None,
        events: Default::default(),
        rounds: vec![],
    }
}

pub fn phase(name: &str, stream: StreamSpec, until: Until) -> PhaseSpec {
    let stream = PhaseStream { name: "load".into(), storage: "disk".into(), stream };
    PhaseSpec {
        name: name.into(),
        levels: IndexMap::new(),
        streams: vec![stream],
        programs: vec![],
        ramp: Time(0),
        until,
    }
}

pub fn for_time(nanos: Nanos) -> Until {
    Until { time: Some(Time(nanos)), amount: None, steady: None }
}

pub fn for_amount(bytes: u64) -> Until {
    Until { time: None, amount: Some(Size(bytes)), steady: None }
}

/// Record of a run.
pub struct Left {
    pub status: RunStatus,
    pub digest: String,
    /// `(t_ns, dt_ns, subject, metric, value)`.
    pub series: Vec<(u64, u64, String, String, u64)>,
    pub events: String,
    pub histograms: String,
}

impl Left {
    /// Sum of a counter over the run.
    pub fn sum(&self, metric: &str) -> u64 {
        self.series.iter().filter(|row| row.3 == metric).map(|row| row.4).sum()
    }

    /// Times of the events of a kind.
    pub fn events(&self, kind: &str) -> Vec<Nanos> {
        let mark = format!("\"kind\":\"{kind}\"");
        let lines = self.events.lines().filter(|line| line.contains(&mark));
        lines
            .map(|line| {
                let (_, rest) = line.split_once("\"t_ns\":").expect("a time");
                rest.split([',', '}']).next().and_then(|digits| digits.parse().ok()).expect("a number")
            })
            .collect()
    }
}

pub fn run(spec: &RunSpec) -> Left {
    try_run(spec, Arc::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_run(spec: &RunSpec, control: Arc<Control>) -> Result<Left, SimError> {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["series", "histograms"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let (status, digest) = execute(spec, &mut Writer::open(folder.path(), control)?)?;
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file of the record");
    let series = text("series/load.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |cell: usize| cells[cell].parse().expect("a number");
            (number(0), number(1), cells[2].to_string(), cells[3].to_string(), number(4))
        })
        .collect();
    Ok(Left { status, digest, series, events: text("events.jsonl"), histograms: text("histograms/load.hlog") })
}

/// Device of a profile of the repository.
pub fn device_of_profile(name: &str) -> profile::Device {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tameshi/data/profiles/devices");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a profile");
    let profile: profile::DeviceProfile = toml::from_str(&text).expect("a profile");
    profile.device
}

/// Stack of a single drive.
pub fn leaf(device: profile::Device) -> Node {
    Node::Device { profile: "test".into(), device }
}

/// Device of a node, built to be the target of faults.
pub fn watched(node: &Node) -> Result<Device, String> {
    stack::watched(node, &SeedPath::default())
}

const CHUNK: Size = Size(64 << 10);

pub fn raid0(members: u32, of: Node) -> Node {
    Node::Raid0 { members, of: Box::new(of), chunk: CHUNK }
}

pub fn raid1(members: u32, of: Node, read: ReadBalance) -> Node {
    Node::Raid1 { members, of: Box::new(of), read, rebuild: Rebuild::default() }
}

pub fn raid10(members: u32, of: Node) -> Node {
    let (read, rebuild) = (ReadBalance::default(), Rebuild::default());
    Node::Raid10 { members, of: Box::new(of), chunk: CHUNK, read, rebuild }
}

pub fn raid5(members: u32, of: Node) -> Node {
    Node::Raid5 { members, of: Box::new(of), chunk: CHUNK, rebuild: Rebuild::default() }
}

/// Mirror across a link: round trip in nanoseconds, rate in bytes per second.
pub fn replica(of: Node, round_trip: u64, rate: u64, protocol: Protocol) -> Node {
    let link = Link { round_trip: Time(round_trip), rate: Size(rate) };
    Node::Replica { of: Box::new(of), link, protocol }
}

/// First of *n* functions of a drive that holds `queue_depth` commands.
pub fn partition(of: Node, functions: u32, queue_depth: u32) -> Node {
    let weight = Share(Share::WHOLE.0 / functions);
    let function = Function { drive: None, index: 0, functions, weight, queue_depth, arbitration: None };
    Node::Partition { of: Box::new(of), function }
}

/// Array that rebuilds at these rates, in bytes per second.
pub fn with_rebuild(mut node: Node, rate: u64, least: u64, how: RebuildManner) -> Node {
    if let Node::Raid1 { rebuild, .. } | Node::Raid5 { rebuild, .. } | Node::Raid10 { rebuild, .. } = &mut node {
        (rebuild.rate, rebuild.rate_min, rebuild.manner) = (Size(rate), Size(least), how);
    }
    node
}

/// Cache whose controller takes 50 µs and of which 75 % may be dirty.
pub fn cached(of: Node, memory: u64, kind: CacheKind) -> Node {
    let cache = Cache { memory: Size(memory), kind, latency: Time(50_000), rate: None, dirty: Share(750_000) };
    Node::Cache { of: Box::new(of), cache }
}

pub fn with_write_cache(mut disk: HddProfile, bytes: u64) -> HddProfile {
    disk.write_cache = Some(sourced(Size(bytes)));
    disk
}

pub fn shortest_positioning(mut disk: HddProfile, age_limit: Nanos) -> HddProfile {
    (disk.scheduling, disk.age_limit) = (sourced(Scheduling::ShortestPositioning), Some(sourced(Time(age_limit))));
    disk
}

pub fn with_zones(mut disk: HddProfile, count: u32, outer: u64, inner: u64) -> HddProfile {
    let rate = |bytes| sourced(Rate(bytes * 1000));
    disk.zones = Some(Zones { count: sourced(count), outer_rate: rate(outer), inner_rate: rate(inner) });
    disk
}

/// Run of one phase with one stream on a stack.
pub fn spec_of(node: Node, stream: StreamSpec, until: Until) -> RunSpec {
    let mut spec = spec(null(), stream, until);
    spec.storage[0].size = node.capacity();
    spec.storage[0].model = Some(node);
    spec
}

/// Refusals of the simulated world, each as `key: message`.
pub fn refused(spec: &RunSpec) -> Vec<String> {
    tameshi_sim::refusals(spec).iter().map(ToString::to_string).collect()
}
