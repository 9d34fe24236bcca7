//! A die: one program, erase or relocating read at a time, in the order in which they came; host reads go first.
//!
//! A host read interrupts a program or an erase where the flash can suspend; otherwise it waits for its end. The end of
//! what is interrupted moves, so whoever waits for it asks again when the time comes.

use std::collections::VecDeque;
use tameshi_base::Nanos;

/// What a die does besides host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Programs what the host wrote.
    Host,
    /// Programs the parity of a stripe of it.
    Parity,
    /// Programs relocated data, or its parity.
    Relocated,
    /// Senses what is relocated.
    Sense,
    /// Erases.
    Erase,
    /// Writes what has changed of the map.
    Map,
}

/// Stands for "none" where an index is optional.
pub(super) const NONE: u32 = u32::MAX;

/// Marks what is sensed of a stripe's parity, beside the stripe's first program unit; no program unit has this bit.
pub(super) const PARITY: u32 = 1 << 31;

/// Something that a die has to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) kind: Kind,
    /// Kind of page.
    pub(super) page: u8,
    /// Mapping units of the buffer that its end frees.
    pub(super) frees: u16,
    /// What of it is done for reclaiming or a rebuild and not for the host's writes, of [`ALL_MOVED`].
    pub(super) moved: u16,
    /// Program unit within the controller; [`NONE`] for parity and erases.
    pub(super) unit: u32,
    /// A sense: the relocation it belongs to. A host program, or its parity: the slot of the durable write that it is a part of.
    pub(super) tag: u32,
    /// Whether it is done for a rebuild.
    pub(super) renews: bool,
    /// For the barrier of durable writes.
    pub(super) epoch: u64,
    /// When its data are there.
    pub(super) ready: Nanos,
}

/// All that something does is for reclaiming or a rebuild.
pub(super) const ALL_MOVED: u16 = u16::MAX;

impl Pending {
    /// Of a time that it takes, what is for reclaiming or a rebuild.
    #[inline]
    pub(super) fn for_moves(&self, time: Nanos) -> Nanos {
        match self.moved {
            0 => 0,
            ALL_MOVED => time,
            moved => time * Nanos::from(moved) / Nanos::from(ALL_MOVED),
        }
    }
}

/// A die. All that a read of an idle one asks comes first, and lies in one line of the processor's cache: reads go to dies at
/// random, and hundreds of them don't fit into the nearest one as a whole.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Die {
    /// When its last host read ends.
    pub(super) read_until: Nanos,
    /// When what it did last is over, or does now.
    pub(super) end: Nanos,
    /// The program unit whose page is in the page registers, and since when; and the mapping unit that goes on behind the last one brought
    /// from there. Only that is brought without another sense: whoever reads in order asks for it. What else comes back to the page does so by chance,
    /// which a part of a drive's capacity would have more often than all of it.
    sensed_at: Nanos,
    sensed: u32,
    goes_on: u32,
    /// Whether its channel has died.
    pub(super) dead: bool,
    pub(super) begin: Nanos,
    /// When it goes on with what reads interrupted.
    resumed: Nanos,
    /// What it does now.
    pub(super) now: Option<Pending>,
    pub(super) queue: VecDeque<Pending>,
}

/// A mapping unit that a read asks of a die.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The program unit, which is sensed as a whole, and the mapping unit, which is brought.
    pub(super) unit: u32,
    pub(super) part: u32,
    /// Whether the read begins inside of the mapping unit.
    pub(super) inside: bool,
    /// Kind of page.
    pub(super) page: u8,
    /// How often the sense must be repeated.
    pub(super) repeats: u32,
}

/// How a host read went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sensed {
    /// When the page registers hold the data.
    pub(super) at: Nanos,
    /// Waiting for other reads and the host's programs.
    pub(super) queue: Nanos,
    /// Waiting for reclaiming, and whether for that of a rebuild.
    pub(super) garbage_collection: Nanos,
    pub(super) rebuild: bool,
    /// Whether the page had to be sensed.
    pub(super) anew: bool,
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
            goes_on: NONE,
            sensed_at: 0,
            queue: VecDeque::with_capacity(16),
        }
    }

    /// Forgets all that it has to do.
    pub(super) fn rest(&mut self) {
        *self = Self { dead: self.dead, ..Self::new() };
    }

    /// Whether the page registers hold, or are about to hold, what goes on behind the last mapping unit brought, or inside of it.
    #[inline]
    pub(super) fn has_sensed(&self, asked: &Asked) -> bool {
        self.sensed == asked.unit && self.goes_on.wrapping_sub(asked.part) <= u32::from(asked.inside)
    }

    /// A host read of `time` that wants to begin at `at`.
    #[inline(always)]
    pub(super) fn read(&mut self, at: Nanos, asked: &Asked, time: Nanos, suspend: Option<Nanos>) -> Sensed {
        let has_sensed = self.has_sensed(asked);
        self.goes_on = asked.part + 1;
        if has_sensed {
            let end = at.max(self.sensed_at);
            return Sensed { at: end, queue: end - at, ..Sensed::default() };
        }
        let free = at.max(self.read_until);
        let now = if self.end > free { self.now } else { None };
        let (begin, garbage_collection, rebuild) = match now {
            Some(pending) => {
                let begin = self.interrupt(pending.kind, free, time, suspend);
                (begin, pending.for_moves(begin - free), pending.renews)
            }
            None => (free, 0, false),
        };
        self.read_until = begin + time;
        (self.sensed, self.sensed_at) = (asked.unit, self.read_until);
        let queue = begin - at - garbage_collection;
        Sensed { at: self.read_until, queue, garbage_collection, rebuild, anew: true }
    }

    /// When a read may begin that finds the die at work, which is put off if it can be.
    fn interrupt(&mut self, now: Kind, free: Nanos, time: Nanos, suspend: Option<Nanos>) -> Nanos {
        if free <= self.begin {
            let late = (free + time).saturating_sub(self.begin);
            self.begin += late;
            self.end += late;
            return free;
        }
        let Some(suspend) = suspend.filter(|_| now != Kind::Sense) else { return self.end };
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

    /// Is given something to do; whether it takes something up.
    #[inline(always)]
    pub(super) fn take(&mut self, pending: Pending) -> bool {
        if self.now.is_none() && self.queue.is_empty() {
            self.now = Some(pending);
            return true;
        }
        self.queue.push_back(pending);
        self.take_next()
    }

    /// Takes up what waits longest, if it is idle and something waits; whether it does.
    #[inline]
    pub(super) fn take_next(&mut self) -> bool {
        if self.now.is_some() || self.queue.is_empty() {
            return false;
        }
        self.now = self.queue.pop_front();
        true
    }

    /// Works from `begin` to `end` on what it took up.
    #[inline]
    pub(super) fn work(&mut self, begin: Nanos, end: Nanos) {
        (self.begin, self.end, self.resumed) = (begin, end, 0);
        self.sensed = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Pending {
        Pending {
            kind: Kind::Relocated,
            page: 0,
            frees: 0,
            moved: ALL_MOVED,
            unit: 7,
            tag: NONE,
            renews: false,
            epoch: 0,
            ready: 0,
        }
    }

    fn asked(unit: u32, part: u32) -> Asked {
        Asked { unit, part, inside: false, page: 0, repeats: 0 }
    }

    fn start(die: &mut Die, begin: Nanos, end: Nanos) {
        (die.now, die.queue) = (None, [program()].into());
        assert!(die.take_next());
        die.work(begin, end);
    }

    #[test]
    fn a_read_interrupts_a_program_which_ends_that_much_later() {
        let mut die = Die::new();
        start(&mut die, 0, 1000);
        let first = die.read(100, &asked(1, 8), 50, Some(20));
        assert_eq!((first.at, first.queue, first.garbage_collection), (170, 0, 20));
        assert_eq!(die.end, 1090, "the read and twice the time to change over");
        let second = die.read(150, &asked(2, 16), 50, Some(20));
        assert_eq!((second.at, second.queue), (220, 20), "it follows at once");
        assert_eq!(die.end, 1140);
    }

    #[test]
    fn without_suspension_a_read_waits_for_the_end() {
        let mut die = Die::new();
        start(&mut die, 0, 1000);
        assert_eq!(die.read(100, &asked(1, 8), 50, None).at, 1050);
        assert_eq!(die.end, 1000);
        assert_eq!(die.read(110, &asked(2, 16), 50, None).at, 1100);
    }

    #[test]
    fn a_page_that_was_just_sensed_is_not_sensed_again_for_what_goes_on_behind() {
        let mut die = Die::new();
        assert_eq!(die.read(100, &asked(1, 8), 50, None).at, 150);
        assert_eq!(die.read(110, &asked(1, 9), 50, None).at, 150);
        assert_eq!(die.read(170, &asked(1, 10), 50, None).at, 170);
        assert_eq!(die.read(180, &asked(1, 8), 50, None).at, 230, "it comes back by chance");
        start(&mut die, 240, 1000);
        assert_eq!(die.read(1200, &asked(1, 9), 50, None).at, 1250, "programming used the registers");
    }
}
