//! The short way through a phase that is nothing but jobs and one device.
//!
//! Most completions of a flash drive are alone at their instant: then nobody but the job of the command can be due at it, and
//! it issues its next one at once, without standing in the queue of those that are due. Where several are at one instant,
//! all of them complete before any job issues; that is the same as one going on after the other where nothing but completions is
//! there, and jobs become due in their order: two of them, or all of one job.

use super::ahead::look_ahead;
use super::entries::{entry, serve, told};
use super::instant::STOP_CHECK;
use super::under_way::Phase;
use crate::device::Flash;
use crate::digest::Digest;
use crate::error::SimError;
use crate::stack::Device;
use crate::world::World;
use tameshi_base::Nanos;
use tameshi_record::Writer;
use tameshi_record::ledger::depth_class;
use tameshi_workload::Turn;

/// What completes at one instant and is one job's.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    at: Nanos,
    /// How often the drive had done something else until then.
    woken: u64,
    /// What is still behind.
    left: u32,
}

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

    /// What completes before `until`, as far as the job of what is alone at its instant goes on; whether anything completed.
    #[inline]
    fn straight(&mut self, world: &mut World, until: Nanos) -> Result<bool, SimError> {
        let Device::Flash(flash) = &mut world.devices[0] else { return Ok(false) };
        if self.seats.lingering() > 0 || flash.holds_back() {
            return Ok(false);
        }
        let (mut any, mut together) = (false, Together::default());
        while let Some((number, now)) = flash.next_completion(until) {
            any = true;
            let is_alone = flash.next_event() > now;
            let behind = if is_alone { Some(0) } else { self.behind(flash, (number, now), &mut together) };
            if let Some(behind) = behind
                && self.turn(flash, (&mut world.digest, &mut world.now), (number, now), behind)
            {
                if flash.has_rebuilt() {
                    break;
                }
                continue;
            }
            let done = flash.leave(number, now);
            let mut seat = (done.command.id >> 32) as usize;
            self.count(&mut world.digest, done);
            if is_alone && !self.completed.is_multiple_of(STOP_CHECK) {
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
            return Ok(true);
        }
        Ok(any)
    }

    /// How many commands of the same job complete at the same instant behind a slot's, where each of them may go on at once; `before` is
    /// what was found last.
    fn behind(&self, flash: &Flash, (number, now): (u32, Nanos), before: &mut Together) -> Option<u32> {
        let held = flash.in_slot(number);
        if held.submitted == now {
            return None;
        }
        if before.left > 0 && (before.at, before.woken) == (now, flash.woken()) {
            // All that were behind were of this job, and nothing has joined them.
            before.left -= 1;
            return Some(before.left);
        }
        let (mut others, mut of_mine) = (0, 0);
        for other in flash.completing(now) {
            let other = other?;
            // What takes no time was issued just now, and is no part of what completes before any job issues.
            others += u32::from(other.submitted < now);
            of_mine += u32::from(other.submitted < now && other.command.id >> 32 == held.command.id >> 32);
        }
        let looks_at_switch = self.completed / STOP_CHECK != (self.completed + 1 + u64::from(others)) / STOP_CHECK;
        let behind = ((others <= 1 || others == of_mine) && !looks_at_switch).then_some(of_mine);
        *before = Together { at: now, woken: flash.woken(), left: behind.unwrap_or(0) };
        behind
    }

    /// A command completes and its slot goes on, if that is all that follows; whether it was. Of its job's commands `behind`
    /// more complete now, which will not be outstanding when this one's successor begins.
    #[inline(always)]
    fn turn(
        &mut self,
        flash: &mut Flash,
        (digest, clock): (&mut Digest, &mut Nanos),
        (number, now): (u32, Nanos),
        behind: u32,
    ) -> bool {
        if (self.completed + 1).is_multiple_of(STOP_CHECK) || self.issued_at_once >= self.standstill {
            return false;
        }
        let held = flash.in_slot(number);
        let (seat, slot) = ((held.command.id >> 32) as usize, held.command.id as u32);
        let of = self.seats.get_mut(seat);
        let Some(turn) = of.job.turn(slot, now) else { return false };
        digest.add(entry((held, now), of, slot, turn.latency));
        let stats = &mut self.stats[usize::from(of.stream)];
        debug_assert_eq!(turn.latency, now - held.submitted, "nothing waits for a slot");
        serve(stats, turn.operation, (turn.bytes, turn.latency), told(&held.breakdown), (held, now));
        stats.service_ns_sum += turn.latency;
        stats.ledger.depth[depth_class(of.job.outstanding() - behind)] += 1;
        let Turn { kind, offset_bytes, length_bytes, .. } = turn;
        flash.go_on(number, (kind, offset_bytes + of.base_bytes, length_bytes), now);
        look_ahead(flash, of);
        self.completed += 1;
        self.go_to(clock, now);
        self.issued_at_once += 1;
        true
    }
}
