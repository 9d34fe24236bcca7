//! Waits between the parts of one command: page reads of one read, and programs of one durable
//! write.
//!
//! While parts of one command wait for each other on a die or a channel, the medium works on that
//! command. Such waits count as media time, not as queueing.

use super::dies::{NONE, Sensed};
use crate::device::Breakdown;
use tameshi_base::Nanos;

/// Breakdown of a read's last part on a die, up to the sense.
#[derive(Clone, Copy, Debug, Default)]
struct DiePart {
    read: u64,
    at: Nanos,
    queue: Nanos,
    garbage_collection: Nanos,
    rebuild: Nanos,
}

/// Arrival of a read's data at the controller, and its breakdown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetched {
    pub(super) at: Nanos,
    pub(super) queue: Nanos,
    pub(super) garbage_collection: Nanos,
    pub(super) rebuild: Nanos,
    pub(super) media: Nanos,
    /// Part of the media time spent on other parts of the same read.
    pub(super) own_wait: Nanos,
}

impl Fetched {
    /// Data that arrive at `at` without flash.
    pub(super) fn at(at: Nanos) -> Self {
        Self { at, ..Self::default() }
    }

    /// Data requested at `ready`, sensed from `from` on, and transferred in `transfer` until `at`.
    #[inline(always)]
    pub(super) fn transferred((ready, from): (Nanos, Nanos), sensed: &Sensed, (at, transfer): (Nanos, Nanos)) -> Self {
        let on_bus = at - sensed.at - transfer;
        let media = at - from - sensed.queue - sensed.garbage_collection - on_bus;
        let (queue, reclaiming) = ((from - ready) + sensed.queue + on_bus, sensed.garbage_collection);
        let (garbage_collection, rebuild) = if sensed.rebuild { (0, reclaiming) } else { (reclaiming, 0) };
        Self { at, queue, garbage_collection, rebuild, media, own_wait: 0 }
    }

    /// Return the breakdown of a read that waited `waited` for its turn, took `controller`, and
    /// whose last data are these.
    ///
    /// They cross the link until `at`, in `time` at least.
    #[inline(always)]
    pub(super) fn breakdown(&self, waited: Nanos, controller: Nanos, (at, time): (Nanos, Nanos)) -> Breakdown {
        let link = time.min(at - self.at);
        Breakdown {
            queue: waited + self.queue + (at - self.at - link),
            host: 0,
            link,
            controller,
            media: self.media,
            garbage_collection: self.garbage_collection,
            rebuild: self.rebuild,
        }
    }
}

/// Parts of the present read so far.
#[derive(Debug)]
pub(super) struct ReadParts {
    /// Number of the read; an entry with another number is of an earlier read.
    read: u64,
    dies: Vec<DiePart>,
    /// Transfer time per channel.
    channels: Vec<(u64, Nanos)>,
}

impl ReadParts {
    pub(super) fn new(dies: usize, channels: usize) -> Self {
        Self { read: 0, dies: vec![DiePart::default(); dies], channels: vec![(0, 0); channels] }
    }

    /// Begin a read with several parts.
    pub(super) fn begin(&mut self) {
        self.read += 1;
    }

    /// Add a part that a die sensed from `from` on, transferred in `transfer` after waiting
    /// `on_bus` for the channel.
    ///
    /// Moves its waits for other parts of the read to their share of the breakdown.
    pub(super) fn add(
        &mut self,
        (die, channel): (usize, usize),
        (from, sensed): (Nanos, &Sensed),
        (on_bus, transfer): (Nanos, Nanos),
        fetched: &mut Fetched,
    ) {
        let before = self.dies[die];
        let behind = if before.read == self.read { before.at.saturating_sub(from) } else { 0 };
        let queue = before.queue.min(behind);
        let garbage_collection = before.garbage_collection.min(behind - queue);
        let rebuild = before.rebuild.min(behind - queue - garbage_collection);
        fetched.garbage_collection += garbage_collection;
        fetched.rebuild += rebuild;
        self.dies[die] = DiePart {
            read: self.read,
            at: sensed.at,
            queue: sensed.queue - behind + queue,
            garbage_collection: fetched.garbage_collection,
            rebuild: fetched.rebuild,
        };
        let (read, carried) = &mut self.channels[channel];
        if *read != self.read {
            (*read, *carried) = (self.read, 0);
        }
        let on_bus = on_bus.min(*carried);
        *carried += transfer;
        let own_wait = behind - queue - garbage_collection - rebuild + on_bus;
        fetched.queue -= behind - queue + on_bus;
        fetched.media += own_wait;
        fetched.own_wait = own_wait;
    }
}

/// Durable write: its slot, and the time at which its data were there.
type Durable = (u32, Nanos);

/// Time of dies and channels for the durable write whose program they began last: work and waits
/// for its transfers on a die, transfers on a channel.
#[derive(Debug)]
pub(super) struct DurablePrograms {
    /// Time at which the data of a slot's durable write were there.
    ready: Vec<Nanos>,
    dies: Vec<(Durable, Nanos)>,
    channels: Vec<(Durable, Nanos)>,
}

impl DurablePrograms {
    pub(super) fn new(dies: usize, channels: usize) -> Self {
        let none = ((NONE, 0), 0);
        Self { ready: Vec::new(), dies: vec![none; dies], channels: vec![none; channels] }
    }

    /// Register a slot's durable write, whose data are there at `ready`.
    pub(super) fn register(&mut self, slot: u32, ready: Nanos) {
        let slot = slot as usize;
        if self.ready.len() <= slot {
            self.ready.resize(slot + 1, 0);
        }
        self.ready[slot] = ready;
    }

    /// Begin a program of a slot's durable write, transferred in `transfer` after waiting `on_bus`
    /// for the channel.
    #[cold]
    pub(super) fn begin(
        &mut self,
        slot: u32,
        (die, channel): (usize, usize),
        (on_bus, transfer, program): (Nanos, Nanos, Nanos),
    ) {
        let write = (slot, self.ready[slot as usize]);
        let [die, channel] = [&mut self.dies[die], &mut self.channels[channel]];
        for of in [&mut *die, &mut *channel] {
            if of.0 != write {
                *of = (write, 0);
            }
        }
        die.1 += on_bus.min(channel.1) + transfer + program;
        channel.1 += transfer;
    }

    /// Return a die's time for a slot's durable write.
    pub(super) fn on(&self, die: u32, slot: u32) -> Nanos {
        let (of, time) = self.dies[die as usize];
        if of == (slot, self.ready[slot as usize]) { time } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_wait_for_others_as_long_as_the_first_did() {
        let mut parts = ReadParts::new(2, 1);
        // Requested at 100; the sense takes 50, the transfer 10.
        let mut waits = |die: usize, begins: bool, (at, queue, on_bus): (Nanos, Nanos, Nanos)| {
            if begins {
                parts.begin();
            }
            let sensed = Sensed { at, queue, ..Sensed::default() };
            let mut fetched = Fetched { queue: queue + on_bus, media: 60, ..Fetched::at(at + on_bus + 10) };
            parts.add((die, 0), (100, &sensed), (on_bus, 10), &mut fetched);
            assert_eq!(100 + fetched.queue + fetched.media, fetched.at);
            (fetched.queue, fetched.own_wait)
        };
        assert_eq!(waits(0, true, (170, 20, 0)), (20, 0), "other commands kept the die for 20");
        assert_eq!(waits(0, false, (220, 70, 0)), (20, 50), "the next part there waits no longer for them");
        assert_eq!(waits(1, false, (150, 0, 35)), (15, 20), "two parts crossed the channel before");
        assert_eq!(waits(0, true, (270, 120, 0)), (120, 0), "parts of an earlier read are others");
    }

    #[test]
    fn programs_of_one_write_wait_only_for_other_writes() {
        let (mut programs, write, other) = (DurablePrograms::new(3, 1), 5, 6);
        programs.register(write, 100);
        programs.register(other, 100);
        programs.begin(write, (0, 0), (0, 10, 500));
        programs.begin(write, (1, 0), (10, 10, 500));
        assert_eq!([0, 1].map(|die| programs.on(die, write)), [510, 520], "its data cross after the first program's");
        programs.begin(write, (0, 0), (35, 10, 500));
        assert_eq!(programs.on(0, write), 510 + 530, "of 35 two transfers are its own");
        programs.begin(other, (1, 0), (0, 10, 500));
        assert_eq!([write, other].map(|of| programs.on(1, of)), [0, 510]);
        programs.register(write, 900);
        programs.begin(write, (0, 0), (10, 10, 500));
        assert_eq!(programs.on(0, write), 510, "a slot's next write is another one");
    }
}
