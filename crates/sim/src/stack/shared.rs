//! A drive that several functions share (SR-IOV): each has an equal part of its bytes, and a weight.
//!
//! The drive holds so many commands of all functions together; while it is full, each function's commands wait in their
//! own queue, and a place that becomes free goes to a function by smooth weighted round robin: over any stretch in which
//! functions `i` have commands waiting, function `i` gets `weight_i / Σ weights` of the places, as evenly spread as can be.
//! Commands are counted, not bytes, as NVMe's arbitration does.

use super::slab::Slab;
use crate::device::{Device, DeviceCompletion};
use std::collections::VecDeque;
use tameshi_base::{Command, Nanos};
use tameshi_spec::run::Function;

#[derive(Debug)]
struct Queue {
    weight: i64,
    /// Turns it is owed.
    credit: i64,
    waiting: VecDeque<(Command, Nanos)>,
}

/// A drive and the queues of its functions.
#[derive(Debug)]
pub struct Shared {
    device: Device,
    queues: Vec<Queue>,
    /// Bytes of one function.
    slice_bytes: u64,
    depth: u32,
    held: u32,
    waiting: u32,
    commands: Slab<(Command, Nanos)>,
    done: Vec<DeviceCompletion>,
}

impl Shared {
    /// `device` with functions of `slice_bytes` each; those whose weight nobody sets have an equal one.
    pub(super) fn new(device: Device, function: &Function, slice_bytes: u64) -> Self {
        let equal = 1_000_000 / i64::from(function.functions.max(1));
        let queue = |_| Queue { weight: equal.max(1), credit: 0, waiting: VecDeque::new() };
        let queues = (0..function.functions).map(queue).collect();
        let (commands, done) = (Slab::default(), Vec::new());
        let mut shared =
            Self { device, queues, slice_bytes, depth: function.queue_depth, held: 0, waiting: 0, commands, done };
        shared.grant(function);
        shared
    }

    /// A function gets its weight.
    pub fn grant(&mut self, function: &Function) {
        self.queues[function.index as usize].weight = i64::from(function.weight.0.max(1));
    }

    pub(crate) fn inner(&self) -> &Device {
        &self.device
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Takes a command at its place on the drive, which says whose it is; so does that of a flush.
    pub(crate) fn submit(&mut self, now: Nanos, command: &Command) {
        let function = (command.offset_bytes / self.slice_bytes.max(1)).min(self.queues.len() as u64 - 1);
        if self.held < self.depth {
            self.admit(now, *command, now);
        } else {
            self.queues[function as usize].waiting.push_back((*command, now));
            self.waiting += 1;
        }
    }

    fn admit(&mut self, now: Nanos, command: Command, submitted: Nanos) {
        self.held += 1;
        let id = u64::from(self.commands.insert((command, submitted)));
        self.device.submit(now, &Command { id, ..command });
    }

    #[inline]
    pub(crate) fn next_wake(&self) -> Option<Nanos> {
        self.device.next_wake()
    }

    pub(crate) fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        let before = completions.len();
        while let Some(at) = self.device.next_wake().filter(|&at| at <= now) {
            if at == now && completions.len() > before {
                return;
            }
            let mut done = std::mem::take(&mut self.done);
            self.device.advance(at, &mut done);
            for done in done.drain(..) {
                let Some((command, submitted)) = self.commands.take(done.command.id as u32) else { continue };
                let mut breakdown = done.breakdown;
                breakdown.queue += done.submitted - submitted;
                completions.push(DeviceCompletion { command, submitted, breakdown, ..done });
                self.held -= 1;
                self.serve(done.at);
            }
            self.done = done;
        }
    }

    /// A place is free: the next function's turn.
    fn serve(&mut self, now: Nanos) {
        if self.waiting == 0 {
            return;
        }
        let (mut total, mut best) = (0, None::<usize>);
        for place in 0..self.queues.len() {
            let queue = &mut self.queues[place];
            if queue.waiting.is_empty() {
                queue.credit = 0;
                continue;
            }
            queue.credit += queue.weight;
            total += queue.weight;
            if best.is_none_or(|best| self.queues[place].credit > self.queues[best].credit) {
                best = Some(place);
            }
        }
        let Some(queue) = best.map(|best| &mut self.queues[best]) else { return };
        queue.credit -= total;
        if let Some((command, submitted)) = queue.waiting.pop_front() {
            self.waiting -= 1;
            self.admit(now, command, submitted);
        }
    }

    /// Everything under way is forgotten.
    pub(crate) fn forget(&mut self) {
        self.commands.clear();
        (self.held, self.waiting) = (0, 0);
        self.queues.iter_mut().for_each(|queue| queue.waiting.clear());
    }
}
