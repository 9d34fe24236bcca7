//! What befalls a device of any kind: a drive or a channel of it dies, a new one takes its place, power fails.

use super::Device;
use crate::faults::loss::{Loss, Rebuilt};
use tameshi_base::{Nanos, Reason};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

impl Device {
    /// Whether faults of single drives are its own business.
    pub(crate) fn is_composite(&self) -> bool {
        match self {
            Self::Array(_) => true,
            Self::Linked(linked) => linked.inner().is_composite(),
            Self::Shared(shared) => shared.inner().is_composite(),
            Self::Cache(cache) => cache.inner().is_composite(),
            _ => false,
        }
    }

    /// A drive dies, counted from zero over the whole stack, or with `None` everything does; whether it was alive.
    pub fn fail(&mut self, drive: Option<u32>, now: Nanos) -> bool {
        match self {
            Self::Array(array) => array.fail(drive, now),
            Self::Linked(linked) => linked.inner_mut().fail(drive, now),
            Self::Shared(shared) => shared.inner_mut().fail(drive, now),
            Self::Cache(cache) => cache.inner_mut().fail(drive, now),
            _ => false,
        }
    }

    /// A channel of a drive dies, counted from zero over all its controllers; whether the drive lives on.
    ///
    /// # Errors
    /// There is no such channel, or it is dead already.
    pub fn fail_channel(&mut self, drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason> {
        match self {
            Self::Array(array) => array.fail_channel(drive, channel, now),
            Self::Linked(linked) => linked.inner_mut().fail_channel(drive, channel, now),
            Self::Shared(shared) => shared.inner_mut().fail_channel(drive, channel, now),
            Self::Cache(cache) => cache.inner_mut().fail_channel(drive, channel, now),
            Self::Flash(flash) => flash.fail_channel(channel, now),
            _ => Err(Reason::new("no_channels")),
        }
    }

    /// A new drive takes a dead one's place and is filled from the others.
    ///
    /// # Errors
    /// Nothing died there, or nothing holds its data.
    pub fn replace(&mut self, drive: u32, now: Nanos) -> Result<(), Reason> {
        match self {
            Self::Array(array) => array.replace(drive, now),
            Self::Linked(linked) => linked.inner_mut().replace(drive, now),
            Self::Shared(shared) => shared.inner_mut().replace(drive, now),
            Self::Cache(cache) => cache.inner_mut().replace(drive, now),
            _ => Err(Reason::new("nothing_to_replace")),
        }
    }

    /// A rebuild that has ended; once for each.
    pub fn take_rebuilt(&mut self) -> Option<Rebuilt> {
        match self {
            Self::Array(array) => array.take_rebuilt(),
            Self::Linked(linked) => linked.inner_mut().take_rebuilt(),
            Self::Shared(shared) => shared.inner_mut().take_rebuilt(),
            Self::Cache(cache) => cache.inner_mut().take_rebuilt(),
            Self::Flash(flash) => flash.take_rebuilt(),
            _ => None,
        }
    }

    /// A function of a shared drive gets its weight.
    pub(crate) fn grant(&mut self, function: &Function) {
        match self {
            Self::Shared(shared) => shared.grant(function),
            Self::Array(array) => array.grant(function),
            _ => {}
        }
    }

    /// Streams of the phase that begins have these priorities in the queues of a shared drive.
    pub fn prioritize(&mut self, priorities: &[Priority]) {
        match self {
            Self::Shared(shared) => shared.prioritize(priorities),
            Self::Array(array) => array.prioritize(priorities),
            _ => {}
        }
    }

    /// Bytes that rebuilds have written so far.
    pub(crate) fn rebuilt_bytes(&self) -> u64 {
        match self {
            Self::Array(array) => array.rebuilt_bytes(),
            Self::Linked(linked) => linked.inner().rebuilt_bytes(),
            Self::Shared(shared) => shared.inner().rebuilt_bytes(),
            Self::Cache(cache) => cache.inner().rebuilt_bytes(),
            Self::Flash(flash) => flash.rebuilt_bytes(),
            _ => 0,
        }
    }

    /// Bytes that replicas lack of what was acknowledged without them; `None` where nothing is.
    pub fn behind_bytes(&self) -> Option<u64> {
        match self {
            Self::Array(array) => array.behind_bytes(),
            Self::Linked(linked) => linked.inner().behind_bytes(),
            Self::Shared(shared) => shared.inner().behind_bytes(),
            Self::Cache(cache) => cache.inner().behind_bytes(),
            _ => None,
        }
    }

    /// Writes and bytes that only the near side of a replica held and that were lost with it; once.
    pub fn take_lost(&mut self) -> (u64, u64) {
        match self {
            Self::Array(array) => array.take_lost(),
            Self::Linked(linked) => linked.inner_mut().take_lost(),
            Self::Shared(shared) => shared.inner_mut().take_lost(),
            Self::Cache(cache) => cache.inner_mut().take_lost(),
            _ => (0, 0),
        }
    }

    /// Whether so much is gone that commands fail.
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Array(array) => array.is_broken(),
            Self::Linked(linked) => linked.inner().is_broken(),
            Self::Shared(shared) => shared.inner().is_broken(),
            Self::Cache(cache) => cache.inner().is_broken(),
            _ => false,
        }
    }

    /// Power fails at `now`, and whoever waits for a command is told after a while that it failed.
    ///
    /// Only a [watched](crate::stack::watched) device remembers who waits; another one forgets its commands.
    pub fn cut_power(&mut self, now: Nanos) -> Loss {
        match self {
            Self::Array(array) => array.cut_power(now),
            _ => self.lose_power(now),
        }
    }

    /// The near side of a replica is gone with its machine, and whoever waits for a command is told after a while that it failed. From
    /// now on the far side is used by a machine beside it. Lost is what the far side had not yet been told to have.
    ///
    /// # Errors
    /// There is no other side.
    pub(crate) fn fail_over(&mut self, now: Nanos) -> Result<Loss, Reason> {
        match self {
            Self::Array(array) if !array.alone => Ok(array.fail_over(now)),
            _ => Err(Reason::new("no_other_side")),
        }
    }

    /// Power fails at `now`: everything under way is forgotten, and what only something volatile held.
    pub(crate) fn lose_power(&mut self, now: Nanos) -> Loss {
        match self {
            Self::Array(array) => array.lose_power(now),
            Self::Linked(linked) => {
                linked.forget(now);
                linked.inner_mut().lose_power(now)
            }
            Self::Shared(shared) => {
                shared.forget();
                shared.inner_mut().lose_power(now)
            }
            Self::Cache(cache) => cache.lose_power(now),
            Self::Hdd(hdd) => hdd.lose_power(now),
            Self::Null(null) => null.lose_power(),
            Self::Volume(volume) => volume.lose_power(now),
            Self::Flash(flash) => flash.lose_power(now),
            // It finishes what it has taken; nobody hears of it.
            Self::XPoint(_) => Loss::default(),
        }
    }
}
