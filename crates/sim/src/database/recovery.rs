//! Recovery of a server: it starts, reads its log from the last checkpoint on, and reads the pages
//! that the log names to apply it to them. Then it answers, with those pages in its pool.
//!
//! The log is read in order, piece by piece, and its records are parsed in between. Pages are read
//! in their order, with as many reads in flight as the profile says. Every page changed since the
//! checkpoint is read, also those that were written since: only a read shows that. Rollbacks count
//! for nothing: undo goes on while the server already answers.

use super::counters::Count;
use super::fault::{FaultKind, ServerFault};
use super::layout::PAGE;
use super::outage_tracker::OutageTracker;
use super::port::{FIRST_ASYNC, Purpose, REQUEST, Requester};
use super::shutdown::Shutdown;
use super::storage_engine::StorageEngine;
use super::store::Store;
use serde_json::json;
use tameshi_base::{CommandKind, Nanos};

/// Step of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Waits for outstanding requests.
    Dying,
    /// Waits for the server's start.
    Away,
    Starting,
    /// Reads the log, or parses what it has read.
    Log,
    Pages,
    /// The server can't come back.
    Impossible,
}

/// A server's way from its end to its first answer.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) fault: ServerFault,
    /// The shutdown that it follows, if any.
    shutdown: Option<Shutdown>,
    /// Time of the server's end.
    began: Nanos,
    started: Nanos,
    step: Step,
    /// Bytes of log that are not read yet, and all of them.
    log_left: u64,
    log_bytes: u64,
    /// Bytes of the piece of log that is being read.
    piece: u32,
    pages: Vec<u32>,
    next_page: usize,
    /// Pages that are being read or written.
    outstanding: u32,
    /// Processor time of copies from the page cache, not yet spent.
    copying: Nanos,
}

impl Recovery {
    /// Begin with a fault's end of the server.
    pub(super) fn after_fault(fault: ServerFault, began: Nanos) -> Self {
        Self {
            fault,
            shutdown: None,
            began,
            started: began,
            step: Step::Dying,
            log_left: 0,
            log_bytes: 0,
            piece: 0,
            pages: Vec::new(),
            next_page: 0,
            outstanding: 0,
            copying: 0,
        }
    }

    /// Begin with the end of a shutdown.
    pub(super) fn after_shutdown(shutdown: Shutdown, gone: Nanos) -> Self {
        let fault = shutdown.fault.clone();
        Self { shutdown: Some(shutdown), ..Self::after_fault(fault, gone) }
    }

    /// Return whether the server's process exists again.
    pub(super) fn is_started(&self) -> bool {
        matches!(self.step, Step::Starting | Step::Log | Step::Pages)
    }

    /// Return whether requests of the server that has ended may be outstanding.
    pub(super) fn is_dying(&self) -> bool {
        self.step == Step::Dying
    }

    /// Return whether the server can't come back.
    pub(super) fn is_impossible(&self) -> bool {
        self.step == Step::Impossible
    }

    /// The server can't come back.
    pub(super) fn make_impossible(&mut self, now: Nanos) {
        (self.step, self.started) = (Step::Impossible, now);
    }

    /// Add to a fault at `now` what it inherits from this recovery, which it ends.
    pub(super) fn pass_on(&self, fault: &mut ServerFault, now: Nanos) {
        // A failover's machine is another one: it doesn't wait for this one's start.
        if fault.kind == FaultKind::PowerCut {
            fault.down = fault.down.max((self.began + self.fault.down).saturating_sub(now));
        }
        // Losses are counted when no request is outstanding.
        if self.step == Step::Dying {
            fault.loss.add(&self.fault.loss);
            let logs = [(&mut fault.log_loss, &self.fault.log_loss), (&mut fault.binlog_loss, &self.fault.binlog_loss)];
            for (mine, earlier) in logs {
                if let (Some(mine), Some(earlier)) = (mine, earlier) {
                    mine.add(earlier);
                }
            }
        }
    }

    /// Record the recovery up to `now`, when the server answered or another fault ended it.
    pub(super) fn record(&self, now: Nanos, back: bool, tracker: &mut OutageTracker) {
        let recovery = if self.is_started() { now - self.started } else { 0 };
        let down = self.fault.down.min(now - self.began);
        let began = self.shutdown.as_ref().map_or(self.began, |shutdown| shutdown.began);
        let rest = json!({
            "away_ns": now - began, "down_ns": down, "recovery_ns": recovery, "back": back,
            "log_bytes": self.log_bytes, "pages": self.pages.len(),
        });
        if let Some(shutdown) = &self.shutdown {
            return shutdown.record(self.began, rest, tracker);
        }
        let how = match self.fault.kind {
            FaultKind::PowerCut => "power_cut",
            FaultKind::Failover => "failover",
            FaultKind::Kill | FaultKind::Storage | FaultKind::Shutdown => "kill",
        };
        tracker.record(self.began, "crash", json!({ "event": self.fault.event, "how": how }), rest);
    }

    /// End the wait for outstanding requests. Return the time of the next step.
    pub(super) fn end_dying(&mut self, now: Nanos) -> Nanos {
        self.step = Step::Away;
        now.max(self.began + self.fault.down)
    }

    /// Take the next step, if nothing is outstanding. Return the time of the one after it, and
    /// whether the server answers.
    pub(super) fn advance(&mut self, engine: &mut StorageEngine) -> (Option<Nanos>, bool) {
        let now = engine.store.port.now;
        match self.step {
            Step::Away if now >= self.began + self.fault.down => {
                (self.step, self.started) = (Step::Starting, now);
                (Some(now + engine.store.settings.recovery.start), false)
            }
            Step::Starting => {
                self.step = Step::Log;
                // A clean shutdown leaves no log after its checkpoint.
                let redo = &engine.store.log.redo;
                let is_clean = self.shutdown.is_some() && redo.age() == 0;
                let bytes = if is_clean { 0 } else { redo.to_read() };
                (self.log_left, self.log_bytes) = (bytes, bytes);
                (None, self.read_log(engine))
            }
            _ => (None, false),
        }
    }

    /// Finish a command. Return whether the server answers.
    pub(super) fn completed(&mut self, engine: &mut StorageEngine, purpose: Purpose, slot: u32) -> bool {
        match purpose {
            Purpose::LogRead => self.parse_log(engine, 0),
            Purpose::Recover(page) if !keep_page(&mut engine.store, slot, page) => false,
            Purpose::Recover(_) | Purpose::Recovered => {
                self.finish_page(&mut engine.store, slot);
                self.read_pages(engine)
            }
            _ => false,
        }
    }

    /// Finish work on a processor. Return whether the server answers.
    pub(super) fn worked(&mut self, engine: &mut StorageEngine) -> bool {
        match self.step {
            Step::Log => self.read_log(engine),
            Step::Pages => self.read_pages(engine),
            _ => false,
        }
    }

    /// Read the next piece of log.
    fn read_log(&mut self, engine: &mut StorageEngine) -> bool {
        if self.log_left == 0 {
            return self.begin_pages(engine);
        }
        let store = &mut engine.store;
        let bytes = self.log_left.min(store.settings.recovery.read) as u32;
        let offset = store.log.redo.place(self.log_bytes - self.log_left, bytes);
        (self.log_left, self.piece) = (self.log_left - u64::from(bytes), bytes);
        if store.cache(offset, bytes.into()) {
            return self.parse_log(engine, 1);
        }
        let thread = store.port.threads.of(Requester::LogThread);
        store.command(thread, REQUEST, CommandKind::Read, (offset, bytes), Purpose::LogRead);
        false
    }

    /// Parse the piece of log that was read, in at least the time `least`.
    fn parse_log(&mut self, engine: &mut StorageEngine, least: Nanos) -> bool {
        let store = &mut engine.store;
        let (apply, copy) = (store.settings.recovery.apply, store.settings.cpu.page_copy);
        let Some(durability) = &store.log.durability else { return false };
        let piece = u64::from(self.piece);
        let records = piece / durability.record_bytes(store.log.redo.lsn());
        let time = (records * apply + piece.div_ceil(PAGE) * copy).max(least);
        if time == 0 {
            return self.read_log(engine);
        }
        store.port.work(store.port.threads.of(Requester::LogThread), time);
        false
    }

    /// Begin to read the pages that the log names.
    fn begin_pages(&mut self, engine: &mut StorageEngine) -> bool {
        let log = &engine.store.log;
        let checkpoint = log.redo.last_checkpoint();
        let Some(durability) = &log.durability else { return false };
        let named = (0..).zip(&durability.changed).filter(|(_, lsn)| **lsn > checkpoint);
        self.pages = named.map(|(page, _)| page).collect();
        self.step = Step::Pages;
        self.read_pages(engine)
    }

    fn read_pages(&mut self, engine: &mut StorageEngine) -> bool {
        let store = &mut engine.store;
        let thread = store.port.threads.background();
        while let Some(&page) = self.pages.get(self.next_page) {
            if self.outstanding >= store.settings.recovery.page_reads {
                return false;
            }
            let Some(slot) = store.port.free_slots.pop() else { return false };
            self.next_page += 1;
            self.outstanding += 1;
            self.copying += store.settings.cpu.page_copy;
            store.counters.one(Count::PagesRead);
            if !store.is_cached(page) {
                store.read(thread, slot, page, Purpose::Recover(page));
            } else if keep_page(store, slot, page) {
                self.finish_page(store, slot);
            }
        }
        if self.outstanding > 0 {
            return false;
        }
        let copying = std::mem::take(&mut self.copying);
        if copying > 0 {
            store.port.work(store.port.threads.of(Requester::LogThread), copying);
        }
        copying == 0
    }

    fn finish_page(&mut self, store: &mut Store, slot: u32) {
        debug_assert!(slot >= FIRST_ASYNC);
        store.port.free_slots.push(slot);
        self.outstanding -= 1;
    }
}

/// Keep a page, to which the log is applied, in the pool, dirty. Half of the pool is left for
/// clients: beyond that write the page, and return `false`.
fn keep_page(store: &mut Store, slot: u32, page: u32) -> bool {
    let (from, to) = (store.log.redo.last_checkpoint(), store.log.redo.lsn());
    if store.pool.dirty() < store.pool.frames() / 2
        && let Some(frame) = store.pool.take(1)
    {
        store.pool.put(frame, page, false, store.port.now);
        store.pool.change(frame, from, to);
        return true;
    }
    store.counters.one(Count::PagesWritten);
    let place = (store.page_offset(page), PAGE as u32);
    let thread = store.port.threads.background();
    store.command(thread, slot, CommandKind::Write, place, Purpose::Recovered);
    false
}
