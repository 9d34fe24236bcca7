//! Values of a host profile that no machine can have; a time in the wrong unit, off by a factor of a thousand, lies outside.

use super::limits::Impossible;
use super::{AccessPath, HostModel};
use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Time};

type Spell = fn(u64) -> String;
/// A value, its place, how it is spelled, its least and greatest.
type Limit = (u64, Vec<&'static str>, Spell, u64, u64);

const TIME: Spell = |nanos| Time(nanos).to_string();
const RATE: Spell = |rate| Rate(rate).to_string();
const COUNT: Spell = |count| count.to_string();
const MILLISECOND: u64 = 1_000_000;
/// Thousandths of a cycle per second.
const MEGAHERTZ: u64 = 1_000_000_000;

/// The first thing in a host profile that can't be.
pub(crate) fn impossible_host(host: &HostModel) -> Option<Impossible> {
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
    let found = limits.into_iter().find(|(value, _, _, least, most)| !(least..=most).contains(&value));
    if let Some((_, mut path, spell, least, most)) = found {
        let key = path.last().copied().unwrap_or_default().replace('_', " ");
        path.push("value");
        let message = format!("no host has this for its {key}");
        let accepted = format!("{} to {}", spell(least), spell(most));
        return Some(Impossible { path, kind: InputErrorKind::BadValue, message, accepted });
    }
    paths.iter().all(|(_, path)| path.is_none()).then(|| Impossible {
        path: vec![],
        kind: InputErrorKind::MissingKey,
        message: "this host has no way to submit a request".into(),
        accepted: "one of synchronous, libaio, io_uring, overlapped".into(),
    })
}

fn cost(value: Time, path: Vec<&'static str>) -> Limit {
    (value.0, path, TIME, 0, MILLISECOND)
}

fn path_limits(name: &'static str, path: &AccessPath) -> [Limit; 3] {
    [
        cost(path.read.value, vec![name, "read"]),
        cost(path.write.value, vec![name, "write"]),
        cost(path.complete.value, vec![name, "complete"]),
    ]
}

fn machine_limits(host: &HostModel) -> Vec<Limit> {
    let mut limits: Vec<Limit> = vec![
        (u64::from(host.sockets.value), vec!["sockets"], COUNT, 1, 64),
        (u64::from(host.cores_per_socket.value), vec!["cores_per_socket"], COUNT, 1, 512),
        (u64::from(host.threads_per_core.value), vec!["threads_per_core"], COUNT, 1, 8),
        (host.clock.value.0, vec!["clock"], RATE, 100 * MEGAHERTZ, 10_000 * MEGAHERTZ),
        cost(host.interrupt.cost.value, vec!["interrupt", "cost"]),
        cost(host.context_switch.value, vec!["context_switch"]),
        cost(host.wake_up.value, vec!["wake_up"]),
        (host.time_slice.value.0, vec!["time_slice"], TIME, MILLISECOND / 100, 1000 * MILLISECOND),
    ];
    limits.extend(host.page.iter().map(|page| cost(page.value, vec!["page"])));
    limits.extend(
        host.lock.iter().flat_map(|lock| {
            [cost(lock.read.value, vec!["lock", "read"]), cost(lock.write.value, vec!["lock", "write"])]
        }),
    );
    limits.extend(host.hypervisor.iter().flat_map(|of| {
        let threads = (u64::from(of.threads.value), vec!["hypervisor", "threads"], COUNT, 1, 1024);
        [cost(of.request.value, vec!["hypervisor", "request"]), threads]
    }));
    limits.extend(
        host.driver
            .values()
            .flat_map(|driver| [cost(driver.read.value, vec!["driver"]), cost(driver.write.value, vec!["driver"])]),
    );
    limits
}
