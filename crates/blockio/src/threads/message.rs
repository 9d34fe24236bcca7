//! Messages from load threads to the thread that writes the record.

use crate::error::BlockError;
use tameshi_base::Nanos;
use tameshi_record::{EndedBy, IntervalStats};

/// Time and reason of a job's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) at: Nanos,
    pub(crate) by: EndedBy,
}

/// Message from a load thread to the thread that writes the record.
pub(crate) enum Message {
    /// The thread is ready; `features` of its queue.
    Ready { worker: usize, features: Vec<String> },
    /// Statistics of a finished interval.
    Interval { worker: usize, stats: Box<IntervalStats> },
    /// The thread has finished its part of a phase; requests may be in flight.
    Closed { worker: usize, ending: Ending },
    /// Since `at`, the first `phases` phases of the thread have nothing in flight.
    Drained { worker: usize, phases: u32, at: Nanos },
    /// An error. `Ended` follows when no request is in flight, or the thread has given up waiting.
    Failed(BlockError),
    /// The thread is about to end.
    Ended { worker: usize },
}
