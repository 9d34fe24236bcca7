//! What a device tells of a command that it has completed, and where the time went.

use tameshi_base::{Command, Nanos};

/// Where a command's time went, in nanoseconds; the parts add up to its latency exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// Waiting for other commands: in the host because the device was full, or in the device.
    pub queue: Nanos,
    /// Work of the host.
    pub host: Nanos,
    /// Transfer between host and device.
    pub link: Nanos,
    /// The device's electronics.
    pub controller: Nanos,
    /// The medium: seek, rotation and transfer of a disk, array time of flash.
    pub media: Nanos,
    /// Waiting for the device to clean up.
    pub garbage_collection: Nanos,
    /// Waiting for an array's rebuild.
    pub rebuild: Nanos,
}

impl Breakdown {
    /// What a later stretch of the same command took.
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

    /// The parts of the last `time` of the latency. Which part was when is not kept: the medium counts as last, and
    /// waiting for others as first.
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

    /// All parts together: the latency from submission.
    pub fn total(&self) -> Nanos {
        self.queue + self.host + self.link + self.controller + self.media + self.garbage_collection + self.rebuild
    }
}

/// A command that a device has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCompletion {
    /// The command as it was submitted.
    pub command: Command,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it completed.
    pub at: Nanos,
    /// Where the time between went.
    pub breakdown: Breakdown,
    /// Whether it failed: nothing was read, or what was to be written may be lost.
    pub failed: bool,
}
