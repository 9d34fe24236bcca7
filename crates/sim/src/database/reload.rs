//! Reload of the pool's pages after a clean shutdown (buf0dump.cc): a thread of the server reads
//! the listed pages, in the order of their places, while clients work.
//!
//! After each `io_capacity` pages the thread checks whether clients have been at work. If so, it
//! sleeps until a second has passed since its last check. Each page takes processor time; no
//! client waits for the thread.

use super::SECOND;
use super::port::{Alarm, Purpose};
use super::storage_engine::StorageEngine;
use tameshi_base::Nanos;

/// Pages that were in the pool at the last shutdown.
#[derive(Debug, Default)]
pub(super) struct PoolList {
    /// In the order of their places.
    pub(super) pages: Vec<u32>,
    /// The server has not reloaded all of them.
    pub(super) is_unfinished: bool,
}

/// A reload under way.
#[derive(Debug)]
pub(super) struct Reload {
    /// The event that the start belongs to.
    pub(super) event: String,
    pub(super) began: Nanos,
    /// Place of the next page in the list.
    next: usize,
    /// Pages that were requested.
    pub(super) read: u64,
    /// Reads in flight.
    in_flight: u32,
    /// Processor time of pages that have arrived, not yet spent.
    owed: Nanos,
    is_working: bool,
    /// End of the thread's sleep.
    until: Nanos,
    /// Last check for work of clients: its time, and the transactions they had completed.
    checked: Option<(Nanos, u64)>,
}

impl Reload {
    pub(super) fn new(event: String, began: Nanos) -> Self {
        Self { event, began, next: 0, read: 0, in_flight: 0, owed: 0, is_working: false, until: 0, checked: None }
    }

    /// Return whether a processor works for the thread.
    pub(super) fn is_working(&self) -> bool {
        self.is_working
    }

    /// End the thread's sleep: the phase has changed, and with it the alarms.
    pub(super) fn wake(&mut self) {
        self.until = 0;
    }

    /// A processor has finished the thread's work.
    pub(super) fn worked(&mut self) {
        self.is_working = false;
    }

    /// A page has arrived in the pool.
    pub(super) fn arrived(&mut self, cost: Nanos) {
        (self.in_flight, self.owed) = (self.in_flight - 1, self.owed + cost);
    }

    /// Read listed pages until there is something to wait for. Clients have completed `completed`
    /// transactions. Return whether all pages have been read.
    pub(super) fn advance(&mut self, engine: &mut StorageEngine, listed: &[u32], completed: u64) -> bool {
        let port = &engine.store.port;
        let (now, thread) = (port.now, port.threads.background());
        loop {
            if self.is_working || now < self.until {
                return false;
            }
            if self.owed > 0 {
                self.is_working = true;
                engine.store.port.work(thread, std::mem::take(&mut self.owed));
                return false;
            }
            let place = self.next;
            let Some(&page) = listed.get(place) else { return self.in_flight == 0 };
            if self.in_flight >= engine.store.settings.dump.page_reads || !self.read_page(engine, page) {
                return false;
            }
            self.leave_room_for_clients(engine, place as u64, completed);
        }
    }

    /// Read a page that is not in the pool yet. `false`: there is no room for it now.
    fn read_page(&mut self, engine: &mut StorageEngine, page: u32) -> bool {
        if !engine.store.pool.holds(page) {
            let Some(slot) = engine.store.port.free_slots.pop() else { return self.try_later(engine) };
            let Some(frame) = engine.store.take_frame() else {
                engine.store.port.free_slots.push(slot);
                engine.flusher.make_free_pages(&mut engine.store);
                return self.try_later(engine);
            };
            self.read += 1;
            if engine.read_in_background(slot, (frame, page), Purpose::Reload(frame)) {
                self.owed += cost_of_page(engine);
            } else {
                self.in_flight += 1;
            }
        }
        self.next += 1;
        true
    }

    fn try_later(&mut self, engine: &mut StorageEngine) -> bool {
        let until = engine.store.port.now + engine.store.settings.flushing.retry;
        self.sleep_until(engine, until);
        false
    }

    fn sleep_until(&mut self, engine: &mut StorageEngine, until: Nanos) {
        self.until = until;
        engine.store.port.alarm(until, Alarm::Reload);
    }

    /// Keep to the capacity per second while clients are at work (buf_load_throttle_if_needed):
    /// the page at `place` of the list was passed.
    fn leave_room_for_clients(&mut self, engine: &mut StorageEngine, place: u64, completed: u64) {
        let (now, capacity) = (engine.store.port.now, engine.store.settings.flushing.io_capacity.max(1));
        if place % capacity < capacity - 1 {
            return;
        }
        let until = match self.checked {
            None => now,
            Some((_, before)) if before == completed => return,
            Some((at, _)) => now.max(at + SECOND),
        };
        self.checked = Some((until, completed));
        if until > now {
            self.sleep_until(engine, until);
        }
    }
}

/// Processor time of a page that arrives.
pub(super) fn cost_of_page(engine: &StorageEngine) -> Nanos {
    engine.store.settings.cpu.page_read + engine.store.settings.cpu.page_copy
}
