//! The server is shut down in good order, to be started again.
//!
//! It takes nothing new: a statement or a commit that is under way comes to its end, a scan is broken off, and of what a
//! transaction has changed without a commit all is taken back; its client begins it anew when the server answers. Then dirty
//! pages are written as fast as storage and doublewrite buffer take them (buf_flush_page_cleaner_coordinator), and the end of
//! the log; nothing is left for the start to apply. [`recovery`] starts the server again.
//!
//! What ends it meanwhile, ends it as a crash.
//!
//! [`recovery`]: super::recovery

use super::counters::{Count, Told, Why};
use super::fault::Blow;
use super::flush::{Batch, LIST};
use super::outage::{Recovery, Shutdown};
use super::settings::Shutdown as Mode;
use super::stage::Stage;
use super::{AHEAD, Alarm, Engine, Who};
use serde_json::json;
use tameshi_base::{Nanos, Reason};

impl Engine {
    fn shutdown(&mut self) -> Option<&mut Shutdown> {
        self.watch.as_mut()?.shutdown.as_mut()
    }

    /// Whether the server takes nothing new, because it is on its way down.
    #[inline]
    pub(super) fn is_shutting_down(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.shutdown.is_some())
    }

    /// Somebody shuts the server down and starts it again; one that is not there, or on its way down, is left to itself.
    pub(super) fn shut_down(&mut self, now: Nanos, blow: Blow) {
        self.now = now;
        let absent = self.is_down() || self.is_shutting_down();
        let (flushed_before, merges) = (self.cleaner.written, self.settings.shutdown == Mode::Slow);
        if absent {
            return self.miss(now, &blow.event, Reason::new("server_going_down"));
        }
        let watch = self.watch.get_or_insert_default();
        watch.stop_loading(now);
        watch.open_gap(now);
        let shutdown = Shutdown { blow, began: now, is_alone: false, merges, flushed_before, flushed: 0, listed: 0 };
        watch.shutdown = Some(shutdown);
        self.alarm(now, Alarm::Server);
    }

    /// The server takes nothing from a client any more: what it has changed is taken back, then it waits outside.
    pub(super) fn turn_away(&mut self, client: u32) {
        self.clients[client as usize].client.again();
        if self.clients[client as usize].wrote {
            // The client's next step leads here again.
            return self.roll_back(client);
        }
        self.release_locks(client);
        self.clients[client as usize].forget();
        self.told[Told::Retries as usize] += 1;
        self.turns(client, Stage::Outside, Why::Outage);
    }

    /// Goes on with the shutdown, as far as nothing has to be waited for.
    pub(super) fn shut_down_further(&mut self) {
        let Some(shutdown) = self.shutdown() else { return };
        if !shutdown.is_alone {
            if !self.clients.iter().all(|seat| seat.stage.is_outside()) {
                return;
            }
            self.is_alone();
        }
        if self.shutdown().is_some_and(|shutdown| shutdown.merges) && self.reads_pending == 0 {
            let merges = self.merge_changes(u64::from(AHEAD) / 2);
            if let Some(shutdown) = self.shutdown() {
                shutdown.merges = merges;
            }
        }
        let writes_pages = self.settings.shutdown != Mode::LogOnly;
        if writes_pages && self.pool.dirty() > 0 {
            self.batches[LIST].quota = u64::MAX;
            return self.begin_batch(LIST);
        }
        let working = self.watch.as_ref().map_or(0, |watch| watch.working);
        if self.outstanding > 0 || working > 0 || !self.batches.iter().all(Batch::is_idle) {
            return;
        }
        let lsn = self.redo.lsn();
        if !self.redo.is_durable(lsn) {
            return self.want_log(lsn, Who::LogThread);
        }
        if writes_pages && self.redo.checkpoint(None) {
            self.counters.one(Count::Checkpoints);
        }
        self.is_gone();
    }

    /// The last client is outside: threads of the server that go by seconds stop, and pages are listed.
    fn is_alone(&mut self) {
        self.alarms = self.alarms_of_users();
        let dump = self.settings.dump;
        let held = self.pool.frames() - self.pool.free();
        let lists = dump.at_shutdown && self.settings.shutdown != Mode::LogOnly;
        let Some(watch) = &mut self.watch else { return };
        if lists && !(dump.finished_only && watch.is_unfinished) {
            watch.listed = self.pool.used_last(dump.pages(held, self.pool.frames()));
            watch.listed.sort_unstable();
            watch.is_unfinished = false;
        }
        let listed = watch.listed.len();
        if let Some(shutdown) = &mut watch.shutdown {
            (shutdown.is_alone, shutdown.listed) = (true, listed);
        }
    }

    /// Nothing of the server is there any more.
    fn is_gone(&mut self) {
        let (now, written) = (self.now, self.cleaner.written);
        self.forget();
        let outside = (0..).zip(&self.clients).filter(|(_, seat)| seat.stage == Stage::Outside);
        self.ready.extend(outside.map(|(client, _)| client));
        let Some(watch) = &mut self.watch else { return };
        if let Some(mut shutdown) = watch.shutdown.take() {
            shutdown.flushed = written - shutdown.flushed_before;
            watch.count_end();
            watch.recovery = Some(Recovery::after(shutdown, now));
        }
        self.alarm(now, Alarm::Server);
    }

    /// Something ends the server before its shutdown is over.
    pub(super) fn cut_short(&mut self) {
        let (now, written) = (self.now, self.cleaner.written);
        let Some(watch) = &mut self.watch else { return };
        if let Some(mut shutdown) = watch.shutdown.take() {
            shutdown.flushed = written - shutdown.flushed_before;
            watch.tell_restart(&shutdown, now, json!({ "away_ns": now - shutdown.began, "back": false }));
        }
    }
}
