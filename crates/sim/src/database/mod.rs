//! A simulated database engine: InnoDB under MySQL or MariaDB, page by page, in virtual time.
//!
//! Clients are the programs' own ([`tameshi_workload::program`]). A statement becomes a [`plan`] of page gets, changes and
//! locks; its client goes through it, waits for pages that are not in the [`pool`], for locks, for the log, and spends its
//! processor time on the host. Pages are flushed by the rules of the profile's version ([`flush`]). Rows are not kept: what
//! replies must hold to touch the same rows as a real server stands in [`tpcc`].
//!
//! Programs of different data sets share the server: their tables lie one behind the other, and a phase works on those of
//! its own program.
//!
//! The engine never waits: it is told what has happened ([`Engine::completed`], [`Engine::computed`], [`Engine::advance`]) and
//! leaves [`Request`]s for the kernel to carry out. Requests for pages and log are commands to the run's device like those
//! of jobs; a thread of the engine is a seat behind those of the jobs.
//!
//! Known simplifications: reads take no latches; purge costs nothing but in MariaDB ([`purge`]); the rows of a leaf that splits in its middle stay where
//! they are; the binary log is off.

mod arrivals;
mod change_buffer;
mod cleaner;
mod commit;
mod connection;
mod counters;
mod crash;
mod data_sets;
mod deliver;
mod fault;
mod flush;
mod free_list;
mod layout;
mod locks;
mod options;
mod outage;
mod page_cache;
mod plan;
mod planner;
mod pool;
mod pool_mutex;
mod prefetch;
mod purge;
mod read_threads;
mod recovery;
mod redo;
mod reload;
mod requests;
#[cfg(test)]
mod same_rows;
mod settings;
mod shutdown;
mod snapshot;
mod space;
mod stage;
mod tpcc;
mod undo;
mod user_flush;
mod warm_start;

use crate::device::DeviceCompletion;
use change_buffer::ChangeBuffer;
use cleaner::Cleaner;
use connection::Seat;
use counters::{Counters, TOLD};
use data_sets::{DataSet, DataSets};
use flush::Batch;
use layout::{Layout, PAGE};
use locks::Locks;
use outage::Watch;
use page_cache::PageCache;
use planner::Planner;
use pool::{NONE, Pool};
use pool_mutex::PoolMutex;
use purge::Purge;
use read_threads::Intake;
use redo::Redo;
use settings::Settings;
use space::Space;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tameshi_base::{Command, Nanos};
use tameshi_spec::run::{PhaseSpec, RunSpec, Start};
use tameshi_workload::program::tpcc::QueuedDelivery;
use tameshi_workload::program::{Catalogue, Program, ProgramSpec, Seeds};
use undo::Segments;

pub(crate) use counters::WHYS;
pub(crate) use fault::{Blow, How};
pub(crate) use snapshot::{Counted, Standing};

/// Bytes before the first page: the doublewrite buffer.
pub(crate) use data_sets::unsupported;
const DOUBLEWRITE_BYTES: u64 = 4 << 20;
/// Slots of a thread: slot zero is its work on a processor, then its synchronous request, then asynchronous ones.
const REQUEST: u32 = 1;
const FIRST_ASYNC: u32 = 2;
/// The first of the threads that purge, behind the clients: before them are those of batches, of read-ahead and of the log, and
/// behind them those that take pages in.
const FIRST_PURGER: u32 = 4;
/// Pages of read-ahead outstanding at most.
const AHEAD: u32 = 256;
const SECOND: Nanos = 1_000_000_000;

/// What the kernel is asked to do for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Let a thread work for so long; then [`Engine::computed`].
    Work {
        /// The thread: its number among the engine's.
        thread: u32,
        /// For so long.
        time: Nanos,
    },
    /// Hand the command to the storage; then [`Engine::completed`].
    Command(Command),
}

/// What a command was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Nothing,
    /// A page comes into a frame.
    PageRead(u32),
    /// One does for a row that is changed again.
    PurgeRead(u32),
    /// One that was listed at the last shutdown does.
    Reload(u32),
    LogWrite(Who),
    LogSync(Who),
    DoublewriteWrite(Who),
    DoublewriteSync(Who),
    /// A page of a batch, or a client's single one.
    PageWrite(Who),
    DataSync(Who),
    /// Log is read after a crash.
    LogRead,
    /// A page is read after a crash, and written where it can't stay.
    Recover(u32),
    Recovered,
}

/// Who does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Client(u32),
    Batch(usize),
    LogThread,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Alarm {
    /// A thread's work is done, where no host says so.
    Worked(u32),
    /// A client goes on after thinking, typing or sleeping.
    Client(u32),
    /// A second is over for the page cleaner and the log thread.
    Second,
    /// The server that is on its way down or back may go on.
    Server,
    /// The thread that reads pages back goes on.
    Reload,
}

/// A transaction that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its kind.
    pub(crate) kind: usize,
    /// From its begin to its end; from its arrival in open loop, or where it was queued.
    pub(crate) latency: Nanos,
    /// How long after that arrival it began.
    pub(crate) late: Option<Nanos>,
}

/// What plans statements.
#[derive(Debug)]
enum Logic {
    Plain(Planner),
    Tpcc(Box<tpcc::State>),
}

/// An engine at work.
pub(crate) struct Engine {
    settings: Settings,
    /// Number of the storage under it.
    pub(crate) storage: usize,
    /// Its device, and where the storage begins there.
    pub(crate) device: usize,
    base_bytes: u64,
    /// Commands that are not complete.
    outstanding: u64,
    seeds: Seeds,
    /// What the phase drives; its tables, and what plans its statements.
    drives: ProgramSpec,
    program: Program,
    catalogue: Catalogue,
    layout: Layout,
    logic: Logic,
    idle: Vec<DataSet>,
    pool: Pool,
    cache: PageCache,
    redo: Redo,
    locks: Locks,
    counters: Counters,
    now: Nanos,
    clients: Vec<Seat>,
    /// First seat of the engine among all of the phase.
    base: u64,
    /// Per thread, its first slot.
    slots: Vec<u32>,
    purposes: Vec<Purpose>,
    /// Clients that wait for the page that comes into a frame.
    page_waiters: Vec<(u32, u32)>,
    log_waiters: Vec<(u64, Who)>,
    free_waiters: VecDeque<u32>,
    space_waiters: Vec<u32>,
    batches: [Batch; 2],
    doublewrite_queue: VecDeque<usize>,
    singles: u32,
    single_queue: VecDeque<u32>,
    cleaner: Cleaner,
    purge: Purge,
    intake: Intake,
    segments: Segments,
    ahead_free: Vec<u32>,
    reads_pending: u32,
    mutex: PoolMutex,
    change_buffer: ChangeBuffer,
    /// Deliveries that wait for the background, and when they arrived.
    deliveries: VecDeque<(QueuedDelivery, Nanos)>,
    space: Space,
    ready: VecDeque<u32>,
    woken: Vec<u32>,
    alarms: BinaryHeap<Reverse<(Nanos, u64, Alarm)>>,
    alarm_number: u64,
    requests: VecDeque<Request>,
    /// What has come due since it asked for something.
    in_vain: u32,
    pub(crate) ended: Vec<Ended>,
    /// What clients did since the last interval.
    told: [u64; TOLD],
    /// When the phase's ramp is over; of each client, transactions since and the time that they took.
    done: (Nanos, Vec<(u64, Nanos)>),
    /// Nothing new begins any more.
    closing: bool,
    active: usize,
    /// Where something will befall the server or its storage.
    watch: Option<Box<Watch>>,
}

impl Engine {
    /// The engine of a run, after its data sets were loaded and the server was started: with an empty pool, or warm.
    pub(crate) fn new(spec: &RunSpec, places: &[(usize, u64)]) -> Option<Self> {
        let (settings, database) = (Settings::new(spec)?, spec.database.as_ref()?);
        let first = spec.phases.iter().flat_map(|phase| &phase.programs).next()?;
        let DataSets { program, segments, mut layout, mut idle, pages } = data_sets::of(spec, &settings)?;
        let (storage, name, on) = spec.storage.get_full(&database.storage)?;
        let (device, base_bytes) = places[storage];
        (layout.next, layout.room) = (pages, settings.room(on.size));
        idle.iter_mut().for_each(|set| set.layout.room = layout.room);
        let layouts = std::iter::once(&layout).chain(idle.iter().map(|set| &set.layout));
        let mut engine = Self {
            storage,
            device,
            base_bytes,
            outstanding: 0,
            seeds: Seeds { data: database.seed, run: spec.seed },
            redo: Redo::new(settings.log, &settings.model),
            cache: PageCache::new(settings.cached),
            change_buffer: ChangeBuffer::new(layouts, layout.next, spec.seed),
            cleaner: Cleaner::default(),
            purge: Purge::new(settings.purge.0),
            intake: Intake::new(settings.intake.threads),
            segments,
            pool: free_list::empty_pool(&settings, layout.next + 1),
            logic: data_sets::logic(&settings, &program),
            settings,
            drives: first.clone(),
            catalogue: program.catalogue().clone(),
            program,
            layout,
            idle,
            locks: Locks::new(0),
            counters: Counters::new(),
            now: 0,
            clients: Vec::new(),
            base: 0,
            slots: Vec::new(),
            purposes: Vec::new(),
            page_waiters: Vec::new(),
            log_waiters: Vec::new(),
            free_waiters: VecDeque::new(),
            space_waiters: Vec::new(),
            batches: [Batch::default(), Batch::default()],
            doublewrite_queue: VecDeque::new(),
            singles: 0,
            single_queue: VecDeque::new(),
            ahead_free: Vec::new(),
            reads_pending: 0,
            mutex: PoolMutex::default(),
            deliveries: VecDeque::new(),
            space: Space::new(name.clone(), on.size, pages),
            ready: VecDeque::new(),
            woken: Vec::new(),
            alarms: BinaryHeap::new(),
            alarm_number: 0,
            requests: VecDeque::new(),
            in_vain: 0,
            ended: Vec::new(),
            told: [0; TOLD],
            done: (0, Vec::new()),
            closing: true,
            active: 0,
            watch: settings::watched(spec).then(Box::default),
        };
        if spec.start == Start::Warm {
            engine.warm();
        }
        Some(engine)
    }

    fn page_offset(&self, page: u32) -> u64 {
        self.settings.page_offset(page)
    }

    /// A phase begins: its clients connect. Returns the slots of each thread, for the host.
    pub(crate) fn begin(&mut self, now: Nanos, phase: &PhaseSpec, base: usize) -> Vec<u32> {
        self.now = now;
        self.base = base as u64;
        self.clients.clear();
        let Some(drives) = phase.programs.first() else { return Vec::new() };
        let clients = drives.clients();
        self.turn_to(drives);
        let count = clients + u32::from(self.program.is_deferred());
        let shared = self.program.shared();
        let client = |number| self.program.client(number, clients, self.seeds, &shared);
        let thinking = |number| client(number).thinking(drives.think_time(), number, self.seeds);
        self.clients.extend((0..count).map(|number| Seat::new(thinking(number), now)));
        self.deliveries.clear();
        self.space.begin(self.layout.next);
        self.schedule(phase, drives);
        let (trees, unnoted) = (self.settings.trees, self.settings.model.undo.is_none());
        self.clients.iter_mut().for_each(|seat| (seat.plan.trees, seat.plan.unnoted) = (trees, unnoted));
        self.locks = Locks::new(count as usize);
        self.done = (now + phase.ramp.0, vec![(0, 0); count as usize]);
        let batch = self.settings.model.flushing.batch.value;
        let slots: Vec<u32> = std::iter::repeat_n(FIRST_ASYNC, count as usize)
            .chain([FIRST_ASYNC + batch, FIRST_ASYNC + batch, FIRST_ASYNC + AHEAD, FIRST_ASYNC])
            .chain(std::iter::repeat_n(FIRST_ASYNC, self.settings.purge.0 as usize))
            .chain(std::iter::repeat_n(FIRST_ASYNC + AHEAD, self.settings.intake.threads as usize))
            .collect();
        self.slots.clear();
        let mut first = 0;
        for &number in &slots {
            self.slots.push(first);
            first += number;
        }
        self.purposes = vec![Purpose::Nothing; first as usize];
        self.ahead_free = (FIRST_ASYNC..FIRST_ASYNC + AHEAD).rev().collect();
        self.alarms.clear();
        self.closing = false;
        if let Some(watch) = &mut self.watch {
            watch.begin(now);
        }
        self.active = count as usize;
        self.alarm(now + SECOND, Alarm::Second);
        self.load_in_this_phase();
        (0..count).for_each(|client| self.begin_transaction(client));
        self.settle();
        slots
    }

    /// A phase may have other statements than the one before, on the same tables or on others.
    fn turn_to(&mut self, drives: &ProgramSpec) {
        if self.drives == *drives {
            return;
        }
        if !settings::same_data(&self.drives, drives) {
            let next = self.layout.next;
            let Some(set) = self.idle.iter_mut().find(|set| settings::same_data(&set.of, drives)) else { return };
            std::mem::swap(&mut self.layout, &mut set.layout);
            std::mem::swap(&mut self.logic, &mut set.logic);
            set.of = self.drives.clone();
            self.layout.next = next;
        }
        self.drives = drives.clone();
        self.program = Program::new(drives, self.seeds.data);
        self.catalogue = self.program.catalogue().clone();
    }

    /// The phase is over: transactions under way come to their end, no other begins.
    pub(crate) fn close(&mut self, now: Nanos) {
        (self.now, self.closing, self.in_vain) = (now, true, 0);
        self.end_idle_clients();
        self.end_clients_in_vain();
    }

    /// When something next happens here by itself; [`Nanos::MAX`] when nothing will.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        if self.closing && self.active == 0 && self.is_idle() && !self.is_about_itself() {
            return Nanos::MAX;
        }
        self.alarms.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    /// Whether it writes and reads nothing for itself.
    fn is_idle(&self) -> bool {
        self.batches.iter().all(Batch::is_idle) && self.purge.is_idle() && self.intake.is_idle()
    }

    /// Whether everything has come to its end after [`Engine::close`].
    pub(crate) fn is_at_rest(&self) -> bool {
        self.outstanding == 0 && self.next() == Nanos::MAX && !self.is_about_itself()
    }

    /// Lets happen what happens at `now` by itself.
    pub(crate) fn advance(&mut self, now: Nanos) {
        (self.now, self.in_vain) = (now, self.in_vain.saturating_add(1));
        let Some(Reverse((_, _, alarm))) = self.alarms.pop() else { return };
        match alarm {
            Alarm::Worked(thread) => self.worked(thread),
            Alarm::Client(client) => self.wake(client),
            Alarm::Second => self.second(),
            Alarm::Server => self.come_back(),
            Alarm::Reload => self.load_on(),
        }
        self.settle();
    }

    /// Whether there is something to do for it, or to take from it.
    #[inline]
    pub(crate) fn wants_something(&self) -> bool {
        !(self.requests.is_empty() && self.ended.is_empty())
    }

    /// The next thing to do for the engine.
    #[inline]
    pub(crate) fn request(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    /// A thread's work shall take so long with nobody to do it on.
    pub(crate) fn work_without_host(&mut self, thread: u32, time: Nanos) {
        self.alarm(self.now + time, Alarm::Worked(thread));
    }

    /// A thread has worked.
    pub(crate) fn computed(&mut self, now: Nanos, id: u64) {
        self.now = now;
        self.worked(((id >> 32) - self.base) as u32);
        self.settle();
    }

    /// A command is complete.
    pub(crate) fn completed(&mut self, done: &DeviceCompletion) {
        self.now = done.at;
        self.outstanding -= 1;
        let (thread, slot) = (((done.command.id >> 32) - self.base) as usize, done.command.id as u32);
        let at = (self.slots[thread] + slot) as usize;
        let purpose = std::mem::replace(&mut self.purposes[at], Purpose::Nothing);
        if self.watch.is_some() && self.is_noted(done, (purpose, slot)) {
            return self.settle();
        }
        match purpose {
            Purpose::Nothing => {}
            Purpose::PageRead(frame) => self.page_read(frame, thread as u32, slot),
            Purpose::PurgeRead(frame) => self.purge_read(thread as u32, frame),
            Purpose::Reload(frame) => self.reloaded(frame, slot),
            Purpose::LogWrite(who) => self.sync_log(who),
            Purpose::LogSync(who) => self.log_flushed(who),
            Purpose::DoublewriteWrite(who) => self.flush_command(who, Purpose::DoublewriteSync(who)),
            Purpose::DoublewriteSync(who) => self.doublewritten(who),
            Purpose::PageWrite(who) => self.page_written(who, slot),
            Purpose::DataSync(who) => self.data_synced(who),
            Purpose::LogRead | Purpose::Recover(_) | Purpose::Recovered => {}
        }
        self.settle();
    }

    /// Lets clients go on that may, until all of them wait.
    fn settle(&mut self) {
        if self.is_down() {
            return;
        }
        while let Some(client) = self.ready.pop_front() {
            self.go_on(client);
        }
        if self.is_shutting_down() {
            self.shut_down_further();
        }
    }

    fn worked(&mut self, thread: u32) {
        if let Some(watch) = &mut self.watch {
            watch.working -= 1;
            if watch.recovery.is_some() {
                return self.worked_down();
            }
        }
        let clients = self.clients.len() as u32;
        match thread.checked_sub(clients) {
            None => self.client_worked(thread),
            Some(2) => self.reload_worked(),
            Some(FIRST_PURGER..) if thread >= self.first_reader() => self.taken_in(thread),
            Some(FIRST_PURGER..) => self.purge_on(thread),
            Some(batch) => self.batch_worked(batch as usize),
        }
    }

    fn alarm(&mut self, at: Nanos, alarm: Alarm) {
        self.alarm_number += 1;
        self.alarms.push(Reverse((at, self.alarm_number, alarm)));
    }

    /// What the kinds of transactions are called.
    pub(crate) fn kinds(drives: &ProgramSpec) -> Vec<String> {
        Program::new(drives, 0).kinds(drives.word())
    }
}
