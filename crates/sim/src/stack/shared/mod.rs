//! Drive shared by several functions (SR-IOV). Each has an equal part of its bytes, a weight, and
//! queues of its own.
//!
//! The drive limits the commands of all functions together. While it is full, commands wait in
//! their function's queues ([`Queues`]); a free place goes to a function by smooth weighted round
//! robin ([`WeightedRoundRobin`]). Commands are counted, not bytes, as in NVMe's arbitration.

mod queues;
mod round_robin;

use super::slab::Slab;
use crate::device::loss::Loss;
use crate::device::{DeviceCompletion, Model};
use queues::Queues;
use round_robin::WeightedRoundRobin;
use tameshi_base::{Command, Nanos};
use tameshi_record::{Resource, Usage};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

/// Drive and the queues of its functions.
#[derive(Debug)]
pub struct Shared<D> {
    device: D,
    functions: Vec<Queues>,
    turns: WeightedRoundRobin,
    /// Priorities of the phase's streams, by number; other streams have the default.
    priorities: Vec<Priority>,
    /// Bytes of one function.
    slice_bytes: u64,
    depth: u32,
    held: u32,
    /// Occupied places, integrated over time, and the time up to which.
    taken: (Nanos, Nanos),
    waiting: u32,
    commands: Slab<(Command, Nanos)>,
    done: Vec<DeviceCompletion>,
}

impl<D: Model> Shared<D> {
    /// Build functions of `slice_bytes` each on `device`, with equal weights until
    /// [`Model::grant`].
    pub(super) fn new(device: D, function: &Function, slice_bytes: u64) -> Self {
        let equal = 1_000_000 / i64::from(function.functions.max(1));
        let mut shared = Self {
            device,
            functions: (0..function.functions).map(|_| Queues::new()).collect(),
            turns: WeightedRoundRobin::default(),
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

    /// Set the number of commands in the drive.
    #[inline]
    fn hold(&mut self, now: Nanos, held: u32) {
        self.taken = (self.taken_until(now), now);
        self.held = held;
    }

    fn taken_until(&self, now: Nanos) -> Nanos {
        let (taken_ns, at) = self.taken;
        taken_ns + u64::from(self.held) * now.saturating_sub(at)
    }

    fn admit(&mut self, now: Nanos, command: Command, submitted: Nanos) {
        self.hold(now, self.held + 1);
        let id = u64::from(self.commands.insert((command, submitted)));
        self.device.submit(now, &Command { id, ..command });
    }

    /// Give a free place to the next function in turn.
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
}

impl<D: Model> Model for Shared<D> {
    type Inner = D;

    fn inner(&self) -> Option<&D> {
        Some(&self.device)
    }

    fn inner_mut(&mut self) -> Option<&mut D> {
        Some(&mut self.device)
    }

    fn submit(&mut self, now: Nanos, command: &Command) {
        if self.held < self.depth {
            return self.admit(now, *command, now);
        }
        let function = (command.offset_bytes / self.slice_bytes.max(1)).min(self.functions.len() as u64 - 1) as usize;
        let priority = self.priorities.get(usize::from(command.stream)).copied().unwrap_or_default();
        self.functions[function].push(command, priority, now);
        self.turns.wait(function);
        self.waiting += 1;
    }

    #[inline]
    fn next_wake(&self) -> Option<Nanos> {
        self.device.next_wake()
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
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

    fn usage(&self, now: Nanos, usage: &mut Usage) {
        usage.add(Resource::Places, u64::from(self.depth), self.taken_until(now));
        self.device.usage(now, usage);
    }

    fn grant(&mut self, function: &Function) {
        let place = function.index as usize;
        self.turns.set_weight(place, i64::from(function.weight.0.max(1)));
        self.functions[place].arbitrate(function.arbitration);
    }

    fn prioritize(&mut self, priorities: &[Priority]) {
        self.priorities.clear();
        self.priorities.extend_from_slice(priorities);
    }

    fn lose_power(&mut self, now: Nanos) -> Loss {
        self.commands.clear();
        (self.held, self.waiting) = (0, 0);
        self.functions.iter_mut().for_each(Queues::clear);
        self.turns.clear();
        self.device.lose_power(now)
    }
}
