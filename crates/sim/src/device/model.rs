//! Contract of a simulated device.

use super::completion::DeviceCompletion;
use crate::device::loss::{Loss, Rebuilt};
use tameshi_base::{Command, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

/// Model of a drive, or of a device made of devices.
///
/// A device in front of one other device names it as [`Model::inner`]. Questions and faults that it
/// does not answer itself go there.
pub trait Model {
    /// Device behind this one; [`NoDevice`] if there is none.
    type Inner: Model;

    /// Accept a command. Times never go back; the device has been advanced to all events before
    /// `now`.
    fn submit(&mut self, now: Nanos, command: &Command);

    /// Return the time of the next event inside; `None` while the device is idle.
    fn next_wake(&self) -> Option<Nanos>;

    /// Process events up to and including `now`; append completions in the order of their times.
    ///
    /// Decisions at the instant of a completion may depend on commands submitted in answer, so the
    /// device may still want to wake at `now` afterwards. Submit what is due, then advance again.
    fn advance(&mut self, now: Nanos, completions: &mut Vec<DeviceCompletion>);

    /// Cut power at `now`: forget commands under way and all volatile data.
    fn lose_power(&mut self, now: Nanos) -> Loss;

    /// Append ranges of acknowledged data in volatile memory, each as offset and length in bytes.
    ///
    /// A power cut loses the lost bytes of [`Model::lose_power`] out of these ranges. An array
    /// names none.
    fn volatile_ranges(&self, ranges: &mut Vec<(u64, u64)>) {
        if let Some(inner) = self.inner() {
            inner.volatile_ranges(ranges);
        }
    }

    /// Return whether a write of `bytes` is under way. Only a [watched](crate::stack::watched)
    /// device knows.
    fn is_writing(&self, bytes: u64) -> bool {
        self.inner().is_some_and(|inner| inner.is_writing(bytes))
    }

    /// Device behind this one.
    fn inner(&self) -> Option<&Self::Inner> {
        None
    }

    /// Device behind this one, mutable.
    fn inner_mut(&mut self) -> Option<&mut Self::Inner> {
        None
    }

    /// Load into the processor's cache the memory that the command will read first. No effect on
    /// results.
    fn prefetch(&self, _command: &Command) {}

    /// Add resources and their busy time from time zero to `now`; work under way counts up to
    /// `now`.
    fn usage(&self, now: Nanos, usage: &mut Usage) {
        if let Some(inner) = self.inner() {
            inner.usage(now, usage);
        }
    }

    /// Return nanojoules drawn from time zero to `now`; `None` unless the profile of each drive
    /// states power.
    fn energy_nj(&self, now: Nanos) -> Option<u64> {
        self.inner()?.energy_nj(now)
    }

    /// Return the temperature of the warmest drive at `now` and the throttled time; `None` without
    /// a thermal profile.
    fn heat(&self, now: Nanos) -> Option<Heat> {
        self.inner()?.heat(now)
    }

    /// Add the wear of all flash inside since the begin of the run.
    fn add_wear(&self, wear: &mut Wear) {
        if let Some(inner) = self.inner() {
            inner.add_wear(wear);
        }
    }

    /// Return whether faults of single drives are handled inside.
    fn is_composite(&self) -> bool {
        self.inner().is_some_and(Model::is_composite)
    }

    /// Return whether too many drives are gone, so that commands fail.
    fn is_broken(&self) -> bool {
        self.inner().is_some_and(Model::is_broken)
    }

    /// Fail a drive, counted from zero over the whole stack, or all drives. Returns whether any was
    /// alive.
    fn fail(&mut self, drive: Option<u32>, now: Nanos) -> bool {
        self.inner_mut().is_some_and(|inner| inner.fail(drive, now))
    }

    /// Fail a channel of a drive, counted from zero over all its controllers. Returns whether the
    /// drive survives.
    ///
    /// # Errors
    /// The channel does not exist, or is dead already.
    fn fail_channel(&mut self, drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason> {
        let inner = self.inner_mut().ok_or_else(|| Reason::new("no_channels"))?;
        inner.fail_channel(drive, channel, now)
    }

    /// Replace a dead drive by a new one and rebuild its data from the others.
    ///
    /// # Errors
    /// No drive is dead there, or no other drive holds its data.
    fn replace(&mut self, drive: u32, now: Nanos) -> Result<(), Reason> {
        let inner = self.inner_mut().ok_or_else(|| Reason::new("nothing_to_replace"))?;
        inner.replace(drive, now)
    }

    /// Take a finished rebuild; each is returned once.
    fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        self.inner_mut()?.take_rebuilt()
    }

    /// Return bytes written by rebuilds.
    fn rebuilt_bytes(&self) -> u64 {
        self.inner().map_or(0, Model::rebuilt_bytes)
    }

    /// Return acknowledged bytes that replicas lack; `None` without asynchronous replication.
    fn behind_bytes(&self) -> Option<u64> {
        self.inner()?.behind_bytes()
    }

    /// Append offsets and lengths of the writes that a host across a link has answered from its
    /// memory, and that its device has not done.
    fn unwritten(&self, writes: &mut Vec<(u64, u64)>) {
        if let Some(inner) = self.inner() {
            inner.unwritten(writes);
        }
    }

    /// Take writes and bytes lost with the only side of a replica that held them.
    fn take_lost(&mut self) -> (u64, u64) {
        self.inner_mut().map_or((0, 0), Model::take_lost)
    }

    /// Set the weight and the arbitration of one function of a shared drive.
    fn grant(&mut self, _function: &Function) {}

    /// Set the priorities of streams, by their numbers, in the queues of a shared drive.
    fn prioritize(&mut self, _priorities: &[Priority]) {}

    /// Cut power at `now`; commands under way complete as failed.
    ///
    /// Only a [watched](crate::stack::watched) device remembers them; any other device forgets its
    /// commands.
    fn cut_power(&mut self, now: Nanos) -> Loss {
        self.lose_power(now)
    }

    /// Lose the near side of a replica; a machine next to the far side continues with that side
    /// alone.
    ///
    /// Commands under way complete as failed. Lost are writes that only the near side held.
    ///
    /// # Errors
    /// The device is no replica, or one side is gone already.
    fn fail_over(&mut self, _now: Nanos) -> Result<Loss, Reason> {
        Err(Reason::new("no_other_side"))
    }

    /// Remove the link in front of the device: its user runs next to it from `now` on.
    fn remove_link(&mut self, _now: Nanos) {}

    /// Return the writes and trims that have not arrived at the far side of a replica; `None`
    /// without a far side. They are the newest ones: none overtakes another on the link.
    fn unsent(&self) -> Option<u64> {
        self.inner()?.unsent()
    }

    /// Cut the link to the far side of a replica at `now`, or let it carry again. A cut link
    /// carries nothing, either way; what was on its way is sent again, in its order. Returns
    /// whether there is a link.
    fn change_link(&mut self, is_up: bool, now: Nanos) -> bool {
        self.inner_mut().is_some_and(|inner| inner.change_link(is_up, now))
    }

    /// Bring the lost side of a replica back as its far side after a failover. It lacks the ranges,
    /// each as offset and length in bytes, and receives them as after a power cut.
    ///
    /// # Errors
    /// No side is lost.
    fn take_back(&mut self, _lacks: &[(u64, u64)], _now: Nanos) -> Result<(), Reason> {
        Err(Reason::new("no_lost_side"))
    }
}

/// Inner device of a device that has none.
#[derive(Debug)]
pub enum NoDevice {}

impl Model for NoDevice {
    type Inner = Self;

    fn submit(&mut self, _: Nanos, _: &Command) {
        match *self {}
    }

    fn next_wake(&self) -> Option<Nanos> {
        match *self {}
    }

    fn advance(&mut self, _: Nanos, _: &mut Vec<DeviceCompletion>) {
        match *self {}
    }

    fn lose_power(&mut self, _: Nanos) -> Loss {
        match *self {}
    }
}
