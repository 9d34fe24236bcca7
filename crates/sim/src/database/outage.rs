//! Outages: a server's shutdown, recovery and reload.

use super::outage_tracker::OutageTracker;
use super::recovery::Recovery;
use super::reload::{PoolList, Reload};
use super::shutdown::Shutdown;
use super::storage_engine::StorageEngine;
use serde_json::json;
use tameshi_base::Nanos;

/// Outages of a server, in runs with faults of it or of its storage.
#[derive(Default)]
pub(super) struct Outages {
    pub(super) shutdown: Option<Shutdown>,
    pub(super) recovery: Option<Recovery>,
    pub(super) reload: Option<Reload>,
    pub(super) list: PoolList,
    pub(super) tracker: OutageTracker,
}

impl Outages {
    /// Begin a phase.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.tracker.begin(now);
        if self.recovery.is_some() {
            self.tracker.open_gap(now);
        }
        if let Some(reload) = &mut self.reload {
            reload.wake();
        }
    }

    /// Return whether the server shuts down, comes back, or works only for itself.
    pub(super) fn is_busy(&self) -> bool {
        self.shutdown.is_some()
            || self.recovery.as_ref().is_some_and(|recovery| !recovery.is_impossible())
            || self.reload.as_ref().is_some_and(Reload::is_working)
    }

    /// Begin to reload the listed pages.
    pub(super) fn begin_reload(&mut self, event: String, now: Nanos) {
        if !self.list.pages.is_empty() {
            self.list.is_unfinished = true;
            self.reload = Some(Reload::new(event, now));
        }
    }

    /// Advance the reload, if there is one.
    pub(super) fn advance_reload(&mut self, engine: &mut StorageEngine) {
        let Some(reload) = &mut self.reload else { return };
        if reload.advance(engine, &self.list.pages, self.tracker.completed()) {
            self.end_reload(engine.store.port.now, true);
        }
    }

    /// End the reload, whole or broken off.
    pub(super) fn end_reload(&mut self, now: Nanos, whole: bool) {
        let Some(Reload { event, began, read, .. }) = self.reload.take() else { return };
        self.list.is_unfinished = !whole;
        let listed = self.list.pages.len();
        let fields = json!({ "event": event, "pages": read, "listed": listed, "for_ns": now - began, "whole": whole });
        self.tracker.push(now, "pool_loaded", fields);
    }

    /// Break off a shutdown, which a fault ends.
    pub(super) fn cut_shutdown_short(&mut self, now: Nanos, flushed: u64) {
        if let Some(mut shutdown) = self.shutdown.take() {
            shutdown.end(flushed);
            let rest = json!({ "away_ns": now - shutdown.began, "back": false });
            shutdown.record(now, rest, &mut self.tracker);
        }
    }
}
