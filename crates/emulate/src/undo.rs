//! Undo log: writes whose data a power cut may still take, with the data that they overwrote.
//!
//! Entries are in the order of arrival. An entry leaves the log once it and all earlier entries are
//! durable, so the log always holds what is needed to take back any write in it. Overwritten pages
//! lie in a slab whose pages are used again: nothing is allocated per write once it has grown.

use crate::store::{PAGE, Store, pieces};
use std::collections::VecDeque;

/// State of a write in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not acknowledged.
    UnderWay,
    /// Acknowledged, and perhaps only in volatile memory.
    Acknowledged,
    /// On safe storage.
    Durable,
}

/// Write or trim in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) state: State,
    /// Pages saved; a trim saves none unless a far side may lack it.
    saved: u32,
    pub(crate) is_trim: bool,
    /// It has been answered: a flush of one side settles writes that another side still holds back.
    is_answered: bool,
}

/// Page that was a hole.
const HOLE: u32 = u32::MAX;
/// Pages per allocation of the slab.
const CHUNK: usize = 256;

/// Undo log of a drive.
#[derive(Debug, Default)]
pub struct UndoLog {
    entries: VecDeque<Entry>,
    /// Saved pages of all entries, in their order.
    saved: VecDeque<u32>,
    slab: Vec<Box<[u8]>>,
    free: Vec<u32>,
    /// Sequence number of the first entry.
    first: u64,
    /// Entries from this sequence number on stay, durable or not: a far side lacks them.
    held_from: Option<u64>,
}

/// Writes that a far side lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacked {
    /// Acknowledged writes, and their bytes.
    pub(crate) writes: u64,
    pub(crate) bytes: u64,
    /// Writes not acknowledged.
    pub(crate) dropped: u64,
    /// Ranges of all of them, and of trims, from the newest to the oldest.
    pub(crate) ranges: Vec<(u64, u64)>,
}

impl UndoLog {
    /// Return the sequence number of the next entry.
    pub fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Return the bytes of overwritten data that the log holds.
    pub fn held_bytes(&self) -> u64 {
        (self.slab.len() * CHUNK - self.free.len()) as u64 * PAGE
    }

    /// Save what a write will overwrite; return its sequence number.
    pub(crate) fn open(&mut self, store: &Store, offset: u64, length: u64) -> u64 {
        let mut saved = 0;
        for (page, ..) in pieces(offset, length) {
            let number = match store.page(page) {
                None => HOLE,
                Some(bytes) => {
                    let number = self.take();
                    self.page_mut(number).copy_from_slice(bytes);
                    number
                }
            };
            self.saved.push_back(number);
            saved += 1;
        }
        self.push(Entry { offset, length, state: State::UnderWay, saved, is_trim: false, is_answered: false })
    }

    /// Enter a trim, which no power cut takes back.
    pub(crate) fn open_trim(&mut self, offset: u64, length: u64) {
        self.push(Entry { offset, length, state: State::Durable, saved: 0, is_trim: true, is_answered: false });
        self.drop_durable();
    }

    /// Enter a trim with what it clears, which a far side may lack.
    pub(crate) fn open_held_trim(&mut self, store: &Store, offset: u64, length: u64) {
        let sequence = self.open(store, offset, length);
        if let Some(entry) = self.entries.back_mut() {
            (entry.state, entry.is_trim) = (State::Durable, true);
        }
        self.held_from = Some(self.held_from.unwrap_or(sequence));
    }

    /// Keep entries from a sequence number on, or none.
    pub(crate) fn hold_from(&mut self, sequence: Option<u64>) {
        self.held_from = sequence;
        self.drop_durable();
    }

    /// Take back all entries from a sequence number on, which a far side lacks, and forget all.
    pub(crate) fn unwind(&mut self, from: Option<u64>, store: &mut Store) -> Lacked {
        let mut lacked = Lacked::default();
        let count = from.map_or(0, |from| self.next().saturating_sub(from));
        for (entry, place) in self.newest_first().take(count as usize) {
            lacked.ranges.push((entry.offset, entry.length));
            if entry.is_answered {
                lacked.writes += 1;
                lacked.bytes += entry.length;
            } else {
                lacked.dropped += u64::from(!entry.is_trim);
            }
            let saved = pieces(entry.offset, entry.length).take(entry.saved as usize);
            for (number, (page, within, length)) in saved.enumerate() {
                let old = self.saved(place + number).map(|page| &page[within..within + length]);
                // The page has taken room before, or is a hole and stays one.
                let _ = store.write(page * PAGE + within as u64, old.unwrap_or(&[0; PAGE as usize][..length]));
            }
        }
        self.clear();
        lacked
    }

    fn push(&mut self, entry: Entry) -> u64 {
        self.entries.push_back(entry);
        self.next() - 1
    }

    /// Note that a write completed.
    pub(crate) fn set(&mut self, sequence: u64, state: State) {
        if let Some(entry) = sequence.checked_sub(self.first).and_then(|at| self.entries.get_mut(at as usize)) {
            (entry.state, entry.is_answered) = (state, true);
        }
        self.drop_durable();
    }

    /// Note that a flush completed: writes before `sequence` are durable.
    pub(crate) fn settle_before(&mut self, sequence: u64) {
        let count = sequence.saturating_sub(self.first).min(self.entries.len() as u64);
        self.entries.iter_mut().take(count as usize).for_each(|entry| entry.state = State::Durable);
        self.drop_durable();
    }

    /// Note that acknowledged writes outside of `volatile` are durable; ranges are sorted by their
    /// offsets.
    pub(crate) fn settle_outside(&mut self, volatile: &[(u64, u64)]) {
        for entry in &mut self.entries {
            if entry.state == State::Acknowledged && !overlaps(volatile, entry.offset, entry.length) {
                entry.state = State::Durable;
            }
        }
        self.drop_durable();
    }

    fn drop_durable(&mut self) {
        let held = self.held_from.unwrap_or(u64::MAX);
        while self.first < held && self.entries.front().is_some_and(|entry| entry.state == State::Durable) {
            let Some(entry) = self.entries.pop_front() else { return };
            self.first += 1;
            for number in self.saved.drain(..entry.saved as usize) {
                if number != HOLE {
                    self.free.push(number);
                }
            }
        }
    }

    /// Return entries from the newest to the oldest, each with its place in the saved pages.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (Entry, usize)> {
        let mut end = self.saved.len();
        self.entries.iter().rev().map(move |entry| {
            end -= entry.saved as usize;
            (*entry, end)
        })
    }

    /// Return a saved page by its place; `None` for a hole.
    pub(crate) fn saved(&self, place: usize) -> Option<&[u8]> {
        let number = self.saved[place];
        (number != HOLE).then(|| {
            let (chunk, within) = (number as usize / CHUNK, number as usize % CHUNK * PAGE as usize);
            &self.slab[chunk][within..within + PAGE as usize]
        })
    }

    /// Forget all entries.
    pub(crate) fn clear(&mut self) {
        self.first = self.next();
        self.held_from = None;
        self.entries.clear();
        self.free.extend(self.saved.drain(..).filter(|&number| number != HOLE));
    }

    fn take(&mut self) -> u32 {
        if self.free.is_empty() {
            let first = (self.slab.len() * CHUNK) as u32;
            self.slab.push(vec![0; CHUNK * PAGE as usize].into_boxed_slice());
            self.free.extend((first..first + CHUNK as u32).rev());
        }
        self.free.pop().unwrap_or(HOLE)
    }

    fn page_mut(&mut self, number: u32) -> &mut [u8] {
        let (chunk, within) = (number as usize / CHUNK, number as usize % CHUNK * PAGE as usize);
        &mut self.slab[chunk][within..within + PAGE as usize]
    }
}

/// Return whether any of the sorted ranges overlaps another one.
pub(crate) fn overlaps(ranges: &[(u64, u64)], offset: u64, length: u64) -> bool {
    let after = ranges.partition_point(|&(start, _)| start < offset + length);
    ranges[..after].iter().rev().take_while(|&&(start, bytes)| start + bytes > offset).next().is_some()
}
