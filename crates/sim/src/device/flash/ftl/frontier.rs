//! Write frontiers: the open blocks, by the kind of data written there.

/// Open block for one kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontier {
    /// Host data; with separation of hot data, the hot ones.
    Host,
    /// Data relocated by garbage collection; with separation of hot data, the cold ones.
    Relocated,
    /// Cold host data.
    Cold,
    /// Relocated data that were hot when written.
    Warm,
    /// Host data in the SLC cache.
    Cached,
}

impl Frontier {
    /// Number of frontiers.
    pub const COUNT: usize = 5;
    /// Frontiers of host data.
    pub const OF_HOST: [Self; 3] = [Self::Host, Self::Cold, Self::Cached];
    /// Frontiers of relocated data.
    pub const OF_RELOCATED: [Self; 2] = [Self::Relocated, Self::Warm];
}

/// Open block: the units not yet written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    /// Unit written next; equal to `end` without an open block.
    pub(super) next: u32,
    pub(super) end: u32,
}
