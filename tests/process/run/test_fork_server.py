"""Fork server of simulated runs: equal records, and faults of its workers and of itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest
from sealing import STUDY, folder_content

from tameshi import guard
from tameshi.core.spec_types import World
from tameshi.record import store
from tameshi.run.forks import ForkServer
from tameshi.run.process import WorkerProcess
from tameshi.run.tasks import Task, tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.prepare import prepare

LONG = STUDY.replace('"120 ms"', '"80000 s"') + 'interval = "10 s"\n'


def tasks(folder: Path, text: str) -> Sequence[Task]:
    """Return the runs of a study."""
    path = folder / "study.toml"
    path.write_text(text)
    prepared = prepare(read_study(path), [World.simulated], Bindings(), quick=False)
    return tasks_of(prepared.examined[World.simulated], prepared.plans[World.simulated].runs)


@pytest.fixture
def forks() -> Iterator[ForkServer]:
    """Yield a fork server, and check that it leaves no process."""
    before = set(psutil.Process().children())
    with ForkServer() as server:
        yield server
    assert set(psutil.Process().children()) <= before


def begun(study: Path, task: Task, forks: ForkServer | None) -> tuple[Path, WorkerProcess]:
    """Begin a run; return its folder and its worker, which is ready."""
    guard.claim_folder(study)
    folder = store.run_folder(study, task.identity)
    store.begin_run(folder, task.spec, task.identity, {})
    worker = WorkerProcess(folder, {}, [], forks=forks)
    assert next(m["kind"] for m in worker.messages() if m["kind"] != "progress") == "ready"
    worker.go(0, "auto")
    return folder, worker


def ended(worker: WorkerProcess) -> str | None:
    """Read a worker's messages to their end; return why it failed."""
    list(worker.messages())
    return worker.failure()


def test_forks_leave_the_records_of_separate_processes(tmp_path: Path, forks: ForkServer) -> None:
    for name, server in (("separate", None), ("forked", forks)):
        for task in tasks(tmp_path, STUDY)[:2]:
            folder, worker = begun(tmp_path / name, task, server)
            assert ended(worker) is None
            assert store.seal(folder).outcome["status"] == "complete"
    assert folder_content(tmp_path / "forked") == folder_content(tmp_path / "separate")


def test_each_fork_has_a_session_of_its_own(tmp_path: Path, forks: ForkServer) -> None:
    workers = [begun(tmp_path / "out", task, forks)[1] for task in tasks(tmp_path, LONG)[:2]]
    sessions = {os.getsid(worker.process.pid) for worker in workers}
    assert sessions == {worker.process.pid for worker in workers}
    for worker in workers:
        worker.stop()
        assert ended(worker) is None


def test_killed_fork_fails_without_the_others(tmp_path: Path, forks: ForkServer) -> None:
    killed, other = (begun(tmp_path / "out", task, forks)[1] for task in tasks(tmp_path, LONG)[:2])
    killed.kill()
    assert "was killed by signal 9" in (ended(killed) or "")
    other.stop()
    assert ended(other) is None


def test_killed_server_is_replaced_for_the_next_run(tmp_path: Path, forks: ForkServer) -> None:
    first, second = tasks(tmp_path, LONG)[:2]
    _, worker = begun(tmp_path / "out", first, forks)
    (server,) = psutil.Process().children()
    server.send_signal(signal.SIGKILL)
    worker.stop()
    assert "fork server of simulated runs was killed" in (ended(worker) or "")
    _, after = begun(tmp_path / "out", second, forks)
    after.stop()
    assert ended(after) is None


def test_fork_ends_with_its_standard_input(tmp_path: Path, forks: ForkServer) -> None:
    folder, worker = begun(tmp_path / "out", tasks(tmp_path, LONG)[0], forks)
    while '"phase_begin"' not in "".join(p.read_text() for p in folder.glob("events.jsonl")):
        time.sleep(0.01)
    worker.process.stdin.close()  # As the kernel does at the end of the dispatcher.
    assert ended(worker) is None
    assert store.seal(folder).outcome["status"] == "partial"
