//! Checked blocks: stamps in data that a verifying stream writes, and checks of data that it reads.
//!
//! Each 4 KiB of a write begins with a stamp: the run's generation, the block's offset, the number
//! of its write, and a checksum (XXH3-64) over the whole block. The journal knows which writes each
//! block may hold. A block read during a write to it may be old, new, or both in part.

use crate::io::{Kind, Request};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tameshi_record::journal::{CHECKED_BYTES, Field, Journal, Written};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const BLOCK: usize = CHECKED_BYTES as usize;
const MAGIC: [u8; 8] = *b"TMSHBLK1";
const SUM: Range<usize> = 32..40;

/// Stamp a block that belongs at `offset`.
fn stamp(block: &mut [u8], generation: u64, offset: u64, sequence: u64) {
    block[..8].copy_from_slice(&MAGIC);
    for (at, value) in [(8, generation), (16, offset), (24, sequence), (SUM.start, 0)] {
        block[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let sum = xxh3_64(block);
    block[SUM].copy_from_slice(&sum.to_le_bytes());
}

/// Content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockContent {
    /// No stamp.
    Nothing,
    /// A stamp whose checksum does not match.
    Broken,
    /// A whole block of another run.
    Foreign,
    /// A whole block that belongs elsewhere.
    Misplaced(u64),
    /// A whole block of this write.
    Write(u64),
}

/// Identify the content of the block at `offset`; leave it unchanged.
pub(crate) fn identify(block: &mut [u8], generation: u64, offset: u64) -> BlockContent {
    let word = |block: &[u8], at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
    if block[..8] != MAGIC {
        return BlockContent::Nothing;
    }
    let sum = word(block, SUM.start);
    block[SUM].fill(0);
    let right = xxh3_64(block) == sum;
    block[SUM].copy_from_slice(&sum.to_le_bytes());
    match (right, word(block, 8) == generation, word(block, 16)) {
        (false, ..) => BlockContent::Broken,
        (_, false, _) => BlockContent::Foreign,
        (.., found) if found != offset => BlockContent::Misplaced(found),
        _ => BlockContent::Write(word(block, 24)),
    }
}

/// Blocks that a phase's verifying streams have checked.
#[derive(Debug, Default)]
pub(crate) struct VerifyCounts {
    /// Blocks that held an expected write.
    pub(crate) right: AtomicU64,
    /// Blocks that this run never wrote: there is no reference.
    pub(crate) unwritten: AtomicU64,
    /// Blocks that were being written during the read and were not whole.
    pub(crate) unsettled: AtomicU64,
}

/// A write in flight.
#[derive(Clone, Debug)]
struct Writing {
    blocks: Range<u64>,
    sequence: u64,
    /// Oldest write that the blocks may hold after this one has completed.
    oldest: u64,
}

/// Writes and journal of one verified storage, shared by all jobs of a run.
#[derive(Debug)]
pub(crate) struct VerifyState {
    journal: Journal,
    state: Mutex<WriteState>,
    /// True if any stream on the storage syncs, so that acknowledged writes become durable.
    syncs: bool,
}

#[derive(Debug, Default)]
struct WriteState {
    /// Number of the last write.
    sequence: u64,
    writing: Vec<Writing>,
    /// Acknowledged writes that are not durable, in their order, and the number of writes before
    /// them.
    volatile: VecDeque<(Range<u64>, u64)>,
    hardened: u64,
    /// Blocks whose last write failed: they may hold it, the earlier content, or both in part.
    doubtful: BTreeSet<u64>,
}

impl WriteState {
    fn is_written(&self, blocks: &Range<u64>) -> bool {
        self.writing.iter().any(|other| overlap(&other.blocks, blocks))
            || self.doubtful.range(blocks.clone()).next().is_some()
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl VerifyState {
    /// Track a storage with its journal; `syncs`: some stream on it syncs.
    pub(crate) fn new(journal: Journal, syncs: bool) -> Self {
        Self { journal, state: Mutex::default(), syncs }
    }

    /// Lock the state in spite of poisoning: the panicking thread reports itself and ends the run.
    fn state(&self) -> MutexGuard<'_, WriteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Register a write of `blocks` before its submission; return its number.
    fn begin_write(&self, blocks: &Range<u64>) -> u64 {
        let mut state = self.state();
        state.sequence += 1;
        let sequence = state.sequence;
        let others = state.writing.iter().filter(|other| overlap(&other.blocks, blocks));
        // Writes acknowledged before this one began can't outlast it; writes in flight may.
        let oldest = others.map(|other| other.sequence).min().unwrap_or(sequence);
        state.writing.push(Writing { blocks: blocks.clone(), sequence, oldest });
        self.journal.note(blocks.clone(), Field::Issued, sequence);
        sequence
    }

    fn end_write(&self, sequence: u64, durable: bool) {
        let mut state = self.state();
        let index = state.writing.iter().position(|write| write.sequence == sequence).expect("a write ends once");
        let Writing { blocks, oldest, .. } = state.writing.swap_remove(index);
        if !state.doubtful.is_empty() {
            for block in blocks.clone() {
                state.doubtful.remove(&block);
            }
        }
        self.journal.note(blocks.clone(), Field::Acknowledged, oldest);
        if durable {
            self.journal.note(blocks, Field::Durable, oldest);
        } else if self.syncs {
            state.volatile.push_back((blocks, oldest));
        }
    }

    /// Mark the blocks of a failed write as doubtful until another write has succeeded.
    fn fail_write(&self, sequence: u64) {
        let mut state = self.state();
        let index = state.writing.iter().position(|write| write.sequence == sequence).expect("a write ends once");
        let Writing { blocks, .. } = state.writing.swap_remove(index);
        state.doubtful.extend(blocks);
    }

    /// Number of acknowledged writes, of all so far, that a sync submitted now makes durable.
    fn begin_sync(&self) -> u64 {
        let state = self.state();
        state.hardened + state.volatile.len() as u64
    }

    fn end_sync(&self, covers: u64) {
        let mut state = self.state();
        while state.hardened < covers
            && let Some((blocks, oldest)) = state.volatile.pop_front()
        {
            state.hardened += 1;
            self.journal.note(blocks, Field::Durable, oldest);
        }
    }
}

/// Request in flight in a slot.
#[derive(Debug, Default)]
struct Pending {
    /// Number of a write.
    sequence: u64,
    /// State of a read's blocks when it began, and whether one of them was being written.
    known: Vec<Written>,
    contested: bool,
    /// Number of writes that a sync covers.
    covers: u64,
}

/// Verification of one job.
pub(crate) struct Verifier {
    state: Arc<VerifyState>,
    counts: Arc<VerifyCounts>,
    slots: Vec<Pending>,
}

/// Wrong block: its offset and the end of a sentence.
pub(crate) type WrongBlock = (u64, String);

impl Verifier {
    /// Create the state for a job of `depth` slots with requests of up to `length_bytes`.
    pub(crate) fn new(state: Arc<VerifyState>, counts: Arc<VerifyCounts>, depth: u32, length_bytes: u64) -> Self {
        let blocks = (length_bytes / CHECKED_BYTES) as usize;
        let slots = (0..depth).map(|_| Pending { known: Vec::with_capacity(blocks), ..Pending::default() }).collect();
        Self { state, counts, slots }
    }

    /// Prepare a request at `offset` of the payload before its submission; stamp a write's buffer.
    pub(crate) fn begin(&mut self, request: &Request, offset: u64) {
        let first = offset / CHECKED_BYTES;
        let blocks = first..first + u64::from(request.length) / CHECKED_BYTES;
        let pending = &mut self.slots[request.slot as usize];
        let journal = &self.state.journal;
        match request.kind {
            Kind::Write | Kind::WriteDurable => {
                pending.sequence = self.state.begin_write(&blocks);
                // SAFETY: the buffer has `length` bytes and belongs to this request, which is not
                // submitted yet.
                let buffer = unsafe { std::slice::from_raw_parts_mut(request.buffer, request.length as usize) };
                for (block, number) in buffer.chunks_exact_mut(BLOCK).zip(blocks) {
                    stamp(block, journal.generation(), number * CHECKED_BYTES, pending.sequence);
                }
            }
            Kind::Read => {
                pending.known.clear();
                pending.known.extend(blocks.clone().map(|block| journal.written(block)));
                // In this order: a write that begins in between shows as a later write.
                pending.contested = self.state.state().is_written(&blocks);
            }
            Kind::SyncData | Kind::SyncAll => pending.covers = self.state.begin_sync(),
            Kind::Trim | Kind::File(_) => {}
        }
    }

    /// Complete a successful request; `offset` counts from the payload's start.
    ///
    /// # Errors
    /// A wrong block that it read.
    pub(crate) fn end(&mut self, request: &Request, offset: u64) -> Result<(), WrongBlock> {
        let pending = &self.slots[request.slot as usize];
        match request.kind {
            Kind::Write => self.state.end_write(pending.sequence, false),
            Kind::WriteDurable => self.state.end_write(pending.sequence, true),
            Kind::SyncData | Kind::SyncAll => self.state.end_sync(pending.covers),
            Kind::Read => {
                // SAFETY: the buffer has `length` bytes, and the read that filled it has completed.
                let buffer = unsafe { std::slice::from_raw_parts_mut(request.buffer, request.length as usize) };
                let offsets = (offset..).step_by(BLOCK);
                for ((block, known), offset) in buffer.chunks_exact_mut(BLOCK).zip(&pending.known).zip(offsets) {
                    self.check(block, offset, *known, pending.contested).map_err(|why| (offset, why))?;
                }
            }
            Kind::Trim | Kind::File(_) => {}
        }
        Ok(())
    }

    /// Note a tolerated failure of a request.
    pub(crate) fn fail(&mut self, request: &Request) {
        if matches!(request.kind, Kind::Write | Kind::WriteDurable) {
            self.state.fail_write(self.slots[request.slot as usize].sequence);
        }
    }

    /// Check a block that was read. `known` is its state when the read began; `contested`: a write
    /// was in flight then.
    fn check(&self, block: &mut [u8], offset: u64, known: Written, contested: bool) -> Result<(), String> {
        let now = self.state.journal.written(offset / CHECKED_BYTES);
        let count = |counts: &AtomicU64| {
            counts.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let found = identify(block, self.state.journal.generation(), offset);
        if let BlockContent::Write(sequence) = found
            && (known.acknowledged..=now.issued).contains(&sequence)
        {
            return count(&self.counts.right);
        }
        if let BlockContent::Misplaced(belongs) = found {
            return Err(format!("is misplaced: it belongs at offset {belongs}"));
        }
        if now.issued == 0 {
            return count(&self.counts.unwritten);
        }
        if (contested || now.issued > known.issued) && found == BlockContent::Broken {
            return count(&self.counts.unsettled);
        }
        if known.acknowledged == 0 && matches!(found, BlockContent::Nothing | BlockContent::Foreign) {
            return count(&self.counts.unwritten);
        }
        Err(match found {
            BlockContent::Nothing => "holds no stamp although this run wrote it: it was lost or overwritten".into(),
            BlockContent::Foreign => "is stale: it holds what an earlier run wrote".into(),
            BlockContent::Write(sequence) => format!(
                "is stale: it holds write {sequence}, but write {} was acknowledged before the read began",
                known.acknowledged
            ),
            BlockContent::Broken | BlockContent::Misplaced(_) => {
                "is corrupt or torn: its checksum does not match".into()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_identifies_the_state_of_its_block() {
        let mut block: Vec<u8> = (0..BLOCK).map(|byte| byte as u8).collect();
        assert_eq!(identify(&mut block, 7, 8192), BlockContent::Nothing);
        stamp(&mut block, 7, 8192, 33);
        assert_eq!(identify(&mut block, 7, 8192), BlockContent::Write(33));
        assert_eq!(identify(&mut block, 7, 8192), BlockContent::Write(33), "looking changes nothing");
        assert_eq!(identify(&mut block, 8, 8192), BlockContent::Foreign);
        assert_eq!(identify(&mut block, 7, 4096), BlockContent::Misplaced(8192));
        for at in [9, 20, 25, 36, 100, BLOCK - 1] {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            assert_eq!(identify(&mut damaged, 7, 8192), BlockContent::Broken, "byte {at}");
        }
        let mut newer: Vec<u8> = (0..BLOCK).map(|byte| (byte / 7) as u8).collect();
        stamp(&mut newer, 7, 8192, 34);
        for sectors in 1..8 {
            let mut torn = block.clone();
            torn[..sectors * 512].copy_from_slice(&newer[..sectors * 512]);
            assert_eq!(
                identify(&mut torn, 7, 8192),
                BlockContent::Broken,
                "{sectors} sectors of one write, the rest of another"
            );
        }
    }

    fn state(folder: &tempfile::TempDir, syncs: bool) -> VerifyState {
        VerifyState::new(Journal::create(&folder.path().join("x.journal"), 16 * CHECKED_BYTES, 9).expect("made"), syncs)
    }

    #[test]
    fn oldest_of_concurrent_writes_may_remain() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = state(&folder, false);
        let acknowledged = |block| state.journal.written(block).acknowledged;
        let first = state.begin_write(&(0..4));
        state.end_write(first, false);
        let second = state.begin_write(&(2..6));
        let third = state.begin_write(&(3..8));
        state.end_write(third, false);
        assert_eq!([0, 2, 3, 5, 6].map(acknowledged), [first, first, second, second, second]);
        let fourth = state.begin_write(&(2..6));
        state.end_write(fourth, false);
        assert_eq!([2, 5].map(acknowledged), [second; 2], "the second is still under way and may land last");
        state.end_write(second, false);
        let fifth = state.begin_write(&(2..6));
        state.end_write(fifth, false);
        assert_eq!([1, 2, 5, 6].map(acknowledged), [first, fifth, fifth, second]);
        assert_eq!(state.journal.written(2).issued, fifth);
    }

    #[test]
    fn failed_write_is_doubtful_until_another_succeeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = state(&folder, false);
        let first = state.begin_write(&(0..4));
        state.end_write(first, false);
        let failed = state.begin_write(&(1..3));
        state.fail_write(failed);
        let doubtful = |block: u64| state.state().is_written(&(block..block + 1));
        assert_eq!([0, 1, 2, 3].map(doubtful), [false, true, true, false]);
        assert_eq!(state.journal.written(1).acknowledged, first, "it was never acknowledged");
        let third = state.begin_write(&(2..4));
        state.end_write(third, false);
        assert_eq!([0, 1, 2, 3].map(doubtful), [false, true, false, false]);
        assert_eq!(state.journal.written(2).acknowledged, third);
    }

    #[test]
    fn sync_covers_writes_acknowledged_before_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = state(&folder, true);
        let durable = |block| state.journal.written(block).durable;
        let writes: Vec<u64> = (0..4).map(|block| state.begin_write(&(block..block + 1))).collect();
        state.end_write(writes[0], false);
        let early = state.begin_sync();
        state.end_write(writes[1], false);
        let late = state.begin_sync();
        state.end_write(writes[3], true);
        assert_eq!([0, 1, 2, 3].map(durable), [0, 0, 0, writes[3]]);
        state.end_sync(late);
        assert_eq!([0, 1, 2].map(durable), [writes[0], writes[1], 0]);
        state.end_sync(early);
        state.end_write(writes[2], false);
        assert_eq!(durable(2), 0);
        let last = state.begin_sync();
        state.end_sync(last);
        assert_eq!(durable(2), writes[2]);
    }
}
