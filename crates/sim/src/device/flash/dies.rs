//! Die: one program, erase or relocation sense at a time, in the order of arrival. Host reads go
//! first.
//!
//! A host read suspends a program or an erase if the flash can; otherwise it waits for its end. A
//! suspended task ends later, so its end must be checked again when the event comes.

use std::collections::VecDeque;
use tameshi_base::Nanos;

/// Kind of a die's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskKind {
    /// Program of host data.
    Host,
    /// Program of the parity of host data.
    Parity,
    /// Program of relocated data, or of its parity.
    Relocated,
    /// Sense for relocation.
    Sense,
    /// Erase of a block.
    Erase,
    /// Write of map changes.
    Map,
}

/// Absent index.
pub(super) const NONE: u32 = u32::MAX;

/// Mark of a sense of a stripe's parity, added to the stripe's first program unit. No program unit
/// has this bit.
pub(super) const PARITY: u32 = 1 << 31;

/// Task of a die other than a host read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) kind: TaskKind,
    /// Page type.
    pub(super) page: u8,
    /// Mapping units of the buffer that its end frees.
    pub(super) frees: u16,
    /// Share done for garbage collection or a rebuild, of [`ALL_MOVED`].
    pub(super) moved: u16,
    /// Program unit within the controller; [`NONE`] for parity and erases.
    pub(super) unit: u32,
    /// Relocation of a sense; slot of the durable write of a host program or its parity.
    pub(super) tag: u32,
    /// True if it is part of a rebuild.
    pub(super) rebuilds: bool,
    /// Epoch among the flushes of an unprotected drive.
    pub(super) epoch: u64,
    /// Time at which its data are there.
    pub(super) ready: Nanos,
}

/// Share of a task done for garbage collection or a rebuild alone.
pub(super) const ALL_MOVED: u16 = u16::MAX;

impl Task {
    /// Build a task that frees no buffer and belongs to no flush.
    #[inline(always)]
    pub(super) fn new(kind: TaskKind, (unit, tag): (u32, u32), moved: u16, rebuilds: bool, ready: Nanos) -> Self {
        Self { kind, page: 0, frees: 0, moved, unit, tag, rebuilds, epoch: 0, ready }
    }

    /// Return whether it senses a page of data. Parity is sensed for a page of a channel that died
    /// before; such senses finish.
    pub(super) fn is_page_sense(&self) -> bool {
        self.kind == TaskKind::Sense && self.unit & PARITY == 0
    }

    /// Return the part of its `time` spent for garbage collection or a rebuild.
    #[inline]
    pub(super) fn for_moves(&self, time: Nanos) -> Nanos {
        match self.moved {
            0 => 0,
            ALL_MOVED => time,
            moved => time * Nanos::from(moved) / Nanos::from(ALL_MOVED),
        }
    }
}

/// Die. The fields that a read of an idle die needs come first, in one cache line: reads hit dies
/// at random, and hundreds of dies exceed the processor's first-level cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Die {
    /// End of its last host read.
    pub(super) read_until: Nanos,
    /// End of its present or last task.
    pub(super) end: Nanos,
    /// Program unit in the page registers, and since when; and the mapping unit after the last one
    /// read from there.
    ///
    /// Only that unit is read without another sense: a sequential reader asks for it. Other reads
    /// of the page hit it by seeds, which would be more frequent on a scaled drive than on the
    /// whole one.
    sensed_at: Nanos,
    sensed: u32,
    continues: u32,
    /// True if its channel has died.
    pub(super) dead: bool,
    pub(super) begin: Nanos,
    /// Time at which it resumes a suspended task.
    resumed: Nanos,
    /// Present task.
    pub(super) now: Option<Task>,
    pub(super) queue: VecDeque<Task>,
}

/// Read of one mapping unit from a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRead {
    /// Program unit, sensed as a whole; and the mapping unit, transferred.
    pub(super) unit: u32,
    pub(super) part: u32,
    /// True if the read begins within the mapping unit.
    pub(super) inside: bool,
    /// Page type.
    pub(super) page: u8,
    /// Repetitions of the sense.
    pub(super) repeats: u32,
}

/// Outcome of a host read on a die.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sensed {
    /// Time at which the page registers hold the data.
    pub(super) at: Nanos,
    /// Waiting for other reads and the host's programs.
    pub(super) queue: Nanos,
    /// Waiting for garbage collection, or for a rebuild if `rebuild`.
    pub(super) garbage_collection: Nanos,
    pub(super) rebuild: bool,
    /// True if the page had to be sensed.
    pub(super) is_new: bool,
}

impl Die {
    pub(super) fn new() -> Self {
        Self {
            dead: false,
            now: None,
            begin: 0,
            end: 0,
            resumed: 0,
            read_until: 0,
            sensed: NONE,
            continues: NONE,
            sensed_at: 0,
            queue: VecDeque::with_capacity(16),
        }
    }

    /// Cancel all tasks.
    pub(super) fn clear(&mut self) {
        *self = Self { dead: self.dead, ..Self::new() };
    }

    /// Return whether the page registers hold, or will hold, the mapping unit that continues the
    /// last read.
    #[inline]
    pub(super) fn has_sensed(&self, asked: &PageRead) -> bool {
        self.sensed == asked.unit && self.continues.wrapping_sub(asked.part) <= u32::from(asked.inside)
    }

    /// Read for the host; the sense takes `time` and wants to begin at `at`.
    #[inline(always)]
    pub(super) fn read(&mut self, at: Nanos, asked: &PageRead, time: Nanos, suspend: Option<Nanos>) -> Sensed {
        let has_sensed = self.has_sensed(asked);
        self.continues = asked.part + 1;
        if has_sensed {
            let end = at.max(self.sensed_at);
            return Sensed { at: end, queue: end - at, ..Sensed::default() };
        }
        let free = at.max(self.read_until);
        let now = if self.end > free { self.now } else { None };
        let (begin, garbage_collection, rebuild) = match now {
            Some(task) => {
                let begin = self.interrupt(task.kind, free, time, suspend);
                (begin, task.for_moves(begin - free), task.rebuilds)
            }
            None => (free, 0, false),
        };
        self.read_until = begin + time;
        (self.sensed, self.sensed_at) = (asked.unit, self.read_until);
        let queue = begin - at - garbage_collection;
        Sensed { at: self.read_until, queue, garbage_collection, rebuild, is_new: true }
    }

    /// Return when a read may begin on a busy die; suspend its task if possible.
    fn interrupt(&mut self, now: TaskKind, free: Nanos, time: Nanos, suspend: Option<Nanos>) -> Nanos {
        if free <= self.begin {
            let late = (free + time).saturating_sub(self.begin);
            self.begin += late;
            self.end += late;
            return free;
        }
        let Some(suspend) = suspend.filter(|_| now != TaskKind::Sense) else { return self.end };
        if free < self.resumed {
            self.resumed += time;
            self.end += time;
            return free;
        }
        let begin = free + suspend;
        if begin >= self.end {
            return self.end;
        }
        self.resumed = begin + time + suspend;
        self.end += time + 2 * suspend;
        begin
    }

    /// Queue a task; return whether the die takes up a task.
    #[inline(always)]
    pub(super) fn take(&mut self, task: Task) -> bool {
        if self.now.is_none() && self.queue.is_empty() {
            self.now = Some(task);
            return true;
        }
        self.queue.push_back(task);
        self.take_next()
    }

    /// Take up the oldest queued task if the die is idle; return whether it did.
    #[inline]
    pub(super) fn take_next(&mut self) -> bool {
        if self.now.is_some() || self.queue.is_empty() {
            return false;
        }
        self.now = self.queue.pop_front();
        true
    }

    /// Work from `begin` to `end` on the present task.
    #[inline]
    pub(super) fn work(&mut self, begin: Nanos, end: Nanos) {
        (self.begin, self.end, self.resumed) = (begin, end, 0);
        self.sensed = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Task {
        Task {
            kind: TaskKind::Relocated,
            page: 0,
            frees: 0,
            moved: ALL_MOVED,
            unit: 7,
            tag: NONE,
            rebuilds: false,
            epoch: 0,
            ready: 0,
        }
    }

    fn asked(unit: u32, part: u32) -> PageRead {
        PageRead { unit, part, inside: false, page: 0, repeats: 0 }
    }

    fn start(die: &mut Die, begin: Nanos, end: Nanos) {
        (die.now, die.queue) = (None, [program()].into());
        assert!(die.take_next());
        die.work(begin, end);
    }

    #[test]
    fn read_suspends_a_program_and_delays_its_end() {
        let mut die = Die::new();
        start(&mut die, 0, 1000);
        let first = die.read(100, &asked(1, 8), 50, Some(20));
        assert_eq!((first.at, first.queue, first.garbage_collection), (170, 0, 20));
        assert_eq!(die.end, 1090, "the read and two suspend times");
        let second = die.read(150, &asked(2, 16), 50, Some(20));
        assert_eq!((second.at, second.queue), (220, 20), "it starts at once");
        assert_eq!(die.end, 1140);
    }

    #[test]
    fn read_waits_for_the_end_without_suspension() {
        let mut die = Die::new();
        start(&mut die, 0, 1000);
        assert_eq!(die.read(100, &asked(1, 8), 50, None).at, 1050);
        assert_eq!(die.end, 1000);
        assert_eq!(die.read(110, &asked(2, 16), 50, None).at, 1100);
    }

    #[test]
    fn sequential_read_of_a_sensed_page_needs_no_sense() {
        let mut die = Die::new();
        assert_eq!(die.read(100, &asked(1, 8), 50, None).at, 150);
        assert_eq!(die.read(110, &asked(1, 9), 50, None).at, 150);
        assert_eq!(die.read(170, &asked(1, 10), 50, None).at, 170);
        assert_eq!(die.read(180, &asked(1, 8), 50, None).at, 230, "only sequential reads reuse the page");
        start(&mut die, 240, 1000);
        assert_eq!(die.read(1200, &asked(1, 9), 50, None).at, 1250, "the program used the registers");
    }
}
