//! Write-back cache in front of a device.
//!
//! - A write is taken once its blocks and all dirty blocks fit into the dirty share of the memory.
//!   It completes after the controller's time and its transfer. Larger writes go through to the
//!   device.
//! - Write-back takes the blocks that have been dirty longest, 1,024 at a time in the order of
//!   their offsets, adjacent blocks together. Below half of the dirty share it waits until no read
//!   is at the device. In front of parity, whole rows are written apart from partial rows, so
//!   sequential writes need no reads.
//! - A read hit completes after the controller's time and its transfer. A read with any missing
//!   block goes to the device; its data replace the blocks not used for longest.
//! - With a battery, taken writes are durable. In a volatile cache, a flush writes back all earlier
//!   writes and flushes the device, and force unit access goes through to the device. The flush's
//!   wait takes the breakdown of the last write-back.

mod order;
mod requests;
mod table;

pub(super) use requests::Settings;
pub(super) use table::BLOCK_BYTES;

use super::slab::Slab;
use crate::device::busy_time::BusyTime;
use crate::device::loss::Loss;
use crate::device::pace::transfer_time;
use crate::device::{Breakdown, DeviceCompletion, Model};
use order::{FREE, Next, ORDERED, Order};
use requests::{Op, Request, Then};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use table::{State, Table};
use tameshi_base::{Command, CommandKind, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::study::CacheKind;

/// Blocks per batch of write-back, in the order of their offsets.
const BATCH: usize = 1024;
/// Maximum of write-back commands outstanding, and of blocks per command.
const DEPTH: u32 = 32;
const LONGEST: u64 = 256;

/// Device with a cache in front of it.
#[derive(Debug)]
pub struct Cache<D> {
    settings: Settings,
    device: D,
    table: Table,
    ops: Slab<Op>,
    order: Order,
    timed: BinaryHeap<Reverse<(Nanos, u64, u32)>>,
    sequence: u64,
    requests: Slab<Request>,
    /// Writes that wait for room.
    waiting: VecDeque<u32>,
    /// Blocks dirty or being written back.
    dirty: u64,
    /// Write-back commands at the device.
    write_backs: u32,
    /// Reads at the device.
    reads: u32,
    /// Blocks to write back next, in descending order.
    batch: Vec<u64>,
    /// Port to the host: when it is free, and its busy time.
    free_at: Nanos,
    crossing: BusyTime,
    /// Serial number of the last write taken.
    writers: u64,
    /// Flushes begun.
    generation: u64,
    /// Flush that drains, and the blocks that it still waits for.
    draining: Option<(u32, u64)>,
    done: Vec<DeviceCompletion>,
}

impl<D: Model> Cache<D> {
    /// Put a cache in front of `device`.
    pub(super) fn new(settings: Settings, device: D) -> Self {
        Self {
            table: Table::new((settings.memory_bytes / BLOCK_BYTES).max(1) as usize),
            settings,
            device,
            ops: Slab::default(),
            order: Order::default(),
            timed: BinaryHeap::new(),
            sequence: 0,
            requests: Slab::default(),
            waiting: VecDeque::new(),
            dirty: 0,
            write_backs: 0,
            reads: 0,
            batch: Vec::with_capacity(BATCH),
            free_at: 0,
            crossing: BusyTime::default(),
            writers: 0,
            generation: 0,
            draining: None,
            done: Vec::new(),
        }
    }

    fn volatile(&self) -> bool {
        self.settings.kind == CacheKind::Volatile
    }

    fn limit(&self) -> u64 {
        (self.settings.dirty_bytes / BLOCK_BYTES).max(1)
    }

    /// Let the controller work on a command for `controller`.
    fn delay(&mut self, number: u32, now: Nanos, controller: Nanos, then: Then) {
        let op = self.ops.get_mut(number);
        op.path.controller += controller;
        op.path.queue += now - op.since;
        (op.since, op.then) = (now + controller, then);
        self.sequence += 1;
        self.timed.push(Reverse((op.since, self.sequence, number)));
    }

    /// Transfer a command's bytes between host and cache from `from` on; then complete it.
    fn transfer(&mut self, number: u32, from: Nanos) {
        let op = self.ops.get_mut(number);
        let mut at = from;
        if let Some(rate) = self.settings.bytes_per_second {
            let begin = self.free_at.max(from);
            let crossing = transfer_time(u64::from(op.command.length_bytes), rate);
            (op.path.queue, op.path.link) = (op.path.queue + begin - from, op.path.link + crossing);
            at = begin + crossing;
            self.free_at = at;
            self.crossing.pass(op.since);
            self.crossing.add(begin, at);
        }
        (op.since, op.then) = (at, Then::Complete);
        self.sequence += 1;
        self.timed.push(Reverse((at, self.sequence, number)));
    }

    fn read(&mut self, number: u32, now: Nanos) {
        let command = self.ops.get(number).command;
        let hit = blocks(&command).all(|block| self.table.find(block).is_some());
        if !hit {
            self.delay(number, now, self.settings.miss_latency, Then::Device);
            self.reads += 1;
            return;
        }
        for block in blocks(&command) {
            if let Some(slot) = self.table.find(block).filter(|&slot| self.table.slot(slot).state == State::Clean) {
                self.table.set(slot, State::Clean);
            }
        }
        let op = self.ops.get_mut(number);
        op.path.controller += self.settings.latency;
        self.transfer(number, now + self.settings.latency);
    }

    /// Send a command past the cache, which drops its blocks.
    fn bypass(&mut self, number: u32, now: Nanos) {
        let command = self.ops.get(number).command;
        for block in blocks(&command) {
            let Some(slot) = self.table.find(block) else { continue };
            match self.table.slot(slot).state {
                State::Clean => self.table.remove(slot),
                State::Dirty => {
                    self.no_longer_dirty(slot);
                    self.table.remove(slot);
                }
                State::Writing | State::Changed => {}
            }
        }
        self.delay(number, now, self.settings.miss_latency, Then::Device);
        self.finish_drain(now, None);
        self.take_writes(now);
    }

    /// Take waiting writes while there is room.
    fn take_writes(&mut self, now: Nanos) {
        while let Some(&number) = self.waiting.front() {
            let command = self.ops.get(number).command;
            let new = blocks(&command).filter(|&block| !self.is_dirty(block)).count() as u64;
            if self.dirty + new > self.limit() {
                return;
            }
            self.waiting.pop_front();
            self.writers += 1;
            self.ops.get_mut(number).writer = self.writers;
            blocks(&command).for_each(|block| self.mark_dirty(block));
            let op = self.ops.get_mut(number);
            op.path.queue += now - op.since;
            op.path.controller += self.settings.latency;
            self.transfer(number, now + self.settings.latency);
        }
    }

    /// Return the slots of completed writes' blocks that are newer than the device's.
    fn acknowledged_dirty(&self) -> Vec<u32> {
        let mut pending: Vec<u64> = self.ops.iter().map(|(_, op)| op.writer).filter(|&writer| writer > 0).collect();
        pending.sort_unstable();
        let is_acknowledged = |&slot: &u32| {
            let of = self.table.slot(slot);
            of.state != State::Clean && pending.binary_search(&of.writer).is_err()
        };
        self.table.held().filter(is_acknowledged).collect()
    }

    fn is_dirty(&self, block: u64) -> bool {
        self.table.find(block).is_some_and(|slot| self.table.slot(slot).state != State::Clean)
    }

    /// Mark a block as newer than the device's.
    fn mark_dirty(&mut self, block: u64) {
        let slot = match self.table.find(block) {
            Some(slot) => slot,
            None => self.table.insert(block).expect("what is dirty is less than the memory"),
        };
        let (state, generation) = (self.table.slot(slot).state, self.generation);
        match state {
            State::Dirty | State::Changed => {}
            State::Writing if self.is_new(slot) => {
                self.table.set(slot, State::Dirty);
                self.table.slot_mut(slot).generation = generation;
                self.dirty += 1;
            }
            State::Writing => self.table.set(slot, State::Changed),
            State::Clean => {
                self.table.set(slot, State::Dirty);
                self.table.slot_mut(slot).generation = generation;
                self.dirty += 1;
            }
        }
        self.table.slot_mut(slot).writer = self.writers;
    }

    /// Return whether a slot was just inserted.
    fn is_new(&self, slot: u32) -> bool {
        self.table.slot(slot).writer == 0
    }

    /// Unmark a dirty block.
    fn no_longer_dirty(&mut self, slot: u32) {
        self.dirty -= 1;
        let generation = self.table.slot(slot).generation;
        if let Some((_, left)) = self.draining.as_mut().filter(|_| generation < self.generation) {
            *left -= 1;
        }
    }

    /// Return whether write-back may continue now.
    fn may_write_back(&self) -> bool {
        let pressed = self.draining.is_some() || !self.waiting.is_empty() || self.dirty * 2 > self.limit();
        self.write_backs < DEPTH && (pressed || self.reads == 0)
    }

    fn write_back(&mut self, now: Nanos) {
        while self.may_write_back() {
            if self.batch.is_empty() {
                self.table.oldest_dirty(BATCH, &mut self.batch);
                self.batch.sort_unstable_by(|a, b| b.cmp(a));
            }
            let Some(first) = self.batch.pop() else { return };
            let count = self.write_back_length(first);
            if count == 0 {
                continue;
            }
            (first..first + count).for_each(|block| self.begin_write_back(block));
            self.write_backs += 1;
            let request = u64::from(self.requests.insert(Request::WriteBack(first, count)));
            let offset_bytes = first * BLOCK_BYTES;
            let end = (offset_bytes + count * BLOCK_BYTES).min(self.settings.capacity_bytes.max(offset_bytes + 1));
            let length_bytes = (end - offset_bytes) as u32;
            let kind = CommandKind::Write;
            self.device.submit(
                now,
                &Command { id: request, kind, offset_bytes, length_bytes, fua: false, stream: Command::OF_STORAGE },
            );
        }
    }

    /// Return the dirty blocks from `first` on to write back by one command.
    ///
    /// In front of parity, that is the rest of a row, whole rows, or the begin of a row: a partial
    /// row makes the device read, and other data of the command would wait for that.
    fn write_back_length(&self, first: u64) -> u64 {
        let row = self.settings.row_bytes.map_or(0, |bytes| bytes / BLOCK_BYTES);
        let within = first.checked_rem(row).unwrap_or(0);
        let most = match LONGEST.checked_div(row) {
            None => LONGEST,
            Some(_) if within > 0 => row - within,
            Some(rows) => rows.max(1) * row,
        };
        let dirty = (first..first + most).take_while(|&block| self.awaits_write_back(block)).count() as u64;
        let odd = dirty.checked_rem(row).unwrap_or(0);
        if odd < dirty { dirty - odd } else { dirty }
    }

    fn awaits_write_back(&self, block: u64) -> bool {
        self.table.find(block).is_some_and(|slot| self.table.slot(slot).state == State::Dirty)
    }

    fn begin_write_back(&mut self, block: u64) {
        if let Some(slot) = self.table.find(block) {
            self.table.set(slot, State::Writing);
        }
    }

    fn advance_op(&mut self, number: u32, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let op = self.ops.get(number);
        if op.then == Then::Device {
            let command = op.command;
            let request = u64::from(self.requests.insert(Request::User(number)));
            self.device.submit(now, &Command { id: request, ..command });
        } else if op.epoch == ORDERED {
            self.order.device_done(number);
            self.advance_flushes(now, completions);
        } else {
            self.end(number, now, completions);
        }
    }

    fn request_done(&mut self, done: &DeviceCompletion, completions: &mut Vec<DeviceCompletion>) {
        let now = done.at;
        match self.requests.take(done.command.id as u32) {
            None => {} // Forgotten when power failed.
            Some(Request::WriteBack(first, count)) => {
                self.write_backs -= 1;
                (first..first + count).for_each(|block| self.end_write_back(block));
                self.take_writes(now);
                self.finish_drain(now, Some(&done.breakdown));
            }
            Some(Request::User(number)) => {
                let op = self.ops.get_mut(number);
                op.path.add(&done.breakdown);
                (op.since, op.failed) = (now, done.failed);
                let (command, flush) = (op.command, op.epoch == ORDERED);
                if flush {
                    self.draining = None;
                    self.order.device_done(number);
                    self.advance_flushes(now, completions);
                } else if command.kind == CommandKind::Read {
                    self.reads -= 1;
                    blocks(&command).for_each(|block| self.keep_read(block));
                    self.transfer(number, now);
                } else {
                    self.end(number, now, completions);
                }
            }
        }
    }

    /// Finish the write-back of a block.
    fn end_write_back(&mut self, block: u64) {
        let Some(slot) = self.table.find(block) else { return };
        let changed = self.table.slot(slot).state == State::Changed;
        self.no_longer_dirty(slot);
        if changed {
            self.table.set(slot, State::Dirty);
            self.table.slot_mut(slot).generation = self.generation;
            self.dirty += 1;
        } else {
            self.table.set(slot, State::Clean);
        }
    }

    /// Keep a block that was read, if there is room.
    fn keep_read(&mut self, block: u64) {
        if self.table.find(block).is_none()
            && let Some(slot) = self.table.insert(block)
        {
            self.table.set(slot, State::Clean);
        }
    }

    fn end(&mut self, number: u32, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let epoch = self.ops.get(number).epoch;
        self.complete(number, now, completions);
        self.order.leave(epoch);
        self.advance_flushes(now, completions);
    }

    fn complete(&mut self, number: u32, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let Op { command, submitted, mut path, since, failed, .. } = self.ops.remove(number);
        path.queue += now - since;
        completions.push(DeviceCompletion { command, submitted, at: now, breakdown: path, failed });
    }

    fn advance_flushes(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        while let Some(next) = self.order.next() {
            match next {
                Next::Begin(number) => self.drain(number, now),
                Next::Complete(number) => self.complete(number, now, completions),
            }
        }
    }

    fn drain_next(&mut self, now: Nanos) {
        if let Some(Next::Begin(number)) = self.order.next() {
            self.drain(number, now);
        }
    }

    /// Begin a flush: write back all dirty blocks.
    fn drain(&mut self, number: u32, now: Nanos) {
        let op = self.ops.get_mut(number);
        (op.path.queue, op.since) = (op.path.queue + now - op.since, now);
        self.generation += 1;
        self.draining = Some((number, self.dirty));
        self.finish_drain(now, None);
    }

    /// Flush the device once all blocks before the flush are written back.
    ///
    /// If a write-back ended the wait, the flush's time takes that write's breakdown.
    fn finish_drain(&mut self, now: Nanos, last: Option<&Breakdown>) {
        let Some((number, 0)) = self.draining else { return };
        self.draining = None;
        let op = self.ops.get_mut(number);
        let waited = now - op.since;
        let last = last.map_or_else(Breakdown::default, |last| last.latest(waited));
        op.path.add(&last);
        op.path.queue += waited - last.total();
        op.since = now;
        let command = op.command;
        let request = u64::from(self.requests.insert(Request::User(number)));
        self.device.submit(now, &Command { id: request, ..command });
    }
}

impl<D: Model> Model for Cache<D> {
    type Inner = D;

    fn inner(&self) -> Option<&D> {
        Some(&self.device)
    }

    fn inner_mut(&mut self) -> Option<&mut D> {
        Some(&mut self.device)
    }

    fn submit(&mut self, now: Nanos, command: &Command) {
        let flush = command.kind == CommandKind::Flush;
        // With a battery it tells the host that it is not volatile, which then sends no flush.
        let epoch = match (flush, self.volatile()) {
            (true, true) => ORDERED,
            (true, false) => FREE,
            (false, _) => self.order.enter(command.kind),
        };
        let (path, then) = (Breakdown::default(), Then::Complete);
        let op = Op { command: *command, submitted: now, epoch, path, since: now, then, failed: false, writer: 0 };
        let number = self.ops.insert(op);
        match command.kind {
            CommandKind::Flush if self.volatile() => {
                self.order.flush(number);
                self.drain_next(now);
            }
            CommandKind::Flush => self.delay(number, now, 0, Then::Complete),
            CommandKind::Read => self.read(number, now),
            CommandKind::Trim => self.bypass(number, now),
            CommandKind::Write => {
                let large = blocks(command).count() as u64 * 2 > self.limit();
                if large || (command.fua && self.volatile()) {
                    self.bypass(number, now);
                } else {
                    self.waiting.push_back(number);
                    self.take_writes(now);
                }
            }
        }
        self.write_back(now);
    }

    #[inline(never)]
    fn next_wake(&self) -> Option<Nanos> {
        let timed = self.timed.peek().map(|Reverse((at, ..))| *at);
        [timed, self.device.next_wake()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            if let Some(&Reverse((_, _, number))) = self.timed.peek().filter(|Reverse((timed, ..))| *timed <= at) {
                self.timed.pop();
                self.advance_op(number, at, completions);
            } else {
                let mut done = std::mem::take(&mut self.done);
                self.device.advance(at, &mut done);
                done.drain(..).for_each(|done| self.request_done(&done, completions));
                self.done = done;
            }
            self.write_back(at);
        }
    }

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        if self.settings.bytes_per_second.is_some() {
            usage.add(Resource::Port, 1, self.crossing.until(now));
        }
        self.device.usage(now, usage);
    }

    fn volatile_ranges(&self, ranges: &mut Vec<(u64, u64)>) {
        if self.volatile() {
            let blocks = self.acknowledged_dirty().into_iter().map(|slot| self.table.slot(slot).block);
            ranges.extend(blocks.map(|block| (block * BLOCK_BYTES, BLOCK_BYTES)));
        }
        self.device.volatile_ranges(ranges);
    }

    /// Dirty blocks stay with a battery, and are lost in a volatile cache.
    fn lose_power(&mut self, now: Nanos) -> Loss {
        let mut loss = self.device.lose_power(now);
        let acknowledged = self.acknowledged_dirty();
        let mut writers: Vec<u64> = acknowledged.iter().map(|&slot| self.table.slot(slot).writer).collect();
        let held: Vec<u32> = self.table.held().collect();
        for slot in held {
            if self.table.slot(slot).state != State::Clean {
                self.table.set(slot, State::Dirty);
                self.table.slot_mut(slot).generation = self.generation;
            }
        }
        if self.volatile() {
            loss.lost_bytes += acknowledged.len() as u64 * BLOCK_BYTES;
            writers.sort_unstable();
            writers.dedup();
            loss.lost_writes += writers.len() as u64;
            self.table.clear();
            self.dirty = 0;
        }
        self.ops.clear();
        self.order.clear();
        self.timed.clear();
        self.requests.clear();
        self.waiting.clear();
        self.batch.clear();
        (self.write_backs, self.reads, self.draining, self.free_at) = (0, 0, None, now);
        self.crossing.end(now);
        if !self.volatile() {
            self.write_back(now);
        }
        loss
    }
}

/// Return the blocks that a command touches.
fn blocks(command: &Command) -> impl Iterator<Item = u64> + Clone + use<> {
    let end = command.offset_bytes + u64::from(command.length_bytes);
    let first = command.offset_bytes / BLOCK_BYTES;
    first..end.div_ceil(BLOCK_BYTES).max(first)
}
