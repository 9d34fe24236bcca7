//! What a job's next requests will need of a flash drive's memory is brought near to the processor before their time.

use crate::device::Flash;
use crate::seats::Seat;
use tameshi_base::CommandKind;

/// Requests of which a flash drive's map is brought near to the processor together, two turns before their own, and one turn
/// later what the map points to: walks through page tables then go on beside one another.
const TOGETHER: usize = 8;

/// Looks ahead where a turn has passed.
#[inline(always)]
pub(super) fn look_ahead(flash: &Flash, of: &mut Seat) {
    if of.job.looked_ahead() <= 2 * TOGETHER {
        bring_near(flash, of);
    }
}

#[inline(always)]
fn bring_near(flash: &Flash, of: &mut Seat) {
    of.job.look_ahead(3 * TOGETHER);
    for request in 2 * TOGETHER..3 * TOGETHER {
        if let Some((_, offset_bytes)) = of.job.look_ahead(request + 1) {
            flash.prefetch(offset_bytes + of.base_bytes);
        }
    }
    let programming = flash.is_programming();
    for request in TOGETHER..2 * TOGETHER {
        if let Some((kind, offset_bytes)) = of.job.look_ahead(request + 1)
            && (programming || kind != CommandKind::Read)
        {
            flash.prefetch_found(kind, offset_bytes + of.base_bytes);
        }
    }
}
