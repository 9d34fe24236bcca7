//! Pages that nobody reads for itself: linear read-ahead, and leaves whose buffered changes are merged.
//!
//! Threads of the server wait for them (os0file.cc: `os_aio_linux_handle`), each for the areas that are its own. One that has
//! slept is woken by the first page that comes, takes in what has come meanwhile one by one, and sleeps again. A page is there
//! for clients when its thread has taken it in (buf0buf.cc: `buf_page_io_complete`).

use super::counters::Count;
use super::{Engine, FIRST_PURGER, PAGE, Purpose};
use std::collections::VecDeque;
use tameshi_base::{CommandKind, Nanos};

/// Pages side by side that are one thread's (os0file.cc: `AIO::get_segment_no_from_slot` shifts by the page's bits and six).
const AREA: u32 = 64;

/// The threads.
#[derive(Debug, Default)]
pub(super) struct Intake {
    threads: Vec<Thread>,
}

/// Frames whose pages have come, the first of them being taken in.
type Thread = VecDeque<u32>;

/// What the threads take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IntakeCosts {
    /// How many there are; none: pages are there at once.
    pub(super) threads: u32,
    pub(super) page: Nanos,
}

impl Intake {
    pub(super) fn new(threads: u32) -> Self {
        Self { threads: vec![Thread::new(); threads as usize] }
    }

    /// Whether all of them sleep.
    pub(super) fn is_idle(&self) -> bool {
        self.threads.iter().all(Thread::is_empty)
    }
}

impl Engine {
    /// Reads a page for nobody in particular; whether it is there at once, out of the page cache.
    pub(super) fn read_in_background(&mut self, slot: u32, (frame, page): (u32, u32), purpose: Purpose) -> bool {
        self.pool.put(frame, page, true, self.now);
        self.counters.one(Count::PagesRead);
        self.reads_pending += 1;
        let reader = matches!(purpose, Purpose::PageRead(_)).then(|| self.reader_of(page)).flatten();
        if self.is_answered(page) {
            self.come(frame, slot, reader);
            return true;
        }
        let (offset, thread) = (self.page_offset(page), reader.unwrap_or(self.background()));
        self.command(thread, slot, CommandKind::Read, (offset, PAGE as u32), purpose);
        false
    }

    /// The storage has read a page that a thread asked for in one of its slots.
    pub(super) fn page_read(&mut self, frame: u32, thread: u32, slot: u32) {
        if (thread as usize) < self.clients.len() {
            return self.page_arrived(frame, thread);
        }
        self.come(frame, slot, Some(thread).filter(|&thread| thread != self.background()));
    }

    /// A page that nobody read for itself has come.
    fn come(&mut self, frame: u32, slot: u32, reader: Option<u32>) {
        self.ahead_free.push(slot);
        let Some(reader) = reader else { return self.page_arrived(frame, self.background()) };
        let of = (reader - self.first_reader()) as usize;
        self.intake.threads[of].push_back(frame);
        if self.intake.threads[of].len() == 1 {
            self.work(reader, self.settings.intake.page);
        }
    }

    /// A thread has taken a page in.
    pub(super) fn taken_in(&mut self, reader: u32) {
        let of = (reader - self.first_reader()) as usize;
        let frame = self.intake.threads[of].pop_front().expect("it took one in");
        if !self.intake.threads[of].is_empty() {
            self.work(reader, self.settings.intake.page);
        }
        self.page_arrived(frame, self.background());
    }

    /// Whose a page is, where there are such threads.
    fn reader_of(&self, page: u32) -> Option<u32> {
        let of = (page / AREA).checked_rem(self.settings.intake.threads)?;
        Some(self.first_reader() + of)
    }

    /// The first of the threads among the engine's.
    pub(super) fn first_reader(&self) -> u32 {
        self.clients.len() as u32 + FIRST_PURGER + self.settings.purge.0
    }
}
