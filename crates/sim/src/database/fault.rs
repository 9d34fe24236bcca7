//! What ends a server.

use crate::fault::Loss;
use tameshi_base::Nanos;

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It is killed; kernel and storage go on.
    Kill,
    /// Its machine has no power any more, and then has it again.
    PowerCut,
    /// Its machine is gone for good; another one takes over with the other side of its storage.
    Failover,
    /// Its storage doesn't do what it asks. It doesn't come back.
    Storage,
    /// It is shut down in good order.
    Shutdown,
}

/// What befalls a server.
#[derive(Clone, Debug)]
pub(crate) struct Blow {
    /// The event's name.
    pub(crate) event: String,
    pub(crate) how: How,
    /// How long nobody starts it again, once it is down.
    pub(crate) down: Nanos,
    /// What its storage has lost.
    pub(crate) loss: Loss,
}
