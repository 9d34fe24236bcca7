//! What a job's next requests will need of a flash drive's memory is brought near to the processor before their time.

use crate::device::Flash;
use crate::kernel::job_table::JobSlot;
use tameshi_base::CommandKind;

/// Requests of which a flash drive's map is brought near to the processor together, two turns before their own, and one turn
/// later what the map points to: walks through page tables then go on beside one another.
const TOGETHER: usize = 8;

/// Looks ahead where a turn has passed.
#[inline(always)]
pub(crate) fn look_ahead(flash: &Flash, of: &mut JobSlot) {
    if of.job.looked_ahead() <= 2 * TOGETHER {
        bring_near(flash, of);
    }
}

fn bring_near(flash: &Flash, of: &mut JobSlot) {
    let requests = of.job.look_ahead(3 * TOGETHER);
    if requests.len() < 3 * TOGETHER {
        return;
    }
    let (near, far) = requests.split_at(2 * TOGETHER);
    far.iter().for_each(|request| flash.prefetch(request.offset_bytes + of.base_bytes));
    let programming = flash.is_programming();
    for request in &near[TOGETHER..] {
        if programming || request.kind != CommandKind::Read {
            flash.prefetch_found(request.kind, request.offset_bytes + of.base_bytes);
        }
    }
}
