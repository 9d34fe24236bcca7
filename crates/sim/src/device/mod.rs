//! Devices in virtual time: what every model of a drive has in common.
//!
//! A driver hands over commands with [`Device::submit`], asks with [`Device::next_wake`] when the device wants to be
//! looked at, and collects with [`Device::advance`]. A completion is not fixed at submission, so that a device may
//! reorder what it holds. No call allocates once a device's queues have grown to what the load needs.
//!
//! **Durability.** A flush completes when everything submitted before it that changes data has completed; reads pass beside it, unless the
//! interface can't queue it. A write that has completed is
//! durable, and force unit access changes nothing, unless something volatile holds it: a flash drive without power-loss
//! protection, a disk's write cache, a cache without a battery. There, what counts is what was flushed.

mod barrier;
pub(crate) mod completion;
mod faults;
pub mod flash;
mod full;
pub(crate) mod hdd;
pub(crate) mod in_place;
pub(crate) mod null;
mod pace;
pub(crate) mod power_draw;
pub(crate) mod volume;
pub(crate) mod work;
pub(crate) mod xpoint;

pub use crate::stack::nodes::Device;
pub use completion::{Breakdown, DeviceCompletion};
pub use flash::Flash;
pub use hdd::Hdd;
pub use null::Null;
pub use volume::Volume;
pub use xpoint::XPoint;

use tameshi_base::{Command, Nanos};
use tameshi_record::{Heat, Usage, Wear};

impl Device {
    /// A command will be handed over: what it will look at first is brought near to the processor. Nothing else changes.
    #[inline]
    pub(crate) fn expect(&self, command: &Command) {
        match self {
            Self::Flash(flash) => flash.prefetch(command.offset_bytes),
            Self::Array(array) => array.expect(command),
            _ => {}
        }
    }

    /// Hands over a command. Times never go back, and the device has been advanced to what lies before `now`.
    #[inline]
    pub fn submit(&mut self, now: Nanos, command: &Command) {
        debug_assert!(self.next_wake().is_none_or(|wake| wake >= now), "advanced to what lies before {now}");
        match self {
            Self::Null(null) => null.submit(now, command),
            Self::Hdd(hdd) => hdd.submit(now, command),
            Self::Flash(flash) => flash.submit(now, command),
            Self::XPoint(xpoint) => xpoint.submit(now, command),
            Self::Volume(volume) => volume.submit(now, command),
            Self::Array(array) => array.submit(now, command),
            Self::Linked(linked) => linked.submit(now, command),
            Self::Shared(shared) => shared.submit(now, command),
            Self::Cache(cache) => cache.submit(now, command),
        }
    }

    /// When something next happens inside; `None` while the device is idle.
    // What has much to compare is not made part of it: the frame that needs would cost every device.
    #[inline]
    pub fn next_wake(&self) -> Option<Nanos> {
        match self {
            Self::Null(null) => null.next_wake(),
            Self::Hdd(hdd) => hdd.next_wake(),
            Self::Flash(flash) => flash.next_wake(),
            Self::XPoint(xpoint) => xpoint.next_wake(),
            Self::Volume(volume) => volume.next_wake(),
            Self::Array(array) => array.next_wake(),
            Self::Linked(linked) => linked.next_wake(),
            Self::Shared(shared) => shared.next_wake(),
            Self::Cache(cache) => cache.next_wake(),
        }
    }

    /// Lets happen what happens up to and including `now`; appends completions in the order of their times.
    ///
    /// What a device does at the very instant of a completion may depend on what is submitted in answer: it may still
    /// want to wake at `now` afterwards. Submit what is due, then advance again.
    #[inline]
    pub fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>) {
        match self {
            Self::Null(null) => null.advance(now, completions),
            Self::Hdd(hdd) => hdd.advance(now, completions),
            Self::Flash(flash) => flash.advance(now, completions),
            Self::XPoint(xpoint) => xpoint.advance(now, completions),
            Self::Volume(volume) => volume.advance(now, completions),
            Self::Array(array) => array.advance(now, completions),
            Self::Linked(linked) => linked.advance(now, completions),
            Self::Shared(shared) => shared.advance(now, completions),
            Self::Cache(cache) => cache.advance(now, completions),
        }
    }

    /// What the flash in the device has gone through since the run's begin; `None` where no flash is.
    pub fn wear(&self) -> Option<Wear> {
        let mut wear = Wear::default();
        self.add_wear(&mut wear);
        (wear.blocks > 0).then_some(wear)
    }

    pub(crate) fn add_wear(&self, wear: &mut Wear) {
        match self {
            Self::Null(_) | Self::Hdd(_) | Self::XPoint(_) | Self::Volume(_) => {}
            Self::Flash(flash) => wear.add(&flash.wear()),
            Self::Array(array) => array.add_wear(wear),
            Self::Linked(linked) => linked.inner().add_wear(wear),
            Self::Shared(shared) => shared.inner().add_wear(wear),
            Self::Cache(cache) => cache.inner().add_wear(wear),
        }
    }

    /// Adds how many of each resource the device has, and how long they have worked from time zero to `now`.
    ///
    /// A member adds its own; what is under way counts as far as `now`.
    pub fn usage(&self, now: Nanos, usage: &mut Usage) {
        match self {
            Self::Null(_) => {}
            Self::Hdd(hdd) => hdd.usage(now, usage),
            Self::Flash(flash) => flash.usage(now, usage),
            Self::XPoint(xpoint) => xpoint.usage(now, usage),
            Self::Volume(volume) => volume.usage(now, usage),
            Self::Array(array) => array.usage(now, usage),
            Self::Linked(linked) => linked.usage(now, usage),
            Self::Shared(shared) => shared.usage(now, usage),
            Self::Cache(cache) => cache.usage(now, usage),
        }
    }

    /// Nanojoules that the drives have drawn from time zero to `now`; `None` unless the profile of each says.
    pub fn energy_nj(&self, now: Nanos) -> Option<u64> {
        match self {
            Self::Null(_) | Self::Volume(_) => None,
            Self::Hdd(hdd) => hdd.energy_nj(now),
            Self::XPoint(xpoint) => xpoint.energy_nj(now),
            Self::Flash(flash) => flash.energy_nj(now),
            Self::Array(array) => array.energy_nj(now),
            Self::Linked(linked) => linked.inner().energy_nj(now),
            Self::Shared(shared) => shared.inner().energy_nj(now),
            Self::Cache(cache) => cache.inner().energy_nj(now),
        }
    }

    /// How warm the warmest of the drives is at `now`, and how long heat has held any of them back; `None` where no profile says.
    pub fn heat(&self, now: Nanos) -> Option<Heat> {
        match self {
            Self::Null(_) | Self::Volume(_) | Self::Hdd(_) | Self::XPoint(_) => None,
            Self::Flash(flash) => flash.heat(now),
            Self::Array(array) => array.heat(now),
            Self::Linked(linked) => linked.inner().heat(now),
            Self::Shared(shared) => shared.inner().heat(now),
            Self::Cache(cache) => cache.inner().heat(now),
        }
    }
}
