//! Host between jobs and devices: known answers of queueing theory, and properties of every host.

use crate::database::{KEYS, MYSQL_57, model, round_costs, run as run_database, spec as database};
use crate::support::*;
use tameshi_base::Nanos;
use tameshi_base::units::{Rate, Share, Time};
use tameshi_record::histograms::{Windows, summarise};
use tameshi_spec::profile::{
    self, AccessPath, Contention, HostModel, Hypervisor, Interrupt, Lock, Placement, Submission,
};
use tameshi_spec::run::{HostSpec, Node, PhaseStream, RunSpec};
use tameshi_spec::study::{CacheKind, ReadBalance};
use tameshi_workload::{Arrivals, StreamSpec, Sync};

const US: Nanos = 1_000;

fn time(nanos: Nanos) -> tameshi_spec::profile::Sourced<Time> {
    sourced(Time(nanos))
}

fn path(read: Nanos, write: Nanos, complete: Nanos) -> Option<AccessPath> {
    Some(AccessPath { read: time(read), write: time(write), complete: time(complete) })
}

/// Host with *n* processors and no cost but that of submission.
fn host(cores: u32, submit: Nanos) -> HostModel {
    HostModel {
        memory: None,
        sockets: sourced(1),
        cores_per_socket: sourced(cores),
        threads_per_core: sourced(1),
        clock: sourced(Rate(2_000_000_000_000)),
        sibling_penalty: None,
        synchronous: path(submit, submit, 0),
        libaio: path(submit, submit, 0),
        io_uring: None,
        overlapped: None,
        page: None,
        interrupt: Interrupt { cost: time(0), placement: sourced(Placement::SubmittingCore) },
        context_switch: time(0),
        cold_caches: None,
        wake_up: time(0),
        time_slice: time(4 * MS),
        lock: None,
        array_flush: None,
        contention: None,
        driver: Default::default(),
        hypervisor: None,
        variation: None,
    }
}

fn random(mut host: HostModel) -> HostModel {
    host.variation = Some(sourced(Share::WHOLE));
    host
}

fn on(model: HostModel, mut spec: RunSpec) -> RunSpec {
    spec.host = Some(HostSpec { profile: "test".into(), model, cores: None, memory: None, submission: None });
    spec
}

/// Mean wait of a read, in a run on a device without latency.
fn wait(left: &Left) -> f64 {
    left.sum("time.queue_ns_sum") as f64 / left.sum("read.count") as f64
}

fn iops(left: &Left, seconds: u64) -> f64 {
    left.sum("read.count") as f64 / seconds as f64
}

/// Poisson reads from *n* jobs, `per_second` in all.
fn poisson(jobs: u32, per_second: f64) -> StreamSpec {
    let rate = Rate((per_second * 1000.0) as u64);
    let queue_depth = if jobs == 1 { 4096 } else { 16 };
    StreamSpec { jobs, queue_depth, arrivals: Arrivals::Poisson { rate }, ..StreamSpec::default() }
}

/// Host with every mechanism.
fn busy_host() -> HostModel {
    HostModel {
        threads_per_core: sourced(2),
        sibling_penalty: Some(sourced(Share(600_000))),
        synchronous: path(5 * US, 7 * US, 3 * US),
        libaio: path(3 * US, 4 * US, 2 * US),
        page: time(100).into(),
        interrupt: Interrupt { cost: time(2 * US), placement: sourced(Placement::Spread) },
        context_switch: time(US),
        cold_caches: Some(time(3 * US)),
        wake_up: time(2 * US),
        lock: Some(Lock { read: time(300), write: time(900) }),
        array_flush: Some(time(50 * US)),
        contention: Some(Contention { free_threads: sourced(2), per_thread: sourced(Share(10_000)) }),
        hypervisor: Some(Hypervisor { request: time(4 * US), threads: sourced(2) }),
        variation: Some(sourced(Share(300_000))),
        ..host(2, 0)
    }
}

#[test]
fn one_processor_with_constant_work_waits_as_m_d_1() {
    for utilisation in [0.3, 0.6, 0.8] {
        let service = 10_000.0;
        let stream = poisson(1, utilisation / service * 1e9);
        let left = run(&on(host(1, 10 * US), spec(null(), stream, for_time(15 * SECOND))));
        let expected = utilisation * service / (2.0 * (1.0 - utilisation));
        assert_close(wait(&left), expected, 0.02, &format!("M/D/1 at {utilisation}"));
        assert_eq!(left.sum("time.host_ns_sum"), left.sum("read.count") * 10 * US);
    }
}

/// Mean wait of M/M/c by Erlang's formula, in units of the service time.
fn erlang_wait(servers: u32, utilisation: f64) -> f64 {
    let offered = f64::from(servers) * utilisation;
    let blocking = (1..=servers).fold(1.0, |blocking, n| offered * blocking / (f64::from(n) + offered * blocking));
    let waiting = blocking / (1.0 - utilisation * (1.0 - blocking));
    waiting / (f64::from(servers) * (1.0 - utilisation))
}

// slow: 1.5 million requests per point
#[test]
fn several_processors_with_random_work_wait_as_m_m_c() {
    for (cores, utilisation) in grid(&[(1, 0.5), (2, 0.7), (4, 0.8), (8, 0.85)]) {
        let service = 10_000.0;
        let rate = utilisation * f64::from(cores) / service * 1e9;
        // Many jobs: a thread works on one processor at a time, and requests of one job rarely
        // meet.
        let jobs = if cores == 1 { 1 } else { 20_000 };
        let seconds = (1_500_000.0 / rate) as u64 + 1;
        let run = run(&on(random(host(cores, 10 * US)), spec(null(), poisson(jobs, rate), for_time(seconds * SECOND))));
        let expected = erlang_wait(cores, utilisation) * service;
        assert_close(wait(&run), expected, 0.02, &format!("M/M/{cores} at {utilisation}"));
    }
}

/// Throughput per nanosecond by exact mean value analysis: think time, then stations with mean
/// service times, of which one may have several servers.
fn mean_value_analysis(customers: usize, think: f64, stations: &[(f64, usize)]) -> f64 {
    let mut lengths = vec![0.0; stations.len()];
    // Probabilities of 0, 1, … customers, per station with several servers.
    let mut marginal: Vec<Vec<f64>> = stations.iter().map(|_| vec![1.0]).collect();
    let mut throughput = 0.0;
    for n in 1..=customers {
        let responses: Vec<f64> = stations
            .iter()
            .enumerate()
            .map(|(k, &(service, servers))| match servers {
                1 => service * (1.0 + lengths[k]),
                _ => (0..n).map(|j| (j + 1) as f64 * service / (j + 1).min(servers) as f64 * marginal[k][j]).sum(),
            })
            .collect();
        throughput = n as f64 / (think + responses.iter().sum::<f64>());
        for (k, &(service, servers)) in stations.iter().enumerate() {
            lengths[k] = throughput * responses[k];
            let before = marginal[k].clone();
            let mut now = vec![0.0; n + 1];
            for j in 1..=n {
                now[j] = throughput * service / j.min(servers) as f64 * before[j - 1];
            }
            now[0] = 1.0 - now[1..].iter().sum::<f64>();
            marginal[k] = now;
        }
    }
    throughput
}

#[test]
fn closed_loop_with_think_time_meets_mean_value_analysis() {
    for (jobs, cores, submit, hypervisor, think) in [
        (1, 1, 10, 0, 0),
        (4, 1, 10, 0, 50),
        (8, 1, 10, 15, 0),
        (16, 1, 5, 10, 100),
        (6, 2, 20, 0, 30),
        (12, 4, 20, 6, 20),
        (32, 8, 40, 4, 50),
    ] {
        let mut model = random(host(cores, submit * US));
        model.hypervisor = (hypervisor > 0).then(|| Hypervisor { request: time(hypervisor * US), threads: sourced(1) });
        let stream = StreamSpec { jobs, think_time: Time(think * US), ..StreamSpec::default() };
        let left = run(&on(model, spec(null(), stream, for_time(5 * SECOND))));
        let mut stations = vec![(submit as f64 * 1e3, cores as usize)];
        stations.extend((hypervisor > 0).then_some((hypervisor as f64 * 1e3, 1)));
        let expected = mean_value_analysis(jobs as usize, think as f64 * 1e3, &stations) * 1e9;
        assert_close(iops(&left, 5), expected, 0.02, &format!("{jobs} jobs, {cores} processors, think {think} µs"));
    }
}

// slow: whole seconds of a saturated host
#[test]
fn saturated_host_is_limited_by_its_processors() {
    for cores in grid(&[1, 2, 5, 12]) {
        for (jobs, queue_depth) in [(16, 1), (16, 16), (48, 4)] {
            let mut model = host(cores, 10 * US);
            model.synchronous = path(6 * US, 0, 4 * US);
            model.libaio = path(6 * US, 0, 4 * US);
            let stream = StreamSpec { jobs, queue_depth, ..StreamSpec::default() };
            let left = run(&on(model, spec(null(), stream, for_time(SECOND))));
            assert_close(iops(&left, 1), f64::from(cores) / 10e-6, 0.001, &format!("{cores} processors, {jobs} jobs"));
            let busy = left.sum("busy.cores_ns") as f64 / left.sum("capacity.cores_ns") as f64;
            assert_close(busy, 1.0, 0.001, "they are busy all the time");
        }
    }
}

#[test]
fn thread_works_on_one_processor_at_a_time() {
    for (jobs, expected) in [(1, 100_000.0), (3, 300_000.0), (8, 400_000.0)] {
        let stream = StreamSpec { jobs, queue_depth: 32, ..StreamSpec::default() };
        let left = run(&on(host(4, 10 * US), spec(null(), stream, for_time(SECOND))));
        assert_close(iops(&left, 1), expected, 0.001, &format!("{jobs} jobs on 4 processors"));
    }
}

#[test]
fn interrupts_on_one_processor_limit_and_spread_ones_do_not() {
    let iops_with = |placement| {
        let mut model = host(8, US);
        model.interrupt = Interrupt { cost: time(4 * US), placement: sourced(placement) };
        let stream = StreamSpec { jobs: 32, ..StreamSpec::default() };
        iops(&run(&on(model, spec(null(), stream, for_time(SECOND)))), 1)
    };
    assert_close(iops_with(Placement::OneCore), 250_000.0, 0.01, "one processor takes one every 4 µs");
    assert!(iops_with(Placement::SubmittingCore) > 1_000_000.0);
    assert!(iops_with(Placement::Spread) > 1_000_000.0);
}

#[test]
fn storage_lock_serializes_writes_and_reads_hold_it_shorter() {
    for (read, expected) in [(Share::WHOLE, 1_000_000.0), (Share(0), 200_000.0)] {
        let mut model = host(16, US);
        model.lock = Some(Lock { read: time(US), write: time(5 * US) });
        let stream = StreamSpec { jobs: 64, read, ..StreamSpec::default() };
        let left = run(&on(model, spec(null(), stream, for_time(SECOND))));
        let count = (left.sum("read.count") + left.sum("write.count")) as f64;
        assert_close(count, expected, 0.01, "as many as the lock lets in");
        let busy = left.sum("busy.lock_ns") as f64 / left.sum("capacity.lock_ns") as f64;
        assert_close(busy, 1.0, 0.01, "the lock is held all the time");
    }
}

/// Utilisation of a resource.
fn share(left: &Left, resource: &str) -> f64 {
    left.sum(&format!("busy.{resource}_ns")) as f64 / left.sum(&format!("capacity.{resource}_ns")) as f64
}

#[test]
fn busy_threads_saturate_while_processors_idle() {
    let stream = StreamSpec { jobs: 2, queue_depth: 16, ..StreamSpec::default() };
    let left = run(&on(host(8, 10 * US), spec(null(), stream, for_time(SECOND))));
    assert_close(share(&left, "threads"), 1.0, 0.001, "each has the next one to submit");
    assert_close(share(&left, "cores"), 0.25, 0.001, "two of eight");
}

#[test]
fn thread_is_saturated_by_its_work_and_its_interrupts() {
    let mut interrupted = host(8, 6 * US);
    interrupted.interrupt = Interrupt { cost: time(2 * US), placement: sourced(Placement::SubmittingCore) };
    let stream = StreamSpec { queue_depth: 16, ..StreamSpec::default() };
    let left = run(&on(interrupted, spec(null(), stream, for_time(SECOND))));
    assert_close(iops(&left, 1), 125_000.0, 0.001, "requests of 8 us");
    assert_close(share(&left, "threads"), 1.0, 0.001, "it has time for nothing else");
}

#[test]
fn waiting_for_lock_processor_or_device_is_no_thread_work() {
    let mut locking = host(16, 0);
    locking.lock = Some(Lock { read: time(5 * US), write: time(5 * US) });
    let stream = StreamSpec { jobs: 4, ..StreamSpec::default() };
    let locked = run(&on(locking, spec(null(), stream.clone(), for_time(SECOND))));
    assert_close(share(&locked, "threads"), 0.25, 0.01, "one of four holds the lock");
    let crowded = run(&on(host(2, 5 * US), spec(null(), stream.clone(), for_time(SECOND))));
    assert_close(share(&crowded, "threads"), 0.5, 0.01, "two of four run");
    let slow = run(&on(host(16, 5 * US), spec(hdd(disk()), stream, for_time(SECOND))));
    assert!(share(&slow, "threads") < 0.01, "{}", share(&slow, "threads"));
}

#[test]
fn busy_siblings_and_runnable_threads_slow_work_down() {
    let saturated = |model, jobs| {
        let stream = StreamSpec { jobs, ..StreamSpec::default() };
        iops(&run(&on(model, spec(null(), stream, for_time(SECOND)))), 1)
    };
    let mut siblings = host(4, 10 * US);
    (siblings.threads_per_core, siblings.sibling_penalty) = (sourced(2), Some(sourced(Share(600_000))));
    assert_close(saturated(siblings.clone(), 4), 400_000.0, 0.001, "four threads have a core each");
    assert_close(saturated(siblings, 64), 500_000.0, 0.001, "eight take 16 µs each");
    let mut crowd = host(4, 10 * US);
    crowd.contention = Some(Contention { free_threads: sourced(10), per_thread: sourced(Share(20_000)) });
    assert_close(saturated(crowd.clone(), 10), 400_000.0, 0.001, "ten have no effect");
    assert_close(saturated(crowd, 60), 200_000.0, 0.02, "fifty more double the work: throughput falls");
}

/// Reads per second of 16 threads that never sleep, on 12 cores with two logical processors each,
/// after 16 other threads have written for some time.
fn beside_siblings(seed: u64, writes_ns: Nanos) -> f64 {
    let mut model = host(12, 10 * US);
    (model.threads_per_core, model.sibling_penalty) = (sourced(2), Some(sourced(Share(600_000))));
    (model.context_switch, model.variation) = (time(US), Some(sourced(Share(300_000))));
    let reads = StreamSpec { jobs: 16, queue_depth: 16, ..StreamSpec::default() };
    let writes = StreamSpec { read: Share(0), ..reads.clone() };
    let mut spec = on(model, spec(null(), reads.clone(), for_time(SECOND / 2)));
    spec.seed = seed;
    if writes_ns > 0 {
        let mut after = phase("reads", reads, for_time(SECOND / 2));
        after.streams[0].name = "reads".into();
        spec.phases[0] = phase("writes", writes, for_time(writes_ns));
        spec.phases.push(after);
    }
    iops(&run(&spec), 1) * 2.0
}

// slow: whole seconds of a saturated host
#[test]
fn threads_that_never_sleep_are_unaffected_by_earlier_load() {
    // Eight threads have a core each, eight share four.
    let expected = (8.0 + 8.0 / 1.6) / 10e-6;
    for seed in grid(&[1, 2, 3, 4]) {
        for writes_ns in grid(&[0, 37 * MS, 100 * MS]) {
            let found = beside_siblings(seed, writes_ns);
            assert_close(found, expected, 0.01, &format!("seed {seed}, after {writes_ns} ns of writes"));
        }
    }
}

#[test]
fn hypervisor_thread_limits_its_guest() {
    let mut model = host(16, US);
    model.hypervisor = Some(Hypervisor { request: time(7770), threads: sourced(1) });
    let stream = StreamSpec { jobs: 8, queue_depth: 32, ..StreamSpec::default() };
    let left = run(&on(model, spec(null(), stream, for_time(SECOND))));
    assert_close(iops(&left, 1), 1e9 / 7770.0, 0.001, "one request every 7.77 µs");
}

/// Drive whose only cost is 40 µs per flush.
const FLUSH: Nanos = 40 * US;

fn flushing() -> Node {
    let mut device = free_volume(volume());
    if let profile::Device::Volume(volume) = &mut device {
        volume.flush = uniform(FLUSH / US, FLUSH / US);
    }
    leaf(device)
}

/// Run of *n* threads that sync each write, on a host without any cost but that of array flushes.
fn syncing(node: Node, jobs: u32, array_flush: Option<Nanos>) -> Left {
    let stream = StreamSpec { jobs, read: Share(0), sync: Some(Sync::Fdatasync { every: 1 }), ..StreamSpec::default() };
    let model = HostModel { array_flush: array_flush.map(time), ..host(64, 0) };
    run(&on(model, spec_of(node, stream, for_time(SECOND))))
}

#[test]
fn flush_turn_is_busy_while_a_flush_has_it() {
    // Writes take no time here: a thread that has synced syncs again at once.
    for jobs in [1, 50] {
        let left = syncing(raid1(2, flushing(), ReadBalance::default()), jobs, Some(60 * US));
        assert_eq!(left.sum("capacity.flush_turn_ns"), SECOND);
        let share = left.sum("busy.flush_turn_ns") as f64 / SECOND as f64;
        assert!((0.999..=1.0).contains(&share), "{jobs} jobs: {share}");
    }
    let beside = syncing(raid1(2, flushing(), ReadBalance::default()), 50, None);
    assert_eq!(beside.sum("capacity.flush_turn_ns"), 0, "where none takes turns there is none");
}

fn arrays() -> [Node; 4] {
    let mirror = raid1(2, flushing(), ReadBalance::default());
    [raid0(3, flushing()), mirror, raid10(4, flushing()), raid5(4, flushing())]
}

#[test]
fn flushes_of_an_array_wait_for_all_earlier_ones() {
    for node in arrays() {
        for (jobs, kernel) in [(1, 60 * US), (7, 60 * US), (50, 60 * US), (50, 960 * US)] {
            let (left, turn) = (syncing(node.clone(), jobs, Some(kernel)), kernel + FLUSH);
            let (count, sum) = (left.sum("sync.count"), left.sum("sync.latency_sum"));
            assert!((SECOND / turn - 1..=SECOND / turn).contains(&count), "{count} of {turn} ns in a second");
            let (jobs, first) = (u64::from(jobs), u64::from(jobs) * (u64::from(jobs) - 1) / 2);
            assert_eq!(sum, (count * jobs - first) * turn, "each waits for one of every thread, at first for fewer");
            assert_eq!(left.sum("time.host_ns_sum"), count * kernel, "the kernel's part");
        }
    }
}

// slow: whole seconds of flushes on each array
#[test]
fn flushes_without_kernel_array_pass_concurrently() {
    for node in arrays() {
        for none in [None, Some(0)] {
            let left = syncing(node.clone(), 7, none);
            assert_eq!(left.sum("sync.latency_sum"), left.sum("sync.count") * FLUSH);
            assert_eq!(left.sum("sync.count"), 7 * (SECOND / FLUSH));
        }
    }
    let controller = cached(raid1(2, flushing(), ReadBalance::default()), 64 << 20, CacheKind::BatteryBacked);
    for node in [flushing(), partition(flushing(), 1, 64), controller] {
        let (with, without) = (syncing(node.clone(), 7, Some(60 * US)), syncing(node, 7, None));
        assert_eq!(with.digest, without.digest);
    }
}

#[test]
fn reads_and_writes_do_not_wait_for_flush_turns() {
    let mirror = raid1(2, flushing(), ReadBalance::default());
    let streams = |kernel| {
        let mut spec = spec_of(mirror.clone(), StreamSpec::default(), for_time(SECOND / 100));
        let reads = StreamSpec { think_time: Time(10 * US), ..StreamSpec::default() };
        let syncs = StreamSpec { jobs: 7, read: Share(0), sync: Some(Sync::Fdatasync { every: 1 }), ..reads.clone() };
        spec.phases[0].streams[0].stream = reads;
        let beside = PhaseStream { name: "beside".into(), stream: syncs, ..spec.phases[0].streams[0].clone() };
        spec.phases[0].streams.push(beside);
        let left = run(&on(HostModel { array_flush: Some(time(kernel)), ..host(64, 0) }, spec));
        (left.sum("read.count"), left.sum("read.latency_sum"))
    };
    assert_eq!(streams(60 * US), streams(0));
}

#[test]
fn lone_request_takes_the_sum_of_its_costs() {
    let mut model = host(4, 0);
    model.synchronous = path(5 * US, 7 * US, 3 * US);
    model.interrupt.cost = time(2 * US);
    (model.context_switch, model.wake_up, model.cold_caches) = (time(US), time(4 * US), Some(time(6 * US)));
    let mut profile = without_overhead(without_seeks(disk()));
    profile.revolution.value.0 = 0;
    let think_time = Time(MS);
    let stream = StreamSpec { think_time, ..StreamSpec::default() };
    let left = run(&on(model, spec(hdd(profile), stream, for_time(SECOND))));
    // Switch with cold caches, submit, 30 µs of disk, interrupt, wake up, switch, complete.
    let (count, sum) = (left.sum("read.count"), left.sum("read.latency_sum"));
    assert_eq!(sum, count * (7 + 5 + 30 + 2 + 4 + 7 + 3) * US);
    assert_eq!(left.sum("time.host_ns_sum"), count * 28 * US);
    assert_eq!(left.sum("time.media_ns_sum"), count * 30 * US);
}

#[test]
fn thread_that_issues_at_once_keeps_its_processor() {
    let mut model = host(1, 0);
    model.synchronous = path(5 * US, 5 * US, 3 * US);
    model.context_switch = time(US);
    let mut profile = without_overhead(without_seeks(disk()));
    profile.revolution.value.0 = 0;
    let left = run(&on(model, spec(hdd(profile), StreamSpec::default(), for_time(SECOND))));
    // One switch per read: at its completion.
    let (count, sum) = (left.sum("read.count") as f64, left.sum("read.latency_sum") as f64);
    assert_close(sum / count, 39_000.0, 1e-4, "onto a processor once");
}

fn mixed() -> RunSpec {
    let stream = StreamSpec {
        read: Share(600_000),
        queue_depth: 4,
        jobs: 9,
        sync: Some(Sync::Fdatasync { every: 3 }),
        ..StreamSpec::default()
    };
    let mut spec = spec(hdd(elevator(with_depth(disk(), 8))), stream.clone(), for_time(20 * SECOND));
    let arrivals = Arrivals::Poisson { rate: Rate(20_000) };
    spec.phases.push(phase("open", StreamSpec { arrivals, ..stream.clone() }, for_time(20 * SECOND)));
    spec.phases.push(phase("bounded", StreamSpec { queue_depth: 1, ..stream }, for_amount(10_000_000)));
    spec
}

#[test]
fn host_without_any_cost_changes_nothing() {
    let (with, without) = (run(&on(host(3, 0), mixed())), run(&mixed()));
    assert_eq!(with.digest, without.digest);
    let kept = |left: &Left| left.series.iter().filter(|row| row.2 != "host").cloned().collect::<Vec<_>>();
    assert_eq!(kept(&with), kept(&without));
}

#[test]
fn latency_parts_add_up_with_every_host_mechanism() {
    parts_add_up(mixed());
    let mirror = raid1(2, leaf(hdd(elevator(with_depth(disk(), 8)))), ReadBalance::default());
    let mut mirrored = mixed();
    (mirrored.storage[0].size, mirrored.storage[0].model) = (mirror.capacity(), Some(mirror));
    parts_add_up(mirrored);
}

fn parts_add_up(spec: RunSpec) {
    let left = run(&on(busy_host(), spec.clone()));
    let parts: u64 =
        ["queue", "host", "controller", "media"].map(|p| left.sum(&format!("time.{p}_ns_sum"))).iter().sum();
    let latencies: u64 = ["read", "write", "sync"].map(|o| left.sum(&format!("{o}.latency_sum"))).iter().sum();
    assert_eq!(parts, latencies);
    assert!(left.sum("time.host_ns_sum") > 0);
    assert_eq!(left.digest, run(&on(busy_host(), spec)).digest, "and the same again");
    for row in left.series.iter().filter(|row| row.3.starts_with("busy.")) {
        let of = row.3.replace("busy", "capacity");
        let capacity = left.series.iter().find(|other| (other.0, &other.2, &other.3) == (row.0, &row.2, &of));
        assert!(capacity.is_some_and(|capacity| row.4 <= capacity.4), "{row:?} {capacity:?}");
    }
}

#[test]
fn many_jobs_on_a_fast_device_all_make_progress() {
    for (jobs, queue_depth) in [(200, 1), (7, 64)] {
        let stream = StreamSpec { jobs, queue_depth, ..StreamSpec::default() };
        let mut model = busy_host();
        model.time_slice = time(100 * US);
        let left = run(&on(model, spec(null(), stream, for_amount(u64::from(jobs) * 400 * 4096))));
        assert_eq!(left.sum("read.count"), u64::from(jobs) * 400);
    }
}

#[test]
fn interrupts_that_fill_a_processor_do_not_starve_its_thread() {
    let mut model = host(8, US);
    model.interrupt = Interrupt { cost: time(4 * US), placement: sourced(Placement::OneCore) };
    let stream = StreamSpec { jobs: 12, ..StreamSpec::default() };
    let left = run(&on(model, spec(null(), stream, for_amount(12 * 4000 * 4096))));
    assert_eq!(left.sum("read.count"), 12 * 4000);
    let all = summarise(&left.histograms, &Windows::new()).expect("a log");
    let longest = all.values().map(|of| of.max).max().expect("there were reads");
    assert!(longest > MS && longest < 10 * MS, "a time slice of 4 ms and its turn: {longest}");
}

#[test]
fn synchronous_job_keeps_one_request_outstanding() {
    let mut spec =
        on(host(2, US), spec(null(), StreamSpec { queue_depth: 2, ..StreamSpec::default() }, for_time(SECOND)));
    assert!(crate::support::refused(&spec).is_empty(), "libaio is there");
    spec.host.as_mut().expect("a host").submission = Some(Submission::Synchronous);
    let sentences = crate::support::refused(&spec);
    assert!(sentences.iter().any(|sentence| sentence.contains("one request outstanding")), "{sentences:?}");
    spec.host.as_mut().expect("a host").model.libaio = None;
    spec.host.as_mut().expect("a host").submission = None;
    assert_eq!(crate::support::refused(&spec).len(), 1);
}

#[test]
fn server_user_time_is_its_computing_and_system_time_the_rest() {
    let mut spec = database(MYSQL_57, null(), "256 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1000);
    round_costs(&mut spec);
    model(&mut spec).change_buffer = None;
    let mut host = host(4, 3 * US);
    (host.context_switch, host.interrupt.cost) = (time(2 * US), time(US));
    let cpu = &mut model(&mut spec).cpu;
    (cpu.clock, cpu.page_write) = (host.clock.clone(), time(0));
    let left = run_database(&on(host, spec));
    let [user, system, busy] = ["process.cpu_user_ns", "process.cpu_system_ns", "busy.cores_ns"].map(|of| left.of(of));
    assert_eq!(user + system, busy);
    // A statement with one row and one change, four page requests and a commit.
    assert_close(user, left.of("transaction.count") * ((50 + 7 + 4 + 10) * US) as f64, 0.001, "user time");
    // A write and a sync of the log, each with submission, interrupt and switch, and a little for
    // the page cleaner.
    assert_close(system, left.of("transaction.count") * (2 * (3 + 1 + 2) * US) as f64, 0.05, "time in the kernel");
}

#[test]
fn cold_caches_cost_user_time_per_context_switch() {
    let [cold, warm] = [Some(time(8 * US)), None].map(|cold| {
        let mut spec = database(MYSQL_57, null(), "256 MiB", &KEYS.replace("clients = 4", "clients = 1"), 1000);
        round_costs(&mut spec);
        model(&mut spec).change_buffer = None;
        let mut host = host(4, 0);
        (host.context_switch, host.cold_caches) = (time(2 * US), cold);
        let left = run_database(&on(host, spec));
        ["process.cpu_user_ns", "process.cpu_system_ns"].map(|of| left.of(of) / left.of("transaction.count"))
    });
    // A write and a sync of the log: the client is switched in after each.
    assert_close(cold[0] - warm[0], (2 * 8 * US) as f64, 0.05, "user time of a transaction");
    assert_close(cold[1], warm[1], 0.05, "time in the kernel of a transaction");
}
