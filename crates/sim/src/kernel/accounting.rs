//! What of a completion goes into the digest and into the record.

use crate::device::{Breakdown, DeviceCompletion};
use crate::kernel::digest::Entry;
use crate::kernel::job_table::JobSlot;
use tameshi_base::Nanos;
use tameshi_record::interval::PART_COUNT;
use tameshi_record::{IntervalStats, Slow};
use tameshi_workload::Operation;

/// Place of a transaction among the operations of the record.
pub(crate) const TRANSACTION: usize = 5;

/// Where a command's time went, in the order of the record's `PART_WORDS`.
#[inline(always)]
pub(crate) fn told(part: &Breakdown) -> [Nanos; PART_COUNT] {
    let Breakdown { queue, host, link, controller, media, garbage_collection, rebuild } = *part;
    [queue, host, link, controller, media, garbage_collection, rebuild]
}

/// The same of a latency that may be longer: what the device does not account for was spent waiting as well, for a slot, where
/// the loop is open.
#[inline]
pub(crate) fn spent(part: &Breakdown, latency: Nanos) -> [Nanos; PART_COUNT] {
    let mut spent = told(part);
    spent[0] = latency - spent[1..].iter().fold(0, |sum: Nanos, ns| sum.wrapping_add(*ns));
    spent
}

/// An operation of so many bytes and so long a latency was served: of a command that a device held until `at`.
#[inline(always)]
pub(crate) fn serve(
    stats: &mut IntervalStats,
    operation: Operation,
    (bytes, latency): (u64, Nanos),
    spent: [Nanos; PART_COUNT],
    (held, at): (&DeviceCompletion, Nanos),
) {
    stats.record(operation as usize, bytes, latency);
    // None of these sums can be more than that of the latencies, which is checked: seven at once are cheaper.
    stats.parts_ns.iter_mut().zip(spent).for_each(|(sum, ns)| *sum = sum.wrapping_add(ns));
    stats.ledger.slowest.see(Slow {
        latency,
        at,
        offset_bytes: held.command.offset_bytes,
        length_bytes: held.command.length_bytes,
        operation: operation as u8,
    });
}

/// A completion of the engine's.
pub(crate) fn engines(done: &DeviceCompletion, seat: usize, slot: u32) -> Entry {
    let command = &done.command;
    Entry {
        at: done.at,
        stream: u16::MAX,
        job: seat as u32,
        slot,
        kind: command.kind,
        offset_bytes: command.offset_bytes,
        latency: done.at - done.submitted,
        failed: done.failed,
    }
}

/// The completion, at `at`, of a job's command.
#[inline]
pub(crate) fn entry((done, at): (&DeviceCompletion, Nanos), seat: &JobSlot, slot: u32, latency: Nanos) -> Entry {
    Entry {
        at,
        stream: seat.stream,
        job: seat.number,
        slot,
        kind: done.command.kind,
        failed: done.failed,
        offset_bytes: done.command.offset_bytes,
        latency,
    }
}
