//! A drive that several functions share (SR-IOV): each has an equal part of its bytes, a weight, and queues of its own.
//!
//! The drive holds so many commands of all functions together; while it is full, each function's commands wait in its
//! queues ([`Queues`]), and a place that becomes free goes to a function by smooth weighted round robin ([`Turns`]). Commands are
//! counted, not bytes, as NVMe's arbitration does.

use super::nodes::Shared;
use super::queues::Queues;
use super::slab::Slab;
use super::turns::Turns;
use crate::device::{Device, DeviceCompletion};
use tameshi_base::{Command, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

impl Shared {
    /// `device` with functions of `slice_bytes` each; those whose weight nobody sets have an equal one.
    pub(super) fn new(device: Device, function: &Function, slice_bytes: u64) -> Self {
        let equal = 1_000_000 / i64::from(function.functions.max(1));
        let mut shared = Self {
            device,
            functions: (0..function.functions).map(|_| Queues::new()).collect(),
            turns: Turns::default(),
            priorities: Vec::new(),
            slice_bytes,
            depth: function.queue_depth,
            held: 0,
            taken: (0, 0),
            waiting: 0,
            commands: Slab::default(),
            done: Vec::new(),
        };
        (0..function.functions).for_each(|_| {
            shared.turns.join(equal.max(1));
        });
        shared.grant(function);
        shared
    }

    /// A function gets its weight, and how its queues take turns.
    pub fn grant(&mut self, function: &Function) {
        let place = function.index as usize;
        self.turns.set_weight(place, i64::from(function.weight.0.max(1)));
        self.functions[place].arbitrate(function.arbitration);
    }

    /// From now on streams have these priorities, by their numbers.
    pub fn prioritize(&mut self, priorities: &[Priority]) {
        self.priorities.clear();
        self.priorities.extend_from_slice(priorities);
    }

    pub(crate) fn inner(&self) -> &Device {
        &self.device
    }

    pub(crate) fn inner_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Takes a command at its place on the drive, which says whose it is; so does that of a flush.
    pub(crate) fn submit(&mut self, now: Nanos, command: &Command) {
        if self.held < self.depth {
            return self.admit(now, *command, now);
        }
        let function = (command.offset_bytes / self.slice_bytes.max(1)).min(self.functions.len() as u64 - 1) as usize;
        let priority = self.priorities.get(usize::from(command.stream)).copied().unwrap_or_default();
        self.functions[function].push(command, priority, now);
        self.turns.wait(function);
        self.waiting += 1;
    }

    /// So many commands are in the drive from now on.
    #[inline]
    fn hold(&mut self, now: Nanos, held: u32) {
        self.taken = (self.taken_until(now), now);
        self.held = held;
    }

    fn taken_until(&self, now: Nanos) -> Nanos {
        let (taken_ns, at) = self.taken;
        taken_ns + u64::from(self.held) * now.saturating_sub(at)
    }

    pub(crate) fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Places, u64::from(self.depth), self.taken_until(now));
        self.device.usage(now, usage);
    }

    fn admit(&mut self, now: Nanos, command: Command, submitted: Nanos) {
        self.hold(now, self.held + 1);
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
                self.hold(done.at, self.held - 1);
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
        let Some(function) = self.turns.take() else { return };
        if let Some((command, submitted)) = self.functions[function].pop() {
            self.waiting -= 1;
            self.admit(now, command, submitted);
        }
    }

    /// Everything under way is forgotten.
    pub(crate) fn forget(&mut self) {
        self.commands.clear();
        (self.held, self.waiting) = (0, 0);
        self.functions.iter_mut().for_each(Queues::clear);
        self.turns.clear();
    }
}
