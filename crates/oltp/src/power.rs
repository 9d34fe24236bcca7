//! Deliberate power failure under a database: answers that arrive afterwards count as not received.

use crate::failure::{Failure, FailureKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Power state of the database's machine, shared by all clients of a run.
///
/// Shutting down a file system is less sudden than a power cut: a sync in flight may still return
/// success. So the caller announces the cut first. From then on answers do not count, connections
/// are closed, and none is made until the power is back.
#[derive(Clone, Debug, Default)]
pub struct Power {
    off: Arc<AtomicBool>,
}

impl Power {
    /// Cut the power; commits acknowledged after this call count as ambiguous.
    pub fn fail(&self) {
        self.off.store(true, Ordering::SeqCst);
    }

    /// Restore the power: clients reconnect.
    pub fn restore(&self) {
        self.off.store(false, Ordering::SeqCst);
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }
}

/// Failure of a transaction without power.
pub(crate) fn failure() -> Failure {
    Failure::new(FailureKind::Lost, "power cut", "its power was cut on purpose")
}
