//! How busy the things are that requests share: what a bottleneck is found by.

use tameshi_base::Nanos;

/// A kind of thing that works for one request after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// What holds the data: arms of disks, dies of flash.
    Media,
    /// Buses between a controller and its media.
    Channels,
    /// Electronics of a device, a controller or a cache.
    Controller,
    /// The way between host and device, or between hosts.
    Link,
    /// Processors of the host.
    Cores,
    /// A lock in the host's kernel: of a file, a volume or a request queue.
    Lock,
    /// What a hypervisor does for its guest's requests.
    Hypervisor,
    /// What a drive may draw beyond idling: it works for as long as it takes to carry what was begun.
    Power,
    /// Threads of the jobs: their own work in the host. One that waits for a request, a lock or a processor does none.
    Threads,
    /// The way between a host and a controller's cache, as the ports of a disk array.
    Port,
    /// What a drive may draw beyond idling while it is too warm: it works for as long as it takes to carry what was begun then.
    Thermal,
}

/// Their words in metrics, in the order of their discriminants.
pub const RESOURCE_WORDS: [&str; 11] =
    ["media", "channels", "controller", "link", "cores", "lock", "hypervisor", "power", "threads", "port", "thermal"];

/// Per resource how many there are and how long they have worked, all together, since a run's begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage(pub(crate) [(u64, u64); RESOURCE_WORDS.len()]);

impl Usage {
    /// `servers` more of a resource, which have worked `busy_ns` together up to now.
    pub fn add(&mut self, resource: Resource, servers: u64, busy_ns: Nanos) {
        let (all, busy) = &mut self.0[resource as usize];
        (*all, *busy) = (*all + servers, *busy + busy_ns);
    }

    /// How many of a resource there are, and how long they have worked together.
    pub fn of(&self, resource: Resource) -> (u64, Nanos) {
        self.0[resource as usize]
    }

    /// Word, time worked since `before` and time there was, of each resource that exists, over an interval.
    pub(crate) fn since(&self, before: &Self, length_ns: Nanos) -> impl Iterator<Item = (&'static str, Nanos, Nanos)> {
        let pairs = self.0.into_iter().zip(before.0).zip(RESOURCE_WORDS);
        pairs.filter(|(((servers, _), _), _)| *servers > 0).map(move |(((servers, busy), (_, earlier)), word)| {
            (word, busy.saturating_sub(earlier), servers.saturating_mul(length_ns))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interval_used_is_the_difference_over_all_servers() {
        let (mut before, mut after) = (Usage::default(), Usage::default());
        before.add(Resource::Media, 2, 100);
        after.add(Resource::Media, 1, 150);
        after.add(Resource::Media, 1, 50);
        after.add(Resource::Link, 1, 0);
        let rows: Vec<_> = after.since(&before, 70).collect();
        assert_eq!(rows, [("media", 100, 140), ("link", 0, 70)]);
    }
}
