//! Clean shutdown of a server, which then starts again.
//!
//! The server refuses new statements. A statement or commit under way ends, a scan is broken off,
//! and transactions without a commit are rolled back; their clients begin them again when the
//! server answers. Then dirty pages are written as fast as storage and doublewrite buffer take
//! them (buf_flush_page_cleaner_coordinator), and the end of the log; nothing is left for the
//! start to apply. A fault during the shutdown ends it as a crash.

use super::counters::Count;
use super::fault::ServerFault;
use super::outage_tracker::OutageTracker;
use super::port::{BACKGROUND_READS, Requester};
use super::reload::PoolList;
use super::settings::ShutdownMode;
use super::storage_engine::StorageEngine;
use serde_json::{Value, json};
use tameshi_base::Nanos;

/// A shutdown under way.
#[derive(Debug)]
pub(super) struct Shutdown {
    pub(super) fault: ServerFault,
    pub(super) began: Nanos,
    /// No connection is inside any more.
    is_alone: bool,
    /// Buffered changes are still merged.
    merges: bool,
    /// Pages that had been flushed when it began; then those that it flushed.
    flushed: u64,
    /// Pages that are listed for a reload.
    listed: usize,
}

impl Shutdown {
    pub(super) fn new(fault: ServerFault, engine: &StorageEngine) -> Self {
        Self {
            fault,
            began: engine.store.port.now,
            is_alone: false,
            merges: engine.store.settings.shutdown == ShutdownMode::Slow,
            flushed: engine.flusher.flushed(),
            listed: 0,
        }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// No connection is inside any more: list the pool's pages.
    pub(super) fn list_pool(&mut self, engine: &StorageEngine, list: &mut PoolList) {
        let (settings, pool) = (&engine.store.settings, &engine.store.pool);
        let lists = settings.dump.at_shutdown && settings.shutdown != ShutdownMode::LogOnly;
        if lists && !(settings.dump.finished_only && list.is_unfinished) {
            let held = pool.frames() - pool.free();
            list.pages = pool.used_last(settings.dump.pages(held, pool.frames()));
            list.pages.sort_unstable();
            list.is_unfinished = false;
        }
        (self.is_alone, self.listed) = (true, list.pages.len());
    }

    /// Merge, flush and sync as far as nothing is to be waited for. Return whether the server is
    /// at its end.
    pub(super) fn advance(&mut self, engine: &mut StorageEngine) -> bool {
        if self.merges && engine.read_threads.pending == 0 {
            self.merges = engine.merge_changes(u64::from(BACKGROUND_READS) / 2);
        }
        let StorageEngine { store, flusher, .. } = engine;
        let writes_pages = store.settings.shutdown != ShutdownMode::LogOnly;
        if writes_pages && store.pool.dirty() > 0 {
            flusher.flush_all(store);
            return false;
        }
        if store.port.outstanding > 0 || store.port.working > 0 || !flusher.is_idle() {
            return false;
        }
        let lsn = store.log.redo.lsn();
        if !store.log.redo.is_durable(lsn) {
            store.want_log(lsn, Requester::LogThread);
            return false;
        }
        if writes_pages && store.log.redo.checkpoint(None) {
            store.counters.one(Count::Checkpoints);
        }
        true
    }

    /// End with the number of pages flushed since the server's start.
    pub(super) fn end(&mut self, flushed: u64) {
        self.flushed = flushed - self.flushed;
    }

    /// Record the shutdown up to `gone`, the server's end, with further fields.
    pub(super) fn record(&self, gone: Nanos, rest: Value, tracker: &mut OutageTracker) {
        let fields = json!({
            "event": self.fault.event, "shutdown_ns": gone - self.began, "pages_flushed": self.flushed,
            "pages_listed": self.listed,
        });
        tracker.record(self.began, "restart", fields, rest);
    }
}
