//! Consequences of faults: failed commands, losses at a power cut, rebuilds.
//!
//! A command that no drive can carry out fails after [`ERROR_AFTER`]. A dead drive is noticed at
//! once, without a timeout. Power returns at once as well: only the losses cost something.

use tameshi_base::Nanos;

/// Time after which a command fails that no drive can carry out.
///
/// It stands for the host's error path and its retries, and keeps a closed loop from standing
/// still. An engineering prior.
pub(crate) const ERROR_AFTER: Nanos = 10_000_000;

/// Losses at a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Commands that were not complete; they fail.
    pub outstanding: u64,
    /// Lost writes that were complete, but only in volatile memory; for flash drives, mapping
    /// units.
    pub lost_writes: u64,
    /// Bytes of the storage that hold older data than was acknowledged.
    pub lost_bytes: u64,
    /// Incomplete writes of which some mapping units are new and others old. Writes up to the
    /// atomic size of a flash drive are never torn.
    pub torn_writes: u64,
    /// Sides of replicas that receive again what was in flight to them.
    pub resyncs: u32,
    /// Longest time that a drive needed to write its buffer to flash; zero without protection.
    pub flush_ns: Nanos,
    /// Shortest hold-up time of a drive's capacitor; zero without protection.
    pub hold_up_ns: Nanos,
}

impl Loss {
    /// Add the loss of another part of the storage.
    pub(crate) fn add(&mut self, other: &Self) {
        self.outstanding += other.outstanding;
        self.lost_writes += other.lost_writes;
        self.lost_bytes += other.lost_bytes;
        self.torn_writes += other.torn_writes;
        self.resyncs += other.resyncs;
        self.flush_ns = self.flush_ns.max(other.flush_ns);
        self.hold_up_ns = match (self.hold_up_ns, other.hold_up_ns) {
            (0, only) | (only, 0) => only,
            (one, other) => one.min(other),
        };
    }
}

/// A rebuild that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// End of the rebuild.
    pub at: Nanos,
    /// Begin of the rebuild; later than the replacement if another rebuild went first.
    pub since: Nanos,
    /// Number of the drive, from zero over the whole stack.
    pub drive: u32,
    /// Failed channel, unless the whole drive was rebuilt.
    pub channel: Option<u32>,
    /// The drive lacked only what had been in flight to it.
    pub is_resync: bool,
    /// Bytes written to the drive, or moved because of the channel.
    pub bytes: u64,
}
