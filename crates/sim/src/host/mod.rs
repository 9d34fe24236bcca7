//! Host of the jobs: its processors, and the cost of each request on them.
//!
//! - A job is a thread. It submits its request on a processor. The request passes the hypervisor,
//!   if there is one, and the device, raises an interrupt, wakes the thread and is completed by it.
//! - A step without cost takes no processor: a host without any cost changes no result.
//! - Runnable threads wait in one queue for any processor. A thread keeps its processor until it
//!   has nothing to do, or its time slice ends. Then it moves from a busy core's sibling to an idle
//!   core, as load balancers do.
//! - An interrupt preempts its processor.
//! - A submission first takes the storage's lock, in order of arrival. A thread that waits for the
//!   lock keeps its processor.
//! - Flushes of an array take turns if the kernel serialises them.

mod cores;
mod costs;
mod flushes;
mod station;

use crate::basics::command_id::CommandId;
use crate::device::DeviceCompletion;
use cores::{Cores, NONE, Thread, ThreadState};
use costs::{Machine, Path};
use flushes::Flushes;
use station::Station;
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::Placement;
use tameshi_spec::run::{HostSpec, PhaseSpec, RunSpec};

/// Stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Submit,
    /// The thread computes, without a request.
    Work,
    Worked,
    Hypervisor,
    /// A flush waits for its turn at an array.
    FlushTurn,
    Device,
    Interrupt,
    WakeUp,
    Complete,
    Done,
}

/// Placeholder for no command.
const IDLE: Command =
    Command { id: 0, kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0, fua: false, stream: 0 };

/// A request in flight.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    command: Command,
    storage: usize,
    stage: Stage,
    /// Next request of its thread.
    next: u32,
    /// Time that the host has worked for it; for computing, its length.
    host_ns: Nanos,
    done: Option<DeviceCompletion>,
}

/// Return the stage after a thread's work.
fn next_stage(stage: Stage) -> Stage {
    match stage {
        Stage::Submit => Stage::Hypervisor,
        Stage::Work => Stage::Worked,
        _ => Stage::Done,
    }
}

/// Action of the kernel that a request needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// None: the host works on it.
    Waiting,
    /// Submit the command to this device.
    Submit(Command, usize),
    /// Tell the thread with this command identifier that it has computed.
    Worked(u64),
    /// Complete the request for its job: the device's completion, with the host's time.
    Done(DeviceCompletion),
}

/// Lock of a storage.
#[derive(Clone, Copy, Debug, Default)]
struct LockState {
    /// Time at which all threads in line have had the lock.
    free: Nanos,
    held_ns: Nanos,
}

/// Host of the jobs.
#[derive(Debug)]
pub(crate) struct Host {
    spec: HostSpec,
    machine: Machine,
    cores: Cores,
    interrupts: Station,
    hypervisor: Option<Station>,
    flushes: Flushes,
    /// Requests whose thread is waking up, in order: the delay is constant.
    waking: VecDeque<(Nanos, u32)>,
    flights: Vec<InFlight>,
    /// Per thread, the cost of its requests.
    paths: Vec<Path>,
    /// Per thread, the requests that it may have in flight.
    slots: Vec<u32>,
    locks: Vec<LockState>,
    random: Random,
    /// Time that server threads have computed, and all threads lost to cold caches; without context
    /// switches.
    computed_ns: Nanos,
}

impl Host {
    /// Host of a run, idle.
    pub(crate) fn new(spec: &HostSpec, run: &RunSpec) -> Self {
        let model = &spec.model;
        let cores = Cores::new(spec.cores() as usize, model.threads_per_core.value as usize);
        Self {
            machine: Machine::new(model),
            interrupts: Station::new(cores.len()),
            hypervisor: model.hypervisor.as_ref().map(|of| Station::new(of.threads.value as usize)),
            flushes: Flushes::new(model, run),
            cores,
            waking: VecDeque::new(),
            flights: Vec::new(),
            paths: Vec::new(),
            slots: Vec::new(),
            locks: vec![LockState::default(); run.storage.len()],
            random: Random::named(run.seed, "host"),
            computed_ns: 0,
            spec: spec.clone(),
        }
    }

    /// Remove all threads; no request is in flight.
    pub(crate) fn clear(&mut self) {
        self.paths.clear();
        self.cores.threads.clear();
        self.slots.clear();
        self.flights.clear();
    }

    /// Begin a phase. `jobs` are the indices of its jobs, in the order of its streams. Server
    /// threads follow after all jobs: `server` is their storage, and the slots of each.
    ///
    /// Threads of earlier phases stay while they have something to do. A reused index keeps its
    /// thread.
    pub(crate) fn begin(&mut self, run: &RunSpec, phase: &PhaseSpec, jobs: &[usize], server: (usize, &[u32])) {
        let mut jobs = jobs.iter();
        self.cores.threads.iter_mut().for_each(|thread| thread.of_job = false);
        for stream in &phase.streams {
            let model = run.storage.get(&stream.storage).and_then(|storage| storage.model.as_ref());
            let path = Path::new(&self.spec.model, self.spec.submission, stream, model.map(|node| node.drive().0));
            for &thread in jobs.by_ref().take(stream.stream.jobs as usize) {
                self.set_thread(thread, path, stream.stream.most_outstanding());
                self.cores.threads[thread].of_job = true;
            }
        }
        let (storage, threads) = server;
        let drive = run.storage.get_index(storage).and_then(|(_, storage)| storage.model.as_ref());
        let drive = drive.map(|node| node.drive().0);
        for &slots in threads {
            // A client waits for its request; page cleaner and read-ahead keep many in flight.
            let depth = if slots > 2 { slots } else { 1 };
            let way = self.spec.submission.filter(|_| depth > 1 || self.spec.model.synchronous.is_none());
            let way = way.filter(|&way| self.spec.model.chosen(Some(way), depth).is_ok());
            self.set_thread(self.paths.len(), Path::at_depth(&self.spec.model, way, depth, drive), slots);
        }
    }

    /// Set up a thread, new or reused, with this number of requests in flight at most.
    fn set_thread(&mut self, thread: usize, path: Path, slots: u32) {
        let base = self.flights.len() as u32;
        if thread == self.paths.len() {
            self.paths.push(path);
            self.cores.threads.push(Thread::new(base));
            self.slots.push(0);
        }
        self.paths[thread] = path;
        if self.slots[thread] < slots {
            // The thread has nothing in flight: its requests may move.
            (self.slots[thread], self.cores.threads[thread].base) = (slots, base);
            let flight = InFlight { command: IDLE, storage: 0, stage: Stage::Done, next: NONE, host_ns: 0, done: None };
            self.flights.resize((base + slots) as usize, flight);
        }
    }

    /// Issue a command of a job or of the server; its id is a [`CommandId`].
    pub(crate) fn issue(&mut self, now: Nanos, command: &Command, storage: usize) -> Action {
        let request = self.request(command.id);
        let flight = &mut self.flights[request as usize];
        *flight = InFlight { command: *command, storage, stage: Stage::Submit, next: NONE, host_ns: 0, done: None };
        self.enter(now, request, Stage::Submit)
    }

    /// Let a server thread compute for `time`; `id` is that of a slot of its own.
    pub(crate) fn work(&mut self, now: Nanos, id: u64, time: Nanos) -> Action {
        let request = self.request(id);
        // Other fields belong to requests.
        let flight = &mut self.flights[request as usize];
        (flight.command.id, flight.stage, flight.next, flight.host_ns) = (id, Stage::Work, NONE, time);
        self.enter(now, request, Stage::Work)
    }

    /// Take a command that its device has completed.
    pub(crate) fn completed(&mut self, done: &DeviceCompletion) -> Action {
        let request = self.request(done.command.id);
        let flight = &mut self.flights[request as usize];
        flight.done = Some(*done);
        if done.command.kind == CommandKind::Flush {
            self.flushes.done(done.at, flight.storage);
        }
        self.enter(done.at, request, Stage::Interrupt)
    }

    /// Return the time of the next step; [`Nanos::MAX`] if the host is idle.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        let waking = self.waking.front().map_or(Nanos::MAX, |(at, _)| *at);
        let hypervisor = self.hypervisor.as_ref().map_or(Nanos::MAX, Station::next);
        self.cores.next().min(self.interrupts.next()).min(hypervisor).min(waking).min(self.flushes.next())
    }

    /// Return whether a thread keeps its processor until the end of this instant: a step is due
    /// now.
    #[inline]
    pub(crate) fn lingers(&self) -> bool {
        self.cores.lingers
    }

    /// Carry out one step that is due at `now`: interrupts first, threads last.
    pub(crate) fn advance(&mut self, now: Nanos) -> Action {
        if self.interrupts.next() <= now {
            return self.interrupts.take().map_or(Action::Waiting, |request| self.enter(now, request, Stage::WakeUp));
        }
        if self.waking.front().is_some_and(|(at, _)| *at <= now) {
            let woken = self.waking.pop_front();
            return woken.map_or(Action::Waiting, |(_, request)| self.enter(now, request, Stage::Complete));
        }
        if self.flushes.next() <= now {
            return self.flushes.take().map_or(Action::Waiting, |request| self.enter(now, request, Stage::Device));
        }
        match &mut self.hypervisor {
            Some(station) if station.next() <= now => {
                station.take().map_or(Action::Waiting, |request| self.enter(now, request, Stage::FlushTurn))
            }
            _ => self.core(now),
        }
    }

    /// Add the working time of processors, interrupts, threads and hypervisor up to `now`.
    pub(crate) fn usage(&self, now: Nanos, usage: &mut Usage) {
        let (servers, interrupts_ns) = self.interrupts.worked(now);
        let ahead = self.cores.ahead(now, &self.interrupts);
        let interrupts_ahead: Nanos =
            (0..self.cores.len()).map(|c| self.interrupts.free_at(c).saturating_sub(now)).sum();
        usage.add(Resource::Cores, servers, self.cores.busy_ns + interrupts_ns + interrupts_ahead - ahead);
        if self.machine.interrupt > 0 {
            let taken_by = if self.machine.placement == Placement::OneCore { 1 } else { servers };
            usage.add(Resource::Interrupts, taken_by, interrupts_ns);
        }
        let (threads, worked) = self.cores.jobs_worked(now, &self.interrupts);
        usage.add(Resource::Threads, threads, worked);
        if let Some(station) = &self.hypervisor {
            let (threads, worked) = station.worked(now);
            usage.add(Resource::Hypervisor, threads, worked);
        }
    }

    /// Return user and system time up to `now`: server threads computing, and all other work.
    pub(crate) fn user_and_system(&self, now: Nanos) -> [Nanos; 2] {
        let mut usage = Usage::default();
        self.usage(now, &mut usage);
        let (_, busy) = usage.of(Resource::Cores);
        [self.computed_ns.min(busy), busy.saturating_sub(self.computed_ns)]
    }

    /// Add the time that a storage's lock was held and its flush turn taken up to `now`.
    pub(crate) fn storage_usage(&self, storage: usize, now: Nanos, usage: &mut Usage) {
        if self.spec.model.lock.is_some() {
            let lock = self.locks[storage];
            usage.add(Resource::Lock, 1, lock.held_ns - lock.free.saturating_sub(now).min(lock.held_ns));
        }
        self.flushes.usage(storage, now, usage);
    }

    #[inline]
    fn request(&self, id: u64) -> u32 {
        let id = CommandId::from(id);
        self.cores.threads[id.thread()].base + id.slot()
    }

    #[inline]
    fn thread(&self, request: u32) -> usize {
        CommandId::from(self.flights[request as usize].command.id).thread()
    }

    /// Move a request to a stage, and on through stages that take no time.
    fn enter(&mut self, now: Nanos, request: u32, mut stage: Stage) -> Action {
        loop {
            self.flights[request as usize].stage = stage;
            stage = match stage {
                Stage::Submit | Stage::Complete | Stage::Work => {
                    if self.machine.switch_ns() > 0 || self.task_ns(request) + self.hold_ns(request) > 0 {
                        self.queue(now, request);
                        return Action::Waiting;
                    }
                    next_stage(stage)
                }
                Stage::Worked => return Action::Worked(self.flights[request as usize].command.id),
                Stage::Hypervisor => {
                    let cost = self.varied(self.machine.hypervisor);
                    if let (Some(station), true) = (&mut self.hypervisor, cost > 0) {
                        let server = station.first_free();
                        station.serve(server, now, cost, request);
                        self.flights[request as usize].host_ns += cost;
                        return Action::Waiting;
                    }
                    Stage::FlushTurn
                }
                Stage::FlushTurn => {
                    let flight = &mut self.flights[request as usize];
                    if flight.command.kind == CommandKind::Flush && self.flushes.enqueue(now, flight.storage, request) {
                        flight.host_ns += self.flushes.time();
                        return Action::Waiting;
                    }
                    Stage::Device
                }
                Stage::Device => {
                    let flight = &self.flights[request as usize];
                    return Action::Submit(flight.command, flight.storage);
                }
                Stage::Interrupt => {
                    if self.machine.interrupt > 0 {
                        self.interrupt(now, request);
                        return Action::Waiting;
                    }
                    Stage::WakeUp
                }
                Stage::WakeUp => {
                    let asleep = self.cores.threads[self.thread(request)].state == ThreadState::Asleep;
                    if self.machine.wake_up > 0 && asleep {
                        self.flights[request as usize].host_ns += self.machine.wake_up;
                        self.waking.push_back((now + self.machine.wake_up, request));
                        return Action::Waiting;
                    }
                    Stage::Complete
                }
                Stage::Done => {
                    let flight = &self.flights[request as usize];
                    let mut done = flight.done.expect("the device has completed it");
                    (done.at, done.breakdown.host) = (now, done.breakdown.host + flight.host_ns);
                    return Action::Done(done);
                }
            };
        }
    }

    /// Time of the thread's next work for a request, without the lock and without contention.
    fn task_ns(&self, request: u32) -> Nanos {
        let (flight, path) = (&self.flights[request as usize], &self.paths[self.thread(request)]);
        match flight.stage {
            Stage::Submit => path.submit(flight.command.kind, flight.command.length_bytes, self.machine.page),
            Stage::Work => flight.host_ns,
            _ => path.complete,
        }
    }

    fn hold_ns(&self, request: u32) -> Nanos {
        let flight = &self.flights[request as usize];
        let holds = flight.stage == Stage::Submit;
        if holds { self.paths[self.thread(request)].hold(flight.command.kind) } else { 0 }
    }

    /// Return a cost with its random part.
    fn varied(&mut self, cost: Nanos) -> Nanos {
        let varying = cost * self.machine.variation / 1_000_000;
        if varying == 0 {
            return cost;
        }
        cost - varying + self.random.exponential(varying as f64) as Nanos
    }

    /// Interrupt a processor for a completion.
    fn interrupt(&mut self, now: Nanos, request: u32) {
        let core = match self.machine.placement {
            Placement::SubmittingCore => self.cores.threads[self.thread(request)].last_core as usize,
            Placement::OneCore => 0,
            Placement::Spread => request as usize % self.cores.len(),
        };
        let cost = self.varied(self.machine.interrupt);
        let cost = self.machine.stretched(cost, self.cores.runnable, self.cores.has_busy_sibling(core));
        self.interrupts.serve(core, now, cost, request);
        self.flights[request as usize].host_ns += cost;
        self.cores.push_back_end(core, cost);
        self.cores.escape_interrupts(core, now, &self.interrupts, self.machine.time_slice);
    }

    /// Queue a request for its thread.
    fn queue(&mut self, now: Nanos, request: u32) {
        let index = self.thread(request);
        let thread = &mut self.cores.threads[index];
        match thread.tail {
            NONE => thread.head = request,
            tail => self.flights[tail as usize].next = request,
        }
        thread.tail = request;
        self.flights[request as usize].next = NONE;
        if let Some(core) = self.cores.wake(index) {
            self.dispatch(now, core, index as u32);
        }
    }

    /// Put a thread on an idle processor.
    fn dispatch(&mut self, now: Nanos, core: usize, thread: u32) {
        self.cores.place(core, thread, now + self.machine.time_slice);
        self.start(now, core, (self.machine.context_switch, self.machine.cold_caches));
    }

    /// Start the first request of the thread on a processor.
    fn start(&mut self, now: Nanos, core: usize, (switch_ns, cold_ns): (Nanos, Nanos)) {
        let thread = &mut self.cores.threads[self.cores.all[core].thread as usize];
        let request = thread.head;
        thread.head = self.flights[request as usize].next;
        if thread.head == NONE {
            thread.tail = NONE;
        }
        let begin = now.max(self.interrupts.free_at(core));
        let task = self.task_ns(request);
        let all = task + switch_ns + cold_ns;
        let cost = self.varied(all);
        let cost = self.machine.stretched(cost, self.cores.runnable, self.cores.has_busy_sibling(core));
        let own = if self.flights[request as usize].stage == Stage::Work { task + cold_ns } else { cold_ns };
        if own > 0 {
            self.computed_ns += if own == all { cost } else { cost - cost * (all - own) / all };
        }
        let hold = self.hold_ns(request);
        let mut locked = begin;
        if hold > 0 {
            let lock = &mut self.locks[self.flights[request as usize].storage];
            locked = lock.free.max(begin) + hold;
            (lock.free, lock.held_ns) = (locked, lock.held_ns + hold);
        }
        self.flights[request as usize].host_ns += hold + cost;
        // Interrupts that come first count as own work: the thread keeps its processor.
        self.cores.work(core, request, (begin, locked + cost), (begin - now) + hold + cost);
    }

    /// End the work of the processor that is due first.
    fn core(&mut self, now: Nanos) -> Action {
        let (core, ended) = self.cores.take();
        if let Some(request) = ended {
            // The thread keeps its processor for this instant: its next request then needs no
            // switch.
            self.cores.linger(core, now);
            return self.enter(now, request, next_stage(self.flights[request as usize].stage));
        }
        if self.cores.may_continue(core, now) {
            match self.cores.idle_physical_core(core, now) {
                Some(idle) => {
                    let thread = self.cores.detach(core);
                    self.dispatch(now, idle, thread);
                }
                None => self.start(now, core, (0, 0)),
            }
        } else if let Some(thread) = self.cores.release(core) {
            self.dispatch(now, core, thread);
        }
        Action::Waiting
    }
}
