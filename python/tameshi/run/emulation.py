"""Drives of an emulated run, served for this run alone: every run begins with new ones.

Data sets are loaded and copied to a drive while it answers at once; its model starts before the
database does, in the state that the study declares.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tameshi.analysis.stats.served import served_verdicts
from tameshi.core import compiled
from tameshi.core.clock import Clock
from tameshi.core.environment import PROC
from tameshi.core.errors import RunFailed
from tameshi.core.spec_types import PowerCut, RunSpec
from tameshi.hosts.sweep import sweep_all_hosts
from tameshi.record.events import append_event
from tameshi.run.crashes import Wait
from tameshi.run.database import Database
from tameshi.run.drive_faults import DriveFaults, drive_faults_of
from tameshi.run.preflight import Examined, placed
from tameshi.run.sampler import read_devices
from tameshi.run.served_storages import serve_plan, verifies
from tameshi.serve.drive import ServedDrive
from tameshi.serve.faults import change_mirror
from tameshi.serve.kernel import enter_private_namespace
from tameshi.serve.sweep import sweep_all
from tameshi.servers.pages import check_pages

DATA_SETS = "data-sets"
"""Folder of kept data sets in a study folder: the drives of a run end with it."""
FREE_SHARE = 0.9
"""Share of a new file system's free space that a database may claim."""


KernelTimes = tuple[str, dict[str, int]]
"""Block device, and the time that its requests took so far, by operation, in ns."""


class Drives:
    """Served drives of one run, by storage."""

    def __init__(
        self,
        folder: Path,
        drives: Mapping[str, ServedDrive],
        clock: Clock,
        standby: ServedDrive | None = None,
    ) -> None:
        self.standby = standby
        """Drive of a standby, without figures of its own."""
        self._folder = folder
        self._clock = clock
        self._drives = drives
        self._is_on = False
        self._kernels: dict[str, KernelTimes] = {}
        self._t0_ns = 0

    def of(self, storage: str) -> ServedDrive:
        """Return the drive of a storage."""
        return self._drives[storage]

    def switch_on(self) -> None:
        """Write back what was prepared, and start the models."""
        if self._is_on:
            return
        self._is_on = True
        if self.standby:
            self.standby.settle()
            self.standby.switch_on()
        for name, drive in self._drives.items():
            drive.settle()
            drive.switch_on()
            status = drive.status()
            facts = ("door", "offset_ns", "capacity_bytes", "real_time", "processors_awake")
            fields = {fact: status[fact] for fact in facts}
            fields |= {"storage": name, "profile": drive.plan.profile}
            fields |= {
                "ignores_flush": "flush" in drive.plan.lies,
                "on_disk": drive.plan.store is not None,
            }
            append_event(self._folder, 0, "drive_served", **fields)

    def begin(self, t0_ns: int) -> None:
        """Start the figures of a run that begins at `t0_ns` of its clock."""
        self.switch_on()
        for name, drive in self._drives.items():
            drive.ask("reset")
            self._kernels[name] = _kernel_times(drive, self._clock)
        self._t0_ns = t0_ns

    def faults(self, run: RunSpec, stopped: Callable[[], bool]) -> AbstractContextManager[Any]:
        """Return failures and replacements of drives during the run."""
        planned = drive_faults_of(run)
        return DriveFaults(self._folder, self._t0_ns, planned, self._drives, stopped, self._clock)

    def end(self) -> None:
        """Record the figures of the run, and verdicts on them."""
        end_ns = self._clock.now_ns() - self._t0_ns
        for name, drive in self._drives.items():
            status = drive.status()
            for rebuilt in status["members"]["rebuilt"]:
                at_ns = rebuilt.pop("at_ns") - self._t0_ns
                append_event(self._folder, at_ns, "rebuilt", storage=name, **rebuilt)
            status["kernel_ns"] = _spent(self._kernels[name], _kernel_times(drive, self._clock))
            fields = ("operations", "kernel_ns", "refused_writes", "used_bytes")
            append_event(
                self._folder,
                end_ns,
                "drive_figures",
                storage=name,
                window_ns=end_ns,
                **{field: status[field] for field in fields},
            )
            for each in served_verdicts(name, status, end_ns):
                append_event(self._folder, end_ns, "finding", **each)

    def cut(self, database: Database, cut: PowerCut, end_clients: Callable[[], None]) -> None:
        """Cut the power of all drives and of the server; return with the drives mounted again.

        A cut that waits for a write comes while clients are at work; any other one after they have
        heard of it. The other drives lose their power next.
        """
        begin_ns, waited = self._clock.now_ns(), {}
        losses: dict[str, dict[str, Any]] = {}
        if cut.during_write:
            named = (name for name in self._drives if cut.storage in (None, name))
            first = next(named)
            size = compiled.size_bytes(cut.during_write.root)
            losses[first] = self._drives[first].ask(f"cut {size}")
            database.server.kill()
            waited[first] = {"waited_ns": self._clock.now_ns() - begin_ns}
            begin_ns = self._clock.now_ns()
        end_clients()
        losses |= {name: drive.ask("cut") for name, drive in self._rest(losses)}
        database.server.kill()
        with database.let_go():
            for name, drive in self._drives.items():
                losses[name] |= drive.restore_power(begin_ns, kill=False)
            if cut.during_write:
                self._check_pages(database)
        for name, lost in losses.items():
            lost.pop("ranges", None)
            fields = {"storage": name, **lost, **waited.get(name, {})}
            append_event(self._folder, begin_ns - self._t0_ns, "drive_cut", **fields)

    def _rest(self, cut: Mapping[str, Any]) -> list[tuple[str, ServedDrive]]:
        """Return the drives that have their power yet."""
        return [(name, drive) for name, drive in self._drives.items() if name not in cut]

    def _check_pages(self, database: Database) -> None:
        """Count the pages that a cut has broken, before the server repairs them.

        Drives answer at once meanwhile.
        """
        for drive in self._drives.values():
            drive.ask("bypass")
        server = database.server
        found = check_pages(server.product.name, server.home.data)
        for drive in self._drives.values():
            drive.ask(f"on {drive.offset_ns}")
        if found:
            at_ns = self._clock.now_ns() - self._t0_ns
            append_event(self._folder, at_ns, "pages_checked", **asdict(found))

    def fail_over(
        self, database: Database, storage: str, end_clients: Callable[[], None], wait: Wait
    ) -> int:
        """Lose server and near side of a block mirror; start the server on its far side.

        `wait` returns when the standby begins. Return the time at which the server started.
        """
        end_clients()
        begin_ns = self._clock.now_ns()
        drive = self._drives[storage]
        lost = change_mirror(drive, "fail_over")
        database.server.kill()
        with database.let_go():
            wait()
            lost |= drive.restore_power(self._clock.now_ns(), kill=False)
        t_ns = begin_ns - self._t0_ns
        append_event(self._folder, t_ns, "drive_failed_over", storage=storage, **lost)
        start_ns = self._clock.now_ns()
        database.server.start()
        return start_ns

    def failure(self) -> str | None:
        """Return why the run is void, if a drive was the cause."""
        everywhere = [*self._drives.items()]
        everywhere += [("of the standby", self.standby)] if self.standby else []
        for name, drive in everywhere:
            try:
                drive.require_server()
            except RunFailed as error:
                return f"storage `{name}`: {error}"
            refused = drive.status()["refused_writes"]
            if refused:
                store = drive.plan.store
                place = f"in {store}" if store else "in memory"
                remedy = "a larger disk" if store else f"have them on a disk: --on {name}=DIRECTORY"
                return (
                    f"storage `{name}`: its data do not fit {place}, {refused} writes were "
                    f"refused; use smaller data, or {remedy}"
                )
        return None


def _kernel_times(drive: ServedDrive, clock: Clock) -> KernelTimes:
    """Return the time of the requests of a drive's block device, as the kernel counts it."""
    assert drive.node
    name = drive.node.name
    counters = read_devices(PROC, [name])
    values = counters[name].values if name in counters else {}
    wall = {kind: values.get(f"disk.{kind}_ns", 0) for kind in ("read", "write")}
    return name, {kind: clock.slowed_ns(wall_ns) for kind, wall_ns in wall.items()}


def _spent(before: KernelTimes, after: KernelTimes) -> dict[str, int]:
    """Return the time of requests between two readings; nothing if the device is another one."""
    if before[0] != after[0]:
        return {}
    return {kind: max(ns - before[1][kind], 0) for kind, ns in after[1].items()}


def serve_privately(say: Callable[[str], None]) -> None:
    """Remove what killed sessions left, and give this process mounts that no other sees."""
    for line in (*sweep_all(), *sweep_all_hosts()):
        say(line)
    enter_private_namespace()


@contextmanager
def served(
    run: RunSpec, examined: Examined, folder: Path, study_folder: Path
) -> Iterator[tuple[Examined, Drives]]:
    """Serve the storages of a run; yield their places on this machine, and the drives."""
    with ExitStack() as stack:
        drives: dict[str, ServedDrive] = {}
        places: dict[str, Path] = {}
        for index, name in enumerate(run.storage):
            plan = replace(serve_plan(run, name, examined.stores), slow=examined.slow)
            made = ServedDrive(plan, f"study-{os.getpid()}-{index}", private=True)
            drive = drives[name] = stack.enter_context(made)
            assert drive.node
            places[name] = drive.make_file_system() if plan.file_system else drive.node
        standby = stack.enter_context(_served_standby(run, drives))
        fitting = run.model_copy(
            update={"storage": {name: _fitting(run, name, drives[name]) for name in drives}}
        )
        ours = [str(drive.state.drive) for drive in drives.values() if drive.point is None]
        here = placed(fitting, examined, places, ours)
        for name, target in here.targets.items():
            # Reads of a new drive return zeros: nothing has to be written first.
            if drives[name].plan.forgets and not verifies(run, name):
                target.made.laid_out = True
        sets = study_folder / DATA_SETS
        databases = {name: replace(place, sets_in=sets) for name, place in here.databases.items()}
        clock = Clock(examined.slow)
        yield replace(here, databases=databases), Drives(folder, drives, clock, standby)


@contextmanager
def _served_standby(
    run: RunSpec, drives: Mapping[str, ServedDrive]
) -> Iterator[ServedDrive | None]:
    """Serve a drive like the database's to its standby, if there is one."""
    if not (run.database and run.database.standby):
        yield None
        return
    plan = drives[run.database.storage].plan
    with ServedDrive(plan, f"study-{os.getpid()}-standby", private=True) as drive:
        drive.make_file_system()
        yield drive


def _fitting(run: RunSpec, name: str, drive: ServedDrive) -> Any:
    """Return a storage's spec with a size that its file system holds."""
    storage = run.storage[name]
    if drive.point is None:
        return storage
    status = os.statvfs(drive.point)
    free_bytes = int(status.f_bavail * status.f_frsize * FREE_SHARE)
    wanted_bytes = min(drive.plan.capacity_bytes, free_bytes)
    return storage.model_copy(update={"size": f"{wanted_bytes} B"})
