//! Checked blocks: what a verifying stream stamps into what it writes, and looks for in what it reads.
//!
//! Each 4 KiB of a write begins with a stamp: whose it is (the run's generation), where it belongs, the number of its
//! write, and a checksum (XXH3-64) over the whole block. The journal knows which writes each block may hold; what is
//! read while a write to it is under way may be old, new, or both in part.

use crate::request::{Kind, Request};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tameshi_record::journal::{CHECKED_BYTES, Field, Journal, Written};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) const BLOCK: usize = CHECKED_BYTES as usize;
const MAGIC: [u8; 8] = *b"TMSHBLK1";
const SUM: Range<usize> = 32..40;

/// Stamps a block that belongs at `offset`.
fn stamp(block: &mut [u8], generation: u64, offset: u64, sequence: u64) {
    block[..8].copy_from_slice(&MAGIC);
    for (at, value) in [(8, generation), (16, offset), (24, sequence), (SUM.start, 0)] {
        block[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let sum = xxh3_64(block);
    block[SUM].copy_from_slice(&sum.to_le_bytes());
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// No stamp.
    Nothing,
    /// A stamp whose checksum does not match.
    Broken,
    /// A whole block of another run.
    Foreign,
    /// A whole block that belongs elsewhere.
    Misplaced(u64),
    /// What this write left.
    Write(u64),
}

/// What the block at `offset` holds; it is left as it was.
pub(crate) fn held(block: &mut [u8], generation: u64, offset: u64) -> Held {
    let word = |block: &[u8], at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
    if block[..8] != MAGIC {
        return Held::Nothing;
    }
    let sum = word(block, SUM.start);
    block[SUM].fill(0);
    let right = xxh3_64(block) == sum;
    block[SUM].copy_from_slice(&sum.to_le_bytes());
    match (right, word(block, 8) == generation, word(block, 16)) {
        (false, ..) => Held::Broken,
        (_, false, _) => Held::Foreign,
        (.., found) if found != offset => Held::Misplaced(found),
        _ => Held::Write(word(block, 24)),
    }
}

/// What a phase's verifying streams have looked at.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Blocks that were read and held what they should.
    pub(crate) right: AtomicU64,
    /// Blocks that this run never wrote: there is nothing to compare with.
    pub(crate) unwritten: AtomicU64,
    /// Blocks that were being written meanwhile and were not whole.
    pub(crate) unsettled: AtomicU64,
}

/// A write in flight.
#[derive(Clone, Debug)]
struct Writing {
    blocks: Range<u64>,
    sequence: u64,
    /// The oldest write that the blocks may hold once this one has completed.
    oldest: u64,
}

/// One verified storage, for all jobs of a run.
#[derive(Debug)]
pub(crate) struct Ground {
    journal: Journal,
    state: Mutex<State>,
    /// Whether anything on the storage syncs, so that acknowledged writes will ever be durable.
    syncs: bool,
}

#[derive(Debug, Default)]
struct State {
    /// Number of the last write.
    sequence: u64,
    writing: Vec<Writing>,
    /// Acknowledged writes that no sync has made durable, in their order, and how many there were before them.
    volatile: VecDeque<(Range<u64>, u64)>,
    hardened: u64,
    /// Blocks whose last write failed: they may hold it, what was there before, or both in part.
    doubtful: BTreeSet<u64>,
}

impl State {
    fn is_written(&self, blocks: &Range<u64>) -> bool {
        self.writing.iter().any(|other| overlap(&other.blocks, blocks))
            || self.doubtful.range(blocks.clone()).next().is_some()
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Ground {
    /// A storage with its journal; `syncs` tells whether any stream on it ever syncs.
    pub(crate) fn new(journal: Journal, syncs: bool) -> Self {
        Self { journal, state: Mutex::default(), syncs }
    }

    /// A panic elsewhere is reported elsewhere, and ends the run.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A write of these blocks is about to be submitted: its number.
    fn begin_write(&self, blocks: &Range<u64>) -> u64 {
        let mut state = self.state();
        state.sequence += 1;
        let sequence = state.sequence;
        let others = state.writing.iter().filter(|other| overlap(&other.blocks, blocks));
        // What was acknowledged before this began can't outlast it; what is still under way may.
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

    /// A write has failed: nobody knows what its blocks hold until another has succeeded.
    fn fail_write(&self, sequence: u64) {
        let mut state = self.state();
        let index = state.writing.iter().position(|write| write.sequence == sequence).expect("a write ends once");
        let Writing { blocks, .. } = state.writing.swap_remove(index);
        state.doubtful.extend(blocks);
    }

    /// A sync is about to be submitted: how many acknowledged writes it makes durable, of all that ever were.
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

/// What is in flight in a slot.
#[derive(Debug, Default)]
struct Pending {
    /// Of a write: its number.
    sequence: u64,
    /// Of a read: what was known of its blocks when it began, and whether one of them was being written.
    known: Vec<Written>,
    contested: bool,
    /// Of a sync: what it covers.
    covers: u64,
}

/// One job's part in verifying.
pub(crate) struct Verifier {
    ground: Arc<Ground>,
    tally: Arc<Tally>,
    slots: Vec<Pending>,
}

/// A block that is not what it should be: its offset and a sentence's end.
pub(crate) type Wrong = (u64, String);

impl Verifier {
    /// For a job of `depth` slots whose requests are up to `length_bytes` long.
    pub(crate) fn new(ground: Arc<Ground>, tally: Arc<Tally>, depth: u32, length_bytes: u64) -> Self {
        let blocks = (length_bytes / CHECKED_BYTES) as usize;
        let slots = (0..depth).map(|_| Pending { known: Vec::with_capacity(blocks), ..Pending::default() }).collect();
        Self { ground, tally, slots }
    }

    /// A request at `offset` of the payload is about to be submitted; a write's buffer gets its stamps.
    pub(crate) fn begin(&mut self, request: &Request, offset: u64) {
        let first = offset / CHECKED_BYTES;
        let blocks = first..first + u64::from(request.length) / CHECKED_BYTES;
        let pending = &mut self.slots[request.slot as usize];
        let journal = &self.ground.journal;
        match request.kind {
            Kind::Write | Kind::WriteDurable => {
                pending.sequence = self.ground.begin_write(&blocks);
                // SAFETY: the buffer has `length` bytes and belongs to this request, which is not submitted yet.
                let buffer = unsafe { std::slice::from_raw_parts_mut(request.buffer, request.length as usize) };
                for (block, number) in buffer.chunks_exact_mut(BLOCK).zip(blocks) {
                    stamp(block, journal.generation(), number * CHECKED_BYTES, pending.sequence);
                }
            }
            Kind::Read => {
                pending.known.clear();
                pending.known.extend(blocks.clone().map(|block| journal.written(block)));
                // In this order: what begins in between shows as a later write.
                pending.contested = self.ground.state().is_written(&blocks);
            }
            Kind::SyncData | Kind::SyncAll => pending.covers = self.ground.begin_sync(),
            Kind::Trim | Kind::File(_) => {}
        }
    }

    /// The request has completed and did what it should; `offset` counts from the payload's begin.
    ///
    /// # Errors
    /// What is wrong with a block that it read.
    pub(crate) fn end(&mut self, request: &Request, offset: u64) -> Result<(), Wrong> {
        let pending = &self.slots[request.slot as usize];
        match request.kind {
            Kind::Write => self.ground.end_write(pending.sequence, false),
            Kind::WriteDurable => self.ground.end_write(pending.sequence, true),
            Kind::SyncData | Kind::SyncAll => self.ground.end_sync(pending.covers),
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

    /// The request has failed, and that ends nothing.
    pub(crate) fn fail(&mut self, request: &Request) {
        if matches!(request.kind, Kind::Write | Kind::WriteDurable) {
            self.ground.fail_write(self.slots[request.slot as usize].sequence);
        }
    }

    /// Looks at a block that was read; so much was `known` of it when the read began, while a write was under way if it
    /// was `contested`.
    fn check(&self, block: &mut [u8], offset: u64, known: Written, contested: bool) -> Result<(), String> {
        let now = self.ground.journal.written(offset / CHECKED_BYTES);
        let count = |tally: &AtomicU64| {
            tally.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let found = held(block, self.ground.journal.generation(), offset);
        if let Held::Write(sequence) = found
            && (known.acknowledged..=now.issued).contains(&sequence)
        {
            return count(&self.tally.right);
        }
        if let Held::Misplaced(belongs) = found {
            return Err(format!("is misplaced: it belongs at offset {belongs}"));
        }
        if now.issued == 0 {
            return count(&self.tally.unwritten);
        }
        if (contested || now.issued > known.issued) && found == Held::Broken {
            return count(&self.tally.unsettled);
        }
        if known.acknowledged == 0 && matches!(found, Held::Nothing | Held::Foreign) {
            return count(&self.tally.unwritten);
        }
        Err(match found {
            Held::Nothing => "holds no stamp although this run wrote it: it was lost or overwritten".into(),
            Held::Foreign => "is stale: it holds what an earlier run wrote".into(),
            Held::Write(sequence) => format!(
                "is stale: it holds write {sequence}, but write {} was acknowledged before the read began",
                known.acknowledged
            ),
            Held::Broken | Held::Misplaced(_) => "is corrupt or torn: its checksum does not match".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_tells_what_became_of_its_block() {
        let mut block: Vec<u8> = (0..BLOCK).map(|byte| byte as u8).collect();
        assert_eq!(held(&mut block, 7, 8192), Held::Nothing);
        stamp(&mut block, 7, 8192, 33);
        assert_eq!(held(&mut block, 7, 8192), Held::Write(33));
        assert_eq!(held(&mut block, 7, 8192), Held::Write(33), "looking changes nothing");
        assert_eq!(held(&mut block, 8, 8192), Held::Foreign);
        assert_eq!(held(&mut block, 7, 4096), Held::Misplaced(8192));
        for at in [9, 20, 25, 36, 100, BLOCK - 1] {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            assert_eq!(held(&mut damaged, 7, 8192), Held::Broken, "byte {at}");
        }
        let mut newer: Vec<u8> = (0..BLOCK).map(|byte| (byte / 7) as u8).collect();
        stamp(&mut newer, 7, 8192, 34);
        for sectors in 1..8 {
            let mut torn = block.clone();
            torn[..sectors * 512].copy_from_slice(&newer[..sectors * 512]);
            assert_eq!(held(&mut torn, 7, 8192), Held::Broken, "{sectors} sectors of one write, the rest of another");
        }
    }

    fn ground(folder: &tempfile::TempDir, syncs: bool) -> Ground {
        Ground::new(Journal::create(&folder.path().join("x.journal"), 16 * CHECKED_BYTES, 9).expect("made"), syncs)
    }

    #[test]
    fn of_writes_in_flight_together_the_oldest_may_stay_and_of_others_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let ground = ground(&folder, false);
        let acknowledged = |block| ground.journal.written(block).acknowledged;
        let first = ground.begin_write(&(0..4));
        ground.end_write(first, false);
        let second = ground.begin_write(&(2..6));
        let third = ground.begin_write(&(3..8));
        ground.end_write(third, false);
        assert_eq!([0, 2, 3, 5, 6].map(acknowledged), [first, first, second, second, second]);
        let fourth = ground.begin_write(&(2..6));
        ground.end_write(fourth, false);
        assert_eq!([2, 5].map(acknowledged), [second; 2], "the second is still under way and may land last");
        ground.end_write(second, false);
        let fifth = ground.begin_write(&(2..6));
        ground.end_write(fifth, false);
        assert_eq!([1, 2, 5, 6].map(acknowledged), [first, fifth, fifth, second]);
        assert_eq!(ground.journal.written(2).issued, fifth);
    }

    #[test]
    fn what_a_failed_write_left_is_in_doubt_until_another_succeeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let ground = ground(&folder, false);
        let first = ground.begin_write(&(0..4));
        ground.end_write(first, false);
        let failed = ground.begin_write(&(1..3));
        ground.fail_write(failed);
        let doubtful = |block: u64| ground.state().is_written(&(block..block + 1));
        assert_eq!([0, 1, 2, 3].map(doubtful), [false, true, true, false]);
        assert_eq!(ground.journal.written(1).acknowledged, first, "it was never acknowledged");
        let third = ground.begin_write(&(2..4));
        ground.end_write(third, false);
        assert_eq!([0, 1, 2, 3].map(doubtful), [false, true, false, false]);
        assert_eq!(ground.journal.written(2).acknowledged, third);
    }

    #[test]
    fn a_sync_makes_durable_what_was_acknowledged_before_it_began() {
        let folder = tempfile::tempdir().expect("a folder");
        let ground = ground(&folder, true);
        let durable = |block| ground.journal.written(block).durable;
        let writes: Vec<u64> = (0..4).map(|block| ground.begin_write(&(block..block + 1))).collect();
        ground.end_write(writes[0], false);
        let early = ground.begin_sync();
        ground.end_write(writes[1], false);
        let late = ground.begin_sync();
        ground.end_write(writes[3], true);
        assert_eq!([0, 1, 2, 3].map(durable), [0, 0, 0, writes[3]]);
        ground.end_sync(late);
        assert_eq!([0, 1, 2].map(durable), [writes[0], writes[1], 0]);
        ground.end_sync(early);
        ground.end_write(writes[2], false);
        assert_eq!(durable(2), 0);
        let last = ground.begin_sync();
        ground.end_sync(last);
        assert_eq!(durable(2), writes[2]);
    }
}
