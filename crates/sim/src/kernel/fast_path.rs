//! Fast path of a phase in which jobs use one device, without host and database server.
//!
//! On flash drives most completions are alone at their instant. Then only the job of the command
//! can be due, and it issues its next command at once, without the queue of due jobs. If several
//! commands complete at one instant, all of them complete before any job issues. That order equals
//! issuing after each completion in two cases: two commands of different jobs, or commands of one
//! job, provided that nothing else happens at that instant.

use super::accounting::{Served, count_served, device_parts, job_entry};
use super::digest::Digest;
use super::dispatch::STOP_CHECK;
use super::look_ahead::look_ahead;
use super::state::Phase;
use super::world::World;
use crate::basics::command_id::CommandId;
use crate::device::in_place::{InPlace, Prefetch};
use crate::error::SimError;
use tameshi_base::Nanos;
use tameshi_record::Writer;
use tameshi_record::ledger::depth_class;
use tameshi_workload::Turn;

/// Commands of one job that complete at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    at: Nanos,
    /// Internal events of the device when the group was found.
    internal_events: u64,
    /// Commands that have not completed.
    left: u32,
}

impl Phase<'_> {
    /// Run jobs and their device until before `until`; return whether the run is to stop.
    pub(super) fn run_alone(&mut self, world: &mut World, until: Nanos, writer: &mut Writer) -> Result<bool, SimError> {
        while self.active > 0 || !self.bounded {
            let (due, job) = self.due.first();
            let before = self.completed;
            let any = self.run_fast_path(world, until.min(due))?;
            // A rebuild may end without a completion.
            world.record_rebuilds(writer)?;
            if any {
                if before / STOP_CHECK != self.completed / STOP_CHECK && writer.control().is_stopping() {
                    return Ok(true);
                }
                continue;
            }
            let wake = world.devices.next_wake(0);
            if due.min(wake) >= until {
                break;
            }
            if due <= wake {
                self.enter(world, due);
                self.issue(world, job)?;
            } else {
                self.enter(world, wake);
                let look = self.advance_device(world, 0);
                world.record_rebuilds(writer)?;
                if look && writer.control().is_stopping() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Complete commands due before `until`, and issue their successors. Return whether any
    /// completed.
    ///
    /// The first completion whose successor can't be issued at once ends the fast path.
    #[inline]
    fn run_fast_path(&mut self, world: &mut World, until: Nanos) -> Result<bool, SimError> {
        let Some(device) = world.devices.change(0).in_place() else { return Ok(false) };
        if self.jobs.carried_over() > 0 || device.holds_back() {
            return Ok(false);
        }
        let (mut any, mut group) = (false, Group::default());
        while let Some((number, now)) = device.next_completion(until) {
            any = true;
            let is_alone = device.next_event() > now;
            let behind = if is_alone { Some(0) } else { self.group_after(device, (number, now), &mut group) };
            if let Some(behind) = behind
                && self.turn(device, (&mut world.digest, &mut world.now), (number, now), behind)
            {
                if device.has_rebuilt() {
                    break;
                }
                continue;
            }
            let done = device.release(number, now);
            let mut job = CommandId::from(done.command.id).thread();
            self.complete(&mut world.digest, done);
            if is_alone && !self.completed.is_multiple_of(STOP_CHECK) {
                self.enter(world, now);
                if self.jobs.get(job).job.next_due().is_some_and(|due| due <= now) {
                    self.issue(world, job)?;
                    return Ok(true);
                }
            } else {
                while let Some(done) = device.complete_next(now + 1) {
                    self.jobs.set_due(job, now, &mut self.due);
                    job = CommandId::from(done.command.id).thread();
                    self.complete(&mut world.digest, done);
                }
                self.enter(world, now);
            }
            self.jobs.set_due(job, now, &mut self.due);
            return Ok(true);
        }
        Ok(any)
    }

    /// Return the number of commands of a slot's job that complete after it at the same instant, if
    /// each of them may have its successor at once. `group` is the group found last.
    fn group_after(&self, device: &impl InPlace, (number, now): (u32, Nanos), group: &mut Group) -> Option<u32> {
        let held = device.in_slot(number);
        if held.submitted == now {
            return None;
        }
        if group.left > 0 && (group.at, group.internal_events) == (now, device.internal_events()) {
            // The rest of the group is of this job, and nothing has joined it.
            group.left -= 1;
            return Some(group.left);
        }
        let job = CommandId::from(held.command.id).thread();
        let (mut others, mut of_job) = (0, 0);
        for other in device.completing(now) {
            let other = other?;
            // A command without duration was issued at this instant: it completes after the others
            // issue.
            others += u32::from(other.submitted < now);
            of_job += u32::from(other.submitted < now && CommandId::from(other.command.id).thread() == job);
        }
        let looks_at_switch = self.completed / STOP_CHECK != (self.completed + 1 + u64::from(others)) / STOP_CHECK;
        let behind = ((others <= 1 || others == of_job) && !looks_at_switch).then_some(of_job);
        *group = Group { at: now, internal_events: device.internal_events(), left: behind.unwrap_or(0) };
        behind
    }

    /// Complete a command and begin its successor in the same slot; return whether that was
    /// possible.
    ///
    /// `behind` more commands of the job complete now: they are not outstanding for the successor.
    #[inline(always)]
    fn turn(
        &mut self,
        device: &mut (impl InPlace + Prefetch),
        (digest, clock): (&mut Digest, &mut Nanos),
        (number, now): (u32, Nanos),
        behind: u32,
    ) -> bool {
        if (self.completed + 1).is_multiple_of(STOP_CHECK) || self.issued_at_once >= self.standstill {
            return false;
        }
        let held = device.in_slot(number);
        let id = CommandId::from(held.command.id);
        let slot = self.jobs.get_mut(id.thread());
        let Some(turn) = slot.job.turn(id.slot(), now) else { return false };
        digest.add(job_entry((held, now), slot, id.slot(), turn.latency));
        let stats = &mut self.stats[usize::from(slot.stream)];
        debug_assert_eq!(turn.latency, now - held.submitted, "no request waits for a slot");
        let Turn { kind, offset_bytes, length_bytes, operation, bytes, latency, .. } = turn;
        count_served(stats, Served { operation, bytes, latency, parts: device_parts(&held.breakdown) }, held, now);
        stats.service_ns_sum += latency;
        stats.ledger.depth[depth_class(slot.job.outstanding() - behind)] += 1;
        device.succeed(number, (kind, offset_bytes + slot.base_bytes, length_bytes), now);
        look_ahead(device, slot);
        self.completed += 1;
        self.advance(clock, now);
        self.issued_at_once += 1;
        true
    }
}
