//! Faults and restarts of the server: crash, clean shutdown, recovery, and reload of the pool.
//!
//! A fault ends the server: killed, with the power, with its machine, or because its storage
//! fails. Its memory is lost; of its acknowledged commits, those survive whose log had reached
//! durable storage. The server's outstanding requests still complete, as those of a process do.
//! Clients begin their transactions again as soon as the server answers. A client whose commit
//! was under way never hears of it. In a run without events this costs nothing.

use super::SECOND;
use super::Server;
use super::connections::Admission;
use super::durability::Ledger;
use super::fault::{FaultKind, ServerFault};
use super::locks::Locks;
use super::outage::Outages;
use super::outage_tracker::ServerEvent;
use super::port::{Alarm, Finished, Purpose};
use super::purge::Purge;
use super::recovery::Recovery;
use super::reload;
use super::shutdown::Shutdown;
use crate::device::DeviceCompletion;
use serde_json::{Value, json};
use tameshi_base::{CommandKind, Nanos, Reason};
use tameshi_record::outage::Outage;

impl Server {
    /// Return whether the server doesn't answer.
    #[inline]
    pub(super) fn is_down(&self) -> bool {
        self.connections.admission == Admission::Down
    }

    /// Apply an event to the server.
    pub(crate) fn fault(&mut self, now: Nanos, fault: ServerFault) {
        let recovery = self.outages.as_ref().and_then(|outages| outages.recovery.as_ref());
        let has_process = recovery.is_none_or(Recovery::is_started);
        match fault.kind {
            FaultKind::Shutdown => self.shut_down(now, fault),
            FaultKind::Kill if !has_process => {
                let outages = self.outages.get_or_insert_default();
                outages.tracker.miss(now, &fault.event, Reason::new("server_down"));
            }
            _ => self.crash(now, fault),
        }
    }

    /// Note a completed command for the record of durability. Return whether it needs no further
    /// treatment: the server is down, or ends because its storage has failed.
    pub(super) fn is_handled(&mut self, done: &DeviceCompletion, finished: Finished) -> bool {
        let (log, binlog) = (&mut self.engine.store.log, self.engine.store.binlog.as_ref());
        let end = log.redo.reaches();
        let Some(durability) = log.durability.as_mut().filter(|_| self.outages.is_some()) else { return false };
        if !done.failed && done.command.kind == CommandKind::Write {
            // Of each log: a write of its own, or of anything if it is with the data.
            let bytes = done.command.length_bytes;
            let (is_of_log, is_of_binlog) = (finished.purpose.is_of_log(), finished.purpose.is_of_binlog());
            if is_of_log || self.log_device.is_none() && !(is_of_binlog && self.binlog_device.is_some()) {
                durability.redo.write(bytes);
            }
            if is_of_binlog || self.binlog_device.is_none() && !(is_of_log && self.log_device.is_some()) {
                durability.binlog.write(bytes);
            }
            if let (Purpose::LogWrite(_), Some(lsn)) = (finished.purpose, end) {
                durability.redo.log_written(lsn);
            }
            if let (Purpose::BinlogWrite(_) | Purpose::BinlogWriteBack, Some(binlog)) = (finished.purpose, binlog) {
                durability.binlog.log_written(binlog.stored());
            }
        }
        if self.is_down() {
            self.completed_while_down(finished, done.failed);
            return true;
        }
        if done.failed {
            self.crash(done.at, ServerFault::new(String::new(), FaultKind::Storage, 0));
        }
        done.failed
    }

    /// End the server by a fault.
    fn crash(&mut self, now: Nanos, mut fault: ServerFault) {
        self.engine.store.port.now = now;
        self.engine.store.log.durability.get_or_insert_default();
        let flushed = self.engine.flusher.flushed();
        self.outages.get_or_insert_default().cut_shutdown_short(now, flushed);
        let torn = self.torn_pages(&fault);
        if fault.kind != FaultKind::Kill {
            self.engine.store.cache.clear();
        }
        self.keep_users_alarms();
        self.forget();
        let Self { engine, connections, statements, .. } = self;
        connections.admission = Admission::Down;
        connections.ready.clear();
        for number in connections.numbers() {
            connections.cut_off(number, &mut engine.store, statements);
        }
        let Some(outages) = &mut self.outages else { return };
        outages.end_reload(now, false);
        let Outages { recovery, tracker, .. } = &mut **outages;
        tracker.open_gap(now);
        if fault.kind != FaultKind::Storage {
            tracker.count_end();
        }
        if let Some(before) = recovery.take().filter(|recovery| !recovery.is_impossible()) {
            before.record(now, false, tracker);
            before.pass_on(&mut fault, now);
        }
        if torn > 0 {
            tracker.find(now, Reason::new("pages_torn").with("count", torn));
        }
        *recovery = Some(Recovery::after_fault(fault, now));
        self.engine.store.port.alarm(now, Alarm::Server);
    }

    /// Number of pages that a power cut has written in part, without a copy in a doublewrite
    /// buffer.
    fn torn_pages(&self, fault: &ServerFault) -> u64 {
        if self.engine.store.settings.flushing.doublewrite || fault.kind != FaultKind::PowerCut {
            return 0;
        }
        self.engine.store.port.page_writes().min(fault.loss.torn_writes)
    }

    /// Keep the alarms that need no server: those of users, and of processors at work.
    fn keep_users_alarms(&mut self) {
        let Self { engine, connections, .. } = self;
        engine.store.port.keep_alarms(|alarm| match alarm {
            Alarm::Client(number) => connections.list[number as usize].stage.is_users(),
            Alarm::Worked(_) => true,
            Alarm::Second | Alarm::Server | Alarm::Reload => false,
        });
    }

    /// Lose all that was in the server's memory.
    fn forget(&mut self) {
        self.engine.forget();
        self.locks = Locks::new(self.connections.list.len());
        self.purge = Purge::new(self.engine.store.settings.purge);
    }

    /// Shut the server down, to start it again. A server that is down or shuts down already is
    /// left alone.
    fn shut_down(&mut self, now: Nanos, fault: ServerFault) {
        self.engine.store.port.now = now;
        let outages = self.outages.get_or_insert_default();
        if self.connections.admission != Admission::Open {
            return outages.tracker.miss(now, &fault.event, Reason::new("server_going_down"));
        }
        outages.end_reload(now, false);
        outages.tracker.open_gap(now);
        outages.shutdown = Some(Shutdown::new(fault, &self.engine));
        self.connections.admission = Admission::Closing;
        self.engine.store.port.alarm(now, Alarm::Server);
    }

    /// Advance a shutdown as far as nothing is to be waited for.
    pub(super) fn advance_shutdown(&mut self) {
        let Some(shutdown) = self.outages.as_ref().and_then(|outages| outages.shutdown.as_ref()) else { return };
        let is_alone = shutdown.is_alone();
        if !is_alone {
            if !self.connections.list.iter().all(|connection| connection.stage.is_outside()) {
                return;
            }
            // The server's threads that wake up each second stop.
            self.keep_users_alarms();
        }
        let Some(Outages { shutdown: Some(shutdown), list, .. }) = self.outages.as_deref_mut() else { return };
        if !is_alone {
            shutdown.list_pool(&self.engine, list);
        }
        if shutdown.advance(&mut self.engine) {
            self.end_shutdown();
        }
    }

    fn end_shutdown(&mut self) {
        let (now, flushed) = (self.engine.store.port.now, self.engine.flusher.flushed());
        self.forget();
        self.connections.queue_refused();
        self.connections.admission = Admission::Down;
        let Some(outages) = &mut self.outages else { return };
        if let Some(mut shutdown) = outages.shutdown.take() {
            shutdown.end(flushed);
            outages.tracker.count_end();
            outages.recovery = Some(Recovery::after_shutdown(shutdown, now));
        }
        self.engine.store.port.alarm(now, Alarm::Server);
    }

    /// Advance the recovery, if nothing is to be waited for.
    pub(super) fn advance_recovery(&mut self) {
        let Self { engine, outages: Some(outages), .. } = self else { return };
        let (port, Some(recovery)) = (&engine.store.port, &mut outages.recovery) else { return };
        if recovery.is_dying() {
            if port.outstanding == 0 && port.working == 0 {
                let next = recovery.end_dying(port.now);
                self.cut_log();
                self.engine.store.port.alarm(next, Alarm::Server);
            }
            return;
        }
        let (next, is_back) = recovery.advance(engine);
        if let Some(next) = next {
            engine.store.port.alarm(next, Alarm::Server);
        }
        if is_back {
            self.open();
        }
    }

    /// Find out which log survives: no request of the server that has ended is outstanding.
    fn cut_log(&mut self) {
        let Self { engine, outages: Some(outages), .. } = self else { return };
        let Outages { recovery: Some(recovery), tracker, .. } = &mut **outages else { return };
        let store = &mut engine.store;
        let now = store.port.now;
        store.port.free_all_slots();
        if recovery.fault.kind == FaultKind::Storage {
            recovery.make_impossible(now);
            return tracker.find(now, Reason::new("storage_failed"));
        }
        let durable = store.log.redo.durable();
        let (fault, Some(durability)) = (&recovery.fault, &mut store.log.durability) else { return };
        let binlog = store.binlog.as_ref().map_or(0, |binlog| binlog.durable());
        let both = durability.survives(fault, (durable, binlog));
        let (survives, lost) = (both.0, durability.lose(both, durable));
        if let Some(binlog) = &mut store.binlog {
            binlog.begin_file();
        }
        if lost > 0 {
            let reason = Reason::new("commits_lost").with("count", lost);
            // Only an asynchronous mirror's far side lacks acknowledged writes.
            if fault.kind == FaultKind::Failover && fault.loss.lost_bytes > 0 {
                tracker.warn(now, reason);
            } else {
                tracker.find(now, reason);
            }
        }
        let unsynced = !store.settings.flushing.fsync && fault.loss.lost_bytes > 0;
        if fault.kind == FaultKind::PowerCut && (unsynced || survives < durable) {
            tracker.find(now, Reason::new("log_lost"));
        }
        store.log.redo.cut(survives);
    }

    fn completed_while_down(&mut self, finished: Finished, failed: bool) {
        let Self { engine, outages: Some(outages), .. } = self else { return };
        let Some(recovery) = &mut outages.recovery else { return };
        if !recovery.is_dying() {
            if failed {
                let fault = ServerFault { kind: FaultKind::Storage, ..recovery.fault.clone() };
                return self.crash(self.engine.store.port.now, fault);
            }
            if recovery.completed(engine, finished.purpose, finished.slot) {
                return self.open();
            }
        }
        self.advance_recovery();
    }

    /// Finish work on a processor of a server that is down.
    pub(super) fn worked_while_down(&mut self) {
        let Self { engine, outages: Some(outages), .. } = self else { return };
        if outages.recovery.as_mut().is_some_and(|recovery| recovery.worked(engine)) {
            return self.open();
        }
        self.advance_recovery();
    }

    /// Answer again after a recovery, and begin to reload the pool.
    fn open(&mut self) {
        let Self { engine, outages: Some(outages), connections, .. } = self else { return };
        let store = &mut engine.store;
        let now = store.port.now;
        let mut event = String::new();
        if let Some(recovery) = outages.recovery.take() {
            recovery.record(now, true, &mut outages.tracker);
            event = recovery.fault.event;
        }
        connections.admission = Admission::Open;
        store.port.alarm(now + SECOND, Alarm::Second);
        connections.restart_ready(store);
        if store.settings.dump.at_startup {
            outages.begin_reload(event, now);
            self.advance_reload();
        }
    }

    /// Read more of the pages that the pool held before the shutdown, while the phase lasts.
    pub(super) fn advance_reload(&mut self) {
        if let Some(outages) = &mut self.outages
            && !(self.connections.is_closing && self.connections.active == 0)
        {
            outages.advance_reload(&mut self.engine);
        }
    }

    /// A page of the reload has arrived in a frame.
    pub(super) fn page_reloaded(&mut self, frame: u32, slot: u32) {
        let Self { engine, connections, outages, .. } = self;
        engine.store.port.free_slots.push(slot);
        engine.page_arrived(frame, engine.store.port.threads.background());
        connections.apply_effects(&mut engine.store);
        if let Some(reload) = outages.as_mut().and_then(|outages| outages.reload.as_mut()) {
            reload.arrived(reload::cost_of_page(engine));
        }
        self.advance_reload();
    }

    /// A processor has finished work of the reload's thread.
    pub(super) fn reload_worked(&mut self) {
        if let Some(reload) = self.outages.as_mut().and_then(|outages| outages.reload.as_mut()) {
            reload.worked();
        }
        self.advance_reload();
    }

    /// End the run.
    pub(crate) fn end(&mut self, now: Nanos) {
        if let Some(outages) = &mut self.outages {
            outages.end_reload(now, false);
        }
    }

    /// Take the events recorded since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<ServerEvent> {
        self.outages.as_mut().map_or(Vec::new(), |outages| outages.tracker.take_events())
    }

    /// Outages of the phase, which ends at `end`.
    pub(crate) fn outages(&mut self, end: Nanos) -> Vec<Outage> {
        self.outages.as_mut().map_or(Vec::new(), |outages| outages.tracker.outages(end))
    }

    /// Verdict on the acknowledged commits, if the server has ended. Recovery is a log position
    /// here, so no commit can be there twice or without reason, and neither is checked.
    pub(crate) fn verdict(&self) -> Option<Value> {
        self.outages.as_ref().filter(|outages| outages.tracker.has_ends())?;
        let durability = self.engine.store.log.durability.as_ref()?;
        let Ledger { acknowledged, lost, ambiguous } = durability.ledger;
        let ledger = json!({ "acknowledged": acknowledged, "lost": lost, "ambiguous": ambiguous });
        Some(json!({ "conditions": [], "ledger": ledger, "holds": lost == 0 }))
    }
}
