//! Device across a link, such as the far member of a replica.
//!
//! A command takes half a round trip there and half back. Bytes cross one after the other: those of
//! writes on the way there, those of reads on the way back. Waiting for other transfers counts as
//! queueing, crossing as link time. Commands without bytes pass between the packets of others and
//! do not wait.
//!
//! **Far memory.** Under this protocol the host in front of the device answers a write as soon as
//! it has received the data. The device does the write afterwards.

use super::slab::Slab;
use crate::device::loss::Loss;
use crate::device::pace::transfer_time;
use crate::device::{Breakdown, DeviceCompletion, Model};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::run::Link;
use tameshi_spec::study::Protocol;

/// Command on its way.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    command: Command,
    submitted: Nanos,
    queue: Nanos,
    link: Nanos,
    /// True once the far host has answered it from its memory.
    is_answered: bool,
}

/// Device across a link.
#[derive(Debug)]
pub struct Replica<D> {
    there: Nanos,
    back: Nanos,
    bytes_per_second: u64,
    /// True if the far host answers writes when it has received them.
    answers_from_memory: bool,
    /// Time from which the next bytes may cross, there and back.
    free: [Nanos; 2],
    /// Busy time of each way, including transfers under way.
    crossed: [Nanos; 2],
    crossings: Slab<Crossing>,
    /// Commands on their way, in the order of arrival.
    outbound: VecDeque<(Nanos, u32)>,
    /// Completions on their way back, in the order of arrival.
    inbound: VecDeque<DeviceCompletion>,
    /// Writes and trims on their way there.
    unsent: u64,
    /// True while the link carries nothing.
    is_cut: bool,
    device: D,
    done: Vec<DeviceCompletion>,
}

impl<D: Model> Replica<D> {
    /// Put a link in front of `device`, across which writes follow `protocol`.
    ///
    /// # Errors
    /// The link's rate is zero.
    pub(super) fn new(link: &Link, protocol: Protocol, device: D) -> Result<Self, String> {
        if link.rate.0 == 0 {
            return Err("a link's rate must not be zero".into());
        }
        let there = link.round_trip.0 / 2;
        Ok(Self {
            there,
            back: link.round_trip.0 - there,
            bytes_per_second: link.rate.0,
            answers_from_memory: protocol == Protocol::FarMemory,
            free: [0; 2],
            crossed: [0; 2],
            crossings: Slab::default(),
            outbound: VecDeque::new(),
            inbound: VecDeque::new(),
            unsent: 0,
            is_cut: false,
            device,
            done: Vec::new(),
        })
    }

    /// Transfer bytes one way; return the waiting and the crossing time.
    fn cross(&mut self, way: usize, now: Nanos, bytes: u32) -> (Nanos, Nanos) {
        let begin = self.free[way].max(now);
        let crossing = transfer_time(u64::from(bytes), self.bytes_per_second);
        self.free[way] = begin + crossing;
        self.crossed[way] += crossing;
        (begin - now, crossing + if way == 0 { self.there } else { self.back })
    }

    fn arrive(&mut self, now: Nanos, crossing: u32) {
        let of = self.crossings.get_mut(crossing);
        let command = Command { id: u64::from(crossing), ..of.command };
        self.unsent -= u64::from(is_data(&command));
        if self.answers_from_memory && command.kind == CommandKind::Write {
            of.is_answered = true;
            let breakdown = Breakdown { queue: of.queue, link: of.link + self.back, ..Breakdown::default() };
            let (command, submitted, at) = (of.command, of.submitted, now + self.back);
            self.insert(DeviceCompletion { command, submitted, at, breakdown, failed: false });
        }
        self.device.submit(now, &command);
    }

    /// Put a completion on its way back.
    fn insert(&mut self, done: DeviceCompletion) {
        let place = self.inbound.partition_point(|other| other.at <= done.at);
        self.inbound.insert(place, done);
    }

    /// Send a completion back.
    fn send_back(&mut self, done: &DeviceCompletion, completions: &mut Vec<DeviceCompletion>) {
        let Some(crossing) = self.crossings.take(done.command.id as u32).filter(|crossing| !crossing.is_answered)
        else {
            return;
        };
        let (queue, link) = match crossing.command.kind {
            CommandKind::Read => self.cross(1, done.at, crossing.command.length_bytes),
            _ => (0, self.back),
        };
        let mut breakdown = done.breakdown;
        breakdown.add(&Breakdown { queue: crossing.queue + queue, link: crossing.link + link, ..Breakdown::default() });
        let at = done.at + queue + link;
        let Crossing { command, submitted, .. } = crossing;
        let done = DeviceCompletion { command, submitted, at, breakdown, failed: done.failed };
        if queue + link == 0 && !self.is_cut && self.inbound.front().is_none_or(|other| other.at > at) {
            completions.push(done);
        } else {
            self.insert(done);
        }
    }

    /// Send a command; it waits before a cut link.
    fn send(&mut self, now: Nanos, crossing: u32) {
        let of = *self.crossings.get_mut(crossing);
        let (queue, link) = match of.command.kind {
            CommandKind::Read => (0, self.there),
            CommandKind::Write => self.cross(0, now, of.command.length_bytes),
            // They refer to earlier writes, which they must not overtake.
            CommandKind::Flush | CommandKind::Trim => self.cross(0, now, 0),
        };
        let waited = now - of.submitted;
        *self.crossings.get_mut(crossing) = Crossing { queue: waited + queue, link, ..of };
        let arrives = now + queue + link;
        if arrives == now {
            self.arrive(now, crossing);
        } else {
            let place = self.outbound.partition_point(|(at, _)| *at <= arrives);
            self.outbound.insert(place, (arrives, crossing));
        }
    }

    /// Cancel transfers after `now`.
    fn cancel_transfers(&mut self, now: Nanos) {
        for (crossed, free) in self.crossed.iter_mut().zip(&mut self.free) {
            *crossed -= free.saturating_sub(now);
            *free = now.min(*free);
        }
    }
}

impl<D: Model> Model for Replica<D> {
    type Inner = D;

    fn inner(&self) -> Option<&D> {
        Some(&self.device)
    }

    fn inner_mut(&mut self) -> Option<&mut D> {
        Some(&mut self.device)
    }

    fn submit(&mut self, now: Nanos, command: &Command) {
        let crossing = Crossing { command: *command, submitted: now, queue: 0, link: 0, is_answered: false };
        let crossing = self.crossings.insert(crossing);
        self.unsent += u64::from(is_data(command));
        if self.is_cut {
            self.outbound.push_back((Nanos::MAX, crossing));
        } else {
            self.send(now, crossing);
        }
    }

    #[inline(never)]
    fn next_wake(&self) -> Option<Nanos> {
        let there = self.outbound.front().map(|(at, _)| *at).filter(|_| !self.is_cut);
        let back = self.inbound.front().map(|done| done.at).filter(|_| !self.is_cut);
        [there, back, self.device.next_wake()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            let carries = !self.is_cut;
            if let Some(done) = self.inbound.pop_front_if(|done| carries && done.at <= at) {
                completions.push(done);
            } else if let Some((_, crossing)) = self.outbound.pop_front_if(|(arrives, _)| carries && *arrives <= at) {
                self.arrive(at, crossing);
            } else {
                let mut done = std::mem::take(&mut self.done);
                self.device.advance(at, &mut done);
                done.drain(..).for_each(|done| self.send_back(&done, completions));
                self.done = done;
            }
        }
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        for (crossed, free) in self.crossed.iter().zip(&self.free) {
            usage.add(Resource::Link, 1, crossed.saturating_sub(free.saturating_sub(now)));
        }
        self.device.usage(now, usage);
    }

    fn remove_link(&mut self, now: Nanos) {
        (self.there, self.back, self.bytes_per_second) = (0, 0, u64::MAX);
        self.answers_from_memory = false;
        self.cancel_transfers(now);
        self.inbound.iter_mut().for_each(|done| done.at = now);
        if std::mem::take(&mut self.is_cut) {
            self.outbound.iter_mut().for_each(|(arrives, _)| *arrives = now);
        }
    }

    fn unsent(&self) -> Option<u64> {
        Some(self.unsent)
    }

    fn change_link(&mut self, is_up: bool, now: Nanos) -> bool {
        if is_up && self.is_cut {
            self.is_cut = false;
            let back = now + self.back;
            for done in &mut self.inbound {
                let at = done.at.max(back);
                done.breakdown.queue += at - done.at;
                done.at = at;
            }
            for (_, crossing) in std::mem::take(&mut self.outbound) {
                self.send(now, crossing);
            }
        } else if !is_up {
            self.is_cut = true;
            self.cancel_transfers(now);
        }
        true
    }

    fn unwritten(&self, writes: &mut Vec<(u64, u64)>) {
        let answered = self.crossings.iter().filter(|(_, crossing)| crossing.is_answered);
        writes.extend(answered.map(|(_, of)| (of.command.offset_bytes, u64::from(of.command.length_bytes))));
    }

    fn lose_power(&mut self, now: Nanos) -> Loss {
        self.cancel_transfers(now);
        self.crossings.clear();
        self.outbound.clear();
        self.inbound.clear();
        self.unsent = 0;
        self.device.lose_power(now)
    }
}

/// Return whether a command changes data.
fn is_data(command: &Command) -> bool {
    matches!(command.kind, CommandKind::Write | CommandKind::Trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Null;
    use tameshi_base::{Size, Time};

    const MIB: u32 = 1 << 20;

    /// Return ends and queueing of commands that begin at once, over a link of 10 µs and 1 GB/s.
    fn ends(commands: &[(CommandKind, u32)]) -> Vec<(Nanos, Nanos)> {
        let link = Link { round_trip: Time(10_000), rate: Size(1_000_000_000) };
        let mut replica = Replica::new(&link, Protocol::FarMedium, Null::default()).expect("a link");
        for (id, &(kind, length_bytes)) in (0..).zip(commands) {
            replica.submit(0, &Command { id, kind, offset_bytes: id << 20, length_bytes, fua: false, stream: 0 });
        }
        let mut done = vec![];
        while let Some(at) = replica.next_wake() {
            replica.advance(at, &mut done);
        }
        done.sort_by_key(|done| done.command.id);
        done.iter().map(|done| (done.at, done.breakdown.queue)).collect()
    }

    #[test]
    fn commands_without_bytes_pass_between_transfers() {
        use CommandKind::{Flush, Read, Trim, Write};
        let bulk = Nanos::from(MIB);
        let (across, small) = (10_000, 4096);
        let answer_beside_reads = ends(&[(Read, MIB), (Read, MIB), (Write, 4096)]);
        assert_eq!(answer_beside_reads, [(across + bulk, 0), (across + 2 * bulk, bulk), (across + small, 0)]);
        let reads_beside_a_write = ends(&[(Write, MIB), (Read, 4096), (Read, 4096)]);
        assert_eq!(reads_beside_a_write, [(across + bulk, 0), (across + small, 0), (across + 2 * small, small)]);
        for order in [Flush, Trim] {
            assert_eq!(ends(&[(Write, MIB), (order, 0)])[1], (across + bulk, bulk), "it overtakes no earlier write");
            assert_eq!(ends(&[(Read, MIB), (order, 0)])[1], (across, 0));
        }
    }
}
