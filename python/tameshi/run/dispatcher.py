"""Dispatcher of a study: plans remaining runs, starts a worker per run, and seals the results."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tameshi import guard
from tameshi.analysis.stats.run_order import randomised
from tameshi.core import compiled
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.core.spec_types import Access, PowerCut, Start, World
from tameshi.record import store
from tameshi.record.events import append_event
from tameshi.record.packs import Packs, StoredRuns
from tameshi.record.store import DamagedRun, SealedRun
from tameshi.run.crashes import Crash, Crashes, FailOver, crashes_of
from tameshi.run.database import Database, Progress, UsersDatabase, lent, opened
from tameshi.run.display import Display
from tameshi.run.emulation import serve_privately, served
from tameshi.run.forks import ForkServer
from tameshi.run.hooks import Hooks, hooks_of
from tameshi.run.process import WorkerProcess
from tameshi.run.run_queue import InOrder, RunQueue
from tameshi.run.sampler import Sampler
from tameshi.run.server_sampler import ServerSampler
from tameshi.run.standby import Standby
from tameshi.run.standby_plan import FIRST, two_hosts
from tameshi.run.tasks import Task
from tameshi.servers.placement import roles_of
from tameshi.servers.private import Kept, PrivateServer, full_hint
from tameshi.servers.product import ClientError

LEAD_NS = 50_000_000
"""Time from `go` to t0, enough for the worker to receive it."""


class Elsewhere(Protocol):
    """Runner of runs on other machines."""

    def run(self, session: Session, tasks: Sequence[Task]) -> None:
        """Store the sealed record of each run in the session's folder, until it stops."""


@dataclass
class Session:
    """Call of `tameshi run` on a study folder."""

    folder: Path
    lock: int
    display: Display
    on_sealed: Callable[[], None]
    stopping: threading.Event = field(default_factory=threading.Event)
    keep: bool = False
    """Leave the database of the last run on each storage."""
    kept: dict[Path, Kept] = field(default_factory=dict)
    """Databases that were left, by folder."""
    workers: set[WorkerProcess] = field(default_factory=set)
    guarded: threading.Lock = field(default_factory=threading.Lock)
    is_scratch: bool = False
    """Its records are only on their way to another machine."""
    elsewhere: Elsewhere | None = None
    """Runner of the simulated runs, if they are not made here."""
    fleet: Elsewhere | None = None
    """Hosts that make the measured runs."""
    forks: ForkServer | None = None
    """Fork server that starts the workers of simulated runs."""
    packs: Packs | None = None
    """Packs that take the records of complete simulated runs."""

    def syncs(self, task: Task) -> bool:
        """Return whether a record is synced: not one on its way to a machine or a pack."""
        is_packed = self.packs is not None and task.world is World.simulated
        return not self.is_scratch and not is_packed

    def stop(self) -> None:
        """Start no more runs, and let current runs leave a partial result."""
        with self.guarded:
            self.stopping.set()
            for worker in self.workers:
                worker.stop()


def finished(session: Session, tasks: Sequence[Task]) -> dict[str, SealedRun]:
    """Return the sealed runs of these with folders, by identity, and move damaged ones to
    `damaged/`."""
    sealed = {}
    packed = session.packs.places if session.packs else {}
    there = set(store.with_folders(session.folder, (task.identity for task in tasks)))
    for task in tasks:
        if task.identity in packed or task.identity not in there:
            continue
        try:
            run = store.read_run(store.run_folder(session.folder, task.identity))
        except DamagedRun as damaged:
            place = store.set_aside(session.folder, damaged)
            session.display.say(f"{task.label}: {damaged} Moved to {place}.")
            continue
        if run:
            sealed[task.identity] = run
    return sealed


def run_all(session: Session, tasks: Sequence[Task], jobs: int) -> Sequence[SealedRun]:
    """Run all incomplete tasks: measured runs in sequence, simulated ones `jobs` at a time or
    elsewhere."""
    if session.packs:
        _recover(session, session.packs)
    complete = set(session.packs.places if session.packs else ())
    complete |= {
        i
        for i, run in finished(session, tasks).items()
        if run.outcome["status"] == "complete" and run.is_checked
    }
    todo = [task for task in tasks if task.identity not in complete]
    session.display.begin(len(todo), len(tasks) - len(todo), sum(task.length_ns for task in todo))
    virtual = [task for task in todo if task.world is World.simulated]
    real = _shuffled([task for task in todo if task.world is not World.simulated])
    if any(task.world is World.emulated for task in real):
        serve_privately(session.display.say)
    if session.fleet and real:
        session.fleet.run(session, real)
    else:
        _run_group(session, real, 1)
    if session.elsewhere and virtual:
        session.elsewhere.run(session, virtual)
    else:
        with ForkServer() as session.forks:
            _run_group(session, virtual, jobs, longest_first=True)
    if not session.packs:
        return [run for run in finished(session, tasks).values()]
    session.packs.collect()
    loose = finished(session, tasks)
    return StoredRuns(session.packs, loose, [task.identity for task in tasks])


def _recover(session: Session, packs: Packs) -> None:
    """Set damaged packs aside, and pack complete runs that an earlier command left in folders."""
    for place in packs.set_aside():
        session.display.say(f"a pack of runs is damaged: they are made again. Moved to {place}.")
    packs.collect()


def _shuffled(tasks: Sequence[Task]) -> list[Task]:
    """Return runs by repetition, with cells in an order derived from the study's seed."""
    return randomised(
        tasks,
        seed=0,  # a repetition's seed is part of the name
        block=lambda task: task.spec.repetition,
        name=lambda task: f"{task.spec.seed}/{task.label}",
    )


def _run_group(
    session: Session, tasks: Sequence[Task], at_once: int, *, longest_first: bool = False
) -> None:
    waiting: RunQueue | InOrder = RunQueue(tasks) if longest_first else InOrder(tasks)
    running: dict[Future[None], tuple[Task, float]] = {}
    with ThreadPoolExecutor(max_workers=max(at_once, 1)) as pool:
        while True:
            ended = [future for future in running if future.done()]
            for future in ended:
                task, began = running.pop(future)
                waiting.note(task, time.monotonic() - began)
                future.result()
            while len(running) < at_once and waiting.count and not session.stopping.is_set():
                task = waiting.take()
                running[pool.submit(run_one, session, task)] = task, time.monotonic()
            if ended:  # later runs are in progress: no processor waits for this
                session.on_sealed()
            if not running:
                return
            wait(running, return_when=FIRST_COMPLETED)


class Unbegun(Exception):
    """Stop of the session before a run started: the run remains to be made and did not fail."""


def run_one(session: Session, task: Task) -> None:
    """Make one run and seal it, even after a failure."""
    folder = store.run_folder(session.folder, task.identity)
    failure: str | None
    try:
        findings = task.examined.findings_on(task.spec)
        environment = {**task.examined.environment, "findings": findings}
        store.begin_run(
            *(folder, task.spec, task.identity, environment), is_scratch=session.is_scratch
        )
        session.display.began(task.label, task.spec.world.value, folder)
        failure = _execute_in_world(session, task, folder)
    except Unbegun:
        guard.remove_folder(folder)
        return
    except TameshiError as error:
        failure = str(error)
    except ClientError as error:
        failure = f"the database refused a statement of Tameshi's: {error}"
    except OSError as error:
        failure = f"{error.strerror}: {error.filename}" if error.filename else str(error)
    try:
        run = store.seal(folder, failure, synced=session.syncs(task))
    except (OSError, TameshiError) as error:
        reason = f"cannot be sealed: {failure or error}"
        with suppress(OSError, TameshiError):  # the study's folder may be as full as the run's
            store.write_lost(session.folder, task.spec, task.identity, reason)
        session.display.ended(task.label, "failed", reason, task.length_ns)
        return
    session.display.ended(task.label, run.outcome["status"], said(run), task.length_ns)


def said(run: SealedRun) -> str | None:
    """Return the words of a run's own message, else the code of its reason."""
    why = run.outcome["reason"]
    return str(why["values"].get("text") or why["code"].replace("_", " ")) if why else None


def _execute_in_world(session: Session, task: Task, folder: Path) -> str | None:
    """Run a worker on the storages of the task's world; return why it failed, if it did."""
    if task.spec.world is World.simulated or not task.spec.database:
        execute = _execute
    else:
        execute = _execute_programs
    if task.spec.world is not World.emulated:
        return execute(session, task, folder)
    with served(task.spec, task.examined, folder, session.folder) as (examined, drives):
        failure = execute(session, replace(task, examined=examined, drives=drives), folder)
        return drives.failure() or failure


def _execute(session: Session, task: Task, folder: Path) -> str | None:
    """Open targets and run a worker; return why it failed, if it did."""
    with ExitStack() as stack:
        targets = {
            name: stack.enter_context(_opened(task, name, plan))
            for name, plan in task.examined.targets.items()
            if name in task.spec.storage
        }
        with _worker(session, folder, targets, slow=task.examined.slow) as worker:
            failure = _converse(session, task, folder, worker, targets)
        return failure or worker.failure() or _vanished(targets)


def _execute_programs(session: Session, task: Task, folder: Path) -> str | None:
    """Load or restore a database, start it, and run programs on it."""

    def progress(stage: str, message: Mapping[str, Any]) -> None:
        if session.stopping.is_set():
            raise RunFailed("stopped before the run began")
        session.display.run(task.label, stage, message)

    planned = crashes_of(task.spec, task.examined.events)
    with ExitStack() as stack:
        database, standby = _prepared(session, task, folder, planned, progress, stack)
        crashes = None
        if isinstance(database, Database):
            crashes = Crashes(
                *(folder, database.server, _cutting(task, database), planned),
                session.stopping.is_set,
                task.clock,
                _failing_over(task, database, standby),
            )
            stack.enter_context(crashes)
        message = {
            "address": database.address,
            "load": False,
            "ledger": bool(task.spec.events),
            "crashes": bool(planned),
        }
        with _worker(session, folder, {}, message, task.examined.slow) as worker:
            failure = _converse(session, task, folder, worker, {}, database, crashes, standby)
        failure = failure or worker.failure()
        # Clients fail with a server that ended: its end is the cause.
        ended = database.gone() if failure else database.end()
        failure = (crashes and crashes.failure) or ended or failure
        if session.keep and not failure and isinstance(database, Database):
            kept = database.leave()
            session.kept |= {kept.folder: kept} if kept else {}
        return failure


def _prepared(
    session: Session,
    task: Task,
    folder: Path,
    planned: Sequence[Crash],
    progress: Progress,
    stack: ExitStack,
) -> tuple[Database | UsersDatabase, Standby | None]:
    """Return a loaded database whose server runs, and its standby; `stack` ends both."""
    spec, drives = task.spec, task.drives
    assert spec.database
    engine = spec.database.engine
    serving = task.examined.servers[engine].settled((spec.engines or {})[engine])
    if serving.running:
        users = stack.enter_context(lent(spec, folder, serving.running))
        if not users.is_kept:
            _load(session, task, folder, users)
        return users, None
    hosts = None
    if drives and drives.standby:
        hosts = stack.enter_context(two_hosts(spec, task.examined.slow))
    place = task.examined.databases[spec.database.storage]
    cuts = any(crash.how == "power_cut" for crash in planned)
    made = opened(
        *(spec, folder, place, serving, progress),
        on_volume=cuts and drives is None,
        own={role: task.examined.databases[n] for role, n in roles_of(spec.database).items()},
        clock=task.clock,
        within=hosts.host(FIRST.name).running if hosts else None,
    )
    database = stack.enter_context(made)
    if not database.is_kept:
        _load(session, task, folder, database)
    database.restore()
    standby = None
    if hosts and drives:
        progress("standby", {})
        standby = Standby(spec, folder, hosts, database, drives, serving, task.clock)
        stack.enter_context(standby.serving())
    if drives:
        drives.switch_on()
    database.start()
    return database, standby


def _cutting(task: Task, database: Database) -> Callable[[PowerCut, Callable[[], None]], None]:
    """Return the way to cut the power of a database."""
    return partial(task.drives.cut, database) if task.drives else database.cut_power


def _failing_over(task: Task, database: Database, standby: Standby | None) -> FailOver | None:
    """Return the way to let another server take over, if there is one."""
    drives, of = task.drives, task.spec.database
    if standby:
        return standby.fail_over
    if drives and of:
        return lambda _, end, wait: drives.fail_over(database, of.storage, end, wait)
    return None


def _load(session: Session, task: Task, folder: Path, database: Database | UsersDatabase) -> None:
    """Run a worker that loads the data set; raise `RunFailed` if it fails or the data is
    incomplete."""
    with database.loading() as server:
        target = {"address": database.address, "load": True, "ledger": False}
        failure, holds = None, False
        with _worker(session, folder, {}, target) as worker:
            for message in worker.messages():
                if session.stopping.is_set():
                    worker.kill()
                match message["kind"]:
                    case "progress":
                        session.display.run(task.label, "load", message)
                    case "loaded":
                        holds = message["holds"]
                        append_event(folder, 0, "loaded", conditions=message["conditions"])
                    case "failed":
                        failure = str(message["reason"])
        failure = failure or worker.failure()
        if session.stopping.is_set():
            raise RunFailed("stopped while its data set was loaded")
        if failure:
            said = ""
            if isinstance(server, PrivateServer):
                said = server.ended() or ""
            sentence = f"the data set could not be loaded: {failure.rstrip('.')}"
            raise RunFailed(sentence, found=said, hint=full_hint([failure, said]))
        if not holds:
            raise RunFailed("the data set that was loaded breaks TPC-C's conditions")


def _opened(
    task: Task, storage: str, plan: guard.TargetPlan | guard.DirectoryPlan
) -> guard.OpenTarget:
    """Open targets directly, buffered, or both, as their streams need."""
    if isinstance(plan, guard.DirectoryPlan):
        return guard.open_data_directory(plan, storage)
    streams = [
        s.stream for phase in task.spec.phases for s in phase.streams if s.storage == storage
    ]
    buffered = [stream.access is Access.buffered for stream in streams]
    target = guard.open_target(plan, direct=not buffered or not all(buffered), fallback=True)
    if any(buffered):
        target.open_buffered()
    return target


def _vanished(targets: Mapping[str, guard.OpenTarget]) -> str | None:
    """Return why the run is void if a file was deleted: an open file outlives its name."""
    for name, target in targets.items():
        try:
            there = os.path.samestat(os.stat(target.path), os.fstat(target.fd))
        except OSError:
            there = False
        if not there:
            return f"the file of storage `{name}`, {target.path}, vanished during the run"
    return None


@contextmanager
def _worker(
    session: Session,
    folder: Path,
    targets: Mapping[str, guard.OpenTarget],
    database: Mapping[str, Any] | None = None,
    slow: float = 1,
) -> Iterator[WorkerProcess]:
    with session.guarded:
        worker = WorkerProcess(
            *(folder, targets, [session.lock], database, slow), forks=session.forks
        )
        session.workers.add(worker)
        if session.stopping.is_set():
            worker.stop()
    try:
        yield worker
    finally:
        with session.guarded:
            session.workers.discard(worker)


def _converse(
    session: Session,
    task: Task,
    folder: Path,
    worker: WorkerProcess,
    targets: Mapping[str, guard.OpenTarget],
    database: Database | UsersDatabase | None = None,
    crashes: Crashes | None = None,
    standby: Standby | None = None,
) -> str | None:
    """Read the worker's messages to its end; return its reason for failing."""
    failure, begun = None, False
    with ExitStack() as sampling:
        for message in worker.messages():
            match message["kind"]:
                case "laid_out":
                    guard.mark_laid_out(targets[message["storage"]])
                case "ready" if not session.stopping.is_set():
                    if database:
                        database.verify()
                    if task.spec.start is Start.cold:
                        for target in targets.values():
                            target.drop_cached()
                    t0_ns = task.clock.now_ns() + LEAD_NS
                    if task.drives:
                        task.drives.begin(t0_ns)
                    sampling.enter_context(_sampler(task, folder, t0_ns, worker, database))
                    sampling.enter_context(_server_sampler(task, folder, t0_ns, database))
                    sampling.enter_context(_hooks(session, task, folder, t0_ns))
                    if task.drives:
                        faults = task.drives.faults(task.spec, session.stopping.is_set)
                        sampling.enter_context(faults)
                    if standby:
                        standby.begin(t0_ns)
                    begun = True
                    worker.go(t0_ns, task.examined.backend)
                    if crashes:
                        crashes.begin(t0_ns, worker.apply_fault)
                case "let_go" if crashes:
                    crashes.let_go()
                case "measured":
                    sampling.close()
                    if task.drives:
                        task.drives.end()
                    if crashes:
                        crashes.settle()
                        worker.apply_fault("settled")
                    if standby:
                        standby.settle()
                case "progress":
                    session.display.run(task.label, message["stage"], message)
                case "failed":
                    failure = str(message["reason"])
    if session.stopping.is_set() and not begun and not failure:
        worker.failure()
        raise Unbegun
    return failure


def _hooks(session: Session, task: Task, folder: Path, t0_ns: int) -> Any:
    hooks = hooks_of(task.spec, task.examined.events)
    return Hooks(folder, t0_ns, hooks, session.stopping.is_set) if hooks else nullcontext()


def _sampler(
    task: Task,
    folder: Path,
    t0_ns: int,
    worker: WorkerProcess,
    database: Database | UsersDatabase | None,
) -> Any:
    """A simulated run has nothing to sample."""
    if task.spec.world is World.simulated:
        return nullcontext()
    interval_ns = compiled.nanoseconds(task.spec.interval)
    pids = {"worker": worker.process.pid}
    families = {}
    if isinstance(database, Database) and not database.server.product.embedded:
        families["server"] = lambda: database.server.pid
    devices = task.examined.devices()
    return Sampler(
        *(folder, t0_ns, interval_ns, devices, pids), families=families, clock=task.clock
    )


def _server_sampler(
    task: Task, folder: Path, t0_ns: int, database: Database | UsersDatabase | None
) -> Any:
    """An embedded database has no counters of its own."""
    if database is None or database.server.product.embedded:
        return nullcontext()
    server, interval_ns = database.server, compiled.nanoseconds(task.spec.interval)
    return ServerSampler(
        *(folder, t0_ns, interval_ns, server.product),
        connect=lambda: database.server.client(),
        database=server.address.database,
        clock=task.clock,
    )
