//! Record of a run: the metric registry, interval statistics, and the files of a run folder.
//!
//! `docs/records.md` is the contract; [`Writer`] is the only code that writes `load`'s part of it.

pub mod control;
mod heat;
pub mod histograms;
pub mod interval;
pub mod journal;
pub mod ledger;
mod merge;
pub mod operation;
pub mod outage;
mod share;
mod tally;
pub mod usage;
mod wear;
mod writer;

pub use control::{Control, PhaseProgress, Progress, StreamProgress};
pub use heat::Heat;
pub use interval::{Clock, IntervalStats, Lateness, OpStats, Part, Rounds, Spent};
pub use ledger::{Ledger, Slow, Submission, ThreadUsage};
pub use share::Share;
pub use tally::Tally;
pub use usage::{Resource, Usage, Waits};
pub use wear::Wear;
pub use writer::{EndedBy, RecordError, RunStatus, Writer};
