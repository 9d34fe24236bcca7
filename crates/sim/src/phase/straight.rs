//! The short way through a phase that is nothing but jobs and one device.
//!
//! Most completions of a flash drive are alone at their instant: then nobody but the job of the command can be due at it, and
//! it issues its next one at once, without standing in the queue of those that are due. Where several are at one instant,
//! all of them complete before any job issues, so that the order of everything is that of the general way.

use super::{Phase, STOP_CHECK};
use crate::device::Device;
use crate::run::{SimError, World};
use tameshi_base::Nanos;
use tameshi_record::Writer;

impl Phase<'_> {
    /// What jobs and one device do by themselves before `until`; true when the run is to stop.
    pub(super) fn plain(&mut self, world: &mut World, until: Nanos, writer: &mut Writer) -> Result<bool, SimError> {
        while self.active > 0 || !self.bounded {
            let (due, seat) = self.due.first();
            let before = self.completed;
            let any = self.straight(world, until.min(due))?;
            if let Device::Flash(flash) = &world.devices[0]
                && flash.has_rebuilt()
            {
                world.tell_rebuilt(writer)?;
            }
            if any {
                if before / STOP_CHECK != self.completed / STOP_CHECK && writer.control().is_stopping() {
                    return Ok(true);
                }
                continue;
            }
            let wake = world.devices[0].next_wake().unwrap_or(Nanos::MAX);
            if due.min(wake) >= until {
                break;
            }
            if due <= wake {
                self.enter(world, due);
                self.issue(world, seat)?;
            } else {
                self.enter(world, wake);
                let look = self.complete(world, 0);
                world.tell_rebuilt(writer)?;
                if look && writer.control().is_stopping() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What completes next, if that is before `until`, and the job of what is alone at its instant goes on; whether anything
    /// completed.
    #[inline]
    fn straight(&mut self, world: &mut World, until: Nanos) -> Result<bool, SimError> {
        let Device::Flash(flash) = &mut world.devices[0] else { return Ok(false) };
        if self.seats.lingering() > 0 || flash.holds_back() {
            return Ok(false);
        }
        let Some(done) = flash.complete_next(until) else { return Ok(false) };
        let (mut seat, now) = ((done.command.id >> 32) as usize, done.at);
        self.count(&mut world.digest, done);
        if flash.next_event() > now && !self.completed.is_multiple_of(STOP_CHECK) {
            self.enter(world, now);
            if self.seats.get(seat).job.next_due().is_some_and(|due| due <= now) {
                self.issue(world, seat)?;
                return Ok(true);
            }
        } else {
            while let Some(done) = flash.complete_next(now + 1) {
                self.seats.set_due(seat, now, &mut self.due);
                seat = (done.command.id >> 32) as usize;
                self.count(&mut world.digest, done);
            }
            self.enter(world, now);
        }
        self.seats.set_due(seat, now, &mut self.due);
        Ok(true)
    }
}
