//! A device at the other end of a link: half a round trip there and half back, and the bytes in between.
//!
//! Bytes cross one after the other, those of writes on the way there, those of reads on the way back; to wait for others'
//! bytes is waiting, to cross is the link's part. What has no bytes goes between the packets of those: it waits for none.

use super::nodes::{Crossing, Linked};
use super::rebuild::time_of;
use super::slab::Slab;
use crate::device::{Breakdown, Device, DeviceCompletion};
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::run::Link;

impl Linked {
    /// `device` across `link`.
    pub(super) fn over(link: &Link, device: Device) -> Result<Device, String> {
        if link.rate.0 == 0 {
            return Err("a link's rate must not be zero".into());
        }
        let there = link.round_trip.0 / 2;
        Ok(Device::Linked(Box::new(Self {
            there,
            back: link.round_trip.0 - there,
            bytes_per_second: link.rate.0,
            free: [0; 2],
            crossed: [0; 2],
            crossings: Slab::default(),
            outbound: VecDeque::new(),
            homebound: VecDeque::new(),
            device,
            done: Vec::new(),
        })))
    }

    pub(crate) fn inner(&self) -> &Device {
        &self.device
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Waiting and crossing of so many bytes one way.
    fn cross(&mut self, way: usize, now: Nanos, bytes: u32) -> (Nanos, Nanos) {
        let begin = self.free[way].max(now);
        let crossing = time_of(u64::from(bytes), self.bytes_per_second);
        self.free[way] = begin + crossing;
        self.crossed[way] += crossing;
        (begin - now, crossing + if way == 0 { self.there } else { self.back })
    }

    pub(crate) fn submit(&mut self, now: Nanos, command: &Command) {
        let (queue, link) = match command.kind {
            CommandKind::Read => (0, self.there),
            CommandKind::Write => self.cross(0, now, command.length_bytes),
            // They speak of the writes before them, which they must not overtake.
            CommandKind::Flush | CommandKind::Trim => self.cross(0, now, 0),
        };
        let crossing = self.crossings.insert(Crossing { command: *command, submitted: now, queue, link });
        let arrives = now + queue + link;
        if arrives == now {
            self.arrive(now, crossing);
        } else {
            let place = self.outbound.partition_point(|(at, _)| *at <= arrives);
            self.outbound.insert(place, (arrives, crossing));
        }
    }

    fn arrive(&mut self, now: Nanos, crossing: u32) {
        let command = Command { id: u64::from(crossing), ..self.crossings.get(crossing).command };
        self.device.submit(now, &command);
    }

    #[inline(never)]
    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        let there = self.outbound.front().map(|(at, _)| *at);
        let back = self.homebound.front().map(|done| done.at);
        [there, back, self.device.next_wake()].into_iter().flatten().min()
    }

    pub(crate) fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            if let Some(done) = self.homebound.pop_front_if(|done| done.at <= at) {
                completions.push(done);
            } else if let Some((_, crossing)) = self.outbound.pop_front_if(|(arrives, _)| *arrives <= at) {
                self.arrive(at, crossing);
            } else {
                let mut done = std::mem::take(&mut self.done);
                self.device.advance(at, &mut done);
                done.drain(..).for_each(|done| self.turn_back(&done, completions));
                self.done = done;
            }
        }
    }

    /// The device is done: its answer goes back.
    fn turn_back(&mut self, done: &DeviceCompletion, completions: &mut Vec<DeviceCompletion>) {
        let Some(crossing) = self.crossings.take(done.command.id as u32) else { return };
        let (queue, link) = match crossing.command.kind {
            CommandKind::Read => self.cross(1, done.at, crossing.command.length_bytes),
            _ => (0, self.back),
        };
        let mut breakdown = done.breakdown;
        breakdown.add(&Breakdown { queue: crossing.queue + queue, link: crossing.link + link, ..Breakdown::default() });
        let at = done.at + queue + link;
        let Crossing { command, submitted, .. } = crossing;
        let done = DeviceCompletion { command, submitted, at, breakdown, failed: done.failed };
        let place = self.homebound.partition_point(|other| other.at <= at);
        if queue + link == 0 && place == 0 {
            completions.push(done);
        } else {
            self.homebound.insert(place, done);
        }
    }

    /// How long bytes have crossed either way, and what the device behind uses.
    pub(crate) fn usage(&self, now: Nanos, usage: &mut Usage) {
        for (crossed, free) in self.crossed.iter().zip(&self.free) {
            usage.add(Resource::Link, 1, crossed.saturating_sub(free.saturating_sub(now)));
        }
        self.device.usage(now, usage);
    }

    /// Its user is beside it from `now` on: there is no link any more, and what was on the way back crosses none.
    pub(super) fn is_near(&mut self, now: Nanos) {
        (self.there, self.back, self.bytes_per_second) = (0, 0, u64::MAX);
        self.is_free(now);
        self.homebound.iter_mut().for_each(|done| done.at = now);
    }

    /// What was still to cross does not.
    fn is_free(&mut self, now: Nanos) {
        for (crossed, free) in self.crossed.iter_mut().zip(&mut self.free) {
            *crossed -= free.saturating_sub(now);
            *free = now.min(*free);
        }
    }

    /// Everything on its way at `now` is forgotten.
    pub(crate) fn forget(&mut self, now: Nanos) {
        self.is_free(now);
        self.crossings.clear();
        self.outbound.clear();
        self.homebound.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::{Size, Time};

    const MIB: u32 = 1 << 20;

    /// Ends of commands that begin at once, each of a kind and so many bytes, across 10 us and a gigabyte a second.
    fn ends(commands: &[(CommandKind, u32)]) -> Vec<(Nanos, Nanos)> {
        let link = Link { round_trip: Time(10_000), rate: Size(1_000_000_000) };
        let mut linked = Linked::over(&link, Device::Null(Box::default())).expect("a link");
        for (id, &(kind, length_bytes)) in (0..).zip(commands) {
            linked.submit(0, &Command { id, kind, offset_bytes: id << 20, length_bytes, fua: false, stream: 0 });
        }
        let mut done = vec![];
        while let Some(at) = linked.next_wake() {
            linked.advance(at, &mut done);
        }
        done.sort_by_key(|done| done.command.id);
        done.iter().map(|done| (done.at, done.breakdown.queue)).collect()
    }

    #[test]
    fn what_has_no_bytes_goes_between_those_of_others() {
        use CommandKind::{Flush, Read, Trim, Write};
        let bulk = Nanos::from(MIB);
        let (across, small) = (10_000, 4096);
        let answer_beside_reads = ends(&[(Read, MIB), (Read, MIB), (Write, 4096)]);
        assert_eq!(answer_beside_reads, [(across + bulk, 0), (across + 2 * bulk, bulk), (across + small, 0)]);
        let reads_beside_a_write = ends(&[(Write, MIB), (Read, 4096), (Read, 4096)]);
        assert_eq!(reads_beside_a_write, [(across + bulk, 0), (across + small, 0), (across + 2 * small, small)]);
        for order in [Flush, Trim] {
            assert_eq!(ends(&[(Write, MIB), (order, 0)])[1], (across + bulk, bulk), "it overtakes no write before it");
            assert_eq!(ends(&[(Read, MIB), (order, 0)])[1], (across, 0));
        }
    }
}
