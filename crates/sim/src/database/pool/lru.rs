//! The LRU list with its midpoint and its tail.
//!
//! The list keeps the flags [`OLD`] and [`TAIL`] of its frames.

use super::flags::{HELD, OLD, READING, TAIL};
use super::{NONE, for_as_many};
use crate::basics::prefetch::prefetch;

/// Deviation of the old part from its length (BUF_LRU_OLD_TOLERANCE).
const OLD_TOLERANCE: u32 = 20;

/// Neighbours of a frame in the LRU list, towards its head and its end.
#[derive(Clone, Copy, Debug)]
struct Link {
    newer: u32,
    older: u32,
}

/// Rules of the list's old part.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Midpoint {
    /// Its share of the list, in 1024ths.
    pub(in super::super) share: u32,
    /// Pages from which on the list has one.
    pub(in super::super) least: u32,
    /// Time for which a page stays there after its first use, in milliseconds.
    pub(in super::super) old_ms: u32,
}

/// The last frames of the list, of which the replaceable ones are counted.
#[derive(Debug)]
struct Tail {
    /// The one farthest from the list's end.
    edge: u32,
    length: u32,
    /// Frames that are not replaceable.
    held: u32,
}

/// Frames in the order of their last use.
#[derive(Debug)]
pub(super) struct Lru {
    links: Vec<Link>,
    newest: u32,
    oldest: u32,
    /// First frame of the old part.
    first_old: u32,
    length: u32,
    old_length: u32,
    /// Entry point of new pages; `None`: they enter at the head, and move there with each use.
    midpoint: Option<Midpoint>,
    tail: Tail,
}

impl Lru {
    /// An empty list of at most `frames`.
    pub(super) fn new(frames: u32, midpoint: Option<Midpoint>) -> Self {
        Self {
            links: for_as_many(frames),
            newest: NONE,
            oldest: NONE,
            first_old: NONE,
            length: 0,
            old_length: 0,
            midpoint,
            tail: Tail { edge: NONE, length: 0, held: 0 },
        }
    }

    /// Add a frame that is not in the list.
    pub(super) fn add_frame(&mut self) {
        self.links.push(Link { newer: NONE, older: NONE });
    }

    #[inline]
    pub(super) fn midpoint(&self) -> Option<Midpoint> {
        self.midpoint
    }

    /// Set the time of pages in the old part, in milliseconds. Return the former one.
    pub(super) fn set_old_time(&mut self, millis: u32) -> u32 {
        self.midpoint.as_mut().map_or(0, |midpoint| std::mem::replace(&mut midpoint.old_ms, millis))
    }

    /// Number of frames in the list.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.length
    }

    #[inline]
    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    #[inline]
    pub(super) fn oldest(&self) -> u32 {
        self.oldest
    }

    /// The next frame towards the head.
    #[inline]
    pub(super) fn newer(&self, at: u32) -> u32 {
        self.links[at as usize].newer
    }

    /// The next frame towards the end.
    pub(super) fn older(&self, at: u32) -> u32 {
        self.links[at as usize].older
    }

    /// Put a frame at the head.
    pub(super) fn add_newest(&mut self, at: u32, states: &mut [u8]) {
        let newest = self.newest;
        self.links[at as usize] = Link { newer: NONE, older: newest };
        states[at as usize] &= !OLD;
        match newest {
            NONE => self.oldest = at,
            newest => self.links[newest as usize].newer = at,
        }
        self.newest = at;
        self.length += 1;
        self.balance(states);
    }

    /// Put a frame after the first one of the old part, as InnoDB does. `false`: there is none.
    pub(super) fn add_old(&mut self, at: u32, states: &mut [u8]) -> bool {
        let before = self.first_old;
        if before == NONE {
            return false;
        }
        let after = self.links[before as usize].older;
        self.links[at as usize] = Link { newer: before, older: after };
        states[at as usize] |= OLD;
        self.links[before as usize].older = at;
        match after {
            NONE => self.oldest = at,
            after => self.links[after as usize].newer = at,
        }
        if states[before as usize] & TAIL != 0 {
            self.join_tail(at, states);
        }
        self.length += 1;
        self.old_length += 1;
        self.balance(states);
        true
    }

    pub(super) fn remove(&mut self, at: u32, states: &mut [u8]) {
        self.leave_tail(at, states);
        let Link { newer, older } = self.links[at as usize];
        if self.first_old == at {
            self.first_old = older;
        }
        if states[at as usize] & OLD != 0 {
            self.old_length -= 1;
        }
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        self.length -= 1;
        self.balance(states);
    }

    /// Move a frame to the list's end, to be replaced next.
    pub(super) fn retire(&mut self, at: u32, states: &mut [u8]) {
        if self.oldest == at || states[at as usize] & READING != 0 {
            return;
        }
        self.remove(at, states);
        let oldest = self.oldest;
        self.links[at as usize] = Link { newer: oldest, older: NONE };
        match oldest {
            NONE => self.newest = at,
            oldest => self.links[oldest as usize].older = at,
        }
        if self.tail.length > 0 {
            self.join_tail(at, states);
        }
        self.oldest = at;
        self.length += 1;
        states[at as usize] &= !OLD;
        if self.first_old != NONE {
            states[at as usize] |= OLD;
            self.old_length += 1;
        }
        self.balance(states);
    }

    /// Keep the old part at its share of the list.
    fn balance(&mut self, states: &mut [u8]) {
        let Some(midpoint) = self.midpoint.filter(|midpoint| self.length >= midpoint.least) else {
            return self.forget_old(states);
        };
        let target = self.length * midpoint.share / 1024;
        if self.first_old == NONE {
            // All of the list is old at first; then the old part shrinks to its share.
            self.first_old = self.newest;
            let mut at = self.newest;
            while at != NONE {
                states[at as usize] |= OLD;
                at = self.links[at as usize].older;
            }
            self.old_length = self.length;
        }
        while self.old_length > target + OLD_TOLERANCE {
            states[self.first_old as usize] &= !OLD;
            self.first_old = self.links[self.first_old as usize].older;
            self.old_length -= 1;
        }
        while self.old_length + OLD_TOLERANCE < target {
            self.first_old = self.links[self.first_old as usize].newer;
            states[self.first_old as usize] |= OLD;
            self.old_length += 1;
        }
    }

    fn forget_old(&mut self, states: &mut [u8]) {
        let mut at = self.first_old;
        while at != NONE {
            states[at as usize] &= !OLD;
            at = self.links[at as usize].older;
        }
        (self.first_old, self.old_length) = (NONE, 0);
    }

    /// Set a frame's flags, and keep the tail's count.
    #[inline]
    pub(super) fn set_state(&mut self, at: u32, state: u8, states: &mut [u8]) {
        let before = std::mem::replace(&mut states[at as usize], state);
        if state & TAIL != 0 {
            self.tail.held = self.tail.held + u32::from(state & HELD != 0) - u32::from(before & HELD != 0);
        }
    }

    /// Fit the tail to the last `depth` frames. Return its length, and the replaceable frames in
    /// it.
    pub(super) fn fit_tail(&mut self, depth: u32, states: &mut [u8]) -> (u32, u32) {
        while self.tail.length > depth {
            self.leave_tail(self.tail.edge, states);
        }
        while self.tail.length < depth {
            let next = if self.tail.length == 0 { self.oldest } else { self.links[self.tail.edge as usize].newer };
            if next == NONE {
                break;
            }
            self.join_tail(next, states);
            self.tail.edge = next;
        }
        (self.tail.length, self.tail.length - self.tail.held)
    }

    fn join_tail(&mut self, at: u32, states: &mut [u8]) {
        let state = &mut states[at as usize];
        *state |= TAIL;
        self.tail.length += 1;
        self.tail.held += u32::from(*state & HELD != 0);
    }

    fn leave_tail(&mut self, at: u32, states: &mut [u8]) {
        let state = &mut states[at as usize];
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

    /// Prefetch the frame of a list's neighbour.
    pub(super) fn prefetch_newer<T>(&self, at: u32, frames: &[T]) {
        prefetch(frames, self.links[at as usize].newer as usize);
    }

    #[cfg(test)]
    pub(super) fn old_length(&self) -> u32 {
        self.old_length
    }

    #[cfg(test)]
    pub(super) fn len_of_links(&self) -> usize {
        self.links.len()
    }
}
