//! Calendar queue of a device's events: in order of time, equal times in order of insertion.
//!
//! Near events lie in a ring of buckets (calendar queue, Brown 1988). Insertion and removal there
//! cost the same for any number of events. Events beyond the ring wait in a heap. Of two events at
//! the same time, the one in the heap was inserted first: the ring did not reach that far yet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tameshi_base::Nanos;

/// Bits of a bucket's length in ns. The ring reaches 4 ms ahead, longer than a flash page programs.
const BUCKET_BITS: u32 = 10;
const BUCKETS: u64 = 4096;
const WORDS: usize = BUCKETS as usize / 64;
const NONE: u32 = u32::MAX;

/// Event of the number that is the node's index.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: Nanos,
    /// Next event in the bucket.
    next: u32,
}

/// Events, at most one per number. No call allocates once the largest number is known.
#[derive(Debug)]
pub struct CalendarQueue {
    nodes: Vec<Node>,
    /// First and last event of each bucket.
    buckets: Box<[[u32; 2]; BUCKETS as usize]>,
    /// Bit per bucket that holds events, and bit per word of `occupied` that is not zero.
    occupied: [u64; WORDS],
    summary: u64,
    /// Bucket of the last event taken, counted from time zero; no event lies before it.
    base: u64,
    /// Number of the first event in the ring, and its time; [`Nanos::MAX`] if the ring is empty.
    first: u32,
    first_at: Nanos,
    far: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    far_at: Nanos,
    /// Number of insertions into the heap so far.
    sequence: u64,
}

impl Default for CalendarQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl CalendarQueue {
    /// Empty queue.
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            buckets: Box::new([[NONE; 2]; BUCKETS as usize]),
            occupied: [0; WORDS],
            summary: 0,
            base: 0,
            first: NONE,
            first_at: Nanos::MAX,
            far: BinaryHeap::new(),
            far_at: Nanos::MAX,
            sequence: 0,
        }
    }

    /// Return the time of the next event; [`Nanos::MAX`] if there is none.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.first_at.min(self.far_at)
    }

    /// Return the number of the ring's first event, most often the next one; `u32::MAX` if the ring
    /// is empty.
    #[inline]
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Numbers of the events at `at`, the time of the next event; `None` for an event in the heap.
    #[inline]
    pub(crate) fn all_at(&self, at: Nanos) -> impl Iterator<Item = Option<u32>> {
        let heap = (self.far_at == at).then_some(None);
        let mut next = if self.first_at == at { self.first } else { NONE };
        let ring = std::iter::from_fn(move || {
            let number = next;
            let node = self.nodes.get(number as usize).filter(|node| node.at == at)?;
            next = node.next;
            Some(Some(number))
        });
        heap.into_iter().chain(ring)
    }

    /// Insert an event of `number`, which has none, at `at`, not before the last event taken.
    #[inline]
    pub fn add(&mut self, at: Nanos, number: u32) {
        let bucket = at >> BUCKET_BITS;
        debug_assert!(bucket >= self.base, "the event lies in the past");
        if bucket - self.base >= BUCKETS {
            return self.add_far(at, number);
        }
        if number as usize >= self.nodes.len() {
            self.make_room(number);
        }
        self.insert((bucket % BUCKETS) as usize, Node { at, next: NONE }, number);
        if at < self.first_at {
            (self.first, self.first_at) = (number, at);
        }
    }

    #[cold]
    fn add_far(&mut self, at: Nanos, number: u32) {
        self.sequence += 1;
        self.far.push(Reverse((at, self.sequence, number)));
        self.far_at = self.far_at.min(at);
    }

    #[cold]
    fn make_room(&mut self, number: u32) {
        self.nodes.resize(number as usize + 1, Node { at: 0, next: NONE });
    }

    /// Insert an event into its bucket, after all that are not later.
    #[inline]
    fn insert(&mut self, place: usize, mut node: Node, number: u32) {
        let [first, last] = self.buckets[place];
        if first == NONE {
            self.occupied[place / 64] |= 1 << (place % 64);
            self.summary |= 1 << (place / 64);
            self.buckets[place] = [number; 2];
        } else if self.nodes[last as usize].at <= node.at {
            self.nodes[last as usize].next = number;
            self.buckets[place][1] = number;
        } else if self.nodes[first as usize].at > node.at {
            node.next = first;
            self.buckets[place][0] = number;
        } else {
            let mut before = first as usize;
            while self.nodes[self.nodes[before].next as usize].at <= node.at {
                before = self.nodes[before].next as usize;
            }
            node.next = self.nodes[before].next;
            self.nodes[before].next = number;
        }
        self.nodes[number as usize] = node;
    }

    /// Take the next event: its time and number.
    #[inline(always)]
    pub fn take(&mut self) -> Option<(Nanos, u32)> {
        self.take_before(Nanos::MAX)
    }

    /// Take the next event if it lies before `until`.
    #[inline(always)]
    pub(crate) fn take_before(&mut self, until: Nanos) -> Option<(Nanos, u32)> {
        if self.far_at <= self.first_at {
            return if self.far_at < until { self.take_far() } else { None };
        }
        let (at, number) = (self.first_at, self.first);
        // True for an empty ring as well.
        if at >= until {
            return None;
        }
        self.base = at >> BUCKET_BITS;
        let place = (self.base % BUCKETS) as usize;
        let next = self.nodes[number as usize].next;
        self.first = if next == NONE {
            self.buckets[place] = [NONE; 2];
            self.occupied[place / 64] &= !(1 << (place % 64));
            if self.occupied[place / 64] == 0 {
                self.summary &= !(1 << (place / 64));
            }
            self.first_from(place)
        } else {
            self.buckets[place][0] = next;
            next
        };
        self.first_at = if self.first == NONE { Nanos::MAX } else { self.nodes[self.first as usize].at };
        Some((at, number))
    }

    /// Return the first event of the ring from bucket `place` on.
    #[inline]
    fn first_from(&self, place: usize) -> u32 {
        let here = self.occupied[place / 64] & (u64::MAX << (place % 64));
        if here != 0 {
            return self.buckets[place / 64 * 64 + here.trailing_zeros() as usize][0];
        }
        let after = self.summary & (u64::MAX << (place / 64) << 1);
        let word = if after == 0 { self.summary } else { after }.trailing_zeros() as usize;
        if word == WORDS {
            return NONE;
        }
        self.buckets[word * 64 + self.occupied[word].trailing_zeros() as usize][0]
    }

    #[cold]
    fn take_far(&mut self) -> Option<(Nanos, u32)> {
        let Reverse((at, _, number)) = self.far.pop()?;
        self.far_at = self.far.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at);
        self.base = at >> BUCKET_BITS;
        Some((at, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_take_event_from_heap_first() {
        let (mut queue, at) = (CalendarQueue::new(), (2 * BUCKETS) << BUCKET_BITS);
        for (number, of) in [(0, at), (1, at - 1_000_000)] {
            queue.add(of, number);
        }
        assert_eq!(queue.take(), Some((at - 1_000_000, 1)));
        queue.add(at, 2);
        assert_eq!([queue.take(), queue.take(), queue.take()], [Some((at, 0)), Some((at, 2)), None]);
    }

    proptest! {
        #[test]
        fn events_come_in_order_of_time_then_of_insertion(
            steps in proptest::collection::vec((any::<bool>(), 0u8..5, any::<u32>()), 1..400),
        ) {
            let (mut queue, mut plain, mut idle) = (CalendarQueue::new(), BinaryHeap::new(), Vec::new());
            let (mut now, mut numbers) = (0u64, 0u32);
            for (turn, (takes, kind, random)) in steps.into_iter().enumerate() {
                if takes {
                    let expected = plain.pop().map(|Reverse((at, _, number))| (at, number));
                    prop_assert_eq!(queue.take(), expected);
                    idle.extend(expected.map(|(_, number)| number));
                    now = expected.map_or(now, |(at, _)| at);
                } else {
                    let ahead = u64::from(random) % [3, 3000, 5_000_000, 200_000_000, 1][usize::from(kind)];
                    let number = idle.pop().unwrap_or(numbers);
                    numbers += u32::from(number == numbers);
                    queue.add(now + ahead, number);
                    plain.push(Reverse((now + ahead, turn, number)));
                }
                prop_assert_eq!(queue.next(), plain.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at));
            }
        }
    }
}
