//! The machine that jobs run on: processors that they share, and what each request costs on them.
//!
//! A job is a thread. Its request is submitted by the thread on a processor, passes the hypervisor where there is one,
//! goes to the device, comes back with an interrupt, wakes the thread and is taken by it. What costs nothing takes no
//! processor, so that a host without any cost changes nothing. Threads that want to run wait in one queue for any
//! processor; a thread works on one at a time, through all that it has, until its time slice is over. Then it also moves
//! from beside a sibling to a core that is idle, as load balancers have it. An interrupt goes before what its processor
//! does. A lock is taken at the beginning of a submission, in the order in which threads come to it, and a thread that
//! waits for it keeps its processor. Flushes of an array take turns where the kernel has it so.

mod cores;
mod costs;
mod flushes;
mod station;

use crate::device::DeviceCompletion;
use crate::kernel::command_id::CommandId;
use cores::{Cores, NONE, Thread, ThreadState};
use costs::{Machine, Path};
use flushes::Flushes;
use station::Station;
use std::collections::VecDeque;
use tameshi_base::{Command, CommandKind, Nanos, Random};
use tameshi_record::{Resource, Usage};
use tameshi_spec::profile::Placement;
use tameshi_spec::run::{HostSpec, PhaseSpec, RunSpec};

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Submit,
    /// Work without a request: the thread computes.
    Work,
    Worked,
    Hypervisor,
    /// A flush waits for its turn at an array.
    Turn,
    Device,
    Interrupt,
    WakeUp,
    Complete,
    Done,
}

/// No command.
const IDLE: Command =
    Command { id: 0, kind: CommandKind::Flush, offset_bytes: 0, length_bytes: 0, fua: false, stream: 0 };

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    command: Command,
    storage: usize,
    stage: Stage,
    /// The next one of its thread.
    next: u32,
    /// Worked for it by the host so far; before work without a request, how long that will take.
    host_ns: Nanos,
    done: Option<DeviceCompletion>,
}

/// What follows on what a thread has done.
fn after(stage: Stage) -> Stage {
    match stage {
        Stage::Submit => Stage::Hypervisor,
        Stage::Work => Stage::Worked,
        _ => Stage::Done,
    }
}

/// What the kernel has to do next for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing: the host works on it.
    Waiting,
    /// Hand the command to this storage's device.
    Submit(Command, usize),
    /// The thread with this id has done the work that was asked of it.
    Worked(u64),
    /// It is complete for its job, as the device said it, but at this time and with the host's work in it.
    Done(DeviceCompletion),
}

/// A storage's lock: when whoever waits for it has had it, and how long it was held.
#[derive(Clone, Copy, Debug, Default)]
struct LockState {
    free: Nanos,
    held_ns: Nanos,
}

/// A host at work.
#[derive(Debug)]
pub(crate) struct Host {
    spec: HostSpec,
    machine: Machine,
    cores: Cores,
    interrupts: Station,
    hypervisor: Option<Station>,
    flushes: Flushes,
    /// Requests whose thread is being woken, in that order: the delay is always the same.
    waking: VecDeque<(Nanos, u32)>,
    flights: Vec<Flight>,
    /// Per thread.
    paths: Vec<Path>,
    slots: Vec<u32>,
    locks: Vec<LockState>,
    random: Random,
    /// What threads of the engine have computed, and all threads for want of warm caches; without changing over.
    computed_ns: Nanos,
}

impl Host {
    /// The host of a run, at rest.
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

    /// Nobody has a thread any more: all is at rest.
    pub(crate) fn clear(&mut self) {
        self.paths.clear();
        self.cores.threads.clear();
        self.slots.clear();
        self.flights.clear();
    }

    /// A phase begins: each job of its streams, in their order, is the thread of a seat, and behind all seats come those of
    /// the engine, each with so many slots on the storage of that number. Threads of the phases before stay as long as they
    /// have something to do; a seat that is taken again keeps its thread.
    pub(crate) fn begin(&mut self, run: &RunSpec, phase: &PhaseSpec, seats: &[usize], engine: (usize, &[u32])) {
        let mut seats = seats.iter();
        self.cores.threads.iter_mut().for_each(|thread| thread.of_job = false);
        for stream in &phase.streams {
            let model = run.storage.get(&stream.storage).and_then(|storage| storage.model.as_ref());
            let path = Path::new(&self.spec.model, self.spec.submission, stream, model.map(|node| node.drive().0));
            for &seat in seats.by_ref().take(stream.stream.jobs as usize) {
                self.give_thread(seat, path, stream.stream.most_outstanding());
                self.cores.threads[seat].of_job = true;
            }
        }
        let (storage, threads) = engine;
        let drive = run.storage.get_index(storage).and_then(|(_, storage)| storage.model.as_ref());
        let drive = drive.map(|node| node.drive().0);
        for &slots in threads {
            // A client waits for its request; the page cleaner and read-ahead keep many outstanding.
            let depth = if slots > 2 { slots } else { 1 };
            let way = self.spec.submission.filter(|_| depth > 1 || self.spec.model.synchronous.is_none());
            let way = way.filter(|&way| self.spec.model.chosen(Some(way), depth).is_ok());
            self.give_thread(self.paths.len(), Path::at_depth(&self.spec.model, way, depth, drive), slots);
        }
    }

    /// A seat's thread, with room for so many requests: a new one, or its own.
    fn give_thread(&mut self, seat: usize, path: Path, slots: u32) {
        let base = self.flights.len() as u32;
        if seat == self.paths.len() {
            self.paths.push(path);
            self.cores.threads.push(Thread::new(base));
            self.slots.push(0);
        }
        self.paths[seat] = path;
        if self.slots[seat] < slots {
            // Nothing of it is under way: it may move.
            (self.slots[seat], self.cores.threads[seat].base) = (slots, base);
            let flight = Flight { command: IDLE, storage: 0, stage: Stage::Done, next: NONE, host_ns: 0, done: None };
            self.flights.resize((base + slots) as usize, flight);
        }
    }

    /// A job issues a command with the id `seat << 32 | slot`.
    pub(crate) fn issue(&mut self, now: Nanos, command: &Command, storage: usize) -> Step {
        let request = self.request(command.id);
        let flight = &mut self.flights[request as usize];
        *flight = Flight { command: *command, storage, stage: Stage::Submit, next: NONE, host_ns: 0, done: None };
        self.enter(now, request, Stage::Submit)
    }

    /// A thread of the engine computes for so long; `id` is that of a slot of its own.
    pub(crate) fn work(&mut self, now: Nanos, id: u64, time: Nanos) -> Step {
        let request = self.request(id);
        // Only what work needs: the rest is a request's, and there is none.
        let flight = &mut self.flights[request as usize];
        (flight.command.id, flight.stage, flight.next, flight.host_ns) = (id, Stage::Work, NONE, time);
        self.enter(now, request, Stage::Work)
    }

    /// A device has completed a command.
    pub(crate) fn completed(&mut self, done: &DeviceCompletion) -> Step {
        let request = self.request(done.command.id);
        let flight = &mut self.flights[request as usize];
        flight.done = Some(*done);
        if done.command.kind == CommandKind::Flush {
            self.flushes.done(done.at, flight.storage);
        }
        self.enter(done.at, request, Stage::Interrupt)
    }

    /// When something next happens here; [`Nanos::MAX`] when all is at rest.
    #[inline]
    pub(crate) fn next(&self) -> Nanos {
        let waking = self.waking.front().map_or(Nanos::MAX, |(at, _)| *at);
        let hypervisor = self.hypervisor.as_ref().map_or(Nanos::MAX, Station::next);
        self.cores.next().min(self.interrupts.next()).min(hypervisor).min(waking).min(self.flushes.next())
    }

    /// Whether a thread stays on its processor until the end of this instant: something happens at once.
    #[inline]
    pub(crate) fn lingers(&self) -> bool {
        self.cores.lingers
    }

    /// The one thing that happens at `now`: interrupts first, threads last.
    pub(crate) fn advance(&mut self, now: Nanos) -> Step {
        if self.interrupts.next() <= now {
            return self.interrupts.take().map_or(Step::Waiting, |request| self.enter(now, request, Stage::WakeUp));
        }
        if self.waking.front().is_some_and(|(at, _)| *at <= now) {
            let woken = self.waking.pop_front();
            return woken.map_or(Step::Waiting, |(_, request)| self.enter(now, request, Stage::Complete));
        }
        if self.flushes.next() <= now {
            return self.flushes.take().map_or(Step::Waiting, |request| self.enter(now, request, Stage::Device));
        }
        match &mut self.hypervisor {
            Some(station) if station.next() <= now => {
                station.take().map_or(Step::Waiting, |request| self.enter(now, request, Stage::Turn))
            }
            _ => self.core(now),
        }
    }

    /// Adds how long the processors, the threads of the jobs and the hypervisor have worked up to `now`.
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

    /// How long the processors have computed for the engine's threads up to `now`, and worked otherwise: in the kernel.
    pub(crate) fn user_and_system(&self, now: Nanos) -> [Nanos; 2] {
        let mut usage = Usage::default();
        self.usage(now, &mut usage);
        let (_, busy) = usage.of(Resource::Cores);
        [self.computed_ns.min(busy), busy.saturating_sub(self.computed_ns)]
    }

    /// Adds how long a storage's lock was held, and the turn of its flushes taken, up to `now`.
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
    fn seat(&self, request: u32) -> usize {
        CommandId::from(self.flights[request as usize].command.id).thread()
    }

    /// A request comes to a stage; through those that take no time it goes on at once.
    fn enter(&mut self, now: Nanos, request: u32, mut stage: Stage) -> Step {
        loop {
            self.flights[request as usize].stage = stage;
            stage = match stage {
                Stage::Submit | Stage::Complete | Stage::Work => {
                    if self.machine.switch_ns() > 0 || self.task_ns(request) + self.hold_ns(request) > 0 {
                        self.queue(now, request);
                        return Step::Waiting;
                    }
                    after(stage)
                }
                Stage::Worked => return Step::Worked(self.flights[request as usize].command.id),
                Stage::Hypervisor => {
                    let cost = self.varied(self.machine.hypervisor);
                    if let (Some(station), true) = (&mut self.hypervisor, cost > 0) {
                        let server = station.first_free();
                        station.serve(server, now, cost, request);
                        self.flights[request as usize].host_ns += cost;
                        return Step::Waiting;
                    }
                    Stage::Turn
                }
                Stage::Turn => {
                    let flight = &mut self.flights[request as usize];
                    if flight.command.kind == CommandKind::Flush && self.flushes.comes(now, flight.storage, request) {
                        flight.host_ns += self.flushes.time();
                        return Step::Waiting;
                    }
                    Stage::Device
                }
                Stage::Device => {
                    let flight = &self.flights[request as usize];
                    return Step::Submit(flight.command, flight.storage);
                }
                Stage::Interrupt => {
                    if self.machine.interrupt > 0 {
                        self.interrupt(now, request);
                        return Step::Waiting;
                    }
                    Stage::WakeUp
                }
                Stage::WakeUp => {
                    let asleep = self.cores.threads[self.seat(request)].state == ThreadState::Asleep;
                    if self.machine.wake_up > 0 && asleep {
                        self.flights[request as usize].host_ns += self.machine.wake_up;
                        self.waking.push_back((now + self.machine.wake_up, request));
                        return Step::Waiting;
                    }
                    Stage::Complete
                }
                Stage::Done => {
                    let flight = &self.flights[request as usize];
                    let mut done = flight.done.expect("the device has completed it");
                    (done.at, done.breakdown.host) = (now, done.breakdown.host + flight.host_ns);
                    return Step::Done(done);
                }
            };
        }
    }

    /// What the thread has to do for a request now, without the lock and before anything stretches it.
    fn task_ns(&self, request: u32) -> Nanos {
        let (flight, path) = (&self.flights[request as usize], &self.paths[self.seat(request)]);
        match flight.stage {
            Stage::Submit => path.submit(flight.command.kind, flight.command.length_bytes, self.machine.page),
            Stage::Work => flight.host_ns,
            _ => path.complete,
        }
    }

    fn hold_ns(&self, request: u32) -> Nanos {
        let flight = &self.flights[request as usize];
        let holds = flight.stage == Stage::Submit;
        if holds { self.paths[self.seat(request)].hold(flight.command.kind) } else { 0 }
    }

    /// A cost with its random part.
    fn varied(&mut self, cost: Nanos) -> Nanos {
        let varying = cost * self.machine.variation / 1_000_000;
        if varying == 0 {
            return cost;
        }
        cost - varying + self.random.exponential(varying as f64) as Nanos
    }

    /// The device interrupts a processor, whatever that does.
    fn interrupt(&mut self, now: Nanos, request: u32) {
        let core = match self.machine.placement {
            Placement::SubmittingCore => self.cores.threads[self.seat(request)].last_core as usize,
            Placement::OneCore => 0,
            Placement::Spread => request as usize % self.cores.len(),
        };
        let cost = self.varied(self.machine.interrupt);
        let cost = self.machine.stretched(cost, self.cores.runnable, self.cores.beside_sibling(core));
        self.interrupts.serve(core, now, cost, request);
        self.flights[request as usize].host_ns += cost;
        self.cores.push_back_end(core, cost);
        self.cores.escape(core, now, &self.interrupts, self.machine.time_slice);
    }

    /// A thread has one more thing to do.
    fn queue(&mut self, now: Nanos, request: u32) {
        let seat = self.seat(request);
        let thread = &mut self.cores.threads[seat];
        match thread.tail {
            NONE => thread.head = request,
            tail => self.flights[tail as usize].next = request,
        }
        thread.tail = request;
        self.flights[request as usize].next = NONE;
        if let Some(core) = self.cores.want(seat) {
            self.dispatch(now, core, seat as u32);
        }
    }

    fn dispatch(&mut self, now: Nanos, core: usize, thread: u32) {
        self.cores.place(core, thread, now + self.machine.time_slice);
        self.start(now, core, (self.machine.context_switch, self.machine.cold_caches));
    }

    /// The thread on a processor begins with the first thing it has to do.
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
        let cost = self.machine.stretched(cost, self.cores.runnable, self.cores.beside_sibling(core));
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
        // Interrupts that come first keep the thread on its processor as its own work does.
        self.cores.work(core, request, (begin, locked + cost), (begin - now) + hold + cost);
    }

    /// What the processor that is first has been doing is over.
    fn core(&mut self, now: Nanos) -> Step {
        let (core, ended) = self.cores.take();
        if let Some(request) = ended {
            // The thread stays for this instant: if it issues its next request now, it just goes on.
            self.cores.linger(core, now);
            return self.enter(now, request, after(self.flights[request as usize].stage));
        }
        if self.cores.goes_on(core, now) {
            match self.cores.better(core, now) {
                Some(idle) => {
                    let thread = self.cores.move_off(core);
                    self.dispatch(now, idle, thread);
                }
                None => self.start(now, core, (0, 0)),
            }
        } else if let Some(thread) = self.cores.leave(core) {
            self.dispatch(now, core, thread);
        }
        Step::Waiting
    }
}
