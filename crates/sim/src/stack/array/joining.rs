//! Joining of sequential writes to an array with parity, as the stripe cache of Linux's md does.
//!
//! A write of less than a row waits to the end of its instant. Then contiguous waiting writes are
//! cut at row boundaries and done as one each. A part that is less than a row needs reads first. It
//! waits on if it adjoins a write under way, since more of its row may come until that ends: md
//! prefers whole rows to stripes that must be read (`hold_list`, `pending_full_writes`).

use super::parts::{ALONE, Op};
use crate::stack::slab::Slab;
use tameshi_base::Nanos;

/// Write under way: its number and bytes.
type Begun = (u32, u64, u64);

/// Waiting writes of an array with parity.
#[derive(Debug, Default)]
pub(super) struct Joining {
    waiting: Vec<u32>,
    /// Time at which waiting writes must be looked at.
    due: Option<Nanos>,
    begun: Vec<Begun>,
    /// Buffers reused by each look: writes that are ready, and those that wait on.
    ready: Vec<u32>,
    held: Vec<u32>,
}

/// Contiguous writes up to a row boundary: a range of the waiting ones, and their bytes.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: usize,
    end: usize,
    bytes: (u64, u64),
}

impl Joining {
    /// Let a write wait for others.
    pub(super) fn wait(&mut self, number: u32, now: Nanos) {
        self.waiting.push(number);
        self.due.get_or_insert(now);
    }

    /// Return when waiting writes must be looked at; [`Nanos::MAX`] for not yet.
    #[inline]
    pub(super) fn next_wake(&self) -> Nanos {
        self.due.unwrap_or(Nanos::MAX)
    }

    /// Note that a write begins.
    pub(super) fn begin(&mut self, number: u32, op: &Op) {
        let (offset, length) = op.whole;
        self.begun.push((number, offset, offset + u64::from(length)));
    }

    /// Note that a command has ended, or begins anew.
    pub(super) fn end(&mut self, number: u32, now: Nanos) {
        let Some(place) = self.begun.iter().position(|&(begun, ..)| begun == number) else { return };
        self.begun.swap_remove(place);
        if !self.waiting.is_empty() {
            self.due.get_or_insert(now);
        }
    }

    /// Join waiting writes; return those to start, each the first of its group. The caller returns
    /// the buffer with [`Joining::reuse`].
    pub(super) fn join(&mut self, ops: &mut Slab<Op>, row_bytes: u64) -> Vec<u32> {
        self.due = None;
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable_by_key(|&number| (ops.get(number).command.offset_bytes, number));
        let mut ready = std::mem::take(&mut self.ready);
        let (mut at, mut before) = (0, None);
        while at < waiting.len() {
            let group = group(&waiting, at, ops, row_bytes);
            let (begin, end) = group.bytes;
            let is_whole = begin.next_multiple_of(row_bytes) + row_bytes <= end;
            if !is_whole && (before == Some(begin) || self.adjoins(begin, end)) {
                self.held.extend_from_slice(&waiting[group.first..group.end]);
            } else {
                ready.push(chain(&waiting[group.first..group.end], group.bytes, ops));
            }
            (at, before) = (group.end, Some(end));
        }
        waiting.clear();
        self.waiting = std::mem::replace(&mut self.held, waiting);
        ready
    }

    /// Return the buffer of [`Joining::join`].
    pub(super) fn reuse(&mut self, mut ready: Vec<u32>) {
        ready.clear();
        self.ready = ready;
    }

    fn adjoins(&self, begin: u64, end: u64) -> bool {
        self.begun.iter().any(|&(_, from, to)| from == end || to == begin)
    }

    /// Forget all writes.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.begun.clear();
        self.due = None;
    }
}

/// Return the group that begins with a waiting write.
fn group(waiting: &[u32], first: usize, ops: &Slab<Op>, row_bytes: u64) -> Group {
    let of = |place: usize| &ops.get(waiting[place]).command;
    let end_of = |place: usize| of(place).offset_bytes + u64::from(of(place).length_bytes);
    let is_alike = |place: usize| (of(place).fua, of(place).stream) == (of(first).fua, of(first).stream);
    let (mut end, mut to) = (first + 1, end_of(first));
    while end < waiting.len() && !to.is_multiple_of(row_bytes) && of(end).offset_bytes == to && is_alike(end) {
        to = end_of(end);
        end += 1;
    }
    Group { first, end, bytes: (of(first).offset_bytes, to) }
}

/// Chain writes so that the first one does all of them; return it.
fn chain(numbers: &[u32], (begin, end): (u64, u64), ops: &mut Slab<Op>) -> u32 {
    let nexts = numbers[1..].iter().copied().chain([ALONE]);
    for (&number, next) in numbers.iter().zip(nexts) {
        let op = ops.get_mut(number);
        (op.joined, op.waits) = (next, false);
    }
    ops.get_mut(numbers[0]).whole = (begin, (end - begin) as u32);
    numbers[0]
}
