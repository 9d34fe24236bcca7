//! The memory that a job's requests read into and write from, filled so that nothing compresses or repeats.

use crate::error::BlockError;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use tameshi_base::Random;
use tameshi_base::random::derived_seed;

/// Buffers start at multiples of this, and each such block of a write carries a stamp.
pub(crate) const BLOCK: usize = 4096;
const SEQUENCE_BITS: u32 = 48;

/// Reads and writes have halves of their own, so that what a read brought is never written again.
#[derive(Debug)]
pub(crate) struct Arena {
    base: NonNull<u8>,
    layout: Layout,
    stride: usize,
    slots: usize,
    nonce: u64,
    sequence: u64,
}

// SAFETY: the memory belongs to the arena alone; whoever holds the arena decides who uses it.
unsafe impl Send for Arena {}

impl Arena {
    /// Room for `slots` requests of up to `length_bytes` each; `owner` tells the arenas of one run apart.
    pub(crate) fn new(slots: u32, length_bytes: u64, seed: u64, owner: u16) -> Result<Self, BlockError> {
        let refused = || BlockError::Refused(vec![format!("no memory for {slots} requests of {length_bytes} bytes")]);
        let stride = usize::try_from(length_bytes).ok().and_then(|n| n.checked_next_multiple_of(BLOCK));
        let stride = stride.ok_or_else(refused)?;
        let bytes = stride.checked_mul(slots as usize).and_then(|n| n.checked_mul(2)).ok_or_else(refused)?;
        let layout = Layout::from_size_align(bytes.max(BLOCK), BLOCK).map_err(|_| refused())?;
        // SAFETY: the layout's size is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refused)?;
        let nonce = derived_seed(seed, "blockio/nonce");
        let sequence = u64::from(owner) << SEQUENCE_BITS;
        let mut arena = Self { base, layout, stride, slots: slots as usize, nonce, sequence };
        arena.fill(&mut Random::named(seed, &format!("blockio/fill/{owner}")));
        Ok(arena)
    }

    fn fill(&mut self, random: &mut Random) {
        // SAFETY: the arena is this many bytes, initialised, and borrowed mutably.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.layout.size()) };
        for word in bytes.as_chunks_mut::<8>().0 {
            *word = random.bits().to_le_bytes();
        }
    }

    /// All of the memory, to register with the kernel.
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.layout.size())
    }

    /// Where `slot` reads to.
    #[inline]
    pub(crate) fn read_buffer(&self, slot: u32) -> *mut u8 {
        self.at(slot as usize)
    }

    /// Where `slot` writes `length` bytes from, each block of it stamped anew. The slot must have no write in flight.
    #[inline]
    pub(crate) fn write_buffer(&mut self, slot: u32, length: u32) -> *mut u8 {
        assert!(length as usize <= self.stride, "a write of {length} bytes from a buffer of {}", self.stride);
        let buffer = self.at(self.slots + slot as usize);
        for block in (0..length as usize).step_by(BLOCK) {
            self.sequence += 1;
            let stamp = (u128::from(self.sequence) << 64 | u128::from(self.nonce)).to_le_bytes();
            // SAFETY: the buffer has `stride` bytes, a multiple of BLOCK, and `block` is below that.
            unsafe { buffer.add(block).cast::<[u8; 16]>().write_unaligned(stamp) };
        }
        buffer
    }

    #[inline]
    fn at(&self, index: usize) -> *mut u8 {
        assert!(index < 2 * self.slots, "buffer {index} of {}", 2 * self.slots);
        // SAFETY: there are twice as many buffers as slots, each of `stride` bytes.
        unsafe { self.base.as_ptr().add(index * self.stride) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; whoever drops an arena has nothing in flight (else it is leaked).
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_block_is_ever_written_twice_and_none_compresses() {
        let mut seen = BTreeSet::new();
        for owner in 0..2 {
            let mut arena = Arena::new(3, 10_000, 7, owner).expect("memory");
            for round in 0..10 {
                let buffer = arena.write_buffer(round % 3, 10_000);
                // SAFETY: the buffer has 10 000 bytes.
                let bytes = unsafe { std::slice::from_raw_parts(buffer, 10_000) };
                for block in bytes.chunks(BLOCK) {
                    assert!(seen.insert(block.to_vec()), "a repeated block");
                    let values: BTreeSet<u8> = block.iter().copied().collect();
                    assert!(values.len() > 200, "{} byte values", values.len());
                }
            }
        }
    }

    #[test]
    fn memory_that_can_not_be_is_refused() {
        assert!(Arena::new(u32::MAX, 1 << 40, 1, 0).is_err());
    }
}
