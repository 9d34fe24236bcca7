//! Contract of devices that the kernel steps completion by completion, with successors in place.

use super::{DeviceCompletion, Flash};
use tameshi_base::{CommandKind, Nanos};

/// Device whose slots take a job's next command at the instant of a completion.
///
/// A device need not implement this contract. It saves the queue of due jobs, and changes no
/// result.
pub(crate) trait InPlace {
    /// Return whether a flush or a command in the host waits for a completion.
    fn holds_back(&self) -> bool;
    /// Return when something next happens inside.
    fn next_event(&self) -> Nanos;
    /// Advance to the next completion before `until`; return its slot, which still holds the
    /// command, and its time.
    fn next_completion(&mut self, until: Nanos) -> Option<(u32, Nanos)>;
    /// Commands that complete at `now`, the time of the next event; `None` for other events.
    fn completing(&self, now: Nanos) -> impl Iterator<Item = Option<&DeviceCompletion>>;
    /// Number of internal events so far that were no completions.
    fn internal_events(&self) -> u64;
    /// Command in a slot.
    fn in_slot(&self, slot: u32) -> &DeviceCompletion;
    /// Free a slot whose command is complete.
    fn release(&mut self, slot: u32, at: Nanos) -> &DeviceCompletion;
    /// Advance to the next completion before `until`, and free its slot.
    fn complete_next(&mut self, until: Nanos) -> Option<&DeviceCompletion>;
    /// Begin the next command of the same job in the slot of one that is complete.
    fn succeed(&mut self, slot: u32, command: (CommandKind, u64, u32), now: Nanos);
    /// Return whether a rebuild has ended that is not recorded yet.
    fn has_rebuilt(&self) -> bool;
}

/// Device that loads what commands need into the processor's caches ahead of their time.
///
/// Prefetching changes no result.
pub(crate) trait Prefetch {
    /// Prefetch the map entry of an offset.
    fn prefetch_map(&self, offset_bytes: u64);
    /// Return whether programs are under way, which reads look for.
    fn is_programming(&self) -> bool;
    /// Prefetch what the map entry of an offset points to.
    fn prefetch_target(&self, kind: CommandKind, offset_bytes: u64);
}

impl InPlace for Flash {
    #[inline(always)]
    fn holds_back(&self) -> bool {
        Flash::holds_back(self)
    }

    #[inline(always)]
    fn next_event(&self) -> Nanos {
        Flash::next_event(self)
    }

    #[inline(always)]
    fn next_completion(&mut self, until: Nanos) -> Option<(u32, Nanos)> {
        Flash::next_completion(self, until)
    }

    #[inline(always)]
    fn completing(&self, now: Nanos) -> impl Iterator<Item = Option<&DeviceCompletion>> {
        Flash::completing(self, now)
    }

    #[inline(always)]
    fn internal_events(&self) -> u64 {
        self.woken()
    }

    #[inline(always)]
    fn in_slot(&self, slot: u32) -> &DeviceCompletion {
        Flash::in_slot(self, slot)
    }

    #[inline(always)]
    fn release(&mut self, slot: u32, at: Nanos) -> &DeviceCompletion {
        self.leave(slot, at)
    }

    #[inline(always)]
    fn complete_next(&mut self, until: Nanos) -> Option<&DeviceCompletion> {
        Flash::complete_next(self, until)
    }

    #[inline(always)]
    fn succeed(&mut self, slot: u32, command: (CommandKind, u64, u32), now: Nanos) {
        self.go_on(slot, command, now);
    }

    #[inline(always)]
    fn has_rebuilt(&self) -> bool {
        Flash::has_rebuilt(self)
    }
}

impl Prefetch for Flash {
    #[inline(always)]
    fn prefetch_map(&self, offset_bytes: u64) {
        self.prefetch(offset_bytes);
    }

    #[inline(always)]
    fn is_programming(&self) -> bool {
        Flash::is_programming(self)
    }

    #[inline(always)]
    fn prefetch_target(&self, kind: CommandKind, offset_bytes: u64) {
        self.prefetch_found(kind, offset_bytes);
    }
}
