//! What the pieces of one read wait for each other, on a die or a channel, and the programs of one durable write: the medium works
//! on the command meanwhile, and waits for nobody else.

use super::die::{NONE, Sensed};
use crate::device::completion::Breakdown;
use tameshi_base::Nanos;

/// Where the time of a read's last piece on a die went until the page registers held it.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    read: u64,
    at: Nanos,
    queue: Nanos,
    garbage_collection: Nanos,
    rebuild: Nanos,
}

/// What a read's last data waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetched {
    pub(super) at: Nanos,
    pub(super) queue: Nanos,
    pub(super) garbage_collection: Nanos,
    pub(super) rebuild: Nanos,
    pub(super) media: Nanos,
    /// What of the medium's time went into other pieces of the same read.
    pub(super) behind_own: Nanos,
}

impl Fetched {
    /// There at once.
    pub(super) fn at(at: Nanos) -> Self {
        Self { at, ..Self::default() }
    }

    /// Sensed on a die, asked for at `ready` and from `from` on, and brought in `transfer` until `at`.
    #[inline(always)]
    pub(super) fn brought((ready, from): (Nanos, Nanos), sensed: &Sensed, (at, transfer): (Nanos, Nanos)) -> Self {
        let on_bus = at - sensed.at - transfer;
        let media = at - from - sensed.queue - sensed.garbage_collection - on_bus;
        let (queue, reclaiming) = ((from - ready) + sensed.queue + on_bus, sensed.garbage_collection);
        let (garbage_collection, rebuild) = if sensed.rebuild { (0, reclaiming) } else { (reclaiming, 0) };
        Self { at, queue, garbage_collection, rebuild, media, behind_own: 0 }
    }

    /// Where the time of a read goes that waited so long for its turn, takes the electronics `controller`, and whose last data are
    /// these: they cross the link, in `time` at least, until `at`.
    #[inline(always)]
    pub(super) fn told(&self, waited: Nanos, controller: Nanos, (at, time): (Nanos, Nanos)) -> Breakdown {
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

/// The pieces of the present read so far.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Its number, of reads with several pieces: what stands at a die or a channel with another one is of an earlier read.
    read: u64,
    dies: Vec<Way>,
    /// Time that a channel takes to bring them.
    channels: Vec<(u64, Nanos)>,
}

impl Pieces {
    pub(super) fn new(dies: usize, channels: usize) -> Self {
        Self { read: 0, dies: vec![Way::default(); dies], channels: vec![(0, 0); channels] }
    }

    /// A read with several pieces begins.
    pub(super) fn begin(&mut self) {
        self.read += 1;
    }

    /// A piece was asked of a die `from` then on, which sensed it, and brought over a channel in `transfer` after waiting there for
    /// `on_bus`: what it waited for others of its read is told as what these took.
    pub(super) fn count(
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
        self.dies[die] = Way {
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
        let behind_own = behind - queue - garbage_collection - rebuild + on_bus;
        fetched.queue -= behind - queue + on_bus;
        fetched.media += behind_own;
        fetched.behind_own = behind_own;
    }
}

/// A durable write: its slot, and when its data were there.
pub(super) type Durable = (u32, Nanos);

/// What dies and channels have done for the durable write whose program they began last: the dies for how long they worked on it
/// or waited for its transfers, the channels for how long they carried it.
#[derive(Debug)]
pub(super) struct Programs {
    dies: Vec<(Durable, Nanos)>,
    channels: Vec<(Durable, Nanos)>,
}

impl Programs {
    pub(super) fn new(dies: usize, channels: usize) -> Self {
        let none = ((NONE, 0), 0);
        Self { dies: vec![none; dies], channels: vec![none; channels] }
    }

    /// A die begins a program of a write, its data coming in `transfer` over a channel after waiting there for `on_bus`.
    #[cold]
    pub(super) fn begin(
        &mut self,
        write: Durable,
        (die, channel): (usize, usize),
        (on_bus, transfer, program): (Nanos, Nanos, Nanos),
    ) {
        let [die, channel] = [&mut self.dies[die], &mut self.channels[channel]];
        for of in [&mut *die, &mut *channel] {
            if of.0 != write {
                *of = (write, 0);
            }
        }
        die.1 += on_bus.min(channel.1) + transfer + program;
        channel.1 += transfer;
    }

    /// How long a die has worked on a write.
    pub(super) fn on(&self, die: u32, write: Durable) -> Nanos {
        let (of, time) = self.dies[die as usize];
        if of == write { time } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_wait_for_others_as_long_as_the_first_of_them_did() {
        let mut pieces = Pieces::new(2, 1);
        // Asked for at 100; sensing takes 50, the way over the channel 10.
        let mut told = |die: usize, begins: bool, (at, queue, on_bus): (Nanos, Nanos, Nanos)| {
            if begins {
                pieces.begin();
            }
            let sensed = Sensed { at, queue, ..Sensed::default() };
            let mut fetched = Fetched { queue: queue + on_bus, media: 60, ..Fetched::at(at + on_bus + 10) };
            pieces.count((die, 0), (100, &sensed), (on_bus, 10), &mut fetched);
            assert_eq!(100 + fetched.queue + fetched.media, fetched.at);
            (fetched.queue, fetched.behind_own)
        };
        assert_eq!(told(0, true, (170, 20, 0)), (20, 0), "others kept the die for 20");
        assert_eq!(told(0, false, (220, 70, 0)), (20, 50), "and what follows there waits no longer for them");
        assert_eq!(told(1, false, (150, 0, 35)), (15, 20), "two have come over the channel before");
        assert_eq!(told(0, true, (270, 120, 0)), (120, 0), "those of an earlier read are others");
    }
    #[test]
    fn programs_wait_for_none_but_others_where_they_follow_each_other() {
        let (mut programs, write, other) = (Programs::new(3, 1), (5, 100), (6, 100));
        programs.begin(write, (0, 0), (0, 10, 500));
        programs.begin(write, (1, 0), (10, 10, 500));
        assert_eq!(
            [0, 1].map(|die| programs.on(die, write)),
            [510, 520],
            "the second one's data cross behind the first one's"
        );
        programs.begin(write, (0, 0), (35, 10, 500));
        assert_eq!(programs.on(0, write), 510 + 530, "of 35 two transfers are its own");
        programs.begin(other, (1, 0), (0, 10, 500));
        assert_eq!([write, other].map(|of| programs.on(1, of)), [0, 510]);
        programs.begin((5, 900), (0, 0), (10, 10, 500));
        assert_eq!(programs.on(0, (5, 900)), 510, "a slot's next write is another one");
    }
}
