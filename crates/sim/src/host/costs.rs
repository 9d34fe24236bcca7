//! Costs of requests on the host, computed once per phase.

use tameshi_base::{CommandKind, Nanos};
use tameshi_spec::profile::{HostModel, Placement, Submission};
use tameshi_spec::run::PhaseStream;

const PAGE_BYTES: u32 = 4096;
const MILLION: u64 = 1_000_000;

/// Costs that are the same for every thread, in nanoseconds; shares in millionths.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) interrupt: Nanos,
    pub(super) placement: Placement,
    pub(super) context_switch: Nanos,
    pub(super) cold_caches: Nanos,
    pub(super) wake_up: Nanos,
    pub(super) time_slice: Nanos,
    pub(super) page: Nanos,
    pub(super) sibling_penalty: u64,
    pub(super) free_threads: u64,
    pub(super) per_thread: u64,
    pub(super) variation: u64,
    pub(super) hypervisor: Nanos,
}

impl Machine {
    pub(super) fn new(model: &HostModel) -> Self {
        let contention = model.contention.as_ref();
        Self {
            interrupt: model.interrupt.cost.value.0,
            placement: model.interrupt.placement.value,
            context_switch: model.context_switch.value.0,
            cold_caches: model.cold_caches.as_ref().map_or(0, |cold| cold.value.0),
            wake_up: model.wake_up.value.0,
            time_slice: model.time_slice.value.0,
            page: model.page.as_ref().map_or(0, |page| page.value.0),
            sibling_penalty: model.sibling_penalty.as_ref().map_or(0, |share| u64::from(share.value.0)),
            free_threads: contention.map_or(u64::MAX, |of| u64::from(of.free_threads.value)),
            per_thread: contention.map_or(0, |of| u64::from(of.per_thread.value.0)),
            variation: model.variation.as_ref().map_or(0, |share| u64::from(share.value.0)),
            hypervisor: model.hypervisor.as_ref().map_or(0, |of| of.request.value.0),
        }
    }

    /// Cost of a context switch.
    pub(super) fn switch_ns(&self) -> Nanos {
        self.context_switch + self.cold_caches
    }

    /// Return the time that work takes with this number of runnable threads, next to a busy
    /// sibling.
    pub(super) fn stretched(&self, cost: Nanos, runnable: u64, has_busy_sibling: bool) -> Nanos {
        let crowd = self.per_thread * runnable.saturating_sub(self.free_threads);
        let sibling = if has_busy_sibling { self.sibling_penalty } else { 0 };
        cost + cost * sibling / MILLION + cost * crowd / MILLION
    }
}

/// Costs of a thread's requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    read: Nanos,
    write: Nanos,
    flush: Nanos,
    pub(super) complete: Nanos,
    read_hold: Nanos,
    write_hold: Nanos,
}

impl Path {
    /// Costs of a stream on a storage with this device profile.
    ///
    /// # Panics
    /// The host has no such path; validation refuses such a spec.
    pub(super) fn new(
        model: &HostModel,
        asked: Option<Submission>,
        stream: &PhaseStream,
        profile: Option<&str>,
    ) -> Self {
        Self::at_depth(model, asked, stream.stream.queue_depth, profile)
    }

    /// Costs of a thread with this queue depth; if the host has no such path, with depth one.
    ///
    /// # Panics
    /// The host has no path at all; validation refuses such a spec.
    pub(super) fn at_depth(
        model: &HostModel,
        asked: Option<Submission>,
        queue_depth: u32,
        profile: Option<&str>,
    ) -> Self {
        let way = model.chosen(asked, queue_depth).or_else(|_| model.chosen(None, 1));
        let (_, path) = way.expect("validation has found a path");
        let driver = profile.and_then(|name| {
            let named = model.driver.iter().filter(|(prefix, _)| name.starts_with(prefix.as_str()));
            named.max_by_key(|(prefix, _)| prefix.len()).map(|(_, driver)| driver)
        });
        let (read, write) = driver.map_or((0, 0), |driver| (driver.read.value.0, driver.write.value.0));
        let hold = model.lock.as_ref().map_or((0, 0), |lock| (lock.read.value.0, lock.write.value.0));
        Self {
            read: path.read.value.0 + read,
            write: path.write.value.0 + write,
            flush: path.write.value.0,
            complete: path.complete.value.0,
            read_hold: hold.0,
            write_hold: hold.1,
        }
    }

    /// Return the cost of submitting a command, without the lock.
    #[inline]
    pub(super) fn submit(&self, kind: CommandKind, length_bytes: u32, page: Nanos) -> Nanos {
        let pages = Nanos::from(length_bytes.div_ceil(PAGE_BYTES).saturating_sub(1)) * page;
        match kind {
            CommandKind::Read => self.read + pages,
            CommandKind::Write => self.write + pages,
            CommandKind::Trim => self.write,
            CommandKind::Flush => self.flush,
        }
    }

    /// Return the time that a command holds its storage's lock.
    #[inline]
    pub(super) fn hold(&self, kind: CommandKind) -> Nanos {
        match kind {
            CommandKind::Read => self.read_hold,
            CommandKind::Write | CommandKind::Trim => self.write_hold,
            CommandKind::Flush => 0,
        }
    }
}
