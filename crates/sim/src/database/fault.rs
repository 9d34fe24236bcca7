//! Faults of a server: events that end its process.

use crate::device::loss::Loss;
use tameshi_base::Nanos;

/// Kind of a server's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The process is killed; kernel and storage go on.
    Kill,
    /// The machine loses power and gets it back.
    PowerCut,
    /// The machine is lost; another one takes over with the other side of its storage.
    Failover,
    /// The storage fails a request. The server doesn't come back.
    Storage,
    /// The server is shut down cleanly.
    Shutdown,
}

/// Fault or shutdown of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerFault {
    /// The event's name.
    pub(crate) event: String,
    pub(crate) kind: FaultKind,
    /// Time from the server's end to its start.
    pub(crate) down: Nanos,
    /// Loss of its storage.
    pub(crate) loss: Loss,
    /// Loss of the log's storage, if the log has one of its own.
    pub(crate) log_loss: Option<Loss>,
    /// Loss of the binary log's storage, if that log has one of its own.
    pub(crate) binlog_loss: Option<Loss>,
}

impl ServerFault {
    /// Fault without loss; `event` is the event's name.
    pub(crate) fn new(event: String, kind: FaultKind, down: Nanos) -> Self {
        Self { event, kind, down, loss: Loss::default(), log_loss: None, binlog_loss: None }
    }

    /// Loss of the storage that holds the log.
    pub(super) fn loss_of_log(&self) -> &Loss {
        self.log_loss.as_ref().unwrap_or(&self.loss)
    }

    /// Loss of the storage that holds the binary log.
    pub(super) fn loss_of_binlog(&self) -> &Loss {
        self.binlog_loss.as_ref().unwrap_or(&self.loss)
    }
}
