//! Contribution of a completion to the digest and to the record.

use super::digest::Entry;
use super::job_table::JobSlot;
use crate::basics::command_id::CommandId;
use crate::device::{Breakdown, DeviceCompletion};
use tameshi_base::Nanos;
use tameshi_record::interval::PART_COUNT;
use tameshi_record::{IntervalStats, Slow};
use tameshi_workload::Operation;

/// Index of a transaction among the operations of the record.
pub(crate) const TRANSACTION: usize = 5;

/// Parts of a latency, in the order of the record's `PART_WORDS`.
pub(super) type Parts = [Nanos; PART_COUNT];

/// Return the parts of a command's time in its device.
#[inline(always)]
pub(super) fn device_parts(breakdown: &Breakdown) -> Parts {
    let Breakdown { queue, host, link, controller, media, garbage_collection, rebuild } = *breakdown;
    [queue, host, link, controller, media, garbage_collection, rebuild]
}

/// Return the parts of a whole latency.
///
/// In open loop a request may wait for a free slot before its device has it: that wait is queueing.
#[inline]
pub(super) fn latency_parts(breakdown: &Breakdown, latency: Nanos) -> Parts {
    let mut parts = device_parts(breakdown);
    parts[0] = latency - parts[1..].iter().fold(0, |sum: Nanos, ns| sum.wrapping_add(*ns));
    parts
}

/// An operation that succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) operation: Operation,
    pub(super) bytes: u64,
    pub(super) latency: Nanos,
    pub(super) parts: Parts,
}

/// Add an operation to its stream's interval; the device held its command `done` until `at`.
#[inline(always)]
pub(super) fn count_served(stats: &mut IntervalStats, served: Served, done: &DeviceCompletion, at: Nanos) {
    let Served { operation, bytes, latency, parts } = served;
    stats.record(operation as usize, bytes, latency);
    // No sum of a part exceeds that of the latencies, which is checked; seven sums at once are
    // cheaper without a check each.
    stats.parts_ns.iter_mut().zip(parts).for_each(|(sum, ns)| *sum = sum.wrapping_add(ns));
    stats.ledger.slowest.see(Slow {
        latency,
        at,
        offset_bytes: done.command.offset_bytes,
        length_bytes: done.command.length_bytes,
        operation: operation as u8,
    });
}

/// Digest entry of a command of the database server.
pub(super) fn server_entry(done: &DeviceCompletion) -> Entry {
    let (command, id) = (&done.command, CommandId::from(done.command.id));
    Entry {
        at: done.at,
        stream: u16::MAX,
        job: id.thread() as u32,
        slot: id.slot(),
        kind: command.kind,
        offset_bytes: command.offset_bytes,
        latency: done.at - done.submitted,
        failed: done.failed,
    }
}

/// Digest entry of a job's command, complete at `at`.
#[inline]
pub(super) fn job_entry((done, at): (&DeviceCompletion, Nanos), job: &JobSlot, slot: u32, latency: Nanos) -> Entry {
    Entry {
        at,
        stream: job.stream,
        job: job.number,
        slot,
        kind: done.command.kind,
        failed: done.failed,
        offset_bytes: done.command.offset_bytes,
        latency,
    }
}
