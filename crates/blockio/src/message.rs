//! What the threads of a load tell the thread that writes the record.

use crate::error::BlockError;
use tameshi_base::Nanos;
use tameshi_record::{EndedBy, IntervalStats};

/// When and why a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) at: Nanos,
    pub(crate) by: EndedBy,
}

/// What a thread of the load tells the thread that writes the record.
pub(crate) enum Message {
    /// Ready to begin; what its queue makes use of.
    Ready { worker: usize, features: Vec<String> },
    /// An interval is over.
    Interval { worker: usize, stats: Box<IntervalStats> },
    /// Its part of a phase is over; requests may be in flight.
    Closed { worker: usize, ending: Ending },
    /// Since `at` nothing of the first so many phases that it had a part in is in flight.
    Drained { worker: usize, phases: u32, at: Nanos },
    /// Something failed; `Ended` follows when nothing is in flight any more, or never will be settled.
    Failed(BlockError),
    /// The thread is about to end.
    Ended { worker: usize },
}
