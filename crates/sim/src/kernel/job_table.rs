//! Where jobs sit: those of the phase under way, and those of phases before it of which commands are outstanding.
//!
//! A phase begins at the end of the one before. What is outstanding then completes meanwhile, into the digest only. In
//! closed loop a command of the new phase takes the place of each that completes on its storage, so that never more are
//! outstanding there than the larger of the two depths; arrivals fixed in advance wait for nothing. Where more is outstanding than
//! the new phase may have, it would start nothing for a while: then the old one's drains first.

use crate::kernel::ready_tree::ReadyTree;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_spec::run::PhaseSpec;
use tameshi_workload::Job;

/// A job, its stream, and where it works.
#[derive(Debug)]
pub(crate) struct JobSlot {
    pub(crate) job: Job,
    pub(crate) number: u32,
    pub(crate) stream: u16,
    /// Number of its storage in the spec, and of the device that this lies on.
    pub(crate) storage: usize,
    pub(crate) device: usize,
    /// Where the storage begins on the device.
    pub(crate) base_bytes: u64,
    pub(crate) open_loop: bool,
}

/// A seat's standing among all.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// The phase that it belongs to, by the number of its visit.
    visit: u32,
    /// It waits for one of the phases before to complete.
    held: bool,
}

/// What a storage has outstanding while phases change.
#[derive(Debug, Default)]
struct Room {
    /// Of phases before.
    lingering: u64,
    /// Of the phase under way.
    taken: u64,
    /// What the phase under way may have outstanding.
    slots: u64,
    held: VecDeque<usize>,
}

impl Room {
    fn is_free(&self) -> bool {
        self.lingering == 0 || self.lingering + self.taken < self.slots
    }
}

/// A phase that has ended.
#[derive(Debug)]
struct Leaving {
    phase: u32,
    visit: u32,
    outstanding: u64,
    /// When the last of it completed, or it ended.
    at: Nanos,
}

/// All seats of a run.
#[derive(Debug, Default)]
pub(crate) struct JobTable {
    all: Vec<JobSlot>,
    standings: Vec<Standing>,
    /// JobTable below it are taken by the phase under way, or by others still.
    next_free: usize,
    /// Per storage.
    rooms: Vec<Room>,
    visit: u32,
    /// Commands of phases before that are outstanding.
    lingering: u64,
    leaving: Vec<Leaving>,
}

impl JobTable {
    /// A phase takes seats, among so many storages.
    pub(crate) fn begin(&mut self, storages: usize) {
        self.visit += 1;
        self.next_free = 0;
        self.rooms.clear();
        self.rooms.resize_with(storages, Room::default);
        for seat in &self.all {
            self.rooms[seat.storage].lingering += u64::from(seat.job.outstanding());
        }
        self.lingering = self.rooms.iter().map(|room| room.lingering).sum();
    }

    /// Nobody sits anywhere: nothing is outstanding.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.standings.clear();
    }

    /// The job sits down where nothing is outstanding; `slots` of its commands may be.
    pub(crate) fn take(&mut self, seat: JobSlot, slots: u32) -> usize {
        while self.all.get(self.next_free).is_some_and(|seat| seat.job.outstanding() > 0) {
            self.next_free += 1;
        }
        let (place, standing) = (self.next_free, Standing { visit: self.visit, held: false });
        self.next_free += 1;
        self.rooms[seat.storage].slots += u64::from(slots);
        if place == self.all.len() {
            self.all.push(seat);
            self.standings.push(standing);
        } else {
            (self.all[place], self.standings[place]) = (seat, standing);
        }
        place
    }

    /// JobTable that there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether the seat belongs to the phase under way.
    #[inline]
    pub(crate) fn is_current(&self, seat: usize) -> bool {
        self.standings[seat].visit == self.visit
    }

    /// Those of the phase under way.
    pub(crate) fn current(&self) -> impl Iterator<Item = (usize, &JobSlot)> {
        self.all.iter().enumerate().filter(|(seat, _)| self.is_current(*seat))
    }

    #[inline]
    pub(crate) fn get(&self, seat: usize) -> &JobSlot {
        &self.all[seat]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, seat: usize) -> &mut JobSlot {
        &mut self.all[seat]
    }

    /// Whether a seat that is due must wait for a command of the phases before; then it is told when.
    #[inline]
    pub(crate) fn holds(&mut self, seat: usize) -> bool {
        self.lingering > 0 && self.holds_back(seat)
    }

    fn holds_back(&mut self, seat: usize) -> bool {
        let (of, standing) = (&self.all[seat], &mut self.standings[seat]);
        let room = &mut self.rooms[of.storage];
        if of.open_loop || room.is_free() {
            return false;
        }
        standing.held = true;
        room.held.push_back(seat);
        true
    }

    /// A seat of the phase under way has issued a command.
    #[inline]
    pub(crate) fn issued(&mut self, seat: usize) {
        if self.lingering > 0 {
            self.rooms[self.all[seat].storage].taken += 1;
        }
    }

    /// A command of a seat is complete while some of phases before are outstanding: whoever waited for its place may go on.
    pub(crate) fn completed(&mut self, seat: usize, now: Nanos, due: &mut ReadyTree) {
        let (storage, visit) = (self.all[seat].storage, self.standings[seat].visit);
        let room = &mut self.rooms[storage];
        if visit == self.visit {
            room.taken -= 1;
        } else {
            room.lingering -= 1;
            self.lingering -= 1;
            let leaving = self.leaving.iter_mut().find(|of| of.visit == visit);
            let leaving = leaving.expect("a phase leaves until nothing of it is outstanding");
            (leaving.outstanding, leaving.at) = (leaving.outstanding - 1, now);
        }
        while self.rooms[storage].is_free()
            && let Some(next) = self.rooms[storage].held.pop_front()
        {
            self.standings[next].held = false;
            self.set_due(next, now, due);
            if self.rooms[storage].lingering > 0 {
                break;
            }
        }
    }

    /// When a seat is due next. A slot that was held may have been due before.
    #[inline(always)]
    pub(crate) fn set_due(&self, seat: usize, now: Nanos, due: &mut ReadyTree) {
        if !self.standings[seat].held {
            due.set(seat, self.all[seat].job.next_due().map(|at| at.max(now)));
        }
    }

    /// A job of `phase` has come to its end, and those that end with its stream start nothing any more: how many have
    /// nothing to do since then.
    #[cold]
    pub(crate) fn ended(&mut self, seat: usize, phase: &PhaseSpec, now: Nanos, due: &mut ReadyTree) -> usize {
        let name = &phase.streams[usize::from(self.all[seat].stream)].name;
        let with = |of: &JobSlot| phase.streams[usize::from(of.stream)].stream.ends_with.contains(name);
        let others: Vec<usize> =
            self.current().filter(|(other, of)| *other != seat && with(of)).map(|(other, _)| other).collect();
        let mut ended = 1;
        for other in others {
            let job = &mut self.all[other].job;
            if job.is_done() {
                continue;
            }
            job.end();
            let is_done = job.is_done();
            self.set_due(other, now, due);
            if is_done {
                ended += self.ended(other, phase, now, due);
            }
        }
        ended
    }

    /// The phase ends; what is outstanding belongs to no window from now on.
    pub(crate) fn leave(&mut self, phase: u32, end: Nanos) {
        let outstanding = self.current().map(|(_, seat)| u64::from(seat.job.outstanding())).sum();
        self.leaving.push(Leaving { phase, visit: self.visit, outstanding, at: end });
        self.visit += 1;
        self.lingering += outstanding;
        for (seat, standing) in self.all.iter().zip(&self.standings) {
            if standing.visit + 1 == self.visit {
                self.rooms[seat.storage].lingering += u64::from(seat.job.outstanding());
            }
        }
    }

    /// Commands of phases that have ended.
    #[inline]
    pub(crate) fn lingering(&self) -> u64 {
        self.lingering
    }

    /// Those of them on a storage.
    pub(crate) fn lingering_on(&self, storage: usize) -> u64 {
        self.rooms[storage].lingering
    }

    /// The next phase of which nothing is outstanding any more, and since when; each once.
    pub(crate) fn drained(&mut self) -> Option<(u32, Nanos)> {
        let place = self.leaving.iter().position(|of| of.outstanding == 0)?;
        let of = self.leaving.remove(place);
        Some((of.phase, of.at))
    }
}
