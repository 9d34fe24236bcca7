//! The blocks that are being written, by what is written there.

/// Which open block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontier {
    /// What the host writes; where hot data are told from cold ones, the hot.
    Host,
    /// What is moved out of blocks being reclaimed; where hot data are told from cold ones, the cold.
    Relocated,
    /// Cold data that the host writes.
    Cold,
    /// What is moved and was hot when it was written.
    Warm,
    /// What the host writes into the cache.
    Cached,
}

impl Frontier {
    /// How many there are.
    pub const COUNT: usize = 5;
    /// Those of the host's data.
    pub const OF_HOST: [Self; 3] = [Self::Host, Self::Cold, Self::Cached];
    /// Those of what is moved.
    pub const OF_RELOCATED: [Self; 2] = [Self::Relocated, Self::Warm];
}
