//! Flags of a frame.

/// In the old part of the LRU list.
pub(super) const OLD: u8 = 1;
pub(super) const READING: u8 = 2;
pub(super) const WRITING: u8 = 4;
pub(super) const DIRTY: u8 = 8;
/// Used since its page was read.
pub(super) const USED: u8 = 16;
/// In the counted tail of the LRU list.
pub(super) const TAIL: u8 = 32;
/// Being written; clients may not change it meanwhile.
pub(super) const LATCHED: u8 = 64;
/// Not replaceable.
pub(super) const HELD: u8 = READING | WRITING | DIRTY;
