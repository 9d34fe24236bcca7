//! The ends of the pool's lists, as those see them who flush.

use super::{HELD, LATCHED, Link, NONE, OLD, Pool, READING, TAIL};

/// The last frames of the LRU list, counted so that nobody need look at each of them again.
#[derive(Debug)]
pub(super) struct Tail {
    /// The one of them that is farthest from the list's end.
    edge: u32,
    length: u32,
    /// How many of them can't be replaced.
    held: u32,
}

impl Default for Tail {
    fn default() -> Self {
        Self { edge: NONE, length: 0, held: 0 }
    }
}

impl Pool {
    /// Frames that are free or could be, the free ones and those among the last `depth` of the list; counts no further than
    /// `most`.
    pub(in super::super) fn replaceable(&mut self, depth: u32, most: u32) -> u32 {
        self.fit_tail(depth);
        let all = self.free() + self.tail.length - self.tail.held;
        if all < most {
            self.looked += u64::from(self.tail.length);
            return all;
        }
        let (mut found, mut at, mut looked) = (self.free(), self.oldest, 0);
        while at != NONE && looked < depth && found < most {
            found += u32::from(self.states[at as usize] & HELD == 0);
            at = self.links[at as usize].newer;
            looked += 1;
        }
        self.looked += u64::from(looked);
        found
    }

    /// Has the last `depth` frames of the list counted.
    fn fit_tail(&mut self, depth: u32) {
        while self.tail.length > depth {
            self.leaves_tail(self.tail.edge);
        }
        while self.tail.length < depth {
            let next = if self.tail.length == 0 { self.oldest } else { self.links[self.tail.edge as usize].newer };
            if next == NONE {
                return;
            }
            self.joins_tail(next);
            self.tail.edge = next;
        }
    }

    pub(super) fn joins_tail(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        *state |= TAIL;
        self.tail.length += 1;
        self.tail.held += u32::from(*state & HELD != 0);
    }

    pub(super) fn leaves_tail(&mut self, at: u32) {
        let state = &mut self.states[at as usize];
        if *state & TAIL == 0 {
            return;
        }
        *state &= !TAIL;
        self.tail.length -= 1;
        self.tail.held -= u32::from(*state & HELD != 0);
        if self.tail.edge == at {
            self.tail.edge = self.links[at as usize].older;
        }
    }

    /// A frame that may be among the last is read, written, changed or none of it from now on.
    #[inline]
    pub(super) fn set_state(&mut self, at: u32, state: u8) {
        let before = std::mem::replace(&mut self.states[at as usize], state);
        if state & TAIL != 0 {
            self.tail.held = self.tail.held + u32::from(state & HELD != 0) - u32::from(before & HELD != 0);
        }
    }

    /// How many frames of the list were looked at for a free one since this was asked last.
    pub(in super::super) fn take_looked(&mut self) -> u64 {
        std::mem::take(&mut self.looked)
    }

    /// The frame at the LRU list's end.
    pub(in super::super) fn end(&self) -> u32 {
        self.oldest
    }

    /// The frame before another as seen from the list's end.
    pub(in super::super) fn before(&self, at: u32) -> u32 {
        self.links[at as usize].newer
    }

    /// Pages in the list.
    pub(in super::super) fn listed(&self) -> u32 {
        self.length
    }

    /// From now on a page keeps its latch from being chosen to be written on: until then it lies in the doublewrite buffer.
    pub(in super::super) fn latch_for_doublewrite(&mut self) {
        self.latches = true;
    }

    /// A page that is not written twice goes to the drive: nobody may change it.
    pub(in super::super) fn latch(&mut self, at: u32) {
        self.states[at as usize] |= LATCHED;
    }

    /// A page that was put to the head counts as young for a share of all frames, however many of them are kept free.
    pub(in super::super) fn keep_young_by_frames(&mut self) {
        self.young_of = Some(self.frames());
    }

    /// Whether a page in the pool is being written so that nobody may change it.
    #[inline]
    pub(in super::super) fn is_latched(&self, at: u32) -> bool {
        self.states[at as usize] & LATCHED != 0
    }

    /// A page is on the drive: it may be changed again, though not all of its batch is.
    pub(in super::super) fn unlatch(&mut self, at: u32) {
        self.states[at as usize] &= !LATCHED;
    }

    /// Whether a frame is in the old part of the list.
    pub(in super::super) fn is_old(&self, at: u32) -> bool {
        self.states[at as usize] & OLD != 0
    }

    /// Puts a frame to the list's end, to be replaced next.
    pub(in super::super) fn retire(&mut self, at: u32) {
        if self.oldest == at || self.states[at as usize] & READING != 0 {
            return;
        }
        self.remove(at);
        let oldest = self.oldest;
        self.links[at as usize] = Link { newer: oldest, older: NONE };
        match oldest {
            NONE => self.newest = at,
            oldest => self.links[oldest as usize].older = at,
        }
        if self.tail.length > 0 {
            self.joins_tail(at);
        }
        self.oldest = at;
        self.length += 1;
        self.states[at as usize] &= !OLD;
        if self.first_old != NONE {
            self.states[at as usize] |= OLD;
            self.old_length += 1;
        }
        self.balance();
    }

    /// Visits the LRU list from its end, at most `depth` frames: `(frame, replaceable)`.
    pub(in super::super) fn lru_end(&self, depth: u32) -> impl Iterator<Item = (u32, bool)> {
        let step = |at: u32| (at != NONE).then_some(at);
        let frames = std::iter::successors(step(self.oldest), move |&at| step(self.links[at as usize].newer));
        frames.take(depth as usize).map(|at| (at, self.states[at as usize] & HELD == 0))
    }

    /// The pages of so many frames from the list's head on.
    pub(in super::super) fn used_last(&self, most: u32) -> Vec<u32> {
        let step = |at: u32| (at != NONE).then_some(at);
        let frames = std::iter::successors(step(self.newest), move |&at| step(self.links[at as usize].older));
        frames.take(most as usize).map(|at| self.page(at)).collect()
    }

    /// Visits dirty frames, the one that is dirty for longest first.
    pub(in super::super) fn oldest_changes(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.oldest_changed(), |&at| self.changed_after(at))
    }

    /// The frame that is dirty for longest.
    pub(in super::super) fn oldest_changed(&self) -> Option<u32> {
        (self.dirty_oldest != NONE).then_some(self.dirty_oldest)
    }

    /// The dirty frame that was changed next after this one.
    pub(in super::super) fn changed_after(&self, at: u32) -> Option<u32> {
        let newer = self.frames[at as usize].dirty_newer;
        (newer != NONE).then_some(newer)
    }
}
