//! The server ends: killed, with the power, with its machine, or because its storage fails. What it had in memory is gone; of
//! what it had answered, that is left which had reached something durable.
//!
//! A server that ends still waits for what its storage has been asked for, as a process does. Clients that were in a
//! transaction begin it anew as soon as the server answers; of a commit that was under way they never hear. [`recovery`] brings
//! the server back. None of this costs anything in a run without events.
//!
//! [`recovery`]: super::recovery

use super::counters::{Told, Why};
use super::fault::{Blow, How};
use super::free_list::empty_pool;
use super::locks::Locks;
use super::outage::{Ledger, News, Recovery};
use super::purge::Purge;
use super::read_threads::Intake;
use super::stage::{After, Stage};
use super::{AHEAD, Alarm, Batch, Cleaner, Engine, FIRST_ASYNC, Logic, Purpose};
use crate::device::DeviceCompletion;
use crate::fault::Loss;
use serde_json::{Value, json};
use std::cmp::Reverse;
use tameshi_base::{CommandKind, Nanos, Reason};
use tameshi_record::outage::{BUCKET, Outage};

impl Engine {
    /// Notes what is complete; whether that is no business of a server at work.
    pub(super) fn is_noted(&mut self, done: &DeviceCompletion, (purpose, slot): (Purpose, u32)) -> bool {
        let reaches = self.redo.reaches();
        let Some(watch) = &mut self.watch else { return false };
        if !done.failed && done.command.kind == CommandKind::Write {
            watch.write(done.command.length_bytes);
            if let (Purpose::LogWrite(_), Some(lsn)) = (purpose, reaches) {
                watch.log_written(lsn);
            }
        }
        if watch.recovery.is_some() {
            self.completed_down((purpose, slot), done.failed);
            return true;
        }
        if done.failed {
            let how = How::Storage;
            self.crash(done.at, Blow { event: String::new(), how, down: 0, loss: Loss::default() });
        }
        done.failed
    }

    /// Whether the server doesn't answer.
    #[inline]
    pub(super) fn is_down(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.recovery.is_some())
    }

    /// Whether it is on its way down or back, or works for nobody but itself.
    pub(super) fn is_about_itself(&self) -> bool {
        let Some(watch) = &self.watch else { return false };
        watch.shutdown.is_some()
            || watch.recovery.as_ref().is_some_and(|recovery| !recovery.is_in_vain())
            || watch.loading.as_ref().is_some_and(|loading| loading.is_working)
    }

    /// Something befalls the server.
    pub(crate) fn befall(&mut self, now: Nanos, blow: Blow) {
        match blow.how {
            How::Shutdown => self.shut_down(now, blow),
            How::Kill if self.has_no_process() => self.miss(now, &blow.event, Reason::new("server_down")),
            _ => self.crash(now, blow),
        }
    }

    /// Whether there is nothing that could be killed.
    fn has_no_process(&self) -> bool {
        let recovery = self.watch.as_ref().and_then(|watch| watch.recovery.as_ref());
        recovery.is_some_and(|recovery| !recovery.is_started())
    }

    /// An event finds no server that it could befall.
    pub(super) fn miss(&mut self, now: Nanos, event: &str, why: Reason) {
        self.watch.get_or_insert_default().tell(now, "missed", json!({ "event": event, "why": why }));
    }

    /// Something ends the server.
    pub(super) fn crash(&mut self, now: Nanos, mut blow: Blow) {
        self.now = now;
        self.watch.get_or_insert_default();
        self.cut_short();
        let torn = self.torn_pages(&blow);
        if blow.how != How::Kill {
            self.cache.clear();
        }
        self.alarms = self.alarms_of_users();
        self.forget();
        self.ready.clear();
        (0..self.clients.len() as u32).for_each(|client| self.cut_off(client));
        let Some(watch) = &mut self.watch else { return };
        watch.stop_loading(now);
        watch.open_gap(now);
        if blow.how != How::Storage {
            watch.count_end();
        }
        if let Some(before) = watch.recovery.take().filter(|recovery| !recovery.is_in_vain()) {
            before.tell(now, false, watch);
            before.goes_into(&mut blow, now);
        }
        if torn > 0 {
            watch.find(now, Reason::new("pages_torn").with("count", torn));
        }
        watch.recovery = Some(Recovery::of(blow, now));
        self.alarm(now, Alarm::Server);
    }

    /// Pages of which a power cut has left a part: no doublewrite buffer has a copy of them.
    fn torn_pages(&self, blow: &Blow) -> u64 {
        if self.settings.doublewrite || blow.how != How::PowerCut {
            return 0;
        }
        let writes = self.purposes.iter().filter(|purpose| matches!(purpose, Purpose::PageWrite(_)));
        (writes.count() as u64).min(blow.loss.torn_writes)
    }

    /// What goes on without the server: users that think or type, and what processors do for nobody.
    pub(super) fn alarms_of_users(&mut self) -> std::collections::BinaryHeap<Reverse<(Nanos, u64, Alarm)>> {
        let alarms = std::mem::take(&mut self.alarms);
        let stays = |alarm: Alarm| match alarm {
            Alarm::Client(client) => self.clients[client as usize].stage.is_users(),
            Alarm::Worked(_) => true,
            Alarm::Second | Alarm::Server | Alarm::Reload => false,
        };
        alarms.into_iter().filter(|Reverse((_, _, alarm))| stays(*alarm)).collect()
    }

    /// All that was in memory is gone.
    pub(super) fn forget(&mut self) {
        self.pool = empty_pool(&self.settings, self.layout.next + 1);
        self.locks = Locks::new(self.clients.len());
        self.page_waiters.clear();
        self.log_waiters.clear();
        self.free_waiters.clear();
        self.space_waiters.clear();
        self.batches = [Batch::default(), Batch::default()];
        self.doublewrite_queue.clear();
        self.single_queue.clear();
        (self.singles, self.reads_pending, self.cleaner) = (0, 0, Cleaner::default());
        self.purge = Purge::new(self.settings.purge.0);
        self.intake = Intake::new(self.settings.intake.threads);
    }

    /// A client loses its connection.
    fn cut_off(&mut self, client: u32) {
        let seat = &mut self.clients[client as usize];
        let undo = !seat.undo.is_empty();
        match seat.stage {
            Stage::Thinking | Stage::Typing | Stage::Idle | Stage::Ended => return,
            Stage::Log | Stage::Working(After::Commit) | Stage::HeldUp(After::Commit)
                if seat.stage == Stage::Log || seat.wrote =>
            {
                seat.undo.clear();
                seat.forget();
                self.told[Told::Ambiguous as usize] += 1;
                if let Some(watch) = &mut self.watch {
                    watch.ledger.ambiguous += 1;
                }
                self.begin_transaction(client);
            }
            Stage::Outside => self.ready.push_back(client),
            _ => {
                if let (Logic::Tpcc(state), true) = (&mut self.logic, undo) {
                    state.roll_back(&mut seat.undo);
                }
                seat.undo.clear();
                seat.client.again();
                seat.forget();
                self.told[Told::Retries as usize] += 1;
                self.ready.push_back(client);
            }
        }
        if self.clients[client as usize].stage != Stage::Ended {
            let stage = self.clients[client as usize].stage;
            let stage = if stage.is_users() { stage } else { Stage::Next };
            self.turns(client, stage, if stage == Stage::Next { Why::Outage } else { Why::Thinking });
        }
    }

    /// Nothing of the server is under way any more: what is left of its log is known now.
    pub(super) fn is_dead(&mut self) {
        let (now, durable) = (self.now, self.redo.durable());
        self.ahead_free = (FIRST_ASYNC..FIRST_ASYNC + AHEAD).rev().collect();
        let Some(watch) = &mut self.watch else { return };
        let Some(recovery) = &mut watch.recovery else { return };
        if recovery.blow.how == How::Storage {
            recovery.is_in_vain_from(now);
            watch.find(now, Reason::new("storage_failed"));
            return;
        }
        let blow = recovery.blow.clone();
        let survives = watch.survives(&blow, durable);
        let lost = watch.lose(survives, durable);
        if lost > 0 {
            watch.find(now, Reason::new("commits_lost").with("count", lost));
        }
        let unsynced = !self.settings.fsync && blow.loss.lost_bytes > 0;
        if blow.how == How::PowerCut && (unsynced || survives < durable) {
            watch.find(now, Reason::new("log_lost"));
        }
        self.redo.cut(survives);
    }

    /// What was told since the last time.
    pub(crate) fn news(&mut self) -> Vec<News> {
        self.watch.as_mut().map_or(Vec::new(), |watch| std::mem::take(&mut watch.news))
    }

    /// The outages of the phase, which ends at `end`.
    pub(crate) fn outages(&mut self, end: Nanos) -> Vec<Outage> {
        let Some(watch) = &mut self.watch else { return Vec::new() };
        let buckets = (end.saturating_sub(watch.begin) / BUCKET + 1) as usize;
        watch.counts.resize(buckets.max(watch.counts.len()), 0);
        watch.gaps.iter().map(|gap| Outage::new(*gap, &watch.counts, (watch.begin, end))).collect()
    }

    /// The verdict on what was acknowledged, where the server has ended. Whether a commit is there twice, or without reason,
    /// is not looked at: recovery is a log position here, and neither can happen.
    pub(crate) fn verdict(&self) -> Option<Value> {
        let watch = self.watch.as_ref().filter(|watch| watch.ends > 0)?;
        let Ledger { acknowledged, lost, ambiguous } = watch.ledger;
        let ledger = json!({ "acknowledged": acknowledged, "lost": lost, "ambiguous": ambiguous });
        Some(json!({ "conditions": [], "ledger": ledger, "holds": lost == 0 }))
    }
}
