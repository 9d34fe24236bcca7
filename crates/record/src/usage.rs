//! How busy the things are that requests share: what a bottleneck is found by.

use tameshi_base::Nanos;

/// The resources, each with its word in metrics.
macro_rules! resources {
    ($($(#[$about:meta])* $name:ident = $word:literal,)*) => {
        /// A kind of thing that works for one request after the other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Resource {
            $($(#[$about])* $name,)*
        }

        /// All of them with their words.
        const RESOURCES: &[(Resource, &str)] = &[$((Resource::$name, $word),)*];
    };
}

resources! {
    /// What holds the data: arms of disks, dies of flash.
    Media = "media",
    /// Buses between a controller and its media.
    Channels = "channels",
    /// Electronics of a device, a controller or a cache.
    Controller = "controller",
    /// The way between host and device, or between hosts.
    Link = "link",
    /// Processors of the host.
    Cores = "cores",
    /// A lock in the host's kernel: of a file, a volume or a request queue.
    Lock = "lock",
    /// What a hypervisor does for its guest's requests.
    Hypervisor = "hypervisor",
    /// What a drive may draw beyond idling: it works for as long as it takes to carry what was begun.
    Power = "power",
    /// Threads of the jobs: their own work in the host. One that waits for a request, a lock or a processor does none.
    Threads = "threads",
    /// The way between a host and a controller's cache, as the ports of a disk array.
    Port = "port",
    /// What a drive may draw beyond idling while it is too warm: it works for as long as it takes to carry what was begun then.
    Thermal = "thermal",
    /// Processors that devices interrupt, while they serve that.
    Interrupts = "interrupts",
    /// What a provider lets through to a volume, in commands and bytes.
    Allowance = "allowance",
    /// Places for the commands that a drive takes: of all queues together each is taken from a command's turn to its end, of a
    /// drive with one queue all are while commands wait for one.
    Places = "places",
    /// The turn of an array's flushes, where the kernel passes on one at a time: from when it has it to the members' end.
    FlushTurn = "flush_turn",
}

/// So many of a resource that share their work, and how long they have worked together since a run's begin: the dies of a drive,
/// one way of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    resource: Resource,
    servers: u64,
    pub(crate) busy_ns: Nanos,
    /// `None` where requests wait for all that it does.
    pub(crate) waits: Option<Waits>,
}

/// Who waits for what works on without them, as the far side of a mirror that acknowledges when the near one is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How often somebody began to wait for it, since a run's begin.
    pub so_far: u64,
    /// Whether somebody waits for it now.
    pub now: bool,
}

impl Waits {
    /// Both must be waited for.
    fn and(self, other: Self) -> Self {
        Self { so_far: self.so_far.min(other.so_far), now: self.now && other.now }
    }
}

impl Part {
    /// Whether anybody waited for it since `before`.
    fn is_waited_for(&self, before: &Self) -> bool {
        let nobody = |(now, before): (Waits, Waits)| now.so_far == before.so_far && !before.now;
        !self.waits.zip(before.waits).is_some_and(nobody)
    }
}

/// What of each resource there is, and how long it has worked since a run's begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage(pub(crate) Vec<Part>);

impl Usage {
    /// `servers` more of a resource, which have worked `busy_ns` together up to now, and for nobody else.
    pub fn add(&mut self, resource: Resource, servers: u64, busy_ns: Nanos) {
        self.0.push(Part { resource, servers, busy_ns, waits: None });
    }

    /// What `added` adds has been waited for no more than `waits` tell.
    pub fn aside(&mut self, waits: Waits, added: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        added(self);
        for part in &mut self.0[before..] {
            part.waits = Some(part.waits.map_or(waits, |of| of.and(waits)));
        }
    }

    /// How many of a resource there are, and how long they have worked together.
    pub fn of(&self, resource: Resource) -> (u64, Nanos) {
        self.parts(resource).fold((0, 0), |(all, busy), part| (all + part.servers, busy + part.busy_ns))
    }

    fn parts(&self, resource: Resource) -> impl Iterator<Item = &Part> {
        self.0.iter().filter(move |part| part.resource == resource)
    }

    /// Word, time worked since `before` and time there was, of each resource that exists, over an interval: of its busiest part,
    /// for what is behind that one waits for it, however idle the others are; a part that nobody waited for is none. What has
    /// other parts than before is told of all together.
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
            // What is counted ahead of its time, as a program that makes room for a read, may fall into the interval before.
            (servers > 0).then(|| (word, worked.min(there_was), there_was))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interval_used_is_that_of_the_busiest_part() {
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
    fn a_part_that_nobody_waited_for_is_not_told_however_busy() {
        let told = |before: Waits, after: Waits| {
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
        assert_eq!(told(waits(3, false), waits(3, false)), [("media", 30, 70)]);
        for (before, after) in [(waits(3, true), waits(3, false)), (waits(3, false), waits(4, true))] {
            assert_eq!(told(before, after), [("media", 60, 70), ("link", 60, 70)]);
        }
    }

    #[test]
    fn no_interval_tells_of_more_work_than_there_was_time_for() {
        let (before, mut after) = (Usage::default(), Usage::default());
        after.add(Resource::Media, 2, 141);
        assert_eq!(after.since(&before, 70).collect::<Vec<_>>(), [("media", 140, 140)]);
    }

    #[test]
    fn what_has_lost_a_part_is_told_of_all_together() {
        let (mut before, mut after) = (Usage::default(), Usage::default());
        before.add(Resource::Media, 1, 100);
        before.add(Resource::Media, 1, 10);
        after.add(Resource::Media, 1, 150);
        assert_eq!(after.since(&before, 70).collect::<Vec<_>>(), [("media", 40, 70)]);
    }
}
