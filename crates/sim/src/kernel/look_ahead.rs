//! Prefetch of the device memory that a job's next requests need.

use super::job_table::JobSlot;
use crate::device::in_place::Prefetch;
use tameshi_base::CommandKind;

/// Requests that are prefetched together, so that their page-table walks overlap.
///
/// A batch's map entries are prefetched two batches ahead, and the entries' targets one batch
/// ahead.
const BATCH: usize = 8;

/// Prefetch for a job that has used up a batch.
#[inline(always)]
pub(super) fn look_ahead(device: &impl Prefetch, slot: &mut JobSlot) {
    if slot.job.looked_ahead() <= 2 * BATCH {
        prefetch_batch(device, slot);
    }
}

fn prefetch_batch(device: &impl Prefetch, slot: &mut JobSlot) {
    let requests = slot.job.look_ahead(3 * BATCH);
    if requests.len() < 3 * BATCH {
        return;
    }
    let (near, far) = requests.split_at(2 * BATCH);
    far.iter().for_each(|request| device.prefetch_map(request.offset_bytes + slot.base_bytes));
    let programming = device.is_programming();
    for request in &near[BATCH..] {
        if programming || request.kind != CommandKind::Read {
            device.prefetch_target(request.kind, request.offset_bytes + slot.base_bytes);
        }
    }
}
