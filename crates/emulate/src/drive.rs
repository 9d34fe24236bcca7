//! Served drive: bytes, the simulator's device, and what a power cut may take. Reads no clock.

mod mirror;

pub use mirror::FailedOver;

use crate::corruption::{Corruption, Corruptions, Refused, SECTOR};
use crate::door::Request;
use crate::far_side::{FarSide, Sides};
use crate::fate::{self, Cut, Durability};
use crate::slowdown::Slowdown;
use crate::store::Store;
use crate::undo::{State, UndoLog};
use serde_json::Value;
use tameshi_base::{Command, CommandKind, Nanos, Random, Reason, Slow};
use tameshi_sim::faults::Rebuilt;
use tameshi_sim::{Device, DeviceCompletion};

/// Largest trim that the device is given at once.
const LARGEST_TRIM: u64 = 1 << 30;
/// Bytes of overwritten data at which writes that are on the medium leave the undo log.
const UNDO_BYTES: u64 = 64 << 20;
/// Place of the number of power cuts in a command's number.
const CUTS_SHIFT: u32 = 32;
/// Data that the model learns: writes at once, bytes of each, and the first command's number, above
/// those of all power cuts.
const LEARNT_AT_ONCE: usize = 32;
const LEARNT_BYTES: u64 = 128 << 10;
const LEARNT: u64 = (u32::MAX as u64) << CUTS_SHIFT;

/// Power of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Requests go through the model.
    On,
    /// Requests are answered at once, without the model: for the calibration of the path.
    Bypass,
    /// Requests fail.
    Off,
}

/// Answer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Number of the request.
    pub tag: u32,
    /// Operation.
    pub kind: CommandKind,
    /// Number of bytes, or an error number.
    pub result: Result<u32, i32>,
    /// Arrival, in the drive's time.
    pub arrived: Nanos,
    /// Time at which it is due: that of the model's completion, or later if the drive is slowed
    /// down. `None` for an answer without the model.
    pub due: Option<Nanos>,
}

/// Request under way.
#[derive(Clone, Copy, Debug)]
struct Slot {
    request: Request,
    arrived: Nanos,
    /// Sequence number in the undo log: of the write, or of the first one after a flush.
    sequence: u64,
    /// Commands of the device that have not completed.
    commands: u32,
    /// Factor of the modelled time.
    slowdown: Slow,
    /// A read of an unreadable range.
    is_unreadable: bool,
}

/// Served drive.
#[derive(Debug)]
pub struct Drive {
    device: Device,
    store: Store,
    log: UndoLog,
    durability: Durability,
    power: Power,
    seed: u64,
    cuts: u64,
    /// Time of the last event: later submissions are not earlier.
    reached: Nanos,
    slots: Vec<Slot>,
    free: Vec<u32>,
    completions: Vec<DeviceCompletion>,
    volatile: Vec<(u64, u64)>,
    /// Size of the undo log at which it was last pruned in vain, or nothing.
    prune_at: u64,
    refused_writes: u64,
    slowdown: Slowdown,
    corruptions: Corruptions,
    /// Written data are not kept.
    forgets: bool,
    /// Far side of a block mirror.
    far_side: Option<Box<FarSide>>,
}

impl Drive {
    /// Create a drive that is switched on and empty; `seed` decides about its power cuts.
    pub fn new(device: Device, store: Store, durability: Durability, seed: u64) -> Self {
        let far_side = device.unsent().map(|_| Box::new(FarSide::new(store.capacity_bytes())));
        Self {
            device,
            store,
            far_side,
            durability,
            seed,
            log: UndoLog::default(),
            power: Power::On,
            cuts: 0,
            reached: 0,
            slots: Vec::new(),
            free: Vec::new(),
            completions: Vec::new(),
            volatile: Vec::new(),
            prune_at: UNDO_BYTES,
            refused_writes: 0,
            slowdown: Slowdown::default(),
            corruptions: Corruptions::default(),
            forgets: false,
        }
    }

    /// Keep no data that is written from now on: for programs that never look at it.
    pub fn forget_writes(&mut self) {
        self.forgets = true;
    }

    /// Return the drive's bytes.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Return what the drive keeps of overwritten data.
    pub fn log(&self) -> &UndoLog {
        &self.log
    }

    /// Return the state of the power.
    pub fn power(&self) -> Power {
        self.power
    }

    /// Return the writes refused because the store is full.
    pub fn refused_writes(&self) -> u64 {
        self.refused_writes
    }

    /// Return the number of requests under way.
    pub fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Return whether a write of `bytes` is under way.
    pub fn is_writing(&self, bytes: u64) -> bool {
        let is_meant = |request: &Request| request.kind == CommandKind::Write && request.length == bytes;
        let mut meant = (0..).zip(&self.slots).filter(|(_, slot)| is_meant(&slot.request));
        meant.any(|(number, _)| !self.free.contains(&number))
    }

    /// Switch the power on, or the model off. Only without requests under way.
    pub fn switch(&mut self, power: Power) {
        debug_assert!(power == Power::Off || self.under_way() == 0 || self.power == Power::On);
        self.power = power;
    }

    /// Write to the device, in its own time, all data that were stored without it; return the time
    /// at which it has them on its medium.
    pub fn learn(&mut self) -> Nanos {
        let (mut from, mut outstanding, mut id) = (0, 0, LEARNT);
        while let Some((offset_bytes, length)) = self.store.next_written(from, LEARNT_BYTES) {
            while outstanding >= LEARNT_AT_ONCE {
                outstanding -= self.completed();
            }
            let (kind, length_bytes) = (CommandKind::Write, length as u32);
            let write = Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 };
            self.device.submit(self.reached, &write);
            (from, outstanding, id) = (offset_bytes + length, outstanding + 1, id + 1);
        }
        while outstanding > 0 {
            outstanding -= self.completed();
        }
        let (kind, offset_bytes, length_bytes) = (CommandKind::Flush, 0, 0);
        let flush = Command { id, kind, offset_bytes, length_bytes, fua: false, stream: 0 };
        self.device.submit(self.reached, &flush);
        while self.completed() == 0 {}
        self.reached
    }

    /// Process the device's next event; return the number of commands that it completed.
    fn completed(&mut self) -> usize {
        let at = self.device.next_wake().expect("a command is under way").max(self.reached);
        self.reached = at;
        self.completions.clear();
        self.device.advance(at, &mut self.completions);
        self.completions.drain(..).count()
    }

    /// Return the time of the next event: of the device, or of an answer that a slowdown holds.
    #[inline]
    pub fn next_wake(&self) -> Option<Nanos> {
        match (self.device.next_wake(), self.slowdown.next_due()) {
            (Some(device), Some(held)) => Some(device.min(held)),
            (device, held) => device.or(held),
        }
    }

    /// Accept a request at `now`; answers that are due at once go to `departures`.
    pub fn arrive(&mut self, now: Nanos, request: &Request, payload: &mut [u8], departures: &mut Vec<Departure>) {
        let at = now.max(self.reached);
        let answer = |result| Departure { tag: request.tag, kind: request.kind, result, arrived: at, due: None };
        if self.power == Power::Off {
            return departures.push(answer(Err(libc::EIO)));
        }
        self.advance(at, departures);
        if let Err(error) = self.check(request) {
            return departures.push(answer(Err(error)));
        }
        let (request, is_unreadable) = self.corrupted(request);
        let request = &request;
        let sequence = match self.transfer(request, payload) {
            Ok(sequence) => sequence,
            Err(error) => return departures.push(answer(Err(error))),
        };
        let ignored = request.kind == CommandKind::Flush && self.durability.ignores_flush;
        if self.power == Power::Bypass || ignored {
            if self.power == Power::Bypass {
                self.log.set(sequence, State::Durable);
            }
            let result = if is_unreadable { Err(libc::EIO) } else { Ok(bytes_of(request)) };
            return departures.push(answer(result));
        }
        self.submit(at, request, sequence, is_unreadable);
        // The time of a submission is one that later events must not precede.
        self.reached = at;
        self.advance(at, departures);
    }

    fn check(&self, request: &Request) -> Result<(), i32> {
        let Request { kind, offset, length, .. } = *request;
        let end = offset.checked_add(length).ok_or(libc::EINVAL)?;
        match kind {
            CommandKind::Flush => Ok(()),
            _ if !(offset | length).is_multiple_of(SECTOR) || length == 0 => Err(libc::EINVAL),
            _ if end > self.store.capacity_bytes() => Err(libc::ENOSPC),
            _ => Ok(()),
        }
    }

    /// Return a request as the drive carries it out, and whether it is a read that fails.
    #[inline]
    fn corrupted(&mut self, request: &Request) -> (Request, bool) {
        let Request { kind, offset, length, .. } = *request;
        match kind {
            CommandKind::Flush | CommandKind::Trim => (*request, false),
            CommandKind::Read => (*request, self.corruptions.read_fails(offset, length)),
            CommandKind::Write => {
                let offset = self.corruptions.place(offset, length, self.store.capacity_bytes());
                (Request { offset, ..*request }, false)
            }
        }
    }

    /// Move a request's bytes; return its sequence number in the undo log.
    fn transfer(&mut self, request: &Request, payload: &mut [u8]) -> Result<u64, i32> {
        let Request { kind, offset, length, .. } = *request;
        let sequence = self.log.next();
        match kind {
            CommandKind::Read => self.store.read(offset, &mut payload[..length as usize]),
            CommandKind::Flush => {}
            CommandKind::Trim => {
                if self.power == Power::On && self.far_side.as_ref().is_some_and(|far| far.is_linked()) {
                    self.log.open_held_trim(&self.store, offset, length);
                } else {
                    self.log.open_trim(offset, length);
                }
                self.note_change(offset, length);
                self.store.clear(offset, length).map_err(|_| libc::EIO)?;
                self.corruptions.heal(offset, length);
            }
            CommandKind::Write => {
                self.log.open(&self.store, offset, length);
                self.note_change(offset, length);
                if !self.forgets && self.store.write(offset, &payload[..length as usize]).is_err() {
                    self.refused_writes += 1;
                    self.log.set(sequence, State::Durable);
                    return Err(libc::ENOSPC);
                }
                self.corruptions.heal(offset, length);
            }
        }
        Ok(sequence)
    }

    fn submit(&mut self, at: Nanos, request: &Request, sequence: u64, is_unreadable: bool) {
        let Request { kind, offset, length, .. } = *request;
        let slowdown = self.slowdown.factor_at(at);
        let slot = Slot { request: *request, arrived: at, sequence, commands: 1, slowdown, is_unreadable };
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        let id = self.cuts << CUTS_SHIFT | u64::from(number);
        let command = Command { id, kind, offset_bytes: offset, length_bytes: length as u32, fua: false, stream: 0 };
        if kind != CommandKind::Trim || length <= LARGEST_TRIM {
            return self.send(at, &command, sequence);
        }
        self.slots[number as usize].commands = length.div_ceil(LARGEST_TRIM) as u32;
        for start in (0..length).step_by(LARGEST_TRIM as usize) {
            let (offset_bytes, length_bytes) = (offset + start, LARGEST_TRIM.min(length - start) as u32);
            self.send(at, &Command { offset_bytes, length_bytes, ..command }, sequence);
        }
    }

    /// Submit a command to the device; `sequence` is its number in the undo log.
    fn send(&mut self, at: Nanos, command: &Command, sequence: u64) {
        if let Some(far) = &mut self.far_side {
            far.send(command, sequence);
        }
        self.device.submit(at, command);
        self.note_arrivals();
    }

    /// Let the undo log forget what has arrived at the far side; return the number there of the
    /// first write that has not.
    fn note_arrivals(&mut self) -> Option<u64> {
        let far = self.far_side.as_mut()?;
        let first = far.arrived(self.device.unsent().unwrap_or(0));
        self.log.hold_from(first);
        first
    }

    /// Note that a range is being changed.
    fn note_change(&mut self, offset: u64, length: u64) {
        if let Some(far) = &mut self.far_side {
            far.note_change(offset, length);
        }
    }

    /// Process all events up to `horizon`.
    pub fn advance(&mut self, horizon: Nanos, departures: &mut Vec<Departure>) {
        while let Some(at) = self.next_wake().filter(|&at| at <= horizon) {
            self.reached = self.reached.max(at);
            if let Some((due, number, failed)) = self.slowdown.take(at) {
                self.answer(number, due, failed, departures);
                continue;
            }
            let mut completions = std::mem::take(&mut self.completions);
            self.device.advance(at, &mut completions);
            self.note_arrivals();
            for done in completions.drain(..) {
                self.depart(&done, departures);
            }
            self.completions = completions;
        }
    }

    fn depart(&mut self, done: &DeviceCompletion, departures: &mut Vec<Departure>) {
        if done.command.id >> CUTS_SHIFT != self.cuts {
            return; // It was under way at a power cut, and has been answered.
        }
        let number = done.command.id as u32;
        let slot = &mut self.slots[number as usize];
        slot.commands -= 1;
        if slot.commands > 0 {
            return;
        }
        let due = slot.arrived.saturating_add(slot.slowdown.wall_time(done.at.saturating_sub(slot.arrived)));
        if due > done.at {
            return self.slowdown.hold(due, number, done.failed);
        }
        self.answer(number, done.at, done.failed, departures);
    }

    /// Answer a request that is due.
    fn answer(&mut self, number: u32, due: Nanos, failed: bool, departures: &mut Vec<Departure>) {
        let Slot { request, arrived, sequence, is_unreadable, .. } = self.slots[number as usize];
        self.free.push(number);
        let result = if failed || is_unreadable { Err(libc::EIO) } else { Ok(bytes_of(&request)) };
        departures.push(Departure { tag: request.tag, kind: request.kind, result, arrived, due: Some(due) });
        match request.kind {
            CommandKind::Read | CommandKind::Trim => {}
            CommandKind::Flush => self.log.settle_before(sequence),
            CommandKind::Write if !self.durability.volatile => self.log.set(sequence, State::Durable),
            CommandKind::Write => {
                self.log.set(sequence, State::Acknowledged);
                self.prune();
            }
        }
    }

    /// Drop writes from a long undo log that the device has on its medium.
    fn prune(&mut self) {
        if self.log.held_bytes() < self.prune_at {
            return;
        }
        self.name_volatile();
        self.log.settle_outside(&self.volatile);
        // A drive with a large buffer holds more: look again once that has grown by half.
        self.prune_at = UNDO_BYTES.max(self.log.held_bytes() / 2 * 3);
    }

    fn name_volatile(&mut self) {
        self.volatile.clear();
        self.device.volatile_ranges(&mut self.volatile);
        self.volatile.sort_unstable();
    }

    /// Let requests that arrive from `now` on take `factor` times as long, for a time if there is
    /// one.
    pub fn slow_down(&mut self, factor: Slow, time: Option<Nanos>, now: Nanos, departures: &mut Vec<Departure>) {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.reached = at;
        self.slowdown.set(factor, time.map(|time| at.saturating_add(time)));
    }

    /// Return the slowdown at `now`.
    pub fn slowdown(&self, now: Nanos) -> Value {
        self.slowdown.as_json(now.max(self.reached))
    }

    /// Corrupt a range of bytes at `now`.
    ///
    /// # Errors
    /// The range is none of this drive, or no room is left in the store.
    pub fn corrupt(
        &mut self,
        kind: Corruption,
        range: (u64, u64),
        now: Nanos,
        departures: &mut Vec<Departure>,
    ) -> Result<(), Refused> {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.reached = at;
        self.corruptions.corrupt(kind, range, &mut self.store, self.seed)
    }

    /// Return what is corrupt, and what came of it.
    pub fn corruption(&self) -> Value {
        self.corruptions.as_json()
    }

    /// Fail a member of a stack at `now`, or all of it; return whether any was alive.
    pub fn fail(&mut self, member: Option<u32>, now: Nanos, departures: &mut Vec<Departure>) -> bool {
        let at = now.max(self.reached);
        self.advance(at, departures);
        let was_alive = self.device.fail(member, at);
        self.reached = at;
        self.advance(at, departures);
        was_alive
    }

    /// Replace a failed member at `now`, which begins its rebuild.
    ///
    /// # Errors
    /// The member is alive, or nothing is left to rebuild it from.
    pub fn replace(&mut self, member: u32, now: Nanos, departures: &mut Vec<Departure>) -> Result<(), Reason> {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.reached = at;
        self.device.replace(member, at)
    }

    /// Take the next rebuild that has ended.
    pub fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        let rebuilt = self.device.take_rebuilt();
        if let Some(far) = self.far_side.as_mut().filter(|_| rebuilt.is_some_and(|of| of.is_resync)) {
            far.sides = Sides::Both;
        }
        rebuilt
    }

    /// Return the bytes that rebuilds have written.
    pub fn rebuilt_bytes(&self) -> u64 {
        self.device.rebuilt_bytes()
    }

    /// Return whether a stack has lost its data with too many members.
    pub fn is_broken(&self) -> bool {
        self.device.is_broken()
    }

    /// Cut the power at `now`: requests under way fail, and unflushed data meet their fate.
    pub fn cut(&mut self, now: Nanos, departures: &mut Vec<Departure>) -> Cut {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.name_volatile();
        let loss = self.device.cut_power(at);
        let mut random = Random::named(self.seed, &format!("cut {}", self.cuts));
        keep_lost(&mut self.volatile, loss.lost_bytes, &mut random);
        let cut = fate::cut(&mut self.log, &mut self.store, &self.durability, &self.volatile, &mut random);
        self.far_side.iter_mut().for_each(|far| far.note_cut(loss.resyncs));
        self.abandon(at, departures);
        cut
    }

    /// Fail all requests under way and switch the power off.
    fn abandon(&mut self, at: Nanos, departures: &mut Vec<Departure>) {
        let live = |number: &u32| !self.free.contains(number);
        for number in (0..self.slots.len() as u32).filter(live) {
            let Slot { request, arrived, .. } = self.slots[number as usize];
            let (tag, kind, result) = (request.tag, request.kind, Err(libc::EIO));
            departures.push(Departure { tag, kind, result, arrived, due: None });
        }
        self.slots.clear();
        self.free.clear();
        self.slowdown.clear();
        (self.power, self.reached, self.prune_at) = (Power::Off, at, UNDO_BYTES);
        self.cuts += 1;
    }
}

/// Keep ranges of `lost_bytes` in total, drawn by chance; a worn capacitor saves the others.
fn keep_lost(ranges: &mut Vec<(u64, u64)>, lost_bytes: u64, random: &mut Random) {
    let mut total: u64 = ranges.iter().map(|&(_, bytes)| bytes).sum();
    while total > lost_bytes && !ranges.is_empty() {
        let saved = ranges.swap_remove(random.below(ranges.len() as u64) as usize);
        total -= saved.1;
    }
    ranges.sort_unstable();
}

fn bytes_of(request: &Request) -> u32 {
    match request.kind {
        CommandKind::Read | CommandKind::Write => request.length as u32,
        CommandKind::Flush | CommandKind::Trim => 0,
    }
}
