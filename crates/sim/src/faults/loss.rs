//! What befalls a storage: a member dies, a new one takes its place, power fails.
//!
//! A command that can't be carried out because too much is gone fails after [`ERROR_AFTER`]. A dead drive is noticed at
//! once: no time-out passes first. Power comes back at once, too; what it costs is what was lost.

use tameshi_base::Nanos;

/// After how long a command fails that nobody can carry out: the error path of the host and its retries, at least the
/// time in which a closed loop must not stand still. An engineering prior.
pub(crate) const ERROR_AFTER: Nanos = 10_000_000;

/// What a power cut costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Commands that were not complete; they fail.
    pub outstanding: u64,
    /// Writes that were complete, held only by something volatile, and are lost; of flash drives the mapping units.
    pub lost_writes: u64,
    /// Bytes of the storage that hold something older than what was acknowledged.
    pub lost_bytes: u64,
    /// Writes that were not complete, and of which some mapping units are new and others old; those up to what a flash drive
    /// writes atomically are never among them.
    pub torn_writes: u64,
    /// Sides of replicas to which is sent once more what was under way to them.
    pub resyncs: u32,
    /// Longest time that a drive needed to bring its buffer to the flash; zero where none is protected.
    pub flush_ns: Nanos,
    /// Shortest time that its capacitor gave it; zero where none is protected.
    pub hold_up_ns: Nanos,
}

impl Loss {
    /// Together with another part of the storage.
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
    /// When.
    pub at: Nanos,
    /// When it began; later than its replacement where another rebuild went first.
    pub since: Nanos,
    /// Which drive, counted from zero over the whole stack.
    pub drive: u32,
    /// Which of its channels, where it is not the drive that died.
    pub channel: Option<u32>,
    /// Whether it was whole but for what had been under way to it.
    pub is_resync: bool,
    /// Bytes written to it, or moved because of the channel.
    pub bytes: u64,
}
