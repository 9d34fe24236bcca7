//! Devices of a run, and the one that wakes up first.

use crate::stack::Device;
use tameshi_base::Nanos;

/// One device per storage, in the spec's order; storages on partitions of one drive share a device.
pub(crate) struct Devices {
    all: Vec<Device>,
    /// Wake-up time and index of the first device to wake up, unless `is_stale`.
    first: (Nanos, usize),
    is_stale: bool,
}

impl Devices {
    pub(crate) fn new(all: Vec<Device>) -> Self {
        Self { all, first: (Nanos::MAX, 0), is_stale: true }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&Device> {
        self.all.get(index)
    }

    /// Return a device to be changed: the first wake-up time is computed anew afterwards.
    #[inline(always)]
    pub(crate) fn change(&mut self, index: usize) -> &mut Device {
        self.is_stale = true;
        &mut self.all[index]
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Device> {
        self.is_stale = true;
        self.all.iter_mut()
    }

    /// Return when a device wakes up; [`Nanos::MAX`] if it is idle.
    #[inline(always)]
    pub(crate) fn next_wake(&self, index: usize) -> Nanos {
        self.all[index].next_wake().unwrap_or(Nanos::MAX)
    }

    /// Return when the first device wakes up, and its index; [`Nanos::MAX`] if all are idle.
    ///
    /// Among equals it is the device of the first storage.
    #[inline(always)]
    pub(crate) fn first_wake(&mut self) -> (Nanos, usize) {
        if self.is_stale {
            self.is_stale = false;
            self.first = self.find_first();
        }
        self.first
    }

    #[inline]
    fn find_first(&self) -> (Nanos, usize) {
        let mut first = (Nanos::MAX, 0);
        for (index, device) in self.all.iter().enumerate() {
            if let Some(at) = device.next_wake().filter(|&at| at < first.0) {
                first = (at, index);
            }
        }
        first
    }
}
