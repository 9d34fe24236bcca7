//! Serialised flushes of arrays: Linux's md passed one flush at a time while it had one
//! `flush_bio`.

use crate::kernel::device_map::device_map;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::HostModel;
use tameshi_spec::run::{Node, RunSpec};

/// Flushes of an array.
#[derive(Clone, Debug, Default)]
struct FlushTurns {
    /// Begin of the current run of flushes, one after the other; `None` without a flush.
    since: Option<Nanos>,
    taken_ns: Nanos,
    waiting: VecDeque<u32>,
}

/// Flush turns of all arrays.
#[derive(Debug)]
pub(super) struct Flushes {
    /// Work of the kernel per flush; zero if flushes of an array pass concurrently.
    time: Nanos,
    /// Per device; `None` if it is no array of this kernel.
    arrays: Vec<Option<FlushTurns>>,
    /// Flushes whose turn has begun, with the time at which the members get them. The work is
    /// constant: they are in order.
    begun: VecDeque<(Nanos, u32)>,
}

impl Flushes {
    pub(super) fn new(model: &HostModel, run: &RunSpec) -> Self {
        let mut arrays = Vec::new();
        for (storage, (device, _)) in run.storage.values().zip(device_map(run)) {
            if device == arrays.len() {
                arrays.push(storage.model.as_ref().filter(|node| is_array(node)).map(|_| FlushTurns::default()));
            }
        }
        let time = model.array_flush.as_ref().map_or(0, |time| time.value.0);
        Self { time, arrays, begun: VecDeque::new() }
    }

    /// Work of the kernel per flush.
    pub(super) fn time(&self) -> Nanos {
        self.time
    }

    /// Enqueue a flush of a device; return false if it needs no turn. [`Self::take`] returns it
    /// when its members may get it.
    pub(super) fn enqueue(&mut self, now: Nanos, device: usize, request: u32) -> bool {
        let Some(turns) = self.arrays[device].as_mut().filter(|_| self.time > 0) else { return false };
        if turns.since.is_some() {
            turns.waiting.push_back(request);
        } else {
            turns.since = Some(now);
            self.begun.push_back((now + self.time, request));
        }
        true
    }

    /// End a flush of a device, and begin the turn of the next one.
    pub(super) fn done(&mut self, now: Nanos, device: usize) {
        let Some(turns) = self.arrays[device].as_mut().filter(|_| self.time > 0) else { return };
        match turns.waiting.pop_front() {
            Some(next) => self.begun.push_back((now + self.time, next)),
            None => turns.taken_ns += turns.since.take().map_or(0, |since| now - since),
        }
    }

    /// Add the time that the turn of a device was taken up to `now`, if its flushes take turns.
    pub(super) fn usage(&self, device: usize, now: Nanos, usage: &mut Usage) {
        let Some(turns) = self.arrays[device].as_ref().filter(|_| self.time > 0) else { return };
        let so_far = turns.since.map_or(0, |since| now.saturating_sub(since));
        usage.add(Resource::FlushTurn, 1, turns.taken_ns + so_far);
    }

    /// Return when members next get a flush; [`Nanos::MAX`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.begun.front().map_or(Nanos::MAX, |(at, _)| *at)
    }

    /// Take the flush that members get next.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.begun.pop_front().map(|(_, request)| request)
    }
}

/// Return whether the kernel itself makes this an array. A controller or a link shows one drive.
fn is_array(node: &Node) -> bool {
    match node {
        Node::Raid0 { .. } | Node::Raid1 { .. } | Node::Raid10 { .. } | Node::Raid5 { .. } => true,
        Node::OverProvisioned { of, .. } => is_array(of),
        Node::Device { .. } | Node::Replica { .. } | Node::Partition { .. } | Node::Cache { .. } => false,
    }
}
