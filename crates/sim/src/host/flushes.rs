//! Flushes of arrays where the kernel passes on one of an array at a time: Linux's md, as long as it had one `flush_bio`.

use crate::kernel::device_map::device_map;
use std::collections::VecDeque;
use tameshi_base::Nanos;
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::HostModel;
use tameshi_spec::run::{Node, RunSpec};

/// An array's flushes.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// Since when one flush after the other has it; `None` while nobody has.
    since: Option<Nanos>,
    taken_ns: Nanos,
    waiting: VecDeque<u32>,
}

/// What the kernel does for flushes of arrays.
#[derive(Debug)]
pub(super) struct Flushes {
    /// What it works for each; zero where flushes of an array pass side by side.
    time: Nanos,
    /// Per device; `None`: it is no array of this kernel's.
    arrays: Vec<Option<Turns>>,
    /// Whose turn it is, in the order in which the members are told: the time is always the same.
    begun: VecDeque<(Nanos, u32)>,
}

impl Flushes {
    pub(super) fn new(model: &HostModel, run: &RunSpec) -> Self {
        let mut arrays = Vec::new();
        for (storage, (device, _)) in run.storage.values().zip(device_map(run)) {
            if device == arrays.len() {
                arrays.push(storage.model.as_ref().filter(|node| is_array(node)).map(|_| Turns::default()));
            }
        }
        let time = model.array_flush.as_ref().map_or(0, |time| time.value.0);
        Self { time, arrays, begun: VecDeque::new() }
    }

    /// What the kernel works for each flush that takes its turn.
    pub(super) fn time(&self) -> Nanos {
        self.time
    }

    /// A flush comes to a device; whether it takes turns there with others, and [`Self::take`] tells when the members may
    /// be told.
    pub(super) fn comes(&mut self, now: Nanos, device: usize, request: u32) -> bool {
        let Some(turns) = self.arrays[device].as_mut().filter(|_| self.time > 0) else { return false };
        if turns.since.is_some() {
            turns.waiting.push_back(request);
        } else {
            turns.since = Some(now);
            self.begun.push_back((now + self.time, request));
        }
        true
    }

    /// A device is done with a flush: the turn of the next one.
    pub(super) fn done(&mut self, now: Nanos, device: usize) {
        let Some(turns) = self.arrays[device].as_mut().filter(|_| self.time > 0) else { return };
        match turns.waiting.pop_front() {
            Some(next) => self.begun.push_back((now + self.time, next)),
            None => turns.taken_ns += turns.since.take().map_or(0, |since| now - since),
        }
    }

    /// Adds how long the turn of a device was taken up to `now`, where flushes take turns.
    pub(super) fn usage(&self, device: usize, now: Nanos, usage: &mut Usage) {
        let Some(turns) = self.arrays[device].as_ref().filter(|_| self.time > 0) else { return };
        let so_far = turns.since.map_or(0, |since| now.saturating_sub(since));
        usage.add(Resource::FlushTurn, 1, turns.taken_ns + so_far);
    }

    /// When the members may next be told of a flush; [`Nanos::MAX`] when there is none.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.begun.front().map_or(Nanos::MAX, |(at, _)| *at)
    }

    /// Takes the flush of which the members may be told next.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.begun.pop_front().map(|(_, request)| request)
    }
}

/// Whether the kernel makes an array of this, other than what a controller or a link shows it as one drive.
fn is_array(node: &Node) -> bool {
    match node {
        Node::Raid0 { .. } | Node::Raid1 { .. } | Node::Raid10 { .. } | Node::Raid5 { .. } => true,
        Node::OverProvisioned { of, .. } => is_array(of),
        Node::Device { .. } | Node::Replica { .. } | Node::Partition { .. } | Node::Cache { .. } => false,
    }
}
