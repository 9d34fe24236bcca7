//! Flushing: batches of dirty pages, single pages that clients flush, and free frames.
//!
//! A batch makes the log durable up to its newest change, copies its pages to the doublewrite
//! buffer and syncs it, writes the pages in place, and syncs the data files. One batch of each
//! list is under way at a time, and one in the doublewrite buffer.
//!
//! [`batches`] has a batch's steps, [`single_pages`] those of a single page, [`selection`] the
//! choice of pages, [`cleaner`] the number of pages per second, and [`free_list`] the rules by
//! which free frames are made.

mod batches;
mod cleaner;
mod free_list;
mod selection;
mod single_pages;
#[cfg(test)]
mod tests;

use cleaner::Cleaner;
use std::collections::VecDeque;

pub(super) use free_list::FrameWait;

/// The batch from the LRU list's end.
pub(super) const LRU: usize = 0;
/// The batch from the list of dirty pages.
pub(super) const FLUSH_LIST: usize = 1;

/// Step of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Idle,
    Log,
    Copying,
    Doublewrite,
    Writing,
    Syncing,
}

/// Pages that are flushed together.
#[derive(Debug, Default)]
struct Batch {
    step: Step,
    /// Frames, and the log position of each one's last change.
    pages: Vec<(u32, u64)>,
    outstanding: u32,
    /// Outstanding syncs of data files.
    syncs: u32,
    /// Pages left to flush, this batch included.
    quota: u64,
    /// Frames that the selection looked at.
    looked: u64,
}

impl Batch {
    fn is_idle(&self) -> bool {
        self.step == Step::Idle
    }
}

/// State of all flushing.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    batches: [Batch; 2],
    /// Batches that use the doublewrite buffer or wait for it.
    doublewrite_queue: VecDeque<usize>,
    /// Single pages that are being flushed.
    singles: u32,
    /// Clients that wait to flush a single page.
    single_queue: VecDeque<u32>,
    /// Clients that wait until a batch has made pages free or clean.
    free_waiters: VecDeque<u32>,
    cleaner: Cleaner,
}

impl Flusher {
    /// Return whether no batch is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.batches.iter().all(Batch::is_idle)
    }

    /// Pages flushed since the server was started.
    pub(super) fn flushed(&self) -> u64 {
        self.cleaner.written
    }
}
