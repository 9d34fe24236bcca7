//! Block mirror: a served drive whose writes also cross a link to a far side.
//!
//! The model is the simulator's replica; it decides when a write arrives there. There is one store.
//! The undo log keeps what writes and trims on the link overwrote. At a failover the drive takes
//! these back, newest first. What remains is the content of the far side: none of its writes has
//! overtaken another. The far host keeps its power, so all that has arrived there stays.
//!
//! After a failover the drive notes each place that is written. A side that comes back receives
//! these places, those that were on the link, and those that its own volatile memory has lost.

use super::{Departure, Drive};
use crate::far_side::{FarSide, Sides};
use serde_json::Value;
use tameshi_base::{Nanos, Reason};

/// Content that a failover did not find on the far side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedOver {
    /// Acknowledged writes that are lost.
    pub lost_writes: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Writes under way that the far side does not have.
    pub dropped_writes: u64,
    /// Ranges of all of them, as offset and length, from the newest write to the oldest.
    pub ranges: Vec<(u64, u64)>,
}

impl Drive {
    /// Lose the near side at `now`: requests under way fail, and the drive has the content of the
    /// far side. Its power is off until it is switched on next to the other host.
    ///
    /// # Errors
    /// There is no far side, or it is not up to date.
    pub fn fail_over(&mut self, now: Nanos, departures: &mut Vec<Departure>) -> Result<FailedOver, Reason> {
        let at = now.max(self.reached);
        self.advance(at, departures);
        match self.far_side.as_ref().map(|far| far.sides) {
            Some(Sides::Both) => {}
            Some(Sides::Resync) => return Err(Reason::new("not_up_to_date")),
            Some(Sides::Alone) | None => return Err(Reason::new("no_other_side")),
        }
        let first = self.note_arrivals();
        self.name_volatile();
        self.device.fail_over(at)?;
        let lacked = self.log.unwind(first, &mut self.store);
        if let Some(far) = &mut self.far_side {
            far.lose_side(lacked.ranges.iter().chain(&self.volatile));
        }
        self.abandon(at, departures);
        let (lost_writes, lost_bytes, dropped_writes) = (lacked.writes, lacked.bytes, lacked.dropped);
        Ok(FailedOver { lost_writes, lost_bytes, dropped_writes, ranges: lacked.ranges })
    }

    /// Bring the lost side back at `now` as the far side; return the bytes that it lacks.
    ///
    /// # Errors
    /// No side is lost.
    pub fn take_back(&mut self, now: Nanos, departures: &mut Vec<Departure>) -> Result<u64, Reason> {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.reached = at;
        let alone = self.far_side.as_mut().filter(|far| far.sides == Sides::Alone);
        let Some(far) = alone else { return Err(Reason::new("no_lost_side")) };
        let lacks = far.lacks();
        self.device.take_back(&lacks, at)?;
        far.take_back();
        Ok(lacks.iter().map(|(_, length)| length).sum())
    }

    /// Cut the link to the far side at `now`, or let it carry again.
    ///
    /// # Errors
    /// There is no link.
    pub fn change_link(&mut self, is_up: bool, now: Nanos, departures: &mut Vec<Departure>) -> Result<(), Reason> {
        let at = now.max(self.reached);
        self.advance(at, departures);
        self.reached = at;
        if !self.device.change_link(is_up, at) {
            return Err(Reason::new("no_other_side"));
        }
        self.far_side.iter_mut().for_each(|far| far.link_is_up = is_up);
        self.advance(at, departures);
        Ok(())
    }

    /// Return the state of a block mirror; null for other drives.
    pub fn mirror(&self) -> Value {
        let state =
            |far: &FarSide| far.as_json(self.log.next(), self.device.behind_bytes(), self.device.rebuilt_bytes());
        self.far_side.as_deref().map_or(Value::Null, state)
    }
}
