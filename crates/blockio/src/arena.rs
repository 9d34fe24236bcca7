//! Memory of a job's requests, and the content of written data.
//!
//! Unless a stream asks for it, no two writes hold equal data, not even in parts, and no data
//! compress. A buffer is filled with random bytes once. Each later write combines them with a new
//! random word. Random bytes stay random, and earlier writes are neither repeated nor a dictionary
//! for later ones.

use crate::error::BlockError;
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use tameshi_base::random::derived_seed;
use tameshi_base::{Random, Share};
use tameshi_workload::StreamSpec;

/// Alignment of buffers. Each such block of a write that must not repeat carries a stamp.
pub(crate) const BLOCK: usize = 4096;
/// Page size of the memory, if the kernel has huge pages. The kernel copies into and out of them
/// faster, and at a speed that does not depend on the placement of small pages.
const HUGE_PAGE: usize = 2 << 20;
const SEQUENCE_BITS: u32 = 48;
/// Number of distinct contents of duplicates.
const DUPLICATES: u64 = 16;
/// Byte that fills compressible parts.
const FILL: u8 = 0x5A;
const FILL_WORD: u64 = u64::from_ne_bytes([FILL; 8]);
const WORD: usize = size_of::<u64>();

/// Content of written data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Random bytes per grain; the rest is one byte repeated.
    random_bytes: usize,
    grain: usize,
    duplicate: Share,
}

impl Content {
    /// Data that neither compress nor repeat.
    pub(crate) const PLAIN: Self = Self { random_bytes: BLOCK, grain: BLOCK, duplicate: Share(0) };

    /// Content that a stream asks for. The compressible part lies in each 4 KiB, or in each sector
    /// if requests are no multiples of 4 KiB.
    pub(crate) fn of(stream: &StreamSpec) -> Self {
        let whole = stream.lengths().iter().all(|length| length.size.0.is_multiple_of(BLOCK as u64));
        let grain = if whole { BLOCK } else { 512 };
        let filled = grain as u64 * u64::from(stream.compressible.0) / u64::from(Share::WHOLE.0);
        let random_bytes = (grain - filled as usize).next_multiple_of(WORD).max(WORD);
        // If nothing compresses, phases of any block size share the memory's content.
        let (random_bytes, grain) = if random_bytes == grain { (BLOCK, BLOCK) } else { (random_bytes, grain) };
        Self { random_bytes, grain, duplicate: stream.duplicate }
    }

    /// Overwrite the random part of each grain of `words` with `source`, each word combined with
    /// `key`.
    #[inline]
    fn overlay(&self, words: &mut [u64], source: &[u64], key: u64) {
        for (into, from) in words.chunks_mut(self.grain / WORD).zip(source.chunks(self.grain / WORD)) {
            let random = into.len().min(self.random_bytes / WORD);
            into[..random].iter_mut().zip(&from[..random]).for_each(|(into, from)| *into = from ^ key);
        }
    }

    /// Combine the random part of each grain with `key`.
    #[inline]
    fn whiten(&self, words: &mut [u64], key: u64) {
        if self.random_bytes == self.grain {
            words.iter_mut().for_each(|word| *word ^= key);
            return;
        }
        for grain in words.chunks_mut(self.grain / WORD) {
            let random = grain.len().min(self.random_bytes / WORD);
            grain[..random].iter_mut().for_each(|word| *word ^= key);
        }
    }

    /// Refill whole buffers.
    fn fill(&self, words: &mut [u64], random: &mut Random) {
        for grain in words.chunks_mut(self.grain / WORD) {
            let split = grain.len().min(self.random_bytes / WORD);
            grain[..split].iter_mut().for_each(|word| *word = random.bits());
            grain[split..].fill(FILL_WORD);
        }
    }
}

/// Buffers of a thread's requests. Reads and writes have separate halves, so that data that were
/// read are never written.
#[derive(Debug)]
pub(crate) struct Arena {
    base: NonNull<u8>,
    layout: Layout,
    stride: usize,
    slots: usize,
    content: Content,
    /// Contents of duplicates, as long as the longest request; empty if there are none.
    common: Vec<u64>,
    common_seed: u64,
    random: Random,
    nonce: u64,
    sequence: u64,
}

// SAFETY: the arena owns its memory; the owner of the arena decides on its use.
unsafe impl Send for Arena {}

impl Arena {
    /// Allocate room for `slots` requests of up to `length_bytes` each. `owner` tells the arenas of
    /// one run apart. `began` tells runs of one seed apart: cells share the seed, and the data of
    /// one must not duplicate another's.
    pub(crate) fn new(slots: u32, length_bytes: u64, seed: u64, owner: u16, began: u64) -> Result<Self, BlockError> {
        let refused = || BlockError::Refused(vec![format!("no memory for {slots} requests of {length_bytes} bytes")]);
        let stride = usize::try_from(length_bytes).ok().and_then(|n| n.checked_next_multiple_of(BLOCK));
        let stride = stride.ok_or_else(refused)?;
        let bytes = stride.checked_mul(slots as usize).and_then(|n| n.checked_mul(2)).ok_or_else(refused)?;
        let bytes = bytes.max(1).checked_next_multiple_of(HUGE_PAGE).ok_or_else(refused)?;
        let layout = Layout::from_size_align(bytes, HUGE_PAGE).map_err(|_| refused())?;
        // SAFETY: the layout's size is not zero.
        let base = NonNull::new(unsafe { alloc(layout) }).ok_or_else(refused)?;
        // Advice, given before the memory is touched; without it, small pages do. SAFETY: the range
        // was just allocated and begins at a page.
        unsafe { libc::madvise(base.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        // SAFETY: the memory is this long.
        unsafe { base.as_ptr().write_bytes(0, bytes) };
        let mut arena = Self {
            base,
            layout,
            stride,
            slots: slots as usize,
            content: Content::PLAIN,
            common: Vec::new(),
            common_seed: derived_seed(seed, "blockio/duplicates"),
            random: Random::named(seed, &format!("blockio/data/{owner}/{began}")),
            nonce: derived_seed(seed, &format!("blockio/nonce/{began}")),
            sequence: u64::from(owner) << SEQUENCE_BITS,
        };
        arena.fill();
        Ok(arena)
    }

    /// Fill all of the memory.
    fn fill(&mut self) {
        // SAFETY: the arena is this many bytes, a multiple of BLOCK, aligned to it, initialised,
        // and borrowed mutably.
        let words = unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.layout.size() / WORD) };
        self.content.fill(words, &mut self.random);
    }

    /// Number of requests that fit.
    pub(crate) fn slots(&self) -> u32 {
        self.slots as u32
    }

    /// Return whether writes hold `content`.
    pub(crate) fn holds(&self, content: Content) -> bool {
        content == self.content
    }

    /// Make later writes hold `content`. No request may be in flight.
    pub(crate) fn prepare(&mut self, content: Content) {
        if content == self.content {
            return;
        }
        self.content = content;
        self.fill();
        self.common = vec![0; if content.duplicate == Share(0) { 0 } else { self.stride / WORD }];
        content.fill(&mut self.common, &mut Random::named(self.common_seed, "common"));
    }

    /// All of the memory, for registration with the kernel.
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.layout.size())
    }

    /// Read buffer of `slot`.
    #[inline]
    pub(crate) fn read_buffer(&self, slot: u32) -> *mut u8 {
        self.at(slot as usize)
    }

    /// Write buffer of `slot` with `length` bytes of new content. The slot must have no write in
    /// flight.
    #[inline]
    pub(crate) fn write_buffer(&mut self, slot: u32, length: u32) -> *mut u8 {
        assert!(length as usize <= self.stride, "a write of {length} bytes from a buffer of {}", self.stride);
        let buffer = self.at(self.slots + slot as usize);
        let count = (length as usize).div_ceil(WORD);
        // SAFETY: the buffer has `stride` bytes, no less than `length` and a multiple of BLOCK. It
        // is aligned to BLOCK, initialised, and has no other user.
        let words = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u64>(), count) };
        if self.content.duplicate > Share(0)
            && self.random.below(u64::from(Share::WHOLE.0)) < u64::from(self.content.duplicate.0)
        {
            let which = mixed(self.common_seed ^ self.random.below(DUPLICATES));
            self.content.overlay(words, &self.common, which);
            return buffer;
        }
        self.content.whiten(words, self.random.bits());
        for block in words.chunks_mut(BLOCK / WORD) {
            self.sequence += 1;
            block[0] = mixed(self.sequence) ^ self.nonce;
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

/// Mix a number over all bits; different numbers stay different (the finalizer of SplitMix64).
#[inline]
fn mixed(number: u64) -> u64 {
    let spread = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let spread = (spread ^ (spread >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    spread ^ (spread >> 31)
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout. An arena with requests in flight is leaked, never
        // dropped.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::DeflateEncoder};
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::Write;
    use tameshi_base::Size;

    fn writes(arena: &mut Arena, slots: u32, lengths: &[u32], count: usize) -> Vec<Vec<u8>> {
        let write = |number: usize| {
            let length = lengths[number % lengths.len()];
            let buffer = arena.write_buffer(number as u32 % slots, length);
            // SAFETY: the buffer has `length` bytes.
            unsafe { std::slice::from_raw_parts(buffer, length as usize) }.to_vec()
        };
        (0..count).map(write).collect()
    }

    fn asked(compressible: u32, duplicate: u32, block_size: u64) -> Content {
        let (compressible, duplicate) = (Share(compressible * 10_000), Share(duplicate * 10_000));
        Content::of(&StreamSpec { compressible, duplicate, block_size: Size(block_size), ..StreamSpec::default() })
    }

    /// Share of the data that remains after compression.
    fn left_by_a_compressor(data: &[Vec<u8>]) -> f64 {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        data.iter().for_each(|part| encoder.write_all(part).expect("memory"));
        let length: usize = data.iter().map(Vec::len).sum();
        encoder.finish().expect("memory").len() as f64 / length as f64
    }

    #[test]
    fn written_data_neither_repeat_nor_compress() {
        let mut all = vec![];
        for (owner, began) in [(0, 1), (1, 1), (0, 2)] {
            let mut arena = Arena::new(2, 10_240, 7, owner, began).expect("memory");
            all.extend(writes(&mut arena, 2, &[10_240, 512, 4096], 60));
        }
        let mut seen = BTreeSet::new();
        for sector in all.iter().flat_map(|write| write.chunks(512)) {
            assert!(seen.insert(sector), "a repeated sector");
        }
        let left = left_by_a_compressor(&all);
        assert!(left >= 1.0, "{left}");
    }

    #[test]
    fn compressible_data_compress_by_the_requested_share() {
        for (compressible, block) in [(30, 4096), (50, 4096), (75, 65_536), (50, 512), (50, 2300)] {
            let mut arena = Arena::new(2, block, 7, 0, 0).expect("memory");
            arena.prepare(asked(compressible, 0, block));
            let data = writes(&mut arena, 2, &[block as u32], 400);
            let together = left_by_a_compressor(&data);
            let alone = data.iter().map(|part| left_by_a_compressor(std::slice::from_ref(part))).sum::<f64>() / 400.0;
            // Bytes of a request beyond its last whole sector begin with the random part.
            let part = 1.0 - f64::from(compressible) / 100.0;
            let rest = (block % 512) as f64;
            let expected = ((block as f64 - rest) * part + rest.min(512.0 * part)) / block as f64;
            // Each request compressed alone has its own header and code table.
            for (left, overhead) in [(together, 0.0), (alone, 64.0 / block as f64)] {
                assert!((left - expected).abs() < 0.02 + overhead, "{compressible} % of {block}: {together} {alone}");
            }
            let different: BTreeSet<_> = data.iter().collect();
            assert_eq!(different.len(), 400);
        }
    }

    #[test]
    fn duplicates_have_16_contents_shared_by_all_jobs() {
        let (count, mut all) = (4000, vec![]);
        for owner in 0..2 {
            let mut arena = Arena::new(3, 8192, 7, owner, owner.into()).expect("memory");
            arena.prepare(asked(0, 30, 8192));
            all.extend(writes(&mut arena, 3, &[8192], count));
        }
        let mut times: BTreeMap<&[u8], u32> = BTreeMap::new();
        all.iter().flat_map(|write| write.chunks(BLOCK)).for_each(|block| *times.entry(block).or_default() += 1);
        let repeated: Vec<u32> = times.values().copied().filter(|&times| times > 1).collect();
        assert_eq!(repeated.len(), 2 * 16, "two blocks in each of sixteen");
        let share = f64::from(repeated.iter().sum::<u32>()) / (4.0 * count as f64);
        assert!((share - 0.3).abs() < 4.0 * (0.21 / (2.0 * count as f64)).sqrt(), "{share}");
        let unique: Vec<Vec<u8>> = times.keys().map(|block| block.to_vec()).collect();
        assert!(left_by_a_compressor(&unique) >= 1.0, "what is not a duplicate does not compress");
    }

    #[test]
    fn data_after_a_compressible_phase_are_random() {
        let mut arena = Arena::new(2, 4096, 7, 0, 0).expect("memory");
        arena.prepare(asked(100, 50, 4096));
        assert!(left_by_a_compressor(&writes(&mut arena, 2, &[4096], 100)) < 0.02);
        arena.prepare(Content::PLAIN);
        assert!(left_by_a_compressor(&writes(&mut arena, 2, &[4096], 100)) >= 1.0);
    }

    #[test]
    fn smallest_arena_lies_in_a_huge_page() {
        let arena = Arena::new(1, 4096, 7, 0, 0).expect("memory");
        assert!((arena.base.as_ptr() as usize).is_multiple_of(HUGE_PAGE));
        assert_eq!(arena.layout.size() % HUGE_PAGE, 0);
    }

    #[test]
    fn arena_larger_than_memory_is_refused() {
        assert!(Arena::new(u32::MAX, 1 << 40, 1, 0, 0).is_err());
    }
}
