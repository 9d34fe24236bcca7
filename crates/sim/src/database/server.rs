//! Coordination of the server: connections, storage engine, purging and outages.
//!
//! The kernel reports events through [`Server::completed`], [`Server::computed`] and
//! [`Server::advance`], and takes [`Request`]s. Each event goes to the part that it belongs to;
//! then connections proceed until all of them wait.

use super::change_buffer::ChangeBuffer;
use super::connections::{Connections, Ended};
use super::data_sets::{self, DataSets};
use super::locks::Locks;
use super::port::{Alarm, Finished, Place, Places, Purpose, Request, Requester, Role, Threads};
use super::purge::Purge;
use super::recovery::Recovery;
use super::settings::Settings;
use super::space::Space;
use super::statements::Statements;
use super::storage_engine::StorageEngine;
use super::{SECOND, Server, validation, warm_start};
use crate::device::DeviceCompletion;
use tameshi_base::{Nanos, Size};
use tameshi_spec::run::{PhaseSpec, RunSpec, Start};
use tameshi_workload::program::{Program, ProgramSpec, Seeds};

impl Server {
    /// The server of a run, with loaded data sets: its pool is empty, or warm. `places` are the
    /// device of each storage and its first byte there.
    pub(crate) fn new(spec: &RunSpec, places: &[(usize, u64)]) -> Option<Self> {
        let (settings, database) = (Settings::new(spec)?, spec.database.as_ref()?);
        let first = spec.phases.iter().flat_map(|phase| &phase.programs).next()?;
        let DataSets { program, segments, mut layout, mut idle, pages } = data_sets::of(spec, &settings)?;
        let (storage, name, on) = spec.storage.get_full(&database.storage)?;
        let (device, base_bytes) = places[storage];
        let log = database.log.as_ref().and_then(|log| spec.storage.get_index_of(log)).map(|log| places[log]);
        // Without the log, the data begins where the log would.
        let unused = if log.is_some() { settings.log_bytes() } else { 0 };
        let elsewhere = settings.binlog.is_some_and(|binlog| !binlog.with_data);
        let named = database.binlog.as_ref().filter(|_| elsewhere);
        let after = if named == database.log.as_ref() { settings.log_bytes() } else { 0 };
        let binlog = named.and_then(|name| spec.storage.get_index_of(name)).map(|at| places[at]);
        let binlog = binlog.map(|(device, base_bytes)| (device, base_bytes + after));
        let place = |(device, base_bytes)| Place { device, base_bytes };
        let data = place((device, base_bytes.wrapping_sub(unused)));
        let after_log = Place { base_bytes: data.base_bytes.wrapping_add(settings.log_bytes()), ..data };
        let places = Places { data, log: log.map_or(data, place), binlog: binlog.map_or(after_log, place) };
        let event_sizes = settings.binlog.map(|binlog| binlog.sizes);
        let has_faults = validation::has_faults(spec);
        (layout.next, layout.room) = (pages, settings.room(Size(on.size.0 + unused)));
        idle.iter_mut().for_each(|set| set.layout.room = layout.room);
        let layouts = std::iter::once(&layout).chain(idle.iter().map(|set| &set.layout));
        let change_buffer = ChangeBuffer::new(settings.change_buffer, layouts, layout.next, spec.seed);
        let mut server = Self {
            storage,
            device,
            log_device: log.map(|(device, _)| device),
            binlog_device: binlog.map(|(device, _)| device),
            statements: Statements {
                seeds: Seeds { data: database.seed, run: spec.seed },
                spec: first.clone(),
                catalogue: program.catalogue().clone(),
                logic: data_sets::logic(&settings, &program),
                program,
                idle,
                segments,
                locks_rows: settings.model.row_locks.is_some(),
                event_sizes,
                events: Vec::new(),
            },
            connections: Connections::new(),
            locks: Locks::new(0),
            unlocked: Vec::new(),
            purge: Purge::new(settings.purge),
            space: Space::new((name.clone(), on.size), pages, unused),
            outages: has_faults.then(Box::default),
            engine: StorageEngine::new(settings, layout, (places, has_faults), change_buffer),
        };
        server.statements.measure_events();
        match spec.start {
            Start::Warm => warm_start::warm(&mut server.engine.store, &mut server.statements),
            Start::Scanned => warm_start::start_scanned(&mut server.engine.store),
            Start::Cold | Start::AsIs => {}
        }
        Some(server)
    }

    /// Return whether data or logs of the server are on a device.
    pub(crate) fn is_on(&self, device: usize) -> bool {
        [Some(self.device), self.log_device, self.binlog_device].contains(&Some(device))
    }

    /// Begin a phase: its clients connect. Return the slots of each thread, for the host. `base`
    /// is the first job slot of the server's threads.
    pub(crate) fn begin(&mut self, now: Nanos, phase: &PhaseSpec, base: usize) -> Vec<u32> {
        let Self { engine, statements, connections, .. } = self;
        let store = &mut engine.store;
        store.port.rebase(now, base);
        connections.list.clear();
        let Some(spec) = phase.programs.first() else { return Vec::new() };
        statements.switch_to(spec, &mut store.layout);
        connections.begin(now, phase, spec, statements);
        for connection in &mut connections.list {
            connection.plan.trees = store.settings.trees;
            connection.plan.without_undo = store.settings.model.undo.is_none();
            connection.plan.records = store.settings.log.records;
        }
        self.space.begin(store.layout.next);
        self.locks = Locks::new(connections.list.len());
        let threads = Threads {
            clients: connections.list.len() as u32,
            purgers: store.settings.purge.threads,
            readers: store.settings.read_threads.threads,
            writes_back: store.binlog.is_some(),
        };
        let slots = store.port.begin(threads, store.settings.flushing.batch);
        if let Some(outages) = &mut self.outages {
            outages.begin(now);
        }
        self.engine.store.port.alarm(now + SECOND, Alarm::Second);
        self.advance_reload();
        for number in self.connections.numbers() {
            self.connections.begin_transaction(number, &mut self.engine.store, &self.statements);
        }
        self.settle();
        slots
    }

    /// Close the phase: transactions under way end, and none begins.
    pub(crate) fn close(&mut self, now: Nanos) {
        let store = &mut self.engine.store;
        store.port.close(now);
        self.connections.is_closing = true;
        self.connections.end_idle(store);
        let recovery = self.outages.as_ref().and_then(|outages| outages.recovery.as_ref());
        if recovery.is_some_and(Recovery::is_impossible) {
            self.connections.end_all(store);
        }
    }

    /// Return the time of the next alarm; [`Nanos::MAX`] without one.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        let is_over = self.connections.is_closing && self.connections.active == 0;
        if is_over && self.engine.is_idle() && self.purge.is_idle() && !self.is_busy_with_itself() {
            return Nanos::MAX;
        }
        self.engine.store.port.next_alarm()
    }

    fn is_busy_with_itself(&self) -> bool {
        self.outages.as_ref().is_some_and(|outages| outages.is_busy())
    }

    /// Return whether all work has ended after [`Server::close`].
    pub(crate) fn is_at_rest(&self) -> bool {
        self.engine.store.port.outstanding == 0 && self.next() == Nanos::MAX && !self.is_busy_with_itself()
    }

    /// Return whether alarms have led to no request for so long that none will follow.
    pub(crate) fn is_stuck(&self) -> bool {
        self.engine.store.port.is_stuck()
    }

    /// Handle the next alarm, which is due at `now`.
    pub(crate) fn advance(&mut self, now: Nanos) {
        let Some(alarm) = self.engine.store.port.take_alarm(now) else { return };
        match alarm {
            Alarm::Worked(thread) => self.worked(thread),
            Alarm::Client(number) => self.wake(number),
            Alarm::Second => self.second(),
            Alarm::Server => self.advance_recovery(),
            Alarm::Reload => self.advance_reload(),
        }
        self.settle();
    }

    /// Return whether requests or ended transactions wait for the kernel.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.engine.store.port.has_requests() || !self.connections.ended.is_empty()
    }

    /// Take the next request.
    #[inline]
    pub(crate) fn request(&mut self) -> Option<Request> {
        self.engine.store.port.request()
    }

    /// Take the transactions that have ended.
    pub(crate) fn drain_ended(&mut self) -> impl Iterator<Item = Ended> {
        self.connections.ended.drain(..)
    }

    /// Let a thread work without a host model: it needs no processor.
    pub(crate) fn work_without_host(&mut self, thread: u32, time: Nanos) {
        let port = &mut self.engine.store.port;
        port.alarm(port.now + time, Alarm::Worked(thread));
    }

    /// Handle the end of a thread's work.
    pub(crate) fn computed(&mut self, now: Nanos, id: u64) {
        let thread = self.engine.store.port.computed(now, id);
        self.worked(thread);
        self.settle();
    }

    /// Handle a completed command.
    pub(crate) fn completed(&mut self, done: &DeviceCompletion) {
        let finished = self.engine.store.port.completed(done.at, done.command.id);
        if self.outages.is_none() || !self.is_handled(done, finished) {
            self.finish_command(finished);
        }
        self.settle();
    }

    fn finish_command(&mut self, Finished { purpose, thread, slot }: Finished) {
        let Self { engine, connections, purge, .. } = self;
        let StorageEngine { store, flusher, .. } = engine;
        match purpose {
            Purpose::Nothing => {}
            Purpose::PageRead(frame) => engine.page_read(frame, thread, slot),
            Purpose::PurgeRead(frame) => {
                if let Role::Purger(number) = store.port.threads.role(thread) {
                    purge.page_arrived(number, engine, frame);
                }
            }
            Purpose::Reload(frame) => return self.page_reloaded(frame, slot),
            Purpose::LogWrite(requester) => store.sync_log(requester),
            Purpose::LogSync(leader) => return self.finish_log_flush(leader),
            Purpose::BinlogWrite(_) | Purpose::BinlogJournal(_) | Purpose::BinlogSync(_) => {
                if self.is_binlog_synced() {
                    self.commit_groups();
                }
                return;
            }
            Purpose::BinlogWriteBack => store.write_back_binlog(false),
            Purpose::DoublewriteWrite(requester) => store.sync(requester, Purpose::DoublewriteSync(requester)),
            Purpose::DoublewriteSync(Requester::Batch(list)) => flusher.batch_doublewritten(store, list),
            Purpose::DoublewriteSync(Requester::Client(number)) => {
                if let Some((frame, _)) = connections.get(number).flushes() {
                    flusher.write_single(store, number, frame);
                }
            }
            Purpose::PageWrite(Requester::Batch(list)) => {
                let is_last = flusher.batch_page_written(store, list, slot);
                connections.apply_effects(store);
                if is_last {
                    return self.end_batch(list);
                }
            }
            Purpose::PageWrite(requester @ Requester::Client(number)) => {
                if store.settings.flushing.fsync {
                    store.sync(requester, Purpose::DataSync(requester));
                } else if let Some(page) = connections.get(number).flushes() {
                    flusher.end_single(store, number, page);
                }
            }
            Purpose::DataSync(Requester::Batch(list)) => {
                if flusher.batch_synced(store, list) {
                    return self.end_batch(list);
                }
            }
            Purpose::DataSync(Requester::Client(number)) => {
                if let Some(page) = connections.get(number).flushes() {
                    flusher.end_single(store, number, page);
                }
            }
            Purpose::DoublewriteSync(Requester::LogThread)
            | Purpose::PageWrite(Requester::LogThread)
            | Purpose::DataSync(Requester::LogThread)
            | Purpose::LogRead
            | Purpose::Recover(_)
            | Purpose::Recovered => {}
        }
        self.connections.apply_effects(&mut self.engine.store);
    }

    /// Serve all that wait for the log, and let the next one lead a flush.
    fn finish_log_flush(&mut self, leader: Requester) {
        self.engine.store.log.flushed(leader);
        let durable = self.engine.store.log.take_durable();
        for &requester in &durable {
            match requester {
                Requester::Client(number) => self.log_is_durable(number),
                Requester::Batch(list) => self.engine.flusher.batch_logged(&mut self.engine.store, list),
                Requester::LogThread => {}
            }
        }
        let store = &mut self.engine.store;
        store.log.give_back(durable);
        if let Some((requester, place)) = store.log.next_leader() {
            store.write_log(requester, place);
        }
    }

    /// End a batch, let purging use the pages that are free now, and begin the next batch.
    fn end_batch(&mut self, list: usize) {
        let Self { engine, connections, purge, .. } = self;
        engine.flusher.end_batch(&mut engine.store, list);
        connections.apply_effects(&mut engine.store);
        purge.resume(engine, connections);
        if !(connections.is_closing && connections.active == 0) {
            engine.flusher.begin_next_batch(&mut engine.store, list);
        }
        connections.apply_effects(&mut engine.store);
    }

    /// Let connections proceed until all of them wait.
    fn settle(&mut self) {
        if self.is_down() {
            return;
        }
        while let Some(number) = self.connections.ready.pop_front() {
            self.proceed(number);
        }
        if self.is_shutting_down() {
            self.advance_shutdown();
        }
    }

    /// Continue a thread whose work on a processor is done.
    fn worked(&mut self, thread: u32) {
        self.engine.store.port.working -= 1;
        if self.is_down() {
            return self.worked_while_down();
        }
        let Self { engine, connections, purge, .. } = self;
        match engine.store.port.threads.role(thread) {
            Role::Client => return self.connection_worked(thread),
            Role::Background => return self.reload_worked(),
            Role::Reader(number) => engine.page_taken_in(number),
            Role::Purger(number) => purge.run(number, engine, connections),
            Role::Batch(list) => engine.flusher.batch_copied(&mut engine.store, list),
        }
        connections.apply_effects(&mut engine.store);
    }

    /// Run the second of page cleaner, purging, merging and log thread.
    fn second(&mut self) {
        let Self { engine, connections, purge, .. } = self;
        let port = &mut engine.store.port;
        port.alarm(port.now + SECOND, Alarm::Second);
        engine.flusher.second(&mut engine.store, connections.is_closing);
        if connections.is_closing {
            return;
        }
        purge.begin_batch(engine, connections);
        engine.merge_for_second();
        engine.store.write_back_binlog(true);
        let lsn = engine.store.log.redo.lsn();
        if !engine.store.log.redo.is_durable(lsn) {
            engine.store.want_log(lsn, Requester::LogThread);
        }
        connections.apply_effects(&mut engine.store);
    }

    /// Names of a program's kinds of transactions.
    pub(crate) fn kinds(spec: &ProgramSpec) -> Vec<String> {
        Program::new(spec, 0).kinds(spec.word())
    }
}
