//! Values of a host profile that no machine can have; a time in the wrong unit, off by a factor of a thousand, lies outside.

use super::limit::{COUNT, Impossible, Limit, MS, RATE, SIZE, TIME, US, or_none, outside};
use super::{AccessPath, HostModel};
use tameshi_base::InputErrorKind;
use tameshi_base::units::Time;

/// Thousandths of a cycle per second.
const MEGAHERTZ: u64 = 1_000_000_000;

/// The first thing in a host profile that can't be.
pub(crate) fn impossible_host(host: &HostModel) -> Option<Impossible<'_>> {
    let paths = [
        ("synchronous", &host.synchronous),
        ("libaio", &host.libaio),
        ("io_uring", &host.io_uring),
        ("overlapped", &host.overlapped),
    ];
    let mut limits = machine_limits(host);
    for (name, path) in paths.iter().filter_map(|(name, path)| Some((*name, path.as_ref()?))) {
        limits.extend(path_limits(name, path));
    }
    let no_way = || Impossible {
        path: vec![],
        kind: InputErrorKind::MissingKey,
        message: "this host has no way to submit a request".into(),
        accepted: "one of synchronous, libaio, io_uring, overlapped".into(),
    };
    outside("host", limits).or_else(|| paths.iter().all(|(_, path)| path.is_none()).then(no_way))
}

/// What a processor does for a request.
fn cost(value: Time, path: Vec<&str>) -> Limit<'_> {
    or_none(Limit(value.0, path, TIME, 40, 39 * US))
}

fn path_limits(name: &'static str, path: &AccessPath) -> [Limit<'static>; 3] {
    [
        cost(path.read.value, vec![name, "read"]),
        cost(path.write.value, vec![name, "write"]),
        cost(path.complete.value, vec![name, "complete"]),
    ]
}

fn machine_limits(host: &HostModel) -> Vec<Limit<'_>> {
    let mut limits = vec![
        Limit(u64::from(host.sockets.value), vec!["sockets"], COUNT, 1, 64),
        Limit(u64::from(host.cores_per_socket.value), vec!["cores_per_socket"], COUNT, 1, 512),
        Limit(u64::from(host.threads_per_core.value), vec!["threads_per_core"], COUNT, 1, 8),
        Limit(host.clock.value.0, vec!["clock"], RATE, 100 * MEGAHERTZ, 10_000 * MEGAHERTZ),
        cost(host.interrupt.cost.value, vec!["interrupt", "cost"]),
        cost(host.context_switch.value, vec!["context_switch"]),
        cost(host.wake_up.value, vec!["wake_up"]),
        Limit(host.time_slice.value.0, vec!["time_slice"], TIME, 200 * US, 150 * MS),
    ];
    limits.extend(host.memory.iter().map(|memory| Limit(memory.value.0, vec!["memory"], SIZE, 16 << 20, 1 << 46)));
    limits.extend(host.cold_caches.iter().map(|cold| cost(cold.value, vec!["cold_caches"])));
    limits.extend(host.page.iter().map(|page| or_none(Limit(page.value.0, vec!["page"], TIME, 5, 4 * US))));
    limits.extend(
        host.lock.iter().flat_map(|lock| {
            [cost(lock.read.value, vec!["lock", "read"]), cost(lock.write.value, vec!["lock", "write"])]
        }),
    );
    let flush = |time: &Time| or_none(Limit(time.0, vec!["array_flush"], TIME, 2 * US, 1_900 * US));
    limits.extend(host.array_flush.iter().map(|time| flush(&time.value)));
    limits.extend(host.hypervisor.iter().flat_map(|of| {
        let threads = Limit(u64::from(of.threads.value), vec!["hypervisor", "threads"], COUNT, 1, 256);
        [cost(of.request.value, vec!["hypervisor", "request"]), threads]
    }));
    limits.extend(host.driver.iter().flat_map(|(name, driver)| {
        [("read", &driver.read), ("write", &driver.write)].map(|(key, of)| cost(of.value, vec!["driver", name, key]))
    }));
    limits
}
