//! Threads that take in pages read in the background: linear read-ahead, and leaves whose
//! buffered changes are merged.
//!
//! Each thread of the server waits for the areas that are its own (os0file.cc:
//! `os_aio_linux_handle`). The first page to arrive wakes it. It takes in that page and those
//! that arrive meanwhile one by one, and sleeps again. Clients see a page when its thread has
//! taken it in (buf0buf.cc: `buf_page_io_complete`).

use super::port::Port;
use super::settings::ReadThreadSettings;
use std::collections::VecDeque;

/// Adjacent pages of one thread (os0file.cc: `AIO::get_segment_no_from_slot` shifts by the page's
/// bits and six).
const AREA: u32 = 64;

/// Pages that are being read, and queues of the threads.
#[derive(Debug)]
pub(super) struct ReadThreads {
    settings: ReadThreadSettings,
    /// Frames whose pages have arrived, per thread; the first is being taken in.
    queues: Vec<VecDeque<u32>>,
    /// Pages that are being read or taken in, for clients as well.
    pub(super) pending: u32,
}

impl ReadThreads {
    pub(super) fn new(settings: ReadThreadSettings) -> Self {
        Self { settings, queues: vec![VecDeque::new(); settings.threads as usize], pending: 0 }
    }

    /// Return whether all threads sleep.
    pub(super) fn is_idle(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// Thread of a page; `None` without such threads.
    pub(super) fn reader_of(&self, page: u32) -> Option<usize> {
        (page / AREA).checked_rem(self.settings.threads).map(|number| number as usize)
    }

    /// Queue an arrived page for its thread.
    pub(super) fn queue(&mut self, port: &mut Port, number: usize, frame: u32) {
        self.queues[number].push_back(frame);
        if self.queues[number].len() == 1 {
            port.work(port.threads.reader(number), self.settings.page);
        }
    }

    /// Take the frame that a thread has taken in, and begin its next one.
    pub(super) fn take_in(&mut self, port: &mut Port, number: usize) -> u32 {
        let frame = self.queues[number].pop_front().expect("it took one in");
        if !self.queues[number].is_empty() {
            port.work(port.threads.reader(number), self.settings.page);
        }
        frame
    }
}
