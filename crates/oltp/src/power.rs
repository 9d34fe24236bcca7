//! Power that fails under a database on purpose: what its clients hear afterwards, nobody heard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the database's machine has power; shared by all clients of a run.
///
/// A file system that is shut down is not quite as sudden as a power cut: a sync that is under way may still return as if
/// it had worked. So whoever cuts says so first: from then on an answer counts as none, connections are let go, and none
/// is made before the power is back.
#[derive(Clone, Debug, Default)]
pub struct Power {
    off: Arc<AtomicBool>,
}

impl Power {
    /// It fails now: what is acknowledged after this returned counts as ambiguous.
    pub fn fail(&self) {
        self.off.store(true, Ordering::SeqCst);
    }

    /// It is back: clients connect again.
    pub fn restore(&self) {
        self.off.store(false, Ordering::SeqCst);
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }
}
