//! Utilisation of shared resources, by which bottlenecks are found.

use tameshi_base::Nanos;

/// Resources, each with its name in metrics.
macro_rules! resources {
    ($($(#[$about:meta])* $name:ident = $word:literal,)*) => {
        /// Kind of resource that serves one request after another.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Resource {
            $($(#[$about])* $name,)*
        }

        /// All resources with their names.
        const RESOURCES: &[(Resource, &str)] = &[$((Resource::$name, $word),)*];
    };
}

resources! {
    /// Media: arms of disks, dies of flash.
    Media = "media",
    /// Buses between a controller and its media.
    Channels = "channels",
    /// Electronics of a device, a controller or a cache.
    Controller = "controller",
    /// Link between host and device, or between hosts.
    Link = "link",
    /// Processors of the host.
    Cores = "cores",
    /// A lock in the host's kernel: of a file, a volume or a request queue.
    Lock = "lock",
    /// Hypervisor, working for its guest's requests.
    Hypervisor = "hypervisor",
    /// Power budget of a drive beyond idling. It is busy for the time that the budget needs for the
    /// commands begun.
    Power = "power",
    /// Threads of the jobs: their own work in the host. A thread that waits for a request, a lock
    /// or a processor does none.
    Threads = "threads",
    /// Port between a host and a controller's cache, as in a disk array.
    Port = "port",
    /// Power budget of a drive while it is too warm. It is busy for the time that the budget needs
    /// for the commands begun then.
    Thermal = "thermal",
    /// Processors, while they serve interrupts of devices.
    Interrupts = "interrupts",
    /// Provider's limit of a volume, in commands and bytes.
    Allowance = "allowance",
    /// Command slots of a drive. A slot of several queues is busy from a command's turn to its end.
    /// With one queue, all slots are busy while commands wait for one.
    Places = "places",
    /// Flush turn of an array, if the kernel passes on one flush at a time: from the start of the
    /// turn to the members' end.
    FlushTurn = "flush_turn",
}

/// Group of equal servers, and their total busy time since the run's start: the dies of a drive,
/// one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    resource: Resource,
    servers: u64,
    pub(crate) busy_ns: Nanos,
    /// `None` if requests wait for all of its work.
    pub(crate) waits: Option<Waits>,
}

/// Waits for a resource that also works without waiting requests, such as the remote side of a
/// mirror that acknowledges after the local one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Number of waits begun since the run's start.
    pub so_far: u64,
    /// True if a request waits now.
    pub now: bool,
}

impl Waits {
    /// Waits for both of two resources.
    fn and(self, other: Self) -> Self {
        Self { so_far: self.so_far.min(other.so_far), now: self.now && other.now }
    }
}

impl Part {
    /// True if a request waited since `before`.
    fn is_waited_for(&self, before: &Self) -> bool {
        let unused = |(now, before): (Waits, Waits)| now.so_far == before.so_far && !before.now;
        !self.waits.zip(before.waits).is_some_and(unused)
    }
}

/// Servers of each resource, and their busy time since the run's start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage(pub(crate) Vec<Part>);

impl Usage {
    /// Add `servers` of a resource that have worked `busy_ns` in total, for these requests only.
    pub fn add(&mut self, resource: Resource, servers: u64, busy_ns: Nanos) {
        self.0.push(Part { resource, servers, busy_ns, waits: None });
    }

    /// Add resources with `added`; requests waited for them at most as `waits` counts.
    pub fn aside(&mut self, waits: Waits, added: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        added(self);
        for part in &mut self.0[before..] {
            part.waits = Some(part.waits.map_or(waits, |of| of.and(waits)));
        }
    }

    /// Number of servers of a resource, and their total busy time.
    pub fn of(&self, resource: Resource) -> (u64, Nanos) {
        self.parts(resource).fold((0, 0), |(all, busy), part| (all + part.servers, busy + part.busy_ns))
    }

    fn parts(&self, resource: Resource) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(move |part| part.resource == resource)
    }

    /// Name, busy time and available time of each existing resource since `before`. Requests wait
    /// for the busiest part even if others are idle, so a resource counts by that part. A part
    /// without waits is left out. If the parts have changed, their sum counts.
    pub(crate) fn since(&self, before: &Self, length_ns: Nanos) -> impl Iterator<Item = (&'static str, Nanos, Nanos)> {
        RESOURCES.iter().filter_map(move |&(resource, word)| {
            let (servers, busy) = self.of(resource);
            let all = (busy.saturating_sub(before.of(resource).1), servers);
            let parts = || self.parts(resource).zip(before.parts(resource));
            let one_counts = self.parts(resource).count() == before.parts(resource).count();
            if one_counts && !parts().any(|(now, before)| now.is_waited_for(before)) {
                return None;
            }
            let each = parts().filter(|(now, before)| now.is_waited_for(before));
            let each = each.map(|(now, before)| (now.busy_ns.saturating_sub(before.busy_ns), now.servers));
            let busiest = each.filter(|(_, servers)| *servers > 0).max_by(|one, other| {
                let share = |(busy, servers): &(Nanos, u64)| (u128::from(*busy) << 32) / u128::from(*servers);
                share(one).cmp(&share(other))
            });
            let (worked, servers) = busiest.filter(|_| one_counts).unwrap_or(all);
            let there_was = servers.saturating_mul(length_ns);
            // Work counted ahead of its time, as a program that makes space for a read, may fall
            // into the interval before.
            (servers > 0).then(|| (word, worked.min(there_was), there_was))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_a_resource_is_that_of_its_busiest_part() {
        let (mut before, mut after) = (Usage::default(), Usage::default());
        for (usage, busy) in [(&mut before, [100, 10, 5, 30]), (&mut after, [140, 60, 5, 40])] {
            usage.add(Resource::Media, 2, busy[0]);
            usage.add(Resource::Media, 1, busy[1]);
            usage.add(Resource::Link, 1, busy[2]);
            for drive in [busy[3], 0] {
                usage.add(Resource::Power, 1, drive);
                usage.add(Resource::Thermal, 1, 2 * drive);
            }
        }
        let rows: Vec<_> = after.since(&before, 70).collect();
        assert_eq!(rows, [("media", 50, 70), ("link", 0, 70), ("power", 10, 70), ("thermal", 20, 70)]);
        assert_eq!(after.of(Resource::Media), (3, 200));
    }

    #[test]
    fn busy_part_without_waits_is_left_out() {
        let rows = |before: Waits, after: Waits| {
            let usage = |busy: u64, waits| {
                let mut usage = Usage::default();
                usage.add(Resource::Media, 1, busy / 2);
                usage.aside(waits, |usage| {
                    usage.add(Resource::Media, 1, busy);
                    usage.add(Resource::Link, 1, busy);
                });
                usage
            };
            usage(60, after).since(&usage(0, before), 70).collect::<Vec<_>>()
        };
        let waits = |so_far, now| Waits { so_far, now };
        assert_eq!(rows(waits(3, false), waits(3, false)), [("media", 30, 70)]);
        for (before, after) in [(waits(3, true), waits(3, false)), (waits(3, false), waits(4, true))] {
            assert_eq!(rows(before, after), [("media", 60, 70), ("link", 60, 70)]);
        }
    }

    #[test]
    fn busy_time_never_exceeds_available_time() {
        let (before, mut after) = (Usage::default(), Usage::default());
        after.add(Resource::Media, 2, 141);
        assert_eq!(after.since(&before, 70).collect::<Vec<_>>(), [("media", 140, 140)]);
    }

    #[test]
    fn usage_after_losing_a_part_is_summed() {
        let (mut before, mut after) = (Usage::default(), Usage::default());
        before.add(Resource::Media, 1, 100);
        before.add(Resource::Media, 1, 10);
        after.add(Resource::Media, 1, 150);
        assert_eq!(after.since(&before, 70).collect::<Vec<_>>(), [("media", 40, 70)]);
    }
}
