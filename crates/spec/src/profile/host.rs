//! Hosts: processor costs of each request.

use super::Sourced;
use super::range::{COUNT, Limit, MS, ProfileError, RATE, SIZE, TIME, US, or_none, outside};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tameshi_base::InputErrorKind;
use tameshi_base::units::{Rate, Share, Size, Time};

/// A host profile file: description and costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// The machine and its operating system in one sentence.
    pub description: String,
    /// Its processors and costs.
    pub host: HostModel,
}

/// A machine's processors, and the kernel's cost of each request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostModel {
    /// Processor sockets.
    pub sockets: Sourced<u32>,
    /// Cores of each.
    pub cores_per_socket: Sourced<u32>,
    /// Logical processors of each core: 2 with simultaneous multithreading.
    pub threads_per_core: Sourced<u32>,
    /// Memory; absent: it is not known, and a database whose files go through the page cache needs
    /// `host.memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Sourced<Size>>,
    /// Cycles per second; the costs below hold at this clock.
    pub clock: Sourced<Rate>,
    /// Slowdown of work while another logical processor of the same core works; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_penalty: Option<Sourced<Share>>,
    /// Calls that return when the request is complete: one request outstanding per job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronous: Option<AccessPath>,
    /// Linux's asynchronous I/O (`io_submit`, `io_getevents`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libaio: Option<AccessPath>,
    /// Linux's io_uring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_uring: Option<AccessPath>,
    /// Windows' overlapped I/O with completion ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlapped: Option<AccessPath>,
    /// For each 4 KiB of a request beyond the first: pinning and mapping its memory; absent:
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Sourced<Time>>,
    /// Notification of the host that a request is complete.
    pub interrupt: Interrupt,
    /// Taking a thread off a processor and putting another one on, each time that a thread which
    /// waited runs again.
    pub context_switch: Sourced<Time>,
    /// Further cost to the thread of a context switch: it finds cold caches and its own work takes
    /// longer; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_caches: Option<Sourced<Time>>,
    /// From the interrupt's end until a thread that waits can run: idle states, the scheduler on
    /// another processor. Takes no processor time.
    pub wake_up: Sourced<Time>,
    /// Longest time for which a thread works before a waiting thread gets its turn, or before it
    /// moves from a shared core to an idle one.
    pub time_slice: Sourced<Time>,
    /// Lock that threads hold in turn for each request to a storage; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Lock>,
    /// Work of the kernel for each flush of one of its arrays (`raid0` to `raid10`), from its turn
    /// until the members get the flush. One flush of an array runs at a time, up to the members'
    /// answers, while others wait (md of Linux, while it had one `flush_bio`). Takes no processor
    /// time. Absent: flushes run side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array_flush: Option<Sourced<Time>>,
    /// Slowdown of work if many threads want to run; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contention: Option<Contention>,
    /// Drivers that translate flash addresses on the host's processors, by the beginning of the
    /// device profile's name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub driver: IndexMap<String, Driver>,
    /// The hypervisor between this host, a guest, and its storage; absent: there is none, or its
    /// queues are the guest's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<Hypervisor>,
    /// Share of each cost that varies at random, exponentially distributed about its mean; absent:
    /// costs are constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Sourced<Share>>,
}

/// Cost of one way to submit a request, to the submitting thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPath {
    /// From the call to the device's doorbell, for a read.
    pub read: Sourced<Time>,
    /// The same for a write, a trim or a flush.
    pub write: Sourced<Time>,
    /// Taking the completion, until the thread's own code continues.
    pub complete: Sourced<Time>,
}

/// An interrupt's cost and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// Handler, completion of the request, and waking the thread; interrupts the work that the
    /// processor was doing.
    pub cost: Sourced<Time>,
    /// Processor that gets the interrupt.
    pub placement: Sourced<Placement>,
}

/// Processor that gets an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The one that submitted the request: a queue and a vector for each processor.
    SubmittingCore,
    /// Always the first: one vector without balancing.
    OneCore,
    /// Spread evenly, whichever processor submitted.
    Spread,
}

/// Time that a storage's lock is held for a request, within the submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// For a read: a single request queue's lock.
    pub read: Sourced<Time>,
    /// For a write: that, and a file's own lock.
    pub write: Sourced<Time>,
}

/// Work that grows with the number of threads that want to run: caches and locks pass from one to
/// the other (the coherency term of the universal scalability law).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// Threads up to which the other costs already hold the contention.
    pub free_threads: Sourced<u32>,
    /// Slowdown of all work per thread beyond them.
    pub per_thread: Sourced<Share>,
}

/// Cost per submission of a driver that translates flash addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// To a read.
    pub read: Sourced<Time>,
    /// To a write or trim.
    pub write: Sourced<Time>,
}

/// A hypervisor that carries a guest's requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hypervisor {
    /// For each request, on a thread of the hypervisor's own and a processor that the guest does
    /// not see.
    pub request: Sourced<Time>,
    /// Such threads.
    pub threads: Sourced<u32>,
}

/// Way to submit requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Submission {
    /// Calls that return when the request is complete; a job has one request outstanding.
    Synchronous,
    /// Linux's asynchronous I/O.
    Libaio,
    /// Linux's io_uring.
    IoUring,
    /// Windows' overlapped I/O.
    Overlapped,
}

impl Submission {
    /// All of them; where a study doesn't say, the first that a host has and that keeps enough
    /// outstanding.
    pub const ALL: [Self; 4] = [Self::Synchronous, Self::IoUring, Self::Libaio, Self::Overlapped];

    /// The word in studies and profiles.
    pub fn word(self) -> &'static str {
        match self {
            Self::Synchronous => "synchronous",
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::Overlapped => "overlapped",
        }
    }
}

impl HostModel {
    /// Return the cost of a way to submit, if this host has it.
    pub fn path(&self, submission: Submission) -> Option<&AccessPath> {
        match submission {
            Submission::Synchronous => self.synchronous.as_ref(),
            Submission::Libaio => self.libaio.as_ref(),
            Submission::IoUring => self.io_uring.as_ref(),
            Submission::Overlapped => self.overlapped.as_ref(),
        }
    }

    /// Return the way in which a job with that many outstanding requests submits.
    ///
    /// # Errors
    /// The reason why it can't, as a clause.
    pub fn chosen(&self, asked: Option<Submission>, queue_depth: u32) -> Result<(Submission, &AccessPath), String> {
        let fits = |submission: Submission| queue_depth == 1 || submission != Submission::Synchronous;
        let has = |submission: Submission| self.path(submission).map(|path| (submission, path));
        match asked {
            Some(submission) if !fits(submission) => {
                Err("a synchronous job has one request outstanding; use more jobs, or another `host.submission`".into())
            }
            Some(submission) => has(submission).ok_or_else(|| format!("this host has no `{}`", submission.word())),
            None => Submission::ALL
                .into_iter()
                .filter(|&submission| fits(submission))
                .find_map(has)
                .ok_or_else(|| "this host has no way to keep that many requests of one job outstanding".into()),
        }
    }
}

/// Thousandths of a cycle per second.
const MEGAHERTZ: u64 = 1_000_000_000;

/// The first thing in a host profile that can't be.
pub(crate) fn host_error(host: &HostModel) -> Option<ProfileError<'_>> {
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
    let no_way = || ProfileError {
        path: vec![],
        kind: InputErrorKind::MissingKey,
        message: "this host has no way to submit a request".into(),
        accepted: "one of synchronous, libaio, io_uring, overlapped".into(),
    };
    outside("host", limits).or_else(|| paths.iter().all(|(_, path)| path.is_none()).then(no_way))
}

/// Limit of a processor's work for a request.
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
