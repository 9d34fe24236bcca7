//! Completion of a command, and the breakdown of its latency.

use tameshi_base::{Command, Nanos};

/// Breakdown of a latency in nanoseconds; the parts add up to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// Waiting for other commands: in the host while the device is full, or in the device.
    pub queue: Nanos,
    /// Processing in the host.
    pub host: Nanos,
    /// Transfer between host and device.
    pub link: Nanos,
    /// Controller of the device.
    pub controller: Nanos,
    /// Medium: seek, rotation and transfer of a disk, array time of flash.
    pub media: Nanos,
    /// Waiting for garbage collection.
    pub garbage_collection: Nanos,
    /// Waiting for an array's rebuild.
    pub rebuild: Nanos,
}

impl Breakdown {
    /// Add the breakdown of a later stage of the same command.
    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.queue += other.queue;
        self.host += other.host;
        self.link += other.link;
        self.controller += other.controller;
        self.media += other.media;
        self.garbage_collection += other.garbage_collection;
        self.rebuild += other.rebuild;
    }

    /// Return the parts of the last `time` of the latency. The order of the parts is not kept:
    /// media time counts as last, and queueing as first.
    pub(crate) fn latest(&self, time: Nanos) -> Self {
        let mut left = time;
        let mut part = |of: Nanos| {
            let taken = of.min(left);
            left -= taken;
            taken
        };
        Self {
            media: part(self.media),
            link: part(self.link),
            controller: part(self.controller),
            garbage_collection: part(self.garbage_collection),
            rebuild: part(self.rebuild),
            host: part(self.host),
            queue: part(self.queue),
        }
    }

    /// Return the sum of all parts: the latency from submission.
    pub fn total(&self) -> Nanos {
        self.queue + self.host + self.link + self.controller + self.media + self.garbage_collection + self.rebuild
    }
}

/// Completed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCompletion {
    /// Command as submitted.
    pub command: Command,
    /// Time of submission.
    pub submitted: Nanos,
    /// Time of completion.
    pub at: Nanos,
    /// Breakdown of the time between.
    pub breakdown: Breakdown,
    /// True if it failed: nothing was read, or written data may be lost.
    pub failed: bool,
}
